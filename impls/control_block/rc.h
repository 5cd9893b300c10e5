/* control_block: the counts lie in a block of their own; a handle has two pointers.
 *
 * PARAMETER
 *   CONTROL_BLOCK_JOINT  0 (default): payload and block are two allocations.
 *                        1: one allocation, the block in front. See control_block_joint/rc.h.
 *
 * IDEA
 *   The object need not know that it is counted, so that any memory can be a payload. With two
 *   allocations the payload goes back as soon as the object dies, even while weak handles live. The
 *   price is a handle of 16 bytes, and a second allocation with a second cache line.
 *   There are no raw units: a payload pointer does not lead to its block.
 *
 * LAYOUT (block 16 bytes)
 *
 *     handle (payload, block)        strong and weak alike
 *                |       |
 *                |       `-> +---------------------+------------+
 *                |           | counts (64, atomic) | class (64) |
 *                v           +---------------------+------------+
 *     +-----------------+
 *     | payload ...     |    joint: the payload follows the block in the same allocation
 *     +-----------------+
 *       counts  bit 63     checked builds: finalize is running
 *               bits 32-62 weak handles, plus one while strong > 0 (the implicit weak)
 *               bits 0-31  strong handles
 *     The block does not point to the payload: each handle does. A strategy whose handles may point
 *     into the middle of an object (std::shared_ptr) has to keep that pointer too.
 *
 * INVARIANT
 *   The payload exists while strong > 0 or finalize is running (joint: as long as the block). The
 *   block exists while weak > 0. weak = weak handles + (strong > 0 or finalize is running). A
 *   uniquely owned object reads exactly ONE_WEAK | ONE_STRONG.
 *
 * ORDERING
 *   packed64's, without a wrapper:
 *   1. R1, W1 are RELAXED: the handle given keeps the object alive, and whoever passes a new handle
 *      to another thread has to synchronise for that anyway.
 *   2. D1 (strong decrement) is ACQ_REL: RELEASE puts the caller's uses before it, ACQUIRE lets the
 *      one that reached zero see every other owner's. All changes of the word are
 *      read-modify-writes (but for D2, whose thread is alone), so the release sequences never
 *      break.
 *   3. U1 reads one strong unit, ours, and one weak unit, the implicit one: no other handle exists
 *      and none can be made but by us. ACQUIRE pairs with the D1 and D3 of those that left. So D2
 *      may be a plain store.
 *   4. D3 (weak decrement) is ACQ_REL: the last one frees the block, after everybody's uses of it.
 *   5. L1 (lock) is ACQUIRE on success: it can be the first contact of a thread with the object.
 *
 * SOURCE
 *   The control block of std::shared_ptr and boost::shared_ptr, with both counts in one word.
 */
#include <stdatomic.h>

#ifndef CONTROL_BLOCK_JOINT
#define CONTROL_BLOCK_JOINT 0
#endif
#if CONTROL_BLOCK_JOINT != 0 && CONTROL_BLOCK_JOINT != 1
#error "control_block: CONTROL_BLOCK_JOINT must be 0 or 1"
#endif

#if CONTROL_BLOCK_JOINT
#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_IMMEDIATE | RC_CAP_EXACT_COUNT | RC_CAP_PRESET |        \
     RC_CAP_SHM)
#else
#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_IMMEDIATE | RC_CAP_EXACT_COUNT | RC_CAP_PRESET |        \
     RC_CAP_EARLY_FREE | RC_CAP_SHM)
#endif
#define RC_IMPL_OVERFLOW RC_OVERFLOW_UNCHECKED
#define RC_IMPL_STRONG_MAX UINT64_C(0xffffffff)
#define RC_IMPL_WEAK_MAX UINT64_C(0x7ffffffe) /* the field's last value is the implicit weak's */

#define CONTROL_BLOCK_ONE_STRONG UINT64_C(1)
#define CONTROL_BLOCK_ONE_WEAK (UINT64_C(1) << 32)
#define CONTROL_BLOCK_FINALIZING (UINT64_C(1) << 63)
#define CONTROL_BLOCK_UNIQUE (CONTROL_BLOCK_ONE_WEAK | CONTROL_BLOCK_ONE_STRONG)
/* What goes when finalize has returned: the implicit weak, and in checked builds its mark. */
#define CONTROL_BLOCK_IMPLICIT                                                                     \
    (CONTROL_BLOCK_ONE_WEAK | (RC_CHECKED ? CONTROL_BLOCK_FINALIZING : 0))

