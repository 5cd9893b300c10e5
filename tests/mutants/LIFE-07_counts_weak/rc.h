/* LIFE-07: the use count has the weak handles in it. */
#define rc_use_count correct_use_count
#include "../../../impls/packed64/rc.h"
#undef rc_use_count

static inline uint64_t rc_use_count(rc_strong handle)
{
    return correct_use_count(handle) + rc_weak_count(handle);
}
