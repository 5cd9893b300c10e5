/* delay_test: how late memory comes back, by a clock that the test turns.
 *
 * The strategy is a control that puts every release off until the thread quiesces: late on purpose, and
 * by a known time. per_impl/delay_test.c has the counterpart, strategies that are not. A look at the clock
 * takes a nanosecond, so nothing here depends on the machine.
 */
#define RC_IMPL_HEADER "../tests/controls/deferred/rc.h"
#include "memory.h"
#include "contract.h"
#include "workload.h"

#include "chain_delay.h"
#include "fanout_delay.h"
#include "single_delay.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

enum { STRUCTURES = 64, GAP_NS = 100000 };

static uint64_t turned_ns;

static uint64_t turned_clock(void)
{
    return ++turned_ns;
}

/* ---- A run ---- */

typedef struct delay_fixture {
    uint64_t scheduled_ns[STRUCTURES];
    rcl_memory_group groups[STRUCTURES];
    double room[STRUCTURES];
    rcl_delay_run run;
    rcl_delay delay;
} delay_fixture;

static delay_fixture run_delayed(const rcl_workload *workload, uint64_t gap_ns)
{
    delay_fixture fixture = {0};
    for (unsigned i = 0; i < STRUCTURES; i++) {
        fixture.scheduled_ns[i] = gap_ns * i;
    }
    fixture.run = (rcl_delay_run){
        .clock = turned_clock, .scheduled_ns = fixture.scheduled_ns, .groups = fixture.groups};
    rcl_team team = {.threads = 1,
                     .sharing = RCL_PRIVATE,
                     .variant = &workload->variants[0],
                     .delay = &fixture.run};
    rcl_thread thread = {.team = &team};
    uint64_t elapsed_ns = 0;
    rcl_memory_follow(turned_clock);
    rc_thread_attach();
    ck_assert_uint_eq(workload->run_timed(&thread, STRUCTURES, &elapsed_ns), STRUCTURES);
    rc_thread_detach();
    rcl_memory_follow(NULL);
    ck_assert_uint_eq(elapsed_ns, fixture.run.elapsed_ns);
    rcl_delay_summarise(&fixture.run, STRUCTURES, fixture.room, &fixture.delay);
    return fixture;
}

static double delay_of(const delay_fixture *fixture, unsigned i)
{
    return (double)fixture->groups[i].freed_at - (double)fixture->run.start_ns -
           (double)fixture->scheduled_ns[i];
}

static const rcl_workload *const workloads[] = {&chain_delay_workload, &fanout_delay_workload,
                                                &single_delay_workload};

/* What is put off until the 16th release of each batch comes back then, and not when it was released. */
START_TEST(a_late_reclaimer_is_seen_late_by_what_it_waited)
{
    delay_fixture fixture = run_delayed(workloads[_i], GAP_NS);
    ck_assert_uint_eq(fixture.delay.kept, 0);
    for (unsigned i = 0; i < STRUCTURES; i++) {
        double waited_ns = (double)GAP_NS * (15 - i % 16);
        ck_assert_double_ge(delay_of(&fixture, i), waited_ns);
        ck_assert_double_le(delay_of(&fixture, i), waited_ns + 200);
    }
    ck_assert_double_ge(fixture.delay.max_ns, 15.0 * GAP_NS);
    ck_assert_double_lt(fixture.delay.busy, 0.05);
}
END_TEST

/* Nothing is waited for when everything is due at once. */
START_TEST(a_thread_that_never_waits_is_busy_all_the_time)
{
    delay_fixture fixture = run_delayed(workloads[_i], 0);
    ck_assert_double_eq(fixture.delay.busy, 1);
}
END_TEST

/* ---- Percentiles ---- */

/* Delays of 1 to 1001 ns in a mixed order (8 and 1001 have no common factor): each percentile is one of
 * them. */
