// The decode step for AVX-512 (F, BW, VL, DQ).
#define SK_DECODE decode_avx512
#include "decode_body.h"
