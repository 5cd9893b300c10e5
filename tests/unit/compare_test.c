/* compare: what it calls different, on figures whose truth is known. Nothing here is timed. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "compare.h"

enum { LAUNCHES = 6, REPETITIONS = 2, ROWS = LAUNCHES * REPETITIONS, MAX_CELLS = 800 };

/* A run that lies in memory; its cells are of one workload and number c, in the variant's name. */
typedef struct made_run {
    rcl_measured run;
    rcl_measured_cell cells[MAX_CELLS];
    rcl_measured_row rows[MAX_CELLS][ROWS];
} made_run;

static char variants[MAX_CELLS][8];

static gsl_rng *new_random(void)
{
    const char *given = getenv("RCLAB_SEED");
    unsigned long seed = given != NULL ? strtoul(given, NULL, 10) : 1ul;
    printf("seed %lu\n", seed);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    ck_assert_ptr_nonnull(random);
    gsl_rng_set(random, seed);
    return random;
}

/* Cell `at`, all of whose repetitions take 10 ns; ascending `at` is the order of a run. */
static rcl_measured_cell *add_cell(made_run *made, size_t at, const char *impl, unsigned threads)
{
    rcl_measured_cell *cell = &made->cells[made->run.count];
    rcl_measured_row *rows = made->rows[made->run.count];
    snprintf(variants[at], sizeof variants[at], "%05zu", at);
    *cell = (rcl_measured_cell){
        .impl = impl,
        .workload = "w",
        .variant = variants[at],
        .sharing = "private",
        .allocator = "libc",
        .threads = threads,
        .rows = rows,
        .count = ROWS,
        .launches = LAUNCHES,
        .depth = REPETITIONS,
    };
    for (unsigned i = 0; i < ROWS; i++) {
        rows[i] = (rcl_measured_row){i / REPETITIONS, i % REPETITIONS, 10, false};
    }
    made->run.count++;
    return cell;
}

static made_run *new_run(void)
{
    made_run *made = calloc(1, sizeof *made);
    ck_assert_ptr_nonnull(made);
    made->run.cells = made->cells;
    made->run.folder = "made";
    return made;
}

static rcl_comparison compare(const made_run *before, const made_run *after)
{
    rcl_compare_request request = {.before = &before->run, .after = &after->run};
    rcl_comparison comparison;
    ck_assert(rcl_compare(&request, &comparison));
    return comparison;
}

/* Times as machines give them: a launch has a state of its own, a repetition too, and now and then one
 * is disturbed, which only ever makes it slower. `spread` is about that of a launch. */
static void measure(const gsl_rng *random, rcl_measured_row *rows, double ns, double spread)
{
    for (unsigned launch = 0; launch < LAUNCHES; launch++) {
        double of_launch = gsl_ran_gaussian(random, spread * 0.8);
        for (unsigned i = 0; i < REPETITIONS; i++) {
            double disturbed =
                gsl_rng_uniform(random) < 0.04 ? gsl_ran_exponential(random, 0.2) : 0;
            rows[launch * REPETITIONS + i].ns =
                ns * exp(of_launch + gsl_ran_gaussian(random, spread * 0.6) + disturbed);
        }
    }
}

/* `count` cells, every eighth of them a control, every second of two threads; their spreads lie
 * between 0.5 and 10 %. Two-thread cells take `two_thread_share` longer. */
static made_run *random_run(const gsl_rng *random, size_t count, double two_thread_share)
{
    made_run *made = new_run();
    for (size_t i = 0; i < count; i++) {
        unsigned threads = i % 2 == 0 ? 1 : 2;
        add_cell(made, i, i % 16 < 2 ? "null" : "packed64", threads);
        double spread = 0.005 * exp((double)(i % 7) / 6 * log(20));
        measure(random, made->rows[i], 10 * (threads == 2 ? 1 + two_thread_share : 1), spread);
    }
    return made;
}

static size_t called(const rcl_comparison *comparison)
{
    return comparison->counts[RCL_SLOWER] + comparison->counts[RCL_FASTER];
}

