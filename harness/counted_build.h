/* counted_build: harness/counted/counted.c, compiled for implementations by the user's own compiler at
 * the flags of the benchmark. rclab cost counts what these programs execute, rclab asm shows it. */
#ifndef RCL_COUNTED_BUILD_H
#define RCL_COUNTED_BUILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "battery_build.h"
#include "subject.h"

/* One row of harness/counted/operations.def. */
typedef struct rcl_counted_operation {
    const char *name; /* "retain": the function is counted_retain */
    unsigned needs;   /* RC_CAP_ bits */
    const char *text;
} rcl_counted_operation;

enum { RCL_COUNTED_OPERATIONS_MAX = 64 };

/* In the order of the tables. Static. */
extern const rcl_counted_operation rcl_counted_operations[];
extern const unsigned rcl_counted_operation_count; /* at most RCL_COUNTED_OPERATIONS_MAX */
/* A line for each, as --help lists them. */
void rcl_counted_print_operations(FILE *out);

/* Its place in rcl_counted_operations, or -1. */
int rcl_counted_operation_find(const char *name, size_t length);

/* Sets wanted[i] for each operation in a comma-separated list; "all" has all. False, with a message as
 * from `command` that names those there are, on an unknown one. */
bool rcl_counted_operations_parse(const char *command, const char *list, bool *wanted);

typedef struct rcl_counted_program {
    rcl_subject subject;
    bool built;
    char path[RCL_PATH_BYTES]; /* the program, if built */
    char why[512];             /* if not: the compiler's first words that help */
} rcl_counted_program;

typedef struct rcl_counted_build {
    rcl_counted_program *programs; /* subject: set by the caller */
    size_t count;
    const char
        *compiler; /* the C compiler, e.g. "clang": then its C++ twin too. NULL: CC and CXX */
    const char *libraries; /* objects and libraries to link with, separated by spaces; or NULL */
    const char *folder;    /* where to build; exists */
    bool source_lines;     /* with line numbers, which change no instruction */
    bool fixed_addresses;  /* the program runs at the addresses that objdump shows */
    unsigned at_once;
    const volatile sig_atomic_t *stop;
} rcl_counted_build;

/* Builds the programs. RCL_BUILD_DONE: all were tried, see `built`. Else `error` says why. Cost: about
 * a second of processor time each. */
rcl_build_result rcl_counted_make(rcl_counted_build *build, char *error, size_t error_size);

/* A new folder below TMPDIR for a build, or false with `error`. */
bool rcl_counted_folder(char *folder, size_t size, char *error, size_t error_size);
/* Removes it with what is in it. */
void rcl_counted_folder_remove(const char *folder);

#endif
