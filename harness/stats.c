#include "stats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>

static int by_launch(const void *a, const void *b)
{
    const rcl_sample *left = a;
    const rcl_sample *right = b;
    return (left->launch > right->launch) - (left->launch < right->launch);
}

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* How many values to leave out at each end so that the rest still covers the median with 95 %: the
 * largest k with P(Binomial(n, 1/2) < k) <= 2.5 %, that is, order statistics k and n + 1 - k. */
static unsigned order_statistic(unsigned launches)
{
    unsigned k = 0;
    while (gsl_cdf_binomial_P(k, 0.5, launches) <= 0.025) {
        k++;
    }
    return k;
}

/* `medians` is ascending. */
static void interval(const double *medians, unsigned launches, rcl_summary *summary)
{
    unsigned k = order_statistic(launches);
    if (k > 0) {
        summary->low = medians[k - 1];
        summary->high = medians[launches - k];
        return;
    }
    if (launches < 2) {
        summary->low = summary->high = summary->median;
        return;
    }
    double error = gsl_stats_sd(medians, 1, launches) / sqrt((double)launches);
    double half = gsl_cdf_tdist_Pinv(0.975, (double)launches - 1) * error;
    summary->low = fmax(0, summary->median - half);
    summary->high = summary->median + half;
}

bool rcl_summarise(const rcl_sample *samples, size_t count, rcl_summary *summary)
{
    memset(summary, 0, sizeof *summary);
    if (count == 0) {
        return true;
    }
    rcl_sample *sorted = malloc(count * sizeof *sorted);
    double *values = malloc(2 * count * sizeof *values);
    if (sorted == NULL || values == NULL) {
        free(sorted);
        free(values);
        return false;
    }
    memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_launch);
    double *medians = values + count;
    unsigned launches = 0;
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && sorted[to].launch == sorted[from].launch; to++) {
            values[to - from] = sorted[to].value;
        }
        medians[launches++] = gsl_stats_median(values, 1, to - from);
    }
    qsort(medians, launches, sizeof *medians, ascending);
    summary->launches = launches;
    summary->repetitions = count;
    summary->median = gsl_stats_median_from_sorted_data(medians, 1, launches);
    interval(medians, launches, summary);
    summary->minimum = DBL_MAX;
    for (size_t i = 0; i < count; i++) {
        summary->minimum = fmin(summary->minimum, samples[i].value);
        values[i] = fabs(samples[i].value - summary->median);
    }
    summary->mad = gsl_stats_median(values, 1, count);
    free(sorted);
    free(values);
    return true;
}
