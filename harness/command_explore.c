#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "clauses.h"
#include "explore.h"
#include "record.h"
#include "wrap.h"

static const char help[] =
    "usage: rclab explore --impl NAME|PATH [OPTIONS]\n"
    "\n"
    "Runs the battery's scenarios of two to four threads in every way that C11 allows: every\n"
    "interleaving, and every store that a read may see. The implementation is compiled from its\n"
    "ordinary source; it need not know the explorer. Linux on x86-64.\n"
    "\n"
    "  --impl NAME|PATH      an implementation, by its name or the path of its rc.h; several:\n"
    "                        repeat it, or separate names by commas\n"
    "  --scenario LIST       only these, separated by commas: a scenario (two_owners), a clause\n"
    "                        (ORDER-01), an area (ORDER) or ORDER-01/two_owners (default: all)\n"
    "  --list                what would be searched, and what not and why\n"
    "  --executions N        of one search, at most; 0: no limit (default: 1000000)\n"
    "  --random N            random executions when that limit was met (default: 20000)\n"
    "  --seed N              of those (default: 1)\n"
    "  --processes N         that share one search (default: 1). With more, which failure is\n"
    "                        found first is a matter of chance\n"
    "  --schedule S          run one execution alone: a failure prints its schedule\n"
    "  --optimise 0|2        compile with -O0 or -O2 (default: 2)\n"
    "  --checked             with the implementation's checks (RC_CHECKED=1)\n"
    "  --libs WORDS          objects to link with, compiled with -fsanitize=thread\n"
    "  --json FILE           write the results, and the steps of failures, as JSON too\n"
    "  --keep                keep the program that was built, and say where\n"
    "\n"
    "Verdicts:\n"
    "  pass, exhaustive      every execution was tried, and none breaks a promise\n"
    "  pass, bounded         none of those that were tried does; what was left out is said\n"
    "  FAIL                  an execution that breaks one: it is shown step by step\n"
    "  UNSUPPORTED           the explorer cannot know what this code does, and says why: objects\n"
    "                        that are not instrumented, inline assembly, atomics wider than 16 bytes\n"
    "                        or of two sizes on the same memory. Not a pass\n"
    "\n"
    "Found: data races, uses after free, double frees, leaks, deadlocks, traps, and what the\n"
    "scenario expects. Not seen: load buffering and values out of thin air, which the model (RC11)\n"
    "excludes; the reuse of addresses (ABA); signals and condition variables; what needs more\n"
    "threads or steps than the scenarios have. consume is acquire. -O0 and -O2 can differ.\n"
    "\n"
    "Exit status: 0 none failed, 1 one failed, 2 wrong use or input: one does not build or is\n"
    "UNSUPPORTED, 3 the machine lacks something, 130 interrupted (what was finished is printed).\n"
    "\n"
    "Examples:\n"
    "  rclab explore --impl packed64 --scenario ORDER\n"
    "  rclab explore --impl ../mine/rc.h --optimise 0 --checked\n"
    "  rclab explore --impl packed64 --scenario RACE-06/three_up_and_down --executions 0\n";

enum option_name {
    OPTION_IMPL = 256,
    OPTION_SCENARIO,
    OPTION_LIST,
    OPTION_EXECUTIONS,
    OPTION_RANDOM,
    OPTION_SEED,
    OPTION_PROCESSES,
    OPTION_SCHEDULE,
    OPTION_OPTIMISE,
    OPTION_CHECKED,
    OPTION_LIBS,
    OPTION_JSON,
    OPTION_KEEP,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"impl", required_argument, NULL, OPTION_IMPL},
    {"scenario", required_argument, NULL, OPTION_SCENARIO},
    {"list", no_argument, NULL, OPTION_LIST},
    {"executions", required_argument, NULL, OPTION_EXECUTIONS},
    {"random", required_argument, NULL, OPTION_RANDOM},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"processes", required_argument, NULL, OPTION_PROCESSES},
    {"schedule", required_argument, NULL, OPTION_SCHEDULE},
    {"optimise", required_argument, NULL, OPTION_OPTIMISE},
    {"checked", no_argument, NULL, OPTION_CHECKED},
    {"libs", required_argument, NULL, OPTION_LIBS},
    {"json", required_argument, NULL, OPTION_JSON},
    {"keep", no_argument, NULL, OPTION_KEEP},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

