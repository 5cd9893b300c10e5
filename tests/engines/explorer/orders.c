#include "orders.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "battery_program.h"
#include "places.h"
#include "search.h"

enum {
    SITES_MAX = 2048, /* a power of 2 */
    OPERATIONS_MAX = 256,
    SCENARIOS_MAX = 512,
    STEPS_MAX = 8, /* weaker orders of one operation, and it split */
    PROCESSES_MAX = 64,
    NOBODY = UINT16_MAX,
    EXPLAINED_WITHIN = 12 /* lines above the operation */
};

static const char explanation[] = "tronger than needed";

/* A call that the compiler made of an atomic operation: inlining makes several of one. */
typedef struct site {
    rcx_place place; /* 0: free */
    rcx_kind kind;
    rcx_function function;
    int order, failure_order;
    uint16_t operation;
    uint64_t scenarios[SCENARIOS_MAX / 64]; /* in which threads come here */
} site;

typedef enum part { WHOLE, FAILURE, SPLIT } part;

/* One weaker form of an operation, searched. */
typedef struct step {
    part part;
    int order;
    uint16_t killer; /* scenario; NOBODY: it passes */
    bool bounded;    /* passes, but not every execution was tried */
    uint64_t executions;
    double seconds; /* of the killer's search, until it failed */
    char how[160];
} step;

/* As it stands in the source. */
typedef struct operation {
    rcx_frame frame;
    const site *sample;
    uint64_t scenarios[SCENARIOS_MAX / 64];
    unsigned step_count;
    step steps[STEPS_MAX];
    bool done;
} operation;

typedef struct baseline {
    rcx_verdict verdict;
    uint64_t graphs;
    char text[256];
} baseline;

/* Between the processes. */
typedef struct shared {
    site sites[SITES_MAX];
    unsigned site_count;
    baseline scenarios[SCENARIOS_MAX];
    _Atomic(unsigned) next; /* operation to be weakened */
    unsigned operation_count;
    operation operations[OPERATIONS_MAX];
} shared;

typedef struct settings {
    uint64_t executions;
    unsigned processes;
    const char *csv;
} settings;

static shared *common;

/* ---- What the search asks before each operation ---- */

static unsigned recorded_scenario;

static struct change {
    uint16_t operation;
    part part;
    int order;
} change;

