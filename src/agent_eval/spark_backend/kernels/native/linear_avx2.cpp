// One row of inputs on AVX2: a block's 16 rows are the lanes of two registers.
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "linear.h"

namespace sk {
namespace avx2 {
namespace {

__m256 widened(__m128i bf16) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bf16), 16)); }

__m256 from_bf16(const uint16_t *values) { return widened(_mm_loadu_si128((const __m128i *)values)); }

__m256i load(const uint8_t *at) { return _mm256_loadu_si256((const __m256i *)at); }

int32_t four(const int8_t *q) {
    int32_t lane;
    memcpy(&lane, q, 4);
    return lane;
}

// One block of a grouped weight. Nothing is prefetched: a single stream of lines is what the processor itself foresees
// best.
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

// The products of 32 columns with int8 inputs, added to the sums of rows 0 to 7 and 8 to 15.
template <int KIND>
void int8_part(const uint8_t *codes, const int8_t *q, __m256i dot[2]);

// Bytes of codes times bytes of inputs, added in pairs: at most 2 * 15 * 127, and eight of these fit 16 bits.
template <>
void int8_part<SK_INT4>(const uint8_t *codes, const int8_t *q, __m256i dot[2]) {
    const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    __m256i pairs[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
#pragma GCC unroll 4
    for (int u = 0; u < 4; u++, codes += 64, q += 8) {
        const __m256i q0 = _mm256_set1_epi32(four(q)), q1 = _mm256_set1_epi32(four(q + 4));
        for (int half = 0; half < 2; half++) {
            const __m256i both = load(codes + 32 * half);
            const __m256i first = _mm256_maddubs_epi16(_mm256_and_si256(both, low), q0);
            const __m256i second = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(both, 4), low), q1);
            pairs[half] = _mm256_add_epi16(pairs[half], _mm256_add_epi16(first, second));
        }
    }
    for (int half = 0; half < 2; half++)
        dot[half] = _mm256_add_epi32(dot[half], _mm256_madd_epi16(pairs[half], ones));
}

// A code less 128 is a signed byte. Its sign moves to the input, so that its magnitude, up to 128, is the unsigned factor:
// at most 2 * 128 * 127, which fits 16 bits by 255.
template <>
void int8_part<SK_INT8>(const uint8_t *codes, const int8_t *q, __m256i dot[2]) {
    const __m256i centre = _mm256_set1_epi8((char)0x80), ones = _mm256_set1_epi16(1);
#pragma GCC unroll 8
    for (int u = 0; u < 8; u++, codes += 64, q += 4) {
        const __m256i inputs = _mm256_set1_epi32(four(q));
        for (int half = 0; half < 2; half++) {
            const __m256i signs = _mm256_xor_si256(load(codes + 32 * half), centre);
            const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(signs), _mm256_sign_epi8(inputs, signs));
            dot[half] = _mm256_add_epi32(dot[half], _mm256_madd_epi16(pairs, ones));
        }
    }
}

template <int KIND, bool ZERO>
void int8_block(const sk_weight &w, const Row &row, int b, float *out) {
    Block block = block_of(w, b);
    const int8_t *q = row.q;
    const int32_t *sums = row.q_sums;
    __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int g = 0; g < block.groups; g++) {
        __m256i dot[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        int32_t inputs = 0;
        for (int part = 0; part < block.parts; part++) {
            int8_part<KIND>(block.codes, q, dot);
            block.codes += KIND == SK_INT4 ? 256 : 512;
            q += 32;
            inputs += *sums++;
        }
        // the signed bytes of int8 have lost their centre already
        const __m256i centre = _mm256_set1_epi32(KIND == SK_INT4 ? inputs * 8 : 0);
        for (int half = 0; half < 2; half++) {
            const __m256 centred = _mm256_cvtepi32_ps(_mm256_sub_epi32(dot[half], centre));
            sum[half] = _mm256_add_ps(sum[half], _mm256_mul_ps(centred, from_bf16(block.scale + 8 * half)));
            if (ZERO)
                sum[half] = _mm256_add_ps(
                    sum[half], _mm256_mul_ps(_mm256_set1_ps((float)inputs), from_bf16(block.zero + 8 * half)));
        }
        block.scale += SK_ROWS;
        if (ZERO) block.zero += SK_ROWS;
    }
    for (int half = 0; half < 2; half++)
        _mm256_storeu_ps(out + b * SK_ROWS + 8 * half, _mm256_mul_ps(sum[half], _mm256_set1_ps(row.scale)));
}

