#include "generate.h"

#include <string.h>

#include "litmus.h"

enum {
    MUTEXES = 2, /* the last two locations */
    MUTEX = PROGRAM_LOCATIONS_MAX - MUTEXES,
    THREAD_MAX = 5 /* operations of a thread, without locks and conditions */
};

const profile profiles[] = {
    {.name = "atomics",
     .weight = {[PROGRAM_LOAD] = 34,
                [PROGRAM_STORE] = 30,
                [PROGRAM_ADD] = 14,
                [PROGRAM_EXCHANGE] = 10,
                [PROGRAM_CAS] = 12},
     .locations = 3,
     .operations = 11,
     .condition = 5,
     .seq_cst = 3,
     .relaxed = 50},
    {.name = "seq_cst",
     .weight = {[PROGRAM_LOAD] = 30,
                [PROGRAM_STORE] = 30,
                [PROGRAM_FENCE] = 18,
                [PROGRAM_ADD] = 10,
                [PROGRAM_EXCHANGE] = 6,
                [PROGRAM_CAS] = 6},
     .locations = 3,
     .operations = 12,
     .condition = 5,
     .seq_cst = 60,
     .relaxed = 50},
    {.name = "fences",
     .weight =
         {[PROGRAM_LOAD] = 32, [PROGRAM_STORE] = 30, [PROGRAM_FENCE] = 28, [PROGRAM_ADD] = 10},
     .locations = 3,
     .operations = 12,
     .condition = 5,
     .seq_cst = 15,
     .relaxed = 80},
    {.name = "plain", /* counters, and what they protect */
     .weight = {[PROGRAM_LOAD] = 14,
                [PROGRAM_STORE] = 10,
                [PROGRAM_ADD] = 34,
                [PROGRAM_CAS] = 6,
                [PROGRAM_FENCE] = 4,
                [PROGRAM_READ] = 10,
                [PROGRAM_WRITE] = 14,
                [PROGRAM_FREE] = 8},
     .locations = 2,
     .operations = 10,
     .condition = 45,
     .seq_cst = 5,
     .relaxed = 15},
    {.name = "counter", /* one word that all change, and that someone ends */
     .weight = {[PROGRAM_LOAD] = 8,
                [PROGRAM_ADD] = 56,
                [PROGRAM_CAS] = 8,
                [PROGRAM_READ] = 6,
                [PROGRAM_WRITE] = 11,
                [PROGRAM_FREE] = 11},
     .locations = 1,
     .operations = 7,
     .condition = 35,
     .seq_cst = 5,
     .relaxed = 8},
    {.name = "plain_seq_cst",
     .weight = {[PROGRAM_LOAD] = 24,
                [PROGRAM_STORE] = 24,
                [PROGRAM_ADD] = 20,
                [PROGRAM_CAS] = 8,
                [PROGRAM_FENCE] = 6,
                [PROGRAM_READ] = 8,
                [PROGRAM_WRITE] = 10},
     .locations = 3,
     .operations = 11,
     .condition = 30,
     .seq_cst = 60,
     .relaxed = 20},
    {.name = "quiet", /* plain accesses count as events between seq_cst ones */
     .weight = {[PROGRAM_LOAD] = 30, [PROGRAM_STORE] = 36, [PROGRAM_ADD] = 4, [PROGRAM_READ] = 30},
     .locations = 3,
     .operations = 11,
     .condition = 0,
     .seq_cst = 55,
     .relaxed = 10,
     .quiet = true},
    {.name = "compare",
     .weight = {[PROGRAM_LOAD] = 14,
                [PROGRAM_STORE] = 14,
                [PROGRAM_ADD] = 10,
                [PROGRAM_EXCHANGE] = 4,
                [PROGRAM_CAS] = 28,
                [PROGRAM_CAS_WEAK] = 24},
     .locations = 2,
     .operations = 10,
     .condition = 30,
     .seq_cst = 10,
     .relaxed = 45},
    {.name = "mutex",
     .weight = {[PROGRAM_LOAD] = 26,
                [PROGRAM_STORE] = 22,
                [PROGRAM_ADD] = 12,
                [PROGRAM_READ] = 14,
                [PROGRAM_WRITE] = 14},
     .locations = 2,
     .operations = 9,
     .condition = 15,
     .seq_cst = 5,
     .relaxed = 60,
     .sections = true},
    {.name = "mutated", /* litmus programs with a few changes */
     .weight = {[PROGRAM_LOAD] = 24,
                [PROGRAM_STORE] = 24,
                [PROGRAM_ADD] = 10,
                [PROGRAM_CAS] = 4,
                [PROGRAM_FENCE] = 14,
                [PROGRAM_READ] = 24},
     .seq_cst = 45,
     .relaxed = 40,
     .from_litmus = true},
};
const unsigned profile_count = sizeof profiles / sizeof *profiles;

