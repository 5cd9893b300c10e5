/* null: counts nothing. It measures the harness itself.
 *
 * IDEA
 *   Retain and release do nothing, and nothing dies at a release. rc_new cuts the object from a
 *   region of its thread; rc_quiesce finalizes what was made since null_mark and takes the space
 *   back in one step. What a workload costs over null is what the harness, the workload's own work
 *   and the finalizers cost.
 *   null claims capabilities that it does not keep, so that every workload runs over it: weak
 *   handles never expire, a wrapper is never seen. It is for measuring only. It cannot pass the
 *   battery and is never ranked.
 *
 * LAYOUT (header 16 bytes; objects lie one behind the other in slabs of their thread)
 *
 *     handle -----------------------------.
 *                                         v
 *     +-----------+------------+----------+-------------+-----------+---
 *     | slab head | class (64) | not used | payload ... | class ... |
 *     +-----------+------------+----------+-------------+-----------+---
 *     each object begins at a multiple of 16, so the class of one leads to the next
 *
 * INVARIANT
 *   From the first slab to the current one, each slab is full of objects from its start to its
 *   `used`; the current one to the region's cursor. Slabs behind the current one are empty and
 *   kept. An object stays where it is, and may be used by any thread, until its maker rewinds past
 *   it.
 *
 * ORDERING
 *   There is none: a region belongs to one thread. Before that thread quiesces or detaches, the
 *   other threads must have stopped using its objects; whoever arranges that orders it too.
 *
 * SOURCE
 *   A bump allocator; the empty loop of every benchmark.
 */
#define RCL_IMPL_IS_NULL 1

#define RC_IMPL_CAPS (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER)
#define RC_IMPL_OVERFLOW RC_OVERFLOW_UNCHECKED
#define RC_IMPL_STRONG_MAX UINT64_MAX /* nothing is counted, so nothing overflows */
#define RC_IMPL_WEAK_MAX UINT64_MAX

#define NULL_SLAB_BYTES ((size_t)1 << 18) /* room for objects in an ordinary slab */

typedef struct null_header {
    _Alignas(max_align_t) const rc_class *class;
} null_header;

typedef struct null_slab {
    _Alignas(max_align_t) struct null_slab *next; /* in order of use; or NULL */
    size_t size_bytes;                            /* room for objects behind this head */
    char *used;                                   /* end of its objects, once another is current */
} null_slab;

/* A place in a region. slab NULL: before the first one. */
typedef struct null_position {
    null_slab *slab;
    char *cursor;
} null_position;

typedef struct null_region {
    null_position at; /* where the next object goes */
    char *end;        /* of the current slab */
    null_slab *first; /* owns the list */
    null_position mark;
} null_region;

static _Thread_local null_region null_this_thread;

typedef struct {
    void *payload; /* or NULL */
} rc_strong;

typedef struct {
    void *payload; /* or NULL */
} rc_weak;

/* ---- The region ---- */

static inline char *null_slab_start(null_slab *slab)
{
    return (char *)(slab + 1);
}

/* What an object takes: its header and its payload, up to the next multiple of the alignment. The
 * caller has checked that the sum does not wrap. */
static inline size_t null_object_bytes(size_t payload_bytes)
{
    const size_t alignment = _Alignof(max_align_t);
    return (sizeof(null_header) + payload_bytes + alignment - 1) / alignment * alignment;
}

/* Makes the slab after the current one the current one. */
static inline void null_enter(null_region *region, null_slab *slab)
{
    if (region->at.slab != NULL) {
        region->at.slab->used = region->at.cursor;
    }
    region->at = (null_position){slab, null_slab_start(slab)};
    region->end = null_slab_start(slab) + slab->size_bytes;
}

/* Gives the region a current slab with room for `size`: the next one if it is large enough, else a
 * new one before it. False if memory is refused; then nothing has changed. */
static inline bool null_grow(null_region *region, size_t size)
{
    null_slab **link = region->at.slab == NULL ? &region->first : &region->at.slab->next;
    if (*link == NULL || (*link)->size_bytes < size) {
        size_t room = size > NULL_SLAB_BYTES ? size : NULL_SLAB_BYTES;
        null_slab *slab = rc_mem_alloc(sizeof *slab + room);
        if (slab == NULL) {
            return false;
        }
        *slab = (null_slab){.next = *link, .size_bytes = room};
        *link = slab;
    }
    null_enter(region, *link);
    return true;
}

/* Goes back to `position`: what lies behind it is gone, the slabs stay. */
static inline void null_rewind(null_region *region, null_position position)
{
    if (position.slab == NULL && region->first != NULL) {
        position = (null_position){region->first, null_slab_start(region->first)};
    }
    region->at = position;
    region->end =
        position.slab == NULL ? NULL : null_slab_start(position.slab) + position.slab->size_bytes;
}

