/* plan and record: which cells a run has, what is refused, what is flagged, what a row says. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "plan.h"
#include "record.h"
#include "table.h"

/* ---- A registry of the test's own ---- */

static uint64_t run_nothing(rcl_thread *thread, uint64_t operations)
{
    (void)thread;
    return operations;
}

static const rcl_variant plain[] = {{.name = "-"}};
static const rcl_variant two[] = {{.name = "alive"},
                                  {.name = "expired", .needs = RCL_NEEDS_COUNTING}};

static const rcl_workload both = {.name = "both",
                                  .sharing = RCL_PRIVATE | RCL_SHARED,
                                  .threads_min = 1,
                                  .allocates = true,
                                  .variants = plain,
                                  .variant_count = 1,
                                  .run = run_nothing};
static const rcl_workload weak = {.name = "weak",
                                  .needs = RC_CAP_WEAK,
                                  .sharing = RCL_PRIVATE,
                                  .threads_min = 1,
                                  .threads_max = 1,
                                  .variants = two,
                                  .variant_count = 2,
                                  .run = run_nothing};
static const rcl_workload weak_stub = {.name = "weak", .needs = RC_CAP_WEAK};
static const rcl_workload hot = {.name = "hot",
                                 .sharing = RCL_SHARED,
                                 .threads_min = 1,
                                 .setup_ms = 500,
                                 .variants = plain,
                                 .variant_count = 1,
                                 .run = run_nothing};
static const rcl_workload limit = {.name = "both",
                                   .sharing = RCL_PRIVATE,
                                   .threads_min = 1,
                                   .variants = plain,
                                   .variant_count = 1,
                                   .run = run_nothing};

static const rcl_workload *const full_table[] = {&both, &weak, &hot};
static const rcl_workload *const stub_table[] = {&both, &weak_stub, &hot};
static const rcl_workload *const floor_table[] = {&limit};

static const rcl_impl impl_null = {.name = "null",
                                   .caps = RC_CAP_THREADS | RC_CAP_WEAK,
                                   .workloads = full_table,
                                   .workload_count = 3};
static const rcl_impl impl_single = {
    .name = "single", .counts = true, .workloads = stub_table, .workload_count = 3};
static const rcl_impl impl_all = {.name = "all",
                                  .counts = true,
                                  .caps = RC_CAP_THREADS | RC_CAP_WEAK,
                                  .workloads = full_table,
                                  .workload_count = 3};
static const rcl_impl impl_floor = {
    .name = "floor", .caps = RC_CAP_THREADS, .workloads = floor_table, .workload_count = 1};

static const rcl_impl *const impls[] = {&impl_null, &impl_single, &impl_all};
static const rcl_workload_info infos[] = {
    {"both", "operations", "?"}, {"weak", "operations", "?"}, {"hot", "sharing", "?"}};
static const rcl_registry registry = {
    .impls = impls, .impl_count = 3, .floor = &impl_floor, .workloads = infos, .workload_count = 3};

static rcl_plan plan;
static char error[2048];

static void teardown(void)
{
    rcl_plan_free(&plan);
}

static bool make(rcl_selection selection)
{
    error[0] = '\0';
    return rcl_plan_make(&registry, &selection, &plan, error, sizeof error);
}

static size_t count_cells(const char *impl, const char *workload)
{
    size_t count = 0;
    for (size_t i = 0; i < plan.count; i++) {
        count += strcmp(plan.cells[i].impl->name, impl) == 0 &&
                         strcmp(plan.cells[i].workload->name, workload) == 0
                     ? 1
                     : 0;
    }
    return count;
}

/* ---- Plans ---- */

