/* steps: packed64's layout and protocol, where a mutant can replace one inner step.
 *
 * A whole operation is replaced without this file: rename it, include impls/packed64/rc.h, write it
 * anew. What an operation does inside (who frees, what comes first, with which order) is replaced
 * here, so that the fault is the whole text of the mutant. Unchanged it is correct:
 * tests/controls/steps.
 *
 * PARAMETERS, defined before this file is included; undefined again at its end
 *   STEPS_OWN_FREE        the mutant defines steps_free itself, behind the #include
 *   STEPS_OWN_DROP_WEAK   the same for steps_drop_weak
 *   STEPS_OWN_DIE         the same for steps_die
 *   STEPS_OWN_RELEASE     the same for steps_release, every release of an object
 *   STEPS_BIRTH           the counts of a new object
 *   STEPS_ALIGN           alignment of the header
 *   STEPS_PADDING         bytes between class and payload; 0 by default
 *   STEPS_ORDER_...       memory orders; the names are those of the comments below
 *
 * LAYOUT (header 16 bytes, one allocation)
 *
 *     handle -----------------------------------.
 *                                               v
 *     +---------------------+-------------------+------------
 *     | counts (64, atomic) | class (64)        | payload ...
 *     +---------------------+-------------------+------------
 *       bit 63 wrapper (strong 0, checked: finalize runs), bits 32-62 weak + implicit, bits 0-31
 *       strong
 *
 * INVARIANT, ORDERING
 *   packed64's.
 */
#include <stdatomic.h>

#ifndef STEPS_BIRTH
#define STEPS_BIRTH (UINT64_C(1) << 32 | 1)
#endif
#ifndef STEPS_ALIGN
#define STEPS_ALIGN _Alignas(max_align_t)
#endif
#ifndef STEPS_PADDING
#define STEPS_PADDING 0
#endif
#ifndef STEPS_ORDER_D1 /* the decrement of strong */
#define STEPS_ORDER_D1 memory_order_acq_rel
#endif
#ifndef STEPS_ORDER_D3 /* the decrement of weak */
#define STEPS_ORDER_D3 memory_order_acq_rel
#endif
#ifndef STEPS_ORDER_U1 /* the look before a strong release: is anybody else there? */
#define STEPS_ORDER_U1 memory_order_acquire
#endif
#ifndef STEPS_ORDER_U2 /* the look before a weak release */
#define STEPS_ORDER_U2 memory_order_acquire
#endif
#ifndef STEPS_ORDER_U3 /* rc_is_unique */
#define STEPS_ORDER_U3 memory_order_acquire
#endif
#ifndef STEPS_ORDER_L1 /* the exchange of a lock */
#define STEPS_ORDER_L1 memory_order_acquire
#endif
#ifndef STEPS_ORDER_A1 /* the exchange of attach */
#define STEPS_ORDER_A1 memory_order_acq_rel
#endif
#ifndef STEPS_ORDER_A2 /* the change of detach */
#define STEPS_ORDER_A2 memory_order_release
#endif
#ifndef STEPS_ORDER_H1 /* rc_has_wrapper */
#define STEPS_ORDER_H1 memory_order_acquire
#endif
#ifndef STEPS_BEFORE_HOOK /* F1, F2: between the RELAXED look at the bit and a hook */
#define STEPS_BEFORE_HOOK(counts) RC_ACQUIRE_AFTER_ZERO(counts)
#endif

#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER | RC_CAP_IMMEDIATE |               \
     RC_CAP_EXACT_COUNT | RC_CAP_PRESET)
#define RC_IMPL_OVERFLOW RC_OVERFLOW_UNCHECKED
#define RC_IMPL_STRONG_MAX UINT64_C(0xffffffff)
#define RC_IMPL_WEAK_MAX UINT64_C(0x7ffffffe)

static const uint64_t steps_one_strong = 1;
static const uint64_t steps_one_weak = UINT64_C(1) << 32;
static const uint64_t steps_wrapper = UINT64_C(1) << 63;
static const uint64_t steps_unique = UINT64_C(1) << 32 | 1;
/* The implicit weak, and in checked builds the mark of a running finalize that goes with it. */
static const uint64_t steps_implicit = UINT64_C(1) << 32 | (RC_CHECKED ? UINT64_C(1) << 63 : 0);

typedef struct steps_header {
    STEPS_ALIGN _Atomic(uint64_t) counts;
    const rc_class *class;
#if STEPS_PADDING > 0
    unsigned char padding[STEPS_PADDING];
#endif
} steps_header;

typedef struct {
    void *payload; /* or NULL */
} rc_strong;

typedef struct {
    void *payload; /* of an object that may be dead; or NULL */
} rc_weak;

