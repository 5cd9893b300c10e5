/* explorer: RACE-08: rc_is_unique publishes that it asks, then reads the counts; rc_weak_new counts, then
 * waits while somebody asks. Each may miss the other, for none of the four is sequentially consistent.
 * Known bugs: row 9. */
#define rc_is_unique correct_is_unique
#define rc_weak_new correct_weak_new
#include "../../../impls/split32/rc.h"
#undef rc_is_unique
#undef rc_weak_new

/* With memory_order_seq_cst for both it is correct. */
#define MUTANT_CHANGE memory_order_acq_rel
#define MUTANT_LOOK memory_order_acquire

static _Atomic(uint32_t) mutant_asking; /* how many, about any object */

static inline bool rc_is_unique(rc_strong handle)
{
    if (handle.payload == NULL) {
        return false;
    }
    split32_header *header = split32_header_of(handle.payload);
    atomic_fetch_add_explicit(&mutant_asking, 1, MUTANT_CHANGE);
    /* The weak count first: who makes a weak handle later waits, and has its strong one until then. */
    bool unique = atomic_load_explicit(&header->weak, MUTANT_LOOK) == 1 &&
                  atomic_load_explicit(&header->strong, memory_order_acquire) == 1;
    atomic_fetch_sub_explicit(&mutant_asking, 1, memory_order_release);
    return unique;
}

static inline rc_weak rc_weak_new(rc_strong handle)
{
    if (handle.payload == NULL) {
        return rc_weak_null();
    }
    split32_header *header = split32_header_of(handle.payload);
    uint32_t before = atomic_fetch_add_explicit(&header->weak, 1, MUTANT_CHANGE);
    if (split32_weak_count(before) > RC_IMPL_WEAK_MAX) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, handle.payload);
    }
    while (atomic_load_explicit(&mutant_asking, MUTANT_LOOK) != 0) {
    }
    return (rc_weak){handle.payload};
}
#undef MUTANT_CHANGE
#undef MUTANT_LOOK
