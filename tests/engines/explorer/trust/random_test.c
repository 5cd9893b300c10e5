/* Random programs: the explorer and the enumeration have to say the same. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "enumerate.h"
#include "generate.h"
#include "interpret.h"

static const char usage[] =
    "usage: random_test [--programs N] [--seed S] [--profile NAME] [--naive]\n"
    "                   [--processes N] [--first] [--verbose]\n"
    "\n"
    "Makes N random programs (400), the first from seed S (1), the next from S + 1. For each, the explorer\n"
    "must find as many executions as the enumeration of RC11's axioms, none twice, with the same\n"
    "outcomes; or both must find a fault: a race, a use of freed memory, a deadlock. A program where they differ is\n"
    "shortened and shown.\n"
    "\n"
    "  --profile NAME   programs of this kind only; else each in turn:\n"
    "                   atomics seq_cst fences plain counter plain_seq_cst quiet compare mutex mutated\n"
    "  --naive          the explorer's naive search instead\n"
    "  --processes N    the search shared by so many processes; outcomes are not compared then\n"
    "  --first          ends at the first difference, and does not shorten it\n"
    "  --verbose        every program with what was found\n"
    "\n"
    "Exit: 0 no difference, 1 a difference, 2 wrong use.\n";

/* Candidates that a program's enumeration may take: larger ones are left out. */
static const uint64_t budget = 50000;

/* The naive search, which may take years, is given up after so many executions. */
static const uint64_t naive_executions = 20000;

typedef struct options {
    uint64_t programs, seed, processes;
    const profile *only;
    bool naive, first, verbose;
} options;

typedef struct comparison {
    program_answer right;
    rcx_result got;
    outcome_set outcomes;
    bool too_large;
} comparison;

typedef struct tally {
    uint64_t compared, bad, too_large, graphs;
} tally;

static bool fails_rightly(const program_answer *right, rcx_failure_kind kind)
{
    switch (kind) {
    case RCX_RACE:
        return (right->bad & ANSWER_RACE) != 0 || right->race_is_free;
    case RCX_USE_AFTER_FREE:
        return (right->bad & ANSWER_USE_AFTER_FREE) != 0;
    case RCX_BAD_FREE:
        return (right->bad & ANSWER_DOUBLE_FREE) != 0;
    case RCX_DEADLOCK:
        return (right->bad & ANSWER_DEADLOCK) != 0;
    default:
        return false;
    }
}

/* The schedule that came with a failure leads to it again. */
static bool replays(const program *p, const rcx_limits *limits, const rcx_result *failure)
{
    rcx_limits again = *limits;
    again.processes = 1;
    again.schedule = failure->schedule;
    rcx_result shown;
    outcome_set none = {.count = 0};
    program_explore(p, &again, &shown, &none);
    outcome_set_free(&none);
    return shown.verdict == RCX_FAIL && shown.kind == failure->kind;
}

/* What differs, or NULL. */
static const char *difference(const program *p, const options *o, comparison *c)
{
    c->too_large = !program_enumerate(p, budget, &c->right);
    if (c->too_large) {
        return NULL;
    }
    rcx_limits limits = {.spurious = PROGRAM_OPERATIONS_MAX,
                         .brief = true,
                         .hashes = true,
                         .naive = o->naive,
                         .executions = o->naive ? naive_executions : 0,
                         .processes = (unsigned)o->processes};
    program_explore(p, &limits, &c->got, &c->outcomes);
    if (o->naive && c->got.verdict == RCX_BOUNDED) {
        c->too_large = true;
        return NULL;
    }
    if (c->got.verdict == RCX_FAIL) {
        return !c->right.bad                            ? "accused without reason"
               : !fails_rightly(&c->right, c->got.kind) ? "fails in another way"
               : !replays(p, &limits, &c->got)          ? "its schedule shows something else"
                                                        : NULL;
    }
    if (c->right.bad) {
        return "a fault was not found";
    }
    if (c->got.verdict != RCX_PASS) {
        return "not searched to the end";
    }
    if (c->got.twice != 0) {
        return "an execution came more than once";
    }
    if (c->got.graphs != c->right.graphs) {
        return "another number of executions";
    }
    if (o->processes > 1) {
        return NULL;
    }
    if (outcome_set_missing(&c->right.outcomes, &c->outcomes) ||
        outcome_set_missing(&c->outcomes, &c->right.outcomes)) {
        return "other outcomes";
    }
    return NULL;
}

