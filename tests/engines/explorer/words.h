/* words: what the steps of a trace did, and where, in words. For report.c. */
#ifndef RCX_WORDS_H
#define RCX_WORDS_H

#include "places.h"
#include "report.h"

enum {
    RCX_TEXT_BYTES = 1024,
    RCX_BLOCKS_SHOWN = 256, /* named B0, B1, ... */
    RCX_CHAIN_MAX = 64      /* functions around a place */
};

/* What does not fit is left out. */
typedef struct rcx_text {
    char bytes[RCX_TEXT_BYTES];
    size_t used;
} rcx_text;

/* A heap block that the report speaks of. */
typedef struct rcx_shown_block {
    uintptr_t address;
    size_t size;
    int born_step; /* -1: before the threads */
    rcx_place born;
} rcx_shown_block;

typedef struct rcx_story {
    const rcx_trace *trace;
    const rcx_names *names;
    rcx_places *places;
    int failing, other; /* steps, or -1 */
    unsigned block_count;
    rcx_shown_block blocks[RCX_BLOCKS_SHOWN]; /* in the order in which they were spoken of */
} rcx_story;

/* Fills `failing` and `other`. */
void rcx_find_parts(rcx_story *self);

void rcx_add(rcx_text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "B0+8", "counter", "a local variable of thread 1". */
void rcx_add_memory(rcx_story *self, rcx_text *to, uintptr_t address);
/* Small ones decimal; pointers to blocks by name; else 0x1_0000_0001. */
void rcx_add_value(rcx_story *self, rcx_text *to, rcx_value value, size_t size);
void rcx_add_thread(rcx_text *to, unsigned thread);
/* "thread 1 in drop_weak, from rc_release (rc.h:140), from race_release_own (race.h:40)" */
void rcx_add_chain(rcx_text *to, unsigned thread, const rcx_frame *frames, size_t count);
/* "load RELAXED B0: reads 1 (step 3, thread 0)", and what it is to the failure. */
void rcx_add_step(rcx_story *self, rcx_text *to, unsigned index);

/* The block at the address or next to it, with the number that it is shown under; -1: none. */
int rcx_block_of(rcx_story *self, uintptr_t address);

/* The functions around a place, the innermost first: of each, its line on the way to the place. Without
 * the system's headers and the explorer's own functions, unless there are no others. Returns how many; at
 * most RCX_CHAIN_MAX. */
size_t rcx_chain_of(const rcx_story *self, rcx_place place, const rcx_place *callers,
                    unsigned depth, rcx_frame *frames);
size_t rcx_chain_of_step(const rcx_story *self, const rcx_step *step, rcx_frame *frames);

/* Behind the last slash. */
const char *rcx_short_file(const char *file);
const char *rcx_order_name(int order);
const char *rcx_operation_name(const rcx_operation *operation);

#endif
