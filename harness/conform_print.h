/* conform_print: what the battery found, for people (a table), for test harnesses (TAP 13) and for build
 * servers (JUnit XML). */
#ifndef RCL_CONFORM_PRINT_H
#define RCL_CONFORM_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "conform.h"

/* Clause by clause, failures with the command that shows them again, then a summary. `verbose`: every
 * failing test, and how long each clause took. */
void rcl_conform_print(FILE *out, const rcl_conform_report *report, bool verbose);
/* One line: name, counts, PASSED or FAILED. */
void rcl_conform_print_summary(FILE *out, const rcl_conform_report *report);

/* The lines of one implementation; `*number` counts them over all. The plan comes last. */
void rcl_conform_tap(FILE *out, const rcl_conform_report *report, unsigned *number);

/* A test suite of one implementation; the file around it. `error` is NULL, or why it does not build. */
void rcl_conform_junit_begin(FILE *out);
void rcl_conform_junit(FILE *out, const rcl_conform_report *report, const char *error);
void rcl_conform_junit_end(FILE *out);

#endif
