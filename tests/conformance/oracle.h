/* oracle: random sequences of operations against the model, and the shortest that fails.
 *
 * Each sequence runs in a child process, many to a child, so that a crash, a trap or a hang is a
 * failure like any other. A sequence that fails is run again alone and shortened: everything
 * behind the failure, then pieces of halving length, then single operations are cut away and
 * operands are made simpler for as long as what is left still fails. What remains is the report:
 * text that `battery sequence TEXT` takes.
 *
 * The model (model.h) decides what is right. Nothing here knows of reference counts.
 */
#ifndef RCB_ORACLE_H
#define RCB_ORACLE_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ORACLE_SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ORACLE_SLOW 1
#endif
#endif
#ifndef ORACLE_SLOW
#define ORACLE_SLOW 0
#endif

enum {
    ORACLE_SHORTEST = 20,
    ORACLE_LONGEST = 200,
    ORACLE_OPERATIONS_PER_CHILD = 10000,
    ORACLE_SHRINK_CHILDREN = 1000,                /* most children that shortening may start */
    ORACLE_SHRINK_MS = ORACLE_SLOW ? 6000 : 2500, /* longest that it may take */
    /* Processor time that a sequence may take: some thousand times what it needs. */
    ORACLE_LIMIT_MS = ORACLE_SLOW ? 1000 : 200,
    ORACLE_CANDIDATE_LIMIT_MS = ORACLE_SLOW ? 200 : 20,
    ORACLE_SLEEP_LIMIT_S = 4, /* of a child that waits for ever and takes no processor time */
    ORACLE_TEXT_BYTES = 8192,
    ORACLE_REPORT_BYTES = 1400 /* of the sequence in a verdict */
};

typedef struct oracle_sequence {
    uint32_t count;
    model_operation operations[MODEL_LENGTH];
} oracle_sequence;

/* What a child and its parent share. The child writes before it acts, so that it stands there when
 * the child is no more. */
typedef struct oracle_shared {
    oracle_sequence sequence;
    model_progress progress;
    volatile uint32_t candidate; /* number of the one that is tried */
    volatile bool ended;         /* the child came to its end */
    uint64_t operations;         /* done by the child */
} oracle_shared;

typedef struct oracle_outcome {
    bool failed;
    bool ending; /* in what comes after the sequence: everything is let go of */
    char clause[16];
    char place[64];
    char expected[512];
    char came[512];
} oracle_outcome;

/* ---- Sequences as text ---- */

static const char *const oracle_counts[MODEL_COUNTS] = {
    "real", "1", "2", "255", "65535", "16777215", "2147483647", "max-1", "max"};
static const char *const oracle_classes[MODEL_CLASSES] = {"plain", "wrapped", "wrapped_try"};

/* How many values an operand of a type has. */
static unsigned oracle_operand_values(char type)
{
    switch (type) {
    case 'r':
        return MODEL_RAWS;
    case 'c':
        return MODEL_CLASSES;
    case 'k':
        return MODEL_REFUSALS;
    case 'h':
        return MODEL_HUGES;
    case 'n':
    case 'm':
        return MODEL_COUNTS;
    default:
        return MODEL_VARIABLES;
    }
}

static void oracle_operand_text(char type, unsigned value, char text[16])
{
    switch (type) {
    case 's':
    case 'S':
        snprintf(text, 16, "%c", (char)('a' + value));
        break;
    case 'w':
    case 'W':
        snprintf(text, 16, "%c", (char)('m' + value));
        break;
    case 'r':
        snprintf(text, 16, "raw%u", value);
        break;
    case 'c':
        snprintf(text, 16, "%s", oracle_classes[value]);
        break;
    case 'n':
    case 'm':
        snprintf(text, 16, "%s", oracle_counts[value]);
        break;
    default:
        snprintf(text, 16, "%u", value + 1);
        break;
    }
}

/* Appends " a b c" for the operands. */
static size_t oracle_operands_text(unsigned kind, const uint8_t *operands, char *text, size_t size)
{
    size_t used = 0;
    const char *types = model_rows[kind].operands;
    for (unsigned i = 0; types[i] != '\0' && used < size; i++) {
        char operand[16];
        oracle_operand_text(types[i], operands[i], operand);
        used += (size_t)snprintf(text + used, size - used, " %s", operand);
    }
    return used;
}

