/* SHM-01: claims to work across processes, and keeps what each process has retained in memory of
 * its own. Known bugs: rows 133, 134. */
#define rc_retain correct_retain
#define rc_release correct_release
#define rc_use_count correct_use_count
#include "../../../impls/packed64/rc.h"
#undef rc_retain
#undef rc_release
#undef rc_use_count

#undef RC_IMPL_CAPS
#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER | RC_CAP_IMMEDIATE |               \
     RC_CAP_EXACT_COUNT | RC_CAP_PRESET | RC_CAP_SHM)

static _Atomic(int64_t) mutant_extra[4096]; /* by address */

static inline _Atomic(int64_t) *mutant_extra_of(rc_strong handle)
{
    return &mutant_extra[(uintptr_t)handle.payload / 16 % 4096];
}

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.payload != NULL) {
        atomic_fetch_add_explicit(mutant_extra_of(handle), 1, memory_order_relaxed);
    }
    return handle;
}

static inline void rc_release(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    if (atomic_fetch_sub_explicit(mutant_extra_of(handle), 1, memory_order_acq_rel) == 0) {
        atomic_store_explicit(mutant_extra_of(handle), 0, memory_order_relaxed);
        correct_release(handle);
    }
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    uint64_t count = correct_use_count(handle);
    return count == 0 ? 0
                      : count + (uint64_t)atomic_load_explicit(mutant_extra_of(handle),
                                                               memory_order_relaxed);
}
