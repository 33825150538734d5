// What Python calls: packing, products and a reading speed, each on all threads of the pool.
#include "linear.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

namespace sk {

const Linear *variant(const char *name);

namespace {

int rounded(int rows) { return (rows + SK_ROWS - 1) / SK_ROWS * SK_ROWS; }

// Memory for prepared rows, one allocation.
struct Rows {
    Row *rows;
    char *memory;

    Rows(const float *x, int64_t stride, int m, int cols, int activation) {
        const int64_t sums = (cols / 32 + 15) / 16 * 64;
        const int64_t wide = activation == 8 ? ((int64_t)cols + 63) / 64 * 64 : ((int64_t)cols * 4 + 63) / 64 * 64;
        memory = (char *)aligned_alloc(64, m * (sums + wide) + 64);
        rows = (Row *)malloc(m * sizeof(Row));
        for (int i = 0; i < m; i++) {
            char *at = memory + i * (sums + wide);
            rows[i] = Row{x + i * stride, (int8_t *)at, 0, (int32_t *)(at + wide), (float *)(at + wide), at};
        }
    }
    ~Rows() {
        free(rows);
        free(memory);
    }
};

struct Product {
    const Linear &linear;
    const sk_weight &w;
    Row *rows;
    int m;
    float *out;
    int64_t stride;
    bool blocked;
};

void multiply(const Team &team, void *context) {
    const Product &p = *(const Product *)context;
    if (p.w.kind == SK_INT4 || p.w.kind == SK_INT8) {
        const Share mine = share(team, p.m);
        for (int i = mine.begin; i < mine.end; i++) p.linear.prepare(p.rows[i], p.w.cols, p.w.activation);
        team.barrier();
    }
    if (p.blocked) {
        p.linear.multiply_rows(p.w, p.rows, p.m, p.out, p.stride, team);
        return;
    }
    for (int i = 0; i < p.m; i++) p.linear.multiply_row(p.w, p.rows[i], p.out + i * p.stride, team);
}

struct Packing {
    int kind;
    const uint8_t *codes;
    int rows, cols;
    uint8_t *data;
};

void pack(const Team &team, void *context) {
    const Packing &p = *(const Packing *)context;
    const int quads = p.kind == SK_INT4 ? 2 : 1;  // of columns in 64 bytes
    const uint8_t centre = p.kind == SK_INT4 ? 8 : 128;
    const Share mine = share(team, rounded(p.rows) / SK_ROWS);
    for (int b = mine.begin; b < mine.end; b++) {
        uint8_t *out = p.data + (int64_t)b * SK_ROWS * p.cols / quads;
        for (int r = 0; r < SK_ROWS; r++) {
            const int n = b * SK_ROWS + r;
            const uint8_t *codes = n < p.rows ? p.codes + (int64_t)n * p.cols : NULL;
            for (int k = 0; k < p.cols; k += 4 * quads) {
                uint8_t *lane = out + k / (4 * quads) * 64 + r * 4;
                for (int j = 0; j < 4; j++) {
                    const uint8_t low = codes ? codes[k + j] : centre;
                    lane[j] = quads == 1 ? low : (uint8_t)(low | (codes ? codes[k + 4 + j] : centre) << 4);
                }
            }
        }
    }
}

struct Stream {
    const uint64_t *data;
    int64_t words;
    uint64_t sums[256];
};

void stream(const Team &team, void *context) {
    Stream &s = *(Stream *)context;
    const int64_t begin = s.words / 64 * team.part / team.parts * 64;
    const int64_t end = s.words / 64 * (team.part + 1) / team.parts * 64;
    uint64_t sums[16] = {0};
    for (int64_t i = begin; i + 16 <= end; i += 16) {
        for (int j = 0; j < 16; j++) sums[j] += s.data[i + j];
    }
    for (int j = 1; j < 16; j++) sums[0] += sums[j];
    s.sums[team.part] = sums[0];
}

// Numbers for the check: a linear congruential generator (Knuth's MMIX constants), the same everywhere.
struct Numbers {
    uint64_t state;
    uint32_t next() {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (uint32_t)(state >> 33);
    }
};

bool close(const float *a, const float *b, int count, float tolerance) {
    for (int i = 0; i < count; i++) {
        const float apart = a[i] - b[i];
        if (!(apart <= tolerance && apart >= -tolerance)) return false;
    }
    return true;
}

const int CHECK_COLS = 256, CHECK_ROWS = 40, CHECK_STRIDE = 48, CHECK_INPUTS = 6;

struct Check {
    const Linear &tried, &known;
    const sk_weight &w;
    const float *x;
    bool right;
};

// Compares a variant with the generic one on one small weight; `tried` goes in three parts, one after the other.
void compare(Check &check) {
    const sk_weight &w = check.w;
    const bool grouped = w.kind == SK_INT4 || w.kind == SK_INT8;
    const float tolerance = w.activation == 8 ? 0 : 1e-3f;
    Rows tried(check.x, w.cols, CHECK_INPUTS, w.cols, w.activation);
    Rows known(check.x, w.cols, CHECK_INPUTS, w.cols, w.activation);
    static thread_local float got[CHECK_INPUTS * CHECK_STRIDE], expected[CHECK_INPUTS * CHECK_STRIDE];
    for (int i = 0; i < CHECK_INPUTS; i++) {
        if (grouped) {
            check.tried.prepare(tried.rows[i], w.cols, w.activation);
            check.known.prepare(known.rows[i], w.cols, w.activation);
        }
        for (int part = 0; part < 3; part++)
            check.tried.multiply_row(w, tried.rows[i], got + i * CHECK_STRIDE, Team{part, 3});
        check.known.multiply_row(w, known.rows[i], expected + i * CHECK_STRIDE, Team{0, 1});
        check.right &= close(got + i * CHECK_STRIDE, expected + i * CHECK_STRIDE, w.rows, tolerance);
    }
    if (grouped) {
        for (int part = 0; part < 3; part++)
            check.tried.multiply_rows(w, tried.rows, CHECK_INPUTS, got, CHECK_STRIDE, Team{part, 3});
        for (int i = 0; i < CHECK_INPUTS; i++)
            check.right &= close(got + i * CHECK_STRIDE, expected + i * CHECK_STRIDE, w.rows, tolerance);
    }
    if (grouped) {
        float *wide = (float *)malloc(2 * sizeof(float) * CHECK_ROWS * CHECK_COLS);
        for (int narrow = 0; narrow < 2; narrow++) {
            const int bytes = CHECK_ROWS * CHECK_COLS * (narrow ? 2 : 4);
            check.tried.widen(w, 0, CHECK_ROWS, wide, narrow);
            check.known.widen(w, 0, CHECK_ROWS, wide + CHECK_ROWS * CHECK_COLS, narrow);
            check.right &= !memcmp(wide, wide + CHECK_ROWS * CHECK_COLS, bytes);
        }
        free(wide);
    }
}

}  // namespace
}  // namespace sk

