#include "compare.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>

/* The last digit of raw.csv, in nanoseconds: below it nothing can be told apart. */
static const double step_ns = 1e-4;

/* No two runs differ by more than this, as a logarithm: the end of the search for their spread. */
static const double spread_max = 3;

const char *rcl_verdict_name(rcl_verdict verdict)
{
    static const char *const names[RCL_VERDICT_COUNT] = {
        "slower",  "faster",     "no_difference", "control",
        "flagged", "one_launch", "only_before",   "only_after",
    };
    return names[verdict];
}

bool rcl_is_control(const rcl_measured_cell *cell)
{
    return strcmp(cell->impl, "null") == 0 || strcmp(cell->impl, "floor") == 0;
}

/* ---- Matching ---- */

static bool has_figures(const rcl_pair *pair)
{
    return pair->verdict == RCL_NO_DIFFERENCE || pair->verdict == RCL_CONTROL;
}

static bool mostly_flagged(const rcl_measured_cell *cell)
{
    return cell->flagged * 2 > cell->count;
}

static rcl_verdict first_verdict(const rcl_measured_cell *before, const rcl_measured_cell *after)
{
    if (before == NULL || after == NULL) {
        return before == NULL ? RCL_ONLY_AFTER : RCL_ONLY_BEFORE;
    }
    if (mostly_flagged(before) || mostly_flagged(after)) {
        return RCL_LEFT_FLAGGED;
    }
    if (before->launches < 2 || after->launches < 2) {
        return RCL_LEFT_ONE_LAUNCH;
    }
    return RCL_NO_DIFFERENCE;
}

static void add_pair(rcl_comparison *comparison, const rcl_measured_cell *before,
                     const rcl_measured_cell *after, bool control)
{
    rcl_verdict verdict = first_verdict(before, after);
    if (control && verdict != RCL_NO_DIFFERENCE) {
        return; /* it tells nothing */
    }
    comparison->pairs[comparison->count++] = (rcl_pair){
        .before = before,
        .after = after,
        .cell = before != NULL ? before : after,
        .verdict = control ? RCL_CONTROL : verdict,
    };
}

/* Which cells of a run take part. */
typedef struct compare_side {
    const rcl_measured *run;
    const char *impl; /* NULL: all */
    bool controls;    /* those, or the others */
    const rcl_compare_request *request;
    size_t at;
} compare_side;

static const rcl_measured_cell *next_cell(compare_side *side)
{
    const rcl_compare_request *request = side->request;
    for (; side->at < side->run->count; side->at++) {
        const rcl_measured_cell *cell = &side->run->cells[side->at];
        if (side->controls) {
            if (rcl_is_control(cell)) {
                return cell;
            }
            continue;
        }
        bool named =
            side->impl != NULL ? strcmp(cell->impl, side->impl) == 0 : !rcl_is_control(cell);
        if (named && (request->wanted == NULL || request->wanted(cell, request->context))) {
            return cell;
        }
    }
    return NULL;
}

/* Both sides are in order: one walk over them. */
static void match(const rcl_compare_request *request, bool controls, rcl_comparison *comparison)
{
    bool by_impl = controls || request->impl_before == NULL;
    compare_side before = {request->before, controls ? NULL : request->impl_before, controls,
                           request, 0};
    compare_side after = {request->after, controls ? NULL : request->impl_after, controls, request,
                          0};
    for (;;) {
        const rcl_measured_cell *left = next_cell(&before);
        const rcl_measured_cell *right = next_cell(&after);
        if (left == NULL && right == NULL) {
            return;
        }
        int order = left == NULL    ? 1
                    : right == NULL ? -1
                                    : rcl_measured_order(left, right, by_impl);
        add_pair(comparison, order <= 0 ? left : NULL, order >= 0 ? right : NULL, controls);
        before.at += order <= 0 ? 1 : 0;
        after.at += order >= 0 ? 1 : 0;
    }
}

