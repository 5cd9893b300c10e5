#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "cost.h"
#include "team.h"

static const char help[] =
    "usage: rclab cost [OPTIONS]\n"
    "\n"
    "Counts what each operation executes: instructions, locked instructions, reads and writes of\n"
    "memory. Counted by callgrind, not timed: the same to the unit on every run, however busy the\n"
    "machine is. Use it where a clock is too noisy to tell two versions apart.\n"
    "\n"
    "  --impl LIST     implementations, by name or by the path of an rc.h, separated by commas; may\n"
    "                  be repeated (default: all). *.c, *.cc and *.cpp beside an rc.h belong to it\n"
    "  --libs WORDS    objects or libraries to link with, separated by spaces\n"
    "  --op LIST       only these operations, separated by commas (default: all; named below)\n"
    "  --cc NAME       the compiler, e.g. gcc or clang-14, and its C++ twin (default: CC and CXX,\n"
    "                  else cc and c++)\n"
    "  --out DIR       write DIR/costs.csv too; DIR may hold a run\n"
    "  --csv FILE      write the same to FILE; - prints it in place of the table\n"
    "  --check[=FILE]  compare with FILE (default: results/reference/costs.csv), say what changed\n"
    "                  from what to what, and exit 1 if anything did; exit 3 if it has no rows for\n"
    "                  this compiler\n"
    "  --record[=FILE] put the figures into FILE (the same default), in place of those of the same\n"
    "                  implementation and compiler: so a wanted change is accepted\n"
    "\n"
    "A figure is that of one operation in a function of its own, its handles in registers, compiled\n"
    "in at the benchmark's flags: (count of 1024 operations - count of 512) / 512, less what an\n"
    "empty function takes. rclab asm shows those functions: the figures can be counted there. The\n"
    "test for null is inside, the work of the allocator and of a wrapper's hooks is not, only the\n"
    "call. A fraction means that something happens in some operations only. A read whose value is\n"
    "never used is not seen.\n"
    "\n"
    "What the columns do not tell: instructions are not time. On today's processors a locked\n"
    "instruction takes about 20 times as long as a plain one. What a cache miss, a mispredicted\n"
    "branch or another thread at the same line costs is not there; nor is it said which\n"
    "instructions can run side by side. rclab bench measures time.\n"
    "\n"
    "Exit status 0: counted, or nothing changed; 1: --check found a change, or an implementation\n"
    "crashed; 2: wrong use, or it does not build; 3: valgrind or a compiler is missing, or --check\n"
    "found nothing to compare with.\n"
    "\n"
    "Operations:\n";

static const char examples[] =
    "\nExamples:\n"
    "  rclab cost --op retain,release_shared\n"
    "  rclab cost --impl packed64,../mine/rc.h --cc clang\n"
    "  rclab cost --impl packed64 --check      did my edit change what it executes?\n";

/* What the reference was recorded with. */
static const char reference_flags[] = RCL_DEFAULT_FLAGS;

static const char reference_path[] = RCL_SOURCE_DIR "/results/reference/costs.csv";

enum option_name {
    OPTION_IMPL = 256,
    OPTION_LIBS,
    OPTION_OP,
    OPTION_CC,
    OPTION_OUT,
    OPTION_CSV,
    OPTION_CHECK,
    OPTION_RECORD,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"impl", required_argument, NULL, OPTION_IMPL},
    {"libs", required_argument, NULL, OPTION_LIBS},
    {"op", required_argument, NULL, OPTION_OP},
    {"cc", required_argument, NULL, OPTION_CC},
    {"out", required_argument, NULL, OPTION_OUT},
    {"csv", required_argument, NULL, OPTION_CSV},
    {"check", optional_argument, NULL, OPTION_CHECK},
    {"record", optional_argument, NULL, OPTION_RECORD},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

enum { SUBJECTS_MAX = 64, WIDTH_DEFAULT = 100, CELL_BYTES = 64 };

