/* litmus: programs whose answers were published (litmus.def). */
#ifndef TRUST_LITMUS_H
#define TRUST_LITMUS_H

#include <stddef.h>

#include "program.h"

typedef enum litmus_verdict {
    LITMUS_ALLOWED,
    LITMUS_FORBIDDEN,
    LITMUS_RACES,
    LITMUS_DEADLOCKS,
    LITMUS_USES_FREED,
    LITMUS_DOUBLE_FREED
} litmus_verdict;

/* What the enumeration has to find, as ANSWER_ bits. */
unsigned litmus_bad(litmus_verdict verdict);

typedef enum litmus_term_kind {
    TERM_END,
    TERM_IS,
    TERM_STORED,
    TERM_FAILED,
    TERM_LAST
} litmus_term_kind;

enum { LITMUS_TERMS_MAX = 8 };

typedef struct litmus {
    const char *name;
    litmus_verdict verdict;
    program program;
    struct {
        litmus_term_kind kind;
        unsigned number; /* register or location */
        uint32_t value;
    } outcome[LITMUS_TERMS_MAX];
} litmus;

extern const litmus litmus_list[];
extern const size_t litmus_count;

/* True when one of them is the outcome that the litmus is about. */
bool litmus_shows(const litmus *l, const outcome_set *outcomes);

#endif
