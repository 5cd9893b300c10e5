/* First every choice of where reads read from, with the values that follow (resolve); then the relations
 * that do not depend on modification order (happens before, races); then every modification order of
 * each location (orders); then, if anything is seq_cst, every combination of these (psc). */
#include "enumerate.h"

#include <string.h>

enum { EVENTS_MAX = 32, ORDERS_MAX = 4096, WRITES_MAX = 12 };

/* A relation among events: bit j of row i says that i is related to j. */
typedef struct relation {
    uint32_t row[EVENTS_MAX];
} relation;

typedef struct event {
    program_kind kind; /* PROGRAM_END: the location's first store */
    unsigned thread, location;
    int order;
    bool reads, writes, plain;
    unsigned from; /* the event it reads from */
    uint32_t value_read, value_written;
} event;

/* What is known of an operation while an execution is put together. */
typedef enum progress { UNKNOWN, SKIPPED, NO_STORE, STORE } progress;

/* A source that a waiting read has chosen: a location's first store, or an operation. */
typedef struct source {
    bool chosen, first;
    bool never; /* a lock that waits for ever */
    unsigned thread, index;
} source;

typedef struct partial {
    event events[EVENTS_MAX];
    unsigned count;
    unsigned next[PROGRAM_THREADS_MAX]; /* operation */
    source wanted[PROGRAM_THREADS_MAX]; /* by its next operation */
    progress known[PROGRAM_THREADS_MAX][PROGRAM_OPERATIONS_MAX];
    unsigned char number[PROGRAM_THREADS_MAX][PROGRAM_OPERATIONS_MAX]; /* of its event */
    program_outcome outcome;
} partial;

typedef struct sequence {
    unsigned char at[WRITES_MAX];
    unsigned count;
} sequence;

typedef struct search {
    const program *p;
    unsigned threads, locations;
    uint64_t budget;
    bool too_large;
    program_answer *answer;
    /* Of one execution: */
    relation po, hb;
    sequence orders[PROGRAM_LOCATIONS_MAX][ORDERS_MAX];
    unsigned order_count[PROGRAM_LOCATIONS_MAX];
} search;

/* ---- Relations ---- */

static bool related(const relation *r, unsigned i, unsigned j)
{
    return r->row[i] >> j & 1;
}

static void relate(relation *r, unsigned i, unsigned j)
{
    r->row[i] |= UINT32_C(1) << j;
}

static relation unite(const relation *a, const relation *b)
{
    relation out;
    for (unsigned i = 0; i < EVENTS_MAX; i++)
        out.row[i] = a->row[i] | b->row[i];
    return out;
}

static relation compose(const relation *a, const relation *b)
{
    relation out = {{0}};
    for (unsigned i = 0; i < EVENTS_MAX; i++)
        for (uint32_t left = a->row[i]; left; left &= left - 1)
            out.row[i] |= b->row[__builtin_ctz(left)];
    return out;
}

static relation close_transitively(relation r)
{
    for (unsigned k = 0; k < EVENTS_MAX; k++)
        for (unsigned i = 0; i < EVENTS_MAX; i++)
            if (related(&r, i, k))
                r.row[i] |= r.row[k];
    return r;
}

static bool irreflexive(const relation *r)
{
    for (unsigned i = 0; i < EVENTS_MAX; i++)
        if (related(r, i, i))
            return false;
    return true;
}

static bool acyclic(const relation *r)
{
    relation closed = close_transitively(*r);
    return irreflexive(&closed);
}

/* r? */
static relation or_same(relation r)
{
    for (unsigned i = 0; i < EVENTS_MAX; i++)
        relate(&r, i, i);
    return r;
}

/* [from]; r; [to] with sets of events as bits. */
static relation restrict_to(relation r, uint32_t from, uint32_t to)
{
    for (unsigned i = 0; i < EVENTS_MAX; i++)
        r.row[i] = from >> i & 1 ? r.row[i] & to : 0;
    return r;
}

/* ---- Kinds of events ---- */

