/* NULL-07: rc_has_wrapper says true for null. */
#define rc_has_wrapper correct_has_wrapper
#include "../../../impls/packed64/rc.h"
#undef rc_has_wrapper

static inline bool rc_has_wrapper(rc_strong handle)
{
    return handle.payload == NULL || correct_has_wrapper(handle);
}