static void oracle_text(const oracle_sequence *sequence, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < sequence->count; i++) {
        const model_operation *operation = &sequence->operations[i];
        char one[96];
        size_t length = (size_t)snprintf(one, sizeof one, "%s%s", i == 0 ? "" : "; ",
                                         model_rows[operation->kind].name);
        length += oracle_operands_text(operation->kind, operation->operand, one + length,
                                       sizeof one - length);
        if (operation->kind == MODEL_AT_DEATH) {
            length += (size_t)snprintf(one + length, sizeof one - length, " %s",
                                       model_rows[operation->then_kind].name);
            oracle_operands_text(operation->then_kind, operation->then_operand, one + length,
                                 sizeof one - length);
        }
        size_t added = strlen(one);
        if (used + added + 5 > size) {
            snprintf(text + used, size - used, " ...");
            return;
        }
        memcpy(text + used, one, added + 1);
        used += added;
    }
}

_Noreturn static void oracle_refuse(const char *what, const char *word)
{
    fprintf(stderr,
            "battery: %s \"%s\"; a sequence reads like \"new a plain; weak_new a m; release a; "
            "lock m b\"\n",
            what, word);
    exit(2);
}

static uint8_t oracle_parse_kind(const char *word)
{
    for (unsigned kind = 0; kind < MODEL_KINDS; kind++) {
        if (word != NULL && strcmp(word, model_rows[kind].name) == 0) {
            return (uint8_t)kind;
        }
    }
    oracle_refuse("there is no operation", word == NULL ? "" : word);
}

/* Reads the operands from strtok's words. */
static void oracle_parse_operands(unsigned kind, uint8_t *operands, char **rest)
{
    const char *types = model_rows[kind].operands;
    for (unsigned i = 0; types[i] != '\0'; i++) {
        const char *word = strtok_r(NULL, " ", rest);
        unsigned value = 0;
        for (; word != NULL && value < oracle_operand_values(types[i]); value++) {
            char text[16];
            oracle_operand_text(types[i], value, text);
            if (strcmp(word, text) == 0) {
                break;
            }
        }
        if (word == NULL || value == oracle_operand_values(types[i])) {
            oracle_refuse(model_rows[kind].name, word == NULL ? "needs more words" : word);
        }
        operands[i] = (uint8_t)value;
    }
}

/* Exits with a message if the text is not a sequence. */
static void oracle_parse(const char *text, oracle_sequence *sequence)
{
    static char copy[ORACLE_TEXT_BYTES];
    snprintf(copy, sizeof copy, "%s", text);
    memset(sequence, 0, sizeof *sequence);
    char *rest = NULL;
    for (char *one = strtok_r(copy, ";", &rest); one != NULL; one = strtok_r(NULL, ";", &rest)) {
        char *words = NULL;
        const char *name = strtok_r(one, " ", &words);
        if (name == NULL) {
            continue;
        }
        if (sequence->count == MODEL_LENGTH) {
            oracle_refuse("too many operations; the first too many is", name);
        }
        model_operation *operation = &sequence->operations[sequence->count++];
        operation->kind = oracle_parse_kind(name);
        oracle_parse_operands(operation->kind, operation->operand, &words);
        if (operation->kind == MODEL_AT_DEATH) {
            operation->then_kind = oracle_parse_kind(strtok_r(NULL, " ", &words));
            if (!model_may_act(operation->then_kind)) {
                oracle_refuse("finalize cannot be told to", model_rows[operation->then_kind].name);
            }
            oracle_parse_operands(operation->then_kind, operation->then_operand, &words);
        }
    }
}

/* ---- Drawing operations ---- */

static uint64_t oracle_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static unsigned oracle_below(uint64_t *state, unsigned bound)
{
    return (unsigned)((oracle_random(state) >> 33) % bound);
}