typedef struct request {
    rcl_subject subjects[SUBJECTS_MAX];
    unsigned count;
    bool wanted[RCL_COUNTED_OPERATIONS_MAX];
    bool narrowed; /* --op was given */
    const char *libraries, *compiler, *out, *csv;
    const char *check, *record; /* paths; NULL: not asked for */
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

static bool add_subjects(const rcl_registry *registry, request *asked, const char *list)
{
    while (true) {
        char given[RCL_PATH_BYTES];
        size_t length = strcspn(list, ",");
        if (asked->count == SUBJECTS_MAX) {
            fprintf(stderr, "rclab cost: more than %d implementations\n", SUBJECTS_MAX);
            return false;
        }
        snprintf(given, sizeof given, "%.*s", (int)length, list);
        rcl_subject *subject = &asked->subjects[asked->count];
        if (!rcl_subject_find(registry, "cost", given, subject)) {
            return false;
        }
        for (unsigned i = 0; i < asked->count; i++) {
            if (strcmp(asked->subjects[i].name, subject->name) == 0) {
                fprintf(stderr,
                        "rclab cost: two implementations would be called %s; count one, "
                        "or rename its folder\n",
                        subject->name);
                return false;
            }
        }
        asked->count++;
        if (list[length] == '\0') {
            return true;
        }
        list += length + 1;
    }
}

static bool set_out(request *asked, const char *folder)
{
    asked->out = folder;
    if (*folder == '\0') {
        fputs("rclab cost: '' is no name for a result folder\n", stderr);
    }
    return *folder != '\0';
}

/* Reads the options. -1: go on; else the exit status. */
static int read_options(const rcl_registry *registry, int argc, char **argv, request *asked)
{
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        const char *value = optarg != NULL ? optarg : "";
        bool good = true;
        switch (option) {
        case OPTION_IMPL:
            good = add_subjects(registry, asked, value);
            break;
        case OPTION_LIBS:
            asked->libraries = value;
            break;
        case OPTION_OP:
            asked->narrowed = true;
            good = rcl_counted_operations_parse("cost", value, asked->wanted);
            break;
        case OPTION_CC:
            asked->compiler = value;
            break;
        case OPTION_OUT:
            good = set_out(asked, value);
            break;
        case OPTION_CSV:
            asked->csv = value;
            break;
        case OPTION_CHECK:
            asked->check = *value != '\0' ? value : reference_path;
            break;
        case OPTION_RECORD:
            asked->record = *value != '\0' ? value : reference_path;
            break;
        case 'h':
        case OPTION_HELP:
            print_help();
            return 0;
        default:
            fputs("rclab cost --help lists the options\n", stderr);
            return RCL_EXIT_USAGE;
        }
        if (!good) {
            return RCL_EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "rclab cost: '%s' is no option (rclab cost --help)\n", argv[optind]);
        return RCL_EXIT_USAGE;
    }
    if (asked->record != NULL && (asked->narrowed || asked->check != NULL)) {
        fputs("rclab cost: --record puts in whole implementations; give it neither --op nor "
              "--check\n",
              stderr);
        return RCL_EXIT_USAGE;
    }
    if (!asked->narrowed) {
        memset(asked->wanted, true, sizeof asked->wanted);
    }
    const bool all = asked->count == 0;
    for (unsigned i = 0; i < registry->impl_count && all; i++) {
        if (!add_subjects(registry, asked, registry->impls[i]->name)) {
            return RCL_EXIT_USAGE;
        }
    }
    return -1;
}

/* ---- The table ---- */

static unsigned terminal_width(void)
{
    struct winsize size;
    bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    return known && size.ws_col > 40 ? size.ws_col : WIDTH_DEFAULT;
}

static void cell_text(const rcl_cost *cost, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned c = 0; c < RCL_COST_COLUMNS && cost->there && used < size; c++) {
        used += (size_t)snprintf(text + used, size - used, "%s%.6g", c > 0 ? "/" : "",
                                 cost->figures[c]);
    }
}

static unsigned column_width(const rcl_cost_row *row, const bool *wanted)
{
    char text[CELL_BYTES];
    size_t width = strlen(row->impl);
    for (unsigned o = 0; o < rcl_counted_operation_count; o++) {
        cell_text(&row->costs[o], text, sizeof text);
        width = wanted[o] && strlen(text) > width ? strlen(text) : width;
    }
    return (unsigned)width;
}

