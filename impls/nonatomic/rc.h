/* nonatomic: plain counters, for objects that never leave their thread.
 *
 * IDEA
 *   No atomics at all. The floor of what any strategy with a count in the object can cost, and what
 *   a single-threaded runtime should use. A good one to copy when you write your own.
 *
 * LAYOUT (header 16 bytes, one allocation; checked builds put 16 more in front: the owner, and
 * whether finalize is running)
 *
 *     handle ----------------------------------------------.
 *                                                          v
 *     +-------------+---------------------------+----------+-------------
 *     | strong (32) | weak (31) | wrapper (1)   | class 64 | payload ...
 *     +-------------+---------------------------+----------+-------------
 *
 * INVARIANT
 *   The block exists while weak > 0. weak = weak handles + (strong > 0 or finalize is running).
 *
 * ORDERING
 *   One thread: program order is all there is. Checked builds trap on any other thread.
 *
 * SOURCE
 *   Rust's Rc; the counts of any single-threaded interpreter.
 */
/* Plain counters are an open book to gcc, the values of others' handles are not: it sees a free
 * that it cannot rule out, then a use, and accuses correct callers. Off for the lines of this file
 * only. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuse-after-free"
#endif

#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER | RC_CAP_IMMEDIATE | RC_CAP_EXACT_COUNT |           \
     RC_CAP_PRESET)
#define RC_IMPL_OVERFLOW RC_OVERFLOW_UNCHECKED
#define RC_IMPL_STRONG_MAX UINT64_C(0xffffffff)
#define RC_IMPL_WEAK_MAX UINT64_C(0x7ffffffe) /* the field's last value is the implicit weak's */

typedef struct nonatomic_header {
#if RC_CHECKED
    _Alignas(max_align_t) const
        void *owner; /* address of a thread-local of the thread that made it */
    bool finalizing; /* finalize is running: the implicit weak is held */
#endif
    _Alignas(max_align_t) uint32_t strong;
    uint32_t weak : 31;
    uint32_t wrapper : 1;
    const rc_class *class;
} nonatomic_header;

typedef struct {
    nonatomic_header *header; /* or NULL */
} rc_strong;

typedef struct {
    nonatomic_header *header; /* of an object that may be dead; or NULL */
} rc_weak;

#if RC_CHECKED
static inline const void *nonatomic_this_thread(void)
{
    static _Thread_local char mark;
    return &mark;
}

static inline void nonatomic_check_thread(nonatomic_header *header)
{
    if (header->owner != nonatomic_this_thread()) {
        rc_trap(RC_TRAP_THREAD, header + 1);
    }
}

static inline void nonatomic_set_finalizing(nonatomic_header *header, bool finalizing)
{
    header->finalizing = finalizing;
}

/* 1 if the implicit weak is among the weak units. */
static inline uint32_t nonatomic_implicit(const nonatomic_header *header)
{
    return header->strong > 0 || header->finalizing ? 1 : 0;
}
#else
static inline void nonatomic_check_thread(nonatomic_header *header)
{
    (void)header;
}

static inline void nonatomic_set_finalizing(nonatomic_header *header, bool finalizing)
{
    (void)header;
    (void)finalizing;
}

/* As above, but 0 while finalize runs: who asks then misuses the object. */
static inline uint32_t nonatomic_implicit(const nonatomic_header *header)
{
    return header->strong > 0 ? 1 : 0;
}
#endif

/* ---- Handles and objects ---- */

static inline rc_strong rc_null(void)
{
    return (rc_strong){NULL};
}

static inline bool rc_is_null(rc_strong handle)
{
    return handle.header == NULL;
}

static inline rc_strong rc_new(const rc_class *class)
{
    if (class->payload_size > SIZE_MAX - sizeof(nonatomic_header)) {
        return rc_null();
    }
    nonatomic_header *header = rc_mem_alloc(sizeof *header + class->payload_size);
    if (header == NULL) {
        return rc_null();
    }
#if RC_CHECKED
    header->owner = nonatomic_this_thread();
#endif
    nonatomic_set_finalizing(header, false);
    header->strong = 1;
    header->weak = 1;
    header->wrapper = 0;
    header->class = class;
    return (rc_strong){header};
}

static inline void *rc_payload(rc_strong handle)
{
    return handle.header == NULL ? NULL : handle.header + 1;
}

