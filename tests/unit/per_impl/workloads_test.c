/* workloads_test: every workload over one implementation, as the harness runs it.
 *
 * Each variant with each sharing, with one thread and with two: does `run` do what it was asked, in
 * a few batches, and does everything come back? Speed is not looked at. A variant whose needs are
 * not met is skipped, and says so.
 */
#include "memory.h"
#include "contract.h"
#include "workload.h"
#include "tensor.h"

#include "all_workloads.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#define STRING2(a) #a
#define STRING(a) STRING2(a)

#define BATCHES 2
#define BATCH_OPERATIONS 150
#define LINE_BYTES 128
#define THREADS_MOST 2

static const rcl_workload *const workloads[] = {
#define RCL_WORKLOAD(name, group, question) &name##_workload,
#include "workloads.def"
#undef RCL_WORKLOAD
};

#define WORKLOAD_COUNT (sizeof workloads / sizeof workloads[0])

/* ---- What can run ---- */

static const struct {
    unsigned bit;
    const char *name;
} needs_names[] = {
    {RC_CAP_THREADS, "RC_CAP_THREADS"},
    {RC_CAP_WEAK, "RC_CAP_WEAK"},
    {RC_CAP_RAW, "RC_CAP_RAW"},
    {RC_CAP_WRAPPER, "RC_CAP_WRAPPER"},
    {RC_CAP_IMMEDIATE, "RC_CAP_IMMEDIATE"},
    {RC_CAP_EXACT_COUNT, "RC_CAP_EXACT_COUNT"},
    {RC_CAP_SHM, "RC_CAP_SHM"},
    {RC_CAP_EARLY_FREE, "RC_CAP_EARLY_FREE"},
    {RCL_NEEDS_COUNTING, "RCL_NEEDS_COUNTING"},
};

/* The name of a need that is not met, or NULL. */
static const char *unmet(unsigned needs)
{
    unsigned offered = RC_IMPL_CAPS;
#ifndef RCL_IMPL_IS_NULL
    offered |= RCL_NEEDS_COUNTING;
#endif
    for (size_t i = 0; i < sizeof needs_names / sizeof needs_names[0]; i++) {
        if ((needs & ~offered & needs_names[i].bit) != 0) {
            return needs_names[i].name;
        }
    }
    return (needs & ~offered) != 0 ? "a capability without a name here" : NULL;
}

/* ---- One run ---- */

typedef struct member {
    rcl_thread thread;
    const rcl_workload *workload;
    pthread_barrier_t *barrier;
    bool ready;
    uint64_t asked, done;
} member;

static void *lines_new(size_t size_bytes)
{
    size_t rounded = (size_bytes + LINE_BYTES) / LINE_BYTES * LINE_BYTES;
    void *lines = aligned_alloc(LINE_BYTES, rounded);
    ck_assert_ptr_nonnull(lines);
    memset(lines, 0, rounded);
    return lines;
}

/* From set-up to teardown of one thread that is attached already. All threads go through the same
 * barriers, whatever fails. */
static void member_run(member *self)
{
    const rcl_workload *workload = self->workload;
    const uint64_t batch = workload->batch != 0 && workload->batch < BATCH_OPERATIONS
                               ? workload->batch
                               : BATCH_OPERATIONS;
    self->ready = workload->thread_setup == NULL || workload->thread_setup(&self->thread);
#ifdef RCL_IMPL_IS_NULL
    null_mark();
#endif
    pthread_barrier_wait(self->barrier);
    for (unsigned i = 0; self->ready && i < BATCHES; i++) {
        uint64_t elapsed_ns;
        self->asked += batch;
        self->done += workload->run != NULL
                          ? workload->run(&self->thread, batch)
                          : workload->run_timed(&self->thread, batch, &elapsed_ns);
        rc_quiesce();
    }
    pthread_barrier_wait(self->barrier);
    if (workload->thread_teardown != NULL) {
        workload->thread_teardown(&self->thread);
    }
    rc_quiesce();
}

