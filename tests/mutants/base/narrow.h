/* narrow: two counts in one word of any width, changed by compare-exchange loops alone.
 *
 * No value is ever written that the fields cannot hold, so the fields may be narrow, and a count that
 * saturates stays pinned whatever others do meanwhile. Base of the controls cas_loops, saturating and
 * narrow16, and of the mutants about limits.
 *
 * PARAMETERS, defined before this file is included; undefined again at its end, but NARROW_OVERFLOW
 *   NARROW_WORD          uint32_t or uint64_t
 *   NARROW_STRONG_BITS   width of the strong field; the weak one has the rest but one bit
 *   NARROW_OVERFLOW      RC_OVERFLOW_UNCHECKED, RC_OVERFLOW_TRAP or RC_OVERFLOW_SATURATE
 *   NARROW_OWN_LOWER     the mutant defines narrow_lower itself, behind the #include
 *
 * LAYOUT (header 16 bytes, one allocation)
 *
 *     +------------------+------------+-------------
 *     | counts (atomic)  | class (64) | payload ...
 *     +------------------+------------+-------------
 *       top bit              checked builds: finalize is running
 *       the bits below       weak handles, plus one while strong > 0; all ones: pinned
 *       NARROW_STRONG_BITS   strong handles; all ones: pinned
 *
 * INVARIANT
 *   The block exists while weak > 0. The values MAX are one below "all ones" (weak: two, the implicit
 *   unit), so that pinned is told from full. A pinned strong count holds its implicit weak for ever.
 *
 * ORDERING
 *   C1 is ACQ_REL on every success, stronger than a raise needs: one function serves all changes. All
 *   changes are read-modify-writes. The queries are RELAXED but for is_unique, Q2 ACQUIRE: pairs with C1.
 */
#include <stdatomic.h>

#ifndef NARROW_WORD
#error "narrow: define NARROW_WORD"
#endif
#if NARROW_STRONG_BITS < 4 || NARROW_STRONG_BITS > 32
#error "narrow: NARROW_STRONG_BITS must be 4 to 32"
#endif

#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_IMMEDIATE | RC_CAP_EXACT_COUNT |           \
     RC_CAP_PRESET)
#define RC_IMPL_OVERFLOW NARROW_OVERFLOW
#define RC_IMPL_STRONG_MAX ((UINT64_C(1) << narrow_strong_bits) - 2)
#define RC_IMPL_WEAK_MAX ((UINT64_C(1) << narrow_weak_bits) - 3)

typedef NARROW_WORD narrow_word;

enum {
    narrow_strong_bits = NARROW_STRONG_BITS,
    narrow_weak_bits = (int)sizeof(narrow_word) * 8 - 1 - NARROW_STRONG_BITS
};

typedef struct narrow_header {
    _Alignas(max_align_t) _Atomic(narrow_word) counts;
    const rc_class *class;
} narrow_header;

typedef struct {
    void *payload; /* or NULL */
} rc_strong;

typedef struct {
    void *payload; /* of an object that may be dead; or NULL */
} rc_weak;

static inline narrow_header *narrow_header_of(void *payload)
{
    return (narrow_header *)payload - 1;
}

/* ---- The word ---- */

static inline uint64_t narrow_strong_full(void)
{
    return (UINT64_C(1) << narrow_strong_bits) - 1;
}

static inline uint64_t narrow_weak_full(void)
{
    return (UINT64_C(1) << narrow_weak_bits) - 1;
}

static inline uint64_t narrow_mark(void)
{
    return UINT64_C(1) << (narrow_strong_bits + narrow_weak_bits);
}

static inline uint64_t narrow_strong(uint64_t counts)
{
    return counts & narrow_strong_full();
}

static inline uint64_t narrow_weak(uint64_t counts)
{
    return counts >> narrow_strong_bits & narrow_weak_full();
}

static inline bool narrow_marked(uint64_t counts)
{
    return (counts & narrow_mark()) != 0;
}

static inline uint64_t narrow_pack(uint64_t strong, uint64_t weak, bool marked)
{
    return strong | weak << narrow_strong_bits | (marked ? narrow_mark() : 0);
}

/* 1 if the implicit weak is among the weak units; exact in checked builds. */
static inline uint64_t narrow_implicit(uint64_t counts)
{
    return narrow_strong(counts) > 0 || narrow_marked(counts) ? 1 : 0;
}