/* The count of an object with a wrapper went up, or down but not to 0: was that its edge?
 * Out of line on purpose. In line, gcc tests the wrapper bit and the count with one load of 8
 * bytes, right after the store of 4; such a load waits for the store to reach the cache: 7.6 ns for
 * a retain and its release instead of 0.5, with or without a wrapper. */
static __attribute__((noinline)) void nonatomic_wrapped_retained(nonatomic_header *header)
{
    if (header->strong == 2 && header->class->wrapper_retain != NULL) {
        header->class->wrapper_retain(header + 1);
    }
}

static __attribute__((noinline)) void nonatomic_wrapped_released(nonatomic_header *header)
{
    if (header->strong == 1 && header->class->wrapper_release != NULL) {
        header->class->wrapper_release(header + 1); /* may take the object along */
    }
}

static inline rc_strong rc_retain(rc_strong handle)
{
    nonatomic_header *header = handle.header;
    if (header == NULL) {
        return handle;
    }
    nonatomic_check_thread(header);
    if (RC_CHECKED && header->strong == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, header + 1);
    }
    if (RC_CHECKED && header->strong == RC_IMPL_STRONG_MAX) {
        rc_trap(RC_TRAP_STRONG_OVERFLOW, header + 1);
    }
    header->strong++;
    if (__builtin_expect(header->wrapper, 0)) {
        nonatomic_wrapped_retained(header);
    }
    return handle;
}

/* Gives up one weak unit, a handle's or the implicit one; the last one frees. */
static inline void nonatomic_drop_weak(nonatomic_header *header)
{
    header->weak--;
    if (header->weak == 0) {
        rc_mem_free(header, sizeof *header + header->class->payload_size);
    }
}

static inline void rc_release(rc_strong handle)
{
    nonatomic_header *header = handle.header;
    if (header == NULL) {
        return;
    }
    nonatomic_check_thread(header);
    if (RC_CHECKED && header->strong == 0) {
        rc_trap(RC_TRAP_RELEASE_DEAD, header + 1);
    }
    header->strong--;
    if (header->strong == 0) {
        nonatomic_set_finalizing(header, true);
        if (header->class->finalize != NULL) {
            header->class->finalize(header + 1);
        }
        nonatomic_set_finalizing(header, false);
        nonatomic_drop_weak(header); /* the implicit one, held while finalize ran */
    } else if (__builtin_expect(header->wrapper, 0)) {
        nonatomic_wrapped_released(header);
    }
}

static inline bool rc_is_unique(rc_strong handle)
{
    if (handle.header == NULL) {
        return false;
    }
    nonatomic_check_thread(handle.header);
    return handle.header->strong == 1 && handle.header->weak == 1;
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    if (handle.header == NULL) {
        return 0;
    }
    nonatomic_check_thread(handle.header);
    return handle.header->strong;
}

/* ---- Weak handles ---- */

static inline rc_weak rc_weak_null(void)
{
    return (rc_weak){NULL};
}

static inline bool rc_weak_is_null(rc_weak weak)
{
    return weak.header == NULL;
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    nonatomic_header *header = weak.header;
    if (header == NULL) {
        return weak;
    }
    nonatomic_check_thread(header);
    if (RC_CHECKED && header->weak == RC_IMPL_WEAK_MAX + nonatomic_implicit(header)) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, header + 1);
    }
    header->weak++;
    return weak;
}

static inline rc_weak rc_weak_new(rc_strong handle)
{
    if (handle.header == NULL) {
        return rc_weak_null();
    }
    nonatomic_check_thread(handle.header);
    if (RC_CHECKED && handle.header->strong == 0) {
        rc_trap(RC_TRAP_RETAIN_DEAD, handle.header + 1);
    }
    return rc_weak_retain((rc_weak){handle.header});
}

static inline void rc_weak_release(rc_weak weak)
{
    nonatomic_header *header = weak.header;
    if (header == NULL) {
        return;
    }
    nonatomic_check_thread(header);
    if (RC_CHECKED && header->weak <= nonatomic_implicit(header)) {
        rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, header + 1);
    }
    nonatomic_drop_weak(header);
}

/* Asks the wrapper, which owns the only strong reference, whether it can be used. */
static inline bool nonatomic_wrapper_grants(nonatomic_header *header)
{
    const rc_class *class = header->class;
    if (class->wrapper_try_retain != NULL) {
        return class->wrapper_try_retain(header + 1);
    }
    if (class->wrapper_retain != NULL) {
        class->wrapper_retain(header + 1);
    }
    return true;
}

