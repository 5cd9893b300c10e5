/* weak_cache: what does a cache of weak handles cost, where lookups lock and evictions drop?
 *
 * A table of 1,024 slots, one a key, each with a weak handle. A first-in-first-out ring of strong
 * handles keeps the youngest objects alive; what falls out of it dies, and its slot keeps an expired
 * handle until the key is asked for again.
 * One operation: a random key, rc_weak_lock of its slot, a read, rc_release. On a miss: rc_new,
 * rc_weak_new into the slot (the expired one goes, and frees what is left of the dead object), rc_retain
 * into the ring, and the oldest there is released. hit_90 and hit_50 say how many lookups in a hundred
 * find a live object: exactly the share of keys in the ring.
 * Private: a table and a ring for each thread. Shared: one table, a lock on each slot held only to lock
 * or to exchange its weak handle, and the ring split among the threads. Threads meet on a slot once in
 * some hundred lookups.
 * In the number: the random key (about 1 ns), and when shared a lock of one exchange and one store.
 * Left out: hashing, growing.
 */
#if !((RC_IMPL_CAPS)&RC_CAP_WEAK)
static const rcl_workload weak_cache_workload = {.name = "weak_cache",
                                                 .needs = RC_CAP_WEAK | RCL_NEEDS_COUNTING};
#else
#include <sched.h>
#include <stdlib.h>

#define WEAK_CACHE_KEYS 1024u
#define WEAK_CACHE_SPINS 64u

/* On a line of its own, so that only threads that want the same key meet. */
typedef struct weak_cache_slot {
    _Alignas(64) _Atomic(uint32_t) locked; /* unused when private */
    rc_weak weak;
} weak_cache_slot;

typedef struct weak_cache_shared {
    weak_cache_slot *table; /* when shared, else NULL */
} weak_cache_shared;

typedef struct weak_cache_state {
    weak_cache_slot *table; /* this thread's own, or borrowed from the team */
    rc_strong *ring;        /* owned */
    uint32_t capacity, oldest;
    uint64_t sum;
} weak_cache_state;

static const rc_class weak_cache_class = {.name = "weak_cache", .payload_size = 48};

/* The parameter is the ring's share of the keys, in hundredths. */
static const rcl_variant weak_cache_variants[] = {
    {.name = "hit_90", .parameter = 90},
    {.name = "hit_50", .parameter = 50},
};

static inline void weak_cache_lock_slot(weak_cache_slot *slot)
{
    uint32_t spins = 0;
    /* K1 ACQUIRE: the last holder's exchange of the weak handle is done. Pairs with K2. */
    while (atomic_exchange_explicit(&slot->locked, 1, memory_order_acquire) != 0) {
        if (++spins % WEAK_CACHE_SPINS == 0) {
            sched_yield();
        } else {
            rcl_pause();
        }
    }
}

static inline void weak_cache_unlock_slot(weak_cache_slot *slot)
{
    /* K2 RELEASE: publishes the weak handle, and the object behind it. Pairs with K1. */
    atomic_store_explicit(&slot->locked, 0, memory_order_release);
}

/* Makes the key's object and enters it everywhere. The handle is the caller's; null if memory was
 * refused, then nothing has changed. Two threads that miss one key at a time both make an object, and
 * the later one stays in the slot. */
static inline rc_strong weak_cache_miss(weak_cache_state *state, uint32_t key, bool shared)
{
    rc_strong object = rc_new(&weak_cache_class);
    if (rc_is_null(object)) {
        return object;
    }
    *(uint64_t *)rc_payload(object) = key;
    rc_weak weak = rc_weak_new(object);
    if (rc_weak_is_null(weak)) {
        rc_release(object);
        return rc_null();
    }
    weak_cache_slot *slot = &state->table[key];
    if (shared) {
        rc_share(object);
        weak_cache_lock_slot(slot);
    }
    rc_weak_swap(&slot->weak, &weak);
    if (shared) {
        weak_cache_unlock_slot(slot);
    }
    rc_weak_release(weak);
    uint32_t oldest = state->oldest;
    state->oldest = oldest + 1 == state->capacity ? 0 : oldest + 1;
    rc_assign(&state->ring[oldest], rc_retain(object));
    return object;
}

static weak_cache_slot *weak_cache_new_table(void)
{
    weak_cache_slot *table = aligned_alloc(64, WEAK_CACHE_KEYS * sizeof *table);
    if (table == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < WEAK_CACHE_KEYS; i++) {
        atomic_init(&table[i].locked, 0);
        table[i].weak = rc_weak_null();
    }
    return table;
}

