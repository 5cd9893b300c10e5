/* program: small programs of threads, as data. The litmus programs and the random ones are written in it;
 * enumerate.c says what they may do, and the explorer is asked the same.
 *
 * Locations hold 32 bits and are 0 at first. Every operation that reads leaves its value in a register
 * of its own. All numbers in a program are small; nothing is checked beyond program_valid().
 */
#ifndef TRUST_PROGRAM_H
#define TRUST_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PROGRAM_THREADS_MAX = 4,
    PROGRAM_OPERATIONS_MAX = 10, /* of one thread, conditions included */
    PROGRAM_LOCATIONS_MAX = 7,   /* x, y, z, a, f and two mutexes, m and n */
    PROGRAM_REGISTERS_MAX = 16
};

typedef enum program_kind {
    PROGRAM_END, /* of the thread */
    PROGRAM_LOAD,
    PROGRAM_STORE,
    PROGRAM_ADD,
    PROGRAM_EXCHANGE,
    PROGRAM_CAS,
    PROGRAM_CAS_WEAK,
    PROGRAM_FENCE,
    PROGRAM_READ,  /* plain */
    PROGRAM_WRITE, /* plain */
    PROGRAM_FREE,  /* of the location's block */
    PROGRAM_LOCK,  /* the location is a mutex */
    PROGRAM_UNLOCK,
    PROGRAM_IF,    /* the next operation is skipped unless the register holds the value */
    PROGRAM_IF_OK, /* ... unless the register is of a compare-exchange that stored */
    PROGRAM_KINDS
} program_kind;

typedef struct program_operation {
    program_kind kind;
    unsigned location;
    unsigned reg;      /* where what it reads goes; of a condition: what it looks at */
    uint32_t value;    /* to store, to add, or to compare with */
    uint32_t expected; /* of a compare-exchange */
    int order;         /* __ATOMIC_* */
    int failure;       /* ... of a compare-exchange that does not store */
} program_operation;

typedef struct program {
    program_operation operation[PROGRAM_THREADS_MAX][PROGRAM_OPERATIONS_MAX];
} program;

/* What one execution left. Compared as bytes: what is not used is 0. */
typedef enum program_state { REGISTER_UNSET, REGISTER_READ, REGISTER_STORED } program_state;

typedef struct program_outcome {
    uint32_t reg[PROGRAM_REGISTERS_MAX];
    uint32_t last[PROGRAM_LOCATIONS_MAX]; /* what is last in modification order; 0 when freed */
    unsigned char state[PROGRAM_REGISTERS_MAX]; /* program_state; STORED: of a compare-exchange */
    unsigned char freed[8];                     /* by location; as many as leave no padding */
} program_outcome;
_Static_assert(sizeof(program_outcome) ==
                   4 * (PROGRAM_REGISTERS_MAX + PROGRAM_LOCATIONS_MAX) + PROGRAM_REGISTERS_MAX + 8,
               "no padding");

/* Threads that have operations are the first ones. */
unsigned program_threads(const program *p);
unsigned program_length(const program *p, unsigned thread);
/* Locations used: all below this one. */
unsigned program_locations(const program *p);
/* True when a location is freed somewhere. */
bool program_frees(const program *p, unsigned location);

bool program_reads(program_kind kind);
bool program_may_write(program_kind kind);
bool program_is_condition(program_kind kind);
/* Each thread unlocks what it locked, once, without a condition. */
bool program_mutexes_pair(const program *p);

void program_print(const program *p, FILE *out);
/* Only the registers that `p` sets. */
void program_print_outcome(const program *p, const program_outcome *outcome, FILE *out);

/* A set of outcomes. Zeroed, it is empty. */
typedef struct outcome_set {
    program_outcome *item;
    size_t count, capacity;
    uint32_t *slot; /* 0: free; else the item's number + 1 */
    size_t slots;
} outcome_set;

/* Both end the process when memory is out: these are tests. */
void outcome_set_add(outcome_set *set, const program_outcome *outcome);
bool outcome_set_has(const outcome_set *set, const program_outcome *outcome);
void outcome_set_clear(outcome_set *set);
void outcome_set_free(outcome_set *set);
/* An item of `a` that `b` lacks, or NULL. */
const program_outcome *outcome_set_missing(const outcome_set *a, const outcome_set *b);

#endif