static int order_pairs(const void *a, const void *b)
{
    const rcl_pair *left = a;
    const rcl_pair *right = b;
    return rcl_measured_order(left->cell, right->cell, true);
}

/* ---- One pair ---- */

/* Mean of logarithms, the variance of that mean, and its degrees of freedom. */
typedef struct log_mean {
    double mean, variance, degrees;
} log_mean;

/* `values` become their logarithms. */
static log_mean log_mean_of(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = log(values[i]);
    }
    double mean = gsl_stats_mean(values, 1, count);
    double of_one = count > 1 ? gsl_stats_variance_m(values, 1, count, mean) : 0;
    /* The figures were rounded: equal ones are not equal without end. */
    double rounding = step_ns / exp(mean);
    double variance = (of_one + rounding * rounding / 12) / (double)count;
    return (log_mean){mean, variance, (double)count - 1};
}

/* Error and degrees of freedom of a difference to which the machine adds `spread`, known from
 * `controls` cells. */
static void set_error(rcl_pair *pair, const log_mean *before, const log_mean *after, double spread,
                      size_t controls)
{
    double between = spread * spread;
    double sum = before->variance + after->variance + between;
    double per_degree = before->variance * before->variance / before->degrees +
                        after->variance * after->variance / after->degrees;
    if (controls > 0) {
        per_degree += between * between / (double)controls;
    }
    pair->error = sqrt(sum);
    pair->degrees = sum * sum / per_degree;
}

static double two_sided_p(const rcl_pair *pair)
{
    return 2 * gsl_cdf_tdist_Q(fabs(pair->log_ratio) / pair->error, pair->degrees);
}

/* Half the width of an interval that misses the truth with probability `miss`, as a logarithm. */
static double half_width(const rcl_pair *pair, double miss)
{
    return gsl_cdf_tdist_Qinv(miss / 2, pair->degrees) * pair->error;
}

/* The launches of all pairs, summarised: two for each pair. */
typedef struct pair_means {
    log_mean before, after;
} pair_means;

static bool measure_pair(const rcl_compare_request *request, rcl_pair *pair, pair_means *means,
                         double *values)
{
    unsigned depth =
        pair->before->depth < pair->after->depth ? pair->before->depth : pair->after->depth;
    /* A median does not move with the number of repetitions. */
    depth = request->statistic == RCL_LAUNCH_FASTEST ? depth : UINT32_MAX;
    if (!rcl_launch_values(pair->before, request->statistic, depth, values,
                           &pair->launches_before)) {
        return false;
    }
    means->before = log_mean_of(values, pair->launches_before);
    if (!rcl_launch_values(pair->after, request->statistic, depth, values, &pair->launches_after)) {
        return false;
    }
    means->after = log_mean_of(values, pair->launches_after);
    if (pair->launches_before < 2 || pair->launches_after < 2) {
        pair->verdict = RCL_LEFT_ONE_LAUNCH;
        return true;
    }
    pair->before_ns = exp(means->before.mean);
    pair->after_ns = exp(means->after.mean);
    pair->log_ratio = means->after.mean - means->before.mean;
    pair->ratio = exp(pair->log_ratio);
    set_error(pair, &means->before, &means->after, 0, 0);
    return true;
}

/* ---- The machine between the runs ---- */

/* How far the controls of a number of threads lie from what launches explain: the sum of squares of
 * their differences, each in the place of a normal one as likely. A single strange one counts as three
 * standard deviations at most. */
static double distance(rcl_comparison *comparison, const pair_means *means,
                       const rcl_run_spread *of, double spread)
{
    double sum = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        rcl_pair *pair = &comparison->pairs[i];
        if (pair->verdict == RCL_CONTROL && pair->before->threads == of->threads) {
            set_error(pair, &means[i].before, &means[i].after, spread, of->controls);
            double normal = fmin(3, gsl_cdf_ugaussian_Qinv(two_sided_p(pair) / 2));
            sum += normal * normal;
        }
    }
    return sum;
}

