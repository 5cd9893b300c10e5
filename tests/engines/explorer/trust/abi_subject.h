/* abi_subject: small programs that use what the compiler and the C library have, compiled with
 * -fsanitize=thread like litmus_subject.c. */
#ifndef TRUST_ABI_SUBJECT_H
#define TRUST_ABI_SUBJECT_H

#include <stddef.h>

#include "explorer.h"

typedef struct abi_case {
    const char *name;
    unsigned threads;
    void (*thread)(void *context, unsigned index);
    void (*check)(void *context);
    rcx_verdict verdict;
    rcx_failure_kind kind;
} abi_case;

typedef struct abi_subject {
    const char *build;
    size_t count;
    const abi_case *cases;
    void (*setup)(void *context);
} abi_subject;

#endif
