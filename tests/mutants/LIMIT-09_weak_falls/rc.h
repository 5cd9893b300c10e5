/* LIMIT-09: a weak release lowers a pinned weak count: the block goes under the handles that were
 * not counted. Known bugs: row 56. */
#define NARROW_WORD uint64_t
#define NARROW_STRONG_BITS 30
#define NARROW_OVERFLOW RC_OVERFLOW_SATURATE
#define NARROW_OWN_LOWER
#include "../base/narrow.h"

static inline uint64_t narrow_lower(uint64_t count, uint64_t full)
{
    const bool strong = full == narrow_strong_full();
    return strong && count == full ? full : count - 1;
}
