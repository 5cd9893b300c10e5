/* replay_plan: the compiler. replay_plan.h says what it makes; here is how.
 *
 * The model keeps, for each live object, its slots: those outside tensors in one list per thread, those
 * inside in one list. Their number is always the recorded count. A slot belongs for ever to the thread
 * that it was first given to, and only that thread fills it: so filling a slot again needs no edge, and
 * two threads do not write to one cache line.
 *
 * A step is an instruction before its place is known; edges are kept per consuming step. When the window
 * is full, edges that an earlier wait implies are dropped, the rest become WAIT and POST.
 */
#include "replay_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NONE UINT32_MAX

enum {
    REPLAY_PRE_COUNT_MAX = 1 << 24,
    SLOTS_A_LINE =
        16,      /* slots of one thread are neighbours by this many: two lines of 8-byte handles */
    RESERVE = 64 /* what one record can take of any pool at most, slots of a new line included */
};

/* A place in a thread's program of this window. `window`: else it is of an earlier one, which the threads'
 * meeting has ordered already. */
typedef struct place {
    uint32_t thread, step, window;
} place;

typedef struct slot {
    uint32_t object;
    uint32_t thread;     /* owner: fills it */
    uint32_t next, prev; /* in a list of its object, or next in a free list */
    uint32_t holder;     /* the tensor it is in, or NONE */
    uint32_t users;      /* other threads' last uses, in the use pool */
    uint32_t filled_step, filled_window, used_step, used_window; /* by the owner */
    bool bridge; /* kept apart: filled at a step that lies back */
} slot;

/* A thread's last use of a slot or last event on an object. */
typedef struct use {
    uint32_t thread, step, window, next;
    uint32_t units,
        weak_units; /* events on objects only: this thread's slots of it, newest first */
} use;

typedef struct owed {
    uint64_t thread_id; /* the recorded thread that owes the drop */
    uint32_t next;
    bool automatic;              /* done by the finalizer; else d is a release */
    uint32_t thread, step, held; /* automatic: the tensor's release; the slot that was inside */
} owed;

typedef struct model_object {
    rct_kind kind;
    bool alive, shared, pre;
    uint32_t threads; /* list in the use pool */
    uint32_t maker;
    place birth, death, unfunded_at;
    uint64_t count, weak;
    uint32_t stamp, start_slot; /* a slot that was live when window `stamp` began, or NONE */
    /* tensor */
    uint32_t storage, held; /* held: the slot inside it, or NONE */
    uint32_t next_unfunded;
    /* storage */
    uint32_t inside, unfunded, owed_list; /* slots in tensors; tensors to be funded; owed drops */
    uint32_t automatic,
        automatic_place; /* drops owed that finalizers do; place in model.automatic */
} model_object;

typedef struct step {
    replay_instruction instruction;
    uint32_t post; /* its number, once known; 0: nobody waits for it */
    bool share;    /* rc_share follows: another thread will use what was born here */
} step;

typedef struct edge {
    uint32_t step;                /* of the thread that has the edge: waits */
    uint32_t producer, producing; /* thread and step waited for */
} edge;

typedef struct pool {
    void *items;
    uint32_t count, room;
} pool;

/* A thread of the plan. */
typedef struct thread_model {
    pool steps, edges, prologue, teardown; /* prologue and teardown: instructions */
    pool code;                             /* the window's program */
    uint64_t operations;
    uint32_t free_slots, free_bridges, line_next, line_left;
    uint32_t free_weak, weak_line_next, weak_line_left;
} thread_model;

typedef struct model {
    unsigned threads;
    uint32_t window; /* its number, from 1 */
    pool objects, slots, weak_slots, uses, owed, automatic, returned, returned_weak;
    uint32_t free_use, free_owed;
    uint64_t deaths, births;
    uint32_t strong_count, weak_count; /* slots given out, whole lines */
    bool no_memory;
    bool took_from_pre; /* a pre tensor's reference went while it lived */
    thread_model *of;   /* one per thread */
    uint32_t *known;    /* for pruning: threads × threads, step + 1 */
} model;

struct replay_plan {
    replay_options options;
    char *path;
    int spool; /* of standard input, or -1 */
    rct_reader *reader;
    model m;
    bool single, first_is_ready, uses_weak;
    uint64_t recorded_threads;
    rct_event ahead; /* the first event after the pre records */
    bool has_ahead;
    uint64_t pass_operations, pass_births, pass_deaths;

    pool setup_code, units, loans;
    replay_setup setup;
    replay_program setup_program;
    replay_window window;
    replay_program *programs, *prologues, *teardowns;

    struct replay_plan *next_kept; /* of those that replay_plan_acquire keeps */
};

/* ---- Pools ---- */

static bool pool_room(model *m, pool *p, size_t more, size_t item_size)
{
    uint64_t need = (uint64_t)p->count + more;
    if (need <= p->room) {
        return true;
    }
    uint64_t room = p->room + p->room / 2;
    room = room < need ? need + 16 : room;
    void *items = room >= NONE ? NULL : realloc(p->items, (size_t)room * item_size);
    if (items == NULL) {
        m->no_memory = true;
        return false;
    }
    p->items = items;
    p->room = (uint32_t)room;
    return true;
}

static void pool_free(pool *p)
{
    free(p->items);
    *p = (pool){0};
}

static slot *slot_at(model *m, uint32_t index)
{
    return (slot *)m->slots.items + index;
}

static slot *weak_at(model *m, uint32_t index)
{
    return (slot *)m->weak_slots.items + index;
}

static use *use_at(model *m, uint32_t index)
{
    return (use *)m->uses.items + index;
}

static owed *owed_at(model *m, uint32_t index)
{
    return (owed *)m->owed.items + index;
}

static model_object *object_at(model *m, uint32_t index)
{
    return (model_object *)m->objects.items + index;
}

static step *steps_of(model *m, uint32_t thread)
{
    return m->of[thread].steps.items;
}

/* The step that the thread is about to make. */
static uint32_t now(const model *m, uint32_t thread)
{
    return m->of[thread].steps.count;
}

static void push_u32(model *m, pool *p, uint32_t value)
{
    if (pool_room(m, p, 1, sizeof value)) {
        ((uint32_t *)p->items)[p->count++] = value;
    }
}

static void push_code(model *m, pool *p, replay_instruction instruction)
{
    if (pool_room(m, p, 1, sizeof instruction)) {
        ((replay_instruction *)p->items)[p->count++] = instruction;
    }
}

