#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clauses.h"
#include "cli.h"
#include "cost.h"
#include "counted_build.h"
#include "listing.h"
#include "team.h"

static const char help[] =
    "usage: rclab asm --impl NAME|PATH [OPTIONS]\n"
    "\n"
    "Shows the machine code of an implementation's operations as the benchmark compiles them in:\n"
    "each alone in a function, from its first instruction to ret, handles in registers. rclab cost\n"
    "counts what these functions execute.\n"
    "\n"
    "  --impl NAME|PATH  the implementation, by its name or the path of its rc.h\n"
    "  --libs WORDS      objects or libraries to link with, separated by spaces\n"
    "  --op LIST         operations, separated by commas, or all\n"
    "                    (default: retain,release_shared,release_unique; named below)\n"
    "  --cc NAME         the compiler, e.g. gcc or clang-14, and its C++ twin (default: CC and CXX,\n"
    "                    else cc and c++)\n"
    "  --syntax WORD     intel (default) or att\n"
    "  --source          source lines between the instructions\n"
    "\n"
    "Offsets are hexadecimal, from the function's beginning; jumps name them. LOCK marks\n"
    "instructions that lock the cache line: about 20 times a plain one. A bar marks what the\n"
    "operation executes (with a number: how often, if not once), as callgrind saw it; those are\n"
    "what rclab cost counts, with the ret. What has no bar is for other cases. What is out of line\n"
    "follows apart: X.cold, which the compiler took for rare, and functions that are called,\n"
    "except the allocator and other libraries. Without valgrind there are no bars.\n"
    "\n"
    "Operations:\n";

static const char examples[] = "\nExamples:\n"
                               "  rclab asm --impl packed64 --op retain\n"
                               "  rclab asm --impl ../mine/rc.h --op all --cc clang --source\n";

enum option_name {
    OPTION_IMPL = 256,
    OPTION_LIBS,
    OPTION_OP,
    OPTION_CC,
    OPTION_SYNTAX,
    OPTION_SOURCE,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"impl", required_argument, NULL, OPTION_IMPL},
    {"libs", required_argument, NULL, OPTION_LIBS},
    {"op", required_argument, NULL, OPTION_OP},
    {"cc", required_argument, NULL, OPTION_CC},
    {"syntax", required_argument, NULL, OPTION_SYNTAX},
    {"source", no_argument, NULL, OPTION_SOURCE},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

typedef struct request {
    rcl_counted_program program;
    bool named; /* --impl was given */
    bool wanted[RCL_COUNTED_OPERATIONS_MAX];
    bool all; /* --op all: what is not offered is passed over */
    const char *libraries, *compiler;
    bool att, source;
} request;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void print_help(void)
{
    fputs(help, stdout);
    rcl_counted_print_operations(stdout);
    fputs(examples, stdout);
}

/* ---- Reading the request ---- */

static bool set_impl(const rcl_registry *registry, request *asked, const char *given)
{
    if (asked->named) {
        fputs("rclab asm: one implementation at a time\n", stderr);
        return false;
    }
    asked->named = true;
    return rcl_subject_find(registry, "asm", given, &asked->program.subject);
}

static bool set_syntax(request *asked, const char *word)
{
    asked->att = strcmp(word, "att") == 0;
    if (!asked->att && strcmp(word, "intel") != 0) {
        fprintf(stderr, "rclab asm: there is no syntax '%s'; there are: intel, att\n", word);
        return false;
    }
    return true;
}

static bool set_operations(request *asked, const char *list)
{
    asked->all = asked->all || strcmp(list, "all") == 0;
    return rcl_counted_operations_parse("asm", list, asked->wanted);
}

/* Reads the options. -1: go on; else the exit status. */
static int read_options(const rcl_registry *registry, int argc, char **argv, request *asked)
{
    bool operations = false;
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        bool good = true;
        switch (option) {
        case OPTION_IMPL:
            good = set_impl(registry, asked, optarg);
            break;
        case OPTION_LIBS:
            asked->libraries = optarg;
            break;
        case OPTION_OP:
            operations = true;
            good = set_operations(asked, optarg);
            break;
        case OPTION_CC:
            asked->compiler = optarg;
            break;
        case OPTION_SYNTAX:
            good = set_syntax(asked, optarg);
            break;
        case OPTION_SOURCE:
            asked->source = true;
            break;
        case 'h':
        case OPTION_HELP:
            print_help();
            return 0;
        default:
            fputs("rclab asm --help lists the options\n", stderr);
            return RCL_EXIT_USAGE;
        }
        if (!good) {
            return RCL_EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "rclab asm: '%s' is no option (rclab asm --help)\n", argv[optind]);
        return RCL_EXIT_USAGE;
    }
    if (!asked->named) {
        fputs("rclab asm: name an implementation: --impl packed64, or --impl /path/rc.h\n", stderr);
        return RCL_EXIT_USAGE;
    }
    if (!operations) {
        rcl_counted_operations_parse("asm", "retain,release_shared,release_unique", asked->wanted);
    }
    return -1;
}

/* ---- Showing ---- */

/* What is known of the instructions that are executed. */
typedef struct trace_notes {
    const char *path; /* what callgrind has written, or NULL */
    const char *why_not;
    bool headed; /* the first lines of the whole listing are printed */
} trace_notes;

