// Vectors of floats as wide as the instruction set that a file is compiled for, written once for all of them. Included
// by one file per instruction set; everything is in that file's anonymous namespace, and no function template of the
// standard library is used with a type from outside it, so that no function compiled for a wide machine can be taken by
// the linker for a narrow one.
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int W = 16;
#elif defined(__AVX2__)
constexpr int W = 8;
#else
constexpr int W = 4;
#endif

typedef float V __attribute__((vector_size(W * 4)));
typedef int32_t I __attribute__((vector_size(W * 4)));
typedef uint32_t U __attribute__((vector_size(W * 4)));
typedef double D __attribute__((vector_size(W * 4)));   // half as many
typedef int64_t L __attribute__((vector_size(W * 4)));
typedef float V4 __attribute__((vector_size(16)));

inline V load(const float *p) {
    V v;
    memcpy(&v, p, sizeof v);
    return v;
}
inline void store(float *p, V v) { memcpy(p, &v, sizeof v); }
inline V all(float x) { return x - V{}; }
inline D all(double x) { return x - D{}; }

inline V fma(V a, V b, V c) {
#if defined(__AVX512F__)
    return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
    return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}
inline D fma(D a, D b, D c) {
#if defined(__AVX512F__)
    return (D)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__)
    return (D)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}
inline V max(V a, V b) { return a > b ? a : b; }
#if defined(__AVX2__)
inline V4 max(V4 a, V4 b) { return a > b ? a : b; }
#endif

// The four lanes that remain when the quarters of a vector are taken together.
template <typename F> inline V4 fold(V v, F f) {
    V4 parts[W / 4];
    memcpy(parts, &v, sizeof v);
    for (int n = W / 8; n >= 1; n /= 2)
        for (int i = 0; i < n; i++) parts[i] = f(parts[i], parts[i + n]);
    return parts[0];
}
inline V4 fold_sum(V v) {
    return fold(v, [](V4 a, V4 b) { return a + b; });
}
inline V4 fold_max(V v) {
    return fold(v, [](V4 a, V4 b) { return max(a, b); });
}
inline V spread(V4 quarter) {  // the same four lanes again and again
    V v;
    for (int i = 0; i < W / 4; i++) memcpy((char *)&v + 16 * i, &quarter, 16);
    return v;
}
inline float sum(V v) {
    V4 f = fold_sum(v);
    return (f[0] + f[2]) + (f[1] + f[3]);
}

#if defined(__clang__) || __GNUC__ >= 12
#define SK_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
typedef int32_t I4 __attribute__((vector_size(16)));
#define SK_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, I4{i, j, k, l})
#endif

// The sums of four vectors, one to a lane, each in the order of sum().
inline V4 sums(V a, V b, V c, V d) {
    V4 p = fold_sum(a), q = fold_sum(b), r = fold_sum(c), s = fold_sum(d);
    V4 u = SK_SHUFFLE(p, q, 0, 4, 1, 5) + SK_SHUFFLE(p, q, 2, 6, 3, 7);
    V4 v = SK_SHUFFLE(r, s, 0, 4, 1, 5) + SK_SHUFFLE(r, s, 2, 6, 3, 7);
    return SK_SHUFFLE(u, v, 0, 1, 4, 5) + SK_SHUFFLE(u, v, 2, 3, 6, 7);
}

// e^x to 2 units in the last place for x <= 88; 0 below -87. Not a number stays so.
// x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its series, whose eighth term is below 2^-27.
inline V exp(V x) {
    I small = x < all(-87.0f);
    V y = x < all(-87.0f) ? all(-87.0f) : x;
    y = y > all(88.0f) ? all(88.0f) : y;
    const V magic = all(12582912.0f);  // 1.5 * 2^23: adding it leaves the rounded integer in the low bits
    V t = fma(y, all(1.44269504f), magic);
    V n = t - magic;
    V r = fma(n, all(-0.693359375f), y);  // ln 2 in two parts, the first exact in 9 bits
    r = fma(n, all(2.12194440e-4f), r);
    V p = all(1.0f / 5040);
    p = fma(p, r, all(1.0f / 720));
    p = fma(p, r, all(1.0f / 120));
    p = fma(p, r, all(1.0f / 24));
    p = fma(p, r, all(1.0f / 6));
    p = fma(p, r, all(0.5f));
    p = fma(p, r, all(1.0f));
    p = fma(p, r, all(1.0f));
    I bits = ((I)t - (I)magic + 127) << 23;
    V out = p * (V)bits;
    return small ? V{} : out;
}

// e^x in double precision for x <= 0, to a few units in the last place; 0 below -700.
inline D exp(D x) {
    L small = x < all(-700.0);
    D y = small ? all(-700.0) : x;
    const D magic = all(6755399441055744.0);  // 1.5 * 2^52
    D t = fma(y, all(1.4426950408889634), magic);
    D n = t - magic;
    D r = fma(n, all(-0.6931471803691238), y);  // ln 2 in two parts, the first with 33 bits
    r = fma(n, all(-1.9082149292705877e-10), r);
    static const double inverse[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                     1.0 / 40320,      1.0 / 5040,      1.0 / 720,      1.0 / 120,     1.0 / 24,
                                     1.0 / 6,          0.5,             1.0,            1.0};
    D p = all(inverse[0]);
    for (int i = 1; i < 14; i++) p = fma(p, r, all(inverse[i]));
    L bits = ((L)t - (L)magic + 1023) << 52;
    D out = p * (D)bits;
    return small ? D{} : out;
}

// x Phi(x) = x / 2 erfc(-x / sqrt 2), the exact GELU. For z = |x| / sqrt 2, erfc(z) = exp(-z p(z)): p is a polynomial of
// degree 8 fitted to -log(erfc(z)) / z on [0, 4] so that the largest error of erfc is least (9e-9, with rounding 6e-8);
// beyond 4, erfc is below 2e-8 and taken as 0.
inline V gelu(V x) {
    V z = (x < V{} ? -x : x) * all(0.70710678f);
    V y = z > all(4.0f) ? all(4.0f) : z;
    V p = all(-5.0185776672151405e-6f);
    p = fma(p, y, all(7.654086221009493e-5f));
    p = fma(p, y, all(-4.7287720371969044e-4f));
    p = fma(p, y, all(1.3443314237520099e-3f));
    p = fma(p, y, all(2.031685580732301e-4f));
    p = fma(p, y, all(-1.938243955373764e-2f));
    p = fma(p, y, all(0.10285457223653793f));
    p = fma(p, y, all(0.6366075277328491f));
    p = fma(p, y, all(1.1283798217773438f));
    V half = all(0.5f) * exp(-y * p);
    half = z > all(4.0f) ? V{} : half;
    return x * (x < V{} ? half : all(1.0f) - half);
}

// To the nearest bfloat16, halves to even; not a number stays so.
inline V round_bf16(V x) {
    U u = (U)x;
    U rounded = (u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u;
    return x == x ? (V)rounded : x;
}
inline float round_bf16(float x) {
    if (x != x) return x;
    uint32_t u;
    memcpy(&u, &x, 4);
    u = (u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u;
    memcpy(&x, &u, 4);
    return x;
}

}  // namespace