/* So much room that handling one record needs no check: pools that are indexed at once. */
static bool reserve(model *m, uint32_t objects)
{
    if (!pool_room(m, &m->slots, RESERVE, sizeof(slot)) ||
        !pool_room(m, &m->weak_slots, RESERVE, sizeof(slot)) ||
        !pool_room(m, &m->uses, RESERVE, sizeof(use)) ||
        !pool_room(m, &m->owed, RESERVE, sizeof(owed)) ||
        !pool_room(m, &m->automatic, RESERVE, sizeof(uint32_t))) {
        return false;
    }
    while (m->objects.count < objects) {
        if (!pool_room(m, &m->objects, 1, sizeof(model_object))) {
            return false;
        }
        *object_at(m, m->objects.count) = (model_object){.threads = NONE};
        m->objects.count++;
    }
    return true;
}

/* ---- Steps and edges ---- */

static void add_edge(model *m, uint32_t thread, uint32_t producer, uint32_t producing,
                     uint32_t window)
{
    if (producer == thread || window != m->window) {
        return;
    }
    pool *edges = &m->of[thread].edges;
    if (pool_room(m, edges, 1, sizeof(edge))) {
        ((edge *)edges->items)[edges->count++] = (edge){now(m, thread), producer, producing};
    }
}

static void add_edge_place(model *m, uint32_t thread, place from)
{
    add_edge(m, thread, from.thread, from.step, from.window);
}

static void emit(model *m, uint32_t thread, uint32_t event, replay_op op, uint32_t a, uint32_t b,
                 uint32_t c)
{
    pool *steps = &m->of[thread].steps;
    if (pool_room(m, steps, 1, sizeof(step))) {
        ((step *)steps->items)[steps->count++] = (step){
            .instruction = {.op = op & 0xffu, .event = event & 0xffffffu, .a = a, .b = b, .c = c}};
    }
}

static uint32_t new_use(model *m, uint32_t thread, uint32_t next)
{
    uint32_t index = m->free_use;
    if (index != NONE) {
        m->free_use = use_at(m, index)->next;
    } else {
        index = m->uses.count++;
    }
    *use_at(m, index) = (use){.thread = thread, .next = next, .units = NONE, .weak_units = NONE};
    return index;
}

static void free_uses(model *m, uint32_t list)
{
    while (list != NONE) {
        uint32_t next = use_at(m, list)->next;
        use_at(m, list)->next = m->free_use;
        m->free_use = list;
        list = next;
    }
}

/* The object's record of a thread; made if need be. */
static use *thread_of(model *m, model_object *o, uint32_t thread)
{
    for (uint32_t i = o->threads; i != NONE; i = use_at(m, i)->next) {
        if (use_at(m, i)->thread == thread) {
            return use_at(m, i);
        }
    }
    o->threads = new_use(m, thread, o->threads);
    return use_at(m, o->threads);
}

/* ---- Slots ---- */

static uint32_t new_slot(model *m, uint32_t thread, bool weak, bool bridge)
{
    thread_model *t = &m->of[thread];
    pool *slots = weak ? &m->weak_slots : &m->slots;
    uint32_t *free_list = weak ? &t->free_weak : bridge ? &t->free_bridges : &t->free_slots;
    uint32_t *line_next = weak ? &t->weak_line_next : &t->line_next;
    uint32_t *line_left = weak ? &t->weak_line_left : &t->line_left;
    uint32_t index = *free_list;
    if (index != NONE) {
        *free_list = ((slot *)slots->items)[index].next;
    } else {
        if (*line_left == 0) {
            *line_next = slots->count;
            *line_left = SLOTS_A_LINE;
            slots->count += SLOTS_A_LINE;
        }
        index = (*line_next)++;
        (*line_left)--;
    }
    ((slot *)slots->items)[index] = (slot){.thread = thread,
                                           .holder = NONE,
                                           .users = NONE,
                                           .next = NONE,
                                           .prev = NONE,
                                           .filled_step = now(m, thread),
                                           .filled_window = m->window,
                                           .used_step = now(m, thread),
                                           .used_window = m->window,
                                           .bridge = bridge};
    return index;
}

static void list_push(slot *slots, uint32_t *head, uint32_t index)
{
    slots[index].next = *head;
    slots[index].prev = NONE;
    if (*head != NONE) {
        slots[*head].prev = index;
    }
    *head = index;
}

static void list_remove(slot *slots, uint32_t *head, uint32_t index)
{
    slot *s = &slots[index];
    if (s->prev != NONE) {
        slots[s->prev].next = s->next;
    } else {
        *head = s->next;
    }
    if (s->next != NONE) {
        slots[s->next].prev = s->prev;
    }
}

/* The thread's coming step reads the slot. */
static void use_slot(model *m, uint32_t thread, slot *s)
{
    if (s->thread == thread) {
        s->used_step = now(m, thread);
        s->used_window = m->window;
        return;
    }
    add_edge(m, thread, s->thread, s->filled_step, s->filled_window);
    uint32_t i = s->users;
    while (i != NONE && use_at(m, i)->thread != thread) {
        i = use_at(m, i)->next;
    }
    if (i == NONE) {
        i = s->users = new_use(m, thread, s->users);
    }
    use_at(m, i)->step = now(m, thread);
    use_at(m, i)->window = m->window;
}

/* The thread's coming step ends the handle in the slot; the slot is in no list any more. Its owner may fill
 * it again: at once if it is this thread, else when the window is over. */
static void end_slot(model *m, uint32_t thread, uint32_t index, bool weak)
{
    slot *s = weak ? weak_at(m, index) : slot_at(m, index);
    if (s->thread != thread) {
        add_edge(m, thread, s->thread, s->used_step, s->used_window);
    }
    for (uint32_t i = s->users; i != NONE; i = use_at(m, i)->next) {
        add_edge(m, thread, use_at(m, i)->thread, use_at(m, i)->step, use_at(m, i)->window);
    }
    free_uses(m, s->users);
    s->users = NONE;
    s->object = NONE;
    if (s->thread != thread || s->bridge) {
        push_u32(m, weak ? &m->returned_weak : &m->returned, index);
        return;
    }
    uint32_t *free_list = weak ? &m->of[thread].free_weak : &m->of[thread].free_slots;
    s->next = *free_list;
    *free_list = index;
}

