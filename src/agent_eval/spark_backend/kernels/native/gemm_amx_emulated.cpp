// The blocked product of prefill over tiles kept in memory: shows on any processor that gemm_amx_blocks.h is right.
#include <stdint.h>
#include <string.h>

namespace {

struct TileInMemory {
    int8_t bytes[16][64];
};

struct TilesInMemory {
    int columns;  // of the input tiles, in bytes
    TileInMemory tile[8];

    int rows(int t) const { return t >= 6 ? columns / 4 : 16; }
    int width(int t) const { return t == 4 || t == 5 ? columns : 64; }

    void load(int t, const void *at, int64_t pitch) {
        memset(&tile[t], 0, sizeof tile[t]);
        for (int r = 0; r < rows(t); r++) memcpy(tile[t].bytes[r], static_cast<const char *>(at) + r * pitch, width(t));
    }
    void store(int t, void *at, int64_t pitch) const {
        for (int r = 0; r < rows(t); r++) memcpy(static_cast<char *>(at) + r * pitch, tile[t].bytes[r], width(t));
    }
    // Intel SDM, TDPBSSD: four products of signed bytes to a lane of 32 bits.
    void dot(int c, int a, int b) {
        for (int m = 0; m < 16; m++) {
            int32_t sums[16];
            memcpy(sums, tile[c].bytes[m], 64);
            for (int k = 0; k < columns; k++) {
                for (int n = 0; n < 16; n++) sums[n] += tile[a].bytes[m][k] * tile[b].bytes[k / 4][n * 4 + k % 4];
            }
            memcpy(tile[c].bytes[m], sums, 64);
        }
    }
};
thread_local TilesInMemory tiles_in_memory;

}  // namespace

#define TILE_BEGIN(bytes) (tiles_in_memory.columns = (bytes))
#define TILE_ZERO(c) memset(&tiles_in_memory.tile[c], 0, 1024)
#define TILE_LOAD(t, at, pitch) tiles_in_memory.load(t, at, pitch)
#define TILE_STORE(c, at, pitch) tiles_in_memory.store(c, at, pitch)
#define TILE_DOT(c, a, b) tiles_in_memory.dot(c, a, b)
#define TILE_END() (void)0

#include "gemm_amx_blocks.h"

namespace sk {
namespace amx_emulated {

void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team) {
    if (w.activation != 8) generic::multiply_rows(w, rows, m, out, stride, team);
    else multiply_part(w, rows, m, out, stride, team);
}

}  // namespace amx_emulated
}  // namespace sk
