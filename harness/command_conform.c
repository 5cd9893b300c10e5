#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "conform.h"
#include "conform_print.h"
#include "conform_verdict.h"
#include "subject.h"
#include "team.h"

static const char help[] =
    "usage: rclab conform [OPTIONS]\n"
    "\n"
    "Puts implementations of impls/contract.h to the test, clause by clause (rclab clauses prints\n"
    "them). Each is compiled anew, plain, with checks, under sanitizers and for the explorer, which\n"
    "tries every interleaving and every memory order of C11 (rclab explore); every test runs in a\n"
    "process of its own. CC and CXX name the compilers.\n"
    "\n"
    "  --impl NAME|PATH      an implementation, by its name or the path of its rc.h; may be repeated\n"
    "                        (default: all shipped ones but null). *.c, *.cc and *.cpp beside an\n"
    "                        rc.h belong to it\n"
    "  --libs WORDS          objects or libraries to link with, separated by spaces; without\n"
    "                        ThreadSanitizer then, which cannot see into them; the explorer takes\n"
    "                        objects that were compiled with -fsanitize=thread\n"
    "  --quick               10 seconds: fewer rounds, no sanitizers, and no explorer unless --engine\n"
    "                        names it\n"
    "  --clause LIST         only these clauses or areas, separated by commas: WEAK-03,ORDER\n"
    "  --engine LIST         only these engines: oracle, death, native, sanitizer, explorer\n"
    "  --operations N        of the oracle (default: 100000, quick 20000)\n"
    "  --seed N              of everything that is random\n"
    "  --timeout N           seconds that a test may take; sanitized ones take three times as long,\n"
    "                        the oracle six times, a search twelve\n"
    "                        (default: 10)\n"
    "  --jobs N              processes at once (default: as many as there are processors)\n"
    "  --junit FILE          write JUnit XML too\n"
    "  --tap                 print TAP 13 in place of the table\n"
    "  --verbose             every test that failed, and times\n"
    "  --keep                keep the programs that were built, and say where\n"
    "  --record              keep the verdict in results/reference/conformance.csv\n"
    "\n"
    "Under a clause stands what the explorer found: `pass, exhaustive` (every execution was tried),\n"
    "or `pass, bounded` and by what: 1,000,000 executions of a scenario, 200,000 at -O0.\n"
    "\n"
    "Outcome of a clause: PASS, FAIL, UNSUPPORTED (a capability is not claimed) or UNTESTED (it\n"
    "says why). Exit status 0: every clause that applies and is not just noted has passed; 1: one\n"
    "has failed or, in a run that was not narrowed, is untested; 2: an implementation is not there\n"
    "or does not build.\n"
    "\n"
    "Examples:\n"
    "  rclab conform --impl packed64\n"
    "  rclab conform --impl ../mine/rc.h --libs ../mine/build/libmine.a --clause WEAK,RACE\n";

enum option_name {
    OPTION_IMPL = 256,
    OPTION_LIBS,
    OPTION_QUICK,
    OPTION_CLAUSE,
    OPTION_ENGINE,
    OPTION_OPERATIONS,
    OPTION_SEED,
    OPTION_TIMEOUT,
    OPTION_JOBS,
    OPTION_JUNIT,
    OPTION_TAP,
    OPTION_VERBOSE,
    OPTION_KEEP,
    OPTION_RECORD,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"impl", required_argument, NULL, OPTION_IMPL},
    {"libs", required_argument, NULL, OPTION_LIBS},
    {"quick", no_argument, NULL, OPTION_QUICK},
    {"clause", required_argument, NULL, OPTION_CLAUSE},
    {"engine", required_argument, NULL, OPTION_ENGINE},
    {"operations", required_argument, NULL, OPTION_OPERATIONS},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"junit", required_argument, NULL, OPTION_JUNIT},
    {"tap", no_argument, NULL, OPTION_TAP},
    {"verbose", no_argument, NULL, OPTION_VERBOSE},
    {"keep", no_argument, NULL, OPTION_KEEP},
    {"record", no_argument, NULL, OPTION_RECORD},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

enum { SUBJECTS_MAX = 256, DEFAULT_TIMEOUT_SECONDS = 10 };

typedef struct request {
    rcl_conform_options options;
    rcl_subject subjects[SUBJECTS_MAX];
    unsigned count;
    const char *junit;
    bool tap, verbose, record;
} request;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* ---- Reading the request ---- */

/* The names in a comma-separated list, or-ed. False, with a message, on an unknown one. */
static bool parse_engines(const char *list, unsigned *engines)
{
    *engines = 0;
    while (true) {
        size_t length = strcspn(list, ",");
        rcl_engine engine = RCL_ENGINE_NATIVE;
        if (!rcl_engine_parse(list, length, &engine)) {
            fprintf(stderr,
                    "rclab conform: there is no engine '%.*s'; there are: oracle, death, native, "
                    "sanitizer, explorer\n",
                    (int)length, list);
            return false;
        }
        if (engine == RCL_ENGINE_COUNTER) {
            fprintf(stderr, "rclab conform: the engine '%.*s' is not in this version\n",
                    (int)length, list);
            return false;
        }
        *engines |= (unsigned)engine;
        if (list[length] == '\0') {
            return true;
        }
        list += length + 1;
    }
}

