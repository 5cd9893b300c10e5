/* RAW-03: rc_retain_raw gives a handle and no reference. Known bugs: row 140. */
#define rc_retain_raw correct_retain_raw
#include "../../../impls/packed64/rc.h"
#undef rc_retain_raw

static inline rc_strong rc_retain_raw(void *payload)
{
    return rc_from_raw(payload);
}
