/* MEM-07: six low bits of the payload's address are taken for flags, which an alignment of 16 does
 * not leave. Known bugs: rows 66, 67. */
#define rc_payload correct_payload
#include "../../../impls/packed64/rc.h"
#undef rc_payload

static inline void *rc_payload(rc_strong handle)
{
    return (void *)((uintptr_t)handle.payload & ~(uintptr_t)63);
}
