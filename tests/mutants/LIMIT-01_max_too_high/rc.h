/* LIMIT-01: RC_IMPL_STRONG_MAX is what the word holds, not what the field does: it carries into the
 * weak count. Known bugs: row 62. */
#include "../../../impls/packed64/rc.h"

#undef RC_IMPL_STRONG_MAX
#define RC_IMPL_STRONG_MAX UINT64_C(0x1ffffffff)
