// The blocked product of prefill for four-bit weights and bfloat16 inputs on AVX-512 with bfloat16 dot products: codes
// less 8 are whole in bfloat16, so the products are exact and scales come in once per group, as in
// linear_avx512bf16.cpp, whose order of inputs (`Row::arranged`) this reads. All else as on AVX-512.
#include <immintrin.h>

#include "gemm_tiles.h"

namespace {

const int kTile = 12;  // tokens: 12 sums of a group and 12 of all leave 8 registers of 32 for the rest

inline __m512 bf16_rows(const uint16_t *at) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(at)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

// The bfloat16 of -8 to 7, twice: the permutation reads five bits of an index, and the fifth is a neighbour's.
inline __m512i levels() {
    const __m512 value = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_broadcast_i64x4(_mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(value), 16)));
}

template <int kTokens, bool kZero>
void multiply_tile(const sk_weight &w, int block, const Tile &tile, int columns, int64_t stride) {
    constexpr int kPitch = (kTokens + 3) / 4 * 4;
    constexpr int kSets = kTokens <= 4 ? 2 : 1;  // few tokens: two sums each, or the instructions wait for one another
    const int groups = w.cols / w.group;
    const uint8_t *data = static_cast<const uint8_t *>(w.data) + static_cast<int64_t>(block) * w.cols * 8;
    const uint16_t *scale = w.scale + static_cast<int64_t>(block) * groups * SK_ROWS;
    const uint16_t *zero = kZero ? w.zero + static_cast<int64_t>(block) * groups * SK_ROWS : nullptr;
    const int32_t *words = tile.words;
    const __m512i table = levels();

    __m512 sum[kTokens];
    for (int t = 0; t < kTokens; t++) sum[t] = _mm512_setzero_ps();
    for (int g = 0; g < groups; g++) {
        __m512 acc[kSets][kTokens];
        for (int s = 0; s < kSets; s++) {
            for (int t = 0; t < kTokens; t++) acc[s][t] = _mm512_setzero_ps();
        }
        for (int k = 0; k < w.group; k += 8) {
            const __m512i all = _mm512_loadu_si512(data);
            if (kTokens <= 8) _mm_prefetch(reinterpret_cast<const char *>(data) + 2048, _MM_HINT_T0);
            data += 64;
#define STEP(I)                                                                                                      \
    {                                                                                                                \
        const __m512i code = _mm512_permutexvar_epi16(I ? _mm512_srli_epi16(all, 4 * I) : all, table);               \
        for (int t = 0; t < kTokens; t++) {                                                                          \
            __m512 &to = acc[I % kSets][t];                                                                          \
            to = _mm512_dpbf16_ps(to, (__m512bh)code, (__m512bh)_mm512_set1_epi32(words[I * kPitch + t]));           \
        }                                                                                                            \
    }
            STEP(0) STEP(1) STEP(2) STEP(3)
#undef STEP
            words += 4 * kPitch;
        }
        const __m512 s = bf16_rows(scale + g * SK_ROWS);
        for (int t = 0; t < kTokens; t++) {
            sum[t] = _mm512_fmadd_ps(kSets == 2 ? _mm512_add_ps(acc[0][t], acc[kSets - 1][t]) : acc[0][t], s, sum[t]);
        }
        if (kZero) {
            const __m512 z = bf16_rows(zero + g * SK_ROWS);
            for (int t = 0; t < kTokens; t++) {
                sum[t] = _mm512_fmadd_ps(_mm512_set1_ps(tile.sums[g * kPitch + t]), z, sum[t]);
            }
        }
    }
    const __mmask16 there = static_cast<__mmask16>((1u << columns) - 1);
    float *out = tile.out + block * SK_ROWS;
    for (int t = 0; t < kTokens; t++) _mm512_mask_storeu_ps(out + t * stride, there, sum[t]);
}

const void *arranged(const sk::Row &row) { return row.arranged; }

template <bool kZero>
void multiply(const sk_weight &w, const sk::Row *rows, int m, float *out, int64_t stride, const sk::Team &team) {
#define SK_TILE(T) multiply_tile<T, kZero>
    static const MultiplyTile table[kTile] = {SK_TILE(1), SK_TILE(2), SK_TILE(3), SK_TILE(4),  SK_TILE(5),  SK_TILE(6),
                                              SK_TILE(7), SK_TILE(8), SK_TILE(9), SK_TILE(10), SK_TILE(11), SK_TILE(12)};
#undef SK_TILE
    const Form form = {kTile, 2, 1, kChunkBytes, arranged, nullptr};
    walk_tiles(form, table, w, rows, m, out, stride, team);
}

}  // namespace

namespace sk {
namespace avx512bf16 {

void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team) {
    if (w.activation != 16 || w.kind != SK_INT4) avx512::multiply_rows(w, rows, m, out, stride, team);
    else if (w.zero) multiply<true>(w, rows, m, out, stride, team);
    else multiply<false>(w, rows, m, out, stride, team);
}

}  // namespace avx512bf16
}  // namespace sk