/* Slots that other threads let go of in the window before go back to their owners. */
static void give_back(model *m)
{
    for (uint32_t i = 0; i < m->returned.count; i++) {
        uint32_t index = ((uint32_t *)m->returned.items)[i];
        thread_model *t = &m->of[slot_at(m, index)->thread];
        uint32_t *list = slot_at(m, index)->bridge ? &t->free_bridges : &t->free_slots;
        slot_at(m, index)->next = *list;
        *list = index;
    }
    for (uint32_t i = 0; i < m->returned_weak.count; i++) {
        uint32_t index = ((uint32_t *)m->returned_weak.items)[i];
        uint32_t *list = &m->of[weak_at(m, index)->thread].free_weak;
        weak_at(m, index)->next = *list;
        *list = index;
    }
    m->returned.count = 0;
    m->returned_weak.count = 0;
}

static void add_unit(model *m, model_object *o, uint32_t index)
{
    slot *s = slot_at(m, index);
    s->object = (uint32_t)(o - (model_object *)m->objects.items);
    list_push(m->slots.items, &thread_of(m, o, s->thread)->units, index);
}

static void add_weak_unit(model *m, model_object *o, uint32_t index)
{
    slot *s = weak_at(m, index);
    s->object = (uint32_t)(o - (model_object *)m->objects.items);
    list_push(m->weak_slots.items, &thread_of(m, o, s->thread)->weak_units, index);
}

/* The thread's newest handle outside tensors, or NONE. */
static uint32_t own_unit(model *m, model_object *o, uint32_t thread)
{
    return thread_of(m, o, thread)->units;
}

static uint32_t other_unit(model *m, const model_object *o, bool weak)
{
    for (uint32_t i = o->threads; i != NONE; i = use_at(m, i)->next) {
        uint32_t unit = weak ? use_at(m, i)->weak_units : use_at(m, i)->units;
        if (unit != NONE) {
            return unit;
        }
    }
    return NONE;
}

static void remove_unit(model *m, model_object *o, uint32_t index)
{
    list_remove(m->slots.items, &thread_of(m, o, slot_at(m, index)->thread)->units, index);
}

/* A live handle to make another from. */
static uint32_t source_unit(model *m, model_object *o, uint32_t thread)
{
    uint32_t unit = own_unit(m, o, thread);
    if (unit == NONE) {
        unit = o->kind == RCT_STORAGE && o->inside != NONE ? o->inside : other_unit(m, o, false);
    }
    return unit;
}

static uint32_t weak_unit(model *m, model_object *o, uint32_t thread)
{
    uint32_t own = thread_of(m, o, thread)->weak_units;
    return own != NONE ? own : other_unit(m, o, true);
}

/* ---- Sharing ---- */

/* Before the object's first change in this window: remembers a slot that was live when it began. */
static void stamp(model *m, model_object *o)
{
    if (o->stamp == m->window) {
        return;
    }
    o->stamp = m->window;
    o->start_slot = NONE;
    if (m->threads > 1 && o->alive) {
        o->start_slot = source_unit(m, o, o->maker);
    }
}

static void mark_shared(model *m, model_object *o)
{
    if (o->shared) {
        return;
    }
    o->shared = true;
    stamp(m, o);
    if (o->birth.window == m->window) {
        steps_of(m, o->birth.thread)[o->birth.step].share = true;
    } else if (o->start_slot != NONE) {
        push_code(m, &m->of[o->maker].prologue,
                  (replay_instruction){.op = REPLAY_SHARE, .a = o->start_slot});
    }
    if (o->kind == RCT_TENSOR && o->held != NONE) {
        mark_shared(m, object_at(m, o->storage)); /* who has the tensor reaches its storage */
    }
}

/* An object dies and leaves weak handles: should one travel, no strong handle is left to share it with. */
static void share_for_weak(model *m, model_object *o)
{
    if (o->weak > 0 && m->threads > 1) {
        mark_shared(m, o);
    }
}

/* ---- Drops that are owed ---- */

/* One automatic drop less. */
static void automatic_done(model *m, model_object *storage)
{
    storage->automatic--;
    if (storage->automatic > 0) {
        return;
    }
    uint32_t *storages = m->automatic.items;
    uint32_t moved = storages[--m->automatic.count];
    storages[storage->automatic_place] = moved;
    object_at(m, moved)->automatic_place = storage->automatic_place;
}

/* The releases of the dead tensors become bridged ones, so that the storage keeps the units until d. */
static void bridge(model *m, model_object *storage)
{
    for (uint32_t i = storage->owed_list; i != NONE && reserve(m, 0); i = owed_at(m, i)->next) {
        owed *drop = owed_at(m, i);
        if (!drop->automatic) {
            continue;
        }
        drop->automatic = false;
        replay_instruction *release = &steps_of(m, drop->thread)[drop->step].instruction;
        uint32_t index = new_slot(m, drop->thread, false, true);
        slot_at(m, index)->filled_step = drop->step;
        slot_at(m, index)->used_step = drop->step;
        release->op = REPLAY_RELEASE_BRIDGED;
        release->b = index;
        release->c = drop->held;
        add_unit(m, storage, index);
        automatic_done(m, storage);
    }
}

/* The coming step of the thread is an event on the object. */
static void note_event(model *m, model_object *o, uint32_t thread)
{
    stamp(m, o);
    if (m->threads > 1) {
        if (thread != o->maker) {
            mark_shared(m, o);
        }
        use *u = thread_of(m, o, thread);
        u->step = now(m, thread);
        u->window = m->window;
    }
}

/* Every record that names the object comes through here first. */
static void touch(model *m, model_object *o, uint32_t thread)
{
    stamp(m, o);
    if (o->automatic > 0) {
        bridge(m, o);
    }
    note_event(m, o, thread);
}

/* The coming step of the thread is the object's death: after everybody's last event on it. */
static void order_death(model *m, model_object *o, uint32_t thread)
{
    for (uint32_t i = m->threads > 1 ? o->threads : NONE; i != NONE; i = use_at(m, i)->next) {
        add_edge(m, thread, use_at(m, i)->thread, use_at(m, i)->step, use_at(m, i)->window);
    }
    o->death = (place){thread, now(m, thread), m->window};
}

static void forget_if_gone(model *m, model_object *o)
{
    if (o->count > 0 || o->weak > 0) {
        return;
    }
    free_uses(m, o->threads);
    o->threads = NONE;
    while (o->owed_list != NONE) {
        uint32_t next = owed_at(m, o->owed_list)->next;
        owed_at(m, o->owed_list)->next = m->free_owed;
        m->free_owed = o->owed_list;
        o->owed_list = next;
    }
}

