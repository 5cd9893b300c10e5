/* replay: what does counting cost in a program that somebody really ran?
 *
 * Plays a recording of reference counting (workloads/traces/) on this implementation: every object is
 * born, retained, released and dies as in the recorded program, over the tensor layer's own payloads.
 * The recording is compiled beforehand (harness/replay_plan.h): while the clock runs, nothing is
 * parsed or looked up.
 *
 * Private: each thread plays the whole recording by itself, with objects of its own.
 * Shared, a recording of one thread: each thread plays the whole recording; the objects that were alive
 * when it began (the model's weights) are shared, what is born later is private.
 * Shared, a recording of several threads: these threads, dealt out to those of the run; a thread waits
 * where the recorded order demands it.
 * One operation: one record: a birth, retain, release, weak operation, lock, or the drop of a dead
 * tensor's storage, which the tensor's finalizer does. Marks are none.
 * A pass is: the objects alive at the start are made; the records are played, timed; what is left is
 * released. For several threads the time is the wall clock from the moment all may start to the moment
 * all are done, and the records are split evenly between them.
 * Left out: the tensors' bytes, none is allocated; the work between the records, so that counts are met
 * more densely than in life.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "rct.h"
#include "replay_plan.h"
#include "tensor.h"

/* Tests may define it before they include this file; called by each finalizer. */
#ifndef REPLAY_ON_DEATH
#define REPLAY_ON_DEATH() ((void)0)
#endif

/* ---- Objects ---- */

static void replay_finalize_plain(void *payload)
{
    (void)payload;
    REPLAY_ON_DEATH();
}

static void replay_finalize_storage(void *payload)
{
    tensor_storage_finalize(payload);
    REPLAY_ON_DEATH();
}

static void replay_finalize_tensor(void *payload)
{
    tensor_impl_finalize(payload); /* releases the storage: the d record */
    REPLAY_ON_DEATH();
}

static const rc_class replay_plain_class = {
    .name = "other",
    .payload_size = 64,
    .finalize = replay_finalize_plain,
};

static const rc_class replay_storage_class = {
    .name = "storage",
    .payload_size = sizeof(tensor_storage_impl),
    .finalize = replay_finalize_storage,
};

static const rc_class replay_tensor_class = {
    .name = "tensor",
    .payload_size = sizeof(tensor_impl),
    .finalize = replay_finalize_tensor,
};

/* ---- Playing one program ---- */

/* How far a thread is, for those that wait for it. On lines of its own. */
typedef struct replay_progress {
    _Alignas(128) _Atomic(uint32_t) posted;
} replay_progress;

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
typedef rc_weak replay_weak;
#else
typedef char replay_weak; /* recordings with weak handles are refused before */
#endif

/* What one thread plays with. */
typedef struct replay_player {
    rc_strong *strong; /* slots; see replay_plan.h */
    replay_weak *weak;
    replay_progress *progress; /* one per thread of the plan, or NULL: no WAIT and no POST occur */
    unsigned index;            /* in progress */
    bool refused;              /* memory was refused; null handles then stand for what is missing */
    uint64_t wrong;            /* checking plans: counts that were not as recorded */
    char first_wrong[160];
    uint64_t (*deaths)(void); /* checking plans: how many objects have died so far */
} replay_player;

enum { REPLAY_SPINS = 256 /* then others may run: there may be more threads than processors */ };

static inline void replay_wait(const replay_player *player, uint32_t thread, uint32_t number)
{
    unsigned spins = 0;
    /* P2 ACQUIRE: what the other thread did before it posted comes before what we do next: the slot it
     * filled can be read, its uses of an object come before we let go of it. Pairs with P1. */
    while (atomic_load_explicit(&player->progress[thread].posted, memory_order_acquire) < number) {
        if (++spins % REPLAY_SPINS == 0) {
            sched_yield();
        } else {
            rcl_pause();
        }
    }
}

static inline rc_strong replay_new_tensor(rc_strong storage, uint32_t elements)
{
    rc_strong object = rc_new(&replay_tensor_class);
    if (!rc_is_null(object)) {
        *(tensor_impl *)rc_payload(object) = (tensor_impl){
            .layout = {.sizes = {elements}, .strides = {1}, .numel = elements, .dimensions = 1},
            .storage = {storage},
        };
    }
    return object;
}

