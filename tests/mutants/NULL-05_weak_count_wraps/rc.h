/* NULL-05: the implicit weak is taken off the weak count of null, where there is none. */
#define rc_weak_count correct_weak_count
#include "../../../impls/packed64/rc.h"
#undef rc_weak_count

static inline uint64_t rc_weak_count(rc_strong handle)
{
    return handle.payload == NULL ? UINT64_C(0) - 1 : correct_weak_count(handle);
}
