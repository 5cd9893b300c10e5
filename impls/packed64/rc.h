/* packed64: strong count, weak count and a wrapper bit in one 64-bit atomic inside the object.
 *
 * IDEA
 *   One word answers every question, so every decision is taken from one value: who was last, is
 *   anybody else there, was this the wrapper's edge. The handle is the payload pointer: 8 bytes.
 *
 * LAYOUT (header 16 bytes, one allocation)
 *
 *     handle ---------------------------------.
 *                                             v
 *     +---------------------+-----------------+------------------
 *     | counts (64, atomic) | class (64)      | payload ...
 *     +---------------------+-----------------+------------------
 *       bit 63     wrapper attached; once strong is 0, in checked builds: finalize is running
 *       bits 32-62 weak handles, plus one while strong > 0 (the implicit weak)
 *       bits 0-31  strong handles
 *
 * INVARIANT
 *   The block exists while weak > 0. weak = weak handles + (strong > 0 or finalize is running).
 *   A uniquely owned object reads exactly ONE_WEAK | ONE_STRONG, the wrapper bit ignored.
 *
 * ORDERING
 *   1. R1 and W1 are RELAXED: the handle given keeps the object alive, and whoever passes a new
 *      handle to another thread has to synchronise for that anyway.
 *   2. D1 (the decrement) is ACQ_REL: RELEASE puts the caller's uses before the decrement, ACQUIRE
 *      lets the one that reached zero see every other owner's. All modifications of the word are
 *      read-modify-writes (but for D2, whose thread is alone), so the release sequences never
 *      break.
 *   3. U1 (the unique fast path) is a load that reads one strong and one weak. The strong one is
 *      ours and the weak one is implicit: no other handle exists, and none can be made except by
 *      us. ACQUIRE pairs with the D1 and D3 of the owners that left. So D2 may be a plain store.
 *   4. D3 (weak decrement) is ACQ_REL for the same reason as D1: its last one frees.
 *   5. L1 (lock) is ACQUIRE on success: it can be the first contact of a thread with the object.
 *   6. The wrapper's hooks are decided from the value that the change itself returned. A second
 *      load could see another thread's change and call a hook twice or never. A hook may look at
 *      what attach published: D1 has acquired it; R1 and L0, which are RELAXED, do so by a fence
 *      on the rare way to the hook (F1, F2).
 *
 * SOURCE
 *   The layout of c10::intrusive_ptr_target since its two counters became one word:
 *   unique fast path, wrapper bit, resources given up before the implicit weak.
 */
#include <stdatomic.h>

#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER | RC_CAP_IMMEDIATE |               \
     RC_CAP_EXACT_COUNT | RC_CAP_PRESET | RC_CAP_SHM)
#define RC_IMPL_OVERFLOW RC_OVERFLOW_UNCHECKED
#define RC_IMPL_STRONG_MAX UINT64_C(0xffffffff)
#define RC_IMPL_WEAK_MAX UINT64_C(0x7ffffffe) /* the field's last value is the implicit weak's */

#define PACKED64_ONE_STRONG UINT64_C(1)
#define PACKED64_ONE_WEAK (UINT64_C(1) << 32)
#define PACKED64_WRAPPER (UINT64_C(1) << 63)
#define PACKED64_UNIQUE (PACKED64_ONE_WEAK | PACKED64_ONE_STRONG)
#define PACKED64_FINALIZING PACKED64_WRAPPER /* with strong 0: a wrapper is never attached then */
/* What goes when finalize has returned: the implicit weak, and in checked builds its mark. */
#define PACKED64_IMPLICIT (PACKED64_ONE_WEAK | (RC_CHECKED ? PACKED64_FINALIZING : 0))

typedef struct packed64_header {
    _Alignas(max_align_t) _Atomic(uint64_t) counts;
    const rc_class *class;
} packed64_header;

_Static_assert(sizeof(packed64_header) == 16, "packed64: the header is two words");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2,
               "packed64: RC_CAP_SHM needs a 64-bit atomic without a lock of the process");

typedef struct {
    void *payload; /* or NULL */
} rc_strong;

