/* model: what an implementation must do, in plain counters, and the operations that test it.
 *
 * A sequence is a list of operations over twelve strong variables (a to l), twelve weak ones
 * (m to x) and four places for raw units (raw0 to raw3). Each operation is done on the model first
 * and then on the implementation; then everything that can be seen is compared. Hooks run in the
 * middle of it: the model knows beforehand which may run, and each hook checks that it was one of
 * them.
 *
 * An operation that is not legal in the state that the model is in is left out. So any part of a
 * sequence is a sequence again, and a failing one can be shortened by cutting pieces out of it.
 *
 * What an implementation does not promise is not compared:
 *   without RC_CAP_EXACT_COUNT   only that rc_is_unique is never true wrongly
 *   without RC_CAP_IMMEDIATE     deaths are due at rc_quiesce; until then a lock of an object
 *                                without strong references may succeed, and then it lives on; of
 *                                the wrapper's hooks only the balance is compared, after rc_quiesce
 *   Memory is compared exactly after every operation as long as only rc_new asks for any, and at
 *   the end of the sequence always.
 */
#ifndef RCB_MODEL_H
#define RCB_MODEL_H

#include <stdlib.h>

#include "battery.h"
#include "world.h"

#define MODEL_IMMEDIATE (((RC_IMPL_CAPS)&RC_CAP_IMMEDIATE) != 0)
#define MODEL_EXACT (((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) != 0)
#define MODEL_EARLY_FREE (((RC_IMPL_CAPS)&RC_CAP_EARLY_FREE) != 0)
#define MODEL_SATURATES ((RC_IMPL_OVERFLOW) == RC_OVERFLOW_SATURATE)
#define MODEL_HAS_WEAK ((RC_IMPL_CAPS)&RC_CAP_WEAK)
#define MODEL_HAS_RAW ((RC_IMPL_CAPS)&RC_CAP_RAW)
#define MODEL_HAS_WRAPPER ((RC_IMPL_CAPS)&RC_CAP_WRAPPER)
#define MODEL_HAS_PRESET (((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET)

#define MODEL_STRONG_MAX ((uint64_t)(RC_IMPL_STRONG_MAX))
#if MODEL_HAS_WEAK
#define MODEL_WEAK_MAX ((uint64_t)(RC_IMPL_WEAK_MAX))
#else
#define MODEL_WEAK_MAX UINT64_C(1) /* of none */
#endif

enum {
    MODEL_OBJECTS = 6, /* at the same time */
    MODEL_VARIABLES = RCB_HANDLES,
    MODEL_RAWS = 4,
    MODEL_LENGTH = 256, /* most operations of a sequence */
    MODEL_NONE = -1
};

_Static_assert((int)MODEL_OBJECTS <= (int)RCB_OBJECTS, "an object's number is an id of the world");

/* ---- Operations ---- */

/* MODEL_OPERATION(kind, name, operands, needs, weight, clause)
 * Operands: s a strong variable, S one that must be null and gets the result; w and W the same for
 * weak ones; r a raw place; c a class; k which request is refused; h a size that wraps; n, m a
 * count. Weight: how often it is drawn. Clause: the one that fails if the process ends in it. */
#define MODEL_OPERATIONS(MODEL_OPERATION)                                                          \
    MODEL_OPERATION(NEW, "new", "Sc", 0, 14, "LIFE-01")                                            \
    MODEL_OPERATION(NEW_REFUSED, "new_refused", "Sck", 0, 3, "MEM-02")                             \
    MODEL_OPERATION(NEW_HUGE, "new_huge", "Sh", 0, 1, "MEM-04")                                    \
    MODEL_OPERATION(RETAIN, "retain", "sS", 0, 14, "LIFE-04")                                      \
    MODEL_OPERATION(RELEASE, "release", "s", 0, 26, "LIFE-02")                                     \
    MODEL_OPERATION(WRITE, "write", "s", 0, 3, "LIFE-06")                                          \
    MODEL_OPERATION(ASSIGN, "assign", "ss", 0, 5, "LIFE-11")                                       \
    MODEL_OPERATION(RESET, "reset", "s", 0, 3, "LIFE-12")                                          \
    MODEL_OPERATION(SWAP, "swap", "ss", 0, 2, "LIFE-12")                                           \
    MODEL_OPERATION(SET_CHILD, "set_child", "ss", 0, 6, "LIFE-11")                                 \
    MODEL_OPERATION(RESET_CHILD, "reset_child", "s", 0, 2, "LIFE-12")                              \
    MODEL_OPERATION(SWAP_CHILD, "swap_child", "ss", 0, 3, "LIFE-12")                               \
    MODEL_OPERATION(POP, "pop", "s", 0, 3, "LIFE-12")                                              \
    MODEL_OPERATION(AT_DEATH, "at_death", "s", 0, 7, "HOOK-01")                                    \
    MODEL_OPERATION(SHARE, "share", "s", 0, 2, "THREAD-04")                                        \
    MODEL_OPERATION(QUIESCE, "quiesce", "", 0, 2, "THREAD-05")                                     \
    MODEL_OPERATION(REATTACH, "reattach", "", 0, 1, "THREAD-01")                                   \
    MODEL_OPERATION(WEAK_NEW, "weak_new", "sW", RC_CAP_WEAK, 12, "WEAK-06")                        \
    MODEL_OPERATION(WEAK_NEW_REFUSED, "weak_new_refused", "sW", RC_CAP_WEAK, 2, "MEM-03")          \
    MODEL_OPERATION(WEAK_RETAIN, "weak_retain", "wW", RC_CAP_WEAK, 6, "WEAK-10")                   \
    MODEL_OPERATION(WEAK_RELEASE, "weak_release", "w", RC_CAP_WEAK, 14, "WEAK-12")                 \
    MODEL_OPERATION(LOCK, "lock", "wS", RC_CAP_WEAK, 14, "WEAK-02")                                \
    MODEL_OPERATION(WEAK_ASSIGN, "weak_assign", "ww", RC_CAP_WEAK, 3, "WEAK-13")                   \
    MODEL_OPERATION(WEAK_RESET, "weak_reset", "w", RC_CAP_WEAK, 2, "WEAK-13")                      \
    MODEL_OPERATION(WEAK_SWAP, "weak_swap", "ww", RC_CAP_WEAK, 1, "WEAK-13")                       \
    MODEL_OPERATION(SET_WEAK, "set_weak", "sw", RC_CAP_WEAK, 5, "WEAK-13")                         \
    MODEL_OPERATION(RESET_WEAK, "reset_weak", "s", RC_CAP_WEAK, 1, "WEAK-13")                      \
    MODEL_OPERATION(SWAP_WEAK, "swap_weak", "sw", RC_CAP_WEAK, 2, "WEAK-13")                       \
    MODEL_OPERATION(INTO_RAW, "into_raw", "sr", RC_CAP_RAW, 5, "RAW-01")                           \
    MODEL_OPERATION(FROM_RAW, "from_raw", "rS", RC_CAP_RAW, 6, "RAW-02")                           \
    MODEL_OPERATION(RETAIN_RAW, "retain_raw", "sS", RC_CAP_RAW, 4, "RAW-03")                       \
    MODEL_OPERATION(RETAIN_RAW_UNIT, "retain_raw_unit", "rS", RC_CAP_RAW, 2, "RAW-03")             \
    MODEL_OPERATION(ATTACH, "attach", "s", RC_CAP_WRAPPER, 9, "WRAP-06")                           \
    MODEL_OPERATION(DETACH, "detach", "s", RC_CAP_WRAPPER, 4, "WRAP-07")                           \
    MODEL_OPERATION(LETS_GO, "lets_go", "s", RC_CAP_WRAPPER, 6, "WRAP-12")                         \
    MODEL_OPERATION(REFUSE_TRIES, "refuse_tries", "", RC_CAP_WRAPPER, 4, "WRAP-09")                \
    MODEL_OPERATION(PRESET, "preset", "snm", RC_CAP_PRESET, 5, "LIMIT-01")

#define MODEL_KIND(kind, name, operands, needs, weight, clause) MODEL_##kind,
typedef enum model_kind { MODEL_OPERATIONS(MODEL_KIND) MODEL_KINDS } model_kind;
#undef MODEL_KIND

typedef struct model_row {
    const char *name;
    const char *operands;
    unsigned needs;
    unsigned weight;
    const char *clause;
} model_row;

#define MODEL_ROW(kind, name, operands, needs, weight, clause)                                     \
    {name, operands, needs, weight, clause},
static const model_row model_rows[MODEL_KINDS] = {MODEL_OPERATIONS(MODEL_ROW)};
#undef MODEL_ROW

/* True if this implementation, in this build, has what operations of a kind call. */
static bool model_knows(unsigned kind)
{
    return (model_rows[kind].needs & ~(unsigned)(RC_IMPL_CAPS)) == 0 &&
           (kind != MODEL_PRESET || MODEL_HAS_PRESET);
}

