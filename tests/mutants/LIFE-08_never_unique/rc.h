/* LIFE-08: nobody is ever told that it is alone. */
#define rc_is_unique correct_is_unique
#include "../../../impls/packed64/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    (void)handle;
    return false;
}