static void remove_unfunded(model *m, model_object *storage, uint32_t tensor)
{
    uint32_t *link = &storage->unfunded;
    while (*link != NONE && *link != tensor) {
        link = &object_at(m, *link)->next_unfunded;
    }
    if (*link != NONE) {
        *link = object_at(m, tensor)->next_unfunded;
    }
}

/* ---- Records ---- */

static void handle_birth(model *m, const rct_event *event, uint32_t thread, uint32_t number)
{
    model_object *o = object_at(m, event->object);
    *o = (model_object){.kind = event->kind,
                        .alive = true,
                        .pre = event->operation == RCT_PRE,
                        .threads = NONE,
                        .maker = thread,
                        .birth = {thread, now(m, thread), m->window},
                        .count = event->count,
                        .stamp = m->window,
                        .start_slot = NONE,
                        .storage = event->storage,
                        .held = NONE,
                        .next_unfunded = NONE,
                        .inside = NONE,
                        .unfunded = NONE,
                        .owed_list = NONE,
                        .automatic = 0};
    m->births++;
    uint32_t index = new_slot(m, thread, false, false);
    if (o->kind == RCT_STORAGE) {
        emit(m, thread, number, REPLAY_NEW_STORAGE, index, (uint32_t)event->bytes,
             (uint32_t)(event->bytes >> 32));
    } else if (o->kind == RCT_OTHER) {
        emit(m, thread, number, REPLAY_NEW_PLAIN, index, 0, 0);
    } else {
        uint32_t held = NONE;
        if (event->storage != RCT_NO_OBJECT) {
            model_object *storage = object_at(m, event->storage);
            touch(m, storage, thread);
            held = own_unit(m, storage, thread);
            if (held != NONE) {
                remove_unit(m, storage, held);
                use_slot(m, thread, slot_at(m, held));
                slot_at(m, held)->holder = event->object;
                list_push(m->slots.items, &storage->inside, held);
                o->held = held;
            } else {
                o->next_unfunded = storage->unfunded;
                storage->unfunded = event->object;
            }
        }
        uint32_t n = event->n > UINT32_MAX ? UINT32_MAX : (uint32_t)event->n;
        if (held != NONE) {
            emit(m, thread, number, REPLAY_NEW_TENSOR, index, held, n);
        } else {
            emit(m, thread, number, REPLAY_NEW_TENSOR_BARE, index, 0, n);
        }
    }
    add_unit(m, o, index);
    if (m->threads > 1) {
        use *u = thread_of(m, o, thread);
        u->step = o->birth.step;
        u->window = m->window;
    }
    for (uint64_t k = 1; k < event->count && reserve(m, 0); k++) { /* pre only */
        uint32_t source = own_unit(m, o, thread);
        index = new_slot(m, thread, false, false);
        emit(m, thread, number, REPLAY_RETAIN, index, source, 0);
        add_unit(m, o, index);
    }
}

static void handle_retain(model *m, const rct_event *event, uint32_t thread, uint32_t number)
{
    model_object *o = object_at(m, event->object);
    touch(m, o, thread);
    o->count = event->count;
    uint32_t source = source_unit(m, o, thread);
    use_slot(m, thread, slot_at(m, source));
    uint32_t tensor = o->kind == RCT_STORAGE ? o->unfunded : NONE;
    /* A pre tensor may be shared by copies of this program that all do this: it is never funded. */
    while (tensor != NONE && (object_at(m, tensor)->maker != thread || object_at(m, tensor)->pre)) {
        tensor = object_at(m, tensor)->next_unfunded;
    }
    if (tensor == NONE) {
        uint32_t index = new_slot(m, thread, false, false);
        emit(m, thread, number, REPLAY_RETAIN, index, source, 0);
        add_unit(m, o, index);
        return;
    }
    model_object *owner = object_at(m, tensor);
    touch(m, owner, thread);
    add_edge_place(m, thread, owner->unfunded_at);
    uint32_t owner_slot = source_unit(m, owner, thread);
    use_slot(m, thread, slot_at(m, owner_slot));
    uint32_t index = new_slot(m, thread, false, false);
    emit(m, thread, number, REPLAY_FUND, index, source, owner_slot);
    remove_unfunded(m, o, tensor);
    slot_at(m, index)->object = event->object;
    slot_at(m, index)->holder = tensor;
    list_push(m->slots.items, &o->inside, index);
    owner->held = index;
    if (owner->shared) {
        mark_shared(m, o);
    }
}

/* Takes a unit of the object and ends it with the coming step, which is emitted here. */
static void release_unit(model *m, model_object *o, uint32_t thread, uint32_t number)
{
    uint32_t index = own_unit(m, o, thread);
    if (index == NONE) {
        index = other_unit(m, o, false);
    }
    if (index != NONE) {
        remove_unit(m, o, index);
        end_slot(m, thread, index, false);
        emit(m, thread, number, REPLAY_RELEASE, index, 0, 0);
        return;
    }
    index = o->inside;
    uint32_t tensor = slot_at(m, index)->holder;
    model_object *owner = object_at(m, tensor);
    m->took_from_pre |= owner->pre;
    touch(m, owner, thread);
    if (m->threads > 1) {
        mark_shared(
            m, owner); /* a later user in the recording may come before this step in a replay */
    }
    uint32_t owner_slot = source_unit(m, owner, thread);
    use_slot(m, thread, slot_at(m, owner_slot));
    list_remove(m->slots.items, &o->inside, index);
    end_slot(m, thread, index, false);
    owner->held = NONE;
    owner->unfunded_at = (place){thread, now(m, thread), m->window};
    owner->next_unfunded = o->unfunded;
    o->unfunded = tensor;
    emit(m, thread, number, REPLAY_UNFUND, owner_slot, 0, 0);
}

