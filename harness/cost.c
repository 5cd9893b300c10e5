#include "cost.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

/* As in counted.c: a program counts ROUND operations of each kind, then twice as many. */
enum { ROUND = 512, TOGGLES_MAX = RCL_COUNTED_OPERATIONS_MAX + 8, LINE_BYTES = 4096 };

static const double run_limit_seconds = 300;

static const char *const environment[] = {"LC_ALL=C", NULL};

/* What is inside a figure only as far as it is called: collecting stops where these begin. */
static const char *const left_out[] = {"rc_mem_alloc", "rc_mem_free", "uncounted_wrapper_retain",
                                       "uncounted_wrapper_release"};

/* callgrind's names of the columns. */
static const char *const events[RCL_COST_COLUMNS] = {"Ir", "Ge", "Dr", "Dw"};

/* ---- What callgrind has written ---- */

/* Counts of one kind of operation; the last place is that of calling and returning. */
typedef struct tally {
    bool there[2]; /* of ROUND, of twice as many */
    uint64_t counts[2][RCL_COST_COLUMNS];
} tally;

enum { NOTHING = RCL_COUNTED_OPERATIONS_MAX, TALLIES };

/* Which tally and which round a label "retain 512" means. False: neither. */
static bool read_label(const char *label, unsigned *place, unsigned *round)
{
    size_t length = strcspn(label, " ");
    int index = rcl_counted_operation_find(label, length);
    unsigned long count = strtoul(label + length, NULL, 10);
    if (index < 0 && strncmp(label, "nothing ", 8) != 0) {
        return false;
    }
    *place = index < 0 ? NOTHING : (unsigned)index;
    *round = count == ROUND ? 0 : 1;
    return count == ROUND || count == 2UL * ROUND;
}

/* The place of each column in callgrind's lines of numbers, -1 if it is not there. */
static void read_events(const char *names, int *places)
{
    for (unsigned c = 0; c < RCL_COST_COLUMNS; c++) {
        places[c] = -1;
    }
    for (int place = 0; *names != '\0' && *names != '\n'; place++) {
        size_t length = strcspn(names, " \n");
        for (unsigned c = 0; c < RCL_COST_COLUMNS; c++) {
            if (strlen(events[c]) == length && strncmp(events[c], names, length) == 0) {
                places[c] = place;
            }
        }
        names += length;
        names += strspn(names, " ");
    }
}

/* Zeros at the end of a line are left out. */
static void read_counts(const char *numbers, const int *places, uint64_t *counts)
{
    char *end = NULL;
    memset(counts, 0, RCL_COST_COLUMNS * sizeof *counts);
    for (int place = 0;; place++) {
        uint64_t number = strtoull(numbers, &end, 10);
        if (end == numbers) {
            return;
        }
        for (unsigned c = 0; c < RCL_COST_COLUMNS; c++) {
            counts[c] = places[c] == place ? number : counts[c];
        }
        numbers = end;
    }
}

/* A later block of the same label replaces an earlier one: that was the warm-up. */
static bool read_tallies(const char *path, tally *tallies)
{
    static const char label_start[] = "desc: Trigger: Client Request: ";
    char line[LINE_BYTES];
    int places[RCL_COST_COLUMNS] = {-1, -1, -1, -1};
    unsigned place = 0;
    unsigned round = 0;
    bool labelled = false;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "desc: Trigger: ", 15) == 0) {
            labelled = strncmp(line, label_start, sizeof label_start - 1) == 0 &&
                       read_label(line + sizeof label_start - 1, &place, &round);
        } else if (strncmp(line, "events: ", 8) == 0) {
            read_events(line + 8, places);
        } else if (labelled && strncmp(line, "summary: ", 9) == 0) {
            read_counts(line + 9, places, tallies[place].counts[round]);
            tallies[place].there[round] = true;
            labelled = false;
        }
    }
    fclose(file);
    for (unsigned c = 0; c < RCL_COST_COLUMNS; c++) {
        if (places[c] < 0) {
            return false;
        }
    }
    return tallies[NOTHING].there[0] && tallies[NOTHING].there[1];
}

static double per_operation(const tally *one, unsigned column)
{
    return ((double)one->counts[1][column] - (double)one->counts[0][column]) / ROUND;
}