/* ---- Changes ----
 * Each computes the next value of the word from the one it found, or traps. */

typedef enum narrow_change {
    NARROW_RETAIN,
    NARROW_LOCK,
    NARROW_WEAK_NEW,
    NARROW_WEAK_RETAIN,
    NARROW_RELEASE,
    NARROW_WEAK_RELEASE,
    NARROW_DIED /* finalize has returned */
} narrow_change;

/* A count one higher; `full` is pinned, `most` the last that counts. */
static inline uint64_t narrow_raise(uint64_t count, uint64_t most, uint64_t full, rc_trap_kind kind,
                                    void *payload)
{
    const bool saturates = NARROW_OVERFLOW == RC_OVERFLOW_SATURATE;
    if (saturates && count >= most) {
        return full;
    }
    if ((RC_CHECKED || NARROW_OVERFLOW == RC_OVERFLOW_TRAP) && count >= most) {
        rc_trap(kind, payload);
    }
    return count + 1;
}

/* A count one lower; a pinned one stays. */
static inline uint64_t narrow_lower(uint64_t count, uint64_t full);

#ifndef NARROW_OWN_LOWER
static inline uint64_t narrow_lower(uint64_t count, uint64_t full)
{
    return NARROW_OVERFLOW == RC_OVERFLOW_SATURATE && count == full ? full : count - 1;
}
#endif

static inline uint64_t narrow_next(uint64_t counts, narrow_change change, void *payload)
{
    uint64_t strong = narrow_strong(counts);
    uint64_t weak = narrow_weak(counts);
    bool marked = narrow_marked(counts);
    uint64_t weak_most =
        RC_IMPL_WEAK_MAX + (change == NARROW_WEAK_NEW ? 1 : narrow_implicit(counts));
    switch (change) {
    case NARROW_RETAIN:
        if (RC_CHECKED && strong == 0) {
            rc_trap(RC_TRAP_RETAIN_DEAD, payload);
        }
        strong = narrow_raise(strong, RC_IMPL_STRONG_MAX, narrow_strong_full(),
                              RC_TRAP_STRONG_OVERFLOW, payload);
        break;
    case NARROW_LOCK:
        if (strong > 0) {
            strong = narrow_raise(strong, RC_IMPL_STRONG_MAX, narrow_strong_full(),
                                  RC_TRAP_STRONG_OVERFLOW, payload);
        }
        break;
    case NARROW_WEAK_NEW:
        if (RC_CHECKED && strong == 0) {
            rc_trap(RC_TRAP_RETAIN_DEAD, payload);
        }
        weak = narrow_raise(weak, weak_most, narrow_weak_full(), RC_TRAP_WEAK_OVERFLOW, payload);
        break;
    case NARROW_WEAK_RETAIN:
        weak = narrow_raise(weak, weak_most, narrow_weak_full(), RC_TRAP_WEAK_OVERFLOW, payload);
        break;
    case NARROW_RELEASE:
        if (RC_CHECKED && strong == 0) {
            rc_trap(RC_TRAP_RELEASE_DEAD, payload);
        }
        strong = narrow_lower(strong, narrow_strong_full());
        marked = RC_CHECKED && strong == 0;
        break;
    case NARROW_WEAK_RELEASE:
        if (RC_CHECKED && weak <= narrow_implicit(counts)) {
            rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, payload);
        }
        weak = narrow_lower(weak, narrow_weak_full());
        break;
    case NARROW_DIED:
        weak = narrow_lower(weak, narrow_weak_full());
        marked = false;
        break;
    }
    return narrow_pack(strong, weak, marked);
}

