// What a weight matrix looks like in memory. Plain C, shared with Python (kernels/library.py has the same struct).
//
// Dense weights lie row by row, as in the checkpoint's file, so that a mapped file needs no copy.
//
// Grouped weights lie in blocks of 16 rows (rows beyond the last are padding with scale 0). Within a block, columns come
// in quads; each quad is 64 bytes of lanes, 4 neighbours of one row to a lane of 32 bits, so that an integer dot product
// of bytes (maddubs, dpbusd, tdpbusd) finds its four factors in the lane of its row:
//   int4: two quads share 64 bytes:  byte[r * 4 + j] = code[r][k + j] | code[r][k + 4 + j] << 4,   k a multiple of 8
//   int8: one quad per 64 bytes:     byte[r * 4 + j] = code[r][k + j],                             k a multiple of 4
// A weight is (code - centre) * scale + zero, centre 8 for int4 (whatever its bits: 2- and 3-bit codes lie about 8) and
// 128 for int8. Scales and zeros are bfloat16, [block][group][16 rows]. The group is a multiple of 32 and divides cols.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SK_F32 = 0, SK_BF16 = 1, SK_INT4 = 2, SK_INT8 = 3 };

enum { SK_ROWS = 16 };  // rows of a block of grouped weights

typedef struct {
    int32_t kind;           // one of the above
    int32_t activation;     // 8: inputs are quantised per row to int8; 16 or 32: they stay as they are
    int32_t rows;           // N
    int32_t cols;           // K
    int32_t group;          // columns per scale; 0 for dense
    int32_t reserved;
    const void *data;
    const uint16_t *scale;  // grouped only
    const uint16_t *zero;   // grouped and asymmetric only; NULL: zero is 0
} sk_weight;

#ifdef __cplusplus
}
#endif
