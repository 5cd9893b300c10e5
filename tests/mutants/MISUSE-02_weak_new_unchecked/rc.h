/* MISUSE-02: a weak handle can be made from a dead object. */
#define rc_weak_new correct_weak_new
#include "../../../impls/packed64/rc.h"
#undef rc_weak_new

static inline rc_weak rc_weak_new(rc_strong handle)
{
    return handle.payload == NULL ? rc_weak_null() : packed64_weak_retain(handle.payload, false);
}
