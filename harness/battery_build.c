#include "battery_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* How build.sh ends when it did not try. */
enum { EXPLORER_LACKING = 3, EXPLORER_UNSUPPORTED = 4 };

static const double compile_limit_seconds = 300;

/* ---- Flavours ---- */

typedef struct flavour_info {
    const char *name;
    bool sanitized;
    const char *explored; /* RC_CHECKED of the explorer's program; NULL: it is another one */
    const char *flags[8];
    const char *environment[4];
} flavour_info;

/* detect_stack_use_after_return costs much and finds nothing here. */
static const flavour_info flavours[RCL_FLAVOUR_COUNT] = {
    [RCL_FLAVOUR_PLAIN] = {"plain", false, NULL, {"-O2", "-DRC_CHECKED=0"}, {"LC_ALL=C"}},
    [RCL_FLAVOUR_CHECKED] = {"checked", false, NULL, {"-O2", "-DRC_CHECKED=1"}, {"LC_ALL=C"}},
    [RCL_FLAVOUR_CHECKED_O0] = {"checked_O0", false, NULL, {"-O0", "-DRC_CHECKED=1"}, {"LC_ALL=C"}},
    [RCL_FLAVOUR_ASAN] = {"asan",
                          true,
                          NULL,
                          {"-O1", "-DRC_CHECKED=0", "-fsanitize=address,undefined",
                           "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"},
                          {"LC_ALL=C",
                           "ASAN_OPTIONS=color=never:exitcode=66:allocator_may_return_null=1:"
                           "detect_stack_use_after_return=0:hard_rss_limit_mb=6000",
                           "UBSAN_OPTIONS=color=never:print_stacktrace=1:halt_on_error=1"}},
    [RCL_FLAVOUR_TSAN] = {"tsan",
                          true,
                          NULL,
                          {"-O1", "-DRC_CHECKED=0", "-fsanitize=thread", "-fno-omit-frame-pointer"},
                          {"LC_ALL=C", "TSAN_OPTIONS=color=never:exitcode=66:halt_on_error=1:"
                                       "allocator_may_return_null=1:hard_rss_limit_mb=6000"}},
    [RCL_FLAVOUR_EXPLORE] = {"explore", false, "0", {"-O2"}, {"LC_ALL=C"}},
    [RCL_FLAVOUR_EXPLORE_CHECKED] = {"explore_checked", false, "1", {"-O2"}, {"LC_ALL=C"}},
    [RCL_FLAVOUR_EXPLORE_O0_PLAIN] = {"explore_O0_plain", false, "0", {"-O0"}, {"LC_ALL=C"}},
    [RCL_FLAVOUR_EXPLORE_O0] = {"explore_O0", false, "1", {"-O0"}, {"LC_ALL=C"}},
};

const char *rcl_flavour_name(rcl_flavour flavour)
{
    return flavours[flavour].name;
}

bool rcl_flavour_sanitized(rcl_flavour flavour)
{
    return flavours[flavour].sanitized;
}

bool rcl_flavour_explored(rcl_flavour flavour)
{
    return flavours[flavour].explored != NULL;
}

/* The battery goes on without this one. */
static bool optional(rcl_flavour flavour)
{
    return flavours[flavour].sanitized || flavours[flavour].explored != NULL;
}

const char *const *rcl_flavour_environment(rcl_flavour flavour)
{
    return flavours[flavour].environment;
}

/* ---- What is compiled ---- */

bool rcl_battery_header_path(const char *header, char *path, size_t size)
{
    char shipped[RCL_PATH_BYTES];
    char *found = NULL;
    struct stat status;
    snprintf(shipped, sizeof shipped, RCL_SOURCE_DIR "/impls/%s", header);
    if (header[0] != '/' && stat(header, &status) != 0) {
        header = shipped;
    }
    if (stat(header, &status) != 0 || !S_ISREG(status.st_mode) ||
        (found = realpath(header, NULL)) == NULL) {
        return false;
    }
    snprintf(path, size, "%s", found);
    free(found);
    return true;
}

/* The battery's own sources, then the implementation's. False if there are more than
 * RCL_SOURCES_MAX. */
static bool find_sources(const char *header_path, rcl_sources *all)
{
    return rcl_sources_add(all, RCL_SOURCE_DIR "/tests/conformance/battery.c", false) &&
           rcl_sources_add(all, RCL_SOURCE_DIR "/tests/conformance/heap.c", false) &&
           rcl_sources_add(all, RCL_SOURCE_DIR "/tests/conformance/verdict.c", false) &&
           rcl_sources_add_beside(all, header_path);
}

typedef struct command {
    rcl_words words;
    rcl_flavour flavour;
} command;

static void push(command *line, const char *word)
{
    rcl_words_push(&line->words, word);
}

static void push_words(command *line, const char *text)
{
    rcl_words_push_split(&line->words, text);
}

static void push_flags(command *line, rcl_flavour flavour)
{
    for (const char *const *flag = flavours[flavour].flags; *flag != NULL; flag++) {
        push(line, *flag);
    }
    push(line, "-g");
}

