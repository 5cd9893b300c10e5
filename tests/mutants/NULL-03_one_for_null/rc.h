/* NULL-03: the use count of null is 1. */
#define rc_use_count correct_use_count
#include "../../../impls/packed64/rc.h"
#undef rc_use_count

static inline uint64_t rc_use_count(rc_strong handle)
{
    return handle.payload == NULL ? 1 : correct_use_count(handle);
}
