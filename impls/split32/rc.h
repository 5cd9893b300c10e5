/* split32: a strong and a weak count in two 32-bit atomics inside the object.
 *
 * IDEA
 *   Two independent words: the strong side never pays for the weak one. The price is is_unique,
 *   which must see both at one moment: it locks the weak count for the time of one load. The handle
 *   is the payload pointer: 8 bytes. There is no wrapper: no one word holds its bit together with
 *   the strong count and has room for it, so an edge could not be decided from one value.
 *
 * LAYOUT (header 16 bytes, one allocation)
 *
 *     handle ---------------------------------------------------.
 *                                                               v
 *     +---------------------+-------------------+---------------+------------
 *     | strong (32, atomic) | weak (32, atomic) | class (64)    | payload ...
 *     +---------------------+-------------------+---------------+------------
 *       strong  bits 0-30 strong handles; bit 31 stays clear: headroom
 *       weak    bits 0-29 weak handles, plus one while strong > 0 (the implicit weak)
 *               bit 30    stays clear: headroom
 *               bit 31    finalize is running while weak handles exist
 *               all ones  locked by is_unique: the count is one, the implicit weak
 *
 * INVARIANT
 *   The block exists while weak > 0. weak = weak handles + (strong > 0 or finalize is running).
 *   Strong never leaves zero. Locked means that there are no weak handles; rc_weak_new, the only
 *   way to the first one, waits for the end of the lock.
 *
 * ORDERING
 *   1. R1, W2 are RELAXED: the handle given keeps the object alive, and whoever passes a new handle
 *      to another thread has to synchronise for that anyway.
 *   2. D1 (strong decrement) is RELEASE: the caller's uses come before it. Only the thread that
 *      reaches zero pays for the ACQUIRE (F1). All changes of strong are read-modify-writes, so the
 *      release sequences never break. D2 and F2 are the same for weak and the block's memory. There
 *      U3 is a store, which ends the sequences of earlier D2s; but U1 has acquired those, and U3
 *      passes them on as a RELEASE of its own.
 *   3. L1 (lock) is ACQUIRE on success: it can be the first contact of a thread with the object.
 *   4. Unique. No number of plain loads is enough, whatever their order. While we look from one
 *      word to the other, another owner can change what it holds, and the word that we look at is
 *      right each time:
 *        strong, then weak: we read strong 1; the holder of a weak handle locks it (strong 2) and
 *        drops the weak one (weak 1); we read weak 1. It has a strong handle.
 *        weak, then strong: we read weak 1; the second strong owner makes a weak handle (weak 2)
 *        and releases (strong 1); we read strong 1. It has a weak handle.
 *        a third load, or a fourth: it changes back in between.
 *      With the weak count locked at "none" nobody can make a weak handle (W1 waits), and nobody
 *      has one to lock. Strong can then only rise through another strong handle. So strong 1, read
 *      under the lock, is our handle and no other.
 *      U1 is ACQUIRE: pairs with D2, so that an owner that came through a lock and dropped its
 *      weak handle afterwards is seen with all its uses, its raise of strong among them. U2 is
 *      ACQUIRE: pairs with D1. U3 is RELEASE: U2 comes before the lock is seen to end; pairs with
 *      W1.
 *
 * LIMITS
 *   Both maxima leave at least as much room above them as below: an overflow is found in the value
 *   that the addition returned, so others may add as well before the first one traps, and none of
 *   them may wrap.
 *
 * PROGRESS
 *   rc_weak_new and rc_is_unique spin while another thread is between U1 and U3. If that thread is
 *   taken off its processor there, they wait until it is back.
 *
 * SOURCE
 *   Rust's Arc: its counts, its orders, the lock of Arc::get_mut and Arc::downgrade.
 */
#include <stdatomic.h>

#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_IMMEDIATE | RC_CAP_EXACT_COUNT |           \
     RC_CAP_PRESET | RC_CAP_SHM)
#define RC_IMPL_OVERFLOW RC_OVERFLOW_TRAP
#define RC_IMPL_STRONG_MAX UINT64_C(0x7fffffff)
#define RC_IMPL_WEAK_MAX                                                                           \
    UINT64_C(0x3ffffffe) /* the last value below bit 30 is the implicit weak's */

#define SPLIT32_LOCKED UINT32_MAX
#define SPLIT32_FINALIZING (UINT32_C(1) << 31)

typedef struct split32_header {
    _Alignas(max_align_t) _Atomic(uint32_t) strong;
    _Atomic(uint32_t) weak;
    const rc_class *class;
} split32_header;

