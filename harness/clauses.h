/* clauses: the specification, as a table. Its rows stand in tests/conformance/clauses.def; this is how
 * the program reads them. */
#ifndef RCL_CLAUSES_H
#define RCL_CLAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum rcl_level {
    RCL_LEVEL_REQUIRED, /* must hold */
    RCL_LEVEL_DECLARED, /* must match what the implementation defines: RC_IMPL_OVERFLOW and its like */
    RCL_LEVEL_NOTED     /* recorded, never fails a run */
} rcl_level;

/* What puts a clause to the test; a clause names one or several. */
typedef enum rcl_engine {
    RCL_ENGINE_ORACLE = 1,    /* random sequences against a model */
    RCL_ENGINE_DEATH = 2,     /* misuse in a process of its own */
    RCL_ENGINE_NATIVE = 4,    /* threads, delays, many rounds */
    RCL_ENGINE_SANITIZER = 8, /* AddressSanitizer, UndefinedBehaviorSanitizer, ThreadSanitizer */
    RCL_ENGINE_EXPLORER = 16, /* every interleaving */
    RCL_ENGINE_COUNTER = 32   /* atomic operations, counted */
} rcl_engine;

enum { RCL_ENGINE_COUNT = 6, RCL_ENGINE_ALL = 63 };

/* Beside the RC_CAP_ bits in rcl_clause.needs: RC_IMPL_OVERFLOW is RC_OVERFLOW_SATURATE. */
#define RCL_NEEDS_SATURATION (1u << 15)
/* Applies only to an implementation that lacks this bit. */
#define RCL_WITHOUT(bits) ((bits) << 16)

typedef struct rcl_clause {
    const char *id; /* "LIFE-01" */
    rcl_level level;
    unsigned needs;   /* RC_CAP_ bits, RCL_NEEDS_SATURATION, and RCL_WITHOUT() of either */
    unsigned engines; /* rcl_engine bits */
    const char *sentence;
} rcl_clause;

/* All clauses in the order of the specification. Static. */
extern const rcl_clause rcl_clauses[];
extern const size_t rcl_clause_count;

/* NULL if there is no such clause. */
const rcl_clause *rcl_clause_find(const char *id);

/* True if `list`, ids and areas separated by commas, has the clause; NULL has all. Case counts. */
bool rcl_clause_listed(const char *list, const rcl_clause *clause);

/* The first entry of `list` that names no clause and no area, with its length; NULL if all do. */
const char *rcl_clause_list_error(const char *list, size_t *length);

const char *rcl_level_name(rcl_level level);    /* "REQUIRED" */
const char *rcl_engine_name(rcl_engine engine); /* "oracle" */
/* False if there is no engine of that name. */
bool rcl_engine_parse(const char *name, size_t length, rcl_engine *engine);

/* "oracle, native": the engines of a set, in words; "none" for the empty one. */
void rcl_engine_names(unsigned engines, char *text, size_t size);
/* The bits of `needs` that an implementation with these bits does not meet, in the form of `needs`. */
unsigned rcl_needs_unmet(unsigned needs, unsigned has);
/* "RC_CAP_WEAK, no RC_CAP_THREADS": bits as in rcl_clause.needs. */
void rcl_needs_names(unsigned needs, char *text, size_t size);

/* Prints the specification, or of it what `list` names. False if that failed. */
bool rcl_clauses_print(FILE *out, const char *list);
bool rcl_clauses_print_markdown(FILE *out, const char *list);

#endif
