/* contract.h: what an implementation of reference counting must provide.
 *
 * An implementation is one header, rc.h. A program includes this file once, from one translation
 * unit, with RC_IMPL_HEADER naming that rc.h:
 *
 *     #define RC_IMPL_HEADER "packed64/rc.h"
 *     #include "contract.h"
 *
 * This file first gives what the implementation builds on (rc_class, rc_mem_alloc, rc_trap, the
 * capability bits), then includes it, then checks every name and signature, then adds slots. Without
 * RC_IMPL_HEADER only the first part is there: a compiled library behind an rc.h of thin calls
 * includes it that way.
 *
 * TERMS
 *   object    what is counted: a payload, and whatever the strategy puts around it
 *   handle    a counted reference, strong or weak; a small struct, passed by value
 *   unit      what one handle adds to a count
 *   finalize  the object dies: the class's hook runs on the payload
 *   free      the object's memory goes back to rc_mem_free
 *   loan      a pointer that is valid only while somebody else's handle is held
 *
 * STATES OF AN OBJECT, and what each operation does there
 *
 *                    | alive            | dying (in finalize) | dead (weak left)  | freed
 *   -----------------+------------------+---------------------+-------------------+------
 *   rc_retain        | strong + 1       | RETAIN_DEAD         | RETAIN_DEAD       | never
 *   rc_release       | strong - 1; at 0 | RELEASE_DEAD        | RELEASE_DEAD      | never
 *                    | dies, may free   |                     |                   |
 *   rc_is_unique     | answers          | false               | false             | never
 *   rc_use_count     | answers          | 0                   | 0                 | never
 *   rc_weak_new      | weak + 1         | RETAIN_DEAD         | RETAIN_DEAD       | never
 *   rc_weak_retain   | weak + 1         | weak + 1            | weak + 1          | never
 *   rc_weak_release  | weak - 1         | weak - 1            | weak - 1; at 0    | never
 *                    |                  |                     | freed             |
 *   rc_weak_lock     | strong + 1       | null                | null              | never
 *   rc_weak_expired  | false            | true                | true              | never
 *   rc_retain_raw    | strong + 1       | RETAIN_DEAD         | RETAIN_DEAD       | never
 *   rc_wrapper_*     | answers, or as   | never               | never             | never
 *                    | said below       |                     |                   |
 *
 *   A word in capitals is the trap of that name: certain in checked builds (RC_CHECKED), undefined
 *   in others. "never" is undefined in both. With RC_CAP_EARLY_FREE the payload is freed on the way
 *   from dying to dead, and only the counts stay for the weak handles.
 *
 * WHO MUST NOT CALL WHAT AT THE SAME TIME
 *   1. A handle is a value: one unit, one owner. Two threads that use the same object each need
 *      their own handle, or one holds it for both for as long as the call takes (a loan).
 *   2. Nobody may consume a handle (rc_release, rc_weak_release, rc_into_raw, the value of a slot
 *      assigned to) while another thread still retains, locks or reads through that same handle.
 *   3. A slot (rc_assign, rc_reset, rc_swap) is a plain variable: one thread at a time.
 *   4. rc_wrapper_attach and rc_wrapper_detach of one object exclude each other. Both may race with
 *      every other operation on it.
 *   5. Without RC_CAP_THREADS all operations on one object stay on the thread that made it.
 *   6. rc_test_preset excludes everything else on that object.
 *   Everything else may be called on one object from any number of threads at once.
 *
 * GROUND RULES
 *   rc.h may include standard headers and <pthread.h>, and may have static state. Each operation is
 *   a function, never a macro. A class outlives the last handle, weak ones too, of its objects.
 *   Payloads are aligned for max_align_t. Null handles are legal everywhere and count nothing. Hooks
 *   do not longjmp. Nothing here is async-signal-safe.
 */
#ifndef RC_CONTRACT_H
#define RC_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdatomic.h>
#endif

