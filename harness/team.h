/* team: the runner of one measurement.
 *
 * Sets up a workload over an implementation, lets a team of threads run it in batches while a window
 * is open, and takes everything down again. What the window counts is only what was done while every
 * thread of the team was running.
 *
 * ORDER OF EVENTS
 *   thread 0       bound to its processor, attached; shared_setup
 *   every thread   bound, attached; thread_setup (first touch is the user's); mark; one batch as
 *                  warm-up, quiesce
 *   every thread   spin barrier; batches, each followed by quiesce, until the first thread is done
 *                  with its operations; the others leave at the end of their batch, and that last
 *                  batch, which ran in part without company, does not count
 *   every thread   barrier; thread_teardown; quiesce; detached; old binding back
 *   thread 0       shared_teardown; quiesce; detached; old binding back
 *   A setup that fails skips the window; all teardowns run.
 *
 * Threads are OpenMP's and live on between runs: run with OMP_WAIT_POLICY=passive, or the idle ones
 * take processor time from single-threaded runs.
 */
#ifndef RCL_TEAM_H
#define RCL_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "workload.h"

/* What to run. Everything it points to stays the caller's and must outlive the call. */
typedef struct rcl_run {
    const rcl_impl *impl;
    const rcl_workload *workload;
    const rcl_variant *variant; /* one of the workload's */
    unsigned threads;           /* 1 or more; more than there are processors is legal */
    rcl_sharing sharing;
    rcl_allocator allocator;     /* selected for the process, unless it is already */
    const char *input;           /* for replay; else NULL */
    struct rcl_delay_run *delay; /* of a workload that measures delays (delay.h); else NULL */
    uint64_t seed;               /* of the threads' random numbers; any value */
    uint64_t operations;         /* each thread's part; 1 or more */
} rcl_run;

/* What came of it. */
typedef struct rcl_window {
    uint64_t operations;           /* counted, of all threads together */
    double ns_per_operation;       /* as one thread sees it: threads / sum of each thread's rate */
    double elapsed_ns;             /* of the thread whose counted time was longest */
    double utilisation;            /* sum of the threads' processor time / sum of their wall time */
    uint64_t involuntary_switches; /* of all threads */
    double steal_percent; /* of all processors' time, by /proc/stat; 0 where unknown. Its ticks are
                             10 ms: rough over a short window. */
    bool pinned;          /* every thread was bound to one processor */
} rcl_window;

/* Runs one measurement. Who may call: one thread at a time, outside a parallel region and not attached
 * (the run attaches and detaches it): it becomes thread 0 of the team.
 * True: *window is filled. False: nothing was measured, everything is torn down, and `error` says what
 * was tried and what to do. Cost: setup, a batch, the operations, teardown. */
bool rcl_team_run(const rcl_run *run, rcl_window *window, char *error, size_t error_size);

/* Starts the OpenMP threads, one per processor, so that no later run pays for it, and so that libraries
 * which count more cheaply while a process has one thread (libstdc++) do so for nobody. Idempotent. */
void rcl_team_start(void);

/* Processors that this process may use; 1 or more. Thread i of a team is bound to the i-th of them,
 * and from the first again when there are more threads: one of each core comes first, then the cores'
 * second ones. Cost: the first call reads the topology. */
unsigned rcl_processors(void);

#endif