/* Locks a live object that has a wrapper. Out of line as the edges above. */
static __attribute__((noinline)) rc_strong nonatomic_wrapped_lock(nonatomic_header *header)
{
    if (header->strong > 1) {
        header->strong++;
        return (rc_strong){header};
    }
    if (!nonatomic_wrapper_grants(header)) {
        return rc_null();
    }
    /* The hook may have moved the count, to zero even: then it granted for no edge. */
    bool alive = header->strong > 0;
    bool edge = header->wrapper && header->strong == 1;
    header->strong += alive ? 1 : 0;
    if (!edge && header->class->wrapper_release != NULL) {
        header->class->wrapper_release(header + 1);
    }
    return (rc_strong){alive ? header : NULL};
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    nonatomic_header *header = weak.header;
    if (header == NULL) {
        return rc_null();
    }
    nonatomic_check_thread(header);
    if (header->strong == 0) {
        return rc_null();
    }
    if (RC_CHECKED && header->strong == RC_IMPL_STRONG_MAX) {
        rc_trap(RC_TRAP_STRONG_OVERFLOW, header + 1);
    }
    if (__builtin_expect(header->wrapper, 0)) {
        return nonatomic_wrapped_lock(header);
    }
    header->strong++;
    return (rc_strong){header};
}

static inline bool rc_weak_expired(rc_weak weak)
{
    if (weak.header == NULL) {
        return true;
    }
    nonatomic_check_thread(weak.header);
    return weak.header->strong == 0;
}

static inline uint64_t rc_weak_count(rc_strong handle)
{
    if (handle.header == NULL) {
        return 0;
    }
    nonatomic_check_thread(handle.header);
    return handle.header->weak - nonatomic_implicit(handle.header);
}

/* ---- A unit as a bare pointer ---- */

static inline void *rc_into_raw(rc_strong handle)
{
    if (handle.header != NULL) {
        nonatomic_check_thread(handle.header);
    }
    return rc_payload(handle);
}

static inline rc_strong rc_from_raw(void *payload)
{
    if (payload == NULL) {
        return rc_null();
    }
    nonatomic_header *header = (nonatomic_header *)payload - 1;
    if (RC_CHECKED && header->strong == 0) {
        rc_trap(header->weak == 0 ? RC_TRAP_FOREIGN : RC_TRAP_RETAIN_DEAD, payload);
    }
    nonatomic_check_thread(header);
    return (rc_strong){header};
}

static inline rc_strong rc_retain_raw(void *payload)
{
    return rc_retain(rc_from_raw(payload));
}

/* ---- A wrapper ---- */

static inline void rc_wrapper_attach(rc_strong handle)
{
    nonatomic_header *header = handle.header;
    if (header == NULL) {
        return;
    }
    nonatomic_check_thread(header);
    if (RC_CHECKED && header->wrapper) {
        rc_trap(RC_TRAP_WRAPPER, header + 1);
    }
    bool retained = header->strong > 1;
    if (retained && header->class->wrapper_retain != NULL) {
        header->class->wrapper_retain(header + 1);
    }
    header->wrapper = 1;
    /* The hook let the other references go before the bit was set: no edge will give this back. */
    if (retained && header->strong == 1 && header->class->wrapper_release != NULL) {
        header->class->wrapper_release(header + 1);
    }
}

static inline void rc_wrapper_detach(rc_strong handle)
{
    nonatomic_header *header = handle.header;
    if (header == NULL) {
        return;
    }
    nonatomic_check_thread(header);
    if (RC_CHECKED && !header->wrapper) {
        rc_trap(RC_TRAP_WRAPPER, header + 1);
    }
    header->wrapper = 0;
    if (header->strong > 1 && header->class->wrapper_release != NULL) {
        header->class->wrapper_release(header + 1);
    }
}

static inline bool rc_has_wrapper(rc_strong handle)
{
    if (handle.header == NULL) {
        return false;
    }
    nonatomic_check_thread(handle.header);
    return handle.header->wrapper;
}

/* ---- Threads: one ---- */

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
    handle.header->strong = (uint32_t)strong;
    handle.header->weak = (uint32_t)(weak + (strong > 0 ? 1 : 0)) & UINT32_C(0x7fffffff);
}
#endif

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic pop
#endif
