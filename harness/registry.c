#include "registry.h"

#include "floor.h"

#define RC_IMPL(name, line) extern const rcl_impl rcl_impl_##name;
#include "all_impls.def" /* made by CMake: impls.def and the user's own */
#undef RC_IMPL

static const rcl_impl *const impls[] = {
#define RC_IMPL(name, line) &rcl_impl_##name,
#include "all_impls.def"
#undef RC_IMPL
};

static const char *const impl_lines[] = {
#define RC_IMPL(name, line) line,
#include "all_impls.def"
#undef RC_IMPL
};

static const rcl_workload_info workloads[] = {
#define RCL_WORKLOAD(name, group, question) {#name, #group, question},
#include "workloads.def"
#undef RCL_WORKLOAD
};

static const rcl_registry registry = {
    .impls = impls,
    .impl_lines = impl_lines,
    .impl_count = sizeof impls / sizeof impls[0],
    .floor = &rcl_floor,
    .workloads = workloads,
    .workload_count = sizeof workloads / sizeof workloads[0],
};

const rcl_registry *rcl_registry_get(void)
{
    return &registry;
}
