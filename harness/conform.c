#include "conform.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"
#include "progress.h"

/* As in tests/conformance/battery.h, whose programs print them. */
enum { SCENARIO_KEEPS_MEMORY = 1, SCENARIO_HEAVY = 2, SCENARIO_TRAPS_ALWAYS = 32 };

/* A run of a scenario with threads: how often it is repeated. */
enum { ROUNDS_NATIVE = 2000, ROUNDS_ASAN = 200, ROUNDS_TSAN = 150, ROUNDS_QUICK = 300 };

enum { OPERATIONS = 100000, OPERATIONS_QUICK = 20000, ORACLE_RUNS = 2 };

/* Of the explorer, in one search: executions, and random ones when those were not all. A scenario of two
 * threads has some thousands; the few large ones would take minutes. */
enum {
    SEARCH_EXECUTIONS = 1000000,
    SEARCH_EXECUTIONS_O0 = 200000,
    SEARCH_EXECUTIONS_QUICK = 20000,
    SEARCH_RANDOM = 20000,
    SEARCH_RANDOM_QUICK = 2000,
    SEARCH_LARGE_THREADS = 3 /* these are the large ones */
};

/* After this many tests ran out of time, the others get a fifth of it: an implementation that hangs
 * would else hold the battery up for long. */
enum { LATE_MANY = 3, LATE_FACTOR = 5 };

/* A test may use this much address space; sanitized ones, which reserve it, have a limit of their own. */
static const uint64_t memory_bytes = UINT64_C(6) << 30;

static const double list_limit_seconds = 60;
static const double sanitized_factor = 3;
static const double heavy_factor = 3;
static const double oracle_factor = 6;
static const double search_factor = 12; /* it has a bound of its own */

/* So begins what the explorer says of an execution without an end (battery_main.c). */
static const char endless[] = "a loop without end";

static const char *const outcome_names[RCL_OUTCOME_COUNT] = {"PASS", "FAIL", "UNSUPPORTED",
                                                             "UNTESTED"};

static const char *const trap_names[] = {"no trap",
                                         "RC_TRAP_RETAIN_DEAD",
                                         "RC_TRAP_RELEASE_DEAD",
                                         "RC_TRAP_WEAK_RELEASE_DEAD",
                                         "RC_TRAP_STRONG_OVERFLOW",
                                         "RC_TRAP_WEAK_OVERFLOW",
                                         "RC_TRAP_FOREIGN",
                                         "RC_TRAP_WRAPPER",
                                         "RC_TRAP_THREAD"};

const char *rcl_outcome_name(rcl_outcome outcome)
{
    return outcome_names[outcome];
}

static const char *trap_name(int kind)
{
    return kind >= 0 && (size_t)kind < sizeof trap_names / sizeof trap_names[0] ? trap_names[kind]
                                                                                : "an unknown trap";
}

/* ---- Tests ---- */

/* One process: a scenario or a run of the oracle, in one flavour. */
typedef struct test {
    rcl_clause_result *result; /* NULL: the oracle */
    rcl_flavour flavour;
    rcl_engine engine;
    char name[96];
    int trap; /* that must come; 0: none */
    bool heavy;
    char number[24], seed[24], amount[24], random[24];
    const char *arguments[8];
    const char *environment[6];
    char leaks[256];
} test;

/* The battery at work on one implementation. */
typedef struct run {
    const rcl_conform_options *options;
    rcl_conform_report *report;
    rcl_battery_build build;
    bool known;   /* a program was there to tell `has` */
    unsigned has; /* capabilities as rcl_clause.needs */
    char *lists[RCL_FLAVOUR_COUNT];
    bool leaks; /* LeakSanitizer works here */
    test *tests;
    rcl_job *jobs;
    size_t count, room;
    unsigned late, endless;  /* tests that ran out of time, and searches that did not get on */
    unsigned oracle_passed;  /* runs */
    char oracle_stopped[16]; /* the clause that a run stopped at */
    rcl_progress progress;
    char what[192];
} run;

static rcl_clause_result *result_of(run *now, const char *id)
{
    for (size_t i = 0; i < rcl_clause_count; i++) {
        if (strcmp(now->report->results[i].clause->id, id) == 0) {
            return &now->report->results[i];
        }
    }
    return NULL;
}

static test *add_test(run *now)
{
    if (now->count == now->room) {
        size_t room = now->room == 0 ? 512 : now->room * 2;
        test *tests = realloc(now->tests, room * sizeof *tests);
        if (tests == NULL) {
            return NULL;
        }
        now->tests = tests;
        now->room = room;
    }
    test *next = &now->tests[now->count++];
    *next = (test){0};
    return next;
}

