#include "shadow.h"

#include <stdlib.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "fiber.h"
#include "model.h"
#include "sabotage.h"

enum {
    GRANULE = 8, /* bytes to a cell */
    ARENA_BYTES = 1 << 20,
    HEAP_BYTES = RCX_FIBERS * ARENA_BYTES,
    ENTRIES =
        64, /* four threads, four kinds of access, and no more than four ways to cut eight bytes */
    OTHER_CELLS = 1 << 15, /* for memory outside the heap */
    BLOCKS = 1 << 14,
    REDZONE = 32,
    FRESH_BYTE = 0xcd
};

/* ---- Accesses ---- */

/* The latest access of one kind by one thread to some bytes of a granule. An earlier one that the latest
 * covers is not kept: whoever does not know the earlier does not know the latest. */
typedef struct entry {
    uint16_t time;
    uint8_t thread, mask;
    uint8_t access;
    rcx_place place;
} entry;

typedef struct cell {
    uintptr_t granule; /* of memory outside the heap */
    uint32_t version;  /* of rcx_shadow_forget; another one: empty */
    uint32_t count;
    entry entries[ENTRIES];
} cell;

static uintptr_t heap;
static cell *heap_cells, *other_cells;
static uint8_t *heap_bytes; /* how many of a granule's bytes may be accessed; or FREED_GRANULE */
static uint32_t version = 1;

enum { FREED_GRANULE = 0xff };

