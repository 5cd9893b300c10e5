#include "counted_build.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"

static const double compile_limit_seconds = 300;

/* ---- The operations ---- */

const rcl_counted_operation rcl_counted_operations[] = {
#define RCL_COUNTED(name, needs, text) {#name, needs, text},
#define RCL_COUNTED_WEAK RCL_COUNTED
#define RCL_COUNTED_DEATH RCL_COUNTED
#define RCL_COUNTED_RAW RCL_COUNTED
#define RCL_COUNTED_WRAPPER RCL_COUNTED
#include "counted/operations.def"
#undef RCL_COUNTED
#undef RCL_COUNTED_WEAK
#undef RCL_COUNTED_DEATH
#undef RCL_COUNTED_RAW
#undef RCL_COUNTED_WRAPPER
};

enum { OPERATIONS = sizeof rcl_counted_operations / sizeof rcl_counted_operations[0] };

const unsigned rcl_counted_operation_count = OPERATIONS;

void rcl_counted_print_operations(FILE *out)
{
    for (unsigned i = 0; i < rcl_counted_operation_count; i++) {
        fprintf(out, "  %-18s %s\n", rcl_counted_operations[i].name,
                rcl_counted_operations[i].text);
    }
}

_Static_assert((int)OPERATIONS <= (int)RCL_COUNTED_OPERATIONS_MAX, "counted: raise the maximum");

int rcl_counted_operation_find(const char *name, size_t length)
{
    for (int i = 0; i < OPERATIONS; i++) {
        const char *one = rcl_counted_operations[i].name;
        if (strlen(one) == length && memcmp(one, name, length) == 0) {
            return i;
        }
    }
    return -1;
}

bool rcl_counted_operations_parse(const char *command, const char *list, bool *wanted)
{
    while (true) {
        size_t length = strcspn(list, ",");
        int index = rcl_counted_operation_find(list, length);
        if (length == 3 && memcmp(list, "all", 3) == 0) {
            memset(wanted, true, OPERATIONS);
        } else if (index >= 0) {
            wanted[index] = true;
        } else {
            fprintf(stderr, "rclab %s: there is no operation '%.*s'; there are: all", command,
                    (int)length, list);
            for (unsigned i = 0; i < OPERATIONS; i++) {
                fprintf(stderr, ", %s", rcl_counted_operations[i].name);
            }
            fputc('\n', stderr);
            return false;
        }
        if (list[length] == '\0') {
            return true;
        }
        list += length + 1;
    }
}

/* ---- What is compiled ---- */

/* The counted program's own sources; the first includes the implementation. */
static const char *const own_sources[] = {RCL_SOURCE_DIR "/harness/counted/counted.c",
                                          RCL_SOURCE_DIR "/harness/counted/allocator.c",
                                          RCL_SOURCE_DIR "/harness/trap.c"};

/* A program being built. */
typedef struct work {
    rcl_counted_program *program;
    char header_path[RCL_PATH_BYTES];
    rcl_sources sources;
} work;

typedef struct command {
    rcl_words words;
    work *of;
} command;

/* The compilers of a build. */
typedef struct compilers {
    char c[256], cxx[256];
} compilers;

static void push(command *line, const char *word)
{
    rcl_words_push(&line->words, word);
}

/* "gcc-12" has its twin in "g++-12", "clang" in "clang++"; of others CXX knows. */
static compilers compilers_of(const char *named)
{
    static const char *const twins[][2] = {{"gcc", "g++"}, {"clang", "clang++"}};
    compilers both;
    snprintf(both.c, sizeof both.c, "%s", named != NULL ? named : rcl_compiler(false));
    snprintf(both.cxx, sizeof both.cxx, "%s", rcl_compiler(true));
    for (unsigned i = 0; named != NULL && i < 2; i++) {
        const char *at = strstr(named, twins[i][0]);
        if (at != NULL) {
            snprintf(both.cxx, sizeof both.cxx, "%.*s%s%s", (int)(at - named), named, twins[i][1],
                     at + strlen(twins[i][0]));
            break;
        }
    }
    return both;
}

/* The flags of the benchmark; line numbers only where they are wanted, and in a form that valgrind 3.19
 * can read of every compiler. */
