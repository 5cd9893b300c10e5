/* RAW-02: rc_from_raw adds an implicit weak once more: the block never goes. Known bugs: row 42. */
#define rc_from_raw correct_from_raw
#include "../../../impls/packed64/rc.h"
#undef rc_from_raw

static inline rc_strong rc_from_raw(void *payload)
{
    rc_strong handle = correct_from_raw(payload);
    rc_weak_new(handle);
    return handle;
}
