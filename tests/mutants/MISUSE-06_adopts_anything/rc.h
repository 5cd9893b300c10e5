/* MISUSE-06: rc_from_raw adopts what rc_new did not make. */
#define rc_from_raw correct_from_raw
#include "../../../impls/packed64/rc.h"
#undef rc_from_raw

static inline rc_strong rc_from_raw(void *payload)
{
    return (rc_strong){payload};
}
