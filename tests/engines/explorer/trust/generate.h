/* generate: random programs, of one kind or another. */
#ifndef TRUST_GENERATE_H
#define TRUST_GENERATE_H

#include "program.h"

/* What is likely in a program. */
typedef struct profile {
    const char *name;
    unsigned weight[PROGRAM_KINDS];
    unsigned locations;  /* at most */
    unsigned operations; /* in all threads, at most */
    unsigned condition;  /* per cent of operations behind a read that get one */
    unsigned seq_cst;    /* per cent of orders */
    unsigned relaxed;    /* per cent of the rest; the others release and acquire */
    bool quiet;          /* of the locations the last is only read, plainly or not */
    bool sections;       /* threads lock mutexes around some of their operations */
    bool from_litmus;    /* a litmus program, changed */
} profile;

extern const profile profiles[];
extern const unsigned profile_count;

/* The same program for the same profile and seed. */
program program_generate(const profile *of, uint64_t seed);

#endif
