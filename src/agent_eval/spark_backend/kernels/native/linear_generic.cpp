// Every product in plain C++, for any processor: what the other variants are checked against when the library loads.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linear.h"

namespace sk {
namespace generic {
namespace {

float from_bf16(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, 4);
    return value;
}

uint16_t to_bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);  // a NaN stays one
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);                 // to nearest, halves to even
}

struct Grouped {
    const uint8_t *codes;   // of the block
    const uint16_t *scale;  // [groups][16]
    const uint16_t *zero;   // the same, or NULL
    int centre;
};

Grouped block_of(const sk_weight &w, int block) {
    const int64_t bytes = (int64_t)w.cols * SK_ROWS / (w.kind == SK_INT4 ? 2 : 1);
    const int64_t groups = w.cols / w.group;
    return {(const uint8_t *)w.data + block * bytes, w.scale + block * groups * SK_ROWS,
            w.zero ? w.zero + block * groups * SK_ROWS : NULL, w.kind == SK_INT4 ? 8 : 128};
}

// Spells out the codes of one row of a block, centre removed, for columns [from, from + count).
void codes_of(const sk_weight &w, const Grouped &block, int r, int from, int count, int8_t *out) {
    for (int i = 0; i < count; i++) {
        const int k = from + i, j = k & 3;
        int code;
        if (w.kind == SK_INT4) {
            const uint8_t pair = block.codes[(k >> 3) * 64 + r * 4 + j];
            code = k & 4 ? pair >> 4 : pair & 15;
        } else {
            code = block.codes[(k >> 2) * 64 + r * 4 + j];
        }
        out[i] = (int8_t)(code - block.centre);
    }
}

float grouped_int8(const sk_weight &w, const Grouped &block, int r, const Row &row) {
    int8_t codes[32];
    float sum = 0;
    for (int g = 0; g < w.cols / w.group; g++) {
        int32_t dot = 0, inputs = 0;
        for (int k = g * w.group; k < (g + 1) * w.group; k += 32) {
            codes_of(w, block, r, k, 32, codes);
            for (int i = 0; i < 32; i++) dot += (int32_t)row.q[k + i] * codes[i];
            inputs += row.q_sums[k / 32];
        }
        sum += (float)dot * from_bf16(block.scale[g * SK_ROWS + r]);
        if (block.zero) sum += (float)inputs * from_bf16(block.zero[g * SK_ROWS + r]);
    }
    return sum * row.scale;
}

float grouped_float(const sk_weight &w, const Grouped &block, int r, const Row &row) {
    int8_t codes[32];
    float sum = 0;
    for (int g = 0; g < w.cols / w.group; g++) {
        float dot = 0, inputs = 0;
        for (int k = g * w.group; k < (g + 1) * w.group; k += 32) {
            codes_of(w, block, r, k, 32, codes);
            float lanes[8] = {0};
            for (int i = 0; i < 32; i++) lanes[i & 7] += row.x[k + i] * (float)codes[i];
            for (int i = 0; i < 8; i++) dot += lanes[i];
            inputs += row.x_sums[k / 32];
        }
        sum += dot * from_bf16(block.scale[g * SK_ROWS + r]);
        if (block.zero) sum += inputs * from_bf16(block.zero[g * SK_ROWS + r]);
    }
    return sum;
}

float dense(const sk_weight &w, int n, const float *x) {
    float lanes[16] = {0};  // sixteen sums, so that a compiler may use what vectors the machine has
    const int whole = w.cols & ~15;
    float sum = 0;
    if (w.kind == SK_F32) {
        const float *weight = (const float *)w.data + (int64_t)n * w.cols;
        for (int k = 0; k < whole; k += 16)
            for (int i = 0; i < 16; i++) lanes[i] += weight[k + i] * x[k + i];
        for (int k = whole; k < w.cols; k++) sum += weight[k] * x[k];
    } else {
        const uint16_t *weight = (const uint16_t *)w.data + (int64_t)n * w.cols;
        for (int k = 0; k < whole; k += 16)
            for (int i = 0; i < 16; i++) lanes[i] += from_bf16(weight[k + i]) * x[k + i];
        for (int k = whole; k < w.cols; k++) sum += from_bf16(weight[k]) * x[k];
    }
    for (int i = 0; i < 16; i++) sum += lanes[i];
    return sum;
}

}  // namespace