/* Columns first to end - 1. */
static void print_columns(const rcl_cost_row *rows, size_t first, size_t end, const bool *wanted)
{
    char text[CELL_BYTES];
    printf("\n%-18s", "");
    for (size_t i = first; i < end; i++) {
        printf("  %*s", (int)column_width(&rows[i], wanted), rows[i].impl);
    }
    putchar('\n');
    for (unsigned o = 0; o < rcl_counted_operation_count; o++) {
        if (!wanted[o]) {
            continue;
        }
        printf("%-18s", rcl_counted_operations[o].name);
        for (size_t i = first; i < end; i++) {
            cell_text(&rows[i].costs[o], text, sizeof text);
            printf("  %*s", (int)column_width(&rows[i], wanted), *text != '\0' ? text : "-");
        }
        putchar('\n');
    }
}

static void print_table(const rcl_cost_row *rows, size_t count, const bool *wanted)
{
    const unsigned width = terminal_width();
    printf("instructions/locked/reads/writes of one operation; %s %s\n", rows[0].compiler,
           RCL_FLAGS);
    for (size_t first = 0; first < count;) {
        unsigned used = 18 + 2 + column_width(&rows[first], wanted);
        size_t end = first + 1;
        while (end < count && used + 2 + column_width(&rows[end], wanted) <= width) {
            used += 2 + column_width(&rows[end++], wanted);
        }
        print_columns(rows, first, end, wanted);
        first = end;
    }
    puts(
        "\nExact, the same on every run. -: not offered. The allocator's work and that of hooks is\n"
        "left out. A locked instruction takes about 20 times as long as a plain one: rclab cost\n"
        "--help says what else the figures do not tell, rclab asm shows what was counted.");
}

/* ---- Against the reference ---- */

/* A path as it is told: the reference's below the sources. */
static const char *told(const char *path)
{
    return strcmp(path, reference_path) == 0 ? "results/reference/costs.csv" : path;
}

/* "instructions 7 -> 8, locked 1 -> 2". */
static void print_difference(const rcl_cost *before, const rcl_cost *now)
{
    const char *separator = "";
    for (unsigned c = 0; c < RCL_COST_COLUMNS; c++) {
        if (before->figures[c] != now->figures[c]) {
            printf("%s%s %.6g -> %.6g", separator, rcl_cost_column_names[c], before->figures[c],
                   now->figures[c]);
            separator = ", ";
        }
    }
}

static bool same(const rcl_cost *a, const rcl_cost *b)
{
    for (unsigned c = 0; c < RCL_COST_COLUMNS && a->there; c++) {
        if (a->figures[c] != b->figures[c]) {
            return false;
        }
    }
    return a->there == b->there;
}

/* Prints what changed in an implementation. Returns how many operations did. */
static unsigned compare_row(const rcl_cost_row *before, const rcl_cost_row *now, const bool *wanted,
                            unsigned *compared)
{
    unsigned changed = 0;
    for (unsigned o = 0; o < rcl_counted_operation_count; o++) {
        const rcl_cost *old = &before->costs[o];
        const rcl_cost *new = &now->costs[o];
        if (!wanted[o] || (!old->there && !new->there)) {
            continue;
        }
        (*compared)++;
        if (same(old, new)) {
            continue;
        }
        changed++;
        printf("%s %s: ", now->impl, rcl_counted_operations[o].name);
        if (old->there && new->there) {
            print_difference(old, new);
        } else {
            fputs(old->there ? "was there, is not offered now" : "was not there, is offered now",
                  stdout);
        }
        putchar('\n');
    }
    return changed;
}

/* How to accept what was found, as the user asked for it. */
static void print_how_to_accept(const request *asked)
{
    fputs("If this is wanted: rclab cost --record", stdout);
    if (strcmp(asked->check, reference_path) != 0) {
        printf("=%s", asked->check);
    }
    if (asked->compiler != NULL) {
        printf(" --cc %s", asked->compiler);
    }
    puts(" (with --impl for those alone) puts the new figures in.");
    puts("Commit the file with the reason, for each compiler that it has rows of.");
}

/* Why the figures cannot be compared with those of the reference; NULL if they can. */
static const char *not_comparable(void)
{
#ifndef __x86_64__
    return "the reference is for x86-64, this is another machine";
#else
    return strcmp(RCL_FLAGS, reference_flags) != 0 ? "the reference is for " RCL_DEFAULT_FLAGS
                                                     ", this rclab has other flags (" RCL_FLAGS ")"
                                                   : NULL;
#endif
}