START_TEST(percentiles_of_known_delays)
{
    enum { COUNT = 1001, START = 5000 };
    static uint64_t scheduled_ns[COUNT];
    static rcl_memory_group groups[COUNT];
    static double room[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        scheduled_ns[i] = 10 * i;
        groups[i].freed_at = START + 10 * i + 1 + i * 8 % COUNT;
    }
    rcl_delay_run run = {.scheduled_ns = scheduled_ns,
                         .groups = groups,
                         .start_ns = START,
                         .waited_ns = 25,
                         .elapsed_ns = 100};
    rcl_delay delay;
    rcl_delay_summarise(&run, COUNT, room, &delay);
    ck_assert_uint_eq(delay.releases, COUNT);
    ck_assert_double_eq_tol(delay.p50_ns, 501, 1e-6);
    ck_assert_double_eq_tol(delay.p99_ns, 991, 1e-6);
    ck_assert_double_eq_tol(delay.p999_ns, 1000, 1e-6);
    ck_assert_double_eq(delay.max_ns, 1001);
    ck_assert_double_eq(delay.busy, 0.75);
    ck_assert_uint_eq(delay.kept, 0);

    groups[3].live_blocks = 1;
    rcl_delay_summarise(&run, COUNT, room, &delay);
    ck_assert_uint_eq(delay.kept, 1);
    ck_assert_double_eq(delay.p50_ns, 0);

    groups[3].live_blocks = 0;
    groups[3].freed_at = 0;
    rcl_delay_summarise(&run, COUNT, room, &delay);
    ck_assert_uint_eq(delay.kept, 1);
}
END_TEST

/* ---- The schedule ---- */

START_TEST(a_schedule_has_its_rate_and_comes_from_its_seed)
{
    enum { COUNT = 20000 };
    static uint64_t first[COUNT];
    static uint64_t again[COUNT];
    static uint64_t other[COUNT];
    ck_assert(rcl_delay_schedule(7, 50000, COUNT, first));
    ck_assert(rcl_delay_schedule(7, 50000, COUNT, again));
    ck_assert(rcl_delay_schedule(8, 50000, COUNT, other));
    ck_assert_mem_eq(first, again, sizeof first);
    ck_assert_mem_ne(first, other, sizeof first);
    double squares = 0;
    for (unsigned i = 1; i < COUNT; i++) {
        ck_assert_uint_ge(first[i], first[i - 1]);
        squares += pow((double)(first[i] - first[i - 1]), 2);
    }
    const double mean_ns = (double)first[COUNT - 1] / COUNT;
    ck_assert_double_eq_tol(mean_ns, 20000, 600); /* 4 standard errors */
    /* Exponential: the gaps' mean square is twice the square of their mean. */
    ck_assert_double_eq_tol(squares / COUNT / mean_ns / mean_ns, 2, 0.2);
}
END_TEST

START_TEST(a_rate_is_the_load_over_the_time_of_one_rounded_to_two_digits)
{
    ck_assert_double_eq_tol(rcl_delay_rate(10000), RCL_DELAY_LOAD * 1e5, 1e-6);
    ck_assert_double_eq_tol(rcl_delay_rate(10297), 29000, 1e-6);
    ck_assert_double_eq_tol(rcl_delay_rate(49.3), 6.1e6, 1e-3);
}
END_TEST

/* ---- What launches say together ---- */

static const rcl_impl fake_impl = {.name = "fake", .counts = true};

static rcl_cell_delay launch_with(unsigned launch, double p50_ns, double busy, bool flagged)
{
    return (rcl_cell_delay){.launch = launch,
                            .flagged = flagged,
                            .delay = {.releases = 1000,
                                      .busy = busy,
                                      .p50_ns = p50_ns,
                                      .p99_ns = 2 * p50_ns,
                                      .p999_ns = 3 * p50_ns,
                                      .max_ns = 4 * p50_ns}};
}

static rcl_cell cell_with(const rcl_cell_delay *delays, unsigned count)
{
    rcl_cell cell = {.impl = &fake_impl,
                     .workload = &chain_delay_workload,
                     .variant = &chain_delay_workload.variants[0],
                     .conformance = "pass",
                     .rate_per_s = 39000};
    for (unsigned i = 0; i < count; i++) {
        ck_assert(rcl_cell_add_delay(&cell, &delays[i]));
    }
    return cell;
}

/* The row that a cell becomes, without the header. The caller frees it. */
static char *row_of(rcl_cell *cell)
{
    rcl_plan plan = {.cells = cell, .count = 1, .lines = 1};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    ck_assert(rcl_record_delay(file, &plan));
    fclose(file);
    const char *header = "schema,impl,workload,variant,allocator,launches,releases,rate_per_s,"
                         "p50_ns,p99_ns,p999_ns,max_ns,flagged\n";
    ck_assert(strncmp(text, header, strlen(header)) == 0);
    char *row = strdup(text + strlen(header));
    free(text);
    free(cell->delays);
    return row;
}

