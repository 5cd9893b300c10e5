/* side_table: the counts lie outside the objects, in a hash table that spin locks share out.
 *
 * IDEA
 *   An object is its payload and nothing else: no header, so any block of memory can be counted. A
 *   table of the process finds the counts by the object's address. It is cut into stripes, each
 *   with a lock; objects of different stripes do not wait for each other. Every operation, a look
 *   at the count included, pays for a locked instruction, the search and a second cache line; the
 *   last release pays twice.
 *
 * LAYOUT (no header; a second allocation of 32 bytes for the entry)
 *
 *     stripe (one of 64)               entry                              object
 *     +------+------------------+      +------+---------+-----------+     +-------------
 *     | lock | 4096 chain heads +----> | next | payload | class ... +---> | payload ...
 *     +------+------------------+      +------+---------+-----------+     +-------------
 *                                                                         ^
 *     handle, strong and weak alike --------------------------------------'
 *       entry: next (64) | payload (64) | class (64) | strong (32) | weak (31) | finalizing (1)
 *
 * INVARIANT
 *   An object has exactly one entry, in the chain that its address selects, from rc_new until
 *   nobody needs it: while strong > 0, or finalize is running, or weak > 0. Entry and payload are
 *   freed together, so the address cannot come back while the entry is there. Chains and entries
 *   are read and written only under the stripe's lock.
 *
 * ORDERING
 *   1. K1 (lock) is ACQUIRE, K2 (unlock) is RELEASE: all operations on one object are sections of
 *      one lock, one after the other, and each sees what happened before those that went before it.
 *      So the thread that drops the last unit sees all uses by all owners, and so does one that
 *      finds itself unique or locks a weak handle.
 *   2. Hooks and frees come after K2. `finalizing` keeps the entry meanwhile; what is freed has
 *      left its chain, so nobody can find it.
 *   3. After its K2 a thread that was not the last touches only the stripe, which is never freed.
 *
 * LIMITS
 *   The table has 262,144 chains (2 MiB, touched where used) and does not grow: with more live
 *   objects than that the search becomes longer. It is not in the objects: no RC_CAP_SHM. A thread
 *   that loses its processor inside a section makes the others of its stripe wait; they yield.
 *
 * SOURCE
 *   The side tables of the Objective-C runtime (objc4, NSObject.mm): a striped map for counts that
 *   do not fit into the object, and for its weak references.
 */
#include <pthread.h> /* brings sched_yield */
#include <stdatomic.h>

#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_IMMEDIATE | RC_CAP_EXACT_COUNT |           \
     RC_CAP_PRESET)
#define RC_IMPL_OVERFLOW RC_OVERFLOW_TRAP
#define RC_IMPL_STRONG_MAX UINT64_C(0xffffffff)
#define RC_IMPL_WEAK_MAX UINT64_C(0x7fffffff)

#define SIDE_TABLE_STRIPE_BITS 6
#define SIDE_TABLE_CHAIN_BITS 12
#define SIDE_TABLE_SPINS 64 /* looks at a taken lock before the processor is offered to others */

typedef struct side_table_entry {
    struct side_table_entry *next; /* in its chain; or NULL */
    void *payload;
    const rc_class *class;
    uint32_t strong;
    uint32_t weak : 31;      /* handles; there is no implicit one */
    uint32_t finalizing : 1; /* strong is 0, and the hook has not returned */
} side_table_entry;

typedef struct side_table_stripe {
    _Alignas(64) _Atomic(bool) locked; /* a cache line that no other stripe's lock is on */
    side_table_entry *chains[1 << SIDE_TABLE_CHAIN_BITS];
} side_table_stripe;

/* Zero is the empty table. */
static side_table_stripe side_table[1 << SIDE_TABLE_STRIPE_BITS];

typedef struct {
    void *payload; /* or NULL */
} rc_strong;

typedef struct {
    void *payload; /* of an object that may be dead; or NULL */
} rc_weak;

/* ---- The table ---- */

/* Where an address belongs. */
typedef struct side_table_place {
    side_table_stripe *stripe;
    side_table_entry **chain;
} side_table_place;

static inline side_table_place side_table_place_of(const void *payload)
{
    /* 2^64 over the golden ratio: neighbours, which differ in bit 4 and above, spread over the
     * upper bits. */
    uint64_t hash = (uint64_t)(uintptr_t)payload * UINT64_C(0x9e3779b97f4a7c15);
    side_table_stripe *stripe = &side_table[hash >> (64 - SIDE_TABLE_STRIPE_BITS)];
    uint64_t chain = hash << SIDE_TABLE_STRIPE_BITS >> (64 - SIDE_TABLE_CHAIN_BITS);
    return (side_table_place){stripe, &stripe->chains[chain]};
}

