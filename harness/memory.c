#define RCL_MEMORY_EXTERNAL
#include "memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "contract.h"

int je_mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size);

rcl_memory_mode rcl_memory_current_mode = RCL_MEMORY_LIBC;

static rcl_allocator selected = RCL_ALLOCATOR_LIBC;

/* All RELAXED: independent counters, read once their writers have stopped (a join orders that). */
static struct {
    _Atomic(uint64_t) live_blocks, live_bytes, total_blocks, total_bytes, refused_blocks;
    _Atomic(uint64_t) requests; /* since the order to refuse */
    _Atomic(uint64_t) refuse;   /* which of them; 0: none */
} counted;

static rcl_memory_mode direct_mode(rcl_allocator allocator)
{
    return allocator == RCL_ALLOCATOR_LIBC ? RCL_MEMORY_LIBC : RCL_MEMORY_JEMALLOC;
}

void rcl_memory_use(rcl_allocator allocator)
{
    selected = allocator;
    if (!rcl_memory_is_followed()) {
        rcl_memory_current_mode = direct_mode(allocator);
    }
    rcl_memory_refuse(0);
}

rcl_allocator rcl_memory_used(void)
{
    return selected;
}

void rcl_memory_count(bool on)
{
    rcl_memory_refuse(0);
    if (!on) {
        rcl_memory_current_mode = direct_mode(selected);
        return;
    }
    atomic_store_explicit(&counted.live_blocks, 0, memory_order_relaxed);
    atomic_store_explicit(&counted.live_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&counted.total_blocks, 0, memory_order_relaxed);
    atomic_store_explicit(&counted.total_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&counted.refused_blocks, 0, memory_order_relaxed);
    rcl_memory_current_mode = RCL_MEMORY_COUNTED;
}

rcl_memory_counts rcl_memory_read(void)
{
    return (rcl_memory_counts){
        .live_blocks = atomic_load_explicit(&counted.live_blocks, memory_order_relaxed),
        .live_bytes = atomic_load_explicit(&counted.live_bytes, memory_order_relaxed),
        .total_blocks = atomic_load_explicit(&counted.total_blocks, memory_order_relaxed),
        .total_bytes = atomic_load_explicit(&counted.total_bytes, memory_order_relaxed),
        .refused_blocks = atomic_load_explicit(&counted.refused_blocks, memory_order_relaxed),
    };
}

void rcl_memory_refuse(uint64_t k)
{
    atomic_store_explicit(&counted.requests, 0, memory_order_relaxed);
    atomic_store_explicit(&counted.refuse, k, memory_order_relaxed);
}

static bool refused_now(void)
{
    uint64_t refuse = atomic_load_explicit(&counted.refuse, memory_order_relaxed);
    if (refuse == 0 ||
        atomic_fetch_add_explicit(&counted.requests, 1, memory_order_relaxed) + 1 != refuse) {
        return false;
    }
    atomic_fetch_add_explicit(&counted.refused_blocks, 1, memory_order_relaxed);
    return true;
}

/* ---- A shared arena ---- */

enum { ARENA_ALIGNMENT = 64 };

/* At the beginning of its mapping. All RELAXED: counters; a block is private until its owner publishes
 * it, and whoever publishes it orders that. */
struct rcl_memory_arena {
    size_t size_bytes; /* of `memory` */
    _Atomic(uint64_t) used_bytes;
    _Atomic(uint64_t) live_blocks, live_bytes;
    _Alignas(ARENA_ALIGNMENT) unsigned char memory[];
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2,
               "memory: processes share these counters, so they must need no lock");

/* Where blocks come from in mode RCL_MEMORY_ARENA, and the mode to go back to. */
static rcl_memory_arena *entered;
static rcl_memory_mode mode_outside;

rcl_memory_arena *rcl_memory_arena_new(size_t size_bytes)
{
    if (size_bytes > SIZE_MAX / 2) {
        return NULL;
    }
    rcl_memory_arena *arena = mmap(NULL, sizeof *arena + size_bytes, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED) {
        return NULL;
    }
    arena->size_bytes = size_bytes; /* the rest is zero, as mapped */
    return arena;
}

void rcl_memory_arena_delete(rcl_memory_arena *arena)
{
    if (arena == NULL) {
        return;
    }
    if (rcl_memory_current_mode == RCL_MEMORY_COUNTED) {
        atomic_fetch_add_explicit(&counted.live_blocks, rcl_memory_arena_live_blocks(arena),
                                  memory_order_relaxed);
        atomic_fetch_add_explicit(&counted.live_bytes,
                                  atomic_load_explicit(&arena->live_bytes, memory_order_relaxed),
                                  memory_order_relaxed);
    }
    munmap(arena, sizeof *arena + arena->size_bytes);
}

void rcl_memory_arena_enter(rcl_memory_arena *arena)
{
    entered = arena;
    mode_outside = rcl_memory_current_mode;
    rcl_memory_current_mode = RCL_MEMORY_ARENA;
}

void rcl_memory_arena_leave(void)
{
    rcl_memory_current_mode = mode_outside;
    entered = NULL;
}

uint64_t rcl_memory_arena_live_blocks(const rcl_memory_arena *arena)
{
    return atomic_load_explicit(&arena->live_blocks, memory_order_relaxed);
}