/* The engine that runs such a scenario in this flavour; 0: none does. */
static unsigned engine_of(rcl_flavour flavour, int trap, unsigned flags, unsigned threads)
{
    if (trap != 0) {
        bool always = (flags & SCENARIO_TRAPS_ALWAYS) != 0;
        return flavour == RCL_FLAVOUR_CHECKED || flavour == RCL_FLAVOUR_CHECKED_O0 ||
                       (always && flavour == RCL_FLAVOUR_PLAIN)
                   ? RCL_ENGINE_DEATH
                   : 0;
    }
    switch (flavour) {
    case RCL_FLAVOUR_PLAIN:
    case RCL_FLAVOUR_CHECKED:
        return RCL_ENGINE_NATIVE;
    case RCL_FLAVOUR_ASAN:
        return RCL_ENGINE_SANITIZER;
    case RCL_FLAVOUR_TSAN:
        return threads > 1 ? RCL_ENGINE_SANITIZER : 0;
    case RCL_FLAVOUR_EXPLORE:
    case RCL_FLAVOUR_EXPLORE_O0:
        return RCL_ENGINE_EXPLORER;
    default:
        return 0;
    }
}

static unsigned rounds_of(const run *now, rcl_flavour flavour)
{
    unsigned rounds = flavour == RCL_FLAVOUR_ASAN   ? ROUNDS_ASAN
                      : flavour == RCL_FLAVOUR_TSAN ? ROUNDS_TSAN
                                                    : ROUNDS_NATIVE;
    return now->options->quick && rounds > ROUNDS_QUICK ? ROUNDS_QUICK : rounds;
}

/* The flavour's environment, and whether leaks are looked for. */
static void set_environment(test *next, bool leaks)
{
    unsigned count = 0;
    for (const char *const *entry = rcl_flavour_environment(next->flavour); *entry != NULL;
         entry++) {
        next->environment[count++] = *entry;
        if (strncmp(*entry, "ASAN_OPTIONS=", 13) == 0) {
            snprintf(next->leaks, sizeof next->leaks, "%s:detect_leaks=%d", *entry, leaks ? 1 : 0);
        }
    }
}

static unsigned executions_of(const run *now, rcl_flavour flavour)
{
    return now->options->quick                 ? SEARCH_EXECUTIONS_QUICK
           : flavour == RCL_FLAVOUR_EXPLORE_O0 ? SEARCH_EXECUTIONS_O0
                                               : SEARCH_EXECUTIONS;
}

/* True if the explorer's program says that it searches the scenario. */
static bool searched(const run *now, rcl_flavour flavour, unsigned number)
{
    char row[48];
    snprintf(row, sizeof row, "\nsearched\t%u\t", number);
    return strstr(now->lists[flavour], row) != NULL;
}

/* Which rows of a list are planned. */
typedef enum part { PART_ALL, PART_LARGE, PART_SMALL } part;

/* A row of the battery's list: number, clause, name, threads, trap, needs, flags. */
static bool plan_scenario(run *now, rcl_flavour flavour, const char *row, part wanted)
{
    unsigned number = 0;
    unsigned threads = 0;
    unsigned needs = 0;
    unsigned flags = 0;
    int trap = 0;
    char clause[16];
    char name[80];
    if (sscanf(row, "scenario\t%u\t%15s\t%79s\t%u\t%d\t%u\t%u", &number, clause, name, &threads,
               &trap, &needs, &flags) != 7) {
        return true;
    }
    if ((wanted == PART_LARGE && threads < SEARCH_LARGE_THREADS) ||
        (wanted == PART_SMALL && threads >= SEARCH_LARGE_THREADS)) {
        return true;
    }
    rcl_clause_result *result = result_of(now, clause);
    bool explored = rcl_flavour_explored(flavour);
    unsigned engine =
        explored && !searched(now, flavour, number) ? 0 : engine_of(flavour, trap, flags, threads);
    if (result == NULL) {
        char note[128];
        snprintf(note, sizeof note, "scenario %s names no clause: %s\n", name, clause);
        if (strstr(now->report->notes, note) == NULL) {
            size_t used = strlen(now->report->notes);
            snprintf(now->report->notes + used, sizeof now->report->notes - used, "%s", note);
        }
        return true;
    }
    needs |= result->clause->needs | (threads > 1 ? RC_CAP_THREADS : 0);
    unsigned unmet = rcl_needs_unmet(needs, now->has);
    if (!result->wanted || engine == 0 || (now->options->engines & engine) == 0) {
        return true;
    }
    if (unmet != 0) {
        char names[256];
        rcl_needs_names(unmet, names, sizeof names);
        snprintf(result->reason, sizeof result->reason, "needs %s", names);
        return true;
    }
    test *next = add_test(now);
    if (next == NULL) {
        return false;
    }
    next->result = result;
    next->flavour = flavour;
    next->engine = (rcl_engine)engine;
    next->trap = trap;
    next->heavy = (flags & SCENARIO_HEAVY) != 0;
    snprintf(next->name, sizeof next->name, "%s", name);
    snprintf(next->number, sizeof next->number, "%u", number);
    snprintf(next->seed, sizeof next->seed, "%" PRIu64, now->options->seed);
    snprintf(next->amount, sizeof next->amount, "%u",
             explored ? executions_of(now, flavour) : rounds_of(now, flavour));
    snprintf(next->random, sizeof next->random, "%d",
             now->options->quick ? SEARCH_RANDOM_QUICK : SEARCH_RANDOM);
    set_environment(next, now->leaks && (flags & SCENARIO_KEEPS_MEMORY) == 0);
    return true;
}