typedef struct {
    void *payload; /* of an object that may be dead; or NULL */
} rc_weak;

/* ---- The word ---- */

static inline packed64_header *packed64_header_of(void *payload)
{
    return (packed64_header *)payload - 1;
}

static inline uint32_t packed64_strong(uint64_t counts)
{
    return (uint32_t)counts;
}

static inline uint32_t packed64_weak(uint64_t counts)
{
    return (uint32_t)(counts >> 32) & UINT32_C(0x7fffffff);
}

static inline bool packed64_wrapped(uint64_t counts)
{
    return (counts & PACKED64_WRAPPER) != 0;
}

/* 1 if the implicit weak is among the weak units. For checked builds: in others a dead word's bit
 * 63 says only that the object died with its wrapper. */
static inline uint32_t packed64_implicit(uint64_t counts)
{
    return packed64_strong(counts) > 0 || (counts & PACKED64_FINALIZING) != 0 ? 1 : 0;
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
    if (class->payload_size > SIZE_MAX - sizeof(packed64_header)) {
        return rc_null();
    }
    packed64_header *header = rc_mem_alloc(sizeof *header + class->payload_size);
    if (header == NULL) {
        return rc_null();
    }
    /* N1 plain store: nobody else can reach the object yet. An increment would be a locked one. */
    atomic_init(&header->counts, PACKED64_UNIQUE);
    header->class = class;
    return (rc_strong){header + 1};
}

static inline void *rc_payload(rc_strong handle)
{
    return handle.payload;
}

static inline rc_strong packed64_retain(void *payload)
{
    packed64_header *header = packed64_header_of(payload);
    /* R1 RELAXED: the caller's handle (or loan) keeps the object alive. */
    uint64_t before =
        atomic_fetch_add_explicit(&header->counts, PACKED64_ONE_STRONG, memory_order_relaxed);
    if (RC_CHECKED && packed64_strong(before) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, payload);
    }
    if (RC_CHECKED && packed64_strong(before) == RC_IMPL_STRONG_MAX) {
        rc_trap(RC_TRAP_STRONG_OVERFLOW, payload);
    }
    /* Strong went 1 -> 2 under a wrapper; the weak bits do not matter here. */
    if (__builtin_expect(packed64_wrapped(before) && packed64_strong(before) == 1, 0) &&
        header->class->wrapper_retain != NULL) {
        /* F1 ACQUIRE: who is told of the wrapper sees it. Pairs with A1; R1 itself need not pay. */
        RC_ACQUIRE_AFTER_ZERO(&header->counts);
        header->class->wrapper_retain(payload);
    }
    return (rc_strong){payload};
}

static inline rc_strong rc_retain(rc_strong handle)
{
    return handle.payload == NULL ? handle : packed64_retain(handle.payload);
}

/* Returns the memory. Whoever calls it knows that no handle of either kind is left. */
static inline void packed64_free(packed64_header *header)
{
    rc_mem_free(header, sizeof *header + header->class->payload_size);
}

/* Gives up one weak unit: a handle's (ONE_WEAK), or the implicit one (IMPLICIT). */
static inline void packed64_drop_weak(packed64_header *header, uint64_t unit)
{
    /* U2 ACQUIRE: this unit and nothing else is us alone; pairs with D3 of those that left. */
    if (atomic_load_explicit(&header->counts, memory_order_acquire) == unit) {
        packed64_free(header);
        return;
    }
    /* D3 ACQ_REL: our uses come before; the last one sees everybody's. Pairs with D3, U2. */
    uint64_t before = atomic_fetch_sub_explicit(&header->counts, unit, memory_order_acq_rel);
    if (RC_CHECKED && unit == PACKED64_ONE_WEAK &&
        packed64_weak(before) <= packed64_implicit(before)) {
        rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, header + 1);
    }
    if (packed64_weak(before) == 1) {
        packed64_free(header);
    }
}

/* Strong is zero. The implicit weak is held until finalize is done, so that finalize may drop weak
 * handles to this very object. */
