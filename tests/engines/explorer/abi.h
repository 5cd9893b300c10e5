/* abi: what code under search calls in place of the C library, by renaming in its object files.
 *
 * The compiler's own calls, __tsan_*, are declared by nobody: it makes them. */
#ifndef RCX_ABI_H
#define RCX_ABI_H

#include <stddef.h>

void *rcx_malloc(size_t size);
void *rcx_calloc(size_t count, size_t size);
void *rcx_realloc(void *block, size_t size);
void *rcx_aligned_alloc(size_t alignment, size_t size);
int rcx_posix_memalign(void **block, size_t alignment, size_t size);
void rcx_free(void *block);

void *rcx_memcpy(void *to, const void *from, size_t size);
void *rcx_memmove(void *to, const void *from, size_t size);
void *rcx_memset(void *to, int byte, size_t size);
int rcx_memcmp(const void *a, const void *b, size_t size);

/* pthread_mutex_ and mtx_ alike: 0 is what both call success. The mutex's own first four bytes say
 * whether it is held. */
int rcx_mutex_init(void *mutex, const void *attributes);
int rcx_mutex_destroy(void *mutex);
int rcx_mutex_lock(void *mutex);
int rcx_mutex_trylock(void *mutex);
int rcx_mutex_unlock(void *mutex);
int rcx_yield(void);

#endif
