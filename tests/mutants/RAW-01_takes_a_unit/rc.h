/* RAW-01: rc_into_raw takes a reference for the pointer, beside the handle's. */
#define rc_into_raw correct_into_raw
#include "../../../impls/packed64/rc.h"
#undef rc_into_raw

static inline void *rc_into_raw(rc_strong handle)
{
    return rc_retain(handle).payload;
}
