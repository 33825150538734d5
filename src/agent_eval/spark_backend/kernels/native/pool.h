// Threads that work on one thing together. They wait by spinning for some microseconds, then sleep: a neighbour that
// takes a core costs its share and no more (a pool that only spins fell from 24 tokens/s to 1 beside two busy processes).
#pragma once
#include <stdint.h>

namespace sk {

// Who of how many: work is split by `part` of `parts`, and results never depend on `parts`.
struct Team {
    int part;
    int parts;
    void barrier() const;  // all parts reach it before any goes on
};

using Work = void (*)(const Team &team, void *context);

void run(Work work, void *context);  // on every thread of the pool, the caller's included; returns when all are done
int threads();

}  // namespace sk

extern "C" {
// Sets the number of threads, the caller's included (1: no others are kept). Threads beyond the caller's are pinned to
// cores if `cores` names them (one per thread); NULL leaves them to the system.
void sk_set_threads(int32_t count, const int32_t *cores);
int32_t sk_threads(void);
}
