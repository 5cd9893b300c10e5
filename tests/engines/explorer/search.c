#include "search.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "fiber.h"
#include "sabotage.h"

enum {
    CHOICES_MAX = 4096,
    SPIN_PLACES = 4,     /* of one thread, at which it may be reading the same again and again */
    SPIN_TURNS = 3,      /* the same store so often at one place: it has to wait for another one */
    SPIN_LONGEST = 4096, /* turns of a loop that waits for what nobody is left to store */
    DEFAULT_STEPS = 256,
    PLAIN_STEPS = 1 << 20,
    SPLIT_DEPTH = 9, /* choices that tell the parts of a shared search */
    PARTS_MAX = 1 << 20,
    SHORTEN_EXECUTIONS = 2000,
    SHORTEN_SECONDS = 2, /* of processor time */
    PROBES = 16
};

typedef enum phase { OUTSIDE, SETUP, THREADS, CHECK } phase;

typedef enum thread_state { READY, PENDING, DONE } thread_state;

typedef struct spin {
    rcx_place place;
    const rcx_location *location;
    uint8_t store;
    unsigned turns;
} spin;

typedef struct thread {
    thread_state state;
    rcx_operation operation; /* PENDING */
    uint32_t asleep;         /* reads only what was created later; 0: awake */
    rcx_value value;         /* what the operation read */
    bool success;
    unsigned steps, plain_steps, spurious;
    bool spins_on;        /* reads once more what it has read too often */
    unsigned spins_alone; /* how often it did */
    rcx_place inside;     /* the access that the explorer is busy with; 0: none */
    spin spins[SPIN_PLACES];
    unsigned depth;
    rcx_place callers[RCX_STACK_MAX];
} thread;

typedef struct choice {
    uint16_t count, taken;
} choice;

/* How an execution ended. */
typedef enum ending {
    COMPLETE,
    FAILED,
    BLOCKED,  /* another execution is the same, or it is not consistent */
    CUT,      /* a thread did too much */
    NOT_OURS, /* another process searches there */
    UNSUPPORTED
} ending;

/* What processes of one search share. All RELAXED: counters and flags, of which only each by itself matters while
 * the search runs; `result` and the sums are read when the processes have ended, which orders them. */
typedef struct shared {
    _Atomic(uint64_t) executions, graphs, blocked, cut, random, seen;
    _Atomic(bool) stop, failed;
    _Atomic(uint32_t) reporter; /* who may write `result` */
    rcx_result result;
    _Atomic(uint8_t) claims[PARTS_MAX];
} shared;

static struct search {
    const rcx_program *program;
    rcx_limits limits;
    phase phase;
    unsigned current; /* fiber */
    thread threads[RCX_FIBERS];
    choice choices[CHOICES_MAX];
    unsigned choice_count, choice_at;
    bool randomly;
    bool spin_cut;  /* a store was kept from a thread that spins */
    bool replaying; /* a given schedule: choices beyond it are the first ones */
    bool tracing;
    bool watching;           /* tracing, and what fails is known: */
    uintptr_t watch_address; /* 0: none */
    unsigned watch_thread;
    rcx_place watch_place;
    uint64_t random_state;
    ending ending;
    bool over; /* the execution ended inside a fiber */
    rcx_failure_kind kind;
    char text[512];
    unsigned process;    /* of those that share the search */
    uint32_t parts;      /* prefixes met so far */
    bool part_settled;   /* whether this execution is ours */
    unsigned part_depth; /* choices that lead to the part; 0: none yet */
    bool started;
    bool stacks_shared; /* threads use each other's stacks */
    bool probing;       /* executions that only find that out */
} now;

static rcx_trace trace;
static bool trace_there;

const rcx_trace *rcx_last_trace(void)
{
    return trace_there ? &trace : NULL;
}

uint64_t rcx_graph_hash(void)
{
    return rcx_model_hash();
}

/* ---- Endings ---- */

/* On a fiber: the execution is over. */
_Noreturn static void end_here(ending how)
{
    now.ending = how;
    now.over = true;
    for (;;) {
        rcx_fiber_yield();
    }
}

static void say_failure(rcx_failure_kind kind, const char *text)
{
    now.kind = kind;
    snprintf(now.text, sizeof now.text, "%s", text);
    if (now.tracing && now.current < RCX_FIBERS) {
        const thread *self = &now.threads[now.current];
        trace.failed_thread = now.current;
        trace.depth = self->depth < RCX_STACK_MAX ? self->depth : RCX_STACK_MAX;
        memcpy(trace.callers, self->callers, sizeof trace.callers);
    }
}

_Noreturn void rcx_fail_at(rcx_failure_kind kind, const char *text, rcx_place place)
{
    if (now.phase == OUTSIDE) {
        fprintf(stderr, "explorer: a failure outside of a search: %s\n", text);
        _exit(3);
    }
    if (now.tracing) {
        trace.place = place;
    }
    say_failure(kind, text);
    end_here(FAILED);
}

_Noreturn void rcx_fail(rcx_failure_kind kind, const char *text)
{
    rcx_fail_at(kind, text, (rcx_place)((uintptr_t)__builtin_return_address(0) - 1));
}

_Noreturn static void unsupported(const char *text)
{
    snprintf(now.text, sizeof now.text, "%s", text);
    end_here(UNSUPPORTED);
}

void rcx_unsupported(const char *text)
{
    if (now.phase == OUTSIDE) {
        fprintf(stderr, "explorer: outside of a search: %s\n", text);
        _exit(3);
    }
    unsupported(text);
}

static const char *access_name(rcx_access access)
{
    static const char *const names[] = {"an atomic read", "a plain read", "an atomic write",
                                        "a plain write", "a free"};
    return names[access];
}

/* "thread 1", "before or after the threads". */
static const char *fiber_name(unsigned index, char *room, size_t size)
{
    if (index == RCX_FIBER_MAIN) {
        return "the main program";
    }
    snprintf(room, size, "thread %u", index);
    return room;
}

static void trace_failed_access(rcx_access access, rcx_place place, uintptr_t address);

