#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "compare.h"
#include "compare_print.h"

static const char help[] =
    "usage: rclab compare BEFORE AFTER [OPTIONS]     two runs: the folders that bench wrote\n"
    "       rclab compare RUN --impls A,B [OPTIONS]  two implementations of one run\n"
    "\n"
    "Says for every cell that both have (implementation, workload, variant, threads, sharing,\n"
    "allocator) whether AFTER is faster, slower, or not different as far as these runs can show,\n"
    "with the ratio of the times and its interval. A launch of the program counts once. What the\n"
    "machine did between the runs is seen from the rows of null and floor, which no change of an\n"
    "implementation reaches, and widens the intervals. The number of cells is allowed for: of\n"
    "those called different, on average at most one in twenty is so by chance.\n"
    "\n"
    "  --fail-if-slower P  exit 1 if a cell is called slower and its ratio is P percent or more\n"
    "                      above 1 (0: any slower one)\n"
    "  --impls A,B         A of BEFORE against B of AFTER\n"
    "  --impl LIST         only these implementations, separated by commas\n"
    "  --workload LIST     only these workloads or groups of workloads\n"
    "  --all               every cell, not only those that differ\n"
    "  --median            by the median of a launch's repetitions, as bench's table has it, and not\n"
    "                      by the fastest: finds less, but sees what is slow every other time\n"
    "  --csv FILE          every cell as CSV; - is standard output, in place of the table\n"
    "  --markdown FILE     the table as Markdown; - likewise\n"
    "  --anyway            compare runs of different machines, compilers, flags or schemas too\n"
    "\n"
    "Fewer cells are told apart more sharply: name those that your change can have touched. More\n"
    "launches (bench --launches 12) show smaller differences. The same files give the same answer.\n"
    "\n"
    "Exit status: 0 compared, 1 slower than --fail-if-slower allows, 2 the runs cannot be compared.\n"
    "\n"
    "Examples:\n"
    "  rclab compare results/before results/after\n"
    "  rclab compare results/main results/mine --impl packed64 --fail-if-slower 5 --markdown -\n"
    "  rclab compare results/latest --impls packed64,split32\n";

enum option_name {
    OPTION_FAIL = 256,
    OPTION_IMPLS,
    OPTION_IMPL,
    OPTION_WORKLOAD,
    OPTION_ALL,
    OPTION_MEDIAN,
    OPTION_CSV,
    OPTION_MARKDOWN,
    OPTION_ANYWAY,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"fail-if-slower", required_argument, NULL, OPTION_FAIL},
    {"impls", required_argument, NULL, OPTION_IMPLS},
    {"impl", required_argument, NULL, OPTION_IMPL},
    {"workload", required_argument, NULL, OPTION_WORKLOAD},
    {"all", no_argument, NULL, OPTION_ALL},
    {"median", no_argument, NULL, OPTION_MEDIAN},
    {"csv", required_argument, NULL, OPTION_CSV},
    {"markdown", required_argument, NULL, OPTION_MARKDOWN},
    {"anyway", no_argument, NULL, OPTION_ANYWAY},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

enum { NAME_BYTES = 128, ERROR_BYTES = 8192 };

typedef struct compare_options {
    const char *before, *after; /* after is NULL: one run */
    const char *impls, *workloads;
    char impl_before[NAME_BYTES], impl_after[NAME_BYTES]; /* "": not given */
    const char *csv, *markdown;
    double fail_percent; /* below 0: never fail */
    bool all, anyway;
    rcl_launch_statistic statistic;
} compare_options;

/* ---- Options ---- */

static bool parse_percent(const char *text, double *percent)
{
    char *end = NULL;
    errno = 0;
    *percent = strtod(text, &end);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || *percent > 1000) {
        fprintf(stderr, "rclab compare: --fail-if-slower takes percent from 0 to 1000, not '%s'\n",
                text);
        return false;
    }
    return true;
}

static bool parse_impls(const char *text, compare_options *options)
{
    size_t first = strcspn(text, ",");
    const char *second = text[first] == ',' ? text + first + 1 : "";
    if (first == 0 || *second == '\0' || strchr(second, ',') != NULL || first >= NAME_BYTES ||
        strlen(second) >= NAME_BYTES) {
        fprintf(stderr,
                "rclab compare: --impls takes two implementations, as in packed64,split32, not "
                "'%s'\n",
                text);
        return false;
    }
    snprintf(options->impl_before, NAME_BYTES, "%.*s", (int)first, text);
    snprintf(options->impl_after, NAME_BYTES, "%s", second);
    return true;
}