static inline steps_header *steps_header_of(void *payload)
{
    return (steps_header *)payload - 1;
}

static inline uint32_t steps_strong(uint64_t counts)
{
    return (uint32_t)counts;
}

static inline uint32_t steps_weak(uint64_t counts)
{
    return (uint32_t)(counts >> 32) & UINT32_C(0x7fffffff);
}

static inline bool steps_wrapped(uint64_t counts)
{
    return (counts & steps_wrapper) != 0;
}

/* 1 if the implicit weak is among the weak units; exact in checked builds. */
static inline uint32_t steps_implicit_of(uint64_t counts)
{
    return steps_strong(counts) > 0 || steps_wrapped(counts) ? 1 : 0;
}

/* ---- The steps ---- */

/* Returns the memory: no handle of either kind is left. */
static inline void steps_free(steps_header *header);

/* Gives up one weak unit: steps_one_weak for a handle's, steps_implicit for the object's own. */
static inline void steps_drop_weak(steps_header *header, uint64_t unit);

/* Strong has become zero: finalizes, then gives up the implicit weak. */
static inline void steps_die(steps_header *header, bool weak_handles_left);

/* Gives up one strong unit. */
static inline void steps_release(void *payload);

/* Checked builds: finalize begins. M1 RELAXED: orders nothing. */
static inline void steps_mark_finalizing(steps_header *header)
{
    if (RC_CHECKED) {
        atomic_fetch_or_explicit(&header->counts, steps_wrapper, memory_order_relaxed);
    }
}

static inline void steps_finalize(steps_header *header)
{
    if (header->class->finalize != NULL) {
        header->class->finalize(header + 1);
    }
}

/* Takes the unit of an object that the caller saw to be unique; false: misuse has moved the count.
 * D2 RELAXED: nobody else is left. */
static inline bool steps_take_last(steps_header *header, uint64_t counts)
{
    return atomic_compare_exchange_strong_explicit(&header->counts, &counts, steps_one_weak,
                                                   memory_order_relaxed, memory_order_relaxed);
}

#ifndef STEPS_OWN_FREE
static inline void steps_free(steps_header *header)
{
    rc_mem_free(header, sizeof *header + header->class->payload_size);
}
#endif

#ifndef STEPS_OWN_DROP_WEAK
static inline void steps_drop_weak(steps_header *header, uint64_t unit)
{
    /* U2 ACQUIRE: this unit and nothing else is us alone; pairs with D3. */
    if (atomic_load_explicit(&header->counts, STEPS_ORDER_U2) == unit) {
        steps_free(header);
        return;
    }
    /* D3 ACQ_REL: our uses come before; the last one sees everybody's. Pairs with D3, U2. */
    uint64_t before = atomic_fetch_sub_explicit(&header->counts, unit, STEPS_ORDER_D3);
    if (RC_CHECKED && unit == steps_one_weak && steps_weak(before) <= steps_implicit_of(before)) {
        rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, header + 1);
    }
    if (steps_weak(before) == 1) {
        steps_free(header);
    }
}
#endif

#ifndef STEPS_OWN_DIE
static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    steps_mark_finalizing(header);
    steps_finalize(header);
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}
#endif

#ifndef STEPS_OWN_RELEASE
static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    const rc_class *class = header->class;
    /* U1 ACQUIRE: nobody else is left; pairs with D1 and D3. */
    uint64_t counts = atomic_load_explicit(&header->counts, STEPS_ORDER_U1);
    if ((counts & ~steps_wrapper) == steps_unique && steps_take_last(header, counts)) {
        steps_die(header, false);
        return;
    }
    /* D1 ACQ_REL: our uses come before; the last one sees everybody's. Pairs with D1, U1, U3. */
    uint64_t before = atomic_fetch_sub_explicit(&header->counts, steps_one_strong, STEPS_ORDER_D1);
    if (RC_CHECKED && steps_strong(before) == 0) {
        rc_trap(RC_TRAP_RELEASE_DEAD, payload);
    }
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
    } else if (steps_wrapped(before) && steps_strong(before) == 2 &&
               class->wrapper_release != NULL) {
        class->wrapper_release(payload);
    }
}
#endif

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
    if (class->payload_size > SIZE_MAX - sizeof(steps_header)) {
        return rc_null();
    }
    steps_header *header = rc_mem_alloc(sizeof *header + class->payload_size);
    if (header == NULL) {
        return rc_null();
    }
    /* N1 plain store: nobody else can reach the object yet. */
    atomic_init(&header->counts, STEPS_BIRTH);
    header->class = class;
    return (rc_strong){header + 1};
}

