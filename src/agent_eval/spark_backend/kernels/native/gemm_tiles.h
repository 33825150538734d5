// How the blocked product is cut up, for instruction sets that hold sums in registers (avx2, avx512).
//
// Included by one file per instruction set, each compiled with its own flags: everything here is in an anonymous
// namespace and uses no library templates, or the linker might keep the copy that another processor cannot run.
//
// Rows of x ("tokens") are taken in chunks that fit the last cache, and a chunk in tiles of so many tokens as have
// their sums in registers. The inputs of a tile are rearranged in words of 32 bits, whatever those hold, so that the
// same word of each of its tokens lies side by side: words[word of a row][token]. The blocks of 16 rows of w are walked
// in batches of a few, each batch against all tiles of the chunk.
#pragma once
#include <emmintrin.h>
#include <string.h>

#include "gemm.h"
#include "gemm_scratch.h"

namespace {

struct Tile {
    int first;              // token of this part's rows
    int tokens;             // 1 .. what the form allows
    int pitch;              // tokens rounded up to a multiple of 4: distance of words
    const int32_t *words;   // [words of a row][pitch]
    const int32_t *starts;  // [groups][pitch]: -centre * sum of q; activation 8
    const float *sums;      // [groups][pitch]: sum of q or of x
    const float *scales;    // [pitch]: of q
    float *out;             // of the first token and first row of w
};

// How one kind of product reads its inputs.
struct Form {
    int tile;             // most tokens of a tile
    int word_columns;     // columns in a word of 32 bits as the rows have it
    int spread;           // words in a tile for each of those: 1, or more with `widen`
    int64_t chunk_bytes;  // of rearranged inputs
    const void *(*row)(const sk::Row &row);                         // the words of a row
    void (*widen)(const int32_t *words, int count, int32_t *to);    // makes `spread` words of one, or NULL
};

const int64_t kChunkBytes = 1 << 20;  // of the third-level cache; a batch of w and one tile stay in the second
const int kBatch = 4;                   // blocks of w per batch: as many neighbouring outputs are written together
const int kLeastBlocks = 8;             // per part, before the tokens are shared out too

thread_local Scratch panel_memory;

// One part's share: a range of blocks of w and a range of tokens.
struct Portion {
    int block, block_end, token, token_end;
};

Portion portion_of(int blocks, int m, const sk::Team &team) {
    int columns = 1;  // parts that share the same blocks
    while (team.parts % (columns * 2) == 0 && blocks < kLeastBlocks * (team.parts / columns) && m >= 16 * columns) {
        columns *= 2;
    }
    const int rows = team.parts / columns, row = team.part % rows, column = team.part / rows;
    Portion s;
    s.block = static_cast<int>(static_cast<int64_t>(blocks) * row / rows);
    s.block_end = static_cast<int>(static_cast<int64_t>(blocks) * (row + 1) / rows);
    s.token = static_cast<int>(static_cast<int64_t>(m) * column / columns);
    s.token_end = static_cast<int>(static_cast<int64_t>(m) * (column + 1) / columns);
    return s;
}

// Fills the words of one tile: a transposition, four tokens by four words at a time. `count` is a multiple of 4.
void arrange(const Form &form, const sk::Row *rows, int tokens, int pitch, int count, int32_t *words) {
    alignas(16) static const int32_t nothing[4] = {};
    for (int t = 0; t < pitch; t += 4) {
        const int32_t *from[4];
        int step[4];
        for (int i = 0; i < 4; i++) {
            const bool real = t + i < tokens;
            from[i] = real ? static_cast<const int32_t *>(form.row(rows[t + i])) : nothing;
            step[i] = real ? 4 : 0;
        }
        int32_t *to = words + t;
        for (int k = 0; k < count; k += 4, to += 4 * pitch) {
            __m128i lane[4];
            for (int i = 0; i < 4; i++) {
                lane[i] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from[i]));
                from[i] += step[i];
            }
            const __m128i a = _mm_unpacklo_epi32(lane[0], lane[1]), b = _mm_unpacklo_epi32(lane[2], lane[3]);
            const __m128i c = _mm_unpackhi_epi32(lane[0], lane[1]), d = _mm_unpackhi_epi32(lane[2], lane[3]);
            _mm_store_si128(reinterpret_cast<__m128i *>(to), _mm_unpacklo_epi64(a, b));
            _mm_store_si128(reinterpret_cast<__m128i *>(to + pitch), _mm_unpackhi_epi64(a, b));
            _mm_store_si128(reinterpret_cast<__m128i *>(to + 2 * pitch), _mm_unpacklo_epi64(c, d));
            _mm_store_si128(reinterpret_cast<__m128i *>(to + 3 * pitch), _mm_unpackhi_epi64(c, d));
        }
    }
}

