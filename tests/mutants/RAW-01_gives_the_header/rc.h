/* RAW-01: rc_into_raw gives the address of the header. */
#define rc_into_raw correct_into_raw
#define rc_from_raw correct_from_raw
#include "../../../impls/packed64/rc.h"
#undef rc_into_raw
#undef rc_from_raw

static inline void *rc_into_raw(rc_strong handle)
{
    return handle.payload == NULL ? NULL : packed64_header_of(handle.payload);
}

static inline rc_strong rc_from_raw(void *header)
{
    return (rc_strong){header == NULL ? NULL : (packed64_header *)header + 1};
}
