#define RCL_MEMORY_EXTERNAL
#include "memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

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
    rcl_memory_current_mode = direct_mode(allocator);
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

void *rcl_memory_alloc_counted(size_t size)
{
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

void rcl_memory_free_counted(void *block, size_t size)
{
    if (block == NULL) {
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
