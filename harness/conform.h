/* conform: the battery over one implementation. Builds it in several flavours, runs every test in a
 * process of its own, and judges clause by clause. Prints nothing but a progress line. */
#ifndef RCL_CONFORM_H
#define RCL_CONFORM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "battery_build.h"
#include "clauses.h"
#include "explored.h"

typedef enum rcl_outcome {
    RCL_OUTCOME_PASS, /* at least one test of it ran, and none failed */
    RCL_OUTCOME_FAIL,
    RCL_OUTCOME_UNSUPPORTED, /* a capability that it needs is not claimed */
    RCL_OUTCOME_UNTESTED,    /* nothing ran; `reason` says why */
    RCL_OUTCOME_COUNT
} rcl_outcome;

const char *rcl_outcome_name(rcl_outcome outcome); /* "PASS" */

typedef struct rcl_conform_options {
    const char *libraries; /* or NULL */
    const char *clauses;   /* ids or areas, separated by commas; NULL: all */
    unsigned engines;      /* rcl_engine bits */
    bool quick;            /* fewer rounds, no sanitizers, no explorer unless it is named */
    uint64_t seed;
    uint64_t operations;    /* of the oracle, over all flavours; 0: 100,000, quick 20,000 */
    double timeout_seconds; /* of a test; three times that under a sanitizer */
    unsigned jobs;
    bool keep; /* leave the build folder, and say where it is */
    const volatile sig_atomic_t *stop;
} rcl_conform_options;

enum { RCL_DETAIL_BYTES = 12288 };

/* A test that failed. */
typedef struct rcl_failure {
    size_t order;  /* of the test in the plan */
    char test[96]; /* the scenario, or "oracle" */
    rcl_flavour flavour;
    rcl_engine engine;
    char expected[512];
    char came[1536];
    char where[160];     /* file:line, or empty */
    char schedule[1024]; /* the explorer's: shows it again; or empty */
    /* What a sanitizer said, shortened, or the explorer, whole; or empty. Lines end in \n but the last. */
    char detail[RCL_DETAIL_BYTES];
} rcl_failure;

typedef struct rcl_clause_result {
    const rcl_clause *clause;
    bool wanted; /* false: --clause left it out */
    rcl_outcome outcome;
    char reason[320]; /* of UNSUPPORTED and UNTESTED */
    unsigned engines; /* that ran it */
    unsigned passed;  /* tests */
    double seconds;
    rcl_explored explored; /* over its scenarios and flavours */
    rcl_failure *failures; /* in the order of the plan, whichever came first */
    size_t failure_count;
} rcl_clause_result;

typedef struct rcl_conform_report {
    char name[64];
    char header[RCL_PATH_BYTES]; /* as given: the path of an rc.h, or its name below impls/ */
    char again[RCL_PATH_BYTES +
               64]; /* "--impl NAME": so begin the options of each failure's command */
    uint64_t seed;
    unsigned caps;
    bool narrowed;                      /* not everything was asked for: this is no verdict */
    rcl_clause_result *results;         /* rcl_clause_count of them */
    unsigned counts[RCL_OUTCOME_COUNT]; /* of wanted clauses */
    unsigned failing;                   /* REQUIRED and DECLARED ones that FAIL */
    unsigned missing;                   /* REQUIRED and DECLARED ones that are UNTESTED */
    bool passed;
    char notes[2048]; /* flavours that could not be built, and where the build was kept */
    double seconds;
} rcl_conform_report;

typedef enum rcl_conform_end {
    RCL_CONFORM_JUDGED,
    RCL_CONFORM_NOT_BUILT,   /* the implementation does not build; `error` says why, in lines */
    RCL_CONFORM_ENVIRONMENT, /* the machine lacks something */
    RCL_CONFORM_INTERRUPTED  /* *stop was set; the report has what was finished */
} rcl_conform_end;

/* Puts the implementation to the test. `caps`: what it is known to claim, or 0. The report must be freed in
 * every case. Cost: some 60 s of two processors, quick 8. */
rcl_conform_end rcl_conform(const rcl_conform_options *options, const char *name,
                            const char *header, rcl_conform_report *report, char *error,
                            size_t error_size);
void rcl_conform_free(rcl_conform_report *report);

#endif