static inline void *rc_payload(rc_strong handle)
{
    return handle.payload;
}

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.payload == NULL) {
        return handle;
    }
    steps_header *header = steps_header_of(handle.payload);
    /* R1 RELAXED: the caller's handle keeps the object alive. */
    uint64_t before =
        atomic_fetch_add_explicit(&header->counts, steps_one_strong, memory_order_relaxed);
    if (RC_CHECKED && steps_strong(before) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, handle.payload);
    }
    if (RC_CHECKED && steps_strong(before) == RC_IMPL_STRONG_MAX) {
        rc_trap(RC_TRAP_STRONG_OVERFLOW, handle.payload);
    }
    if (steps_wrapped(before) && steps_strong(before) == 1 &&
        header->class->wrapper_retain != NULL) {
        STEPS_BEFORE_HOOK(&header->counts);
        header->class->wrapper_retain(handle.payload);
    }
    return handle;
}

static inline void rc_release(rc_strong handle)
{
    if (handle.payload != NULL) {
        steps_release(handle.payload);
    }
}

static inline bool rc_is_unique(rc_strong handle)
{
    /* U3 ACQUIRE: writing the payload comes after everybody's uses; pairs with D1 and D3. */
    return handle.payload != NULL &&
           (atomic_load_explicit(&steps_header_of(handle.payload)->counts, STEPS_ORDER_U3) &
            ~steps_wrapper) == steps_unique;
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    /* C1 RELAXED: a snapshot. */
    return handle.payload == NULL
               ? 0
               : steps_strong(atomic_load_explicit(&steps_header_of(handle.payload)->counts,
                                                   memory_order_relaxed));
}

static inline rc_weak rc_weak_null(void)
{
    return (rc_weak){NULL};
}

static inline bool rc_weak_is_null(rc_weak weak)
{
    return weak.payload == NULL;
}

static inline rc_weak steps_weak_retain(void *payload, bool must_be_alive)
{
    /* W1 RELAXED: the caller's handle keeps the block. */
    uint64_t before = atomic_fetch_add_explicit(&steps_header_of(payload)->counts, steps_one_weak,
                                                memory_order_relaxed);
    if (RC_CHECKED && must_be_alive && steps_strong(before) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, payload);
    }
    if (RC_CHECKED && steps_weak(before) >= RC_IMPL_WEAK_MAX + steps_implicit_of(before)) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, payload);
    }
    return (rc_weak){payload};
}

static inline rc_weak rc_weak_new(rc_strong handle)
{
    return handle.payload == NULL ? rc_weak_null() : steps_weak_retain(handle.payload, true);
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    return weak.payload == NULL ? weak : steps_weak_retain(weak.payload, false);
}

static inline void rc_weak_release(rc_weak weak)
{
    if (weak.payload != NULL) {
        steps_drop_weak(steps_header_of(weak.payload), steps_one_weak);
    }
}

/* Asks the wrapper, which owns the only strong reference, whether it can be used. */
static inline bool steps_wrapper_grants(const rc_class *class, void *payload)
{
    if (class->wrapper_try_retain != NULL) {
        return class->wrapper_try_retain(payload);
    }
    if (class->wrapper_retain != NULL) {
        class->wrapper_retain(payload);
    }
    return true;
}

static inline void steps_give_back(const rc_class *class, void *payload)
{
    if (class->wrapper_release != NULL) {
        class->wrapper_release(payload);
    }
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload == NULL) {
        return rc_null();
    }
    steps_header *header = steps_header_of(weak.payload);
    bool granted = false;
    /* L0 RELAXED: only a first guess; L1 decides. */
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_relaxed);
    while (steps_strong(counts) != 0) {
        bool edge = steps_wrapped(counts) && steps_strong(counts) == 1;
        if (RC_CHECKED && steps_strong(counts) == RC_IMPL_STRONG_MAX) {
            rc_trap(RC_TRAP_STRONG_OVERFLOW, weak.payload);
        }
        if (edge && !granted) {
            STEPS_BEFORE_HOOK(&header->counts);
            if (!steps_wrapper_grants(header->class, weak.payload)) {
                return rc_null();
            }
            granted = true;
        }
        /* L1 ACQUIRE on success: we may never have met this object. RELAXED on failure. */
        if (atomic_compare_exchange_weak_explicit(&header->counts, &counts,
                                                  counts + steps_one_strong, STEPS_ORDER_L1,
                                                  memory_order_relaxed)) {
            if (granted && !edge) {
                steps_give_back(header->class, weak.payload);
            }
            return (rc_strong){weak.payload};
        }
    }
    if (granted) {
        steps_give_back(header->class, weak.payload);
    }
    return rc_null();
}