/* The least spread between the runs with which the controls look like chance: as far apart as in 19 of
 * 20 cases in which there is none. */
static double find_spread(rcl_comparison *comparison, const pair_means *means,
                          const rcl_run_spread *of)
{
    if (of->controls == 0) {
        return 0;
    }
    double most = gsl_cdf_chisq_Pinv(0.95, (double)of->controls);
    if (distance(comparison, means, of, 0) <= most) {
        return 0;
    }
    double low = 0;
    double high = spread_max;
    for (unsigned step = 0; step < 30; step++) {
        double middle = (low + high) / 2;
        bool chance = distance(comparison, means, of, middle) <= most;
        low = chance ? low : middle;
        high = chance ? middle : high;
    }
    return high;
}

static rcl_run_spread *spread_of(rcl_comparison *comparison, unsigned threads)
{
    for (size_t i = 0; i < comparison->spread_count; i++) {
        if (comparison->spreads[i].threads == threads) {
            return &comparison->spreads[i];
        }
    }
    return NULL;
}

static int order_spreads(const void *a, const void *b)
{
    const rcl_run_spread *left = a;
    const rcl_run_spread *right = b;
    return (left->threads > right->threads) - (left->threads < right->threads);
}

static bool find_spreads(rcl_comparison *comparison, const pair_means *means)
{
    comparison->spreads = calloc(comparison->count, sizeof *comparison->spreads);
    if (comparison->spreads == NULL) {
        return false;
    }
    for (size_t i = 0; i < comparison->count; i++) {
        const rcl_pair *pair = &comparison->pairs[i];
        if (!has_figures(pair)) {
            continue;
        }
        rcl_run_spread *spread = spread_of(comparison, pair->before->threads);
        if (spread == NULL) {
            spread = &comparison->spreads[comparison->spread_count++];
            spread->threads = pair->before->threads;
        }
        spread->controls += pair->verdict == RCL_CONTROL ? 1 : 0;
    }
    qsort(comparison->spreads, comparison->spread_count, sizeof *comparison->spreads,
          order_spreads);
    for (size_t i = 0; i < comparison->spread_count; i++) {
        comparison->spreads[i].spread = find_spread(comparison, means, &comparison->spreads[i]);
    }
    for (size_t i = 0; i < comparison->count; i++) {
        rcl_pair *pair = &comparison->pairs[i];
        const rcl_run_spread *spread =
            has_figures(pair) ? spread_of(comparison, pair->before->threads) : NULL;
        if (spread != NULL) {
            set_error(pair, &means[i].before, &means[i].after, spread->spread, spread->controls);
        }
    }
    return true;
}

/* ---- All of them ---- */

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

typedef struct ranked_pair {
    rcl_pair *pair;
} ranked_pair;

static int by_p(const void *a, const void *b)
{
    const ranked_pair *left = a;
    const ranked_pair *right = b;
    return (left->pair->p > right->pair->p) - (left->pair->p < right->pair->p);
}

/* Benjamini and Hochberg. Returns the probability at and below which a cell is called different. */
static double adjust(ranked_pair *ranked, size_t count)
{
    double least = 1;
    size_t called = 0;
    for (size_t i = count; i-- > 0;) {
        least = fmin(least, ranked[i].pair->p * (double)count / (double)(i + 1));
        ranked[i].pair->p_adjusted = least;
        if (called == 0 && least <= RCL_COMPARE_FALSE_SHARE) {
            called = i + 1;
        }
    }
    double cut = RCL_COMPARE_FALSE_SHARE * (double)(called > 0 ? called : 1) /
                 (double)(count > 0 ? count : 1);
    return fmin(cut, RCL_COMPARE_CHANCE);
}