static site *site_of(rcx_place place)
{
    unsigned slot = (unsigned)((place * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % SITES_MAX;
    while (common->sites[slot].place != 0 && common->sites[slot].place != place) {
        slot = (slot + 1) % SITES_MAX;
    }
    return &common->sites[slot];
}

static bool record(rcx_operation *at)
{
    if (at->kind == RCX_LOCK || at->kind == RCX_UNLOCK) {
        return false;
    }
    site *found = site_of(at->place);
    if (found->place == 0 && common->site_count < SITES_MAX / 2) {
        *found = (site){.place = at->place,
                        .kind = at->kind,
                        .function = at->function,
                        .order = at->order,
                        .failure_order = at->failure_order,
                        .operation = NOBODY};
        common->site_count++;
    }
    if (found->place != 0) {
        found->scenarios[recorded_scenario / 64] |= UINT64_C(1) << recorded_scenario % 64;
    }
    return false;
}

static bool weaken(rcx_operation *at)
{
    const site *found = site_of(at->place);
    if (found->place == 0 || found->operation != change.operation) {
        return false;
    }
    switch (change.part) {
    case WHOLE: at->order = change.order; break;
    case FAILURE: at->failure_order = change.order; break;
    case SPLIT: return true;
    }
    return false;
}

/* ---- As it is ---- */

static bool is_searched(unsigned index, rcx_scenario *scenario)
{
    return index < SCENARIOS_MAX && rcx_battery_scenario(index, scenario) &&
           scenario->not_searched == NULL;
}

static unsigned scenario_count(void)
{
    rcx_scenario scenario;
    unsigned count = 0;
    while (count < SCENARIOS_MAX && rcx_battery_scenario(count, &scenario)) {
        count++;
    }
    return count;
}

static void record_all(const settings *with)
{
    rcx_scenario scenario;
    for (unsigned i = 0; i < scenario_count(); i++) {
        if (!is_searched(i, &scenario)) {
            continue;
        }
        rcx_program program = rcx_battery_program(i);
        rcx_limits limits = {
            .executions = with->executions, .spurious = 1, .brief = true, .alter = record};
        rcx_result result;
        recorded_scenario = i;
        rcx_explore(&program, &limits, &result);
        baseline *to = &common->scenarios[i];
        to->verdict = result.verdict;
        to->graphs = result.graphs + result.blocked;
        snprintf(to->text, sizeof to->text, "%.255s", result.text);
    }
}

static bool passes_as_it_is(void)
{
    rcx_scenario scenario;
    bool good = true;
    for (unsigned i = 0; i < scenario_count(); i++) {
        const baseline *found = &common->scenarios[i];
        if (!is_searched(i, &scenario)) {
            continue;
        }
        if (found->verdict == RCX_FAIL) {
            fprintf(stderr, "explore: %s %s does not pass as it is: %s\n", scenario.clause,
                    scenario.name, found->text);
            good = false;
        }
        if (found->verdict == RCX_UNSUPPORTED) {
            printf("left out, not supported: %s %s: %s\n", scenario.clause, scenario.name,
                   found->text);
        }
    }
    return good;
}

/* ---- From places to the source ---- */

static bool is_battery(const char *file)
{
    return strstr(file, "tests/conformance/") != NULL || strstr(file, "tests/engines/") != NULL;
}

/* The operation on this line; a new one if there is none. NULL: too many. */
static operation *operation_on(const rcx_frame *frame, const site *at)
{
    for (unsigned i = 0; i < common->operation_count; i++) {
        operation *known = &common->operations[i];
        if (known->frame.line == frame->line && strcmp(known->frame.file, frame->file) == 0 &&
            known->sample->kind == at->kind && known->sample->function == at->function &&
            known->sample->order == at->order) {
            return known;
        }
    }
    if (common->operation_count == OPERATIONS_MAX) {
        return NULL;
    }
    operation *new = &common->operations[common->operation_count++];
    *new = (operation){.frame = *frame, .sample = at};
    return new;
}

/* False: nothing is known of the places. */
static bool find_operations(rcx_places **places)
{
    rcx_place *wanted = calloc(SITES_MAX, sizeof *wanted);
    size_t count = 0;
    if (wanted == NULL) {
        return false;
    }
    for (unsigned i = 0; i < SITES_MAX; i++) {
        if (common->sites[i].place != 0) {
            wanted[count++] = common->sites[i].place;
        }
    }
    *places = rcx_places_look(wanted, count);
    free(wanted);
    if (*places == NULL || !rcx_places_known(*places)) {
        return false;
    }
    for (unsigned i = 0; i < SITES_MAX; i++) {
        site *at = &common->sites[i];
        const rcx_frame *frames = NULL;
        if (at->place == 0 || rcx_places_frames(*places, at->place, &frames) == 0 ||
            is_battery(frames[0].file)) {
            continue;
        }
        operation *of = operation_on(&frames[0], at);
        if (of == NULL) {
            continue;
        }
        at->operation = (uint16_t)(of - common->operations);
        for (unsigned k = 0; k < SCENARIOS_MAX / 64; k++) {
            of->scenarios[k] |= at->scenarios[k];
        }
    }
    return true;
}

/* ---- Weaker ---- */

/* The next weaker orders. Returns how many; an operation's kind says which there are. */
static unsigned weaker(rcx_kind kind, int order, int out[2])
{
    bool reads = kind != RCX_STORE;
    bool writes = kind != RCX_LOAD;
    switch (order) {
    case __ATOMIC_SEQ_CST:
        out[0] = reads && writes ? __ATOMIC_ACQ_REL : reads ? __ATOMIC_ACQUIRE : __ATOMIC_RELEASE;
        return 1;
    case __ATOMIC_ACQ_REL:
        out[0] = __ATOMIC_ACQUIRE;
        out[1] = __ATOMIC_RELEASE;
        return 2;
    case __ATOMIC_RELAXED:
        return 0;
    default:
        out[0] = __ATOMIC_RELAXED;
        return 1;
    }
}

static int by_cost(const void *a, const void *b)
{
    uint64_t left = common->scenarios[*(const uint16_t *)a].graphs;
    uint64_t right = common->scenarios[*(const uint16_t *)b].graphs;
    return (left > right) - (left < right);
}

static void search_step(const settings *with, const operation *of, step *into)
{
    uint16_t order[SCENARIOS_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < SCENARIOS_MAX; i++) {
        bool reached = (of->scenarios[i / 64] >> i % 64 & 1) != 0;
        if (reached && common->scenarios[i].verdict != RCX_UNSUPPORTED) {
            order[count++] = (uint16_t)i;
        }
    }
    qsort(order, count, sizeof order[0], by_cost);
    change = (struct change){(uint16_t)(of - common->operations), into->part, into->order};
    into->killer = NOBODY;
    for (unsigned i = 0; i < count && into->killer == NOBODY; i++) {
        rcx_program program = rcx_battery_program(order[i]);
        rcx_limits limits = {
            .executions = with->executions, .spurious = 1, .brief = true, .alter = weaken};
        rcx_result result;
        rcx_explore(&program, &limits, &result);
        if (result.verdict == RCX_FAIL || result.verdict == RCX_UNSUPPORTED) {
            into->killer = order[i];
            into->executions = result.graphs + result.blocked + 1;
            into->seconds = result.seconds;
            snprintf(into->how, sizeof into->how, "%.159s", result.text);
        }
        into->bounded = into->bounded || result.verdict == RCX_BOUNDED;
    }
}

static step *find_step(operation *of, part which, int order)
{
    for (unsigned i = 0; i < of->step_count; i++) {
        if (of->steps[i].part == which && of->steps[i].order == order) {
            return &of->steps[i];
        }
    }
    return NULL;
}

static void weaken_from(const settings *with, operation *of, part which, int order)
{
    int next[2];
    unsigned count = weaker(which == FAILURE ? RCX_LOAD : of->sample->kind, order, next);
    for (unsigned i = 0; i < count; i++) {
        if (find_step(of, which, next[i]) != NULL) {
            continue;
        }
        step *new = &of->steps[of->step_count++];
        *new = (step){.part = which, .order = next[i]};
        search_step(with, of, new);
        if (new->killer == NOBODY) {
            weaken_from(with, of, which, next[i]);
        }
    }
}

static void weaken_operation(const settings *with, operation *of)
{
    rcx_kind kind = of->sample->kind;
    weaken_from(with, of, WHOLE, of->sample->order);
    if (kind == RCX_CAS) {
        weaken_from(with, of, FAILURE, of->sample->failure_order);
    }
    if (kind == RCX_CAS || kind == RCX_RMW) {
        step *new = &of->steps[of->step_count++];
        *new = (step){.part = SPLIT};
        search_step(with, of, new);
    }
    of->done = true;
}

static void weaken_all(const settings *with)
{
    for (;;) {
        unsigned mine = atomic_fetch_add_explicit(&common->next, 1, memory_order_relaxed);
        if (mine >= common->operation_count) {
            return;
        }
        weaken_operation(with, &common->operations[mine]);
    }
}

/* Runs `work` in so many processes: this one has no search in it, so that each begins anew. */
static bool in_processes(unsigned count, void (*work)(const settings *), const settings *with)
{
    pid_t children[PROCESSES_MAX];
    bool good = true;
    fflush(NULL);
    for (unsigned i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            work(with);
            _exit(0);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        int status = 0;
        good = children[i] > 0 && waitpid(children[i], &status, 0) == children[i] && status == 0 &&
               good;
    }
    return good;
}

/* ---- What came ---- */

static const char *order_name(int order)
{
    switch (order) {
    case __ATOMIC_RELAXED: return "RELAXED";
    case __ATOMIC_CONSUME: return "CONSUME";
    case __ATOMIC_ACQUIRE: return "ACQUIRE";
    case __ATOMIC_RELEASE: return "RELEASE";
    case __ATOMIC_ACQ_REL: return "ACQ_REL";
    default: return "SEQ_CST";
    }
}

static const char *operation_name(const operation *of)
{
    static const char *const functions[] = {"exchange",  "fetch_add", "fetch_sub", "fetch_and",
                                            "fetch_or",  "fetch_xor", "fetch_nand"};
    switch (of->sample->kind) {
    case RCX_LOAD: return "load";
    case RCX_STORE: return "store";
    case RCX_RMW: return functions[of->sample->function];
    case RCX_CAS: return "compare_exchange";
    default: return "fence";
    }
}

/* The weakest orders that pass: those of which no weaker one does. "ACQUIRE or RELEASE". */
static void weakest(operation *of, part which, int order, char *text, size_t size)
{
    int next[2];
    unsigned count = weaker(which == FAILURE ? RCX_LOAD : of->sample->kind, order, next);
    bool weakest_here = true;
    for (unsigned i = 0; i < count; i++) {
        const step *found = find_step(of, which, next[i]);
        if (found != NULL && found->killer == NOBODY) {
            weakest_here = false;
            weakest(of, which, next[i], text, size);
        }
    }
    const char *name =
        of->sample->kind == RCX_FENCE && order == __ATOMIC_RELAXED ? "none" : order_name(order);
    if (weakest_here && strstr(text, name) == NULL) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used > 0 ? " or " : "", name);
    }
}

