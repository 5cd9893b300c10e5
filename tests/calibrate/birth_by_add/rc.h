/* birth_by_add: packed64, but a new object's count is raised from zero by an atomic addition, as where a handle
 * is made of a bare object, instead of stored. For one question: what does that cost at birth?
 *
 *   make bench IMPL=tests/calibrate/birth_by_add/rc.h
 */
#include <stdatomic.h>

#undef atomic_init
/* RELAXED, as the store that it replaces: nobody else has the object yet. */
#define atomic_init(word, value)                                                                   \
    (atomic_store_explicit(word, 0, memory_order_relaxed),                                         \
     (void)atomic_fetch_add_explicit(word, value, memory_order_relaxed))

#include "packed64/rc.h"