/* Its alignment is that of a payload, which follows it if joint. */
typedef struct control_block {
    _Alignas(max_align_t) _Atomic(uint64_t) counts;
    const rc_class *class;
} control_block;

_Static_assert(sizeof(control_block) == 16, "control_block: the block is two words");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2,
               "control_block: RC_CAP_SHM needs a 64-bit atomic without a lock of the process");

typedef struct {
    void *payload;        /* or NULL, with the block */
    control_block *block; /* or NULL */
} rc_strong;

typedef struct {
    void *payload;        /* of an object that may be dead: then not to be followed */
    control_block *block; /* or NULL */
} rc_weak;

/* ---- The word ---- */

static inline uint32_t control_block_strong(uint64_t counts)
{
    return (uint32_t)counts;
}

static inline uint32_t control_block_weak(uint64_t counts)
{
    return (uint32_t)(counts >> 32) & UINT32_C(0x7fffffff);
}

/* 1 if the implicit weak is among the weak units. Exact in checked builds; else 0 in finalize. */
static inline uint32_t control_block_implicit(uint64_t counts)
{
    return control_block_strong(counts) > 0 || (counts & CONTROL_BLOCK_FINALIZING) != 0 ? 1 : 0;
}

/* ---- Memory ---- */

/* A block and a payload of this class, or false: then nothing was taken. */
static inline bool control_block_allocate(const rc_class *class, rc_strong *made)
{
    if (CONTROL_BLOCK_JOINT) {
        if (class->payload_size > SIZE_MAX - sizeof(control_block)) {
            return false;
        }
        made->block = rc_mem_alloc(sizeof(control_block) + class->payload_size);
        made->payload = made->block == NULL ? NULL : made->block + 1;
        return made->block != NULL;
    }
    made->payload = rc_mem_alloc(class->payload_size);
    if (made->payload == NULL) {
        return false;
    }
    made->block = rc_mem_alloc(sizeof(control_block));
    if (made->block == NULL) {
        rc_mem_free(made->payload, class->payload_size);
        return false;
    }
    return true;
}

/* The object has been finalized: returns what can go before the block does. */
static inline void control_block_free_payload(control_block *block, void *payload)
{
    if (!CONTROL_BLOCK_JOINT) {
        rc_mem_free(payload, block->class->payload_size);
    }
}

/* Returns the block, and the payload if joint. Whoever calls it knows that no handle is left. */
static inline void control_block_free(control_block *block)
{
    rc_mem_free(block,
                sizeof *block + (CONTROL_BLOCK_JOINT ? block->class->payload_size : (size_t)0));
}

/* ---- Handles and objects ---- */

static inline rc_strong rc_null(void)
{
    return (rc_strong){NULL, NULL};
}

static inline bool rc_is_null(rc_strong handle)
{
    return handle.block == NULL;
}

static inline rc_strong rc_new(const rc_class *class)
{
    rc_strong made;
    if (!control_block_allocate(class, &made)) {
        return rc_null();
    }
    /* N1 plain store: nobody else can reach the object yet. */
    atomic_init(&made.block->counts, CONTROL_BLOCK_UNIQUE);
    made.block->class = class;
    return made;
}

static inline void *rc_payload(rc_strong handle)
{
    return handle.payload;
}

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.block == NULL) {
        return handle;
    }
    /* R1 RELAXED: the caller's handle keeps the object alive. */
    uint64_t before = atomic_fetch_add_explicit(&handle.block->counts, CONTROL_BLOCK_ONE_STRONG,
                                                memory_order_relaxed);
    if (RC_CHECKED && control_block_strong(before) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, handle.payload);
    }
    if (RC_CHECKED && control_block_strong(before) == RC_IMPL_STRONG_MAX) {
        rc_trap(RC_TRAP_STRONG_OVERFLOW, handle.payload);
    }
    return handle;
}

/* Gives up one weak unit: a handle's (ONE_WEAK), or the implicit one (IMPLICIT). `payload` is for
 * the trap's message and is not followed. */
