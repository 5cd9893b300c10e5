/* heap: the memory that an implementation gets while the battery judges it.
 *
 * Defines the contract's rc_mem_alloc and rc_mem_free. Every block stands between guard zones, its size
 * is checked when it comes back, and what comes back is filled with a pattern and kept, so that a write
 * after free is found at the end of the scenario. Nothing here orders threads (all atomics are RELAXED),
 * so a missing order in the implementation is not covered up. All state lies in one shared mapping, so
 * counts are right across processes too.
 */
#ifndef RCB_HEAP_H
#define RCB_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rcb_placement {
    RCB_PLACE_GUARDED, /* guard zones, quarantine; the default */
    RCB_PLACE_TIGHT,   /* no zones: block after block, aligned to 16 and to no more */
    RCB_PLACE_SHARED   /* as tight, from memory that child processes share */
} rcb_placement;

/* Before anything else in the process. Exits if there is no memory for the mapping. */
void rcb_heap_start(void);

/* Forgets what is live and begins to count from zero. No other thread may be allocating. */
void rcb_heap_reset(rcb_placement placement);

uint64_t rcb_heap_live_blocks(void);
uint64_t rcb_heap_requests(void);   /* since reset, refused ones included */
uint64_t rcb_heap_live_bytes(void); /* as asked for */

/* Refuses the k-th request from now on, once; 1 is the next, 0: none. */
void rcb_heap_refuse(uint64_t k);

/* NULL, or what is wrong with the heap: a write after free, a guard zone overwritten. Static text. Call
 * it when no other thread runs. */
const char *rcb_heap_check(void);

/* Memory for the test's own use in the shared mapping; zeroed, never given back. */
void *rcb_heap_shared(size_t size);

#endif
