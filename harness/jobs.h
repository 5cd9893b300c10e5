/* jobs: other programs, run several at once, each in a process group of its own with limits.
 *
 * For programs that may crash, hang, fill memory or start children of their own: a job is always over
 * when its time is, and the whole group is killed with it. What it says on standard output and error
 * and on descriptor 3 is kept, up to a bound. Its standard input is empty.
 */
#ifndef RCL_JOBS_H
#define RCL_JOBS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RCL_JOB_OUTPUT_BYTES = 1 << 16, RCL_JOB_VERDICT_BYTES = 4096 };

/* Exit status of a job whose program cannot be run; its output says "NAME: cannot be run: why". */
enum { RCL_JOB_CANNOT_RUN_STATUS = 127 };

typedef enum rcl_job_end {
    RCL_JOB_WAITING,     /* not started yet */
    RCL_JOB_SKIPPED,     /* `wanted` said no */
    RCL_JOB_EXITED,      /* see status */
    RCL_JOB_KILLED,      /* by the signal in status */
    RCL_JOB_LATE,        /* its time was over */
    RCL_JOB_NOT_STARTED, /* output says why */
    RCL_JOB_INTERRUPTED  /* *stop was set before it ended */
} rcl_job_end;

typedef struct rcl_job {
    /* Set by the caller. The strings must live until the job has ended. */
    const char *const *arguments;   /* [0] is found through PATH; NULL at the end */
    const char *const *environment; /* "NAME=value", beside ours; NULL at the end. Or NULL. */
    double limit_seconds;
    uint64_t memory_bytes; /* of address space; 0: no limit */
    bool fixed_addresses;  /* no address space randomisation: ThreadSanitizer needs that */
    void *tag;             /* the caller's own */

    /* Filled by rcl_jobs_run. */
    rcl_job_end end;
    int status; /* exit status, or signal */
    double seconds;
    char *output; /* owned by the job: rcl_job_free */
    size_t output_size;
    char verdict[RCL_JOB_VERDICT_BYTES]; /* descriptor 3 */
    size_t verdict_size;
} rcl_job;

typedef struct rcl_jobs {
    rcl_job *jobs;
    size_t count;
    unsigned at_once;
    const volatile sig_atomic_t *stop; /* set by a signal handler */
    void *context;
    /* Each may be NULL. `wanted` is asked just before a job starts and may still change its limits;
     * `ended` is told right after it ended; `tick` comes several times a second. */
    bool (*wanted)(void *context, rcl_job *job);
    void (*ended)(void *context, rcl_job *job);
    void (*tick)(void *context, size_t done);
} rcl_jobs;

/* Runs all jobs, in order, up to at_once at a time. False if *stop was set: those that ran were killed.
 * The process must have no other children that it wants to wait for. */
bool rcl_jobs_run(const rcl_jobs *jobs);

void rcl_job_free(rcl_job *job);

#endif
