/* workload: what a question about speed looks like to the harness.
 *
 * A workload is one file in workloads/, compiled once per implementation (included by
 * harness/instantiate.c after contract.h, so every rc_ call is inlined). It ends in one table,
 * `static const rcl_workload <name>_workload`. The harness sets up, calls `run` with batches of
 * operations while the clock runs, and tears down; nothing but `run` is timed.
 */
#ifndef RCL_WORKLOAD_H
#define RCL_WORKLOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space.h"
#include <time.h>

/* Beside the RC_CAP_ bits in rcl_workload.needs: counts must be real, so that objects die on time or
 * live beyond a batch. Leaves out `null`. */
#define RCL_NEEDS_COUNTING (1u << 16)

/* Whose objects the threads of a run use. */
typedef enum rcl_sharing { RCL_PRIVATE = 1, RCL_SHARED = 2 } rcl_sharing;

/* One way to ask the question. */
typedef struct rcl_variant {
    const char *name;  /* "-" if the workload has just one */
    int64_t parameter; /* what the workload makes of it */
    unsigned needs;    /* beyond the workload's own */
    unsigned threads;  /* 0: any that suit the workload; else just this many */
    unsigned sharing;  /* 0: as the workload; else only these rcl_sharing values, or-ed */
} rcl_variant;

/* A run, as all its threads see it. Read-only to workloads but for *shared. */
typedef struct rcl_team {
    unsigned threads;
    rcl_sharing sharing;
    const rcl_variant *variant;
    void *shared;       /* rcl_workload.shared_size bytes, zeroed; set up by shared_setup */
    const char *input;  /* replay: path of the trace; else NULL */
    _Atomic(bool) stop; /* the window has closed: return from run soon, with what was done so far */
    struct rcl_delay_run *delay; /* of a workload that measures delays; NULL: not asked for */
} rcl_team;

/* One thread of a run. */
typedef struct rcl_thread {
    rcl_team *team;
    unsigned index;  /* 0 is the thread that made the team */
    uint64_t random; /* state of rcl_random, seeded per thread */
    void *state;     /* rcl_workload.thread_size bytes, zeroed, on lines of their own */
} rcl_thread;

typedef struct rcl_workload {
    const char *name;
    unsigned needs; /* RC_CAP_ bits, RCL_NEEDS_ bits; met by the implementation or it is left out */
    unsigned sharing;     /* the rcl_sharing values that make sense, or-ed */
    unsigned threads_min; /* 1, or 2 where a partner is needed */
    unsigned threads_max; /* 1 for single-threaded questions; 0: as many as there are processors */
    bool allocates;       /* inside the timed part: then each allocator is a row of its own */
    bool delays;    /* measures how late memory comes back (delay.h), not how long operations take:
                    run_timed is there, and team->delay says when to release */
    unsigned batch; /* most operations in one call of run; 0: 4,096. All objects made in a batch
                             are released in it, unless RCL_NEEDS_COUNTING. */
    unsigned setup_ms; /* a rough figure, for workloads whose setup is slow: they run less often */
    const rcl_variant *variants;
    unsigned variant_count;
    size_t shared_size, thread_size;

    /* Each may be NULL, but run or run_timed is there. A setup returns false if memory was refused; teardown follows then
     * too, and must cope with a state that is zeroed or half made. */
    bool (*shared_setup)(rcl_team *team);     /* thread 0, attached, before the others start */
    bool (*thread_setup)(rcl_thread *thread); /* each thread, attached */
    /* Does `operations` operations, or fewer once team->stop is set; returns how many. Fewer without
     * team->stop means that memory was refused. Timed. */
    uint64_t (*run)(rcl_thread *thread, uint64_t operations);
    /* In place of run, for a workload that keeps its own clock because it has work between its
     * operations that is not the question; else NULL. Called once for a warm-up of at most `batch`
     * operations, and once with all those of the window: makes its own batches, and calls rc_quiesce
     * after each. Returns how many operations it did, as run does, and writes the time they took. */
    uint64_t (*run_timed)(rcl_thread *thread, uint64_t operations, uint64_t *elapsed_ns);
    void (*thread_teardown)(rcl_thread *thread);
    void (*shared_teardown)(rcl_team *team); /* thread 0, after the others are done */
} rcl_workload;

/* An implementation compiled into the program. */
typedef struct rcl_impl {
    const char *name;
    const char *header; /* its rc.h: below impls/, or an absolute path */
    unsigned caps;      /* RC_CAP_ bits */
    unsigned overflow;  /* RC_OVERFLOW_ */
    uint64_t strong_max, weak_max;
    size_t handle_bytes, weak_handle_bytes; /* weak: 0 without RC_CAP_WEAK */
    bool counts;                            /* false for null: it is never ranked */
    bool called;                            /* its operations are calls that cannot be inlined */
    void (*thread_attach)(void);
    void (*thread_detach)(void);
    void (*quiesce)(void);
    void (*mark)(void); /* null only: what quiesce frees begins here. Else NULL. */
    bool (*measure_space)(rcl_space *space); /* see rcl_measure_space in space_measure.h */
    const rcl_workload *const *workloads;    /* in the order of workloads.def */
    unsigned workload_count;
} rcl_impl;

/* ---- For workloads ---- */

/* Binds the calling thread to the processor that thread `index` of a team would have: for processes that
 * a workload makes. False if it stays where it was. team.c has it. */
bool rcl_bind_as_member(unsigned index);

/* Monotonic time. Cost: some 20 ns. */
static inline uint64_t rcl_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* The compiler must assume that memory was read and written here: a retain and the release after it
 * cannot be folded into nothing. No instruction. */
static inline void rcl_clobber(void)
{
    __asm__ volatile("" ::: "memory");
}

/* The compiler must assume that somebody else has the pointer and can reach what it points to. */
static inline void rcl_escape(const void *pointer)
{
    __asm__ volatile("" ::"g"(pointer) : "memory");
}

/* The same pointer, but the compiler no longer knows what it points to. No instruction. */
static inline void *rcl_opaque(void *pointer)
{
    __asm__ volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

/* xorshift64*: the next pseudo-random number. */
static inline uint64_t rcl_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* Uniform below `limit`, which is not 0 and below 2^32. */
static inline uint32_t rcl_random_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)(((rcl_random(state) >> 32) * limit) >> 32);
}

#ifdef RC_IMPL_HEADER
/* For the end of an operation that leaves none of the objects alive that it made: an implementation that
 * counts has freed them by now, and does nothing here; null takes their memory back, so that it too
 * goes on in memory that is near. */
static inline void rcl_objects_are_dead(void)
{
#ifdef RCL_IMPL_IS_NULL
    rc_quiesce();
#endif
}
#endif

/* Tells the processor that this is a spin loop. */
static inline void rcl_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
