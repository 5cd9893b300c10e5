/* THREAD-05: the drain gives up each unit of the list, and looks at the list again before it is
 * shortened: the first unit is given up twice. */
#define DEFERRED_OWN_DRAIN
#include "../../controls/deferred/rc.h"

static inline void deferred_drain(void)
{
    if (deferred_mine.count > 1) {
        rc_strong again = deferred_mine.handles[0];
        if (rc_use_count(again) > 2) {
            deferred_release_now(again);
        }
    }
    while (deferred_mine.count > 0) {
        deferred_release_now(deferred_mine.handles[--deferred_mine.count]);
    }
}