_Static_assert(sizeof(split32_header) == 16, "split32: the header is two words");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2,
               "split32: RC_CAP_SHM needs 32-bit atomics without a lock of the process");

typedef struct {
    void *payload; /* or NULL */
} rc_strong;

typedef struct {
    void *payload; /* of an object that may be dead; or NULL */
} rc_weak;

static inline split32_header *split32_header_of(void *payload)
{
    return (split32_header *)payload - 1;
}

/* Weak handles and the implicit weak. Not for a locked word. */
static inline uint32_t split32_weak_count(uint32_t weak)
{
    return weak & ~SPLIT32_FINALIZING;
}

/* Tells the processor that this is a spin loop. */
static inline void split32_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- Handles and objects ---- */

static inline rc_strong rc_null(void)
{
    return (rc_strong){NULL};
}

static inline bool rc_is_null(rc_strong handle)
{
    return handle.payload == NULL;
}

static inline rc_strong rc_new(const rc_class *class)
{
    if (class->payload_size > SIZE_MAX - sizeof(split32_header)) {
        return rc_null();
    }
    split32_header *header = rc_mem_alloc(sizeof *header + class->payload_size);
    if (header == NULL) {
        return rc_null();
    }
    /* N1 plain stores: nobody else can reach the object yet. */
    atomic_init(&header->strong, 1);
    atomic_init(&header->weak, 1);
    header->class = class;
    return (rc_strong){header + 1};
}

static inline void *rc_payload(rc_strong handle)
{
    return handle.payload;
}

static inline rc_strong split32_retain(void *payload)
{
    /* R1 RELAXED: the caller's handle (or loan) keeps the object alive. */
    uint32_t before =
        atomic_fetch_add_explicit(&split32_header_of(payload)->strong, 1, memory_order_relaxed);
    if (RC_CHECKED && before == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, payload);
    }
    if (__builtin_expect(before >= RC_IMPL_STRONG_MAX, 0)) {
        rc_trap(RC_TRAP_STRONG_OVERFLOW, payload);
    }
    return (rc_strong){payload};
}

static inline rc_strong rc_retain(rc_strong handle)
{
    return handle.payload == NULL ? handle : split32_retain(handle.payload);
}

/* The weak count has reached zero: nobody else has the block. Out of line with what is rare. */
static inline void split32_free(split32_header *header)
{
    /* F2 ACQUIRE: pairs with every D2, so that the memory returns after everybody's uses. */
    RC_ACQUIRE_AFTER_ZERO(&header->weak);
    /* C1 RELAXED: a check. The implicit weak is held while strong is above zero. */
    if (RC_CHECKED && atomic_load_explicit(&header->strong, memory_order_relaxed) != 0) {
        rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, header + 1);
    }
    rc_mem_free(header, sizeof *header + header->class->payload_size);
}

/* Strong is zero. The implicit weak is held until finalize is done, so that finalize may drop weak
 * handles to this very object. That time is marked in the count: a weak retain at the limit has to
 * know whether one unit is the implicit one, and a weak release too many, in checked builds, whether
 * it takes that one. Without weak handles nobody can look: then the mark is saved. */
static inline void split32_die(split32_header *header)
{
    /* M0 RELAXED: one is the implicit weak alone; no handle exists, and none can be made. */
    const bool marked =
        RC_CHECKED || (header->class->finalize != NULL &&
                       atomic_load_explicit(&header->weak, memory_order_relaxed) != 1);
    if (marked) {
        /* M1 RELAXED: orders nothing; only the checks of weak operations read it. */
        atomic_fetch_or_explicit(&header->weak, SPLIT32_FINALIZING, memory_order_relaxed);
    }
    if (header->class->finalize != NULL) {
        header->class->finalize(header + 1);
    }
    /* D2 RELEASE: finalize comes before the block goes. Pairs with F2. The mark goes with it. */
    const uint32_t implicit = marked ? SPLIT32_FINALIZING + 1 : 1;
    if (atomic_fetch_sub_explicit(&header->weak, implicit, memory_order_release) == implicit) {
        split32_free(header);
    }
}

static inline void rc_release(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    split32_header *header = split32_header_of(handle.payload);
    /* D1 RELEASE: our uses of the object come before the count drops. Pairs with F1 and U2. */
    uint32_t before = atomic_fetch_sub_explicit(&header->strong, 1, memory_order_release);
    if (RC_CHECKED && before == 0) {
        rc_trap(RC_TRAP_RELEASE_DEAD, handle.payload);
    }
    if (before != 1) {
        return;
    }
    /* F1 ACQUIRE: pairs with every D1: finalize sees what all owners did. */
    RC_ACQUIRE_AFTER_ZERO(&header->strong);
    split32_die(header);
}