typedef struct model_operation {
    uint8_t kind;
    uint8_t operand[3]; /* in the row's order: numbers of variables, places, classes ... */
    uint8_t then_kind;  /* AT_DEATH: what finalize does */
    uint8_t then_operand[2];
} model_operation;

/* What finalize may do. */
static bool model_may_act(unsigned kind)
{
    return kind == MODEL_NEW || kind == MODEL_RETAIN || kind == MODEL_RELEASE ||
           kind == MODEL_RESET || kind == MODEL_WEAK_NEW || kind == MODEL_WEAK_RETAIN ||
           kind == MODEL_WEAK_RELEASE || kind == MODEL_LOCK;
}

/* The counts of PRESET. REAL: as many as there are handles, which takes a preset back. */
enum {
    MODEL_REAL,
    MODEL_ONE,
    MODEL_TWO,
    MODEL_8_BITS,
    MODEL_16_BITS,
    MODEL_24_BITS,
    MODEL_31_BITS,
    MODEL_BELOW_MAX,
    MODEL_MAX,
    MODEL_COUNTS
};

enum { MODEL_CLASSES = 3, MODEL_REFUSALS = 3, MODEL_HUGES = 4 };

/* ---- State ---- */

typedef enum model_state {
    MODEL_FREE, /* no object has this number */
    MODEL_ALIVE,
    MODEL_DOOMED, /* no strong reference is left, finalize has not begun */
    MODEL_DYING,  /* in finalize */
    MODEL_DEAD    /* finalized; weak handles are left */
} model_state;

typedef struct model_object {
    model_state state;
    unsigned class_index;
    uint64_t strong, weak;
    bool strong_pinned, weak_pinned; /* saturated: nothing lowers them */
    bool expired;                    /* the implementation said so: no lock may succeed any more */
    bool wrapped;
    bool lets_go;       /* the wrapper gives up its handle inside wrapper_release */
    int wrapper_handle; /* the strong variable that is the wrapper's, or NONE */
    int child, weak_to; /* what the payload holds: objects, or NONE */
    bool acts;          /* finalize does `at_death` */
    model_operation at_death;
    uint64_t value; /* what the payload's fields hold, each one more than the last */
    uint32_t retains, releases, tries; /* hooks that must have been called */
    uint64_t blocks;                   /* of memory, all told */
    bool gave_early;                   /* one of them, when it died */
    rcb_payload *payload;
    rc_strong handle; /* a copy; counts nothing */
} model_object;

/* Where a model notes what it is about to do, for whoever finds its process dead. */
typedef struct model_progress {
    volatile uint8_t kind;       /* of the operation */
    const char *volatile clause; /* that fails if the process ends now */
    volatile bool ending;        /* the sequence is over, everything is let go of */
} model_progress;

typedef struct model {
    rcb_world world; /* first: hooks find the model through it */
    model_object objects[MODEL_OBJECTS];
    int strong[MODEL_VARIABLES], weak[MODEL_VARIABLES], raw[MODEL_RAWS]; /* objects, or NONE */
    uint64_t values_written;
    bool attaching, detaching;
    bool let_go;       /* an object died inside its wrapper_release */
    unsigned depth;    /* of operations: above 1 in finalize */
    bool blocks_known; /* only rc_new has asked for memory, and it came back as expected */
    uint64_t requests; /* until now, those of operations other than rc_new left out */
    model_progress *progress;
} model;

static model *model_of(rcb_world *world)
{
    return (model *)(void *)world;
}

/* Fails the clause unless the condition holds. What came is a format. */
#define MODEL_EXPECT(condition, clause, expected, ...)                                             \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            char model_came[256];                                                                  \
            snprintf(model_came, sizeof model_came, __VA_ARGS__);                                  \
            rcb_fail_clause(clause, __FILE__, __LINE__, expected, model_came);                     \
        }                                                                                          \
    } while (0)

/* ---- Changes of the model ---- */

static bool model_has_hooks(const model_object *object)
{
    return object->class_index > 0;
}

static void model_clear(model *m, model_progress *progress)
{
    memset(m->objects, 0, sizeof m->objects);
    rcb_world_clear(&m->world);
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        m->strong[i] = MODEL_NONE;
        m->weak[i] = MODEL_NONE;
    }
    for (unsigned i = 0; i < MODEL_RAWS; i++) {
        m->raw[i] = MODEL_NONE;
    }
    m->values_written = 0;
    m->attaching = false;
    m->detaching = false;
    m->let_go = false;
    m->depth = 0;
    m->blocks_known = true;
    m->requests = rcb_heap_requests();
    m->progress = progress;
    progress->ending = false;
}

static bool model_can_retain(const model *m, int id)
{
    return id == MODEL_NONE || MODEL_SATURATES || m->objects[id].strong < MODEL_STRONG_MAX;
}

static bool model_can_weak_retain(const model *m, int id)
{
    return id == MODEL_NONE || MODEL_SATURATES || m->objects[id].weak < MODEL_WEAK_MAX;
}

static void model_retain(model *m, int id)
{
    if (id == MODEL_NONE) {
        return;
    }
    model_object *object = &m->objects[id];
    if (object->strong == MODEL_STRONG_MAX) {
        object->strong_pinned = true;
        return;
    }
    if (object->wrapped && object->strong == 1 && model_has_hooks(object)) {
        object->retains++;
    }
    object->strong++;
}

static void model_release(model *m, int id)
{
    if (id == MODEL_NONE || m->objects[id].strong_pinned) {
        return;
    }
    model_object *object = &m->objects[id];
    if (object->wrapped && object->strong == 2 && model_has_hooks(object)) {
        object->releases++;
    }
    object->strong--;
    if (object->strong == 0) {
        object->state = MODEL_DOOMED;
        object->wrapped = false;
        object->wrapper_handle = MODEL_NONE;
    }
}

#if MODEL_HAS_WEAK
static void model_weak_retain(model *m, int id)
{
    if (id == MODEL_NONE) {
        return;
    }
    model_object *object = &m->objects[id];
    if (object->weak == MODEL_WEAK_MAX) {
        object->weak_pinned = true;
        return;
    }
    object->weak++;
}
#endif

static void model_weak_release(model *m, int id)
{
    if (id != MODEL_NONE && !m->objects[id].weak_pinned) {
        m->objects[id].weak--;
    }
}

static void model_write(rcb_payload *payload, uint64_t value)
{
    for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
        payload->field[i] = value + i;
    }
}

static bool model_is_intact(const model *m, int id)
{
    const rcb_payload *payload = m->objects[id].payload;
    bool intact =
        payload->canary == RCB_CANARY && payload->world == &m->world && payload->id == (uint32_t)id;
    for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
        intact = intact && payload->field[i] == m->objects[id].value + i;
    }
    return intact;
}

/* A handle of a live object that somebody holds, for queries. */
static rc_strong model_handle(const model *m, int id)
{
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        if (m->strong[i] == id) {
            return m->world.strong[i];
        }
    }
    for (unsigned i = 0; i < MODEL_OBJECTS; i++) {
        const model_object *parent = &m->objects[i];
        if (parent->state == MODEL_ALIVE && parent->child == id) {
            return parent->payload->child;
        }
    }
    return m->objects[id].handle; /* its unit is a raw one, or a preset one */
}

/* Handles that there are; more may be counted because of a preset. */
static uint64_t model_real_strong(const model *m, int id)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        count += m->strong[i] == id ? 1 : 0;
    }
    for (unsigned i = 0; i < MODEL_RAWS; i++) {
        count += m->raw[i] == id ? 1 : 0;
    }
    for (unsigned i = 0; i < MODEL_OBJECTS; i++) {
        const model_object *parent = &m->objects[i];
        count += parent->state != MODEL_FREE && parent->child == id ? 1 : 0;
    }
    return count;
}

static uint64_t model_real_weak(const model *m, int id)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        count += m->weak[i] == id ? 1 : 0;
    }
    for (unsigned i = 0; i < MODEL_OBJECTS; i++) {
        const model_object *holder = &m->objects[i];
        count += holder->state != MODEL_FREE && holder->weak_to == id ? 1 : 0;
    }
    return count;
}

static uint64_t model_count(unsigned which, uint64_t real, uint64_t max)
{
    const uint64_t counts[MODEL_COUNTS] = {real,     1,          2,       0xff, 0xffff,
                                           0xffffff, 0x7fffffff, max - 1, max};
    return counts[which];
}

/* ---- Hooks ---- */

static void model_act(model *m, const model_operation *operation);

#if MODEL_HAS_WEAK
static void model_check_dying_weak(rc_weak weak)
{
    MODEL_EXPECT(rc_weak_expired(weak), "WEAK-05",
                 "in finalize a weak handle to the object is expired",
                 "rc_weak_expired says false");
    MODEL_EXPECT(rc_is_null(rc_weak_lock(weak)), "WEAK-04", "in finalize a lock gives null",
                 "a strong handle");
}
#endif

static void model_check_dying(model *m, int id)
{
    const model_object *object = &m->objects[id];
    const char *outer_clause = m->progress->clause;
#if MODEL_HAS_WEAK
    m->progress->clause = "WEAK-04";
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        if (m->weak[i] == id) {
            model_check_dying_weak(m->world.weak[i]);
        }
    }
    if (object->weak_to == id) {
        model_check_dying_weak(object->payload->weak);
    }