void prepare(Row &row, int cols, int activation) {
    if (activation != 8) {
        for (int b = 0; b < cols / 32; b++) {
            float lanes[8] = {0}, sum = 0;
            for (int i = 0; i < 32; i++) lanes[i & 7] += row.x[b * 32 + i];
            for (int i = 0; i < 8; i++) sum += lanes[i];
            row.x_sums[b] = sum;
        }
        return;
    }
    uint32_t top = 0;  // largest magnitude, compared as bits so that infinities and NaNs win
    for (int k = 0; k < cols; k++) {
        uint32_t bits;
        memcpy(&bits, row.x + k, 4);
        bits &= 0x7fffffff;
        top = bits > top ? bits : top;
    }
    const bool finite = top < 0x7f800000;
    float largest;
    memcpy(&largest, &top, 4);
    float scale = largest / 127.0f;
    if (scale < 1e-30f) scale = 1e-30f;  // a row of zeros
    row.scale = finite ? scale : NAN;
    for (int b = 0; b < cols / 32; b++) row.q_sums[b] = 0;
    for (int k = 0; k < cols; k++) {
        const int8_t q = finite ? (int8_t)nearbyintf(row.x[k] / scale) : 0;
        row.q[k] = q;
        if (k / 32 < cols / 32) row.q_sums[k / 32] += q;
    }
}

void multiply_row(const sk_weight &w, const Row &row, float *out, const Team &team) {
    if (w.kind == SK_F32 || w.kind == SK_BF16) {
        const Share mine = share(team, (w.rows + SK_ROWS - 1) / SK_ROWS);
        const int end = mine.end * SK_ROWS < w.rows ? mine.end * SK_ROWS : w.rows;
        for (int n = mine.begin * SK_ROWS; n < end; n++) out[n] = dense(w, n, row.x);
        return;
    }
    const Share mine = share(team, (w.rows + SK_ROWS - 1) / SK_ROWS);
    for (int b = mine.begin; b < mine.end; b++) {
        const Grouped block = block_of(w, b);
        for (int r = 0; r < SK_ROWS; r++)
            out[b * SK_ROWS + r] =
                w.activation == 8 ? grouped_int8(w, block, r, row) : grouped_float(w, block, r, row);
    }
}

void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team) {
    const Share mine = share(team, (w.rows + SK_ROWS - 1) / SK_ROWS);
    for (int b = mine.begin; b < mine.end; b++) {
        const Grouped block = block_of(w, b);
        const int count = w.rows - b * SK_ROWS < SK_ROWS ? w.rows - b * SK_ROWS : SK_ROWS;
        for (int i = 0; i < m; i++)
            for (int r = 0; r < count; r++)
                out[i * stride + b * SK_ROWS + r] =
                    w.activation == 8 ? grouped_int8(w, block, r, rows[i]) : grouped_float(w, block, r, rows[i]);
    }
}

void widen(const sk_weight &w, int first, int count, void *out, bool bfloat16) {
    int8_t codes[32];
    for (int n = first; n < first + count; n++) {
        const Grouped block = block_of(w, n / SK_ROWS);
        const int r = n % SK_ROWS;
        for (int k = 0; k < w.cols; k += 32) {
            const int g = k / w.group;
            const float scale = from_bf16(block.scale[g * SK_ROWS + r]);
            const float zero = block.zero ? from_bf16(block.zero[g * SK_ROWS + r]) : 0;
            const int64_t at = (int64_t)(n - first) * w.cols + k;
            codes_of(w, block, r, k, 32, codes);
            for (int i = 0; i < 32; i++) {
                const float value = (float)codes[i] * scale + zero;
                if (bfloat16)
                    ((uint16_t *)out)[at + i] = to_bf16(value);
                else
                    ((float *)out)[at + i] = value;
            }
        }
    }
}

}  // namespace generic
}  // namespace sk
