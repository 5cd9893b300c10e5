/* HOOK-05: the implicit weak is given up before finalize: whoever drops the last weak handle in
 * there frees what finalize works on. Known bugs: rows 35, 37. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    if (weak_handles_left) {
        steps_drop_weak(header, steps_one_weak);
        steps_finalize(header);
    } else {
        steps_finalize(header);
        steps_free(header);
    }
}
