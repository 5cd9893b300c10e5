#include <getopt.h>
#include <stdio.h>

#include "clauses.h"
#include "cli.h"

static const char help[] =
    "usage: rclab clauses [--area LIST] [--markdown]\n"
    "\n"
    "Prints what an implementation of impls/contract.h owes, clause by clause: its id, what\n"
    "must hold, its level, the engines that test it, the capabilities it needs.\n"
    "\n"
    "  --area LIST    only these areas or clauses, separated by commas: LIFE, WEAK-03\n"
    "  --markdown     as a Markdown table\n";

enum option_name { OPTION_AREA = 256, OPTION_MARKDOWN, OPTION_HELP };

static const struct option long_options[] = {
    {"area", required_argument, NULL, OPTION_AREA},
    {"markdown", no_argument, NULL, OPTION_MARKDOWN},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

int rcl_command_clauses(const rcl_registry *registry, int argc, char **argv)
{
    const char *areas = NULL;
    bool markdown = false;
    size_t length = 0;
    (void)registry;
    static char name[] = "rclab clauses"; /* how getopt begins its messages */
    argv[0] = name;
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        switch (option) {
        case OPTION_AREA:
            areas = optarg;
            break;
        case OPTION_MARKDOWN:
            markdown = true;
            break;
        case 'h':
        case OPTION_HELP:
            fputs(help, stdout);
            return 0;
        default:
            fputs("rclab clauses --help lists the options\n", stderr);
            return RCL_EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "rclab clauses: '%s' is no option (rclab clauses --help)\n", argv[optind]);
        return RCL_EXIT_USAGE;
    }
    const char *unknown = rcl_clause_list_error(areas, &length);
    if (unknown != NULL) {
        fprintf(stderr,
                "rclab clauses: there is no clause or area '%.*s'; rclab clauses shows all\n",
                (int)length, unknown);
        return RCL_EXIT_USAGE;
    }
    bool good =
        markdown ? rcl_clauses_print_markdown(stdout, areas) : rcl_clauses_print(stdout, areas);
    return good && fflush(stdout) == 0 ? 0 : RCL_EXIT_ENVIRONMENT;
}
