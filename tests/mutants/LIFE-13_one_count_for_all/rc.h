/* LIFE-13: the use count comes from a cache that all objects share. */
#define rc_retain correct_retain
#define rc_use_count correct_use_count
#include "../../../impls/packed64/rc.h"
#undef rc_retain
#undef rc_use_count

static _Atomic(uint64_t) mutant_cached = 1;

static inline rc_strong rc_retain(rc_strong handle)
{
    rc_strong made = correct_retain(handle);
    atomic_store_explicit(&mutant_cached, correct_use_count(made), memory_order_relaxed);
    return made;
}

static inline uint64_t rc_use_count(rc_strong handle)
{
    uint64_t count = correct_use_count(handle);
    uint64_t cached = atomic_load_explicit(&mutant_cached, memory_order_relaxed);
    return count == 0 ? 0 : cached;
}
