/* places: source lines of code addresses, and names of static memory, of the running program.
 *
 * Asks addr2line and nm of binutils, once each. The program is linked -no-pie, and compiled with -g.
 */
#ifndef RCX_PLACES_H
#define RCX_PLACES_H

#include <stddef.h>

#include "shadow.h"

typedef struct rcx_frame {
    const char *function; /* "?" if it is not known */
    const char *file;     /* as the compiler was told, or absolute; "" if it is not known */
    unsigned line;        /* 0: not known */
} rcx_frame;

typedef struct rcx_places rcx_places;

/* The caller ends it with rcx_places_free. NULL: no memory. */
rcx_places *rcx_places_look(const rcx_place *places, size_t count);
void rcx_places_free(rcx_places *places);

/* False: addr2line did not answer, and no place has frames. */
bool rcx_places_known(const rcx_places *places);

/* The place and the functions that it was inlined into, the innermost first. They live as long as
 * `places`. Returns how many. */
size_t rcx_places_frames(const rcx_places *places, rcx_place place, const rcx_frame **frames);

/* The variable that the address lies in, or NULL; *offset: how far in. */
const char *rcx_places_variable(rcx_places *places, uintptr_t address, size_t *offset);

/* The statement around the frame's line, or its beginning, on one line without surrounding blanks. ""
 * if the file is not there. */
void rcx_places_source(const rcx_frame *frame, char *text, size_t size);

#endif
