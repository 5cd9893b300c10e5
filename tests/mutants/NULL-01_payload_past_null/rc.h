/* NULL-01: the payload of null is computed from the null header, and is not NULL. */
#define rc_payload correct_payload
#include "../../../impls/nonatomic/rc.h"
#undef rc_payload

static inline void *rc_payload(rc_strong handle)
{
    return (void *)((uintptr_t)handle.header + sizeof(nonatomic_header));
}