typedef struct maker {
    const profile *of;
    uint64_t state;
    unsigned locations, registers;
    uint32_t next_value;
    bool freed[PROGRAM_LOCATIONS_MAX];
} maker;

/* splitmix64 */
static uint64_t next_random(maker *m)
{
    m->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = m->state;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static unsigned below(maker *m, unsigned limit)
{
    return (unsigned)(next_random(m) % limit);
}

static bool chance(maker *m, unsigned per_cent)
{
    return below(m, 100) < per_cent;
}

static program_kind random_kind(maker *m)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < PROGRAM_KINDS; i++) {
        sum += m->of->weight[i];
    }
    unsigned at = below(m, sum);
    unsigned kind = 0;
    while (at >= m->of->weight[kind]) {
        at -= m->of->weight[kind++];
    }
    return (program_kind)kind;
}

static int random_order(maker *m, bool reads, bool writes)
{
    if (chance(m, m->of->seq_cst)) {
        return __ATOMIC_SEQ_CST;
    }
    if (chance(m, m->of->relaxed)) {
        return __ATOMIC_RELAXED;
    }
    if (reads && writes) {
        static const int orders[] = {__ATOMIC_ACQUIRE, __ATOMIC_RELEASE, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQ_REL};
        return orders[below(m, 4)];
    }
    return reads ? __ATOMIC_ACQUIRE : __ATOMIC_RELEASE;
}

/* Mostly values of their own, so that a value tells the store; sometimes one that others store too. */
static uint32_t random_value(maker *m)
{
    return chance(m, 70) ? m->next_value++ : below(m, 3);
}

static program_operation random_operation(maker *m)
{
    program_operation op = {.kind = random_kind(m), .location = below(m, m->locations)};
    if (op.kind == PROGRAM_FREE && m->freed[op.location] && chance(m, 70)) {
        op.kind = PROGRAM_ADD;
    }
    if (m->of->quiet && (op.kind == PROGRAM_READ || (op.kind == PROGRAM_LOAD && chance(m, 25)))) {
        op.location = m->locations;
    }
    bool reads = program_reads(op.kind) || op.kind == PROGRAM_FENCE;
    bool writes = program_may_write(op.kind) || op.kind == PROGRAM_FENCE;
    op.order = random_order(m, reads, writes);
    switch (op.kind) {
    case PROGRAM_ADD:
        op.value = 1 + below(m, 2);
        break;
    case PROGRAM_CAS:
    case PROGRAM_CAS_WEAK:
        op.expected = below(m, 3);
        op.value = random_value(m);
        op.failure = random_order(m, true, false);
        break;
    case PROGRAM_FENCE:
        op.location = 0;
        if (op.order == __ATOMIC_RELAXED) {
            op.order = __ATOMIC_ACQ_REL;
        }
        break;
    case PROGRAM_FREE:
        m->freed[op.location] = true;
        break;
    default:
        if (writes) {
            op.value = random_value(m);
        }
        break;
    }
    if (program_reads(op.kind)) {
        op.reg = m->registers++;
    }
    return op;
}

/* On an earlier read of the same thread. */
static program_operation random_condition(maker *m, const program_operation *read)
{
    bool compares = read->kind == PROGRAM_CAS || read->kind == PROGRAM_CAS_WEAK;
    program_operation op = {.kind = PROGRAM_IF, .reg = read->reg};
    if (compares && chance(m, 50)) {
        op.kind = PROGRAM_IF_OK;
    } else {
        op.value = below(m, 3);
    }
    return op;
}

/* ---- From nothing ---- */

/* A thread's operations from `lock` to `unlock` hold a mutex; none, if unlock < lock. */
typedef struct section {
    unsigned lock, unlock;
} section;

static section random_section(maker *m, unsigned operations, unsigned per_cent)
{
    if (!m->of->sections || !chance(m, per_cent)) {
        return (section){1, 0};
    }
    unsigned lock = below(m, operations);
    return (section){lock, lock + below(m, operations - lock)};
}

typedef struct writer {
    program_operation *operations;
    unsigned count;
} writer;

static void put(writer *w, program_operation op)
{
    w->operations[w->count++] = op;
}

