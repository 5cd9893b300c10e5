/* Compiled with ABI_BUILD and ABI_SUBJECT defined, as litmus_subject.c is. */
#define _GNU_SOURCE 1
#include "abi_subject.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                          \
    if (!(condition)) {                                                                            \
        rcx_fail(RCX_ASSERTION, #condition);                                                       \
    }

/* ---- Atomic operations of every size ---- */

#define INTEGER(bits)                                                                              \
    static _Atomic(uint##bits##_t) word##bits;                                                     \
    static void operate##bits(void)                                                                \
    {                                                                                              \
        _Atomic(uint##bits##_t) *w = &word##bits;                                                  \
        const uint##bits##_t all = (uint##bits##_t) - 1;                                           \
        atomic_store_explicit(w, all, memory_order_release);                                       \
        EXPECT(atomic_fetch_add_explicit(w, 3, memory_order_acq_rel) == all)                       \
        EXPECT(atomic_fetch_sub_explicit(w, 4, memory_order_acq_rel) == 2)                         \
        EXPECT(atomic_load_explicit(w, memory_order_acquire) == (uint##bits##_t)(all - 1))         \
        EXPECT(atomic_exchange_explicit(w, 12, memory_order_acq_rel) == (uint##bits##_t)(all - 1)) \
        EXPECT(atomic_fetch_and_explicit(w, 10, memory_order_acq_rel) == 12)                       \
        EXPECT(atomic_fetch_or_explicit(w, 3, memory_order_acq_rel) == 8)                          \
        EXPECT(atomic_fetch_xor_explicit(w, 6, memory_order_acq_rel) == 11)                        \
        uint##bits##_t expected = 1;                                                               \
        EXPECT(!atomic_compare_exchange_strong_explicit(w, &expected, 5, memory_order_acq_rel,     \
                                                        memory_order_acquire))                     \
        EXPECT(expected == 13)                                                                     \
        EXPECT(atomic_compare_exchange_strong_explicit(w, &expected, 5, memory_order_acq_rel,      \
                                                       memory_order_acquire))                      \
        while (!atomic_compare_exchange_weak_explicit(w, &expected, 7, memory_order_acq_rel,       \
                                                      memory_order_relaxed)) {                     \
        }                                                                                          \
        EXPECT(expected == 5)                                                                      \
        EXPECT(*(uint##bits##_t *)w == 7)                                                          \
    }
INTEGER(8)
INTEGER(16)
INTEGER(32)
INTEGER(64)

static void operate(void *context, unsigned index)
{
    (void)context;
    switch (index) {
    case 0:
        operate8();
        break;
    case 1:
        operate16();
        break;
    case 2:
        operate32();
        break;
    default:
        operate64();
        break;
    }
}

static void mix_sizes(void *context, unsigned index)
{
    (void)context;
    if (index == 0) {
        atomic_store_explicit(&word64, 1, memory_order_relaxed);
    } else {
        atomic_load_explicit((_Atomic(uint32_t) *)(void *)&word64, memory_order_relaxed);
    }
}

/* ---- Memory ---- */

typedef struct pair {
    uint64_t first, second;
} pair;

static pair pairs[2];
static unsigned char bytes[32], more_bytes[32];
static unsigned counter;
static _Thread_local unsigned own = 5;

/* Each execution begins with what setup left, and with thread-locals as they are in a new thread. */
static void begin_afresh(void *context, unsigned index)
{
    (void)context;
    EXPECT(own == 5)
    own += index + 1;
    EXPECT(own == index + 6)
    if (index == 0) {
        EXPECT(counter == 0)
        counter++;
    }
    atomic_fetch_add_explicit(&word32, 1, memory_order_relaxed);
}

static void begin_afresh_check(void *context)
{
    (void)context;
    EXPECT(counter == 1)
    EXPECT(atomic_load_explicit(&word32, memory_order_relaxed) == 3)
}

static void copy_structs(void *context, unsigned index)
{
    (void)context;
    if (index == 0) {
        pairs[0] = pairs[1];
    } else {
        pairs[0].second = 1;
    }
}

static void copy_bytes(void *context, unsigned index)
{
    (void)context;
    if (index == 0) {
        memcpy(bytes, more_bytes, sizeof bytes);
    } else {
        bytes[17] = 1;
    }
}

static void copy_from(void *context, unsigned index)
{
    (void)context;
    if (index == 0) {
        memmove(bytes, more_bytes, sizeof bytes);
    } else {
        more_bytes[31] = 1;
    }
}

static void set_bytes(void *context, unsigned index)
{
    (void)context;
    if (index == 0) {
        memset(bytes, 1, 9);
    } else {
        bytes[8] = 1;
    }
}

static void set_other_bytes(void *context, unsigned index)
{
    (void)context;
    if (index == 0) {
        memset(bytes, 1, 9);
    } else {
        bytes[9] = 1;
    }
}

static void compare_bytes(void *context, unsigned index)
{
    (void)context;
    if (index == 0) {
        EXPECT(memcmp(bytes, more_bytes, 4) <= 0)
    } else {
        more_bytes[3] = 1;
    }
}

/* ---- Allocation ---- */

static void allocate(void *context, unsigned index)
{
    (void)context;
    (void)index;
    unsigned char *zeroes = calloc(3, 7);
    for (unsigned i = 0; i < 21; i++) {
        EXPECT(zeroes[i] == 0)
        zeroes[i] = (unsigned char)i;
    }
    unsigned char *larger = realloc(zeroes, 100);
    for (unsigned i = 0; i < 21; i++) {
        EXPECT(larger[i] == i)
    }
    free(larger);
    free(NULL);
    void *aligned = aligned_alloc(64, 128);
    EXPECT((uintptr_t)aligned % 64 == 0)
    free(aligned);
}

static void beyond_the_end(void *context, unsigned index)
{
    (void)context;
    (void)index;
    volatile unsigned char *block = malloc(5);
    block[5] = 1;
    free((void *)block);
}

static void before_the_start(void *context, unsigned index)
{
    (void)context;
    (void)index;
    volatile unsigned char *block = malloc(8);
    (void)block[-1];
    free((void *)block);
}

static void use_old_block(void *context, unsigned index)
{
    (void)context;
    (void)index;
    volatile unsigned char *block = malloc(8);
    unsigned char *larger = realloc((void *)block, 16);
    block[0] = 1;
    free(larger);
}

static void free_inside(void *context, unsigned index)
{
    (void)context;
    (void)index;
    unsigned char *block = malloc(32);
    free(block + 16);
}

static void free_global(void *context, unsigned index)
{
    (void)context;
    (void)index;
    void *volatile global = bytes;
    free(global);
}

/* ---- Mutexes ---- */

static pthread_mutex_t mutex;
static unsigned entered;

static void try_lock(void *context, unsigned index)
{
    (void)context;
    (void)index;
    if (pthread_mutex_trylock(&mutex) == 0) {
        entered++;
        EXPECT(entered == 1)
        entered--;
        pthread_mutex_unlock(&mutex);
    }
}

static void unlock_free(void *context, unsigned index)
{
    (void)context;
    (void)index;
    pthread_mutex_unlock(&mutex);
}

/* ---- Loops ---- */

static void wait_for_flag(void *context, unsigned index)
{
    (void)context;
    if (index == 0) {
        counter = 7;
        atomic_store_explicit(&word32, 1, memory_order_release);
        return;
    }
    while (atomic_load_explicit(&word32, memory_order_acquire) == 0) {
    }
    EXPECT(counter == 7)
}

static void wait_for_nobody(void *context, unsigned index)
{
    (void)context;
    (void)index;
    while (atomic_load_explicit(&word32, memory_order_acquire) == 0) {
    }
}

/* Ends by counting: no deadlock, though the value never changes. */
static void ask_five_times(void *context, unsigned index)
{
    (void)context;
    (void)index;
    for (volatile unsigned i = 0; i < 5; i++) {
        EXPECT(atomic_load_explicit(&word32, memory_order_acquire) == 0)
    }
}

static void add_in_a_loop(void *context, unsigned index)
{
    (void)context;
    (void)index;
    uint32_t seen = atomic_load_explicit(&word32, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&word32, &seen, seen + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

static void two_were_added(void *context)
{
    (void)context;
    EXPECT(atomic_load_explicit(&word32, memory_order_relaxed) == 2)
}

/* ---- Failures of the program ---- */

static void follow_null(void *context, unsigned index)
{
    (void)context;
    (void)index;
    volatile unsigned *volatile nothing = NULL;
    *nothing = 1;
}

static void fail_in_check(void *context)
{
    (void)context;
    EXPECT(counter == 1)
}

/* ---- Stacks ---- */

static _Atomic(unsigned *) shared_local;

/* Thread 0 writes to its own variable, whose address thread 1 has. */
static void lend_a_local(void *context, unsigned index)
{
    (void)context;
    if (index == 0) {
        unsigned local = 0;
        volatile unsigned *same = &local;
        atomic_store_explicit(&shared_local, &local, memory_order_release);
        *same = 7;
    } else {
        unsigned *theirs = atomic_load_explicit(&shared_local, memory_order_acquire);
        if (theirs != NULL) {
            *theirs = 1;
        }
    }
}

__attribute__((noinline)) static uint32_t count_one(void)
{
    _Atomic(uint32_t) local;
    atomic_init(&local, 0);
    atomic_fetch_add_explicit(&local, 1, memory_order_relaxed);
    return atomic_load_explicit(&local, memory_order_relaxed);
}

/* The same place on the stack, begun anew. */
static void count_on_the_stack(void *context, unsigned index)
{
    (void)context;
    (void)index;
    EXPECT(count_one() == 1)
    EXPECT(count_one() == 1)
}

/* ---- What cannot be searched ---- */

/* Not reported to the explorer, so not put back. */
__attribute__((noinline, no_sanitize("thread"))) static bool every_other_time(void)
{
    static unsigned times;
    return times++ % 2 != 0;
}

/* Differs from one execution to the next. */
static void do_as_it_likes(void *context, unsigned index)
{
    (void)context;
    if (index == 0) {
        atomic_store_explicit(&word32, 1, memory_order_relaxed);
        atomic_store_explicit(&word16, 1, memory_order_relaxed);
    } else {
        atomic_load_explicit(&word32, memory_order_relaxed);
        if (every_other_time()) {
            atomic_load_explicit(&word16, memory_order_relaxed);
            atomic_load_explicit(&word16, memory_order_relaxed);
        }
    }
}

static void ask_for_much(void *context, unsigned index)
{
    (void)context;
    (void)index;
    free(malloc((size_t)2 << 20));
}

static void lock_a_recursive_one(void *context, unsigned index)
{
    static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    (void)context;
    (void)index;
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
}

/* More operations than the search lets one thread do, in every execution. */
static void go_on_and_on(void *context, unsigned index)
{
    (void)context;
    (void)index;
    for (unsigned i = 0; i < 300; i++) {
        atomic_fetch_add_explicit(&word32, 1, memory_order_relaxed);
    }
}

static void nothing(void *context, unsigned index)
{
    (void)context;
    (void)index;
}

static void setup(void *context)
{
    (void)context;
    atomic_init(&word8, 0);
    atomic_init(&word16, 0);
    atomic_init(&word32, 0);
    atomic_init(&word64, 0);
    memset(bytes, 0, sizeof bytes);
    memset(more_bytes, 0, sizeof more_bytes);
    memset(pairs, 0, sizeof pairs);
    counter = 0;
    entered = 0;
    pthread_mutex_init(&mutex, NULL);
    atomic_init(&shared_local, NULL);
}

static const abi_case cases[] = {
    {"operations of each size", 4, operate, NULL, RCX_PASS, RCX_NO_FAILURE},
    {"sizes that mix", 2, mix_sizes, NULL, RCX_UNSUPPORTED, RCX_NO_FAILURE},
    {"executions begin afresh", 3, begin_afresh, begin_afresh_check, RCX_PASS, RCX_NO_FAILURE},
    {"structs are copied", 2, copy_structs, NULL, RCX_FAIL, RCX_RACE},
    {"memcpy writes", 2, copy_bytes, NULL, RCX_FAIL, RCX_RACE},
    {"memmove reads", 2, copy_from, NULL, RCX_FAIL, RCX_RACE},
    {"memset writes", 2, set_bytes, NULL, RCX_FAIL, RCX_RACE},
    {"memset writes no more", 2, set_other_bytes, NULL, RCX_PASS, RCX_NO_FAILURE},
    {"memcmp reads", 2, compare_bytes, NULL, RCX_FAIL, RCX_RACE},
    {"allocation", 1, allocate, NULL, RCX_PASS, RCX_NO_FAILURE},
    {"beyond the end of a block", 1, beyond_the_end, NULL, RCX_FAIL, RCX_OUT_OF_BOUNDS},
    {"before the start of a block", 1, before_the_start, NULL, RCX_FAIL, RCX_OUT_OF_BOUNDS},
    {"a block that realloc freed", 1, use_old_block, NULL, RCX_FAIL, RCX_USE_AFTER_FREE},
    {"free inside a block", 1, free_inside, NULL, RCX_FAIL, RCX_BAD_FREE},
    {"free of a global", 1, free_global, NULL, RCX_FAIL, RCX_BAD_FREE},
    {"trylock", 3, try_lock, NULL, RCX_PASS, RCX_NO_FAILURE},
    {"unlock of a free mutex", 1, unlock_free, NULL, RCX_FAIL, RCX_ASSERTION},
    {"a loop that waits", 2, wait_for_flag, NULL, RCX_BOUNDED, RCX_NO_FAILURE},
    {"a loop that waits for nobody", 1, wait_for_nobody, NULL, RCX_FAIL, RCX_DEADLOCK},
    {"a loop that counts its turns", 1, ask_five_times, NULL, RCX_BOUNDED, RCX_NO_FAILURE},
    {"a loop of weak compare-exchanges", 2, add_in_a_loop, two_were_added, RCX_PASS,
     RCX_NO_FAILURE},
    {"a null pointer", 1, follow_null, NULL, RCX_FAIL, RCX_CRASH},
    {"a check that fails", 1, nothing, fail_in_check, RCX_FAIL, RCX_ASSERTION},
    {"a race on another one's stack", 2, lend_a_local, NULL, RCX_FAIL, RCX_RACE},
    {"a counter on the stack", 1, count_on_the_stack, NULL, RCX_PASS, RCX_NO_FAILURE},
    {"what does not repeat", 2, do_as_it_likes, NULL, RCX_UNSUPPORTED, RCX_NO_FAILURE},
    {"two mebibytes", 1, ask_for_much, NULL, RCX_UNSUPPORTED, RCX_NO_FAILURE},
    {"a recursive mutex", 1, lock_a_recursive_one, NULL, RCX_UNSUPPORTED, RCX_NO_FAILURE},
    {"no execution ends", 1, go_on_and_on, NULL, RCX_UNSUPPORTED, RCX_NO_FAILURE},
};

extern const abi_subject ABI_SUBJECT;
const abi_subject ABI_SUBJECT = {ABI_BUILD, sizeof cases / sizeof *cases, cases, setup};
