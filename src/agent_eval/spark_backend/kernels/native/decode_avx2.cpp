// The decode step for AVX2 and FMA.
#define SK_DECODE decode_avx2
#include "decode_body.h"