/* True if some wanted clause is the oracle's and applies. */
static bool oracle_wanted(const run *now)
{
    for (size_t i = 0; i < rcl_clause_count; i++) {
        const rcl_clause_result *result = &now->report->results[i];
        if (result->wanted && (result->clause->engines & RCL_ENGINE_ORACLE) != 0 &&
            rcl_needs_unmet(result->clause->needs, now->has) == 0) {
            return (now->options->engines & RCL_ENGINE_ORACLE) != 0;
        }
    }
    return false;
}

/* Spreads the operations over the flavours that are there; the slow one gets half a share. */
static bool plan_oracle(run *now)
{
    static const rcl_flavour flavours[] = {RCL_FLAVOUR_ASAN, RCL_FLAVOUR_CHECKED,
                                           RCL_FLAVOUR_PLAIN};
    static const unsigned shares[] = {1, 2, 2};
    unsigned whole = 0;
    if (!oracle_wanted(now)) {
        return true;
    }
    for (unsigned i = 0; i < 3; i++) {
        whole += now->build.programs[flavours[i]].built ? shares[i] : 0;
    }
    uint64_t operations = now->options->operations != 0 ? now->options->operations
                          : now->options->quick         ? OPERATIONS_QUICK
                                                        : OPERATIONS;
    for (unsigned i = 0; i < 3 * ORACLE_RUNS; i++) {
        rcl_flavour flavour = flavours[i / ORACLE_RUNS];
        if (!now->build.programs[flavour].built) {
            continue;
        }
        test *next = add_test(now);
        if (next == NULL) {
            return false;
        }
        uint64_t parts = (uint64_t)whole * ORACLE_RUNS;
        next->flavour = flavour;
        next->engine = RCL_ENGINE_ORACLE;
        snprintf(next->name, sizeof next->name, "oracle");
        snprintf(next->seed, sizeof next->seed, "%" PRIu64, now->options->seed + i);
        snprintf(next->amount, sizeof next->amount, "%" PRIu64,
                 (operations * shares[i / ORACLE_RUNS] + parts - 1) / parts);
        set_environment(next, false); /* its children end with objects alive */
    }
    return true;
}

/* Points the arguments into the tests, which move no more. */
static bool make_jobs(run *now)
{
    now->jobs = calloc(now->count + 1, sizeof *now->jobs);
    if (now->jobs == NULL) {
        return false;
    }
    for (size_t i = 0; i < now->count; i++) {
        test *next = &now->tests[i];
        bool sanitized = rcl_flavour_sanitized(next->flavour);
        unsigned at = 0;
        next->arguments[at++] = now->build.programs[next->flavour].path;
        next->arguments[at++] = next->result != NULL ? "run" : "oracle";
        if (next->result != NULL) {
            next->arguments[at++] = next->number;
        }
        next->arguments[at++] = next->seed;
        next->arguments[at++] = next->amount;
        if (next->engine == RCL_ENGINE_EXPLORER) {
            next->arguments[at++] = "--random";
            next->arguments[at++] = next->random;
        }
        next->arguments[at] = NULL;
        for (unsigned e = 0; next->environment[e] != NULL; e++) {
            if (strncmp(next->environment[e], "ASAN_OPTIONS=", 13) == 0) {
                next->environment[e] = next->leaks;
            }
        }
        now->jobs[i] = (rcl_job){
            .arguments = next->arguments,
            .environment = next->environment,
            .limit_seconds = now->options->timeout_seconds * (sanitized ? sanitized_factor : 1) *
                             (next->result == NULL ? oracle_factor : 1) *
                             (next->engine == RCL_ENGINE_EXPLORER ? search_factor : 1) *
                             (next->heavy ? heavy_factor : 1),
            .memory_bytes = sanitized ? 0 : memory_bytes,
            .fixed_addresses = next->flavour == RCL_FLAVOUR_TSAN,
            .tag = next,
        };
    }
    return true;
}

/* ---- Judging ---- */

static void copy_field(char *to, size_t size, const char *from, size_t length)
{
    snprintf(to, size, "%.*s", (int)length, from);
}