static inline rc_strong replay_new_storage(uint64_t size_bytes)
{
    rc_strong object = rc_new(&replay_storage_class);
    if (!rc_is_null(object)) {
        *(tensor_storage_impl *)rc_payload(object) = (tensor_storage_impl){
            .data = {.device = TENSOR_DEVICE_META}, .size_bytes = (size_t)size_bytes};
    }
    return object;
}

/* The tensor could not be made: its storage's handle must not be lost. */
__attribute__((noinline, cold)) static void replay_refuse_tensor(replay_player *player,
                                                                 rc_strong *held)
{
    player->refused = true;
    rc_release(*held);
    *held = rc_null();
}

/* The unit moves into the tensor; the slot keeps a loan of it. */
static inline void replay_fund(rc_strong *slots, uint32_t held, uint32_t source, uint32_t owner)
{
    slots[held] = rc_retain(slots[source]);
    tensor_impl *impl = rc_payload(slots[owner]);
    if (impl != NULL) {
        impl->storage.impl = slots[held];
    } else {
        rc_release(slots[held]);
        slots[held] = rc_null();
    }
}

static inline void replay_unfund(rc_strong owner)
{
    tensor_impl *impl = rc_payload(owner);
    if (impl != NULL) {
        rc_strong storage = impl->storage.impl;
        impl->storage.impl = rc_null();
        rc_release(storage);
    }
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static inline void replay_weak_op(const replay_player *player, const replay_instruction *at)
{
    rc_strong *strong = player->strong;
    rc_weak *weak = player->weak;
    switch (at->op) {
    case REPLAY_WEAK_NEW:
        weak[at->a] = rc_weak_new(strong[at->b]);
        break;
    case REPLAY_WEAK_RETAIN:
        weak[at->a] = rc_weak_retain(weak[at->b]);
        break;
    case REPLAY_WEAK_RELEASE:
        rc_weak_release(weak[at->a]);
        break;
    case REPLAY_LOCK:
        strong[at->a] = rc_weak_lock(weak[at->b]);
        break;
    case REPLAY_LOCK_UNSEEN: {
        rc_weak unseen = rc_weak_new(strong[at->b]);
        strong[at->a] = rc_weak_lock(unseen);
        rc_weak_release(unseen);
        break;
    }
    default: /* REPLAY_LOCK_DEAD; not dead yet where deaths are put off, or another thread has a copy */
        rc_release(rc_weak_lock(weak[at->a]));
        break;
    }
}
#else
static inline void replay_weak_op(const replay_player *player, const replay_instruction *at)
{
    (void)player;
    (void)at;
}
#endif

#ifdef REPLAY_CHECKING
/* What the recording says must be so, where the implementation promises it. */
static void replay_check(replay_player *player, const replay_instruction *at)
{
    uint64_t strong_is = at->b;
    uint64_t weak_is = at->c;
    uint64_t deaths_are = at->b;
    if (at->op == REPLAY_CHECK_DEATHS) {
        deaths_are = (RC_IMPL_CAPS)&RC_CAP_IMMEDIATE ? player->deaths() : at->b;
    } else if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        strong_is = rc_use_count(player->strong[at->a]);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
        weak_is = rc_weak_count(player->strong[at->a]);
#endif
    }
    if (at->op == REPLAY_CHECK_DEATHS ? deaths_are == at->b
                                      : strong_is == at->b && weak_is == at->c) {
        return;
    }
    if (player->wrong++ == 0) {
        snprintf(player->first_wrong, sizeof player->first_wrong,
                 "after record %u: %s: expected %u and %u weak, got %llu and %llu",
                 (unsigned)at->event, at->op == REPLAY_CHECK_DEATHS ? "deaths" : "count",
                 (unsigned)at->b, (unsigned)at->c,
                 (unsigned long long)(at->op == REPLAY_CHECK_DEATHS ? deaths_are : strong_is),
                 (unsigned long long)weak_is);
    }
}
#else
static void replay_check(replay_player *player, const replay_instruction *at)
{
    (void)player;
    (void)at;
}
#endif