#ifdef __cplusplus
extern "C" {
#define RC_NORETURN [[noreturn]]
#else
#define RC_NORETURN _Noreturn
#endif

/* ---- What an implementation promises -------------------------------------------------------- */

#define RC_CAP_THREADS (1u << 0)     /* handles of one object may be used by several threads */
#define RC_CAP_WEAK (1u << 1)        /* weak handles */
#define RC_CAP_RAW (1u << 2)         /* a unit can travel as a bare payload pointer */
#define RC_CAP_WRAPPER (1u << 3)     /* an object of another runtime can mirror this one */
#define RC_CAP_IMMEDIATE (1u << 4)   /* finalize runs inside the release that drops the last unit */
#define RC_CAP_EXACT_COUNT (1u << 5) /* rc_use_count, rc_weak_count, rc_is_unique are exact */
#define RC_CAP_SHM (1u << 6)         /* all state is in the object: works across processes */
#define RC_CAP_EARLY_FREE (1u << 7) /* payload memory returns at strong zero, weak handles or not */
#define RC_CAP_PRESET (1u << 8)     /* rc_test_preset, in test builds */

#define RC_OVERFLOW_UNCHECKED 1 /* traps in checked builds, undefined in others */
#define RC_OVERFLOW_TRAP 2      /* traps in both */
#define RC_OVERFLOW_SATURATE 3  /* exact up to MAX; one more pins the count there for ever */

/* ---- Build parameters ------------------------------------------------------------------------ */

/* 1: misuse must trap. 0: misuse is undefined, and costs nothing to allow. */
#ifndef RC_CHECKED
#define RC_CHECKED 0
#endif

/* 1 in test builds: an implementation that claims RC_CAP_PRESET then defines rc_test_preset. */
#ifndef RC_PRESET
#define RC_PRESET 0
#endif

/* ---- What the contract gives ----------------------------------------------------------------- */

/* What objects of one kind have in common. Owned by whoever made it; outlives its objects. */
typedef struct rc_class {
    const char *name;
    size_t payload_size; /* bytes; 0 is legal */
    /* Each hook may be NULL. */
    void (*finalize)(void *payload);        /* once, when the object dies */
    void (*wrapper_retain)(void *payload);  /* strong went 1 -> 2 with a wrapper attached */
    void (*wrapper_release)(void *payload); /* strong went 2 -> 1 with a wrapper attached */
    /* A lock is about to raise 1 -> 2. False: the wrapper is being torn down, the lock fails.
     * NULL: then wrapper_retain, which cannot fail. */
    bool (*wrapper_try_retain)(void *payload);
} rc_class;

/* A block of `size` bytes, aligned for any object, or NULL when refused. Size 0 gives a block that
 * can be freed. Any thread. Cost: that of the allocator that the run was told to use. */
void *rc_mem_alloc(size_t size);

/* Gives back a block; `size` is what it was asked for with. NULL is ignored. Any thread. */
void rc_mem_free(void *block, size_t size);

typedef enum rc_trap_kind {
    RC_TRAP_RETAIN_DEAD = 1,   /* retain, retain_raw, weak_new: the strong count is 0 */
    RC_TRAP_RELEASE_DEAD,      /* release below zero */
    RC_TRAP_WEAK_RELEASE_DEAD, /* weak release below zero */
    RC_TRAP_STRONG_OVERFLOW,   /* one strong reference more than RC_IMPL_STRONG_MAX */
    RC_TRAP_WEAK_OVERFLOW,     /* one weak reference more than RC_IMPL_WEAK_MAX */
    RC_TRAP_FOREIGN,           /* adoption of a payload that rc_new did not make */
    RC_TRAP_WRAPPER,           /* attach twice, or detach without attach */
    RC_TRAP_THREAD             /* use from a second thread without RC_CAP_THREADS */
} rc_trap_kind;

/* Reports misuse of the object with this payload (or NULL) and ends the process. */
RC_NORETURN void rc_trap(rc_trap_kind kind, const void *payload);

#ifdef __cplusplus
}
#endif

