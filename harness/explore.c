#include "explore.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "team.h"

enum { ARGUMENTS_MAX = 20, AGAIN_BYTES = RCL_PATH_BYTES + 512 };

static const double build_list_limit_seconds = 60;
static const double no_limit_seconds = 1e9;

/* One search as a process. */
typedef struct task {
    rcl_search *search;
    bool running;
    char executions[24], random[24], seed[24], processes[16];
    char progress[RCL_PATH_BYTES], json[RCL_PATH_BYTES], again[AGAIN_BYTES];
    const char *arguments[ARGUMENTS_MAX];
} task;

typedef struct exploration {
    const rcl_explore_options *options;
    const rcl_subject *subject;
    rcl_exploration *result;
    rcl_flavour flavour;
    rcl_battery_build build;
    task *tasks;
    rcl_job *jobs;
    size_t count;
    rcl_progress progress;
} exploration;

/* ---- Which scenarios ---- */

static bool entry_is(const char *entry, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(entry, text, length) == 0;
}

/* True if the entry is the scenario's name, its clause, its area, or CLAUSE/NAME. */
static bool entry_has(const char *entry, size_t length, const rcl_search *search)
{
    char full[128];
    char area[16];
    snprintf(full, sizeof full, "%s/%s", search->clause, search->name);
    snprintf(area, sizeof area, "%.*s", (int)strcspn(search->clause, "-"), search->clause);
    return entry_is(entry, length, search->name) || entry_is(entry, length, search->clause) ||
           entry_is(entry, length, area) || entry_is(entry, length, full);
}

static bool asked_for(const rcl_explore_options *options, const rcl_search *search)
{
    for (const char *entry = options->scenarios; entry != NULL;) {
        size_t length = strcspn(entry, ",");
        if (entry_has(entry, length, search)) {
            return true;
        }
        entry = entry[length] == ',' ? entry + length + 1 : NULL;
    }
    return options->scenarios == NULL;
}

/* False, with an error, if an entry of --scenario names none of the rows. */
static bool check_entries(const exploration *now, const rcl_search *rows, size_t count, char *error,
                          size_t error_size)
{
    for (const char *entry = now->options->scenarios; entry != NULL;) {
        size_t length = strcspn(entry, ",");
        const rcl_search *left_out = NULL;
        bool found = false;
        for (size_t i = 0; i < count && !found; i++) {
            if (entry_has(entry, length, &rows[i])) {
                found = rows[i].verdict != RCL_SEARCH_LEFT_OUT;
                left_out = &rows[i];
            }
        }
        if (!found && left_out != NULL) {
            snprintf(error, error_size, "%s/%s is not searched: %s", left_out->clause,
                     left_out->name, left_out->words);
            return false;
        }
        if (!found) {
            snprintf(error, error_size,
                     "%s has no scenario, clause or area '%.*s'; rclab explore --impl %s --list "
                     "shows all",
                     now->subject->name, (int)length, entry, now->subject->given);
            return false;
        }
        entry = entry[length] == ',' ? entry + length + 1 : NULL;
    }
    return true;
}

/* A row of the program's list. False: it is another kind of row. */
static bool read_row(const char *line, rcl_search *row)
{
    char why[128] = "";
    *row = (rcl_search){.verdict = RCL_SEARCH_WAITING};
    if (sscanf(line, "searched\t%15[0-9]\t%15[^\t]\t%79[^\t\n]", row->number, row->clause,
               row->name) == 3) {
        return true;
    }
    if (sscanf(line, "left\t%15[0-9]\t%15[^\t]\t%79[^\t]\t%127[^\n]", row->number, row->clause,
               row->name, why) == 4) {
        row->verdict = RCL_SEARCH_LEFT_OUT;
        snprintf(row->words, sizeof row->words, "%s", why);
        return true;
    }
    return false;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += *text == '\n' ? 1 : 0;
    }
    return count;
}

