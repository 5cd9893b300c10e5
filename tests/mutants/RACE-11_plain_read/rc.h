/* RACE-11: the use count is a plain read beside atomic changes. Known bugs: rows 112, 10. */
#define rc_use_count correct_use_count
#include "../../../impls/packed64/rc.h"
#undef rc_use_count

static inline uint64_t rc_use_count(rc_strong handle)
{
    return handle.payload == NULL
               ? 0
               : packed64_strong(
                     *(const uint64_t *)(const void *)packed64_header_of(handle.payload));
}
