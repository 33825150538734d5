// One row of inputs on AVX-512 with VNNI: a block's 16 rows are the 16 lanes of a register.
#include <immintrin.h>
#include <math.h>

#include "linear.h"

namespace sk {
namespace avx512 {
namespace {

__m512 widened(__m256i bf16) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bf16), 16)); }

__m512 from_bf16(const uint16_t *values) { return widened(_mm256_loadu_si256((const __m256i *)values)); }

// One block of a grouped weight. Blocks are taken one at a time and nothing is prefetched: a single stream of lines is
// what the processor itself foresees best (0007-kernels.md has the figures).
struct Block {
    const uint8_t *codes;
    const uint16_t *scale, *zero;
    int groups, parts;  // groups in a row, parts of 32 columns in a group
};

Block block_of(const sk_weight &w, int block) {
    const int groups = w.cols / w.group;
    const int64_t bytes = (int64_t)w.cols * SK_ROWS / (w.kind == SK_INT4 ? 2 : 1);
    const int64_t scales = (int64_t)block * groups * SK_ROWS;
    return {(const uint8_t *)w.data + block * bytes, w.scale + scales, w.zero ? w.zero + scales : NULL, groups,
            w.group / 32};
}

template <int KIND, bool ZERO>
void int8_block(const sk_weight &w, const Row &row, int b, float *out) {
    const __m512i low = _mm512_set1_epi8(15);
    Block block = block_of(w, b);
    const int32_t *q = (const int32_t *)row.q;
    const int32_t *sums = row.q_sums;
    __m512 sum = _mm512_setzero_ps();
    for (int g = 0; g < block.groups; g++) {
        __m512i dot[4];  // four chains of additions hide their latency
        for (int i = 0; i < 4; i++) dot[i] = _mm512_setzero_si512();
        int32_t inputs = 0;
        for (int part = 0; part < block.parts; part++, q += 8) {
            inputs += *sums++;
#pragma GCC unroll 4
            for (int u = 0; u < 4; u++) {
                const __m512i q0 = _mm512_set1_epi32(q[2 * u]), q1 = _mm512_set1_epi32(q[2 * u + 1]);
                __m512i *to = dot + 2 * (u & 1);
                if (KIND == SK_INT4) {
                    const __m512i both = _mm512_loadu_si512(block.codes);
                    block.codes += 64;
                    to[0] = _mm512_dpbusd_epi32(to[0], _mm512_and_si512(both, low), q0);
                    to[1] = _mm512_dpbusd_epi32(to[1], _mm512_and_si512(_mm512_srli_epi16(both, 4), low), q1);
                } else {
                    to[0] = _mm512_dpbusd_epi32(to[0], _mm512_loadu_si512(block.codes), q0);
                    to[1] = _mm512_dpbusd_epi32(to[1], _mm512_loadu_si512(block.codes + 64), q1);
                    block.codes += 128;
                }
            }
        }
        const __m512i total = _mm512_add_epi32(_mm512_add_epi32(dot[0], dot[1]), _mm512_add_epi32(dot[2], dot[3]));
        const __m512i centred = _mm512_sub_epi32(total, _mm512_set1_epi32(inputs * (KIND == SK_INT4 ? 8 : 128)));
        sum = _mm512_add_ps(sum, _mm512_mul_ps(_mm512_cvtepi32_ps(centred), from_bf16(block.scale)));
        block.scale += SK_ROWS;
        if (ZERO) {
            sum = _mm512_add_ps(sum, _mm512_mul_ps(_mm512_set1_ps((float)inputs), from_bf16(block.zero)));
            block.zero += SK_ROWS;
        }
    }
    _mm512_storeu_ps(out + b * SK_ROWS, _mm512_mul_ps(sum, _mm512_set1_ps(row.scale)));
}

__m512 added(const __m512 dot[4]) {
    return _mm512_add_ps(_mm512_add_ps(dot[0], dot[1]), _mm512_add_ps(dot[2], dot[3]));
}