/* Fills the result's searches from the list. */
static rcl_explore_end choose(exploration *now, const char *list, char *error, size_t error_size)
{
    rcl_search *rows = calloc(count_lines(list) + 1, sizeof *rows);
    size_t count = 0;
    if (rows == NULL) {
        snprintf(error, error_size, "out of memory");
        return RCL_EXPLORE_ENVIRONMENT;
    }
    now->result->searches = rows;
    while (*list != '\0') {
        count += read_row(list, &rows[count]) ? 1 : 0;
        list += strcspn(list, "\n");
        list += *list == '\n' ? 1 : 0;
    }
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        any = any || rows[i].verdict != RCL_SEARCH_LEFT_OUT;
    }
    if (!any) {
        snprintf(error, error_size,
                 "%s has nothing to search: no scenario of two threads (does it claim "
                 "RC_CAP_THREADS?)",
                 now->subject->name);
        return RCL_EXPLORE_NO_SUCH;
    }
    if (!check_entries(now, rows, count, error, error_size)) {
        return RCL_EXPLORE_NO_SUCH;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool searched = rows[i].verdict != RCL_SEARCH_LEFT_OUT;
        if (asked_for(now->options, &rows[i]) && (searched || now->options->list)) {
            rows[kept++] = rows[i];
        }
    }
    now->result->count = kept;
    if (now->options->schedule != NULL && kept != 1) {
        snprintf(error, error_size,
                 "--schedule belongs to one scenario; --scenario names %zu: %s/%s, %s/%s%s", kept,
                 rows[0].clause, rows[0].name, rows[1].clause, rows[1].name,
                 kept > 2 ? " and others" : "");
        return RCL_EXPLORE_NO_SUCH;
    }
    return RCL_EXPLORE_DONE;
}

/* Asks the program what it has. */
static rcl_explore_end read_list(exploration *now, char *error, size_t error_size)
{
    const char *arguments[] = {now->build.programs[now->flavour].path, "list", NULL};
    rcl_job job = {.arguments = arguments, .limit_seconds = build_list_limit_seconds};
    rcl_jobs_run(&(rcl_jobs){.jobs = &job, .count = 1, .at_once = 1, .stop = now->options->stop});
    rcl_explore_end end = RCL_EXPLORE_NOT_BUILT;
    if (job.end == RCL_JOB_EXITED && job.status == 0) {
        end = choose(now, job.output, error, error_size);
    } else if (*now->options->stop) {
        end = RCL_EXPLORE_INTERRUPTED;
    } else {
        const char *output = job.output != NULL ? job.output : "";
        snprintf(error, error_size, "the program does not run here: %.*s",
                 (int)strcspn(output, "\n"), output);
    }
    rcl_job_free(&job);
    return end;
}

/* ---- Searching ---- */

static void say_again(const exploration *now, task *next)
{
    char options[RCL_PATH_BYTES + 256];
    rcl_subject_options(now->subject, now->options->libraries, options, sizeof options);
    snprintf(next->again, sizeof next->again, "rclab explore %s --scenario %s/%s%s%s", options,
             next->search->clause, next->search->name,
             now->options->optimised ? "" : " --optimise 0",
             now->options->checked ? " --checked" : "");
}

static void plan_task(exploration *now, task *next)
{
    const rcl_explore_options *options = now->options;
    const char *folder = now->build.folder;
    unsigned at = 0;
    snprintf(next->executions, sizeof next->executions, "%" PRIu64, options->executions);
    snprintf(next->random, sizeof next->random, "%" PRIu64, options->random);
    snprintf(next->seed, sizeof next->seed, "%" PRIu64, options->seed);
    snprintf(next->processes, sizeof next->processes, "%u", options->processes);
    snprintf(next->progress, sizeof next->progress, "%s/progress-%s", folder, next->search->number);
    snprintf(next->json, sizeof next->json, "%s/trace-%s.json", folder, next->search->number);
    say_again(now, next);
    next->arguments[at++] = now->build.programs[now->flavour].path;
    next->arguments[at++] = "run";
    next->arguments[at++] = next->search->number;
    next->arguments[at++] = next->seed;
    next->arguments[at++] = next->executions;
    next->arguments[at++] = "--random";
    next->arguments[at++] = next->random;
    next->arguments[at++] = "--processes";
    next->arguments[at++] = next->processes;
    next->arguments[at++] = "--again";
    next->arguments[at++] = next->again;
    next->arguments[at++] = "--progress";
    next->arguments[at++] = next->progress;
    if (options->json) {
        next->arguments[at++] = "--json";
        next->arguments[at++] = next->json;
    }
    if (options->schedule != NULL) {
        next->arguments[at++] = "--schedule";
        next->arguments[at++] = options->schedule;
    }
    next->arguments[at] = NULL;
}

static bool plan(exploration *now)
{
    now->count = now->result->count;
    now->tasks = calloc(now->count, sizeof *now->tasks);
    now->jobs = calloc(now->count, sizeof *now->jobs);
    if (now->tasks == NULL || now->jobs == NULL) {
        return false;
    }
    for (size_t i = 0; i < now->count; i++) {
        now->tasks[i].search = &now->result->searches[i];
        plan_task(now, &now->tasks[i]);
        now->jobs[i] = (rcl_job){.arguments = now->tasks[i].arguments,
                                 .environment = rcl_flavour_environment(now->flavour),
                                 .limit_seconds = no_limit_seconds,
                                 .tag = &now->tasks[i]};
    }
    return true;
}

