// Grouped weights as values, with AVX2: rows come out of their lanes by transposing, then eight codes at a time are
// turned into numbers.
#include <immintrin.h>

#include "gemm.h"

namespace {

const int kMost = 128;  // columns spelled out at a time

inline __m256i load(const uint8_t *at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(at)); }

// Transposes 4 x 4 lanes of 32 bits within each half: lane i of half L of out[j] is lane j of half L of in[i].
inline void transpose(const __m256i in[4], __m256i out[4]) {
    const __m256i a = _mm256_unpacklo_epi32(in[0], in[1]), b = _mm256_unpacklo_epi32(in[2], in[3]);
    const __m256i c = _mm256_unpackhi_epi32(in[0], in[1]), d = _mm256_unpackhi_epi32(in[2], in[3]);
    out[0] = _mm256_unpacklo_epi64(a, b);
    out[1] = _mm256_unpackhi_epi64(a, b);
    out[2] = _mm256_unpacklo_epi64(c, d);
    out[3] = _mm256_unpackhi_epi64(c, d);
}

// Halves of `rows` go to rows j and j + 4 of [16][kMost] bytes.
inline void store_halves(__m256i rows, int j, int8_t *out) {
    _mm_store_si128(reinterpret_cast<__m128i *>(out + j * kMost), _mm256_castsi256_si128(rows));
    _mm_store_si128(reinterpret_cast<__m128i *>(out + (j + 4) * kMost), _mm256_extracti128_si256(rows, 1));
}

// Codes less their centre, of `count` columns of a block, row by row.
void spell_int4(const uint8_t *data, int count, int8_t *out) {
    const __m256i low = _mm256_set1_epi8(15), centre = _mm256_set1_epi8(8);
    for (int k = 0; k < count; k += 32, data += 256, out += 32) {
        for (int half = 0; half < 2; half++) {
            __m256i quads[4], rows[4];
            for (int i = 0; i < 4; i++) quads[i] = load(data + 64 * i + 32 * half);
            transpose(quads, rows);
            for (int j = 0; j < 4; j++) {
                const __m256i first = _mm256_sub_epi8(_mm256_and_si256(rows[j], low), centre);
                const __m256i second = _mm256_sub_epi8(_mm256_and_si256(_mm256_srli_epi16(rows[j], 4), low), centre);
                store_halves(_mm256_unpacklo_epi32(first, second), 8 * half + j, out);
                store_halves(_mm256_unpackhi_epi32(first, second), 8 * half + j, out + 16);
            }
        }
    }
}

void spell_int8(const uint8_t *data, int count, int8_t *out) {
    const __m256i centre = _mm256_set1_epi8(-128);
    for (int k = 0; k < count; k += 16, data += 256, out += 16) {
        for (int half = 0; half < 2; half++) {
            __m256i quads[4], rows[4];
            for (int i = 0; i < 4; i++) quads[i] = _mm256_xor_si256(load(data + 64 * i + 32 * half), centre);
            transpose(quads, rows);
            for (int j = 0; j < 4; j++) store_halves(rows[j], 8 * half + j, out);
        }
    }
}

inline __m256 all(uint16_t bf16) { return _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int32_t>(bf16) << 16)); }

// Bits of the nearest bfloat16, halves to even, in the low half of each lane; a NaN stays one.
inline __m256i to_bf16(__m256 value) {
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256i none = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    return _mm256_srli_epi32(_mm256_blendv_epi8(up, quiet, none), 16);
}

inline __m256 value_of(const int8_t *codes, __m256 scale, __m256 zero) {
    const __m256i level = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(codes)));
    return _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(level), scale), zero);
}

void values(const int8_t *codes, int count, __m256 scale, __m256 zero, void *out, bool bfloat16) {
    if (bfloat16) {
        uint16_t *to = static_cast<uint16_t *>(out);
        for (int k = 0; k < count; k += 16) {
            const __m256i first = to_bf16(value_of(codes + k, scale, zero));
            const __m256i second = to_bf16(value_of(codes + k + 8, scale, zero));
            const __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi32(first, second), 0xd8);
            _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + k), both);
        }
    } else {
        float *to = static_cast<float *>(out);
        for (int k = 0; k < count; k += 8) _mm256_storeu_ps(to + k, value_of(codes + k, scale, zero));
    }
}

}  // namespace

namespace sk {
namespace avx2 {

void widen(const sk_weight &w, int first, int count, void *out, bool bfloat16) {
    const int groups = w.cols / w.group, step = w.group % 128 == 0 ? 128 : w.group % 64 == 0 ? 64 : 32;
    const int64_t bytes = bfloat16 ? 2 : 4, column = w.kind == SK_INT4 ? 8 : 16;  // of w per column of a block
    alignas(64) int8_t codes[SK_ROWS * kMost];
    for (int block = first / SK_ROWS; block * SK_ROWS < first + count; block++) {
        const uint8_t *data = static_cast<const uint8_t *>(w.data) + column * block * w.cols;
        const int from = block * SK_ROWS > first ? 0 : first - block * SK_ROWS;
        const int rest = first + count - block * SK_ROWS, end = rest < SK_ROWS ? rest : SK_ROWS;
        for (int k = 0; k < w.cols; k += step) {
            const int64_t at = (static_cast<int64_t>(block) * groups + k / w.group) * SK_ROWS;
            if (w.kind == SK_INT4) spell_int4(data + column * k, step, codes);
            else spell_int8(data + column * k, step, codes);
            for (int r = from; r < end; r++) {
                const __m256 zero = w.zero ? all(w.zero[at + r]) : _mm256_setzero_ps();
                const int64_t value = static_cast<int64_t>(block * SK_ROWS + r - first) * w.cols + k;
                char *to = static_cast<char *>(out) + value * bytes;
                values(codes + r * kMost, step, all(w.scale[at + r]), zero, to, bfloat16);
            }
        }
    }
}

}  // namespace avx2
}  // namespace sk
