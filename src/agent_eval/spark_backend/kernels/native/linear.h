// Products of one or many rows with a weight matrix. One implementation per instruction set, chosen once by cpuid.
//
// Arithmetic, the same on every instruction set and for every number of rows and threads, so that results are equal bit
// for bit (the slow twins in the tests say the same in NumPy):
//   int8 inputs:  per row of x a scale a = max(max|x| / 127, 1e-30) and q = round-half-even(x / a); per output row and
//                 group, in the order of the groups:  t = float(sum of q * (code - centre)) * scale, sum += t,
//                 and with zeros also    sum += float(sum of q) * zero;  out = sum * a. No fused multiply-add.
//                 A row of x that holds a NaN or an infinity has a = NaN and q = 0, so it gives NaN everywhere.
//   others:       float32 products and sums in an order of each instruction set's own; equal for any number of threads.
#pragma once
#include "pool.h"
#include "weights.h"

namespace sk {

// One row of inputs, made ready once and used by every weight that reads it.
struct Row {
    const float *x;    // [cols]; already rounded to bfloat16 where the build computes in it
    int8_t *q;         // [cols] for activation 8
    float scale;       // of q; with 16-bit inputs an instruction set may have its own use for it
    int32_t *q_sums;   // [cols / 32] sums of q over each 32 columns
    float *x_sums;     // [cols / 32] sums of x over each 32 columns, as the instruction set scales them (activation 16)
    void *arranged;    // [cols] of 4 bytes: x as this instruction set likes to read it (activation 16)
};

// What an instruction set offers. Each function is called by every part of a team and does its part, without barriers.
struct Linear {
    const char *isa;
    // Fills q, scale and q_sums (activation 8), or x_sums and arranged (16, 32). For grouped weights: cols is a multiple of
    // 32, and dense ones need none of it. Cheap: one part does it, or each for itself.
    void (*prepare)(Row &row, int cols, int activation);
    // out[n] = w[n] . row, for this part's share of the rows of w; out has room for w.rows rounded up to 16.
    void (*multiply_row)(const sk_weight &w, const Row &row, float *out, const Team &team);
    // out[m * stride + n] for m prepared rows: the blocked product of prefill, for grouped weights.
    void (*multiply_rows)(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team);
    // Writes rows [first, first + count) of a grouped weight as values, row by row: float32, or bfloat16 if asked.
    void (*widen)(const sk_weight &w, int first, int count, void *out, bool bfloat16);
};

const Linear &linear();  // of the instruction set in use

// The bounds of one part's share of `count` things.
struct Share {
    int begin, end;
};
static inline Share share(const Team &team, int count) {
    return {(int)((int64_t)count * team.part / team.parts), (int)((int64_t)count * (team.part + 1) / team.parts)};
}

// The variants, best last; each field may be another variant's function. A file of one instruction set keeps everything
// but these names static: an inline function shared with other files could be emitted with instructions they lack.
namespace generic {
void prepare(Row &row, int cols, int activation);
void multiply_row(const sk_weight &w, const Row &row, float *out, const Team &team);
void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team);
void widen(const sk_weight &w, int first, int count, void *out, bool bfloat16);
}  // namespace generic
namespace avx2 {
void prepare(Row &row, int cols, int activation);
void multiply_row(const sk_weight &w, const Row &row, float *out, const Team &team);
}  // namespace avx2
namespace avx512 {
void prepare(Row &row, int cols, int activation);
void multiply_row(const sk_weight &w, const Row &row, float *out, const Team &team);
}  // namespace avx512
namespace avx512bf16 {
void prepare(Row &row, int cols, int activation);
void multiply_row(const sk_weight &w, const Row &row, float *out, const Team &team);
}  // namespace avx512bf16

}  // namespace sk