/* ---- Shortening ---- */

static void drop_operation(program *p, unsigned thread, unsigned index)
{
    program_operation *at = p->operation[thread];
    for (unsigned i = index; i + 1 < PROGRAM_OPERATIONS_MAX; i++) {
        at[i] = at[i + 1];
    }
    at[PROGRAM_OPERATIONS_MAX - 1] = (program_operation){.kind = PROGRAM_END};
}

static void drop_thread(program *p, unsigned thread)
{
    for (unsigned t = thread; t + 1 < PROGRAM_THREADS_MAX; t++) {
        memcpy(p->operation[t], p->operation[t + 1], sizeof p->operation[t]);
    }
    memset(p->operation[PROGRAM_THREADS_MAX - 1], 0, sizeof p->operation[0]);
}

static bool still_differs(const program *p, const options *o, comparison *c)
{
    return program_threads(p) > 0 && program_mutexes_pair(p) && difference(p, o, c) != NULL;
}

/* One smaller or weaker program that still differs. */
static bool shorten_once(program *p, const options *o, comparison *c)
{
    for (unsigned t = 0; t < program_threads(p); t++) {
        program less = *p;
        drop_thread(&less, t);
        if (still_differs(&less, o, c)) {
            *p = less;
            return true;
        }
        for (unsigned i = 0; i < program_length(p, t); i++) {
            less = *p;
            if (less.operation[t][i].kind == PROGRAM_LOCK) {
                unsigned j = i;
                while (less.operation[t][j].kind != PROGRAM_UNLOCK) {
                    j++;
                }
                drop_operation(&less, t, j);
            }
            drop_operation(&less, t, i);
            if (program_length(&less, t) == 0) {
                drop_thread(&less, t);
            }
            if (still_differs(&less, o, c)) {
                *p = less;
                return true;
            }
        }
    }
    for (unsigned t = 0; t < program_threads(p); t++) {
        for (unsigned i = 0; i < program_length(p, t); i++) {
            program less = *p;
            program_operation *op = &less.operation[t][i];
            if (op->order == __ATOMIC_RELAXED || op->kind == PROGRAM_FENCE) {
                continue;
            }
            op->order = __ATOMIC_RELAXED;
            if (still_differs(&less, o, c)) {
                *p = less;
                return true;
            }
        }
    }
    return false;
}

static void say_first(const char *what, const options *o, const profile *of, uint64_t seed)
{
    printf("DIFFERS: %s (random_test --profile %s --seed %" PRIu64 " --programs 1%s)\n", what,
           of->name, seed, o->naive ? " --naive" : "");
}

static void report(program p, const options *o, const profile *of, uint64_t seed, comparison *c)
{
    say_first(difference(&p, o, c), o, of, seed);
    while (shorten_once(&p, o, c)) {
    }
    const char *what = difference(&p, o, c);
    printf("shortened, with x = y = z = 0 at first: %s\n", what);
    program_print(&p, stdout);
    static const char *const verdicts[] = {"pass", "bounded", "fail", "unsupported"};
    printf("  explorer:    %s, %" PRIu64 " executions, %" PRIu64 " twice, %zu outcomes%s%s\n",
           verdicts[c->got.verdict], c->got.graphs, c->got.twice, c->outcomes.count,
           c->got.text[0] ? ": " : "", c->got.text);
    printf("  enumeration: %" PRIu64 " executions, %zu outcomes%s%s%s%s\n", c->right.graphs,
           c->right.outcomes.count, c->right.bad & ANSWER_RACE ? ", race" : "",
           c->right.bad & ANSWER_USE_AFTER_FREE ? ", use after free" : "",
           c->right.bad & ANSWER_DOUBLE_FREE ? ", double free" : "",
           c->right.bad & ANSWER_DEADLOCK ? ", deadlock" : "");
    const program_outcome *lacks = outcome_set_missing(&c->right.outcomes, &c->outcomes);
    const program_outcome *extra = outcome_set_missing(&c->outcomes, &c->right.outcomes);
    if (lacks && !c->right.bad) {
        fputs("  the explorer lacks ", stdout);
        program_print_outcome(&p, lacks, stdout);
    }
    if (extra && !c->right.bad) {
        fputs("  the explorer alone has ", stdout);
        program_print_outcome(&p, extra, stdout);
    }
    fflush(stdout);
}

