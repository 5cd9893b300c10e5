#include "fiber.h"

#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(__x86_64__) || !defined(__linux__)
#error "the explorer switches stacks and thread-local storage as Linux on x86-64 has them"
#endif

uintptr_t rcx_stacks;

enum { GUARD_BYTES = 4096, FSGSBASE_BIT = 2 };

static struct fiber {
    void *stack_pointer; /* while it does not run */
    uintptr_t storage;   /* FS base */
} fibers[RCX_FIBERS];

static void *outside; /* the stack pointer of whoever resumed */
static unsigned running;
static uintptr_t storage_now;
static bool fast_storage; /* the kernel lets programs write the FS base */

/* Saves what a call must keep, puts the stack pointer into *save and goes on where `to` was saved.
 * `used`: the compiler must not take the arguments away, which only the assembly reads. */
__attribute__((naked, noinline, used)) static void
switch_stacks(__attribute__((unused)) void **save, __attribute__((unused)) void *to)
{
    __asm__("pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
            "movq %rsp, (%rdi)\n\t"
            "movq %rsi, %rsp\n\t"
            "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\t"
            "ret");
}

static void set_storage(uintptr_t base)
{
    if (base == storage_now) {
        return;
    }
    storage_now = base;
    if (fast_storage) {
        __asm__ volatile("wrfsbase %0" ::"r"(base) : "memory");
    } else {
        syscall(SYS_arch_prctl, ARCH_SET_FS, base);
    }
}

static uintptr_t get_storage(void)
{
    uintptr_t base = 0;
    syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
    return base;
}

/* ---- The threads whose storage is borrowed ---- */

static pthread_mutex_t park = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t born;

static void *sleeper(void *argument)
{
    struct fiber *fiber = argument;
    fiber->storage = get_storage();
    pthread_barrier_wait(&born);
    /* For ever: whoever started it holds the mutex until the process ends. */
    pthread_mutex_lock(&park);
    return NULL;
}

bool rcx_fibers_start(void)
{
    void *stacks = mmap(NULL, RCX_STACKS_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) {
        return false;
    }
    rcx_stacks = (uintptr_t)stacks;
    for (unsigned i = 0; i < RCX_FIBERS; i++) {
        if (mprotect((char *)stacks + (size_t)i * RCX_STACK_BYTES, GUARD_BYTES, PROT_NONE) != 0) {
            return false;
        }
    }
    fast_storage = (getauxval(AT_HWCAP2) & FSGSBASE_BIT) != 0;
    storage_now = get_storage();
    fibers[RCX_FIBER_MAIN].storage = storage_now;
    pthread_mutex_init(&park, NULL);
    pthread_mutex_lock(&park);
    pthread_barrier_init(&born, NULL, RCX_FIBERS);
    for (unsigned i = 0; i < RCX_FIBER_MAIN; i++) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, (size_t)64 << 10);
        int error = pthread_create(&thread, &attributes, sleeper, &fibers[i]);
        pthread_attr_destroy(&attributes);
        if (error != 0) {
            errno = error;
            return false;
        }
    }
    pthread_barrier_wait(&born);
    return true;
}

void rcx_fiber_prepare(unsigned index, void (*entry)(void))
{
    enum { SAVED_REGISTERS = 6 };
    uintptr_t top = rcx_stacks + (size_t)(index + 1) * RCX_STACK_BYTES - 64;
    /* At a function's first instruction the stack is 8 below a multiple of 16. */
    uintptr_t *at = (uintptr_t *)(top / 16 * 16 - 8);
    *at = 0; /* no return address */
    *--at = (uintptr_t)entry;
    for (unsigned i = 0; i < SAVED_REGISTERS; i++) {
        *--at = 0;
    }
    fibers[index].stack_pointer = at;
}

void rcx_fiber_resume(unsigned index)
{
    running = index;
    set_storage(fibers[index].storage);
    switch_stacks(&outside, fibers[index].stack_pointer);
}

void rcx_fiber_yield(void)
{
    switch_stacks(&fibers[running].stack_pointer, outside);
}

unsigned rcx_fiber_of_stack(uintptr_t address)
{
    uintptr_t at = address - rcx_stacks;
    return at < RCX_STACKS_BYTES ? (unsigned)(at / RCX_STACK_BYTES) : RCX_FIBERS;
}

bool rcx_fiber_is_guard(uintptr_t address)
{
    uintptr_t at = address - rcx_stacks;
    return at < RCX_STACKS_BYTES && at % RCX_STACK_BYTES < GUARD_BYTES;
}

void rcx_fibers_rest(void)
{
    set_storage(fibers[RCX_FIBER_MAIN].storage);
}
