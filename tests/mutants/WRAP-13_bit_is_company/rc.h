/* WRAP-13: rc_is_unique compares the whole word, the wrapper's bit too. */
#define rc_is_unique correct_is_unique
#include "../../../impls/packed64/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    return correct_is_unique(handle) && !rc_has_wrapper(handle);
}
