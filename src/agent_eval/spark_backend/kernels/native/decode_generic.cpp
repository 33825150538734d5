// The decode step for any machine.
#define SK_DECODE decode_generic
#include "decode_body.h"
