/* progress: one line that says what runs, how much is done and the time left. On a terminal it is
 * rewritten in place; elsewhere a line comes every ten seconds. Goes to standard error. */
#ifndef RCL_PROGRESS_H
#define RCL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rcl_progress {
    bool terminal;
    uint64_t started_ns, shown_ns;
} rcl_progress;

void rcl_progress_start(rcl_progress *progress);
/* `done` of `whole`, in any unit that grows with time; `what` is running now. */
void rcl_progress_show(rcl_progress *progress, double done, double whole, const char *what);
/* Removes the line, so that results start at the left. */
void rcl_progress_end(rcl_progress *progress);
double rcl_progress_elapsed_seconds(const rcl_progress *progress);

#endif