#endif
    if (MODEL_EXACT) {
        MODEL_EXPECT(rc_use_count(object->handle) == 0, "LIFE-14", "in finalize rc_use_count is 0",
                     "%" PRIu64, rc_use_count(object->handle));
        MODEL_EXPECT(!rc_is_unique(object->handle), "LIFE-14", "in finalize rc_is_unique is false",
                     "true");
    }
    m->progress->clause = outer_clause;
}

/* Finalize, before it lets go of what the payload holds. */
static void model_on_finalize(rcb_payload *payload)
{
    model *m = model_of(payload->world);
    int id = (int)payload->id;
    model_object *object = &m->objects[id];
    MODEL_EXPECT(object->state != MODEL_DYING && object->state != MODEL_DEAD, "LIFE-03",
                 "an object is finalized once", "finalize runs again");
    MODEL_EXPECT(object->state == MODEL_DOOMED, object->strong_pinned ? "LIMIT-08" : "LIFE-02",
                 "an object with strong references is not finalized",
                 "finalize runs while %" PRIu64 " are left", object->strong);
    MODEL_EXPECT(payload == object->payload && model_is_intact(m, id), "HOOK-01",
                 "finalize gets the payload as it was left", "it has changed");
    object->state = MODEL_DYING;
    model_check_dying(m, id);
    if (object->acts) {
        model_act(m, &object->at_death);
    }
    MODEL_EXPECT(model_is_intact(m, id), "HOOK-01", "the payload is whole until finalize returns",
                 "it has changed");
    /* What rcb_finalize does next. */
    int child = object->child;
    int weak = object->weak_to;
    object->child = MODEL_NONE;
    object->weak_to = MODEL_NONE;
    model_weak_release(m, weak);
    model_release(m, child);
}

#if MODEL_HAS_WRAPPER
static void model_on_wrapper_retain(rcb_payload *payload)
{
    const model *m = model_of(payload->world);
    MODEL_EXPECT(!m->attaching || !rc_has_wrapper(m->objects[payload->id].handle), "WRAP-06",
                 "attach calls wrapper_retain before the bit can be seen",
                 "rc_has_wrapper says true in it");
}

static void model_on_wrapper_release(rcb_payload *payload)
{
    model *m = model_of(payload->world);
    model_object *object = &m->objects[payload->id];
    if (m->detaching) {
        MODEL_EXPECT(!rc_has_wrapper(object->handle), "WRAP-07",
                     "detach calls wrapper_release after the bit is gone",
                     "rc_has_wrapper says true in it");
        return;
    }
    if (object->wrapper_handle == MODEL_NONE || object->strong != 1) {
        return; /* a call too many: the comparison afterwards says so */
    }
    MODEL_EXPECT(!MODEL_EXACT || rc_use_count(object->handle) == 1, "WRAP-12",
                 "wrapper_release comes after the reference was given up: rc_use_count is 1",
                 "%" PRIu64, rc_use_count(object->handle));
    if (object->lets_go) {
        int variable = object->wrapper_handle;
        rc_strong handle = m->world.strong[variable];
        m->world.strong[variable] = rc_null();
        m->strong[variable] = MODEL_NONE;
        m->let_go = true;
        model_release(m, (int)payload->id);
        rc_release(handle);
    }
}
#endif

/* ---- Which operations are legal ---- */

/* A handle that the wrapper owns goes only with the object; the caller may not move it elsewhere.
 */
static bool model_is_wrappers(const model *m, unsigned variable)
{
    int id = m->strong[variable];
    return id != MODEL_NONE && m->objects[id].wrapper_handle == (int)variable;
}

static bool model_can_release(const model *m, unsigned variable)
{
    return !model_is_wrappers(m, variable) || m->objects[m->strong[variable]].strong == 1;
}

static int model_free_object(const model *m)
{
    for (int i = 0; i < MODEL_OBJECTS; i++) {
        if (m->objects[i].state == MODEL_FREE) {
            return i;
        }
    }
    return MODEL_NONE;
}

static bool model_preset_is_legal(const model *m, int id, unsigned strong, unsigned weak)
{
    bool weak_is_possible = weak == MODEL_REAL || model_knows(MODEL_WEAK_NEW);
    if (id == MODEL_NONE || !weak_is_possible || m->objects[id].wrapped ||
        m->objects[id].strong_pinned || m->objects[id].weak_pinned || m->depth > 1) {
        return false;
    }
    uint64_t real_strong = model_real_strong(m, id);
    uint64_t real_weak = model_real_weak(m, id);
    uint64_t wanted_strong = model_count(strong, real_strong, MODEL_STRONG_MAX);
    uint64_t wanted_weak = model_count(weak, real_weak, MODEL_WEAK_MAX);
    return wanted_strong >= 1 && wanted_strong >= real_strong &&
           wanted_strong <= MODEL_STRONG_MAX && wanted_weak >= real_weak &&
           wanted_weak <= MODEL_WEAK_MAX;
}

/* The object that the strong variable, weak variable or raw place of an operand refers to. */
static int model_referent(const model *m, char type, unsigned operand)
{
    switch (type) {
    case 's':
    case 'S':
        return m->strong[operand];
    case 'w':
    case 'W':
        return m->weak[operand];
    case 'r':
        return m->raw[operand];
    default:
        return MODEL_NONE;
    }
}

static bool model_is_legal(const model *m, const model_operation *operation)
{
    const model_row *row = &model_rows[operation->kind];
    unsigned a = operation->operand[0];
    unsigned b = operation->operand[1];
    int first = MODEL_NONE;
    int second = MODEL_NONE;
    if (!model_knows(operation->kind)) {
        return false;
    }
    for (unsigned i = 0; row->operands[i] != '\0'; i++) {
        int id = model_referent(m, row->operands[i], operation->operand[i]);
        if (id != MODEL_NONE && (row->operands[i] == 'S' || row->operands[i] == 'W')) {
            return false;
        }
        first = i == 0 ? id : first;
        second = i == 1 ? id : second;
    }
    switch ((model_kind)operation->kind) {
    case MODEL_NEW:
    case MODEL_NEW_REFUSED:
        return model_free_object(m) != MODEL_NONE;
    case MODEL_RETAIN:
    case MODEL_RETAIN_RAW:
    case MODEL_RETAIN_RAW_UNIT:
        return model_can_retain(m, first);
    case MODEL_LOCK:
        return first == MODEL_NONE || m->objects[first].state != MODEL_ALIVE ||
               model_can_retain(m, first);
    case MODEL_RELEASE:
    case MODEL_RESET:
        return model_can_release(m, a);
    case MODEL_INTO_RAW:
        return second == MODEL_NONE && !model_is_wrappers(m, a);
    case MODEL_WRITE:
    case MODEL_RESET_CHILD:
    case MODEL_RESET_WEAK:
    case MODEL_SWAP_WEAK:
        return first != MODEL_NONE;
    case MODEL_AT_DEATH:
        return first != MODEL_NONE && model_may_act(operation->then_kind) &&
               model_knows(operation->then_kind);
    case MODEL_ASSIGN:
        return model_can_retain(m, first) && !model_is_wrappers(m, b);
    case MODEL_SET_CHILD:
        return first != MODEL_NONE && model_can_retain(m, second);
    case MODEL_SWAP_CHILD:
        return first != MODEL_NONE && !model_is_wrappers(m, b);
    case MODEL_POP:
        return first != MODEL_NONE && !model_is_wrappers(m, a) &&
               model_can_retain(m, m->objects[first].child);
    case MODEL_WEAK_NEW:
    case MODEL_WEAK_NEW_REFUSED:
    case MODEL_WEAK_RETAIN:
    case MODEL_WEAK_ASSIGN:
        return model_can_weak_retain(m, first);
    case MODEL_SET_WEAK:
        return first != MODEL_NONE && model_can_weak_retain(m, second);
    case MODEL_ATTACH:
        return first == MODEL_NONE || !m->objects[first].wrapped;
    case MODEL_DETACH:
        return first == MODEL_NONE || m->objects[first].wrapper_handle == (int)a;
    case MODEL_LETS_GO:
        return first != MODEL_NONE && m->objects[first].wrapped;
    case MODEL_PRESET:
        return model_preset_is_legal(m, first, b, operation->operand[2]);
    case MODEL_NEW_HUGE:
    case MODEL_SWAP:
    case MODEL_SHARE:
    case MODEL_QUIESCE:
    case MODEL_REATTACH:
    case MODEL_WEAK_RELEASE:
    case MODEL_WEAK_RESET:
    case MODEL_WEAK_SWAP:
    case MODEL_FROM_RAW:
    case MODEL_REFUSE_TRIES:
        return true;
    case MODEL_KINDS:
        break;
    }
    return false;
}

/* ---- Doing operations ---- */

