/* team_test: what the runner of a measurement owes to workloads and to those who read its window.
 *
 * The implementation and the workload are fakes that write down every call in a log. How the fake
 * threads behave is told by a script; where two threads must meet, they wait for each other, so no
 * test depends on time.
 */
#include <check.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"
#include "memory.h"
#include "team.h"

enum { LOG_SIZE = 4096, THREADS_MOST = 8, STATE_BYTES = 200, SHARED_BYTES = 300 };

typedef enum event_kind {
    ATTACH,
    SHARED_SETUP,
    THREAD_SETUP,
    MARK,
    RUN,
    QUIESCE,
    THREAD_TEARDOWN,
    DETACH,
    SHARED_TEARDOWN,
    EVENT_KINDS
} event_kind;

typedef struct event {
    event_kind kind;
    int thread; /* in the team */
} event;

/* Written by the threads of a run, read after it. */
static struct {
    _Atomic(unsigned) length;
    event events[LOG_SIZE];
} history;

/* How the fakes behave. Set before a run, read-only during it but for the meeting. */
static struct {
    bool shared_fails;
    int thread_fails;          /* index of a thread whose setup fails, or -1 */
    int refusing_thread;       /* its refusing_call-th run returns one operation too few, or -1 */
    unsigned refusing_call;    /* 1 is the warm-up */
    bool other_waits_for_stop; /* then the other thread's run of that round only ends by stop, and
                                  the refusal waits until that run has begun */
    bool second_waits; /* thread 1: its second batch of the window ends only by stop, and thread
                                  0 ends its first only once that has begun */
    _Atomic(bool) other_is_there;
    bool affinity_is_one;                   /* every run saw exactly one processor */
    uint64_t elapsed_each_ns[THREADS_MOST]; /* what run_timed says per operation */
} script;

static struct {
    unsigned calls;
    uint64_t operations, most;
    uint64_t first_random;
    bool state_was_zero, state_was_aligned, shared_was_zero;
    int processors_seen; /* in run */
} seen[THREADS_MOST];

static void note(event_kind kind)
{
    unsigned position = atomic_fetch_add_explicit(&history.length, 1, memory_order_relaxed);
    if (position < LOG_SIZE) {
        history.events[position] = (event){kind, omp_get_thread_num()};
    }
}

static unsigned count(event_kind kind)
{
    unsigned found = 0;
    for (unsigned i = 0; i < history.length; i++) {
        found += history.events[i].kind == kind;
    }
    return found;
}

static unsigned first(event_kind kind)
{
    for (unsigned i = 0; i < history.length; i++) {
        if (history.events[i].kind == kind) {
            return i;
        }
    }
    return LOG_SIZE;
}

static unsigned last(event_kind kind)
{
    unsigned found = 0;
    for (unsigned i = 0; i < history.length; i++) {
        found = history.events[i].kind == kind ? i : found;
    }
    return found;
}

/* ---- The fakes ---- */

/* Leaves freed memory that is not zero for whoever allocates next on this thread. */
static void soil_memory(void)
{
    enum { BLOCKS = 32, SIZE = 1500 };
    unsigned char *blocks[BLOCKS];
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(SIZE);
        ck_assert_ptr_nonnull(blocks[i]);
        memset(blocks[i], 0xff, SIZE);
        rcl_escape(blocks[i]);
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
}

static void fake_attach(void)
{
    note(ATTACH);
    soil_memory();
}

static void fake_detach(void)
{
    note(DETACH);
}

static void fake_quiesce(void)
{
    note(QUIESCE);
}

static void fake_mark(void)
{
    note(MARK);
}

static bool all_zero(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (((const unsigned char *)bytes)[i] != 0) {
            return false;
        }
    }
    return true;
}

static bool fake_shared_setup(rcl_team *team)
{
    note(SHARED_SETUP);
    seen[0].shared_was_zero = all_zero(team->shared, SHARED_BYTES);
    return !script.shared_fails;
}

static void fake_shared_teardown(rcl_team *team)
{
    (void)team;
    note(SHARED_TEARDOWN);
}

