/* LIFE-01: a new object has a weak reference beside the implicit one: its memory never comes back. */
#define STEPS_BIRTH (UINT64_C(2) << 32 | 1)
#include "../base/steps.h"
