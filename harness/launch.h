/* launch: a measuring process, seen from the one that plans.
 *
 * Every launch is this program executed anew, so that memory layout differs from launch to launch. The
 * planner sends one request line at a time and waits for the answer: it knows what ran when a worker
 * dies, and it can stop between two repetitions. A worker that crashes takes nothing else along.
 */
#ifndef RCL_LAUNCH_H
#define RCL_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "delay.h"
#include "plan.h"
#include "space.h"
#include "team.h"

/* The hidden command that makes this program a worker. */
#define RCL_WORKER_COMMAND "worker"

typedef struct rcl_worker {
    pid_t pid;    /* 0: none */
    int to, from; /* its standard input and output */
} rcl_worker;

typedef struct rcl_request {
    const rcl_cell *cell;
    uint64_t operations; /* 0: find out how many fill min_seconds */
    double min_seconds;
    uint64_t seed;
    const char *input; /* replay: the trace; or NULL */
} rcl_request;

typedef enum rcl_answer {
    RCL_ANSWER_MEASURED,
    RCL_ANSWER_REFUSED,    /* it said why, in `error`; the worker lives */
    RCL_ANSWER_DIED,       /* crashed or hung; `error` says how; the worker is gone */
    RCL_ANSWER_INTERRUPTED /* *stop was set while waiting; the worker is gone */
} rcl_answer;

/* Starts a worker. False: `error` says what failed. */
bool rcl_worker_start(rcl_worker *worker, char *error, size_t error_size);

/* Has it run one repetition and waits, at most timeout_seconds. On MEASURED fills *window and
 * *operations (each thread's, to ask for next time). *stop may be set by a signal handler. */
rcl_answer rcl_worker_run(rcl_worker *worker, const rcl_request *request, double timeout_seconds,
                          const volatile sig_atomic_t *stop, rcl_window *window,
                          uint64_t *operations, char *error, size_t error_size);

/* Has it weigh the objects of an implementation with an allocator (space.h). False: `error` says why, or
 * *stop was set; the worker may be gone. */
bool rcl_worker_space(rcl_worker *worker, const rcl_cell *cell, double timeout_seconds,
                      const volatile sig_atomic_t *stop, rcl_space *space, char *error,
                      size_t error_size);

/* Has it measure delays (delay.h): `releases` of them at rate_per_s; 0: without waits, to find the rate.
 * From the first such request on that worker takes no others. On MEASURED fills *delay and *window. */
rcl_answer rcl_worker_delay(rcl_worker *worker, const rcl_cell *cell, uint64_t releases,
                            double rate_per_s, uint64_t seed, double timeout_seconds,
                            const volatile sig_atomic_t *stop, rcl_delay *delay, rcl_window *window,
                            char *error, size_t error_size);

/* Ends it, kindly or not. Idempotent. */
void rcl_worker_stop(rcl_worker *worker);

/* What the worker does: answers request lines from standard input until it ends. Returns an exit
 * status. */
int rcl_worker_main(const rcl_registry *registry);

#endif