/* Once, in front of the first operation that there is. */
static void print_head(const request *asked, trace_notes *notes)
{
    if (notes->headed) {
        return;
    }
    notes->headed = true;
    printf("%s, compiled by %s %s\n", asked->program.subject.name,
           asked->compiler != NULL ? asked->compiler : rcl_compiler(false), RCL_FLAGS);
    if (notes->path == NULL) {
        printf("What is executed is not marked: %s\n", notes->why_not);
    }
    putchar('\n');
}

static int show_operation(const request *asked, trace_notes *notes,
                          const rcl_counted_operation *operation)
{
    rcl_executed executed = {0};
    bool marked = notes->path != NULL && rcl_cost_read_executed(notes->path, asked->program.path,
                                                                operation->name, &executed);
    char function[128];
    char needs[128];
    char error[512];
    const char *name = asked->program.subject.name;
    char *listing = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&listing, &size);
    if (out == NULL) {
        fputs("rclab asm: out of memory\n", stderr);
        return RCL_EXIT_ENVIRONMENT;
    }
    snprintf(function, sizeof function, "counted_%s", operation->name);
    rcl_listing_end end =
        rcl_listing_print(out,
                          &(rcl_listing_options){.program = asked->program.path,
                                                 .att = asked->att,
                                                 .source = asked->source,
                                                 .executed = marked ? &executed : NULL,
                                                 .stop = &interrupted},
                          function, error, sizeof error);
    fclose(out);
    free(executed.at);
    int status = 0;
    switch (end) {
    case RCL_LISTING_DONE:
        print_head(asked, notes);
        printf("%s: %s\n%s\n", operation->name, operation->text, listing);
        break;
    case RCL_LISTING_NO_FUNCTION:
        rcl_needs_names(operation->needs, needs, sizeof needs);
        if (asked->all) {
            print_head(asked, notes);
            printf("%s: not offered by %s\n\n", operation->name, name);
            break;
        }
        fprintf(stderr, "rclab asm: %s is not offered by %s: it needs %s\n", operation->name, name,
                needs);
        status = RCL_EXIT_USAGE;
        break;
    case RCL_LISTING_INTERRUPTED:
        status = RCL_EXIT_INTERRUPTED;
        break;
    default:
        fprintf(stderr, "rclab asm: %s\n", error);
        status = RCL_EXIT_ENVIRONMENT;
        break;
    }
    free(listing);
    return status;
}

static int show_all(const request *asked, const char *folder)
{
    char trace[RCL_PATH_BYTES + 16];
    char error[RCL_PATH_BYTES + 128];
    snprintf(trace, sizeof trace, "%s/callgrind", folder);
    rcl_cost_end end =
        rcl_cost_trace(asked->program.path, trace, &interrupted, error, sizeof error);
    if (end == RCL_COST_INTERRUPTED) {
        return RCL_EXIT_INTERRUPTED;
    }
    trace_notes notes = {.path = end == RCL_COST_COUNTED ? trace : NULL, .why_not = error};
    int worst = 0;
    for (unsigned i = 0; i < rcl_counted_operation_count; i++) {
        if (!asked->wanted[i]) {
            continue;
        }
        int status = show_operation(asked, &notes, &rcl_counted_operations[i]);
        worst = status > worst ? status : worst;
        if (status > RCL_EXIT_USAGE) {
            return status;
        }
    }
    return worst;
}

static int build_and_show(request *asked, const char *folder)
{
    char error[RCL_PATH_BYTES + 128];
    rcl_counted_build build = {.programs = &asked->program,
                               .count = 1,
                               .compiler = asked->compiler,
                               .libraries = asked->libraries,
                               .folder = folder,
                               .source_lines = asked->source,
                               .fixed_addresses = true,
                               .at_once = rcl_processors(),
                               .stop = &interrupted};
    rcl_build_result result = rcl_counted_make(&build, error, sizeof error);
    if (result == RCL_BUILD_INTERRUPTED) {
        return RCL_EXIT_INTERRUPTED;
    }
    if (result != RCL_BUILD_DONE) {
        fprintf(stderr, "rclab asm: %s\n", error);
        return RCL_EXIT_ENVIRONMENT;
    }
    if (!asked->program.built) {
        fprintf(stderr, "rclab asm: %s does not build:\n%s\n", asked->program.subject.name,
                asked->program.why);
        return RCL_EXIT_USAGE;
    }
    return show_all(asked, folder);
}

int rcl_command_asm(const rcl_registry *registry, int argc, char **argv)
{
    static request asked;
    char folder[RCL_PATH_BYTES];
    char error[RCL_PATH_BYTES + 128];
    static char name[] = "rclab asm"; /* how getopt begins its messages */
    argv[0] = name;
    int status = read_options(registry, argc, argv, &asked);
    if (status >= 0) {
        return status;
    }
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    if (!rcl_counted_folder(folder, sizeof folder, error, sizeof error)) {
        fprintf(stderr, "rclab asm: %s\n", error);
        return RCL_EXIT_ENVIRONMENT;
    }
    status = build_and_show(&asked, folder);
    rcl_counted_folder_remove(folder);
    return status;
}