START_TEST(a_row_has_the_medians_of_launches_and_the_greatest_of_all)
{
    rcl_cell_delay delays[] = {launch_with(0, 100, 0.4, false), launch_with(1, 300, 0.4, false),
                               launch_with(2, 110, 0.4, false)};
    rcl_cell cell = cell_with(delays, 3);
    char *row = row_of(&cell);
    ck_assert_str_eq(row, "1,fake,chain_delay,n512,libc,3,3000,39000,110.0,220.0,330.0,1200.0,0\n");
    free(row);
}
END_TEST

/* Tails are far from normal: what is said of few launches is what they were. */
START_TEST(few_launches_have_their_range_as_interval)
{
    rcl_cell_delay delays[] = {launch_with(0, 100, 0.4, false), launch_with(1, 300, 0.4, false),
                               launch_with(2, 110, 0.4, false)};
    rcl_delay_summary summary;
    rcl_cell cell = cell_with(delays, 3);
    ck_assert(rcl_cell_delay_summary(&cell, &summary));
    ck_assert_double_eq(summary.p50.low, 100);
    ck_assert_double_eq(summary.p50.high, 300);
    free(cell.delays);
}
END_TEST

START_TEST(flagged_launches_count_only_where_there_is_no_other)
{
    rcl_cell_delay delays[] = {launch_with(0, 100, 0.4, false), launch_with(1, 900, 0.4, true),
                               launch_with(2, 800, 0.4, true)};
    rcl_cell cell = cell_with(delays, 3);
    char *row = row_of(&cell);
    ck_assert_str_eq(row, "1,fake,chain_delay,n512,libc,3,3000,39000,100.0,200.0,300.0,400.0,2\n");
    free(row);
    cell = cell_with(delays + 1, 2);
    row = row_of(&cell);
    ck_assert_str_eq(row,
                     "1,fake,chain_delay,n512,libc,2,2000,39000,850.0,1700.0,2550.0,3600.0,2\n");
    free(row);
}
END_TEST

/* Growing nonsense is not printed. */
START_TEST(who_does_not_keep_up_has_no_delays)
{
    rcl_cell_delay delays[] = {launch_with(0, 1e6, RCL_DELAY_BUSY_MAX, false),
                               launch_with(1, 1e7, 1, false), launch_with(2, 100, 0.9, false)};
    rcl_delay_summary summary;
    rcl_cell cell = cell_with(delays, 3);
    ck_assert(rcl_cell_delay_summary(&cell, &summary));
    ck_assert(!summary.known);
    ck_assert_uint_eq(summary.saturated, 2);
    char *row = row_of(&cell);
    ck_assert_str_eq(row, "1,fake,chain_delay,n512,libc,3,3000,39000,,,,,0\n");
    free(row);
    cell = cell_with(delays + 1, 2); /* one of two: the other may be believed */
    ck_assert(rcl_cell_delay_summary(&cell, &summary));
    ck_assert(summary.known);
    free(cell.delays);
}
END_TEST

START_TEST(memory_that_never_came_back_has_no_delay)
{
    rcl_cell_delay delays[] = {launch_with(0, 100, 0.4, false), launch_with(1, 0, 0.4, false)};
    delays[1].delay.kept = 1;
    rcl_cell cell = cell_with(delays, 2);
    char *row = row_of(&cell);
    ck_assert_str_eq(row, "1,fake,chain_delay,n512,libc,2,2000,39000,,,,,0\n");
    free(row);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("delay");
    TCase *delay = tcase_create("delay");
    tcase_add_loop_test(delay, a_late_reclaimer_is_seen_late_by_what_it_waited, 0, 3);
    tcase_add_loop_test(delay, a_thread_that_never_waits_is_busy_all_the_time, 0, 3);
    tcase_add_test(delay, percentiles_of_known_delays);
    tcase_add_test(delay, a_schedule_has_its_rate_and_comes_from_its_seed);
    tcase_add_test(delay, a_rate_is_the_load_over_the_time_of_one_rounded_to_two_digits);
    tcase_add_test(delay, a_row_has_the_medians_of_launches_and_the_greatest_of_all);
    tcase_add_test(delay, few_launches_have_their_range_as_interval);
    tcase_add_test(delay, flagged_launches_count_only_where_there_is_no_other);
    tcase_add_test(delay, who_does_not_keep_up_has_no_delays);
    tcase_add_test(delay, memory_that_never_came_back_has_no_delay);
    suite_add_tcase(suite, delay);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
