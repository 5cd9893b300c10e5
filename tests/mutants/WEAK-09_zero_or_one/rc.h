/* WEAK-09: the weak count says whether there are weak handles, not how many. Known bugs: row 110. */
#define rc_weak_count correct_weak_count
#include "../../../impls/packed64/rc.h"
#undef rc_weak_count

static inline uint64_t rc_weak_count(rc_strong handle)
{
    return correct_weak_count(handle) != 0 ? 1 : 0;
}