static int check(const request *asked, const rcl_cost_row *rows)
{
    char error[RCL_PATH_BYTES + 128];
    rcl_cost_row *reference = NULL;
    size_t count = 0;
    unsigned changed = 0;
    unsigned compared = 0;
    if (!rcl_cost_read(asked->check, &reference, &count, error, sizeof error)) {
        fprintf(stderr, "rclab cost: %s\n", error);
        return RCL_EXIT_USAGE;
    }
    bool known = false;
    for (size_t i = 0; i < count; i++) {
        known = known || strcmp(reference[i].compiler, rows[0].compiler) == 0;
    }
    for (unsigned i = 0; i < asked->count && known; i++) {
        const rcl_cost_row *before =
            rcl_cost_find(reference, count, rows[i].impl, rows[i].compiler);
        if (before == NULL) {
            printf("%s has no rows for %s yet: rclab cost --record --impl %s puts them in\n",
                   told(asked->check), rows[i].impl, rows[i].impl);
        } else {
            changed += compare_row(before, &rows[i], asked->wanted, &compared);
        }
    }
    free(reference);
    if (!known) {
        fprintf(stderr, "rclab cost: %s has no rows for %s, so nothing was compared\n",
                told(asked->check), rows[0].compiler);
        return RCL_EXIT_ENVIRONMENT;
    }
    printf("%u of %u operations changed (%s, against %s)\n", changed, compared, rows[0].compiler,
           told(asked->check));
    if (changed > 0) {
        print_how_to_accept(asked);
    }
    return changed > 0 ? RCL_EXIT_FAILED : 0;
}

/* Compiler by compiler, so that a change shows in one place. */
static int by_compiler(const void *a, const void *b)
{
    const rcl_cost_row *one = a;
    const rcl_cost_row *other = b;
    int order = strcmp(one->compiler, other->compiler);
    return order != 0 ? order : strcmp(one->impl, other->impl);
}

static int record(const request *asked, const rcl_cost_row *rows)
{
    char error[RCL_PATH_BYTES + 128];
    rcl_cost_row *kept = NULL;
    size_t count = 0;
    if (access(asked->record, F_OK) == 0 &&
        !rcl_cost_read(asked->record, &kept, &count, error, sizeof error)) {
        fprintf(stderr, "rclab cost: %s\n", error);
        return RCL_EXIT_USAGE;
    }
    rcl_cost_row *all = calloc(count + asked->count, sizeof *all);
    if (all == NULL) {
        free(kept);
        fputs("rclab cost: out of memory\n", stderr);
        return RCL_EXIT_ENVIRONMENT;
    }
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        bool replaced = false;
        for (unsigned n = 0; n < asked->count; n++) {
            replaced = replaced || by_compiler(&kept[i], &rows[n]) == 0;
        }
        if (!replaced) {
            all[used++] = kept[i];
        }
    }
    memcpy(all + used, rows, asked->count * sizeof *rows);
    used += asked->count;
    qsort(all, used, sizeof *all, by_compiler);
    bool good = rcl_cost_save(asked->record, all, used, asked->wanted, error, sizeof error);
    if (good) {
        printf("%s: %u implementation%s with %s put in\n", told(asked->record), asked->count,
               asked->count == 1 ? "" : "s", rows[0].compiler);
    } else {
        fprintf(stderr, "rclab cost: %s\n", error);
    }
    free(all);
    free(kept);
    return good ? 0 : RCL_EXIT_USAGE;
}

/* ---- Output ---- */

static bool print_to_stdout(const request *asked)
{
    return asked->csv != NULL && strcmp(asked->csv, "-") == 0;
}

/* Makes the folder, and tries the files: before anything is counted. */
static bool prepare_files(const request *asked)
{
    const char *paths[2] = {asked->out, print_to_stdout(asked) ? NULL : asked->csv};
    if (asked->out != NULL && mkdir(asked->out, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "rclab cost: cannot make the result folder %s: %s\n", asked->out,
                strerror(errno));
        return false;
    }
    for (unsigned i = 0; i < 2; i++) {
        char path[RCL_PATH_BYTES];
        if (paths[i] == NULL) {
            continue;
        }
        snprintf(path, sizeof path, "%s%s.new", paths[i], i == 0 ? "/costs.csv" : "");
        FILE *file = fopen(path, "w");
        if (file == NULL) {
            fprintf(stderr, "rclab cost: cannot write %s: %s\n", path, strerror(errno));
            return false;
        }
        fclose(file);
        remove(path);
    }
    return true;
}

