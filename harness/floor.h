/* floor: what no strategy can beat on this machine.
 *
 * Dressed as an implementation so that the same harness runs it, between the others, under the same
 * clock. It counts nothing and is never ranked. Its rows:
 *
 *   retain_release/locked_pair   one locked add and one locked subtract, results unused, of a word in
 *                                the thread's own line, or of one word that all threads share: the
 *                                limit of a retain and a release by read-modify-write
 *   retain_release/plain_pair    a plain add and a plain subtract of memory: the limit of a strategy
 *                                that counts without atomics; private only
 *   new_release/allocate_free    malloc and free, or je_malloc and je_free, of as many bytes as
 *                                packed64 takes for the same payload, and one store: the limit of an
 *                                object's life in one allocation
 *
 * The loops have the compiler barriers of the workloads of the same name, so a difference is what a
 * strategy adds. `null` is below the floor: it is what the loop itself costs.
 */
#ifndef RCL_FLOOR_H
#define RCL_FLOOR_H

#include "workload.h"

extern const rcl_impl rcl_floor;

#endif
