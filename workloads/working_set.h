/* working_set: what do a retain and its release cost when the objects do not fit in a cache?
 *
 * One operation: rc_retain and rc_release of the next of n live objects in an order shuffled once.
 * With 80 bytes an object (packed64 over glibc): n1 and n64 (5 KB) stay in a first-level cache, n1k
 * (80 KB) in a second-level one, n16k (1.3 MB) in that or the next. Larger ones are in
 * `working_set_large`.
 * The order stands in an array of handles, read from front to back: the array comes by prefetch, the
 * objects cannot. The next object's address is known early, so misses overlap as far as the strategy
 * lets them; a locked instruction on x86-64 waits for its own line, and so tells itself apart from a
 * plain one more than in retain_release.
 * Left out: allocation, the order that a real program has (better than random), other threads.
 */
#ifndef WORKING_SET_H
#define WORKING_SET_H

#include <stdlib.h>

/* The array is at least this long, so that a lap over it is long beside its own overhead. */
#define WORKING_SET_SEQUENCE_MIN 4096u

/* Each entry owns a unit. Objects stand in it as often as the length is a multiple of their number. */
typedef struct working_set_state {
    rc_strong *sequence;
    uint64_t length;
    uint64_t next;
} working_set_state;

static const rc_class working_set_class = {.name = "working_set", .payload_size = 48};

static void working_set_shuffle(rc_strong *sequence, uint64_t length, uint64_t *random)
{
    for (uint64_t i = length - 1; i > 0; i--) {
        uint64_t other = rcl_random_below(random, (uint32_t)(i + 1));
        rc_swap(&sequence[i], &sequence[other]);
    }
}

static bool working_set_thread_setup(rcl_thread *thread)
{
    working_set_state *state = thread->state;
    const uint64_t objects = (uint64_t)thread->team->variant->parameter; /* a power of two */
    const uint64_t length = objects > WORKING_SET_SEQUENCE_MIN ? objects : WORKING_SET_SEQUENCE_MIN;
    state->sequence = malloc(length * sizeof *state->sequence);
    if (state->sequence == NULL) {
        return false;
    }
    for (; state->length < length; state->length++) {
        const uint64_t i = state->length;
        rc_strong handle =
            i < objects ? rc_new(&working_set_class) : rc_retain(state->sequence[i - objects]);
        if (rc_is_null(handle)) {
            return false;
        }
        state->sequence[i] = handle;
    }
    working_set_shuffle(state->sequence, length, &thread->random);
    return true;
}

static void working_set_thread_teardown(rcl_thread *thread)
{
    working_set_state *state = thread->state;
    for (uint64_t i = 0; i < state->length; i++) {
        rc_release(state->sequence[i]);
    }
    free(state->sequence);
}

static uint64_t working_set_run(rcl_thread *thread, uint64_t operations)
{
    working_set_state *state = thread->state;
    uint64_t left = operations;
    while (left > 0) {
        uint64_t lap = state->length - state->next;
        lap = lap < left ? lap : left;
        const rc_strong *handles = &state->sequence[state->next];
        for (uint64_t i = 0; i < lap; i++) {
            rc_strong copy = rc_retain(handles[i]);
            rcl_clobber();
            rc_release(copy);
            rcl_clobber();
        }
        left -= lap;
        state->next = state->next + lap == state->length ? 0 : state->next + lap;
    }
    return operations;
}

static const rcl_variant working_set_variants[] = {
    {.name = "n1", .parameter = 1},
    {.name = "n64", .parameter = 64},
    {.name = "n1k", .parameter = 1 << 10},
    {.name = "n16k", .parameter = 1 << 14},
};

static const rcl_workload working_set_workload = {
    .name = "working_set",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .setup_ms = 1,
    .variants = working_set_variants,
    .variant_count = sizeof working_set_variants / sizeof working_set_variants[0],
    .thread_size = sizeof(working_set_state),
    .thread_setup = working_set_thread_setup,
    .run = working_set_run,
    .thread_teardown = working_set_thread_teardown,
};
#undef WORKING_SET_SEQUENCE_MIN

#endif
