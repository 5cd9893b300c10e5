/* LIFE-01: a new object has two strong references: rc_new counts its own, and the handle that it
 * gives. */
#define STEPS_BIRTH (UINT64_C(1) << 32 | 2)
#include "../base/steps.h"
