// What Python calls for many rows at once: they are prepared and multiplied slab by slab on all threads of the pool.
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

namespace sk {
namespace {

const int SLAB = 256;  // rows prepared at a time, at most: 2 MiB of float32 at a width of 2048, kept from call to call

// Memory that a calling thread keeps.
struct Kept {
    char *bytes = NULL;
    int64_t size = 0;
    ~Kept() { free(bytes); }
    char *of(int64_t wanted) {
        if (wanted > size) {
            free(bytes);
            size = (wanted + 4095) / 4096 * 4096;
            bytes = (char *)aligned_alloc(64, (size_t)size);
        }
        return bytes;
    }
};
thread_local Kept kept;

struct Slabs {
    const Linear &linear;
    const sk_weight &w;
    const void *x;
    bool bfloat16;
    int m, slabs;
    int64_t x_stride;
    float *out;
    int64_t out_stride;
    Row *rows;
};

void multiply(const Team &team, void *context) {
    const Slabs &s = *(const Slabs *)context;
    for (int slab = 0; slab < s.slabs; slab++) {
        const Share all = share(Team{slab, s.slabs}, s.m);
        const int count = all.end - all.begin;
        const Share mine = share(team, count);
        for (int i = mine.begin; i < mine.end; i++) {
            Row &row = s.rows[i];
            const int64_t at = (all.begin + i) * s.x_stride;
            if (s.bfloat16) {
                const uint16_t *from = (const uint16_t *)s.x + at;
                uint32_t *to = (uint32_t *)row.x;
                for (int k = 0; k < s.w.cols; k++) to[k] = (uint32_t)from[k] << 16;
            } else {
                row.x = (const float *)s.x + at;
            }
            s.linear.prepare(row, s.w.cols, s.w.activation);
        }
        team.barrier();
        s.linear.multiply_rows(s.w, s.rows, count, s.out + all.begin * s.out_stride, s.out_stride, team);
        if (slab + 1 < s.slabs) team.barrier();  // the rows are about to be written over
    }
}

int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace
}  // namespace sk

extern "C" {

// out[i * out_stride + n] = w[n] . x[i] for `m` rows of float32 (x_kind SK_F32) or bfloat16 (SK_BF16) inputs and a
// grouped weight, strides in elements. Nothing is written beyond the rows of the weight. Returns 0; -1: the weight is
// dense.
int32_t sk_multiply_rows(const sk_weight *w, const void *x, int32_t x_kind, int32_t m, int64_t x_stride, float *out,
                         int64_t out_stride) {
    using namespace sk;
    if (w->kind != SK_INT4 && w->kind != SK_INT8) return -1;
    if (m <= 0) return 0;
    const int slabs = (m + SLAB - 1) / SLAB, most = (m + slabs - 1) / slabs;
    const bool bfloat16 = x_kind == SK_BF16;
    const int64_t values = bfloat16 ? rounded((int64_t)w->cols * 4) : 0, sums = rounded(w->cols / 32 * 4);
    const int64_t own = rounded((int64_t)w->cols * (w->activation == 8 ? 1 : 4));
    const int64_t each = values + own + sums;
    char *memory = kept.of(rounded(most * (int64_t)sizeof(Row)) + most * each);
    Row *rows = (Row *)memory;
    memory += rounded(most * (int64_t)sizeof(Row));
    for (int i = 0; i < most; i++) {
        char *at = memory + i * each;
        rows[i] = Row{(const float *)at, (int8_t *)(at + values), 0, (int32_t *)(at + values + own),
                      (float *)(at + values + own), at + values};
    }
    Slabs work{linear(), *w, x, bfloat16, m, slabs, x_stride, out, out_stride, rows};
    run(multiply, &work);
    return 0;
}

}
