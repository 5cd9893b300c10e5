/* explore: the explorer over one implementation, scenario by scenario. Prints nothing but a progress line. */
#ifndef RCL_EXPLORE_H
#define RCL_EXPLORE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "battery_build.h"
#include "explored.h"
#include "subject.h"

typedef struct rcl_explore_options {
    const char *libraries; /* objects to link with; or NULL */
    const char *scenarios; /* names, clauses, areas, CLAUSE/NAME, separated by commas; NULL: all */
    const char *schedule;  /* of one scenario: runs this execution alone; or NULL */
    uint64_t executions;   /* of a search, at most; 0: no limit */
    uint64_t random;       /* further ones when that limit was met */
    uint64_t seed;         /* of those */
    unsigned processes;    /* of one search */
    bool optimised, checked;
    bool json; /* keep the trace of each failure as JSON */
    bool list; /* search nothing */
    bool keep; /* leave the build folder, and say where it is */
    const volatile sig_atomic_t *stop;
} rcl_explore_options;

typedef enum rcl_search_verdict {
    RCL_SEARCH_WAITING, /* interrupted before */
    RCL_SEARCH_PASS,    /* exhaustive */
    RCL_SEARCH_BOUNDED,
    RCL_SEARCH_FAIL,
    RCL_SEARCH_UNSUPPORTED,
    RCL_SEARCH_INTERRUPTED, /* `executions` were fine until then */
    RCL_SEARCH_LEFT_OUT     /* the scenario is none for a search: `words` says why */
} rcl_search_verdict;

/* The search of one scenario. */
typedef struct rcl_search {
    char number[16]; /* in its program */
    char clause[16], name[80];
    rcl_search_verdict verdict;
    char words[1024];    /* "pass, exhaustive: 8 executions"; of a failure, what came */
    char schedule[1024]; /* of a failure */
    uint64_t executions, blocked;
    double seconds;
    char *output; /* of a failure: the interleaving, and how to see it again; or NULL */
    char *trace;  /* the same as JSON; or NULL */
} rcl_search;

typedef struct rcl_exploration {
    rcl_search *searches; /* in the battery's order */
    size_t count;
    double seconds;
    bool unsupported; /* all of it: `why` says why; there are no searches */
    bool lacking;     /* the same because the machine lacks something */
    char why[512];
    char kept[RCL_PATH_BYTES]; /* the build folder, if it was kept */
} rcl_exploration;

typedef enum rcl_explore_end {
    RCL_EXPLORE_DONE,
    RCL_EXPLORE_NOT_BUILT,   /* `error` says why, in lines */
    RCL_EXPLORE_NO_SUCH,     /* no such scenario, or a schedule for several; `error` says so */
    RCL_EXPLORE_ENVIRONMENT, /* the machine lacks something */
    RCL_EXPLORE_INTERRUPTED  /* *stop was set; the searches that ended are there */
} rcl_explore_end;

/* Builds the explorer's program and searches what `options` names. The result must be freed in every
 * case. Cost: 2 s to build; 2 to 20 us an execution. */
rcl_explore_end rcl_explore(const rcl_explore_options *options, const rcl_subject *subject,
                            rcl_exploration *result, char *error, size_t error_size);
void rcl_explore_free(rcl_exploration *result);

#endif
