// The threads. Between two pieces of work they spin for SPIN_NANOSECONDS, about what a wake-up costs, then sleep.
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>
#include <new>

#if defined(__linux__)
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sk {
namespace {

const int64_t SPIN_NANOSECONDS = 20000;
const int MOST_THREADS = 256;

int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

// A number that threads wait upon to change. Waking costs a system call only where somebody sleeps.
struct Signal {
    std::atomic<uint32_t> value{0};
    std::atomic<uint32_t> sleepers{0};
#if !defined(__linux__)
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
#endif

    void wait_while(uint32_t seen) {
        for (int64_t until = 0;;) {
            for (int i = 0; i < 64; i++) {
                if (value.load(std::memory_order_acquire) != seen) return;
                relax();
            }
            const int64_t time = now();
            if (!until) until = time + SPIN_NANOSECONDS;
            if (time > until) break;
        }
        sleepers.fetch_add(1);
#if defined(__linux__)
        while (value.load() == seen) syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
#else
        pthread_mutex_lock(&mutex);
        while (value.load() == seen) pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
#endif
        sleepers.fetch_sub(1);
    }

    void advance() {
        value.fetch_add(1);
        if (!sleepers.load()) return;
#if defined(__linux__)
        syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE, MOST_THREADS, NULL, NULL, 0);
#else
        pthread_mutex_lock(&mutex);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
#endif
    }
};

struct Pool {
    pthread_mutex_t use = PTHREAD_MUTEX_INITIALIZER;  // one piece of work at a time, whichever thread brings it
    int count = 1;                                    // with the caller
    int wanted = 1;
    bool pinned = false;
    int32_t cores[MOST_THREADS] = {};
    pthread_t threads[MOST_THREADS] = {};
    Work work = NULL;  // NULL: end
    void *context = NULL;
    Signal begin;
    Signal finished;                                  // advanced by the last part of a piece of work
    std::atomic<int> running{0};
    Signal gate;  // of barriers
    std::atomic<int> arrived{0};
};

Pool pool;

void *serve(void *argument) {
    const int part = (int)(intptr_t)argument;
    for (uint32_t seen = 0;;) {
        pool.begin.wait_while(seen);
        seen++;
        if (!pool.work) return NULL;
        pool.work(Team{part, pool.count}, pool.context);
        if (pool.running.fetch_sub(1) == 1) pool.finished.advance();
    }
}

void stop() {
    if (pool.count > 1) {
        pool.work = NULL;
        pool.begin.advance();
        for (int part = 1; part < pool.count; part++) pthread_join(pool.threads[part], NULL);
    }
    pool.count = 1;
}

// Fewer threads than wanted, where the system refuses more, are no error: work is split by what there is.
void start() {
    pool.begin.value = 0;
    int count = 1;
    while (count < pool.wanted) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
#if defined(__linux__)
        if (pool.pinned) {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(pool.cores[count], &set);
            pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
        }
#endif
        const int refused = pthread_create(&pool.threads[count], &attributes, serve, (void *)(intptr_t)count);
        pthread_attr_destroy(&attributes);
        if (refused) break;
        count++;
    }
    pool.count = pool.wanted = count;
}

// A child of fork() has the caller's thread only; it starts its own at the next piece of work.
void forget() {
    const int wanted = pool.wanted;
    const bool pinned = pool.pinned;
    int32_t cores[MOST_THREADS];
    for (int i = 0; i < MOST_THREADS; i++) cores[i] = pool.cores[i];
    new (&pool) Pool;
    pool.wanted = wanted;
    pool.pinned = pinned;
    for (int i = 0; i < MOST_THREADS; i++) pool.cores[i] = cores[i];
}

}  // namespace

int threads() { return pool.wanted; }

void run(Work work, void *context) {
    pthread_mutex_lock(&pool.use);
    if (pool.count != pool.wanted) start();
    if (pool.count == 1) {
        work(Team{0, 1}, context);
    } else {
        pool.work = work;
        pool.context = context;
        pool.running.store(pool.count - 1);
        const uint32_t seen = pool.finished.value.load();
        pool.begin.advance();
        work(Team{0, pool.count}, context);
        pool.finished.wait_while(seen);
    }
    pthread_mutex_unlock(&pool.use);
}

void Team::barrier() const {
    if (parts == 1) return;
    const uint32_t seen = pool.gate.value.load();
    if (pool.arrived.fetch_add(1) == parts - 1) {
        pool.arrived.store(0);
        pool.gate.advance();
    } else {
        pool.gate.wait_while(seen);
    }
}

}  // namespace sk

extern "C" void sk_set_threads(int32_t count, const int32_t *cores) {
    using namespace sk;
    static std::atomic<bool> watched{false};
    if (!watched.exchange(true)) pthread_atfork(NULL, NULL, forget);
    const int wanted = count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : count;
    pthread_mutex_lock(&pool.use);
    bool same = wanted == pool.wanted && pool.pinned == (cores != NULL);
    for (int i = 1; same && cores && i < wanted; i++) same = pool.cores[i] == cores[i];
    if (!same) {
        stop();
        pool.wanted = wanted;
        pool.pinned = cores != NULL;
        for (int i = 0; cores && i < wanted; i++) pool.cores[i] = cores[i];
    }
    pthread_mutex_unlock(&pool.use);
}

extern "C" int32_t sk_threads(void) { return sk::threads(); }