// A byte shuffle alone makes a float of four bits: with 1nnnn000 in the third byte and nothing else, the exponent is the
// smallest there is and the float is 2^-130 * (16 + n). The inputs are scaled up by a power of two that brings the
// largest near 2^60 (`prepare`), so that no product comes near the smallest floats; scaling so is exact.
template <bool ZERO>
void int4_float_block(const sk_weight &w, const Row &row, int b, float *out) {
    const __m256i nibble = _mm256_set1_epi8(0x78), mark = _mm256_set1_epi8((char)0x80);
    __m256i place[4];  // byte j of each lane to its third, zeros elsewhere
    for (int j = 0; j < 4; j++)
        place[j] = _mm256_or_si256(
            _mm256_set1_epi32((int)0x80008080 + (j << 16)),
            _mm256_setr_epi32(0, 4 << 16, 8 << 16, 12 << 16, 0, 4 << 16, 8 << 16, 12 << 16));
    Block block = block_of(w, b);
    const float *x = (const float *)row.arranged;
    const float *sums = row.x_sums;
    __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int g = 0; g < block.groups; g++) {
        __m256 dot[2][4];  // eight chains of additions hide their latency
        for (int half = 0; half < 2; half++)
            for (int i = 0; i < 4; i++) dot[half][i] = _mm256_setzero_ps();
        float inputs = 0;
        for (int part = 0; part < block.parts; part++) {
            inputs += *sums++;
#pragma GCC unroll 1  // unrolled, the sums would no longer fit the registers
            for (int u = 0; u < 4; u++, block.codes += 64, x += 8) {
                __m256i low[2], high[2];
                for (int half = 0; half < 2; half++) {
                    const __m256i both = load(block.codes + 32 * half);
                    low[half] = _mm256_or_si256(_mm256_and_si256(_mm256_slli_epi16(both, 3), nibble), mark);
                    high[half] = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(both, 1), nibble), mark);
                }
                for (int j = 0; j < 4; j++) {
                    const __m256 first = _mm256_broadcast_ss(x + j), second = _mm256_broadcast_ss(x + 4 + j);
                    for (int half = 0; half < 2; half++) {
                        __m256 *to = dot[half] + (j & 1);
                        to[0] = _mm256_fmadd_ps(_mm256_castsi256_ps(_mm256_shuffle_epi8(low[half], place[j])), first,
                                                to[0]);
                        to[2] = _mm256_fmadd_ps(_mm256_castsi256_ps(_mm256_shuffle_epi8(high[half], place[j])), second,
                                                to[2]);
                    }
                }
            }
        }
        // 2^65 brings the products to the scale of x_sums; 24 is 16 and the centre
        const __m256 centre = _mm256_set1_ps(-24 * inputs), up = _mm256_set1_ps(0x1p65f);
        for (int half = 0; half < 2; half++) {
            const __m256 low = _mm256_add_ps(dot[half][0], dot[half][1]);
            const __m256 high = _mm256_add_ps(dot[half][2], dot[half][3]);
            const __m256 centred = _mm256_fmadd_ps(_mm256_add_ps(low, high), up, centre);
            sum[half] = _mm256_fmadd_ps(centred, from_bf16(block.scale + 8 * half), sum[half]);
            if (ZERO)
                sum[half] = _mm256_fmadd_ps(_mm256_set1_ps(inputs), from_bf16(block.zero + 8 * half), sum[half]);
        }
        block.scale += SK_ROWS;
        if (ZERO) block.zero += SK_ROWS;
    }
    for (int half = 0; half < 2; half++)
        _mm256_storeu_ps(out + b * SK_ROWS + 8 * half, _mm256_mul_ps(sum[half], _mm256_set1_ps(row.scale)));
}

