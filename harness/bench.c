#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "launch.h"
#include "machine.h"
#include "progress.h"
#include "record.h"
#include "table.h"

enum { MAX_FAILURES = 64, PATH_BYTES = 4096 };

/* Longest wait for one repetition, its setup and the search for its length. */
static const double repetition_timeout_s = 120;

/* Workloads with a setup slower than this run in fewer launches, once in each. */
enum { SLOW_SETUP_MS = 20, SLOW_SETUP_LAUNCHES = 3 };

/* And their length is fixed, for a search for it would set up again and again. */
static const uint64_t slow_setup_operations = 1u << 20;

/* Delays: their part of a run that has other cells too, what one turn of them may take, and how many
 * releases it has: with fewer than a thousand there is no 99.9th percentile. */
static const double delay_share = 1.0 / 12;
static const double delay_turn_max_s = 0.2;
static const double delay_turn_overhead_s = 0.003;
enum { DELAY_RELEASES_MIN = 1000, DELAY_RELEASES_MAX = 50000, DELAY_CALIBRATIONS = 5 };

static volatile sig_atomic_t interrupted; /* set by Ctrl-C; only rcl_bench reads it */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* A run in progress. */
typedef struct bench_run {
    const rcl_bench_options *options;
    rcl_plan plan;
    char folder[PATH_BYTES];
    FILE *raw;
    double min_seconds;   /* of one repetition */
    double delay_seconds; /* of one turn of a cell that measures delays */
    double done, whole;   /* repetitions, weighted by what they take */
    uint64_t rows;        /* of raw.csv */
    uint64_t delay_runs;  /* likewise: one of one cell in one launch; delay.csv sums them up */
    rcl_worker worker;
    rcl_worker delay_worker; /* one that follows blocks can do nothing else */
    rcl_progress progress;
    char *failures[MAX_FAILURES];
    size_t failure_count;
} bench_run;

/* One line to standard error, in the name of the command. */
static __attribute__((format(printf, 2, 3))) void complain(const bench_run *bench,
                                                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "rclab %s: ", bench->options->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static bool has_program(const char *name)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char file[PATH_BYTES];
        snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
        if (access(file, X_OK) == 0) {
            return true;
        }
        path += length + (path[length] == ':' ? 1 : 0);
    }
    return false;
}

/* ---- The result folder ---- */

static FILE *open_in(const bench_run *bench, const char *name)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", bench->folder, name);
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        complain(bench, "cannot write %s: %s", path, strerror(errno));
    }
    return file;
}

/* Makes the folder, and its parent if that is missing. */
static bool make_folder(bench_run *bench)
{
    const char *out = bench->options->out;
    if (out == NULL) {
        char name[64];
        time_t now = time(NULL);
        struct tm local;
        strftime(name, sizeof name, "results/%Y-%m-%dT%H-%M-%S", localtime_r(&now, &local));
        snprintf(bench->folder, sizeof bench->folder, "%s", name);
        mkdir("results", 0777);
    } else if (strlen(out) >= sizeof bench->folder || out[0] == '\0') {
        complain(bench, "'%s' is no name for a result folder", out);
        return false;
    } else {
        snprintf(bench->folder, sizeof bench->folder, "%s", out);
        size_t length = strlen(bench->folder);
        while (length > 1 && bench->folder[length - 1] == '/') {
            bench->folder[--length] = '\0';
        }
        char *slash = strrchr(bench->folder, '/');
        if (slash != NULL && slash != bench->folder) {
            *slash = '\0';
            mkdir(bench->folder, 0777);
            *slash = '/';
        }
    }
    if (mkdir(bench->folder, 0777) == 0) {
        return true;
    }
    char file[PATH_BYTES + 64];
    snprintf(file, sizeof file, "%s/raw.csv", bench->folder);
    if (errno != EEXIST) {
        complain(bench, "cannot make the result folder %s: %s", bench->folder, strerror(errno));
    } else if (access(file, F_OK) == 0) {
        complain(bench, "%s already holds a run; give another folder or remove it", bench->folder);
    } else if (access(bench->folder, W_OK | X_OK) != 0) {
        complain(bench, "cannot write to the result folder %s: %s", bench->folder, strerror(errno));
    } else {
        return true; /* an empty or foreign folder: ours to fill */
    }
    return false;
}