/* Cost: a load if there are other strong handles; else 1 locked, and a store if there are no weak
 * ones. */
static inline bool rc_is_unique(rc_strong handle)
{
    if (handle.payload == NULL) {
        return false;
    }
    split32_header *header = split32_header_of(handle.payload);
    for (;;) {
        /* U0 RELAXED: any other value answers by itself. A dead object, whose weak count has no
         * implicit part to lock, leaves here. */
        if (atomic_load_explicit(&header->strong, memory_order_relaxed) != 1) {
            return false;
        }
        uint32_t weak = 1;
        /* U1 ACQUIRE: pairs with D2. RELAXED on failure: nothing was learnt but "no". */
        if (atomic_compare_exchange_strong_explicit(&header->weak, &weak, SPLIT32_LOCKED,
                                                    memory_order_acquire, memory_order_relaxed)) {
            break;
        }
        if (weak != SPLIT32_LOCKED) {
            return false;
        }
        split32_pause(); /* another thread asks too: its lock says nothing about the answer */
    }
    /* U2 ACQUIRE: pairs with D1, so that writing the payload comes after everybody's uses. */
    bool unique = atomic_load_explicit(&header->strong, memory_order_acquire) == 1;
    /* U3 RELEASE: U2 comes before it. Pairs with W1. Stronger than needed: had U2 read what the
     * maker of a weak handle released after its W1, that D1 and U2 would put W1 before U3, and it
     * could not have read it. Kept: free on x86-64, and the pair can be checked without that. */
    atomic_store_explicit(&header->weak, 1, memory_order_release);
    return unique;
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    if (handle.payload == NULL) {
        return 0;
    }
    /* C2 RELAXED: a snapshot that orders nothing. */
    return atomic_load_explicit(&split32_header_of(handle.payload)->strong, memory_order_relaxed);
}

/* ---- Weak handles ---- */

static inline rc_weak rc_weak_null(void)
{
    return (rc_weak){NULL};
}

static inline bool rc_weak_is_null(rc_weak weak)
{
    return weak.payload == NULL;
}

static inline rc_weak rc_weak_new(rc_strong handle)
{
    if (handle.payload == NULL) {
        return rc_weak_null();
    }
    split32_header *header = split32_header_of(handle.payload);
    /* W0 RELAXED: only a first guess; W1 decides. */
    uint32_t weak = atomic_load_explicit(&header->weak, memory_order_relaxed);
    for (;;) {
        if (weak == SPLIT32_LOCKED) {
            split32_pause();
            weak = atomic_load_explicit(&header->weak, memory_order_relaxed); /* as W0 */
            continue;
        }
        if (__builtin_expect(split32_weak_count(weak) > RC_IMPL_WEAK_MAX, 0)) {
            rc_trap(RC_TRAP_WEAK_OVERFLOW, handle.payload);
        }
        /* W1 ACQUIRE on success: pairs with U3. Whoever was told "unique" read strong before we
         * made this handle, so our later release of strong cannot be what it read. RELAXED on
         * failure. As U3 stronger than needed, and kept for the same reason. */
        if (atomic_compare_exchange_weak_explicit(&header->weak, &weak, weak + 1,
                                                  memory_order_acquire, memory_order_relaxed)) {
            break;
        }
    }
    /* C3 RELAXED: a check. After the exchange, so that a death before it is always seen: strong
     * never leaves zero. */
    if (RC_CHECKED && atomic_load_explicit(&header->strong, memory_order_relaxed) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, handle.payload);
    }
    return (rc_weak){handle.payload};
}

/* A weak retain that found WEAK_MAX units or more: one of them may be the implicit one. */
static inline void split32_check_weak_limit(split32_header *header, uint32_t before)
{
    /* C4 RELAXED: only whether the implicit weak is among them; the caller holds another. */
    uint32_t strong = atomic_load_explicit(&header->strong, memory_order_relaxed);
    bool implicit = strong != 0 || (before & SPLIT32_FINALIZING) != 0;
    if (split32_weak_count(before) - (implicit ? 1u : 0u) >= RC_IMPL_WEAK_MAX) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, header + 1);
    }
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    if (weak.payload == NULL) {
        return weak;
    }
    split32_header *header = split32_header_of(weak.payload);
    /* W2 RELAXED: the caller's handle keeps the block. It also keeps is_unique from locking, so
     * that an addition is enough here. */
    uint32_t before = atomic_fetch_add_explicit(&header->weak, 1, memory_order_relaxed);
    if (__builtin_expect(split32_weak_count(before) >= RC_IMPL_WEAK_MAX, 0)) {
        split32_check_weak_limit(header, before);
    }
    return weak;
}

