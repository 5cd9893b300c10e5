#include "litmus.h"

#include "enumerate.h"

enum { x, y, z, a, f, m, n };
enum {
    rlx = __ATOMIC_RELAXED,
    con = __ATOMIC_CONSUME,
    acq = __ATOMIC_ACQUIRE,
    rel = __ATOMIC_RELEASE,
    acq_rel = __ATOMIC_ACQ_REL,
    sc = __ATOMIC_SEQ_CST
};

#define LITMUS(l, v, threads, wanted) {#l, LITMUS_##v, {.operation = {threads}}, {wanted}},
#define THREAD(t, ...) [t] = {__VA_ARGS__},

#define R(r, l, o) {.kind = PROGRAM_LOAD, .reg = (r), .location = (l), .order = (o)},
#define W(l, v, o) {.kind = PROGRAM_STORE, .location = (l), .value = (v), .order = (o)},
#define ADD(r, l, v, o)                                                                            \
    {.kind = PROGRAM_ADD, .reg = (r), .location = (l), .value = (v), .order = (o)},
#define XCHG(r, l, v, o)                                                                           \
    {.kind = PROGRAM_EXCHANGE, .reg = (r), .location = (l), .value = (v), .order = (o)},
#define COMPARE(k, r, l, e, v, o, f)                                                               \
    {.kind = (k),                                                                                  \
     .reg = (r),                                                                                   \
     .location = (l),                                                                              \
     .expected = (e),                                                                              \
     .value = (v),                                                                                 \
     .order = (o),                                                                                 \
     .failure = (f)},
#define CAS(r, l, e, v, o, f) COMPARE(PROGRAM_CAS, r, l, e, v, o, f)
#define CASW(r, l, e, v, o, f) COMPARE(PROGRAM_CAS_WEAK, r, l, e, v, o, f)
#define F(o) {.kind = PROGRAM_FENCE, .order = (o)},
#define PR(r, l) {.kind = PROGRAM_READ, .reg = (r), .location = (l)},
#define PW(l, v) {.kind = PROGRAM_WRITE, .location = (l), .value = (v)},
#define FREE(l) {.kind = PROGRAM_FREE, .location = (l)},
#define LOCK(l) {.kind = PROGRAM_LOCK, .location = (l), .value = 1},
#define UNLOCK(l) {.kind = PROGRAM_UNLOCK, .location = (l)},
#define IF(r, v) {.kind = PROGRAM_IF, .reg = (r), .value = (v)},
#define IFOK(r) {.kind = PROGRAM_IF_OK, .reg = (r)},

#define IS(r, v) {TERM_IS, r, v},
#define STORED(r) {TERM_STORED, r, 0},
#define FAILED(r) {TERM_FAILED, r, 0},
#define LAST(l, v) {TERM_LAST, l, v},

const litmus litmus_list[] = {
#include "litmus.def"
};
const size_t litmus_count = sizeof litmus_list / sizeof *litmus_list;

unsigned litmus_bad(litmus_verdict verdict)
{
    switch (verdict) {
    case LITMUS_RACES:
        return ANSWER_RACE;
    case LITMUS_DEADLOCKS:
        return ANSWER_DEADLOCK;
    case LITMUS_USES_FREED:
        return ANSWER_USE_AFTER_FREE;
    case LITMUS_DOUBLE_FREED:
        return ANSWER_DOUBLE_FREE;
    default:
        return 0;
    }
}

static bool fits(const litmus *l, const program_outcome *outcome)
{
    for (unsigned i = 0; i < LITMUS_TERMS_MAX && l->outcome[i].kind != TERM_END; i++) {
        unsigned number = l->outcome[i].number;
        unsigned state = number < PROGRAM_REGISTERS_MAX ? outcome->state[number] : REGISTER_UNSET;
        bool fine = false;
        switch (l->outcome[i].kind) {
        case TERM_IS:
            fine = state != REGISTER_UNSET && outcome->reg[number] == l->outcome[i].value;
            break;
        case TERM_STORED:
            fine = state == REGISTER_STORED;
            break;
        case TERM_FAILED:
            fine = state == REGISTER_READ;
            break;
        default:
            fine = outcome->last[number] == l->outcome[i].value;
            break;
        }
        if (!fine) {
            return false;
        }
    }
    return true;
}

bool litmus_shows(const litmus *l, const outcome_set *outcomes)
{
    for (size_t i = 0; i < outcomes->count; i++) {
        if (fits(l, &outcomes->item[i])) {
            return true;
        }
    }
    return false;
}
