/* std_shared_ptr: libstdc++'s std::shared_ptr, through the door that a stranger's compiled code
 * uses.
 *
 * IDEA
 *   What C++ programs count references with, measured beside the others. A handle is a
 *   std::shared_ptr bit for bit; each operation is a call into std_shared_ptr.cc, which runs the
 *   library's own member function on it. Compare it with packed64_called, which pays for the calls
 *   too.
 *
 * LAYOUT (one allocation, as std::make_shared; 32 bytes in front of the payload)
 *
 *     handle (object, block)
 *                |      |
 *        .-------'      v
 *        |     +-------------+----------+-----------+-----------------+------------+-------------
 *        |     | vtable (64) | use (32) | weak (32) | allocator (64)  | class (64) | payload ...
 *        |     +-------------+----------+-----------+-----------------+------------+-------------
 *        |                                                            ^
 *        `------------------------------------------------------------'
 *       use   strong handles
 *       weak  weak handles, plus one while use > 0 (the implicit weak)
 *     Checked builds put 16 bytes between class and payload; they say whether finalize is running.
 *
 * INVARIANT
 *   The library's: the block exists while weak > 0. When it sees use 1 and weak 1 at its last
 *   release it sets both to 0 before the object dies; else weak keeps the implicit unit until then.
 *
 * ORDERING
 *   The library's, but for what it has no function for: the weak count, and whether a handle is the
 *   only one of both kinds. std_shared_ptr.cc reads use and weak as one 8-byte word, ACQUIRE, as
 *   the library's own release does. std_shared_ptr_layout_fault tests that the word is where this
 *   code looks for it; the contract test runs it.
 *
 * LIMITS
 *   The counts are ints, and the library does not check them. Checked builds do; check and change
 *   are one step for retain, weak_new and weak_retain. For the two releases the check comes first,
 *   so a double release that races with itself can slip through; for lock, one that races at the
 *   limit is found after the change. While a process has never started a thread, libstdc++ does not
 *   use atomic operations at all. The harness starts one before it times anything; who measures
 *   elsewhere has to do so too.
 *
 * SOURCE
 *   GCC 12, bits/shared_ptr_base.h.
 */
#define RCL_IMPL_IS_CALLED 1
/* The function that a test calls: NULL, or what is not as assumed. */
#define RCL_IMPL_LAYOUT_FAULT std_shared_ptr_layout_fault

#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_IMMEDIATE | RC_CAP_EXACT_COUNT | RC_CAP_PRESET)
#define RC_IMPL_OVERFLOW RC_OVERFLOW_UNCHECKED
#define RC_IMPL_STRONG_MAX UINT64_C(0x7fffffff)
#define RC_IMPL_WEAK_MAX UINT64_C(0x7ffffffe) /* the last value is the implicit weak's */

#include "calls.h"

typedef struct {
    std_shared_ptr_handle pointer;
} rc_strong;

typedef struct {
    std_shared_ptr_handle pointer;
} rc_weak;

/* ---- Handles and objects ---- */

static inline rc_strong rc_null(void)
{
    return (rc_strong){{NULL, NULL}};
}

static inline bool rc_is_null(rc_strong handle)
{
    return handle.pointer.object == NULL;
}

static inline rc_strong rc_new(const rc_class *class)
{
    return (rc_strong){std_shared_ptr_new(class)};
}

static inline void *rc_payload(rc_strong handle)
{
    char *object = handle.pointer.object;
    return object == NULL ? NULL : object + STD_SHARED_PTR_HEAD_BYTES;
}

static inline rc_strong rc_retain(rc_strong handle)
{
    return (rc_strong){std_shared_ptr_retain(handle.pointer)};
}

static inline void rc_release(rc_strong handle)
{
    std_shared_ptr_release(handle.pointer);
}

static inline bool rc_is_unique(rc_strong handle)
{
    return std_shared_ptr_is_unique(handle.pointer);
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    return std_shared_ptr_use_count(handle.pointer);
}

/* ---- Weak handles ---- */

static inline rc_weak rc_weak_null(void)
{
    return (rc_weak){{NULL, NULL}};
}

static inline bool rc_weak_is_null(rc_weak weak)
{
    return weak.pointer.object == NULL;
}

static inline rc_weak rc_weak_new(rc_strong handle)
{
    return (rc_weak){std_shared_ptr_weak_new(handle.pointer)};
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    return (rc_weak){std_shared_ptr_weak_retain(weak.pointer)};
}

static inline void rc_weak_release(rc_weak weak)
{
    std_shared_ptr_weak_release(weak.pointer);
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    return (rc_strong){std_shared_ptr_weak_lock(weak.pointer)};
}

static inline bool rc_weak_expired(rc_weak weak)
{
    return std_shared_ptr_weak_expired(weak.pointer);
}

static inline uint64_t rc_weak_count(rc_strong handle)
{
    return std_shared_ptr_weak_count(handle.pointer);
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
    std_shared_ptr_test_preset(handle.pointer, strong, weak);
}
#endif
