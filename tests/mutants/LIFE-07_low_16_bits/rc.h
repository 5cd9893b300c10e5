/* LIFE-07: the use count is cut to its low 16 bits. */
#define rc_use_count correct_use_count
#include "../../../impls/packed64/rc.h"
#undef rc_use_count

static inline uint64_t rc_use_count(rc_strong handle)
{
    return (uint16_t)correct_use_count(handle);
}
