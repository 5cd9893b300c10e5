/* wrap: text for a terminal, broken between words. */
#ifndef RCL_WRAP_H
#define RCL_WRAP_H

#include <stdio.h>

/* Prints words from `column` on, and goes on at `indent` where a line would be wider than `width`.
 * Returns the column that was reached. */
int rcl_print_words(FILE *out, const char *text, int column, int indent, int width);

#endif