/* Points results/latest at a run that lies beside it. */
static void point_latest(const bench_run *bench)
{
    const char *slash = strrchr(bench->folder, '/');
    const char *name = slash != NULL ? slash + 1 : bench->folder;
    char link[PATH_BYTES + 16];
    char fresh[PATH_BYTES + 16];
    int parent = slash != NULL ? (int)(slash - bench->folder) : 0;
    snprintf(link, sizeof link, "%.*s%slatest", parent, bench->folder, parent > 0 ? "/" : "");
    snprintf(fresh, sizeof fresh, "%.*s%s.latest", parent, bench->folder, parent > 0 ? "/" : "");
    bool in_results = bench->options->out == NULL ||
                      (parent >= 7 && strncmp(bench->folder + parent - 7, "results", 7) == 0);
    if (in_results) {
        unlink(fresh);
        if (symlink(name, fresh) != 0 || rename(fresh, link) != 0) {
            complain(bench, "cannot point %s at the run: %s", link, strerror(errno));
        }
    }
}

/* ---- Order and time ---- */

/* A repetition that is to come. */
typedef struct bench_turn {
    rcl_cell *cell;
    unsigned repetition;
} bench_turn;

static bool is_slow(const rcl_cell *cell)
{
    return cell->workload->setup_ms > SLOW_SETUP_MS;
}

static unsigned cell_launches(const rcl_cell *cell, unsigned launches)
{
    return is_slow(cell) && launches > SLOW_SETUP_LAUNCHES ? SLOW_SETUP_LAUNCHES : launches;
}

static unsigned cell_repetitions(const rcl_cell *cell, unsigned repetitions)
{
    return is_slow(cell) || cell->workload->delays ? 1 : repetitions;
}

/* What one repetition takes of wall time, roughly: to plan and to show progress by. */
static double turn_seconds(const bench_run *bench, const rcl_cell *cell)
{
    if (cell->workload->delays) {
        return bench->delay_seconds + delay_turn_overhead_s;
    }
    return bench->min_seconds * 1.15 + 0.001 + cell->workload->setup_ms * 1e-3;
}

/* Chooses the length of the turns that measure delays; returns what all of them take. */
static double plan_delay_time(bench_run *bench)
{
    const rcl_bench_options *options = bench->options;
    double turns = 0;
    bool alone = true;
    for (size_t i = 0; i < bench->plan.count; i++) {
        turns += bench->plan.cells[i].workload->delays ? options->launches : 0;
        alone = alone && bench->plan.cells[i].workload->delays;
    }
    if (turns == 0) {
        return 0;
    }
    double seconds = options->seconds * (alone ? 1 : delay_share) / turns - delay_turn_overhead_s;
    bench->delay_seconds = seconds < 0.001              ? 0.001
                           : seconds > delay_turn_max_s ? delay_turn_max_s
                                                        : seconds;
    return turns * (bench->delay_seconds + delay_turn_overhead_s);
}

/* Chooses the length of a repetition so that the run takes about as long as it may. */
static void plan_time(bench_run *bench)
{
    const rcl_bench_options *options = bench->options;
    double turns = 0;
    double fixed = 1 + plan_delay_time(bench); /* plots, table */
    for (size_t i = 0; i < bench->plan.count; i++) {
        const rcl_cell *cell = &bench->plan.cells[i];
        if (cell->workload->delays) {
            continue;
        }
        double of_cell = (double)cell_launches(cell, options->launches) *
                         cell_repetitions(cell, options->repetitions);
        /* The search for the length costs about two repetitions more, setup included. */
        turns += is_slow(cell) ? 0 : of_cell + 1.5;
        fixed += is_slow(cell) ? of_cell * cell->workload->setup_ms * 1e-3 : (of_cell + 3) * 1e-3;
    }
    double min_seconds = turns > 0 ? (options->seconds - fixed) / (turns * 1.15) : 0;
    bench->min_seconds = min_seconds < 0.001 ? 0.001 : min_seconds > 0.1 ? 0.1 : min_seconds;
    if (options->repetition_ms > 0) {
        bench->min_seconds = options->repetition_ms * 1e-3;
    }
    for (size_t i = 0; i < bench->plan.count; i++) {
        const rcl_cell *cell = &bench->plan.cells[i];
        bench->whole +=
            turn_seconds(bench, cell) *
            (cell_launches(cell, options->launches) * cell_repetitions(cell, options->repetitions) +
             (is_slow(cell) || cell->workload->delays ? 0 : 1.5));
    }
}