/* Plays a program to its end. */
static void replay_play(replay_player *player, const replay_program *program)
{
    rc_strong *const strong = player->strong;
    for (const replay_instruction *at = program->instructions;; at++) {
        switch (at->op) {
        case REPLAY_END:
            return;
        case REPLAY_RETAIN:
            strong[at->a] = rc_retain(strong[at->b]);
            break;
        case REPLAY_RELEASE:
            rc_release(strong[at->a]);
            break;
        case REPLAY_RELEASE_BRIDGED:
            strong[at->b] = rc_retain(strong[at->c]);
            rc_release(strong[at->a]);
            break;
        case REPLAY_NEW_PLAIN:
            strong[at->a] = rc_new(&replay_plain_class);
            player->refused |= rc_is_null(strong[at->a]);
            break;
        case REPLAY_NEW_STORAGE:
            strong[at->a] = replay_new_storage(at->b | (uint64_t)at->c << 32);
            player->refused |= rc_is_null(strong[at->a]);
            break;
        case REPLAY_NEW_TENSOR:
            strong[at->a] = replay_new_tensor(strong[at->b], at->c);
            if (__builtin_expect(rc_is_null(strong[at->a]), 0)) {
                replay_refuse_tensor(player, &strong[at->b]);
            }
            break;
        case REPLAY_NEW_TENSOR_BARE:
            strong[at->a] = replay_new_tensor(rc_null(), at->c);
            player->refused |= rc_is_null(strong[at->a]);
            break;
        case REPLAY_FUND:
            replay_fund(strong, at->a, at->b, at->c);
            break;
        case REPLAY_UNFUND:
            replay_unfund(strong[at->a]);
            break;
        case REPLAY_SHARE:
            rc_share(strong[at->a]);
            break;
        case REPLAY_WAIT:
            replay_wait(player, at->a, at->b);
            break;
        case REPLAY_POST:
            /* P1 RELEASE: the slots that we filled and our uses of objects come before. Pairs with P2. */
            atomic_store_explicit(&player->progress[player->index].posted, at->b,
                                  memory_order_release);
            break;
        case REPLAY_CHECK_COUNT:
        case REPLAY_CHECK_DEATHS:
            replay_check(player, at);
            break;
        default:
            replay_weak_op(player, at);
            break;
        }
        rcl_clobber(); /* a retain and the release after it must not fold into nothing */
    }
}

/* ---- A team plays a pass ---- */

typedef struct replay_slots {
    rc_strong *strong;
    replay_weak *weak;
    uint32_t strong_room, weak_room;
} replay_slots;

typedef struct replay_shared {
    replay_plan *plan;
    const replay_window *window; /* set by thread 0 between two meetings */
    replay_slots slots; /* of all threads, in recorded mode; else of thread 0, for the setup */
    replay_progress *progress;
    bool leave; /* as window: this pass was the last */
    _Atomic(bool) failed;
    _Atomic(unsigned) arrived; /* of the meeting */
    _Atomic(unsigned) meetings;
} replay_shared;

typedef struct replay_state {
    replay_slots slots; /* not in recorded mode */
    replay_player player;
} replay_state;

/* All threads of the team meet. What each did before is seen by all afterwards. */
static void replay_meet(rcl_team *team)
{
    replay_shared *shared = team->shared;
    if (team->threads == 1) {
        return;
    }
    /* M1 RELAXED: nobody can begin the next meeting before we have arrived at this one. */
    unsigned meeting = atomic_load_explicit(&shared->meetings, memory_order_relaxed);
    /* M2 ACQ_REL: the last to arrive sees what all others did; pairs with M2 of them. */
    if (atomic_fetch_add_explicit(&shared->arrived, 1, memory_order_acq_rel) + 1 == team->threads) {
        /* M3 RELAXED: M4 publishes it. */
        atomic_store_explicit(&shared->arrived, 0, memory_order_relaxed);
        /* M4 RELEASE: hands all that on to the waiting ones. Pairs with M5. */
        atomic_store_explicit(&shared->meetings, meeting + 1, memory_order_release);
        return;
    }
    unsigned spins = 0;
    /* M5 ACQUIRE: pairs with M4. */
    while (atomic_load_explicit(&shared->meetings, memory_order_acquire) == meeting) {
        if (++spins % REPLAY_SPINS == 0) {
            sched_yield();
        } else {
            rcl_pause();
        }
    }
}

