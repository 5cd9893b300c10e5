/* measured: a finished run, read back from its folder: raw.csv as cells, machine.json as facts. */
#ifndef RCL_MEASURED_H
#define RCL_MEASURED_H

#include <stdbool.h>
#include <stddef.h>

#include "csv.h"

typedef struct rcl_measured_row {
    unsigned launch, repetition;
    double ns;
    bool flagged;
} rcl_measured_row;

/* The names are texts of the run's csv. */
typedef struct rcl_measured_cell {
    const char *impl, *workload, *variant, *sharing, *allocator;
    unsigned threads;
    const rcl_measured_row *rows; /* ascending by launch and repetition */
    size_t count;
    size_t flagged;  /* of the rows */
    size_t launches; /* that have a row */
    unsigned depth;  /* repetitions in the longest launch */
} rcl_measured_cell;

enum { RCL_FACT_BYTES = 256, RCL_FACT_COUNT = 13 };

/* One fact of machine.json as text; "unknown" if the file does not tell. */
typedef struct rcl_fact {
    const char *object, *member; /* as in machine.json */
    const char *name;            /* in words */
    bool must_agree;             /* figures of runs that differ in it are not comparable */
    char value[RCL_FACT_BYTES];
} rcl_fact;

typedef struct rcl_measured {
    const char *folder; /* the caller's */
    rcl_csv csv;
    rcl_measured_cell *cells; /* ascending, see rcl_measured_order */
    size_t count;
    rcl_measured_row *rows;
    rcl_fact facts[RCL_FACT_COUNT]; /* the same ones in the same order for every run */
    double repetition_ms;           /* the length that was planned; 0: not known */
} rcl_measured;

/* Reads raw.csv and machine.json in `folder`. With `anyway` they may be of another schema, and
 * machine.json may be missing. On false, `error` says what was wrong, with the file and its line.
 * rcl_measured_free in any case. */
bool rcl_measured_load(const char *folder, bool anyway, rcl_measured *run, char *error,
                       size_t error_size);
void rcl_measured_free(rcl_measured *run);

/* Which of two cells comes first: by workload, variant, sharing, threads, allocator and, if
 * `with_impl`, implementation. 0: the same cell. */
int rcl_measured_order(const rcl_measured_cell *left, const rcl_measured_cell *right,
                       bool with_impl);

/* What stands for a launch: its fastest repetition, or the median of its repetitions. */
typedef enum rcl_launch_statistic { RCL_LAUNCH_FASTEST, RCL_LAUNCH_MEDIAN } rcl_launch_statistic;

/* Writes a value in nanoseconds for each launch of the cell; `values` has room for cell->launches, and
 * `count` says how many there are. Flagged repetitions count only where their launch has no other (as in
 * summary.csv). Repetitions from number `depth` on are left out, so that the fastest of launches of
 * different length can be compared. False if memory was refused. */
bool rcl_launch_values(const rcl_measured_cell *cell, rcl_launch_statistic statistic,
                       unsigned depth, double *values, size_t *count);

/* The value of a fact, such as "build", "commit"; "unknown" if there is none of that name. */
const char *rcl_measured_fact(const rcl_measured *run, const char *object, const char *member);

#endif