START_TEST(everything_on_two_processors)
{
    ck_assert_msg(make((rcl_selection){.processors = 2}), "%s", error);
    /* both: private with 1 and 2 threads, shared with 2, each allocator. */
    ck_assert_uint_eq(count_cells("all", "both"), 6);
    /* No RC_CAP_THREADS: private objects in two threads are fine, shared ones are not. */
    ck_assert_uint_eq(count_cells("single", "both"), 4);
    /* weak: two variants, one thread, one allocator; null cannot expire. */
    ck_assert_uint_eq(count_cells("all", "weak"), 2);
    ck_assert_uint_eq(count_cells("null", "weak"), 1);
    ck_assert_uint_eq(count_cells("single", "weak"), 0);
    /* hot: shared only, so one thread is a row too, for everybody. */
    ck_assert_uint_eq(count_cells("all", "hot"), 2);
    ck_assert_uint_eq(count_cells("single", "hot"), 1);
    /* A floor for each private line of the workload of its name. */
    ck_assert_uint_eq(count_cells("floor", "both"), 4);
}
END_TEST

START_TEST(thread_counts_are_powers_and_all)
{
    ck_assert(make((rcl_selection){.processors = 6, .workloads = "hot", .impls = "all"}));
    unsigned threads[4];
    ck_assert_uint_eq(plan.count, 4);
    for (unsigned i = 0; i < 4; i++) {
        threads[i] = plan.cells[i].threads;
    }
    ck_assert_uint_eq(threads[0], 1);
    ck_assert_uint_eq(threads[1], 2);
    ck_assert_uint_eq(threads[2], 4);
    ck_assert_uint_eq(threads[3], 6);
}
END_TEST

START_TEST(quick_is_smaller)
{
    ck_assert(make((rcl_selection){.processors = 6, .quick = true}));
    ck_assert_uint_eq(count_cells("all", "hot"), 0);  /* its setup is slow */
    ck_assert_uint_eq(count_cells("all", "both"), 3); /* 1 and 6 private, 6 shared; libc */
}
END_TEST

START_TEST(cells_of_a_line_differ_in_the_implementation_only)
{
    ck_assert(make((rcl_selection){.processors = 2}));
    for (size_t i = 1; i < plan.count; i++) {
        const rcl_cell *a = &plan.cells[i - 1];
        const rcl_cell *b = &plan.cells[i];
        bool same = strcmp(a->workload->name, b->workload->name) == 0 &&
                    strcmp(a->variant->name, b->variant->name) == 0 && a->threads == b->threads &&
                    a->sharing == b->sharing && a->allocator == b->allocator &&
                    strcmp(a->group, b->group) == 0;
        ck_assert_msg(same == (a->line == b->line), "cells %zu and %zu", i - 1, i);
        ck_assert(a->line != b->line || a->impl != b->impl);
    }
}
END_TEST

START_TEST(groups_and_lists_select)
{
    ck_assert(make((rcl_selection){.processors = 2, .workloads = "sharing", .impls = "all,null"}));
    ck_assert_uint_eq(plan.count, 4);
    ck_assert_uint_eq(count_cells("null", "hot"), 2);
}
END_TEST

/* ---- Refusals: each says what was given and what there is ---- */

typedef struct refusal {
    rcl_selection selection;
    const char *expected;
} refusal;

static const refusal refusals[] = {
    {{.processors = 2, .impls = "packed"},
     "no implementation 'packed'; there are: null, single, all"},
    {{.processors = 2, .impls = "all,"}, NULL},
    {{.processors = 2, .impls = ""}, "list of implementations is empty"},
    {{.processors = 2, .workloads = "both,nope"}, "no workload or group 'nope'; there are: both"},
    {{.processors = 2, .workloads = ""}, "list of workloads is empty"},
    {{.processors = 2, .threads = "0"}, "'0' is no number of threads"},
    {{.processors = 2, .threads = "1,x"}, "'x' is no number of threads"},
    {{.processors = 2, .threads = "-1"}, "'-1' is no number of threads"},
    {{.processors = 2, .threads = "3"}, "3 threads, but this process may use 2 processors"},
    {{.processors = 2, .allocators = "tcmalloc"}, "no allocator 'tcmalloc'; there are: libc"},
    {{.processors = 2, .impls = "single", .workloads = "weak"}, "nothing to run"},
};