static bool fake_thread_setup(rcl_thread *thread)
{
    note(THREAD_SETUP);
    seen[thread->index].first_random = thread->random;
    seen[thread->index].state_was_zero = all_zero(thread->state, STATE_BYTES);
    seen[thread->index].state_was_aligned = (uintptr_t)thread->state % 128 == 0;
    memset(thread->state, 0xff, STATE_BYTES);
    return script.thread_fails != (int)thread->index;
}

static void fake_thread_teardown(rcl_thread *thread)
{
    (void)thread;
    note(THREAD_TEARDOWN);
}

static int processors_allowed(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

static void wait_for_stop(const rcl_team *team)
{
    while (!atomic_load_explicit(&team->stop, memory_order_relaxed)) {
        sched_yield();
    }
}

/* M1, M2 RELAXED: only that the other's run has begun is told, and nothing is read behind it. */
static void say_here(void)
{
    atomic_store_explicit(&script.other_is_there, true, memory_order_relaxed);
}

static void wait_for_other(void)
{
    while (!atomic_load_explicit(&script.other_is_there, memory_order_relaxed)) {
        sched_yield();
    }
}

static uint64_t fake_run(rcl_thread *thread, uint64_t operations)
{
    note(RUN);
    unsigned index = thread->index;
    unsigned call = ++seen[index].calls;
    seen[index].operations += operations;
    seen[index].most = operations > seen[index].most ? operations : seen[index].most;
    seen[index].processors_seen = processors_allowed();
    if (script.refusing_thread == (int)index && call == script.refusing_call) {
        if (script.other_waits_for_stop) {
            wait_for_other();
        }
        return operations - 1;
    }
    if (script.other_waits_for_stop && call == script.refusing_call) {
        say_here();
        wait_for_stop(thread->team);
        return 0;
    }
    if (script.second_waits && index == 1 && call == 3) {
        say_here();
        wait_for_stop(thread->team);
    }
    if (script.second_waits && index == 0 && call == 2) {
        wait_for_other();
    }
    return operations;
}

static uint64_t fake_run_timed(rcl_thread *thread, uint64_t operations, uint64_t *elapsed_ns)
{
    note(RUN);
    seen[thread->index].calls++;
    *elapsed_ns = operations * script.elapsed_each_ns[thread->index];
    return operations;
}

static const rcl_variant variant = {.name = "plain", .parameter = 5};

static rcl_workload fake_workload(void)
{
    return (rcl_workload){
        .name = "fake",
        .sharing = RCL_SHARED,
        .threads_min = 1,
        .batch = 10,
        .variants = &variant,
        .variant_count = 1,
        .shared_size = SHARED_BYTES,
        .thread_size = STATE_BYTES,
        .shared_setup = fake_shared_setup,
        .thread_setup = fake_thread_setup,
        .run = fake_run,
        .thread_teardown = fake_thread_teardown,
        .shared_teardown = fake_shared_teardown,
    };
}

static const rcl_impl fake_impl = {
    .name = "fake_impl",
    .caps = 0,
    .thread_attach = fake_attach,
    .thread_detach = fake_detach,
    .quiesce = fake_quiesce,
    .mark = fake_mark,
};

static rcl_run fake_run_of(const rcl_workload *workload, unsigned threads, uint64_t operations)
{
    memset(&seen, 0, sizeof seen);
    memset(&history, 0, sizeof history);
    memset(&script, 0, sizeof script);
    script.thread_fails = -1;
    script.refusing_thread = -1;
    return (rcl_run){
        .impl = &fake_impl,
        .workload = workload,
        .variant = &variant,
        .threads = threads,
        .sharing = RCL_SHARED,
        .allocator = RCL_ALLOCATOR_LIBC,
        .seed = 1,
        .operations = operations,
    };
}

static void check_runs(const rcl_run *run, rcl_window *window)
{
    char error[256] = "";
    ck_assert_msg(rcl_team_run(run, window, error, sizeof error), "%s", error);
    ck_assert_str_eq(error, "");
}

static void check_fails(const rcl_run *run, const char *reason)
{
    char error[256] = "";
    rcl_window window;
    ck_assert(!rcl_team_run(run, &window, error, sizeof error));
    ck_assert_msg(strstr(error, reason) != NULL, "expected '%s' in the error, got: %s", reason,
                  error);
    ck_assert_msg(strstr(error, "fake_impl fake/plain") != NULL,
                  "expected the run's name in the error, got: %s", error);
}

/* ---- Order of events ---- */

START_TEST(events_come_in_order)
{
    const unsigned threads = (unsigned)_i;
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, threads, 35);
    rcl_window window;
    check_runs(&run, &window);

    ck_assert_uint_eq(count(ATTACH), threads);
    ck_assert_uint_eq(count(DETACH), threads);
    ck_assert_uint_eq(count(SHARED_SETUP), 1);
    ck_assert_uint_eq(count(SHARED_TEARDOWN), 1);
    ck_assert_uint_eq(count(THREAD_SETUP), threads);
    ck_assert_uint_eq(count(THREAD_TEARDOWN), threads);
    ck_assert_uint_eq(count(MARK), threads);

    ck_assert_uint_eq(first(ATTACH), 0);
    ck_assert_uint_eq(first(SHARED_SETUP), 1); /* nobody else is attached yet */
    ck_assert_uint_lt(first(SHARED_SETUP), first(THREAD_SETUP));
    ck_assert_uint_lt(last(ATTACH), first(RUN));
    ck_assert_uint_lt(last(THREAD_SETUP), first(MARK));
    ck_assert_uint_lt(first(MARK), first(RUN));
    ck_assert_uint_lt(last(RUN), first(THREAD_TEARDOWN));
    ck_assert_uint_lt(last(THREAD_TEARDOWN), first(SHARED_TEARDOWN));
    ck_assert_uint_lt(first(SHARED_TEARDOWN), last(DETACH));
    ck_assert_uint_eq(last(DETACH), history.length - 1);
    ck_assert_int_eq(history.events[last(DETACH)].thread, 0);
    ck_assert_int_eq(history.events[first(SHARED_SETUP)].thread, 0);
    ck_assert_int_eq(history.events[first(SHARED_TEARDOWN)].thread, 0);
}
END_TEST

