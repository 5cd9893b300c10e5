/* TENSOR-05: a weak handle holds the object: leaf and accumulator keep each other alive. */
#define rc_weak_new correct_weak_new
#include "../../../impls/packed64/rc.h"
#undef rc_weak_new

static inline rc_weak rc_weak_new(rc_strong handle)
{
    rc_retain(handle);
    return correct_weak_new(handle);
}