START_TEST(refusals_say_what_was_wrong)
{
    const refusal *now = &refusals[_i];
    if (now->expected == NULL) {
        ck_assert_msg(make(now->selection), "%s", error); /* a trailing comma is no name */
        return;
    }
    ck_assert(!make(now->selection));
    ck_assert_msg(strstr(error, now->expected) != NULL, "%s", error);
}
END_TEST

/* ---- Rows ---- */

START_TEST(flags)
{
    ck_assert(!rcl_is_flagged(&(rcl_window){.utilisation = 0.99, .steal_percent = 1}));
    ck_assert(rcl_is_flagged(&(rcl_window){.utilisation = 0.94}));
    ck_assert(rcl_is_flagged(&(rcl_window){.utilisation = 1, .steal_percent = 6}));
}
END_TEST

/* A flagged repetition does not count where its launch has a clean one. */
START_TEST(flagged_repetitions_give_way)
{
    ck_assert(make((rcl_selection){.processors = 1, .impls = "all", .workloads = "hot"}));
    rcl_cell *cell = &plan.cells[0];
    ck_assert(rcl_cell_add(cell, 0, 10, false) && rcl_cell_add(cell, 0, 90, true) &&
              rcl_cell_add(cell, 1, 30, true));
    rcl_summary summary;
    unsigned flagged = 0;
    ck_assert(rcl_cell_summary(cell, &summary, &flagged));
    ck_assert_uint_eq(flagged, 2);
    ck_assert_uint_eq(summary.launches, 2);
    ck_assert_uint_eq(summary.repetitions, 2);
    ck_assert_double_eq(summary.median, 20);
}
END_TEST

static void read_all(FILE *file, char *text, size_t size)
{
    rewind(file);
    size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    fclose(file);
}

START_TEST(summary_rows)
{
    ck_assert(make((rcl_selection){.processors = 1, .impls = "null,all", .workloads = "hot"}));
    ck_assert_uint_eq(plan.count, 2);
    ck_assert(rcl_cell_add(&plan.cells[0], 0, 1, false) &&
              rcl_cell_add(&plan.cells[1], 0, 5.5, false));
    FILE *file = tmpfile();
    char text[4096];
    ck_assert(rcl_record_summary(file, &plan));
    read_all(file, text, sizeof text);
    ck_assert_ptr_eq(strstr(text, "schema,impl,workload,variant,threads,sharing,allocator,launches,"
                                  "median_ns,mad_ns,ci95_low_ns,ci95_high_ns,min_ns,flagged,"
                                  "conformance,"),
                     text);
    ck_assert_ptr_nonnull(strstr(text, "\n1,null,hot,-,1,shared,libc,1,1.0000,0.0000,1.0000,1.0000,"
                                       "1.0000,0,exempt,sharing,1,no,no,\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n1,all,hot,-,1,shared,libc,1,5.5000,0.0000,5.5000,5.5000,"
                                       "5.5000,0,untested,sharing,1,no,yes,4.5000\n"));
}
END_TEST

/* The best ranked is marked; null, though faster, is not. */
START_TEST(table_marks_the_best)
{
    ck_assert(make((rcl_selection){.processors = 1, .workloads = "hot"}));
    ck_assert_uint_eq(plan.count, 3);
    ck_assert(rcl_cell_add(&plan.cells[0], 0, 1, false) &&
              rcl_cell_add(&plan.cells[1], 0, 2, false) &&
              rcl_cell_add(&plan.cells[2], 0, 3, true));
    FILE *file = tmpfile();
    char text[4096];
    ck_assert(rcl_table_print(file, &plan));
    read_all(file, text, sizeof text);
    const char *line = strstr(text, "hot, 1 thread ");
    ck_assert_ptr_nonnull(line);
    double a = 0;
    double b = 0;
    double c = 0;
    char mark_b = 0;
    char mark_c = 0;
    ck_assert_int_eq(sscanf(line, "hot, 1 thread %lf %lf%c %lf%c", &a, &b, &mark_b, &c, &mark_c),
                     5);
    ck_assert_double_eq(a, 1);
    ck_assert_int_eq(mark_b, '*');
    ck_assert_int_eq(mark_c, '~');
}
END_TEST