// Codes of eight bits are widened as 0 to 255; the centre leaves with the group's sum of inputs.
template <bool ZERO>
void int8_float_block(const sk_weight &w, const Row &row, int b, float *out) {
    __m256i place[4];  // byte j of each lane, zero-extended
    for (int j = 0; j < 4; j++)
        place[j] = _mm256_or_si256(_mm256_set1_epi32((int)0x80808000 + j), _mm256_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12));
    Block block = block_of(w, b);
    const float *x = row.x;
    const float *sums = row.x_sums;
    __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int g = 0; g < block.groups; g++) {
        __m256 dot[2][2];
        for (int half = 0; half < 2; half++) dot[half][0] = dot[half][1] = _mm256_setzero_ps();
        float inputs = 0;
        for (int part = 0; part < block.parts; part++) {
            inputs += *sums++ * row.scale;
            for (int u = 0; u < 8; u++, block.codes += 64, x += 4) {
                for (int half = 0; half < 2; half++) {
                    const __m256i codes = load(block.codes + 32 * half);
                    for (int j = 0; j < 4; j++)
                        dot[half][j & 1] =
                            _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_shuffle_epi8(codes, place[j])),
                                            _mm256_broadcast_ss(x + j), dot[half][j & 1]);
                }
            }
        }
        const __m256 centre = _mm256_set1_ps(-128 * inputs);
        for (int half = 0; half < 2; half++) {
            const __m256 centred = _mm256_add_ps(_mm256_add_ps(dot[half][0], dot[half][1]), centre);
            sum[half] = _mm256_fmadd_ps(centred, from_bf16(block.scale + 8 * half), sum[half]);
            if (ZERO)
                sum[half] = _mm256_fmadd_ps(_mm256_set1_ps(inputs), from_bf16(block.zero + 8 * half), sum[half]);
        }
        block.scale += SK_ROWS;
        if (ZERO) block.zero += SK_ROWS;
    }
    for (int half = 0; half < 2; half++) _mm256_storeu_ps(out + b * SK_ROWS + 8 * half, sum[half]);
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
    static __m256 load(const float *at) { return _mm256_loadu_ps(at); }
};

struct Bf16 {
    typedef uint16_t type;
    static __m256 load(const uint16_t *at) { return from_bf16(at); }
};

float total(__m256 lanes) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// One row of a dense weight: a single stream is the fastest, though the inputs are read again for each.
template <class T>
float dense_row(const typename T::type *weight, int cols, const float *x) {
    typedef typename T::type type;
    __m256 sum[4];
    for (int i = 0; i < 4; i++) sum[i] = _mm256_setzero_ps();
    int k = 0;
    for (; k + 32 <= cols; k += 32) {
        for (int i = 0; i < 4; i++)
            sum[i] = _mm256_fmadd_ps(T::load(weight + k + 8 * i), _mm256_loadu_ps(x + k + 8 * i), sum[i]);
    }
    for (int i = 0; k < cols; k += 8, i++) {
        const int left = cols - k < 8 ? cols - k : 8;
        float last_x[8] = {0};
        type last[8] = {0};
        memcpy(last_x, x + k, left * sizeof(float));
        memcpy(last, weight + k, left * sizeof(type));
        sum[i] = _mm256_fmadd_ps(T::load(last), _mm256_loadu_ps(last_x), sum[i]);
    }
    return total(_mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3])));
}

template <class T>
void dense(const sk_weight &w, const Row &row, float *out, const Share &mine) {
    const typename T::type *weight = (const typename T::type *)w.data;
    const int end = mine.end * SK_ROWS < w.rows ? mine.end * SK_ROWS : w.rows;
    for (int n = mine.begin * SK_ROWS; n < end; n++) out[n] = dense_row<T>(weight + (int64_t)n * w.cols, w.cols, row.x);
}

