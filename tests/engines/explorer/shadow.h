/* shadow: what is known of each byte of memory: who accessed it when, whether it may be accessed at all,
 * and what it held before the execution.
 *
 * Races are found whatever the order in which accesses happened to run: an access is compared with all
 * that came before it, and two of them race if neither's thread knew of the other (clock.h).
 */
#ifndef RCX_SHADOW_H
#define RCX_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

typedef enum rcx_access {
    RCX_ATOMIC_READ,
    RCX_PLAIN_READ,
    RCX_ATOMIC_WRITE, /* read-modify-writes too */
    RCX_PLAIN_WRITE,
    RCX_FREE
} rcx_access;

/* A source place: the address of the code behind the access. Programs are linked below 4 GB. */
typedef uint32_t rcx_place;

typedef struct rcx_conflict {
    rcx_access other;
    unsigned other_thread;
    rcx_place other_place;
    bool ordered; /* the other happened before: use after free */
} rcx_conflict;

/* Once in a process. False: no memory. */
bool rcx_shadow_start(void);

/* Forgets all accesses. */
void rcx_shadow_forget(void);

/* Notes an access by `thread` at its time clock[thread]. False: it conflicts with an earlier one. Sizes up
 * to a block's. Cost: some 10 ns for each 8 bytes. */
bool rcx_shadow_access(unsigned thread, rcx_clock clock, uintptr_t address, size_t size,
                       rcx_access access, rcx_place place, rcx_conflict *conflict);

/* ---- Undoing ---- */

/* Keeps what the bytes hold now. */
void rcx_undo_keep(uintptr_t address, size_t size);
/* Puts everything kept back, the latest first. */
void rcx_undo_all(void);
/* What the bytes hold now comes back too, though nobody says that they changed: gcc does not report the
 * store of `*place = call()`. `rcx_start_forget` ends that. */
void rcx_start_keep(uintptr_t address, size_t size);
void rcx_start_forget(void);

/* ---- Heap ---- */

typedef enum rcx_heap_state {
    RCX_HEAP_FINE,
    RCX_HEAP_FREED,
    RCX_HEAP_OUTSIDE /* between blocks, or beyond the end of one */
} rcx_heap_state;

typedef struct rcx_block {
    uintptr_t address;
    size_t size;
    bool live;
    unsigned thread, free_thread;
    rcx_place born, freed;
} rcx_block;

/* Memory for `thread` (RCX_FIBER_MAIN: what runs before and after). Addresses depend on the thread and on
 * what it allocated before, and no address is used twice in an execution. NULL if it is too much. */
void *rcx_heap_allocate(unsigned thread, size_t size, size_t alignment, rcx_place place);
/* The live block that starts here, or NULL; *dead then is one that was there and is freed, or NULL. */
rcx_block *rcx_heap_block(uintptr_t address, rcx_block **dead);
void rcx_heap_free(unsigned thread, rcx_block *block, rcx_place place);
/* The block that the address lies in, or close to; or NULL. */
const rcx_block *rcx_heap_near(uintptr_t address);
/* Those of this execution in the order of their birth, the ones of the start first; NULL: no more. */
const rcx_block *rcx_heap_number(uint32_t index);

/* True if the address is the heap's. */
bool rcx_heap_has(uintptr_t address);
rcx_heap_state rcx_heap_look(uintptr_t address, size_t size);

/* Nothing is allocated, now and at the start. */
void rcx_heap_clear(void);
/* What is live now is what every execution starts with. */
void rcx_heap_keep(void);
/* As it was at rcx_heap_keep. */
void rcx_heap_undo(void);
uint64_t rcx_heap_live_blocks(void);
uint64_t rcx_heap_live_bytes(void);

#endif
