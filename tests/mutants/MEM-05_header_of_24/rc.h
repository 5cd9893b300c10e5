/* MEM-05: the header has 24 bytes, and the payload behind it is aligned to 8. Known bugs: row 103. */
#define STEPS_ALIGN _Alignas(8)
#define STEPS_PADDING 8
#include "../base/steps.h"
