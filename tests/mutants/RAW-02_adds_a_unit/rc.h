/* RAW-02: rc_from_raw adds a reference, as if the pointer had none. Known bugs: row 140. */
#define rc_from_raw correct_from_raw
#include "../../../impls/packed64/rc.h"
#undef rc_from_raw

static inline rc_strong rc_from_raw(void *payload)
{
    return rc_retain(correct_from_raw(payload));
}