using namespace sk;

extern "C" {

// Raised whenever a function or structure below or in weights.h changes; Python refuses a library of another number.
int32_t sk_version(void) { return 2; }

// Packs `rows` rows of codes, [rows][cols] of bytes, into blocks at `data`. Padding rows get the centre.
void sk_pack(int32_t kind, const uint8_t *codes, int32_t rows, int32_t cols, uint8_t *data) {
    Packing packing{kind, codes, rows, cols, data};
    run(pack, &packing);
}

// Packs scales or zeros, [rows][groups], into [block][group][16 rows]; padding rows get 0.
void sk_pack_scales(const uint16_t *values, int32_t rows, int32_t groups, uint16_t *data) {
    for (int n = 0; n < rounded(rows); n++)
        for (int g = 0; g < groups; g++)
            data[((int64_t)(n / SK_ROWS) * groups + g) * SK_ROWS + n % SK_ROWS] =
                n < rows ? values[(int64_t)n * groups + g] : 0;
}

// out[i * stride + n] = w[n] . x[i], x [m][cols]. The stride is at least the rows of w rounded up to 16. `blocked` asks
// for the product of prefill, for grouped weights only.
void sk_multiply(const sk_weight *w, const float *x, int32_t m, float *out, int64_t stride, int32_t blocked) {
    const bool grouped = w->kind == SK_INT4 || w->kind == SK_INT8;
    Rows rows(x, w->cols, m, grouped ? w->cols : 0, w->activation);
    if (!grouped)
        for (int i = 0; i < m; i++) rows.rows[i].x = x + (int64_t)i * w->cols;
    Product product{linear(), *w, rows.rows, m, out, stride, blocked && grouped};
    run(multiply, &product);
}

struct sk_widening {
    const sk_weight *w;
    int32_t first, count, bfloat16;
    char *out;
};

static void widen(const Team &team, void *context) {
    const sk_widening &wanted = *(const sk_widening *)context;
    const int blocks = (wanted.count + SK_ROWS - 1) / SK_ROWS;
    const Share mine = share(team, blocks);
    const int from = mine.begin * SK_ROWS, end = mine.end * SK_ROWS < wanted.count ? mine.end * SK_ROWS : wanted.count;
    if (from < end)
        linear().widen(*wanted.w, wanted.first + from, end - from,
                       wanted.out + (int64_t)from * wanted.w->cols * (wanted.bfloat16 ? 2 : 4), wanted.bfloat16);
}

// Writes rows [first, first + count) of a grouped weight as float32, or bfloat16: [count][cols].
void sk_widen(const sk_weight *w, int32_t first, int32_t count, void *out, int32_t bfloat16) {
    sk_widening wanted{w, first, count, bfloat16, (char *)out};
    run(widen, &wanted);
}

struct sk_picking {
    const sk_weight *w;
    const int32_t *rows;
    int32_t count;
    uint16_t *out;
};

static void pick(const Team &team, void *context) {
    const sk_picking &wanted = *(const sk_picking *)context;
    const Share mine = share(team, wanted.count);
    for (int i = mine.begin; i < mine.end; i++)
        linear().widen(*wanted.w, wanted.rows[i], 1, wanted.out + (int64_t)i * wanted.w->cols, true);
}

// Writes the named rows of a grouped weight as bfloat16, in that order: [count][cols].
void sk_pick(const sk_weight *w, const int32_t *rows, int32_t count, uint16_t *out) {
    sk_picking wanted{w, rows, count, out};
    run(pick, &wanted);
}

// Reads memory on all threads of the pool and does next to nothing with it; returns a sum of its words.
uint64_t sk_read(const void *data, int64_t bytes) {
    Stream wanted{};
    wanted.data = (const uint64_t *)data;
    wanted.words = bytes / 8;
    run(stream, &wanted);
    uint64_t sum = 0;
    for (int part = 0; part < threads(); part++) sum += wanted.sums[part];
    return sum;
}

// Bytes per second at which the threads of the pool read `bytes` bytes of memory, the best of `passes`; 0: no memory.
double sk_stream_read(int64_t bytes, int32_t passes) {
    Stream wanted{};
    uint64_t *data = (uint64_t *)aligned_alloc(4096, (bytes + 8191) / 4096 * 4096);
    if (!data) return 0;
    memset(data, 1, bytes);
    wanted.data = data;
    wanted.words = bytes / 8;
    double best = 0;
    for (int pass = 0; pass <= passes; pass++) {  // the first finds pages and clocks cold
        timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        run(stream, &wanted);
        clock_gettime(CLOCK_MONOTONIC, &after);
        const double seconds = (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
        if (pass && bytes / seconds > best) best = (double)bytes / seconds;
    }
    free(data);
    return best;
}

// 1 if a variant that this processor runs computes what the generic one does, on small weights of every kind.
int32_t sk_check(const char *name) {
    const Linear *tried = variant(name), *known = variant("generic");
    if (!tried) return 0;
    Numbers numbers{20};
    const int cols = CHECK_COLS, rows = CHECK_ROWS, blocks = rounded(rows) / SK_ROWS, groups = cols / 64;
    float *x = (float *)aligned_alloc(64, sizeof(float) * CHECK_INPUTS * cols);
    char *data = (char *)aligned_alloc(64, sizeof(float) * blocks * SK_ROWS * cols);
    uint16_t *scale = (uint16_t *)aligned_alloc(64, 4 * blocks * groups * SK_ROWS);
    uint16_t *zero = scale + blocks * groups * SK_ROWS;
    for (int i = 0; i < CHECK_INPUTS * cols; i++) {  // bfloat16 values between -1 and 1
        const float value = ((int)(numbers.next() % 2001) - 1000) / 1000.0f;
        uint32_t bits;
        memcpy(&bits, &value, 4);
        bits &= 0xffff0000;
        memcpy(x + i, &bits, 4);
    }
    for (int i = 0; i < blocks * groups * SK_ROWS; i++) {  // between 2^-7 and 2^-6, either sign for zeros
        scale[i] = (uint16_t)(0x3c00 | numbers.next() % 128);
        zero[i] = (uint16_t)(0x3c00 | numbers.next() % 128 | (numbers.next() & 1) << 15);
    }
    bool right = true;
    for (int kind = SK_F32; kind <= SK_INT8; kind++) {
        const bool grouped = kind >= SK_INT4;
        const int bytes = kind == SK_F32 ? 4 : kind == SK_BF16 ? 2 : 1;
        if (grouped) {
            for (int64_t i = 0; i < (int64_t)blocks * SK_ROWS * cols; i++) data[i] = (char)numbers.next();
        } else {
            for (int64_t i = 0; i < (int64_t)rows * cols; i++) {
                const float value = ((int)(numbers.next() % 2001) - 1000) / 1000.0f;
                memcpy(data + i * bytes, (const char *)&value + 4 - bytes, bytes);
            }
        }
        for (int activation = grouped ? 8 : 32; activation <= (grouped ? 16 : 32); activation += 8)
            for (int zeros = 0; zeros <= (grouped ? 1 : 0); zeros++) {
                sk_weight w{kind, activation, rows, cols, grouped ? 64 : 0, 0, data, scale, zeros ? zero : NULL};
                Check check{*tried, *known, w, x, true};
                compare(check);
                right &= check.right;
            }
    }
    free(x);
    free(data);
    free(scale);
    return right;
}

}