/* Appends the sanitizer's summary and the first frames, without addresses. False if it said nothing. */
static bool sanitizer_detail(const char *output, char *detail, size_t size)
{
    const char *summary = strstr(output, "SUMMARY: ");
    const char *error = strstr(output, "runtime error: ");
    enum { FRAMES = 6 };
    unsigned frames = 0;
    if (summary == NULL && error == NULL) {
        return false;
    }
    size_t used = 0;
    if (error != NULL) {
        used += (size_t)snprintf(detail, size, "%.*s", (int)strcspn(error, "\n"), error);
    } else {
        used +=
            (size_t)snprintf(detail, size, "%.*s", (int)strcspn(summary, "\n") - 9, summary + 9);
    }
    for (const char *line = output; *line != '\0' && frames < FRAMES && used < size;) {
        size_t length = strcspn(line, "\n");
        size_t blank = strspn(line, " ");
        if (blank > 0 && line[blank] == '#') {
            const char *text = line + blank;
            const char *address = strstr(text, " 0x");
            const char *name =
                address != NULL && address < line + length ? strstr(text, " in ") : NULL;
            const char *end = line + length;
            const char *module = strstr(text, " (");
            end = module != NULL && module < end ? module : end;
            if (name != NULL && name < end) {
                used += (size_t)snprintf(detail + used, size - used, "\n%.*s %.*s",
                                         (int)(strcspn(text, " ")), text, (int)(end - name - 4),
                                         name + 4);
            } else {
                used +=
                    (size_t)snprintf(detail + used, size - used, "\n%.*s", (int)(end - text), text);
            }
            frames++;
        }
        line += length + (line[length] == '\n' ? 1 : 0);
    }
    return true;
}

/* How a process ended that gave no verdict. */
static void say_end(const rcl_job *job, char *came, size_t size)
{
    const char *words = job->output;
    switch (job->end) {
    case RCL_JOB_LATE:
        snprintf(came, size, "it still ran after %.0f s: a hang, or a loop without end",
                 job->limit_seconds);
        break;
    case RCL_JOB_KILLED:
        if (strstr(words, "battery: stack overflow") != NULL) {
            snprintf(came, size, "the stack overflowed: a recursion that is too deep");
        } else {
            snprintf(came, size, "the process died of signal %d (%s)", job->status,
                     strsignal(job->status));
        }
        break;
    case RCL_JOB_NOT_STARTED:
        snprintf(came, size, "%s", words);
        break;
    default:
        if (strstr(words, "hard rss limit exhausted") != NULL) {
            snprintf(came, size, "it used more memory than it may: an allocation without end");
        } else if (job->output_size > 0 && job->status != 0) {
            snprintf(came, size, "the process ended with status %d and said: %.*s", job->status,
                     (int)strcspn(words, "\n"), words);
        } else {
            snprintf(came, size,
                     "the process ended by itself with status %d before the test was over",
                     job->status);
        }
        break;
    }
}

static void add_failure(rcl_clause_result *result, const rcl_failure *failure)
{
    rcl_failure *more =
        realloc(result->failures, (result->failure_count + 1) * sizeof *result->failures);
    if (more != NULL) {
        size_t at = result->failure_count++;
        result->failures = more;
        for (; at > 0 && more[at - 1].order > failure->order; at--) {
            more[at] = more[at - 1];
        }
        more[at] = *failure;
    }
}

/* The fields of a failing verdict: fail, clause, where, expected, came. Returns the clause it is
 * about, or NULL for the one under test. */
static rcl_clause_result *read_failure(run *now, const char *verdict, rcl_failure *failure)
{
    const char *fields[5] = {verdict, "", "", "", ""};
    size_t lengths[5] = {0};
    const char *at = verdict;
    for (unsigned i = 0; i < 5; i++) {
        fields[i] = at;
        lengths[i] = strcspn(at, "\t\n");
        at += lengths[i] + (at[lengths[i]] == '\t' ? 1 : 0);
    }
    char clause[16];
    copy_field(clause, sizeof clause, fields[1], lengths[1]);
    copy_field(failure->where, sizeof failure->where, fields[2], lengths[2]);
    copy_field(failure->expected, sizeof failure->expected, fields[3], lengths[3]);
    copy_field(failure->came, sizeof failure->came, fields[4], lengths[4]);
    size_t length = strlen(failure->where);
    if (length > 2 && strcmp(failure->where + length - 2, ":0") == 0) {
        failure->where[length - 2] = '\0'; /* no line: a part of the battery */
    }
    return result_of(now, clause);
}

