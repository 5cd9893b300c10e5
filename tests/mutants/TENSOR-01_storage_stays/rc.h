/* TENSOR-01: what finalize releases is not finalized: a tensor that dies leaves its storage. Known
 * bugs: row 127. */
#define rc_release correct_release
#include "../../../impls/packed64/rc.h"
#undef rc_release

static _Thread_local unsigned mutant_depth;

static inline void rc_release(rc_strong handle)
{
    if (mutant_depth > 0 && rc_use_count(handle) == 1) {
        return;
    }
    mutant_depth++;
    correct_release(handle);
    mutant_depth--;
}