/* Checks that a strong handle that an operation gave is one of `id`, or null for NONE. */
static void model_check_given(const model *m, rc_strong given, int id, const char *clause,
                              const char *null_clause)
{
    if (id == MODEL_NONE) {
        MODEL_EXPECT(rc_is_null(given), null_clause, "the result is null", "it is not");
        return;
    }
    MODEL_EXPECT(!rc_is_null(given), clause, "the result is a handle of the object", "null");
    MODEL_EXPECT(rc_payload(given) == m->objects[id].payload, clause,
                 "the result is a handle of the object", "its payload lies elsewhere");
}

static const rc_class *model_class(unsigned index)
{
    static const rc_class *const classes[MODEL_CLASSES] = {&rcb_class, &rcb_wrapped,
                                                           &rcb_wrapped_try};
    return classes[index];
}

static void model_check_new(const model *m, const rcb_payload *payload)
{
    MODEL_EXPECT(payload != NULL && (uintptr_t)payload % _Alignof(max_align_t) == 0, "MEM-05",
                 "the payload is aligned for max_align_t", "it lies at %p", (const void *)payload);
    for (unsigned i = 0; i < MODEL_OBJECTS; i++) {
        model_state state = m->objects[i].state;
        MODEL_EXPECT(state == MODEL_FREE || state == MODEL_DEAD || m->objects[i].payload != payload,
                     "LIFE-13", "objects have payloads of their own",
                     "the new object's is that of a live one");
    }
}

/* Takes over an object that rc_new made; it asked for memory `requests` times. */
static void model_add_object(model *m, unsigned variable, unsigned class_index, rc_strong made,
                             uint64_t blocks, uint64_t requests)
{
    int id = model_free_object(m);
    rcb_payload *payload = rc_payload(made);
    model_check_new(m, payload);
    m->objects[id] = (model_object){.state = MODEL_ALIVE,
                                    .class_index = class_index,
                                    .strong = 1,
                                    .wrapper_handle = MODEL_NONE,
                                    .child = MODEL_NONE,
                                    .weak_to = MODEL_NONE,
                                    .value = m->values_written += 16,
                                    .blocks = blocks,
                                    .payload = payload,
                                    .handle = made};
    *payload = (rcb_payload){
        .world = &m->world, .id = (uint32_t)id, .canary = RCB_CANARY, .child = rc_null()};
    model_write(payload, m->values_written);
#if MODEL_HAS_WEAK
    payload->weak = rc_weak_null();
#endif
    m->world.finalized[id] = 0;
    /* RELAXED: one thread. */
    atomic_store_explicit(&m->world.wrapper_retains[id], 0, memory_order_relaxed);
    atomic_store_explicit(&m->world.wrapper_releases[id], 0, memory_order_relaxed);
    atomic_store_explicit(&m->world.wrapper_tries[id], 0, memory_order_relaxed);
    m->requests += requests;
    m->blocks_known = m->blocks_known && blocks > 0; /* else objects share some */
    m->strong[variable] = id;
    m->world.strong[variable] = made;
}

/* `refused`: which request to refuse, counted from 1; 0: none. */
static void model_do_new(model *m, unsigned variable, unsigned class_index, unsigned refused)
{
    uint64_t live = rcb_heap_live_blocks();
    uint64_t requests = rcb_heap_requests();
    rcb_heap_refuse(refused);
    rc_strong made = rc_new(model_class(class_index));
    rcb_heap_refuse(0);
    requests = rcb_heap_requests() - requests;
    if (!rc_is_null(made)) {
        model_add_object(m, variable, class_index, made, rcb_heap_live_blocks() - live, requests);
        return;
    }
    MODEL_EXPECT(refused != 0 && requests >= refused, refused == 0 ? "LIFE-01" : "MEM-02",
                 "rc_new gives an object when memory is granted", "null");
    MODEL_EXPECT(rcb_heap_live_blocks() == live, "MEM-02", "a refused rc_new leaks nothing",
                 "%" PRIu64 " blocks are live, %" PRIu64 " before", rcb_heap_live_blocks(), live);
    m->requests += requests;
}

static void model_do_new_huge(model *m, unsigned which)
{
    static const size_t below_max[MODEL_HUGES] = {0, 15, 31, 63};
    static rc_class class = {.name = "huge"};
    class.payload_size = SIZE_MAX - below_max[which];
    uint64_t live = rcb_heap_live_blocks();
    uint64_t requests = rcb_heap_requests();
    rc_strong made = rc_new(&class);
    MODEL_EXPECT(rc_is_null(made), "MEM-04", "rc_new refuses a size that wraps",
                 "an object of %zu bytes", class.payload_size);
    MODEL_EXPECT(rcb_heap_live_blocks() == live, "MEM-04", "a refused rc_new leaks nothing",
                 "%" PRIu64 " blocks are live, %" PRIu64 " before", rcb_heap_live_blocks(), live);
    m->requests += rcb_heap_requests() - requests;
}

static void model_give(model *m, unsigned variable, int id, rc_strong given)
{
    m->strong[variable] = id;
    m->world.strong[variable] = given;
}

/* Takes the handle out of a variable. */
static rc_strong model_take(model *m, unsigned variable)
{
    rc_strong taken = m->world.strong[variable];
    m->strong[variable] = MODEL_NONE;
    m->world.strong[variable] = rc_null();
    return taken;
}

static void model_do_retain(model *m, unsigned from, unsigned to)
{
    int id = m->strong[from];
    model_retain(m, id);
    rc_strong given = rc_retain(m->world.strong[from]);
    model_check_given(m, given, id, "LIFE-04", "NULL-02");
    model_give(m, to, id, given);
}

static void model_do_release(model *m, unsigned variable)
{
    model_release(m, m->strong[variable]);
    rc_release(model_take(m, variable));
}

static void model_do_reset(model *m, unsigned variable)
{
    model_release(m, m->strong[variable]);
    m->strong[variable] = MODEL_NONE;
    rc_reset(&m->world.strong[variable]);
}

static void model_do_write(model *m, unsigned variable)
{
    model_object *object = &m->objects[m->strong[variable]];
    object->value = m->values_written += 16;
    model_write(rcb_payload_of(m->world.strong[variable]), object->value);
}

static void model_do_assign(model *m, unsigned from, unsigned to)
{
    int id = m->strong[from];
    int old = m->strong[to];
    model_retain(m, id);
    rc_strong value = rc_retain(m->world.strong[from]);
    model_release(m, old);
    m->strong[to] = id;
    rc_assign(&m->world.strong[to], value);
}

static void model_do_swap(model *m, unsigned a, unsigned b)
{
    bool a_is_wrappers = model_is_wrappers(m, a);
    bool b_is_wrappers = model_is_wrappers(m, b);
    int held = m->strong[a];
    m->strong[a] = m->strong[b];
    m->strong[b] = held;
    if (a_is_wrappers) {
        m->objects[m->strong[b]].wrapper_handle = (int)b;
    }
    if (b_is_wrappers) {
        m->objects[m->strong[a]].wrapper_handle = (int)a;
    }
    rc_swap(&m->world.strong[a], &m->world.strong[b]);
}

static void model_do_set_child(model *m, unsigned parent, unsigned child)
{
    model_object *object = &m->objects[m->strong[parent]];
    int old = object->child;
    int id = m->strong[child];
    model_retain(m, id);
    rc_strong value = rc_retain(m->world.strong[child]);
    model_release(m, old);
    object->child = id;
    rc_assign(&object->payload->child, value);
}

static void model_do_reset_child(model *m, model_object *object)
{
    int old = object->child;
    object->child = MODEL_NONE;
    model_release(m, old);
    rc_reset(&object->payload->child);
}

static void model_do_swap_child(model *m, unsigned parent, unsigned variable)
{
    model_object *object = &m->objects[m->strong[parent]];
    int held = object->child;
    object->child = m->strong[variable];
    m->strong[variable] = held;
    rc_swap(&object->payload->child, &m->world.strong[variable]);
}

/* The variable moves on to what its object holds, as along a list. */
static void model_do_pop(model *m, unsigned variable)
{
    int id = m->strong[variable];
    int child = m->objects[id].child;
    model_retain(m, child);
    rc_strong value = rc_retain(m->objects[id].payload->child);
    model_release(m, id);
    m->strong[variable] = child;
    rc_assign(&m->world.strong[variable], value);
}

static void model_do_at_death(model *m, const model_operation *operation)
{
    model_object *object = &m->objects[m->strong[operation->operand[0]]];
    object->acts = true;
    object->at_death =
        (model_operation){.kind = operation->then_kind,
                          .operand = {operation->then_operand[0], operation->then_operand[1]}};
}

static void model_do_reattach(model *m)
{
    rc_quiesce();
    for (int id = 0; id < MODEL_OBJECTS; id++) {
        if (m->objects[id].state == MODEL_ALIVE) {
            rc_share(model_handle(m, id));
        }
    }
    rc_thread_detach();
    rc_thread_attach();
}

