/* subject: an implementation as a user names it: by its name, or by the path of its rc.h. */
#ifndef RCL_SUBJECT_H
#define RCL_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "compile.h"
#include "registry.h"

typedef struct rcl_subject {
    char name[64];
    const char *given;           /* what --impl said; the caller's */
    char header[RCL_PATH_BYTES]; /* below impls/, or absolute */
} rcl_subject;

/* Finds what `given` names. False, with a message as from `command`, if there is no such thing. */
bool rcl_subject_find(const rcl_registry *registry, const char *command, const char *given,
                      rcl_subject *found);

/* "--impl NAME --libs 'WORDS'": how the user would ask for it again. `libraries` may be NULL. */
void rcl_subject_options(const rcl_subject *one, const char *libraries, char *text, size_t size);

#endif
