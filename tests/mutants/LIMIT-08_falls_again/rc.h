/* LIMIT-08: a count saturates on the way up, and comes down again: a release lowers a pinned strong
 * count. Known bugs: row 56. */
#define NARROW_WORD uint64_t
#define NARROW_STRONG_BITS 31
#define NARROW_OVERFLOW RC_OVERFLOW_SATURATE
#define NARROW_OWN_LOWER
#include "../base/narrow.h"

static inline uint64_t narrow_lower(uint64_t count, uint64_t full)
{
    const bool weak = full != narrow_strong_full();
    return weak && count == full ? full : count - 1;
}
