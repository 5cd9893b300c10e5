/* compare_print: a comparison for the terminal, for tools and for a page. */
#ifndef RCL_COMPARE_PRINT_H
#define RCL_COMPARE_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "compare.h"

/* A table of the cells that differ, slowest first, and what was found in all of them; with `all`, of
 * every cell. False if memory was refused. */
bool rcl_compare_print(FILE *out, const rcl_compare_request *request,
                       const rcl_comparison *comparison, bool all);
/* The same as Markdown. */
bool rcl_compare_print_markdown(FILE *out, const rcl_compare_request *request,
                                const rcl_comparison *comparison, bool all);
/* A row for every cell, controls and cells that were left out too; the columns stand in
 * results/README.md. False if it could not be written. */
bool rcl_compare_write_csv(FILE *out, const rcl_comparison *comparison);

/* "packed64 retain_release, 1 thread private, libc": of a pair, with "a -> b" for two
 * implementations. */
void rcl_pair_label(const rcl_pair *pair, char *label, size_t size);

#endif
