#include "generate.h"

enum { MUTEX = PROGRAM_LOCATIONS_MAX - 1 };

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
     .weight = {[PROGRAM_LOAD] = 32,
                [PROGRAM_STORE] = 30,
                [PROGRAM_FENCE] = 28,
                [PROGRAM_ADD] = 10},
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
     .weight = {[PROGRAM_LOAD] = 30,
                [PROGRAM_STORE] = 36,
                [PROGRAM_ADD] = 4,
                [PROGRAM_READ] = 30},
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

program program_generate(const profile *of, uint64_t seed)
{
    maker m = {.of = of, .state = seed * UINT64_C(0x2545f4914f6cdd1d), .next_value = 3};
    program p = {.operation = {{{.kind = PROGRAM_END}}}};
    unsigned threads = 2U + chance(&m, 45) + chance(&m, 15);
    unsigned left = threads + below(&m, of->operations - threads + 1);
    m.locations = 1 + below(&m, of->locations - of->quiet);
    for (unsigned t = 0; t < threads; t++) {
        unsigned later = threads - 1 - t;
        unsigned share = t + 1 == threads ? left : 1 + below(&m, 2 * left / (later + 1));
        share = share > left - later ? left - later : share;
        share = share > 5 ? 5 : share;
        left -= share;
        program_operation *to = p.operation[t];
        const program_operation *read = NULL;
        unsigned lock = of->sections && chance(&m, 85) ? below(&m, share) : share;
        unsigned unlock = lock + below(&m, share - lock + 1);
        for (unsigned i = 0; i < share; i++) {
            if (i == lock) {
                *to++ = (program_operation){.kind = PROGRAM_LOCK, .location = MUTEX, .value = 1};
            }
            program_operation op = random_operation(&m);
            if (read && to - p.operation[t] < PROGRAM_OPERATIONS_MAX - 2 - (int)(share - i) - 1 &&
                chance(&m, of->condition)) {
                *to++ = random_condition(&m, read);
            }
            *to = op;
            if (program_reads(op.kind) && (!read || chance(&m, 70))) {
                read = to;
            }
            to++;
            if (lock < share && (i == unlock || (i + 1 == share && unlock >= share))) {
                *to++ = (program_operation){.kind = PROGRAM_UNLOCK, .location = MUTEX};
            }
        }
    }
    return p;
}
