/* NULL-02: a retain follows the null pointer. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    return packed64_retain(handle.payload);
}