/* The start of a generator for one use of a seed. Never 0. */
static uint64_t oracle_mix(uint64_t seed, uint64_t use)
{
    uint64_t mixed =
        (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (use + 1) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed ^= mixed >> 31;
    mixed *= UINT64_C(0x94d049bb133111eb);
    mixed ^= mixed >> 29;
    return mixed | 1;
}

/* What a sequence is drawn from. Each has its own: where few kinds of operations and few variables
 * come, they meet each other more often. */
typedef struct oracle_mood {
    uint64_t random;
    unsigned theme; /* RC_CAP_ bit whose operations come more often, or 0 */
    unsigned variables, weak_variables;
    unsigned weight[MODEL_KINDS];
    unsigned total_weight;
} oracle_mood;

/* How much more often, or not at all, a kind comes in this mood. */
static unsigned oracle_draw_factor(oracle_mood *mood, unsigned kind)
{
    static const unsigned factors[] = {0, 1, 2, 6};
    unsigned factor = factors[oracle_below(&mood->random, 4)];
    if (kind == MODEL_NEW || kind == MODEL_RELEASE || kind == MODEL_WEAK_RELEASE) {
        return 2; /* or nothing lives, or nothing dies */
    }
    if (mood->theme == 0) {
        return factor;
    }
    if (model_rows[kind].needs == mood->theme) {
        return 2 + factor;
    }
    if (kind == MODEL_WEAK_NEW || kind == MODEL_LOCK) {
        return 1 + factor / 2; /* weak handles meet everything */
    }
    return factor / 2;
}

static oracle_mood oracle_mood_of(uint64_t seed, uint64_t number)
{
    static const unsigned themes[] = {0,
                                      0,
                                      RC_CAP_WEAK,
                                      RC_CAP_RAW,
                                      RC_CAP_WRAPPER,
                                      RC_CAP_WRAPPER,
                                      RC_CAP_PRESET,
                                      RC_CAP_PRESET};
    oracle_mood mood = {.random = oracle_mix(seed, number)};
    mood.theme = themes[oracle_below(&mood.random, sizeof themes / sizeof themes[0])];
    unsigned most = mood.theme == 0 ? MODEL_VARIABLES : MODEL_VARIABLES / 2;
    mood.variables = 2 + oracle_below(&mood.random, most - 1);
    mood.weak_variables = 1 + oracle_below(&mood.random, most);
    for (unsigned kind = 0; kind < MODEL_KINDS; kind++) {
        unsigned factor = oracle_draw_factor(&mood, kind);
        mood.weight[kind] = model_knows(kind) ? factor * model_rows[kind].weight : 0;
        mood.total_weight += mood.weight[kind];
    }
    return mood;
}

static uint8_t oracle_draw_kind(oracle_mood *mood)
{
    unsigned at = oracle_below(&mood->random, mood->total_weight);
    unsigned kind = 0;
    while (at >= mood->weight[kind]) {
        at -= mood->weight[kind++];
    }
    return (uint8_t)kind;
}

/* True for an object that the mood is about. */
static bool oracle_is_interesting(const model_object *object, char type, oracle_mood *mood)
{
    if (mood->theme == RC_CAP_WRAPPER) {
        bool edge = object->strong == 1 || type != 'w'; /* a lock there asks the wrapper */
        return (object->wrapped && edge) || oracle_below(&mood->random, 3) == 0;
    }
    if (mood->theme == RC_CAP_PRESET) {
        return object->strong > MODEL_VARIABLES || object->weak > MODEL_VARIABLES ||
               oracle_below(&mood->random, 3) == 0;
    }
    return true;
}

/* A variable that holds something, mostly, or one that holds nothing where a result goes. */
static uint8_t oracle_draw_operand(const model *m, char type, oracle_mood *mood)
{
    unsigned values = oracle_operand_values(type);
    values = type == 's' || type == 'S' ? mood->variables : values;
    values = type == 'w' || type == 'W' ? mood->weak_variables : values;
    unsigned value = oracle_below(&mood->random, values);
    if (type == 'c' && mood->theme == RC_CAP_WRAPPER && value == 0) {
        value = oracle_below(&mood->random, values); /* hooks are to be seen */
    }
    if (strchr("sSwWr", type) == NULL) {
        return (uint8_t)value;
    }
    bool wants_null = type == 'S' || type == 'W';
    for (unsigned tries = wants_null ? 8 : 1 + oracle_below(&mood->random, 5); tries > 0; tries--) {
        int id = model_referent(m, type, value);
        if (id == MODEL_NONE ? wants_null
                             : !wants_null && oracle_is_interesting(&m->objects[id], type, mood)) {
            break;
        }
        value = oracle_below(&mood->random, values);
    }
    return (uint8_t)value;
}

static void oracle_draw_operands(const model *m, unsigned kind, uint8_t *operands,
                                 oracle_mood *mood)
{
    const char *types = model_rows[kind].operands;
    for (unsigned i = 0; types[i] != '\0'; i++) {
        operands[i] = oracle_draw_operand(m, types[i], mood);
    }
}

/* Makes finalize use a weak handle to its own object, half of the time. */
static void oracle_draw_own_weak(const model *m, model_operation *operation, oracle_mood *mood)
{
    int id = m->strong[operation->operand[0]];
    if (model_rows[operation->then_kind].operands[0] != 'w' ||
        oracle_below(&mood->random, 2) == 0) {
        return;
    }
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        if (id != MODEL_NONE && m->weak[i] == id) {
            operation->then_operand[0] = (uint8_t)i;
        }
    }
}

