// What each instruction set's copy of the decode step offers.
#pragma once
#include "decode.h"
#include "pool.h"

namespace sk {

struct Decode {
    Work work;
    int64_t (*scratch_bytes)(const sk_model &model, int threads);
    int64_t (*argmax)(const float *values, int64_t count);
    int64_t (*sample)(const float *logits, int64_t count, double temperature, double top_p, double draw,
                  void *scratch);
    void (*gelu)(const float *x, float *out, int64_t count);
    void (*exp)(const float *x, float *out, int64_t count);
};

namespace decode_generic {
extern const Decode table;
}
namespace decode_avx2 {
extern const Decode table;
}
namespace decode_avx512 {
extern const Decode table;
}

}  // namespace sk
