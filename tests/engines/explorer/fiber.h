/* fiber: the threads of the program under search, as stacks that one thread of the system runs in turn.
 *
 * Each has thread-local storage of its own: that of a thread that was started once and sleeps, whose FS
 * base is set before the fiber runs. It also keeps libraries from taking a process for one of a single
 * thread. Linux on x86-64.
 */
#ifndef RCX_FIBER_H
#define RCX_FIBER_H

#include <stdbool.h>
#include <stdint.h>

enum { RCX_FIBERS = 5 }; /* four threads, and the last for what comes before and after them */
enum { RCX_FIBER_MAIN = RCX_FIBERS - 1 };

/* Makes stacks and storage; once in a process, after a fork. False: errno says why. */
bool rcx_fibers_start(void);

/* The next rcx_fiber_resume of it runs `entry` from the start, on an empty stack. An entry may not
 * return: it ends in rcx_fiber_yield. */
void rcx_fiber_prepare(unsigned index, void (*entry)(void));

/* Called outside fibers: runs it until it yields. */
void rcx_fiber_resume(unsigned index);

/* Called on a fiber: back to whoever resumed it. */
void rcx_fiber_yield(void);

/* Whose stack holds the address, or RCX_FIBERS. */
unsigned rcx_fiber_of_stack(uintptr_t address);

/* The end of a stack, and its room, for a handler that tells an overflow. */
bool rcx_fiber_is_guard(uintptr_t address);

/* Outside fibers: the process has its own storage again. */
void rcx_fibers_rest(void);

extern uintptr_t rcx_stacks; /* start of all of them, RCX_STACKS_BYTES long */
enum { RCX_STACK_BYTES = 256 << 10, RCX_STACKS_BYTES = RCX_FIBERS * RCX_STACK_BYTES };

#endif
