#include "floor.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "memory.h"
#include "contract.h"

/* packed64's header and new_release's payload. */
#define FLOOR_OBJECT_BYTES (16u + 48u)

/* A count: 8 bytes, as packed64's. The harness gives each thread's state lines of its own. */
typedef struct floor_word {
    _Atomic(uint64_t) value;
} floor_word;

/* ---- retain_release ---- */

/* One locked instruction each, its result unused. On x86-64 and ARM with LSE in assembly: no compiler
 * may merge the two or take a compare-exchange loop. RELAXED: a count of nothing orders nothing. */
static inline void floor_locked_add(floor_word *word)
{
#if defined(__x86_64__)
    __asm__ volatile("lock addq $1, %0" : "+m"(word->value) : : "cc");
#elif defined(__aarch64__) && defined(__ARM_FEATURE_ATOMICS)
    __asm__ volatile("stadd %1, %0" : "+Q"(word->value) : "r"(UINT64_C(1)));
#else
    atomic_fetch_add_explicit(&word->value, 1, memory_order_relaxed);
#endif
}

/* As the add. On ARM with RELEASE, as every correct release has it; elsewhere that costs nothing or is
 * what C11 makes of it. */
static inline void floor_locked_subtract(floor_word *word)
{
#if defined(__x86_64__)
    __asm__ volatile("lock subq $1, %0" : "+m"(word->value) : : "cc");
#elif defined(__aarch64__) && defined(__ARM_FEATURE_ATOMICS)
    __asm__ volatile("staddl %1, %0" : "+Q"(word->value) : "r"(UINT64_MAX) : "memory");
#else
    atomic_fetch_sub_explicit(&word->value, 1, memory_order_release);
#endif
}

static void floor_locked_pairs(floor_word *word, uint64_t operations)
{
    for (uint64_t i = 0; i < operations; i++) {
        floor_locked_add(word);
        rcl_clobber();
        floor_locked_subtract(word);
        rcl_clobber();
    }
}

static void floor_plain_pairs(uint64_t *word, uint64_t operations)
{
    for (uint64_t i = 0; i < operations; i++) {
        *word += 1;
        rcl_clobber();
        *word -= 1;
        rcl_clobber();
    }
}

enum { FLOOR_LOCKED_PAIR, FLOOR_PLAIN_PAIR };

static uint64_t floor_pair_run(rcl_thread *thread, uint64_t operations)
{
    const rcl_team *team = thread->team;
    if (team->variant->parameter == FLOOR_PLAIN_PAIR) {
        floor_plain_pairs(thread->state, operations);
    } else {
        floor_locked_pairs(team->sharing == RCL_SHARED ? team->shared : thread->state, operations);
    }
    return operations;
}

static const rcl_variant floor_pair_variants[] = {
    {.name = "locked_pair", .parameter = FLOOR_LOCKED_PAIR},
    {.name = "plain_pair", .parameter = FLOOR_PLAIN_PAIR, .sharing = RCL_PRIVATE},
};

static const rcl_workload floor_pair = {
    .name = "retain_release",
    .sharing = RCL_PRIVATE | RCL_SHARED,
    .threads_min = 1,
    .variants = floor_pair_variants,
    .variant_count = sizeof floor_pair_variants / sizeof floor_pair_variants[0],
    .shared_size = sizeof(floor_word),
    .thread_size = sizeof(floor_word),
    .run = floor_pair_run,
};

/* ---- new_release ---- */

/* The allocator is chosen before the loop: two loops with direct calls. */
static uint64_t floor_libc_run(uint64_t operations)
{
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t *block = malloc(FLOOR_OBJECT_BYTES);
        if (block == NULL) {
            return i;
        }
        *block = i;
        rcl_escape(block);
        free(block);
        rcl_clobber();
    }
    return operations;
}

static uint64_t floor_jemalloc_run(uint64_t operations)
{
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t *block = je_malloc(FLOOR_OBJECT_BYTES);
        if (block == NULL) {
            return i;
        }
        *block = i;
        rcl_escape(block);
        je_free(block);
        rcl_clobber();
    }
    return operations;
}

static uint64_t floor_allocate_free_run(rcl_thread *thread, uint64_t operations)
{
    (void)thread;
    return rcl_memory_used() == RCL_ALLOCATOR_LIBC ? floor_libc_run(operations)
                                                   : floor_jemalloc_run(operations);
}

static const rcl_variant floor_allocate_free_variants[] = {{.name = "allocate_free"}};

static const rcl_workload floor_allocate_free = {
    .name = "new_release",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .allocates = true,
    .variants = floor_allocate_free_variants,
    .variant_count = 1,
    .run = floor_allocate_free_run,
};

/* ---- The table ---- */

static void floor_nothing(void)
{
}

static const rcl_workload *const floor_workloads[] = {
    &floor_pair,
    &floor_allocate_free,
};

const rcl_impl rcl_floor = {
    .name = "floor",
    .caps = RC_CAP_THREADS,
    .overflow = RC_OVERFLOW_UNCHECKED,
    .thread_attach = floor_nothing,
    .thread_detach = floor_nothing,
    .quiesce = floor_nothing,
    .workloads = floor_workloads,
    .workload_count = sizeof floor_workloads / sizeof floor_workloads[0],
};