static void *reserve(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool rcx_shadow_start(void)
{
    heap = (uintptr_t)reserve(HEAP_BYTES);
    heap_cells = reserve(HEAP_BYTES / GRANULE * sizeof(cell));
    other_cells = reserve(OTHER_CELLS * sizeof(cell));
    heap_bytes = reserve(HEAP_BYTES / GRANULE);
    return heap != 0 && heap_cells != NULL && other_cells != NULL && heap_bytes != NULL;
}

void rcx_shadow_forget(void)
{
    version++;
}

static cell *other_cell(uintptr_t granule)
{
    uint32_t slot = (uint32_t)((granule * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % OTHER_CELLS;
    for (uint32_t tried = 0; tried < OTHER_CELLS; tried++) {
        cell *found = &other_cells[(slot + tried) % OTHER_CELLS];
        if (found->version != version || found->granule == granule) {
            return found;
        }
    }
    rcx_now.full = "it uses more than 256 KiB of static memory or stacks in one execution";
    return &other_cells[slot];
}

static cell *cell_of(uintptr_t granule)
{
    uintptr_t in_heap = granule - heap / GRANULE;
    cell *found = in_heap < HEAP_BYTES / GRANULE ? &heap_cells[in_heap] : other_cell(granule);
    if (found->version != version) {
        found->version = version;
        found->granule = granule;
        found->count = 0;
    }
    return found;
}

static bool conflicting(rcx_access a, rcx_access b)
{
    static const uint8_t conflicts[5] = {
        [RCX_ATOMIC_READ] = 1 << RCX_PLAIN_WRITE | 1 << RCX_FREE,
        [RCX_PLAIN_READ] = 1 << RCX_ATOMIC_WRITE | 1 << RCX_PLAIN_WRITE | 1 << RCX_FREE,
        [RCX_ATOMIC_WRITE] = 1 << RCX_PLAIN_READ | 1 << RCX_PLAIN_WRITE | 1 << RCX_FREE,
        [RCX_PLAIN_WRITE] = 0x1f,
        [RCX_FREE] = 0x1f,
    };
    bool atomic = a == RCX_ATOMIC_READ || a == RCX_ATOMIC_WRITE || b == RCX_ATOMIC_READ ||
                  b == RCX_ATOMIC_WRITE;
    bool plain_read = a == RCX_PLAIN_READ || b == RCX_PLAIN_READ;
    if ((RCX_SABOTAGED(atomics_never_race) && atomic) ||
        (RCX_SABOTAGED(plain_reads_never_race) && plain_read) ||
        (RCX_SABOTAGED(free_is_no_store) && a == RCX_FREE)) {
        return false;
    }
    return (conflicts[a] >> b & 1) != 0;
}

/* Whatever conflicts with `old` conflicts with `new` too. */
static bool covers(rcx_access new, rcx_access old)
{
    return new == old || new >= RCX_PLAIN_WRITE || old == RCX_ATOMIC_READ ||
           RCX_SABOTAGED(latest_replaces);
}

static bool access_granule(cell *at, unsigned thread, rcx_clock clock, uint8_t mask,
                           rcx_access access, rcx_place place, rcx_conflict *conflict)
{
    const entry new = {clock[thread], (uint8_t)thread, mask, (uint8_t)access, place};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        const entry *old = &at->entries[i];
        if (RCX_SABOTAGED(reads_not_kept) &&
            (old->access == RCX_ATOMIC_READ || old->access == RCX_PLAIN_READ)) {
            continue;
        }
        if (old->thread == thread) {
            if ((old->mask & ~mask) == 0 && covers(access, old->access) &&
                old->access != RCX_FREE) {
                continue;
            }
        } else if ((old->mask & mask) != 0 && conflicting(access, old->access) &&
                   !rcx_clock_has(clock, old->thread, old->time)) {
            *conflict = (rcx_conflict){old->access, old->thread, old->place, false};
            return false;
        }
        if (kept != i) {
            at->entries[kept] = *old;
        }
        kept++;
    }
    if (kept == ENTRIES) {
        abort();
    }
    at->entries[kept] = new;
    at->count = kept + 1;
    return true;
}

bool rcx_shadow_access(unsigned thread, rcx_clock clock, uintptr_t address, size_t size,
                       rcx_access access, rcx_place place, rcx_conflict *conflict)
{
    uintptr_t end = address + size;
    while (address < end) {
        uintptr_t granule = address / GRANULE;
        uintptr_t next = (granule + 1) * GRANULE;
        size_t here = (next < end ? next : end) - address;
        uint8_t mask = (uint8_t)(((1U << here) - 1) << (address % GRANULE));
        if (RCX_SABOTAGED(neighbours_race)) {
            mask = 0xff;
        }
        if (!access_granule(cell_of(granule), thread, clock, mask, access, place, conflict)) {
            return false;
        }
        address = next;
    }
    return true;
}

/* ---- Undoing ---- */

typedef struct kept_bytes {
    uintptr_t address;
    uint32_t size;
    unsigned char bytes[20];
} kept_bytes;

static kept_bytes *undo_log;
static size_t undo_count, undo_room;

/* Whole pieces of memory, as setup left them. */
typedef struct start {
    uintptr_t address;
    size_t size;
} start;

static start *starts;
static size_t start_count, start_room;
static unsigned char *start_bytes;
static size_t start_used, start_bytes_room;

void rcx_undo_keep(uintptr_t address, size_t size)
{
    while (size > 0) {
        if (undo_count == undo_room) {
            undo_room = undo_room == 0 ? 1024 : 2 * undo_room;
            undo_log = realloc(undo_log, undo_room * sizeof *undo_log);
            if (undo_log == NULL) {
                abort();
            }
        }
        kept_bytes *next = &undo_log[undo_count];
        size_t here = size < 16 ? size : 16;
        next->address = address;
        next->size = (uint32_t)here;
        if (here == 8) {
            memcpy(next->bytes, (const void *)address, 8);
        } else {
            memcpy(next->bytes, (const void *)address, here);
        }
        /* The program may have named memory that is not there: then what is kept ends before it. */
        atomic_signal_fence(memory_order_seq_cst);
        undo_count++;
        address += here;
        size -= here;
    }
}

void rcx_undo_all(void)
{
    while (undo_count > 0) {
        const kept_bytes *last = &undo_log[--undo_count];
        if (RCX_SABOTAGED(memory_kept)) {
            continue;
        }
        if (last->size == 8) {
            memcpy((void *)last->address, last->bytes, 8);
        } else {
            memcpy((void *)last->address, last->bytes, last->size);
        }
    }
    size_t used = 0;
    for (size_t i = 0; i < start_count; i++) {
        memcpy((void *)starts[i].address, start_bytes + used, starts[i].size);
        used += starts[i].size;
    }
}

void rcx_start_keep(uintptr_t address, size_t size)
{
    if (start_count == start_room || start_used + size > start_bytes_room) {
        start_room += start_count == start_room ? 256 : 0;
        start_bytes_room = start_used + size + (1 << 16);
        starts = realloc(starts, start_room * sizeof *starts);
        start_bytes = realloc(start_bytes, start_bytes_room);
        if (starts == NULL || start_bytes == NULL) {
            abort();
        }
    }
    starts[start_count++] = (start){address, size};
    memcpy(start_bytes + start_used, (const void *)address, size);
    start_used += size;
}

void rcx_start_forget(void)
{
    start_count = 0;
    start_used = 0;
}

/* ---- Heap ---- */

/* In front of each block's memory, in the zone that nobody may touch. */
typedef struct tag {
    uint64_t magic;
    uint32_t block;
} tag;

static const uint64_t tag_magic = UINT64_C(0x7263782068656170);

static rcx_block blocks[BLOCKS];
static struct heap_now {
    size_t used[RCX_FIBERS];
    uint32_t blocks;
    uint64_t live, live_bytes;
} now, at_start;

/* Blocks of the start that this execution freed. */
static uint32_t *freed_at_start;
static uint32_t freed_count, freed_room;

bool rcx_heap_has(uintptr_t address)
{
    return address - heap < HEAP_BYTES;
}

static void mark_live(const rcx_block *block)
{
    uint8_t *at = heap_bytes + (block->address - heap) / GRANULE;
    memset(at, GRANULE, block->size / GRANULE);
    if (block->size % GRANULE != 0) {
        at[block->size / GRANULE] = (uint8_t)(block->size % GRANULE);
    }
}

static void mark_all(const rcx_block *block, uint8_t value)
{
    memset(heap_bytes + (block->address - heap) / GRANULE, value,
           (block->size + GRANULE - 1) / GRANULE);
}

void *rcx_heap_allocate(unsigned thread, size_t size, size_t alignment, rcx_place place)
{
    const size_t least = 16;
    size_t unit = alignment < least ? least : alignment;
    if (size > ARENA_BYTES || unit > ARENA_BYTES / 4 || now.blocks == BLOCKS) {
        return NULL;
    }
    uintptr_t arena = heap + (size_t)thread * ARENA_BYTES;
    uintptr_t at = (arena + now.used[thread] + REDZONE + unit - 1) / unit * unit;
    /* Aligned to what was asked for, and to no more. */
    at += at % (2 * unit) == 0 ? unit : 0;
    size_t end = at + size + REDZONE - arena;
    end = (end + least - 1) / least * least;
    if (end > ARENA_BYTES) {
        return NULL;
    }
    now.used[thread] = end;
    rcx_block *block = &blocks[now.blocks];
    *block = (rcx_block){at, size, true, thread, 0, place, 0};
    *(tag *)(at - sizeof(tag)) = (tag){tag_magic, now.blocks};
    now.blocks++;
    now.live++;
    now.live_bytes += size;
    mark_live(block);
    memset((void *)at, FRESH_BYTE, size);
    return (void *)at;
}

rcx_block *rcx_heap_block(uintptr_t address, rcx_block **dead)
{
    *dead = NULL;
    if (!rcx_heap_has(address) || address % 16 != 0 || address - heap < sizeof(tag)) {
        return NULL;
    }
    const tag *front = (const tag *)(address - sizeof(tag));
    if (front->magic != tag_magic || front->block >= now.blocks ||
        blocks[front->block].address != address) {
        return NULL;
    }
    rcx_block *block = &blocks[front->block];
    if (!block->live) {
        *dead = block;
        return NULL;
    }
    return block;
}

void rcx_heap_free(unsigned thread, rcx_block *block, rcx_place place)
{
    uint32_t index = (uint32_t)(block - blocks);
    block->live = false;
    block->free_thread = thread;
    block->freed = place;
    mark_all(block, FREED_GRANULE);
    now.live--;
    now.live_bytes -= block->size;
    if (index < at_start.blocks) {
        if (freed_count == freed_room) {
            freed_room = freed_room == 0 ? 64 : 2 * freed_room;
            freed_at_start = realloc(freed_at_start, freed_room * sizeof *freed_at_start);
            if (freed_at_start == NULL) {
                abort();
            }
        }
        freed_at_start[freed_count++] = index;
    }
}

const rcx_block *rcx_heap_near(uintptr_t address)
{
    for (uint32_t i = now.blocks; i-- > 0;) {
        if (address + REDZONE >= blocks[i].address &&
            address < blocks[i].address + blocks[i].size + REDZONE) {
            return &blocks[i];
        }
    }
    return NULL;
}

const rcx_block *rcx_heap_number(uint32_t index)
{
    return index < now.blocks ? &blocks[index] : NULL;
}

rcx_heap_state rcx_heap_look(uintptr_t address, size_t size)
{
    uintptr_t end = address + size;
    for (uintptr_t at = address; at < end; at = (at / GRANULE + 1) * GRANULE) {
        uint8_t bytes = heap_bytes[(at - heap) / GRANULE];
        if (bytes == GRANULE) {
            continue;
        }
        if (bytes == FREED_GRANULE) {
            return RCX_HEAP_FREED;
        }
        uintptr_t last = (at / GRANULE + 1) * GRANULE < end ? GRANULE : (end - 1) % GRANULE + 1;
        if (last > bytes) {
            return RCX_HEAP_OUTSIDE;
        }
    }
    return RCX_HEAP_FINE;
}

void rcx_heap_clear(void)
{
    at_start = (struct heap_now){.blocks = 0};
    freed_count = 0;
    rcx_heap_undo();
}

void rcx_heap_keep(void)
{
    at_start = now;
    freed_count = 0;
    for (uint32_t i = 0; i < now.blocks; i++) {
        if (blocks[i].live) {
            rcx_start_keep(blocks[i].address, blocks[i].size);
        }
    }
}

void rcx_heap_undo(void)
{
    for (uint32_t i = at_start.blocks; i < now.blocks; i++) {
        mark_all(&blocks[i], 0);
    }
    while (freed_count > 0) {
        rcx_block *block = &blocks[freed_at_start[--freed_count]];
        if (!RCX_SABOTAGED(blocks_kept)) {
            block->live = true;
            mark_live(block);
        }
    }
    now = at_start;
}

uint64_t rcx_heap_live_blocks(void)
{
    return now.live;
}

uint64_t rcx_heap_live_bytes(void)
{
    return now.live_bytes;
}
