/* instantiate: one implementation, with every workload compiled over it.
 *
 * Compiled once per implementation. Parameters: RC_IMPL_HEADER (its rc.h) and RCL_IMPL_NAME (an
 * identifier). Exports one table, rcl_impl_<name>.
 */
#if !defined(RC_IMPL_HEADER) || !defined(RCL_IMPL_NAME)
#error "instantiate.c needs RC_IMPL_HEADER and RCL_IMPL_NAME"
#endif

#include "memory.h"
#include "contract.h"
#include "workload.h"
#include "tensor.h"
#include "space_measure.h"

#include "all_workloads.h" /* made by CMake from workloads.def: one #include per workload */

#define RCL_PASTE2(a, b) a##b
#define RCL_PASTE(a, b) RCL_PASTE2(a, b)
#define RCL_STRING2(a) #a
#define RCL_STRING(a) RCL_STRING2(a)

static void thread_attach(void)
{
    rc_thread_attach();
}

static void thread_detach(void)
{
    rc_thread_detach();
}

static void quiesce(void)
{
    rc_quiesce();
}

static bool measure_space(rcl_space *space)
{
    return rcl_measure_space(space);
}

static const rcl_workload *const workloads[] = {
#define RCL_WORKLOAD(name, group, question) &name##_workload,
#include "workloads.def"
#undef RCL_WORKLOAD
};

extern const rcl_impl RCL_PASTE(rcl_impl_, RCL_IMPL_NAME);

const rcl_impl RCL_PASTE(rcl_impl_, RCL_IMPL_NAME) = {
    .name = RCL_STRING(RCL_IMPL_NAME),
    .header = RC_IMPL_HEADER,
    .caps = RC_IMPL_CAPS,
    .overflow = RC_IMPL_OVERFLOW,
    .strong_max = RC_IMPL_STRONG_MAX,
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    .weak_max = RC_IMPL_WEAK_MAX,
    .weak_handle_bytes = sizeof(rc_weak),
#endif
    .handle_bytes = sizeof(rc_strong),
#ifdef RCL_IMPL_IS_NULL
    .counts = false,
    .mark = null_mark,
#else
    .counts = true,
#endif
#ifdef RCL_IMPL_IS_CALLED
    .called = true,
#endif
    .thread_attach = thread_attach,
    .thread_detach = thread_detach,
    .quiesce = quiesce,
    .measure_space = measure_space,
    .workloads = workloads,
    .workload_count = sizeof workloads / sizeof workloads[0],
};
