/* explorer: ORDER-05: rc_is_unique is ordered behind the strong count only: it may see a weak
 * handle gone and not yet the lock that came before. */
#define rc_is_unique correct_is_unique
#include "../../../impls/split32/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    if (handle.payload == NULL) {
        return false;
    }
    split32_header *header = split32_header_of(handle.payload);
    uint32_t weak = 1;
    if (atomic_load_explicit(&header->strong, memory_order_relaxed) != 1 ||
        !atomic_compare_exchange_strong_explicit(&header->weak, &weak, UINT32_MAX,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        return false;
    }
    bool unique = atomic_load_explicit(&header->strong, memory_order_acquire) == 1;
    atomic_store_explicit(&header->weak, 1, memory_order_release);
    return unique;
}