static bool parse_folders(int argc, char **argv, compare_options *options)
{
    int count = argc - optind;
    bool impls = options->impl_before[0] != '\0';
    if (count < 1 || count > 2 || (count == 1 && !impls)) {
        fprintf(stderr,
                "rclab compare: give two runs, or one with --impls A,B (rclab compare --help); %d "
                "given\n",
                count);
        return false;
    }
    if (impls && options->impls != NULL) {
        fputs("rclab compare: --impl and --impls say two things; give one of them\n", stderr);
        return false;
    }
    if (count == 1 && strcmp(options->impl_before, options->impl_after) == 0) {
        fprintf(stderr, "rclab compare: --impls %s,%s in one run compares it with itself\n",
                options->impl_before, options->impl_after);
        return false;
    }
    if (options->csv != NULL && options->markdown != NULL && strcmp(options->csv, "-") == 0 &&
        strcmp(options->markdown, "-") == 0) {
        fputs("rclab compare: only one of --csv and --markdown can be -\n", stderr);
        return false;
    }
    options->before = argv[optind];
    options->after = count == 2 ? argv[optind + 1] : NULL;
    return true;
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, compare_options *options)
{
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        bool good = true;
        switch (option) {
        case OPTION_FAIL:
            good = parse_percent(optarg, &options->fail_percent);
            break;
        case OPTION_IMPLS:
            good = parse_impls(optarg, options);
            break;
        case OPTION_IMPL:
            options->impls = optarg;
            break;
        case OPTION_WORKLOAD:
            options->workloads = optarg;
            break;
        case OPTION_ALL:
            options->all = true;
            break;
        case OPTION_MEDIAN:
            options->statistic = RCL_LAUNCH_MEDIAN;
            break;
        case OPTION_CSV:
            options->csv = optarg;
            break;
        case OPTION_MARKDOWN:
            options->markdown = optarg;
            break;
        case OPTION_ANYWAY:
            options->anyway = true;
            break;
        case 'h':
        case OPTION_HELP:
            fputs(help, stdout);
            return 0;
        default:
            fputs("rclab compare --help lists the options\n", stderr);
            return RCL_EXIT_USAGE;
        }
        if (!good) {
            return RCL_EXIT_USAGE;
        }
    }
    return parse_folders(argc, argv, options) ? -1 : RCL_EXIT_USAGE;
}

/* ---- Which cells ---- */

typedef struct cell_filter {
    const rcl_registry *registry;
    const char *impls, *workloads;
} cell_filter;

/* True if an entry of the list, `length` bytes of it, names the cell. */
typedef bool names_cell(const cell_filter *filter, const char *entry, size_t length,
                        const rcl_measured_cell *cell);

static bool same(const char *entry, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(entry, name, length) == 0;
}

static bool names_impl(const cell_filter *filter, const char *entry, size_t length,
                       const rcl_measured_cell *cell)
{
    (void)filter;
    return same(entry, length, cell->impl);
}

static bool names_workload(const cell_filter *filter, const char *entry, size_t length,
                           const rcl_measured_cell *cell)
{
    const rcl_registry *registry = filter->registry;
    for (unsigned i = 0; i < registry->workload_count; i++) {
        if (same(entry, length, registry->workloads[i].group) &&
            strcmp(registry->workloads[i].name, cell->workload) == 0) {
            return true;
        }
    }
    return same(entry, length, cell->workload);
}

static bool listed(const cell_filter *filter, const char *list, names_cell *names,
                   const rcl_measured_cell *cell)
{
    for (const char *entry = list; entry != NULL && *entry != '\0';) {
        size_t length = strcspn(entry, ",");
        if (names(filter, entry, length, cell)) {
            return true;
        }
        entry += length + (entry[length] == ',' ? 1 : 0);
    }
    return list == NULL;
}

static bool wanted(const rcl_measured_cell *cell, const void *context)
{
    const cell_filter *filter = context;
    return listed(filter, filter->impls, names_impl, cell) &&
           listed(filter, filter->workloads, names_workload, cell);
}

static bool any_named(const cell_filter *filter, const char *entry, size_t length,
                      names_cell *names, const rcl_measured *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if (names(filter, entry, length, &run->cells[i])) {
            return true;
        }
    }
    return false;
}

/* "a, b, c": what the cells of a run have, each once. */
static void list_names(const rcl_measured *run, bool impls, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < run->count; i++) {
        const rcl_measured_cell *cell = &run->cells[i];
        const char *name = impls ? cell->impl : cell->workload;
        bool known = false;
        for (size_t j = 0; j < i && !known; j++) {
            known = strcmp(impls ? run->cells[j].impl : run->cells[j].workload, name) == 0;
        }
        if (!known && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", name);
        }
    }
}