static void conclude(rcl_pair *pair, double cut)
{
    double alone = half_width(pair, 0.05);
    double corrected = half_width(pair, cut);
    pair->ci95_low = exp(pair->log_ratio - alone);
    pair->ci95_high = exp(pair->log_ratio + alone);
    pair->low = exp(pair->log_ratio - corrected);
    pair->high = exp(pair->log_ratio + corrected);
    if (pair->verdict == RCL_NO_DIFFERENCE && pair->p <= cut) {
        pair->verdict = pair->ratio > 1 ? RCL_SLOWER : RCL_FASTER;
    }
}

static bool judge(rcl_comparison *comparison)
{
    size_t room = comparison->count > 0 ? comparison->count : 1;
    ranked_pair *ranked = malloc(room * sizeof *ranked);
    double *widths = malloc(room * sizeof *widths);
    if (ranked == NULL || widths == NULL) {
        free(ranked);
        free(widths);
        return false;
    }
    for (size_t i = 0; i < comparison->count; i++) {
        rcl_pair *pair = &comparison->pairs[i];
        if (has_figures(pair)) {
            pair->p = pair->p_adjusted = two_sided_p(pair);
        }
        if (pair->verdict == RCL_NO_DIFFERENCE) {
            ranked[comparison->compared++].pair = pair;
        }
    }
    qsort(ranked, comparison->compared, sizeof *ranked, by_p);
    double cut = adjust(ranked, comparison->compared);
    comparison->confidence = 1 - cut;
    for (size_t i = 0; i < comparison->compared; i++) {
        widths[i] = expm1(half_width(ranked[i].pair, cut));
    }
    qsort(widths, comparison->compared, sizeof *widths, ascending);
    comparison->resolution =
        comparison->compared > 0
            ? gsl_stats_median_from_sorted_data(widths, 1, comparison->compared)
            : 0;
    for (size_t i = 0; i < comparison->count; i++) {
        if (has_figures(&comparison->pairs[i])) {
            conclude(&comparison->pairs[i], cut);
        }
        comparison->counts[comparison->pairs[i].verdict]++;
    }
    free(ranked);
    free(widths);
    return true;
}

static size_t most_launches(const rcl_measured *run)
{
    size_t most = 1;
    for (size_t i = 0; i < run->count; i++) {
        most = run->cells[i].launches > most ? run->cells[i].launches : most;
    }
    return most;
}

static bool measure(const rcl_compare_request *request, rcl_comparison *comparison)
{
    size_t left = most_launches(request->before);
    size_t right = most_launches(request->after);
    double *values = malloc((left > right ? left : right) * sizeof *values);
    pair_means *means = calloc(comparison->count > 0 ? comparison->count : 1, sizeof *means);
    bool done = values != NULL && means != NULL;
    for (size_t i = 0; done && i < comparison->count; i++) {
        done = !has_figures(&comparison->pairs[i]) ||
               measure_pair(request, &comparison->pairs[i], &means[i], values);
    }
    if (done && request->before != request->after) {
        done = find_spreads(comparison, means);
    }
    free(values);
    free(means);
    return done && judge(comparison);
}

bool rcl_compare(const rcl_compare_request *request, rcl_comparison *comparison)
{
    *comparison = (rcl_comparison){0};
    /* A control may take part twice: as one, and because it was asked for by name. */
    comparison->pairs =
        calloc(2 * (request->before->count + request->after->count) + 1, sizeof *comparison->pairs);
    if (comparison->pairs == NULL) {
        return false;
    }
    match(request, false, comparison);
    if (request->before != request->after) {
        match(request, true, comparison);
    }
    qsort(comparison->pairs, comparison->count, sizeof *comparison->pairs, order_pairs);
    return measure(request, comparison);
}

void rcl_comparison_free(rcl_comparison *comparison)
{
    free(comparison->pairs);
    free(comparison->spreads);
    *comparison = (rcl_comparison){0};
}