static inline bool rc_weak_expired(rc_weak weak)
{
    /* C2 RELAXED: a snapshot; true is final. */
    return weak.payload == NULL ||
           steps_strong(atomic_load_explicit(&steps_header_of(weak.payload)->counts,
                                             memory_order_relaxed)) == 0;
}

static inline uint64_t rc_weak_count(rc_strong handle)
{
    if (handle.payload == NULL) {
        return 0;
    }
    /* C3 RELAXED: a snapshot. */
    uint64_t counts =
        atomic_load_explicit(&steps_header_of(handle.payload)->counts, memory_order_relaxed);
    return steps_weak(counts) - (steps_strong(counts) > 0 ? 1u : 0u);
}

static inline void *rc_into_raw(rc_strong handle)
{
    return handle.payload;
}

/* C4 RELAXED: a check of a value that only misuse can make zero. */
static inline void steps_check_adoption(void *payload)
{
    uint64_t counts = atomic_load_explicit(&steps_header_of(payload)->counts, memory_order_relaxed);
    if (counts == 0) {
        rc_trap(RC_TRAP_FOREIGN, payload);
    }
    if (steps_strong(counts) == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, payload);
    }
}

static inline rc_strong rc_from_raw(void *payload)
{
    if (RC_CHECKED && payload != NULL) {
        steps_check_adoption(payload);
    }
    return (rc_strong){payload};
}

static inline rc_strong rc_retain_raw(void *payload)
{
    if (RC_CHECKED && payload != NULL) {
        steps_check_adoption(payload);
    }
    return rc_retain((rc_strong){payload});
}

static inline void rc_wrapper_attach(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    steps_header *header = steps_header_of(handle.payload);
    bool retained = false;
    /* A0 RELAXED: only a first guess; A1 decides. */
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_relaxed);
    do {
        if (RC_CHECKED && steps_wrapped(counts)) {
            rc_trap(RC_TRAP_WRAPPER, handle.payload);
        }
        if (steps_strong(counts) > 1 && !retained) {
            if (header->class->wrapper_retain != NULL) {
                header->class->wrapper_retain(handle.payload);
            }
            retained = true;
        }
        /* A1 ACQ_REL: publishes the wrapper with the bit; pairs with H1 and D1. */
    } while (!atomic_compare_exchange_weak_explicit(&header->counts, &counts,
                                                    counts | steps_wrapper, STEPS_ORDER_A1,
                                                    memory_order_relaxed));
    if (retained && steps_strong(counts) == 1) {
        steps_give_back(header->class, handle.payload);
    }
}

static inline void rc_wrapper_detach(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    steps_header *header = steps_header_of(handle.payload);
    /* A2 RELEASE: who sees that the wrapper has gone sees what came before. Pairs with H1. */
    uint64_t before = atomic_fetch_and_explicit(&header->counts, ~steps_wrapper, STEPS_ORDER_A2);
    if (RC_CHECKED && !steps_wrapped(before)) {
        rc_trap(RC_TRAP_WRAPPER, handle.payload);
    }
    if (steps_strong(before) > 1) {
        steps_give_back(header->class, handle.payload);
    }
}

static inline bool rc_has_wrapper(rc_strong handle)
{
    /* H1 ACQUIRE: who sees the bit sees the wrapper. Pairs with A1, A2. */
    return handle.payload != NULL &&
           steps_wrapped(atomic_load_explicit(&steps_header_of(handle.payload)->counts,
                                              STEPS_ORDER_H1));
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
    _Atomic(uint64_t) *counts = &steps_header_of(handle.payload)->counts;
    /* P1 RELAXED: the test is alone with the object. A wrapper stays attached. */
    uint64_t wrapper = atomic_load_explicit(counts, memory_order_relaxed) & steps_wrapper;
    uint64_t implicit = strong > 0 ? 1 : 0;
    atomic_store_explicit(counts, (strong > 0 ? wrapper : 0) | (weak + implicit) << 32 | strong,
                          memory_order_relaxed);
}
#endif

#undef STEPS_OWN_FREE
#undef STEPS_OWN_DROP_WEAK
#undef STEPS_OWN_DIE
#undef STEPS_OWN_RELEASE
#undef STEPS_BIRTH
#undef STEPS_ALIGN
#undef STEPS_PADDING
#undef STEPS_ORDER_D1
#undef STEPS_ORDER_D3
#undef STEPS_ORDER_U1
#undef STEPS_ORDER_U2
#undef STEPS_ORDER_U3
#undef STEPS_ORDER_L1
#undef STEPS_ORDER_A1
#undef STEPS_ORDER_A2
#undef STEPS_ORDER_H1
#undef STEPS_BEFORE_HOOK