static void push_flags(const rcl_counted_build *build, command *line)
{
    rcl_words_push_split(&line->words, RCL_FLAGS);
    push(line, build->source_lines ? "-gdwarf-4" : "-g0");
}

static void object_path(const rcl_counted_build *build, const work *of, unsigned source, char *path,
                        size_t size)
{
    snprintf(path, size, "%s/%zu-%u.o", build->folder, (size_t)(of->program - build->programs),
             source);
}

static void compile_command(const rcl_counted_build *build, const compilers *both, work *of,
                            unsigned index, command *line)
{
    char text[RCL_PATH_BYTES + 64];
    const rcl_source *source = &of->sources.list[index];
    *line = (command){.of = of};
    rcl_words_push_split(&line->words, source->cxx ? both->cxx : both->c);
    push(line, source->cxx ? "-std=gnu++20" : "-std=gnu17");
    push_flags(build, line);
    push(line, "-D_GNU_SOURCE");
    if (index == 0) {
        snprintf(text, sizeof text, "-DRC_IMPL_HEADER=\"%s\"", of->header_path);
        push(line, text);
    }
    push(line, "-I" RCL_SOURCE_DIR "/impls");
    push(line, "-I" RCL_SOURCE_DIR "/harness");
    push(line, "-c");
    push(line, source->path);
    push(line, "-o");
    object_path(build, of, index, text, sizeof text);
    push(line, text);
}

/* Every call bound at the start: none is looked up while something is counted. */
static void link_command(const rcl_counted_build *build, const compilers *both, work *of,
                         command *line)
{
    char text[RCL_PATH_BYTES + 64];
    *line = (command){.of = of};
    rcl_words_push_split(&line->words, of->sources.any_cxx ? both->cxx : both->c);
    push_flags(build, line);
    for (unsigned i = 0; i < of->sources.count; i++) {
        object_path(build, of, i, text, sizeof text);
        push(line, text);
    }
    push(line, "-o");
    push(line, of->program->path);
    if (build->libraries != NULL) {
        rcl_words_push_split(&line->words, build->libraries);
    }
    push(line, "-Wl,-z,now");
    if (build->fixed_addresses) {
        push(line, "-no-pie");
    }
    push(line, "-pthread");
    push(line, "-lm");
}

static bool find_sources(work *of)
{
    bool good = true;
    for (unsigned i = 0; i < sizeof own_sources / sizeof own_sources[0]; i++) {
        good = good && rcl_sources_add(&of->sources, own_sources[i], false);
    }
    return good && rcl_sources_add_beside(&of->sources, of->header_path);
}

/* ---- Building ---- */

typedef struct stage {
    rcl_counted_build *build;
    command *commands;
    rcl_job *jobs;
    size_t count;
    char missing[256]; /* a compiler that is not there; or empty */
} stage;

static bool still_wanted(void *context, rcl_job *job)
{
    const command *line = job->tag;
    (void)context;
    return line->of->program->why[0] == '\0';
}

static void note_end(void *context, rcl_job *job)
{
    stage *now = context;
    const command *line = job->tag;
    rcl_counted_program *program = line->of->program;
    if (rcl_compile_missing(job) != NULL) {
        snprintf(now->missing, sizeof now->missing, "%s", rcl_compile_missing(job));
    }
    if (job->end == RCL_JOB_SKIPPED || job->end == RCL_JOB_INTERRUPTED ||
        (job->end == RCL_JOB_EXITED && job->status == 0)) {
        return;
    }
    if (program->why[0] == '\0') {
        rcl_compile_explain(job, program->why, sizeof program->why);
    }
}

/* Runs the stage's commands. False if it was stopped. */
static bool run_stage(stage *now)
{
    /* What a compiler that is killed leaves behind goes with the folder. */
    char temporary[RCL_PATH_BYTES];
    const char *const environment[] = {"LC_ALL=C", temporary, NULL};
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", now->build->folder);
    for (size_t i = 0; i < now->count; i++) {
        now->jobs[i] = (rcl_job){.arguments = now->commands[i].words.arguments,
                                 .environment = environment,
                                 .limit_seconds = compile_limit_seconds,
                                 .tag = &now->commands[i]};
    }
    bool whole = rcl_jobs_run(&(rcl_jobs){.jobs = now->jobs,
                                          .count = now->count,
                                          .at_once = now->build->at_once,
                                          .stop = now->build->stop,
                                          .context = now,
                                          .wanted = still_wanted,
                                          .ended = note_end});
    for (size_t i = 0; i < now->count; i++) {
        rcl_job_free(&now->jobs[i]);
    }
    now->count = 0;
    return whole;
}