static bool is_release(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool is_acquire(int order)
{
    return order == __ATOMIC_CONSUME || order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}

static bool is_access(const event *e)
{
    return e->reads || e->writes;
}

static bool same_location(const event *a, const event *b)
{
    return is_access(a) && is_access(b) && a->location == b->location;
}

static bool is_seq_cst(const event *e)
{
    return e->order == __ATOMIC_SEQ_CST && !e->plain && e->kind != PROGRAM_END;
}

static bool is_update(const event *e)
{
    return e->reads && e->writes;
}

/* ---- Relations of one execution ---- */

static relation program_order(const partial *g, unsigned locations)
{
    relation po = {{0}};
    for (unsigned i = 0; i < g->count; i++)
        for (unsigned j = i + 1; j < g->count; j++)
            if (j >= locations && (i < locations || g->events[i].thread == g->events[j].thread))
                relate(&po, i, j);
    return po;
}

/* sw = [release]; ([F]; po)?; [W atomic]; (rf; update)*; rf; [R atomic]; (po; [F])?; [acquire] */
static relation synchronizes_with(const partial *g, const relation *po)
{
    relation sw = {{0}};
    for (unsigned r = 0; r < g->count; r++) {
        const event *reader = &g->events[r];
        if (!reader->reads || reader->plain)
            continue;
        uint32_t acquirers = is_acquire(reader->order) ? UINT32_C(1) << r : 0;
        for (unsigned f = 0; f < g->count; f++)
            if (g->events[f].kind == PROGRAM_FENCE && is_acquire(g->events[f].order) &&
                related(po, r, f))
                acquirers |= UINT32_C(1) << f;
        /* Back along the release sequence: past any update, whose store is part of it. */
        for (unsigned w = reader->from;; w = g->events[w].from) {
            const event *writer = &g->events[w];
            if (writer->plain || writer->kind == PROGRAM_END)
                break;
            if (is_release(writer->order))
                sw.row[w] |= acquirers;
            for (unsigned f = 0; f < g->count; f++)
                if (g->events[f].kind == PROGRAM_FENCE && is_release(g->events[f].order) &&
                    related(po, f, w))
                    sw.row[f] |= acquirers;
            if (!is_update(writer))
                break;
        }
    }
    return sw;
}

static unsigned badness(const search *s, const partial *g, bool *race_is_free)
{
    unsigned bad = 0;
    for (unsigned i = s->locations; i < g->count; i++)
        for (unsigned j = i + 1; j < g->count; j++) {
            const event *a = &g->events[i];
            const event *b = &g->events[j];
            if (!same_location(a, b) || (!a->writes && !b->writes))
                continue;
            bool before = related(&s->hb, i, j);
            bool after = related(&s->hb, j, i);
            bool a_frees = a->kind == PROGRAM_FREE;
            bool b_frees = b->kind == PROGRAM_FREE;
            if (a_frees && b_frees)
                bad |= ANSWER_DOUBLE_FREE;
            else if ((a_frees && !after) || (b_frees && !before))
                bad |= ANSWER_USE_AFTER_FREE;
            if ((a->plain || b->plain) && !before && !after) {
                if (a_frees || b_frees)
                    *race_is_free = true;
                else
                    bad |= ANSWER_RACE;
            }
        }
    return bad;
}

/* ---- Modification orders ---- */

/* rf, mo and rb of one location in the order `o`. */
static void communication(const partial *g, const sequence *o, relation *rf, relation *mo,
                          relation *rb)
{
    for (unsigned i = 0; i < o->count; i++)
        for (unsigned j = i + 1; j < o->count; j++)
            relate(mo, o->at[i], o->at[j]);
    unsigned location = g->events[o->at[0]].location;
    for (unsigned r = 0; r < g->count; r++) {
        const event *e = &g->events[r];
        if (!e->reads || e->location != location)
            continue;
        relate(rf, e->from, r);
        /* From-read: to all stores after the one that it reads; not to itself. */
        rb->row[r] |= mo->row[e->from] & ~(UINT32_C(1) << r);
    }
}

/* irreflexive(hb; eco?), with one location's eco: eco never leaves its location. */
static bool coherent(const search *s, const partial *g, const sequence *o)
{
    relation rf = {{0}};
    relation mo = {{0}};
    relation rb = {{0}};
    communication(g, o, &rf, &mo, &rb);
    relation all = unite(&rf, &mo);
    all = unite(&all, &rb);
    relation eco = or_same(close_transitively(all));
    relation cycle = compose(&s->hb, &eco);
    return irreflexive(&cycle);
}

/* Atomicity: an update comes right after the store that it reads. */
static bool updates_follow_their_sources(const partial *g, const sequence *o)
{
    for (unsigned i = 1; i < o->count; i++)
        if (is_update(&g->events[o->at[i]]) && g->events[o->at[i]].from != o->at[i - 1])
            return false;
    return true;
}

/* All permutations of a location's stores that begin with the first one and agree with happens-before. */
static void permute(search *s, const partial *g, unsigned location, uint32_t left, sequence *o)
{
    if (s->too_large)
        return;
    if (!left) {
        if (!updates_follow_their_sources(g, o) || !coherent(s, g, o))
            return;
        if (s->order_count[location] == ORDERS_MAX) {
            s->too_large = true;
            return;
        }
        s->orders[location][s->order_count[location]++] = *o;
        return;
    }
    for (uint32_t rest = left; rest; rest &= rest - 1) {
        unsigned w = (unsigned)__builtin_ctz(rest);
        bool first = true;
        for (uint32_t others = left; others; others &= others - 1)
            first = first && !related(&s->hb, (unsigned)__builtin_ctz(others), w);
        const event *e = &g->events[w];
        if (!first || (is_update(e) && e->from != o->at[o->count - 1]))
            continue;
        o->at[o->count++] = (unsigned char)w;
        permute(s, g, location, left & ~(UINT32_C(1) << w), o);
        o->count--;
    }
}

static void orders_of(search *s, const partial *g, unsigned location)
{
    uint32_t writes = 0;
    for (unsigned i = s->locations; i < g->count; i++)
        if (g->events[i].writes && g->events[i].location == location)
            writes |= UINT32_C(1) << i;
    s->order_count[location] = 0;
    if (__builtin_popcount(writes) >= WRITES_MAX) {
        s->too_large = true;
        return;
    }
    sequence o = {.at = {(unsigned char)location}, .count = 1};
    permute(s, g, location, writes, &o);
}

/* ---- Sequential consistency ---- */

/* acyclic(psc_base | psc_F), the paper's section 3.3. */
static bool psc_acyclic(const search *s, const partial *g, const sequence *const *chosen)
{
    relation rf = {{0}};
    relation mo = {{0}};
    relation rb = {{0}};
    for (unsigned x = 0; x < s->locations; x++)
        communication(g, chosen[x], &rf, &mo, &rb);
    uint32_t sc = 0;
    uint32_t sc_fence = 0;
    uint32_t frees = 0;
    relation same = {{0}};
    for (unsigned i = 0; i < g->count; i++) {
        frees |= (uint32_t)(g->events[i].kind == PROGRAM_FREE) << i;
        if (is_seq_cst(&g->events[i])) {
            sc |= UINT32_C(1) << i;
            if (g->events[i].kind == PROGRAM_FENCE)
                sc_fence |= UINT32_C(1) << i;
        }
        for (unsigned j = 0; j < g->count; j++)
            if (same_location(&g->events[i], &g->events[j]))
                relate(&same, i, j);
    }
    uint32_t all = ~UINT32_C(0);
    relation po_other = s->po;
    relation hb_same = s->hb;
    for (unsigned i = 0; i < EVENTS_MAX; i++) {
        /* A free is no access: it makes accesses race, but orders nothing here. */
        po_other.row[i] = i < g->count && g->events[i].kind == PROGRAM_FREE
                              ? 0
                              : po_other.row[i] & ~(same.row[i] | frees);
        hb_same.row[i] &= same.row[i];
    }
    relation com = unite(&rf, &mo);
    com = unite(&com, &rb);
    relation eco = close_transitively(com);

    /* scb = po | po_other; hb; po_other | hb_same | mo | rb */
    relation scb = compose(&po_other, &s->hb);
    scb = compose(&scb, &po_other);
    scb = unite(&scb, &s->po);
    scb = unite(&scb, &hb_same);
    scb = unite(&scb, &mo);
    scb = unite(&scb, &rb);

    /* psc_base = ([E sc] | [F sc]; hb?); scb; ([E sc] | hb?; [F sc]) */
    relation hb_or_same = or_same(s->hb);
    relation identity = or_same((relation){{0}});
    relation sc_identity = restrict_to(identity, sc, sc);
    relation left = restrict_to(hb_or_same, sc_fence, all);
    left = unite(&left, &sc_identity);
    relation right = restrict_to(hb_or_same, all, sc_fence);
    right = unite(&right, &sc_identity);
    relation base = compose(&left, &scb);
    base = compose(&base, &right);

    /* psc_F = [F sc]; (hb | hb; eco; hb); [F sc] */
    relation around = compose(&s->hb, &eco);
    around = compose(&around, &s->hb);
    around = unite(&around, &s->hb);
    around = restrict_to(around, sc_fence, sc_fence);

    relation psc = unite(&base, &around);
    return acyclic(&psc);
}

/* ---- One execution ---- */

static void keep(search *s, const partial *g, const sequence *const *chosen)
{
    s->answer->graphs++;
    program_outcome outcome = g->outcome;
    for (unsigned x = 0; x < s->locations; x++) {
        const event *last = &g->events[chosen[x]->at[chosen[x]->count - 1]];
        outcome.freed[x] = last->kind == PROGRAM_FREE;
        outcome.last[x] = outcome.freed[x] ? 0 : last->value_written;
    }
    outcome_set_add(&s->answer->outcomes, &outcome);
}

static bool waits(const search *s, const partial *g)
{
    for (unsigned t = 0; t < s->threads; t++)
        if (g->wanted[t].never)
            return true;
    return false;
}

/* Every mutex that is waited for stays locked: the last operation on it is a lock. */
static bool waits_rightly(const search *s, const partial *g, const sequence *const *chosen)
{
    for (unsigned t = 0; t < s->threads; t++) {
        if (!g->wanted[t].never)
            continue;
        const sequence *o = chosen[s->p->operation[t][g->next[t]].location];
        if (g->events[o->at[o->count - 1]].kind != PROGRAM_LOCK)
            return false;
    }
    return true;
}

/* Every combination of the locations' orders. */
static bool combine(search *s, const partial *g, bool any_sc, unsigned location,
                    const sequence **chosen)
{
    if (location == s->locations) {
        s->answer->candidates++;
        if (any_sc && !psc_acyclic(s, g, chosen))
            return false;
        if (!waits(s, g)) {
            keep(s, g, chosen);
            return true;
        }
        if (!waits_rightly(s, g, chosen))
            return false;
        s->answer->bad |= ANSWER_DEADLOCK;
        return true;
    }
    bool any = false;
    for (unsigned i = 0; i < s->order_count[location]; i++) {
        chosen[location] = &s->orders[location][i];
        any |= combine(s, g, any_sc, location + 1, chosen);
        if (s->answer->candidates > s->budget) {
            s->too_large = true;
            break;
        }
    }
    return any;
}

static void consider(search *s, const partial *g)
{
    s->answer->candidates++;
    s->po = program_order(g, s->locations);
    relation sw = synchronizes_with(g, &s->po);
    s->hb = unite(&s->po, &sw);
    s->hb = close_transitively(s->hb);
    if (!irreflexive(&s->hb))
        return;
    for (unsigned x = 0; x < s->locations; x++) {
        orders_of(s, g, x);
        if (!s->order_count[x] || s->too_large)
            return;
    }
    bool any_sc = false;
    for (unsigned i = 0; i < g->count; i++)
        any_sc |= is_seq_cst(&g->events[i]);
    const sequence *chosen[PROGRAM_LOCATIONS_MAX];
    if (combine(s, g, any_sc, 0, chosen))
        s->answer->bad |= badness(s, g, &s->answer->race_is_free);
}

/* ---- Where reads read from ---- */

static void resolve(search *s, partial *g);

static void add_event(search *s, partial *g, unsigned thread, const event *e)
{
    if (g->count == EVENTS_MAX) {
        s->too_large = true;
        return;
    }
    unsigned index = g->next[thread]++;
    g->known[thread][index] = e->writes ? STORE : NO_STORE;
    g->number[thread][index] = (unsigned char)g->count;
    g->events[g->count++] = *e;
    g->wanted[thread] = (source){0};
}

static event make_event(const program_operation *op, unsigned thread)
{
    event e = {.kind = op->kind, .thread = thread, .location = op->location, .order = op->order};
    e.plain = op->kind == PROGRAM_READ || op->kind == PROGRAM_WRITE || op->kind == PROGRAM_FREE;
    if (op->kind == PROGRAM_LOCK)
        e.order = __ATOMIC_ACQUIRE;
    if (op->kind == PROGRAM_UNLOCK)
        e.order = __ATOMIC_RELEASE;
    return e;
}

/* What `op` does when it reads from the event `from`. `spurious`: a weak one fails for no reason. */
static void read_from(search *s, partial *g, unsigned thread, unsigned from, bool spurious)
{
    const program_operation *op = &s->p->operation[thread][g->next[thread]];
    event e = make_event(op, thread);
    e.reads = true;
    e.from = from;
    e.value_read = g->events[from].value_written;
    program_state state = REGISTER_READ;
    switch (op->kind) {
    case PROGRAM_ADD:
        e.writes = true;
        e.value_written = e.value_read + op->value;
        break;
    case PROGRAM_EXCHANGE:
    case PROGRAM_LOCK:
        e.writes = true;
        e.value_written = op->value;
        break;
    case PROGRAM_CAS:
    case PROGRAM_CAS_WEAK:
        e.writes = e.value_read == op->expected && !spurious;
        if (e.writes) {
            e.value_written = op->value;
            state = REGISTER_STORED;
        } else {
            e.order = op->failure;
        }
        break;
    default:
        break;
    }
    if (op->kind != PROGRAM_LOCK) {
        g->outcome.reg[op->reg] = e.value_read;
        g->outcome.state[op->reg] = (unsigned char)state;
    }
    add_event(s, g, thread, &e);
}

/* Two updates never read the same store. */
static bool update_reads(const partial *g, unsigned from)
{
    for (unsigned i = 0; i < g->count; i++)
        if (is_update(&g->events[i]) && g->events[i].from == from)
            return true;
    return false;
}

/* The thread's next operation reads from `from`: each way that this may go. */
static void take(search *s, const partial *g, unsigned thread, unsigned from)
{
    const program_operation *op = &s->p->operation[thread][g->next[thread]];
    for (int spurious = 0; spurious < 2; spurious++) {
        if (spurious &&
            (op->kind != PROGRAM_CAS_WEAK || g->events[from].value_written != op->expected))
            break;
        partial way = *g;
        read_from(s, &way, thread, from, spurious);
        if (is_update(&way.events[way.count - 1]) && update_reads(g, from))
            continue;
        resolve(s, &way);
    }
}

/* A read without a source: each one in turn. One that is a later operation of the same thread, or an
 * earlier store of it that a later one of its own hides, could not be coherent. */
static void choose(search *s, const partial *g, unsigned thread)
{
    unsigned here = g->next[thread];
    const program_operation *op = &s->p->operation[thread][here];
    unsigned own = PROGRAM_OPERATIONS_MAX;
    for (unsigned i = 0; i < here; i++)
        if (s->p->operation[thread][i].location == op->location && g->known[thread][i] == STORE)
            own = i;
    for (unsigned t = 0; t < s->threads; t++)
        for (unsigned i = 0; i < program_length(s->p, t); i++) {
            const program_operation *writer = &s->p->operation[t][i];
            bool unlocks = writer->kind == PROGRAM_UNLOCK;
            bool fits = op->kind == PROGRAM_LOCK ? unlocks : program_may_write(writer->kind);
            if (!fits || writer->location != op->location || (t == thread && i != own))
                continue;
            partial way = *g;
            way.wanted[thread] = (source){.chosen = true, .thread = t, .index = i};
            resolve(s, &way);
        }
    if (own == PROGRAM_OPERATIONS_MAX) {
        partial way = *g;
        way.wanted[thread] = (source){.chosen = true, .first = true};
        resolve(s, &way);
    }
    if (op->kind == PROGRAM_LOCK) {
        partial way = *g;
        way.wanted[thread] = (source){.chosen = true, .never = true};
        resolve(s, &way);
    }
}

static bool holds(const program_operation *condition, const program_outcome *outcome)
{
    unsigned state = outcome->state[condition->reg];
    if (condition->kind == PROGRAM_IF_OK)
        return state == REGISTER_STORED;
    return state != REGISTER_UNSET && outcome->reg[condition->reg] == condition->value;
}

/* Past what a condition guards: the next operation, with its own conditions. */
static void skip(const search *s, partial *g, unsigned thread)
{
    unsigned length = program_length(s->p, thread);
    bool condition = true;
    while (condition && g->next[thread] < length) {
        condition = program_is_condition(s->p->operation[thread][g->next[thread]].kind);
        g->known[thread][g->next[thread]++] = SKIPPED;
    }
}

/* Lets the thread do what needs no choice.*/
static void run_ahead(search *s, partial *g, unsigned thread)
{
    unsigned length = program_length(s->p, thread);
    while (g->next[thread] < length && !s->too_large) {
        unsigned here = g->next[thread];
        const program_operation *op = &s->p->operation[thread][here];
        if (program_is_condition(op->kind)) {
            g->known[thread][here] = NO_STORE;
            g->next[thread]++;
            if (!holds(op, &g->outcome))
                skip(s, g, thread);
            continue;
        }
        if (program_reads(op->kind) || op->kind == PROGRAM_LOCK)
            return;
        event e = make_event(op, thread);
        e.writes = op->kind != PROGRAM_FENCE;
        e.value_written = op->kind == PROGRAM_FREE || op->kind == PROGRAM_UNLOCK ? 0 : op->value;
        add_event(s, g, thread, &e);
    }
}

static void resolve(search *s, partial *g)
{
    if (s->too_large || ++s->answer->candidates > s->budget) {
        s->too_large = true;
        return;
    }
    for (unsigned t = 0; t < s->threads; t++)
        run_ahead(s, g, t);
    bool all_ended = true;
    for (unsigned t = 0; t < s->threads && !s->too_large; t++) {
        if (g->next[t] == program_length(s->p, t))
            continue;
        const source *from = &g->wanted[t];
        all_ended = all_ended && from->never;
        if (!from->chosen) {
            choose(s, g, t);
            return;
        }
        if (from->never) {
            continue;
        }
        if (from->first) {
            take(s, g, t, s->p->operation[t][g->next[t]].location);
            return;
        }
        progress known = g->known[from->thread][from->index];
        if (known == STORE) {
            take(s, g, t, g->number[from->thread][from->index]);
            return;
        }
        if (known != UNKNOWN)
            return; /* it never stores: this choice leads nowhere */
    }
    /* Else all that have not ended wait for each other: a cycle of program order and reads-from. */
    if (all_ended && !s->too_large)
        consider(s, g);
}

bool program_enumerate(const program *p, uint64_t budget, program_answer *answer)
{
    static search s; /* large */
    outcome_set_clear(&answer->outcomes);
    *answer = (program_answer){.outcomes = answer->outcomes};
    s.p = p;
    s.threads = program_threads(p);
    s.locations = program_locations(p);
    s.budget = budget;
    s.too_large = false;
    s.answer = answer;
    partial g = {.count = s.locations};
    for (unsigned x = 0; x < s.locations; x++)
        g.events[x] = (event){.location = x, .writes = true};
    resolve(&s, &g);
    return !s.too_large;
}