static void object_path(const rcl_battery_build *build, rcl_flavour flavour, unsigned index,
                        char *path, size_t size)
{
    snprintf(path, size, "%s/%s-%u.o", build->folder, flavours[flavour].name, index);
}

static void compile_command(const rcl_battery_build *build, const char *header_path,
                            const rcl_source *from, unsigned index, rcl_flavour flavour,
                            command *line)
{
    char text[RCL_PATH_BYTES + 64];
    *line = (command){.flavour = flavour};
    push_words(line, rcl_compiler(from->cxx));
    push(line, from->cxx ? "-std=gnu++20" : "-std=gnu17");
    push_flags(line, flavour);
    push(line, "-D_GNU_SOURCE");
    push(line, "-DRC_PRESET=1");
    if (index == 0) { /* battery.c */
        snprintf(text, sizeof text, "-DRC_IMPL_HEADER=\"%s\"", header_path);
        push(line, text);
    }
    push(line, "-I" RCL_SOURCE_DIR "/impls");
    push(line, "-I" RCL_SOURCE_DIR "/harness");
    push(line, "-I" RCL_SOURCE_DIR "/tests/conformance");
    push(line, "-c");
    push(line, from->path);
    push(line, "-o");
    object_path(build, flavour, index, text, sizeof text);
    push(line, text);
}

static void link_command(const rcl_battery_build *build, const rcl_sources *all,
                         rcl_flavour flavour, command *line)
{
    char text[RCL_PATH_BYTES + 64];
    *line = (command){.flavour = flavour};
    push_words(line, rcl_compiler(all->any_cxx));
    push_flags(line, flavour);
    for (unsigned i = 0; i < all->count; i++) {
        object_path(build, flavour, i, text, sizeof text);
        push(line, text);
    }
    push(line, "-o");
    push(line, build->programs[flavour].path);
    if (build->libraries != NULL) {
        push_words(line, build->libraries);
    }
    push(line, "-pthread");
    push(line, "-ldl");
    push(line, "-lm");
}

/* All of it: build.sh compiles, looks at the objects and links. */
static void explorer_command(const rcl_battery_build *build, const char *header_path,
                             rcl_flavour flavour, command *line)
{
    *line = (command){.flavour = flavour};
    rcl_words_push(&line->words, "sh");
    rcl_words_push(&line->words, RCL_SOURCE_DIR "/tests/engines/explorer/build.sh");
    rcl_words_push(&line->words, header_path);
    rcl_words_push(&line->words, build->programs[flavour].path);
    rcl_words_push(&line->words, RCL_BINARY_DIR "/librclab_explorer.a");
    rcl_words_push(&line->words, flavours[flavour].explored);
    rcl_words_push(&line->words, flavours[flavour].flags[0]);
    if (build->libraries != NULL) {
        rcl_words_push_split(&line->words, build->libraries);
    }
}

/* The last line of build.sh, which says why. */
static void explain_unsupported(const rcl_job *job, char *text, size_t size)
{
    static const char word[] = "unsupported: ";
    const char *why = "it did not say why";
    for (const char *at = strstr(job->output, word); at != NULL; at = strstr(why, word)) {
        why = at + sizeof word - 1;
    }
    snprintf(text, size, "%.*s", (int)strcspn(why, "\n"), why);
}

/* ---- Building ---- */

static bool job_failed(const rcl_job *job)
{
    return job->end != RCL_JOB_SKIPPED && (job->end != RCL_JOB_EXITED || job->status != 0);
}

static bool flavour_alive(const rcl_battery_build *build, rcl_flavour flavour)
{
    return build->programs[flavour].wanted && build->programs[flavour].why[0] == '\0';
}

typedef struct stage {
    rcl_battery_build *build;
    command *commands;
    rcl_job *jobs;
    size_t count;
    char missing[128]; /* a compiler that cannot be run, as the user named it; or empty */
} stage;

/* No more work for a flavour that has failed already, or for any once one without sanitizers has. */
static bool still_wanted(void *context, rcl_job *job)
{
    const stage *work = context;
    const command *line = job->tag;
    for (unsigned f = 0; f < RCL_FLAVOUR_COUNT; f++) {
        if (!optional((rcl_flavour)f) && work->build->programs[f].wanted &&
            work->build->programs[f].why[0] != '\0') {
            return false;
        }
    }
    return flavour_alive(work->build, line->flavour);
}