static inline void packed64_die(packed64_header *header, bool weak_handles_left)
{
    if (RC_CHECKED) {
        /* M1 RELAXED: orders nothing. Without the mark one weak release too many in finalize would
         * look like that of the last weak handle of a dead object. */
        atomic_fetch_or_explicit(&header->counts, PACKED64_FINALIZING, memory_order_relaxed);
    }
    if (header->class->finalize != NULL) {
        header->class->finalize(header + 1);
    }
    if (weak_handles_left) {
        packed64_drop_weak(header, PACKED64_IMPLICIT);
    } else {
        packed64_free(header); /* and none can have been made: rc_weak_new needs a live object */
    }
}

/* The last of several owners has left: rare beside the releases that come before it, and out of line so
 * that those are short. */
static __attribute__((noinline)) void packed64_last_of_several(packed64_header *header,
                                                               bool weak_handles_left)
{
    packed64_die(header, weak_handles_left);
}

/* The way for objects that others may hold. */
static inline void packed64_release_shared(void *payload)
{
    packed64_header *header = packed64_header_of(payload);
    /* Before D1: afterwards the header is not ours to read. */
    const rc_class *class = header->class;
    /* D1 ACQ_REL: RELEASE, our uses come before the decrement; ACQUIRE, the last one sees all of
     * them before finalize. Pairs with D1 and U1 of the other owners. */
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, PACKED64_ONE_STRONG, memory_order_acq_rel);
    uint32_t strong = packed64_strong(before);
    if (RC_CHECKED && strong == 0) {
        rc_trap(RC_TRAP_RELEASE_DEAD, payload);
    }
    if (__builtin_expect(strong == 1, 0)) {
        packed64_last_of_several(header, packed64_weak(before) > 1);
    } else if (__builtin_expect(packed64_wrapped(before) && strong == 2, 0) &&
               class->wrapper_release != NULL) {
        /* The wrapper may die in there and take the object along. */
        class->wrapper_release(payload);
    }
}

/* Takes the strong unit of an object that U1 saw to be unique. False only in checked builds: misuse
 * has moved the count meanwhile. */
static inline bool packed64_take_last(packed64_header *header, uint64_t counts)
{
    if (RC_CHECKED) {
        /* D2 RELAXED: as below. An exchange is stronger than needed where nobody misuses: with it,
         * check and change are one step. */
        return atomic_compare_exchange_strong_explicit(&header->counts, &counts, PACKED64_ONE_WEAK,
                                                       memory_order_relaxed, memory_order_relaxed);
    }
    /* D2 RELAXED: only finalize, on this thread, can still look. */
    atomic_store_explicit(&header->counts, PACKED64_ONE_WEAK, memory_order_relaxed);
    return true;
}

/* always_inline: gcc would make it a call, which costs a twentieth of an uncontended release. */
static inline __attribute__((always_inline)) void rc_release(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    packed64_header *header = packed64_header_of(handle.payload);
    /* U1 ACQUIRE: one strong (ours) and one weak (implicit): nobody else is left, so no
     * read-modify-write is needed. Pairs with D1 and D3 of those that left. */
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_acquire);
    if ((counts & ~PACKED64_WRAPPER) == PACKED64_UNIQUE && packed64_take_last(header, counts)) {
        packed64_die(header, false);
        return;
    }
    packed64_release_shared(handle.payload);
}

static inline bool rc_is_unique(rc_strong handle)
{
    if (handle.payload == NULL) {
        return false;
    }
    /* U3 ACQUIRE: pairs with D1 and D3, so that writing the payload comes after everybody's uses.
     * A weak handle excludes it: it could be locked while the caller writes. */
    uint64_t counts =
        atomic_load_explicit(&packed64_header_of(handle.payload)->counts, memory_order_acquire);
    return (counts & ~PACKED64_WRAPPER) == PACKED64_UNIQUE;
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    if (handle.payload == NULL) {
        return 0;
    }
    /* C1 RELAXED: a snapshot that orders nothing. */
    return packed64_strong(
        atomic_load_explicit(&packed64_header_of(handle.payload)->counts, memory_order_relaxed));
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

static inline rc_weak packed64_weak_retain(void *payload, bool must_be_alive)
{
    /* W1 RELAXED: the caller's handle keeps the block. */
    uint64_t before = atomic_fetch_add_explicit(&packed64_header_of(payload)->counts,
                                                PACKED64_ONE_WEAK, memory_order_relaxed);
    if (RC_CHECKED && must_be_alive && packed64_strong(before) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, payload);
    }
    if (RC_CHECKED && packed64_weak(before) >= RC_IMPL_WEAK_MAX + packed64_implicit(before)) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, payload);
    }
    return (rc_weak){payload};
}

