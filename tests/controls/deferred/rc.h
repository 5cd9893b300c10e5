/* deferred: releases wait in a list of their thread, and are done when it quiesces, detaches, or has no
 * room left. Correct, without RC_CAP_IMMEDIATE and RC_CAP_EXACT_COUNT: until then the count is too high,
 * so the object lives longer and is taken for unique less often. Without RC_CAP_PRESET too: what waits
 * counts against the limits.
 *
 * PARAMETERS, for mutants; undefined again at the end, but DEFERRED_CAPS
 *   DEFERRED_OWN_DRAIN   the mutant defines deferred_drain itself, behind the #include
 *   DEFERRED_OWN_DETACH  the same for rc_thread_detach
 *   DEFERRED_CAPS        more capabilities than it has
 *
 * The base's steps do the counting; a unit in the list is still counted, and owned by the list. */
#ifndef DEFERRED_CAPS
#define DEFERRED_CAPS 0
#endif
#define rc_release deferred_release_now
#define rc_quiesce deferred_base_quiesce
#define rc_thread_detach deferred_base_detach
#include "../../mutants/base/steps.h"
#undef rc_release
#undef rc_quiesce
#undef rc_thread_detach

#undef RC_IMPL_CAPS
#define RC_IMPL_CAPS (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | DEFERRED_CAPS)

enum { DEFERRED_ROOM = 64 };

typedef struct deferred_list {
    rc_strong handles[DEFERRED_ROOM];
    unsigned count;
} deferred_list;

static _Thread_local deferred_list deferred_mine;

/* Does what this thread has put off, and what finalizers put off meanwhile. */
static inline void deferred_drain(void);

#ifndef DEFERRED_OWN_DRAIN
static inline void deferred_drain(void)
{
    while (deferred_mine.count > 0) {
        deferred_release_now(deferred_mine.handles[--deferred_mine.count]);
    }
}
#endif

static inline void rc_release(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    if (deferred_mine.count == DEFERRED_ROOM) {
        deferred_release_now(handle); /* asks for no memory, and needs no order among releases */
        return;
    }
    deferred_mine.handles[deferred_mine.count++] = handle;
}

static inline void rc_quiesce(void)
{
    deferred_drain();
}

#ifndef DEFERRED_OWN_DETACH
static inline void rc_thread_detach(void)
{
    deferred_drain();
}
#endif

#undef DEFERRED_OWN_DRAIN
#undef DEFERRED_OWN_DETACH