// The bits of the largest magnitude: compared so, infinities and NaNs win.
uint32_t largest(const float *x, int cols) {
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256i top = _mm256_setzero_si256();
    for (int k = 0; k < cols; k += 8)
        top = _mm256_max_epu32(top, _mm256_and_si256(load((const uint8_t *)(x + k)), magnitude));
    uint32_t lanes[8], most = 0;
    _mm256_storeu_si256((__m256i *)lanes, top);
    for (int i = 0; i < 8; i++) most = lanes[i] > most ? lanes[i] : most;
    return most;
}

int32_t total(__m256i lanes) {
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

float power_of_two(int exponent) { return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128((exponent + 127) << 23))); }

// For 16-bit inputs, `arranged` is x * 2^s with the largest magnitude from 2^60 to 2^61, where floats reach that far;
// x_sums are of x * 2^(s - 65) and `scale`, 2^(65 - s), undoes it.
void prepare_float(Row &row, int cols) {
    const uint32_t top = largest(row.x, cols);
    int s = 60 - ((int)(top >> 23) - 127);
    s = s < -62 ? -62 : s > 127 ? 127 : s;  // all three powers are then normal floats
    if (top >= 0x7f800000) s = 0;           // what is infinite or no number stays so
    const __m256 up = _mm256_set1_ps(power_of_two(s)), down = _mm256_set1_ps(power_of_two(-65));
    row.scale = power_of_two(65 - s);
    float *arranged = (float *)row.arranged;
    for (int k = 0; k < cols; k += 32) {
        __m256 sum = _mm256_setzero_ps();
        for (int i = 0; i < 32; i += 8) {
            const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(row.x + k + i), up);
            _mm256_storeu_ps(arranged + k + i, scaled);
            sum = _mm256_add_ps(sum, _mm256_mul_ps(scaled, down));
        }
        row.x_sums[k / 32] = total(sum);
    }
}

}  // namespace

void prepare(Row &row, int cols, int activation) {
    if (activation == 32) return generic::prepare(row, cols, activation);
    if (activation == 16) return prepare_float(row, cols);
    const uint32_t top = largest(row.x, cols);
    const bool finite = top < 0x7f800000;
    float scale = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128((int)top))) / 127.0f;
    if (scale < 1e-30f) scale = 1e-30f;  // a row of zeros
    row.scale = finite ? scale : NAN;
    if (!finite) {
        memset(row.q, 0, cols);
        memset(row.q_sums, 0, cols / 32 * sizeof *row.q_sums);
        return;
    }
    const __m256 divisor = _mm256_set1_ps(scale);
    // the packs below work within halves of 128 bits; this undoes what they do to the order
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (int k = 0; k < cols; k += 32) {
        __m256i q[4];
        for (int i = 0; i < 4; i++)
            q[i] = _mm256_cvtps_epi32(_mm256_div_ps(_mm256_loadu_ps(row.x + k + 8 * i), divisor));
        row.q_sums[k / 32] = total(_mm256_add_epi32(_mm256_add_epi32(q[0], q[1]), _mm256_add_epi32(q[2], q[3])));
        const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
        _mm256_storeu_si256((__m256i *)(row.q + k), _mm256_permutevar8x32_epi32(bytes, order));
    }
}

void multiply_row(const sk_weight &w, const Row &row, float *out, const Team &team) {
    const Share mine = share(team, (w.rows + SK_ROWS - 1) / SK_ROWS);
    if (w.kind == SK_F32) return dense<F32>(w, row, out, mine);
    if (w.kind == SK_BF16) return dense<Bf16>(w, row, out, mine);
    w.zero ? grouped<true>(w, row, out, mine) : grouped<false>(w, row, out, mine);
}

}  // namespace avx2
}  // namespace sk