static inline rc_weak rc_weak_new(rc_strong handle)
{
    return handle.payload == NULL ? rc_weak_null() : packed64_weak_retain(handle.payload, true);
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    return weak.payload == NULL ? weak : packed64_weak_retain(weak.payload, false);
}

static inline void rc_weak_release(rc_weak weak)
{
    if (weak.payload != NULL) {
        packed64_drop_weak(packed64_header_of(weak.payload), PACKED64_ONE_WEAK);
    }
}

/* Asks the wrapper, which owns the only strong reference, whether it can be used. */
static inline bool packed64_wrapper_grants(const rc_class *class, void *payload)
{
    if (class->wrapper_try_retain != NULL) {
        return class->wrapper_try_retain(payload);
    }
    if (class->wrapper_retain != NULL) {
        class->wrapper_retain(payload);
    }
    return true;
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload == NULL) {
        return rc_null();
    }
    packed64_header *header = packed64_header_of(weak.payload);
    bool granted =
        false; /* the wrapper was retained for us, and the exchange has not happened yet */
    /* L0 RELAXED: only a first guess; L1 decides. */
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_relaxed);
    for (;;) {
        bool edge = packed64_wrapped(counts) && packed64_strong(counts) == 1;
        if (packed64_strong(counts) == 0) {
            break;
        }
        if (RC_CHECKED && packed64_strong(counts) == RC_IMPL_STRONG_MAX) {
            rc_trap(RC_TRAP_STRONG_OVERFLOW, weak.payload);
        }
        if (__builtin_expect(edge, 0) && !granted) {
            /* F2 ACQUIRE: as F1. L1 comes too late for the question. */
            RC_ACQUIRE_AFTER_ZERO(&header->counts);
            if (!packed64_wrapper_grants(header->class, weak.payload)) {
                return rc_null();
            }
            granted = true;
        }
        /* L1 ACQUIRE on success: we may never have met this object; pairs with the D1 of the thread
         * that put the weak handle where we found it, and of earlier owners. RELAXED on failure. */
        if (atomic_compare_exchange_weak_explicit(&header->counts, &counts,
                                                  counts + PACKED64_ONE_STRONG,
                                                  memory_order_acquire, memory_order_relaxed)) {
            /* Our strong handle keeps the object: giving back what the wrapper granted for an edge
             * that the exchange did not cross is safe. */
            if (granted && !edge && header->class->wrapper_release != NULL) {
                header->class->wrapper_release(weak.payload);
            }
            return (rc_strong){weak.payload};
        }
    }
    if (granted && header->class->wrapper_release != NULL) {
        header->class->wrapper_release(weak.payload);
    }
    return rc_null();
}

static inline bool rc_weak_expired(rc_weak weak)
{
    /* C2 RELAXED: a snapshot; true is final, because strong never leaves zero. */
    return weak.payload == NULL ||
           packed64_strong(atomic_load_explicit(&packed64_header_of(weak.payload)->counts,
                                                memory_order_relaxed)) == 0;
}

static inline uint64_t rc_weak_count(rc_strong handle)
{
    if (handle.payload == NULL) {
        return 0;
    }
    /* C3 RELAXED: a snapshot. */
    uint64_t counts =
        atomic_load_explicit(&packed64_header_of(handle.payload)->counts, memory_order_relaxed);
    return packed64_weak(counts) - (packed64_strong(counts) > 0 ? 1u : 0u);
}

/* ---- A unit as a bare pointer ---- */

static inline void *rc_into_raw(rc_strong handle)
{
    return handle.payload;
}