static bool write_files(const request *asked, const rcl_cost_row *rows)
{
    char error[RCL_PATH_BYTES + 128];
    char path[RCL_PATH_BYTES];
    bool good = true;
    if (asked->out != NULL) {
        snprintf(path, sizeof path, "%s/costs.csv", asked->out);
        good = rcl_cost_save(path, rows, asked->count, asked->wanted, error, sizeof error);
    }
    if (good && asked->csv != NULL && !print_to_stdout(asked)) {
        good = rcl_cost_save(asked->csv, rows, asked->count, asked->wanted, error, sizeof error);
    }
    if (!good) {
        fprintf(stderr, "rclab cost: %s\n", error);
    }
    return good;
}

static int show(const request *asked, const rcl_cost_row *rows)
{
    if (!write_files(asked, rows)) {
        return RCL_EXIT_USAGE;
    }
    if (asked->check != NULL) {
        return check(asked, rows);
    }
    if (asked->record != NULL) {
        return record(asked, rows);
    }
    if (print_to_stdout(asked)) {
        rcl_cost_write(stdout, rows, asked->count, asked->wanted, true);
        return 0;
    }
    print_table(rows, asked->count, asked->wanted);
    if (asked->out != NULL) {
        printf("\n%s/costs.csv\n", asked->out);
    } else if (access("results/latest/summary.csv", F_OK) == 0) {
        puts("\nrclab cost --out results/latest keeps this beside the newest run.");
    }
    return 0;
}

static int complain(rcl_cost_end end, const char *error)
{
    switch (end) {
    case RCL_COST_INTERRUPTED:
        fputs("rclab cost: interrupted; nothing was written\n", stderr);
        return RCL_EXIT_INTERRUPTED;
    case RCL_COST_NOT_BUILT:
        fprintf(stderr, "rclab cost: %s\n", error);
        return RCL_EXIT_USAGE;
    case RCL_COST_CRASHED:
        fprintf(stderr, "rclab cost: %s\n", error);
        return RCL_EXIT_FAILED;
    default:
        fprintf(stderr, "rclab cost: %s\n", error);
        return RCL_EXIT_ENVIRONMENT;
    }
}

static bool has_program(const char *name)
{
    const char *at = getenv("PATH");
    while (at != NULL && *at != '\0') {
        char path[RCL_PATH_BYTES];
        size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);
        if (access(path, X_OK) == 0) {
            return true;
        }
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return false;
}

int rcl_command_cost(const rcl_registry *registry, int argc, char **argv)
{
    static request asked;
    static char error[4096];
    static char name[] = "rclab cost"; /* how getopt begins its messages */
    argv[0] = name;
    int status = read_options(registry, argc, argv, &asked);
    if (status >= 0) {
        return status;
    }
    if (asked.check == reference_path && not_comparable() != NULL) {
        return complain(RCL_COST_ENVIRONMENT, not_comparable());
    }
    if (!has_program("valgrind")) {
        return complain(RCL_COST_ENVIRONMENT,
                        "valgrind is missing: run make deps, or apt-get install valgrind");
    }
    if (!prepare_files(&asked)) {
        return RCL_EXIT_USAGE;
    }
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    rcl_cost_row *rows = calloc(asked.count, sizeof *rows);
    if (rows == NULL) {
        return complain(RCL_COST_ENVIRONMENT, "out of memory");
    }
    rcl_cost_end end = rcl_cost_count(&(rcl_cost_options){.subjects = asked.subjects,
                                                          .count = asked.count,
                                                          .compiler = asked.compiler,
                                                          .libraries = asked.libraries,
                                                          .at_once = rcl_processors(),
                                                          .stop = &interrupted},
                                      rows, error, sizeof error);
    status = end == RCL_COST_COUNTED ? show(&asked, rows) : complain(end, error);
    free(rows);
    return status;
}