static void random_thread(maker *m, program_operation *operations, unsigned length)
{
    writer w = {.operations = operations};
    section sections[MUTEXES] = {random_section(m, length, 85), random_section(m, length, 30)};
    int read = -1;
    for (unsigned i = 0; i < length; i++) {
        for (unsigned s = 0; s < MUTEXES; s++) {
            if (sections[s].lock <= sections[s].unlock && sections[s].lock == i) {
                put(&w,
                    (program_operation){.kind = PROGRAM_LOCK, .location = MUTEX + s, .value = 1});
            }
        }
        /* Room for what must follow: this one, the others, and the locks. */
        unsigned reserved = length - i + (m->of->sections ? 2 * MUTEXES : 0);
        if (read >= 0 && w.count + reserved < PROGRAM_OPERATIONS_MAX &&
            chance(m, m->of->condition)) {
            put(&w, random_condition(m, &operations[read]));
        }
        put(&w, random_operation(m));
        if (program_reads(operations[w.count - 1].kind) && (read < 0 || chance(m, 70))) {
            read = (int)w.count - 1;
        }
        for (unsigned s = 0; s < MUTEXES; s++) {
            if (sections[s].lock <= sections[s].unlock && sections[s].unlock == i) {
                put(&w, (program_operation){.kind = PROGRAM_UNLOCK, .location = MUTEX + s});
            }
        }
    }
}

static program from_nothing(maker *m)
{
    program p = {.operation = {{{.kind = PROGRAM_END}}}};
    unsigned threads = 2U + chance(m, 45) + chance(m, 15);
    unsigned left = threads + below(m, m->of->operations - threads + 1);
    m->locations = 1 + below(m, m->of->locations - m->of->quiet);
    for (unsigned t = 0; t < threads; t++) {
        unsigned later = threads - 1 - t;
        unsigned share = later == 0 ? left : 1 + below(m, 2 * left / (later + 1));
        share = share > left - later ? left - later : share;
        share = share > THREAD_MAX ? THREAD_MAX : share;
        left -= share;
        random_thread(m, p.operation[t], share);
    }
    return p;
}

/* ---- From a litmus program ---- */

static program_operation *pick_operation(maker *m, program *p, unsigned *thread, unsigned *index)
{
    *thread = below(m, program_threads(p));
    *index = below(m, program_length(p, *thread));
    return &p->operation[*thread][*index];
}

static void change_order(maker *m, program_operation *op)
{
    bool fence = op->kind == PROGRAM_FENCE;
    bool reads = fence || program_reads(op->kind);
    bool writes = fence || program_may_write(op->kind);
    op->order = random_order(m, reads, writes);
    if (fence && op->order == __ATOMIC_RELAXED) {
        op->order = __ATOMIC_SEQ_CST;
    }
}

static void insert_operation(maker *m, program *p, unsigned thread, unsigned index)
{
    unsigned length = program_length(p, thread);
    program_operation *at = &p->operation[thread][index];
    if (length == PROGRAM_OPERATIONS_MAX || m->registers == PROGRAM_REGISTERS_MAX) {
        return;
    }
    memmove(at + 1, at, (length - index) * sizeof *at);
    *at = random_operation(m);
}

static void mutate(maker *m, program *p)
{
    unsigned thread = 0;
    unsigned index = 0;
    program_operation *op = pick_operation(m, p, &thread, &index);
    bool mutex = op->kind == PROGRAM_LOCK || op->kind == PROGRAM_UNLOCK;
    switch (below(m, 7)) {
    case 0:
    case 1:
    case 2:
        change_order(m, op);
        break;
    case 3:
    case 4:
        insert_operation(m, p, thread, index);
        break;
    case 5:
        if (!mutex) {
            op->location = below(m, 3);
        }
        break;
    default:
        if (index > 0) {
            program_operation before = op[-1];
            op[-1] = *op;
            *op = before;
        }
        break;
    }
}

static program from_litmus(maker *m)
{
    program p = litmus_list[below(m, (unsigned)litmus_count)].program;
    m->locations = 3;
    m->registers = 0;
    for (unsigned t = 0; t < program_threads(&p); t++) {
        for (unsigned i = 0; i < program_length(&p, t); i++) {
            if (program_reads(p.operation[t][i].kind) && p.operation[t][i].reg >= m->registers) {
                m->registers = p.operation[t][i].reg + 1;
            }
        }
    }
    for (unsigned changes = 1 + below(m, 4); changes > 0; changes--) {
        program before = p;
        mutate(m, &p);
        if (!program_mutexes_pair(&p)) {
            p = before;
        }
    }
    return p;
}

program program_generate(const profile *of, uint64_t seed)
{
    maker m = {.of = of, .state = seed * UINT64_C(0x2545f4914f6cdd1d), .next_value = 3};
    return of->from_litmus ? from_litmus(&m) : from_nothing(&m);
}