/* Every entry must name something in one of the runs. */
static bool check_list(const cell_filter *filter, const char *option, const char *list,
                       names_cell *names, const rcl_measured *before, const rcl_measured *after)
{
    if (list != NULL && *list == '\0') {
        fprintf(stderr, "rclab compare: the list after %s is empty\n", option);
        return false;
    }
    for (const char *entry = list; entry != NULL && *entry != '\0';) {
        size_t length = strcspn(entry, ",");
        if (!any_named(filter, entry, length, names, before) &&
            !any_named(filter, entry, length, names, after)) {
            char there[1024];
            list_names(before, names == names_impl, there, sizeof there);
            fprintf(stderr, "rclab compare: %s: there is no '%.*s' in these runs; there are: %s\n",
                    option, (int)length, entry, there);
            return false;
        }
        entry += length + (entry[length] == ',' ? 1 : 0);
    }
    return true;
}

static bool check_impl(const cell_filter *filter, const char *impl, const rcl_measured *run)
{
    if (impl == NULL || any_named(filter, impl, strlen(impl), names_impl, run)) {
        return true;
    }
    char there[1024];
    list_names(run, true, there, sizeof there);
    fprintf(stderr, "rclab compare: --impls: there is no '%s' in %s; there are: %s\n", impl,
            run->folder, there);
    return false;
}

/* ---- Which runs ---- */

static bool check_facts(const rcl_measured *before, const rcl_measured *after)
{
    char text[4 * RCL_FACT_COUNT * RCL_FACT_BYTES] = "";
    size_t used = 0;
    for (unsigned i = 0; i < RCL_FACT_COUNT; i++) {
        const rcl_fact *left = &before->facts[i];
        const rcl_fact *right = &after->facts[i];
        if (left->must_agree && strcmp(left->value, right->value) != 0) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s against %s",
                                     used > 0 ? "; " : "", left->name, left->value, right->value);
        }
    }
    if (used > 0) {
        fprintf(stderr,
                "rclab compare: %s and %s cannot be compared: %s (--anyway compares them all the "
                "same)\n",
                before->folder, after->folder, text);
    }
    return used == 0;
}

static bool load(const char *folder, const compare_options *options, rcl_measured *run)
{
    char error[ERROR_BYTES];
    if (rcl_measured_load(folder, options->anyway, run, error, sizeof error)) {
        return true;
    }
    fprintf(stderr, "rclab compare: %s\n", error);
    return false;
}

static bool one_launch(const rcl_measured *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->cells[i].launches > 1) {
            return false;
        }
    }
    return true;
}

/* Says why nothing is left to compare. */
static void complain_nothing(const rcl_compare_request *request, const rcl_comparison *comparison)
{
    const size_t *counts = comparison->counts;
    bool single_before = one_launch(request->before);
    if (single_before || one_launch(request->after)) {
        fprintf(stderr,
                "rclab compare: %s has one launch only, which shows no spread: measure again with "
                "bench --launches 3 or more (6 is the default)\n",
                (single_before ? request->before : request->after)->folder);
    } else if (counts[RCL_LEFT_FLAGGED] + counts[RCL_LEFT_ONE_LAUNCH] > 0) {
        fprintf(stderr,
                "rclab compare: nothing is left to compare: of the cells that both have, %zu had "
                "most repetitions flagged and %zu have one launch only; measure again on an idle "
                "machine\n",
                counts[RCL_LEFT_FLAGGED], counts[RCL_LEFT_ONE_LAUNCH]);
    } else {
        fprintf(stderr,
                "rclab compare: %s and %s have no cell in common that was asked for: %zu are only "
                "in the first, %zu only in the second (null and floor are not compared but used to "
                "see the machine)\n",
                request->before->folder, request->after->folder, counts[RCL_ONLY_BEFORE],
                counts[RCL_ONLY_AFTER]);
    }
}

/* ---- Results ---- */

typedef bool write_results(FILE *out, const rcl_compare_request *request,
                           const rcl_comparison *comparison, bool all);

static bool write_csv(FILE *out, const rcl_compare_request *request,
                      const rcl_comparison *comparison, bool all)
{
    (void)request;
    (void)all;
    return rcl_compare_write_csv(out, comparison);
}

