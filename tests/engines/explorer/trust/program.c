#include "program.h"

#include <stdlib.h>
#include <string.h>

unsigned program_threads(const program *p)
{
    unsigned threads = 0;
    while (threads < PROGRAM_THREADS_MAX && p->operation[threads][0].kind != PROGRAM_END)
        threads++;
    return threads;
}

unsigned program_length(const program *p, unsigned thread)
{
    unsigned length = 0;
    while (length < PROGRAM_OPERATIONS_MAX && p->operation[thread][length].kind != PROGRAM_END)
        length++;
    return length;
}

static bool has_location(program_kind kind)
{
    return kind != PROGRAM_END && kind != PROGRAM_FENCE && kind != PROGRAM_IF &&
           kind != PROGRAM_IF_OK;
}

unsigned program_locations(const program *p)
{
    unsigned locations = 0;
    for (unsigned t = 0; t < program_threads(p); t++)
        for (unsigned i = 0; i < program_length(p, t); i++) {
            const program_operation *op = &p->operation[t][i];
            if (has_location(op->kind) && op->location >= locations)
                locations = op->location + 1;
        }
    return locations;
}

bool program_frees(const program *p, unsigned location)
{
    for (unsigned t = 0; t < program_threads(p); t++)
        for (unsigned i = 0; i < program_length(p, t); i++)
            if (p->operation[t][i].kind == PROGRAM_FREE && p->operation[t][i].location == location)
                return true;
    return false;
}

bool program_reads(program_kind kind)
{
    switch (kind) {
    case PROGRAM_LOAD:
    case PROGRAM_ADD:
    case PROGRAM_EXCHANGE:
    case PROGRAM_CAS:
    case PROGRAM_CAS_WEAK:
    case PROGRAM_READ:
        return true;
    default:
        return false;
    }
}

bool program_is_condition(program_kind kind)
{
    return kind == PROGRAM_IF || kind == PROGRAM_IF_OK;
}

bool program_may_write(program_kind kind)
{
    switch (kind) {
    case PROGRAM_STORE:
    case PROGRAM_ADD:
    case PROGRAM_EXCHANGE:
    case PROGRAM_CAS:
    case PROGRAM_CAS_WEAK:
    case PROGRAM_WRITE:
    case PROGRAM_FREE:
        return true;
    default:
        return false;
    }
}

static bool thread_mutexes_pair(const program_operation *operations, unsigned length)
{
    bool held[PROGRAM_LOCATIONS_MAX] = {false};
    for (unsigned i = 0; i < length; i++) {
        const program_operation *op = &operations[i];
        if (op->kind != PROGRAM_LOCK && op->kind != PROGRAM_UNLOCK)
            continue;
        if (held[op->location] == (op->kind == PROGRAM_LOCK) ||
            (i > 0 && program_is_condition(op[-1].kind)))
            return false;
        held[op->location] = !held[op->location];
    }
    for (unsigned x = 0; x < PROGRAM_LOCATIONS_MAX; x++)
        if (held[x])
            return false;
    return true;
}

bool program_mutexes_pair(const program *p)
{
    for (unsigned t = 0; t < program_threads(p); t++)
        if (!thread_mutexes_pair(p->operation[t], program_length(p, t)))
            return false;
    return true;
}

/* ---- Printing ---- */

static const char *const location_name[PROGRAM_LOCATIONS_MAX] = {"x", "y", "z", "a", "f", "m", "n"};

static const char *order_name(int order)
{
    switch (order) {
    case __ATOMIC_RELAXED:
        return "relaxed";
    case __ATOMIC_CONSUME:
        return "consume";
    case __ATOMIC_ACQUIRE:
        return "acquire";
    case __ATOMIC_RELEASE:
        return "release";
    case __ATOMIC_ACQ_REL:
        return "acq_rel";
    default:
        return "seq_cst";
    }
}