/* Runs of one truth: at most 1 % of the cells may be called different. */
START_TEST(same_runs_do_not_differ)
{
    enum { PAIRS = 40, CELLS = 800 };
    gsl_rng *random = new_random();
    size_t wrong = 0;
    size_t compared = 0;
    size_t below_05 = 0;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        made_run *before = random_run(random, CELLS, 0);
        made_run *after = random_run(random, CELLS, 0);
        rcl_comparison comparison = compare(before, after);
        ck_assert_uint_eq(comparison.compared, CELLS * 7 / 8);
        ck_assert_uint_eq(comparison.counts[RCL_CONTROL], CELLS / 8);
        wrong += called(&comparison);
        compared += comparison.compared;
        for (size_t i = 0; i < comparison.count; i++) {
            below_05 += comparison.pairs[i].p < 0.05 ? 1 : 0;
        }
        rcl_comparison_free(&comparison);
        free(before);
        free(after);
    }
    printf("same: %zu of %zu called different, %zu below 5 %%\n", wrong, compared, below_05);
    ck_assert_uint_le(wrong * 100, compared);
    /* The uncorrected p must be one: about 5 % below 5 %, not none. */
    ck_assert_uint_gt(below_05 * 100, (size_t)PAIRS * CELLS * 2);
    ck_assert_uint_lt(below_05 * 100, (size_t)PAIRS * CELLS * 7);
    gsl_rng_free(random);
}
END_TEST

/* A machine that runs two threads 6 % slower the second time is no change of an implementation. */
START_TEST(another_machine_state_is_no_difference)
{
    enum { PAIRS = 20, CELLS = 800 };
    gsl_rng *random = new_random();
    size_t wrong = 0;
    size_t compared = 0;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        made_run *before = random_run(random, CELLS, 0);
        made_run *after = random_run(random, CELLS, 0.06);
        rcl_comparison comparison = compare(before, after);
        ck_assert_uint_eq(comparison.spread_count, 2);
        ck_assert_double_lt(comparison.spreads[0].spread, 0.02);
        ck_assert_double_gt(comparison.spreads[1].spread, 0.03);
        wrong += called(&comparison);
        compared += comparison.compared;
        rcl_comparison_free(&comparison);
        free(before);
        free(after);
    }
    printf("another state: %zu of %zu called different\n", wrong, compared);
    ck_assert_uint_le(wrong * 100, compared);
    gsl_rng_free(random);
}
END_TEST

/* Two controls are enough to see that everything takes 6 % longer, and one that is strange, among ten,
 * hides nothing. */
START_TEST(few_controls_tell)
{
    enum { CELLS = 10, CHANGED = 9, PAIRS = 50 };
    gsl_rng *random = new_random();
    size_t wrong = 0;
    unsigned found = 0;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        made_run *runs[3] = {new_run(), new_run(), new_run()};
        for (unsigned r = 0; r < 3; r++) {
            for (size_t i = 0; i < CELLS; i++) {
                bool control = r < 2 ? i < 2 : i < CHANGED;
                add_cell(runs[r], i, control ? "floor" : "packed64", 1);
                measure(random, runs[r]->rows[i], r == 1 ? 10.6 : 10, 0.005);
            }
        }
        rcl_comparison comparison = compare(runs[0], runs[1]);
        wrong += called(&comparison);
        rcl_comparison_free(&comparison);
        /* The third run against itself, one control and one cell changed. */
        made_run *changed = new_run();
        for (size_t i = 0; i < CELLS; i++) {
            add_cell(changed, i, i < CHANGED ? "floor" : "packed64", 1);
            double factor = i == 0 ? 1.5 : i == CHANGED ? 1.05 : 1;
            measure(random, changed->rows[i], 10 * factor, 0.005);
        }
        comparison = compare(runs[2], changed);
        found += comparison.counts[RCL_SLOWER] == 1 ? 1 : 0;
        rcl_comparison_free(&comparison);
        free(changed);
        for (unsigned r = 0; r < 3; r++) {
            free(runs[r]);
        }
    }
    printf("few controls: %zu called different, changed one found in %u of %u\n", wrong, found,
           (unsigned)PAIRS);
    ck_assert_uint_le(wrong * 50, PAIRS * 8);
    ck_assert_uint_ge(found * 10, PAIRS * 9);
    gsl_rng_free(random);
}
END_TEST

