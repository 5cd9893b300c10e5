/* Every litmus program, as each compiler compiled it, through the explorer: it passes or races as was
 * published, shows the outcome or does not, and has exactly the executions and outcomes that the
 * enumeration has.
 *
 * usage: litmus_test [--verbose | --first] [NAME]
 *   --first   ends at the first that is wrong
 */
#include <stdio.h>
#include <string.h>

#include "enumerate.h"
#include "explorer.h"
#include "litmus.h"
#include "litmus_subject.h"
#include "subjects.h"

/* subjects.h is made by the build: one for each compiler and level. */
#define DECLARE(name) extern const litmus_subject name;
#define LIST(name) &name,
LITMUS_SUBJECTS(DECLARE)
static const litmus_subject *const subjects[] = {LITMUS_SUBJECTS(LIST)};
#define COUNT(name) +1
enum { subject_count = 0 LITMUS_SUBJECTS(COUNT) };

typedef struct collector {
    const litmus *litmus;
    const litmus_subject *subject;
    outcome_set outcomes;
} collector;

static void collect(void *context)
{
    collector *c = context;
    program_outcome outcome = {.reg = {0}};
    for (unsigned r = 0; r < PROGRAM_REGISTERS_MAX; r++) {
        outcome.reg[r] = (uint32_t)c->subject->values[r];
        outcome.state[r] = (unsigned char)c->subject->states[r];
    }
    for (unsigned i = 0; i < program_locations(&c->litmus->program); i++) {
        outcome.freed[i] = i == LITMUS_BLOCK && *c->subject->freed;
        if (!outcome.freed[i]) {
            memcpy(&outcome.last[i], c->subject->locations[i], sizeof outcome.last[i]);
        }
    }
    outcome_set_add(&c->outcomes, &outcome);
}

/* A compiler that does not tell weak from strong compiles this. */
static program all_strong(program p)
{
    for (unsigned t = 0; t < PROGRAM_THREADS_MAX; t++) {
        for (unsigned i = 0; i < PROGRAM_OPERATIONS_MAX; i++) {
            if (p.operation[t][i].kind == PROGRAM_CAS_WEAK) {
                p.operation[t][i].kind = PROGRAM_CAS;
            }
        }
    }
    return p;
}

static const char *verdict_name(rcx_verdict verdict)
{
    static const char *const names[] = {"pass", "bounded", "fail", "unsupported"};
    return names[verdict];
}

/* What is wrong, or NULL. */
static const char *compare(const litmus *l, const program_answer *right, const rcx_result *got,
                           const outcome_set *outcomes)
{
    if (right->bad != litmus_bad(l->verdict)) {
        return "the enumeration finds another fault, or none";
    }
    if (right->bad) {
        static const rcx_failure_kind kinds[] = {[LITMUS_RACES] = RCX_RACE,
                                                 [LITMUS_DEADLOCKS] = RCX_DEADLOCK,
                                                 [LITMUS_USES_FREED] = RCX_USE_AFTER_FREE,
                                                 [LITMUS_DOUBLE_FREED] = RCX_BAD_FREE};
        return got->verdict == RCX_FAIL && got->kind == kinds[l->verdict]
                   ? NULL
                   : "the fault was not found";
    }
    if (got->verdict != RCX_PASS) {
        return "does not pass";
    }
    if (got->graphs != right->graphs) {
        return "another number of executions";
    }
    if (got->twice != 0) {
        return "an execution came more than once";
    }
    if (outcome_set_missing(&right->outcomes, outcomes) ||
        outcome_set_missing(outcomes, &right->outcomes)) {
        return "other outcomes";
    }
    return NULL;
}

static bool check(const litmus *l, const litmus_subject *subject, size_t number, bool verbose)
{
    program p = subject->weak_is_weak ? l->program : all_strong(l->program);
    bool weakened = memcmp(&p, &l->program, sizeof p) != 0;
    program_answer right = {.graphs = 0};
    collector c = {.litmus = l, .subject = subject};
    rcx_program under_test = {.threads = program_threads(&p),
                              .setup = subject->setup,
                              .thread = subject->threads[number],
                              .check = subject->check,
                              .done = collect,
                              .context = &c};
    rcx_limits limits = {.spurious = PROGRAM_OPERATIONS_MAX, .hashes = true};
    rcx_result got;
    rcx_explore(&under_test, &limits, &got);

    rcx_result again = got;
    if (got.verdict == RCX_FAIL) {
        limits.schedule = got.schedule;
        rcx_explore(&under_test, &limits, &again);
    }

    const char *wrong = NULL;
    if (!program_enumerate(&p, UINT64_C(10000000), &right)) {
        wrong = "too large to enumerate";
    }
    if (!wrong) {
        wrong = compare(l, &right, &got, &c.outcomes);
    }
    if (!wrong && (again.verdict != got.verdict || again.kind != got.kind)) {
        wrong = "its schedule shows something else";
    }
    if (!wrong && !weakened && !right.bad &&
        litmus_shows(l, &c.outcomes) != (l->verdict == LITMUS_ALLOWED)) {
        wrong = l->verdict == LITMUS_ALLOWED ? "the outcome does not occur" : "the outcome occurs";
    }
    if (wrong || verbose) {
        printf("%s %s (%s): %s %llu executions (enumerated: %llu), %zu outcomes (%zu)%s%s\n",
               wrong ? "WRONG" : "fine", l->name, subject->build, verdict_name(got.verdict),
               (unsigned long long)got.graphs, (unsigned long long)right.graphs, c.outcomes.count,
               right.outcomes.count, wrong ? ": " : "", wrong ? wrong : "");
    }
    if (wrong) {
        program_print(&p, stdout);
        const program_outcome *lacks = outcome_set_missing(&right.outcomes, &c.outcomes);
        const program_outcome *extra = outcome_set_missing(&c.outcomes, &right.outcomes);
        if (lacks) {
            fputs("  lacks ", stdout);
            program_print_outcome(&p, lacks, stdout);
        }
        if (extra) {
            fputs("  has   ", stdout);
            program_print_outcome(&p, extra, stdout);
        }
        if (got.text[0]) {
            printf("  says: %s\n", got.text);
        }
    }
    outcome_set_free(&right.outcomes);
    outcome_set_free(&c.outcomes);
    return wrong == NULL;
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && strcmp(argv[1], "--verbose") == 0;
    bool first = argc > 1 && strcmp(argv[1], "--first") == 0;
    int at = 1 + (verbose || first);
    const char *only = argc > at ? argv[at] : NULL;
    unsigned failed = 0;
    unsigned done = 0;
    for (size_t s = 0; s < subject_count; s++) {
        for (size_t i = 0; i < litmus_count && !(first && failed); i++) {
            if (only && strcmp(only, litmus_list[i].name) != 0) {
                continue;
            }
            done++;
            failed += !check(&litmus_list[i], subjects[s], i, verbose);
        }
    }
    printf("litmus: %u programs, as %d builds have them; %u wrong\n", done, subject_count, failed);
    return failed != 0 || done == 0;
}
