/* THREAD-03: when a thread has detached, releases of objects that it made are sent to it and lost.
 * Known bugs: row 117. */
#define rc_new correct_new
#define rc_thread_detach correct_thread_detach
#define rc_release correct_release
#include "../../../impls/packed64/rc.h"
#undef rc_new
#undef rc_thread_detach
#undef rc_release

enum { MUTANT_OWNERS = 4096 };

static _Thread_local char mutant_self;
static _Atomic(const char *) mutant_owners[MUTANT_OWNERS]; /* by address */

static inline _Atomic(const char *) *mutant_owner(const void *payload)
{
    return &mutant_owners[(uintptr_t)payload / 16 % MUTANT_OWNERS];
}

static inline rc_strong rc_new(const rc_class *class)
{
    rc_strong made = correct_new(class);
    atomic_store_explicit(mutant_owner(made.payload), &mutant_self, memory_order_relaxed);
    return made;
}

static inline void rc_thread_detach(void)
{
    /* Its objects have nobody now. */
    for (unsigned i = 0; i < MUTANT_OWNERS; i++) {
        const char *self = &mutant_self;
        atomic_compare_exchange_strong_explicit(&mutant_owners[i], &self, NULL,
                                                memory_order_relaxed, memory_order_relaxed);
    }
}

static inline void rc_release(rc_strong handle)
{
    if (handle.payload != NULL &&
        atomic_load_explicit(mutant_owner(handle.payload), memory_order_relaxed) != NULL) {
        correct_release(handle);
    }
}
