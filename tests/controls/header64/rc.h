/* header64: a header of 64 bytes, so that the counts have a cache line of their own where blocks are
 * aligned so. Correct: the contract asks for the payload's alignment, not for a small header. */
#define STEPS_PADDING 48
#include "../../mutants/base/steps.h"