enum { SUBJECTS_MAX = 64, PROCESSES_MAX = 64, NAME_COLUMN = 46, VERDICT_COLUMN = 67, WIDTH = 110 };

static const uint64_t default_executions = 1000000;
static const uint64_t default_random = 20000;
static const double rate_needs_seconds = 0.01;

typedef struct request {
    rcl_explore_options options;
    rcl_subject subjects[SUBJECTS_MAX];
    char names[4096]; /* of --impl, cut at the commas */
    size_t names_used;
    unsigned count;
    const char *json_path;
    json_t *results; /* NULL: not asked for */
} request;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* ---- Reading the request ---- */

static bool add_subject(const rcl_registry *registry, request *asked, const char *given)
{
    if (asked->count == SUBJECTS_MAX) {
        fprintf(stderr, "rclab explore: more than %d implementations\n", SUBJECTS_MAX);
        return false;
    }
    return rcl_subject_find(registry, "explore", given, &asked->subjects[asked->count++]);
}

/* A path, or names separated by commas. */
static bool add_subjects(const rcl_registry *registry, request *asked, const char *list)
{
    if (strchr(list, '/') != NULL) {
        return add_subject(registry, asked, list);
    }
    for (bool more = true; more;) {
        size_t length = strcspn(list, ",");
        char *name = asked->names + asked->names_used;
        if (length + 1 > sizeof asked->names - asked->names_used) {
            fputs("rclab explore: --impl is too long\n", stderr);
            return false;
        }
        memcpy(name, list, length);
        name[length] = '\0';
        asked->names_used += length + 1;
        if (!add_subject(registry, asked, name)) {
            return false;
        }
        more = list[length] == ',';
        list += length + (more ? 1 : 0);
    }
    return true;
}

/* Clauses and areas are known before anything is built; names of scenarios are not. */
static bool check_scenarios(const char *list)
{
    for (bool more = true; more;) {
        size_t length = strcspn(list, ",");
        char entry[128];
        size_t unknown = 0;
        snprintf(entry, sizeof entry, "%.*s", (int)strcspn(list, ",/"), list);
        bool clause = *entry >= 'A' && *entry <= 'Z';
        if (length == 0 || (clause && rcl_clause_list_error(entry, &unknown) != NULL)) {
            fprintf(stderr,
                    "rclab explore: there is no scenario, clause or area '%.*s'; --list shows "
                    "what can be searched\n",
                    (int)length, list);
            return false;
        }
        more = list[length] == ',';
        list += length + (more ? 1 : 0);
    }
    return true;
}

static bool check_schedule(const char *text)
{
    if (strcmp(text, "-") != 0 && /* no choice was made */
        (*text == '\0' || text[strspn(text, "0123456789.")] != '\0')) {
        fprintf(stderr,
                "rclab explore: --schedule takes numbers with points between, 0.1.2, not '%s'\n",
                text);
        return false;
    }
    return true;
}

static bool read_optimise(const char *text, bool *optimised)
{
    *optimised = strcmp(text, "2") == 0;
    if (!*optimised && strcmp(text, "0") != 0) {
        fprintf(stderr, "rclab explore: --optimise takes 0 or 2, not '%s'\n", text);
        return false;
    }
    return true;
}

/* False, with a message, if the option's value is wrong. */
static bool read_option(const rcl_registry *registry, request *asked, int option)
{
    rcl_explore_options *options = &asked->options;
    uint64_t number = 0;
    bool good = true;
    switch (option) {
    case OPTION_IMPL:
        return add_subjects(registry, asked, optarg);
    case OPTION_SCENARIO:
        options->scenarios = optarg;
        return check_scenarios(optarg);
    case OPTION_LIST:
        options->list = true;
        return true;
    case OPTION_EXECUTIONS:
        return rcl_parse_number("explore", "--executions", optarg, 0, INT64_MAX,
                                &options->executions);
    case OPTION_RANDOM:
        return rcl_parse_number("explore", "--random", optarg, 0, INT64_MAX, &options->random);
    case OPTION_SEED:
        return rcl_parse_number("explore", "--seed", optarg, 1, INT64_MAX, &options->seed);
    case OPTION_PROCESSES:
        good = rcl_parse_number("explore", "--processes", optarg, 1, PROCESSES_MAX, &number);
        options->processes = (unsigned)number;
        return good;
    case OPTION_SCHEDULE:
        options->schedule = optarg;
        return check_schedule(optarg);
    case OPTION_OPTIMISE:
        return read_optimise(optarg, &options->optimised);
    case OPTION_CHECKED:
        options->checked = true;
        return true;
    case OPTION_LIBS:
        options->libraries = optarg;
        return true;
    case OPTION_JSON:
        asked->json_path = optarg;
        options->json = true;
        return true;
    default: /* OPTION_KEEP */
        options->keep = true;
        return true;
    }
}

