/* sabotage: breaks the explorer on purpose, to see that its tests notice. Nothing of it is left unless
 * RCX_SABOTAGE is defined. */
#ifndef RCX_SABOTAGE_H
#define RCX_SABOTAGE_H

#ifdef RCX_SABOTAGE

#define SABOTAGE(name, what) RCX_SABOTAGE_##name,
enum {
    RCX_SABOTAGE_NONE,
#include "sabotage.def"
};
#undef SABOTAGE

extern int rcx_sabotage;
#define RCX_SABOTAGED(name) (rcx_sabotage == RCX_SABOTAGE_##name)

#else

#define RCX_SABOTAGED(name) 0

#endif
#endif