/* A tensor's death, in the step to come: what becomes of its storage. */
static void owe_drop(model *m, const rct_event *event, model_object *tensor, uint32_t thread)
{
    model_object *storage = object_at(m, event->storage);
    uint32_t place_in_pool = m->free_owed;
    if (place_in_pool != NONE) {
        m->free_owed = owed_at(m, place_in_pool)->next;
    } else {
        place_in_pool = m->owed.count++;
    }
    *owed_at(m, place_in_pool) = (owed){.thread_id = event->thread_id, .next = storage->owed_list};
    storage->owed_list = place_in_pool;
    /* Nested deaths on one thread (a view's death takes its base along) need no bridge: nothing looks at
     * the storage in between. */
    uint32_t newest = owed_at(m, place_in_pool)->next;
    bool nested = storage->automatic > 0 && owed_at(m, newest)->automatic &&
                  owed_at(m, newest)->thread == thread && tensor->held != NONE;
    if (nested) {
        note_event(m, storage, thread);
    } else {
        touch(m, storage, thread);
    }
    if (tensor->held == NONE) {
        remove_unfunded(m, storage, event->object);
        return; /* d will let go of a handle outside */
    }
    uint32_t held = tensor->held;
    list_remove(m->slots.items, &storage->inside, held);
    end_slot(m, thread, held, false);
    tensor->held = NONE;
    if (storage->count == storage->automatic + 1) {
        order_death(m, storage, thread);
    }
    owed *drop = owed_at(m, place_in_pool);
    drop->automatic = true;
    drop->thread = thread;
    drop->step = now(m, thread);
    drop->held = held;
    if (storage->automatic++ == 0) {
        storage->automatic_place = m->automatic.count;
        ((uint32_t *)m->automatic.items)[m->automatic.count++] = event->storage;
    }
}

static void handle_release(model *m, const rct_event *event, uint32_t thread, uint32_t number)
{
    model_object *o = object_at(m, event->object);
    touch(m, o, thread);
    o->count = event->count;
    if (event->count == 0) {
        share_for_weak(m, o); /* while its storage is still inside */
        o->alive = false;
        m->deaths++;
        if (event->storage != RCT_NO_OBJECT) {
            owe_drop(m, event, o, thread);
        }
        order_death(m, o, thread);
    }
    release_unit(m, o, thread, number);
    forget_if_gone(m, o);
}

static void handle_drop(model *m, const rct_event *event, uint32_t thread, uint32_t number)
{
    model_object *storage = object_at(m, event->object);
    uint32_t *link = &storage->owed_list;
    while (owed_at(m, *link)->thread_id != event->thread_id) {
        link = &owed_at(m, *link)->next; /* the reader has seen that there is one */
    }
    uint32_t found = *link;
    bool automatic = owed_at(m, found)->automatic;
    *link = owed_at(m, found)->next;
    owed_at(m, found)->next = m->free_owed;
    m->free_owed = found;
    storage->count = event->count;
    if (automatic) {
        automatic_done(m, storage);
    } else {
        touch(m, storage, thread);
        if (event->count == 0) {
            order_death(m, storage, thread);
        }
        release_unit(m, storage, thread, number);
    }
    if (event->count == 0) {
        storage->alive = false;
        m->deaths++;
        share_for_weak(m, storage);
    }
    forget_if_gone(m, storage);
}

static void handle_weak(model *m, const rct_event *event, uint32_t thread, uint32_t number)
{
    model_object *o = object_at(m, event->object);
    touch(m, o, thread);
    o->weak = event->weak;
    if (event->operation == RCT_WEAK_RELEASE) {
        uint32_t index = weak_unit(m, o, thread);
        list_remove(m->weak_slots.items, &thread_of(m, o, weak_at(m, index)->thread)->weak_units,
                    index);
        end_slot(m, thread, index, true);
        emit(m, thread, number, REPLAY_WEAK_RELEASE, index, 0, 0);
        forget_if_gone(m, o);
        return;
    }
    if (o->alive) {
        uint32_t source = source_unit(m, o, thread);
        use_slot(m, thread, slot_at(m, source));
        uint32_t index = new_slot(m, thread, true, false);
        emit(m, thread, number, REPLAY_WEAK_NEW, index, source, 0);
        add_weak_unit(m, o, index);
        return;
    }
    uint32_t source = weak_unit(m, o, thread);
    use_slot(m, thread, weak_at(m, source));
    uint32_t index = new_slot(m, thread, true, false);
    emit(m, thread, number, REPLAY_WEAK_RETAIN, index, source, 0);
    add_weak_unit(m, o, index);
}

static void handle_lock(model *m, const rct_event *event, uint32_t thread, uint32_t number)
{
    model_object *o = object_at(m, event->object);
    touch(m, o, thread);
    uint32_t weak = weak_unit(m, o, thread);
    if (weak != NONE) {
        use_slot(m, thread, weak_at(m, weak));
    }
    if (!event->locked) {
        add_edge_place(m, thread, o->death);
        emit(m, thread, number, REPLAY_LOCK_DEAD, weak, 0, 0);
        return;
    }
    /* Somebody holds the object while it is locked: this handle is not let go of before. */
    uint32_t witness = source_unit(m, o, thread);
    use_slot(m, thread, slot_at(m, witness));
    o->count = event->count;
    uint32_t index = new_slot(m, thread, false, false);
    if (weak != NONE) {
        emit(m, thread, number, REPLAY_LOCK, index, weak, 0);
    } else {
        emit(m, thread, number, REPLAY_LOCK_UNSEEN, index, witness, 0);
    }
    add_unit(m, o, index);
}

/* Checking plans: what must hold after the record. */
static void emit_checks(model *m, const rct_event *event, uint32_t number)
{
    model_object *o = object_at(m, event->object);
    /* Finalizers that were early: the storage's count is as recorded again after the last d. */
    uint32_t held = o->alive && o->automatic == 0 ? source_unit(m, o, 0) : NONE;
    if (held != NONE) {
        emit(m, 0, number, REPLAY_CHECK_COUNT, held, (uint32_t)o->count, (uint32_t)o->weak);
    }
    if (m->automatic.count == 0) {
        emit(m, 0, number, REPLAY_CHECK_DEATHS, 0, (uint32_t)m->deaths, 0);
    }
}

static void handle(replay_plan *plan, const rct_event *event, uint32_t number)
{
    model *m = &plan->m;
    if (!reserve(m, event->object == RCT_NO_OBJECT ? 0 : event->object + 1)) {
        return;
    }
    uint32_t thread = event->thread % m->threads;
    m->of[thread].operations++;
    switch (event->operation) {
    case RCT_PRE:
    case RCT_NEW:
        handle_birth(m, event, thread, number);
        break;
    case RCT_RETAIN:
        handle_retain(m, event, thread, number);
        break;
    case RCT_RELEASE:
        handle_release(m, event, thread, number);
        break;
    case RCT_DROP:
        handle_drop(m, event, thread, number);
        break;
    case RCT_WEAK_NEW:
    case RCT_WEAK_RELEASE:
        handle_weak(m, event, thread, number);
        break;
    case RCT_LOCK:
        handle_lock(m, event, thread, number);
        break;
    case RCT_MARK:
    case RCT_OPERATIONS:
        m->of[thread].operations--;
        return;
    }
    if (plan->options.checking && event->operation != RCT_PRE) {
        emit_checks(m, event, number);
    }
}

