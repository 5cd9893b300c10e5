/* narrow16: 16 bits of strong and 15 of weak count in one 32-bit word. Correct: the limits are small,
 * but they are what it declares, and it traps at them in both builds. */
#define NARROW_WORD uint32_t
#define NARROW_STRONG_BITS 16
#define NARROW_OVERFLOW RC_OVERFLOW_TRAP
#include "../../mutants/base/narrow.h"
