/* world: the battery's classes and their hooks. Included once, by battery.c. */
#ifndef RCB_WORLD_H
#define RCB_WORLD_H

#include "battery.h"

static _Thread_local uint32_t rcb_current_thread = RCB_MAIN;

static inline uint32_t rcb_thread_index(void)
{
    return rcb_current_thread;
}

static inline rcb_payload *rcb_payload_of(rc_strong handle)
{
    return rc_payload(handle);
}

static inline void rcb_check_payload(const rcb_payload *payload, const char *hook)
{
    RCB_EXPECT(payload->canary == RCB_CANARY && payload->id < RCB_OBJECTS,
               "a hook gets the payload of a live object", "%s got one with canary %08" PRIx32,
               hook, payload->canary);
}

static void rcb_finalize(void *memory)
{
    rcb_payload *payload = memory;
    rcb_check_payload(payload, "finalize");
    rcb_world *world = payload->world;
    uint32_t id = payload->id;
    world->finalized[id]++;
    world->finalized_by[id] = rcb_current_thread + 1;
    memcpy(world->seen[id], payload->field, sizeof payload->field);
    if (world->on_finalize != NULL) {
        world->on_finalize(payload);
    }
    rc_strong child = payload->child;
    payload->child = rc_null();
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = payload->weak;
    payload->weak = rc_weak_null();
    payload->canary = 0;
    rc_weak_release(weak);
#else
    payload->canary = 0;
#endif
    rc_release(child);
}

/* All RELAXED: counters that are read after the join. */

static void rcb_wrapper_retain(void *memory)
{
    rcb_payload *payload = memory;
    rcb_check_payload(payload, "wrapper_retain");
    atomic_fetch_add_explicit(&payload->world->wrapper_retains[payload->id], 1,
                              memory_order_relaxed);
    if (payload->world->on_wrapper_retain != NULL) {
        payload->world->on_wrapper_retain(payload);
    }
}

static void rcb_wrapper_release(void *memory)
{
    rcb_payload *payload = memory;
    rcb_check_payload(payload, "wrapper_release");
    atomic_fetch_add_explicit(&payload->world->wrapper_releases[payload->id], 1,
                              memory_order_relaxed);
    if (payload->world->on_wrapper_release != NULL) {
        payload->world->on_wrapper_release(payload);
    }
}

static bool rcb_wrapper_try_retain(void *memory)
{
    rcb_payload *payload = memory;
    rcb_check_payload(payload, "wrapper_try_retain");
    atomic_fetch_add_explicit(&payload->world->wrapper_tries[payload->id], 1, memory_order_relaxed);
    if (atomic_load_explicit(&payload->world->refuse_tries, memory_order_relaxed) != 0) {
        return false;
    }
    atomic_fetch_add_explicit(&payload->world->wrapper_retains[payload->id], 1,
                              memory_order_relaxed);
    return true;
}

const rc_class rcb_class = {
    .name = "object", .payload_size = sizeof(rcb_payload), .finalize = rcb_finalize};
const rc_class rcb_wrapped = {.name = "wrapped",
                              .payload_size = sizeof(rcb_payload),
                              .finalize = rcb_finalize,
                              .wrapper_retain = rcb_wrapper_retain,
                              .wrapper_release = rcb_wrapper_release};
const rc_class rcb_wrapped_try = {.name = "wrapped_try",
                                  .payload_size = sizeof(rcb_payload),
                                  .finalize = rcb_finalize,
                                  .wrapper_retain = rcb_wrapper_retain,
                                  .wrapper_release = rcb_wrapper_release,
                                  .wrapper_try_retain = rcb_wrapper_try_retain};

static inline rc_strong rcb_new_of(rcb_world *world, const rc_class *class, uint32_t id)
{
    rc_strong object = rc_new(class);
    RCB_EXPECT(!rc_is_null(object), "rc_new gives an object when memory is granted", "null");
    rcb_payload *payload = rc_payload(object);
    *payload = (rcb_payload){.world = world, .id = id, .canary = RCB_CANARY, .child = rc_null()};
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    payload->weak = rc_weak_null();
#endif
    return object;
}

static inline rc_strong rcb_new(rcb_world *world, uint32_t id)
{
    return rcb_new_of(world, &rcb_class, id);
}

static inline void rcb_settle(void)
{
    rc_quiesce();
}

static inline void rcb_world_clear(rcb_world *world)
{
    memset(world, 0, sizeof *world);
    for (unsigned i = 0; i < RCB_HANDLES; i++) {
        world->strong[i] = rc_null();
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
        world->weak[i] = rc_weak_null();
#endif
    }
}

#endif
