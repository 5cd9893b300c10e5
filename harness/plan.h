/* plan: which cells a run has. A cell is one figure of the result: implementation, workload, variant,
 * threads, sharing and allocator. */
#ifndef RCL_PLAN_H
#define RCL_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "delay.h"
#include "memory.h"
#include "registry.h"
#include "stats.h"

/* What one launch says of a cell whose workload measures delays. */
typedef struct rcl_cell_delay {
    unsigned launch;
    bool flagged;
    rcl_delay delay;
} rcl_cell_delay;

typedef struct rcl_cell {
    const rcl_impl *impl;
    const rcl_workload *workload;
    const rcl_variant *variant;
    const char *group; /* the workload's; "floor" for floor rows */
    unsigned threads;
    rcl_sharing sharing;
    rcl_allocator allocator;
    unsigned line;             /* cells of one line differ in the implementation only */
    const char *asked_variant; /* what a worker knows the variant by */
    /* "exempt" for null and floor, which are no strategies; else what the battery said of the
     * implementation before the plan was made: "pass", "fail" or "untested". */
    const char *conformance;

    /* Filled while the run goes on. */
    uint64_t operations; /* of one repetition, each thread; 0: not known yet */
    rcl_sample *samples; /* `count` of them, room for `room` */
    bool *sample_flagged;
    size_t count, room;
    double rate_per_s; /* of the schedule; these three only where the workload measures delays */
    rcl_cell_delay *delays; /* `delay_count` of them */
    size_t delay_count;
    const char *failure; /* static text: why the cell was given up; or NULL */
} rcl_cell;

/* What the user asked for. Lists are comma-separated names; NULL: everything. */
typedef struct rcl_selection {
    const char *impls;      /* floor rows are always in */
    const char *workloads;  /* names, or groups */
    const char *threads;    /* numbers; NULL: 1, 2, 4 ... and all processors */
    const char *allocators; /* libc, jemalloc or both; NULL: both */
    unsigned processors;    /* that this process may use */
    bool quick;             /* threads: 1 and all; libc only; no workload with a slow setup */
} rcl_selection;

typedef struct rcl_plan {
    rcl_cell *cells;
    size_t count;
    unsigned lines;
} rcl_plan;

/* Makes the plan, in the order of tables: by workload, variant, threads, sharing, allocator, and the
 * implementation last. False on a selection that cannot be met; `error` then says what was given and
 * what there is. rcl_plan_free in any case. */
bool rcl_plan_make(const rcl_registry *registry, const rcl_selection *selection, rcl_plan *plan,
                   char *error, size_t error_size);
/* A recording of the user's, for every chosen implementation that can play it. */
typedef struct rcl_replay_choice {
    rcl_variant label; /* its name stands in the results; must outlive the plan */
    bool recorded;     /* the recorded threads on `threads`; else the whole on each of them */
    unsigned threads;
    unsigned needs;      /* RC_CAP_WEAK if the recording has weak handles */
    uint64_t operations; /* of a repetition, each thread; 0: find out */
} rcl_replay_choice;

/* As rcl_plan_make, with one line for each allocator. Of the selection only impls and allocators count;
 * by default libc alone. */
bool rcl_plan_make_replay(const rcl_registry *registry, const rcl_selection *selection,
                          const rcl_replay_choice *choice, rcl_plan *plan, char *error,
                          size_t error_size);
void rcl_plan_free(rcl_plan *plan);

/* Keeps one repetition's figure. False if memory was refused. */
bool rcl_cell_add(rcl_cell *cell, unsigned launch, double ns, bool flagged);

/* Keeps what one launch says of a cell's delays. False if memory was refused. */
bool rcl_cell_add_delay(rcl_cell *cell, const rcl_cell_delay *delay);

/* True if the implementation can run the workload's variant with these threads and this sharing. */
bool rcl_can_run(const rcl_impl *impl, const rcl_workload *workload, const rcl_variant *variant,
                 unsigned threads, rcl_sharing sharing);

const char *rcl_sharing_name(rcl_sharing sharing);

#endif