static bool check_clauses(const char *list)
{
    size_t length = 0;
    const char *unknown = rcl_clause_list_error(list, &length);
    if (unknown != NULL) {
        fprintf(stderr,
                "rclab conform: there is no clause or area '%.*s'; rclab clauses shows all\n",
                (int)length, unknown);
    }
    return unknown == NULL;
}

static bool add_subject(const rcl_registry *registry, request *asked, const char *given)
{
    if (asked->count == SUBJECTS_MAX) {
        fprintf(stderr, "rclab conform: more than %d implementations\n", SUBJECTS_MAX);
        return false;
    }
    return rcl_subject_find(registry, "conform", given, &asked->subjects[asked->count++]);
}

/* Reads the options. -1: go on; else the exit status. */
static int read_options(const rcl_registry *registry, int argc, char **argv, request *asked)
{
    rcl_conform_options *options = &asked->options;
    uint64_t number = 0;
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        bool good = true;
        switch (option) {
        case OPTION_IMPL:
            good = add_subject(registry, asked, optarg);
            break;
        case OPTION_LIBS:
            options->libraries = optarg;
            break;
        case OPTION_QUICK:
            options->quick = true;
            break;
        case OPTION_CLAUSE:
            options->clauses = optarg;
            good = check_clauses(optarg);
            break;
        case OPTION_ENGINE:
            good = parse_engines(optarg, &options->engines);
            break;
        case OPTION_OPERATIONS:
            good = rcl_parse_number("conform", "--operations", optarg, 1, UINT64_C(1) << 40,
                                    &options->operations);
            break;
        case OPTION_SEED:
            good = rcl_parse_number("conform", "--seed", optarg, 1, INT64_MAX, &options->seed);
            break;
        case OPTION_TIMEOUT:
            good = rcl_parse_number("conform", "--timeout", optarg, 1, 86400, &number);
            options->timeout_seconds = (double)number;
            break;
        case OPTION_JOBS:
            good = rcl_parse_number("conform", "--jobs", optarg, 1, 256, &number);
            options->jobs = (unsigned)number;
            break;
        case OPTION_JUNIT:
            asked->junit = optarg;
            break;
        case OPTION_TAP:
            asked->tap = true;
            break;
        case OPTION_VERBOSE:
            asked->verbose = true;
            break;
        case OPTION_KEEP:
            options->keep = true;
            break;
        case OPTION_RECORD:
            asked->record = true;
            break;
        case 'h':
        case OPTION_HELP:
            fputs(help, stdout);
            return 0;
        default:
            fputs("rclab conform --help lists the options\n", stderr);
            return RCL_EXIT_USAGE;
        }
        if (!good) {
            return RCL_EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "rclab conform: '%s' is no option (rclab conform --help)\n", argv[optind]);
        return RCL_EXIT_USAGE;
    }
    for (unsigned i = 0; i < registry->impl_count && asked->count == 0; i++) {
        for (unsigned n = 0; n < registry->impl_count; n++) {
            if (registry->impls[n]->counts && registry->impls[n]->header[0] != '/') {
                add_subject(registry, asked, registry->impls[n]->name);
            }
        }
    }
    return -1;
}

/* ---- Running ---- */

/* Keeps what a whole run found. */
static void keep_verdict(const request *asked, const rcl_conform_report *report)
{
    char error[RCL_PATH_BYTES + 128];
    if (report->narrowed) {
        return;
    }
    if (!rcl_conform_keep(report, error, sizeof error) ||
        (asked->record && !rcl_conform_record(report, error, sizeof error))) {
        fprintf(stderr, "rclab conform: %s\n", error);
    }
}

static void show_error(const char *name, const char *error)
{
    fprintf(stderr, "%s: does not build:\n", name);
    while (*error != '\0') {
        size_t length = strcspn(error, "\n");
        fprintf(stderr, "    %.*s\n", (int)length, error);
        error += length + (error[length] == '\n' ? 1 : 0);
    }
}