START_TEST(every_batch_is_followed_by_quiesce)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 1, 35);
    rcl_window window;
    check_runs(&run, &window);
    static const event_kind expected[] = {
        ATTACH,
        SHARED_SETUP,
        THREAD_SETUP,
        MARK,
        RUN,
        QUIESCE, /* warm-up */
        RUN,
        QUIESCE,
        RUN,
        QUIESCE,
        RUN,
        QUIESCE,
        RUN,
        QUIESCE,
        THREAD_TEARDOWN,
        QUIESCE,
        SHARED_TEARDOWN,
        QUIESCE,
        DETACH,
    };
    ck_assert_uint_eq(history.length, sizeof expected / sizeof expected[0]);
    for (unsigned i = 0; i < history.length; i++) {
        ck_assert_msg(history.events[i].kind == expected[i], "event %u: expected %d, got %d", i,
                      (int)expected[i], (int)history.events[i].kind);
    }
}
END_TEST

/* ---- What is counted ---- */

START_TEST(one_thread_counts_every_operation)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 1, 35);
    rcl_window window;
    check_runs(&run, &window);
    ck_assert_uint_eq(window.operations, 35);
    ck_assert_uint_eq(seen[0].operations, 10 + 35); /* the warm-up's batch is not counted */
    ck_assert_uint_eq(seen[0].calls, 1 + 4);
    ck_assert_uint_eq(seen[0].most, 10);
    ck_assert(window.elapsed_ns > 0);
    ck_assert(window.ns_per_operation > 0);
    ck_assert(window.utilisation > 0 && window.utilisation <= 1.0);
}
END_TEST

START_TEST(a_batch_is_4096_unless_said)
{
    rcl_workload workload = fake_workload();
    workload.batch = 0;
    rcl_run run = fake_run_of(&workload, 1, 10000);
    rcl_window window;
    check_runs(&run, &window);
    ck_assert_uint_eq(window.operations, 10000);
    ck_assert_uint_eq(seen[0].most, 4096);
}
END_TEST

START_TEST(fewer_operations_than_a_batch_are_done)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 1, 3);
    rcl_window window;
    check_runs(&run, &window);
    ck_assert_uint_eq(window.operations, 3);
    ck_assert_uint_eq(seen[0].operations, 3 + 3);
}
END_TEST