/* Whether the comment above the operation says that it is stronger than needed. */
static bool is_explained(const operation *of)
{
    FILE *in = fopen(of->frame.file, "r");
    char line[1024];
    unsigned said = 0;
    if (in == NULL) {
        return false;
    }
    for (unsigned number = 1; number <= of->frame.line && fgets(line, sizeof line, in) != NULL;
         number++) {
        if (strstr(line, explanation) != NULL) {
            said = number;
        } else if (line[0] == '}') {
            said = 0;
        }
    }
    fclose(in);
    return said != 0 && of->frame.line - said <= EXPLAINED_WITHIN;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    while (slash != NULL && slash > path && slash[-1] != '/') {
        slash--;
        if (slash > path && slash[-1] == '/') {
            break;
        }
    }
    return slash == NULL ? path : slash;
}

static int by_line(const void *a, const void *b)
{
    const operation *left = *(operation *const *)a;
    const operation *right = *(operation *const *)b;
    int files = strcmp(left->frame.file, right->frame.file);
    return files != 0 ? files
                      : (left->frame.line > right->frame.line) -
                            (left->frame.line < right->frame.line);
}

typedef struct totals {
    unsigned operations, forms, killed, surplus, unexplained, bounded;
    double *seconds;
    uint64_t *executions;
} totals;

