/* memory: where every object and every tensor's bytes come from.
 *
 * One front for two allocators in one process: glibc's malloc, and jemalloc under the names je_malloc
 * and je_free (linked from its static library with the symbols renamed, so that malloc stays
 * glibc's). Which one is a run-time choice that costs a load and a predicted branch. On demand the
 * front counts live blocks and bytes exactly and refuses the k-th request; then every call goes
 * through a slow path, so never time with counting on.
 *
 * The front is process-wide state by nature, as malloc is. Change its mode only while no other thread
 * allocates. A block must be freed under the allocator that made it.
 */
#ifndef RCL_MEMORY_H
#define RCL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef enum rcl_allocator { RCL_ALLOCATOR_LIBC, RCL_ALLOCATOR_JEMALLOC } rcl_allocator;

typedef struct rcl_memory_counts {
    uint64_t live_blocks;
    uint64_t live_bytes;   /* as asked for */
    uint64_t total_blocks; /* requests granted since counting began */
    uint64_t total_bytes;
    uint64_t refused_blocks; /* requests refused on demand */
} rcl_memory_counts;

/* Selects the allocator; counting and refusal are switched off. */
void rcl_memory_use(rcl_allocator allocator);
rcl_allocator rcl_memory_used(void);

/* Starts counting from zero, or stops it. Blocks from before are not known: start while none that
 * will be freed are live, or the counts are off by them. */
void rcl_memory_count(bool on);

/* The counts since rcl_memory_count(true). Exact once other threads have stopped allocating. */
rcl_memory_counts rcl_memory_read(void);

/* Refuses the k-th request from now on, once; 1 is the next, 0 takes the order back. Counting must be
 * on. */
void rcl_memory_refuse(uint64_t k);

/* Bytes that the selected allocator has handed out, rounding and its own headers included: glibc's
 * mallinfo2().uordblks, or this thread's jemalloc allocatedp - deallocatedp. A difference of two
 * calls on one thread is exact for blocks made in between and still live, except that glibc takes a
 * block that a thread has freed into its cache (up to 1,032 bytes) for one in use. */
uint64_t rcl_memory_taken_bytes(void);

/* ---- Following: when did the last block of a group go back? ---- */

/* The blocks that were asked for while the group was named. Zeroed by its owner before it is named, and
 * there until they are all back. */
typedef struct rcl_memory_group {
    uint64_t live_blocks;
    uint64_t freed_at; /* by the clock, once the last of them was back; 0: not yet */
} rcl_memory_group;

/* From now on every block remembers its group, in 16 bytes in front of it, so none from before may be
 * freed; and none from now on after rcl_memory_follow(NULL), which ends it. Best for a whole process: a
 * strategy may keep blocks of its own. Selecting an allocator does not end it; no counting meanwhile. Not
 * for more than one thread. `clock` is read when a group has no block left; any unit. */
void rcl_memory_follow(uint64_t (*clock)(void));
bool rcl_memory_is_followed(void);

/* Names the group of the blocks to come; NULL: they belong to none. */
void rcl_memory_name_group(rcl_memory_group *group);

/* ---- A shared arena: memory that forked processes see at one address ---- */

/* One shared mapping. Blocks are cut off its beginning one after the other and never used again: for a
 * few objects that live for a whole run. */
typedef struct rcl_memory_arena rcl_memory_arena;

/* An arena for blocks of `size_bytes` together, or NULL if the mapping was refused. The caller deletes
 * it. */
rcl_memory_arena *rcl_memory_arena_new(size_t size_bytes);

/* Unmaps it in this process. Blocks that are still live then are added to the live blocks and bytes of
 * rcl_memory_read, if counting is on: a leak is not lost. NULL is ignored. */
void rcl_memory_arena_delete(rcl_memory_arena *arena);

/* From enter to leave every block of this process comes from the arena and goes back to it, whatever
 * else is selected. A process that is forked in between stays inside. Not nested; change nothing else
 * of the front meanwhile, and free no block from outside. */
void rcl_memory_arena_enter(rcl_memory_arena *arena);
void rcl_memory_arena_leave(void);

/* Of all processes. Exact once they have stopped allocating. */
uint64_t rcl_memory_arena_live_blocks(const rcl_memory_arena *arena);

const char *rcl_allocator_name(rcl_allocator allocator);
/* False if there is no allocator of that name. */
bool rcl_allocator_parse(const char *name, rcl_allocator *allocator);

/* ---- The inline path behind the contract's rc_mem_alloc and rc_mem_free ---- */

typedef enum rcl_memory_mode {
    RCL_MEMORY_LIBC,
    RCL_MEMORY_JEMALLOC,
    RCL_MEMORY_COUNTED, /* either, through the slow path */
    RCL_MEMORY_ARENA,   /* a shared arena, through the slow path */
    RCL_MEMORY_FOLLOWED /* either, with the block's group in front, through the slow path */
} rcl_memory_mode;

extern rcl_memory_mode rcl_memory_current_mode;

void *je_malloc(size_t size);
void je_free(void *block);
void *rcl_memory_alloc_slow(size_t size);
void rcl_memory_free_slow(void *block, size_t size);

/* gnu_inline: these bodies are only ever inlined and never emitted. memory.c holds the external
 * rc_mem_alloc and rc_mem_free that compiled implementations link with, so contract.h can declare both
 * plainly. */
#define RCL_MEMORY_INLINE extern inline __attribute__((gnu_inline, always_inline))

/* jemalloc's smallest class is aligned to 8 only. */
#define RCL_MEMORY_JEMALLOC_MIN 16u

RCL_MEMORY_INLINE void *rcl_memory_alloc(size_t size)
{
    if (__builtin_expect(rcl_memory_current_mode == RCL_MEMORY_LIBC, 1)) {
        return malloc(size);
    }
    if (rcl_memory_current_mode == RCL_MEMORY_JEMALLOC) {
        return je_malloc(size < RCL_MEMORY_JEMALLOC_MIN ? RCL_MEMORY_JEMALLOC_MIN : size);
    }
    return rcl_memory_alloc_slow(size);
}

RCL_MEMORY_INLINE void rcl_memory_free(void *block, size_t size)
{
    if (__builtin_expect(rcl_memory_current_mode == RCL_MEMORY_LIBC, 1)) {
        free(block);
    } else if (rcl_memory_current_mode == RCL_MEMORY_JEMALLOC) {
        je_free(block);
    } else {
        rcl_memory_free_slow(block, size);
    }
}

#undef RCL_MEMORY_JEMALLOC_MIN

/* The contract's names. */
#ifndef RCL_MEMORY_EXTERNAL
RCL_MEMORY_INLINE void *rc_mem_alloc(size_t size)
{
    return rcl_memory_alloc(size);
}

RCL_MEMORY_INLINE void rc_mem_free(void *block, size_t size)
{
    rcl_memory_free(block, size);
}
#endif
#undef RCL_MEMORY_INLINE

#endif
