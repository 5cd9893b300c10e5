#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "contract.h"
#include "memory.h"
#include "space.h"

static const char help[] =
    "usage: rclab list\n"
    "\n"
    "Lists the implementations that are compiled in, with what they promise and what they weigh,\n"
    "and the workloads with their questions. Add an implementation of yours without an edit:\n"
    "make bench IMPL=/path/rc.h.\n";

typedef struct capability {
    unsigned bit;
    const char *name;
} capability;

static const capability capabilities[] = {
    {RC_CAP_THREADS, "threads"},
    {RC_CAP_WEAK, "weak"},
    {RC_CAP_RAW, "raw"},
    {RC_CAP_WRAPPER, "wrapper"},
    {RC_CAP_IMMEDIATE, "immediate"},
    {RC_CAP_EXACT_COUNT, "exact-count"},
    {RC_CAP_SHM, "shm"},
    {RC_CAP_EARLY_FREE, "early-free"},
};

static void print_capabilities(unsigned caps)
{
    const char *separator = "";
    for (unsigned i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++) {
        if ((caps & capabilities[i].bit) != 0) {
            printf("%s%s", separator, capabilities[i].name);
            separator = " ";
        }
    }
    putchar('\n');
}

static const char *overflow_name(unsigned overflow)
{
    return overflow == RC_OVERFLOW_TRAP       ? "traps"
           : overflow == RC_OVERFLOW_SATURATE ? "saturates"
                                              : "unchecked";
}

static void print_impl(const rcl_impl *impl, const char *line)
{
    rcl_space space = {0};
    bool weighed = impl->measure_space != NULL && impl->measure_space(&space);
    printf("%s\n    %s\n", impl->name, line);
    if (weighed) {
        printf("    handle %zu B, weak %zu B, header %zu B; a tensor without its bytes: %.0f "
               "allocations, %.0f B asked for\n",
               space.handle_bytes, space.weak_handle_bytes, space.header_bytes,
               space.allocations_per_tensor, space.requested_bytes_per_tensor);
    }
    printf("    up to %" PRIu64 " strong, %" PRIu64 " weak; overflow %s%s\n", impl->strong_max,
           impl->weak_max, overflow_name(impl->overflow),
           impl->called ? "; operations are calls, not inlined" : "");
    fputs("    promises: ", stdout);
    print_capabilities(impl->caps);
}

int rcl_command_list(const rcl_registry *registry, int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return 0;
    }
    if (argc > 1) {
        fprintf(stderr, "rclab list: '%s' is no option (rclab list --help)\n", argv[1]);
        return RCL_EXIT_USAGE;
    }
    printf("IMPLEMENTATIONS\n\n");
    for (unsigned i = 0; i < registry->impl_count; i++) {
        print_impl(registry->impls[i], registry->impl_lines[i]);
    }
    printf("\nWORKLOADS\n");
    const char *group = "";
    for (unsigned i = 0; i < registry->workload_count; i++) {
        const rcl_workload_info *info = &registry->workloads[i];
        if (strcmp(info->group, group) != 0) {
            group = info->group;
            printf("\n%s\n", group);
        }
        printf("  %-20s %s\n", info->name, info->question);
    }
    return 0;
}