/* All repetitions of one launch in an order of its own. The caller frees the list. */
static bench_turn *shuffled_turns(bench_run *bench, unsigned launch, uint64_t *random,
                                  size_t *count)
{
    const rcl_bench_options *options = bench->options;
    bench_turn *turns = malloc(bench->plan.count * options->repetitions * sizeof *turns);
    *count = 0;
    if (turns == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < bench->plan.count; i++) {
        rcl_cell *cell = &bench->plan.cells[i];
        if (launch >= cell_launches(cell, options->launches)) {
            continue;
        }
        for (unsigned r = 0; r < cell_repetitions(cell, options->repetitions); r++) {
            turns[(*count)++] = (bench_turn){cell, r};
        }
    }
    for (size_t i = *count; i > 1; i--) {
        size_t j = rcl_random_below(random, (uint32_t)i);
        bench_turn held = turns[i - 1];
        turns[i - 1] = turns[j];
        turns[j] = held;
    }
    return turns;
}

/* ---- Running ---- */

static void note_failure(bench_run *bench, rcl_cell *cell, const char *why)
{
    char label[256];
    char text[1024];
    rcl_cell_label(cell, label, sizeof label);
    snprintf(text, sizeof text, "%s: %s: %s", cell->impl->name, label, why);
    rcl_progress_end(&bench->progress);
    complain(bench, "%s; its rows are left out from here on", text);
    cell->failure = "failed";
    if (bench->failure_count < MAX_FAILURES) {
        bench->failures[bench->failure_count] = strdup(text);
        bench->failure_count += bench->failures[bench->failure_count] != NULL ? 1 : 0;
    }
}

/* A long repetition that was asked for may take long: a microsecond an operation is beyond all doubt. */
static double timeout_seconds(const rcl_cell *cell)
{
    return repetition_timeout_s + (double)cell->operations * cell->threads * 1e-6;
}

/* ---- Delays ---- */

/* How many releases fill a turn at the cell's rate. */
static uint64_t delay_releases(const bench_run *bench, const rcl_cell *cell)
{
    double releases = cell->rate_per_s * bench->delay_seconds;
    return releases < DELAY_RELEASES_MIN   ? DELAY_RELEASES_MIN
           : releases > DELAY_RELEASES_MAX ? DELAY_RELEASES_MAX
                                           : (uint64_t)releases;
}

static rcl_answer ask_delay(bench_run *bench, const rcl_cell *cell, uint64_t releases,
                            double rate_per_s, uint64_t seed, rcl_delay *delay, rcl_window *window,
                            char *error, size_t error_size)
{
    if (bench->delay_worker.pid == 0 &&
        !rcl_worker_start(&bench->delay_worker, error, error_size)) {
        return RCL_ANSWER_REFUSED;
    }
    return rcl_worker_delay(&bench->delay_worker, cell, releases, rate_per_s, seed,
                            repetition_timeout_s, &interrupted, delay, window, error, error_size);
}

/* The rate at which the cell's question is asked, from what packed64 takes for it. 0: that failed. */
static double find_rate(bench_run *bench, const rcl_registry *registry, const rcl_cell *cell,
                        char *error, size_t error_size)
{
    rcl_cell asked = *cell;
    for (unsigned i = 0; i < registry->impl_count; i++) {
        if (strcmp(registry->impls[i]->name, "packed64") == 0) {
            asked.impl = registry->impls[i];
        }
    }
    double best_ns = 0;
    for (unsigned i = 0; i < DELAY_CALIBRATIONS; i++) {
        rcl_delay delay;
        rcl_window window;
        if (ask_delay(bench, &asked, DELAY_RELEASES_MIN, 0, bench->options->seed, &delay, &window,
                      error, error_size) != RCL_ANSWER_MEASURED) {
            return 0;
        }
        if (best_ns == 0 || window.ns_per_operation < best_ns) {
            best_ns = window.ns_per_operation;
        }
    }
    return rcl_delay_rate(best_ns);
}

