// The decode step's entry points: picks the copy that was compiled for the instruction set in use.
#include "decode.h"

#include <string.h>

#include "decode_table.h"
#include "linear.h"

namespace {

const sk::Decode &chosen() {
#if defined(__x86_64__)
    const char *isa = sk::linear().isa;
    if (!strncmp(isa, "avx512", 6) || !strncmp(isa, "amx", 3)) return sk::decode_avx512::table;
    if (!strncmp(isa, "avx2", 4)) return sk::decode_avx2::table;
#endif
    return sk::decode_generic::table;
}

struct Call {
    const sk_model *model;
    const sk_step *step;
};

}  // namespace

int64_t sk_decode_scratch(const sk_model *model, int32_t threads) { return chosen().scratch_bytes(*model, threads); }

const char *sk_decode(const sk_model *model, const sk_step *step) {
    Call call{model, step};
    sk::run(chosen().work, &call);
    return sk::linear().isa;
}

int64_t sk_argmax(const float *values, int64_t count) { return chosen().argmax(values, count); }

int64_t sk_sample(const float *logits, int64_t count, double temperature, double top_p, double draw,
                  void *scratch) {
    return chosen().sample(logits, count, temperature, top_p, draw, scratch);
}

void sk_gelu(const float *x, float *out, int64_t count) { chosen().gelu(x, out, count); }
void sk_exp(const float *x, float *out, int64_t count) { chosen().exp(x, out, count); }
