// One token through the whole model in one call: every layer, every head, the logits. Plain C, shared with Python
// (kernels/decode.py has the same structs). Knows no tokens as text and no files; what it reads and writes is the
// caller's, and nothing is allocated here.
#pragma once
#include <stdint.h>

#include "weights.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SK_SLIDING = 0, SK_FULL = 1, SK_KINDS = 2 };

typedef struct {
    const float *input_norm;  // [hidden]
    const float *post_norm;   // [hidden]
    const float *gate;        // [heads][hidden], already rounded where the build rounds
    sk_weight qkv;            // [(heads + 2 kv_heads) head_dim][hidden], rows Q | K | V
    sk_weight out;            // [hidden][heads head_dim]
    sk_weight gate_up;        // [2 inner][hidden], rows gate | up
    sk_weight down;           // [hidden][inner]
    int32_t kind;             // SK_SLIDING or SK_FULL
    int32_t place;            // among the layers of its kind
} sk_layer;

typedef struct {
    int32_t hidden;
    int32_t inner;
    int32_t layers;
    int32_t heads;
    int32_t kv_heads;
    int32_t head_dim;
    int32_t vocabulary;
    int32_t rounds;            // 1: the input of every product is rounded to bfloat16
    int32_t silu;              // 1: the output gate is silu, 0: sigmoid
    int32_t rotated[SK_KINDS]; // dimensions of a head that turn with the position
    float eps;
    sk_weight embedding;       // [vocabulary][hidden] of any kind; may share its memory with the head
    const float *norm;         // [hidden]
    const sk_layer *layer;     // [layers]
    sk_weight head;            // [vocabulary][hidden]
} sk_model;

// Where one kind of layer keeps its keys and values, and where this token stands in it.
typedef struct {
    float *store;           // (layers of the kind, 2, kv_heads, room, head_dim): keys, then values
    int64_t layer_stride;   // in floats
    int64_t values_stride;  // from keys to values, in floats
    int64_t head_stride;    // in floats
    const float *cos;       // [head_dim] of this position; 1 where a dimension passes through
    const float *sin;       // [head_dim]; negative in the first half of the rotated slice, 0 where one passes through
    int64_t first;          // first slot that the token looks at
    int64_t slot;           // where the token goes; it looks at first .. slot
} sk_span;

enum { SK_NORM, SK_QKV, SK_ATTENTION, SK_OUT, SK_GATE_UP, SK_GELU, SK_DOWN, SK_HEAD, SK_WAIT, SK_PHASES };

typedef struct {
    sk_span span[SK_KINDS];
    int32_t token;
    int32_t reserved;
    void *scratch;       // of sk_decode_scratch() bytes, aligned to 64
    float *logits;       // [vocabulary rounded up to 16]
    int64_t *spent;      // [SK_PHASES] nanoseconds of the calling thread are added here; NULL: no clock is read
} sk_step;

// Bytes that a step needs with so many threads.
int64_t sk_decode_scratch(const sk_model *model, int32_t threads);

// Computes the logits of one token and writes its keys and values. The threads of the pool share the work; the numbers
// do not depend on how many there are. Returns the instruction set's name.
const char *sk_decode(const sk_model *model, const sk_step *step);

// The first of the largest, or -1 if that is not finite or any value is not a number.
int64_t sk_argmax(const float *values, int64_t count);

// Draws from the smallest set of most probable tokens that together reach top_p, at the place `draw` in [0, 1) of their
// mass in the order of probability (of equals, the lower id first). Returns -1 as sk_argmax does. Scratch: 10 bytes per value.
int64_t sk_sample(const float *logits, int64_t count, double temperature, double top_p, double draw,
                  void *scratch);

// For tests: erfc-based GELU, and exp, as the decode step computes them.
void sk_gelu(const float *x, float *out, int64_t count);
void sk_exp(const float *x, float *out, int64_t count);

#ifdef __cplusplus
}
#endif