#if MODEL_HAS_WEAK
static void model_weak_give(model *m, unsigned variable, int id, rc_weak given, const char *clause)
{
    MODEL_EXPECT(rc_weak_is_null(given) == (id == MODEL_NONE),
                 id == MODEL_NONE ? "NULL-05" : clause,
                 id == MODEL_NONE ? "the result is null" : "the result is a weak handle", "%s",
                 id == MODEL_NONE ? "it is not" : "null");
    m->weak[variable] = id;
    m->world.weak[variable] = given;
}

static rc_weak model_weak_take(model *m, unsigned variable)
{
    rc_weak taken = m->world.weak[variable];
    m->weak[variable] = MODEL_NONE;
    m->world.weak[variable] = rc_weak_null();
    return taken;
}

static void model_do_weak_new(model *m, unsigned from, unsigned to, unsigned refused)
{
    int id = m->strong[from];
    uint64_t live = rcb_heap_live_blocks();
    uint64_t requests = rcb_heap_requests();
    rcb_heap_refuse(refused);
    rc_weak given = rc_weak_new(m->world.strong[from]);
    rcb_heap_refuse(0);
    if (refused != 0 && rc_weak_is_null(given) && rcb_heap_requests() > requests) {
        MODEL_EXPECT(
            rcb_heap_live_blocks() == live, "MEM-03", "a refused rc_weak_new leaks nothing",
            "%" PRIu64 " blocks are live, %" PRIu64 " before", rcb_heap_live_blocks(), live);
        return;
    }
    model_weak_retain(m, id);
    model_weak_give(m, to, id, given, refused == 0 ? "WEAK-06" : "MEM-03");
}

static void model_do_weak_retain(model *m, unsigned from, unsigned to)
{
    int id = m->weak[from];
    model_weak_retain(m, id);
    model_weak_give(m, to, id, rc_weak_retain(m->world.weak[from]), "WEAK-10");
}

static void model_do_weak_release(model *m, unsigned variable)
{
    model_weak_release(m, m->weak[variable]);
    rc_weak_release(model_weak_take(m, variable));
}

/* What a lock must give: an object, or NONE. The model changes accordingly. */
static int model_lock(model *m, int id)
{
    if (id == MODEL_NONE || m->objects[id].state != MODEL_ALIVE) {
        return MODEL_NONE;
    }
    model_object *object = &m->objects[id];
    bool asks = object->wrapped && object->strong == 1 && !object->strong_pinned &&
                object->class_index == 2;
    object->tries += asks ? 1 : 0;
    /* RELAXED: one thread. */
    if (asks && atomic_load_explicit(&m->world.refuse_tries, memory_order_relaxed) != 0) {
        return MODEL_NONE;
    }
    model_retain(m, id);
    return id;
}

static void model_do_lock(model *m, unsigned from, unsigned to)
{
    int id = m->weak[from];
    bool may_revive = id != MODEL_NONE && !MODEL_IMMEDIATE &&
                      m->objects[id].state == MODEL_DOOMED && !m->objects[id].expired;
    bool alive = id != MODEL_NONE && m->objects[id].state == MODEL_ALIVE;
    int wanted = model_lock(m, id);
    rc_strong given = rc_weak_lock(m->world.weak[from]);
    if (may_revive && !rc_is_null(given)) {
        m->objects[id].state = MODEL_ALIVE;
        m->objects[id].strong = 1;
        wanted = id;
    } else if (may_revive) {
        m->objects[id].expired = true;
    }
    model_check_given(m, given, wanted, "WEAK-02",
                      id == MODEL_NONE ? "NULL-04" : (alive ? "WRAP-09" : "WEAK-03"));
    model_give(m, to, wanted, given);
}

static void model_do_weak_assign(model *m, unsigned from, unsigned to)
{
    int id = m->weak[from];
    model_weak_retain(m, id);
    rc_weak value = rc_weak_retain(m->world.weak[from]);
    model_weak_release(m, m->weak[to]);
    m->weak[to] = id;
    rc_weak_assign(&m->world.weak[to], value);
}

static void model_do_weak_reset(model *m, unsigned variable)
{
    model_weak_release(m, m->weak[variable]);
    m->weak[variable] = MODEL_NONE;
    rc_weak_reset(&m->world.weak[variable]);
}

static void model_do_weak_swap(model *m, unsigned a, unsigned b)
{
    int held = m->weak[a];
    m->weak[a] = m->weak[b];
    m->weak[b] = held;
    rc_weak_swap(&m->world.weak[a], &m->world.weak[b]);
}

static void model_do_set_weak(model *m, unsigned holder, unsigned from)
{
    model_object *object = &m->objects[m->strong[holder]];
    int id = m->weak[from];
    model_weak_retain(m, id);
    rc_weak value = rc_weak_retain(m->world.weak[from]);
    model_weak_release(m, object->weak_to);
    object->weak_to = id;
    rc_weak_assign(&object->payload->weak, value);
}

static void model_do_reset_weak(model *m, unsigned holder)
{
    model_object *object = &m->objects[m->strong[holder]];
    model_weak_release(m, object->weak_to);
    object->weak_to = MODEL_NONE;
    rc_weak_reset(&object->payload->weak);
}

static void model_do_swap_weak(model *m, unsigned holder, unsigned variable)
{
    model_object *object = &m->objects[m->strong[holder]];
    int held = object->weak_to;
    object->weak_to = m->weak[variable];
    m->weak[variable] = held;
    rc_weak_swap(&object->payload->weak, &m->world.weak[variable]);
}

static void model_apply_weak(model *m, const model_operation *operation)
{
    unsigned a = operation->operand[0];
    unsigned b = operation->operand[1];
    switch ((model_kind)operation->kind) {
    case MODEL_WEAK_NEW:
        model_do_weak_new(m, a, b, 0);
        break;
    case MODEL_WEAK_NEW_REFUSED:
        model_do_weak_new(m, a, b, 1);
        break;
    case MODEL_WEAK_RETAIN:
        model_do_weak_retain(m, a, b);
        break;
    case MODEL_WEAK_RELEASE:
        model_do_weak_release(m, a);
        break;
    case MODEL_LOCK:
        model_do_lock(m, a, b);
        break;
    case MODEL_WEAK_ASSIGN:
        model_do_weak_assign(m, a, b);
        break;
    case MODEL_WEAK_RESET:
        model_do_weak_reset(m, a);
        break;
    case MODEL_WEAK_SWAP:
        model_do_weak_swap(m, a, b);
        break;
    case MODEL_SET_WEAK:
        model_do_set_weak(m, a, b);
        break;
    case MODEL_RESET_WEAK:
        model_do_reset_weak(m, a);
        break;
    case MODEL_SWAP_WEAK:
        model_do_swap_weak(m, a, b);
        break;
    default:
        break;
    }
}
#endif

#if MODEL_HAS_RAW
static void model_do_into_raw(model *m, unsigned variable, unsigned place)
{
    int id = m->strong[variable];
    void *raw = rc_into_raw(model_take(m, variable));
    MODEL_EXPECT(raw == (id == MODEL_NONE ? NULL : (void *)m->objects[id].payload),
                 id == MODEL_NONE ? "NULL-06" : "RAW-01", "rc_into_raw gives the payload's address",
                 "%p", raw);
    m->raw[place] = id;
    m->world.raw[place] = raw;
}

static void model_do_from_raw(model *m, unsigned place, unsigned variable)
{
    int id = m->raw[place];
    rc_strong given = rc_from_raw(m->world.raw[place]);
    m->raw[place] = MODEL_NONE;
    m->world.raw[place] = NULL;
    model_check_given(m, given, id, "RAW-02", "NULL-06");
    model_give(m, variable, id, given);
}

static void model_do_retain_raw(model *m, void *loan, int id, unsigned to)
{
    model_retain(m, id);
    rc_strong given = rc_retain_raw(loan);
    model_check_given(m, given, id, "RAW-03", "NULL-06");
    model_give(m, to, id, given);
}

static void model_apply_raw(model *m, const model_operation *operation)
{
    unsigned a = operation->operand[0];
    unsigned b = operation->operand[1];
    switch ((model_kind)operation->kind) {
    case MODEL_INTO_RAW:
        model_do_into_raw(m, a, b);
        break;
    case MODEL_FROM_RAW:
        model_do_from_raw(m, a, b);
        break;
    case MODEL_RETAIN_RAW:
        model_do_retain_raw(m, rc_payload(m->world.strong[a]), m->strong[a], b);
        break;
    case MODEL_RETAIN_RAW_UNIT:
        model_do_retain_raw(m, m->world.raw[a], m->raw[a], b);
        break;
    default:
        break;
    }
}
#endif

#if MODEL_HAS_WRAPPER
static void model_do_attach(model *m, unsigned variable)
{
    int id = m->strong[variable];
    if (id != MODEL_NONE) {
        model_object *object = &m->objects[id];
        object->wrapped = true;
        object->lets_go = false;
        object->wrapper_handle = (int)variable;
        object->retains += object->strong > 1 && model_has_hooks(object) ? 1 : 0;
    }
    m->attaching = true;
    rc_wrapper_attach(m->world.strong[variable]);
    m->attaching = false;
}