static void *replay_grow(void *old, uint32_t old_count, uint32_t count, size_t item_size)
{
    size_t size = ((size_t)count * item_size + 127) / 128 * 128;
    void *items = aligned_alloc(128, size);
    if (items == NULL) {
        return NULL;
    }
    memset(items, 0, size);
    if (old != NULL) {
        memcpy(items, old, (size_t)old_count * item_size);
    }
    free(old);
    return items;
}

/* False if memory was refused; what there was stays. The slots are no part of what is measured, so they
 * do not come from rc_mem_alloc. */
static bool replay_slots_reserve(replay_slots *slots, uint32_t strong, uint32_t weak)
{
    if (strong > slots->strong_room) {
        void *items = replay_grow(slots->strong, slots->strong_room, strong, sizeof(rc_strong));
        if (items == NULL) {
            return false;
        }
        slots->strong = items;
        for (uint32_t i = slots->strong_room; i < strong; i++) {
            slots->strong[i] = rc_null();
        }
        slots->strong_room = strong;
    }
    if (weak > slots->weak_room) {
        void *items = replay_grow(slots->weak, slots->weak_room, weak, sizeof(replay_weak));
        if (items == NULL) {
            return false;
        }
        slots->weak = items;
        slots->weak_room = weak;
    }
    return true;
}

static void replay_slots_free(replay_slots *slots)
{
    free(slots->strong);
    free(slots->weak);
    *slots = (replay_slots){0};
}

static void replay_fail(replay_shared *shared)
{
    /* F1 RELAXED: read after a meeting, which orders it. */
    atomic_store_explicit(&shared->failed, true, memory_order_relaxed);
}

static bool replay_failed(replay_shared *shared)
{
    /* F2 RELAXED: pairs with F1 through the meeting between the two. */
    return atomic_load_explicit(&shared->failed, memory_order_relaxed);
}

/* The slots that this thread plays with. */
static replay_slots *replay_slots_of(rcl_thread *thread)
{
    replay_shared *shared = thread->team->shared;
    replay_state *state = thread->state;
    bool common = replay_plan_mode(shared->plan) == REPLAY_RECORDED;
    return common ? &shared->slots : &state->slots;
}

static void replay_use_slots(replay_player *player, const replay_slots *slots)
{
    player->strong = slots->strong;
    player->weak = slots->weak;
}

/* Makes the objects that were alive when the recording began. A meeting follows. */
static void replay_set_up(rcl_thread *thread)
{
    replay_shared *shared = thread->team->shared;
    replay_state *state = thread->state;
    const replay_setup *setup = replay_plan_setup(shared->plan);
    replay_mode mode = replay_plan_mode(shared->plan);
    replay_slots *slots = replay_slots_of(thread);
    bool mine = mode == REPLAY_SERIAL || thread->index == 0;
    if ((mine || mode == REPLAY_REPLICATED) &&
        !replay_slots_reserve(slots, setup->strong_slots, setup->weak_slots)) {
        replay_fail(shared);
    } else if (mine) {
        replay_use_slots(&state->player, slots);
        replay_play(&state->player, setup->program);
    }
    if (mode != REPLAY_REPLICATED) {
        return;
    }
    if (thread->index == 0) {
        shared->slots = *slots; /* a loan for the others, until the next meeting */
    }
    replay_meet(thread->team);
    if (thread->index != 0 && !replay_failed(shared)) {
        for (uint32_t i = 0; i < setup->unit_count; i++) {
            uint32_t slot = setup->units[i];
            slots->strong[slot] = rc_retain(shared->slots.strong[slot]);
        }
        for (uint32_t i = 0; i < setup->loan_count; i++) {
            slots->strong[setup->loans[i]] = shared->slots.strong[setup->loans[i]];
        }
    }
}

