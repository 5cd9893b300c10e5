/* delay_work: the loop of the workloads that measure how late memory comes back (delay.h).
 *
 * Included by them, after contract.h and workload.h. For each release: make a structure, wait for the
 * scheduled moment, release its only handle. A strategy that puts work off is asked to finish it
 * (rc_quiesce) after every 16th release, as at the end of a request; before that it frees when it likes.
 * Making comes before the wait: a structure that is due while it is made waits for that too.
 *
 * null frees nothing: its moment is when it has taken the memory back, after each release.
 */
#ifndef RCL_DELAY_WORK_H
#define RCL_DELAY_WORK_H

#include "delay.h"
#include "memory.h"
#include "workload.h"

#define DELAY_WORK_QUIESCE 16 /* releases */
#define DELAY_WORK_BATCH 64   /* of the warm-up */

/* What the thread does for one structure; a handle to it that the caller owns, null if memory was
 * refused. */
typedef rc_strong delay_work_make(void);

/* Makes structure number i; its blocks are followed, if anybody follows. */
static inline rc_strong delay_work_new(const rcl_delay_run *run, uint64_t i, delay_work_make *make)
{
#ifdef RCL_IMPL_IS_NULL
    (void)run;
    (void)i;
    return make();
#else
    if (run == NULL) {
        return make();
    }
    run->groups[i] = (rcl_memory_group){0};
    rcl_memory_name_group(&run->groups[i]);
    rc_strong made = make();
    rcl_memory_name_group(NULL);
    return made;
#endif
}

/* Returns once structure number i is due: at once if it is late. */
static inline void delay_work_wait(rcl_delay_run *run, uint64_t i)
{
    const uint64_t due_ns = run->start_ns + run->scheduled_ns[i];
    const uint64_t came_ns = run->clock();
    uint64_t now_ns = came_ns;
    while (now_ns < due_ns) {
        now_ns = run->clock();
    }
    run->waited_ns += now_ns - came_ns;
}

/* rcl_workload.run_timed, for structures that `make` makes. */
static inline uint64_t delay_work_run(rcl_thread *thread, uint64_t operations, uint64_t *elapsed_ns,
                                      delay_work_make *make)
{
    rcl_delay_run *run = thread->team->delay;
    const uint64_t start_ns = run != NULL ? run->clock() : rcl_now_ns();
    uint64_t done = 0;
    if (run != NULL) {
        run->start_ns = start_ns;
        run->waited_ns = 0;
    }
    while (done < operations) {
        rc_strong structure = delay_work_new(run, done, make);
        if (rc_is_null(structure)) {
            break;
        }
        if (run != NULL) {
            delay_work_wait(run, done);
        }
        rc_release(structure);
        rcl_clobber();
        rcl_objects_are_dead();
#ifdef RCL_IMPL_IS_NULL
        if (run != NULL) {
            run->groups[done] = (rcl_memory_group){.freed_at = run->clock()};
        }
#endif
        done++;
        if (done % DELAY_WORK_QUIESCE == 0) {
            rc_quiesce();
        }
    }
    rc_quiesce();
    *elapsed_ns = (run != NULL ? run->clock() : rcl_now_ns()) - start_ns;
    if (run != NULL) {
        run->elapsed_ns = *elapsed_ns;
    }
    return done;
}

#endif