/* Compiles, then links. False if it was stopped. */
static bool run_stages(stage *now, const compilers *both, work *works)
{
    rcl_counted_build *build = now->build;
    /* The implementation itself first: that takes longest, and shows most of what can be wrong. */
    for (unsigned s = 0; s < RCL_SOURCES_MAX; s++) {
        for (size_t i = 0; i < build->count; i++) {
            if (s < works[i].sources.count) {
                compile_command(build, both, &works[i], s, &now->commands[now->count++]);
            }
        }
    }
    if (!run_stage(now)) {
        return false;
    }
    for (size_t i = 0; i < build->count; i++) {
        if (build->programs[i].why[0] == '\0') {
            link_command(build, both, &works[i], &now->commands[now->count++]);
        }
    }
    return run_stage(now);
}

/* Finds what each program is made of. Returns how many commands a stage may have. */
static size_t prepare(rcl_counted_build *build, work *works)
{
    size_t commands = 0;
    for (size_t i = 0; i < build->count; i++) {
        rcl_counted_program *program = &build->programs[i];
        works[i].program = program;
        program->built = false;
        program->why[0] = '\0';
        snprintf(program->path, sizeof program->path, "%s/counted-%zu", build->folder, i);
        if (!rcl_battery_header_path(program->subject.header, works[i].header_path,
                                     sizeof works[i].header_path)) {
            snprintf(program->why, sizeof program->why, "there is no file %.400s",
                     program->subject.header);
        } else if (!find_sources(&works[i])) {
            snprintf(program->why, sizeof program->why, "more than %d source files beside its rc.h",
                     RCL_SOURCES_MAX - 3);
        }
        works[i].sources.count = program->why[0] == '\0' ? works[i].sources.count : 0;
        commands += works[i].sources.count;
    }
    return commands > build->count ? commands : build->count;
}

rcl_build_result rcl_counted_make(rcl_counted_build *build, char *error, size_t error_size)
{
    const compilers both = compilers_of(build->compiler);
    work *works = calloc(build->count, sizeof *works);
    stage now = {.build = build};
    rcl_build_result result = RCL_BUILD_DONE;
    if (works != NULL) {
        size_t commands = prepare(build, works);
        now.commands = calloc(commands, sizeof *now.commands);
        now.jobs = calloc(commands, sizeof *now.jobs);
    }
    if (now.commands == NULL || now.jobs == NULL) {
        snprintf(error, error_size, "out of memory");
        result = RCL_BUILD_REFUSED;
    } else if (!run_stages(&now, &both, works)) {
        result = RCL_BUILD_INTERRUPTED;
    } else if (now.missing[0] != '\0') {
        snprintf(error, error_size,
                 "there is no compiler '%s'; install one (make deps), or name one with --cc or CC=",
                 now.missing);
        result = RCL_BUILD_NO_COMPILER;
    }
    for (size_t i = 0; i < build->count && result == RCL_BUILD_DONE; i++) {
        build->programs[i].built = build->programs[i].why[0] == '\0';
    }
    free(works);
    free(now.commands);
    free(now.jobs);
    return result;
}

/* ---- The folder ---- */

bool rcl_counted_folder(char *folder, size_t size, char *error, size_t error_size)
{
    const char *below = getenv("TMPDIR");
    snprintf(folder, size, "%s/rclab-counted-XXXXXX",
             below != NULL && *below != '\0' ? below : "/tmp");
    if (mkdtemp(folder) != NULL) {
        return true;
    }
    snprintf(error, error_size,
             "cannot make a folder to build in, %s: %s; TMPDIR names another place", folder,
             strerror(errno));
    return false;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

void rcl_counted_folder_remove(const char *folder)
{
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