/* Thread 0: has the next window compiled, for all. */
static void replay_next_window(replay_shared *shared)
{
    rct_error error;
    const replay_window *window = replay_plan_next_window(shared->plan, &error);
    bool common = replay_plan_mode(shared->plan) == REPLAY_RECORDED;
    shared->window = window;
    if (window == NULL) {
        fprintf(stderr, "replay: %s\n", error.message);
        replay_fail(shared);
        return;
    }
    if (common && !replay_slots_reserve(&shared->slots, window->strong_slots, window->weak_slots)) {
        replay_fail(shared);
    }
    for (unsigned i = 0; i < window->threads; i++) {
        /* P3 RELAXED: the meeting before the window comes before every P2 of it. */
        atomic_store_explicit(&shared->progress[i].posted, 0, memory_order_relaxed);
    }
}

/* Plays a window; returns how long it took. A refusal is dealt with at the end of the pass only: until
 * then everybody plays on, with null handles, so that nobody waits in vain. */
static uint64_t replay_window_timed(rcl_thread *thread)
{
    replay_shared *shared = thread->team->shared;
    replay_state *state = thread->state;
    const replay_window *window = shared->window;
    bool common = replay_plan_mode(shared->plan) == REPLAY_RECORDED;
    unsigned program = common ? thread->index : 0;
    replay_slots *slots = replay_slots_of(thread);
    if (!common && !replay_slots_reserve(slots, window->strong_slots, window->weak_slots)) {
        replay_fail(shared);
    }
    replay_use_slots(&state->player, slots);
    replay_meet(thread->team);
    if (replay_failed(shared)) {
        return 0;
    }
    if (common) {
        replay_play(&state->player, &window->prologue[program]);
        replay_meet(thread->team);
    }
    uint64_t start_ns = rcl_now_ns();
    replay_play(&state->player, &window->programs[program]);
#ifndef RCL_IMPL_IS_NULL
    if (window->last) {
        rc_quiesce(); /* what was put off is part of the price */
    }
#endif
    replay_meet(thread->team);
    return rcl_now_ns() - start_ns;
}

/* One pass. Returns its time. */
static uint64_t replay_pass(rcl_thread *thread)
{
    rcl_team *team = thread->team;
    replay_shared *shared = team->shared;
    replay_state *state = thread->state;
    uint64_t elapsed_ns = 0;
    replay_set_up(thread);
    replay_meet(team);
    bool last = false;
    while (!last && !replay_failed(shared)) {
        if (thread->index == 0) {
            replay_next_window(shared);
        }
        replay_meet(team);
        if (replay_failed(shared)) {
            break;
        }
        last = shared->window->last;
        elapsed_ns += replay_window_timed(thread);
    }
    if (!replay_failed(shared)) {
        unsigned program = replay_plan_mode(shared->plan) == REPLAY_RECORDED ? thread->index : 0;
        replay_play(&state->player, &shared->window->teardown[program]);
    }
    replay_meet(team); /* nobody uses an object any more */
    rc_quiesce();
    if (state->player.refused) {
        replay_fail(shared);
    }
    replay_meet(team);
    return elapsed_ns;
}

/* ---- The workload ---- */

/* rcl_variant.parameter: the recording's threads decide how a shared run plays it. */
enum { REPLAY_ONE_THREAD, REPLAY_SEVERAL_THREADS };

