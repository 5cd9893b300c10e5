/* packed64, its release slowed; see ../slowed.h. */
#define RCL_SLOWED_STEPS 8
#include "../slowed.h"