static model_operation oracle_draw(const model *m, oracle_mood *mood)
{
    model_operation operation = {.kind = oracle_draw_kind(mood)};
    oracle_draw_operands(m, operation.kind, operation.operand, mood);
    if (operation.kind == MODEL_AT_DEATH) {
        do {
            operation.then_kind = oracle_draw_kind(mood);
        } while (!model_may_act(operation.then_kind));
        oracle_draw_operands(m, operation.then_kind, operation.then_operand, mood);
        oracle_draw_own_weak(m, &operation, mood);
    }
    return operation;
}

/* ---- Candidates for a shorter or simpler sequence ---- */

/* Gives the candidate with that number, which may be the sequence itself where there is none.
 * False: no candidates have that number or a higher one. */
typedef bool (*oracle_candidates)(const oracle_sequence *from, uint32_t number,
                                  oracle_sequence *candidate);

/* Without a piece: the half, quarters, ... single operations; from the end, for that is where a
 * sequence fails. */
static bool oracle_without_piece(const oracle_sequence *from, uint32_t number,
                                 oracle_sequence *candidate)
{
    uint32_t count = from->count;
    for (uint32_t length = (count + 1) / 2; length > 0; length /= 2) {
        uint32_t pieces = (count + length - 1) / length;
        if (number < pieces) {
            uint32_t end = count - number * length;
            uint32_t begin = end > length ? end - length : 0;
            *candidate = *from;
            memmove(&candidate->operations[begin], &from->operations[end],
                    (count - end) * sizeof from->operations[0]);
            candidate->count = count - (end - begin);
            return true;
        }
        number -= pieces;
    }
    return false;
}

/* Without two that belong together, such as a retain and its release. */
static bool oracle_without_pair(const oracle_sequence *from, uint32_t number,
                                oracle_sequence *candidate)
{
    if (number >= from->count * from->count) {
        return false;
    }
    uint32_t first = number / from->count;
    uint32_t second = number % from->count;
    *candidate = *from;
    if (second <= first) {
        return true;
    }
    candidate->count = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        if (i != first && i != second) {
            candidate->operations[candidate->count++] = from->operations[i];
        }
    }
    return true;
}

/* The place in the sequence where a name comes first; behind its end if it does not. */
static uint32_t oracle_first_use(const oracle_sequence *sequence, const char *group, unsigned name)
{
    for (uint32_t i = 0; i < sequence->count; i++) {
        const model_operation *operation = &sequence->operations[i];
        const char *types = model_rows[operation->kind].operands;
        for (unsigned k = 0; types[k] != '\0'; k++) {
            if (strchr(group, types[k]) != NULL && operation->operand[k] == name) {
                return i * 8 + k;
            }
        }
        types = operation->kind == MODEL_AT_DEATH ? model_rows[operation->then_kind].operands : "";
        for (unsigned k = 0; types[k] != '\0'; k++) {
            if (strchr(group, types[k]) != NULL && operation->then_operand[k] == name) {
                return i * 8 + 4 + k;
            }
        }
    }
    return UINT32_MAX;
}

/* A name that the sequence does not use; or a used one if there is no other. */
static uint8_t oracle_unused(const oracle_sequence *sequence, char type)
{
    const char *group = type == 'S' ? "sS" : "wW";
    for (unsigned name = 0; name < MODEL_VARIABLES; name++) {
        if (oracle_first_use(sequence, group, name) == UINT32_MAX) {
            return (uint8_t)name;
        }
    }
    return 0;
}

/* Makes an operation one of another kind with the same operands, or some of them; a result goes
 * where nothing is. False: they do not fit. */
static bool oracle_change_kind(const oracle_sequence *sequence, model_operation *operation,
                               unsigned kind)
{
    const char *have = model_rows[operation->kind].operands;
    const char *want = model_rows[kind].operands;
    if (!model_knows(kind) || kind == MODEL_AT_DEATH) {
        return false;
    }
    for (unsigned i = 0; want[i] != '\0'; i++) {
        bool result = want[i] == 'S' || want[i] == 'W';
        if (have[i] == '\0' || (have[i] != want[i] && !result && (have[i] | 0x20) != want[i])) {
            return false;
        }
        if (result && have[i] != want[i]) {
            operation->operand[i] = oracle_unused(sequence, want[i]);
        }
    }
    operation->kind = (uint8_t)kind;
    return true;
}