/* One cell of ten is 5 % slower, launches spread by 1 %: found in 19 of 20 pairs, and named slower. */
START_TEST(five_percent_are_found)
{
    enum { PAIRS = 200, CELLS = 10, CHANGED = 4 };
    gsl_rng *random = new_random();
    unsigned found = 0;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        made_run *runs[2] = {new_run(), new_run()};
        for (unsigned r = 0; r < 2; r++) {
            for (size_t i = 0; i < CELLS; i++) {
                add_cell(runs[r], i, "packed64", 1);
                measure(random, runs[r]->rows[i], r == 1 && i == CHANGED ? 10.5 : 10, 0.01);
            }
        }
        rcl_comparison comparison = compare(runs[0], runs[1]);
        const rcl_pair *changed = &comparison.pairs[CHANGED];
        ck_assert(changed->verdict != RCL_FASTER);
        found += changed->verdict == RCL_SLOWER ? 1 : 0;
        rcl_comparison_free(&comparison);
        free(runs[0]);
        free(runs[1]);
    }
    printf("5 %%: found in %u of %u\n", found, (unsigned)PAIRS);
    ck_assert_uint_ge(found * 20, PAIRS * 19);
    gsl_rng_free(random);
}
END_TEST

/* Called different and an interval without 1 are one and the same, whatever the figures. */
START_TEST(verdict_and_interval_agree)
{
    enum { CELLS = 400 };
    gsl_rng *random = new_random();
    for (unsigned pair = 0; pair < 20; pair++) {
        made_run *before = random_run(random, CELLS, 0);
        made_run *after = random_run(random, CELLS, 0);
        for (size_t i = 0; i < CELLS; i += 3) {
            if (!rcl_is_control(&after->cells[i])) {
                measure(random, after->rows[i], 10 * exp(gsl_ran_gaussian(random, 0.1)), 0.01);
            }
        }
        rcl_comparison comparison = compare(before, after);
        ck_assert_uint_gt(comparison.counts[RCL_SLOWER], 10);
        ck_assert_uint_gt(comparison.counts[RCL_FASTER], 10);
        for (size_t i = 0; i < comparison.count; i++) {
            const rcl_pair *p = &comparison.pairs[i];
            ck_assert(p->low < p->ratio && p->ratio < p->high);
            ck_assert(p->low <= p->ci95_low && p->ci95_high <= p->high);
            if (p->verdict != RCL_CONTROL) {
                ck_assert_int_eq(p->verdict == RCL_SLOWER, p->low > 1);
                ck_assert_int_eq(p->verdict == RCL_FASTER, p->high < 1);
                ck_assert_int_eq(p->verdict != RCL_NO_DIFFERENCE,
                                 p->p <= 1 - comparison.confidence);
                ck_assert(p->verdict == RCL_NO_DIFFERENCE || p->p_adjusted <= 0.05);
            }
        }
        rcl_comparison_free(&comparison);
        free(before);
        free(after);
    }
    gsl_rng_free(random);
}
END_TEST

static void set_logarithms(rcl_measured_row *rows, const double *logarithms)
{
    for (unsigned i = 0; i < ROWS; i++) {
        /* The second repetition is slower: it must not count. */
        rows[i].ns = 10 * exp(logarithms[i / REPETITIONS] + (i % REPETITIONS) * 0.7);
    }
}

/* Logarithms 0, 0.1, 0.2 against 0.5, 0.6, 0.7, each twice: means 0.5 apart; variance of each side
 * 0.008, of its mean 0.008 / 6; degrees of freedom 10; t = 0.5 / sqrt(0.016 / 6). */
