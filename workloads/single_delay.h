/* single_delay: how late does one object's memory come back after its last release?
 *
 * One operation: an object with a payload of 48 bytes, its last release at a scheduled moment, until its
 * last block is back at the allocator. Schedule, rate and what the delay contains: harness/delay.h;
 * nothing cascades, so this is the least that the other two can be compared with.
 * Left out: other threads; objects that have left the caches; an rc_quiesce at another pace than after
 * every 16th release.
 */
#include "delay_work.h"

static const rc_class single_delay_class = {.name = "single_delay", .payload_size = 48};

static rc_strong single_delay_make(void)
{
    rc_strong object = rc_new(&single_delay_class);
    if (!rc_is_null(object)) {
        *(uint64_t *)rc_payload(object) = 1;
    }
    return object;
}

static uint64_t single_delay_run(rcl_thread *thread, uint64_t operations, uint64_t *elapsed_ns)
{
    return delay_work_run(thread, operations, elapsed_ns, single_delay_make);
}

static const rcl_variant single_delay_variants[] = {{.name = "-"}};

static const rcl_workload single_delay_workload = {
    .name = "single_delay",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .threads_max = 1,
    .allocates = true,
    .delays = true,
    .batch = DELAY_WORK_BATCH,
    .variants = single_delay_variants,
    .variant_count = 1,
    .run_timed = single_delay_run,
};