/* With another kind of operation. They stand in their table with the simple ones first. The last
 * number of each operation makes what finalize was to do an operation of its own. */
static bool oracle_with_kind(const oracle_sequence *from, uint32_t number,
                             oracle_sequence *candidate)
{
    uint32_t index = number / (MODEL_KINDS + 1);
    unsigned kind = number % (MODEL_KINDS + 1);
    if (index >= from->count) {
        return false;
    }
    *candidate = *from;
    model_operation *operation = &candidate->operations[index];
    if (kind < operation->kind) {
        if (!oracle_change_kind(from, operation, kind)) {
            *candidate = *from;
        }
    } else if (kind == MODEL_KINDS && operation->kind == MODEL_AT_DEATH) {
        *operation =
            (model_operation){.kind = operation->then_kind,
                              .operand = {operation->then_operand[0], operation->then_operand[1]}};
    }
    return true;
}

/* With a smaller operand. */
static bool oracle_with_operand(const oracle_sequence *from, uint32_t number,
                                oracle_sequence *candidate)
{
    uint32_t index = number / (3 * MODEL_VARIABLES);
    uint32_t operand = number / MODEL_VARIABLES % 3;
    uint32_t value = number % MODEL_VARIABLES;
    if (index >= from->count) {
        return false;
    }
    *candidate = *from;
    model_operation *operation = &candidate->operations[index];
    if (operand < strlen(model_rows[operation->kind].operands) &&
        value < operation->operand[operand]) {
        operation->operand[operand] = (uint8_t)value;
    }
    return true;
}

/* Exchanges two names in the operands of one group of types. */
static void oracle_exchange(unsigned kind, uint8_t *operands, const char *group, unsigned a,
                            unsigned b)
{
    const char *types = model_rows[kind].operands;
    for (unsigned i = 0; types[i] != '\0'; i++) {
        if (strchr(group, types[i]) != NULL && (operands[i] == a || operands[i] == b)) {
            operands[i] = (uint8_t)(operands[i] == a ? b : a);
        }
    }
}

/* With other names: the first variable to come shall be a, the second b. */
static bool oracle_with_names(const oracle_sequence *from, uint32_t number,
                              oracle_sequence *candidate)
{
    static const char *const groups[] = {"sS", "wW", "r"};
    uint32_t a = number / MODEL_VARIABLES % MODEL_VARIABLES;
    uint32_t b = number % MODEL_VARIABLES;
    uint32_t group = number / (MODEL_VARIABLES * MODEL_VARIABLES);
    if (group >= sizeof groups / sizeof groups[0]) {
        return false;
    }
    *candidate = *from;
    if (b <= a || b >= oracle_operand_values(groups[group][0]) ||
        oracle_first_use(from, groups[group], b) >= oracle_first_use(from, groups[group], a)) {
        return true;
    }
    for (uint32_t i = 0; i < candidate->count; i++) {
        model_operation *operation = &candidate->operations[i];
        oracle_exchange(operation->kind, operation->operand, groups[group], a, b);
        if (operation->kind == MODEL_AT_DEATH) {
            oracle_exchange(operation->then_kind, operation->then_operand, groups[group], a, b);
        }
    }
    return true;
}

/* ---- In the child ---- */

static void oracle_limit(unsigned milliseconds)
{
    struct itimerval limit = {.it_value = {.tv_sec = milliseconds / 1000,
                                           .tv_usec = (suseconds_t)(milliseconds % 1000) * 1000}};
    setitimer(ITIMER_PROF, &limit, NULL); /* SIGPROF ends the process */
    alarm(ORACLE_SLEEP_LIMIT_S);
}

/* Odd sequences run among blocks without zones between them, and let weak handles go first. */
static rcb_placement oracle_placement(bool odd)
{
    return odd ? RCB_PLACE_TIGHT : RCB_PLACE_GUARDED;
}

static void oracle_make_sequence(model *m, oracle_shared *shared, oracle_mood mood, bool odd)
{
    unsigned length =
        ORACLE_SHORTEST + oracle_below(&mood.random, ORACLE_LONGEST - ORACLE_SHORTEST + 1);
    shared->sequence.count = 0;
    model_begin(m, oracle_placement(odd), &shared->progress);
    for (unsigned drawn = 0; shared->sequence.count < length && drawn < 100 * length; drawn++) {
        model_operation operation = oracle_draw(m, &mood);
        if (!model_is_legal(m, &operation)) {
            continue;
        }
        shared->sequence.operations[shared->sequence.count++] = operation;
        model_step(m, &operation);
        shared->operations++;
    }
    model_end(m, odd);
}

