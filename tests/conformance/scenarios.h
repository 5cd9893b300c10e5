/* scenarios: all of them, as one list. Included once, after world.h. */
#ifndef RCB_SCENARIOS_H
#define RCB_SCENARIOS_H

#include "scenarios/life.h"
#include "scenarios/weak.h"
#include "scenarios/wrap.h"
#include "scenarios/limit.h"
#include "scenarios/order.h"
#include "scenarios/race.h"
#include "scenarios/thread.h"
#include "scenarios/hook.h"
#include "scenarios/raw.h"

/* The explorer's program is built without those that have no threads, or threads of their own. */
#ifndef RC_EXPLORER
#include "scenarios/mem.h"
#include "scenarios/misuse.h"
#include "scenarios/null.h"
#include "scenarios/shm.h"
#include "scenarios/tensor.h"
#endif

/* Each ends in an entry without a clause. */
static const rcb_scenario *const rcb_areas[] = {
    rcb_life, rcb_weak_scenarios, rcb_wrap, rcb_limit, rcb_order,
    rcb_race, rcb_thread,         rcb_hook, rcb_raw,
#ifndef RC_EXPLORER
    rcb_mem,  rcb_misuse,         rcb_null, rcb_shm,   rcb_tensor,
#endif
};

/* NULL: there are not so many. */
static const rcb_scenario *rcb_scenario_at(unsigned index)
{
    for (unsigned a = 0; a < sizeof rcb_areas / sizeof rcb_areas[0]; a++) {
        for (const rcb_scenario *s = rcb_areas[a]; s->clause != NULL; s++) {
            if (index-- == 0) {
                return s;
            }
        }
    }
    return NULL;
}

static unsigned rcb_thread_count(const rcb_scenario *scenario)
{
    unsigned count = 0;
    while (count < RCB_THREADS_MAX && scenario->thread[count] != NULL) {
        count++;
    }
    return count;
}

/* What the implementation is and every scenario, as the runner reads it. */
static void rcb_list(void)
{
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    uint64_t weak_max = RC_IMPL_WEAK_MAX;
#else
    uint64_t weak_max = 0;
#endif
    printf("impl\t%u\t%d\t%" PRIu64 "\t%" PRIu64 "\t%d\n", (unsigned)(RC_IMPL_CAPS),
           (int)(RC_IMPL_OVERFLOW), (uint64_t)(RC_IMPL_STRONG_MAX), weak_max, RC_CHECKED);
    const rcb_scenario *s = NULL;
    for (unsigned i = 0; (s = rcb_scenario_at(i)) != NULL; i++) {
        printf("scenario\t%u\t%s\t%s\t%u\t%d\t%u\t%u\n", i, s->clause, s->name, rcb_thread_count(s),
               s->trap, s->needs, s->flags);
    }
}

#endif