/* Traps unless rc_new made this payload: its count has never been zero as a whole word. */
static inline void packed64_check_adoption(void *payload)
{
    /* C4 RELAXED: a check of a value that only misuse can make zero. */
    uint64_t counts =
        atomic_load_explicit(&packed64_header_of(payload)->counts, memory_order_relaxed);
    if (counts == 0) {
        rc_trap(RC_TRAP_FOREIGN, payload);
    }
    if (packed64_strong(counts) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, payload);
    }
}

static inline rc_strong rc_from_raw(void *payload)
{
    if (RC_CHECKED && payload != NULL) {
        packed64_check_adoption(payload);
    }
    return (rc_strong){payload};
}

static inline rc_strong rc_retain_raw(void *payload)
{
    if (RC_CHECKED && payload != NULL) {
        packed64_check_adoption(payload);
    }
    return payload == NULL ? rc_null() : packed64_retain(payload);
}

/* ---- A wrapper ---- */

static inline void rc_wrapper_attach(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    packed64_header *header = packed64_header_of(handle.payload);
    const rc_class *class = header->class;
    bool retained = false;
    /* A0 RELAXED: only a first guess; A1 decides. */
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_relaxed);
    do {
        if (RC_CHECKED && packed64_wrapped(counts)) {
            rc_trap(RC_TRAP_WRAPPER, handle.payload);
        }
        /* Before the bit can be seen: whoever sees it may cross 2 -> 1 and let the wrapper go. */
        if (packed64_strong(counts) > 1 && !retained) {
            if (class->wrapper_retain != NULL) {
                class->wrapper_retain(handle.payload);
            }
            retained = true;
        }
        /* A1 ACQ_REL: RELEASE publishes the wrapper with the bit (pairs with H1, F1, F2 and D1's
         * ACQUIRE); ACQUIRE: wrapper_release below sees the uses of those that left. */
    } while (!atomic_compare_exchange_weak_explicit(&header->counts, &counts,
                                                    counts | PACKED64_WRAPPER, memory_order_acq_rel,
                                                    memory_order_relaxed));
    /* The others left before the bit was set: no edge will give this one back. */
    if (retained && packed64_strong(counts) == 1 && class->wrapper_release != NULL) {
        class->wrapper_release(handle.payload);
    }
}

static inline void rc_wrapper_detach(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    packed64_header *header = packed64_header_of(handle.payload);
    /* A2 RELEASE: who sees that the wrapper has gone sees what came before. Pairs with H1. There is
     * nothing to ACQUIRE: the callers of attach and detach take turns. */
    uint64_t before =
        atomic_fetch_and_explicit(&header->counts, ~PACKED64_WRAPPER, memory_order_release);
    if (RC_CHECKED && !packed64_wrapped(before)) {
        rc_trap(RC_TRAP_WRAPPER, handle.payload);
    }
    if (packed64_strong(before) > 1 && header->class->wrapper_release != NULL) {
        header->class->wrapper_release(handle.payload);
    }
}

static inline bool rc_has_wrapper(rc_strong handle)
{
    /* H1 ACQUIRE: who sees the bit sees the wrapper, or that it has gone. Pairs with A1, A2. */
    return handle.payload != NULL &&
           packed64_wrapped(atomic_load_explicit(&packed64_header_of(handle.payload)->counts,
                                                 memory_order_acquire));
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
    _Atomic(uint64_t) *counts = &packed64_header_of(handle.payload)->counts;
    uint64_t implicit = strong > 0 ? 1 : 0;
    /* P1 RELAXED: the test is alone with the object. A wrapper stays attached. */
    uint64_t wrapper = atomic_load_explicit(counts, memory_order_relaxed) & PACKED64_WRAPPER;
    wrapper = strong > 0 ? wrapper : 0;
    atomic_store_explicit(counts, wrapper | (weak + implicit) << 32 | strong, memory_order_relaxed);
}
#endif

#undef PACKED64_ONE_STRONG
#undef PACKED64_ONE_WEAK
#undef PACKED64_WRAPPER
#undef PACKED64_UNIQUE
#undef PACKED64_FINALIZING
#undef PACKED64_IMPLICIT
