#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"
#include "contract.h"
#include "rct.h"
#include "replay_plan.h"
#include "team.h"

static const char help[] =
    "usage: rclab replay FILE [OPTIONS]\n"
    "\n"
    "Makes every chosen implementation live through a recording of a real program (format RCT 1,\n"
    "see workloads/traces/FORMAT.md; .xz, .zst and .gz are read as they are). Prints what one\n"
    "recorded event costs, and writes the same files as rclab bench. What a strategy costs is its\n"
    "time over null's, which counts nothing.\n"
    "\n"
    "  --check               only read the file and say what is in it (FILE may be -)\n"
    "  --mode MODE           serial: all on one thread (default)\n"
    "                        replicated: each thread plays all of it; what was alive when\n"
    "                        recording began is shared between them\n"
    "                        recorded: the recorded threads\n"
    "  --threads N           replicated: how many (default: all processors); recorded: how many to\n"
    "                        deal the recorded ones to (default: as many, at most all processors)\n"
    "  --impl LIST           implementations, separated by commas (default: all that can)\n"
    "  --allocator NAME      libc, jemalloc or both (default: libc)\n"
    "  --repeat N            play it N times over, once, instead of measuring with repetitions\n"
    "  --seconds N           how long to measure, roughly (default: 20)\n"
    "  --launches N          process launches (default: 6; with --repeat 1)\n"
    "  --repetitions N       repetitions in each launch (default: 2; with --repeat 1)\n"
    "  --out DIR             where to write (default: results/<date and time>)\n"
    "  --seed N              order of the run\n"
    "  --no-plots            do not draw\n"
    "\n"
    "Examples:\n"
    "  rclab replay workloads/traces/mlp_adam.rct.xz\n"
    "  rclab replay my.rct --mode replicated --threads 2 --impl packed64,split32\n"
    "  zcat my.rct.gz | rclab replay - --check\n";

enum option_name {
    OPTION_CHECK = 256,
    OPTION_MODE,
    OPTION_THREADS,
    OPTION_IMPL,
    OPTION_ALLOCATOR,
    OPTION_REPEAT,
    OPTION_SECONDS,
    OPTION_LAUNCHES,
    OPTION_REPETITIONS,
    OPTION_OUT,
    OPTION_SEED,
    OPTION_NO_PLOTS,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"check", no_argument, NULL, OPTION_CHECK},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"impl", required_argument, NULL, OPTION_IMPL},
    {"allocator", required_argument, NULL, OPTION_ALLOCATOR},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"launches", required_argument, NULL, OPTION_LAUNCHES},
    {"repetitions", required_argument, NULL, OPTION_REPETITIONS},
    {"out", required_argument, NULL, OPTION_OUT},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"no-plots", no_argument, NULL, OPTION_NO_PLOTS},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

enum { DEFAULT_SECONDS = 20, DEFAULT_LAUNCHES = 6, DEFAULT_REPETITIONS = 2 };

/* What was asked for. */
typedef struct replay_request {
    rcl_bench_options bench;
    replay_mode mode;
    bool check;
    uint64_t threads, repeat; /* 0: not given */
} replay_request;

static bool parse_mode(const char *text, replay_mode *mode)
{
    static const char *const names[] = {"serial", "replicated", "recorded"};
    static const replay_mode modes[] = {REPLAY_SERIAL, REPLAY_REPLICATED, REPLAY_RECORDED};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *mode = modes[i];
            return true;
        }
    }
    fprintf(stderr,
            "rclab replay: there is no mode '%s'; there are: serial, replicated, recorded\n", text);
    return false;
}

/* False: the program should end with *status. */
static bool parse_options(replay_request *request, int argc, char **argv, int *status)
{
    rcl_bench_options *bench = &request->bench;
    uint64_t seconds = DEFAULT_SECONDS;
    uint64_t launches = 0;
    uint64_t repetitions = 0;
    *status = RCL_EXIT_USAGE;
    static char name[] = "rclab replay"; /* how getopt begins its messages */
    argv[0] = name;
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        bool good = true;
        switch (option) {
        case OPTION_CHECK:
            request->check = true;
            break;
        case OPTION_MODE:
            good = parse_mode(optarg, &request->mode);
            break;
        case OPTION_THREADS:
            good = rcl_parse_number("replay", "--threads", optarg, 1, bench->selection.processors,
                                    &request->threads);
            break;
        case OPTION_IMPL:
            bench->selection.impls = optarg;
            break;
        case OPTION_ALLOCATOR:
            bench->selection.allocators = optarg;
            break;
        case OPTION_REPEAT:
            good = rcl_parse_number("replay", "--repeat", optarg, 1, UINT64_C(1000000000),
                                    &request->repeat);
            break;
        case OPTION_SECONDS:
            good = rcl_parse_number("replay", "--seconds", optarg, 1, 86400, &seconds);
            break;
        case OPTION_LAUNCHES:
            good = rcl_parse_number("replay", "--launches", optarg, 1, 1000, &launches);
            break;
        case OPTION_REPETITIONS:
            good = rcl_parse_number("replay", "--repetitions", optarg, 1, 1000, &repetitions);
            break;
        case OPTION_OUT:
            bench->out = optarg;
            break;
        case OPTION_SEED:
            good = rcl_parse_number("replay", "--seed", optarg, 1, INT64_MAX, &bench->seed);
            break;
        case OPTION_NO_PLOTS:
            bench->plots = false;
            break;
        case 'h':
        case OPTION_HELP:
            fputs(help, stdout);
            *status = 0;
            return false;
        default:
            fputs("rclab replay --help lists the options\n", stderr);
            return false;
        }
        if (!good) {
            return false;
        }
    }
    if (optind != argc - 1) {
        fputs(optind == argc ? "rclab replay: which recording? rclab replay FILE\n"
                             : "rclab replay: one recording at a time\n",
              stderr);
        return false;
    }
    bench->input = argv[optind];
    bench->seconds = (double)seconds;
    bool once = request->repeat > 0;
    bench->launches = (unsigned)(launches != 0 ? launches : once ? 1 : DEFAULT_LAUNCHES);
    bench->repetitions = (unsigned)(repetitions != 0 ? repetitions
                                    : once           ? 1
                                                     : DEFAULT_REPETITIONS);
    return true;
}

