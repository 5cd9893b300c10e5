/* NULL-06: rc_retain_raw follows NULL. */
#define rc_retain_raw correct_retain_raw
#include "../../../impls/packed64/rc.h"
#undef rc_retain_raw

static inline rc_strong rc_retain_raw(void *payload)
{
    return packed64_retain(payload);
}
