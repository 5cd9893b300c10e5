/* report_data: the summary of a run, ordered by questions, and what it says of the strategies.
 *
 * A question is a workload, a variant, a number of threads, how they share, and an allocator. Compared
 * are the strategies that are ranked and that threads may share; if there are none, those that are
 * ranked. Of two, one is certainly faster where its interval ends before the other's begins; else they
 * tie. A rank is 1 and one more for each compared strategy that is certainly faster. */
#ifndef RCL_REPORT_DATA_H
#define RCL_REPORT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv.h"
#include "registry.h"

typedef struct rcl_strategy {
    const char *name;
    const char *conformance; /* pass, fail, untested, exempt */
    bool called;             /* its operations are calls */
    bool ranked;
    bool shareable; /* threads may share its objects */
    bool compared;
    size_t answered; /* questions */

    /* Over the questions that all of `compared` with `in_mean` answer. NAN where there is none.
     * The ratio is of the time to that of the fastest compared strategy: geometric mean in a workload,
     * then over workloads. A strategy that is ranked but not compared has its mean over those of them
     * that it answers. */
    bool in_mean;
    double mean;
    size_t first_alone, first_shared;
    size_t
        worst_question; /* where it is farthest, for certain, from the fastest; SIZE_MAX: nowhere */
    double worst_ratio;
} rcl_strategy;

typedef struct rcl_question {
    const char *workload, *variant, *sharing, *allocator, *group;
    uint64_t threads;
    bool common; /* counts in the means */
    double best; /* ns, of the fastest compared strategy; NAN if there is none */
    size_t best_strategy;
    bool names_allocator; /* the workload was run with several */
} rcl_question;

typedef struct rcl_answered {
    uint64_t launches; /* 0: not measured */
    double median, low, high;
    uint64_t flagged, repetitions;
    unsigned rank; /* 0: not compared */
} rcl_answered;

/* A floor: a limit measured beside the strategies. */
typedef struct rcl_floor_row {
    const char *workload, *variant, *sharing, *allocator;
    uint64_t threads;
    rcl_answered answer;
} rcl_floor_row;

typedef struct rcl_summary_view {
    rcl_csv csv; /* owns all the names */
    rcl_strategy *strategies;
    size_t strategy_count;
    rcl_question *questions;
    size_t question_count;
    rcl_answered *answers; /* question by question, strategy_count each */
    rcl_floor_row *floors;
    size_t floor_count;
    size_t compared_count, common_count, workload_count; /* workload_count: among the common */
    bool has_intervals; /* some cell was measured in more than one launch */
    bool none_shareable;
} rcl_summary_view;

/* Reads summary.csv. False: `error` says what is wrong with it, in one line. rcl_view_free in any
 * case. */
bool rcl_view_load(const rcl_registry *registry, const char *path, rcl_summary_view *view,
                   char *error, size_t error_size);
void rcl_view_free(rcl_summary_view *view);

const rcl_answered *rcl_view_answer(const rcl_summary_view *view, size_t question, size_t strategy);

/* True if `a` is faster than `b` whatever the intervals leave open. */
bool rcl_certainly_faster(const rcl_answered *a, const rcl_answered *b);

/* More than half of its repetitions were disturbed. */
bool rcl_disturbed(const rcl_answered *answer);

/* Ratio of `strategy` to the fastest compared one, geometric mean: over the common questions of one
 * workload; over the workloads of one group (NULL: of all). NAN if there are none. */
double rcl_view_workload_mean(const rcl_summary_view *view, size_t strategy, const char *workload);
double rcl_view_group_mean(const rcl_summary_view *view, size_t strategy, const char *group);

/* True if no earlier question is of this one's workload, or group. */
bool rcl_view_opens_workload(const rcl_summary_view *view, size_t question);
bool rcl_view_opens_group(const rcl_summary_view *view, size_t question);

/* The strategies that have a mean, fastest first: fills `order` (strategy_count) and returns how many. */
size_t rcl_view_standing(const rcl_summary_view *view, size_t *order);

/* Of the common questions: in how many `a` is certainly faster than `b`, and the other way round. */
void rcl_view_duel(const rcl_summary_view *view, size_t a, size_t b, size_t *faster,
                   size_t *slower);

/* "retain_release, 2 threads shared, jemalloc"; without `workload` "2 threads shared, jemalloc". */
void rcl_question_label(const rcl_question *question, bool workload, char *label, size_t size);

#endif