static bool read_row(const char *path, rcl_cost_row *row)
{
    tally tallies[TALLIES] = {0};
    if (!read_tallies(path, tallies)) {
        return false;
    }
    for (unsigned i = 0; i < rcl_counted_operation_count; i++) {
        row->costs[i].there = tallies[i].there[0] && tallies[i].there[1];
        for (unsigned c = 0; c < RCL_COST_COLUMNS && row->costs[i].there; c++) {
            row->costs[i].figures[c] =
                per_operation(&tallies[i], c) - per_operation(&tallies[NOTHING], c);
        }
    }
    return true;
}

/* ---- Running ---- */

typedef struct counting {
    const rcl_cost_options *options;
    rcl_counted_program *programs;
    rcl_job *jobs;
    rcl_words *commands;
    char folder[128];
    rcl_progress progress;
} counting;

static void out_path(const counting *now, size_t index, char *path, size_t size)
{
    snprintf(path, size, "%s/callgrind-%zu", now->folder, index);
}

static void push_toggle(rcl_words *line, const char *prefix, const char *name)
{
    char text[160];
    snprintf(text, sizeof text, "--toggle-collect=%s%s", prefix, name);
    rcl_words_push(line, text);
}

/* No pattern for the functions: it would match the parts that gcc splits off and calls X.cold. */
static void valgrind_command(const char *program, const char *path, bool addresses, rcl_words *line)
{
    char text[RCL_PATH_BYTES + 64];
    *line = (rcl_words){0};
    rcl_words_push(line, "valgrind");
    rcl_words_push(line, "--command-line-only=yes");
    rcl_words_push(line, "--vgdb=no"); /* no pipes that stay if it is killed */
    rcl_words_push(line, "--tool=callgrind");
    rcl_words_push(line, "--collect-atstart=no");
    rcl_words_push(line, "--combine-dumps=yes");
    if (addresses) {
        rcl_words_push(line, "--dump-instr=yes");
        rcl_words_push(line, "--compress-pos=no");
        rcl_words_push(line, "--compress-strings=no");
    } else {
        rcl_words_push(line, "--cache-sim=yes"); /* for reads and writes */
        rcl_words_push(line, "--collect-bus=yes");
    }
    snprintf(text, sizeof text, "--callgrind-out-file=%s", path);
    rcl_words_push(line, text);
    push_toggle(line, "counted_", "nothing");
    for (unsigned i = 0; i < rcl_counted_operation_count; i++) {
        push_toggle(line, "counted_", rcl_counted_operations[i].name);
    }
    for (unsigned i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
        push_toggle(line, "", left_out[i]);
    }
    rcl_words_push(line, program);
}

static void show_counting(void *context, size_t done)
{
    counting *now = context;
    size_t count = now->options->count;
    if (now->progress.terminal) {
        rcl_progress_show(&now->progress, (double)(count + done), (double)(2 * count), "counting");
    }
}

/* The program's last line that is not valgrind's own, or what ended it. */
static void explain_run(const rcl_job *job, char *text, size_t size)
{
    const char *line = job->output;
    if (job->end == RCL_JOB_LATE) {
        snprintf(text, size, "it still ran after %.0f s", run_limit_seconds);
        return;
    }
    if (job->end == RCL_JOB_KILLED) {
        snprintf(text, size, "it died of signal %d (%s)", job->status, strsignal(job->status));
        return;
    }
    snprintf(text, size, "it ended with status %d", job->status);
    while (line != NULL && *line != '\0') {
        size_t length = strcspn(line, "\n");
        if (length > 0 && strncmp(line, "==", 2) != 0 && strncmp(line, "compiler ", 9) != 0) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, ": %.*s", (int)length, line);
            return;
        }
        line += length + (line[length] == '\n' ? 1 : 0);
    }
}