// Walks one part's share: calls batch(block, block_end, tiles, count of tiles) until all is done.
template <typename Batch>
void walk(const Form &form, const sk_weight &w, const sk::Row *rows, int m, float *out, int64_t stride,
          const sk::Team &team, Batch batch) {
    const int groups = w.cols / w.group, centre = w.kind == SK_INT4 ? 8 : 128;
    const int blocks = (w.rows + SK_ROWS - 1) / SK_ROWS, row_words = w.cols / form.word_columns;
    const Portion share = portion_of(blocks, m, team);
    const int mine = share.token_end - share.token;
    if (mine <= 0 || share.block >= share.block_end) return;

    const int64_t row_bytes = static_cast<int64_t>(row_words) * form.spread * 4;
    const int fit = static_cast<int>(form.chunk_bytes / row_bytes / form.tile) * form.tile;
    const int chunk = smaller(mine, larger(fit, form.tile));
    const int most_tiles = (chunk + form.tile - 1) / form.tile, most_pitch = (form.tile + 3) / 4 * 4;
    const size_t word_bytes = static_cast<size_t>(row_bytes) * most_pitch;
    const size_t group_bytes = (static_cast<size_t>(groups) * most_pitch * 4 + 63) & ~static_cast<size_t>(63);
    const size_t tile_bytes = (word_bytes + 2 * group_bytes + most_pitch * 4 + 63) & ~static_cast<size_t>(63);
    const size_t plain_bytes = form.widen ? static_cast<size_t>(row_words) * 4 * most_pitch : 0;
    char *memory = panel_memory.of(tile_bytes * most_tiles + plain_bytes + sizeof(Tile) * most_tiles);
    int32_t *plain = reinterpret_cast<int32_t *>(memory + tile_bytes * most_tiles);
    Tile *tiles = reinterpret_cast<Tile *>(memory + tile_bytes * most_tiles + plain_bytes);

    for (int from = share.token; from < share.token_end; from += chunk) {
        const int tokens = smaller(chunk, share.token_end - from), count = (tokens + form.tile - 1) / form.tile;
        for (int i = 0; i < count; i++) {
            const int first = from + tokens * i / count, last = from + tokens * (i + 1) / count;
            char *at = memory + tile_bytes * i;
            Tile &tile = tiles[i];
            tile.first = first - from;
            tile.tokens = last - first;
            tile.pitch = (tile.tokens + 3) / 4 * 4;
            int32_t *words = reinterpret_cast<int32_t *>(at);
            int32_t *starts = reinterpret_cast<int32_t *>(at + word_bytes);
            float *sums = reinterpret_cast<float *>(at + word_bytes + group_bytes);
            float *scales = reinterpret_cast<float *>(at + word_bytes + 2 * group_bytes);
            arrange(form, rows + first, tile.tokens, tile.pitch, row_words, form.widen ? plain : words);
            if (form.widen) form.widen(plain, row_words * tile.pitch, words);
            const int parts = w.group / 32;
            for (int t = 0; t < tile.tokens; t++) {
                const sk::Row &row = rows[first + t];
                scales[t] = row.scale;
                for (int g = 0; g < groups; g++) {
                    if (w.activation == 8) {
                        int32_t sum = 0;
                        for (int part = 0; part < parts; part++) sum += row.q_sums[g * parts + part];
                        starts[g * tile.pitch + t] = -centre * sum;
                        sums[g * tile.pitch + t] = static_cast<float>(sum);
                    } else {
                        float sum = 0;
                        for (int part = 0; part < parts; part++) sum += row.x_sums[g * parts + part];
                        sums[g * tile.pitch + t] = sum;
                    }
                }
            }
            tile.words = words, tile.starts = starts, tile.sums = sums, tile.scales = scales;
            tile.out = out + first * stride;
        }
        for (int block = share.block; block < share.block_end; block += kBatch) {
            batch(block, smaller(block + kBatch, share.block_end), tiles, count);
        }
    }
}

// A product of one block and one tile; columns: outputs of the block, 16 but for the last.
using MultiplyTile = void (*)(const sk_weight &w, int block, const Tile &tile, int columns, int64_t stride);

// Walks one part's share with a table of functions, one for each number of tokens of a tile.
void walk_tiles(const Form &form, const MultiplyTile *table, const sk_weight &w, const sk::Row *rows, int m, float *out,
                int64_t stride, const sk::Team &team) {
    walk(form, w, rows, m, out, stride, team, [&](int begin, int end, const Tile *tiles, int count) {
        for (int i = 0; i < count; i++) {
            for (int block = begin; block < end; block++) {
                table[tiles[i].tokens - 1](w, block, tiles[i], smaller(SK_ROWS, w.rows - block * SK_ROWS), stride);
            }
        }
    });
}

}  // namespace
