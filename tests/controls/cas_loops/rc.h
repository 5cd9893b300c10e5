/* cas_loops: every change of a count is a compare-exchange loop. Correct: a fetch_sub is no part of
 * the contract. */
#define NARROW_WORD uint64_t
#define NARROW_STRONG_BITS 32
#define NARROW_OVERFLOW RC_OVERFLOW_UNCHECKED
#include "../../mutants/base/narrow.h"