static void print_operation(const program_operation *op, FILE *out)
{
    const char *x = location_name[op->location];
    const char *order = order_name(op->order);
    switch (op->kind) {
    case PROGRAM_LOAD:
        fprintf(out, "r%u = load(%s, %s)", op->reg, x, order);
        break;
    case PROGRAM_STORE:
        fprintf(out, "store(%s, %u, %s)", x, op->value, order);
        break;
    case PROGRAM_ADD:
        fprintf(out, "r%u = fetch_add(%s, %u, %s)", op->reg, x, op->value, order);
        break;
    case PROGRAM_EXCHANGE:
        fprintf(out, "r%u = exchange(%s, %u, %s)", op->reg, x, op->value, order);
        break;
    case PROGRAM_CAS:
    case PROGRAM_CAS_WEAK:
        fprintf(out, "r%u = compare_exchange_%s(%s, %u, %u, %s, %s)", op->reg,
                op->kind == PROGRAM_CAS ? "strong" : "weak", x, op->expected, op->value, order,
                order_name(op->failure));
        break;
    case PROGRAM_FENCE:
        fprintf(out, "fence(%s)", order);
        break;
    case PROGRAM_READ:
        fprintf(out, "r%u = %s", op->reg, x);
        break;
    case PROGRAM_WRITE:
        fprintf(out, "%s = %u", x, op->value);
        break;
    case PROGRAM_FREE:
        fprintf(out, "free(&%s)", x);
        break;
    case PROGRAM_LOCK:
        fprintf(out, "lock(%s)", x);
        break;
    case PROGRAM_UNLOCK:
        fprintf(out, "unlock(%s)", x);
        break;
    case PROGRAM_IF:
        fprintf(out, "if (r%u == %u)", op->reg, op->value);
        break;
    case PROGRAM_IF_OK:
        fprintf(out, "if (r%u was stored)", op->reg);
        break;
    default:
        fprintf(out, "?");
        break;
    }
}

void program_print(const program *p, FILE *out)
{
    for (unsigned t = 0; t < program_threads(p); t++) {
        fprintf(out, "  thread %u:\n    ", t);
        unsigned length = program_length(p, t);
        for (unsigned i = 0; i < length; i++) {
            const program_operation *op = &p->operation[t][i];
            print_operation(op, out);
            fputs(program_is_condition(op->kind) ? " " : i + 1 < length ? ";\n    " : ";\n", out);
        }
    }
}

void program_print_outcome(const program *p, const program_outcome *outcome, FILE *out)
{
    for (unsigned r = 0; r < PROGRAM_REGISTERS_MAX; r++)
        if (outcome->state[r] != REGISTER_UNSET)
            fprintf(out, "r%u=%u%s ", r, outcome->reg[r],
                    outcome->state[r] == REGISTER_STORED ? " (stored)" : "");
    fputs("|", out);
    for (unsigned x = 0; x < program_locations(p); x++) {
        if (outcome->freed[x])
            fprintf(out, " %s freed", location_name[x]);
        else
            fprintf(out, " %s=%u", location_name[x], outcome->last[x]);
    }
    fputc('\n', out);
}

/* ---- Sets of outcomes ---- */

static void *must(void *pointer)
{
    if (!pointer) {
        fputs("trust: out of memory\n", stderr);
        exit(3);
    }
    return pointer;
}

static uint64_t hash_outcome(const program_outcome *outcome)
{
    uint64_t hash = 14695981039346656037u;
    const unsigned char *bytes = (const unsigned char *)outcome;
    for (size_t i = 0; i < sizeof *outcome; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* The slot that holds it, or the free one where it belongs. */
static size_t find_slot(const outcome_set *set, const program_outcome *outcome)
{
    size_t i = (size_t)hash_outcome(outcome) & (set->slots - 1);
    while (set->slot[i] && memcmp(&set->item[set->slot[i] - 1], outcome, sizeof *outcome) != 0)
        i = (i + 1) & (set->slots - 1);
    return i;
}

static void grow(outcome_set *set)
{
    set->capacity = set->capacity ? 2 * set->capacity : 64;
    set->item = must(realloc(set->item, set->capacity * sizeof *set->item));
    free(set->slot);
    set->slots = 4 * set->capacity;
    set->slot = must(calloc(set->slots, sizeof *set->slot));
    for (size_t i = 0; i < set->count; i++)
        set->slot[find_slot(set, &set->item[i])] = (uint32_t)(i + 1);
}

void outcome_set_add(outcome_set *set, const program_outcome *outcome)
{
    if (set->count == set->capacity)
        grow(set);
    size_t slot = find_slot(set, outcome);
    if (set->slot[slot])
        return;
    set->item[set->count] = *outcome;
    set->slot[slot] = (uint32_t)++set->count;
}

bool outcome_set_has(const outcome_set *set, const program_outcome *outcome)
{
    return set->slots > 0 && set->slot[find_slot(set, outcome)];
}

void outcome_set_clear(outcome_set *set)
{
    set->count = 0;
    if (set->slots)
        memset(set->slot, 0, set->slots * sizeof *set->slot);
}

void outcome_set_free(outcome_set *set)
{
    free(set->item);
    free(set->slot);
    *set = (outcome_set){0};
}

const program_outcome *outcome_set_missing(const outcome_set *a, const outcome_set *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (!outcome_set_has(b, &a->item[i]))
            return &a->item[i];
    return NULL;
}
