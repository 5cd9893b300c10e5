/* LIMIT-06: the limit of rc_weak_new is compared with a mask that was not shifted to the field: it
 * is never reached. Known bugs: row 51. */
#define rc_weak_new correct_weak_new
#include "../../../impls/packed64/rc.h"
#undef rc_weak_new

static inline rc_weak rc_weak_new(rc_strong handle)
{
    if (handle.payload == NULL) {
        return rc_weak_null();
    }
    uint64_t before = atomic_fetch_add_explicit(&packed64_header_of(handle.payload)->counts,
                                                UINT64_C(1) << 32, memory_order_relaxed);
    if (RC_CHECKED && packed64_strong(before) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, handle.payload);
    }
    if (RC_CHECKED && before >> 32 > UINT64_C(0x7fffffff) << 32) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, handle.payload);
    }
    return (rc_weak){handle.payload};
}
