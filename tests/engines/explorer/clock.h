/* clock: what a thread knows of the others, as a vector of times.
 *
 * A thread's time goes up before and after each of its atomic operations, so that the plain accesses
 * between two of them have a time of their own. An event (thread, time) happens before whoever has that
 * time or a later one for the thread.
 */
#ifndef RCX_CLOCK_H
#define RCX_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "explorer.h"

typedef uint16_t rcx_clock __attribute__((vector_size(2 * RCX_THREADS_MAX)));

static inline rcx_clock rcx_clock_join(rcx_clock a, rcx_clock b)
{
    rcx_clock later = (rcx_clock)(a > b);
    return (a & later) | (b & ~later);
}

static inline bool rcx_clock_has(rcx_clock clock, unsigned thread, uint16_t time)
{
    return clock[thread] >= time;
}

#endif
