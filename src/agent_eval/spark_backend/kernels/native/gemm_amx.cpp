// The blocked product of prefill on the tiles of AMX. The system must have granted them to the process (dispatch.cpp).
#include <immintrin.h>

// Reads and writes of tiles are not written down as such for the compiler (GCC 12's amxtileintrin.h), hence the fences.
#define FENCE() __asm__ volatile("" ::: "memory")
#define TILE_BEGIN(columns) begin_tiles(columns)
#define TILE_ZERO(c) _tile_zero(c)
#define TILE_LOAD(t, at, pitch) \
    do {                        \
        FENCE();                \
        _tile_loadd(t, at, pitch); \
    } while (0)
#define TILE_STORE(c, at, pitch)    \
    do {                            \
        _tile_stored(c, at, pitch); \
        FENCE();                    \
    } while (0)
#define TILE_DOT(c, a, b) _tile_dpbssd(c, a, b)
#define TILE_END() _tile_release()

#include <stdint.h>

namespace {

// Intel SDM, LDTILECFG: palette 1, bytes of a row at 16, rows at 48.
void begin_tiles(int columns) {
    alignas(64) struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shape = {};
    shape.palette = 1;
    for (int t = 0; t < 8; t++) {
        shape.row_bytes[t] = static_cast<uint16_t>(t == 4 || t == 5 ? columns : 64);
        shape.rows[t] = static_cast<uint8_t>(t >= 6 ? columns / 4 : 16);
    }
    FENCE();
    _tile_loadconfig(&shape);
}

}  // namespace

#include "gemm_amx_blocks.h"

namespace sk {
namespace amx {

// Below so many rows a tile would be mostly padding. Not measured: no processor with AMX was at hand.
const int kFewRows = 8;

void multiply_rows(const sk_weight &w, const Row *rows, int m, float *out, int64_t stride, const Team &team) {
    if (w.activation != 8 || m < kFewRows) avx512bf16::multiply_rows(w, rows, m, out, stride, team);
    else multiply_part(w, rows, m, out, stride, team);
}

}  // namespace amx
}  // namespace sk
