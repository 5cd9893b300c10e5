/* window: time for other threads between the two halves of what ought to be one step.
 *
 * A split decision is wrong at any speed, but on an idle machine nobody comes between its halves for
 * hours. With a window there the native engine meets the fault in every run. It adds no order.
 */
#ifndef MUTANT_WINDOW_H
#define MUTANT_WINDOW_H

#include <sched.h>

static inline void mutant_window(void)
{
    for (unsigned spins = 0; spins < 300; spins++) {
        __asm__ volatile(""); /* not to be folded; says nothing of memory */
    }
    sched_yield();
}

#endif
