/* LIFE-09: rc_is_unique forgets that a second strong handle may exist. */
#define rc_is_unique correct_is_unique
#include "../../../impls/packed64/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    return handle.payload != NULL && rc_weak_count(handle) == 0 && rc_use_count(handle) > 0;
}
