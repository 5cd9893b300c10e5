/* tensor_list: what does a growing list of tensors cost when growth copies, and when it moves?
 *
 * Variants: copy, each element of the old array gets a new reference in the new one and the old one
 * is released (+1 -1, 60 times a list); move, the handles' bytes are moved and no count changes.
 * One operation: one list, filled with 64 different tensors from empty (arrays of 4, 8, 16, 32,
 * 64), then dropped. Filling retains 64 times and dropping releases 64 times in both variants.
 * Left out: lists of tensors that several threads hold.
 */
#include "tensor_work.h"

#define TENSOR_LIST_LENGTH 64
#define TENSOR_LIST_FIRST_CAPACITY 4

typedef struct tensor_list_state {
    tensor elements[TENSOR_LIST_LENGTH];
} tensor_list_state;

typedef struct tensor_list {
    tensor *items;
    size_t length;
    size_t capacity;
} tensor_list;

static inline bool tensor_list_grow(tensor_list *list, bool by_copy)
{
    size_t capacity = list->capacity == 0 ? TENSOR_LIST_FIRST_CAPACITY : list->capacity * 2;
    tensor *items = rc_mem_alloc(capacity * sizeof *items);
    if (items == NULL) {
        return false;
    }
    if (by_copy) {
        for (size_t i = 0; i < list->length; i++) {
            items[i] = tensor_new_retained(list->items[i]);
        }
        rcl_clobber();
        rcl_objects_are_dead();
        for (size_t i = 0; i < list->length; i++) {
            tensor_release(list->items[i]);
        }
    } else if (list->length > 0) {
        memcpy(items, list->items, list->length * sizeof *items);
    }
    rc_mem_free(list->items, list->capacity * sizeof *items);
    list->items = items;
    list->capacity = capacity;
    return true;
}

static inline void tensor_list_drop(tensor_list *list)
{
    for (size_t i = list->length; i > 0; i--) {
        tensor_release(list->items[i - 1]);
    }
    rc_mem_free(list->items, list->capacity * sizeof *list->items);
}

static bool tensor_list_thread_setup(rcl_thread *thread)
{
    tensor_list_state *state = thread->state;
    for (size_t i = 0; i < TENSOR_LIST_LENGTH; i++) {
        state->elements[i] = tensor_new_filled(1, (float)i);
        if (!tensor_is_defined(state->elements[i])) {
            return false;
        }
    }
    return true;
}

static void tensor_list_thread_teardown(rcl_thread *thread)
{
    tensor_list_state *state = thread->state;
    for (size_t i = TENSOR_LIST_LENGTH; i > 0; i--) {
        tensor_reset(&state->elements[i - 1]);
    }
}

static uint64_t tensor_list_run(rcl_thread *thread, uint64_t operations)
{
    const tensor_list_state *state = thread->state;
    const bool by_copy = thread->team->variant->parameter != 0;
    for (uint64_t i = 0; i < operations; i++) {
        tensor_list list = {NULL, 0, 0};
        while (list.length < TENSOR_LIST_LENGTH) {
            if (list.length == list.capacity && !tensor_list_grow(&list, by_copy)) {
                tensor_list_drop(&list);
                return i;
            }
            list.items[list.length] = tensor_new_retained(state->elements[list.length]);
            list.length++;
        }
        rcl_escape(list.items);
        tensor_list_drop(&list);
        rcl_clobber();
    }
    return operations;
}

static const rcl_variant tensor_list_variants[] = {
    {.name = "copy", .parameter = 1},
    {.name = "move", .parameter = 0},
};

static const rcl_workload tensor_list_workload = {
    .name = "tensor_list",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .threads_max = 1,
    .allocates = true,
    .batch = 256,
    .variants = tensor_list_variants,
    .variant_count = 2,
    .thread_size = sizeof(tensor_list_state),
    .thread_setup = tensor_list_thread_setup,
    .run = tensor_list_run,
    .thread_teardown = tensor_list_thread_teardown,
};

#undef TENSOR_LIST_LENGTH
#undef TENSOR_LIST_FIRST_CAPACITY
