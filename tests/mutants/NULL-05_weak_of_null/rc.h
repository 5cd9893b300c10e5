/* NULL-05: a weak handle made from null is counted somewhere. */
#define rc_weak_new correct_weak_new
#include "../../../impls/packed64/rc.h"
#undef rc_weak_new

static inline rc_weak rc_weak_new(rc_strong handle)
{
    return packed64_weak_retain(handle.payload, true);
}