/* ---- From steps to programs ---- */

/* Drops edges that an earlier wait of the thread implies; marks the steps that post. */
static void prune(model *m, uint32_t thread)
{
    pool *edges = &m->of[thread].edges;
    edge *items = edges->items;
    uint32_t *known =
        m->known + (size_t)thread * m->threads; /* step + 1 that has been waited for */
    memset(known, 0, m->threads * sizeof *known);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < edges->count;) {
        uint32_t first = kept;
        uint32_t at = items[i].step;
        for (; i < edges->count && items[i].step == at; i++) {
            edge e = items[i];
            if (known[e.producer] > e.producing) {
                continue;
            }
            known[e.producer] = e.producing + 1;
            uint32_t k = first;
            while (k < kept && items[k].producer != e.producer) {
                k++;
            }
            items[k] = e; /* in place of a nearer one of the same producer, if there is one */
            kept = k == kept ? kept + 1 : kept;
        }
    }
    edges->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        steps_of(m, items[i].producer)[items[i].producing].post = 1;
    }
}

static void number_posts(model *m, uint32_t thread)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < m->of[thread].steps.count; i++) {
        step *s = &steps_of(m, thread)[i];
        s->post = s->post != 0 ? ++number : 0;
    }
}

static void write_code(model *m, uint32_t thread)
{
    thread_model *t = &m->of[thread];
    const step *steps = t->steps.items;
    const edge *edges = t->edges.items;
    t->code.count = 0;
    uint32_t e = 0;
    for (uint32_t i = 0; i < t->steps.count; i++) {
        const replay_instruction *in = &steps[i].instruction;
        for (; e < t->edges.count && edges[e].step == i; e++) {
            push_code(
                m, &t->code,
                (replay_instruction){.op = REPLAY_WAIT,
                                     .event = in->event,
                                     .a = edges[e].producer,
                                     .b = steps_of(m, edges[e].producer)[edges[e].producing].post});
        }
        push_code(m, &t->code, *in);
        if (steps[i].share) {
            push_code(m, &t->code,
                      (replay_instruction){.op = REPLAY_SHARE, .event = in->event, .a = in->a});
        }
        if (steps[i].post != 0) {
            push_code(
                m, &t->code,
                (replay_instruction){.op = REPLAY_POST, .event = in->event, .b = steps[i].post});
        }
    }
    push_code(m, &t->code, (replay_instruction){.op = REPLAY_END});
    push_code(m, &t->prologue, (replay_instruction){.op = REPLAY_END});
}

static void begin_window(model *m)
{
    m->window++;
    give_back(m);
    for (uint32_t t = 0; t < m->threads; t++) {
        m->of[t].steps.count = 0;
        m->of[t].edges.count = 0;
        m->of[t].prologue.count = 0;
        m->of[t].operations = 0;
    }
}

static void end_window(model *m)
{
    while (m->automatic.count > 0 && reserve(m, 0)) {
        bridge(m, object_at(m, ((uint32_t *)m->automatic.items)[m->automatic.count - 1]));
    }
    for (uint32_t t = 0; t < m->threads; t++) {
        prune(m, t);
    }
    for (uint32_t t = 0; t < m->threads; t++) {
        number_posts(m, t);
    }
    for (uint32_t t = 0; t < m->threads; t++) {
        write_code(m, t);
    }
}

/* Handles that are left when the recording ends, each let go of by the thread that its slot belongs to. */
static void write_teardown(model *m)
{
    for (uint32_t t = 0; t < m->threads; t++) {
        m->of[t].teardown.count = 0;
    }
    for (uint32_t i = 0; i < m->objects.count; i++) {
        const model_object *o = object_at(m, i);
        for (uint32_t u = o->threads; u != NONE; u = use_at(m, u)->next) {
            pool *code = &m->of[use_at(m, u)->thread].teardown;
            for (uint32_t s = use_at(m, u)->units; s != NONE; s = slot_at(m, s)->next) {
                push_code(m, code, (replay_instruction){.op = REPLAY_RELEASE, .a = s});
            }
            for (uint32_t s = use_at(m, u)->weak_units; s != NONE; s = weak_at(m, s)->next) {
                push_code(m, code, (replay_instruction){.op = REPLAY_WEAK_RELEASE, .a = s});
            }
        }
    }
    for (uint32_t t = 0; t < m->threads; t++) {
        push_code(m, &m->of[t].teardown, (replay_instruction){.op = REPLAY_END});
    }
}

/* ---- The plan ---- */

static void model_free(model *m)
{
    for (uint32_t t = 0; m->of != NULL && t < m->threads; t++) {
        pool_free(&m->of[t].steps);
        pool_free(&m->of[t].edges);
        pool_free(&m->of[t].prologue);
        pool_free(&m->of[t].teardown);
        pool_free(&m->of[t].code);
    }
    free(m->of);
    free(m->known);
    pool *pools[] = {&m->objects, &m->slots,     &m->weak_slots, &m->uses,
                     &m->owed,    &m->automatic, &m->returned,   &m->returned_weak};
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        pool_free(pools[i]);
    }
    *m = (model){0};
}

static bool model_init(model *m, unsigned threads)
{
    *m = (model){.threads = threads, .free_use = NONE, .free_owed = NONE};
    m->of = calloc(threads, sizeof *m->of);
    m->known = calloc((size_t)threads * threads, sizeof *m->known);
    if (m->of == NULL || m->known == NULL) {
        return false;
    }
    for (unsigned t = 0; t < threads; t++) {
        m->of[t].free_slots = NONE;
        m->of[t].free_bridges = NONE;
        m->of[t].free_weak = NONE;
    }
    return true;
}

static bool no_memory(const replay_plan *plan, rct_error *error)
{
    *error = (rct_error){.reason = RCT_NO_MEMORY};
    snprintf(error->message, sizeof error->message,
             "%.200s: memory was refused while compiling the trace", plan->path);
    return false;
}

static rct_reader *open_reader(replay_plan *plan, rct_error *error)
{
    if (plan->spool < 0) {
        return rct_open(plan->path, error);
    }
    if (lseek(plan->spool, 0, SEEK_SET) < 0) {
        *error = (rct_error){.reason = RCT_CANNOT_READ};
        snprintf(error->message, sizeof error->message, "%s: cannot go back to its start: %s",
                 plan->path, strerror(errno));
        return NULL;
    }
    return rct_open_descriptor(plan->path, plan->spool, error);
}

