/* sc: sequential consistency, as RC11 defines it.
 *
 *   scb      = po + (po to another location; hb; po to another location) + hb on one location + mo + rb
 *   psc_base = ([Esc] + [Fsc]; hb?); scb; ([Esc] + hb?; [Fsc])
 *   psc_F    = [Fsc]; (hb + hb; eco; hb); [Fsc]
 *   eco      = rf + (mo + rb); rf?
 *
 * An execution is consistent if psc_base + psc_F has no cycle. A relation is a matrix of bits, a row for
 * each event of the log. Only programs that use seq_cst pay for this.
 */
#include <string.h>

#include "model.h"
#include "sabotage.h"

enum { EVENTS = 256, WORDS = EVENTS / 64, CHOSEN_MAX = 128 };

typedef struct row {
    uint64_t bits[WORDS];
} row;

static row hb[EVENTS], scb[EVENTS], po_other[EVENTS], hb_po_other[EVENTS], eco_hb[EVENTS];

static inline void set(row *to, unsigned bit)
{
    to->bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

static inline bool has(const row *in, unsigned bit)
{
    return (in->bits[bit / 64] >> bit % 64 & 1) != 0;
}

static inline void add(row *to, const row *from)
{
    for (unsigned i = 0; i < WORDS; i++) {
        to->bits[i] |= from->bits[i];
    }
}

/* *to gets every row of `matrix` that *of names. */
static void add_image(row *to, const row *of, const row *matrix)
{
    for (unsigned word = 0; word < WORDS; word++) {
        for (uint64_t bits = of->bits[word]; bits != 0; bits &= bits - 1) {
            add(to, &matrix[word * 64 + (unsigned)__builtin_ctzll(bits)]);
        }
    }
}

static bool is_access(const rcx_event *event)
{
    return event->reads || event->writes;
}

static bool happens_before(const rcx_event *a, const rcx_event *b)
{
    return rcx_clock_has(b->clock, a->thread, a->time);
}

/* Before other in its thread. */
static bool program_order(const rcx_event *a, const rcx_event *b)
{
    return a->thread == b->thread && a->time < b->time;
}

/* The place in modification order of what the event wrote, or read. */
static unsigned order_place(const rcx_location *location, uint8_t store)
{
    unsigned place = 0;
    while (location->order[place] != store) {
        place++;
    }
    return place;
}

static uintptr_t start_of(const rcx_event *event)
{
    return event->kind == RCX_GAP ? event->gap_address : rcx_now.locations[event->location].address;
}

static size_t size_of(const rcx_event *event)
{
    return event->kind == RCX_GAP ? event->gap_size : rcx_now.locations[event->location].size;
}

static bool same_location(const rcx_event *a, const rcx_event *b)
{
    if (a->kind == RCX_FENCE || b->kind == RCX_FENCE) {
        return false;
    }
    if (RCX_SABOTAGED(psc_plain_anywhere) && (a->kind == RCX_GAP || b->kind == RCX_GAP)) {
        return false;
    }
    if (a->kind != RCX_GAP && b->kind != RCX_GAP) {
        return a->location == b->location;
    }
    return start_of(a) < start_of(b) + size_of(b) && start_of(b) < start_of(a) + size_of(a);
}

/* All seq_cst operations so far are accesses of one location: coherence orders them already. */
static bool one_location(void)
{
    unsigned location = RCX_LOCATIONS_MAX;
    for (unsigned i = 0; i < rcx_now.event_count; i++) {
        const rcx_event *event = &rcx_now.events[i];
        if (event->order != __ATOMIC_SEQ_CST) {
            continue;
        }
        if (!is_access(event) || (location != RCX_LOCATIONS_MAX && location != event->location)) {
            return false;
        }
        location = event->location;
    }
    return true;
}

/* mo and rb between two accesses of one location; rf too. */
static void relate(unsigned a, unsigned b, row *eco_first, row *rf)
{
    const rcx_event *from = &rcx_now.events[a];
    const rcx_event *to = &rcx_now.events[b];
    const rcx_location *location = &rcx_now.locations[from->location];
    if (from->writes && to->reads && to->source == from->store) {
        set(&rf[a], b);
    }
    if (!to->writes) {
        return;
    }
    unsigned place = order_place(location, to->store);
    bool mo = from->writes && order_place(location, from->store) < place;
    bool rb = from->reads && order_place(location, from->source) < place;
    if (mo || rb) {
        set(&eco_first[a], b);
    }
    if ((mo && !RCX_SABOTAGED(psc_no_mo)) || (rb && !RCX_SABOTAGED(psc_no_rb))) {
        set(&scb[a], b);
    }
}

static void make_relations(unsigned count)
{
    static row rf[EVENTS], eco_first[EVENTS];
    memset(hb, 0, count * sizeof(row));
    memset(scb, 0, count * sizeof(row));
    memset(po_other, 0, count * sizeof(row));
    memset(hb_po_other, 0, count * sizeof(row));
    memset(eco_hb, 0, count * sizeof(row));
    memset(rf, 0, count * sizeof(row));
    memset(eco_first, 0, count * sizeof(row));
    for (unsigned a = 0; a < count; a++) {
        const rcx_event *from = &rcx_now.events[a];
        for (unsigned b = 0; b < count; b++) {
            const rcx_event *to = &rcx_now.events[b];
            if (a == b) {
                continue;
            }
            bool same = same_location(from, to);
            bool before = happens_before(from, to);
            if (before) {
                set(&hb[a], b);
                if (RCX_SABOTAGED(psc_all_hb)) {
                    set(&scb[a], b);
                }
            }
            if (program_order(from, to)) {
                if (!RCX_SABOTAGED(psc_no_po)) {
                    set(&scb[a], b);
                }
                if (!same && !RCX_SABOTAGED(psc_no_po_other)) {
                    set(&po_other[a], b);
                }
            }
            if (same) {
                if (before && !RCX_SABOTAGED(psc_no_hb_same)) {
                    set(&scb[a], b);
                }
                if (is_access(from) && is_access(to)) {
                    relate(a, b, eco_first, rf);
                }
            }
        }
    }
    for (unsigned a = 0; a < count; a++) {
        add_image(&hb_po_other[a], &hb[a], po_other);
        row eco = rf[a];
        add(&eco, &eco_first[a]);
        if (!RCX_SABOTAGED(psc_eco_no_rf)) {
            add_image(&eco, &eco_first[a], rf);
        }
        add_image(&eco_hb[a], &eco, hb);
    }
    for (unsigned a = 0; a < count; a++) {
        row reached = {{0}};
        add_image(&reached, &po_other[a], hb_po_other);
        add(&scb[a], &reached);
    }
}

static bool has_cycle(row *edges, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        for (unsigned i = 0; i < count; i++) {
            if (has(&edges[i], k)) {
                add(&edges[i], &edges[k]);
            }
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (has(&edges[i], i)) {
            return true;
        }
    }
    return false;
}

bool rcx_sc_consistent(void)
{
    if (!rcx_now.sc || one_location() || RCX_SABOTAGED(no_psc)) {
        return true;
    }
    unsigned count = rcx_now.event_count;
    if (count > EVENTS) {
        rcx_now.full = "more than 256 events with seq_cst among them";
        return true;
    }
    make_relations(count);

    static unsigned chosen[CHOSEN_MAX];
    unsigned chosen_count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (rcx_now.events[i].order == __ATOMIC_SEQ_CST) {
            if (chosen_count == CHOSEN_MAX) {
                rcx_now.full = "more than 128 seq_cst operations";
                return true;
            }
            chosen[chosen_count++] = i;
        }
    }

    static row psc[CHOSEN_MAX];
    for (unsigned i = 0; i < chosen_count; i++) {
        unsigned a = chosen[i];
        bool fence = !is_access(&rcx_now.events[a]);
        row start = {{0}};
        set(&start, a);
        row reached_f = {{0}};
        if (fence) {
            if (!RCX_SABOTAGED(psc_fences_alone)) {
                add(&start, &hb[a]);
            }
            reached_f = hb[a];
            add_image(&reached_f, &hb[a], eco_hb);
        }
        row reached = {{0}};
        add_image(&reached, &start, scb);
        row behind = reached; /* hb? applied */
        if (!RCX_SABOTAGED(psc_fences_alone)) {
            add_image(&behind, &reached, hb);
        }
        psc[i] = (row){{0}};
        for (unsigned j = 0; j < chosen_count; j++) {
            unsigned b = chosen[j];
            bool to_fence = !is_access(&rcx_now.events[b]);
            if (has(to_fence ? &behind : &reached, b) ||
                (fence && to_fence && has(&reached_f, b) && !RCX_SABOTAGED(psc_no_fences))) {
                set(&psc[i], j);
            }
        }
    }
    return !has_cycle(psc, chosen_count);
}
