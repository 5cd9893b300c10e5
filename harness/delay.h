/* delay: how long an object's memory takes to come back after its last release.
 *
 * OPEN LOOP. The moments of the last releases are drawn before the run, as arrivals that come by
 * themselves (exponential gaps, a Poisson process). The thread waits for the next one if it is early; if
 * it is late, because an earlier release ran long, the release is done at once and counts from the moment
 * it was scheduled for. So a pause is charged to everything that waited behind it, as a user would see
 * it, and is not hidden by a loop that waits along (coordinated omission).
 *
 * WHAT IS MEASURED, for each structure whose last handle is released:
 *     the moment when its last block has gone back to the allocator
 *   - the moment for which its last release was scheduled
 * Blocks are followed by the memory front (rcl_memory_follow), so a strategy that frees later, in another
 * release or in rc_quiesce, is seen late by just that much. In the number: waiting behind earlier
 * structures, the release, what it sets off, the frees, one look at the clock, and up to one more by
 * which the moment was missed. Blocks are 16 bytes larger here than elsewhere.
 *
 * THE RATE of arrivals is the same for every strategy: that at which packed64 would be busy for
 * RCL_DELAY_LOAD of the time with making and releasing. It is found by running packed64 without
 * waits, and rounded to two digits so that runs can be compared. The load is low enough for the slowest
 * strategy here to keep up. One that is busy for RCL_DELAY_BUSY_MAX of the time or more does not: its
 * delays grow with the length of the run and mean nothing.
 */
#ifndef RCL_DELAY_H
#define RCL_DELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "team.h"

/* Of the time, packed64's, when the rate is found. */
#define RCL_DELAY_LOAD 0.3
#define RCL_DELAY_BUSY_MAX 0.95

/* What a workload needs for a run (delay_work.h), and what it leaves. */
typedef struct rcl_delay_run {
    uint64_t (*clock)(void);      /* ns */
    const uint64_t *scheduled_ns; /* of each release, from start_ns, ascending */
    rcl_memory_group *groups;     /* of each structure */
    uint64_t start_ns;            /* left: when the schedule began */
    uint64_t waited_ns;           /* left: how long nothing was due */
    uint64_t elapsed_ns;          /* left: from start_ns to the end of the last rc_quiesce */
} rcl_delay_run;

/* The delays of one run. */
typedef struct rcl_delay {
    uint64_t releases;
    uint64_t
        kept;    /* structures that had a block left after the last rc_quiesce: no delay is known */
    double busy; /* share of the time in which the thread did not wait for the next release */
    double p50_ns, p99_ns, p999_ns, max_ns; /* over the releases; 0 if some were kept */
} rcl_delay;

/* Runs run->operations releases at rate_per_s (0: without waits, to find the rate: then
 * window->ns_per_operation is what one takes). The process must be one that follows blocks. Otherwise as
 * rcl_team_run. */
bool rcl_delay_measure(rcl_run *run, double rate_per_s, rcl_delay *delay, rcl_window *window,
                       char *error, size_t error_size);

/* The rate for RCL_DELAY_LOAD, where one release and what belongs to it takes ns_per_operation. */
double rcl_delay_rate(double ns_per_operation);

/* ---- Its parts ---- */

/* `count` moments from 0 on, ascending, with exponential gaps of mean 1 / rate_per_s. False if memory was
 * refused. */
bool rcl_delay_schedule(uint64_t seed, double rate_per_s, size_t count, uint64_t *scheduled_ns);

/* What a finished run of `count` releases says. `room` has place for `count` numbers. */
void rcl_delay_summarise(const rcl_delay_run *run, size_t count, double *room, rcl_delay *delay);

#endif
