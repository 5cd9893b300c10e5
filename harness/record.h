/* record: the CSV files of a run. Their schema stands in results/README.md; its version is the first
 * column of every row. */
#ifndef RCL_RECORD_H
#define RCL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "plan.h"
#include "space.h"
#include "team.h"

#define RCL_SCHEMA 1

/* Below this share of processor time, or with this much of the machine taken by others, a repetition
 * is flagged: a team whose threads do not run together shows no contention. */
#define RCL_UTILISATION_MIN 0.95
#define RCL_STEAL_MAX_PERCENT 5.0

typedef struct rcl_repetition {
    unsigned launch, repetition, sequence; /* sequence: when it ran, in its launch */
    uint64_t seed;
    const rcl_cell *cell;
    rcl_window window;
    bool flagged;
} rcl_repetition;

bool rcl_is_flagged(const rcl_window *window);

/* Each writes to an open file; false if that failed (errno says why). A raw row is flushed at once, so
 * that nothing measured is lost. */
bool rcl_record_raw_header(FILE *file);
bool rcl_record_raw(FILE *file, const rcl_repetition *repetition);

/* What a cell's repetitions say: unflagged ones if a launch has any, else all of that launch. */
bool rcl_cell_summary(const rcl_cell *cell, rcl_summary *summary, unsigned *flagged);

/* True if the cell is compared with others: not null, not floor, not what fails the battery. */
bool rcl_ranked(const rcl_cell *cell);

/* The cell of `null` on the same line, or NULL. */
const rcl_cell *rcl_null_cell(const rcl_plan *plan, const rcl_cell *cell);

bool rcl_record_summary(FILE *file, const rcl_plan *plan);

/* What a cell's launches say of its delays. */
typedef struct rcl_delay_summary {
    unsigned launches, flagged;
    unsigned saturated; /* launches in which the strategy did not keep up */
    uint64_t releases, kept;
    bool known; /* it kept up in most launches, and all memory came back */
    /* Of the launches' percentiles and the greatest of all, ns; zeros unless known. Flagged launches are
     * left out if there is any other. */
    rcl_summary p50, p99, p999;
    double max_ns;
} rcl_delay_summary;

/* False if memory was refused. */
bool rcl_cell_delay_summary(const rcl_cell *cell, rcl_delay_summary *summary);

/* The rows of all cells that measure delays and have any. */
bool rcl_record_delay(FILE *file, const rcl_plan *plan);

bool rcl_record_space_header(FILE *file);
bool rcl_record_space(FILE *file, const char *impl, const char *allocator, const rcl_space *space);

#endif