/* ---- All of them ---- */

static bool one_program(const options *o, const profile *of, uint64_t seed, comparison *c,
                        tally *sum)
{
    program p = program_generate(of, seed);
    const char *differs = difference(&p, o, c);
    if (c->too_large) {
        sum->too_large++;
        return true;
    }
    sum->compared++;
    sum->bad += c->right.bad != 0;
    sum->graphs += c->right.bad ? 0 : c->right.graphs;
    if (o->verbose) {
        printf("%s, seed %" PRIu64 ": %" PRIu64 " executions%s\n", of->name, seed, c->right.graphs,
               c->right.bad ? ", faulty" : "");
        program_print(&p, stdout);
    }
    if (differs) {
        if (o->first) {
            say_first(differs, o, of, seed);
        } else {
            report(p, o, of, seed, c);
        }
    }
    return !differs;
}

static unsigned run_all(const options *o)
{
    static tally sums[16];
    comparison c = {.too_large = false};
    unsigned differing = 0;
    printf("random programs: %" PRIu64 ", seed %" PRIu64 "\n", o->programs, o->seed);
    for (uint64_t i = 0; i < o->programs && differing < (o->first ? 1 : 3); i++) {
        uint64_t seed = o->seed + i;
        unsigned which =
            o->only ? (unsigned)(o->only - profiles) : (unsigned)(seed % profile_count);
        differing += !one_program(o, &profiles[which], seed, &c, &sums[which]);
    }
    for (unsigned i = 0; i < profile_count; i++) {
        const tally *sum = &sums[i];
        if (sum->compared + sum->too_large > 0) {
            printf("%-14s %6" PRIu64 " compared, %6" PRIu64 " of them faulty, %9" PRIu64
                   " executions; %" PRIu64 " too large\n",
                   profiles[i].name, sum->compared, sum->bad, sum->graphs, sum->too_large);
        }
    }
    printf("random programs: %u differ%s\n", differing,
           differing == (o->first ? 1 : 3) ? "; stopped there" : "");
    outcome_set_free(&c.outcomes);
    outcome_set_free(&c.right.outcomes);
    return differing;
}

static bool read_number(const char *text, uint64_t *number)
{
    char *end = NULL;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0';
}

static const profile *find_profile(const char *name)
{
    for (unsigned i = 0; i < profile_count; i++) {
        if (strcmp(profiles[i].name, name) == 0) {
            return &profiles[i];
        }
    }
    return NULL;
}

static bool read_options(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--naive") == 0) {
            o->naive = true;
            continue;
        }
        if (strcmp(argv[i], "--first") == 0) {
            o->first = true;
            continue;
        }
        if (strcmp(argv[i], "--verbose") == 0) {
            o->verbose = true;
            continue;
        }
        bool fine = false;
        if (strcmp(argv[i], "--programs") == 0) {
            fine = read_number(value, &o->programs) && o->programs > 0;
        } else if (strcmp(argv[i], "--seed") == 0) {
            fine = read_number(value, &o->seed);
        } else if (strcmp(argv[i], "--processes") == 0) {
            fine = read_number(value, &o->processes) && o->processes > 0 && o->processes <= 16;
        } else if (strcmp(argv[i], "--profile") == 0) {
            o->only = find_profile(value);
            fine = o->only != NULL;
        }
        if (!fine) {
            fprintf(stderr, "random_test: '%s %s' is wrong; see --help\n", argv[i], value);
            return false;
        }
        i++;
    }
    return true;
}

int main(int argc, char **argv)
{
    options o = {.programs = 400, .seed = 1, .processes = 1};
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    if (!read_options(argc, argv, &o)) {
        return 2;
    }
    return run_all(&o) != 0;
}
