/* WEAK-09: the weak count is cut to its low 16 bits. */
#define rc_weak_count correct_weak_count
#include "../../../impls/packed64/rc.h"
#undef rc_weak_count

static inline uint64_t rc_weak_count(rc_strong handle)
{
    return (uint16_t)correct_weak_count(handle);
}
