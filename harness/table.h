/* table: the result of a run in the terminal. */
#ifndef RCL_TABLE_H
#define RCL_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "plan.h"

/* Prints a block per group: a line for each question, a column for each implementation; then how the
 * implementations compare over all questions. Cells without a repetition are left empty. False if
 * memory was refused. */
bool rcl_table_print(FILE *out, const rcl_plan *plan);

/* "retain_release, 2 threads shared, jemalloc": a cell's line in words. */
void rcl_cell_label(const rcl_cell *cell, char *label, size_t size);

#endif