static void model_do_detach(model *m, unsigned variable)
{
    int id = m->strong[variable];
    if (id != MODEL_NONE) {
        model_object *object = &m->objects[id];
        object->wrapped = false;
        object->wrapper_handle = MODEL_NONE;
        object->releases += object->strong > 1 && model_has_hooks(object) ? 1 : 0;
    }
    m->detaching = true;
    rc_wrapper_detach(m->world.strong[variable]);
    m->detaching = false;
}

static void model_apply_wrapper(model *m, const model_operation *operation)
{
    unsigned a = operation->operand[0];
    switch ((model_kind)operation->kind) {
    case MODEL_ATTACH:
        model_do_attach(m, a);
        break;
    case MODEL_DETACH:
        model_do_detach(m, a);
        break;
    case MODEL_LETS_GO:
        m->objects[m->strong[a]].lets_go = true;
        break;
    case MODEL_REFUSE_TRIES:
        /* RELAXED: one thread. */
        atomic_fetch_xor_explicit(&m->world.refuse_tries, 1, memory_order_relaxed);
        break;
    default:
        break;
    }
}
#endif

#if MODEL_HAS_PRESET
static void model_do_preset(model *m, int id, unsigned strong, unsigned weak)
{
    model_object *object = &m->objects[id];
    rc_quiesce();
    object->strong = model_count(strong, model_real_strong(m, id), MODEL_STRONG_MAX);
    object->weak = model_count(weak, model_real_weak(m, id), MODEL_WEAK_MAX);
    rc_test_preset(model_handle(m, id), object->strong, object->weak);
}
#endif

static void model_apply(model *m, const model_operation *operation)
{
    unsigned a = operation->operand[0];
    unsigned b = operation->operand[1];
    switch ((model_kind)operation->kind) {
    case MODEL_NEW:
        model_do_new(m, a, b, 0);
        break;
    case MODEL_NEW_REFUSED:
        model_do_new(m, a, b, operation->operand[2] + 1U);
        break;
    case MODEL_NEW_HUGE:
        model_do_new_huge(m, b);
        break;
    case MODEL_RETAIN:
        model_do_retain(m, a, b);
        break;
    case MODEL_RELEASE:
        model_do_release(m, a);
        break;
    case MODEL_WRITE:
        model_do_write(m, a);
        break;
    case MODEL_ASSIGN:
        model_do_assign(m, a, b);
        break;
    case MODEL_RESET:
        model_do_reset(m, a);
        break;
    case MODEL_SWAP:
        model_do_swap(m, a, b);
        break;
    case MODEL_SET_CHILD:
        model_do_set_child(m, a, b);
        break;
    case MODEL_RESET_CHILD:
        model_do_reset_child(m, &m->objects[m->strong[a]]);
        break;
    case MODEL_SWAP_CHILD:
        model_do_swap_child(m, a, b);
        break;
    case MODEL_POP:
        model_do_pop(m, a);
        break;
    case MODEL_AT_DEATH:
        model_do_at_death(m, operation);
        break;
    case MODEL_SHARE:
        rc_share(m->world.strong[a]);
        break;
    case MODEL_QUIESCE:
        rc_quiesce();
        break;
    case MODEL_REATTACH:
        model_do_reattach(m);
        break;
#if MODEL_HAS_PRESET
    case MODEL_PRESET:
        model_do_preset(m, m->strong[a], b, operation->operand[2]);
        break;
#endif
    default:
#if MODEL_HAS_WEAK
        model_apply_weak(m, operation);
#endif
#if MODEL_HAS_RAW
        model_apply_raw(m, operation);
#endif
#if MODEL_HAS_WRAPPER
        model_apply_wrapper(m, operation);
#endif
        break;
    }
}

/* The clause that fails if the process ends in the operation. */
static const char *model_blame(const model *m, const model_operation *operation)
{
    const model_row *row = &model_rows[operation->kind];
    char type = row->operands[0];
    bool null = (type == 's' || type == 'w' || type == 'r') &&
                model_referent(m, type, operation->operand[0]) == MODEL_NONE;
    if (!null) {
        return row->clause;
    }
    switch ((model_kind)operation->kind) {
    case MODEL_RETAIN:
    case MODEL_RELEASE:
    case MODEL_SHARE:
        return "NULL-02";
    case MODEL_WEAK_RETAIN:
    case MODEL_WEAK_RELEASE:
    case MODEL_LOCK:
        return "NULL-04";
    case MODEL_WEAK_NEW:
        return "NULL-05";
    case MODEL_INTO_RAW:
    case MODEL_FROM_RAW:
    case MODEL_RETAIN_RAW:
    case MODEL_RETAIN_RAW_UNIT:
        return "NULL-06";
    case MODEL_ATTACH:
    case MODEL_DETACH:
        return "NULL-07";
    default:
        return row->clause;
    }
}

static void model_do(model *m, const model_operation *operation)
{
    m->progress->kind = operation->kind;
    m->progress->clause = model_blame(m, operation);
    m->depth++;
    model_apply(m, operation);
    m->depth--;
}

/* In finalize. Only live objects can get a strong handle there, so nothing can rise from the dead.
 */
static void model_act(model *m, const model_operation *operation)
{
    uint8_t outer_kind = m->progress->kind;
    const char *outer_clause = m->progress->clause;
    if (model_is_legal(m, operation)) {
        model_do(m, operation);
    }
    m->progress->kind = outer_kind;
    m->progress->clause = outer_clause;
}

/* ---- Comparing ---- */

/* What has just been done, for the choice of the clause that a difference breaks. */
typedef struct model_deed {
    unsigned kind;
    int target; /* the object that its first operand refers to, or NONE */
} model_deed;

/* True for operations that give nothing up: they change one object, or none. */
static bool model_changes_one(unsigned kind)
{
    return kind == MODEL_NEW || kind == MODEL_RETAIN || kind == MODEL_WRITE ||
           kind == MODEL_SHARE || kind == MODEL_WEAK_NEW || kind == MODEL_WEAK_RETAIN ||
           kind == MODEL_LOCK || kind == MODEL_INTO_RAW || kind == MODEL_FROM_RAW ||
           kind == MODEL_RETAIN_RAW || kind == MODEL_RETAIN_RAW_UNIT || kind == MODEL_ATTACH ||
           kind == MODEL_DETACH || kind == MODEL_PRESET;
}

static const char *model_strong_clause(const model *m, int id, model_deed deed)
{
    const model_object *object = &m->objects[id];
    /* RELAXED: one thread. */
    bool refuses = atomic_load_explicit(&m->world.refuse_tries, memory_order_relaxed) != 0;
    if (deed.target != id && model_changes_one(deed.kind)) {
        return "LIFE-13";
    }
    if (object->strong_pinned) {
        return "LIMIT-08";
    }
    if (MODEL_STRONG_MAX - object->strong <= 1 && deed.kind != MODEL_PRESET) {
        return "LIMIT-01";
    }
    switch (deed.kind) {
    case MODEL_NEW:
        return "LIFE-01";
    case MODEL_RETAIN:
        return "LIFE-04";
    case MODEL_LOCK:
        return refuses && object->wrapped && object->strong == 1 ? "WRAP-09" : "WEAK-02";
    case MODEL_INTO_RAW:
        return "RAW-01";
    case MODEL_FROM_RAW:
        return "RAW-02";
    case MODEL_RETAIN_RAW:
    case MODEL_RETAIN_RAW_UNIT:
        return "RAW-03";
    case MODEL_ATTACH:
    case MODEL_DETACH:
        return "WRAP-01";
    case MODEL_SHARE:
        return "THREAD-04";
    case MODEL_QUIESCE:
        return "THREAD-05";
    case MODEL_REATTACH:
        return "THREAD-01";
    default:
        return "LIFE-07";
    }
}

#if MODEL_HAS_WEAK
static const char *model_weak_clause(const model *m, int id, model_deed deed)
{
    const model_object *object = &m->objects[id];
    if (deed.target != id && model_changes_one(deed.kind)) {
        return "LIFE-13";
    }
    if (object->weak_pinned) {
        return "LIMIT-09";
    }
    if (MODEL_WEAK_MAX - object->weak <= 1 && deed.kind != MODEL_PRESET) {
        return "LIMIT-02";
    }
    return deed.kind == MODEL_NEW ? "LIFE-01" : "WEAK-09";
}
#endif