_Noreturn static void fail_access(rcx_failure_kind kind, rcx_access access, rcx_place place,
                                  uintptr_t address, const rcx_conflict *conflict)
{
    char text[256];
    char other[32];
    char self[32];
    fiber_name(now.current, self, sizeof self);
    if (now.tracing) {
        trace_failed_access(access, place, address);
        trace.access = access;
        trace.address = address;
        trace.other_known = conflict != NULL;
        if (conflict != NULL) {
            trace.other_thread = conflict->other_thread;
            trace.other_place = conflict->other_place;
            trace.other_access = conflict->other;
        }
    }
    switch (kind) {
    case RCX_RACE:
        snprintf(
            text, sizeof text, "%s in %s, and %s in %s, of the same memory: nothing orders them",
            access_name(conflict->other), fiber_name(conflict->other_thread, other, sizeof other),
            access_name(access), fiber_name(now.current, self, sizeof self));
        break;
    case RCX_USE_AFTER_FREE:
        if (conflict != NULL && !conflict->ordered) {
            snprintf(text, sizeof text,
                     "%s in %s, and %s in %s, of the same memory: nothing orders them",
                     access_name(conflict->other),
                     fiber_name(conflict->other_thread, other, sizeof other), access_name(access),
                     self);
            break;
        }
        snprintf(text, sizeof text, "%s in %s of memory that %s has freed", access_name(access),
                 fiber_name(now.current, self, sizeof self),
                 conflict == NULL ? "someone"
                                  : fiber_name(conflict->other_thread, other, sizeof other));
        break;
    case RCX_BAD_FREE:
        snprintf(text, sizeof text,
                 conflict != NULL ? "a block is freed twice, now in %s"
                                  : "what %s frees was never allocated",
                 fiber_name(now.current, self, sizeof self));
        break;
    default:
        snprintf(text, sizeof text, "%s in %s, outside of any block", access_name(access),
                 fiber_name(now.current, self, sizeof self));
        break;
    }
    rcx_fail_at(kind, text, place);
}

/* ---- Trace ---- */

static rcx_step *new_step(rcx_step_kind kind, rcx_place place)
{
    static rcx_step overflow;
    rcx_step *step =
        trace.step_count < RCX_STEPS_MAX ? &trace.steps[trace.step_count++] : &overflow;
    const thread *self = &now.threads[now.current];
    *step = (rcx_step){.kind = kind,
                       .thread = now.current,
                       .place = place,
                       .source_step = -1,
                       .source_thread = RCX_NOBODY,
                       .later_step = -1};
    step->depth = self->depth < RCX_STACK_MAX ? self->depth : RCX_STACK_MAX;
    memcpy(step->callers, self->callers, sizeof step->callers);
    return step;
}

/* The latest step that made this store, or -1. */
static int step_of_store(unsigned location, unsigned store)
{
    for (unsigned i = trace.step_count; i-- > 0;) {
        const rcx_step *step = &trace.steps[i];
        if (step->kind == RCX_STEP_ATOMIC && step->event.writes &&
            step->event.location == location && step->event.store == store &&
            step->thread != RCX_FIBER_MAIN) {
            return (int)i;
        }
    }
    return -1;
}

static void trace_event(const rcx_operation *operation)
{
    const rcx_event *event = &rcx_now.events[rcx_now.event_count - 1];
    rcx_step *step = new_step(RCX_STEP_ATOMIC, event->place);
    step->operation = *operation;
    step->event = *event;
    if (event->kind == RCX_FENCE) {
        return;
    }
    const rcx_location *location = &rcx_now.locations[event->location];
    step->address = location->address;
    step->size = location->size;
    unsigned last = location->store_count - 1;
    if (event->reads) {
        step->source_step = step_of_store(event->location, event->source);
        step->source_thread = location->stores[event->source].thread;
        step->stale = !event->writes && location->order[last] != event->source;
        if (step->stale) {
            step->later_step = step_of_store(event->location, location->order[last]);
        }
    }
    step->inserted = event->writes && location->order[last] != event->store;
    for (unsigned i = 0; step->inserted && i < last; i++) {
        if (location->order[i] == event->store) {
            step->later_step = step_of_store(event->location, location->order[i + 1]);
        }
    }
}

/* Before and after the threads, in the one order that there is. */
static void trace_sequential(const rcx_operation *operation, rcx_value old, rcx_value new,
                             bool success)
{
    rcx_step *step = new_step(RCX_STEP_ATOMIC, operation->place);
    step->operation = *operation;
    step->address = operation->address;
    step->size = operation->size;
    step->event = (rcx_event){
        .kind = operation->kind,
        .order = success ? operation->order : operation->failure_order,
        .thread = (uint8_t)now.current,
        .reads = operation->kind != RCX_STORE && operation->kind != RCX_UNLOCK,
        .writes = operation->kind != RCX_LOAD && success,
        .place = operation->place,
        .read_value = old,
        .written_value = new,
    };
}

static void trace_plain(uintptr_t address, size_t size, bool writes, rcx_place place)
{
    bool named = now.watch_thread == now.current && now.watch_place == place;
    if (!named && now.watch_address - address >= size) {
        return;
    }
    rcx_step *step = new_step(RCX_STEP_PLAIN, place);
    step->address = address;
    step->size = size;
    step->event.reads = !writes;
    step->event.writes = writes;
}

/* The access that fails is the last step, whether it was done or not. */
static void trace_failed_access(rcx_access access, rcx_place place, uintptr_t address)
{
    rcx_step *last = trace.step_count > 0 ? &trace.steps[trace.step_count - 1] : NULL;
    bool done = last != NULL && last->kind == RCX_STEP_ATOMIC && last->thread == now.current &&
                last->place == place && last->address == address;
    if (!done) {
        last = new_step(access == RCX_FREE ? RCX_STEP_FREE : RCX_STEP_PLAIN, place);
        last->address = address;
        last->event.reads = access == RCX_ATOMIC_READ || access == RCX_PLAIN_READ;
        last->event.writes = !last->event.reads;
    }
    last->failed = true;
}

/* ---- Choices ---- */

static uint64_t next_random(void)
{
    now.random_state ^= now.random_state << 13;
    now.random_state ^= now.random_state >> 7;
    now.random_state ^= now.random_state << 17;
    return now.random_state;
}

static shared *common;

/* Other processes search what they came to first. True: this part is ours. */
static bool claim(void)
{
    now.part_settled = true;
    now.part_depth = now.choice_at;
    if (now.limits.processes <= 1 || now.randomly || now.replaying) {
        return true;
    }
    uint32_t part = now.parts++;
    if (part >= PARTS_MAX) { /* no room to say who has it: in turn */
        return part % now.limits.processes == now.process;
    }
    return atomic_exchange_explicit(&common->claims[part], 1, memory_order_relaxed) == 0;
}

static const char not_repeatable[] =
    "it does not do the same when it runs again: it asks for random numbers, the time or the processor, or "
    "keeps what the explorer cannot put back";

