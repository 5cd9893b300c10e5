#include "heap.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "contract.h"
#include "verdict.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HEAP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HEAP_SANITIZED 1
#endif
#endif
#ifndef HEAP_SANITIZED
#define HEAP_SANITIZED 0
#endif

enum { GUARD_BYTES = 64, ALIGNMENT = 16 };

static const uint64_t block_magic = UINT64_C(0x52434220686561f1);
static const uint64_t freed_magic = UINT64_C(0x52434220667265d0);
enum { GUARD_BYTE = 0xa7, FREED_BYTE = 0xdb, FRESH_BYTE = 0xcd };

/* One request may not ask for more, and one scenario may not have more live: an implementation that
 * allocates without end is stopped before the machine is. */
static const size_t max_request_bytes = (size_t)1 << 32;
static const uint64_t max_live_bytes = UINT64_C(3) << 30;
static const uint64_t max_live_blocks = UINT64_C(6) << 20;

/* Freed blocks are kept up to here; older ones then go back. */
static const uint64_t max_kept_bytes = UINT64_C(256) << 20;

/* In front of every block but sanitized ones. */
typedef struct block {
    uint64_t magic;
    uint64_t size;
    struct block *next_kept;
    uint64_t generation; /* which reset it came after */
} block;

_Static_assert(sizeof(block) % ALIGNMENT == 0, "a block's memory must be aligned");

enum { ARENA_BYTES = 64 << 20, SHARED_BYTES = 1 << 20 };

/* Everything that processes share. All atomics RELAXED: counters and an order-free list; they must not
 * order the implementation's own accesses. */
static struct shared {
    _Atomic(uint64_t) live_blocks, live_bytes, requests, refuse_at, arena_used, shared_used,
        generation;
    _Atomic(uint32_t) placement;
    _Alignas(64) unsigned char own[SHARED_BYTES];
    _Alignas(64) unsigned char arena[ARENA_BYTES];
} * heap;

/* Of this process alone, as the memory that malloc gives is: a child begins with a copy. RELAXED: the
 * list is read when no other thread runs. */
static _Atomic(uintptr_t) kept_blocks;
static _Atomic(uint64_t) kept_bytes;

