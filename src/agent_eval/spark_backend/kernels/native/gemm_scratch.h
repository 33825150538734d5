// What every blocked product keeps between calls, in the file that includes it: nothing here is shared between
// instruction sets.
#pragma once
#include <stdint.h>
#include <stdlib.h>

namespace {

// Memory that a thread keeps from call to call.
struct Scratch {
    char *bytes = nullptr;
    size_t size = 0;
    ~Scratch() { free(bytes); }
    char *of(size_t wanted) {
        if (wanted > size) {
            free(bytes);
            size = (wanted + 4095) & ~static_cast<size_t>(4095);
            bytes = static_cast<char *>(aligned_alloc(64, size));
        }
        return bytes;
    }
};

int smaller(int a, int b) { return a < b ? a : b; }
int larger(int a, int b) { return a > b ? a : b; }

}  // namespace