static void weak_cache_delete_table(weak_cache_slot *table)
{
    for (uint32_t i = 0; table != NULL && i < WEAK_CACHE_KEYS; i++) {
        rc_weak_reset(&table[i].weak);
    }
    free(table);
}

static bool weak_cache_shared_setup(rcl_team *team)
{
    weak_cache_shared *shared = team->shared;
    if (team->sharing != RCL_SHARED) {
        return true;
    }
    shared->table = weak_cache_new_table();
    return shared->table != NULL;
}

static void weak_cache_shared_teardown(rcl_team *team)
{
    weak_cache_delete_table(((weak_cache_shared *)team->shared)->table);
}

/* Fills the ring with keys that no other thread enters, so that the share of hits is right at once. */
static bool weak_cache_thread_setup(rcl_thread *thread)
{
    weak_cache_state *state = thread->state;
    const rcl_team *team = thread->team;
    const bool shared = team->sharing == RCL_SHARED;
    const uint32_t alive = WEAK_CACHE_KEYS * (uint32_t)team->variant->parameter / 100u;
    const uint32_t part = shared ? alive / team->threads : alive;
    state->capacity = part > 0 ? part : 1;
    state->ring = calloc(state->capacity, sizeof *state->ring);
    state->table =
        shared ? ((const weak_cache_shared *)team->shared)->table : weak_cache_new_table();
    if (state->ring == NULL || state->table == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < state->capacity; i++) {
        state->ring[i] = rc_null();
    }
    for (uint32_t i = 0; i < state->capacity; i++) {
        uint32_t key = (shared ? thread->index * state->capacity + i : i) % WEAK_CACHE_KEYS;
        rc_strong object = weak_cache_miss(state, key, shared);
        if (rc_is_null(object)) {
            return false;
        }
        rc_release(object);
    }
    return true;
}

static void weak_cache_thread_teardown(rcl_thread *thread)
{
    weak_cache_state *state = thread->state;
    for (uint32_t i = 0; state->ring != NULL && i < state->capacity; i++) {
        rc_reset(&state->ring[i]);
    }
    free(state->ring);
    if (thread->team->sharing != RCL_SHARED) {
        weak_cache_delete_table(state->table);
    }
}

/* `shared` is a constant at both calls: the private loop has no lock and no branch for one. */
static inline uint64_t weak_cache_lookups(rcl_thread *thread, uint64_t operations, bool shared)
{
    weak_cache_state *state = thread->state;
    uint64_t random = thread->random;
    uint64_t sum = 0;
    uint64_t done = 0;
    for (; done < operations; done++) {
        uint32_t key = rcl_random_below(&random, WEAK_CACHE_KEYS);
        weak_cache_slot *slot = &state->table[key];
        if (shared) {
            weak_cache_lock_slot(slot);
        }
        rc_strong object = rc_weak_lock(slot->weak);
        if (shared) {
            weak_cache_unlock_slot(slot);
        }
        if (rc_is_null(object)) {
            object = weak_cache_miss(state, key, shared);
            if (rc_is_null(object)) {
                break;
            }
        }
        sum += *(const uint64_t *)rc_payload(object);
        rc_release(object);
        rcl_clobber();
    }
    thread->random = random;
    state->sum += sum;
    return done;
}

static uint64_t weak_cache_run(rcl_thread *thread, uint64_t operations)
{
    return thread->team->sharing == RCL_SHARED ? weak_cache_lookups(thread, operations, true)
                                               : weak_cache_lookups(thread, operations, false);
}

static const rcl_workload weak_cache_workload = {
    .name = "weak_cache",
    .needs = RC_CAP_WEAK | RCL_NEEDS_COUNTING,
    .sharing = RCL_PRIVATE | RCL_SHARED,
    .threads_min = 1,
    .allocates = true,
    .variants = weak_cache_variants,
    .variant_count = sizeof weak_cache_variants / sizeof weak_cache_variants[0],
    .shared_size = sizeof(weak_cache_shared),
    .thread_size = sizeof(weak_cache_state),
    .shared_setup = weak_cache_shared_setup,
    .thread_setup = weak_cache_thread_setup,
    .run = weak_cache_run,
    .thread_teardown = weak_cache_thread_teardown,
    .shared_teardown = weak_cache_shared_teardown,
};
#undef WEAK_CACHE_KEYS
#undef WEAK_CACHE_SPINS
#endif