static __attribute__((noinline)) void side_table_wait(side_table_stripe *stripe)
{
    unsigned looks = 0;
    /* K0 RELAXED: only a look, without taking the line from the owner; K1 decides. */
    while (atomic_load_explicit(&stripe->locked, memory_order_relaxed)) {
        if (++looks >= SIDE_TABLE_SPINS) {
            sched_yield();
        }
    }
}

static inline void side_table_lock(side_table_stripe *stripe)
{
    /* K1 ACQUIRE: we see what the sections before ours did, and what came before them. Pairs with
     * K2. */
    while (atomic_exchange_explicit(&stripe->locked, true, memory_order_acquire)) {
        side_table_wait(stripe);
    }
}

static inline void side_table_unlock(side_table_stripe *stripe)
{
    /* K2 RELEASE: our section, and all our uses of the object, come before the next section. Pairs
     * with K1. */
    atomic_store_explicit(&stripe->locked, false, memory_order_release);
}

/* The link that leads to the payload's entry, or to NULL at the chain's end. Under the lock. */
static inline side_table_entry **side_table_find_link(side_table_place place, const void *payload)
{
    side_table_entry **link = place.chain;
    while (*link != NULL && (*link)->payload != payload) {
        link = &(*link)->next;
    }
    return link;
}

/* An entry and the lock that it is read and changed under. */
typedef struct side_table_section {
    side_table_stripe *stripe;
    side_table_entry **link;
    side_table_entry *entry;
} side_table_section;

/* Enters the section of an object. Checked builds trap with `absent` if it has no entry; in others
 * the caller's handle says that it has one. */
static inline side_table_section side_table_enter(void *payload, rc_trap_kind absent)
{
    side_table_place place = side_table_place_of(payload);
    side_table_lock(place.stripe);
    side_table_entry **link = side_table_find_link(place, payload);
    if (RC_CHECKED && *link == NULL) {
        rc_trap(absent, payload);
    }
    return (side_table_section){place.stripe, link, *link};
}

static inline void side_table_leave(side_table_section section)
{
    side_table_unlock(section.stripe);
}

/* Leaves the section; takes the object out of the table and frees it if nobody needs it. */
static inline void side_table_leave_or_free(side_table_section section)
{
    side_table_entry *entry = section.entry;
    bool needed = entry->strong > 0 || entry->finalizing || entry->weak > 0;
    if (!needed) {
        *section.link = entry->next;
    }
    side_table_leave(section);
    if (!needed) {
        rc_mem_free(entry->payload, entry->class->payload_size);
        rc_mem_free(entry, sizeof *entry);
    }
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
    void *payload = rc_mem_alloc(class->payload_size);
    if (payload == NULL) {
        return rc_null();
    }
    side_table_entry *entry = rc_mem_alloc(sizeof *entry);
    if (entry == NULL) {
        rc_mem_free(payload, class->payload_size);
        return rc_null();
    }
    side_table_place place = side_table_place_of(payload);
    *entry = (side_table_entry){.payload = payload, .class = class, .strong = 1};
    side_table_lock(place.stripe);
    entry->next = *place.chain;
    *place.chain = entry;
    side_table_unlock(place.stripe);
    return (rc_strong){payload};
}

static inline void *rc_payload(rc_strong handle)
{
    return handle.payload;
}

/* One more strong unit for an object that must be alive. Within a section. */
static inline void side_table_add_strong(side_table_entry *entry)
{
    if (RC_CHECKED && entry->strong == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, entry->payload);
    }
    if (entry->strong == RC_IMPL_STRONG_MAX) {
        rc_trap(RC_TRAP_STRONG_OVERFLOW, entry->payload);
    }
    entry->strong++;
}

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.payload == NULL) {
        return handle;
    }
    side_table_section section = side_table_enter(handle.payload, RC_TRAP_RETAIN_DEAD);
    side_table_add_strong(section.entry);
    side_table_leave(section);
    return handle;
}

/* Strong is zero and `finalizing` set: the entry stays until we come back for it. */
static inline void side_table_die(void *payload, const rc_class *class)
{
    if (class->finalize != NULL) {
        class->finalize(payload);
    }
    side_table_section section = side_table_enter(payload, RC_TRAP_RELEASE_DEAD);
    section.entry->finalizing = 0;
    side_table_leave_or_free(section);
}