/* How a run of valgrind over the program of `name` ended. */
static rcl_cost_end judge(const rcl_job *job, const char *name, char *error, size_t error_size)
{
    char why[512];
    if (rcl_compile_missing(job) != NULL) {
        snprintf(error, error_size,
                 "valgrind is missing: run make deps, or apt-get install valgrind");
        return RCL_COST_ENVIRONMENT;
    }
    if (job->end == RCL_JOB_NOT_STARTED) {
        snprintf(error, error_size, "%.400s", job->output != NULL ? job->output : "out of memory");
        return RCL_COST_ENVIRONMENT;
    }
    if (job->end != RCL_JOB_EXITED || job->status != 0) {
        explain_run(job, why, sizeof why);
        snprintf(error, error_size, "%s: counting failed under valgrind: %s", name, why);
        return RCL_COST_CRASHED;
    }
    return RCL_COST_COUNTED;
}

/* Takes what a job has found. */
static rcl_cost_end take(const counting *now, size_t index, rcl_cost_row *row, char *error,
                         size_t error_size)
{
    const rcl_job *job = &now->jobs[index];
    char path[RCL_PATH_BYTES];
    rcl_cost_end end = judge(job, row->impl, error, error_size);
    if (end != RCL_COST_COUNTED) {
        return end;
    }
    out_path(now, index, path, sizeof path);
    if (!read_row(path, row)) {
        snprintf(error, error_size,
                 "callgrind counted nothing in %s: this needs valgrind 3.19 or later with its "
                 "header valgrind/callgrind.h (run make deps)",
                 row->impl);
        return RCL_COST_ENVIRONMENT;
    }
    const char *compiler = strstr(job->output, "compiler ");
    if (compiler != NULL) {
        compiler += strlen("compiler ");
        snprintf(row->compiler, sizeof row->compiler, "%.*s", (int)strcspn(compiler, "\n"),
                 compiler);
    }
    return RCL_COST_COUNTED;
}

static rcl_cost_end run_programs(counting *now, rcl_cost_row *rows, char *error, size_t error_size)
{
    const rcl_cost_options *options = now->options;
    for (size_t i = 0; i < options->count; i++) {
        char path[RCL_PATH_BYTES];
        out_path(now, i, path, sizeof path);
        valgrind_command(now->programs[i].path, path, false, &now->commands[i]);
        now->jobs[i] = (rcl_job){.arguments = now->commands[i].arguments,
                                 .environment = environment,
                                 .limit_seconds = run_limit_seconds};
    }
    if (!rcl_jobs_run(&(rcl_jobs){.jobs = now->jobs,
                                  .count = options->count,
                                  .at_once = options->at_once,
                                  .stop = options->stop,
                                  .context = now,
                                  .tick = show_counting})) {
        return RCL_COST_INTERRUPTED;
    }
    for (size_t i = 0; i < options->count; i++) {
        rcl_cost_end end = take(now, i, &rows[i], error, error_size);
        if (end != RCL_COST_COUNTED) {
            return end;
        }
    }
    return RCL_COST_COUNTED;
}

static rcl_cost_end build_and_run(counting *now, rcl_cost_row *rows, char *error, size_t error_size)
{
    const rcl_cost_options *options = now->options;
    rcl_counted_build build = {.programs = now->programs,
                               .count = options->count,
                               .compiler = options->compiler,
                               .libraries = options->libraries,
                               .folder = now->folder,
                               .at_once = options->at_once,
                               .stop = options->stop};
    /* On a terminal only: it takes a few seconds. */
    if (now->progress.terminal) {
        rcl_progress_show(&now->progress, 0, 1, "compiling");
    }
    switch (rcl_counted_make(&build, error, error_size)) {
    case RCL_BUILD_DONE:
        break;
    case RCL_BUILD_INTERRUPTED:
        return RCL_COST_INTERRUPTED;
    default:
        return RCL_COST_ENVIRONMENT;
    }
    for (size_t i = 0; i < options->count; i++) {
        if (!now->programs[i].built) {
            snprintf(error, error_size, "%s does not build:\n%s", now->programs[i].subject.name,
                     now->programs[i].why);
            return RCL_COST_NOT_BUILT;
        }
    }
    return run_programs(now, rows, error, error_size);
}