/* One of `count`, 0 first. */
static unsigned choose(unsigned count)
{
    if (count == 1) {
        return 0;
    }
    if (now.choice_at < now.choice_count) {
        choice *known = &now.choices[now.choice_at++];
        if (known->count == 0) {
            known->count = (uint16_t)count; /* from a schedule that was given */
            if (known->taken >= count) {
                known->taken = (uint16_t)(count - 1);
            }
        } else if (known->count != count) {
            rcx_now.full = not_repeatable;
            return 0;
        }
        return known->taken;
    }
    if (now.choice_at == CHOICES_MAX) {
        rcx_now.full = "more than 4,096 choices in one execution";
        return 0;
    }
    unsigned taken = now.randomly ? (unsigned)(next_random() % count) : 0;
    now.choices[now.choice_at++] = (choice){(uint16_t)count, (uint16_t)taken};
    now.choice_count = now.choice_at;
    return taken;
}

/* To the next execution. False: there is none. */
static bool advance(void)
{
    while (now.choice_count > 0) {
        choice *last = &now.choices[now.choice_count - 1];
        unsigned tried =
            last->count > 2 && RCX_SABOTAGED(last_choice_lost) ? last->count - 1U : last->count;
        if (last->taken + 1U < tried) {
            last->taken++;
            return true;
        }
        now.choice_count--;
    }
    return false;
}

static void write_schedule(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < now.choice_at && used + 8 < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%u", i > 0 ? "." : "",
                                 now.choices[i].taken);
    }
    if (used == 0) {
        snprintf(text, size, "-");
    }
}

/* ---- What the program does ---- */

static bool own_stack(uintptr_t address)
{
    return address - (rcx_stacks + (uintptr_t)now.current * RCX_STACK_BYTES) < RCX_STACK_BYTES;
}

static void check_heap(uintptr_t address, size_t size, rcx_access access, rcx_place place)
{
    if (!rcx_heap_has(address)) {
        return;
    }
    rcx_heap_state state = rcx_heap_look(address, size);
    if (__builtin_expect(state == RCX_HEAP_FINE, 1)) {
        return;
    }
    if (state == RCX_HEAP_FREED && RCX_SABOTAGED(freed_is_fine)) {
        return;
    }
    if (state == RCX_HEAP_OUTSIDE) {
        fail_access(RCX_OUT_OF_BOUNDS, access, place, address, NULL);
    }
    const rcx_block *block = rcx_heap_near(address);
    rcx_conflict freed = {.other = RCX_FREE, .ordered = true};
    if (block != NULL) {
        freed.other_thread = block->free_thread;
        freed.other_place = block->freed;
    }
    fail_access(RCX_USE_AFTER_FREE, access, place, address, block != NULL ? &freed : NULL);
}

static void check_race(rcx_clock clock, uintptr_t address, size_t size, rcx_access access,
                       rcx_place place)
{
    rcx_conflict conflict;
    if (__builtin_expect(
            !rcx_shadow_access(now.current, clock, address, size, access, place, &conflict), 0)) {
        fail_access(conflict.other == RCX_FREE || access == RCX_FREE ? RCX_USE_AFTER_FREE
                                                                     : RCX_RACE,
                    access, place, address, &conflict);
    }
}

static rcx_clock clock_now(void)
{
    return rcx_now.threads[now.current].clock;
}

/* Threads seldom use each other's stacks, so a thread's accesses to its own are not looked at before one
 * does. Executions before the search find that out. */
static void note_stack(uintptr_t address)
{
    if (now.stacks_shared || own_stack(address) || rcx_fiber_of_stack(address) == RCX_FIBERS) {
        return;
    }
    if (!now.probing) {
        unsupported("a thread uses another one's stack, in some executions only");
    }
    now.stacks_shared = true;
}

void rcx_plain(uintptr_t address, size_t size, bool writes, rcx_place place)
{
    if (now.phase == OUTSIDE || size == 0 || (own_stack(address) && !now.stacks_shared)) {
        return;
    }
    if (now.phase == THREADS) {
        note_stack(address);
    }
    now.threads[now.current].inside = place;
    rcx_access access = writes ? RCX_PLAIN_WRITE : RCX_PLAIN_READ;
    check_heap(address, size, access, place);
    if (now.phase == THREADS) {
        if (++now.threads[now.current].plain_steps > PLAIN_STEPS) {
            end_here(CUT);
        }
        check_race(clock_now(), address, size, access, place);
        rcx_model_plain(now.current, address, size, writes);
    }
    if (__builtin_expect(now.watching, 0) && now.phase != SETUP) {
        trace_plain(address, size, writes, place);
    }
    if (writes && now.phase != SETUP) {
        rcx_undo_keep(address, size);
    }
    now.threads[now.current].inside = 0;
}

/* Before and after the threads there is one order only, and memory holds the last store. */
static rcx_value sequential_atomic(const rcx_operation *operation, bool *success)
{
    bool writes = operation->kind != RCX_LOAD;
    check_heap(operation->address, operation->size, writes ? RCX_ATOMIC_WRITE : RCX_ATOMIC_READ,
               operation->place);
    rcx_value old = rcx_memory_get(operation->address, operation->size);
    rcx_value new = operation->operand;
    *success = true;
    switch (operation->kind) {
    case RCX_LOAD:
        new = old;
        break;
    case RCX_RMW:
        new = rcx_model_compute(operation->function, old, operation->operand, operation->size);
        break;
    case RCX_CAS:
        *success = old == operation->expected;
        break;
    case RCX_LOCK:
        if (old != 0) {
            rcx_fail_at(RCX_DEADLOCK, "the main program waits for a mutex that nobody will unlock",
                        operation->place);
        }
        break;
    default:
        break;
    }
    if (now.tracing && now.phase != SETUP) {
        trace_sequential(operation, old, new, *success);
    }
    if (!writes || !*success) {
        return old;
    }
    if (now.phase != SETUP) {
        rcx_undo_keep(operation->address, operation->size);
    }
    memcpy((void *)operation->address, &new, operation->size);
    return old;
}

static void settle_limits(void)
{
    if (__builtin_expect(rcx_now.full != NULL, 0)) {
        unsupported(rcx_now.full);
    }
    if (rcx_now.sc && !rcx_sc_consistent()) {
        end_here(BLOCKED);
    }
    if (__builtin_expect(rcx_now.full != NULL, 0)) {
        unsupported(rcx_now.full);
    }
}

/* The location of an operation. Memory holds its last store, unless something wrote there unseen: the thread
 * itself where it is its own stack, which is as a plain write. */
static rcx_location *locate(const rcx_operation *operation)
{
    rcx_location *location = rcx_model_location(operation->address, operation->size);
    if (location == NULL) {
        unsupported(rcx_now.full);
    }
    const rcx_store *last = &location->stores[location->order[location->store_count - 1]];
    if (__builtin_expect(rcx_memory_get(location->address, location->size) != last->value, 0)) {
        if (!own_stack(operation->address)) {
            unsupported("an atomic word was written by what the explorer does not see");
        }
        rcx_model_plain(now.current, location->address, location->size, true);
        location = rcx_model_location(operation->address, operation->size);
    }
    return location;
}