static void model_check_counts(const model *m, int id, model_deed deed)
{
    const model_object *object = &m->objects[id];
    rc_strong handle = model_handle(m, id);
    bool wanted = object->strong == 1 && object->weak == 0;
    bool unique = rc_is_unique(handle);
    MODEL_EXPECT(!unique || object->strong == 1, "LIFE-09",
                 "rc_is_unique is false while a second strong handle exists", "true");
    MODEL_EXPECT(!unique || wanted, "LIFE-10", "rc_is_unique is false while a weak handle exists",
                 "true");
    if (!MODEL_EXACT) {
        return;
    }
    MODEL_EXPECT(rc_use_count(handle) == object->strong, model_strong_clause(m, id, deed),
                 "rc_use_count is the number of strong handles",
                 "it says %" PRIu64 " of an object that has %" PRIu64, rc_use_count(handle),
                 object->strong);
#if MODEL_HAS_WEAK
    MODEL_EXPECT(rc_weak_count(handle) == object->weak, model_weak_clause(m, id, deed),
                 "rc_weak_count is the number of weak handles",
                 "it says %" PRIu64 " of an object that has %" PRIu64, rc_weak_count(handle),
                 object->weak);
#endif
    MODEL_EXPECT(unique == wanted, object->wrapped ? "WRAP-13" : "LIFE-08",
                 "rc_is_unique is true with one strong and no weak handle", "false");
}

static void model_check_alive(const model *m, int id, model_deed deed)
{
    const model_object *object = &m->objects[id];
    const rcb_payload *payload = object->payload;
    MODEL_EXPECT(m->world.finalized[id] == 0, "LIFE-02",
                 "an object with strong references is not finalized", "it was");
    MODEL_EXPECT(model_is_intact(m, id), "LIFE-06", "what was written into the payload stays",
                 "it has changed");
    MODEL_EXPECT(
        rc_payload(payload->child) ==
            (object->child == MODEL_NONE ? NULL : (void *)m->objects[object->child].payload),
        "LIFE-06", "a handle kept in a payload stays", "it is another");
    model_check_counts(m, id, deed);
#if MODEL_HAS_WRAPPER
    MODEL_EXPECT(rc_has_wrapper(model_handle(m, id)) == object->wrapped,
                 deed.kind == MODEL_ATTACH || deed.kind == MODEL_DETACH ? "WRAP-01" : "WRAP-15",
                 "rc_has_wrapper tells whether one is attached", "%s",
                 object->wrapped ? "false" : "true");
#endif
}

/* A weak handle is left: queries of a stale strong one are still defined. */
static void model_check_dead(const model *m, int id)
{
    const model_object *object = &m->objects[id];
    MODEL_EXPECT(m->world.finalized[id] == 1, "LIFE-03", "an object is finalized once",
                 "%" PRIu32 " times", m->world.finalized[id]);
    if (MODEL_EXACT) {
        m->progress->clause = "WEAK-06";
        MODEL_EXPECT(rc_use_count(object->handle) == 0, "WEAK-06",
                     "rc_use_count of a dead object stays 0 while a weak handle is left",
                     "%" PRIu64, rc_use_count(object->handle));
        MODEL_EXPECT(!rc_is_unique(object->handle), "LIFE-09", "a dead object is not unique",
                     "rc_is_unique says true");
    }
}

#if MODEL_HAS_WRAPPER
static const char *model_retains_clause(const model_object *object, uint32_t came, model_deed deed)
{
    if (deed.kind == MODEL_ATTACH) {
        return "WRAP-06";
    }
    if (deed.kind == MODEL_LOCK) {
        return object->class_index == 2 ? "WRAP-08" : "WRAP-10";
    }
    if (came > object->retains) {
        return "WRAP-04";
    }
    return deed.kind == MODEL_RETAIN_RAW || deed.kind == MODEL_RETAIN_RAW_UNIT ? "WRAP-11"
                                                                               : "WRAP-02";
}

static const char *model_releases_clause(const model_object *object, uint32_t came, model_deed deed)
{
    if (deed.kind == MODEL_DETACH) {
        return "WRAP-07";
    }
    if (came > object->releases) {
        return object->strong == 0 ? "WRAP-05" : "WRAP-04";
    }
    return "WRAP-03";
}

static void model_check_hooks(const model *m, int id, model_deed deed)
{
    const model_object *object = &m->objects[id];
    /* All RELAXED: one thread. */
    uint32_t retains = atomic_load_explicit(&m->world.wrapper_retains[id], memory_order_relaxed);
    uint32_t releases = atomic_load_explicit(&m->world.wrapper_releases[id], memory_order_relaxed);
    uint32_t tries = atomic_load_explicit(&m->world.wrapper_tries[id], memory_order_relaxed);
    if (!MODEL_IMMEDIATE) {
        MODEL_EXPECT(deed.kind != MODEL_QUIESCE || object->state != MODEL_ALIVE ||
                         retains - releases == object->retains - object->releases,
                     "WRAP-04",
                     "after rc_quiesce the wrapper is retained as often as the count says",
                     "%" PRIu32 " calls of wrapper_retain, %" PRIu32 " of wrapper_release", retains,
                     releases);
        return;
    }
    MODEL_EXPECT(tries == object->tries, "WRAP-08",
                 "a lock from 1 to 2 asks wrapper_try_retain once, and nothing else does",
                 "%" PRIu32 " calls of it in all instead of %" PRIu32, tries, object->tries);
    MODEL_EXPECT(retains == object->retains, model_retains_clause(object, retains, deed),
                 "wrapper_retain is called once at each edge from 1 to 2",
                 "%" PRIu32 " calls of it in all instead of %" PRIu32, retains, object->retains);
    MODEL_EXPECT(releases == object->releases, model_releases_clause(object, releases, deed),
                 "wrapper_release is called once at each edge from 2 to 1",
                 "%" PRIu32 " calls of it in all instead of %" PRIu32, releases, object->releases);
}
#endif

static void model_check_variables(const model *m)
{
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        int id = m->strong[i];
        rc_strong handle = m->world.strong[i];
        MODEL_EXPECT(rc_is_null(handle) == (id == MODEL_NONE), "NULL-01",
                     "the null handle is null and no other is", "rc_is_null says %s",
                     id == MODEL_NONE ? "false" : "true");
        MODEL_EXPECT(
            rc_payload(handle) == (id == MODEL_NONE ? NULL : (void *)m->objects[id].payload),
            id == MODEL_NONE ? "NULL-01" : "LIFE-06",
            "every handle of an object lends the same payload address, and null lends NULL", "%p",
            rc_payload(handle));
    }
}

static void model_check_null(void)
{
    MODEL_EXPECT(rc_use_count(rc_null()) == 0 && !rc_is_unique(rc_null()), "NULL-03",
                 "the use count of null is 0, and null is not unique", "something else");
#if MODEL_HAS_WEAK
    MODEL_EXPECT(rc_weak_count(rc_null()) == 0, "NULL-05", "the weak count of null is 0",
                 "%" PRIu64, rc_weak_count(rc_null()));
    MODEL_EXPECT(rc_weak_expired(rc_weak_null()), "NULL-04", "the null weak handle is expired",
                 "rc_weak_expired says false");
#endif
#if MODEL_HAS_WRAPPER
    MODEL_EXPECT(!rc_has_wrapper(rc_null()), "NULL-07", "null has no wrapper",
                 "rc_has_wrapper says true");
#endif
}

#if MODEL_HAS_WEAK
static void model_check_weak(model *m, int id, rc_weak weak)
{
    MODEL_EXPECT(rc_weak_is_null(weak) == (id == MODEL_NONE), "NULL-05",
                 "a weak handle is null if it was made from null, and no other is",
                 "rc_weak_is_null says %s", id == MODEL_NONE ? "false" : "true");
    if (id == MODEL_NONE) {
        return;
    }
    model_object *object = &m->objects[id];
    bool expired = rc_weak_expired(weak);
    if (object->state == MODEL_DOOMED && !object->expired) {
        object->expired = expired;
        return;
    }
    MODEL_EXPECT(expired == (object->state != MODEL_ALIVE), "WEAK-05",
                 "rc_weak_expired is false while the object lives, and true afterwards", "%s",
                 expired ? "true" : "false");
}
#endif

/* Memory of objects that are finalized but have weak handles may go early; that of others may not.
 */
static void model_check_memory(model *m, uint64_t freed, unsigned died_with_weak)
{
    uint64_t live = rcb_heap_live_blocks();
    uint64_t wanted = 0;
    bool dead = false;
    for (unsigned i = 0; i < MODEL_OBJECTS; i++) {
        wanted += m->objects[i].blocks;
        dead = dead || m->objects[i].state == MODEL_DEAD;
    }
    m->blocks_known = m->blocks_known && MODEL_IMMEDIATE && rcb_heap_requests() == m->requests;
    if (!m->blocks_known) {
        return;
    }
    if (MODEL_EARLY_FREE && died_with_weak > 0) {
        MODEL_EXPECT(live + died_with_weak <= wanted, "MEM-09",
                     "the payload's memory returns when the object dies",
                     "%" PRIu64 " blocks are live, %" PRIu64 " before the death", live, wanted);
    }
    MODEL_EXPECT(live <= wanted, "MEM-01", "memory comes back with the last handle",
                 "%" PRIu64 " blocks are live instead of %" PRIu64 ", %" PRIu64 " should have gone",
                 live, wanted, freed);
    MODEL_EXPECT(live == wanted || dead, "WEAK-06", "memory stays while a handle is left",
                 "%" PRIu64 " blocks are live instead of %" PRIu64, live, wanted);
    if (live == wanted) {
        return;
    }
    /* Some went early. Whose is known only if each that died now gave one. */
    m->blocks_known = wanted - live == died_with_weak;
    for (unsigned i = 0; i < MODEL_OBJECTS && m->blocks_known; i++) {
        model_object *object = &m->objects[i];
        bool fresh = object->state == MODEL_DEAD && !object->gave_early;
        object->blocks -= fresh ? 1 : 0;
        object->gave_early = object->gave_early || fresh;
    }
}