rcl_cost_end rcl_cost_count(const rcl_cost_options *options, rcl_cost_row *rows, char *error,
                            size_t error_size)
{
    counting now = {.options = options,
                    .programs = calloc(options->count, sizeof *now.programs),
                    .jobs = calloc(options->count, sizeof *now.jobs),
                    .commands = calloc(options->count, sizeof *now.commands)};
    rcl_cost_end end = RCL_COST_ENVIRONMENT;
    if (now.programs == NULL || now.jobs == NULL || now.commands == NULL) {
        snprintf(error, error_size, "out of memory");
    } else if (rcl_counted_folder(now.folder, sizeof now.folder, error, error_size)) {
        for (size_t i = 0; i < options->count; i++) {
            now.programs[i].subject = options->subjects[i];
            rows[i] = (rcl_cost_row){0};
            snprintf(rows[i].impl, sizeof rows[i].impl, "%s", options->subjects[i].name);
        }
        rcl_progress_start(&now.progress);
        end = build_and_run(&now, rows, error, error_size);
        rcl_progress_end(&now.progress);
        rcl_counted_folder_remove(now.folder);
    }
    for (size_t i = 0; i < options->count && now.jobs != NULL; i++) {
        rcl_job_free(&now.jobs[i]);
    }
    free(now.programs);
    free(now.jobs);
    free(now.commands);
    return end;
}

/* ---- Which instructions were executed ---- */

rcl_cost_end rcl_cost_trace(const char *program, const char *path,
                            const volatile sig_atomic_t *stop, char *error, size_t error_size)
{
    rcl_words *line = calloc(1, sizeof *line);
    if (line == NULL) {
        snprintf(error, error_size, "out of memory");
        return RCL_COST_ENVIRONMENT;
    }
    valgrind_command(program, path, true, line);
    rcl_job job = {.arguments = line->arguments,
                   .environment = environment,
                   .limit_seconds = run_limit_seconds};
    bool whole = rcl_jobs_run(&(rcl_jobs){.jobs = &job, .count = 1, .at_once = 1, .stop = stop});
    rcl_cost_end end = whole ? judge(&job, "the program", error, error_size) : RCL_COST_INTERRUPTED;
    rcl_job_free(&job);
    free(line);
    return end;
}

/* Adds `times` at an address, which may be there already. False without memory. */
static bool executed_add(rcl_executed *executed, uint64_t address, double times)
{
    for (size_t i = 0; i < executed->count; i++) {
        if (executed->at[i].address == address) {
            executed->at[i].times += times;
            return true;
        }
    }
    struct rcl_executed_at *grown =
        realloc(executed->at, (executed->count + 1) * sizeof *executed->at);
    if (grown == NULL) {
        return false;
    }
    executed->at = grown;
    executed->at[executed->count++] = (struct rcl_executed_at){address, times};
    return true;
}

/* Lines are "0xADDRESS LINE COUNT". The one behind "calls=" is what the callee took. */
bool rcl_cost_read_executed(const char *path, const char *program, const char *operation,
                            rcl_executed *executed)
{
    static const char start[] = "desc: Trigger: Client Request: ";
    char line[LINE_BYTES];
    char wanted[128];
    bool inside = false;
    bool own = false;
    bool of_callee = false;
    *executed = (rcl_executed){0};
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    snprintf(wanted, sizeof wanted, "%s %d\n", operation, ROUND);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "desc: Trigger: ", 15) == 0) {
            inside = strncmp(line, start, sizeof start - 1) == 0 &&
                     strcmp(line + sizeof start - 1, wanted) == 0;
        } else if (strncmp(line, "ob=", 3) == 0) {
            own = strncmp(line + 3, program, strlen(program)) == 0;
        } else if (strncmp(line, "0x", 2) == 0) {
            char *end = NULL;
            uint64_t address = strtoull(line, &end, 16);
            strtoull(end, &end, 10);
            double times = (double)strtoull(end, NULL, 10) / ROUND;
            if (inside && own && !of_callee && times > 0 &&
                !executed_add(executed, address, times)) {
                break;
            }
        }
        of_callee = strncmp(line, "calls=", 6) == 0;
    }
    fclose(file);
    return executed->count > 0;
}

double rcl_executed_times(const rcl_executed *executed, uint64_t address)
{
    for (size_t i = 0; i < executed->count; i++) {
        if (executed->at[i].address == address) {
            return executed->at[i].times;
        }
    }
    return 0;
}
