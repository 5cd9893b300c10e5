/* compare: which cells of two runs differ, and by how much.
 *
 * HOW
 *   1. A launch counts once: by its fastest repetition, for whatever disturbs one makes it slower. (By
 *      the median of its repetitions, if that is wished.) Repetitions inside a launch are no sample of
 *      what another launch would show, so nothing is taken over them.
 *   2. Times vary by shares, so the logarithms of the launches' values are compared: their means'
 *      difference is the logarithm of the ratio, its error Welch's: each run has its own spread.
 *   3. Two runs meet a machine in two states. `null` and `floor` are the same code whatever was changed:
 *      where they differ between the runs by more than their launches explain, the machine did. That
 *      spread is found for each number of threads and goes into the error of every cell of it. Cells
 *      of one run were measured in turns and have no such term.
 *   4. Many cells are looked at, so some look different by chance. Benjamini and Hochberg's procedure
 *      keeps the expected share of wrong ones among those called different at 5 %. Holm's would promise
 *      no wrong one at all, and find less. Besides, what a cell shows must come by chance in less than
 *      one case of a hundred. The same correction is in the intervals (Benjamini and Yekutieli 2005): a
 *      cell is called different exactly where its interval does not hold 1.
 *
 * Nothing is resampled: a bootstrap of six launches is worse than Student's t, and the same files give
 * the same answer. How often this cries wolf and what it finds is measured: make calibrate.
 */
#ifndef RCL_COMPARE_H
#define RCL_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "measured.h"

/* The share of wrong ones among the cells called different. */
#define RCL_COMPARE_FALSE_SHARE 0.05
/* Nor is a cell called different that looks so by chance more often than this: with few cells compared,
 * the share above alone would call one of twenty. */
#define RCL_COMPARE_CHANCE 0.01

typedef enum rcl_verdict {
    RCL_SLOWER,
    RCL_FASTER,
    RCL_NO_DIFFERENCE,   /* that these runs can show */
    RCL_CONTROL,         /* null or floor: tells about the machine */
    RCL_LEFT_FLAGGED,    /* left out: most repetitions of a run were flagged */
    RCL_LEFT_ONE_LAUNCH, /* left out: no spread can be had */
    RCL_ONLY_BEFORE,
    RCL_ONLY_AFTER,
    RCL_VERDICT_COUNT
} rcl_verdict;

/* "slower", "no_difference": a word for files. */
const char *rcl_verdict_name(rcl_verdict verdict);

/* One cell on both sides. Figures are zero where the verdict is of a cell left out or unmatched. */
typedef struct rcl_pair {
    const rcl_measured_cell *before, *after; /* NULL: not there; they belong to the runs */
    const rcl_measured_cell *cell; /* the one of them that is there; before, if both are */
    rcl_verdict verdict;
    size_t launches_before, launches_after;
    double before_ns, after_ns;       /* geometric mean of the launches' values */
    double ratio;                     /* after / before, above 1: slower */
    double ci95_low, ci95_high;       /* 95 % interval of this ratio alone */
    double low, high;                 /* corrected for the number of cells: decides the verdict */
    double p, p_adjusted;             /* that there is no difference; corrected likewise */
    double log_ratio, error, degrees; /* natural logarithm, its standard error, Welch's degrees */
} rcl_pair;

/* How far the machine was another one in the two runs, for one number of threads. */
typedef struct rcl_run_spread {
    unsigned threads;
    size_t controls; /* cells that it was taken from; 0: it is not known */
    double spread;   /* standard deviation of the logarithm of a cell's ratio; 0: none seen */
} rcl_run_spread;

typedef struct rcl_comparison {
    rcl_pair *pairs; /* in the order of rcl_measured_order */
    size_t count;
    size_t counts[RCL_VERDICT_COUNT];
    size_t compared;   /* slower + faster + no difference */
    double confidence; /* of `low` to `high` */
    double resolution; /* the least share that half of the cells could have shown: 0.05 is 5 % */
    rcl_run_spread *spreads; /* ascending by threads; none for cells of one run */
    size_t spread_count;
} rcl_comparison;

typedef struct rcl_compare_request {
    const rcl_measured *before, *after;   /* the same one: implementations of one run */
    const char *impl_before, *impl_after; /* NULL: each implementation with itself */
    rcl_launch_statistic statistic;
    /* True if the cell is to be looked at; NULL: all are. Controls are always looked at. */
    bool (*wanted)(const rcl_measured_cell *cell, const void *context);
    const void *context;
} rcl_compare_request;

/* False if memory was refused. rcl_comparison_free in any case; the runs must outlive it. */
bool rcl_compare(const rcl_compare_request *request, rcl_comparison *comparison);
void rcl_comparison_free(rcl_comparison *comparison);

/* True for `null` and `floor`, which no change of an implementation can reach. */
bool rcl_is_control(const rcl_measured_cell *cell);

#endif