/* -1: go on; else the exit status. */
static int read_options(const rcl_registry *registry, int argc, char **argv, request *asked)
{
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        if (option == 'h' || option == OPTION_HELP) {
            fputs(help, stdout);
            return 0;
        }
        if (option == '?') {
            fputs("rclab explore --help lists the options\n", stderr);
            return RCL_EXIT_USAGE;
        }
        if (!read_option(registry, asked, option)) {
            return RCL_EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "rclab explore: '%s' is no option (rclab explore --help)\n", argv[optind]);
        return RCL_EXIT_USAGE;
    }
    if (asked->count == 0) {
        fputs("rclab explore: --impl is missing: a name (rclab list) or the path of an rc.h\n",
              stderr);
        return RCL_EXIT_USAGE;
    }
    if (asked->options.schedule != NULL &&
        (asked->options.scenarios == NULL || asked->count != 1)) {
        fputs("rclab explore: --schedule belongs to one scenario of one implementation: name it "
              "with --scenario\n",
              stderr);
        return RCL_EXIT_USAGE;
    }
    return -1;
}

/* ---- Printing ---- */

static const char *verdict_word(rcl_search_verdict verdict)
{
    switch (verdict) {
    case RCL_SEARCH_FAIL:
        return "FAIL:";
    case RCL_SEARCH_UNSUPPORTED:
        return "UNSUPPORTED:";
    default:
        return "";
    }
}

static void print_row(const rcl_search *search)
{
    char scenario[128];
    char rate[32] = "";
    const char *words = search->words;
    static const char unsupported[] = "unsupported: ";
    snprintf(scenario, sizeof scenario, "%s/%s", search->clause, search->name);
    if (search->seconds >= rate_needs_seconds && search->executions > 0) {
        rcl_with_commas((uint64_t)((double)search->executions / search->seconds), rate,
                        sizeof rate);
    }
    if (search->verdict == RCL_SEARCH_UNSUPPORTED &&
        strncmp(words, unsupported, sizeof unsupported - 1) == 0) {
        words += sizeof unsupported - 1;
    }
    printf("%-*s %7.2f %10s  ", NAME_COLUMN, scenario, search->seconds, rate);
    int column = rcl_print_words(stdout, verdict_word(search->verdict), VERDICT_COLUMN,
                                 VERDICT_COLUMN, WIDTH);
    rcl_print_words(stdout, words, column, VERDICT_COLUMN, WIDTH);
    fputc('\n', stdout);
}

/* What the searches came to; how many of each. */
typedef struct sums {
    unsigned counts[RCL_SEARCH_LEFT_OUT + 1];
    uint64_t executions;
} sums;

static sums add_up(const rcl_exploration *found)
{
    sums all = {.executions = 0};
    for (size_t i = 0; i < found->count; i++) {
        all.counts[found->searches[i].verdict]++;
        all.executions += found->searches[i].executions;
    }
    return all;
}

static void print_failures(const rcl_exploration *found)
{
    unsigned shown = 0;
    for (size_t i = 0; i < found->count; i++) {
        const rcl_search *search = &found->searches[i];
        if (search->verdict != RCL_SEARCH_FAIL || search->output == NULL ||
            search->schedule[0] == '\0') {
            continue;
        }
        if (shown++ == 0) {
            printf("\n%s/%s: %s\n", search->clause, search->name, search->output);
        }
    }
    if (shown > 1) {
        printf("\n%u more failed: --scenario with the name of one shows it.\n", shown - 1);
    }
}