/* RC_ACQUIRE_AFTER_ZERO(ptr): the fence idiom. After a RELEASE decrement that reached zero, makes
 * every other owner's earlier uses visible before the object is taken apart. ThreadSanitizer does
 * not model fences and would accuse correct code, so there it is an ACQUIRE load of the same atomic;
 * the explorer models fences and keeps it. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RC_INTERNAL_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define RC_INTERNAL_TSAN 1
#endif
#if defined(RC_INTERNAL_TSAN) && !defined(RC_EXPLORER)
#define RC_ACQUIRE_AFTER_ZERO(atomic_ptr)                                                          \
    ((void)atomic_load_explicit((atomic_ptr), memory_order_acquire))
#else
#define RC_ACQUIRE_AFTER_ZERO(atomic_ptr)                                                          \
    ((void)(atomic_ptr), atomic_thread_fence(memory_order_acquire))
#endif

/* ---- The implementation ---------------------------------------------------------------------- */

#ifdef RC_IMPL_HEADER
#include RC_IMPL_HEADER

/* Parameters it must have defined. */

#ifndef RC_IMPL_CAPS
#error "contract: define RC_IMPL_CAPS, the RC_CAP_ bits that this implementation promises"
#define RC_IMPL_CAPS 0
#endif
#ifndef RC_IMPL_OVERFLOW
#error "contract: define RC_IMPL_OVERFLOW as RC_OVERFLOW_UNCHECKED, _TRAP or _SATURATE"
#define RC_IMPL_OVERFLOW RC_OVERFLOW_UNCHECKED
#endif
#ifndef RC_IMPL_STRONG_MAX
#error "contract: define RC_IMPL_STRONG_MAX, the most strong references that one object may have"
#define RC_IMPL_STRONG_MAX 1
#endif
#if (RC_IMPL_CAPS) & ~0x1ffu
#error "contract: RC_IMPL_CAPS has a bit that is no RC_CAP_ of this contract"
#endif
#if (RC_IMPL_OVERFLOW) != RC_OVERFLOW_UNCHECKED && (RC_IMPL_OVERFLOW) != RC_OVERFLOW_TRAP &&       \
    (RC_IMPL_OVERFLOW) != RC_OVERFLOW_SATURATE
#error "contract: RC_IMPL_OVERFLOW must be RC_OVERFLOW_UNCHECKED, _TRAP or _SATURATE"
#endif
_Static_assert((uint64_t)(RC_IMPL_STRONG_MAX) >= 1,
               "contract: RC_IMPL_STRONG_MAX must be a uint64_t constant of at least 1");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
#ifndef RC_IMPL_WEAK_MAX
#error "contract: RC_CAP_WEAK needs RC_IMPL_WEAK_MAX, the most weak references of one object"
#define RC_IMPL_WEAK_MAX 1
#endif
_Static_assert((uint64_t)(RC_IMPL_WEAK_MAX) >= 1,
               "contract: RC_IMPL_WEAK_MAX must be a uint64_t constant of at least 1");
#endif

/* Operations must be functions: a macro would evaluate its argument as often as it likes and could
 * not be called through a pointer. */

#if defined(rc_null) || defined(rc_is_null) || defined(rc_new) || defined(rc_payload) ||           \
    defined(rc_retain) || defined(rc_release) || defined(rc_is_unique) || defined(rc_use_count)
#error "contract: rc_null, rc_new, rc_retain and the like must be functions, not macros"
#endif
#if defined(rc_weak_null) || defined(rc_weak_is_null) || defined(rc_weak_new) ||                   \
    defined(rc_weak_retain) || defined(rc_weak_release) || defined(rc_weak_lock) ||                \
    defined(rc_weak_expired) || defined(rc_weak_count)