static inline void control_block_drop_weak(control_block *block, uint64_t unit, const void *payload)
{
    /* U2 ACQUIRE: this unit and nothing else is us alone; pairs with D3 of those that left. */
    if (atomic_load_explicit(&block->counts, memory_order_acquire) == unit) {
        control_block_free(block);
        return;
    }
    /* D3 ACQ_REL: our uses come before; the last one sees everybody's. Pairs with D3, U2. */
    uint64_t before = atomic_fetch_sub_explicit(&block->counts, unit, memory_order_acq_rel);
    if (RC_CHECKED && unit == CONTROL_BLOCK_ONE_WEAK &&
        control_block_weak(before) <= control_block_implicit(before)) {
        rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, payload);
    }
    if (control_block_weak(before) == 1) {
        control_block_free(block);
    }
}

/* Strong is zero. The implicit weak is held until finalize is done, so that finalize may drop weak
 * handles to this very object. */
static inline void control_block_die(rc_strong handle, bool weak_handles_left)
{
    control_block *block = handle.block;
    if (RC_CHECKED) {
        /* M1 RELAXED: orders nothing. Without the mark one weak release too many in finalize would
         * look like that of the last weak handle of a dead object. */
        atomic_fetch_or_explicit(&block->counts, CONTROL_BLOCK_FINALIZING, memory_order_relaxed);
    }
    if (block->class->finalize != NULL) {
        block->class->finalize(handle.payload);
    }
    control_block_free_payload(block, handle.payload);
    if (weak_handles_left) {
        control_block_drop_weak(block, CONTROL_BLOCK_IMPLICIT, handle.payload);
    } else {
        control_block_free(block); /* none can have been made: rc_weak_new needs a live object */
    }
}

/* The way for objects that others may hold, out of line: the fast path stays short. */
static inline void control_block_release_shared(rc_strong handle)
{
    /* D1 ACQ_REL: RELEASE, our uses come before the decrement; ACQUIRE, the last one sees all of
     * them before finalize. Pairs with D1 and U1 of the other owners. */
    uint64_t before = atomic_fetch_sub_explicit(&handle.block->counts, CONTROL_BLOCK_ONE_STRONG,
                                                memory_order_acq_rel);
    if (RC_CHECKED && control_block_strong(before) == 0) {
        rc_trap(RC_TRAP_RELEASE_DEAD, handle.payload);
    }
    if (control_block_strong(before) == 1) {
        control_block_die(handle, control_block_weak(before) > 1);
    }
}

/* Takes the strong unit of an object that U1 saw to be unique. False only in checked builds: misuse
 * has moved the count meanwhile. */
static inline bool control_block_take_last(control_block *block)
{
    if (RC_CHECKED) {
        /* D2 RELAXED: as below. An exchange is stronger than needed where nobody misuses: with it,
         * check and change are one step. */
        uint64_t unique = CONTROL_BLOCK_UNIQUE;
        return atomic_compare_exchange_strong_explicit(&block->counts, &unique,
                                                       CONTROL_BLOCK_ONE_WEAK, memory_order_relaxed,
                                                       memory_order_relaxed);
    }
    /* D2 RELAXED: only finalize, on this thread, can still look. */
    atomic_store_explicit(&block->counts, CONTROL_BLOCK_ONE_WEAK, memory_order_relaxed);
    return true;
}

static inline void rc_release(rc_strong handle)
{
    if (handle.block == NULL) {
        return;
    }
    /* U1 ACQUIRE: nobody else is left, so no read-modify-write is needed. Pairs with D1 and D3 of
     * those that left. */
    if (atomic_load_explicit(&handle.block->counts, memory_order_acquire) == CONTROL_BLOCK_UNIQUE &&
        control_block_take_last(handle.block)) {
        control_block_die(handle, false);
        return;
    }
    control_block_release_shared(handle);
}

static inline bool rc_is_unique(rc_strong handle)
{
    /* U3 ACQUIRE: pairs with D1 and D3, so that writing the payload comes after everybody's uses. A
     * weak handle excludes it: it could be locked while the caller writes. */
    return handle.block != NULL &&
           atomic_load_explicit(&handle.block->counts, memory_order_acquire) ==
               CONTROL_BLOCK_UNIQUE;
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    if (handle.block == NULL) {
        return 0;
    }
    /* C1 RELAXED: a snapshot that orders nothing. */
    return control_block_strong(atomic_load_explicit(&handle.block->counts, memory_order_relaxed));
}