static void *member_thread(void *argument)
{
    rc_thread_attach();
    member_run(argument);
    rc_thread_detach();
    return NULL;
}

/* What one run came to. */
typedef struct outcome {
    bool ready; /* every setup succeeded */
    uint64_t asked, done;
} outcome;

static outcome run_workload(const rcl_workload *workload, const rcl_variant *variant,
                            rcl_sharing sharing, unsigned threads, uint64_t refuse)
{
    rcl_team team = {.threads = threads, .sharing = sharing, .variant = variant};
    member members[THREADS_MOST] = {{.asked = 0}};
    pthread_t others[THREADS_MOST];
    pthread_barrier_t barrier;
    outcome out = {.ready = true};
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, threads), 0);
    team.shared = lines_new(workload->shared_size);

    rcl_memory_count(true);
    rcl_memory_refuse(refuse);
    rc_thread_attach();
    out.ready = workload->shared_setup == NULL || workload->shared_setup(&team);
    for (unsigned i = 0; i < threads; i++) {
        members[i].thread = (rcl_thread){
            .team = &team, .index = i, .random = i + 1, .state = lines_new(workload->thread_size)};
        members[i].workload = workload;
        members[i].barrier = &barrier;
    }
    for (unsigned i = 1; out.ready && i < threads; i++) {
        ck_assert_int_eq(pthread_create(&others[i], NULL, member_thread, &members[i]), 0);
    }
    if (out.ready) {
        member_run(&members[0]);
        for (unsigned i = 1; i < threads; i++) {
            ck_assert_int_eq(pthread_join(others[i], NULL), 0);
        }
    }
    if (workload->shared_teardown != NULL) {
        workload->shared_teardown(&team);
    }
    rc_quiesce();
    rc_thread_detach();
    rcl_memory_refuse(0);
    for (unsigned i = 0; i < threads; i++) {
        out.ready = out.ready && members[i].ready;
        out.asked += members[i].asked;
        out.done += members[i].done;
        free(members[i].thread.state);
    }
    free(team.shared);
    pthread_barrier_destroy(&barrier);
    return out;
}

/* ---- The cases: one workload each ---- */

static const char *sharing_name(rcl_sharing sharing)
{
    return sharing == RCL_PRIVATE ? "private" : "shared";
}

static void skip(const rcl_workload *workload, const rcl_variant *variant, const char *why)
{
    printf("skipped: %s %s: %s %s\n", workload->name, variant == NULL ? "(all)" : variant->name,
           STRING(RCL_IMPL_NAME), why);
}

/* Reasons that keep a variant out altogether; NULL: none. */
static const char *excluded(const rcl_workload *workload, const rcl_variant *variant)
{
    static char text[64];
    const char *missing = unmet(workload->needs | (variant == NULL ? 0 : variant->needs));
    if (missing != NULL) {
        snprintf(text, sizeof text, "does not claim %s", missing);
        return text;
    }
    if (strcmp(workload->name, "replay") == 0) {
        return "is not run: it needs a trace and has a test of its own";
    }
    if (variant != NULL && strcmp(variant->name, "n4m") == 0) {
        return "is not run: 320 MB of objects have no place in a unit test";
    }
    return NULL;
}

static void check_run(const rcl_workload *workload, const rcl_variant *variant, rcl_sharing sharing,
                      unsigned threads)
{
    const outcome out = run_workload(workload, variant, sharing, threads, 0);
    const rcl_memory_counts counts = rcl_memory_read();
    ck_assert_msg(out.ready, "%s %s %s, %u threads: set-up failed", workload->name, variant->name,
                  sharing_name(sharing), threads);
    ck_assert_msg(out.asked > 0 && out.done == out.asked,
                  "%s %s %s, %u threads: asked for %llu operations, did %llu", workload->name,
                  variant->name, sharing_name(sharing), threads, (unsigned long long)out.asked,
                  (unsigned long long)out.done);
    ck_assert_msg(counts.live_blocks == 0 && counts.live_bytes == 0,
                  "%s %s %s, %u threads: %llu blocks and %llu bytes are alive after teardown",
                  workload->name, variant->name, sharing_name(sharing), threads,
                  (unsigned long long)counts.live_blocks, (unsigned long long)counts.live_bytes);
}