/* True if the test passed; else fills *failure, and *other if another clause is to blame. */
static bool judge(run *now, const test *done, const rcl_job *job, rcl_failure *failure,
                  rcl_clause_result **other)
{
    *failure = (rcl_failure){
        .order = (size_t)(done - now->tests), .flavour = done->flavour, .engine = done->engine};
    snprintf(failure->test, sizeof failure->test, "%s", done->name);
    if (done->trap != 0) {
        snprintf(failure->expected, sizeof failure->expected, "%s", trap_name(done->trap));
    } else {
        snprintf(failure->expected, sizeof failure->expected, "the test runs to its end");
    }
    int kind = 0;
    bool over = job->end == RCL_JOB_EXITED;
    if (over && strcmp(job->verdict, "pass\n") == 0 && job->status == 0) {
        snprintf(failure->came, sizeof failure->came, "no trap: the misuse went unnoticed");
        return done->trap == 0;
    }
    if (strncmp(job->verdict, "fail\t", 5) == 0) {
        *other = read_failure(now, job->verdict, failure);
        if (done->engine == RCL_ENGINE_EXPLORER) {
            rcl_explored_schedule(failure->came, failure->schedule, sizeof failure->schedule);
            rcl_explored_interleaving(job, failure->detail, sizeof failure->detail);
        }
        if (done->trap != 0) {
            size_t used = strlen(failure->expected);
            snprintf(failure->expected + used, sizeof failure->expected - used,
                     " (this test waits for %s)", trap_name(done->trap));
        }
    } else if (sscanf(job->verdict, "trap\t%d", &kind) == 1) {
        snprintf(failure->came, sizeof failure->came, "%s%s", trap_name(kind),
                 done->trap == 0 ? ": a legal operation was taken for misuse" : "");
        if (over && done->trap == kind) {
            return true;
        }
    } else if (over && job->status != 0 &&
               sanitizer_detail(job->output, failure->detail, sizeof failure->detail)) {
        size_t first = strcspn(failure->detail, "\n");
        snprintf(failure->expected, sizeof failure->expected, "the sanitizers find nothing");
        copy_field(failure->came, sizeof failure->came, failure->detail, first);
        memmove(failure->detail, failure->detail + first + (failure->detail[first] == '\n' ? 1 : 0),
                strlen(failure->detail + first) + (failure->detail[first] == '\n' ? 0 : 1));
        return false;
    } else {
        say_end(job, failure->came, sizeof failure->came);
    }
    return false;
}

/* ---- Running ---- */

static bool test_wanted(void *context, rcl_job *job)
{
    run *now = context;
    const test *next = job->tag;
    if (now->late >= LATE_MANY) {
        job->limit_seconds = job->limit_seconds / LATE_FACTOR;
    }
    snprintf(now->what, sizeof now->what, "%s: %s %s", now->report->name, next->name,
             rcl_flavour_name(next->flavour));
    /* A clause that has failed by hanging would only hang again. */
    for (size_t i = 0; next->result != NULL && i < next->result->failure_count; i++) {
        if (strstr(next->result->failures[i].came, "it still ran after") != NULL ||
            strncmp(next->result->failures[i].came, endless, sizeof endless - 1) == 0) {
            return false;
        }
    }
    return next->engine != RCL_ENGINE_EXPLORER || now->endless < LATE_MANY;
}

static void test_ended(void *context, rcl_job *job)
{
    run *now = context;
    test *done = job->tag;
    rcl_failure failure;
    rcl_clause_result *other = NULL;
    if (job->end == RCL_JOB_INTERRUPTED) {
        return;
    }
    now->late += job->end == RCL_JOB_LATE ? 1 : 0;
    rcl_explored *explored = done->result != NULL ? &done->result->explored : NULL;
    unsigned unsupported = explored != NULL ? explored->unsupported : 0;
    if (explored != NULL && done->engine == RCL_ENGINE_EXPLORER &&
        rcl_explored_add(explored, job)) {
        done->result->seconds += job->seconds;
        if (explored->unsupported == unsupported) {
            done->result->passed++;
            done->result->engines |= RCL_ENGINE_EXPLORER;
        }
        rcl_job_free(job);
        return;
    }
    bool passed = judge(now, done, job, &failure, &other);
    now->endless += !passed && strncmp(failure.came, endless, sizeof endless - 1) == 0 ? 1 : 0;
    if (done->result != NULL) {
        done->result->seconds += job->seconds;
        done->result->engines |= (unsigned)done->engine;
        done->result->passed += passed ? 1 : 0;
        if (!passed) {
            rcl_clause_result *blamed = other != NULL && other->wanted ? other : done->result;
            blamed->engines |= (unsigned)done->engine;
            add_failure(blamed, &failure);
        }
    } else if (passed) {
        now->oracle_passed++;
    } else {
        /* Without a clause of its own the oracle's failure is one of the objects' lives. */
        rcl_clause_result *blamed = other != NULL ? other : result_of(now, "LIFE-02");
        snprintf(now->oracle_stopped, sizeof now->oracle_stopped, "%s", blamed->clause->id);
        blamed->engines |= RCL_ENGINE_ORACLE;
        add_failure(blamed, &failure);
    }
    rcl_job_free(job);
}

static void test_tick(void *context, size_t done)
{
    run *now = context;
    rcl_progress_show(&now->progress, (double)done, (double)now->count, now->what);
}

/* Asks every program what it has. A sanitized one that does not run here is as one that was not
 * built. False: *error says why. */
