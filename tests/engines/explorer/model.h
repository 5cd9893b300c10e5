/* model: what an atomic operation may see, and what it tells others.
 *
 * A location is a word that atomic operations have touched in this execution. It keeps every store to it,
 * in modification order, and every read. A thread may read any store that is not hidden from it by a
 * later one that it knows of, itself or by a read. A store goes anywhere behind what its thread knows of,
 * but never between a read-modify-write and the store that it read.
 */
#ifndef RCX_MODEL_H
#define RCX_MODEL_H

#include "clock.h"
#include "shadow.h"

enum {
    RCX_STORES_MAX = 128, /* to one location in one execution */
    RCX_LOCATIONS_MAX = 96,
    RCX_READS_MAX = 512, /* of one location */
    RCX_EVENTS_MAX = 1024,
    RCX_GAPS_MAX = 2,      /* of a thread, from one atomic operation to the next */
    RCX_NO_EVENT = 0xffff, /* of a plain store */
    RCX_NOBODY = 0xff      /* whose store was there before */
};

typedef unsigned __int128 rcx_value;

typedef struct rcx_store {
    rcx_value value;
    rcx_clock released; /* what an acquiring reader learns */
    uint32_t created;   /* rcx_model.sequence at its birth */
    uint16_t time;
    uint16_t event; /* in the log; that of the initial store means nothing */
    uint8_t thread;
    bool
        exchanged; /* by a read-modify-write, whose source stands before it in modification order */
    bool taken;    /* a read-modify-write read it */
} rcx_store;

typedef struct rcx_read {
    uint16_t time;
    uint8_t thread;
    uint8_t store;
} rcx_read;

typedef struct rcx_location {
    uintptr_t address;
    unsigned size;
    struct rcx_location *next; /* of the same granule's bucket */
    uint32_t newest;           /* rcx_model.sequence when something came that a sleeper must see */
    bool plain_pending;        /* a plain store whose value is in memory by now */
    uint8_t plain_thread;
    uint16_t plain_time;
    unsigned store_count, read_count;
    uint8_t order[RCX_STORES_MAX]; /* modification order, the oldest first: indices into stores */
    rcx_store stores[RCX_STORES_MAX];
    rcx_read reads[RCX_READS_MAX];
} rcx_location;

typedef enum rcx_kind {
    RCX_LOAD,
    RCX_STORE,
    RCX_RMW,
    RCX_CAS,
    RCX_FENCE,
    RCX_LOCK,   /* of a mutex: waits until it reads 0 */
    RCX_UNLOCK, /* a store of 0 */
    RCX_GAP     /* in the log: a plain access between two atomic operations */
} rcx_kind;

typedef enum rcx_function {
    RCX_EXCHANGE,
    RCX_ADD,
    RCX_SUB,
    RCX_AND,
    RCX_OR,
    RCX_XOR,
    RCX_NAND
} rcx_function;

typedef struct rcx_operation {
    rcx_kind kind;
    int order, failure_order; /* __ATOMIC_ numbers */
    bool weak;
    unsigned size;
    uintptr_t address;
    rcx_function function;
    rcx_value operand;  /* what is stored, added, desired */
    rcx_value expected; /* CAS */
    rcx_place place;
    rcx_location *location; /* filled by the search */
} rcx_operation;

/* An atomic operation that was done. */
typedef struct rcx_event {
    rcx_kind kind;
    int order; /* of a failed CAS: the failure's */
    uint8_t thread;
    bool reads, writes, spurious;
    uint16_t time;
    uint16_t location;
    uint8_t source, store; /* indices in the location, if it reads, writes */
    uint16_t number;       /* of the thread's events */
    uintptr_t gap_address; /* GAP */
    size_t gap_size;
    rcx_clock clock; /* what its thread knows from here on */
    rcx_place place;
    rcx_value read_value, written_value;
} rcx_event;

typedef struct rcx_thread {
    rcx_clock clock;
    rcx_clock fence_released; /* at its last release fence */
    rcx_clock acquirable;     /* what an acquire fence would learn */
    unsigned events;
    unsigned gap_count; /* since its last atomic operation; the latest of them: */
    uintptr_t gap_address;
    size_t gap_size;
} rcx_thread;

typedef struct rcx_model {
    rcx_thread threads[RCX_THREADS_MAX];
    rcx_location *locations;
    unsigned location_count;
    rcx_event events[RCX_EVENTS_MAX];
    unsigned event_count;
    uint32_t sequence;
    bool sc;          /* a seq_cst operation has been done */
    bool wide;        /* there is a location of 16 bytes */
    const char *full; /* a limit above that was met; or NULL */
} rcx_model;

extern rcx_model rcx_now;

/* Once in a process. */
bool rcx_model_start(void);
/* A new execution. */
void rcx_model_begin(unsigned threads);

/* The location of an access; a new one takes its first store from memory, the last plain write's. NULL:
 * another location overlaps it (mixed sizes), or there are too many. */
rcx_location *rcx_model_location(uintptr_t address, unsigned size);
/* The location at the address, if there is one. */
rcx_location *rcx_model_find(uintptr_t address, size_t size);

/* What the operation may read, the newest in modification order first. With `since`, only what was
 * created later. `out` has room for RCX_STORES_MAX. Bit RCX_SPURIOUS: the same store, and the weak
 * compare-exchange fails though it finds what it expects. */
enum { RCX_SPURIOUS = 0x80 };
unsigned rcx_model_readable(unsigned thread, const rcx_operation *operation, uint32_t since,
                            bool spurious, uint8_t *out);
/* Does it, reading that store. Returns the value read; *success: of a CAS. */
rcx_value rcx_model_read(unsigned thread, const rcx_operation *operation, uint8_t source,
                         bool *success);

/* Where in modification order a store may go, the last place first. */
unsigned rcx_model_places(unsigned thread, const rcx_location *location, uint8_t *out);
void rcx_model_store(unsigned thread, const rcx_operation *operation, uint8_t place);

void rcx_model_fence(unsigned thread, int order, rcx_place place);

/* A plain access took place; a write changes what atomic reads find there. */
void rcx_model_plain(unsigned thread, uintptr_t address, size_t size, bool writes);
/* The block is gone: who sleeps there must look. */
void rcx_model_freed(uintptr_t address, size_t size);

/* What the function makes of the two, cut to `size` bytes. */
rcx_value rcx_model_compute(rcx_function function, rcx_value old, rcx_value operand, unsigned size);
rcx_value rcx_memory_get(uintptr_t address, unsigned size);
/* Keeps the old bytes for undo. */
void rcx_memory_set(uintptr_t address, unsigned size, rcx_value value);

/* sc.c: true if what is in the log can be put into one order of its seq_cst operations (psc of RC11 has
 * no cycle). */
bool rcx_sc_consistent(void);

uint64_t rcx_model_hash(void);

#endif
