/* WEAK-09: the weak count has the implicit weak in it. Known bugs: row 111. */
#define rc_weak_count correct_weak_count
#include "../../../impls/packed64/rc.h"
#undef rc_weak_count

static inline uint64_t rc_weak_count(rc_strong handle)
{
    return correct_weak_count(handle) + (rc_use_count(handle) > 0 ? 1 : 0);
}