/* After an operation, outside of every hook: who has died is dead. */
static void model_settle(model *m, model_deed deed)
{
    uint64_t freed = 0;
    unsigned died_with_weak = 0;
    for (int id = 0; id < MODEL_OBJECTS; id++) {
        model_object *object = &m->objects[id];
        if (object->state == MODEL_FREE) {
            continue;
        }
        bool due = MODEL_IMMEDIATE || deed.kind == MODEL_QUIESCE;
        if (object->state == MODEL_DOOMED && due && !object->weak_pinned) {
            rc_quiesce();
            MODEL_EXPECT(object->state == MODEL_DOOMED, "LIFE-05",
                         "finalize runs before the outermost rc_release returns",
                         "it runs in a later rc_quiesce");
            MODEL_EXPECT(false, object->weak > 0 ? "WEAK-01" : "LIFE-02",
                         "the last strong reference finalizes the object", "finalize does not run");
        }
#if MODEL_HAS_WRAPPER
        model_check_hooks(m, id, deed);
#endif
        if (object->state != MODEL_DYING && object->state != MODEL_DEAD) {
            continue;
        }
        died_with_weak += object->state == MODEL_DYING && object->weak > 0 ? 1 : 0;
        object->state = MODEL_DEAD;
        if (object->weak == 0) {
            freed += object->blocks;
            object->blocks = 0;
            object->state = MODEL_FREE;
        }
    }
    model_check_memory(m, freed, died_with_weak);
    if (m->let_go) {
        m->let_go = false;
        const char *wrong = rcb_heap_check();
        MODEL_EXPECT(wrong == NULL, "WRAP-12", "nothing is touched after wrapper_release", "%s",
                     wrong);
    }
}

/* Compares everything that can be seen. */
static void model_check(model *m, model_deed deed)
{
    model_settle(m, deed);
    model_check_variables(m);
    model_check_null();
    for (int id = 0; id < MODEL_OBJECTS; id++) {
        if (m->objects[id].state == MODEL_ALIVE) {
            model_check_alive(m, id, deed);
        } else if (m->objects[id].state == MODEL_DEAD) {
            model_check_dead(m, id);
        }
    }
#if MODEL_HAS_WEAK
    m->progress->clause = "WEAK-06";
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        model_check_weak(m, m->weak[i], m->world.weak[i]);
    }
#endif
}

/* ---- A sequence ---- */

/* Does the operation if it is legal, and compares. False: it was left out. */
static bool model_step(model *m, const model_operation *operation)
{
    if (!model_is_legal(m, operation)) {
        return false;
    }
    char type = model_rows[operation->kind].operands[0];
    model_deed deed = {operation->kind, model_referent(m, type, operation->operand[0])};
    model_do(m, operation);
    if (type == 'S') {
        deed.target = model_referent(m, type, operation->operand[0]);
    }
    model_check(m, deed);
    return true;
}

static void model_step_of(model *m, model_kind kind, unsigned a, unsigned b, unsigned c)
{
    const model_operation operation = {.kind = (uint8_t)kind,
                                       .operand = {(uint8_t)a, (uint8_t)b, (uint8_t)c}};
    model_step(m, &operation);
}

static void model_begin(model *m, rcb_placement placement, model_progress *progress)
{
    rcb_heap_reset(placement);
    rc_thread_attach();
    model_clear(m, progress);
    m->world.on_finalize = model_on_finalize;
#if MODEL_HAS_WRAPPER
    m->world.on_wrapper_retain = model_on_wrapper_retain;
    m->world.on_wrapper_release = model_on_wrapper_release;
#endif
}

/* Lets go of every variable that may be let go of; a saturated object's are just forgotten. */
static void model_release_variables(model *m)
{
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        if (m->strong[i] == MODEL_NONE) {
            continue;
        }
        if (!model_can_release(m, i)) {
            model_step_of(m, MODEL_DETACH, i, 0, 0);
        }
        model_step_of(m, MODEL_RELEASE, i, 0, 0);
    }
#if MODEL_HAS_RAW
    for (unsigned i = 0; i < MODEL_RAWS; i++) {
        if (m->raw[i] != MODEL_NONE) {
            model_step_of(m, MODEL_FROM_RAW, i, 0, 0);
            model_step_of(m, MODEL_RELEASE, 0, 0, 0);
        }
    }
#endif
}

static void model_release_weak_variables(model *m)
{
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        if (m->weak[i] != MODEL_NONE) {
            model_step_of(m, MODEL_WEAK_RELEASE, i, 0, 0);
        }
    }
}

#if MODEL_HAS_PRESET
/* Takes every preset back that still can be. */
static void model_restore(model *m)
{
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        if (m->strong[i] == MODEL_NONE) {
            continue;
        }
        const model_object *object = &m->objects[m->strong[i]];
        if (object->strong == model_real_strong(m, m->strong[i]) &&
            object->weak == model_real_weak(m, m->strong[i])) {
            continue;
        }
        if (object->wrapped && !object->strong_pinned) {
            model_step_of(m, MODEL_DETACH, (unsigned)object->wrapper_handle, 0, 0);
        }
        model_step_of(m, MODEL_PRESET, i, MODEL_REAL, MODEL_REAL);
    }
}
#endif

/* An object that nobody can reach lives only by handles in payloads, or by units that a preset
 * made. */
static void model_release_unreachable(model *m)
{
    model_deed deed = {MODEL_RESET_CHILD, MODEL_NONE};
    for (int id = 0; id < MODEL_OBJECTS; id++) {
        model_object *object = &m->objects[id];
        if (object->state != MODEL_ALIVE || object->child == MODEL_NONE) {
            continue;
        }
        m->progress->kind = MODEL_RESET_CHILD;
        m->progress->clause = model_rows[MODEL_RESET_CHILD].clause;
        m->depth++;
        model_do_reset_child(m, object);
        m->depth--;
        model_check(m, deed);
    }
#if MODEL_HAS_PRESET
    for (int id = 0; id < MODEL_OBJECTS; id++) {
        model_object *object = &m->objects[id];
        if (object->state != MODEL_ALIVE || object->strong_pinned || object->weak_pinned ||
            model_real_strong(m, id) != 0) {
            continue;
        }
        m->progress->kind = MODEL_RELEASE;
        m->progress->clause = model_rows[MODEL_RELEASE].clause;
        m->depth++;
        object->strong = 1;
        object->weak = model_real_weak(m, id);
        rc_test_preset(object->handle, object->strong, object->weak);
        model_release(m, id);
        rc_release(object->handle);
        m->depth--;
        model_check(m, deed);
    }
#endif
}

static bool model_is_over(const model *m)
{
    for (unsigned i = 0; i < MODEL_VARIABLES; i++) {
        if (m->strong[i] != MODEL_NONE || m->weak[i] != MODEL_NONE) {
            return false;
        }
    }
    for (unsigned i = 0; i < MODEL_OBJECTS; i++) {
        const model_object *object = &m->objects[i];
        if (object->state == MODEL_ALIVE && !object->strong_pinned && !object->weak_pinned) {
            return false;
        }
    }
    return true;
}

/* Lets go of everything, in one order or the other, and sees that all memory has come back. */
static void model_end(model *m, bool weak_first)
{
    m->progress->ending = true;
    /* Finalizers may fill variables again, each once. */
    for (unsigned round = 0; round < 3 * MODEL_OBJECTS && !model_is_over(m); round++) {
#if MODEL_HAS_PRESET
        model_restore(m);
#endif
        if (weak_first) {
            model_release_weak_variables(m);
        }
        model_release_variables(m);
        model_release_unreachable(m);
        model_release_weak_variables(m);
        if (!MODEL_IMMEDIATE) {
            model_step_of(m, MODEL_QUIESCE, 0, 0, 0);
        }
    }
    model_step_of(m, MODEL_QUIESCE, 0, 0, 0);
    m->progress->kind = MODEL_REATTACH;
    m->progress->clause = "THREAD-01";
    rc_thread_detach();
    bool kept = false; /* a saturated object keeps its memory and what it holds */
    for (unsigned i = 0; i < MODEL_OBJECTS; i++) {
        kept = kept || m->objects[i].state != MODEL_FREE;
    }
    MODEL_EXPECT(kept || rcb_heap_live_blocks() == 0, "MEM-01", "all memory has come back",
                 "%" PRIu64 " blocks with %" PRIu64 " bytes are still live", rcb_heap_live_blocks(),
                 rcb_heap_live_bytes());
    const char *wrong = rcb_heap_check();
    MODEL_EXPECT(wrong == NULL, "MEM-01", "freed memory is left alone", "%s", wrong);
}

#undef MODEL_EXPECT

#endif
