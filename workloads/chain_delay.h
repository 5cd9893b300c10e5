/* chain_delay: how late does a long chain's memory come back after the last release of its head?
 *
 * One operation: a chain of 512 objects, each holding the only handle to the next; the last release of the
 * head at a scheduled moment, until the last block of the chain is back at the allocator. A finalizer
 * releases the next object, so an immediate strategy frees the chain inside one release, as deep as it is
 * long. Schedule, rate and what the delay contains: harness/delay.h.
 * Left out: other threads; chains that have left the caches; when each object of the chain went; an
 * rc_quiesce at another pace than after every 16th release. In the number for those who come late: the
 * making of the chain.
 */
#include "delay_work.h"

#define CHAIN_DELAY_OBJECTS 512

typedef struct chain_delay_payload {
    rc_strong next; /* owned; null at the end */
    uint64_t value;
} chain_delay_payload;

static void chain_delay_finalize(void *payload)
{
    rc_release(((const chain_delay_payload *)payload)->next);
}

static const rc_class chain_delay_class = {
    .name = "chain_delay",
    .payload_size = sizeof(chain_delay_payload),
    .finalize = chain_delay_finalize,
};

static rc_strong chain_delay_make(void)
{
    rc_strong head = rc_null();
    for (unsigned i = 0; i < CHAIN_DELAY_OBJECTS; i++) {
        rc_strong object = rc_new(&chain_delay_class);
        if (rc_is_null(object)) {
            rc_release(head);
            return rc_null();
        }
        *(chain_delay_payload *)rc_payload(object) = (chain_delay_payload){head, i};
        head = object;
    }
    return head;
}

static uint64_t chain_delay_run(rcl_thread *thread, uint64_t operations, uint64_t *elapsed_ns)
{
    return delay_work_run(thread, operations, elapsed_ns, chain_delay_make);
}

static const rcl_variant chain_delay_variants[] = {{.name = "n512"}};

static const rcl_workload chain_delay_workload = {
    .name = "chain_delay",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .threads_max = 1,
    .allocates = true,
    .delays = true,
    .batch = DELAY_WORK_BATCH,
    .variants = chain_delay_variants,
    .variant_count = 1,
    .run_timed = chain_delay_run,
};
#undef CHAIN_DELAY_OBJECTS
