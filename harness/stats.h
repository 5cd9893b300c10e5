/* stats: what a set of repetitions says.
 *
 * Repetitions inside one process are not independent (they share its memory layout), so the interval
 * is taken over process launches: each launch counts once, by its median.
 */
#ifndef RCL_STATS_H
#define RCL_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* One repetition's figure and the launch that it came from (0, 1, ...). */
typedef struct rcl_sample {
    unsigned launch;
    double value;
} rcl_sample;

typedef struct rcl_summary {
    unsigned launches; /* that have a sample */
    size_t repetitions;
    double median;    /* of the launches' medians */
    double mad;       /* median absolute deviation of all samples from that median */
    double low, high; /* 95 % interval of the median, over launches */
    double minimum;   /* of all samples */
} rcl_summary;

/* Summarises; the samples may come in any order and are left as they are. The interval: with 6
 * launches or more, the narrowest symmetric pair of order statistics that covers the median with at
 * least 95 % whatever the distribution; with 2 to 5, Student's t around the median (then a normal
 * distribution is assumed, and the low end is not let below zero); with 1, the launch's value itself
 * (no interval can be had). Zero samples give an all-zero summary. Returns false if memory was
 * refused. */
bool rcl_summarise(const rcl_sample *samples, size_t count, rcl_summary *summary);

#endif
