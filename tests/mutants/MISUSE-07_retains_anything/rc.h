/* MISUSE-07: rc_retain_raw takes a payload that rc_new did not make for a dead object. */
#define rc_retain_raw correct_retain_raw
#include "../../../impls/packed64/rc.h"
#undef rc_retain_raw

static inline rc_strong rc_retain_raw(void *payload)
{
    return payload == NULL ? rc_null() : packed64_retain(payload);
}