// Inputs as they are. A table turns a code into its value: the permutation reads only the low four bits of an index, so
// shifting is all that selects a code.
template <bool ZERO>
void int4_float_block(const sk_weight &w, const Row &row, int b, float *out) {
    const __m512 table = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    Block block = block_of(w, b);
    const float *x = row.x;
    const float *sums = row.x_sums;
    __m512 sum = _mm512_setzero_ps();
    for (int g = 0; g < block.groups; g++) {
        __m512 dot[4];
        for (int i = 0; i < 4; i++) dot[i] = _mm512_setzero_ps();
        float inputs = 0;
        for (int part = 0; part < block.parts; part++) {
            inputs += *sums++;
            for (int u = 0; u < 4; u++, x += 8, block.codes += 64) {
                const __m512i both = _mm512_loadu_si512(block.codes);
                for (int j = 0; j < 4; j++) {
                    const __m512 low = _mm512_permutexvar_ps(_mm512_srli_epi32(both, 8 * j), table);
                    const __m512 high = _mm512_permutexvar_ps(_mm512_srli_epi32(both, 8 * j + 4), table);
                    __m512 *to = dot + 2 * (j & 1);
                    to[0] = _mm512_fmadd_ps(low, _mm512_set1_ps(x[j]), to[0]);
                    to[1] = _mm512_fmadd_ps(high, _mm512_set1_ps(x[j + 4]), to[1]);
                }
            }
        }
        sum = _mm512_fmadd_ps(added(dot), from_bf16(block.scale), sum);
        block.scale += SK_ROWS;
        if (ZERO) {
            sum = _mm512_fmadd_ps(_mm512_set1_ps(inputs), from_bf16(block.zero), sum);
            block.zero += SK_ROWS;
        }
    }
    _mm512_storeu_ps(out + b * SK_ROWS, sum);
}

// Codes of eight bits are widened as 0 to 255; the centre leaves with the group's sum of inputs.
template <bool ZERO>
void int8_float_block(const sk_weight &w, const Row &row, int b, float *out) {
    __m512i place[4];  // byte j of each lane; the mask leaves it alone in its lane
    for (int j = 0; j < 4; j++)
        place[j] = _mm512_broadcast_i32x4(_mm_setr_epi32(j, j + 4, j + 8, j + 12));
    const __mmask64 lowest = 0x1111111111111111;
    Block block = block_of(w, b);
    const float *x = row.x;
    const float *sums = row.x_sums;
    __m512 sum = _mm512_setzero_ps();
    for (int g = 0; g < block.groups; g++) {
        __m512 dot[4];
        for (int i = 0; i < 4; i++) dot[i] = _mm512_setzero_ps();
        float inputs = 0;
        for (int part = 0; part < block.parts; part++) {
            inputs += *sums++;
            for (int u = 0; u < 8; u++, x += 4, block.codes += 64) {
                const __m512i codes = _mm512_loadu_si512(block.codes);
                for (int j = 0; j < 4; j++) {
                    const __m512i alone = _mm512_maskz_shuffle_epi8(lowest, codes, place[j]);
                    dot[j] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(alone), _mm512_set1_ps(x[j]), dot[j]);
                }
            }
        }
        const __m512 centred = _mm512_add_ps(added(dot), _mm512_set1_ps(-128 * inputs));
        sum = _mm512_fmadd_ps(centred, from_bf16(block.scale), sum);
        block.scale += SK_ROWS;
        if (ZERO) {
            sum = _mm512_fmadd_ps(_mm512_set1_ps(inputs), from_bf16(block.zero), sum);
            block.zero += SK_ROWS;
        }
    }
    _mm512_storeu_ps(out + b * SK_ROWS, sum);
}

template <bool ZERO>
void grouped(const sk_weight &w, const Row &row, float *out, const Share &mine) {
    for (int b = mine.begin; b < mine.end; b++) {
        if (w.activation == 8)
            w.kind == SK_INT4 ? int8_block<SK_INT4, ZERO>(w, row, b, out) : int8_block<SK_INT8, ZERO>(w, row, b, out);
        else
            w.kind == SK_INT4 ? int4_float_block<ZERO>(w, row, b, out) : int8_float_block<ZERO>(w, row, b, out);
    }
}

struct F32 {
    typedef float type;
    static __m512 load(const float *at) { return _mm512_loadu_ps(at); }
    static __m512 load(const float *at, __mmask16 mask) { return _mm512_maskz_loadu_ps(mask, at); }
};