/* Thread 1 has begun its second batch when thread 0 finishes: the first counts, the second does not,
 * and there is no third. */
START_TEST(a_batch_that_ran_in_part_alone_does_not_count)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 2, 10);
    run.operations = 10;
    script.second_waits = true;
    rcl_workload long_workload = workload;
    long_workload.batch = 4;
    run.workload = &long_workload;
    rcl_window window;
    check_runs(&run, &window);
    ck_assert_uint_eq(seen[0].operations, 4 + 10);
    ck_assert_uint_eq(seen[1].operations, 4 + 4 + 4);
    ck_assert_uint_eq(window.operations, 10 + 4);
}
END_TEST

START_TEST(the_rate_is_summed_over_threads)
{
    rcl_workload workload = fake_workload();
    workload.run = NULL;
    workload.run_timed = fake_run_timed;
    rcl_run run = fake_run_of(&workload, 2, 100);
    script.elapsed_each_ns[0] = 2;
    script.elapsed_each_ns[1] = 4;
    rcl_window window;
    check_runs(&run, &window);
    ck_assert_uint_eq(window.operations, 200);
    ck_assert_double_eq_tol(window.ns_per_operation, 2.0 / (1.0 / 2.0 + 1.0 / 4.0), 1e-9);
    ck_assert_double_eq_tol(window.elapsed_ns, 400.0, 1e-9);
    ck_assert_uint_eq(seen[0].calls, 2); /* a warm-up, and the window in one call */
    ck_assert_uint_eq(seen[1].calls, 2);
}
END_TEST

/* ---- What a thread gets ---- */

START_TEST(state_is_zeroed_and_on_lines_of_its_own)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 3, 10);
    rcl_window window;
    check_runs(&run, &window);
    ck_assert(seen[0].shared_was_zero);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(seen[i].state_was_zero);
        ck_assert(seen[i].state_was_aligned);
    }
}
END_TEST

START_TEST(random_numbers_follow_the_seed)
{
    rcl_workload workload = fake_workload();
    rcl_window window;
    uint64_t before[3];
    rcl_run run = fake_run_of(&workload, 3, 10);
    run.seed = 0;
    check_runs(&run, &window);
    for (unsigned i = 0; i < 3; i++) {
        before[i] = seen[i].first_random;
        ck_assert_uint_ne(before[i], 0);
    }
    ck_assert_uint_ne(before[0], before[1]);
    ck_assert_uint_ne(before[1], before[2]);
    check_runs(&run, &window);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(seen[i].first_random, before[i]);
    }
    run.seed = 1;
    check_runs(&run, &window);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_ne(seen[i].first_random, before[i]);
    }
}
END_TEST

START_TEST(threads_are_bound_and_released_again)
{
    const int threads = 2;
    int before[2] = {0, 0};
    int after[2] = {0, 0};
    cpu_set_t main_before;
    cpu_set_t main_after;
    CPU_ZERO(&main_before);
    CPU_ZERO(&main_after);
    sched_getaffinity(0, sizeof main_before, &main_before);
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, (unsigned)threads, 10);
    rcl_window window;
    /* The first run is also the one that makes the OpenMP threads: they must not inherit a binding. */
    check_runs(&run, &window);
    sched_getaffinity(0, sizeof main_after, &main_after);
    ck_assert(CPU_EQUAL(&main_before, &main_after));
#pragma omp parallel num_threads(threads)
    {
        before[omp_get_thread_num()] = processors_allowed();
    }
    ck_assert_int_eq(before[0], CPU_COUNT(&main_before));
    ck_assert_int_eq(before[1], CPU_COUNT(&main_before));
    check_runs(&run, &window);
    ck_assert(window.pinned);
    ck_assert_int_eq(seen[0].processors_seen, 1);
    ck_assert_int_eq(seen[1].processors_seen, 1);
#pragma omp parallel num_threads(threads)
    {
        after[omp_get_thread_num()] = processors_allowed();
    }
    ck_assert_int_eq(after[0], before[0]);
    ck_assert_int_eq(after[1], before[1]);
}
END_TEST

