#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "workload.h"

static const uint64_t terminal_interval_ns = UINT64_C(100000000);
static const uint64_t log_interval_ns = UINT64_C(10000000000);

void rcl_progress_start(rcl_progress *progress)
{
    *progress = (rcl_progress){
        .terminal = isatty(STDERR_FILENO) != 0,
        .started_ns = rcl_now_ns(),
    };
}

double rcl_progress_elapsed_seconds(const rcl_progress *progress)
{
    return (double)(rcl_now_ns() - progress->started_ns) * 1e-9;
}

void rcl_progress_show(rcl_progress *progress, double done, double whole, const char *what)
{
    uint64_t now_ns = rcl_now_ns();
    uint64_t interval_ns = progress->terminal ? terminal_interval_ns : log_interval_ns;
    if (progress->shown_ns != 0 && now_ns - progress->shown_ns < interval_ns) {
        return;
    }
    progress->shown_ns = now_ns;
    double share = whole > 0 ? done / whole : 0;
    double elapsed_s = rcl_progress_elapsed_seconds(progress);
    char left[32] = "";
    if (share > 0.01) {
        unsigned seconds = (unsigned)(elapsed_s * (1 - share) / share + 0.5);
        snprintf(left, sizeof left, "%u:%02u left", seconds / 60, seconds % 60);
    }
    fprintf(stderr,
            progress->terminal ? "\r\033[K%3.0f %%  %-10s  %.90s" : "%3.0f %%  %-10s  %.90s\n",
            share * 100, left, what);
    fflush(stderr);
}

void rcl_progress_end(rcl_progress *progress)
{
    if (progress->terminal) {
        fputs("\r\033[K", stderr);
    }
}