static inline void rc_weak_release(rc_weak weak)
{
    if (weak.payload == NULL) {
        return;
    }
    split32_header *header = split32_header_of(weak.payload);
    /* D2 RELEASE: our uses come before the block goes. Pairs with F2 and U1. */
    uint32_t before = atomic_fetch_sub_explicit(&header->weak, 1, memory_order_release);
    /* None; or only the implicit one, locked or held while finalize runs. That only the implicit
     * one of a live object was left is found in split32_free. */
    if (RC_CHECKED &&
        (before == 0 || before == SPLIT32_LOCKED || before == SPLIT32_FINALIZING + 1)) {
        rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, weak.payload);
    }
    if (before == 1) {
        split32_free(header);
    }
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload == NULL) {
        return rc_null();
    }
    split32_header *header = split32_header_of(weak.payload);
    /* L0 RELAXED: only a first guess; L1 decides. */
    uint32_t strong = atomic_load_explicit(&header->strong, memory_order_relaxed);
    do {
        if (strong == 0) {
            return rc_null();
        }
        if (__builtin_expect(strong >= RC_IMPL_STRONG_MAX, 0)) {
            rc_trap(RC_TRAP_STRONG_OVERFLOW, weak.payload);
        }
        /* L1 ACQUIRE on success: we may never have met this object; pairs with the D1 of earlier
         * owners. RELAXED on failure. */
    } while (!atomic_compare_exchange_weak_explicit(&header->strong, &strong, strong + 1,
                                                    memory_order_acquire, memory_order_relaxed));
    return (rc_strong){weak.payload};
}

static inline bool rc_weak_expired(rc_weak weak)
{
    /* C5 RELAXED: a snapshot; true is final, because strong never leaves zero. */
    return weak.payload == NULL || atomic_load_explicit(&split32_header_of(weak.payload)->strong,
                                                        memory_order_relaxed) == 0;
}

static inline uint64_t rc_weak_count(rc_strong handle)
{
    if (handle.payload == NULL) {
        return 0;
    }
    split32_header *header = split32_header_of(handle.payload);
    /* C6 RELAXED: a snapshot. The caller's handle keeps strong above zero, so that one unit is the
     * implicit one; locked means that it is the only one. */
    uint32_t weak = atomic_load_explicit(&header->weak, memory_order_relaxed);
    if (weak == SPLIT32_LOCKED) {
        return 0;
    }
    return split32_weak_count(weak) -
           (atomic_load_explicit(&header->strong, memory_order_relaxed) > 0 ? 1u : 0u);
}

/* ---- A unit as a bare pointer ---- */

static inline void *rc_into_raw(rc_strong handle)
{
    return handle.payload;
}

/* Traps unless rc_new made this payload and it is alive: an object's counts are not both zero. */
static inline void split32_check_adoption(void *payload)
{
    split32_header *header = split32_header_of(payload);
    /* C7 RELAXED: a check of values that only misuse can make zero. */
    if (atomic_load_explicit(&header->strong, memory_order_relaxed) != 0) {
        return;
    }
    bool foreign = atomic_load_explicit(&header->weak, memory_order_relaxed) == 0;
    rc_trap(foreign ? RC_TRAP_FOREIGN : RC_TRAP_RETAIN_DEAD, payload);
}

static inline rc_strong rc_from_raw(void *payload)
{
    if (RC_CHECKED && payload != NULL) {
        split32_check_adoption(payload);
    }
    return (rc_strong){payload};
}

static inline rc_strong rc_retain_raw(void *payload)
{
    if (RC_CHECKED && payload != NULL) {
        split32_check_adoption(payload);
    }
    return payload == NULL ? rc_null() : split32_retain(payload);
}

/* ---- Threads: all state is in the object ---- */

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
    split32_header *header = split32_header_of(handle.payload);
    uint32_t implicit = strong > 0 ? 1 : 0;
    /* P1 RELAXED: the test is alone with the object. */
    atomic_store_explicit(&header->strong, (uint32_t)strong, memory_order_relaxed);
    atomic_store_explicit(&header->weak, (uint32_t)weak + implicit, memory_order_relaxed);
}
#endif

#undef SPLIT32_LOCKED
#undef SPLIT32_FINALIZING
