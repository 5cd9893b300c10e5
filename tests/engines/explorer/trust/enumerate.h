/* enumerate: what a program may do, from the axioms alone. Nothing is executed and nothing is shared with
 * the explorer: every candidate (which store each read reads from, which order each location's stores
 * have) is built whole and kept if the axioms of RC11 hold. Sources: Lahav, Vafeiadis, Kang, Hur, Dreyer,
 * "Repairing sequential consistency in C/C++11", PLDI 2017, section 3; release sequences as C++20 has
 * them (P0982).
 */
#ifndef TRUST_ENUMERATE_H
#define TRUST_ENUMERATE_H

#include "program.h"

/* What some consistent execution contains, as bits. */
enum {
    ANSWER_RACE = 1, /* conflicting accesses, one plain, neither happens before the other */
    ANSWER_USE_AFTER_FREE = 2, /* an access that does not happen before the free */
    ANSWER_DOUBLE_FREE = 4,
    ANSWER_DEADLOCK = 8 /* threads wait for mutexes that stay locked */
};

typedef struct program_answer {
    uint64_t graphs; /* consistent executions. A weak compare-exchange that fails without reason
                           * is another one than where it stores. */
    unsigned bad;    /* ANSWER_*; when it is not 0, the rest need not agree with the explorer's */
    outcome_set outcomes;
    bool race_is_free;   /* an access and a free, unordered: called a race or a use after free */
    uint64_t candidates; /* executions that were looked at */
} program_answer;

/* False when more than `budget` candidates would be needed, or the program is too large; the answer is
 * then incomplete. `answer` is zeroed or was used before; outcome_set_free() its outcomes at the end. */
bool program_enumerate(const program *p, uint64_t budget, program_answer *answer);

#endif