static bool cannot_replay(const replay_plan *plan, uint64_t line, const char *why, rct_error *error)
{
    *error = (rct_error){.reason = RCT_CANNOT_REPLAY, .line = line};
    snprintf(error->message, sizeof error->message, "%.200s:%" PRIu64 ": cannot be replayed: %s",
             plan->path, line, why);
    return false;
}

static bool went_well(const replay_plan *plan, uint64_t line, rct_error *error)
{
    if (plan->m.no_memory) {
        return no_memory(plan, error);
    }
    if (plan->m.took_from_pre && plan->options.mode == REPLAY_REPLICATED) {
        return cannot_replay(
            plan, line,
            "a tensor alive at the start loses its storage, and each thread would take "
            "it from the same tensor; use serial or recorded mode",
            error);
    }
    return true;
}

/* Keeps what the player needs of the setup, the first time. */
static bool keep_setup(replay_plan *plan)
{
    model *m = &plan->m;
    const pool *steps = &m->of[0].steps;
    for (uint32_t i = 0; i < steps->count; i++) {
        push_code(m, &plan->setup_code, steps_of(m, 0)[i].instruction);
    }
    for (uint32_t i = 0; i < m->objects.count; i++) {
        model_object *o = object_at(m, i);
        for (uint32_t s = own_unit(m, o, 0); s != NONE; s = slot_at(m, s)->next) {
            push_u32(m, &plan->units, s);
        }
        for (uint32_t s = o->inside; s != NONE; s = slot_at(m, s)->next) {
            push_u32(m, &plan->loans, s);
        }
        if (m->threads > 1 || plan->options.mode == REPLAY_REPLICATED) {
            push_code(m, &plan->setup_code,
                      (replay_instruction){.op = REPLAY_SHARE, .a = source_unit(m, o, 0)});
        }
    }
    push_code(m, &plan->setup_code, (replay_instruction){.op = REPLAY_END});
    plan->setup_program = (replay_program){plan->setup_code.items, plan->setup_code.count, 0};
    plan->setup = (replay_setup){.program = &plan->setup_program,
                                 .units = plan->units.items,
                                 .loans = plan->loans.items,
                                 .unit_count = plan->units.count,
                                 .loan_count = plan->loans.count,
                                 .strong_slots = m->slots.count,
                                 .weak_slots = m->weak_slots.count};
    return !m->no_memory;
}

/* Opens the reader and takes the pre records in. The first event is then in plan->ahead. */
static bool begin_pass(replay_plan *plan, rct_error *error)
{
    model *m = &plan->m;
    unsigned threads = m->threads;
    model_free(m);
    if (!model_init(m, threads)) {
        m->threads = threads;
        return no_memory(plan, error);
    }
    rct_close(plan->reader);
    plan->reader = open_reader(plan, error);
    if (plan->reader == NULL) {
        return false;
    }
    begin_window(m);
    int got;
    while ((got = rct_next(plan->reader, &plan->ahead)) == 1 && plan->ahead.operation == RCT_PRE) {
        if (plan->ahead.count > REPLAY_PRE_COUNT_MAX) {
            return cannot_replay(plan, plan->ahead.line,
                                 "an object with more than 16777216 references at the start",
                                 error);
        }
        handle(plan, &plan->ahead, 0);
        if (!went_well(plan, plan->ahead.line, error)) {
            return false;
        }
    }
    if (got < 0) {
        *error = *rct_reader_error(plan->reader);
        return false;
    }
    plan->has_ahead = got == 1;
    for (uint32_t i = 0; i < m->objects.count; i++) {
        object_at(m, i)->shared = true;
    }
    if (plan->setup.program == NULL && (!reserve(m, 0) || !keep_setup(plan))) {
        return no_memory(plan, error);
    }
    return true;
}

static void publish_window(replay_plan *plan, uint64_t events, bool last)
{
    model *m = &plan->m;
    if (last) {
        write_teardown(m);
    }
    plan->window = (replay_window){.prologue = plan->prologues,
                                   .programs = plan->programs,
                                   .teardown = last ? plan->teardowns : NULL,
                                   .threads = m->threads,
                                   .last = last,
                                   .strong_slots = m->slots.count,
                                   .weak_slots = m->weak_slots.count,
                                   .events = events};
    for (uint32_t t = 0; t < m->threads; t++) {
        const thread_model *of = &m->of[t];
        plan->programs[t] = (replay_program){of->code.items, of->code.count, of->operations};
        plan->prologues[t] = (replay_program){of->prologue.items, of->prologue.count, 0};
        plan->teardowns[t] = (replay_program){of->teardown.items, of->teardown.count, 0};
        plan->window.operations += of->operations;
    }
}

/* Reads and compiles the next window of the pass. */
static bool compile_window(replay_plan *plan, rct_error *error)
{
    model *m = &plan->m;
    const uint32_t limit = plan->options.window_events;
    uint32_t number = 0;
    begin_window(m);
    /* A little longer, if that spares bridges for drops that are still to come. */
    while (plan->has_ahead &&
           (number < limit || (m->automatic.count > 0 && number < limit + limit / 8))) {
        handle(plan, &plan->ahead, number);
        number++;
        if (!went_well(plan, plan->ahead.line, error)) {
            return false;
        }
        int got = rct_next(plan->reader, &plan->ahead);
        if (got < 0) {
            *error = *rct_reader_error(plan->reader);
            return false;
        }
        plan->has_ahead = got == 1;
    }
    end_window(m);
    publish_window(plan, number, !plan->has_ahead);
    return went_well(plan, 0, error);
}

/* Standard input can be read once only, a pass needs it again: a copy without a name, gone with us. */
static bool spool_input(replay_plan *plan, rct_error *error)
{
    const char *folder = getenv("TMPDIR");
    char name[512];
    snprintf(name, sizeof name, "%s/rclab-trace-XXXXXX",
             folder != NULL && *folder != '\0' ? folder : "/tmp");
    plan->spool = mkstemp(name);
    bool good = plan->spool >= 0;
    char block[1 << 14];
    ssize_t n = 1;
    if (good) {
        unlink(name);
    }
    while (good && n > 0) {
        n = read(STDIN_FILENO, block, sizeof block);
        if (n < 0 && errno == EINTR) {
            n = 1;
            continue;
        }
        good = n >= 0;
        for (ssize_t done = 0; good && done < n;) {
            ssize_t written = write(plan->spool, block + done, (size_t)(n - done));
            good = written > 0;
            done += good ? written : 0;
        }
    }
    if (!good) {
        *error = (rct_error){.reason = RCT_CANNOT_READ};
        snprintf(error->message, sizeof error->message,
                 "standard input: cannot be kept in %.100s: %s; set TMPDIR to a folder with room",
                 name, strerror(errno));
    }
    return good;
}