static void do_store(const rcx_operation *operation)
{
    uint8_t places[RCX_STORES_MAX];
    rcx_operation mine = *operation;
    check_heap(mine.address, mine.size, RCX_ATOMIC_WRITE, mine.place);
    mine.location = locate(&mine);
    check_race(clock_now(), mine.address, mine.size, RCX_ATOMIC_WRITE, mine.place);
    unsigned count = rcx_model_places(now.current, mine.location, places);
    rcx_model_store(now.current, &mine, places[choose(count)]);
    memset(now.threads[now.current].spins, 0, sizeof now.threads[now.current].spins);
    if (now.tracing) {
        trace_event(&mine);
    }
    settle_limits();
}

static void perform(void);

/* Waits until the search lets this thread act, and acts. */
static void arrive(const rcx_operation *operation)
{
    thread *self = &now.threads[now.current];
    self->operation = *operation;
    self->asleep = 0;
    self->state = PENDING;
    do {
        rcx_fiber_yield();
        perform();
    } while (self->state == PENDING);
}

static void count_step(void)
{
    if (++now.threads[now.current].steps > now.limits.steps) {
        end_here(CUT);
    }
}

static rcx_value do_atomic(const rcx_operation *operation, bool *success)
{
    *success = true;
    if (now.phase == OUTSIDE) {
        return 0;
    }
    if (operation->size > 1 && operation->address % operation->size != 0) {
        unsupported("an atomic operation on memory that is not aligned for it");
    }
    if (operation->kind == RCX_UNLOCK && rcx_memory_get(operation->address, operation->size) == 0) {
        rcx_fail_at(RCX_ASSERTION, "a mutex is unlocked that nobody holds", operation->place);
    }
    if (now.phase != THREADS) {
        return sequential_atomic(operation, success);
    }
    count_step();
    note_stack(operation->address);
    bool store = operation->kind == RCX_STORE || operation->kind == RCX_UNLOCK;
    if (store && !now.limits.naive) {
        do_store(operation);
        return 0;
    }
    arrive(operation);
    const thread *self = &now.threads[now.current];
    *success = self->success;
    return self->value;
}

/* As `alter` wants it. */
static rcx_value do_altered(const rcx_operation *operation, bool *success)
{
    rcx_operation altered = *operation;
    if (!now.limits.alter(&altered)) {
        return do_atomic(&altered, success);
    }
    rcx_operation half = altered;
    half.kind = RCX_LOAD;
    rcx_value old = do_atomic(&half, success);
    *success = altered.kind != RCX_CAS || old == altered.expected;
    if (*success) {
        bool stored = true;
        half.kind = RCX_STORE;
        if (altered.kind == RCX_RMW) {
            half.operand = rcx_model_compute(altered.function, old, altered.operand, altered.size);
        }
        do_atomic(&half, &stored);
    }
    return old;
}

rcx_value rcx_atomic(const rcx_operation *operation, bool *success)
{
    now.threads[now.current].inside = operation->place;
    bool alter = now.phase == THREADS && now.limits.alter != NULL;
    rcx_value value = alter ? do_altered(operation, success) : do_atomic(operation, success);
    now.threads[now.current].inside = 0;
    return value;
}

static void do_fence(int order, rcx_place place)
{
    rcx_model_fence(now.current, order, place);
    if (now.tracing) {
        trace_event(&(rcx_operation){.kind = RCX_FENCE, .order = order, .place = place});
    }
    settle_limits();
}

void rcx_fence(int order, rcx_place place)
{
    if (now.phase != THREADS) {
        return;
    }
    rcx_operation fence = {.kind = RCX_FENCE, .order = order, .place = place};
    if (now.limits.alter != NULL) {
        now.limits.alter(&fence);
        if (fence.order == __ATOMIC_RELAXED) {
            return;
        }
    }
    count_step();
    if (now.limits.naive) {
        arrive(&fence);
        return;
    }
    do_fence(fence.order, place);
}

void *rcx_allocate(size_t size, size_t alignment, rcx_place place)
{
    void *memory = rcx_heap_allocate(now.phase == OUTSIDE ? RCX_FIBER_MAIN : now.current, size,
                                     alignment, place);
    if (memory == NULL && now.phase != OUTSIDE) {
        unsupported(
            "it asks for more memory than the explorer has: 1 MiB for a thread in one execution");
    }
    if (now.tracing && now.phase != OUTSIDE) {
        rcx_step *step = new_step(RCX_STEP_ALLOCATE, place);
        step->address = (uintptr_t)memory;
        step->size = size;
    }
    return memory;
}

void rcx_release_block(void *memory, rcx_place place)
{
    rcx_block *dead = NULL;
    if (memory == NULL || now.phase == OUTSIDE) {
        return;
    }
    rcx_block *block = rcx_heap_block((uintptr_t)memory, &dead);
    if (block == NULL) {
        rcx_conflict before = {.other = RCX_FREE};
        if (dead != NULL) {
            before.other_thread = dead->free_thread;
            before.other_place = dead->freed;
        }
        fail_access(RCX_BAD_FREE, RCX_FREE, place, (uintptr_t)memory,
                    dead != NULL ? &before : NULL);
    }
    if (now.phase == THREADS) {
        check_race(clock_now(), block->address, block->size, RCX_FREE, place);
        rcx_model_freed(block->address, block->size);
    }
    if (now.tracing) {
        rcx_step *step = new_step(RCX_STEP_FREE, place);
        step->address = block->address;
        step->size = block->size;
    }
    rcx_heap_free(now.current, block, place);
}

void rcx_private_write(uintptr_t address, size_t size)
{
    if (now.phase == THREADS || now.phase == CHECK) {
        rcx_undo_keep(address, size);
    }
}

void rcx_enter(rcx_place caller)
{
    if (now.tracing && now.phase != OUTSIDE) {
        thread *self = &now.threads[now.current];
        if (self->depth < RCX_STACK_MAX) {
            self->callers[self->depth] = caller;
        }
        self->depth++;
    }
}

void rcx_leave(void)
{
    if (now.tracing && now.phase != OUTSIDE && now.threads[now.current].depth > 0) {
        now.threads[now.current].depth--;
    }
}

/* ---- One execution ---- */

static void run_fiber(unsigned index)
{
    now.current = index;
    rcx_fiber_resume(index);
}

static void thread_entry(void)
{
    now.program->thread(now.program->context, now.current);
    now.threads[now.current].state = DONE;
    for (;;) {
        rcx_fiber_yield();
    }
}

