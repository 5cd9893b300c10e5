/* LIFE-06: a retain copies the object, its counts with the payload, and gives a handle of the copy.
 * Known bugs: row 89. */
#include <string.h>
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.payload == NULL) {
        return handle;
    }
    packed64_header *from = packed64_header_of(handle.payload);
    rc_strong copy = rc_new(from->class);
    memcpy(packed64_header_of(copy.payload), from, sizeof *from + from->class->payload_size);
    return copy;
}