/* What fails the battery is shown and named, but neither ranked nor what others are compared with. */
START_TEST(failing_implementations_are_never_ranked)
{
    char text[8192];
    ck_assert(make((rcl_selection){.processors = 1, .workloads = "hot"}));
    ck_assert_uint_eq(plan.count, 3);
    ck_assert_str_eq(plan.cells[0].conformance, "exempt");
    ck_assert_str_eq(plan.cells[1].conformance, "untested");
    plan.cells[1].conformance = "fail";
    plan.cells[2].conformance = "pass";
    ck_assert(!rcl_ranked(&plan.cells[0]) && !rcl_ranked(&plan.cells[1]) &&
              rcl_ranked(&plan.cells[2]));
    ck_assert(rcl_cell_add(&plan.cells[0], 0, 1, false) &&
              rcl_cell_add(&plan.cells[1], 0, 2, false) &&
              rcl_cell_add(&plan.cells[2], 0, 3, false));
    FILE *file = tmpfile();
    ck_assert(rcl_table_print(file, &plan));
    read_all(file, text, sizeof text);
    char mark_fails = 0;
    char mark_passes = 0;
    const char *line = strstr(text, "hot, 1 thread ");
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(line, "hot, 1 thread %*f %*f%c %*f%c", &mark_fails, &mark_passes), 2);
    ck_assert_int_eq(mark_fails, '!');
    ck_assert_int_eq(mark_passes, '*');
    ck_assert_ptr_nonnull(
        strstr(text, "!: failed the battery (rclab conform), never ranked: single\n"));
    ck_assert_ptr_null(strstr(text, "Not tested by the battery"));
    ck_assert_ptr_nonnull(strstr(text, "time over all's"));
    file = tmpfile();
    ck_assert(rcl_record_summary(file, &plan));
    read_all(file, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, ",0,fail,sharing,1,no,no,1.0000\n"));
    ck_assert_ptr_nonnull(strstr(text, ",0,pass,sharing,1,no,yes,2.0000\n"));
}
END_TEST

START_TEST(untested_implementations_are_named)
{
    char text[8192];
    ck_assert(make((rcl_selection){.processors = 1, .workloads = "hot"}));
    ck_assert(rcl_cell_add(&plan.cells[1], 0, 2, false));
    FILE *file = tmpfile();
    ck_assert(rcl_table_print(file, &plan));
    read_all(file, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "Not tested by the battery as they are now: single, all\n"));
    ck_assert_ptr_null(strstr(text, "failed the battery"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *tcase = tcase_create("plan");
    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, everything_on_two_processors);
    tcase_add_test(tcase, thread_counts_are_powers_and_all);
    tcase_add_test(tcase, quick_is_smaller);
    tcase_add_test(tcase, cells_of_a_line_differ_in_the_implementation_only);
    tcase_add_test(tcase, groups_and_lists_select);
    tcase_add_loop_test(tcase, refusals_say_what_was_wrong, 0,
                        (int)(sizeof refusals / sizeof refusals[0]));
    tcase_add_test(tcase, flags);
    tcase_add_test(tcase, flagged_repetitions_give_way);
    tcase_add_test(tcase, summary_rows);
    tcase_add_test(tcase, table_marks_the_best);
    tcase_add_test(tcase, failing_implementations_are_never_ranked);
    tcase_add_test(tcase, untested_implementations_are_named);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