static void setup_entry(void)
{
    if (now.program->setup != NULL) {
        now.program->setup(now.program->context);
    }
    now.threads[now.current].state = DONE;
    for (;;) {
        rcx_fiber_yield();
    }
}

static void check_entry(void)
{
    if (now.program->check != NULL) {
        now.program->check(now.program->context);
    }
    now.threads[now.current].state = DONE;
    for (;;) {
        rcx_fiber_yield();
    }
}

/* False: the execution ended there. */
static bool run_main(phase which, void (*entry)(void))
{
    now.phase = which;
    now.over = false;
    now.threads[RCX_FIBER_MAIN].depth = 0;
    now.threads[RCX_FIBER_MAIN].inside = 0;
    rcx_fiber_prepare(RCX_FIBER_MAIN, entry);
    run_fiber(RCX_FIBER_MAIN);
    now.phase = OUTSIDE;
    return !now.over;
}

static bool awake(const thread *self)
{
    if (self->asleep == 0) {
        return true;
    }
    if (RCX_SABOTAGED(sleeps_for_ever)) {
        return false;
    }
    const rcx_location *location = rcx_model_find(self->operation.address, self->operation.size);
    return location != NULL && location->newest > self->asleep;
}

static bool any_other_awake(unsigned than)
{
    for (unsigned i = 0; i < now.program->threads; i++) {
        if (i != than && now.threads[i].state == PENDING && awake(&now.threads[i])) {
            return true;
        }
    }
    return false;
}

/* The turns that the thread has read this store at this place, one after the other; 0: another one. */
static spin *spin_of(thread *self, const rcx_operation *operation)
{
    spin *found = &self->spins[operation->place % SPIN_PLACES];
    if (found->place != operation->place || found->location != operation->location) {
        *found = (spin){.place = operation->place, .location = operation->location};
    }
    return found;
}

/* Drops a store that a loop has read too often. */
static unsigned drop_spinning(thread *self, const rcx_operation *operation, uint8_t *stores,
                              unsigned count)
{
    const spin *known = spin_of(self, operation);
    if (known->turns < SPIN_TURNS) {
        return count;
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        bool writes =
            operation->kind == RCX_RMW || operation->kind == RCX_LOCK ||
            (operation->kind == RCX_CAS &&
             operation->location->stores[stores[i] & ~RCX_SPURIOUS].value == operation->expected);
        if (stores[i] == known->store && !writes) {
            now.spin_cut = true;
        } else {
            stores[kept++] = stores[i];
        }
    }
    return kept;
}

static void note_spin(thread *self, const rcx_operation *operation, uint8_t store, bool wrote)
{
    if (wrote) {
        memset(self->spins, 0, sizeof self->spins);
        return;
    }
    spin *known = spin_of(self, operation);
    if (known->turns > 0 && known->store == store) {
        known->turns++;
    } else {
        known->store = store;
        known->turns = 1;
    }
}

/* Nobody else can go on: a loop that reads the same again and again may end by itself, by counting its turns.
 * Reading the store once more tells nothing new, so it is no event. */
static void spin_on(thread *self, const rcx_operation *operation)
{
    const rcx_location *location = operation->location;
    self->spins_on = false;
    self->value = location->stores[location->order[location->store_count - 1]].value;
    self->success = operation->kind == RCX_LOAD;
    self->state = READY;
}

/* The thread takes one of what it may read, or sleeps. */
static void perform_read(thread *self, rcx_operation *operation)
{
    uint8_t stores[2 * RCX_STORES_MAX];
    check_heap(operation->address, operation->size,
               operation->kind == RCX_LOAD ? RCX_ATOMIC_READ : RCX_ATOMIC_WRITE, operation->place);
    operation->location = locate(operation);
    if (self->spins_on) {
        spin_on(self, operation);
        return;
    }
    unsigned count = rcx_model_readable(now.current, operation, self->asleep,
                                        self->spurious < now.limits.spurious, stores);
    count = drop_spinning(self, operation, stores, count);
    bool may_sleep = count == 0 || (!now.limits.naive && any_other_awake(now.current) &&
                                    !RCX_SABOTAGED(never_sleeps));
    unsigned taken = choose(count + (unsigned)may_sleep);
    if (taken == count) {
        self->asleep = rcx_now.sequence + (RCX_SABOTAGED(sleeps_too_long) ? 1 : 0);
        return;
    }
    uint8_t store = stores[taken];
    self->value = rcx_model_read(now.current, operation, store, &self->success);
    self->spurious += (store & RCX_SPURIOUS) != 0;
    self->state = READY;
    bool wrote = self->success && operation->kind != RCX_LOAD;
    note_spin(self, operation, store, wrote);
    if (now.tracing) {
        trace_event(operation);
    }
    /* The time of the operation itself, which its own release told. */
    rcx_clock clock = clock_now();
    clock[now.current]--;
    check_race(clock, operation->address, operation->size,
               wrote ? RCX_ATOMIC_WRITE : RCX_ATOMIC_READ, operation->place);
    settle_limits();
}

static void perform(void)
{
    thread *self = &now.threads[now.current];
    switch (self->operation.kind) {
    case RCX_STORE:
    case RCX_UNLOCK:
        self->state = READY;
        do_store(&self->operation);
        break;
    case RCX_FENCE:
        self->state = READY;
        do_fence(self->operation.order, self->operation.place);
        break;
    default:
        perform_read(self, &self->operation);
        break;
    }
}

/* Nobody is awake: true if nobody ever could be. */
static bool is_deadlock(void)
{
    uint8_t stores[2 * RCX_STORES_MAX];
    for (unsigned i = 0; i < now.program->threads; i++) {
        thread *self = &now.threads[i];
        if (self->state != PENDING) {
            continue;
        }
        now.current = i;
        unsigned count = rcx_model_readable(i, &self->operation, 0, false, stores);
        if (drop_spinning(self, &self->operation, stores, count) > 0) {
            return false;
        }
    }
    return true;
}

/* Nobody is awake. Of the threads that wait in a loop, the one that has turned least, to go on; RCX_FIBERS if
 * there is none, or if they have all turned long enough. */
static unsigned next_spinner(void)
{
    unsigned least = RCX_FIBERS;
    for (unsigned i = 0; i < now.program->threads; i++) {
        const thread *self = &now.threads[i];
        bool loops = self->operation.kind == RCX_LOAD || self->operation.kind == RCX_CAS;
        if (self->state == PENDING && loops && self->spins_alone < SPIN_LONGEST &&
            (least == RCX_FIBERS || self->spins_alone < now.threads[least].spins_alone)) {
            least = i;
        }
    }
    if (least != RCX_FIBERS) {
        now.threads[least].spins_on = true;
        now.threads[least].spins_alone++;
        now.threads[least].steps = 0;
    }
    return least;
}