/* Executions so far. */
static uint64_t read_progress(const task *one)
{
    uint64_t searched = 0;
    FILE *file = fopen(one->progress, "rb");
    if (file != NULL) {
        if (fread(&searched, sizeof searched, 1, file) != 1) {
            searched = 0;
        }
        fclose(file);
    }
    return searched;
}

static bool task_starts(void *context, rcl_job *job)
{
    task *next = job->tag;
    (void)context;
    next->running = true;
    return true;
}

static void show_progress(void *context, size_t done)
{
    exploration *now = context;
    double share = (double)done;
    char what[256] = "";
    for (size_t i = 0; i < now->count; i++) {
        const task *one = &now->tasks[i];
        if (!one->running) {
            continue;
        }
        uint64_t searched = read_progress(one);
        char text[32];
        rcl_with_commas(searched, text, sizeof text);
        if (now->options->executions > 0) {
            double part = (double)searched / (double)now->options->executions;
            share += part < 1 ? part : 1;
        }
        snprintf(what, sizeof what, "%s: %s/%s, %s executions", now->subject->name,
                 one->search->clause, one->search->name, text);
    }
    rcl_progress_show(&now->progress, share, (double)now->count, what);
}

/* The last line of the output: "CLAUSE NAME: N executions, N blocked, N s". */
static void read_summary(const rcl_job *job, rcl_search *search)
{
    const char *line = strstr(job->output, ": ");
    for (const char *at = line; at != NULL; at = strstr(at + 1, "\n")) {
        const char *colon = strstr(at, ": ");
        uint64_t executions = 0;
        uint64_t blocked = 0;
        double seconds = 0;
        if (colon != NULL && sscanf(colon, ": %" SCNu64 " executions, %" SCNu64 " blocked, %lf s",
                                    &executions, &blocked, &seconds) == 3) {
            search->executions = executions;
            search->blocked = blocked;
            search->seconds = seconds;
        }
    }
}

static char *read_file(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *from = fopen(path, "r");
    FILE *to = from != NULL ? open_memstream(&text, &size) : NULL;
    char block[4096];
    for (size_t got; to != NULL && (got = fread(block, 1, sizeof block, from)) > 0;) {
        fwrite(block, 1, got, to);
    }
    if (from != NULL) {
        fclose(from);
    }
    if (to != NULL) {
        fclose(to);
    }
    return text;
}

/* The fifth field of a failing verdict. */
static const char *what_came(const char *verdict)
{
    for (unsigned i = 0; i < 4; i++) {
        verdict += strcspn(verdict, "\t\n");
        verdict += *verdict == '\t' ? 1 : 0;
    }
    return verdict;
}

static void judge_failure(const task *done, const rcl_job *job, rcl_search *search)
{
    search->verdict = RCL_SEARCH_FAIL;
    if (strncmp(job->verdict, "fail\t", 5) == 0) {
        const char *came = what_came(job->verdict);
        snprintf(search->words, sizeof search->words, "%.*s", (int)strcspn(came, "\n"), came);
        rcl_explored_schedule(search->words, search->schedule, sizeof search->schedule);
        search->output = calloc(1, job->output_size + 64);
        if (search->output != NULL) {
            rcl_explored_interleaving(job, search->output, job->output_size + 64);
        }
        search->trace = read_file(done->json);
    } else if (job->end == RCL_JOB_KILLED) {
        snprintf(search->words, sizeof search->words, "the search died of signal %d (%s)",
                 job->status, strsignal(job->status));
    } else {
        snprintf(search->words, sizeof search->words, "the search ended with status %d: %.*s",
                 job->status, (int)strcspn(job->output, "\n"), job->output);
    }
}

static void task_ended(void *context, rcl_job *job)
{
    const exploration *now = context;
    task *done = job->tag;
    rcl_search *search = done->search;
    rcl_explored explored = {0};
    done->running = false;
    search->seconds = job->seconds;
    if (job->end == RCL_JOB_INTERRUPTED) {
        char text[32];
        search->verdict = RCL_SEARCH_INTERRUPTED;
        search->executions = read_progress(done);
        rcl_with_commas(search->executions, text, sizeof text);
        snprintf(search->words, sizeof search->words,
                 "interrupted: no failure in the first %s executions", text);
    } else {
        read_summary(job, search);
        if (!rcl_explored_add(&explored, job)) {
            judge_failure(done, job, search);
        } else {
            search->verdict = explored.unsupported > 0 ? RCL_SEARCH_UNSUPPORTED
                              : explored.bounded > 0   ? RCL_SEARCH_BOUNDED
                                                       : RCL_SEARCH_PASS;
            rcl_explored_words(&explored, search->words, sizeof search->words);
        }
        if (now->options->schedule != NULL && search->verdict == RCL_SEARCH_PASS) {
            search->verdict = RCL_SEARCH_BOUNDED;
            snprintf(search->words, sizeof search->words,
                     "pass, bounded: this schedule alone, which does not fail");
        }
    }
    rcl_job_free(job);
}