void rcb_heap_start(void)
{
    heap = mmap(NULL, sizeof *heap, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (heap == MAP_FAILED) {
        perror("battery: no memory for the heap");
        _exit(3);
    }
}

void rcb_heap_reset(rcb_placement placement)
{
    block *kept = (block *)atomic_exchange_explicit(&kept_blocks, 0, memory_order_relaxed);
    while (kept != NULL) {
        block *next = kept->next_kept;
        free(kept);
        kept = next;
    }
    atomic_store_explicit(&kept_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&heap->live_blocks, 0, memory_order_relaxed);
    atomic_store_explicit(&heap->live_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&heap->requests, 0, memory_order_relaxed);
    atomic_store_explicit(&heap->refuse_at, 0, memory_order_relaxed);
    atomic_store_explicit(&heap->arena_used, 0, memory_order_relaxed);
    atomic_store_explicit(&heap->placement, placement, memory_order_relaxed);
    /* What an implementation keeps for itself from before may still come back: it is not counted. */
    atomic_fetch_add_explicit(&heap->generation, 1, memory_order_relaxed);
}

uint64_t rcb_heap_live_blocks(void)
{
    return atomic_load_explicit(&heap->live_blocks, memory_order_relaxed);
}

uint64_t rcb_heap_live_bytes(void)
{
    return atomic_load_explicit(&heap->live_bytes, memory_order_relaxed);
}

uint64_t rcb_heap_requests(void)
{
    return atomic_load_explicit(&heap->requests, memory_order_relaxed);
}

void rcb_heap_refuse(uint64_t k)
{
    uint64_t requests = atomic_load_explicit(&heap->requests, memory_order_relaxed);
    atomic_store_explicit(&heap->refuse_at, k == 0 ? 0 : requests + k, memory_order_relaxed);
}

void *rcb_heap_shared(size_t size)
{
    size_t rounded = (size + 63) / 64 * 64;
    uint64_t at = atomic_fetch_add_explicit(&heap->shared_used, rounded, memory_order_relaxed);
    if (at + rounded > SHARED_BYTES) {
        fputs("battery: the test's own shared memory is used up\n", stderr);
        _exit(3);
    }
    return heap->own + at;
}

static size_t rounded_size(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static block *arena_block(size_t size)
{
    size_t whole = sizeof(block) + rounded_size(size);
    uint64_t at = atomic_fetch_add_explicit(&heap->arena_used, whole, memory_order_relaxed);
    /* Shifted, so that no block is aligned to more than 16 by accident of the arena's own start. */
    return at + whole + ALIGNMENT > ARENA_BYTES ? NULL : (block *)(heap->arena + ALIGNMENT + at);
}

static block *guarded_block(size_t size)
{
    return malloc(sizeof(block) + GUARD_BYTES + rounded_size(size) + GUARD_BYTES);
}

void *rc_mem_alloc(size_t size)
{
    uint64_t request = atomic_fetch_add_explicit(&heap->requests, 1, memory_order_relaxed) + 1;
    if (request == atomic_load_explicit(&heap->refuse_at, memory_order_relaxed) ||
        size > max_request_bytes) {
        return NULL;
    }
    uint64_t live = atomic_fetch_add_explicit(&heap->live_bytes, size, memory_order_relaxed);
    uint64_t blocks = atomic_fetch_add_explicit(&heap->live_blocks, 1, memory_order_relaxed);
    if (live + size > max_live_bytes || blocks >= max_live_blocks) {
        rcb_fail("heap", 0, "memory that stays within bounds",
                 "3 GB or 6 million blocks are live: the implementation allocates without end");
    }
    uint32_t place = atomic_load_explicit(&heap->placement, memory_order_relaxed);
    bool guarded = place == RCB_PLACE_GUARDED && !HEAP_SANITIZED;
    block *header = place != RCB_PLACE_GUARDED ? arena_block(size)
                    : guarded                  ? guarded_block(size)
                                               : malloc(sizeof(block) + rounded_size(size));
    if (header == NULL) {
        atomic_fetch_sub_explicit(&heap->live_bytes, size, memory_order_relaxed);
        atomic_fetch_sub_explicit(&heap->live_blocks, 1, memory_order_relaxed);
        return NULL;
    }
    *header = (block){
        .magic = block_magic,
        .size = size,
        .generation = atomic_load_explicit(&heap->generation, memory_order_relaxed),
    };
    unsigned char *memory = (unsigned char *)(header + 1);
    if (guarded) {
        memset(memory, GUARD_BYTE, GUARD_BYTES);
        memory += GUARD_BYTES;
        memset(memory + size, GUARD_BYTE, rounded_size(size) - size + GUARD_BYTES);
    }
    memset(memory, FRESH_BYTE, size < 4096 ? size : 4096);
    return memory;
}

static bool all_bytes(const unsigned char *from, size_t count, unsigned char byte)
{
    for (size_t i = 0; i < count; i++) {
        if (from[i] != byte) {
            return false;
        }
    }
    return true;
}

static bool in_arena(const void *memory)
{
    uintptr_t at = (uintptr_t)memory;
    return at >= (uintptr_t)heap->arena && at < (uintptr_t)heap->arena + ARENA_BYTES;
}

/* The block of a pointer that rc_mem_alloc gave, under whatever placement; ends the test if it gave none
 * such. */
static block *block_of(void *memory, bool *guarded)
{
    unsigned char *byte = memory;
    *guarded = !HEAP_SANITIZED && !in_arena(memory);
    block *header = (block *)(byte - (*guarded ? GUARD_BYTES : 0)) - 1;
    if (header->magic == freed_magic) {
        rcb_fail("heap", 0, "each block comes back once", "a block was freed twice");
    }
    if (header->magic != block_magic) {
        rcb_fail("heap", 0, "rc_mem_free gets what rc_mem_alloc gave",
                 "something else was freed, or the memory before the block was overwritten");
    }
    return header;
}

static void check_guards(const block *header)
{
    const unsigned char *front = (const unsigned char *)(header + 1);
    if (!all_bytes(front, GUARD_BYTES, GUARD_BYTE)) {
        rcb_fail("heap", 0, "nothing is written before a block",
                 "the zone before it was overwritten");
    }
    const unsigned char *back = front + GUARD_BYTES + header->size;
    if (!all_bytes(back, rounded_size(header->size) - header->size + GUARD_BYTES, GUARD_BYTE)) {
        rcb_fail("heap", 0, "nothing is written behind a block",
                 "the zone behind it was overwritten");
    }
}

/* Keeps a freed block, so that its address is not used again and writes to it are found. */
static void keep(block *header)
{
    atomic_fetch_add_explicit(&kept_bytes, header->size, memory_order_relaxed);
    uintptr_t first = atomic_load_explicit(&kept_blocks, memory_order_relaxed);
    do {
        header->next_kept = (block *)first;
    } while (!atomic_compare_exchange_weak_explicit(&kept_blocks, &first, (uintptr_t)header,
                                                    memory_order_relaxed, memory_order_relaxed));
}

void rc_mem_free(void *memory, size_t size)
{
    if (memory == NULL) {
        return;
    }
    bool guarded = false;
    block *header = block_of(memory, &guarded);
    if (header->size != size) {
        char came[128];
        snprintf(came, sizeof came, "a block of %llu bytes was freed as one of %zu",
                 (unsigned long long)header->size, size);
        rcb_fail("heap", 0, "rc_mem_free gets the size that was asked for", came);
    }
    if (header->generation == atomic_load_explicit(&heap->generation, memory_order_relaxed)) {
        atomic_fetch_sub_explicit(&heap->live_blocks, 1, memory_order_relaxed);
        atomic_fetch_sub_explicit(&heap->live_bytes, size, memory_order_relaxed);
    }
    if (in_arena(memory)) {
        header->magic = freed_magic;
        memset(memory, FREED_BYTE, size);
    } else if (!guarded) {
        free(header); /* the sanitizer keeps it */
    } else {
        check_guards(header);
        header->magic = freed_magic;
        memset(memory, FREED_BYTE, size);
        if (atomic_load_explicit(&kept_bytes, memory_order_relaxed) < max_kept_bytes) {
            keep(header);
        } else {
            free(header);
        }
    }
}

const char *rcb_heap_check(void)
{
    const block *kept = (const block *)atomic_load_explicit(&kept_blocks, memory_order_relaxed);
    for (; kept != NULL; kept = kept->next_kept) {
        const unsigned char *memory = (const unsigned char *)(kept + 1) + GUARD_BYTES;
        if (!all_bytes(memory, kept->size, FREED_BYTE)) {
            return "a block was written to after it was freed";
        }
        if (!all_bytes(memory - GUARD_BYTES, GUARD_BYTES, GUARD_BYTE)) {
            return "the zone before a freed block was overwritten";
        }
    }
    return NULL;
}
