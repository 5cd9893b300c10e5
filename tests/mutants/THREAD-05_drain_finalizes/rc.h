/* THREAD-05: the drain takes every object of the list for dead, however often it was retained
 * meanwhile. */
#define DEFERRED_OWN_DRAIN
#include "../../controls/deferred/rc.h"

static inline void deferred_drain(void)
{
    while (deferred_mine.count > 0) {
        rc_strong handle = deferred_mine.handles[--deferred_mine.count];
        if (rc_use_count(handle) == 2) {
            deferred_release_now(handle);
        }
        deferred_release_now(handle);
    }
}
