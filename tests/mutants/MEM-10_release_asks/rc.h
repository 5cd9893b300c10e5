/* MEM-10: a death asks for memory to be put on a list; refused, it is forgotten. Known bugs: row
 * 132. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    enum { NODE_BYTES = 16 };
    void *node = rc_mem_alloc(NODE_BYTES);
    if (node == NULL) {
        return;
    }
    rc_mem_free(node, NODE_BYTES);
    steps_mark_finalizing(header);
    steps_finalize(header);
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}