static void *arena_alloc(rcl_memory_arena *arena, size_t size)
{
    if (size > arena->size_bytes) {
        return NULL;
    }
    const uint64_t rounded =
        ((uint64_t)size + ARENA_ALIGNMENT) / ARENA_ALIGNMENT * ARENA_ALIGNMENT; /* never 0 */
    const uint64_t at =
        atomic_fetch_add_explicit(&arena->used_bytes, rounded, memory_order_relaxed);
    if (at > arena->size_bytes || rounded > arena->size_bytes - at) {
        atomic_fetch_sub_explicit(&arena->used_bytes, rounded, memory_order_relaxed);
        return NULL;
    }
    atomic_fetch_add_explicit(&arena->live_blocks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&arena->live_bytes, size, memory_order_relaxed);
    return arena->memory + at;
}

static void arena_free(rcl_memory_arena *arena, size_t size)
{
    atomic_fetch_sub_explicit(&arena->live_blocks, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&arena->live_bytes, size, memory_order_relaxed);
}

/* ---- Following ---- */

/* In front of every followed block; keeps its alignment. */
typedef struct followed_head {
    _Alignas(max_align_t) rcl_memory_group *group; /* or NULL */
} followed_head;

static uint64_t (*follow_clock)(void);
static rcl_memory_group *named_group;

bool rcl_memory_is_followed(void)
{
    return rcl_memory_current_mode == RCL_MEMORY_FOLLOWED;
}

void rcl_memory_follow(uint64_t (*clock)(void))
{
    follow_clock = clock;
    named_group = NULL;
    rcl_memory_current_mode = clock != NULL ? RCL_MEMORY_FOLLOWED : direct_mode(selected);
}

void rcl_memory_name_group(rcl_memory_group *group)
{
    named_group = group;
}

static void *followed_alloc(size_t size)
{
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    const size_t whole = sizeof(followed_head) + size;
    followed_head *head = selected == RCL_ALLOCATOR_LIBC ? malloc(whole) : je_malloc(whole);
    if (head == NULL) {
        return NULL;
    }
    head->group = named_group;
    if (head->group != NULL) {
        head->group->live_blocks++;
    }
    return head + 1;
}

static void followed_free(void *block)
{
    followed_head *head = (followed_head *)block - 1;
    rcl_memory_group *group = head->group;
    if (selected == RCL_ALLOCATOR_LIBC) {
        free(head);
    } else {
        je_free(head);
    }
    if (group != NULL && --group->live_blocks == 0) {
        group->freed_at = follow_clock();
    }
}

/* ---- The slow path ---- */

void *rcl_memory_alloc_slow(size_t size)
{
    if (rcl_memory_current_mode == RCL_MEMORY_ARENA) {
        return arena_alloc(entered, size);
    }
    if (rcl_memory_current_mode == RCL_MEMORY_FOLLOWED) {
        return followed_alloc(size);
    }
    if (refused_now()) {
        return NULL;
    }
    void *block = selected == RCL_ALLOCATOR_LIBC ? malloc(size) : je_malloc(size < 16 ? 16 : size);
    if (block != NULL) {
        atomic_fetch_add_explicit(&counted.live_blocks, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&counted.live_bytes, size, memory_order_relaxed);
        atomic_fetch_add_explicit(&counted.total_blocks, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&counted.total_bytes, size, memory_order_relaxed);
    }
    return block;
}

void rcl_memory_free_slow(void *block, size_t size)
{
    if (block == NULL) {
        return;
    }
    if (rcl_memory_current_mode == RCL_MEMORY_ARENA) {
        arena_free(entered, size);
        return;
    }
    if (rcl_memory_current_mode == RCL_MEMORY_FOLLOWED) {
        followed_free(block);
        return;
    }
    atomic_fetch_sub_explicit(&counted.live_blocks, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&counted.live_bytes, size, memory_order_relaxed);
    if (selected == RCL_ALLOCATOR_LIBC) {
        free(block);
    } else {
        je_free(block);
    }
}

uint64_t rcl_memory_taken_bytes(void)
{
    if (selected == RCL_ALLOCATOR_LIBC) {
        return mallinfo2().uordblks + mallinfo2().hblkhd;
    }
    uint64_t *allocated = NULL;
    uint64_t *deallocated = NULL;
    size_t size = sizeof allocated;
    if (je_mallctl("thread.allocatedp", (void *)&allocated, &size, NULL, 0) != 0 ||
        je_mallctl("thread.deallocatedp", (void *)&deallocated, &size, NULL, 0) != 0) {
        return 0;
    }
    return *allocated - *deallocated;
}

static const char *const allocator_names[] = {"libc", "jemalloc"};

const char *rcl_allocator_name(rcl_allocator allocator)
{
    return allocator_names[allocator];
}

bool rcl_allocator_parse(const char *name, rcl_allocator *allocator)
{
    for (unsigned i = 0; i < sizeof allocator_names / sizeof allocator_names[0]; i++) {
        if (strcmp(name, allocator_names[i]) == 0) {
            *allocator = (rcl_allocator)i;
            return true;
        }
    }
    return false;
}

void *rc_mem_alloc(size_t size)
{
    return rcl_memory_alloc(size);
}

void rc_mem_free(void *block, size_t size)
{
    rcl_memory_free(block, size);
}
