/* LIMIT-08: one reference beyond the limit traps, although the counts are said to saturate. */
#define NARROW_WORD uint64_t
#define NARROW_STRONG_BITS 31
#define NARROW_OVERFLOW RC_OVERFLOW_SATURATE
#define rc_retain correct_retain
#include "../base/narrow.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    if (rc_use_count(handle) == RC_IMPL_STRONG_MAX) {
        rc_trap(RC_TRAP_STRONG_OVERFLOW, handle.payload);
    }
    return correct_retain(handle);
}