/* One rate for each line of the plan. */
static void find_rates(bench_run *bench, const rcl_registry *registry)
{
    double rate_per_s = 0;
    const rcl_cell *before = NULL;
    for (size_t i = 0; i < bench->plan.count && !interrupted; i++) {
        rcl_cell *cell = &bench->plan.cells[i];
        char error[1024] = "";
        if (!cell->workload->delays) {
            continue;
        }
        if (before == NULL || before->line != cell->line) {
            rcl_progress_show(&bench->progress, 0, 1, "finding the rate of releases");
            rate_per_s = find_rate(bench, registry, cell, error, sizeof error);
        }
        before = cell;
        cell->rate_per_s = rate_per_s;
        if (rate_per_s == 0 && !interrupted) {
            note_failure(bench, cell, error[0] != '\0' ? error : "no rate was found");
        }
    }
    rcl_worker_stop(&bench->delay_worker);
}

/* As run_turn. One schedule for all cells of a launch. */
static bool run_delay_turn(bench_run *bench, rcl_cell *cell, unsigned launch)
{
    char error[1024] = "";
    rcl_window window;
    rcl_cell_delay result = {.launch = launch};
    switch (ask_delay(bench, cell, delay_releases(bench, cell), cell->rate_per_s,
                      bench->options->seed + launch, &result.delay, &window, error, sizeof error)) {
    case RCL_ANSWER_MEASURED:
        break;
    case RCL_ANSWER_REFUSED:
    case RCL_ANSWER_DIED:
        note_failure(bench, cell, error);
        return true;
    case RCL_ANSWER_INTERRUPTED:
        return false;
    }
    bench->done += turn_seconds(bench, cell);
    result.flagged = rcl_is_flagged(&window);
    if (!rcl_cell_add_delay(cell, &result)) {
        rcl_progress_end(&bench->progress);
        complain(bench, "out of memory");
        return false;
    }
    bench->delay_runs++;
    return true;
}

/* ---- A launch ---- */

/* Runs one repetition and records it. False: the whole run cannot go on. */
static bool run_turn(bench_run *bench, const bench_turn *turn, unsigned launch, unsigned sequence,
                     uint64_t seed)
{
    char error[1024] = "";
    rcl_cell *cell = turn->cell;
    rcl_repetition repetition = {
        .launch = launch,
        .repetition = turn->repetition,
        .sequence = sequence,
        .seed = seed,
        .cell = cell,
    };
    rcl_request request = {
        .cell = cell,
        .operations = is_slow(cell) ? slow_setup_operations : cell->operations,
        .min_seconds = bench->min_seconds,
        .seed = seed,
        .input = bench->options->input,
    };
    if (bench->worker.pid == 0 && !rcl_worker_start(&bench->worker, error, sizeof error)) {
        rcl_progress_end(&bench->progress);
        complain(bench, "%s", error);
        return false;
    }
    uint64_t operations = 0;
    switch (rcl_worker_run(&bench->worker, &request, timeout_seconds(cell), &interrupted,
                           &repetition.window, &operations, error, sizeof error)) {
    case RCL_ANSWER_MEASURED:
        break;
    case RCL_ANSWER_REFUSED:
    case RCL_ANSWER_DIED:
        note_failure(bench, cell, error);
        return true;
    case RCL_ANSWER_INTERRUPTED:
        return false;
    }
    bench->done += turn_seconds(bench, cell) * (cell->operations == 0 && !is_slow(cell) ? 2.5 : 1);
    cell->operations = operations;
    repetition.flagged = rcl_is_flagged(&repetition.window);
    if (!rcl_record_raw(bench->raw, &repetition)) {
        rcl_progress_end(&bench->progress);
        complain(bench, "cannot write raw.csv in %s: %s", bench->folder, strerror(errno));
        return false;
    }
    bench->rows++;
    if (!rcl_cell_add(cell, launch, repetition.window.ns_per_operation, repetition.flagged)) {
        rcl_progress_end(&bench->progress);
        complain(bench, "out of memory");
        return false;
    }
    return true;
}