/* The thread to go on: one that is between operations, else the first that is awake. RCX_FIBERS: none. */
static unsigned next_thread(void)
{
    unsigned awake_ones[RCX_THREADS_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < now.program->threads; i++) {
        if (now.threads[i].state == READY) {
            return i;
        }
        if (now.threads[i].state == PENDING && awake(&now.threads[i])) {
            awake_ones[count++] = i;
        }
    }
    if (count == 0) {
        return RCX_FIBERS;
    }
    return awake_ones[now.limits.naive ? choose(count) : 0];
}

static void trace_waiting(void)
{
    for (unsigned i = 0; now.tracing && i < now.program->threads; i++) {
        const rcx_operation *operation = &now.threads[i].operation;
        if (now.threads[i].state == PENDING) {
            now.current = i;
            rcx_step *step = new_step(RCX_STEP_SLEEP, operation->place);
            step->operation = *operation;
            step->address = operation->address;
            step->size = operation->size;
            step->failed = true;
        }
    }
}

static void run_threads(void)
{
    unsigned pending = 0;
    now.phase = THREADS;
    for (unsigned i = 0; i < now.program->threads; i++) {
        thread *self = &now.threads[i];
        self->state = READY;
        self->asleep = 0;
        self->steps = 0;
        self->plain_steps = 0;
        self->spurious = 0;
        self->spins_on = false;
        self->spins_alone = 0;
        self->depth = 0;
        self->inside = 0;
        memset(self->spins, 0, sizeof self->spins);
        rcx_fiber_prepare(i, thread_entry);
    }
    for (;;) {
        unsigned next = next_thread();
        if (next == RCX_FIBERS && is_deadlock()) {
            next = next_spinner();
        }
        if (next == RCX_FIBERS) {
            break;
        }
        if (!now.part_settled && now.choice_at >= SPLIT_DEPTH && !claim()) {
            now.ending = NOT_OURS;
            now.over = true;
            break;
        }
        run_fiber(next);
        if (now.over) {
            break;
        }
    }
    now.phase = OUTSIDE;
    for (unsigned i = 0; i < now.program->threads; i++) {
        pending += now.threads[i].state == PENDING;
    }
    if (now.over || pending == 0) {
        return;
    }
    now.over = true;
    now.ending = BLOCKED;
    if (is_deadlock() && !RCX_SABOTAGED(no_deadlock)) {
        trace_waiting();
        say_failure(RCX_DEADLOCK, "threads wait for ever: for a mutex, or in a loop for a value "
                                  "that nobody will store");
        now.ending = FAILED;
    }
}

static void undo(void)
{
    rcx_undo_all();
    rcx_heap_undo();
}

volatile sig_atomic_t rcx_executions_seen;

static void run_once(void)
{
    rcx_executions_seen = 1;
    now.choice_at = 0;
    now.over = false;
    now.ending = COMPLETE;
    now.part_settled = now.part_depth != 0 && now.choice_count > now.part_depth;
    if (!now.part_settled) {
        now.part_depth = 0;
    }
    now.spin_cut = false;
    trace.step_count = 0;
    rcx_shadow_forget();
    rcx_model_begin(now.program->threads);
    run_threads();
    if (!now.over && run_main(CHECK, check_entry) && !now.part_settled && !claim()) {
        now.ending = NOT_OURS;
    }
    /* Choices that this execution did not come to: of a schedule that was given, or it is another program. */
    if (now.choice_count > now.choice_at) {
        if (now.choices[now.choice_at].count != 0 && rcx_now.full == NULL) {
            rcx_now.full = not_repeatable;
        }
        now.choice_count = now.choice_at;
    }
    if (rcx_now.full != NULL && now.ending != NOT_OURS) {
        now.ending = UNSUPPORTED;
        snprintf(now.text, sizeof now.text, "%s", rcx_now.full);
    }
    if (now.ending == COMPLETE && now.program->done != NULL) {
        rcx_fibers_rest();
        now.program->done(now.program->context);
    }
}

/* ---- Graphs that were seen ---- */

typedef struct hash_set {
    uint64_t *slots;
    size_t room, count;
} hash_set;

static bool hash_set_add(hash_set *set, uint64_t hash)
{
    if (hash == 0) {
        hash = 1;
    }
    if (2 * set->count >= set->room) {
        hash_set bigger = {.room = set->room == 0 ? 4096 : 4 * set->room};
        bigger.slots = calloc(bigger.room, sizeof *bigger.slots);
        if (bigger.slots == NULL) {
            abort();
        }
        for (size_t i = 0; i < set->room; i++) {
            if (set->slots[i] != 0) {
                hash_set_add(&bigger, set->slots[i]);
            }
        }
        free(set->slots);
        *set = bigger;
    }
    size_t at = hash & (set->room - 1);
    for (; set->slots[at] != 0; at = (at + 1) & (set->room - 1)) {
        if (set->slots[at] == hash) {
            return false;
        }
    }
    set->slots[at] = hash;
    set->count++;
    return true;
}

/* ---- A crash of the program ---- */

static void on_crash(int number, siginfo_t *info, void *context)
{
    char text[96];
    if (now.phase == OUTSIDE) {
        signal(number, SIG_DFL);
        return;
    }
    if (now.tracing) {
        const ucontext_t *at = context;
        uintptr_t code = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
        rcx_place inside = now.threads[now.current].inside;
        trace.place = inside != 0 ? inside : code <= UINT32_MAX ? (rcx_place)code : 0;
    }
    bool overflow = rcx_fiber_is_guard((uintptr_t)info->si_addr);
    snprintf(text, sizeof text, "%s: %s at %p", overflow ? "a stack overflow" : "a crash",
             number == SIGSEGV   ? "segmentation fault"
             : number == SIGFPE  ? "arithmetic fault"
             : number == SIGILL  ? "illegal instruction"
             : number == SIGABRT ? "abort"
                                 : "bus error",
             info->si_addr);
    say_failure(RCX_CRASH, text);
    end_here(FAILED);
}

static void watch_crashes(void)
{
    static unsigned char stack[64 << 10];
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_crash,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaltstack(&alternative, NULL);
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sigaction(numbers[i], &action, NULL);
    }
}

/* ---- Searching ---- */

static bool start_process(void)
{
    if (now.started) {
        return true;
    }
    now.started = rcx_fibers_start() && rcx_shadow_start() && rcx_model_start();
    return now.started;
}