START_TEST(more_threads_than_processors_run)
{
    unsigned threads = rcl_processors() + 1;
    if (threads > THREADS_MOST) {
        printf("skipped: more_threads_than_processors_run: this test has room for %d threads\n",
               THREADS_MOST);
        return;
    }
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, threads, 10);
    rcl_window window;
    check_runs(&run, &window);
    ck_assert_uint_ge(window.operations, 10);
    ck_assert_uint_eq(count(THREAD_SETUP), threads);
}
END_TEST

START_TEST(the_allocator_is_selected)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 1, 10);
    rcl_window window;
    run.allocator = RCL_ALLOCATOR_JEMALLOC;
    check_runs(&run, &window);
    ck_assert_int_eq((int)rcl_memory_used(), (int)RCL_ALLOCATOR_JEMALLOC);
    run.allocator = RCL_ALLOCATOR_LIBC;
    check_runs(&run, &window);
    ck_assert_int_eq((int)rcl_memory_used(), (int)RCL_ALLOCATOR_LIBC);
    rcl_memory_count(true);
    check_runs(&run, &window); /* the same one again: counting goes on */
    ck_assert_int_eq((int)rcl_memory_current_mode, (int)RCL_MEMORY_COUNTED);
}
END_TEST

/* ---- Failures ---- */

static void check_all_torn_down(unsigned threads)
{
    ck_assert_uint_eq(count(ATTACH), threads);
    ck_assert_uint_eq(count(DETACH), threads);
    ck_assert_uint_eq(count(SHARED_SETUP), 1);
    ck_assert_uint_eq(count(SHARED_TEARDOWN), 1);
    ck_assert_uint_eq(count(THREAD_TEARDOWN), count(THREAD_SETUP));
    ck_assert_uint_eq(last(DETACH), history.length - 1);
}

START_TEST(a_failed_shared_setup_is_taken_down)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 2, 10);
    script.shared_fails = true;
    check_fails(&run, "memory refused while setting up what the threads share");
    check_all_torn_down(2);
    ck_assert_uint_eq(count(THREAD_SETUP), 0);
    ck_assert_uint_eq(count(RUN), 0);
}
END_TEST

START_TEST(a_failed_thread_setup_is_taken_down)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 3, 10);
    script.thread_fails = _i;
    check_fails(&run, "memory refused while setting up a thread");
    check_all_torn_down(3);
    ck_assert_uint_eq(count(THREAD_SETUP), 3);
    ck_assert_uint_eq(count(RUN), 0);
}
END_TEST

/* Call 1 is the warm-up, call 2 the window's first batch; the partner leaves only by stop. */
START_TEST(memory_refused_in_a_run_ends_it_for_all)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 2, 1000);
    script.refusing_thread = _i % 2;
    script.refusing_call = (unsigned)_i / 2 + 1;
    script.other_waits_for_stop = true;
    check_fails(&run, "memory refused in the middle of a run");
    check_all_torn_down(2);
    ck_assert_uint_eq(count(RUN), 2 * script.refusing_call);
}
END_TEST

START_TEST(no_threads_or_no_operations_are_refused)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 0, 10);
    check_fails(&run, "expected 1 or more threads and operations, got 0 and 10");
    run = fake_run_of(&workload, 1, 0);
    check_fails(&run, "expected 1 or more threads and operations, got 1 and 0");
    ck_assert_uint_eq(history.length, 0);
}
END_TEST

START_TEST(a_team_that_openmp_cuts_short_is_refused)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 2, 10);
    omp_set_max_active_levels(0); /* as OMP_THREAD_LIMIT=1 */
    check_fails(&run, "OpenMP gave fewer threads");
    ck_assert_uint_eq(history.length, 0);
}
END_TEST

START_TEST(a_short_error_buffer_is_enough)
{
    rcl_workload workload = fake_workload();
    rcl_run run = fake_run_of(&workload, 0, 10);
    rcl_window window;
    char error[8];
    memset(error, 'x', sizeof error);
    ck_assert(!rcl_team_run(&run, &window, error, sizeof error));
    ck_assert_str_eq(error, "fake_im");
}
END_TEST

/* ---- Processors, and the floor ---- */

