/* LIFE-01: an object begins with no strong reference, and its first handle is not counted. Known
 * bugs: row 143. */
#define STEPS_BIRTH (UINT64_C(1) << 32)
#include "../base/steps.h"