static bool read_list(run *now, rcl_flavour flavour, char *error, size_t error_size)
{
    rcl_battery_program *program = &now->build.programs[flavour];
    const char *arguments[] = {program->path, "list", NULL};
    for (unsigned attempt = 0; attempt < 2; attempt++) {
        test probe = {.flavour = flavour};
        set_environment(&probe, now->leaks);
        for (unsigned e = 0; probe.environment[e] != NULL; e++) {
            if (strncmp(probe.environment[e], "ASAN_OPTIONS=", 13) == 0) {
                probe.environment[e] = probe.leaks;
            }
        }
        rcl_job job = {.arguments = arguments,
                       .environment = probe.environment,
                       .limit_seconds = list_limit_seconds,
                       .fixed_addresses = flavour == RCL_FLAVOUR_TSAN};
        rcl_jobs_run(
            &(rcl_jobs){.jobs = &job, .count = 1, .at_once = 1, .stop = now->options->stop});
        if (job.end == RCL_JOB_EXITED && job.status == 0) {
            now->lists[flavour] = job.output;
            return true;
        }
        snprintf(program->why, sizeof program->why, "the program does not run here: %.*s",
                 (int)strcspn(job.output != NULL ? job.output : "", "\n"),
                 job.output != NULL ? job.output : "");
        rcl_job_free(&job);
        now->leaks = false; /* LeakSanitizer may be what is not allowed here */
    }
    program->built = false;
    snprintf(error, error_size, "%s", program->why);
    return rcl_flavour_sanitized(flavour) || rcl_flavour_explored(flavour);
}

static bool read_lists(run *now, char *error, size_t error_size)
{
    now->leaks = true;
    for (unsigned f = 0; f < RCL_FLAVOUR_COUNT; f++) {
        if (now->build.programs[f].built && !read_list(now, (rcl_flavour)f, error, error_size)) {
            return false;
        }
    }
    unsigned caps = 0;
    int overflow = 0;
    for (unsigned f = 0; f < RCL_FLAVOUR_COUNT; f++) {
        if (now->lists[f] != NULL && sscanf(now->lists[f], "impl\t%u\t%d", &caps, &overflow) == 2) {
            now->known = true;
            now->report->caps = caps;
            now->has = caps | (overflow == RC_OVERFLOW_SATURATE ? RCL_NEEDS_SATURATION : 0);
        }
    }
    return true;
}

static bool plan_list(run *now, rcl_flavour flavour, part wanted)
{
    bool good = true;
    const char *row = now->lists[flavour];
    while (good && row != NULL && *row != '\0') {
        good = plan_scenario(now, flavour, row, wanted);
        row += strcspn(row, "\n");
        row += *row == '\n' ? 1 : 0;
    }
    return good;
}

/* Slow ones first, so that the end is not one long test on one processor. */
static bool plan_tests(run *now)
{
    static const rcl_flavour order[] = {RCL_FLAVOUR_TSAN, RCL_FLAVOUR_ASAN, RCL_FLAVOUR_CHECKED,
                                        RCL_FLAVOUR_PLAIN, RCL_FLAVOUR_CHECKED_O0};
    bool good = plan_list(now, RCL_FLAVOUR_EXPLORE, PART_LARGE) &&
                plan_list(now, RCL_FLAVOUR_EXPLORE_O0, PART_LARGE) && plan_oracle(now);
    for (unsigned o = 0; o < sizeof order / sizeof order[0] && good; o++) {
        good = plan_list(now, order[o], PART_ALL);
    }
    return good && plan_list(now, RCL_FLAVOUR_EXPLORE, PART_SMALL) &&
           plan_list(now, RCL_FLAVOUR_EXPLORE_O0, PART_SMALL) && make_jobs(now);
}

/* ---- Outcomes ---- */

/* Why nothing tested this clause. */
static void say_untested(const run *now, rcl_clause_result *result)
{
    char names[96];
    const unsigned here = RCL_ENGINE_ORACLE | RCL_ENGINE_DEATH | RCL_ENGINE_NATIVE |
                          RCL_ENGINE_SANITIZER | RCL_ENGINE_EXPLORER;
    unsigned engines = result->clause->engines;
    rcl_engine_names(engines, names, sizeof names);
    if ((engines & here) == 0) {
        snprintf(result->reason, sizeof result->reason, "not in this version: %s", names);
        return;
    }
    if ((engines & here & now->options->engines) == 0) {
        snprintf(result->reason, sizeof result->reason, "not asked for: %s", names);
        return;
    }
    for (unsigned f = 0; f < RCL_FLAVOUR_COUNT; f++) {
        const rcl_battery_program *program = &now->build.programs[f];
        unsigned engine = rcl_flavour_sanitized((rcl_flavour)f)  ? RCL_ENGINE_SANITIZER
                          : rcl_flavour_explored((rcl_flavour)f) ? RCL_ENGINE_EXPLORER
                                                                 : 0;
        if (program->wanted && !program->built &&
            (engines & here & now->options->engines) == engine) {
            snprintf(result->reason, sizeof result->reason, "%s: %.*s",
                     rcl_flavour_name((rcl_flavour)f), (int)strcspn(program->why, "\n"),
                     program->why);
            return;
        }
    }
    if (result->explored.unsupported > 0) {
        snprintf(result->reason, sizeof result->reason, "explorer: unsupported: %s",
                 result->explored.why);
        return;
    }
    if (now->oracle_stopped[0] != '\0' && (engines & RCL_ENGINE_ORACLE) != 0) {
        snprintf(result->reason, sizeof result->reason, "the oracle stopped at %s before",
                 now->oracle_stopped);
        return;
    }
    snprintf(result->reason, sizeof result->reason, "%s",
             *now->options->stop ? "interrupted before" : "there is no test of it for this one");
}