/* Finalizes everything behind `from` in order of birth, objects born in a finalizer too. */
static inline void null_finalize_since(const null_region *region, null_position from)
{
    null_slab *slab = from.slab == NULL ? region->first : from.slab;
    char *object = from.slab == NULL && slab != NULL ? null_slab_start(slab) : from.cursor;
    while (slab != NULL) {
        /* Read again for each object: a finalizer may make more. */
        while (object < (slab == region->at.slab ? region->at.cursor : slab->used)) {
            null_header *header = (null_header *)(void *)object;
            object += null_object_bytes(header->class->payload_size);
            if (header->class->finalize != NULL) {
                header->class->finalize(header + 1);
            }
        }
        if (slab == region->at.slab) {
            return;
        }
        slab = slab->next;
        object = slab == NULL ? NULL : null_slab_start(slab);
    }
}

/* Remembers this thread's position: rc_quiesce goes back to it. Before the first call it is the
 * thread's first object. */
static inline void null_mark(void)
{
    null_this_thread.mark = null_this_thread.at;
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

/* The way for a first object, a full slab and a large payload. */
static inline rc_strong null_new_in_next_slab(const rc_class *class)
{
    if (class->payload_size > SIZE_MAX / 2) {
        return rc_null();
    }
    size_t size = null_object_bytes(class->payload_size);
    null_region *region = &null_this_thread;
    if (size > (size_t)(region->end - region->at.cursor) && !null_grow(region, size)) {
        return rc_null();
    }
    null_header *header = (null_header *)(void *)region->at.cursor;
    region->at.cursor += size;
    header->class = class;
    return (rc_strong){header + 1};
}

static inline rc_strong rc_new(const rc_class *class)
{
    null_region *region = &null_this_thread;
    if (__builtin_expect(class->payload_size > NULL_SLAB_BYTES ||
                             null_object_bytes(class->payload_size) >
                                 (size_t)(region->end - region->at.cursor),
                         0)) {
        return null_new_in_next_slab(class);
    }
    null_header *header = (null_header *)(void *)region->at.cursor;
    region->at.cursor += null_object_bytes(class->payload_size);
    header->class = class;
    return (rc_strong){header + 1};
}

static inline void *rc_payload(rc_strong handle)
{
    return handle.payload;
}

static inline rc_strong rc_retain(rc_strong handle)
{
    return handle;
}

static inline void rc_release(rc_strong handle)
{
    (void)handle;
}

/* False, the answer that permits nothing: null does not know who else has the object. */
static inline bool rc_is_unique(rc_strong handle)
{
    (void)handle;
    return false;
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    return handle.payload == NULL ? 0 : 1;
}

/* ---- Weak handles: never expire ---- */

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
    return (rc_weak){handle.payload};
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    return weak;
}

static inline void rc_weak_release(rc_weak weak)
{
    (void)weak;
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    return (rc_strong){weak.payload};
}

static inline bool rc_weak_expired(rc_weak weak)
{
    return weak.payload == NULL;
}

static inline uint64_t rc_weak_count(rc_strong handle)
{
    (void)handle;
    return 0;
}

/* ---- A unit as a bare pointer ---- */

static inline void *rc_into_raw(rc_strong handle)
{
    return handle.payload;
}

static inline rc_strong rc_from_raw(void *payload)
{
    return (rc_strong){payload};
}

static inline rc_strong rc_retain_raw(void *payload)
{
    return (rc_strong){payload};
}

/* ---- A wrapper: not remembered, its hooks are never called ---- */

static inline void rc_wrapper_attach(rc_strong handle)
{
    (void)handle;
}

static inline void rc_wrapper_detach(rc_strong handle)
{
    (void)handle;
}

static inline bool rc_has_wrapper(rc_strong handle)
{
    (void)handle;
    return false;
}

/* ---- Threads ---- */

static inline void rc_thread_attach(void)
{
}

/* Finalizes every object this thread made since null_mark, in order of birth, and rewinds to the
 * mark. Cost: a visit to each of those objects. */
static inline void rc_quiesce(void)
{
    null_finalize_since(&null_this_thread, null_this_thread.mark);
    null_rewind(&null_this_thread, null_this_thread.mark);
}

/* Finalizes all that is left of this thread's objects, gives back its slabs, forgets its mark. */
static inline void rc_thread_detach(void)
{
    null_region *region = &null_this_thread;
    null_finalize_since(region, (null_position){NULL, NULL});
    null_slab *slab = region->first;
    while (slab != NULL) {
        null_slab *next = slab->next;
        rc_mem_free(slab, sizeof *slab + slab->size_bytes);
        slab = next;
    }
    *region = (null_region){0};
}

static inline void rc_share(rc_strong handle)
{
    (void)handle;
}

#undef NULL_SLAB_BYTES
