// The decode step, compiled once per instruction set. SK_DECODE names the namespace that the including file's copy goes
// to. Products are those of linear.h; everything between them is here.
//
// Threads meet six times per layer. What is cheap each thread does for itself instead of waiting for another: its own
// residual stream, norms, merging of attention, making rows ready. Sums are cut into pieces by the model's shape and
// the number of visible tokens, never by the number of threads, so that the numbers do not depend on it.
#include <algorithm>
#include <time.h>

#include "decode_table.h"
#include "decode_vector.h"
#include "linear.h"

namespace {

using sk::Row;
using sk::Share;
using sk::Team;

constexpr int HEADS = 4;          // query heads of one key-value head that are worked on together: lanes of a V4
constexpr int BLOCK = 128;        // positions whose scores are held at a time
constexpr int MOST_CHUNKS = 16;   // pieces that the visible tokens of one head are cut into at most

inline int64_t up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }
inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

// ------------------------------------------------------------------------------------------------------------- memory
struct Shared {
    float *qkv, *y, *gate_up, *middle, *gates, *mixed;
};
struct Own {
    float *x;        // [hidden] the residual stream
    float *h;        // input of a product, after rounding
    int8_t *q;
    int32_t *q_sums;
    float *x_sums;
    void *arranged;
    float *queries;  // [query heads of one key-value head, up to a multiple of HEADS][head_dim]
    float *scores;   // [BLOCK][HEADS]
    float *state;    // [query heads of one key-value head][2]: largest score, sum of exponentials
};

struct Cursor {  // cuts a buffer into aligned pieces, or measures it when base is NULL
    char *base;
    int64_t at;
    template <typename T> T *take(int64_t count) {
        T *out = base ? (T *)(base + at) : nullptr;
        at += up(count * (int64_t)sizeof(T), 64);
        return out;
    }
};

inline int group_heads(const sk_model &m) { return m.heads / m.kv_heads; }
inline int widest(const sk_model &m) { return (int)most(most(m.hidden, m.inner), m.heads * m.head_dim); }

inline Shared take_shared(const sk_model &m, Cursor &c) {
    Shared s;
    s.qkv = c.take<float>(up((int64_t)(m.heads + 2 * m.kv_heads) * m.head_dim, 16));
    s.y = c.take<float>(up(m.hidden, 16));
    s.gate_up = c.take<float>(up(2 * (int64_t)m.inner, 16));
    s.middle = c.take<float>(m.inner);
    s.gates = c.take<float>(m.heads);
    s.mixed = c.take<float>((int64_t)m.heads * MOST_CHUNKS * (m.head_dim + 2));
    return s;
}
inline Own take_own(const sk_model &m, Cursor &c) {
    Own o;
    const int64_t cols = up(widest(m), 64), group = up(group_heads(m), HEADS);
    o.x = c.take<float>(m.hidden);
    o.h = c.take<float>(cols);
    o.q = c.take<int8_t>(cols);
    o.q_sums = c.take<int32_t>(cols / 32);
    o.x_sums = c.take<float>(cols / 32);
    o.arranged = c.take<float>(cols);
    o.queries = c.take<float>(group * m.head_dim);
    o.scores = c.take<float>(BLOCK * HEADS);
    o.state = c.take<float>(2 * group);
    return o;
}

// -------------------------------------------------------------------------------------------------------------- pieces
inline void add(float *x, const float *y, int n) {
    int i = 0;
    for (; i + W <= n; i += W) store(x + i, load(x + i) + load(y + i));
    for (; i < n; i++) x[i] += y[i];
}

inline void norm(const float *x, const float *weight, int n, float eps, bool rounds, float *out) {
    V squares[2] = {V{}, V{}};
    int i = 0;
    for (; i + 2 * W <= n; i += 2 * W) {
        V a = load(x + i), b = load(x + i + W);
        squares[0] = fma(a, a, squares[0]);
        squares[1] = fma(b, b, squares[1]);
    }
    float rest = 0;
    for (; i < n; i++) rest += x[i] * x[i];
    const float factor = 1.0f / sqrtf((sum(squares[0] + squares[1]) + rest) / (float)n + eps);
    for (i = 0; i + W <= n; i += W) {
        V v = load(x + i) * all(factor) * load(weight + i);
        store(out + i, rounds ? round_bf16(v) : v);
    }
    for (; i < n; i++) {
        float v = x[i] * factor * weight[i];
        out[i] = rounds ? round_bf16(v) : v;
    }
}