START_TEST(figures_are_welchs)
{
    static const double first[LAUNCHES] = {0, 0.1, 0.2, 0, 0.1, 0.2};
    static const double second[LAUNCHES] = {0.5, 0.6, 0.7, 0.5, 0.6, 0.7};
    made_run *before = new_run();
    made_run *after = new_run();
    add_cell(before, 0, "packed64", 1);
    add_cell(after, 0, "packed64", 1);
    set_logarithms(before->rows[0], first);
    set_logarithms(after->rows[0], second);
    rcl_comparison comparison = compare(before, after);
    const rcl_pair *pair = &comparison.pairs[0];
    const double error = sqrt(0.016 / 6);
    const double t_975_of_10 = 2.228138851964939;
    const double t_995_of_10 = 3.169272672616872;
    ck_assert_double_eq_tol(pair->before_ns, 10 * exp(0.1), 1e-9);
    ck_assert_double_eq_tol(pair->ratio, exp(0.5), 1e-9);
    ck_assert_double_eq_tol(pair->error, error, 1e-7);
    ck_assert_double_eq_tol(pair->degrees, 10, 1e-6);
    ck_assert_double_eq_tol(pair->ci95_low, exp(0.5 - t_975_of_10 * error), 1e-6);
    /* One cell: nothing to correct for; one in a hundred decides. */
    ck_assert_double_eq_tol(pair->low, exp(0.5 - t_995_of_10 * error), 1e-6);
    ck_assert_double_eq(pair->p, pair->p_adjusted);
    ck_assert_double_eq_tol(comparison.confidence, 0.99, 1e-12);
    ck_assert_double_eq_tol(comparison.resolution, exp(t_995_of_10 * error) - 1, 1e-6);
    ck_assert_int_eq(pair->verdict, RCL_SLOWER);
    rcl_comparison_free(&comparison);

    rcl_compare_request request = {
        .before = &before->run, .after = &after->run, .statistic = RCL_LAUNCH_MEDIAN};
    ck_assert(rcl_compare(&request, &comparison));
    ck_assert_double_eq_tol(comparison.pairs[0].before_ns / (10 * exp(0.1)), (1 + exp(0.7)) / 2,
                            1e-9);
    rcl_comparison_free(&comparison);
    free(before);
    free(after);
}
END_TEST

/* Figures that repeat to the last digit: no division by zero, and the digit is the limit. */
START_TEST(equal_figures_are_equal)
{
    made_run *before = new_run();
    made_run *after = new_run();
    for (size_t i = 0; i < 2; i++) {
        add_cell(before, i, "packed64", 1);
        add_cell(after, i, "packed64", 1);
    }
    for (unsigned i = 0; i < ROWS; i++) {
        after->rows[1][i].ns = 10.1;
    }
    rcl_comparison comparison = compare(before, after);
    ck_assert_int_eq(comparison.pairs[0].verdict, RCL_NO_DIFFERENCE);
    ck_assert_double_eq(comparison.pairs[0].ratio, 1);
    ck_assert_int_eq(comparison.pairs[1].verdict, RCL_SLOWER);
    ck_assert(isfinite(comparison.pairs[0].low) && isfinite(comparison.pairs[1].p));
    rcl_comparison_free(&comparison);
    free(before);
    free(after);
}
END_TEST

/* The fastest of more repetitions is faster by chance: both sides are cut to the same number. */
START_TEST(longer_launches_gain_nothing)
{
    made_run *before = new_run();
    made_run *after = new_run();
    rcl_measured_cell *shorter = add_cell(before, 0, "packed64", 1);
    add_cell(after, 0, "packed64", 1);
    for (unsigned i = 0; i < LAUNCHES; i++) {
        before->rows[0][i] = (rcl_measured_row){i, 0, 10, false};
        after->rows[0][i * REPETITIONS + 1].ns = 5;
    }
    shorter->count = LAUNCHES;
    shorter->depth = 1;
    rcl_comparison comparison = compare(before, after);
    ck_assert_double_eq(comparison.pairs[0].ratio, 1);
    rcl_comparison_free(&comparison);
    free(before);
    free(after);
}
END_TEST