static void oracle_replay(model *m, oracle_shared *shared, bool odd)
{
    model_begin(m, oracle_placement(odd), &shared->progress);
    for (uint32_t i = 0; i < shared->sequence.count; i++) {
        if (model_step(m, &shared->sequence.operations[i])) {
            shared->operations++;
        }
    }
    model_end(m, odd);
}

/* What the child is to do: replay the shared sequence; or try candidates; or make new sequences
 * from a seed. */
typedef struct oracle_task {
    bool replay;
    oracle_candidates candidates; /* or NULL */
    const oracle_sequence *from;  /* whose candidates */
    uint64_t seed;
    uint64_t first;      /* number of the first candidate or sequence */
    uint64_t operations; /* to be done at least, in new sequences */
    unsigned limit_ms;   /* processor time for a sequence */
    bool quiet;          /* no sanitizer reports */
} oracle_task;

static void oracle_replay_both(model *m, oracle_shared *shared, unsigned limit_ms)
{
    for (unsigned odd = 0; odd < 2; odd++) {
        oracle_limit(limit_ms);
        oracle_replay(m, shared, odd != 0);
    }
}

static bool oracle_is_same(const oracle_sequence *a, const oracle_sequence *b)
{
    return a->count == b->count &&
           memcmp(a->operations, b->operations, a->count * sizeof a->operations[0]) == 0;
}

static void oracle_child(oracle_shared *shared, const oracle_task *task)
{
    static model m;
    rcb_heap_start(); /* one of its own: it may leave it in any state */
    if (task->replay) {
        oracle_replay_both(&m, shared, task->limit_ms);
        return;
    }
    if (task->candidates != NULL) {
        shared->candidate = (uint32_t)task->first;
        for (; task->candidates(task->from, shared->candidate, &shared->sequence);
             shared->candidate++) {
            if (!oracle_is_same(task->from, &shared->sequence)) {
                oracle_replay_both(&m, shared, task->limit_ms);
            }
        }
        return;
    }
    for (uint64_t number = task->first; shared->operations < task->operations; number++) {
        oracle_limit(task->limit_ms);
        oracle_make_sequence(&m, shared, oracle_mood_of(task->seed, number), number % 2 != 0);
    }
}

/* ---- In the parent ---- */

static const char *oracle_trap_name(int kind)
{
    static const char *const names[] = {"a trap",
                                        "RC_TRAP_RETAIN_DEAD",
                                        "RC_TRAP_RELEASE_DEAD",
                                        "RC_TRAP_WEAK_RELEASE_DEAD",
                                        "RC_TRAP_STRONG_OVERFLOW",
                                        "RC_TRAP_WEAK_OVERFLOW",
                                        "RC_TRAP_FOREIGN",
                                        "RC_TRAP_WRAPPER",
                                        "RC_TRAP_THREAD"};
    return names[kind > 0 && kind < (int)(sizeof names / sizeof names[0]) ? kind : 0];
}

/* Copies the next field of a verdict line. */
static void oracle_field(char **line, char *field, size_t size)
{
    char *end = strpbrk(*line, "\t\n");
    size_t length = end == NULL ? strlen(*line) : (size_t)(end - *line);
    snprintf(field, size, "%.*s", (int)length, *line);
    *line += length + (end == NULL ? 0 : 1);
}

/* A failure that names no clause: of the heap, or of a hook. */
static const char *oracle_clause(const oracle_outcome *outcome, const char *otherwise)
{
    if (strncmp(outcome->place, "heap", 4) == 0) {
        return "MEM-01";
    }
    if (strncmp(outcome->place, "world", 5) == 0) {
        /* Finalize itself has cleared the canary. */
        return strcmp(outcome->came, "finalize got one with canary 00000000") == 0 ? "LIFE-03"
                                                                                   : "HOOK-01";
    }
    return otherwise;
}

static const char *oracle_trap_clause(int kind, const char *otherwise)
{
    if (kind == RC_TRAP_STRONG_OVERFLOW) {
        return "LIMIT-01";
    }
    return kind == RC_TRAP_WEAK_OVERFLOW ? "LIMIT-02" : otherwise;
}