static rcl_explore_end search_all(exploration *now, char *error, size_t error_size)
{
    if (!plan(now)) {
        snprintf(error, error_size, "out of memory");
        return RCL_EXPLORE_ENVIRONMENT;
    }
    unsigned processors = rcl_processors();
    bool whole = rcl_jobs_run(&(rcl_jobs){.jobs = now->jobs,
                                          .count = now->count,
                                          .at_once = processors / now->options->processes,
                                          .stop = now->options->stop,
                                          .context = now,
                                          .wanted = task_starts,
                                          .ended = task_ended,
                                          .tick = show_progress});
    return whole ? RCL_EXPLORE_DONE : RCL_EXPLORE_INTERRUPTED;
}

/* ---- All of it ---- */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    remove(path);
    return 0;
}

static rcl_explore_end build_and_search(exploration *now, char *error, size_t error_size)
{
    char what[96];
    snprintf(what, sizeof what, "%s: building", now->subject->name);
    rcl_progress_show(&now->progress, 0, 1, what);
    rcl_battery_program *program = &now->build.programs[now->flavour];
    switch (rcl_battery_make(&now->build, error, error_size)) {
    case RCL_BUILD_REFUSED:
        return RCL_EXPLORE_NOT_BUILT;
    case RCL_BUILD_NO_COMPILER:
        return RCL_EXPLORE_ENVIRONMENT;
    case RCL_BUILD_INTERRUPTED:
        return RCL_EXPLORE_INTERRUPTED;
    default:
        break;
    }
    if (program->unsupported) {
        now->result->unsupported = true;
        now->result->lacking = program->lacking;
        snprintf(now->result->why, sizeof now->result->why, "%s", program->why);
        return RCL_EXPLORE_DONE;
    }
    if (!program->built) {
        snprintf(error, error_size, "%s", program->why);
        return RCL_EXPLORE_NOT_BUILT;
    }
    rcl_explore_end end = read_list(now, error, error_size);
    return end != RCL_EXPLORE_DONE || now->options->list ? end : search_all(now, error, error_size);
}

rcl_explore_end rcl_explore(const rcl_explore_options *options, const rcl_subject *subject,
                            rcl_exploration *result, char *error, size_t error_size)
{
    char folder[RCL_PATH_BYTES / 2];
    const char *temporary = getenv("TMPDIR");
    exploration now = {
        .options = options,
        .subject = subject,
        .result = result,
        .flavour =
            options->optimised
                ? (options->checked ? RCL_FLAVOUR_EXPLORE_CHECKED : RCL_FLAVOUR_EXPLORE)
                : (options->checked ? RCL_FLAVOUR_EXPLORE_O0 : RCL_FLAVOUR_EXPLORE_O0_PLAIN)};
    *result = (rcl_exploration){.count = 0};
    snprintf(folder, sizeof folder, "%s/rclab-explore-XXXXXX",
             temporary != NULL && *temporary != '\0' ? temporary : P_tmpdir);
    if (mkdtemp(folder) == NULL) {
        snprintf(error, error_size,
                 "cannot make a folder to build in, %s; TMPDIR names another place", folder);
        return RCL_EXPLORE_ENVIRONMENT;
    }
    now.build = (rcl_battery_build){.header = subject->header,
                                    .libraries = options->libraries,
                                    .folder = folder,
                                    .at_once = 1,
                                    .stop = options->stop};
    now.build.programs[now.flavour].wanted = true;
    rcl_progress_start(&now.progress);
    rcl_explore_end end = build_and_search(&now, error, error_size);
    rcl_progress_end(&now.progress);
    result->seconds = rcl_progress_elapsed_seconds(&now.progress);
    if (options->keep) {
        snprintf(result->kept, sizeof result->kept, "%s", folder);
    } else {
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    free(now.tasks);
    free(now.jobs);
    return end;
}

void rcl_explore_free(rcl_exploration *result)
{
    for (size_t i = 0; i < result->count; i++) {
        free(result->searches[i].output);
        free(result->searches[i].trace);
    }
    free(result->searches);
    *result = (rcl_exploration){.count = 0};
}
