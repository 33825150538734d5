// One row of bfloat16 inputs and weights of four bits or bfloat16, on AVX-512 with bfloat16 dot products; all else as on
// AVX-512.
//
// Inputs, weights and codes less 8 are exact in bfloat16, so vdpbf16ps loses nothing but what any float32 sum rounds: it adds
// two exact products to a float32, rounding to nearest after each, and takes denormal inputs for zero (Intel SDM,
// VDPBF16PS).
#include <immintrin.h>

#include "linear.h"

namespace sk {
namespace avx512bf16 {
namespace {

__m512 from_bf16(const uint16_t *values) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)values));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

// The bfloat16 of -8 to 7, twice: the permutation reads five bits of an index, and the fifth is a neighbour's.
__m512i table() {
    const __m256i once = _mm256_setr_epi16((short)0xc100, (short)0xc0e0, (short)0xc0c0, (short)0xc0a0, (short)0xc080,
                                           (short)0xc040, (short)0xc000, (short)0xbf80, 0, 0x3f80, 0x4000, 0x4040,
                                           0x4080, 0x40a0, 0x40c0, 0x40e0);
    return _mm512_broadcast_i64x4(once);
}

template <bool ZERO>
void block(const sk_weight &w, const Row &row, int b, float *out) {
    const int groups = w.cols / w.group;
    const int64_t bytes = (int64_t)w.cols * SK_ROWS / 2, scales = (int64_t)groups * SK_ROWS;
    const __m512i values = table();
    const uint8_t *codes = (const uint8_t *)w.data + b * bytes;
    const uint16_t *scale = w.scale + b * scales, *zero = ZERO ? w.zero + b * scales : NULL;
    const int32_t *x = (const int32_t *)row.arranged;
    const float *sums = row.x_sums;
    __m512 sum = _mm512_setzero_ps();
    for (int g = 0; g < groups; g++) {
        __m512 dot[4];  // four chains of additions hide their latency
        for (int i = 0; i < 4; i++) dot[i] = _mm512_setzero_ps();
        float inputs = 0;
        for (int part = 0; part < w.group / 32; part++) {
            inputs += *sums++;
#pragma GCC unroll 4
            for (int u = 0; u < 4; u++, x += 4, codes += 64) {
                const __m512i both = _mm512_loadu_si512(codes);
#pragma GCC unroll 4
                for (int i = 0; i < 4; i++) {
                    const __m512i pair = _mm512_permutexvar_epi16(_mm512_srli_epi16(both, 4 * i), values);
                    dot[i] = _mm512_dpbf16_ps(dot[i], (__m512bh)pair, (__m512bh)_mm512_set1_epi32(x[i]));
                }
            }
        }
        const __m512 total = _mm512_add_ps(_mm512_add_ps(dot[0], dot[1]), _mm512_add_ps(dot[2], dot[3]));
        sum = _mm512_fmadd_ps(total, from_bf16(scale), sum);
        scale += SK_ROWS;
        if (ZERO) {
            sum = _mm512_fmadd_ps(_mm512_set1_ps(inputs), from_bf16(zero), sum);
            zero += SK_ROWS;
        }
    }
    _mm512_storeu_ps(out + b * SK_ROWS, sum);
}

const int MOST_COLS = 16384;  // of a dense weight whose inputs are narrowed; 32 KiB on the stack

// Narrows inputs to the bfloat16 numbers that they are; false if they are not.
bool narrowed(const float *x, int cols, uint16_t *out) {
    const __m512i rest = _mm512_set1_epi32(0xffff);
    __mmask16 lost = 0;
    for (int k = 0; k < cols; k += 16) {
        const __mmask16 mask = cols - k < 16 ? (__mmask16)((1u << (cols - k)) - 1) : (__mmask16)0xffff;
        const __m512i bits = _mm512_maskz_loadu_epi32(mask, x + k);
        lost |= _mm512_test_epi32_mask(bits, rest);
        _mm256_mask_storeu_epi16(out + k, mask, _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)));
    }
    return !lost;
}

__m512bh pairs(const uint16_t *at) { return (__m512bh)_mm512_loadu_si512(at); }

// One row of bfloat16 weights. Inputs of two bytes leave room for the weights in the first cache at every width.
float dense_row(const uint16_t *weight, int cols, const uint16_t *x) {
    __m512 sum[4];
    for (int i = 0; i < 4; i++) sum[i] = _mm512_setzero_ps();
    int k = 0;
    for (; k + 128 <= cols; k += 128)
        for (int i = 0; i < 4; i++) sum[i] = _mm512_dpbf16_ps(sum[i], pairs(weight + k + 32 * i), pairs(x + k + 32 * i));
    for (int i = 0; k < cols; k += 32, i++) {
        const __mmask32 mask = cols - k < 32 ? (1u << (cols - k)) - 1 : 0xffffffff;
        sum[i] = _mm512_dpbf16_ps(sum[i], (__m512bh)_mm512_maskz_loadu_epi16(mask, weight + k),
                                  (__m512bh)_mm512_maskz_loadu_epi16(mask, x + k));
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3])));
}

bool dense(const sk_weight &w, const float *inputs, float *out, const Share &mine) {
    uint16_t x[MOST_COLS];
    if (w.cols > MOST_COLS || !narrowed(inputs, w.cols, x)) return false;
    const uint16_t *weight = (const uint16_t *)w.data;
    const int end = mine.end * SK_ROWS < w.rows ? mine.end * SK_ROWS : w.rows;
    for (int n = mine.begin * SK_ROWS; n < end; n++) out[n] = dense_row(weight + (int64_t)n * w.cols, w.cols, x);
    return true;
}

}  // namespace

// `arranged` pairs the inputs as the codes of a lane come out of its two halves: of eight columns 0 and 2, 4 and 6, 1 and
// 3, 5 and 7.
void prepare(Row &row, int cols, int activation) {
    avx512::prepare(row, cols, activation);
    if (activation != 16) return;
    const __m512i order = _mm512_setr_epi32(0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15);
    for (int k = 0; k < cols; k += 16) {
        const __m512i x = _mm512_permutexvar_epi32(order, _mm512_loadu_si512(row.x + k));
        const __m256i first = _mm512_castsi512_si256(x), second = _mm512_extracti64x4_epi64(x, 1);
        const __m256i pairs = _mm256_or_si256(_mm256_srli_epi32(first, 16),
                                              _mm256_and_si256(second, _mm256_set1_epi32((int)0xffff0000)));
        _mm256_storeu_si256((__m256i *)((char *)row.arranged + k * 2), pairs);
    }
}

void multiply_row(const sk_weight &w, const Row &row, float *out, const Team &team) {
    const Share mine = share(team, (w.rows + SK_ROWS - 1) / SK_ROWS);
    if (w.kind == SK_BF16 && dense(w, row.x, out, mine)) return;
    if (w.kind != SK_INT4 || w.activation != 16) return avx512::multiply_row(w, row, out, team);
    for (int b = mine.begin; b < mine.end; b++) w.zero ? block<true>(w, row, b, out) : block<false>(w, row, b, out);
}

}  // namespace avx512bf16
}  // namespace sk