static void oracle_read_verdict(char *line, const char *clause_under_way, oracle_outcome *outcome)
{
    char word[16];
    oracle_field(&line, word, sizeof word);
    if (strcmp(word, "trap") == 0) {
        oracle_field(&line, word, sizeof word);
        snprintf(outcome->clause, sizeof outcome->clause, "%s",
                 oracle_trap_clause(atoi(word), clause_under_way));
        snprintf(outcome->place, sizeof outcome->place, "rc_trap:0");
        snprintf(outcome->expected, sizeof outcome->expected, "legal operations do not trap");
        snprintf(outcome->came, sizeof outcome->came, "%s", oracle_trap_name(atoi(word)));
        return;
    }
    oracle_field(&line, outcome->clause, sizeof outcome->clause);
    oracle_field(&line, outcome->place, sizeof outcome->place);
    oracle_field(&line, outcome->expected, sizeof outcome->expected);
    oracle_field(&line, outcome->came, sizeof outcome->came);
    if (strcmp(outcome->clause, "-") == 0) {
        snprintf(outcome->clause, sizeof outcome->clause, "%s",
                 oracle_clause(outcome, clause_under_way));
    }
}

static void oracle_read_death(int status, const model_progress *progress, oracle_outcome *outcome)
{
    const char *operation = model_rows[progress->kind % MODEL_KINDS].name;
    snprintf(outcome->clause, sizeof outcome->clause, "%s", progress->clause);
    snprintf(outcome->place, sizeof outcome->place, "%s:0", operation);
    snprintf(outcome->expected, sizeof outcome->expected, "%s returns", operation);
    if (!WIFSIGNALED(status)) {
        snprintf(outcome->came, sizeof outcome->came, "the process ended in it with status %d: %s",
                 WEXITSTATUS(status),
                 WEXITSTATUS(status) == 0 ? "by exit" : "by a sanitizer's finding, or exit");
    } else if (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM) {
        snprintf(outcome->came, sizeof outcome->came, "it goes on without end");
    } else {
        snprintf(outcome->came, sizeof outcome->came, "the process ended in it: %s",
                 strsignal(WTERMSIG(status)));
    }
}

_Noreturn static void oracle_no_process(void)
{
    perror("battery: cannot start a process");
    exit(3);
}

_Noreturn static void oracle_run_child(oracle_shared *shared, const oracle_task *task, int verdict)
{
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (dup2(verdict, RCB_VERDICT_FD) < 0) {
        _exit(3);
    }
    int nowhere = task->quiet ? open("/dev/null", O_WRONLY) : -1;
    if (nowhere >= 0) {
        dup2(nowhere, STDERR_FILENO);
    }
    oracle_child(shared, task);
    shared->ended = true;
    _exit(0);
}

/* Runs the task in a child and says what came of it. */
static oracle_outcome oracle_run(oracle_shared *shared, const oracle_task *task)
{
    int ends[2];
    shared->ended = false;
    shared->progress = (model_progress){.kind = MODEL_NEW, .clause = "LIFE-01"};
    shared->operations = 0;
    if (pipe(ends) != 0) {
        oracle_no_process();
    }
    /* Out of the way of the runner's descriptor. */
    int verdict = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[1]);
    pid_t child = verdict < 0 ? -1 : fork();
    if (child < 0) {
        oracle_no_process();
    }
    if (child == 0) {
        oracle_run_child(shared, task, verdict);
    }
    close(verdict);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    char line[2048];
    ssize_t length = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    line[length > 0 ? length : 0] = '\0';
    oracle_outcome outcome = {.failed = !shared->ended || length > 0,
                              .ending = shared->progress.ending};
    if (length > 0) {
        oracle_read_verdict(line, shared->progress.clause, &outcome);
    } else if (outcome.failed) {
        oracle_read_death(status, &shared->progress, &outcome);
    }
    return outcome;
}

/* ---- Shortening ---- */

typedef struct oracle_shrink {
    oracle_shared *shared;
    oracle_sequence best; /* fails */
    unsigned children_left;
    uint64_t deadline_ms;
} oracle_shrink;

static uint64_t oracle_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Takes the first candidate that fails, then goes on with those of what it has become. A child
 * tries many: only one that fails costs a process. */
static bool oracle_improve(oracle_shrink *shrink, oracle_candidates candidates)
{
    bool improved = false;
    uint64_t first = 0;
    while (shrink->children_left > 0 && oracle_now_ms() < shrink->deadline_ms) {
        oracle_task task = {.candidates = candidates,
                            .from = &shrink->best,
                            .first = first,
                            .limit_ms = ORACLE_CANDIDATE_LIMIT_MS,
                            .quiet = true};
        shrink->children_left--;
        if (!oracle_run(shrink->shared, &task).failed) {
            break;
        }
        first = shrink->shared->candidate;
        shrink->best = shrink->shared->sequence;
        improved = true;
    }
    return improved;
}

