/* explorer: RACE-08: rc_is_unique reads the strong count, the weak one and the strong one again: no
 * number of looks is enough, but what escapes three is rare. Known bugs: row 16. */
#define rc_is_unique correct_is_unique
#include "../../../impls/split32/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    if (handle.payload == NULL) {
        return false;
    }
    split32_header *header = split32_header_of(handle.payload);
    return atomic_load_explicit(&header->strong, memory_order_acquire) == 1 &&
           atomic_load_explicit(&header->weak, memory_order_acquire) == 1 &&
           atomic_load_explicit(&header->strong, memory_order_acquire) == 1;
}