/* One implementation, with everything that is printed of it. Returns an exit status. */
static int run_one(const request *asked, const rcl_subject *one, FILE *junit, unsigned *tap_number,
                   FILE *summary)
{
    static char error[4096];
    rcl_conform_report report;
    int status = 0;
    rcl_conform_end end =
        rcl_conform(&asked->options, one->name, one->header, &report, error, sizeof error);
    rcl_subject_options(one, asked->options.libraries, report.again, sizeof report.again);
    switch (end) {
    case RCL_CONFORM_ENVIRONMENT:
        fprintf(stderr, "rclab conform: %s\n", error);
        status = RCL_EXIT_ENVIRONMENT;
        break;
    case RCL_CONFORM_NOT_BUILT:
        status = RCL_EXIT_USAGE;
        fflush(stdout);
        show_error(one->name, error);
        fprintf(summary, "%s: FAILED: does not build\n", one->name);
        if (asked->tap) {
            printf("not ok %u - %s builds\n", ++*tap_number, one->name);
        }
        if (junit != NULL) {
            rcl_conform_junit(junit, &report, error);
        }
        break;
    case RCL_CONFORM_INTERRUPTED:
        status = RCL_EXIT_INTERRUPTED;
        break;
    default:
        status = report.passed ? 0 : RCL_EXIT_FAILED;
        if (asked->tap) {
            rcl_conform_tap(stdout, &report, tap_number);
        } else {
            if (asked->options.libraries != NULL) {
                puts(
                    "ThreadSanitizer is left out: it cannot see into compiled libraries, and would "
                    "accuse\ncorrect ones. Build them from source beside the rc.h to have it.\n");
            }
            rcl_conform_print(stdout, &report, asked->verbose);
        }
        rcl_conform_print_summary(summary, &report);
        if (junit != NULL) {
            rcl_conform_junit(junit, &report, NULL);
        }
        keep_verdict(asked, &report);
        break;
    }
    fflush(stdout);
    rcl_conform_free(&report);
    return status;
}

static int run_all(const request *asked, FILE *junit, FILE *summary)
{
    unsigned tap_number = 0;
    int worst = 0;
    if (asked->tap) {
        puts("TAP version 13");
    }
    for (unsigned i = 0; i < asked->count; i++) {
        if (i > 0 && !asked->tap) {
            fputs("\n", stdout);
        }
        int status = run_one(asked, &asked->subjects[i], junit, &tap_number, summary);
        worst = status > worst ? status : worst;
        if (status == RCL_EXIT_INTERRUPTED || status == RCL_EXIT_ENVIRONMENT) {
            fprintf(stderr, "rclab conform: %s; %u of %u implementations %s finished\n",
                    status == RCL_EXIT_INTERRUPTED ? "interrupted" : "cannot go on", i,
                    asked->count, i == 1 ? "was" : "were");
            if (asked->tap) {
                puts("Bail out! interrupted");
            }
            return status;
        }
    }
    if (asked->tap) {
        printf("1..%u\n", tap_number);
    }
    return worst;
}

/* Opens a file beside the one that it will become. NULL, with a message, if that cannot be. */
static FILE *open_junit(const request *asked, char *temporary, size_t size)
{
    snprintf(temporary, size, "%s.new", asked->junit);
    FILE *file = fopen(temporary, "w");
    if (file == NULL) {
        fprintf(stderr, "rclab conform: cannot write %s: %s\n", temporary, strerror(errno));
        return NULL;
    }
    rcl_conform_junit_begin(file);
    return file;
}

static int close_junit(const request *asked, FILE *file, const char *temporary, int status)
{
    rcl_conform_junit_end(file);
    bool good = ferror(file) == 0;
    good = fclose(file) == 0 && good;
    if (status == RCL_EXIT_INTERRUPTED || !good || rename(temporary, asked->junit) != 0) {
        remove(temporary);
        if (status != RCL_EXIT_INTERRUPTED) {
            fprintf(stderr, "rclab conform: cannot write %s: %s\n", asked->junit, strerror(errno));
            return RCL_EXIT_USAGE;
        }
    }
    return status;
}

int rcl_command_conform(const rcl_registry *registry, int argc, char **argv)
{
    static request asked;
    char temporary[RCL_PATH_BYTES];
    char *lines = NULL;
    size_t lines_size = 0;
    FILE *junit = NULL;
    asked = (request){.options = {.engines = RCL_ENGINE_ALL,
                                  .seed = ((uint64_t)time(NULL) << 16 ^ (uint64_t)getpid()) | 1,
                                  .timeout_seconds = DEFAULT_TIMEOUT_SECONDS,
                                  .jobs = rcl_processors(),
                                  .stop = &interrupted}};
    static char name[] = "rclab conform"; /* how getopt begins its messages */
    argv[0] = name;
    int status = read_options(registry, argc, argv, &asked);
    if (status >= 0) {
        return status;
    }
    if (asked.junit != NULL && (junit = open_junit(&asked, temporary, sizeof temporary)) == NULL) {
        return RCL_EXIT_USAGE;
    }
    FILE *summary = open_memstream(&lines, &lines_size);
    if (summary == NULL) {
        fputs("rclab conform: out of memory\n", stderr);
        return RCL_EXIT_ENVIRONMENT;
    }
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    status = run_all(&asked, junit, summary);
    if (junit != NULL) {
        status = close_junit(&asked, junit, temporary, status);
    }
    fclose(summary);
    if (asked.count > 1 && !asked.tap) {
        printf("\n%s", lines);
    }
    free(lines);
    return status;
}
