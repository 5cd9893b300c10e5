/* abi: the entry points that gcc and clang call in code compiled with -fsanitize=thread. */
#include "abi.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "search.h"

/* The compilers declare these themselves; nobody else calls them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif

#define PLACE ((rcx_place)((uintptr_t)__builtin_return_address(0) - 1))

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    rcx_enter((rcx_place)((uintptr_t)caller - 1));
}

void __tsan_func_exit(void)
{
    rcx_leave();
}

/* ---- Plain accesses ---- */

#define PLAIN(name, size, writes)                                                                  \
    void name(void *address)                                                                       \
    {                                                                                              \
        rcx_plain((uintptr_t)address, size, writes, PLACE);                                        \
    }

#define PLAIN_SIZE(size)                                                                           \
    PLAIN(__tsan_read##size, size, false)                                                          \
    PLAIN(__tsan_write##size, size, true)                                                          \
    PLAIN(__tsan_unaligned_read##size, size, false)                                                \
    PLAIN(__tsan_unaligned_write##size, size, true)                                                \
    PLAIN(__tsan_volatile_read##size, size, false)                                                 \
    PLAIN(__tsan_volatile_write##size, size, true)                                                 \
    PLAIN(__tsan_unaligned_volatile_read##size, size, false)                                       \
    PLAIN(__tsan_unaligned_volatile_write##size, size, true)                                       \
    void __tsan_read_write##size(void *address)                                                    \
    {                                                                                              \
        rcx_plain((uintptr_t)address, size, false, PLACE);                                         \
        rcx_plain((uintptr_t)address, size, true, PLACE);                                          \
    }

PLAIN_SIZE(1)
PLAIN_SIZE(2)
PLAIN_SIZE(4)
PLAIN_SIZE(8)
PLAIN_SIZE(16)
PLAIN(__tsan_vptr_read, 8, false)

void __tsan_vptr_update(void *address, void *value)
{
    (void)value;
    rcx_plain((uintptr_t)address, 8, true, PLACE);
}

void __tsan_read_range(void *address, size_t size)
{
    rcx_plain((uintptr_t)address, size, false, PLACE);
}

void __tsan_write_range(void *address, size_t size)
{
    rcx_plain((uintptr_t)address, size, true, PLACE);
}

/* ---- Atomic operations ---- */

/* Compilers may set bits above the order. */
enum { ORDER_MASK = 0x7fff };

static rcx_value read_modify_write(void *address, unsigned size, rcx_function function,
                                   rcx_value operand, int order, rcx_place place)
{
    bool success = true;
    rcx_operation operation = {.kind = RCX_RMW,
                               .order = order & ORDER_MASK,
                               .size = size,
                               .address = (uintptr_t)address,
                               .function = function,
                               .operand = operand,
                               .place = place};
    return rcx_atomic(&operation, &success);
}

/* Returns the value found. */
static rcx_value compare_exchange(void *address, unsigned size, rcx_value expected,
                                  rcx_value desired, int order, int failure_order, bool weak,
                                  rcx_place place, bool *success)
{
    rcx_operation operation = {.kind = RCX_CAS,
                               .order = order & ORDER_MASK,
                               .failure_order = failure_order & ORDER_MASK,
                               .weak = weak,
                               .size = size,
                               .address = (uintptr_t)address,
                               .operand = desired,
                               .expected = expected,
                               .place = place};
    return rcx_atomic(&operation, success);
}

typedef uint8_t word8;
typedef uint16_t word16;
typedef uint32_t word32;
typedef uint64_t word64;
typedef unsigned __int128 word128;

#define RMW(n, name, function)                                                                     \
    word##n __tsan_atomic##n##_##name(void *address, word##n operand, int order)                   \
    {                                                                                              \
        return (word##n)read_modify_write(address, n / 8, function, operand, order, PLACE);        \
    }

#define COMPARE(n, name, weak)                                                                     \
    int __tsan_atomic##n##_compare_exchange_##name(void *address, word##n *expected,               \
                                                   word##n desired, int order, int failure_order)  \
    {                                                                                              \
        rcx_place place = PLACE;                                                                   \
        bool success = false;                                                                      \
        rcx_plain((uintptr_t)expected, n / 8, false, place);                                       \
        word##n found = (word##n)compare_exchange(address, n / 8, *expected, desired, order,       \
                                                  failure_order, weak, place, &success);           \
        if (!success) {                                                                            \
            rcx_plain((uintptr_t)expected, n / 8, true, place);                                    \
            *expected = found;                                                                     \
        }                                                                                          \
        return success;                                                                            \
    }

#define ATOMIC(n)                                                                                  \
    word##n __tsan_atomic##n##_load(const void *address, int order)                                \
    {                                                                                              \
        bool success = true;                                                                       \
        rcx_operation operation = {.kind = RCX_LOAD,                                               \
                                   .order = order & ORDER_MASK,                                    \
                                   .size = n / 8,                                                  \
                                   .address = (uintptr_t)address,                                  \
                                   .place = PLACE};                                                \
        return (word##n)rcx_atomic(&operation, &success);                                          \
    }                                                                                              \
    void __tsan_atomic##n##_store(void *address, word##n value, int order)                         \
    {                                                                                              \
        bool success = true;                                                                       \
        rcx_operation operation = {.kind = RCX_STORE,                                              \
                                   .order = order & ORDER_MASK,                                    \
                                   .size = n / 8,                                                  \
                                   .address = (uintptr_t)address,                                  \
                                   .operand = value,                                               \
                                   .place = PLACE};                                                \
        rcx_atomic(&operation, &success);                                                          \
    }                                                                                              \
    RMW(n, exchange, RCX_EXCHANGE)                                                                 \
    RMW(n, fetch_add, RCX_ADD)                                                                     \
    RMW(n, fetch_sub, RCX_SUB)                                                                     \
    RMW(n, fetch_and, RCX_AND)                                                                     \
    RMW(n, fetch_or, RCX_OR)                                                                       \
    RMW(n, fetch_xor, RCX_XOR)                                                                     \
    RMW(n, fetch_nand, RCX_NAND)                                                                   \
    COMPARE(n, strong, false)                                                                      \
    COMPARE(n, weak, true)                                                                         \
    word##n __tsan_atomic##n##_compare_exchange_val(void *address, word##n expected,               \
                                                    word##n desired, int order, int failure_order) \
    {                                                                                              \
        bool success = false;                                                                      \
        return (word##n)compare_exchange(address, n / 8, expected, desired, order, failure_order,  \
                                         false, PLACE, &success);                                  \
    }

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)
ATOMIC(128)

void __tsan_atomic_thread_fence(int order)
{
    rcx_fence(order & ORDER_MASK, PLACE);
}

/* Orders nothing between threads. */
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

/* ---- The C library, renamed ---- */

enum { MALLOC_ALIGNMENT = 16 };

void *rcx_malloc(size_t size)
{
    return rcx_allocate(size, MALLOC_ALIGNMENT, PLACE);
}

void *rcx_calloc(size_t count, size_t size)
{
    size_t whole = 0;
    if (__builtin_mul_overflow(count, size, &whole)) {
        return NULL;
    }
    void *block = rcx_allocate(whole, MALLOC_ALIGNMENT, PLACE);
    return block == NULL ? NULL : memset(block, 0, whole);
}

void *rcx_realloc(void *block, size_t size)
{
    void *bigger = rcx_allocate(size, MALLOC_ALIGNMENT, PLACE);
    if (bigger == NULL || block == NULL) {
        return bigger;
    }
    rcx_block *dead = NULL;
    const rcx_block *old = rcx_heap_block((uintptr_t)block, &dead);
    if (old != NULL) {
        size_t both = old->size < size ? old->size : size;
        rcx_plain((uintptr_t)block, both, false, PLACE);
        rcx_plain((uintptr_t)bigger, both, true, PLACE);
        memcpy(bigger, block, both);
    }
    rcx_release_block(block, PLACE);
    return bigger;
}

void *rcx_aligned_alloc(size_t alignment, size_t size)
{
    return rcx_allocate(size, alignment, PLACE);
}

int rcx_posix_memalign(void **block, size_t alignment, size_t size)
{
    void *memory = rcx_allocate(size, alignment, PLACE);
    if (memory == NULL) {
        return ENOMEM;
    }
    rcx_plain((uintptr_t)block, sizeof *block, true, PLACE);
    *block = memory;
    return 0;
}

void rcx_free(void *block)
{
    rcx_release_block(block, PLACE);
}

void *rcx_memcpy(void *to, const void *from, size_t size)
{
    rcx_plain((uintptr_t)from, size, false, PLACE);
    rcx_plain((uintptr_t)to, size, true, PLACE);
    return memcpy(to, from, size);
}

void *rcx_memmove(void *to, const void *from, size_t size)
{
    rcx_plain((uintptr_t)from, size, false, PLACE);
    rcx_plain((uintptr_t)to, size, true, PLACE);
    return memmove(to, from, size);
}

void *rcx_memset(void *to, int byte, size_t size)
{
    rcx_plain((uintptr_t)to, size, true, PLACE);
    return memset(to, byte, size);
}

int rcx_memcmp(const void *a, const void *b, size_t size)
{
    rcx_plain((uintptr_t)a, size, false, PLACE);
    rcx_plain((uintptr_t)b, size, false, PLACE);
    return memcmp(a, b, size);
}

/* clang calls these of its own for copies of structs. */
void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    return rcx_memcpy(to, from, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size)
{
    return rcx_memmove(to, from, size);
}

void *__tsan_memset(void *to, int byte, size_t size)
{
    return rcx_memset(to, byte, size);
}

/* ---- Mutexes ---- */

/* The word that says whether it is held, and the whole as glibc lays it out, with its kind. */
enum { MUTEX_BYTES = 4, MUTEX_WHOLE_BYTES = 40, MUTEX_KIND = 4 };

static void refuse_kind(const void *mutex)
{
    enum { RECURSIVE = 1, CHECKING = 2 };
    int kind = ((const int *)mutex)[MUTEX_KIND] & 3;
    if (kind == RECURSIVE || kind == CHECKING) {
        rcx_unsupported("a mutex of another kind than the plain one");
    }
}

static rcx_value mutex_operation(void *mutex, rcx_kind kind, rcx_value operand, int order,
                                 rcx_place place, bool *success)
{
    rcx_operation operation = {.kind = kind,
                               .order = order,
                               .failure_order = __ATOMIC_RELAXED,
                               .size = MUTEX_BYTES,
                               .address = (uintptr_t)mutex,
                               .operand = operand,
                               .place = place};
    return rcx_atomic(&operation, success);
}

int rcx_mutex_init(void *mutex, const void *attributes)
{
    (void)attributes;
    rcx_plain((uintptr_t)mutex, MUTEX_WHOLE_BYTES, true, PLACE);
    memset(mutex, 0, MUTEX_WHOLE_BYTES);
    return 0;
}

int rcx_mtx_init(void *mutex, int type)
{
    if (type != 0) {
        rcx_unsupported("a mutex of another kind than the plain one");
    }
    return rcx_mutex_init(mutex, NULL);
}

int rcx_mutex_destroy(void *mutex)
{
    rcx_plain((uintptr_t)mutex, MUTEX_WHOLE_BYTES, true, PLACE);
    return 0;
}

int rcx_mutex_lock(void *mutex)
{
    bool success = true;
    refuse_kind(mutex);
    mutex_operation(mutex, RCX_LOCK, 1, __ATOMIC_ACQUIRE, PLACE, &success);
    return 0;
}

int rcx_mutex_trylock(void *mutex)
{
    bool success = false;
    refuse_kind(mutex);
    mutex_operation(mutex, RCX_CAS, 1, __ATOMIC_ACQUIRE, PLACE, &success);
    return success ? 0 : EBUSY;
}

int rcx_mutex_unlock(void *mutex)
{
    bool success = true;
    mutex_operation(mutex, RCX_UNLOCK, 0, __ATOMIC_RELEASE, PLACE, &success);
    return 0;
}

int rcx_yield(void)
{
    return 0;
}

/* ---- Other names of the same: a tool that renames gives no two names one target ---- */

#define ALIAS(of) __attribute__((alias(#of)))

int rcx_mtx_destroy(void *mutex) ALIAS(rcx_mutex_destroy);
int rcx_mtx_lock(void *mutex) ALIAS(rcx_mutex_lock);
int rcx_mtx_trylock(void *mutex) ALIAS(rcx_mutex_trylock);
int rcx_mtx_unlock(void *mutex) ALIAS(rcx_mutex_unlock);
int rcx_thrd_yield(void) ALIAS(rcx_yield);
void *rcx_Znwm(size_t size) ALIAS(rcx_malloc);
void *rcx_Znam(size_t size) ALIAS(rcx_malloc);
void rcx_ZdlPv(void *block) ALIAS(rcx_free);
void rcx_ZdlPvm(void *block, size_t size) ALIAS(rcx_free);
void rcx_ZdaPv(void *block) ALIAS(rcx_free);
void rcx_ZdaPvm(void *block, size_t size) ALIAS(rcx_free);

/* C++ with an alignment, or without an exception. */

void *rcx_ZnwmSt11align_val_t(size_t size, size_t alignment)
{
    return rcx_allocate(size, alignment, PLACE);
}

void *rcx_ZnamSt11align_val_t(size_t size, size_t alignment) ALIAS(rcx_ZnwmSt11align_val_t);
void *rcx_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow) ALIAS(rcx_malloc);
void *rcx_ZnamRKSt9nothrow_t(size_t size, const void *nothrow) ALIAS(rcx_malloc);
void rcx_ZdlPvSt11align_val_t(void *block, size_t alignment) ALIAS(rcx_free);
void rcx_ZdlPvmSt11align_val_t(void *block, size_t size, size_t alignment) ALIAS(rcx_free);
void rcx_ZdaPvSt11align_val_t(void *block, size_t alignment) ALIAS(rcx_free);
void rcx_ZdaPvmSt11align_val_t(void *block, size_t size, size_t alignment) ALIAS(rcx_free);
