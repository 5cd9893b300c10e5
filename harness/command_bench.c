#include <getopt.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"
#include "team.h"

static const char help[] =
    "usage: rclab bench [OPTIONS]\n"
    "\n"
    "Runs every chosen workload over every chosen implementation, in random order, in several\n"
    "launches of the program; prints a table and writes raw.csv, summary.csv, space.csv,\n"
    "delay.csv, machine.json, table.txt and plots/ into a folder of its own.\n"
    "\n"
    "  --quick               coarser, 45 seconds: one and all processors, libc only, 3 launches\n"
    "  --impl LIST           implementations, separated by commas (default: all; see rclab list)\n"
    "  --workload LIST       workloads or groups of workloads (default: all)\n"
    "  --threads LIST        numbers of threads (default: 1, 2, 4 ... and all processors)\n"
    "  --allocator NAME      libc, jemalloc or both (default: both)\n"
    "  --out DIR             where to write (default: results/<date and time>)\n"
    "  --seconds N           how long the whole run may take, roughly (default: 180)\n"
    "  --repetition-ms N     how long a repetition lasts at least (default: what --seconds leaves)\n"
    "  --launches N          process launches; the interval is taken over them (default: 6)\n"
    "  --repetitions N       repetitions of a cell in each launch (default: 2)\n"
    "  --seed N              order of the run and random numbers of the workloads\n"
    "  --no-plots            do not draw\n"
    "\n"
    "Ctrl-C keeps what was finished. Rows where threads did not have the processors to themselves\n"
    "are flagged: use an idle machine.\n"
    "\n"
    "Examples:\n"
    "  rclab bench --workload retain_release,contended --impl packed64,split32\n"
    "  rclab bench --workload training --allocator jemalloc --seconds 30\n";

enum option_name {
    OPTION_QUICK = 256,
    OPTION_IMPL,
    OPTION_WORKLOAD,
    OPTION_THREADS,
    OPTION_ALLOCATOR,
    OPTION_OUT,
    OPTION_SECONDS,
    OPTION_REPETITION_MS,
    OPTION_LAUNCHES,
    OPTION_REPETITIONS,
    OPTION_SEED,
    OPTION_NO_PLOTS,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"quick", no_argument, NULL, OPTION_QUICK},
    {"impl", required_argument, NULL, OPTION_IMPL},
    {"workload", required_argument, NULL, OPTION_WORKLOAD},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"allocator", required_argument, NULL, OPTION_ALLOCATOR},
    {"out", required_argument, NULL, OPTION_OUT},
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"repetition-ms", required_argument, NULL, OPTION_REPETITION_MS},
    {"launches", required_argument, NULL, OPTION_LAUNCHES},
    {"repetitions", required_argument, NULL, OPTION_REPETITIONS},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"no-plots", no_argument, NULL, OPTION_NO_PLOTS},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

/* What a default and a quick run take, in seconds, launches and repetitions. */
enum { DEFAULT_SECONDS = 180, DEFAULT_LAUNCHES = 6, DEFAULT_REPETITIONS = 2 };
enum { QUICK_SECONDS = 38, QUICK_LAUNCHES = 3, QUICK_REPETITIONS = 2 };

int rcl_command_bench(const rcl_registry *registry, int argc, char **argv)
{
    static char command_line[2048];
    uint64_t seconds = 0;
    uint64_t repetition_ms = 0;
    uint64_t launches = 0;
    uint64_t repetitions = 0;
    rcl_bench_options options = {
        .selection = {.processors = rcl_processors()},
        .seed = ((uint64_t)time(NULL) << 20 ^ (uint64_t)getpid()) | 1,
        .plots = true,
        .command_line = command_line,
        .name = "bench",
    };
    rcl_join_arguments(argc, argv, command_line, sizeof command_line);
    static char name[] = "rclab bench"; /* how getopt begins its messages */
    argv[0] = name;
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        bool good = true;
        switch (option) {
        case OPTION_QUICK:
            options.selection.quick = true;
            break;
        case OPTION_IMPL:
            options.selection.impls = optarg;
            break;
        case OPTION_WORKLOAD:
            options.selection.workloads = optarg;
            break;
        case OPTION_THREADS:
            options.selection.threads = optarg;
            break;
        case OPTION_ALLOCATOR:
            options.selection.allocators = optarg;
            break;
        case OPTION_OUT:
            options.out = optarg;
            break;
        case OPTION_SECONDS:
            good = rcl_parse_number("bench", "--seconds", optarg, 1, 86400, &seconds);
            break;
        case OPTION_REPETITION_MS:
            good = rcl_parse_number("bench", "--repetition-ms", optarg, 1, 10000, &repetition_ms);
            break;
        case OPTION_LAUNCHES:
            good = rcl_parse_number("bench", "--launches", optarg, 1, 1000, &launches);
            break;
        case OPTION_REPETITIONS:
            good = rcl_parse_number("bench", "--repetitions", optarg, 1, 1000, &repetitions);
            break;
        case OPTION_SEED:
            good = rcl_parse_number("bench", "--seed", optarg, 1, INT64_MAX, &options.seed);
            break;
        case OPTION_NO_PLOTS:
            options.plots = false;
            break;
        case 'h':
        case OPTION_HELP:
            fputs(help, stdout);
            return 0;
        default:
            fputs("rclab bench --help lists the options\n", stderr);
            return RCL_EXIT_USAGE;
        }
        if (!good) {
            return RCL_EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "rclab bench: '%s' is no option (rclab bench --help)\n", argv[optind]);
        return RCL_EXIT_USAGE;
    }
    bool quick = options.selection.quick;
    options.seconds = (double)(seconds != 0 ? seconds : quick ? QUICK_SECONDS : DEFAULT_SECONDS);
    options.repetition_ms = (unsigned)repetition_ms;
    options.launches = (unsigned)(launches != 0 ? launches
                                  : quick       ? QUICK_LAUNCHES
                                                : DEFAULT_LAUNCHES);
    options.repetitions = (unsigned)(repetitions != 0 ? repetitions
                                     : quick          ? QUICK_REPETITIONS
                                                      : DEFAULT_REPETITIONS);
    return rcl_bench(registry, &options);
}
