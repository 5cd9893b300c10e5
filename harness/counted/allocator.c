/* allocator: where the counted program's blocks come from. A file of its own, so that no compiler can
 * inline it into what is counted: the call counts, what happens inside does not, and no figure depends
 * on the C library. */
#include <stdlib.h>

#include "contract.h"

void *rc_mem_alloc(size_t size)
{
    return malloc(size);
}

void rc_mem_free(void *block, size_t size)
{
    (void)size;
    free(block);
}
