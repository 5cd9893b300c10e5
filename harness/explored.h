/* explored: what the explorer's program says of its searches, and how that is told. */
#ifndef RCL_EXPLORED_H
#define RCL_EXPLORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jobs.h"

/* Searches that did not fail. */
typedef struct rcl_explored {
    unsigned exhaustive, bounded, unsupported; /* searches that ended so */
    uint64_t executions;                       /* of the first two */
    char bound[256];                           /* of the first bounded one: what was left out */
    char why[256];                             /* of the first unsupported one */
} rcl_explored;

/* Adds the search of a job that has ended. One that was not over in its time counts as unsupported: how
 * long it takes is the machine's. False: it has failed. */
bool rcl_explored_add(rcl_explored *explored, const rcl_job *job);

/* "pass, exhaustive: 8,118 executions in 4 searches", "pass, bounded: ...", "unsupported: ...". Empty if
 * there was no search. */
void rcl_explored_words(const rcl_explored *explored, char *text, size_t size);

/* "1,234,567". */
void rcl_with_commas(uint64_t number, char *text, size_t size);

/* The schedule in the words of a failed search, which it takes out of them; empty if there is none. */
void rcl_explored_schedule(char *came, char *schedule, size_t size);

/* What the job printed of the interleaving, without the lines at its end. Cut off, and says so, if there
 * is more. Lines end in \n but the last. */
void rcl_explored_interleaving(const rcl_job *job, char *text, size_t size);

#endif