START_TEST(flagged_repetitions_do_not_count)
{
    made_run *before = new_run();
    made_run *after = new_run();
    add_cell(before, 0, "packed64", 1);
    rcl_measured_cell *cell = add_cell(after, 0, "packed64", 1);
    for (unsigned i = 0; i < ROWS; i += REPETITIONS) {
        after->rows[0][i].flagged = true;
        after->rows[0][i].ns = 1;
    }
    cell->flagged = ROWS / 2;
    rcl_comparison comparison = compare(before, after);
    ck_assert_double_eq(comparison.pairs[0].ratio, 1);
    rcl_comparison_free(&comparison);
    /* One more, and the cell is left out. */
    after->rows[0][1].flagged = true;
    cell->flagged++;
    comparison = compare(before, after);
    ck_assert_int_eq(comparison.pairs[0].verdict, RCL_LEFT_FLAGGED);
    ck_assert_uint_eq(comparison.compared, 0);
    rcl_comparison_free(&comparison);
    free(before);
    free(after);
}
END_TEST

static bool even(const rcl_measured_cell *cell, const void *context)
{
    (void)context;
    return (cell->variant[4] - '0') % 2 == 0;
}

START_TEST(cells_are_matched)
{
    made_run *before = new_run();
    made_run *after = new_run();
    add_cell(before, 0, "a", 1);
    add_cell(before, 1, "a", 1);
    add_cell(before, 2, "a", 1)->launches = 1;
    add_cell(before, 4, "null", 1);
    add_cell(after, 0, "a", 1);
    add_cell(after, 2, "a", 1);
    add_cell(after, 3, "a", 1);
    add_cell(after, 4, "null", 1);
    rcl_comparison comparison = compare(before, after);
    static const rcl_verdict expected[] = {RCL_NO_DIFFERENCE, RCL_ONLY_BEFORE, RCL_LEFT_ONE_LAUNCH,
                                           RCL_ONLY_AFTER, RCL_CONTROL};
    ck_assert_uint_eq(comparison.count, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(comparison.pairs[i].verdict, expected[i]);
    }
    rcl_comparison_free(&comparison);

    rcl_compare_request request = {.before = &before->run, .after = &after->run, .wanted = even};
    ck_assert(rcl_compare(&request, &comparison));
    ck_assert_uint_eq(comparison.counts[RCL_ONLY_BEFORE] + comparison.counts[RCL_ONLY_AFTER], 0);
    ck_assert_uint_eq(comparison.compared, 1);
    rcl_comparison_free(&comparison);
    free(before);
    free(after);
}
END_TEST

/* Two implementations of one run: matched by the rest of the cell, without controls. */
START_TEST(implementations_of_one_run)
{
    made_run *made = new_run();
    for (size_t i = 0; i < 3; i++) {
        add_cell(made, i, "a", 1);
        add_cell(made, i, "b", 1);
        for (unsigned r = 0; r < ROWS; r++) {
            made->rows[made->run.count - 1][r].ns = 20;
        }
    }
    add_cell(made, 3, "b", 1);
    add_cell(made, 4, "null", 1);
    rcl_compare_request request = {
        .before = &made->run, .after = &made->run, .impl_before = "a", .impl_after = "b"};
    rcl_comparison comparison;
    ck_assert(rcl_compare(&request, &comparison));
    ck_assert_uint_eq(comparison.counts[RCL_SLOWER], 3);
    ck_assert_uint_eq(comparison.counts[RCL_ONLY_AFTER], 1);
    ck_assert_uint_eq(comparison.count, 4);
    ck_assert_uint_eq(comparison.spread_count, 0);
    ck_assert_double_eq_tol(comparison.pairs[0].ratio, 2, 1e-9);
    rcl_comparison_free(&comparison);
    free(made);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare");
    TCase *tcase = tcase_create("compare");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, figures_are_welchs);
    tcase_add_test(tcase, equal_figures_are_equal);
    tcase_add_test(tcase, longer_launches_gain_nothing);
    tcase_add_test(tcase, flagged_repetitions_do_not_count);
    tcase_add_test(tcase, cells_are_matched);
    tcase_add_test(tcase, implementations_of_one_run);
    tcase_add_test(tcase, verdict_and_interval_agree);
    tcase_add_test(tcase, five_percent_are_found);
    tcase_add_test(tcase, few_controls_tell);
    tcase_add_test(tcase, same_runs_do_not_differ);
    tcase_add_test(tcase, another_machine_state_is_no_difference);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