/* Calls `check` for everything that this workload can be run with. */
static void for_each_run(const rcl_workload *workload,
                         void (*check)(const rcl_workload *, const rcl_variant *, rcl_sharing,
                                       unsigned))
{
    const char *why = excluded(workload, NULL);
    if (why != NULL) {
        skip(workload, NULL, why);
        return;
    }
    ck_assert_uint_gt(workload->variant_count, 0);
    for (unsigned v = 0; v < workload->variant_count; v++) {
        const rcl_variant *variant = &workload->variants[v];
        why = excluded(workload, variant);
        if (why != NULL) {
            skip(workload, variant, why);
            continue;
        }
        for (unsigned sharing = RCL_PRIVATE; sharing <= RCL_SHARED; sharing <<= 1) {
            if ((workload->sharing & sharing) == 0) {
                continue;
            }
            for (unsigned threads = 1; threads <= THREADS_MOST; threads++) {
                if (threads < workload->threads_min ||
                    (workload->threads_max != 0 && threads > workload->threads_max)) {
                    continue;
                }
                if (threads > 1 && sharing == RCL_SHARED && ((RC_IMPL_CAPS)&RC_CAP_THREADS) == 0) {
                    skip(workload, variant, "shared by two threads: does not claim RC_CAP_THREADS");
                    continue;
                }
                check(workload, variant, (rcl_sharing)sharing, threads);
            }
        }
    }
}

START_TEST(runs)
{
    rcl_memory_use(RCL_ALLOCATOR_LIBC);
    for_each_run(workloads[_i], check_run);
}
END_TEST

/* Refuses one request after the other, until a run gets by without: set-ups report it, `run`
 * returns fewer, teardown copes, nothing leaks. Single threads: a partner would wait for ever. */
static void check_refusals(const rcl_workload *workload, const rcl_variant *variant,
                           rcl_sharing sharing, unsigned threads)
{
    if (threads > 1 || workload->setup_ms > 0) {
        return;
    }
    uint64_t step = 1;
    for (uint64_t k = 1;; k += step) {
        const outcome out = run_workload(workload, variant, sharing, threads, k);
        const rcl_memory_counts counts = rcl_memory_read();
        ck_assert_msg(counts.live_blocks == 0,
                      "%s %s %s: %llu blocks are alive after request %llu was refused",
                      workload->name, variant->name, sharing_name(sharing),
                      (unsigned long long)counts.live_blocks, (unsigned long long)k);
        if (counts.refused_blocks == 0) {
            ck_assert(out.ready && out.done == out.asked);
            return;
        }
        ck_assert_msg(!out.ready || out.done < out.asked,
                      "%s %s %s: request %llu was refused and nobody noticed", workload->name,
                      variant->name, sharing_name(sharing), (unsigned long long)k);
        step = k < 200 ? 1 : k / 8; /* all of a set-up and of a few operations, then samples */
    }
}

START_TEST(refusals)
{
    rcl_memory_use(RCL_ALLOCATOR_LIBC);
    for_each_run(workloads[_i], check_refusals);
}
END_TEST

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0); /* cases fork: nothing may wait in a buffer */
    Suite *suite = suite_create("workloads over " STRING(RCL_IMPL_NAME));
    TCase *cases = tcase_create("workloads");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, runs, 0, (int)WORKLOAD_COUNT);
    tcase_add_loop_test(cases, refusals, 0, (int)WORKLOAD_COUNT);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