inline float dot(const float *a, const float *b, int n) {
    V parts[2] = {V{}, V{}};
    int i = 0;
    for (; i + 2 * W <= n; i += 2 * W) {
        parts[0] = fma(load(a + i), load(b + i), parts[0]);
        parts[1] = fma(load(a + i + W), load(b + i + W), parts[1]);
    }
    float rest = 0;
    for (; i < n; i++) rest += a[i] * b[i];
    return sum(parts[0] + parts[1]) + rest;
}

// Turns one head to its position, as rotary.py says, and multiplies it.
inline void turn(const float *x, const sk_span &span, int rotated, int dim, float factor, float *out) {
    const int half = rotated / 2;
    for (int i = 0; i < half; i++) {
        const float a = x[i], b = x[i + half];
        out[i] = (a * span.cos[i] + b * span.sin[i]) * factor;
        out[i + half] = (b * span.cos[i + half] + a * span.sin[i + half]) * factor;
    }
    for (int i = rotated; i < dim; i++) out[i] = x[i] * factor;
}

inline void ready(const sk_weight &w, Row &row) {
    if (w.kind == SK_INT4 || w.kind == SK_INT8 || w.activation == 8) sk::linear().prepare(row, w.cols, w.activation);
}

// One row of the table. Codes stand for values in bfloat16: a table that was widened beforehand gives the same numbers.
inline void look_up(const sk_weight &table, int token, float *x) {
    const int64_t at = (int64_t)token * table.cols;
    switch (table.kind) {
    case SK_F32:
        memcpy(x, (const float *)table.data + at, sizeof(float) * table.cols);
        break;
    case SK_BF16:
        for (int i = 0; i < table.cols; i++) {
            uint32_t u = (uint32_t)((const uint16_t *)table.data)[at + i] << 16;
            memcpy(x + i, &u, 4);
        }
        break;
    default:
        sk::linear().widen(table, token, 1, x, false);
        for (int i = 0; i < table.cols; i++) x[i] = round_bf16(x[i]);
    }
}

// ----------------------------------------------------------------------------------------------------------- attention
// scores[p][h] = query h . key p for P keys and HEADS queries, of which the first G count.
template <int P, int G> inline void score(const float *queries, const float *keys, int dim, float *scores) {
    V acc[P][HEADS] = {};
    int d = 0;
    for (; d + W <= dim; d += W) {
        V k[P];
        for (int p = 0; p < P; p++) k[p] = load(keys + (int64_t)p * dim + d);
        for (int h = 0; h < G; h++) {
            V q = load(queries + (int64_t)h * dim + d);
            for (int p = 0; p < P; p++) acc[p][h] = fma(q, k[p], acc[p][h]);
        }
    }
    for (int p = 0; p < P; p++) {
        V4 out = sums(acc[p][0], acc[p][1], acc[p][2], acc[p][3]);
        for (int e = d; e < dim; e++)
            for (int h = 0; h < G; h++) out[h] += queries[(int64_t)h * dim + e] * keys[(int64_t)p * dim + e];
        memcpy(scores + p * HEADS, &out, 16);
    }
}

// mixed[h] += sum over R positions of share[r][h] * value r. Values are read row after row, as memory is read fastest;
// what is summed up stays in the first cache.
template <int R, int G> inline void mix(const float *shares, const float *values, int dim, float *mixed) {
    V share[R][G];
    for (int r = 0; r < R; r++)
        for (int h = 0; h < G; h++) share[r][h] = all(shares[r * HEADS + h]);
    int d = 0;
    for (; d + W <= dim; d += W) {
        V v[R];
        for (int r = 0; r < R; r++) v[r] = load(values + (int64_t)r * dim + d);
        for (int h = 0; h < G; h++) {
            float *at = mixed + (int64_t)h * dim + d;
            V acc = load(at);
            for (int r = 0; r < R; r++) acc = fma(share[r][h], v[r], acc);
            store(at, acc);
        }
    }
    for (; d < dim; d++)
        for (int h = 0; h < G; h++)
            for (int r = 0; r < R; r++)
                mixed[(int64_t)h * dim + d] += shares[r * HEADS + h] * values[(int64_t)r * dim + d];
}

