/* NULL-03: null is unique: nobody else has it. */
#define rc_is_unique correct_is_unique
#include "../../../impls/packed64/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    return handle.payload == NULL || correct_is_unique(handle);
}