static void write_step(const operation *of, const step *at)
{
    rcx_scenario scenario = {.clause = "-", .name = "-"};
    char what[48];
    switch (at->part) {
    case WHOLE:
        snprintf(what, sizeof what, "%s",
                 of->sample->kind == RCX_FENCE && at->order == __ATOMIC_RELAXED
                     ? "without it"
                     : order_name(at->order));
        break;
    case FAILURE: snprintf(what, sizeof what, "failing %s", order_name(at->order)); break;
    case SPLIT: snprintf(what, sizeof what, "load, then store"); break;
    }
    if (at->killer == NOBODY) {
        printf("      %-18s passes%s\n", what,
               at->bounded ? " (as far as it was searched: --executions)" : "");
        return;
    }
    rcx_battery_scenario(at->killer, &scenario);
    printf("      %-18s fails in %s %s: %s\n", what, scenario.clause, scenario.name, at->how);
}

static void count_step(totals *sum, const step *at)
{
    sum->forms++;
    sum->bounded += at->killer == NOBODY && at->bounded;
    if (at->killer != NOBODY) {
        sum->seconds[sum->killed] = at->seconds;
        sum->executions[sum->killed++] = at->executions;
    }
}

static void write_operation(operation *of, totals *sum)
{
    char source[256];
    char needs[64] = "";
    char failing[64] = "";
    const site *sample = of->sample;
    bool surplus = false;
    rcx_places_source(&of->frame, source, sizeof source);
    weakest(of, WHOLE, sample->order, needs, sizeof needs);
    printf("%s:%u %s %s", base_name(of->frame.file), of->frame.line, operation_name(of),
           order_name(sample->order));
    if (sample->kind == RCX_CAS) {
        weakest(of, FAILURE, sample->failure_order, failing, sizeof failing);
        printf(", failing %s; needs %s, failing %s\n", order_name(sample->failure_order), needs,
               failing);
    } else {
        printf("; needs %s\n", needs);
    }
    printf("      %.100s\n", source);
    for (unsigned i = 0; i < of->step_count; i++) {
        write_step(of, &of->steps[i]);
        count_step(sum, &of->steps[i]);
        surplus = surplus || of->steps[i].killer == NOBODY;
    }
    sum->operations++;
    sum->surplus += surplus;
    if (surplus) {
        bool explained = is_explained(of);
        sum->unexplained += !explained;
        printf("      %s\n", explained ? "stronger than needed; the source says why"
                                       : "STRONGER THAN NEEDED, and its comment does not say why");
    }
}

