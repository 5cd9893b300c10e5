#include "interpret.h"

#include <stdlib.h>
#include <string.h>

#include "abi.h"

/* What compilers call, and declare themselves. */
uint32_t __tsan_atomic32_load(const void *address, int order);
void __tsan_atomic32_store(void *address, uint32_t value, int order);
uint32_t __tsan_atomic32_fetch_add(void *address, uint32_t value, int order);
uint32_t __tsan_atomic32_exchange(void *address, uint32_t value, int order);
int __tsan_atomic32_compare_exchange_strong(void *address, uint32_t *expected, uint32_t desired,
                                            int order, int failure);
int __tsan_atomic32_compare_exchange_weak(void *address, uint32_t *expected, uint32_t desired,
                                          int order, int failure);
uint32_t __tsan_atomic32_compare_exchange_val(void *address, uint32_t expected, uint32_t desired,
                                              int order, int failure);
void __tsan_atomic_thread_fence(int order);
void __tsan_read4(void *address);
void __tsan_write4(void *address);

typedef struct run {
    const program *p;
    uint32_t *location[PROGRAM_LOCATIONS_MAX];
    /* Of this execution. Each thread writes its own, and resets them when it starts. */
    program_outcome part[PROGRAM_THREADS_MAX];
    program_outcome whole;
    outcome_set *outcomes;
} run;

static void set_register(program_outcome *part, unsigned reg, uint32_t value, program_state state)
{
    part->reg[reg] = value;
    part->state[reg] = (unsigned char)state;
}

static inline __attribute__((always_inline)) void perform(const run *r, program_outcome *part,
                                                          const program_operation *op)
{
    uint32_t *x = r->location[op->location];
    uint32_t found = 0;
    bool stored = false;
    switch (op->kind) {
    case PROGRAM_LOAD:
        set_register(part, op->reg, __tsan_atomic32_load(x, op->order), REGISTER_READ);
        break;
    case PROGRAM_STORE:
        __tsan_atomic32_store(x, op->value, op->order);
        break;
    case PROGRAM_ADD:
        found = __tsan_atomic32_fetch_add(x, op->value, op->order);
        set_register(part, op->reg, found, REGISTER_READ);
        break;
    case PROGRAM_EXCHANGE:
        found = __tsan_atomic32_exchange(x, op->value, op->order);
        set_register(part, op->reg, found, REGISTER_READ);
        break;
    case PROGRAM_CAS:
        if (op->reg % 2 == 0) {
            /* As clang and rustc call it. */
            found = __tsan_atomic32_compare_exchange_val(x, op->expected, op->value, op->order,
                                                         op->failure);
            stored = found == op->expected;
        } else {
            found = op->expected;
            stored = __tsan_atomic32_compare_exchange_strong(x, &found, op->value, op->order,
                                                             op->failure);
        }
        set_register(part, op->reg, found, stored ? REGISTER_STORED : REGISTER_READ);
        break;
    case PROGRAM_CAS_WEAK:
        found = op->expected;
        stored =
            __tsan_atomic32_compare_exchange_weak(x, &found, op->value, op->order, op->failure);
        set_register(part, op->reg, found, stored ? REGISTER_STORED : REGISTER_READ);
        break;
    case PROGRAM_FENCE:
        __tsan_atomic_thread_fence(op->order);
        break;
    case PROGRAM_READ:
        __tsan_read4(x);
        set_register(part, op->reg, *x, REGISTER_READ);
        break;
    case PROGRAM_WRITE:
        __tsan_write4(x);
        *x = op->value;
        break;
    case PROGRAM_FREE:
        part->freed[op->location] = 1;
        rcx_free(x);
        break;
    case PROGRAM_LOCK:
        rcx_mutex_lock(x);
        break;
    case PROGRAM_UNLOCK:
        rcx_mutex_unlock(x);
        break;
    default:
        break;
    }
}

/* One place in the code for each operation of a thread: the search takes many reads of the same store at
 * one place for a loop that spins. The assembly line keeps the compiler from merging them. */
