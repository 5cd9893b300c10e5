/* delay_test: the delays of the strategy that is compiled in, by a clock that the test turns. A look at
 * it takes a nanosecond. unit/delay_test.c has a strategy that is late. */
#include "memory.h"
#include "contract.h"
#include "workload.h"

#include "chain_delay.h"
#include "fanout_delay.h"
#include "single_delay.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { STRUCTURES = 64, GAP_NS = 100000, STALLED = 20 };

/* Everything an immediate strategy does takes a few looks at the clock. */
static const double at_once_ns = 5;

static uint64_t turned_ns;
static unsigned made; /* by make_and_stall */

static uint64_t turned_clock(void)
{
    return ++turned_ns;
}

/* The thread comes two gaps and a half late to this structure. */
static rc_strong make_and_stall(void)
{
    turned_ns += made++ == STALLED ? 7 * GAP_NS / 2 : 0;
    return single_delay_make();
}

static uint64_t stalled_run(rcl_thread *thread, uint64_t operations, uint64_t *elapsed_ns)
{
    return delay_work_run(thread, operations, elapsed_ns, make_and_stall);
}

typedef struct delay_fixture {
    uint64_t scheduled_ns[STRUCTURES];
    rcl_memory_group groups[STRUCTURES];
    double delays_ns[STRUCTURES];
} delay_fixture;

static delay_fixture run_delays(uint64_t (*run_timed)(rcl_thread *, uint64_t, uint64_t *))
{
    delay_fixture fixture = {0};
    for (unsigned i = 0; i < STRUCTURES; i++) {
        fixture.scheduled_ns[i] = (uint64_t)GAP_NS * i;
    }
    rcl_delay_run run = {
        .clock = turned_clock, .scheduled_ns = fixture.scheduled_ns, .groups = fixture.groups};
    rcl_team team = {.threads = 1, .sharing = RCL_PRIVATE, .delay = &run};
    rcl_thread thread = {.team = &team};
    uint64_t elapsed_ns = 0;
    rcl_memory_follow(turned_clock);
    rc_thread_attach();
    ck_assert_uint_eq(run_timed(&thread, STRUCTURES, &elapsed_ns), STRUCTURES);
    rc_thread_detach();
    rcl_memory_follow(NULL);
    for (unsigned i = 0; i < STRUCTURES; i++) {
        ck_assert_uint_eq(fixture.groups[i].live_blocks, 0); /* every block was seen to go */
        fixture.delays_ns[i] = (double)fixture.groups[i].freed_at - (double)run.start_ns -
                               (double)fixture.scheduled_ns[i];
    }
    return fixture;
}

/* True, and says so, for a strategy that may be late. */
static bool skipped(const char *test)
{
#ifdef RCL_IMPL_IS_NULL
    (void)test;
    return false;
#else
    if ((RC_IMPL_CAPS & RC_CAP_IMMEDIATE) != 0) {
        return false;
    }
    printf("skip - %s: the strategy does not promise to free at once\n", test);
    return true;
#endif
}

/* The whole structure, however many blocks it has. */
START_TEST(memory_is_back_when_the_last_release_returns)
{
    static uint64_t (*const runs[])(rcl_thread *, uint64_t, uint64_t *) = {
        chain_delay_run, fanout_delay_run, single_delay_run};
    delay_fixture fixture = run_delays(runs[_i]);
    if (skipped("memory_is_back_when_the_last_release_returns")) {
        return;
    }
    for (unsigned i = 0; i < STRUCTURES; i++) {
        ck_assert_double_ge(fixture.delays_ns[i], 0);
        ck_assert_double_le(fixture.delays_ns[i], at_once_ns);
    }
}
END_TEST

/* Coordinated omission: those that wait behind a pause are late too, each by what is left of it. */
START_TEST(a_pause_is_charged_to_all_that_wait_behind_it)
{
    delay_fixture fixture = run_delays(stalled_run);
    if (skipped("a_pause_is_charged_to_all_that_wait_behind_it")) {
        return;
    }
    for (unsigned i = 0; i < STRUCTURES; i++) {
        double late_ns = i >= STALLED && i < STALLED + 3 ? GAP_NS * (STALLED + 2.5 - i) : 0;
        ck_assert_double_ge(fixture.delays_ns[i], late_ns);
        ck_assert_double_le(fixture.delays_ns[i], late_ns + 40);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("delay");
    TCase *delay = tcase_create("delay");
    tcase_add_loop_test(delay, memory_is_back_when_the_last_release_returns, 0, 3);
    tcase_add_test(delay, a_pause_is_charged_to_all_that_wait_behind_it);
    suite_add_tcase(suite, delay);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
