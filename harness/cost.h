/* cost: what each operation executes, counted by callgrind. Exact: the same on every run.
 *
 * A figure is (count of 2 N operations - count of N operations) / N, less what calling and returning
 * costs. It is a whole number, or a fraction where a strategy does some of its work only now and then.
 */
#ifndef RCL_COST_H
#define RCL_COST_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "counted_build.h"

typedef enum rcl_cost_column {
    RCL_COST_INSTRUCTIONS,
    RCL_COST_LOCKED,
    RCL_COST_READS, /* accesses, whatever their size; a locked instruction is one of each */
    RCL_COST_WRITES,
    RCL_COST_COLUMNS
} rcl_cost_column;

/* "instructions": as in costs.csv. */
extern const char *const rcl_cost_column_names[RCL_COST_COLUMNS];

/* One operation of one implementation. */
typedef struct rcl_cost {
    bool there; /* false: the implementation does not offer it */
    double figures[RCL_COST_COLUMNS];
} rcl_cost;

/* An implementation, compiled by one compiler. */
typedef struct rcl_cost_row {
    char impl[64];
    char compiler[64]; /* "gcc-12.2.0" */
    rcl_cost costs[RCL_COUNTED_OPERATIONS_MAX];
} rcl_cost_row;

typedef struct rcl_cost_options {
    const rcl_subject *subjects;
    size_t count;
    const char *compiler, *libraries; /* as in rcl_counted_build */
    unsigned at_once;
    const volatile sig_atomic_t *stop;
} rcl_cost_options;

typedef enum rcl_cost_end {
    RCL_COST_COUNTED,
    RCL_COST_NOT_BUILT,   /* an implementation does not build; `error` names it and says why */
    RCL_COST_CRASHED,     /* an implementation's program ended badly; `error` says how */
    RCL_COST_ENVIRONMENT, /* the machine lacks something, or callgrind cannot run here */
    RCL_COST_INTERRUPTED
} rcl_cost_end;

/* Builds, counts, and fills rows[i] for subjects[i]. Cost: some 2 s of processor time each. */
rcl_cost_end rcl_cost_count(const rcl_cost_options *options, rcl_cost_row *rows, char *error,
                            size_t error_size);

/* ---- Which instructions were executed ---- */

/* Runs one program, built with fixed addresses, and has callgrind write `path`. */
rcl_cost_end rcl_cost_trace(const char *program, const char *path,
                            const volatile sig_atomic_t *stop, char *error, size_t error_size);

typedef struct rcl_executed {
    struct rcl_executed_at {
        uint64_t address;
        double times; /* in one operation */
    } * at;           /* owned */
    size_t count;
} rcl_executed;

/* Of one operation, what the program's own code executed. False if there is nothing of it. The caller
 * frees executed->at. */
bool rcl_cost_read_executed(const char *path, const char *program, const char *operation,
                            rcl_executed *executed);

/* How often the instruction at this address is executed in one operation. */
double rcl_executed_times(const rcl_executed *executed, uint64_t address);

/* ---- costs.csv ---- */

/* Writes the operations of `wanted` as costs.csv; `header`: begins with the line of names. */
void rcl_cost_write(FILE *out, const rcl_cost_row *rows, size_t count, const bool *wanted,
                    bool header);

/* Reads a costs.csv. *rows is the caller's to free. False: `error` says what and where. */
bool rcl_cost_read(const char *path, rcl_cost_row **rows, size_t *count, char *error,
                   size_t error_size);

/* Writes a whole file in place of `path`, beside it first. False: `error` says why. */
bool rcl_cost_save(const char *path, const rcl_cost_row *rows, size_t count, const bool *wanted,
                   char *error, size_t error_size);

/* The row of that implementation and compiler, or NULL. */
rcl_cost_row *rcl_cost_find(rcl_cost_row *rows, size_t count, const char *impl,
                            const char *compiler);

#endif