struct Bf16 {
    typedef uint16_t type;
    static __m512 load(const uint16_t *at) { return from_bf16(at); }
    static __m512 load(const uint16_t *at, __mmask16 mask) { return widened(_mm256_maskz_loadu_epi16(mask, at)); }
};

// One row of a dense weight. One at a time is the fastest here too, though the inputs are read again for each.
template <class T>
float dense_row(const typename T::type *weight, int cols, const float *x) {
    __m512 sum[4];
    for (int i = 0; i < 4; i++) sum[i] = _mm512_setzero_ps();
    int k = 0;
    for (; k + 64 <= cols; k += 64) {
        for (int i = 0; i < 4; i++)
            sum[i] = _mm512_fmadd_ps(T::load(weight + k + 16 * i), _mm512_loadu_ps(x + k + 16 * i), sum[i]);
    }
    for (int i = 0; k < cols; k += 16, i++) {
        const __mmask16 mask = cols - k < 16 ? (__mmask16)((1u << (cols - k)) - 1) : (__mmask16)0xffff;
        sum[i] = _mm512_fmadd_ps(T::load(weight + k, mask), _mm512_maskz_loadu_ps(mask, x + k), sum[i]);
    }
    return _mm512_reduce_add_ps(added(sum));
}

template <class T>
void dense(const sk_weight &w, const Row &row, float *out, const Share &mine) {
    const typename T::type *weight = (const typename T::type *)w.data;
    const int end = mine.end * SK_ROWS < w.rows ? mine.end * SK_ROWS : w.rows;
    for (int n = mine.begin * SK_ROWS; n < end; n++) out[n] = dense_row<T>(weight + (int64_t)n * w.cols, w.cols, row.x);
}

}  // namespace

void prepare(Row &row, int cols, int activation) {
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    if (activation != 8) {
        for (int b = 0; b < cols / 32; b++)
            row.x_sums[b] = _mm512_reduce_add_ps(
                _mm512_add_ps(_mm512_loadu_ps(row.x + b * 32), _mm512_loadu_ps(row.x + b * 32 + 16)));
        return;
    }
    // the largest magnitude, compared as bits so that infinities and NaNs win
    __m512i top0 = _mm512_setzero_si512(), top1 = top0;
    for (int k = 0; k < cols; k += 32) {
        top0 = _mm512_max_epu32(top0, _mm512_and_si512(_mm512_loadu_si512(row.x + k), magnitude));
        top1 = _mm512_max_epu32(top1, _mm512_and_si512(_mm512_loadu_si512(row.x + k + 16), magnitude));
    }
    const uint32_t top = _mm512_reduce_max_epu32(_mm512_max_epu32(top0, top1));
    const bool finite = top < 0x7f800000;
    float scale = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128((int)top))) / 127.0f;
    if (scale < 1e-30f) scale = 1e-30f;  // a row of zeros
    row.scale = finite ? scale : NAN;
    const __m512 divisor = _mm512_set1_ps(scale);
    const __mmask16 keep = finite ? 0xffff : 0;
    for (int b = 0; b < cols / 32; b++) {
        const float *x = row.x + b * 32;
        const __m512i q0 = _mm512_maskz_cvtps_epi32(keep, _mm512_div_ps(_mm512_loadu_ps(x), divisor));
        const __m512i q1 = _mm512_maskz_cvtps_epi32(keep, _mm512_div_ps(_mm512_loadu_ps(x + 16), divisor));
        _mm_storeu_si128((__m128i *)(row.q + b * 32), _mm512_cvtsepi32_epi8(q0));
        _mm_storeu_si128((__m128i *)(row.q + b * 32 + 16), _mm512_cvtsepi32_epi8(q1));
        row.q_sums[b] = _mm512_reduce_add_epi32(_mm512_add_epi32(q0, q1));
    }
}

void multiply_row(const sk_weight &w, const Row &row, float *out, const Team &team) {
    const Share mine = share(team, (w.rows + SK_ROWS - 1) / SK_ROWS);
    if (w.kind == SK_F32) return dense<F32>(w, row, out, mine);
    if (w.kind == SK_BF16) return dense<Bf16>(w, row, out, mine);
    w.zero ? grouped<true>(w, row, out, mine) : grouped<false>(w, row, out, mine);
}

}  // namespace avx512
}  // namespace sk
