/* handoff: what does an object cost that is made on one thread and dies on another?
 *
 * Threads work in pairs (0 and 1, 2 and 3, ...) over a ring of their own. The even one makes objects,
 * writes them and puts them in; the odd one takes them out, reads and releases: always the last
 * release, on a thread that did not allocate the block. With an odd number of threads the last one is
 * both ends of its ring: even numbers are the ones to look at.
 * One operation: one object, as either end sees it.
 * Left out: other ways than a ring. In the number: the ring (two indices, 256 slots) and the
 * allocator, whose blocks come back on the wrong thread.
 */
#include <sched.h>
#include <stdlib.h>

#define HANDOFF_SLOTS 256u /* a power of two */
#define HANDOFF_SPINS 64u
#define HANDOFF_LINE 128u

/* Single producer, single consumer. The indices run on and wrap with the type. */
typedef struct handoff_ring {
    _Alignas(HANDOFF_LINE) _Atomic(uint32_t) tail; /* next to fill; the producer's */
    uint32_t head_seen;                            /* the producer's last look at head */
    _Alignas(HANDOFF_LINE) _Atomic(uint32_t) head; /* next to take; the consumer's */
    uint32_t tail_seen;                            /* the consumer's last look at tail */
    _Alignas(HANDOFF_LINE) rc_strong slots[HANDOFF_SLOTS];
} handoff_ring;

typedef struct handoff_shared {
    handoff_ring *rings; /* one a pair, and one for a thread without a partner */
} handoff_shared;

typedef struct handoff_state {
    uint64_t sum;
} handoff_state;

static const rc_class handoff_class = {.name = "handoff", .payload_size = 48};

static bool handoff_shared_setup(rcl_team *team)
{
    handoff_shared *shared = team->shared;
    size_t count = (team->threads + 1u) / 2u;
    shared->rings = aligned_alloc(HANDOFF_LINE, count * sizeof *shared->rings);
    if (shared->rings == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        handoff_ring *ring = &shared->rings[i];
        atomic_init(&ring->tail, 0);
        atomic_init(&ring->head, 0);
        ring->head_seen = 0;
        ring->tail_seen = 0;
    }
    return true;
}

static void handoff_shared_teardown(rcl_team *team)
{
    free(((handoff_shared *)team->shared)->rings);
}

static handoff_ring *handoff_ring_of(const rcl_thread *thread)
{
    return &((const handoff_shared *)thread->team->shared)->rings[thread->index / 2];
}

static bool handoff_is_alone(const rcl_thread *thread)
{
    return thread->index % 2 == 0 && thread->index + 1 == thread->team->threads;
}

/* Waits a little. False once the window has closed: the partner may have gone. */
static bool handoff_wait(const rcl_thread *thread, uint32_t *spins)
{
    /* RELAXED: the flag orders nothing. */
    if (atomic_load_explicit(&thread->team->stop, memory_order_relaxed)) {
        return false;
    }
    if (++*spins % HANDOFF_SPINS == 0) {
        sched_yield();
    } else {
        rcl_pause();
    }
    return true;
}

/* Takes over the handle. False: the window has closed, the handle is still the caller's. */
static inline bool handoff_put(const rcl_thread *thread, handoff_ring *ring, rc_strong object)
{
    uint32_t spins = 0;
    /* RELAXED: only this thread writes tail. */
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    while (tail - ring->head_seen == HANDOFF_SLOTS) {
        /* P1 ACQUIRE: the consumer has read the slot before it is filled again. Pairs with C2. */
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (tail - ring->head_seen == HANDOFF_SLOTS && !handoff_wait(thread, &spins)) {
            return false;
        }
    }
    ring->slots[tail % HANDOFF_SLOTS] = object;
    /* P2 RELEASE: publishes the handle and the object behind it. Pairs with C1. */
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    return true;
}

/* The handle is the caller's. Null: the window has closed and the ring was empty. */
static inline rc_strong handoff_take(const rcl_thread *thread, handoff_ring *ring)
{
    uint32_t spins = 0;
    /* RELAXED: only this thread writes head. */
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    while (head == ring->tail_seen) {
        /* C1 ACQUIRE: pairs with P2. */
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (head == ring->tail_seen && !handoff_wait(thread, &spins)) {
            return rc_null();
        }
    }
    rc_strong object = ring->slots[head % HANDOFF_SLOTS];
    /* C2 RELEASE: we have read the slot. Pairs with P1. */
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return object;
}

static inline bool handoff_produce(const rcl_thread *thread, handoff_ring *ring, uint64_t value)
{
    rc_strong object = rc_new(&handoff_class);
    if (rc_is_null(object)) {
        return false;
    }
    *(uint64_t *)rc_payload(object) = value;
    rc_share(object);
    if (!handoff_put(thread, ring, object)) {
        rc_release(object);
        return false;
    }
    return true;
}

static inline bool handoff_consume(const rcl_thread *thread, handoff_ring *ring, uint64_t *sum)
{
    rc_strong object = handoff_take(thread, ring);
    if (rc_is_null(object)) {
        return false;
    }
    *sum += *(const uint64_t *)rc_payload(object);
    rc_release(object);
    return true;
}

static uint64_t handoff_run(rcl_thread *thread, uint64_t operations)
{
    handoff_state *state = thread->state;
    handoff_ring *ring = handoff_ring_of(thread);
    const bool alone = handoff_is_alone(thread);
    const bool produces = thread->index % 2 == 0;
    uint64_t sum = 0;
    uint64_t done = 0;
    while (done < operations) {
        if (produces && !handoff_produce(thread, ring, done)) {
            break;
        }
        if ((!produces || alone) && !handoff_consume(thread, ring, &sum)) {
            break;
        }
        done++;
    }
    state->sum += sum;
    return done;
}

/* What was in the ring when the window closed dies where it would have died. */
static void handoff_thread_teardown(rcl_thread *thread)
{
    if (thread->index % 2 == 0 && !handoff_is_alone(thread)) {
        return;
    }
    handoff_ring *ring = handoff_ring_of(thread);
    /* RELAXED: both ends have left the run, and the harness has put a barrier behind it. */
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    for (; head != tail; head++) {
        rc_reset(&ring->slots[head % HANDOFF_SLOTS]);
    }
    atomic_store_explicit(&ring->head, head, memory_order_relaxed);
}

static const rcl_variant handoff_variants[] = {{.name = "-"}};

static const rcl_workload handoff_workload = {
    .name = "handoff",
    .needs = RCL_NEEDS_COUNTING,
    .sharing = RCL_SHARED,
    .threads_min = 2,
    .allocates = true,
    .variants = handoff_variants,
    .variant_count = 1,
    .shared_size = sizeof(handoff_shared),
    .thread_size = sizeof(handoff_state),
    .shared_setup = handoff_shared_setup,
    .run = handoff_run,
    .thread_teardown = handoff_thread_teardown,
    .shared_teardown = handoff_shared_teardown,
};
#undef HANDOFF_SLOTS
#undef HANDOFF_SPINS
#undef HANDOFF_LINE