/* Sets the totals of a pass from the whole file, which is checked thereby. */
static bool read_totals(replay_plan *plan, rct_error *error)
{
    rct_reader *reader = open_reader(plan, error);
    if (reader == NULL) {
        return false;
    }
    rct_summary summary;
    bool good = rct_summarise(reader, &summary);
    if (good) {
        plan->recorded_threads = summary.threads;
        plan->pass_operations = summary.events - summary.operations[RCT_MARK];
        plan->pass_births = summary.operations[RCT_NEW] + summary.operations[RCT_PRE];
        plan->pass_deaths = plan->pass_births - summary.live_at_end;
        plan->uses_weak = summary.operations[RCT_WEAK_NEW] + summary.operations[RCT_WEAK_RELEASE] +
                              summary.operations[RCT_LOCK] >
                          0;
    } else {
        *error = *rct_reader_error(reader);
    }
    rct_summary_free(&summary);
    rct_close(reader);
    return good;
}

static bool prepare(replay_plan *plan, rct_error *error)
{
    if (strcmp(plan->path, "-") == 0 && !spool_input(plan, error)) {
        return false;
    }
    if (!read_totals(plan, error)) {
        return false;
    }
    unsigned threads = 1;
    if (plan->options.mode == REPLAY_RECORDED) {
        uint64_t recorded = plan->recorded_threads < 1 ? 1 : plan->recorded_threads;
        recorded = recorded > REPLAY_THREADS_MAX ? REPLAY_THREADS_MAX : recorded;
        threads = plan->options.threads == 0 ? (unsigned)recorded : plan->options.threads;
    }
    plan->m.threads = threads;
    plan->programs = calloc(threads, sizeof *plan->programs);
    plan->prologues = calloc(threads, sizeof *plan->prologues);
    plan->teardowns = calloc(threads, sizeof *plan->teardowns);
    if (plan->programs == NULL || plan->prologues == NULL || plan->teardowns == NULL) {
        return no_memory(plan, error);
    }
    if (!begin_pass(plan, error) || !compile_window(plan, error)) {
        return false;
    }
    plan->single = plan->window.last;
    plan->first_is_ready = true;
    if (plan->single) {
        rct_close(plan->reader);
        plan->reader = NULL;
    }
    return true;
}

replay_plan *replay_plan_open(const replay_options *options, rct_error *error)
{
    *error = (rct_error){0};
    replay_plan *plan = calloc(1, sizeof *plan);
    char *path = strdup(options->path);
    if (plan == NULL || path == NULL) {
        free(plan);
        free(path);
        *error = (rct_error){.reason = RCT_NO_MEMORY, .message = "memory was refused"};
        return NULL;
    }
    plan->options = *options;
    plan->options.path = NULL;
    plan->path = path;
    plan->spool = -1;
    if (plan->options.window_events == 0 ||
        plan->options.window_events > REPLAY_WINDOW_EVENTS_MAX / 2) {
        plan->options.window_events = REPLAY_WINDOW_EVENTS;
    }
    if (options->threads > REPLAY_THREADS_MAX ||
        (options->checking && options->mode == REPLAY_RECORDED && options->threads != 1)) {
        cannot_replay(plan, 0,
                      options->checking ? "counts hold at every record on one thread only"
                                        : "more threads than 1024",
                      error);
        replay_plan_close(plan);
        return NULL;
    }
    if (!prepare(plan, error)) {
        replay_plan_close(plan);
        return NULL;
    }
    return plan;
}

void replay_plan_close(replay_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    rct_close(plan->reader);
    model_free(&plan->m);
    if (plan->spool >= 0) {
        close(plan->spool);
    }
    pool_free(&plan->setup_code);
    pool_free(&plan->units);
    pool_free(&plan->loans);
    free(plan->programs);
    free(plan->prologues);
    free(plan->teardowns);
    free(plan->path);
    free(plan);
}

unsigned replay_plan_threads(const replay_plan *plan)
{
    return plan->m.threads;
}

replay_mode replay_plan_mode(const replay_plan *plan)
{
    return plan->options.mode;
}

uint64_t replay_plan_operations(const replay_plan *plan)
{
    return plan->pass_operations;
}

uint64_t replay_plan_births(const replay_plan *plan)
{
    return plan->pass_births;
}

uint64_t replay_plan_deaths(const replay_plan *plan)
{
    return plan->pass_deaths;
}

bool replay_plan_uses_weak(const replay_plan *plan)
{
    return plan->uses_weak;
}

const replay_setup *replay_plan_setup(const replay_plan *plan)
{
    return &plan->setup;
}

bool replay_plan_is_single(const replay_plan *plan)
{
    return plan->single;
}

const replay_window *replay_plan_next_window(replay_plan *plan, rct_error *error)
{
    if (plan->single) {
        return &plan->window;
    }
    if (plan->first_is_ready) {
        plan->first_is_ready = false;
        return &plan->window;
    }
    if (plan->window.last && !begin_pass(plan, error)) {
        return NULL;
    }
    return compile_window(plan, error) ? &plan->window : NULL;
}

/* ---- Plans that the process keeps ---- */

/* Kept for good: every implementation's run of one recording plays the same programs. */
static struct {
    pthread_mutex_t lock;
    replay_plan *first;
} kept = {PTHREAD_MUTEX_INITIALIZER, NULL};

replay_plan *replay_plan_acquire(const replay_options *options, rct_error *error)
{
    *error = (rct_error){0};
    pthread_mutex_lock(&kept.lock);
    replay_plan *plan = kept.first;
    while (plan != NULL &&
           (strcmp(plan->path, options->path) != 0 || plan->options.mode != options->mode ||
            plan->options.threads != options->threads ||
            plan->options.checking != options->checking)) {
        plan = plan->next_kept;
    }
    if (plan == NULL) {
        plan = replay_plan_open(options, error);
        if (plan != NULL && plan->single) {
            plan->next_kept = kept.first;
            kept.first = plan;
        }
    }
    pthread_mutex_unlock(&kept.lock);
    return plan;
}

void replay_plan_release(replay_plan *plan)
{
    if (plan != NULL && !plan->single) {
        replay_plan_close(plan);
    }
}