static const char *step_name(const step *at)
{
    static const char *const names[] = {"order", "failure_order", "split"};
    return names[at->part];
}

static bool write_csv(const char *path, operation *const *sorted, unsigned count)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        fprintf(stderr, "explore: %s: %s\n", path, strerror(errno));
        return false;
    }
    fputs("file,line,operation,source_order,source_failure_order,weaker,to,passes,bounded,clause,"
          "scenario,executions,seconds\n",
          out);
    for (unsigned i = 0; i < count; i++) {
        const operation *of = sorted[i];
        for (unsigned k = 0; k < of->step_count; k++) {
            const step *at = &of->steps[k];
            rcx_scenario scenario = {.clause = "", .name = ""};
            if (at->killer != NOBODY) {
                rcx_battery_scenario(at->killer, &scenario);
            }
            fprintf(out, "%s,%u,%s,%s,%s,%s,%s,%d,%d,%s,%s,%" PRIu64 ",%.6f\n",
                    base_name(of->frame.file), of->frame.line, operation_name(of),
                    order_name(of->sample->order),
                    of->sample->kind == RCX_CAS ? order_name(of->sample->failure_order) : "",
                    step_name(at), at->part == SPLIT ? "" : order_name(at->order),
                    at->killer == NOBODY, at->bounded, scenario.clause, scenario.name,
                    at->executions, at->seconds);
        }
    }
    return fclose(out) == 0;
}