/* Makes a change in one step; returns the word before it. */
static inline uint64_t narrow_do(void *payload, narrow_change change)
{
    _Atomic(narrow_word) *counts = &narrow_header_of(payload)->counts;
    /* C0 RELAXED: only a first guess; C1 decides. */
    narrow_word before = atomic_load_explicit(counts, memory_order_relaxed);
    narrow_word next;
    do {
        next = (narrow_word)narrow_next(before, change, payload);
        /* C1 ACQ_REL: our uses come before; the last one sees everybody's. RELAXED on failure. */
    } while (!atomic_compare_exchange_weak_explicit(counts, &before, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return before;
}

/* Gives up a weak unit, a handle's or the implicit one. */
static inline void narrow_drop_weak(void *payload, narrow_change change)
{
    if (narrow_weak(narrow_do(payload, change)) == 1) {
        narrow_header *header = narrow_header_of(payload);
        rc_mem_free(header, sizeof *header + header->class->payload_size);
    }
}

/* ---- The contract ---- */

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
    if (class->payload_size > SIZE_MAX - sizeof(narrow_header)) {
        return rc_null();
    }
    narrow_header *header = rc_mem_alloc(sizeof *header + class->payload_size);
    if (header == NULL) {
        return rc_null();
    }
    /* N1 plain store: nobody else can reach the object yet. */
    atomic_init(&header->counts, (narrow_word)narrow_pack(1, 1, false));
    header->class = class;
    return (rc_strong){header + 1};
}

static inline void *rc_payload(rc_strong handle)
{
    return handle.payload;
}

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.payload != NULL) {
        narrow_do(handle.payload, NARROW_RETAIN);
    }
    return handle;
}

static inline void rc_release(rc_strong handle)
{
    if (handle.payload == NULL || narrow_strong(narrow_do(handle.payload, NARROW_RELEASE)) != 1) {
        return;
    }
    narrow_header *header = narrow_header_of(handle.payload);
    if (header->class->finalize != NULL) {
        header->class->finalize(handle.payload);
    }
    narrow_drop_weak(handle.payload, NARROW_DIED);
}

/* Q1 RELAXED: a snapshot. */
static inline uint64_t narrow_snapshot(void *payload)
{
    return atomic_load_explicit(&narrow_header_of(payload)->counts, memory_order_relaxed);
}

static inline bool rc_is_unique(rc_strong handle)
{
    /* Q2 ACQUIRE: pairs with C1, so that writing the payload comes after everybody's uses. */
    return handle.payload != NULL &&
           atomic_load_explicit(&narrow_header_of(handle.payload)->counts, memory_order_acquire) ==
               narrow_pack(1, 1, false);
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    uint64_t strong = handle.payload == NULL ? 0 : narrow_strong(narrow_snapshot(handle.payload));
    return strong > RC_IMPL_STRONG_MAX ? RC_IMPL_STRONG_MAX : strong;
}

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
    if (handle.payload != NULL) {
        narrow_do(handle.payload, NARROW_WEAK_NEW);
    }
    return (rc_weak){handle.payload};
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    if (weak.payload != NULL) {
        narrow_do(weak.payload, NARROW_WEAK_RETAIN);
    }
    return weak;
}

static inline void rc_weak_release(rc_weak weak)
{
    if (weak.payload != NULL) {
        narrow_drop_weak(weak.payload, NARROW_WEAK_RELEASE);
    }
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload == NULL || narrow_strong(narrow_do(weak.payload, NARROW_LOCK)) == 0) {
        return rc_null();
    }
    return (rc_strong){weak.payload};
}

static inline bool rc_weak_expired(rc_weak weak)
{
    return weak.payload == NULL || narrow_strong(narrow_snapshot(weak.payload)) == 0;
}

static inline uint64_t rc_weak_count(rc_strong handle)
{
    if (handle.payload == NULL) {
        return 0;
    }
    uint64_t counts = narrow_snapshot(handle.payload);
    uint64_t weak = narrow_weak(counts);
    return weak == narrow_weak_full() ? RC_IMPL_WEAK_MAX : weak - narrow_implicit(counts);
}

static inline void *rc_into_raw(rc_strong handle)
{
    return handle.payload;
}

static inline void narrow_check_adoption(void *payload)
{
    uint64_t counts = narrow_snapshot(payload);
    if (counts == 0) {
        rc_trap(RC_TRAP_FOREIGN, payload);
    }
    if (narrow_strong(counts) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, payload);
    }
}

static inline rc_strong rc_from_raw(void *payload)
{
    if (RC_CHECKED && payload != NULL) {
        narrow_check_adoption(payload);
    }
    return (rc_strong){payload};
}

static inline rc_strong rc_retain_raw(void *payload)
{
    return rc_retain(rc_from_raw(payload));
}

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
    /* P1 RELAXED: the test is alone with the object. */
    atomic_store_explicit(&narrow_header_of(handle.payload)->counts,
                          (narrow_word)narrow_pack(strong, weak + (strong > 0 ? 1 : 0), false),
                          memory_order_relaxed);
}
#endif

#undef NARROW_WORD
#undef NARROW_STRONG_BITS
#undef NARROW_OWN_LOWER
