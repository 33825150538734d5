// The blocked product of prefill with AVX2, whose only product of bytes (vpmaddubsw) adds two of them into 16 bits.
//
// int4: a pair is at most 15 * 127 * 2 = 3810, so the pairs of 32 columns (8 quads: 30480) fit 16 bits before they must
// be widened. int8: a pair of codes up to 255 does not fit, so codes and inputs are widened to 16 bits and multiplied
// there. Other inputs go through float32.
#include <immintrin.h>

#include <stdint.h>

#define LANES 8
typedef float Floats __attribute__((vector_size(32), may_alias));
typedef uint32_t Words __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t Signed __attribute__((vector_size(32)));
static inline Floats everywhere(float value) { return (Floats)_mm256_set1_ps(value); }
static inline void add_product(Floats &sum, Floats a, Floats b) {
    sum = (Floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
}

#include "gemm_floats.h"

namespace {

const int kTile = 4;  // tokens: 8 sums of 8 rows each, and 8 registers for codes, inputs and products

inline __m256 bf16_rows(const uint16_t *at) {
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(at)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

inline __m256i load(const uint8_t *at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(at)); }

// Adds now: left to itself the compiler adds products to one another first and keeps them all, in memory.
inline void add16(__m256i &sum, __m256i product) {
    sum = _mm256_add_epi16(sum, product);
    __asm__("" : "+x"(sum));
}
inline void add32(__m256i &sum, __m256i product) {
    sum = _mm256_add_epi32(sum, product);
    __asm__("" : "+x"(sum));
}

// Integer sums of one group: acc[token][half of the rows], from starts on.
template <int kTokens>
inline void group_int4(const uint8_t *&data, const int32_t *&quads, int group, __m256i acc[kTokens][2]) {
    constexpr int kPitch = (kTokens + 3) / 4 * 4;
    const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    for (int k = 0; k < group; k += 32) {
        __m256i part[kTokens][2];
        for (int t = 0; t < kTokens; t++) part[t][0] = part[t][1] = _mm256_setzero_si256();
#pragma GCC unroll 1  // unrolled, the compiler puts the sums off and runs out of registers
        for (int i = 0; i < 4; i++) {
            const __m256i above = load(data), below = load(data + 32);
            if (kTokens <= 2) _mm_prefetch(reinterpret_cast<const char *>(data) + 2048, _MM_HINT_T0);
            const __m256i first[2] = {_mm256_and_si256(above, low), _mm256_and_si256(below, low)};
            for (int t = 0; t < kTokens; t++) {
                const __m256i x = _mm256_set1_epi32(quads[t]);
                for (int h = 0; h < 2; h++) {
                    add16(part[t][h], _mm256_maddubs_epi16(first[h], x));
                }
            }
            const __m256i second[2] = {_mm256_and_si256(_mm256_srli_epi16(above, 4), low),
                                       _mm256_and_si256(_mm256_srli_epi16(below, 4), low)};
            for (int t = 0; t < kTokens; t++) {
                const __m256i x = _mm256_set1_epi32(quads[kPitch + t]);
                for (int h = 0; h < 2; h++) {
                    add16(part[t][h], _mm256_maddubs_epi16(second[h], x));
                }
            }
            data += 64;
            quads += 2 * kPitch;
        }
        for (int t = 0; t < kTokens; t++) {
            for (int h = 0; h < 2; h++) {
                acc[t][h] = _mm256_add_epi32(acc[t][h], _mm256_madd_epi16(part[t][h], ones));
            }
        }
    }
}

template <int kTokens>
inline void group_int8(const uint8_t *&data, const int32_t *&quads, int group, __m256i acc[kTokens][2]) {
    constexpr int kPitch = (kTokens + 3) / 4 * 4;
    const __m256i low = _mm256_set1_epi16(255);
    for (int k = 0; k < group; k += 4) {
        const __m256i above = load(data), below = load(data + 32);
        if (kTokens <= 2) _mm_prefetch(reinterpret_cast<const char *>(data) + 2048, _MM_HINT_T0);
        const __m256i even[2] = {_mm256_and_si256(above, low), _mm256_and_si256(below, low)};
        const __m256i odd[2] = {_mm256_srli_epi16(above, 8), _mm256_srli_epi16(below, 8)};
        for (int t = 0; t < kTokens; t++) {
            const __m256i x = _mm256_set1_epi32(quads[2 * t]), y = _mm256_set1_epi32(quads[2 * t + 1]);
            for (int h = 0; h < 2; h++) {
                add32(acc[t][h], _mm256_madd_epi16(even[h], x));
                add32(acc[t][h], _mm256_madd_epi16(odd[h], y));
            }
        }
        data += 64;
        quads += 2 * kPitch;
    }
}

template <int kKind, int kTokens, bool kZero>
void multiply_tile(const sk_weight &w, int block, const Tile &tile, int columns, int64_t stride) {
    constexpr int kPitch = (kTokens + 3) / 4 * 4;
    constexpr int kBytes = kKind == SK_INT4 ? 8 : 16;  // of w per column of a block
    const int groups = w.cols / w.group;
    const uint8_t *data = static_cast<const uint8_t *>(w.data) + static_cast<int64_t>(block) * w.cols * kBytes;
    const uint16_t *scale = w.scale + static_cast<int64_t>(block) * groups * SK_ROWS;
    const uint16_t *zero = kZero ? w.zero + static_cast<int64_t>(block) * groups * SK_ROWS : nullptr;
    const int32_t *quads = tile.words;

    __m256 sum[kTokens][2];
    for (int t = 0; t < kTokens; t++) sum[t][0] = sum[t][1] = _mm256_setzero_ps();
    for (int g = 0; g < groups; g++) {
        __m256i acc[kTokens][2];
        for (int t = 0; t < kTokens; t++) acc[t][0] = acc[t][1] = _mm256_set1_epi32(tile.starts[g * kPitch + t]);
        if (kKind == SK_INT4) group_int4<kTokens>(data, quads, w.group, acc);
        else group_int8<kTokens>(data, quads, w.group, acc);
        for (int h = 0; h < 2; h++) {
            const __m256 s = bf16_rows(scale + g * SK_ROWS + h * 8);
            for (int t = 0; t < kTokens; t++) {
                sum[t][h] = _mm256_add_ps(sum[t][h], _mm256_mul_ps(_mm256_cvtepi32_ps(acc[t][h]), s));
            }
            if (kZero) {
                const __m256 z = bf16_rows(zero + g * SK_ROWS + h * 8);
                for (int t = 0; t < kTokens; t++) {
                    const __m256 inputs = _mm256_set1_ps(tile.sums[g * kPitch + t]);
                    sum[t][h] = _mm256_add_ps(sum[t][h], _mm256_mul_ps(inputs, z));
                }
            }
        }
    }
    float *out = tile.out + block * SK_ROWS;
    for (int t = 0; t < kTokens; t++) {
        const __m256 a = _mm256_set1_ps(tile.scales[t]);
        const __m256 above = _mm256_mul_ps(sum[t][0], a), below = _mm256_mul_ps(sum[t][1], a);
        if (columns == SK_ROWS) {
            _mm256_storeu_ps(out + t * stride, above);
            _mm256_storeu_ps(out + t * stride + 8, below);
        } else {
            alignas(32) float whole[SK_ROWS];
            _mm256_store_ps(whole, above);
            _mm256_store_ps(whole + 8, below);
            memcpy(out + t * stride, whole, columns * sizeof(float));
        }
    }
}

// Quads of bytes to pairs of 16-bit numbers: first and third neighbour, second and fourth.
void spread(const int32_t *quads, int count, int32_t *to) {
    for (int i = 0; i < count; i += 4) {
        const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i *>(quads + i));
        const __m128i even = _mm_srai_epi16(_mm_slli_epi16(four, 8), 8), odd = _mm_srai_epi16(four, 8);
        _mm_store_si128(reinterpret_cast<__m128i *>(to + 2 * i), _mm_unpacklo_epi32(even, odd));
        _mm_store_si128(reinterpret_cast<__m128i *>(to + 2 * i + 4), _mm_unpackhi_epi32(even, odd));
    }
}

const void *quantised(const sk::Row &row) { return row.q; }

template <int kKind, bool kZero>
void multiply_kind(const sk_weight &w, const sk::Row *rows, int m, float *out, int64_t stride, const sk::Team &team) {
#define SK_TILE(T) multiply_tile<kKind, T, kZero>
    static const MultiplyTile table[kTile] = {SK_TILE(1), SK_TILE(2), SK_TILE(3), SK_TILE(4)};
#undef SK_TILE
    const bool wide = kKind == SK_INT8;
    const Form form = {kTile, 4, wide ? 2 : 1, kChunkBytes, quantised, wide ? spread : nullptr};
    walk_tiles(form, table, w, rows, m, out, stride, team);
}

}  // namespace

namespace sk {
namespace avx2 {

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

}  // namespace avx2
}  // namespace sk
