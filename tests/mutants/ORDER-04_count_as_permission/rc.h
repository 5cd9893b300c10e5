/* ORDER-04: rc_is_unique asks the counts, which order nothing. Known bugs: rows 107, 10. */
#define rc_is_unique correct_is_unique
#include "../../../impls/packed64/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    return rc_use_count(handle) == 1 && rc_weak_count(handle) == 0;
}