typedef void site(const run *r, program_outcome *part, const program_operation *op);
#define SITE(n)                                                                                    \
    static __attribute__((noinline)) void site_##n(const run *r, program_outcome *part,            \
                                                   const program_operation *op)                    \
    {                                                                                              \
        __asm__ volatile("# site %0" ::"i"(n));                                                    \
        perform(r, part, op);                                                                      \
    }
SITE(0)
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)
SITE(7)
SITE(8)
SITE(9)
static site *const sites[PROGRAM_OPERATIONS_MAX] = {site_0, site_1, site_2, site_3, site_4,
                                                    site_5, site_6, site_7, site_8, site_9};

static bool holds(const program_operation *condition, const program_outcome *part)
{
    if (condition->kind == PROGRAM_IF_OK) {
        return part->state[condition->reg] == REGISTER_STORED;
    }
    return part->state[condition->reg] != REGISTER_UNSET &&
           part->reg[condition->reg] == condition->value;
}

static void run_thread(void *context, unsigned index)
{
    run *r = context;
    program_outcome *part = &r->part[index];
    memset(part, 0, sizeof *part);
    bool skip = false;
    for (unsigned i = 0; i < program_length(r->p, index); i++) {
        const program_operation *op = &r->p->operation[index][i];
        if (program_is_condition(op->kind)) {
            skip = skip || !holds(op, part);
        } else if (skip) {
            skip = false;
        } else {
            sites[i](r, part, op);
        }
    }
}

static bool is_mutex(const program *p, unsigned location)
{
    for (unsigned t = 0; t < program_threads(p); t++) {
        for (unsigned i = 0; i < program_length(p, t); i++) {
            const program_operation *op = &p->operation[t][i];
            if (op->kind == PROGRAM_LOCK && op->location == location) {
                return true;
            }
        }
    }
    return false;
}

/* Locations that are freed are blocks; the others lie side by side, two in eight bytes. A mutex has room for all
 * that pthread_mutex_t holds. */
static void run_setup(void *context)
{
    static _Alignas(8) uint32_t memory[PROGRAM_LOCATIONS_MAX];
    static _Alignas(8) uint32_t mutexes[PROGRAM_LOCATIONS_MAX][10];
    run *r = context;
    for (unsigned i = 0; i < PROGRAM_LOCATIONS_MAX; i++) {
        bool mutex = is_mutex(r->p, i);
        size_t size = mutex ? sizeof mutexes[i] : sizeof memory[i];
        r->location[i] = program_frees(r->p, i) ? rcx_malloc(size)
                         : mutex                ? mutexes[i]
                                                : &memory[i];
        memset(r->location[i], 0, size);
    }
}

static void run_check(void *context)
{
    run *r = context;
    memset(&r->whole, 0, sizeof r->whole);
    for (unsigned t = 0; t < program_threads(r->p); t++) {
        for (unsigned i = 0; i < PROGRAM_REGISTERS_MAX; i++) {
            if (r->part[t].state[i] != REGISTER_UNSET) {
                set_register(&r->whole, i, r->part[t].reg[i], r->part[t].state[i]);
            }
        }
        for (unsigned i = 0; i < PROGRAM_LOCATIONS_MAX; i++) {
            r->whole.freed[i] |= r->part[t].freed[i];
        }
    }
    for (unsigned i = 0; i < program_locations(r->p); i++) {
        if (!r->whole.freed[i]) {
            r->whole.last[i] = *r->location[i];
            if (program_frees(r->p, i)) {
                rcx_free(r->location[i]);
            }
        }
    }
}

static void run_done(void *context)
{
    const run *r = context;
    outcome_set_add(r->outcomes, &r->whole);
}

void program_explore(const program *p, const rcx_limits *limits, rcx_result *result,
                     outcome_set *outcomes)
{
    static run r; /* on no stack: it outlives the executions' fibers */
    r = (run){.p = p, .outcomes = outcomes};
    rcx_program search = {.threads = program_threads(p),
                          .setup = run_setup,
                          .thread = run_thread,
                          .check = run_check,
                          .done = run_done,
                          .context = &r};
    outcome_set_clear(outcomes);
    rcx_explore(&search, limits, result);
}