/* One launch: a fresh process, all cells in an order of its own. */
static bool run_launch(bench_run *bench, unsigned launch, uint64_t *random)
{
    size_t count = 0;
    bench_turn *turns = shuffled_turns(bench, launch, random, &count);
    bool going = turns != NULL;
    for (size_t i = 0; going && i < count; i++) {
        if (turns[i].cell->failure != NULL) {
            continue;
        }
        char label[160];
        char what[320];
        rcl_cell_label(turns[i].cell, label, sizeof label);
        snprintf(what, sizeof what, "launch %u of %u  %s  %s", launch + 1, bench->options->launches,
                 turns[i].cell->impl->name, label);
        rcl_progress_show(&bench->progress, bench->done, bench->whole, what);
        uint64_t seed = rcl_random(random) | 1;
        going = turns[i].cell->workload->delays
                    ? run_delay_turn(bench, turns[i].cell, launch)
                    : run_turn(bench, &turns[i], launch, (unsigned)i, seed);
    }
    free(turns);
    rcl_worker_stop(&bench->worker);
    rcl_worker_stop(&bench->delay_worker);
    return going;
}

/* What an object takes, for every implementation and allocator of the run. In a process of its own:
 * an implementation may crash. */
static bool run_space(bench_run *bench)
{
    FILE *file = open_in(bench, "space.csv");
    if (file == NULL) {
        return false;
    }
    bool written = rcl_record_space_header(file);
    for (size_t i = 0; written && i < bench->plan.count; i++) {
        const rcl_cell *cell = &bench->plan.cells[i];
        bool first = cell->impl->measure_space != NULL;
        for (size_t j = 0; j < i && first; j++) {
            first = bench->plan.cells[j].impl != cell->impl ||
                    bench->plan.cells[j].allocator != cell->allocator;
        }
        if (!first) {
            continue;
        }
        rcl_space space;
        char error[512] = "";
        if ((bench->worker.pid != 0 || rcl_worker_start(&bench->worker, error, sizeof error)) &&
            rcl_worker_space(&bench->worker, cell, repetition_timeout_s, &interrupted, &space,
                             error, sizeof error)) {
            written = rcl_record_space(file, cell->impl->name, rcl_allocator_name(cell->allocator),
                                       &space);
        } else if (!interrupted) {
            complain(bench, "space of %s: %s", cell->impl->name, error);
        }
    }
    rcl_worker_stop(&bench->worker);
    return fclose(file) == 0 && written;
}

/* ---- Afterwards ---- */

static bool write_results(bench_run *bench)
{
    const rcl_bench_options *options = bench->options;
    FILE *summary = open_in(bench, "summary.csv");
    if (summary == NULL) {
        return false;
    }
    bool written = rcl_record_summary(summary, &bench->plan);
    written = fclose(summary) == 0 && written;
    FILE *delay = bench->delay_runs > 0 ? open_in(bench, "delay.csv") : NULL;
    if (bench->delay_runs > 0) {
        written = delay != NULL && rcl_record_delay(delay, &bench->plan) && written;
        written = (delay == NULL || fclose(delay) == 0) && written;
    }
    rcl_run_facts facts = {
        .command_line = options->command_line,
        .seed = options->seed,
        .launches = options->launches,
        .repetitions = options->repetitions,
        .min_seconds = bench->min_seconds,
        .elapsed_seconds = rcl_progress_elapsed_seconds(&bench->progress),
        .interrupted = interrupted != 0,
        .failures = (const char *const *)bench->failures,
        .failure_count = bench->failure_count,
    };
    char path[PATH_BYTES + 64];
    char error[PATH_BYTES + 256];
    snprintf(path, sizeof path, "%s/machine.json", bench->folder);
    if (!rcl_machine_write(path, &facts, error, sizeof error)) {
        complain(bench, "%s", error);
        return false;
    }
    if (!written) {
        complain(bench, "cannot write summary.csv or delay.csv in %s", bench->folder);
    }
    return written;
}

