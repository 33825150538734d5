// The blocked product of prefill over AMX tiles: the cutting up and the arithmetic, for tiles of either making.
//
// Included by gemm_amx.cpp (the processor's tiles) and gemm_amx_emulated.cpp (tiles in software), which define
//   TILE_BEGIN(columns)           shape the tiles: 0 to 3 are 16 x 16 int32; 4 and 5 are 16 rows of `columns` bytes, inputs;
//                                 6 and 7 are columns / 4 rows of 64 bytes, codes of 16 rows of w in lanes of four
//   TILE_ZERO(c)  TILE_LOAD(t, at, pitch)  TILE_STORE(c, at, pitch)  TILE_DOT(c, a, b): c += inputs a * codes b, signed
//   TILE_END()
// with tiles named by literal numbers, as the instructions want them. As in gemm_tiles.h all is in an anonymous
// namespace.
//
// Codes of two blocks of 16 rows are unpacked once, centre removed, and meet all tokens of a chunk, 32 at a time. A
// tile never spans two groups: it is 64 columns wide where the group is a multiple of 64, else 32.
#pragma once
#include <string.h>

#include "gemm.h"
#include "gemm_scratch.h"

namespace {

const int kSide = 16;                    // tokens of an input tile, rows of w of a code tile
const int64_t kChunkBytes = 256 << 10;   // of quantised inputs, which stay in the second-level cache
const int kLeastPairs = 4;               // of blocks per part, before the tokens are shared out too

typedef uint8_t Bytes __attribute__((vector_size(64), aligned(1), may_alias));
typedef int32_t Ints __attribute__((vector_size(64), may_alias));
typedef uint32_t Bits __attribute__((vector_size(64), may_alias));
typedef float Floats __attribute__((vector_size(64), may_alias));
typedef uint16_t Halves __attribute__((vector_size(32), aligned(2), may_alias));

thread_local Scratch memory;

// Codes of one block without their centre: [cols / 4] quads of 64 bytes.
void unpack(const sk_weight &w, int block, int8_t *out) {
    const int64_t bytes = static_cast<int64_t>(w.cols) * SK_ROWS / (w.kind == SK_INT4 ? 2 : 1);
    const uint8_t *data = static_cast<const uint8_t *>(w.data) + block * bytes;
    Bytes *to = reinterpret_cast<Bytes *>(out);
    if (w.kind == SK_INT4) {
        for (int64_t i = 0; i < bytes; i += 64, to += 2) {
            const Bytes both = *reinterpret_cast<const Bytes *>(data + i);
            to[0] = (both & 15) - 8;
            to[1] = (both >> 4) - 8;
        }
    } else {
        for (int64_t i = 0; i < bytes; i += 64, to++) *to = *reinterpret_cast<const Bytes *>(data + i) ^ 128;
    }
}

// Inputs of one chunk: [tile of 16 tokens][cols / step][16 tokens][step]; tokens that are not there are zeros.
void arrange(const sk::Row *rows, int tokens, int cols, int step, int8_t *out) {
    for (int t = 0; t < (tokens + kSide - 1) / kSide * kSide; t++) {
        int8_t *to = out + static_cast<int64_t>(t / kSide) * kSide * cols + t % kSide * step;
        for (int k = 0; k < cols; k += step, to += kSide * step) {
            if (t < tokens) memcpy(to, rows[t].q + k, step);
            else memset(to, 0, step);
        }
    }
}

void widen_scales(const uint16_t *from, int count, Floats *to) {
    for (int i = 0; i < count; i++) {
        const Halves half = *reinterpret_cast<const Halves *>(from + i * SK_ROWS);
        const Bits bits = __builtin_convertvector(half, Bits) << 16;
        to[i] = reinterpret_cast<const Floats &>(bits);
    }
}

// What two blocks by two tiles of tokens need and leave behind.
struct Work {
    Ints dots[2][2][kSide];     // [block][tile of tokens][token], lanes: rows of w
    Floats sums[2][2][kSide];
};

// Adds a group's integer sums of one tile to the float sums: one multiplication, one addition, in this order
// (linear.h).
inline void add_group(const Ints *dots, const Floats *scale, Floats *sums) {
    for (int t = 0; t < kSide; t++) sums[t] = sums[t] + __builtin_convertvector(dots[t], Floats) * *scale;
}

// `q_sums` as floats: [tokens][groups].
inline void add_zeros(const float *inputs, int groups, const Floats *zero, Floats *sums) {
    for (int t = 0; t < kSide; t++) sums[t] = sums[t] + inputs[static_cast<int64_t>(t) * groups] * *zero;
}

void multiply_share(const sk_weight &w, const sk::Row *rows, float *out, int64_t stride, int block_begin, int block_end,
                    int token_begin, int token_end) {
    const int cols = w.cols, group = w.group, groups = cols / group, step = group % 64 ? 32 : 64;
    const int64_t fit = kChunkBytes / cols / (2 * kSide) * (2 * kSide);
    const int chunk = smaller((token_end - token_begin + kSide - 1) / kSide * kSide,
                              larger(static_cast<int>(fit), 2 * kSide));
    // codes of two blocks, scales and zeros of two blocks, inputs, their sums by token and group, and Work
    const size_t code_bytes = static_cast<size_t>(cols) * SK_ROWS, scale_bytes = static_cast<size_t>(groups) * 64;
    const size_t input_bytes = static_cast<size_t>(chunk + kSide) * cols;
    const size_t sum_bytes = (static_cast<size_t>(chunk + kSide) * groups * 4 + 63) & ~static_cast<size_t>(63);
    char *at = memory.of(2 * code_bytes + 4 * scale_bytes + input_bytes + sum_bytes + sizeof(Work));
    int8_t *codes[2] = {reinterpret_cast<int8_t *>(at), reinterpret_cast<int8_t *>(at + code_bytes)};
    at += 2 * code_bytes;
    Floats *scales[2] = {reinterpret_cast<Floats *>(at), reinterpret_cast<Floats *>(at + scale_bytes)};
    at += 2 * scale_bytes;
    Floats *zeros[2] = {reinterpret_cast<Floats *>(at), reinterpret_cast<Floats *>(at + scale_bytes)};
    at += 2 * scale_bytes;
    Work &work = *reinterpret_cast<Work *>(at);
    at += sizeof(Work);
    float *input_sums = reinterpret_cast<float *>(at);
    at += sum_bytes;
    int8_t *inputs = reinterpret_cast<int8_t *>(at);

    TILE_BEGIN(step);
    for (int from = token_begin; from < token_end; from += chunk) {
        const int tokens = smaller(chunk, token_end - from), tiles = (tokens + kSide - 1) / kSide;
        arrange(rows + from, tokens, cols, step, inputs);
        for (int t = 0; w.zero && t < tiles * kSide; t++) {
            for (int g = 0; g < groups; g++) {
                int32_t sum = 0;
                for (int i = 0; t < tokens && i < group / 32; i++) sum += rows[from + t].q_sums[g * (group / 32) + i];
                input_sums[static_cast<int64_t>(t) * groups + g] = static_cast<float>(sum);
            }
        }
        for (int block = block_begin; block < block_end; block += 2) {
            const int blocks = smaller(2, block_end - block);
            for (int b = 0; b < blocks; b++) {
                unpack(w, block + b, codes[b]);
                widen_scales(w.scale + static_cast<int64_t>(block + b) * groups * SK_ROWS, groups, scales[b]);
                if (w.zero) widen_scales(w.zero + static_cast<int64_t>(block + b) * groups * SK_ROWS, groups, zeros[b]);
            }
            for (int tile = 0; tile < tiles; tile += 2) {
                const bool two_tiles = tile + 1 < tiles, two_blocks = blocks == 2;
                const int8_t *a0 = inputs + static_cast<int64_t>(tile) * kSide * cols;
                const int8_t *a1 = a0 + (two_tiles ? static_cast<int64_t>(kSide) * cols : 0);
                memset(work.sums, 0, sizeof work.sums);
                for (int g = 0; g < groups; g++) {
                    TILE_ZERO(0);
                    TILE_ZERO(1);
                    TILE_ZERO(2);
                    TILE_ZERO(3);
                    for (int k = g * group; k < (g + 1) * group; k += step) {
                        TILE_LOAD(4, a0 + k * kSide, step);
                        TILE_LOAD(6, codes[0] + k * kSide, 64);
                        TILE_DOT(0, 4, 6);
                        if (two_tiles) {
                            TILE_LOAD(5, a1 + k * kSide, step);
                            TILE_DOT(1, 5, 6);
                        }
                        if (two_blocks) {
                            TILE_LOAD(7, codes[1] + k * kSide, 64);
                            TILE_DOT(2, 4, 7);
                            if (two_tiles) TILE_DOT(3, 5, 7);
                        }
                    }
                    TILE_STORE(0, work.dots[0][0], 64);
                    TILE_STORE(1, work.dots[0][1], 64);
                    TILE_STORE(2, work.dots[1][0], 64);
                    TILE_STORE(3, work.dots[1][1], 64);
                    for (int b = 0; b < blocks; b++) {
                        for (int i = 0; i < (two_tiles ? 2 : 1); i++) {
                            add_group(work.dots[b][i], scales[b] + g, work.sums[b][i]);
                            if (w.zero) {
                                const int64_t token = static_cast<int64_t>(tile + i) * kSide;
                                add_zeros(input_sums + token * groups + g, groups, zeros[b] + g, work.sums[b][i]);
                            }
                        }
                    }
                }
                for (int b = 0; b < blocks; b++) {
                    const int n = (block + b) * SK_ROWS, columns = smaller(SK_ROWS, w.rows - n);
                    for (int t = 0; t < smaller(2 * kSide, tokens - tile * kSide); t++) {
                        const Floats result = work.sums[b][t / kSide][t % kSide] * rows[from + tile * kSide + t].scale;
                        memcpy(out + (from + tile * kSide + t) * stride + n, &result, columns * sizeof(float));
                    }
                }
            }
        }
    }
    TILE_END();
}

// Parts share out the blocks by pairs, and the tokens too where a part would be left with few of those.
void multiply_part(const sk_weight &w, const sk::Row *rows, int m, float *out, int64_t stride, const sk::Team &team) {
    const int blocks = (w.rows + SK_ROWS - 1) / SK_ROWS, pairs = (blocks + 1) / 2;
    int columns = 1;
    while (team.parts % (columns * 2) == 0 && pairs < kLeastPairs * (team.parts / columns) &&
           m >= 4 * kSide * columns) {
        columns *= 2;
    }
    const sk::Share pair = sk::share(sk::Team{team.part / columns, team.parts / columns}, pairs);
    const sk::Share token = sk::share(sk::Team{team.part % columns, columns}, m);
    const int block_begin = 2 * pair.begin, block_end = smaller(2 * pair.end, blocks);
    if (block_begin < block_end && token.begin < token.end) {
        multiply_share(w, rows, out, stride, block_begin, block_end, token.begin, token.end);
    }
}

}  // namespace
