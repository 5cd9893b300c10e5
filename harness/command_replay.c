#include <stdio.h>

#include "cli.h"

int rcl_command_replay(const rcl_registry *registry, int argc, char **argv)
{
    (void)registry;
    (void)argc;
    (void)argv;
    return RCL_EXIT_USAGE;
}