static void settle(const run *now, rcl_clause_result *result)
{
    unsigned unmet = now->known ? rcl_needs_unmet(result->clause->needs, now->has) : 0;
    bool oracle = now->oracle_passed > 0 && (result->clause->engines & RCL_ENGINE_ORACLE) != 0;
    if (unmet != 0) {
        char names[256];
        rcl_needs_names(unmet, names, sizeof names);
        result->outcome = RCL_OUTCOME_UNSUPPORTED;
        snprintf(result->reason, sizeof result->reason, "needs %s", names);
        return;
    }
    if (oracle) {
        result->engines |= RCL_ENGINE_ORACLE;
    }
    if (result->failure_count > 0) {
        result->outcome = RCL_OUTCOME_FAIL;
    } else if (result->passed > 0 || oracle) {
        result->outcome = RCL_OUTCOME_PASS;
    } else if (result->reason[0] != '\0') { /* every scenario of it needs more than it does */
        result->outcome = RCL_OUTCOME_UNSUPPORTED;
    } else {
        result->outcome = RCL_OUTCOME_UNTESTED;
        say_untested(now, result);
    }
    if (result->outcome == RCL_OUTCOME_PASS || result->outcome == RCL_OUTCOME_FAIL) {
        result->reason[0] = '\0';
    }
}

static void sum_up(run *now)
{
    rcl_conform_report *report = now->report;
    for (size_t i = 0; i < rcl_clause_count; i++) {
        rcl_clause_result *result = &report->results[i];
        settle(now, result);
        if (!result->wanted && result->outcome == RCL_OUTCOME_FAIL) {
            result->wanted = true; /* the oracle found it by the way: not to be hidden */
        }
        if (!result->wanted) {
            continue;
        }
        report->counts[result->outcome]++;
        if (result->clause->level != RCL_LEVEL_NOTED) {
            report->failing += result->outcome == RCL_OUTCOME_FAIL ? 1 : 0;
            report->missing += result->outcome == RCL_OUTCOME_UNTESTED ? 1 : 0;
        }
    }
    /* Narrowed to what could not be tested at all: that is no pass. */
    bool any = report->counts[RCL_OUTCOME_PASS] > 0;
    report->passed = report->failing == 0 && (report->missing == 0 || (report->narrowed && any));
    if (now->options->quick && now->options->engines == RCL_ENGINE_ALL) {
        size_t used = strlen(report->notes);
        snprintf(report->notes + used, sizeof report->notes - used,
                 "not run: the sanitizers and the explorer, which --quick leaves out\n");
    }
    for (unsigned f = 0; f < RCL_FLAVOUR_COUNT; f++) {
        const rcl_battery_program *program = &now->build.programs[f];
        if (program->wanted && !program->built && program->why[0] != '\0') {
            size_t used = strlen(report->notes);
            snprintf(report->notes + used, sizeof report->notes - used,
                     "not run: %s, which %s: %.*s\n", rcl_flavour_name((rcl_flavour)f),
                     program->unsupported ? "is UNSUPPORTED" : "cannot be built here",
                     (int)strcspn(program->why, "\n"), program->why);
        }
    }
}

/* ---- All of it ---- */

/* True if nothing was built, and *error says why the explorer's program was not: its compiler failed. */
static bool only_explorer_failed(const run *now, char *error, size_t error_size)
{
    bool failed = false;
    for (unsigned f = 0; f < RCL_FLAVOUR_COUNT; f++) {
        const rcl_battery_program *program = &now->build.programs[f];
        if (program->built) {
            return false;
        }
        if (rcl_flavour_explored((rcl_flavour)f) && program->wanted && !program->unsupported) {
            failed = true;
            snprintf(error, error_size, "%s", program->why);
        }
    }
    return failed;
}

static void choose_flavours(run *now)
{
    unsigned engines = now->options->engines;
    bool quick = now->options->quick;
    unsigned needed = 0;
    for (size_t i = 0; i < rcl_clause_count; i++) {
        const rcl_clause_result *result = &now->report->results[i];
        needed |= result->wanted ? result->clause->engines : 0;
    }
    /* A scenario runs in all of these, whatever engines its clause names; death tests only there. */
    bool scenarios = (needed & ~(unsigned)RCL_ENGINE_DEATH) != 0;
    bool death = (engines & needed & RCL_ENGINE_DEATH) != 0;
    bool native = scenarios && (engines & RCL_ENGINE_NATIVE) != 0;
    bool oracle = (engines & needed & RCL_ENGINE_ORACLE) != 0;
    bool sanitizer = scenarios && !quick && (engines & RCL_ENGINE_SANITIZER) != 0;
    now->build.programs[RCL_FLAVOUR_PLAIN].wanted = native || oracle;
    now->build.programs[RCL_FLAVOUR_CHECKED].wanted = native || oracle || death;
    now->build.programs[RCL_FLAVOUR_CHECKED_O0].wanted = death && !quick;
    now->build.programs[RCL_FLAVOUR_ASAN].wanted = sanitizer || (oracle && !quick);
    /* Compiled code is not instrumented: its orders would be missed, and correct code accused. */
    now->build.programs[RCL_FLAVOUR_TSAN].wanted = sanitizer && now->options->libraries == NULL;
    /* Compiling for it takes what --quick has left. */
    bool explorer =
        (engines & needed & RCL_ENGINE_EXPLORER) != 0 && (!quick || engines != RCL_ENGINE_ALL);
    now->build.programs[RCL_FLAVOUR_EXPLORE].wanted = explorer;
    now->build.programs[RCL_FLAVOUR_EXPLORE_O0].wanted = explorer && !quick;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    remove(path);
    return 0;
}