static void print_found(const rcl_subject *subject, const rcl_exploration *found)
{
    char executions[32];
    sums all = add_up(found);
    printf("%-*s %7s %10s  %s\n", NAME_COLUMN, "scenario", "seconds", "a second", "verdict");
    for (size_t i = 0; i < found->count; i++) {
        if (found->searches[i].verdict != RCL_SEARCH_WAITING) {
            print_row(&found->searches[i]);
        }
    }
    print_failures(found);
    rcl_with_commas(all.executions, executions, sizeof executions);
    printf("\n%s: %u pass, exhaustive; %u pass, bounded; %u failed; %u unsupported", subject->name,
           all.counts[RCL_SEARCH_PASS], all.counts[RCL_SEARCH_BOUNDED], all.counts[RCL_SEARCH_FAIL],
           all.counts[RCL_SEARCH_UNSUPPORTED]);
    unsigned open = all.counts[RCL_SEARCH_WAITING] + all.counts[RCL_SEARCH_INTERRUPTED];
    if (open > 0) {
        printf("; %u not finished", open);
    }
    printf("; %s execution%s in %.1f s\n", executions, all.executions == 1 ? "" : "s",
           found->seconds);
    if (found->kept[0] != '\0') {
        printf("the build is kept: %s\n", found->kept);
    }
}

static void print_list(const rcl_exploration *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const rcl_search *search = &found->searches[i];
        char scenario[128];
        bool left_out = search->verdict == RCL_SEARCH_LEFT_OUT;
        snprintf(scenario, sizeof scenario, "%s/%s", search->clause, search->name);
        printf("%-*s %s%s\n", NAME_COLUMN, scenario, left_out ? "not searched: " : "searched",
               left_out ? search->words : "");
    }
}

/* ---- JSON ---- */

static const char *const verdict_names[] = {"waiting",     "pass",        "bounded", "fail",
                                            "unsupported", "interrupted", "left out"};

static json_t *text(const char *value)
{
    json_t *string = json_string(value);
    return string != NULL ? string : json_string("(not UTF-8)");
}

static json_t *search_json(const rcl_search *search)
{
    json_t *one = json_object();
    json_object_set_new(one, "clause", text(search->clause));
    json_object_set_new(one, "scenario", text(search->name));
    json_object_set_new(one, "verdict", text(verdict_names[search->verdict]));
    json_object_set_new(one, "exhaustive", json_boolean(search->verdict == RCL_SEARCH_PASS));
    json_object_set_new(one, "text", text(search->words));
    json_object_set_new(one, "executions", json_integer((json_int_t)search->executions));
    json_object_set_new(one, "blocked", json_integer((json_int_t)search->blocked));
    json_object_set_new(one, "seconds", json_real(search->seconds));
    if (search->verdict == RCL_SEARCH_FAIL) {
        json_error_t error;
        json_t *trace = search->trace != NULL ? json_loads(search->trace, 0, &error) : NULL;
        json_object_set_new(one, "schedule", text(search->schedule));
        json_object_set_new(one, "failure", trace != NULL ? trace : json_null());
    }
    return one;
}

static void add_json(const request *asked, const rcl_subject *subject, const rcl_exploration *found,
                     const char *error)
{
    if (asked->results == NULL) {
        return;
    }
    const rcl_explore_options *options = &asked->options;
    json_t *one = json_object();
    json_t *searches = json_array();
    json_object_set_new(one, "impl", text(subject->name));
    json_object_set_new(one, "optimise", json_integer(options->optimised ? 2 : 0));
    json_object_set_new(one, "checked", json_boolean(options->checked));
    json_object_set_new(one, "executions_limit", json_integer((json_int_t)options->executions));
    json_object_set_new(one, "random", json_integer((json_int_t)options->random));
    json_object_set_new(one, "seed", json_integer((json_int_t)options->seed));
    json_object_set_new(one, "unsupported", found->unsupported ? text(found->why) : json_null());
    json_object_set_new(one, "error", error != NULL ? text(error) : json_null());
    for (size_t i = 0; i < found->count; i++) {
        json_array_append_new(searches, search_json(&found->searches[i]));
    }
    json_object_set_new(one, "searches", searches);
    json_array_append_new(asked->results, one);
}

static FILE *open_json(const request *asked, char *temporary, size_t size)
{
    snprintf(temporary, size, "%s.new", asked->json_path);
    FILE *file = fopen(temporary, "w");
    if (file == NULL) {
        fprintf(stderr, "rclab explore: cannot write %s: %s\n", temporary, strerror(errno));
    }
    return file;
}