/* Returns an exit status: 2 for a file that cannot be opened, 3 for one that cannot be filled. */
static int write_file(const char *path, write_results *write, const rcl_compare_request *request,
                      const rcl_comparison *comparison, bool all)
{
    bool out = strcmp(path, "-") == 0;
    const char *name = out ? "standard output" : path;
    FILE *file = out ? stdout : fopen(path, "we");
    if (file == NULL) {
        fprintf(stderr, "rclab compare: cannot write %s: %s\n", name, strerror(errno));
        return RCL_EXIT_USAGE;
    }
    bool written = write(file, request, comparison, all) && fflush(file) == 0;
    int why = errno;
    if (!out && fclose(file) != 0 && written) {
        why = errno;
        written = false;
    }
    if (!written) {
        fprintf(stderr, "rclab compare: cannot write %s: %s\n", name, strerror(why));
    }
    return written ? 0 : RCL_EXIT_ENVIRONMENT;
}

static int show(const compare_options *options, const rcl_compare_request *request,
                const rcl_comparison *comparison)
{
    const struct {
        const char *path;
        write_results *write;
    } outputs[] = {
        {options->csv, write_csv},
        {options->markdown, rcl_compare_print_markdown},
    };
    bool table = true;
    for (unsigned i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (outputs[i].path == NULL) {
            continue;
        }
        int status =
            write_file(outputs[i].path, outputs[i].write, request, comparison, options->all);
        if (status != 0) {
            return status;
        }
        table = table && strcmp(outputs[i].path, "-") != 0;
    }
    return table ? write_file("-", rcl_compare_print, request, comparison, options->all) : 0;
}

/* True if a cell is slower than is allowed; says which is the worst. */
static bool fails(const compare_options *options, const rcl_comparison *comparison)
{
    const rcl_pair *worst = NULL;
    size_t count = 0;
    for (size_t i = 0; i < comparison->count && options->fail_percent >= 0; i++) {
        const rcl_pair *pair = &comparison->pairs[i];
        if (pair->verdict == RCL_SLOWER && pair->ratio >= 1 + options->fail_percent / 100) {
            worst = worst == NULL || pair->ratio > worst->ratio ? pair : worst;
            count++;
        }
    }
    if (worst != NULL) {
        char label[256];
        rcl_pair_label(worst, label, sizeof label);
        fprintf(
            stderr, "rclab compare: %zu cell%s slower by %g %% or more; the worst by %.1f %%: %s\n",
            count, count == 1 ? "" : "s", options->fail_percent, (worst->ratio - 1) * 100, label);
    }
    return worst != NULL;
}

static int compare_runs(const rcl_registry *registry, const compare_options *options,
                        const rcl_measured *before, const rcl_measured *after)
{
    const cell_filter filter = {registry, options->impls, options->workloads};
    bool two_impls = options->impl_before[0] != '\0';
    const rcl_compare_request request = {
        .before = before,
        .after = after,
        .impl_before = two_impls ? options->impl_before : NULL,
        .impl_after = two_impls ? options->impl_after : NULL,
        .statistic = options->statistic,
        .wanted = wanted,
        .context = &filter,
    };
    if (!check_list(&filter, "--impl", options->impls, names_impl, before, after) ||
        !check_list(&filter, "--workload", options->workloads, names_workload, before, after) ||
        !check_impl(&filter, request.impl_before, before) ||
        !check_impl(&filter, request.impl_after, after) ||
        (!options->anyway && !check_facts(before, after))) {
        return RCL_EXIT_USAGE;
    }
    rcl_comparison comparison;
    int status = RCL_EXIT_ENVIRONMENT;
    if (!rcl_compare(&request, &comparison)) {
        fputs("rclab compare: out of memory\n", stderr);
    } else if (comparison.compared == 0) {
        complain_nothing(&request, &comparison);
        status = RCL_EXIT_USAGE;
    } else {
        status = show(options, &request, &comparison);
        if (status == 0 && fails(options, &comparison)) {
            status = RCL_EXIT_FAILED;
        }
    }
    rcl_comparison_free(&comparison);
    return status;
}

int rcl_command_compare(const rcl_registry *registry, int argc, char **argv)
{
    compare_options options = {.fail_percent = -1, .statistic = RCL_LAUNCH_FASTEST};
    static char name[] = "rclab compare"; /* how getopt begins its messages */
    argv[0] = name;
    int status = parse_options(argc, argv, &options);
    if (status >= 0) {
        return status;
    }
    rcl_measured before = {0};
    rcl_measured after = {0};
    status = RCL_EXIT_USAGE;
    if (load(options.before, &options, &before) &&
        (options.after == NULL || load(options.after, &options, &after))) {
        status =
            compare_runs(registry, &options, &before, options.after != NULL ? &after : &before);
    }
    rcl_measured_free(&before);
    rcl_measured_free(&after);
    return status;
}