static rcl_conform_end build_and_run(run *now, char *error, size_t error_size)
{
    choose_flavours(now);
    snprintf(now->what, sizeof now->what, "%s: building", now->report->name);
    rcl_progress_show(&now->progress, 0, 1, now->what);
    switch (rcl_battery_make(&now->build, error, error_size)) {
    case RCL_BUILD_REFUSED:
        return RCL_CONFORM_NOT_BUILT;
    case RCL_BUILD_NO_COMPILER:
        return RCL_CONFORM_ENVIRONMENT;
    case RCL_BUILD_INTERRUPTED:
        return RCL_CONFORM_INTERRUPTED;
    default:
        break;
    }
    if (only_explorer_failed(now, error, error_size)) {
        return RCL_CONFORM_NOT_BUILT;
    }
    if (!read_lists(now, error, error_size)) {
        return *now->options->stop ? RCL_CONFORM_INTERRUPTED : RCL_CONFORM_NOT_BUILT;
    }
    if (!plan_tests(now)) {
        snprintf(error, error_size, "out of memory");
        return RCL_CONFORM_ENVIRONMENT;
    }
    bool whole = rcl_jobs_run(&(rcl_jobs){.jobs = now->jobs,
                                          .count = now->count,
                                          .at_once = now->options->jobs,
                                          .stop = now->options->stop,
                                          .context = now,
                                          .wanted = test_wanted,
                                          .ended = test_ended,
                                          .tick = test_tick});
    sum_up(now);
    return whole ? RCL_CONFORM_JUDGED : RCL_CONFORM_INTERRUPTED;
}

rcl_conform_end rcl_conform(const rcl_conform_options *options, const char *name,
                            const char *header, rcl_conform_report *report, char *error,
                            size_t error_size)
{
    run now = {.options = options, .report = report};
    char folder[RCL_PATH_BYTES];
    const char *temporary = getenv("TMPDIR");
    *report = (rcl_conform_report){.seed = options->seed};
    snprintf(report->name, sizeof report->name, "%s", name);
    snprintf(report->header, sizeof report->header, "%s", header);
    report->narrowed = options->quick || options->clauses != NULL ||
                       options->engines != RCL_ENGINE_ALL ||
                       (options->operations != 0 && options->operations < OPERATIONS);
    report->results = calloc(rcl_clause_count, sizeof *report->results);
    if (report->results == NULL) {
        snprintf(error, error_size, "out of memory");
        return RCL_CONFORM_ENVIRONMENT;
    }
    for (size_t i = 0; i < rcl_clause_count; i++) {
        report->results[i].clause = &rcl_clauses[i];
        report->results[i].wanted = rcl_clause_listed(options->clauses, &rcl_clauses[i]);
    }
    snprintf(folder, sizeof folder, "%s/rclab-conform-XXXXXX",
             temporary != NULL && *temporary != '\0' ? temporary : P_tmpdir);
    if (mkdtemp(folder) == NULL) {
        snprintf(error, error_size,
                 "cannot make a folder to build in, %s; TMPDIR names another place", folder);
        return RCL_CONFORM_ENVIRONMENT;
    }
    now.build = (rcl_battery_build){.header = header,
                                    .libraries = options->libraries,
                                    .folder = folder,
                                    .at_once = options->jobs,
                                    .stop = options->stop};
    rcl_progress_start(&now.progress);
    rcl_conform_end end = build_and_run(&now, error, error_size);
    rcl_progress_end(&now.progress);
    report->seconds = rcl_progress_elapsed_seconds(&now.progress);
    if (options->keep) {
        size_t used = strlen(report->notes);
        snprintf(report->notes + used, sizeof report->notes - used, "the build is kept: %s\n",
                 folder);
    } else {
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    for (size_t i = 0; i < now.count && now.jobs != NULL; i++) {
        rcl_job_free(&now.jobs[i]);
    }
    for (unsigned f = 0; f < RCL_FLAVOUR_COUNT; f++) {
        free(now.lists[f]);
    }
    free(now.tests);
    free(now.jobs);
    return end;
}

void rcl_conform_free(rcl_conform_report *report)
{
    for (size_t i = 0; i < rcl_clause_count && report->results != NULL; i++) {
        free(report->results[i].failures);
    }
    free(report->results);
    report->results = NULL;
}
