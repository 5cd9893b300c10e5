/* HOOK-03: a lock is held around finalize, which waits for it when something else dies in there.
 * Known bugs: rows 84, 85. */
#include <pthread.h>
#include <stdlib.h>
#define STEPS_OWN_DIE
#include "../base/steps.h"

static pthread_mutex_t mutant_lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    steps_mark_finalizing(header);
    if (pthread_mutex_lock(&mutant_lock) != 0) {
        abort(); /* it would wait for itself, for ever */
    }
    steps_finalize(header);
    pthread_mutex_unlock(&mutant_lock);
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}
