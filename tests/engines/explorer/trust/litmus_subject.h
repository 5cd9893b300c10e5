/* litmus_subject: the programs of litmus.def as C11, compiled with -fsanitize=thread by each compiler at each
 * level. */
#ifndef TRUST_LITMUS_SUBJECT_H
#define TRUST_LITMUS_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

enum { LITMUS_BLOCK = 4 }; /* the number of f */

typedef struct litmus_subject {
    const char *build; /* "gcc -O2" */
    int weak_is_weak;  /* the compiler tells weak compare-exchanges from strong ones */
    size_t count;      /* the list's, in its order */
    const char *const *names;
    void (*const *threads)(void *context, unsigned index);
    void (*setup)(void *context);
    void (*check)(void *context);
    const void *locations[7]; /* x, y, z, a, f, m, n; what is stored last, when all have ended */
    const uint64_t *freed;    /* f is */
    const uint64_t *values, *states; /* registers; a state is a program_state */
} litmus_subject;

#endif