static bool print_results(bench_run *bench)
{
    FILE *file = open_in(bench, "table.txt");
    bool printed = file != NULL && rcl_table_print(stdout, &bench->plan) &&
                   rcl_table_print(file, &bench->plan);
    printf("\n%s\n", rcl_machine_line());
    if (file != NULL) {
        fprintf(file, "\n%s\n", rcl_machine_line());
        printed = fclose(file) == 0 && printed;
    }
    return printed;
}

static bool draw_plots(const bench_run *bench)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("sh", "sh", RCL_SOURCE_DIR "/plots/render.sh", bench->folder, (char *)NULL);
        _exit(127);
    }
    int status = 1;
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
        complain(bench, "the plots could not be drawn; the figures are in %s", bench->folder);
        return false;
    }
    return true;
}

/* Everything from the first measurement to the last plot. The folder is there. */
static int run_all(bench_run *bench, const rcl_registry *registry)
{
    const rcl_bench_options *options = bench->options;
    bench->raw = open_in(bench, "raw.csv");
    if (bench->raw == NULL || !rcl_record_raw_header(bench->raw)) {
        return RCL_EXIT_USAGE;
    }
    uint64_t random = options->seed;
    bool going = run_space(bench);
    if (going) {
        find_rates(bench, registry);
    }
    for (unsigned launch = 0; going && !interrupted && launch < options->launches; launch++) {
        going = run_launch(bench, launch, &random);
    }
    rcl_worker_stop(&bench->worker);
    rcl_worker_stop(&bench->delay_worker);
    rcl_progress_end(&bench->progress);
    if (bench->rows + bench->delay_runs == 0) {
        complain(bench, "nothing was measured; nothing is kept");
        return interrupted ? RCL_EXIT_INTERRUPTED : RCL_EXIT_FAILED;
    }
    if (!write_results(bench) || !print_results(bench)) {
        return RCL_EXIT_ENVIRONMENT;
    }
    bool drawn = !options->plots || interrupted || draw_plots(bench);
    point_latest(bench);
    printf("%" PRIu64 " rows of %zu cells in %s%s\n", bench->rows + bench->delay_runs,
           bench->plan.count, bench->folder,
           options->plots && drawn && !interrupted ? "; plots in its plots/" : "");
    if (interrupted) {
        printf("Interrupted: the finished rows are kept. make plots OUT=%s draws them.\n",
               bench->folder);
        return RCL_EXIT_INTERRUPTED;
    }
    return !going || !drawn ? RCL_EXIT_ENVIRONMENT : bench->failure_count > 0 ? RCL_EXIT_FAILED : 0;
}

static void remove_empty_run(const bench_run *bench)
{
    static const char *const names[] = {"raw.csv", "space.csv"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[PATH_BYTES + 64];
        snprintf(path, sizeof path, "%s/%s", bench->folder, names[i]);
        unlink(path);
    }
    rmdir(bench->folder);
}

int rcl_bench(const rcl_registry *registry, const rcl_bench_options *options)
{
    char error[2048];
    bench_run bench = {.options = options};
    bool planned =
        options->input != NULL
            ? rcl_plan_make_replay(registry, &options->selection, options->replay, &bench.plan,
                                   error, sizeof error)
            : rcl_plan_make(registry, &options->selection, &bench.plan, error, sizeof error);
    if (!planned) {
        complain(&bench, "%s", error);
        rcl_plan_free(&bench.plan);
        return RCL_EXIT_USAGE;
    }
    int status = RCL_EXIT_USAGE;
    if (options->plots && !has_program("gnuplot")) {
        complain(&bench, "gnuplot is missing: run make deps, or measure with --no-plots");
        status = RCL_EXIT_ENVIRONMENT;
    } else if (make_folder(&bench)) {
        struct sigaction action = {.sa_handler = on_interrupt};
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        signal(SIGPIPE, SIG_IGN);
        plan_time(&bench);
        rcl_progress_start(&bench.progress);
        status = run_all(&bench, registry);
        if (bench.raw != NULL) {
            fclose(bench.raw);
        }
        if (bench.rows + bench.delay_runs == 0) {
            remove_empty_run(&bench);
        }
    }
    for (size_t i = 0; i < bench.failure_count; i++) {
        free(bench.failures[i]);
    }
    rcl_plan_free(&bench.plan);
    return status;
}
