/* THREAD-02: an object whose last release comes on a thread that did not make it is left to its
 * maker, which never hears of it. Known bugs: row 115. */
#define STEPS_OWN_DIE
#define rc_new correct_new
#include "../base/steps.h"
#undef rc_new

enum { MUTANT_OWNERS = 4096 };

static _Thread_local char mutant_self;
static _Atomic(const char *) mutant_owners[MUTANT_OWNERS]; /* by address */

static inline _Atomic(const char *) *mutant_owner(const void *payload)
{
    return &mutant_owners[(uintptr_t)payload / 16 % MUTANT_OWNERS];
}

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    if (atomic_load_explicit(mutant_owner(header + 1), memory_order_relaxed) != &mutant_self) {
        return;
    }
    steps_mark_finalizing(header);
    steps_finalize(header);
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}

static inline rc_strong rc_new(const rc_class *class)
{
    rc_strong made = correct_new(class);
    atomic_store_explicit(mutant_owner(made.payload), &mutant_self, memory_order_relaxed);
    return made;
}
