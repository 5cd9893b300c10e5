/* working_set_large: the question of `working_set`, with objects in memory.
 *
 * n256k takes some 20 MB, n4m some 320 MB and, to make, shuffle and drop, about a second. One thread.
 * One operation and what is left out: as there.
 */
#include "working_set.h"

static const rcl_variant working_set_large_variants[] = {
    {.name = "n256k", .parameter = 1 << 18},
    {.name = "n4m", .parameter = 1 << 22},
};

static const rcl_workload working_set_large_workload = {
    .name = "working_set_large",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .threads_max = 1,
    .setup_ms = 1000,
    .variants = working_set_large_variants,
    .variant_count = sizeof working_set_large_variants / sizeof working_set_large_variants[0],
    .thread_size = sizeof(working_set_state),
    .thread_setup = working_set_thread_setup,
    .run = working_set_run,
    .thread_teardown = working_set_thread_teardown,
};