// Attends over some positions for G heads: mixed[G][dim] becomes the sum of exp(score - largest) * value.
template <int G>
void attend(const float *queries, const float *keys, const float *values, int64_t count, int dim, float *scores,
            float *mixed, float *state) {
    constexpr int STEP = W / 4;  // positions to a vector of scores
    V4 largest = V4{} - INFINITY, total{};
    for (int i = 0; i < G * dim; i++) mixed[i] = 0;
    for (int64_t at = 0; at < count; at += BLOCK) {
        const int n = (int)least(BLOCK, count - at);
        const float *k = keys + at * dim, *v = values + at * dim;
        int p = 0;
        for (; p + 4 <= n; p += 4) score<4, G>(queries, k + (int64_t)p * dim, dim, scores + p * HEADS);
        for (; p < n; p++) score<1, G>(queries, k + (int64_t)p * dim, dim, scores + p * HEADS);
        for (; p % STEP; p++)
            for (int h = 0; h < HEADS; h++) scores[p * HEADS + h] = -INFINITY;

        V top = load(scores);
        for (int i = STEP; i < p; i += STEP) top = max(load(scores + i * HEADS), top);
        V4 now = max(largest, fold_max(top));
        V minus = spread(now), sum_of = V{};
        for (int i = 0; i < p; i += STEP) {
            V e = exp(load(scores + i * HEADS) - minus);
            sum_of = sum_of + e;
            store(scores + i * HEADS, e);
        }
        V4 factor;
        V older = exp(spread(largest - now));
        memcpy(&factor, &older, 16);
        total = total * factor + fold_sum(sum_of);
        largest = now;

        if (at)
            for (int h = 0; h < G; h++)
                for (int d = 0; d < dim; d++) mixed[(int64_t)h * dim + d] *= factor[h];
        for (p = 0; p + 4 <= n; p += 4) mix<4, G>(scores + p * HEADS, v + (int64_t)p * dim, dim, mixed);
        for (; p < n; p++) mix<1, G>(scores + p * HEADS, v + (int64_t)p * dim, dim, mixed);
    }
    for (int h = 0; h < G; h++) {
        state[2 * h] = largest[h];
        state[2 * h + 1] = total[h];
    }
}

struct Pieces {
    int64_t size;
    int count;
};
inline Pieces pieces(int64_t visible) {
    const int64_t size = most(BLOCK, up((visible + MOST_CHUNKS - 1) / MOST_CHUNKS, BLOCK));
    return {size, (int)((visible + size - 1) / size)};
}

// One piece of the visible tokens of one key-value head. The piece with the new token writes it first.
void attend_piece(const sk_model &m, const sk_layer &layer, const sk_span &span, const Shared &shared, const Own &own,
                  int kv, int piece, const Pieces &cut) {
    const int dim = m.head_dim, group = group_heads(m), rotated = m.rotated[layer.kind];
    float *keys = span.store + layer.place * span.layer_stride + kv * span.head_stride;
    float *values = keys + span.values_stride;
    if (piece == cut.count - 1) {
        turn(shared.qkv + (int64_t)(m.heads + kv) * dim, span, rotated, dim, 1.0f, keys + span.slot * dim);
        memcpy(values + span.slot * dim, shared.qkv + (int64_t)(m.heads + m.kv_heads + kv) * dim, sizeof(float) * dim);
    }
    const float factor = 1.0f / sqrtf((float)dim);
    for (int h = 0; h < group; h++)
        turn(shared.qkv + (int64_t)(kv * group + h) * dim, span, rotated, dim, factor, own.queries + (int64_t)h * dim);

    const int64_t begin = span.first + piece * cut.size, end = least(begin + cut.size, span.slot + 1);
    const float *k = keys + begin * dim, *v = values + begin * dim;
    for (int h = 0; h < group; h += HEADS) {
        const int64_t at = ((int64_t)(kv * group + h) + (int64_t)piece * m.heads);
        float *mixed = shared.mixed + at * dim;
        float *state = shared.mixed + (int64_t)m.heads * MOST_CHUNKS * dim + at * 2;
        const float *q = own.queries + (int64_t)h * dim;
        switch (least(HEADS, group - h)) {
            case 1: attend<1>(q, k, v, end - begin, dim, own.scores, mixed, state); break;
            case 2: attend<2>(q, k, v, end - begin, dim, own.scores, mixed, state); break;
            case 3: attend<3>(q, k, v, end - begin, dim, own.scores, mixed, state); break;
            default: attend<4>(q, k, v, end - begin, dim, own.scores, mixed, state);
        }
    }
}

