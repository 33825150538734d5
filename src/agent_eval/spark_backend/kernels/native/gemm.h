// Products of many rows at once (prefill), and widening: what each instruction set offers to `Linear` (linear.h).
//
// Both take int4 and int8 weights; `multiply_rows` takes rows prepared for the weight's activation by the same variant.
// Both do one part's share of the work and write nothing beyond the rows of the weight.
#pragma once
#include "linear.h"

namespace sk {

namespace avx2 {
void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team);
void widen(const sk_weight &w, int first, int count, void *out, bool bfloat16);
}  // namespace avx2
namespace avx512 {  // multiply_rows needs VNNI
void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team);
void widen(const sk_weight &w, int first, int count, void *out, bool bfloat16);
}  // namespace avx512
namespace avx512bf16 {
void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team);
}
namespace amx {  // needs AVX-512 VNNI too, for few rows
void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team);
}
namespace amx_emulated {  // what amx does, over tiles in software: for tests, runs anywhere
void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team);
}

}  // namespace sk