static int check_only(const char *path)
{
    rct_summary summary;
    rct_error error;
    if (!rct_check(path, &summary, &error)) {
        fprintf(stderr, "rclab replay: %s\n", error.message);
        return RCL_EXIT_USAGE;
    }
    printf("%s: correct\n", path);
    printf("  events            %" PRIu64 "\n", summary.events);
    printf("  threads           %" PRIu64 "\n", summary.threads);
    printf("  most alive        %" PRIu64 " objects\n", summary.most_alive);
    printf("  alive at the end  %" PRIu64 "\n", summary.live_at_end);
    printf("  text read         %" PRIu64 " bytes\n", summary.bytes_read);
    for (uint32_t i = 0; i < summary.class_count; i++) {
        printf("  class %-12.60s %" PRIu64 " born, %" PRIu64 " alive before, at most %" PRIu64
               " at once\n",
               summary.classes[i].name, summary.classes[i].births, summary.classes[i].pre,
               summary.classes[i].most_alive);
    }
    rct_summary_free(&summary);
    return 0;
}

/* The file's name without folder and endings, without what would break a CSV field. */
static void label_of(const char *path, char *label, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(label, size, "%s", slash != NULL ? slash + 1 : path);
    char *end = strstr(label, ".rct");
    if (end != NULL && end != label) {
        *end = '\0';
    }
    for (char *c = label; *c != '\0'; c++) {
        if (strchr(" ,\"\n\t", *c) != NULL) {
            *c = '_';
        }
    }
}

int rcl_command_replay(const rcl_registry *registry, int argc, char **argv)
{
    static char command_line[2048];
    static char label[64];
    replay_request request = {
        .bench =
            {
                .selection = {.processors = rcl_processors()},
                .seed = ((uint64_t)time(NULL) << 20 ^ (uint64_t)getpid()) | 1,
                .plots = true,
                .command_line = command_line,
                .name = "replay",
            },
        .mode = REPLAY_SERIAL,
    };
    int status = 0;
    rcl_join_arguments(argc, argv, command_line, sizeof command_line);
    if (!parse_options(&request, argc, argv, &status)) {
        return status;
    }
    const char *path = request.bench.input;
    if (request.check) {
        return check_only(path);
    }
    if (strcmp(path, "-") == 0) {
        fputs("rclab replay: the recording is read by several processes, so standard input will do "
              "for --check only; give a file\n",
              stderr);
        return RCL_EXIT_USAGE;
    }
    if (request.mode == REPLAY_SERIAL && request.threads > 1) {
        fputs("rclab replay: --threads goes with --mode replicated or --mode recorded\n", stderr);
        return RCL_EXIT_USAGE;
    }
    /* Read to its end before anything is measured. */
    rct_error error;
    replay_plan *plan = replay_plan_open(
        &(replay_options){.path = path, .mode = request.mode, .threads = 0}, &error);
    if (plan == NULL) {
        fprintf(stderr, "rclab replay: %s\n", error.message);
        return RCL_EXIT_USAGE;
    }
    unsigned processors = request.bench.selection.processors;
    unsigned threads = request.mode == REPLAY_SERIAL       ? 1
                       : request.threads != 0              ? (unsigned)request.threads
                       : request.mode == REPLAY_REPLICATED ? processors
                                                           : replay_plan_threads(plan);
    threads = threads > processors ? processors : threads;
    label_of(path, label, sizeof label);
    uint64_t operations = request.repeat * replay_plan_operations(plan);
    bool recorded = request.mode == REPLAY_RECORDED && threads > 1;
    rcl_replay_choice choice = {
        .label = {.name = label},
        .recorded = recorded,
        .threads = threads,
        .needs = replay_plan_uses_weak(plan) ? RC_CAP_WEAK : 0,
        .operations = recorded ? (operations + threads - 1) / threads : operations,
    };
    printf("%s: %" PRIu64 " events, played %s by %u thread%s\n", path, replay_plan_operations(plan),
           recorded      ? "as recorded"
           : threads > 1 ? "by each"
                         : "in order",
           threads, threads == 1 ? "" : "s");
    replay_plan_close(plan);
    request.bench.replay = &choice;
    return rcl_bench(registry, &request.bench);
}
