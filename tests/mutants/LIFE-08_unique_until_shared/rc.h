/* LIFE-08: what has once been retained is not unique again: the answer is kept, not asked for. The
 * retain leaves a mark in a table by the address. */
#define rc_retain correct_retain
#define rc_is_unique correct_is_unique
#include "../../../impls/packed64/rc.h"
#undef rc_retain
#undef rc_is_unique

enum { MUTANT_MARKS = 4096 };

static _Atomic(bool) mutant_retained[MUTANT_MARKS];

static inline _Atomic(bool) *mutant_mark(rc_strong handle)
{
    return &mutant_retained[(uintptr_t)handle.payload / 16 % MUTANT_MARKS];
}

static inline rc_strong rc_retain(rc_strong handle)
{
    atomic_store_explicit(mutant_mark(handle), true, memory_order_relaxed);
    return correct_retain(handle);
}

static inline bool rc_is_unique(rc_strong handle)
{
    return !atomic_load_explicit(mutant_mark(handle), memory_order_relaxed) &&
           correct_is_unique(handle);
}
