/* Compiled with -fsanitize=thread and with LITMUS_BUILD (its name, quoted) and LITMUS_SUBJECT (the object's
 * name) defined. Registers are local variables until their thread ends: they are no memory. */
#include "litmus_subject.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* x and y share eight bytes. */
static struct words {
    _Alignas(8) _Atomic(uint32_t) x;
    _Atomic(uint32_t) y, z;
    uint32_t a;
} words;
#define x words.x
#define y words.y
#define z words.z
#define a words.a
static _Atomic(uint32_t) *block;
#define f (*block)
static pthread_mutex_t m, n;
static uint64_t values[16], states[16];
static uint64_t freed_by[4], freed, last_of_block;

static void setup(void *context)
{
    (void)context;
    atomic_init(&x, 0);
    atomic_init(&y, 0);
    atomic_init(&z, 0);
    a = 0;
    block = malloc(sizeof *block);
    atomic_init(block, 0);
    for (unsigned i = 0; i < 4; i++) {
        freed_by[i] = 0;
    }
    pthread_mutex_init(&m, NULL);
    pthread_mutex_init(&n, NULL);
    for (unsigned i = 0; i < 16; i++) {
        values[i] = 0;
        states[i] = 0;
    }
}

/* The block is freed, if no thread has done it. */
static void check(void *context)
{
    (void)context;
    freed = freed_by[0] || freed_by[1] || freed_by[2] || freed_by[3];
    if (!freed) {
        last_of_block = atomic_load_explicit(block, memory_order_relaxed);
        free(block);
    }
}

#define rlx memory_order_relaxed
#define con memory_order_consume
#define acq memory_order_acquire
#define rel memory_order_release
#define acq_rel memory_order_acq_rel
#define sc memory_order_seq_cst

enum { UNSET, READ, STORED };

#define READ_INTO(n, expression)                                                                   \
    {                                                                                              \
        r##n = (expression);                                                                       \
        s##n = READ;                                                                               \
    }
#define R(n, l, o) READ_INTO(n, atomic_load_explicit(&l, o))
#define W(l, v, o) atomic_store_explicit(&l, v, o);
#define ADD(n, l, v, o) READ_INTO(n, atomic_fetch_add_explicit(&l, v, o))
#define XCHG(n, l, v, o) READ_INTO(n, atomic_exchange_explicit(&l, v, o))
#define COMPARE(how, n, l, e, v, o, f)                                                             \
    {                                                                                              \
        uint32_t expected = e;                                                                     \
        bool stored = atomic_compare_exchange_##how##_explicit(&l, &expected, v, o, f);            \
        r##n = expected;                                                                           \
        s##n = stored ? STORED : READ;                                                             \
    }
#define CAS(n, l, e, v, o, f) COMPARE(strong, n, l, e, v, o, f)
#define CASW(n, l, e, v, o, f) COMPARE(weak, n, l, e, v, o, f)
#define F(o) atomic_thread_fence(o);
#define PLAIN(l) (*(uint32_t *)&(l))
#define PR(n, l) READ_INTO(n, PLAIN(l))
#define PW(l, v) PLAIN(l) = v;
#define FREE(l)                                                                                    \
    {                                                                                              \
        freed_by[index] = 1;                                                                       \
        free((void *)&(l));                                                                        \
    }
#define LOCK(l) pthread_mutex_lock(&l);
#define UNLOCK(l) pthread_mutex_unlock(&l);
#define IF(n, v) if (s##n != UNSET && r##n == (v))
#define IFOK(n) if (s##n == STORED)

#define SAVE(n)                                                                                    \
    if (s##n != UNSET) {                                                                           \
        values[n] = r##n;                                                                          \
        states[n] = s##n;                                                                          \
    }

#define THREAD(t, ...)                                                                             \
    case t:                                                                                        \
        __VA_ARGS__                                                                                \
        break;
#define LITMUS(name, verdict, threads, outcome)                                                    \
    static void run_##name(void *context, unsigned index)                                          \
    {                                                                                              \
        uint32_t r0 = 0, r1 = 0, r2 = 0, r3 = 0, r4 = 0, r5 = 0, r6 = 0, r7 = 0, r8 = 0;           \
        unsigned s0 = UNSET, s1 = UNSET, s2 = UNSET, s3 = UNSET, s4 = UNSET, s5 = UNSET,           \
                 s6 = UNSET, s7 = UNSET, s8 = UNSET;                                               \
        (void)context;                                                                             \
        switch (index) {                                                                           \
            threads                                                                                \
        }                                                                                          \
        SAVE(0)                                                                                    \
        SAVE(1)                                                                                    \
        SAVE(2)                                                                                    \
        SAVE(3)                                                                                    \
        SAVE(4)                                                                                    \
        SAVE(5)                                                                                    \
        SAVE(6)                                                                                    \
        SAVE(7)                                                                                    \
        SAVE(8)                                                                                    \
    }
#include "litmus.def"
#undef LITMUS

#define LITMUS(name, verdict, threads, outcome) #name,
static const char *const names[] = {
#include "litmus.def"
};
#undef LITMUS

#define LITMUS(name, verdict, threads, outcome) run_##name,
static void (*const threads[])(void *context, unsigned index) = {
#include "litmus.def"
};

extern const litmus_subject LITMUS_SUBJECT;
const litmus_subject LITMUS_SUBJECT = {
    .build = LITMUS_BUILD,
#ifndef __clang__
    .weak_is_weak = 1,
#endif
    .count = sizeof names / sizeof *names,
    .names = names,
    .threads = threads,
    .setup = setup,
    .check = check,
    .freed = &freed,
    .locations = {(const void *)&x, (const void *)&y, (const void *)&z, &a, &last_of_block, &m, &n},
    .values = values,
    .states = states,
};