static oracle_sequence oracle_shorten(oracle_shared *shared, const oracle_sequence *failing)
{
    oracle_shrink shrink = {.shared = shared,
                            .best = *failing,
                            .children_left = ORACLE_SHRINK_CHILDREN,
                            .deadline_ms = oracle_now_ms() + ORACLE_SHRINK_MS};
    bool improved = true;
    while (improved) {
        improved = oracle_improve(&shrink, oracle_without_piece);
        improved = oracle_improve(&shrink, oracle_with_kind) || improved;
        improved = oracle_improve(&shrink, oracle_without_pair) || improved;
        improved = oracle_improve(&shrink, oracle_with_operand) || improved;
        improved = oracle_improve(&shrink, oracle_with_names) || improved;
    }
    return shrink.best;
}

/* ---- Reports ---- */

_Noreturn static void oracle_report(const oracle_outcome *outcome, const oracle_sequence *sequence,
                                    const char *remark)
{
    char text[ORACLE_REPORT_BYTES];
    char came[sizeof outcome->came + sizeof text + 128];
    oracle_text(sequence, text, sizeof text);
    snprintf(came, sizeof came, "%s, in \"%s\"%s%s", outcome->came, text,
             outcome->ending ? ", then letting go of everything" : "", remark);
    char place[sizeof outcome->place];
    snprintf(place, sizeof place, "%s", outcome->place);
    char *colon = strrchr(place, ':');
    int line = colon == NULL ? 0 : atoi(colon + 1);
    if (colon != NULL) {
        *colon = '\0';
    }
    rcb_fail_clause(outcome->clause, place, line, outcome->expected, came);
}

/* Runs the shared sequence as it stands, with sanitizers' reports; ends the process if it fails. */
static void oracle_run_aloud(oracle_shared *shared, const char *remark)
{
    oracle_task task = {.replay = true, .limit_ms = ORACLE_LIMIT_MS};
    oracle_outcome outcome = oracle_run(shared, &task);
    if (outcome.failed) {
        oracle_report(&outcome, &shared->sequence, remark);
    }
}

/* A child that made sequences has failed in the shared one. Does not return. */
_Noreturn static void oracle_judge(oracle_shared *shared, const oracle_outcome *first,
                                   oracle_task task)
{
    static oracle_sequence failing;
    failing = shared->sequence;
    task = (oracle_task){.replay = true, .limit_ms = ORACLE_LIMIT_MS, .quiet = true};
    if (!oracle_run(shared, &task).failed) {
        oracle_report(first, &failing, " (but not alone: only behind earlier sequences)");
    }
    shared->sequence = oracle_shorten(shared, &failing);
    oracle_run_aloud(shared, "");
    shared->sequence = failing; /* shortened too far: what took long was taken for a hang */
    oracle_run_aloud(shared, "");
    oracle_report(first, &failing, " (but not every time)");
}

/* ---- Entry points ---- */

/* Sequences until that many operations have been done. Passes, or fails with the shortest
 * sequence. */
static void rcb_oracle(uint64_t seed, uint64_t operations)
{
    oracle_shared *shared = rcb_heap_shared(sizeof *shared);
    uint64_t done = 0;
    for (uint64_t batch = 0; done < operations; batch++) {
        uint64_t left = operations - done;
        oracle_task task = {
            .seed = seed,
            .first = batch * ORACLE_OPERATIONS_PER_CHILD,
            .operations = left < ORACLE_OPERATIONS_PER_CHILD ? left : ORACLE_OPERATIONS_PER_CHILD,
            .limit_ms = ORACLE_LIMIT_MS,
            .quiet = true};
        oracle_outcome outcome = oracle_run(shared, &task);
        if (outcome.failed) {
            oracle_judge(shared, &outcome, task);
        }
        done += shared->operations;
    }
    rcb_pass();
}

/* One sequence, as a report prints it. Operations that are not legal where they stand are left
 * out. */
static void rcb_oracle_sequence(const char *text)
{
    oracle_shared *shared = rcb_heap_shared(sizeof *shared);
    oracle_parse(text, &shared->sequence);
    oracle_run_aloud(shared, "");
    rcb_pass();
}

#undef ORACLE_SLOW

#endif
