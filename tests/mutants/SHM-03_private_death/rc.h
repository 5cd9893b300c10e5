/* SHM-03: claims to work across processes, and keeps a list of the dead in memory of its own:
 * another process locks what died here. */
#define STEPS_OWN_DIE
#define rc_new correct_new
#define rc_weak_expired correct_weak_expired
#include "../base/steps.h"
#undef rc_new
#undef rc_weak_expired

#undef RC_IMPL_CAPS
#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER | RC_CAP_IMMEDIATE |               \
     RC_CAP_EXACT_COUNT | RC_CAP_PRESET | RC_CAP_SHM)

enum { MUTANT_DEAD = 4096 };

static _Atomic(bool) mutant_dead[MUTANT_DEAD]; /* by address */

static inline _Atomic(bool) *mutant_dead_of(const void *payload)
{
    return &mutant_dead[(uintptr_t)payload / 16 % MUTANT_DEAD];
}

static inline rc_strong rc_new(const rc_class *class)
{
    rc_strong made = correct_new(class);
    atomic_store_explicit(mutant_dead_of(made.payload), false, memory_order_relaxed);
    return made;
}

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    atomic_store_explicit(mutant_dead_of(header + 1), true, memory_order_relaxed);
    steps_mark_finalizing(header);
    steps_finalize(header);
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}

static inline bool rc_weak_expired(rc_weak weak)
{
    return weak.payload == NULL ||
           atomic_load_explicit(mutant_dead_of(weak.payload), memory_order_relaxed);
}
