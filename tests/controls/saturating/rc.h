/* saturating: counts that stop at their maximum and stay there, in both builds. Correct: what saturates
 * is neither finalized nor freed, and nothing traps. */
#define NARROW_WORD uint64_t
#define NARROW_STRONG_BITS 31
#define NARROW_OVERFLOW RC_OVERFLOW_SATURATE
#include "../../mutants/base/narrow.h"