static bool replay_shared_setup(rcl_team *team)
{
    replay_shared *shared = team->shared;
    char path[4096];
    const char *input = team->input;
    if (input == NULL) {
        snprintf(path, sizeof path, "%s/%s.rct.xz", rcl_trace_dir(), team->variant->name);
        input = path;
    }
    replay_options options = {.path = input, .mode = REPLAY_SERIAL};
    if (team->sharing == RCL_SHARED && team->variant->parameter == REPLAY_SEVERAL_THREADS) {
        options.mode = REPLAY_RECORDED;
        options.threads = team->threads;
    } else if (team->sharing == RCL_SHARED) {
        options.mode = REPLAY_REPLICATED;
    }
    rct_error error;
    shared->plan = replay_plan_acquire(&options, &error);
    if (shared->plan == NULL) {
        fprintf(stderr, "replay: %s\n", error.message);
        return false;
    }
    if (replay_plan_uses_weak(shared->plan) && ((RC_IMPL_CAPS)&RC_CAP_WEAK) == 0) {
        fprintf(stderr, "replay: %s has weak handles, this implementation has none (RC_CAP_WEAK)\n",
                input);
        return false;
    }
    unsigned programs = replay_plan_threads(shared->plan);
    shared->progress = aligned_alloc(_Alignof(replay_progress), programs * sizeof(replay_progress));
    return shared->progress != NULL;
}

static bool replay_thread_setup(rcl_thread *thread)
{
    replay_state *state = thread->state;
    state->player.progress = ((replay_shared *)thread->team->shared)->progress;
    state->player.index = thread->index;
    return true;
}

/* Records of a pass that count as this thread's. */
static uint64_t replay_share_of_pass(const rcl_team *team)
{
    const replay_shared *shared = team->shared;
    uint64_t operations = replay_plan_operations(shared->plan);
    if (replay_plan_mode(shared->plan) != REPLAY_RECORDED) {
        return operations;
    }
    return operations < team->threads ? 1 : operations / team->threads;
}

/* Whole passes, as many as it takes. All threads do the same number. */
static uint64_t replay_run_timed(rcl_thread *thread, uint64_t operations, uint64_t *elapsed_ns)
{
    rcl_team *team = thread->team;
    replay_shared *shared = team->shared;
    const uint64_t share = replay_share_of_pass(team);
    uint64_t done = 0;
    *elapsed_ns = 0;
    if (share == 0) {
        return 0; /* a recording without records */
    }
    for (;;) {
        uint64_t pass_ns = replay_pass(thread);
        if (thread->index == 0) {
            /* S1 RELAXED: a hint; the meeting tells the others what thread 0 made of it. */
            bool stop = atomic_load_explicit(&team->stop, memory_order_relaxed);
            shared->leave = stop || done + share >= operations || replay_failed(shared);
        }
        replay_meet(team);
        bool leave = shared->leave;
        bool failed = replay_failed(shared);
        replay_meet(team); /* nobody has begun the next pass while others read */
        if (failed) {
            return done;
        }
        done += share;
        *elapsed_ns += pass_ns;
        if (leave) {
            return done;
        }
    }
}

static void replay_thread_teardown(rcl_thread *thread)
{
    replay_slots_free(&((replay_state *)thread->state)->slots);
}

static void replay_shared_teardown(rcl_team *team)
{
    replay_shared *shared = team->shared;
    if (shared->plan != NULL && replay_plan_mode(shared->plan) == REPLAY_RECORDED) {
        replay_slots_free(&shared->slots);
    }
    free(shared->progress);
    replay_plan_release(shared->plan);
}

static const rcl_variant replay_variants[] = {
    {.name = "mlp_adam", .parameter = REPLAY_ONE_THREAD},
    {.name = "tfm_adamw", .parameter = REPLAY_ONE_THREAD},
    {.name = "inf_3threads", .parameter = REPLAY_SEVERAL_THREADS, .sharing = RCL_SHARED},
    {.name = "par_2threads", .parameter = REPLAY_SEVERAL_THREADS, .sharing = RCL_SHARED},
};

static const rcl_workload replay_workload = {
    .name = "replay",
    .sharing = RCL_PRIVATE | RCL_SHARED,
    .threads_min = 1,
    .allocates = true,
    .batch = 1, /* a warm-up is one pass */
    .setup_ms = 5,
    .variants = replay_variants,
    .variant_count = sizeof replay_variants / sizeof replay_variants[0],
    .shared_size = sizeof(replay_shared),
    .thread_size = sizeof(replay_state),
    .shared_setup = replay_shared_setup,
    .thread_setup = replay_thread_setup,
    .run_timed = replay_run_timed,
    .thread_teardown = replay_thread_teardown,
    .shared_teardown = replay_shared_teardown,
};
