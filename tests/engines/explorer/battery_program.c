#include "contract.h"

#include <stdlib.h>

#include "battery.h"
#include "world.h"

#include "scenarios.h"

#include "battery_program.h"

typedef struct program_state {
    const rcb_scenario *scenario;
    uint64_t live_before;
} program_state;

static rcb_world world;
static program_state state;

static void setup(void *context)
{
    program_state *self = context;
    rc_thread_attach();
    self->live_before = rcx_battery_live_blocks();
    rcb_world_clear(&world);
    if (self->scenario->setup != NULL) {
        self->scenario->setup(&world);
    }
}

static void thread(void *context, unsigned index)
{
    program_state *self = context;
    rcb_current_thread = index;
    rc_thread_attach();
    self->scenario->thread[index](&world);
    rc_quiesce();
    rc_thread_detach();
}

static void check(void *context)
{
    program_state *self = context;
    rc_quiesce();
    if (self->scenario->check != NULL) {
        self->scenario->check(&world);
    }
    rc_quiesce();
    uint64_t live = rcx_battery_live_blocks();
    if (live != self->live_before && (self->scenario->flags & RCB_KEEPS_MEMORY) == 0) {
        rcx_battery_leak(live - self->live_before);
    }
}

static const char *not_searched(const rcb_scenario *scenario)
{
    if (rcb_thread_count(scenario) < 2) {
        return "it has one thread";
    }
    if (scenario->trap != 0) {
        return "it waits for a trap";
    }
    if ((scenario->flags & (RCB_HEAVY | RCB_ONE_ROUND)) != 0) {
        return "it is too long to search";
    }
    if ((scenario->flags & RCB_FORKS) != 0) {
        return "it makes processes";
    }
    return NULL;
}

bool rcx_battery_scenario(unsigned index, rcx_scenario *scenario)
{
    const rcb_scenario *found = rcb_scenario_at(index);
    if (found == NULL) {
        return false;
    }
    *scenario =
        (rcx_scenario){found->clause, found->name, rcb_thread_count(found), not_searched(found)};
    return true;
}

rcx_program rcx_battery_program(unsigned index)
{
    state = (program_state){.scenario = rcb_scenario_at(index)};
    return (rcx_program){.threads = rcb_thread_count(state.scenario),
                         .setup = setup,
                         .thread = thread,
                         .check = check,
                         .context = &state,
                         .memory = &world,
                         .memory_size = sizeof world};
}

void *rcx_battery_world(size_t *size)
{
    *size = sizeof world;
    return &world;
}

void rcx_battery_list(void)
{
    rcb_list();
}
