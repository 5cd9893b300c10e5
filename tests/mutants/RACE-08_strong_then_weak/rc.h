/* RACE-08: rc_is_unique reads the strong count, then the weak one: a weak handle that is locked and
 * dropped in between escapes both looks. Known bugs: row 16. */
#define rc_is_unique correct_is_unique
#include "../../../impls/split32/rc.h"

#include "../base/window.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    if (handle.payload == NULL) {
        return false;
    }
    split32_header *header = split32_header_of(handle.payload);
    if (atomic_load_explicit(&header->strong, memory_order_acquire) != 1) {
        return false;
    }
    mutant_window();
    return atomic_load_explicit(&header->weak, memory_order_acquire) == 1;
}