#error "contract: the rc_weak_ operations must be functions, not macros"
#endif
#if defined(rc_into_raw) || defined(rc_from_raw) || defined(rc_retain_raw)
#error "contract: rc_into_raw, rc_from_raw and rc_retain_raw must be functions, not macros"
#endif
#if defined(rc_wrapper_attach) || defined(rc_wrapper_detach) || defined(rc_has_wrapper)
#error "contract: the rc_wrapper_ operations must be functions, not macros"
#endif
#if defined(rc_thread_attach) || defined(rc_thread_detach) || defined(rc_share) ||                 \
    defined(rc_quiesce) || defined(rc_test_preset)
#error "contract: the thread operations and rc_test_preset must be functions, not macros"
#endif

/* RC_OPERATION refuses, in words, an operation that is missing or has another signature. */
#define RC_OPERATION(result, name, ...)                                                            \
    _Static_assert(_Generic(&name, result(*)(__VA_ARGS__) : 1, default : 0),                       \
                   "contract: " #name " must have the signature " #result " " #name                \
                   "(" #__VA_ARGS__ ")")

/* Handles and objects ----------------------------------------------------------------------------
 *
 * Each comment has the same five lines: what it does; who may call; what is ordered; what it costs
 * (locked: read-modify-writes that lock the cache line, for an atomic strategy); the areas of the
 * specification that test it. */

/* rc_null
 * Does:     gives the null handle. It owns nothing; rc_payload of it is NULL.
 * Callers:  any thread.
 * Ordering: none.
 * Cost:     none; folds to a constant.
 * Clauses:  NULL. */
RC_OPERATION(rc_strong, rc_null, void);

/* rc_is_null
 * Does:     tells whether a handle is null.
 * Callers:  any thread.
 * Ordering: none.
 * Cost:     a comparison.
 * Clauses:  NULL. */
RC_OPERATION(bool, rc_is_null, rc_strong);

/* rc_new
 * Does:     makes an object with one strong and no weak reference; the payload is not initialised.
 *           Null if memory is refused or the size would wrap: nothing leaks, nothing changes. The
 *           caller owns the handle.
 * Callers:  any attached thread.
 * Ordering: none: the object is private until its handle is published by other means.
 * Cost:     the allocation and plain stores; nothing locked.
 * Clauses:  LIFE, MEM. */
RC_OPERATION(rc_strong, rc_new, const rc_class *);

/* rc_payload
 * Does:     lends the payload: valid while the handle is held. NULL for a null handle.
 * Callers:  whoever holds the handle.
 * Ordering: none.
 * Cost:     an addition or a load.
 * Clauses:  LIFE, NULL, MEM (alignment). */
RC_OPERATION(void *, rc_payload, rc_strong);

/* rc_retain
 * Does:     makes one more strong handle of the same object. The caller owns it and still owns the
 *           one given. Crosses the wrapper's edge at 1 -> 2.
 * Callers:  whoever holds the handle.
 * Ordering: RELAXED is enough: the handle given keeps the object alive, and whoever passes the new
 *           one on must synchronise anyway.
 * Cost:     1 locked. Frees, allocates and runs nothing.
 * Clauses:  LIFE, LIMIT, MISUSE, WRAP, ORDER. */
RC_OPERATION(rc_strong, rc_retain, rc_strong);

/* rc_release
 * Does:     gives up one strong handle. The last one finalizes the object, and frees it unless weak
 *           handles are left. Crosses the wrapper's edge at 2 -> 1.
 * Callers:  the handle's owner, who has no handle afterwards.
 * Ordering: RELEASE for every caller, ACQUIRE for the one that finalizes: all uses by all owners
 *           happen before finalize. After its own decrement a thread that was not the last touches
 *           neither object nor header.
 * Cost:     1 locked; 0 for a unique object, which many strategies see by a load.
 * Clauses:  LIFE, ORDER, RACE, HOOK, MISUSE, WRAP. */
RC_OPERATION(void, rc_release, rc_strong);

/* rc_is_unique
 * Does:     true if there is exactly one strong and no weak handle (a wrapper's bit ignored). Null:
 *           false. Without RC_CAP_EXACT_COUNT it may say false too often, never true.
 * Callers:  whoever holds the handle.
 * Ordering: true is an ACQUIRE of every earlier release: writing the payload is then safe.
 * Cost:     a load; strategies with two counters may need 1 locked.
 * Clauses:  LIFE, WEAK, ORDER, RACE. */
RC_OPERATION(bool, rc_is_unique, rc_strong);

/* rc_use_count
 * Does:     a snapshot of the number of strong handles; 0 for null.
 * Callers:  whoever holds the handle.
 * Ordering: none. Reading 1 permits nothing: use rc_is_unique.
 * Cost:     a load.
 * Clauses:  LIFE, LIMIT. */
RC_OPERATION(uint64_t, rc_use_count, rc_strong);

/* Weak handles ----------------------------------------------------------------------------------- */
#if (RC_IMPL_CAPS) & RC_CAP_WEAK

/* rc_weak_null
 * Does:     gives the null weak handle: always expired, locks to null.
 * Callers:  any thread.
 * Ordering: none.
 * Cost:     none.
 * Clauses:  NULL. */
RC_OPERATION(rc_weak, rc_weak_null, void);

/* rc_weak_is_null
 * Does:     tells whether a weak handle is null (not whether it has expired).
 * Callers:  any thread.
 * Ordering: none.
 * Cost:     a comparison.
 * Clauses:  NULL. */
RC_OPERATION(bool, rc_weak_is_null, rc_weak);

/* rc_weak_new
 * Does:     makes a weak handle from a strong one, which stays the caller's. Null for null, and if
 *           an allocation that it needs is refused (then nothing has changed).
 * Callers:  whoever holds the strong handle; in finalize only on other, live objects.
 * Ordering: RELAXED: the strong handle keeps everything alive.
 * Cost:     1 locked.
 * Clauses:  WEAK, LIMIT, MISUSE. */
RC_OPERATION(rc_weak, rc_weak_new, rc_strong);

/* rc_weak_retain
 * Does:     one more weak handle from a weak one; legal on dying and dead objects.
 * Callers:  whoever holds the weak handle.
 * Ordering: RELAXED.
 * Cost:     1 locked.
 * Clauses:  WEAK, LIMIT. */
RC_OPERATION(rc_weak, rc_weak_retain, rc_weak);

/* rc_weak_release
 * Does:     gives up a weak handle; the last one of a dead object frees what is left of it.
 * Callers:  the handle's owner.
 * Ordering: RELEASE, and ACQUIRE for the one that frees.
 * Cost:     1 locked; 0 where a load shows that nobody else is left.
 * Clauses:  WEAK, MEM, ORDER, RACE, MISUSE. */
RC_OPERATION(void, rc_weak_release, rc_weak);

/* rc_weak_lock
 * Does:     a strong handle if the object is alive, else null. Fails for good once the strong count
 *           has been zero, hence also throughout finalize. The weak handle stays the caller's. At
 *           strong 1 with a wrapper attached, wrapper_try_retain is asked first; refused: null, and
 *           no trace.
 * Callers:  whoever holds the weak handle.
 * Ordering: ACQUIRE on success, so that what was published before the object was shared is visible
 *           through the new handle; none on failure.
 * Cost:     1 locked when uncontended, 0 when expired.
 * Clauses:  WEAK, RACE, LIMIT, WRAP. */
RC_OPERATION(rc_strong, rc_weak_lock, rc_weak);

/* rc_weak_expired
 * Does:     true if the strong count has been zero. False may be stale when it arrives.
 * Callers:  whoever holds the weak handle.
 * Ordering: none.
 * Cost:     a load.
 * Clauses:  WEAK. */
RC_OPERATION(bool, rc_weak_expired, rc_weak);

/* rc_weak_count
 * Does:     a snapshot of the number of weak handles; the strategy's implicit one is not counted.
 * Callers:  whoever holds the strong handle.
 * Ordering: none.
 * Cost:     a load.
 * Clauses:  WEAK, LIMIT. */
RC_OPERATION(uint64_t, rc_weak_count, rc_strong);
#endif

/* A unit as a bare pointer ----------------------------------------------------------------------- */
#if (RC_IMPL_CAPS) & RC_CAP_RAW

/* rc_into_raw
 * Does:     turns a handle into its payload pointer, which carries the unit. No count changes. NULL
 *           for null.
 * Callers:  the handle's owner.
 * Ordering: none.
 * Cost:     none.
 * Clauses:  RAW. */
RC_OPERATION(void *, rc_into_raw, rc_strong);

/* rc_from_raw
 * Does:     takes a unit back from rc_into_raw. No count changes. Checked builds trap on a payload
 *           that rc_new did not make (RC_TRAP_FOREIGN).
 * Callers:  whoever owns that unit.
 * Ordering: none.
 * Cost:     none.
 * Clauses:  RAW, MISUSE. */
RC_OPERATION(rc_strong, rc_from_raw, void *);

/* rc_retain_raw
 * Does:     makes a new strong handle from a loan. NULL gives null. Traps as rc_retain and
 *           rc_from_raw do.
 * Callers:  whoever holds the loan.
 * Ordering: as rc_retain.
 * Cost:     as rc_retain.
 * Clauses:  RAW, LIMIT, MISUSE, WRAP. */
RC_OPERATION(rc_strong, rc_retain_raw, void *);
#endif

/* A wrapper: an object of another runtime that owns one of the strong references -------------------- */
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER

/* rc_wrapper_attach
 * Does:     from now on this handle is the wrapper's; the count does not move. With strong above 1,
 *           wrapper_retain is called once, before the bit can be seen. A second one traps (WRAPPER).
 * Callers:  the handle's owner; not together with another attach or detach of that object.
 * Ordering: RELEASE: who sees the bit, or is a hook called for it, sees what came before. ACQUIRE:
 *           wrapper_release, if it is called because the others have left meanwhile, sees their uses.
 * Cost:     1 locked.
 * Clauses:  WRAP, ORDER. */
RC_OPERATION(void, rc_wrapper_attach, rc_strong);

/* rc_wrapper_detach
 * Does:     the handle is the caller's again; the count does not move. With strong above 1,
 *           wrapper_release is called once, afterwards. Without a wrapper it traps (WRAPPER).
 * Callers:  as attach.
 * Ordering: RELEASE: who sees that the bit has gone sees what came before.
 * Cost:     1 locked.
 * Clauses:  WRAP, ORDER. */
RC_OPERATION(void, rc_wrapper_detach, rc_strong);

/* rc_has_wrapper
 * Does:     tells whether a wrapper is attached; false for null.
 * Callers:  whoever holds the handle.
 * Ordering: ACQUIRE: pairs with attach and detach.
 * Cost:     a load.
 * Clauses:  WRAP, ORDER. */
RC_OPERATION(bool, rc_has_wrapper, rc_strong);
#endif

/* Threads ---------------------------------------------------------------------------------------- */

/* rc_thread_attach
 * Does:     makes the calling thread known. No-op for most.
 * Callers:  every thread before its first use of any object, main included; again after a detach.
 * Ordering: none.
 * Cost:     none, or what the strategy says.
 * Clauses:  THREAD. */
RC_OPERATION(void, rc_thread_attach, void);

/* rc_thread_detach
 * Does:     ends the calling thread's use; finishes or hands over what it put off. May finalize.
 * Callers:  every attached thread, after its last use.
 * Ordering: as a release of everything put off.
 * Cost:     none, or what was put off.
 * Clauses:  THREAD. */
RC_OPERATION(void, rc_thread_detach, void);

/* rc_share
 * Does:     announces that another thread is about to be able to reach the object. Idempotent; not
 *           transitive: the caller shares each object that the other thread can reach.
 * Callers:  whoever holds the handle, before publishing it.
 * Ordering: none; publishing it is the caller's.
 * Cost:     none, or what the strategy says.
 * Clauses:  THREAD. */
RC_OPERATION(void, rc_share, rc_strong);

/* rc_quiesce
 * Does:     finishes what this thread has put off. Once every thread has quiesced, every object
 *           without strong handles has been finalized. No-op with RC_CAP_IMMEDIATE.
 * Callers:  any attached thread, holding whatever handles it likes; not from a hook.
 * Ordering: as the releases that it finishes.
 * Cost:     none, or what was put off.
 * Clauses:  THREAD. */
RC_OPERATION(void, rc_quiesce, void);

#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET
/* rc_test_preset
 * Does:     sets the number of strong and of weak handles, so that a test can stand at a limit. The
 *           implicit weak is not counted in `weak`. Test builds only.
 * Callers:  a test, alone with the object.
 * Ordering: none.
 * Cost:     irrelevant.
 * Clauses:  LIMIT. */
RC_OPERATION(void, rc_test_preset, rc_strong, uint64_t, uint64_t);
#endif

#undef RC_OPERATION

/* ---- Slots: a variable that owns a handle ------------------------------------------------------ */

/* rc_assign
 * Does:     puts `value`, whose unit the slot takes over, into the slot, then releases the old one.
 *           In this order, so that a finalizer that reads the slot finds the new value, and so that
 *           a slot inside its own target works: nothing of the slot is touched after the release.
 *           To assign a slot to itself, pass rc_retain of it.
 * Callers:  the slot's owner; one thread at a time.
 * Ordering: as rc_release of the old value.
 * Cost:     as rc_release.
 * Clauses:  LIFE, NULL. */
static inline void rc_assign(rc_strong *slot, rc_strong value)
{
    rc_strong old = *slot;
    *slot = value;
    rc_release(old);
}

/* rc_reset
 * Does:     makes the slot null, then releases what it held. Otherwise as rc_assign.
 * Callers:  the slot's owner.
 * Ordering: as rc_release.
 * Cost:     as rc_release.
 * Clauses:  LIFE, NULL. */
static inline void rc_reset(rc_strong *slot)
{
    rc_assign(slot, rc_null());
}

/* rc_swap
 * Does:     exchanges what two slots hold; a slot with itself is legal. No count changes.
 * Callers:  the owner of both.
 * Ordering: none.
 * Cost:     plain loads and stores.
 * Clauses:  LIFE. */
static inline void rc_swap(rc_strong *a, rc_strong *b)
{
    rc_strong held = *a;
    *a = *b;
    *b = held;
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* rc_weak_assign, rc_weak_reset, rc_weak_swap
 * Does:     the same for slots that own weak handles.
 * Callers:  the slot's owner; one thread at a time.
 * Ordering: as rc_weak_release of the old value.
 * Cost:     as rc_weak_release.
 * Clauses:  WEAK, NULL. */
static inline void rc_weak_assign(rc_weak *slot, rc_weak value)
{
    rc_weak old = *slot;
    *slot = value;
    rc_weak_release(old);
}

static inline void rc_weak_reset(rc_weak *slot)
{
    rc_weak_assign(slot, rc_weak_null());
}

static inline void rc_weak_swap(rc_weak *a, rc_weak *b)
{
    rc_weak held = *a;
    *a = *b;
    *b = held;
}
#endif

#endif /* RC_IMPL_HEADER */
#endif /* RC_CONTRACT_H */
