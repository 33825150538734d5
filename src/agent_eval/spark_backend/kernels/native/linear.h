// Products of one or many rows with a weight matrix. One implementation per instruction set, chosen once by cpuid.
//
// Arithmetic, the same on every instruction set and for every number of rows and threads, so that results are equal bit
// for bit (the slow twins in the tests say the same in NumPy):
//   int8 inputs:  per row of x a scale a = max|x| / 127 and q = round-half-even(x / a); per output row and group, in the
//                 order of the groups:  t = float(sum of q * (code - centre)) * scale, sum += t,
//                 and with zeros also    sum += float(sum of q) * zero;  out = sum * a. No fused multiply-add.
//   others:       float32 products and sums in an order of each instruction set's own; equal for any number of threads.
#pragma once
#include "pool.h"
#include "weights.h"

namespace sk {

// One row of inputs, made ready once and used by every weight that reads it.
struct Row {
    const float *x;    // [cols]; already rounded to bfloat16 where the build computes in it
    int8_t *q;         // [cols] for activation 8
    float scale;       // of q
    int32_t *q_sums;   // [cols / 32] sums of q over each 32 columns
    float *x_sums;     // [cols / 32] sums of x over each 32 columns, for zeros and centres with 16-bit inputs
};

// What an instruction set offers. Each function is called by every part of a team and does its part, without barriers.
struct Linear {
    const char *isa;
    // Fills q, scale and q_sums (activation 8) or x_sums (16, 32). Cheap: one part does it, or each for itself.
    void (*prepare)(Row &row, int cols, int activation);
    // out[n] = w[n] . row, for this part's share of the rows of w; out has room for w.rows rounded up to 16.
    void (*multiply_row)(const sk_weight &w, const Row &row, float *out, const Team &team);
    // out[m * stride + n] for m rows prepared for activation 8: the blocked product of prefill.
    void (*multiply_rows)(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team);
    // Writes rows [first, first + count) of a grouped weight as values, row by row: float32, or bfloat16 if asked.
    void (*widen)(const sk_weight &w, int first, int count, void *out, bool bfloat16);
};

const Linear &linear();  // of the instruction set in use

}  // namespace sk