static int by_seconds(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

static void cut_line_end(char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
}

/* Lines of the sources that are atomic operations, and that no thread of any scenario came to. */
static unsigned write_unreached(const char *file)
{
    FILE *in = fopen(file, "r");
    char line[1024];
    unsigned count = 0;
    for (unsigned number = 1; in != NULL && fgets(line, sizeof line, in) != NULL; number++) {
        const char *text = line + strspn(line, " \t");
        bool atomic = strstr(text, "_explicit(") != NULL || strstr(text, "__atomic_") != NULL ||
                      strstr(text, "atomic_thread_fence(") != NULL;
        if (!atomic || text[0] == '*' || text[0] == '/' || text[0] == '#') {
            continue;
        }
        bool reached = false;
        for (unsigned i = 0; i < common->operation_count; i++) {
            const operation *of = &common->operations[i];
            reached = reached ||
                      (of->frame.line == number && strcmp(of->frame.file, file) == 0);
        }
        if (!reached) {
            count++;
            cut_line_end(line);
            printf("%s:%u is not reached by threads: %.90s\n", base_name(file), number, text);
        }
    }
    if (in != NULL) {
        fclose(in);
    }
    return count;
}

static void write_totals(const totals *sum)
{
    printf("%u atomic operations; %u weaker forms: %u fail, %u pass", sum->operations, sum->forms,
           sum->killed, sum->forms - sum->killed);
    if (sum->bounded > 0) {
        printf(" (%u of them as far as they were searched)", sum->bounded);
    }
    if (sum->killed > 0) {
        qsort(sum->seconds, sum->killed, sizeof *sum->seconds, by_seconds);
        printf("; median time to the failure %.4f s, longest %.4f s",
               sum->seconds[sum->killed / 2], sum->seconds[sum->killed - 1]);
    }
    printf("\n%u operations stronger than needed, %u of them without a reason in the source\n",
           sum->surplus, sum->unexplained);
}

static int write_all(const settings *with)
{
    static operation *sorted[OPERATIONS_MAX];
    static double seconds[OPERATIONS_MAX * STEPS_MAX];
    static uint64_t executions[OPERATIONS_MAX * STEPS_MAX];
    totals sum = {.seconds = seconds, .executions = executions};
    for (unsigned i = 0; i < common->operation_count; i++) {
        sorted[i] = &common->operations[i];
    }
    qsort(sorted, common->operation_count, sizeof sorted[0], by_line);
    for (unsigned i = 0; i < common->operation_count; i++) {
        write_operation(sorted[i], &sum);
        bool last = i + 1 == common->operation_count ||
                    strcmp(sorted[i]->frame.file, sorted[i + 1]->frame.file) != 0;
        if (last && strncmp(sorted[i]->frame.file, "/usr/", 5) != 0) {
            write_unreached(sorted[i]->frame.file);
        }
    }
    write_totals(&sum);
    if (with->csv != NULL && !write_csv(with->csv, sorted, common->operation_count)) {
        return 2;
    }
    return sum.unexplained > 0 ? 1 : 0;
}

/* ---- Command ---- */

static bool number(const char *text, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

static bool read_settings(int argc, char **argv, settings *with)
{
    uint64_t processes = 1;
    *with = (settings){.executions = 100000};
    for (int i = 0; i < argc; i += 2) {
        bool known = i + 1 < argc;
        if (known && strcmp(argv[i], "--executions") == 0) {
            known = number(argv[i + 1], &with->executions);
        } else if (known && strcmp(argv[i], "--processes") == 0) {
            known = number(argv[i + 1], &processes) && processes > 0 && processes <= PROCESSES_MAX;
        } else if (known && strcmp(argv[i], "--csv") == 0) {
            with->csv = argv[i + 1];
        } else {
            known = false;
        }
        if (!known) {
            return false;
        }
    }
    with->processes = (unsigned)processes;
    return true;
}

int rcx_orders_main(int argc, char **argv)
{
    settings with;
    rcx_places *places = NULL;
    if (!read_settings(argc, argv, &with)) {
        fputs("usage: explore orders [--executions N] [--processes N] [--csv FILE]\n", stderr);
        return 2;
    }
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED) {
        fputs("explore: no memory\n", stderr);
        return 3;
    }
    if (!in_processes(1, record_all, &with)) {
        fputs("explore: the searching process ended early\n", stderr);
        return 3;
    }
    if (!passes_as_it_is()) {
        return 1;
    }
    if (!find_operations(&places)) {
        fputs("explore: addr2line of binutils does not tell the source lines\n", stderr);
        return 3;
    }
    int code = 3;
    if (in_processes(with.processes, weaken_all, &with)) {
        code = write_all(&with);
    } else {
        fputs("explore: a searching process ended early\n", stderr);
    }
    rcx_places_free(places);
    munmap(common, sizeof *common);
    return code;
}
