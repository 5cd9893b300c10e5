/* battery_build: the battery, compiled for one implementation by the user's own compiler.
 *
 * One program per flavour: what is compiled in differs (checks, sanitizers, optimisation), the sources
 * are the same. CC and CXX name the compilers (cc and c++ by default). Every *.c, *.cc and *.cpp in
 * the folder of the rc.h is part of the implementation.
 */
#ifndef RCL_BATTERY_BUILD_H
#define RCL_BATTERY_BUILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "compile.h"

typedef enum rcl_flavour {
    RCL_FLAVOUR_PLAIN,      /* as it is timed: no checks */
    RCL_FLAVOUR_CHECKED,    /* misuse traps */
    RCL_FLAVOUR_CHECKED_O0, /* the same, not optimised: a check must not depend on it */
    RCL_FLAVOUR_ASAN,       /* AddressSanitizer and UndefinedBehaviorSanitizer */
    RCL_FLAVOUR_TSAN,       /* ThreadSanitizer */
    /* The explorer's program (tests/engines/explorer); conform wants the first and the last. */
    RCL_FLAVOUR_EXPLORE,
    RCL_FLAVOUR_EXPLORE_CHECKED,
    RCL_FLAVOUR_EXPLORE_O0_PLAIN,
    RCL_FLAVOUR_EXPLORE_O0, /* checked */
    RCL_FLAVOUR_COUNT
} rcl_flavour;

const char *rcl_flavour_name(rcl_flavour flavour); /* "plain" */
bool rcl_flavour_sanitized(rcl_flavour flavour);
bool rcl_flavour_explored(rcl_flavour flavour);
/* What a program of this flavour must have in its environment; NULL at the end. */
const char *const *rcl_flavour_environment(rcl_flavour flavour);

typedef struct rcl_battery_program {
    bool wanted, built;
    char path[RCL_PATH_BYTES]; /* the program, if built */
    bool unsupported;          /* if not built: the explorer cannot take it; `why` says why */
    bool lacking;              /* the same because this machine lacks something */
    char why[512];             /* if wanted and not built: the compiler's first words that help */
} rcl_battery_program;

typedef struct rcl_battery_build {
    const char *header;    /* path of the rc.h, or its name below impls/ */
    const char *libraries; /* objects and libraries to link with, separated by spaces; or NULL */
    const char *folder;    /* where to build; exists */
    unsigned at_once;
    const volatile sig_atomic_t *stop;
    rcl_battery_program programs[RCL_FLAVOUR_COUNT]; /* wanted: set by the caller */
} rcl_battery_build;

typedef enum rcl_build_result {
    RCL_BUILD_DONE,    /* every plain or checked flavour is there; of the others see built */
    RCL_BUILD_REFUSED, /* the implementation does not compile or link: `error` says why */
    RCL_BUILD_NO_COMPILER,
    RCL_BUILD_INTERRUPTED
} rcl_build_result;

/* Builds the wanted flavours. `error` may have several lines. Cost: 2 to 5 s of processor time each. */
rcl_build_result rcl_battery_make(rcl_battery_build *build, char *error, size_t error_size);

/* Absolute path of the rc.h that a header as above names. False if there is no such file. */
bool rcl_battery_header_path(const char *header, char *path, size_t size);

#endif