static inline void rc_release(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    side_table_section section = side_table_enter(handle.payload, RC_TRAP_RELEASE_DEAD);
    side_table_entry *entry = section.entry;
    if (RC_CHECKED && entry->strong == 0) {
        rc_trap(RC_TRAP_RELEASE_DEAD, handle.payload);
    }
    entry->strong--;
    bool last = entry->strong == 0;
    /* Within the section: afterwards the entry is not ours to read. */
    const rc_class *class = entry->class;
    if (last) {
        entry->finalizing = 1;
    }
    side_table_leave(section);
    if (last) {
        side_table_die(handle.payload, class);
    }
}

static inline bool rc_is_unique(rc_strong handle)
{
    if (handle.payload == NULL) {
        return false;
    }
    side_table_section section = side_table_enter(handle.payload, RC_TRAP_RETAIN_DEAD);
    bool unique = section.entry->strong == 1 && section.entry->weak == 0;
    side_table_leave(section);
    return unique;
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    if (handle.payload == NULL) {
        return 0;
    }
    side_table_section section = side_table_enter(handle.payload, RC_TRAP_RETAIN_DEAD);
    uint64_t strong = section.entry->strong;
    side_table_leave(section);
    return strong;
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

/* One more weak unit. Within a section. */
static inline void side_table_add_weak(side_table_entry *entry)
{
    if (entry->weak == RC_IMPL_WEAK_MAX) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, entry->payload);
    }
    entry->weak++;
}

static inline rc_weak rc_weak_new(rc_strong handle)
{
    if (handle.payload == NULL) {
        return rc_weak_null();
    }
    side_table_section section = side_table_enter(handle.payload, RC_TRAP_RETAIN_DEAD);
    if (RC_CHECKED && section.entry->strong == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, handle.payload);
    }
    side_table_add_weak(section.entry);
    side_table_leave(section);
    return (rc_weak){handle.payload};
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    if (weak.payload == NULL) {
        return weak;
    }
    side_table_section section = side_table_enter(weak.payload, RC_TRAP_RETAIN_DEAD);
    side_table_add_weak(section.entry);
    side_table_leave(section);
    return weak;
}

static inline void rc_weak_release(rc_weak weak)
{
    if (weak.payload == NULL) {
        return;
    }
    side_table_section section = side_table_enter(weak.payload, RC_TRAP_WEAK_RELEASE_DEAD);
    if (RC_CHECKED && section.entry->weak == 0) {
        rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, weak.payload);
    }
    section.entry->weak--;
    side_table_leave_or_free(section);
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload == NULL) {
        return rc_null();
    }
    side_table_section section = side_table_enter(weak.payload, RC_TRAP_RETAIN_DEAD);
    bool alive = section.entry->strong > 0;
    if (alive) {
        side_table_add_strong(section.entry);
    }
    side_table_leave(section);
    return (rc_strong){alive ? weak.payload : NULL};
}

static inline bool rc_weak_expired(rc_weak weak)
{
    return rc_use_count((rc_strong){weak.payload}) == 0;
}

static inline uint64_t rc_weak_count(rc_strong handle)
{
    if (handle.payload == NULL) {
        return 0;
    }
    side_table_section section = side_table_enter(handle.payload, RC_TRAP_RETAIN_DEAD);
    uint64_t weak = section.entry->weak;
    side_table_leave(section);
    return weak;
}

/* ---- A unit as a bare pointer ---- */

static inline void *rc_into_raw(rc_strong handle)
{
    return handle.payload;
}

static inline rc_strong rc_from_raw(void *payload)
{
    if (RC_CHECKED && payload != NULL) {
        side_table_section section = side_table_enter(payload, RC_TRAP_FOREIGN);
        if (section.entry->strong == 0) {
            rc_trap(RC_TRAP_RETAIN_DEAD, payload);
        }
        side_table_leave(section);
    }
    return (rc_strong){payload};
}

static inline rc_strong rc_retain_raw(void *payload)
{
    if (payload == NULL) {
        return rc_null();
    }
    side_table_section section = side_table_enter(payload, RC_TRAP_FOREIGN);
    side_table_add_strong(section.entry);
    side_table_leave(section);
    return (rc_strong){payload};
}

/* ---- Threads: the table is everybody's ---- */

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
    side_table_section section = side_table_enter(handle.payload, RC_TRAP_RETAIN_DEAD);
    section.entry->strong = (uint32_t)strong;
    section.entry->weak = (uint32_t)weak & UINT32_C(0x7fffffff);
    side_table_leave(section);
}
#endif

#undef SIDE_TABLE_STRIPE_BITS
#undef SIDE_TABLE_CHAIN_BITS
#undef SIDE_TABLE_SPINS
