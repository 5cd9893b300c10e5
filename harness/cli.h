/* cli: the commands of the program, one function each. argv[0] is the command's name. Each returns an
 * exit status: 0 fine, 1 a result that failed, 2 wrong use or input, 3 the machine lacks something,
 * 130 interrupted. */
#ifndef RCL_CLI_H
#define RCL_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "registry.h"

enum {
    RCL_EXIT_FAILED = 1,
    RCL_EXIT_USAGE = 2,
    RCL_EXIT_ENVIRONMENT = 3,
    RCL_EXIT_INTERRUPTED = 130
};

int rcl_command_list(const rcl_registry *registry, int argc, char **argv);
int rcl_command_bench(const rcl_registry *registry, int argc, char **argv);
int rcl_command_replay(const rcl_registry *registry, int argc, char **argv);
int rcl_command_compare(const rcl_registry *registry, int argc, char **argv);
int rcl_command_conform(const rcl_registry *registry, int argc, char **argv);
int rcl_command_clauses(const rcl_registry *registry, int argc, char **argv);
int rcl_command_cost(const rcl_registry *registry, int argc, char **argv);
int rcl_command_asm(const rcl_registry *registry, int argc, char **argv);
int rcl_command_report(const rcl_registry *registry, int argc, char **argv);
int rcl_command_explore(const rcl_registry *registry, int argc, char **argv);

/* ---- For the commands ---- */

/* Reads a whole decimal number from `low` to `high`; else says what was expected, as `command`, and
 * returns false. */
bool rcl_parse_number(const char *command, const char *option, const char *text, uint64_t low,
                      uint64_t high, uint64_t *number);

/* The command line as one string, for machine.json. Cut off at `size`. */
void rcl_join_arguments(int argc, char **argv, char *line, int size);

#endif