/* The first to have something to tell. */
static void tell(rcx_verdict verdict)
{
    uint32_t none = 0;
    if (!atomic_compare_exchange_strong_explicit(&common->reporter, &none, 1, memory_order_relaxed,
                                                 memory_order_relaxed)) {
        return;
    }
    common->result.verdict = verdict;
    common->result.kind = verdict == RCX_FAIL ? now.kind : RCX_NO_FAILURE;
    snprintf(common->result.text, sizeof common->result.text, "%s", now.text);
    write_schedule(common->result.schedule, sizeof common->result.schedule);
    atomic_store_explicit(&common->failed, true, memory_order_relaxed);
    atomic_store_explicit(&common->stop, true, memory_order_relaxed);
}

static void add_to(_Atomic(uint64_t) *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static bool stopped(void)
{
    return atomic_load_explicit(&common->stop, memory_order_relaxed);
}

/* Counts an execution's ending. False: the search is over. */
static bool account(hash_set *set)
{
    switch (now.ending) {
    case COMPLETE:
        add_to(&common->seen, 1);
        if (now.spin_cut) {
            add_to(&common->cut, 1);
        }
        if ((now.limits.hashes || now.limits.naive) && !hash_set_add(set, rcx_model_hash())) {
            return true;
        }
        add_to(&common->graphs, 1);
        return true;
    case BLOCKED:
        add_to(now.spin_cut ? &common->cut : &common->blocked, 1);
        return true;
    case CUT:
        add_to(&common->cut, 1);
        return true;
    case NOT_OURS:
        return true;
    case FAILED:
        tell(RCX_FAIL);
        return false;
    case UNSUPPORTED:
        tell(RCX_UNSUPPORTED);
        return false;
    }
    return false;
}

/* Some executions, of which nothing is kept but whether threads use each other's stacks. */
static void probe(void)
{
    now.probing = true;
    now.stacks_shared = false;
    now.randomly = true;
    now.random_state = UINT64_C(0x9e3779b97f4a7c15);
    void (*done)(void *) = NULL;
    rcx_program quiet = *now.program;
    const rcx_program *program = now.program;
    quiet.done = done;
    now.program = &quiet;
    for (unsigned i = 0; i < PROBES; i++) {
        now.choice_count = 0;
        run_once();
        undo();
    }
    now.program = program;
    now.randomly = false;
    now.probing = false;
}

/* Runs setup; what it leaves is what every execution starts with. */
static bool set_up(void)
{
    now.choice_at = 0;
    now.choice_count = 0;
    rcx_start_forget();
    rcx_heap_clear();
    bool good = run_main(SETUP, setup_entry);
    rcx_heap_keep();
    if (now.program->memory_size > 0) {
        rcx_start_keep((uintptr_t)now.program->memory, now.program->memory_size);
    }
    if (!good) {
        tell(now.ending == UNSUPPORTED ? RCX_UNSUPPORTED : RCX_FAIL);
    } else {
        probe();
    }
    return good;
}

static void search_all(void)
{
    hash_set set = {.count = 0};
    now.choice_count = 0;
    now.parts = 0;
    now.part_depth = 0;
    bool more = true;
    while (more && !stopped()) {
        run_once();
        bool over = !account(&set);
        undo();
        if (over) {
            break;
        }
        if (now.ending != NOT_OURS) {
            uint64_t done =
                atomic_fetch_add_explicit(&common->executions, 1, memory_order_relaxed) + 1;
            if (now.limits.executions != 0 && done >= now.limits.executions) {
                atomic_store_explicit(&common->stop, true, memory_order_relaxed);
                more = false;
            }
        }
        more = advance() && more;
        if (!more && now.choice_count == 0) {
            break;
        }
    }
    free(set.slots);
}

static void search_randomly(uint64_t count, uint64_t seed)
{
    now.randomly = true;
    now.random_state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint64_t i = 0; i < count && !atomic_load_explicit(&common->failed, memory_order_relaxed);
         i++) {
        now.choice_count = 0;
        run_once();
        bool failed = now.ending == FAILED || now.ending == UNSUPPORTED;
        if (failed) {
            tell(now.ending == FAILED ? RCX_FAIL : RCX_UNSUPPORTED);
        }
        undo();
        if (failed) {
            break;
        }
        add_to(&common->random, 1);
    }
    now.randomly = false;
}

/* One process's share. */
static void work(unsigned process)
{
    now.process = process;
    if (!start_process()) {
        snprintf(now.text, sizeof now.text, "no memory for the search");
        tell(RCX_UNSUPPORTED);
        return;
    }
    watch_crashes();
    if (!set_up()) {
        return;
    }
    search_all();
    bool beyond = stopped() && !atomic_load_explicit(&common->failed, memory_order_relaxed);
    if (beyond && now.limits.random > 0) {
        search_randomly(now.limits.random / now.limits.processes, now.limits.seed + process);
    }
    rcx_fibers_rest();
}

/* ---- A failure, made short and traced ---- */

static bool read_schedule(const char *text)
{
    now.choice_count = 0;
    if (strcmp(text, "-") == 0) {
        return true;
    }
    for (const char *at = text; *at != '\0';) {
        char *end = NULL;
        unsigned long taken = strtoul(at, &end, 10);
        if (end == at || taken > UINT16_MAX || (*end != '.' && *end != '\0') ||
            now.choice_count == CHOICES_MAX) {
            return false;
        }
        now.choices[now.choice_count++] = (choice){0, (uint16_t)taken};
        at = *end == '.' ? end + 1 : end;
    }
    return true;
}

/* How hard an execution is to follow: changes of thread first, then operations. */
static unsigned difficulty(void)
{
    unsigned changes = 0;
    for (unsigned i = 1; i < rcx_now.event_count; i++) {
        changes += rcx_now.events[i].thread != rcx_now.events[i - 1].thread;
    }
    return 64 * changes + rcx_now.event_count;
}

/* Looks for an easier execution that fails in the same way, among the ones that come next and random
 * ones. Leaves its schedule in `result`. */
static void shorten(rcx_result *result)
{
    rcx_failure_kind wanted = result->kind;
    unsigned best = UINT32_MAX;
    if (!read_schedule(result->schedule)) {
        return;
    }
    clock_t until = clock() + SHORTEN_SECONDS * CLOCKS_PER_SEC;
    for (unsigned i = 0; i < SHORTEN_EXECUTIONS && clock() < until; i++) {
        now.randomly = i % 2 == 1 && i > 0;
        static choice kept[CHOICES_MAX];
        unsigned kept_count = now.choice_count;
        if (now.randomly) {
            memcpy(kept, now.choices, kept_count * sizeof *kept);
            now.choice_count = 0;
        }
        run_once();
        unsigned found = difficulty();
        bool same = now.ending == FAILED && now.kind == wanted;
        if (same && found < best) {
            best = found;
            write_schedule(result->schedule, sizeof result->schedule);
            snprintf(result->text, sizeof result->text, "%s", now.text);
        }
        undo();
        if (now.randomly) {
            now.randomly = false;
            memcpy(now.choices, kept, kept_count * sizeof *kept);
            now.choice_count = kept_count;
        } else if (!advance()) {
            break;
        }
    }
}

