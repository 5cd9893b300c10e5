/* fanout_delay: how late does the memory of an object and its many children come back after its last
 * release?
 *
 * One operation: an object that holds the only handles to 512 others; its last release at a scheduled
 * moment, until the last block of them all is back at the allocator. Its finalizer releases the children
 * one by one, so an immediate strategy frees them inside one release, two deep. Schedule, rate and what
 * the delay contains: harness/delay.h.
 * Left out: other threads; objects that have left the caches; when each child went; an rc_quiesce at
 * another pace than after every 16th release. In the number: the parent's block, 512 handles large, and
 * for those who come late the making of the objects.
 */
#include "delay_work.h"

#define FANOUT_DELAY_CHILDREN 512

typedef struct fanout_delay_payload {
    uint64_t count;
    rc_strong children[FANOUT_DELAY_CHILDREN]; /* owned, `count` of them */
} fanout_delay_payload;

static void fanout_delay_finalize(void *payload)
{
    const fanout_delay_payload *parent = payload;
    for (uint64_t i = 0; i < parent->count; i++) {
        rc_release(parent->children[i]);
    }
}

static const rc_class fanout_delay_class = {
    .name = "fanout_delay",
    .payload_size = sizeof(fanout_delay_payload),
    .finalize = fanout_delay_finalize,
};

static const rc_class fanout_delay_child_class = {.name = "fanout_child", .payload_size = 16};

static rc_strong fanout_delay_make(void)
{
    rc_strong parent = rc_new(&fanout_delay_class);
    if (rc_is_null(parent)) {
        return parent;
    }
    fanout_delay_payload *payload = rc_payload(parent);
    for (payload->count = 0; payload->count < FANOUT_DELAY_CHILDREN; payload->count++) {
        rc_strong child = rc_new(&fanout_delay_child_class);
        if (rc_is_null(child)) {
            rc_release(parent);
            return rc_null();
        }
        *(uint64_t *)rc_payload(child) = payload->count;
        payload->children[payload->count] = child;
    }
    return parent;
}

static uint64_t fanout_delay_run(rcl_thread *thread, uint64_t operations, uint64_t *elapsed_ns)
{
    return delay_work_run(thread, operations, elapsed_ns, fanout_delay_make);
}

static const rcl_variant fanout_delay_variants[] = {{.name = "n512"}};

static const rcl_workload fanout_delay_workload = {
    .name = "fanout_delay",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .threads_max = 1,
    .allocates = true,
    .delays = true,
    .batch = DELAY_WORK_BATCH,
    .variants = fanout_delay_variants,
    .variant_count = 1,
    .run_timed = fanout_delay_run,
};
#undef FANOUT_DELAY_CHILDREN