static bool close_json(const request *asked, FILE *file, const char *temporary)
{
    json_t *whole =
        json_pack("{s:i, s:O}", "schema", RCL_SCHEMA, "implementations", asked->results);
    bool good = whole != NULL && json_dumpf(whole, file, JSON_INDENT(1)) == 0;
    json_decref(whole);
    good = fputc('\n', file) != EOF && good;
    good = fclose(file) == 0 && good;
    if (!good || rename(temporary, asked->json_path) != 0) {
        fprintf(stderr, "rclab explore: cannot write %s: %s\n", asked->json_path, strerror(errno));
        remove(temporary);
        return false;
    }
    return true;
}

/* ---- Running ---- */

static void show_error(const char *name, const char *error)
{
    fprintf(stderr, "%s: does not build:\n", name);
    while (*error != '\0') {
        size_t length = strcspn(error, "\n");
        fprintf(stderr, "    %.*s\n", (int)length, error);
        error += length + (error[length] == '\n' ? 1 : 0);
    }
}

static int status_of(const rcl_exploration *found)
{
    sums all = add_up(found);
    return all.counts[RCL_SEARCH_FAIL] > 0          ? RCL_EXIT_FAILED
           : all.counts[RCL_SEARCH_UNSUPPORTED] > 0 ? RCL_EXIT_USAGE
                                                    : 0;
}

/* One implementation, with everything that is printed of it. Returns an exit status. */
static int run_one(const request *asked, const rcl_subject *subject)
{
    static char error[4096];
    rcl_exploration found;
    int status = 0;
    error[0] = '\0';
    rcl_explore_end end = rcl_explore(&asked->options, subject, &found, error, sizeof error);
    switch (end) {
    case RCL_EXPLORE_ENVIRONMENT:
    case RCL_EXPLORE_NO_SUCH:
        fprintf(stderr, "rclab explore: %s\n", error);
        status = end == RCL_EXPLORE_NO_SUCH ? RCL_EXIT_USAGE : RCL_EXIT_ENVIRONMENT;
        break;
    case RCL_EXPLORE_NOT_BUILT:
        show_error(subject->name, error);
        status = RCL_EXIT_USAGE;
        break;
    default:
        if (found.unsupported) {
            printf("%s: UNSUPPORTED: %s\n", subject->name, found.why);
            status = found.lacking ? RCL_EXIT_ENVIRONMENT : RCL_EXIT_USAGE;
        } else if (asked->options.list) {
            print_list(&found);
        } else {
            print_found(subject, &found);
            status = status_of(&found);
        }
        status = end == RCL_EXPLORE_INTERRUPTED ? RCL_EXIT_INTERRUPTED : status;
        break;
    }
    add_json(asked, subject, &found, error[0] != '\0' ? error : NULL);
    fflush(stdout);
    rcl_explore_free(&found);
    return status;
}

static int run_all(const request *asked)
{
    int worst = 0;
    for (unsigned i = 0; i < asked->count; i++) {
        if (i > 0) {
            fputs("\n", stdout);
        }
        int status = run_one(asked, &asked->subjects[i]);
        worst = status > worst ? status : worst;
        if (status == RCL_EXIT_INTERRUPTED) {
            fprintf(stderr, "rclab explore: interrupted; %u of %u implementations %s finished\n", i,
                    asked->count, i == 1 ? "was" : "were");
            break;
        }
    }
    return worst;
}

int rcl_command_explore(const rcl_registry *registry, int argc, char **argv)
{
    static request asked;
    char temporary[RCL_PATH_BYTES];
    FILE *json = NULL;
    asked = (request){.options = {.executions = default_executions,
                                  .random = default_random,
                                  .seed = 1,
                                  .processes = 1,
                                  .optimised = true,
                                  .stop = &interrupted}};
    static char name[] = "rclab explore"; /* how getopt begins its messages */
    argv[0] = name;
    int status = read_options(registry, argc, argv, &asked);
    if (status >= 0) {
        return status;
    }
    if (asked.json_path != NULL &&
        (json = open_json(&asked, temporary, sizeof temporary)) == NULL) {
        return RCL_EXIT_USAGE;
    }
    asked.results = json != NULL ? json_array() : NULL;
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    status = run_all(&asked);
    if (json != NULL && !close_json(&asked, json, temporary)) {
        status = RCL_EXIT_USAGE;
    }
    json_decref(asked.results);
    return status;
}