static void trace_failure(rcx_result *result)
{
    static char schedule[sizeof result->schedule];
    static char text[sizeof result->text];
    memset(&trace, 0, offsetof(rcx_trace, steps));
    if (!read_schedule(result->schedule)) {
        return;
    }
    now.tracing = true;
    run_once();
    /* Again, now that it is known which plain accesses matter. */
    undo();
    now.watching = trace.address != 0;
    now.watch_address = trace.address;
    now.watch_thread = trace.other_known ? trace.other_thread : RCX_FIBERS;
    now.watch_place = trace.other_place;
    memset(&trace, 0, offsetof(rcx_trace, steps));
    read_schedule(result->schedule);
    run_once();
    if (now.ending == FAILED) {
        trace_there = true;
        snprintf(schedule, sizeof schedule, "%s", result->schedule);
        snprintf(text, sizeof text, "%s", now.text);
        trace.program = now.program;
        trace.kind = now.kind;
        trace.text = text;
        trace.schedule = schedule;
    }
    now.tracing = false;
    now.watching = false;
    undo();
}

static void replay(const char *schedule, rcx_result *result)
{
    if (!start_process()) {
        result->verdict = RCX_UNSUPPORTED;
        snprintf(result->text, sizeof result->text, "no memory for the search");
        return;
    }
    watch_crashes();
    now.replaying = true;
    if (set_up() && read_schedule(schedule)) {
        run_once();
        result->verdict = now.ending == FAILED        ? RCX_FAIL
                          : now.ending == UNSUPPORTED ? RCX_UNSUPPORTED
                          : now.ending == COMPLETE    ? RCX_PASS
                                                      : RCX_BOUNDED;
        result->kind = now.ending == FAILED ? now.kind : RCX_NO_FAILURE;
        result->graphs = now.ending == COMPLETE;
        snprintf(result->text, sizeof result->text, "%s",
                 now.ending == FAILED || now.ending == UNSUPPORTED ? now.text
                 : now.ending == COMPLETE                          ? ""
                                                                   : "this schedule leads nowhere");
        write_schedule(result->schedule, sizeof result->schedule);
        undo();
        if (now.ending == FAILED) {
            trace_failure(result);
        }
    } else {
        *result = common->result;
    }
    now.replaying = false;
    rcx_fibers_rest();
}

static void say_bounds(rcx_result *result)
{
    uint64_t cut = atomic_load_explicit(&common->cut, memory_order_relaxed);
    bool limit = atomic_load_explicit(&common->stop, memory_order_relaxed);
    int used = 0;
    if (limit) {
        used = snprintf(
            result->text, sizeof result->text,
            "not all: stopped after %llu executions, then %llu at random (seed %llu)",
            (unsigned long long)atomic_load_explicit(&common->executions, memory_order_relaxed),
            (unsigned long long)atomic_load_explicit(&common->random, memory_order_relaxed),
            (unsigned long long)now.limits.seed);
    }
    if (cut > 0) {
        snprintf(result->text + used, sizeof result->text - (size_t)used,
                 "%s%llu executions were cut where a loop read the same %d times or a thread did "
                 "more than %u operations",
                 used > 0 ? "; " : "", (unsigned long long)cut, SPIN_TURNS, now.limits.steps);
    }
    if (limit || cut > 0) {
        result->verdict = RCX_BOUNDED;
    }
    if (atomic_load_explicit(&common->graphs, memory_order_relaxed) == 0) {
        char bounds[sizeof result->text];
        snprintf(bounds, sizeof bounds, "%s", result->text);
        snprintf(result->text, sizeof result->text, "no execution came to its end%s%.400s",
                 bounds[0] != '\0' ? ": " : "", bounds);
        result->verdict = RCX_UNSUPPORTED;
    }
}

static void fork_and_work(void)
{
    pid_t children[64];
    unsigned count = now.limits.processes < 64 ? now.limits.processes : 64;
    fflush(NULL);
    for (unsigned i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            work(i);
            fflush(NULL);
            _exit(0);
        }
        if (children[i] < 0) {
            snprintf(now.text, sizeof now.text, "the system gives no more processes");
            tell(RCX_UNSUPPORTED);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        int status = 0;
        if (children[i] > 0 && waitpid(children[i], &status, 0) == children[i] && status != 0) {
            snprintf(now.text, sizeof now.text, "a searching process ended with status %d", status);
            tell(RCX_UNSUPPORTED);
        }
    }
}

static double seconds_since(const struct timespec *from)
{
    struct timespec to;
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from->tv_sec) + 1e-9 * (double)(to.tv_nsec - from->tv_nsec);
}

void rcx_explore(const rcx_program *program, const rcx_limits *limits, rcx_result *result)
{
    struct timespec from;
    *result = (rcx_result){.verdict = RCX_PASS};
    clock_gettime(CLOCK_MONOTONIC, &from);
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED) {
        result->verdict = RCX_UNSUPPORTED;
        snprintf(result->text, sizeof result->text, "no memory for the search");
        return;
    }
    now.program = program;
    now.limits = *limits;
    now.limits.steps = limits->steps == 0 ? DEFAULT_STEPS : limits->steps;
    now.limits.processes = limits->processes == 0 ? 1 : limits->processes;
    trace_there = false;
    if (limits->schedule != NULL) {
        replay(limits->schedule, result);
    } else {
        if (now.limits.processes == 1) {
            work(0);
        } else {
            fork_and_work();
        }
        if (atomic_load_explicit(&common->failed, memory_order_relaxed)) {
            *result = common->result;
        } else {
            say_bounds(result);
        }
        result->graphs = atomic_load_explicit(&common->graphs, memory_order_relaxed);
        result->blocked = atomic_load_explicit(&common->blocked, memory_order_relaxed);
        result->seen = atomic_load_explicit(&common->seen, memory_order_relaxed);
        result->twice = limits->hashes && !limits->naive ? result->seen - result->graphs : 0;
        result->seconds = seconds_since(&from);
        bool alone = now.limits.processes == 1;
        now.limits.processes = 1;
        bool tell_more = result->verdict == RCX_FAIL && !limits->brief;
        if (tell_more && start_process() && (alone || set_up())) {
            watch_crashes();
            shorten(result);
            trace_failure(result);
            rcx_fibers_rest();
        }
    }
    munmap(common, sizeof *common);
}
