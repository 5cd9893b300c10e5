/* explorer: HOOK-06: a lock of a dying object waits until its finalize is over, unless it is inside that
 * one itself. Two that die at once and lock each other wait for ever. */
#define rc_weak_lock correct_weak_lock
#define STEPS_OWN_DIE
#include "../base/steps.h"
#undef rc_weak_lock

enum { MUTANT_ROOM = 4 };

/* Dying on all threads, and the one that dies on this one; NULL: none. */
static _Atomic(steps_header *) mutant_dying[MUTANT_ROOM];
static _Thread_local const steps_header *mutant_mine;

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    const steps_header *outer = mutant_mine;
    unsigned slot = 0;
    steps_header *none = NULL;
    while (slot < MUTANT_ROOM &&
           !atomic_compare_exchange_strong_explicit(&mutant_dying[slot], &none, header,
                                                    memory_order_acq_rel, memory_order_relaxed)) {
        none = NULL;
        slot++;
    }
    mutant_mine = header;
    steps_mark_finalizing(header);
    steps_finalize(header);
    mutant_mine = outer;
    if (slot < MUTANT_ROOM) {
        atomic_store_explicit(&mutant_dying[slot], NULL, memory_order_release);
    }
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    rc_strong locked = correct_weak_lock(weak);
    if (locked.payload != NULL || weak.payload == NULL) {
        return locked;
    }
    const steps_header *header = steps_header_of(weak.payload);
    for (unsigned slot = 0; slot < MUTANT_ROOM && header != mutant_mine;) {
        /* Again while it is there. */
        slot += atomic_load_explicit(&mutant_dying[slot], memory_order_acquire) != header;
    }
    return locked;
}
