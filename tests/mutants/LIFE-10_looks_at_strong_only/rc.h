/* LIFE-10: rc_is_unique forgets that a weak handle could be locked while the caller writes. */
#define rc_is_unique correct_is_unique
#include "../../../impls/packed64/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    /* ACQUIRE as U3. */
    return handle.payload != NULL &&
           packed64_strong(atomic_load_explicit(&packed64_header_of(handle.payload)->counts,
                                                memory_order_acquire)) == 1;
}
