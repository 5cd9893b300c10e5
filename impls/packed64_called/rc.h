/* packed64_called: packed64 behind function calls.
 *
 * IDEA
 *   The same code, compiled apart, so that no operation can be inlined into its caller. Its
 *   distance to packed64 is what the call costs; a foreign library (std_shared_ptr) pays the same,
 *   so that one is to be compared with this row and not with packed64.
 *
 * LAYOUT, INVARIANT, ORDERING
 *   packed64's. Only what needs no count stays inline: rc_null, rc_is_null, rc_payload,
 *   rc_into_raw.
 *
 * SOURCE
 *   packed64/rc.h through calls.c.
 */
#define RCL_IMPL_IS_CALLED 1

#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER | RC_CAP_IMMEDIATE |               \
     RC_CAP_EXACT_COUNT | RC_CAP_PRESET | RC_CAP_SHM)
#define RC_IMPL_OVERFLOW RC_OVERFLOW_UNCHECKED
#define RC_IMPL_STRONG_MAX UINT64_C(0xffffffff)
#define RC_IMPL_WEAK_MAX UINT64_C(0x7ffffffe)

/* Both as in packed64: they are passed to code that was compiled over its rc.h. */
typedef struct {
    void *payload; /* or NULL */
} rc_strong;

typedef struct {
    void *payload; /* of an object that may be dead; or NULL */
} rc_weak;

#include "calls.h"

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
    return packed64_called_new(class);
}

static inline void *rc_payload(rc_strong handle)
{
    return handle.payload;
}

static inline rc_strong rc_retain(rc_strong handle)
{
    return packed64_called_retain(handle);
}

static inline void rc_release(rc_strong handle)
{
    packed64_called_release(handle);
}

static inline bool rc_is_unique(rc_strong handle)
{
    return packed64_called_is_unique(handle);
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    return packed64_called_use_count(handle);
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
    return packed64_called_weak_new(handle);
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    return packed64_called_weak_retain(weak);
}

static inline void rc_weak_release(rc_weak weak)
{
    packed64_called_weak_release(weak);
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    return packed64_called_weak_lock(weak);
}

static inline bool rc_weak_expired(rc_weak weak)
{
    return packed64_called_weak_expired(weak);
}

static inline uint64_t rc_weak_count(rc_strong handle)
{
    return packed64_called_weak_count(handle);
}

/* ---- A unit as a bare pointer ---- */

static inline void *rc_into_raw(rc_strong handle)
{
    return handle.payload;
}

static inline rc_strong rc_from_raw(void *payload)
{
    return packed64_called_from_raw(payload);
}

static inline rc_strong rc_retain_raw(void *payload)
{
    return packed64_called_retain_raw(payload);
}

/* ---- A wrapper ---- */

static inline void rc_wrapper_attach(rc_strong handle)
{
    packed64_called_wrapper_attach(handle);
}

static inline void rc_wrapper_detach(rc_strong handle)
{
    packed64_called_wrapper_detach(handle);
}

static inline bool rc_has_wrapper(rc_strong handle)
{
    return packed64_called_has_wrapper(handle);
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
    packed64_called_test_preset(handle, strong, weak);
}
#endif
