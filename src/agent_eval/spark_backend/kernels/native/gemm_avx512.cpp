// The blocked product of prefill with AVX-512. With int8 inputs vpdpbusd (VNNI) takes 16 rows of w and one token's four
// neighbours at a time, the latter broadcast by the instruction itself; others go through float32.
#include <immintrin.h>

#include <stdint.h>

#define LANES 16
typedef float Floats __attribute__((vector_size(64), may_alias));
typedef uint32_t Words __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t Signed __attribute__((vector_size(64)));
static inline Floats everywhere(float value) { return (Floats)_mm512_set1_ps(value); }
static inline void add_product(Floats &sum, Floats a, Floats b) {
    sum = (Floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)sum);
}

#include "gemm_floats.h"

namespace {

const int kTile = 12;  // tokens: 12 integer and 12 float sums of 16 rows each leave 8 registers of 32 for the rest

inline __m512 bf16_rows(const uint16_t *at) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(at)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

template <int kKind, int kTokens, bool kZero>
void multiply_tile(const sk_weight &w, int block, const Tile &tile, int columns, int64_t stride) {
    constexpr int kPitch = (kTokens + 3) / 4 * 4;
    constexpr int kBytes = kKind == SK_INT4 ? 8 : 16;  // of w per column of a block
    // few tokens: two integer sums for each, or the instructions wait for one another
    constexpr int kSets = kTokens <= 4 ? 2 : 1;
    const int groups = w.cols / w.group;
    const uint8_t *data = static_cast<const uint8_t *>(w.data) + static_cast<int64_t>(block) * w.cols * kBytes;
    const uint16_t *scale = w.scale + static_cast<int64_t>(block) * groups * SK_ROWS;
    const uint16_t *zero = kZero ? w.zero + static_cast<int64_t>(block) * groups * SK_ROWS : nullptr;
    const int32_t *quads = tile.words;
    const __m512i low = _mm512_set1_epi8(15);

    __m512 sum[kTokens];
    for (int t = 0; t < kTokens; t++) sum[t] = _mm512_setzero_ps();
    for (int g = 0; g < groups; g++) {
        __m512i acc[kSets][kTokens];
        for (int t = 0; t < kTokens; t++) {
            acc[0][t] = _mm512_set1_epi32(tile.starts[g * kPitch + t]);
            if (kSets == 2) acc[kSets - 1][t] = _mm512_setzero_si512();
        }
        for (int k = 0; k < w.group; k += 8) {
            __m512i first, second;
            if (kKind == SK_INT4) {
                const __m512i both = _mm512_loadu_si512(data);
                if (kTokens <= 8) _mm_prefetch(reinterpret_cast<const char *>(data) + 2048, _MM_HINT_T0);
                first = _mm512_and_si512(both, low);
                second = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
                data += 64;
            } else {
                first = _mm512_loadu_si512(data);
                second = _mm512_loadu_si512(data + 64);
                if (kTokens <= 8) {
                    _mm_prefetch(reinterpret_cast<const char *>(data) + 2048, _MM_HINT_T0);
                    _mm_prefetch(reinterpret_cast<const char *>(data) + 2112, _MM_HINT_T0);
                }
                data += 128;
            }
            for (int t = 0; t < kTokens; t++) {
                acc[0][t] = _mm512_dpbusd_epi32(acc[0][t], first, _mm512_set1_epi32(quads[t]));
            }
            for (int t = 0; t < kTokens; t++) {
                __m512i &to = acc[kSets - 1][t];
                to = _mm512_dpbusd_epi32(to, second, _mm512_set1_epi32(quads[kPitch + t]));
            }
            quads += 2 * kPitch;
        }
        const __m512 s = bf16_rows(scale + g * SK_ROWS);
        for (int t = 0; t < kTokens; t++) {
            const __m512i dot = kSets == 2 ? _mm512_add_epi32(acc[0][t], acc[kSets - 1][t]) : acc[0][t];
            sum[t] = _mm512_add_ps(sum[t], _mm512_mul_ps(_mm512_cvtepi32_ps(dot), s));
        }
        if (kZero) {
            const __m512 z = bf16_rows(zero + g * SK_ROWS);
            for (int t = 0; t < kTokens; t++) {
                sum[t] = _mm512_add_ps(sum[t], _mm512_mul_ps(_mm512_set1_ps(tile.sums[g * kPitch + t]), z));
            }
        }
    }
    const __mmask16 there = static_cast<__mmask16>((1u << columns) - 1);
    float *out = tile.out + block * SK_ROWS;
    for (int t = 0; t < kTokens; t++) {
        _mm512_mask_storeu_ps(out + t * stride, there, _mm512_mul_ps(sum[t], _mm512_set1_ps(tile.scales[t])));
    }
}

const void *quantised(const sk::Row &row) { return row.q; }

template <int kKind, bool kZero>
void multiply_kind(const sk_weight &w, const sk::Row *rows, int m, float *out, int64_t stride, const sk::Team &team) {
#define SK_TILE(T) multiply_tile<kKind, T, kZero>
    static const MultiplyTile table[kTile] = {SK_TILE(1), SK_TILE(2), SK_TILE(3), SK_TILE(4),  SK_TILE(5),  SK_TILE(6),
                                              SK_TILE(7), SK_TILE(8), SK_TILE(9), SK_TILE(10), SK_TILE(11), SK_TILE(12)};
#undef SK_TILE
    const Form form = {kTile, 4, 1, kChunkBytes, quantised, nullptr};
    walk_tiles(form, table, w, rows, m, out, stride, team);
}

}  // namespace

namespace sk {
namespace avx512 {

void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team) {
    if (w.activation != 8) {
        multiply_floats(w, rows, m, out, stride, team);
    } else if (w.kind == SK_INT4) {
        if (w.zero) multiply_kind<SK_INT4, true>(w, rows, m, out, stride, team);
        else multiply_kind<SK_INT4, false>(w, rows, m, out, stride, team);
    } else {
        if (w.zero) multiply_kind<SK_INT8, true>(w, rows, m, out, stride, team);
        else multiply_kind<SK_INT8, false>(w, rows, m, out, stride, team);
    }
}

}  // namespace avx512
}  // namespace sk