START_TEST(processors_are_those_allowed)
{
    rcl_team_start();
    rcl_team_start();
    ck_assert_int_eq((int)rcl_processors(), processors_allowed());
}
END_TEST

START_TEST(floor_rows_do_what_they_say)
{
    static const char *const expected[] = {
        "retain_release/locked_pair", "retain_release/plain_pair", "new_release/allocate_free"};
    unsigned found = 0;
    for (unsigned w = 0; w < rcl_floor.workload_count; w++) {
        const rcl_workload *workload = rcl_floor.workloads[w];
        for (unsigned v = 0; v < workload->variant_count; v++) {
            char name[64];
            snprintf(name, sizeof name, "%s/%s", workload->name, workload->variants[v].name);
            ck_assert_uint_lt(found, 3);
            ck_assert_str_eq(name, expected[found++]);
            for (unsigned allocator = 0; allocator < 2; allocator++) {
                rcl_run run = {.impl = &rcl_floor,
                               .workload = workload,
                               .variant = &workload->variants[v],
                               .threads = 1,
                               .sharing = RCL_PRIVATE,
                               .allocator = (rcl_allocator)allocator,
                               .operations = 10000};
                rcl_window window;
                check_runs(&run, &window);
                ck_assert_uint_eq(window.operations, 10000);
            }
        }
    }
    ck_assert_uint_eq(found, 3);
}
END_TEST

/* An add without its subtract would be half the limit. */
START_TEST(floor_pairs_are_pairs)
{
    const rcl_workload *workload = rcl_floor.workloads[0];
    for (unsigned v = 0; v < workload->variant_count; v++) {
        for (unsigned sharing = RCL_PRIVATE; sharing <= RCL_SHARED; sharing++) {
            uint64_t shared = 41;
            uint64_t own = 42;
            rcl_team team = {.threads = 1,
                             .sharing = (rcl_sharing)sharing,
                             .variant = &workload->variants[v],
                             .shared = &shared};
            rcl_thread thread = {.team = &team, .state = &own};
            ck_assert_uint_eq(workload->run(&thread, 1000), 1000);
            ck_assert_uint_eq(shared, 41);
            ck_assert_uint_eq(own, 42);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("team");
    TCase *order = tcase_create("order of events");
    tcase_add_loop_test(order, events_come_in_order, 1, 5);
    tcase_add_test(order, every_batch_is_followed_by_quiesce);
    suite_add_tcase(suite, order);

    TCase *counted = tcase_create("what is counted");
    tcase_add_test(counted, one_thread_counts_every_operation);
    tcase_add_test(counted, a_batch_is_4096_unless_said);
    tcase_add_test(counted, fewer_operations_than_a_batch_are_done);
    tcase_add_test(counted, a_batch_that_ran_in_part_alone_does_not_count);
    tcase_add_test(counted, the_rate_is_summed_over_threads);
    suite_add_tcase(suite, counted);

    TCase *given = tcase_create("what a thread gets");
    tcase_add_test(given, state_is_zeroed_and_on_lines_of_its_own);
    tcase_add_test(given, random_numbers_follow_the_seed);
    tcase_add_test(given, threads_are_bound_and_released_again);
    tcase_add_test(given, more_threads_than_processors_run);
    tcase_add_test(given, the_allocator_is_selected);
    suite_add_tcase(suite, given);

    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_failed_shared_setup_is_taken_down);
    tcase_add_loop_test(failures, a_failed_thread_setup_is_taken_down, 0, 3);
    tcase_add_loop_test(failures, memory_refused_in_a_run_ends_it_for_all, 0, 4);
    tcase_add_test(failures, no_threads_or_no_operations_are_refused);
    tcase_add_test(failures, a_team_that_openmp_cuts_short_is_refused);
    tcase_add_test(failures, a_short_error_buffer_is_enough);
    suite_add_tcase(suite, failures);

    TCase *floor = tcase_create("processors and floor");
    tcase_add_test(floor, processors_are_those_allowed);
    tcase_add_test(floor, floor_rows_do_what_they_say);
    tcase_add_test(floor, floor_pairs_are_pairs);
    suite_add_tcase(suite, floor);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
