/* verdict: how a test in its own process tells the runner what came of it.
 *
 * A line on descriptor RCB_VERDICT_FD. A process that ends without one has failed, whatever its exit
 * status: an implementation that calls exit(0) proves nothing.
 */
#ifndef RCB_VERDICT_H
#define RCB_VERDICT_H

#include "contract.h"

#define RCB_VERDICT_FD 3

/* Says that the test failed and ends the process. Any thread, any number of times; the first counts.
 * `line` 0: no place in a source. Texts must not contain a tab or a newline. */
RC_NORETURN void rcb_fail(const char *file, int line, const char *expected, const char *came);

/* The same, and the failure is another clause's than the one under test ("LIFE-03"). */
RC_NORETURN void rcb_fail_clause(const char *clause, const char *file, int line,
                                 const char *expected, const char *came);

/* Says that the test passed. Once, at the end. */
void rcb_pass(void);

/* Says that a trap came, and ends the process. What rc_trap does here. */
RC_NORETURN void rcb_trapped(int kind);

#endif