/* ---- Weak handles ---- */

static inline rc_weak rc_weak_null(void)
{
    return (rc_weak){NULL, NULL};
}

static inline bool rc_weak_is_null(rc_weak weak)
{
    return weak.block == NULL;
}

static inline rc_weak control_block_weak_retain(rc_weak weak, bool must_be_alive)
{
    /* W1 RELAXED: the caller's handle keeps the block. */
    uint64_t before = atomic_fetch_add_explicit(&weak.block->counts, CONTROL_BLOCK_ONE_WEAK,
                                                memory_order_relaxed);
    if (RC_CHECKED && must_be_alive && control_block_strong(before) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, weak.payload);
    }
    if (RC_CHECKED &&
        control_block_weak(before) >= RC_IMPL_WEAK_MAX + control_block_implicit(before)) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, weak.payload);
    }
    return weak;
}

static inline rc_weak rc_weak_new(rc_strong handle)
{
    if (handle.block == NULL) {
        return rc_weak_null();
    }
    return control_block_weak_retain((rc_weak){handle.payload, handle.block}, true);
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    return weak.block == NULL ? weak : control_block_weak_retain(weak, false);
}

static inline void rc_weak_release(rc_weak weak)
{
    if (weak.block != NULL) {
        control_block_drop_weak(weak.block, CONTROL_BLOCK_ONE_WEAK, weak.payload);
    }
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.block == NULL) {
        return rc_null();
    }
    /* L0 RELAXED: only a first guess; L1 decides. */
    uint64_t counts = atomic_load_explicit(&weak.block->counts, memory_order_relaxed);
    do {
        if (control_block_strong(counts) == 0) {
            return rc_null();
        }
        if (RC_CHECKED && control_block_strong(counts) == RC_IMPL_STRONG_MAX) {
            rc_trap(RC_TRAP_STRONG_OVERFLOW, weak.payload);
        }
        /* L1 ACQUIRE on success: we may never have met this object; pairs with the D1 of earlier
         * owners. RELAXED on failure. */
    } while (!atomic_compare_exchange_weak_explicit(&weak.block->counts, &counts,
                                                    counts + CONTROL_BLOCK_ONE_STRONG,
                                                    memory_order_acquire, memory_order_relaxed));
    return (rc_strong){weak.payload, weak.block};
}

static inline bool rc_weak_expired(rc_weak weak)
{
    /* C2 RELAXED: a snapshot; true is final, because strong never leaves zero. */
    return weak.block == NULL ||
           control_block_strong(atomic_load_explicit(&weak.block->counts, memory_order_relaxed)) ==
               0;
}

static inline uint64_t rc_weak_count(rc_strong handle)
{
    if (handle.block == NULL) {
        return 0;
    }
    /* C3 RELAXED: a snapshot. */
    uint64_t counts = atomic_load_explicit(&handle.block->counts, memory_order_relaxed);
    return control_block_weak(counts) - control_block_implicit(counts);
}

/* ---- Threads: all state is in the block ---- */

static inline void rc_thread_attach(void)
{
}

static inline void rc_thread_detach(void)
{
}

static inline void rc_share(rc_strong handle)
{
    (void)handle;
}

static inline void rc_quiesce(void)
{
}

#if RC_PRESET
static inline void rc_test_preset(rc_strong handle, uint64_t strong, uint64_t weak)
{
    uint64_t implicit = strong > 0 ? 1 : 0;
    /* P1 RELAXED: the test is alone with the object. */
    atomic_store_explicit(&handle.block->counts, (weak + implicit) << 32 | strong,
                          memory_order_relaxed);
}
#endif

#undef CONTROL_BLOCK_JOINT
#undef CONTROL_BLOCK_ONE_STRONG
#undef CONTROL_BLOCK_ONE_WEAK
#undef CONTROL_BLOCK_FINALIZING
#undef CONTROL_BLOCK_UNIQUE
#undef CONTROL_BLOCK_IMPLICIT
