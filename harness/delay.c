#include "delay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "workload.h"

double rcl_delay_rate(double ns_per_operation)
{
    double rate = RCL_DELAY_LOAD * 1e9 / ns_per_operation;
    double unit = pow(10, floor(log10(rate)) - 1);
    return round(rate / unit) * unit;
}

bool rcl_delay_schedule(uint64_t seed, double rate_per_s, size_t count, uint64_t *scheduled_ns)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    if (random == NULL) {
        return false;
    }
    gsl_rng_set(random, (unsigned long)seed);
    double at_ns = 0;
    for (size_t i = 0; i < count; i++) {
        at_ns += gsl_ran_exponential(random, 1e9 / rate_per_s);
        scheduled_ns[i] = (uint64_t)at_ns;
    }
    gsl_rng_free(random);
    return true;
}

void rcl_delay_summarise(const rcl_delay_run *run, size_t count, double *room, rcl_delay *delay)
{
    *delay = (rcl_delay){.releases = count};
    if (run->elapsed_ns > 0) {
        delay->busy = 1 - (double)run->waited_ns / (double)run->elapsed_ns;
    }
    for (size_t i = 0; i < count; i++) {
        const rcl_memory_group *group = &run->groups[i];
        delay->kept += group->live_blocks != 0 || group->freed_at == 0 ? 1 : 0;
        uint64_t due_ns = run->start_ns + run->scheduled_ns[i];
        room[i] = (double)group->freed_at - (double)due_ns;
    }
    if (delay->kept > 0 || count == 0) {
        return;
    }
    gsl_sort(room, 1, count);
    delay->p50_ns = gsl_stats_quantile_from_sorted_data(room, 1, count, 0.5);
    delay->p99_ns = gsl_stats_quantile_from_sorted_data(room, 1, count, 0.99);
    delay->p999_ns = gsl_stats_quantile_from_sorted_data(room, 1, count, 0.999);
    delay->max_ns = room[count - 1];
}

bool rcl_delay_measure(rcl_run *run, double rate_per_s, rcl_delay *delay, rcl_window *window,
                       char *error, size_t error_size)
{
    const size_t count = run->operations;
    uint64_t *scheduled_ns = calloc(count, sizeof *scheduled_ns);
    rcl_memory_group *groups = calloc(count, sizeof *groups);
    double *room = malloc(count * sizeof *room);
    rcl_delay_run here = {.clock = rcl_now_ns, .scheduled_ns = scheduled_ns, .groups = groups};
    bool started = false;
    bool measured = false;
    *delay = (rcl_delay){0};
    if (scheduled_ns == NULL || groups == NULL || room == NULL ||
        (rate_per_s > 0 && !rcl_delay_schedule(run->seed, rate_per_s, count, scheduled_ns))) {
        snprintf(error, error_size, "memory refused for a schedule of %zu releases; take fewer",
                 count);
    } else {
        run->delay = &here;
        started = true;
        measured = rcl_team_run(run, window, error, error_size);
        run->delay = NULL;
    }
    if (measured) {
        rcl_delay_summarise(&here, count, room, delay);
    }
    if (!started || (measured && delay->kept == 0)) {
        free(groups);
    } /* else they stay: blocks that somebody keeps point at them */
    free(scheduled_ns);
    free(room);
    return measured;
}