static void note_end(void *context, rcl_job *job)
{
    stage *work = context;
    const command *line = job->tag;
    rcl_battery_program *program = &work->build->programs[line->flavour];
    const char *missing = rcl_compile_missing(job);
    if (missing != NULL) {
        snprintf(work->missing, sizeof work->missing, "%s", missing);
    }
    if (job->end == RCL_JOB_EXITED && job->status == RCL_JOB_CANNOT_RUN_STATUS &&
        flavours[line->flavour].explored != NULL) { /* build.sh says: NAME: cannot be run */
        snprintf(work->missing, sizeof work->missing, "%.*s", (int)strcspn(job->output, ":\n"),
                 job->output);
    }
    if (job->end == RCL_JOB_EXITED && flavours[line->flavour].explored != NULL &&
        (job->status == EXPLORER_LACKING || job->status == EXPLORER_UNSUPPORTED)) {
        explain_unsupported(job, program->why, sizeof program->why);
        program->unsupported = true;
        program->lacking = job->status == EXPLORER_LACKING;
        return;
    }
    if (job_failed(job) && program->why[0] == '\0' && job->end != RCL_JOB_INTERRUPTED) {
        rcl_compile_explain(job, program->why, sizeof program->why);
    }
}

/* Runs the stage's commands. False if it was stopped. */
static bool run_stage(stage *work)
{
    for (size_t i = 0; i < work->count; i++) {
        work->jobs[i] = (rcl_job){.arguments = work->commands[i].words.arguments,
                                  .environment = flavours[work->commands[i].flavour].environment,
                                  .limit_seconds = compile_limit_seconds,
                                  .tag = &work->commands[i]};
    }
    bool whole = rcl_jobs_run(&(rcl_jobs){.jobs = work->jobs,
                                          .count = work->count,
                                          .at_once = work->build->at_once,
                                          .stop = work->build->stop,
                                          .context = work,
                                          .wanted = still_wanted,
                                          .ended = note_end});
    for (size_t i = 0; i < work->count; i++) {
        rcl_job_free(&work->jobs[i]);
    }
    return whole;
}

/* Compiles, then links. False if it was stopped. */
static bool run_stages(stage *work, const char *header_path, const rcl_sources *all)
{
    /* The battery itself first: that takes longest, and shows most of what can be wrong. */
    for (unsigned s = 0; s < all->count; s++) {
        for (unsigned f = 0; f < RCL_FLAVOUR_COUNT; f++) {
            if (!flavour_alive(work->build, (rcl_flavour)f)) {
                continue;
            }
            if (flavours[f].explored == NULL) {
                compile_command(work->build, header_path, &all->list[s], s, (rcl_flavour)f,
                                &work->commands[work->count++]);
            } else if (s == 0) {
                explorer_command(work->build, header_path, (rcl_flavour)f,
                                 &work->commands[work->count++]);
            }
        }
    }
    if (!run_stage(work)) {
        return false;
    }
    work->count = 0;
    for (unsigned f = 0; f < RCL_FLAVOUR_COUNT; f++) {
        if (flavours[f].explored == NULL && flavour_alive(work->build, (rcl_flavour)f)) {
            link_command(work->build, all, (rcl_flavour)f, &work->commands[work->count++]);
        }
    }
    return run_stage(work);
}

rcl_build_result rcl_battery_make(rcl_battery_build *build, char *error, size_t error_size)
{
    char header_path[RCL_PATH_BYTES];
    if (!rcl_battery_header_path(build->header, header_path, sizeof header_path)) {
        snprintf(error, error_size, "there is no file %s; give the path of an rc.h", build->header);
        return RCL_BUILD_REFUSED;
    }
    rcl_sources *all = calloc(1, sizeof *all);
    stage work = {.build = build,
                  .commands = calloc((size_t)RCL_SOURCES_MAX * RCL_FLAVOUR_COUNT, sizeof(command)),
                  .jobs = calloc((size_t)RCL_SOURCES_MAX * RCL_FLAVOUR_COUNT, sizeof(rcl_job))};
    rcl_build_result result = RCL_BUILD_DONE;
    for (unsigned f = 0; f < RCL_FLAVOUR_COUNT; f++) {
        snprintf(build->programs[f].path, sizeof build->programs[f].path, "%s/battery-%s",
                 build->folder, flavours[f].name);
    }
    if (all == NULL || work.commands == NULL || work.jobs == NULL) {
        snprintf(error, error_size, "out of memory");
        result = RCL_BUILD_REFUSED;
    } else if (!find_sources(header_path, all)) {
        snprintf(error, error_size, "more than %d source files beside %s", RCL_SOURCES_MAX - 3,
                 header_path);
        result = RCL_BUILD_REFUSED;
    } else if (!run_stages(&work, header_path, all)) {
        result = RCL_BUILD_INTERRUPTED;
    } else if (work.missing[0] != '\0') {
        snprintf(
            error, error_size,
            "there is no compiler '%s'; install one (make deps), or name one with CC= and CXX=",
            work.missing);
        result = RCL_BUILD_NO_COMPILER;
    }
    for (unsigned f = 0; f < RCL_FLAVOUR_COUNT && result == RCL_BUILD_DONE; f++) {
        build->programs[f].built = flavour_alive(build, (rcl_flavour)f);
        if (!optional((rcl_flavour)f) && build->programs[f].why[0] != '\0') {
            snprintf(error, error_size, "%s", build->programs[f].why);
            result = RCL_BUILD_REFUSED;
        }
    }
    free(all);
    free(work.commands);
    free(work.jobs);
    return result;
}
