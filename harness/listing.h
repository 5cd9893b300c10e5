/* listing: the machine code of the counted functions, as objdump shows it, made readable: offsets in
 * place of addresses, locked instructions marked, what lies out of line shown apart. */
#ifndef RCL_LISTING_H
#define RCL_LISTING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cost.h"

typedef struct rcl_listing_options {
    const char *program; /* path */
    bool att;            /* AT&T syntax; else Intel's */
    bool source;         /* source lines between the instructions */
    /* Of the operation: those instructions are marked. NULL: none are. */
    const rcl_executed *executed;
    const volatile sig_atomic_t *stop;
} rcl_listing_options;

typedef enum rcl_listing_end {
    RCL_LISTING_DONE,
    RCL_LISTING_NO_FUNCTION, /* the program has none of that name */
    RCL_LISTING_ENVIRONMENT, /* `error` says what is missing */
    RCL_LISTING_INTERRUPTED
} rcl_listing_end;

/* Prints a function, then what it calls of the program's own code, each once. */
rcl_listing_end rcl_listing_print(FILE *out, const rcl_listing_options *options,
                                  const char *function, char *error, size_t error_size);

#endif
