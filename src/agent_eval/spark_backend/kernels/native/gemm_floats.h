// The blocked product of prefill in float32, for inputs that stay as they are: weights are spelled out, a group of
// columns of two blocks of rows at a time, exactly as `widen` has them, and meet all tokens of a chunk before the next
// group.
//
// Included after <immintrin.h> by files that define `Floats` (LANES float32), `Words` (LANES uint32_t), `Signed` (LANES
// int32_t), everywhere(float) and add_product(Floats &sum, Floats a, Floats b), a fused multiplication and addition.
#pragma once
#include "gemm_tiles.h"

namespace {

const int kVectors = SK_ROWS / LANES;         // that hold the rows of a block
const int kFloatTile = 12 / kVectors;         // tokens: 12 sums in registers
const int kFloatBatch = 2;                    // blocks spelled out together
const int64_t kFloatChunkBytes = 1 << 20;     // of inputs; a group's columns of them are what must stay in cache
const int kMostColumns = 128;                 // spelled out at a time

thread_local Scratch float_memory;

inline Floats rows_of_bf16(const uint16_t *at) {
    Words bits;
    for (int i = 0; i < LANES; i++) bits[i] = static_cast<uint32_t>(at[i]) << 16;
    return (Floats)bits;
}

// Values of `count` columns of one block: [count][16 rows].
void spell(const sk_weight &w, const uint8_t *data, const uint16_t *scales, const uint16_t *zeros, int count, float *out) {
    for (int v = 0; v < kVectors; v++) {
        const Floats scale = rows_of_bf16(scales + v * LANES);
        const Floats zero = zeros ? rows_of_bf16(zeros + v * LANES) : Floats{};
        Floats *to = reinterpret_cast<Floats *>(out) + v;
        const uint8_t *from = data + v * LANES * 4;
        if (w.kind == SK_INT4) {
            for (int k = 0; k < count; k += 8, from += 64, to += 8 * kVectors) {
                Words lanes = *reinterpret_cast<const Words *>(from);
                for (int j = 0; j < 4; j++, lanes >>= 8) {
                    const Signed low = (Signed)(lanes & 15) - 8, high = (Signed)(lanes >> 4 & 15) - 8;
                    to[j * kVectors] = __builtin_convertvector(low, Floats) * scale + zero;
                    to[(4 + j) * kVectors] = __builtin_convertvector(high, Floats) * scale + zero;
                }
            }
        } else {
            for (int k = 0; k < count; k += 4, from += 64, to += 4 * kVectors) {
                Words lanes = *reinterpret_cast<const Words *>(from);
                for (int j = 0; j < 4; j++, lanes >>= 8) {
                    to[j * kVectors] = __builtin_convertvector((Signed)(lanes & 255) - 128, Floats) * scale + zero;
                }
            }
        }
    }
}

// Adds `count` columns to the sums of one tile, [tokens][16 rows]; the first columns of all begin them.
template <int kTokens>
void add_columns(const float *weights, const float *inputs, int count, float *sums, bool first) {
    constexpr int kPitch = (kTokens + 3) / 4 * 4;
    Floats *at = reinterpret_cast<Floats *>(sums);
    Floats acc[kTokens][kVectors];
    for (int t = 0; t < kTokens; t++) {
        for (int v = 0; v < kVectors; v++) acc[t][v] = first ? Floats{} : at[t * kVectors + v];
    }
#pragma GCC unroll 2
    for (int k = 0; k < count; k++) {
        Floats values[kVectors];
        for (int v = 0; v < kVectors; v++) values[v] = reinterpret_cast<const Floats *>(weights)[k * kVectors + v];
        for (int t = 0; t < kTokens; t++) {
            const Floats x = everywhere(inputs[k * kPitch + t]);
            for (int v = 0; v < kVectors; v++) add_product(acc[t][v], x, values[v]);
        }
    }
    for (int t = 0; t < kTokens; t++) {
        for (int v = 0; v < kVectors; v++) at[t * kVectors + v] = acc[t][v];
    }
}

using AddColumns = void (*)(const float *, const float *, int, float *, bool);

const void *plain(const sk::Row &row) { return row.x; }

void multiply_floats(const sk_weight &w, const sk::Row *rows, int m, float *out, int64_t stride, const sk::Team &team) {
#if LANES == 8
    static const AddColumns table[] = {add_columns<1>, add_columns<2>, add_columns<3>,
                                       add_columns<4>, add_columns<5>, add_columns<6>};
#else
    static const AddColumns table[] = {add_columns<1>, add_columns<2>, add_columns<3>,  add_columns<4>,
                                       add_columns<5>, add_columns<6>, add_columns<7>,  add_columns<8>,
                                       add_columns<9>, add_columns<10>, add_columns<11>, add_columns<12>};
#endif
    const int step = w.group % 128 == 0 ? 128 : w.group % 64 == 0 ? 64 : 32, groups = w.cols / w.group;
    const int64_t column_bytes = w.kind == SK_INT4 ? 8 : 16;  // of w per column of a block
    const Form form = {kFloatTile, 1, 1, kFloatChunkBytes, plain, nullptr};
    walk(form, w, rows, m, out, stride, team, [&](int begin, int end, const Tile *tiles, int count) {
        const int tokens = tiles[count - 1].first + tiles[count - 1].tokens;
        const size_t values = static_cast<size_t>(kMostColumns) * SK_ROWS, sums = static_cast<size_t>(tokens) * SK_ROWS;
        float *memory = reinterpret_cast<float *>(float_memory.of((values + sums) * kFloatBatch * sizeof(float)));
        float *all_sums = memory + values * kFloatBatch;
        for (int block = begin; block < end; block += kFloatBatch) {
            const int blocks = smaller(kFloatBatch, end - block);
            for (int k = 0; k < w.cols; k += step) {
                for (int b = 0; b < blocks; b++) {
                    const int64_t at = (static_cast<int64_t>(block + b) * groups + k / w.group) * SK_ROWS;
                    const uint8_t *data = static_cast<const uint8_t *>(w.data);
                    spell(w, data + ((block + b) * static_cast<int64_t>(w.cols) + k) * column_bytes, w.scale + at,
                          w.zero ? w.zero + at : nullptr, step, memory + values * b);
                }
                for (int i = 0; i < count; i++) {
                    const float *inputs = reinterpret_cast<const float *>(tiles[i].words) + k * tiles[i].pitch;
                    for (int b = 0; b < blocks; b++) {
                        table[tiles[i].tokens - 1](memory + values * b, inputs, step,
                                                   all_sums + sums * b + tiles[i].first * SK_ROWS, k == 0);
                    }
                }
            }
            for (int b = 0; b < blocks; b++) {
                const int n = (block + b) * SK_ROWS, columns = smaller(SK_ROWS, w.rows - n);
                for (int t = 0; t < tokens; t++) {
                    memcpy(tiles[0].out + t * stride + n, all_sums + sums * b + t * SK_ROWS, columns * sizeof(float));
                }
            }
        }
    });
}

}  // namespace
