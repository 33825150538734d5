// Which variant serves: a table of all, what each needs of the processor, and the one in use.
#include <string.h>

#include "gemm.h"

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace sk {
namespace {

bool always() { return true; }

#if defined(__x86_64__)

bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

// Without VNNI the int8 products would have no instruction of their own; such processors run the AVX2 variant.
bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vnni");
}

bool has_avx512bf16() { return has_avx512() && __builtin_cpu_supports("avx512bf16"); }

#if defined(__linux__)
// Intel SDM volume 1, 18.3: CPUID.7.0:EDX bits 24 and 25 are AMX-TILE and AMX-INT8, XCR0 bits 17 and 18 the tile state.
// Linux hands out the tile registers on request (Documentation/arch/x86/xstate.rst): ARCH_REQ_XCOMP_PERM, feature 18.
bool has_amx() {
    unsigned a, b, c, d;
    if (!has_avx512bf16() || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d >> 24 & 3) != 3) return false;
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low >> 17 & 3) == 3 && syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}
#else
bool has_amx() { return false; }
#endif

#endif

struct Variant {
    Linear linear;
    bool (*runs)();
};

const Variant VARIANTS[] = {
    // for tests: the blocking of amx on any processor, slower than all others and so the last choice
    {{"amx-emulated", generic::prepare, generic::multiply_row, amx_emulated::multiply_rows, generic::widen}, always},
    {{"generic", generic::prepare, generic::multiply_row, generic::multiply_rows, generic::widen}, always},
#if defined(__x86_64__)
    {{"avx2", avx2::prepare, avx2::multiply_row, avx2::multiply_rows, avx2::widen}, has_avx2},
    {{"avx512", avx512::prepare, avx512::multiply_row, avx512::multiply_rows, avx512::widen}, has_avx512},
    {{"avx512bf16", avx512bf16::prepare, avx512bf16::multiply_row, avx512bf16::multiply_rows, avx512::widen}, has_avx512bf16},
    {{"amx", avx512bf16::prepare, avx512bf16::multiply_row, amx::multiply_rows, avx512::widen}, has_amx},
#endif
};

const Linear *in_use = &VARIANTS[1].linear;

}  // namespace

const Linear &linear() { return *in_use; }

const Linear *variant(const char *name) {
    for (const Variant &variant : VARIANTS)
        if (!strcmp(variant.linear.isa, name)) return variant.runs() ? &variant.linear : NULL;
    return NULL;
}

const Linear *variant(int index) {
    if (index < 0 || index >= (int)(sizeof VARIANTS / sizeof *VARIANTS)) return NULL;
    return &VARIANTS[index].linear;
}

}  // namespace sk

extern "C" {

// The name of a variant, best last; NULL beyond the last.
const char *sk_variant(int32_t index) {
    const sk::Linear *found = sk::variant((int)index);
    return found ? found->isa : NULL;
}

// 1 if this processor and system run the variant of that name.
int32_t sk_runs(const char *name) { return sk::variant(name) != NULL; }

// Puts a variant into use; 0 if it cannot be.
int32_t sk_select(const char *name) {
    const sk::Linear *found = sk::variant(name);
    if (found) sk::in_use = found;
    return found != NULL;
}

const char *sk_isa(void) { return sk::linear().isa; }

}
