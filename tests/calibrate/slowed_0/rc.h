/* packed64, its release slowed; see ../slowed.h. */
#define RCL_SLOWED_STEPS 0
#include "../slowed.h"
