/* bench: a whole run, from plan to plots. */
#ifndef RCL_BENCH_H
#define RCL_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "plan.h"

typedef struct rcl_bench_options {
    rcl_selection selection;
    const char *out;   /* result folder; NULL: results/<date and time> under the working folder */
    const char *input; /* a recording of the user's to play, and nothing else; or NULL */
    const rcl_replay_choice *replay; /* how to play it */
    unsigned launches;               /* process launches, 1 or more */
    unsigned repetitions;            /* of a cell in each launch, 1 or more */
    double seconds;                  /* what the run may take, roughly */
    unsigned repetition_ms;          /* length of a repetition; 0: what `seconds` leaves for it */
    uint64_t seed;                   /* of the order and of the workloads' random numbers; not 0 */
    bool plots;
    const char *command_line;
    const char *name; /* the command's, for messages: "bench" or "replay" */
} rcl_bench_options;

/* Runs, records, prints the table to standard output and draws the plots. Returns an exit status: 0;
 * 1 if an implementation failed in a cell; 2 for a selection or folder that cannot be used; 3 if the
 * machine lacks something; 130 after Ctrl-C, when what was finished is kept. */
int rcl_bench(const rcl_registry *registry, const rcl_bench_options *options);

#endif
