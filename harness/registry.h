/* registry: what is compiled into this program, from the .def lists. */
#ifndef RCL_REGISTRY_H
#define RCL_REGISTRY_H

#include "workload.h"

typedef struct rcl_workload_info {
    const char *name, *group, *question;
} rcl_workload_info;

/* Everything that can be run: the shipped strategies in the order of impls.def, then the user's own,
 * and `floor`, which is no strategy. Static. */
typedef struct rcl_registry {
    const rcl_impl *const *impls;
    const char *const *impl_lines; /* what impls.def says of each */
    unsigned impl_count;
    const rcl_impl *floor;
    const rcl_workload_info *workloads; /* in the order of every implementation's table */
    unsigned workload_count;
} rcl_registry;

const rcl_registry *rcl_registry_get(void);

#endif
