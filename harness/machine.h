/* machine: what a run ran on, as JSON. */
#ifndef RCL_MACHINE_H
#define RCL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What only the run knows. */
typedef struct rcl_run_facts {
    const char *command_line;
    uint64_t seed;
    unsigned launches, repetitions;
    double min_seconds;
    double elapsed_seconds;
    bool interrupted;
    const char *const *failures; /* "cell: why", failure_count of them */
    size_t failure_count;
} rcl_run_facts;

/* Writes machine.json at `path`. False: `error` says why. */
bool rcl_machine_write(const char *path, const rcl_run_facts *facts, char *error,
                       size_t error_size);

/* "AMD EPYC, 2 processors", for a line under a table. Static text after the first call. */
const char *rcl_machine_line(void);

#endif