// Puts the pieces of all heads together, closes the gates, and leaves the input of the output projection in own.h.
void merge(const sk_model &m, const Shared &shared, const Own &own, const Pieces &cut) {
    const int dim = m.head_dim;
    for (int h = 0; h < m.heads; h++) {
        const float *state = shared.mixed + (int64_t)m.heads * MOST_CHUNKS * dim + h * 2;
        float largest = state[0], total = 0, share[MOST_CHUNKS];
        for (int p = 1; p < cut.count; p++) largest = fmaxf(largest, state[(int64_t)p * m.heads * 2]);
        for (int p = 0; p < cut.count; p++) {
            share[p] = expf(state[(int64_t)p * m.heads * 2] - largest);
            total += share[p] * state[(int64_t)p * m.heads * 2 + 1];
        }
        const float gate = shared.gates[h] / total;
        float *out = own.h + (int64_t)h * dim;
        const float *mixed = shared.mixed + (int64_t)h * dim;
        int d = 0;
        for (; d + W <= dim; d += W) {
            V acc = load(mixed + d) * all(share[0]);
            for (int p = 1; p < cut.count; p++)
                acc = fma(load(mixed + (int64_t)p * m.heads * dim + d), all(share[p]), acc);
            acc = acc * all(gate);
            store(out + d, m.rounds ? round_bf16(acc) : acc);
        }
        for (; d < dim; d++) {
            float acc = 0;
            for (int p = 0; p < cut.count; p++) acc += mixed[(int64_t)p * m.heads * dim + d] * share[p];
            acc *= gate;
            out[d] = m.rounds ? round_bf16(acc) : acc;
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ the step
struct Clock {  // adds the time since the last call to a phase
    int64_t *spent, last;
    static int64_t now() {
        timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    }
    explicit Clock(int64_t *spent) : spent(spent), last(spent ? now() : 0) {}
    void lap(int phase) {
        if (!spent) return;
        int64_t t = now();
        spent[phase] += t - last;
        last = t;
    }
};

struct Call {
    const sk_model *model;
    const sk_step *step;
};

void decode(const Team &team, void *context) {
    const sk_model &m = *((const Call *)context)->model;
    const sk_step &step = *((const Call *)context)->step;
    Cursor cursor{(char *)step.scratch, 0};
    const Shared shared = take_shared(m, cursor);
    Cursor measure{nullptr, 0};
    take_own(m, measure);
    cursor.at += measure.at * team.part;
    const Own own = take_own(m, cursor);
    Row row{own.h, own.q, 0, own.q_sums, own.x_sums, own.arranged};
    const sk::Linear &linear = sk::linear();
    const bool rounds = m.rounds;
    Clock clock(team.part == 0 ? step.spent : nullptr);

    auto multiply = [&](const sk_weight &w, float *out, int phase) {
        ready(w, row);
        linear.multiply_row(w, row, out, team);
        clock.lap(phase);
    };
    auto meet = [&] {
        if (team.parts > 1) team.barrier();
        clock.lap(SK_WAIT);
    };

    look_up(m.embedding, step.token, own.x);

    for (int l = 0; l < m.layers; l++) {
        const sk_layer &layer = m.layer[l];
        const sk_span &span = step.span[layer.kind];
        const Pieces cut = pieces(span.slot + 1 - span.first);

        norm(own.x, layer.input_norm, m.hidden, m.eps, rounds, own.h);
        const Share heads = sk::share(team, m.heads);
        for (int h = heads.begin; h < heads.end; h++) {
            const float open = dot(own.h, layer.gate + (int64_t)h * m.hidden, m.hidden);
            const float sigmoid = 1.0f / (1.0f + expf(-open));
            shared.gates[h] = m.silu ? open * sigmoid : sigmoid;
        }
        clock.lap(SK_NORM);
        multiply(layer.qkv, shared.qkv, SK_QKV);
        meet();

        const Share items = sk::share(team, m.kv_heads * cut.count);
        for (int i = items.begin; i < items.end; i++)
            attend_piece(m, layer, span, shared, own, i / cut.count, i % cut.count, cut);
        clock.lap(SK_ATTENTION);
        meet();

        merge(m, shared, own, cut);
        clock.lap(SK_ATTENTION);
        multiply(layer.out, shared.y, SK_OUT);
        meet();

        add(own.x, shared.y, m.hidden);
        norm(own.x, layer.post_norm, m.hidden, m.eps, rounds, own.h);
        clock.lap(SK_NORM);
        multiply(layer.gate_up, shared.gate_up, SK_GATE_UP);
        meet();

        const Share vectors = sk::share(team, (m.inner + W - 1) / W);
        for (int i = vectors.begin; i < vectors.end; i++) {
            const int at = i * W, n = (int)least(W, m.inner - at);
            V gate{}, up{};
            memcpy(&gate, shared.gate_up + at, sizeof(float) * n);
            memcpy(&up, shared.gate_up + m.inner + at, sizeof(float) * n);
            V out = gelu(gate) * up;
            if (rounds) out = round_bf16(out);
            memcpy(shared.middle + at, &out, sizeof(float) * n);
        }
        clock.lap(SK_GELU);
        meet();

        row.x = shared.middle;
        multiply(layer.down, shared.y, SK_DOWN);
        row.x = own.h;
        meet();
        add(own.x, shared.y, m.hidden);
    }

    norm(own.x, m.norm, m.hidden, m.eps, rounds, own.h);
    clock.lap(SK_NORM);
    multiply(m.head, step.logits, SK_HEAD);
    // The pool's end is the last meeting.
}

int64_t scratch_bytes(const sk_model &m, int threads) {
    Cursor shared{nullptr, 0}, own{nullptr, 0};
    take_shared(m, shared);
    take_own(m, own);
    return shared.at + own.at * threads;
}

// ------------------------------------------------------------------------------------------------------------- choosing
int64_t argmax(const float *values, int64_t count) {
    V tops[2] = {V{} - INFINITY, V{} - INFINITY};
    I odd{};
    int64_t i = 0;
    for (; i + 2 * W <= count; i += 2 * W) {
        V a = load(values + i), b = load(values + i + W);
        odd |= (a != a) | (b != b);
        tops[0] = max(a, tops[0]);
        tops[1] = max(b, tops[1]);
    }
    float largest = -INFINITY;
    V both = max(tops[0], tops[1]);
    bool bad = false;
    for (int j = 0; j < W; j++) {
        largest = fmaxf(largest, both[j]);
        bad |= odd[j] != 0;
    }
    for (; i < count; i++) {
        largest = fmaxf(largest, values[i]);
        bad |= values[i] != values[i];
    }
    if (bad || !(largest > -INFINITY && largest < INFINITY)) return -1;
    const V wanted = all(largest);
    for (i = 0; i + W <= count; i += W) {
        I hit = load(values + i) == wanted;
        I any = hit;
        bool found = false;
        for (int j = 0; j < W; j++) found |= any[j] != 0;
        if (found) break;
    }
    while (values[i] != largest) i++;
    return i;
}

// Tokens are put into bins by how far their logit is below the largest. Only the bin in which the mass reaches top_p and
// the bin in which the draw falls are ever sorted; all others count as a whole.
struct Candidate {
    float logit;
    int32_t token;
};

int64_t sample(const float *logits, int64_t count, double temperature, double top_p, double draw, void *scratch) {
    constexpr int BINS = 2048;
    constexpr double PER_UNIT = 32;  // bins reach to exp(-64); the last one takes what is rarer
    constexpr int HALF = W / 2;
    const int64_t best = argmax(logits, count);
    if (best < 0) return -1;
    const double largest = logits[best], scale = 1 / temperature;
    Candidate *sorted = (Candidate *)scratch;
    uint16_t *bin = (uint16_t *)(sorted + count);
    double mass[BINS] = {};
    int64_t size = 0;  // of sorted

    auto below = [&](int64_t i) { return (logits[i] - largest) * scale; };  // 0 or less
    auto weigh = [&](int64_t i) {
        D d = all(below(i));
        return exp(d)[0];
    };
    typedef float Half __attribute__((vector_size(HALF * 4)));
    typedef int32_t Places __attribute__((vector_size(HALF * 4)));
    for (int64_t i = 0; i < count; i += HALF) {
        const int n = (int)least(HALF, count - i);
        Half values = Half{} - INFINITY;
        memcpy(&values, logits + i, sizeof(float) * n);
        const D d = (__builtin_convertvector(values, D) - largest) * scale;
        const D e = exp(d);
        D place = d * all(-PER_UNIT);
        place = place > all(BINS - 1.0) ? all(BINS - 1.0) : place;
        const Places at = __builtin_convertvector(place, Places);
        int32_t bins[HALF];
        double weights[HALF];
        memcpy(bins, &at, sizeof at);  // through memory: lane by lane out of a register is slower
        memcpy(weights, &e, sizeof e);
        for (int j = 0; j < n; j++) {
            mass[bins[j]] += weights[j];
            bin[i + j] = (uint16_t)bins[j];
        }
    }
    auto open = [&](int b) {  // the tokens of one bin, most probable first, of equals the lower id first
        size = 0;
        for (int64_t i = 0; i < count; i++)
            if (bin[i] == b) sorted[size++] = {logits[i], (int32_t)i};
        std::sort(sorted, sorted + size, [](const Candidate &a, const Candidate &b) {
            return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
        });
    };

    double total = 0;
    for (int b = 0; b < BINS; b++) total += mass[b];
    // A token is kept while what stands before it is below top_p.
    int last = BINS - 1;
    int64_t kept_of_last = count;
    double kept = total;
    if (top_p < 1) {
        const double wanted = top_p * total;
        double before = 0;
        for (last = 0; last < BINS - 1 && before + mass[last] < wanted; last++) before += mass[last];
        open(last);
        for (kept_of_last = 0; kept_of_last < size && (before < wanted || before == 0); kept_of_last++)
            before += weigh(sorted[kept_of_last].token);
        kept = before;
    }
    const double target = draw * kept;
    double before = 0;
    int b = 0;
    while (b < last && !(before + mass[b] > target)) before += mass[b++];
    if (b != last || top_p >= 1) open(b);
    if (b == last) size = least(size, kept_of_last);
    int64_t chosen = best;
    for (int64_t i = 0; i < size; i++) {
        const double w = weigh(sorted[i].token);
        if (w == 0) break;
        chosen = sorted[i].token;
        before += w;
        if (before > target) break;
    }
    return chosen;
}

void gelu_all(const float *x, float *out, int64_t count) {
    for (int64_t i = 0; i < count; i += W) {
        V v{};
        const size_t bytes = sizeof(float) * least(W, count - i);
        memcpy(&v, x + i, bytes);
        v = gelu(v);
        memcpy(out + i, &v, bytes);
    }
}
void exp_all(const float *x, float *out, int64_t count) {
    for (int64_t i = 0; i < count; i += W) {
        V v{};
        const size_t bytes = sizeof(float) * least(W, count - i);
        memcpy(&v, x + i, bytes);
        v = exp(v);
        memcpy(out + i, &v, bytes);
    }
}

}  // namespace

namespace sk {
namespace SK_DECODE {
extern const Decode table;
const Decode table = {decode, scratch_bytes, argmax, sample, gelu_all, exp_all};
}  // namespace SK_DECODE
}  // namespace sk
