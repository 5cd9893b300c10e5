/* The command rclab. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "launch.h"

typedef struct command {
    const char *name;
    int (*run)(const rcl_registry *registry, int argc, char **argv);
    const char *line;
} command;

static const command commands[] = {
    {"list", rcl_command_list, "what can be measured: implementations and workloads"},
    {"bench", rcl_command_bench, "what each strategy costs on each workload"},
    {"replay", rcl_command_replay, "what each strategy costs on a recording of a real program"},
    {"compare", rcl_command_compare, "whether two runs, or two implementations of one, differ"},
    {"conform", rcl_command_conform, "whether an implementation keeps the contract"},
    {"report", rcl_command_report, "a run as one page of HTML"},
    {"explore", rcl_command_explore,
     "an implementation in every interleaving and memory order of C11"},
    {"clauses", rcl_command_clauses, "the contract, clause by clause"},
    {"cost", rcl_command_cost, "what each operation executes, counted: the same on every run"},
    {"asm", rcl_command_asm, "the machine code of each operation"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out)
{
    fputs("rclab: a laboratory for reference counting\n\n"
          "usage: rclab COMMAND [OPTIONS]      rclab COMMAND --help says more\n\n",
          out);
    for (unsigned i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].line);
    }
    fputs("\nTo start: rclab list, then rclab bench --quick.\n\n"
          "Exit status: 0 fine, 1 a result that failed, 2 wrong use or input, 3 the machine lacks\n"
          "something (it says what), 130 interrupted (what was finished is kept).\n",
          out);
}

bool rcl_parse_number(const char *command_name, const char *option, const char *text, uint64_t low,
                      uint64_t high, uint64_t *number)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value < low || value > high) {
        fprintf(stderr, "rclab %s: %s takes a number from %llu to %llu, not '%s'\n", command_name,
                option, (unsigned long long)low, (unsigned long long)high, text);
        return false;
    }
    *number = value;
    return true;
}

void rcl_join_arguments(int argc, char **argv, char *line, int size)
{
    int used = snprintf(line, (size_t)size, "rclab");
    for (int i = 0; i < argc && used < size; i++) {
        used += snprintf(line + used, (size_t)(size - used), " %s", argv[i]);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return RCL_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(name, RCL_WORKER_COMMAND) == 0) {
        return rcl_worker_main(rcl_registry_get());
    }
    for (unsigned i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return commands[i].run(rcl_registry_get(), argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "rclab: there is no command '%s'; there are:", name);
    for (unsigned i = 0; i < COMMAND_COUNT; i++) {
        fprintf(stderr, "%s %s", i > 0 ? "," : "", commands[i].name);
    }
    fputs(" (rclab --help)\n", stderr);
    return RCL_EXIT_USAGE;
}
