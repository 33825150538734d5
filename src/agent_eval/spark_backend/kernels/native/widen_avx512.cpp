// Grouped weights as values, with AVX-512: rows come out of their lanes by transposing, and a code of 4 bits finds its
// value in a table of sixteen that one group of one row has in a register.
#include <immintrin.h>

#include "gemm.h"

namespace {

const int kMost = 128;  // columns spelled out at a time

// Transposes 4 x 4 lanes of 32 bits within each quarter: lane i of quarter L of out[j] is lane j of quarter L of in[i].
inline void transpose(const __m512i in[4], __m512i out[4]) {
    const __m512i a = _mm512_unpacklo_epi32(in[0], in[1]), b = _mm512_unpacklo_epi32(in[2], in[3]);
    const __m512i c = _mm512_unpackhi_epi32(in[0], in[1]), d = _mm512_unpackhi_epi32(in[2], in[3]);
    out[0] = _mm512_unpacklo_epi64(a, b);
    out[1] = _mm512_unpackhi_epi64(a, b);
    out[2] = _mm512_unpacklo_epi64(c, d);
    out[3] = _mm512_unpackhi_epi64(c, d);
}

// Quarters of `rows` go to rows j, j + 4, j + 8, j + 12 of [16][kMost] bytes.
inline void store_quarters(__m512i rows, int j, uint8_t *out) {
    _mm_store_si128(reinterpret_cast<__m128i *>(out + j * kMost), _mm512_castsi512_si128(rows));
    _mm_store_si128(reinterpret_cast<__m128i *>(out + (j + 4) * kMost), _mm512_extracti32x4_epi32(rows, 1));
    _mm_store_si128(reinterpret_cast<__m128i *>(out + (j + 8) * kMost), _mm512_extracti32x4_epi32(rows, 2));
    _mm_store_si128(reinterpret_cast<__m128i *>(out + (j + 12) * kMost), _mm512_extracti32x4_epi32(rows, 3));
}

// Codes of `count` columns of a block, row by row.
void spell_int4(const uint8_t *data, int count, uint8_t *out) {
    const __m512i low = _mm512_set1_epi8(15);
    for (int k = 0; k < count; k += 32, data += 256, out += 32) {
        __m512i quads[4], rows[4];
        for (int i = 0; i < 4; i++) quads[i] = _mm512_loadu_si512(data + 64 * i);
        transpose(quads, rows);
        for (int j = 0; j < 4; j++) {
            const __m512i first = _mm512_and_si512(rows[j], low);
            const __m512i second = _mm512_and_si512(_mm512_srli_epi16(rows[j], 4), low);
            store_quarters(_mm512_unpacklo_epi32(first, second), j, out);
            store_quarters(_mm512_unpackhi_epi32(first, second), j, out + 16);
        }
    }
}

void spell_int8(const uint8_t *data, int count, uint8_t *out) {
    for (int k = 0; k < count; k += 16, data += 256, out += 16) {
        __m512i quads[4], rows[4];
        for (int i = 0; i < 4; i++) quads[i] = _mm512_loadu_si512(data + 64 * i);
        transpose(quads, rows);
        for (int j = 0; j < 4; j++) store_quarters(rows[j], j, out);
    }
}

inline __m512 all(uint16_t bf16) { return _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int32_t>(bf16) << 16)); }

// Rounded to the nearest bfloat16, halves to even; a NaN stays one. (vcvtneps2bf16 would flush the smallest to zero.)
inline __m256i to_bf16(__m512 value) {
    const __m512i bits = _mm512_castps_si512(value);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
    const __mmask16 none = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(up, none, quiet), 16));
}

void values_int4(const uint8_t *codes, int count, __m512 scale, __m512 zero, void *out, bool bfloat16) {
    const __m512 levels = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    const __m512 table = _mm512_add_ps(_mm512_mul_ps(levels, scale), zero);
    if (bfloat16) {
        const __m512i narrow = _mm512_broadcast_i64x4(to_bf16(table));
        uint16_t *to = static_cast<uint16_t *>(out);
        for (int k = 0; k < count; k += 32) {
            const __m256i code = _mm256_load_si256(reinterpret_cast<const __m256i *>(codes + k));
            _mm512_storeu_si512(to + k, _mm512_permutexvar_epi16(_mm512_cvtepu8_epi16(code), narrow));
        }
    } else {
        float *to = static_cast<float *>(out);
        for (int k = 0; k < count; k += 16) {
            const __m128i code = _mm_load_si128(reinterpret_cast<const __m128i *>(codes + k));
            _mm512_storeu_ps(to + k, _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(code), table));
        }
    }
}

void values_int8(const uint8_t *codes, int count, __m512 scale, __m512 zero, void *out, bool bfloat16) {
    for (int k = 0; k < count; k += 16) {
        const __m128i code = _mm_load_si128(reinterpret_cast<const __m128i *>(codes + k));
        const __m512i level = _mm512_sub_epi32(_mm512_cvtepu8_epi32(code), _mm512_set1_epi32(128));
        const __m512 value = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(level), scale), zero);
        if (bfloat16) {
            _mm256_storeu_si256(reinterpret_cast<__m256i *>(static_cast<uint16_t *>(out) + k), to_bf16(value));
        } else {
            _mm512_storeu_ps(static_cast<float *>(out) + k, value);
        }
    }
}

}  // namespace

namespace sk {
namespace avx512 {

void widen(const sk_weight &w, int first, int count, void *out, bool bfloat16) {
    const int groups = w.cols / w.group, step = w.group % 128 == 0 ? 128 : w.group % 64 == 0 ? 64 : 32;
    const int64_t bytes = bfloat16 ? 2 : 4, column = w.kind == SK_INT4 ? 8 : 16;  // of w per column of a block
    alignas(64) uint8_t codes[SK_ROWS * kMost];
    for (int block = first / SK_ROWS; block * SK_ROWS < first + count; block++) {
        const uint8_t *data = static_cast<const uint8_t *>(w.data) + column * block * w.cols;
        const int from = block * SK_ROWS > first ? 0 : first - block * SK_ROWS;
        const int rest = first + count - block * SK_ROWS, end = rest < SK_ROWS ? rest : SK_ROWS;
        for (int k = 0; k < w.cols; k += step) {
            const int64_t at = (static_cast<int64_t>(block) * groups + k / w.group) * SK_ROWS;
            if (w.kind == SK_INT4) spell_int4(data + column * k, step, codes);
            else spell_int8(data + column * k, step, codes);
            for (int r = from; r < end; r++) {
                const __m512 zero = w.zero ? all(w.zero[at + r]) : _mm512_setzero_ps();
                const int64_t value = static_cast<int64_t>(block * SK_ROWS + r - first) * w.cols + k;
                char *to = static_cast<char *>(out) + value * bytes;
                if (w.kind == SK_INT4) values_int4(codes + r * kMost, step, all(w.scale[at + r]), zero, to, bfloat16);
                else values_int8(codes + r * kMost, step, all(w.scale[at + r]), zero, to, bfloat16);
            }
        }
    }
}

}  // namespace avx512
}  // namespace sk
