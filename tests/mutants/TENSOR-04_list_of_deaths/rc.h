/* TENSOR-04: deaths wait in a list that grows by asking for memory, and what finds no room is lost.
 * Known bugs: row 132. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

typedef struct mutant_list {
    steps_header **waiting;
    size_t count, room;
    bool busy;
} mutant_list;

static _Thread_local mutant_list mutant_deaths;

static inline bool mutant_grow(mutant_list *list)
{
    size_t room = list->room == 0 ? 4 : list->room * 2;
    steps_header **waiting = rc_mem_alloc(room * sizeof *waiting);
    if (waiting == NULL) {
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        waiting[i] = list->waiting[i];
    }
    rc_mem_free(list->waiting, list->room * sizeof *waiting);
    list->waiting = waiting;
    list->room = room;
    return true;
}

static inline void mutant_end(steps_header *header)
{
    steps_mark_finalizing(header);
    steps_finalize(header);
    steps_drop_weak(header, steps_implicit);
}

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    mutant_list *list = &mutant_deaths;
    (void)weak_handles_left;
    if (list->busy) {
        if (list->count < list->room || mutant_grow(list)) {
            list->waiting[list->count++] = header;
        }
        return;
    }
    list->busy = true;
    mutant_end(header);
    while (list->count > 0) {
        mutant_end(list->waiting[--list->count]);
    }
    rc_mem_free(list->waiting, list->room * sizeof *list->waiting);
    *list = (mutant_list){NULL, 0, 0, false};
}
