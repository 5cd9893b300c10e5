#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fiber.h"

enum {
    SMALL = 1000000, /* values below it are shown as decimal numbers */
    CLOSE = 64,      /* bytes around a block that are told by its name */
    LONG_CHAIN = 3   /* of a longer one, only the outermost function in each file */
};

void rcx_add(rcx_text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to->bytes + to->used, sizeof to->bytes - to->used, format, arguments);
    va_end(arguments);
    if (length > 0) {
        to->used += (size_t)length;
    }
    if (to->used >= sizeof to->bytes) {
        to->used = sizeof to->bytes - 1;
    }
}

/* ---- Names of memory and values ---- */

static size_t distance(uintptr_t address, uintptr_t start, size_t size)
{
    if (address < start) {
        return start - address;
    }
    return address < start + size ? 0 : address - (start + size) + 1;
}

int rcx_block_of(rcx_story *self, uintptr_t address)
{
    if (!rcx_heap_has(address)) {
        return -1;
    }
    const rcx_block *near = rcx_heap_near(address);
    size_t best = SIZE_MAX;
    rcx_shown_block found = {.born_step = -1};
    if (near != NULL) {
        best = distance(address, near->address, near->size);
        found = (rcx_shown_block){near->address, near->size, -1, near->born};
    }
    for (unsigned i = 0; i < self->trace->step_count; i++) {
        const rcx_step *step = &self->trace->steps[i];
        if (step->kind == RCX_STEP_ALLOCATE &&
            distance(address, step->address, step->size) < best) {
            best = distance(address, step->address, step->size);
            found = (rcx_shown_block){step->address, step->size, (int)i, step->place};
        }
    }
    if (best > CLOSE) {
        return -1;
    }
    for (unsigned i = 0; i < self->block_count; i++) {
        if (self->blocks[i].address == found.address) {
            return (int)i;
        }
    }
    if (self->block_count == RCX_BLOCKS_SHOWN) {
        return -1;
    }
    self->blocks[self->block_count] = found;
    return (int)self->block_count++;
}

static void add_offset(rcx_text *to, const char *name, uintptr_t address, uintptr_t start)
{
    if (address == start) {
        rcx_add(to, "%s", name);
    } else if (address < start) {
        rcx_add(to, "%s-%ju", name, (uintmax_t)(start - address));
    } else {
        rcx_add(to, "%s+%ju", name, (uintmax_t)(address - start));
    }
}

void rcx_add_memory(rcx_story *self, rcx_text *to, uintptr_t address)
{
    for (size_t i = 0; self->names != NULL && i < self->names->count; i++) {
        const rcx_name *name = &self->names->items[i];
        if (address - name->address < name->size) {
            add_offset(to, name->name, address, name->address);
            return;
        }
    }
    int number = rcx_block_of(self, address);
    if (number >= 0) {
        char name[16];
        snprintf(name, sizeof name, "B%d", number);
        add_offset(to, name, address, self->blocks[number].address);
        return;
    }
    unsigned stack = rcx_fiber_of_stack(address);
    if (stack < RCX_FIBERS) {
        rcx_add(to, "a local variable of ");
        rcx_add(to, stack == RCX_FIBER_MAIN ? "the main program" : "thread %u", stack);
        return;
    }
    size_t offset = 0;
    const char *variable = rcx_places_variable(self->places, address, &offset);
    if (variable != NULL) {
        add_offset(to, variable, address, address - offset);
        return;
    }
    rcx_add(to, "0x%jx", (uintmax_t)address);
}

void rcx_add_value(rcx_story *self, rcx_text *to, rcx_value value, size_t size)
{
    if (value < SMALL) {
        rcx_add(to, "%u", (unsigned)value);
        return;
    }
    if (size == sizeof(uintptr_t) && rcx_heap_has((uintptr_t)value)) {
        rcx_add(to, "&");
        rcx_add_memory(self, to, (uintptr_t)value);
        return;
    }
    unsigned groups = 7;
    while (groups > 0 && (value >> 16 * groups & 0xffff) == 0) {
        groups--;
    }
    rcx_add(to, "0x%x", (unsigned)(value >> 16 * groups & 0xffff));
    while (groups-- > 0) {
        rcx_add(to, "_%04x", (unsigned)(value >> 16 * groups & 0xffff));
    }
}

void rcx_add_thread(rcx_text *to, unsigned thread)
{
    if (thread == RCX_FIBER_MAIN) {
        rcx_add(to, "the main program");
    } else {
        rcx_add(to, "thread %u", thread);
    }
}

/* ---- Places ---- */

/* The explorer's own sources, which are around every program. */
static bool is_machinery(const rcx_frame *frame)
{
    static const char folder[] = "engines/explorer/";
    const char *at = strstr(frame->file, folder);
    return at != NULL && strchr(at + sizeof folder - 1, '/') == NULL;
}

static bool is_search(const rcx_frame *frame)
{
    size_t length = strlen(frame->file);
    return is_machinery(frame) && length > 8 && strcmp(frame->file + length - 8, "search.c") == 0;
}

static bool is_system(const rcx_frame *frame)
{
    return frame->line == 0 || strncmp(frame->file, "/usr/include/", 13) == 0 ||
           strncmp(frame->file, "/usr/lib/", 9) == 0;
}

static size_t keep_frames(rcx_frame *frames, size_t count, bool (*unwanted)(const rcx_frame *))
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        kept += !unwanted(&frames[i]);
    }
    if (kept == 0) {
        return count;
    }
    kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!unwanted(&frames[i])) {
            frames[kept++] = frames[i];
        }
    }
    return kept;
}

/* A compiler may split a function, and then a part of it is called from the rest. */
static size_t join_parts(rcx_frame *frames, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp(frames[i].function, frames[kept - 1].function) != 0 ||
            strcmp(frames[i].file, frames[kept - 1].file) != 0) {
            frames[kept++] = frames[i];
        }
    }
    return kept;
}

size_t rcx_chain_of(const rcx_story *self, rcx_place place, const rcx_place *callers,
                    unsigned depth, rcx_frame *frames)
{
    size_t count = 0;
    for (unsigned level = 0; level <= depth; level++) {
        const rcx_frame *some = NULL;
        size_t more =
            rcx_places_frames(self->places, level == 0 ? place : callers[depth - level], &some);
        for (size_t i = 0; i < more && count < RCX_CHAIN_MAX; i++) {
            frames[count++] = some[i];
        }
    }
    count = keep_frames(frames, count, is_search);
    count = keep_frames(frames, count, is_machinery);
    count = keep_frames(frames, count, is_system);
    return join_parts(frames, count);
}

size_t rcx_chain_of_step(const rcx_story *self, const rcx_step *step, rcx_frame *frames)
{
    return rcx_chain_of(self, step->place, step->callers, step->depth, frames);
}

const char *rcx_short_file(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

void rcx_add_chain(rcx_text *to, unsigned thread, const rcx_frame *frames, size_t count)
{
    if (thread == RCX_FIBER_MAIN) {
        rcx_add(to, "after the threads");
    } else {
        rcx_add(to, "thread %u", thread);
    }
    for (size_t i = 0; i < count; i++) {
        bool inner = i + 1 < count && strcmp(frames[i].file, frames[i + 1].file) == 0;
        if (i == 0) {
            rcx_add(to, " in %s", frames[i].function);
        } else if (count <= LONG_CHAIN || !inner) {
            rcx_add(to, ", from %s (%s:%u)", frames[i].function, rcx_short_file(frames[i].file),
                    frames[i].line);
        }
    }
}

/* ---- What a step did ---- */

const char *rcx_order_name(int order)
{
    switch (order) {
    case __ATOMIC_RELAXED:
        return "RELAXED";
    case __ATOMIC_CONSUME:
        return "CONSUME";
    case __ATOMIC_ACQUIRE:
        return "ACQUIRE";
    case __ATOMIC_RELEASE:
        return "RELEASE";
    case __ATOMIC_ACQ_REL:
        return "ACQ_REL";
    default:
        return "SEQ_CST";
    }
}

static bool acquires(int order)
{
    return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static const char *function_name(rcx_function function)
{
    static const char *const names[] = {"exchange", "fetch_add", "fetch_sub", "fetch_and",
                                        "fetch_or", "fetch_xor", "fetch_nand"};
    return names[function];
}

const char *rcx_operation_name(const rcx_operation *operation)
{
    switch (operation->kind) {
    case RCX_LOAD:
        return "load";
    case RCX_STORE:
        return "store";
    case RCX_RMW:
        return function_name(operation->function);
    case RCX_CAS:
        return operation->weak ? "compare_exchange_weak" : "compare_exchange";
    case RCX_FENCE:
        return "fence";
    case RCX_LOCK:
        return "lock";
    case RCX_UNLOCK:
        return "unlock";
    default:
        return "?";
    }
}

/* The latest step of the thread before `before` that did an atomic operation, or NULL. */
static const rcx_step *previous_of(const rcx_story *self, unsigned thread, unsigned before)
{
    for (unsigned i = before; i-- > 0;) {
        const rcx_step *step = &self->trace->steps[i];
        if (step->thread == thread && step->kind == RCX_STEP_ATOMIC) {
            return step;
        }
    }
    return NULL;
}

static int last_known(const rcx_story *self, unsigned thread, rcx_clock clock)
{
    for (unsigned i = self->trace->step_count; i-- > 0;) {
        const rcx_step *step = &self->trace->steps[i];
        if (step->thread == thread && step->kind == RCX_STEP_ATOMIC &&
            rcx_clock_has(clock, thread, step->event.time)) {
            return (int)i;
        }
    }
    return -1;
}

/* Behind which steps of other threads this one has come now. True: some. */
static bool add_learned(const rcx_story *self, rcx_text *to, unsigned index)
{
    const rcx_step *step = &self->trace->steps[index];
    const rcx_step *before = previous_of(self, step->thread, index);
    const char *joint = "; comes after";
    bool any = false;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < RCX_THREADS_MAX; i++) {
            bool old = before != NULL && step->event.clock[i] <= before->event.clock[i];
            int last = i == step->thread || old ? -1 : last_known(self, i, step->event.clock);
            if (last < 0 || (last == step->source_step) != (pass == 0)) {
                continue;
            }
            if (pass == 0) {
                rcx_add(to, "; synchronizes with step %d", last + 1);
                joint = ", so comes after";
            } else {
                rcx_add(to, "%s step %d (thread %u)", joint, last + 1, i);
                joint = " and";
            }
            any = true;
        }
    }
    return any;
}

/* What was read, and whose store it was: "1 (step 3, thread 0)". */
static void add_read(rcx_story *self, rcx_text *to, const rcx_step *step)
{
    rcx_add_value(self, to, step->event.read_value, step->size);
    if (step->thread == RCX_FIBER_MAIN) {
        return;
    }
    if (step->source_step >= 0) {
        rcx_add(to, " (step %d", step->source_step + 1);
        if (step->source_thread != step->thread) {
            rcx_add(to, ", thread %u", step->source_thread);
        }
    } else if (step->source_thread < RCX_THREADS_MAX) {
        rcx_add(to, " (a plain write of thread %u", step->source_thread);
    } else {
        rcx_add(to, " (there before");
    }
    if (step->stale && step->later_step >= 0) {
        rcx_add(to, ", though step %d has stored later", step->later_step + 1);
    } else if (step->stale) {
        rcx_add(to, ", though a later value is stored");
    }
    rcx_add(to, ")");
}

static bool fenced_later(const rcx_story *self, unsigned index)
{
    const rcx_step *from = &self->trace->steps[index];
    for (unsigned i = index + 1; i < self->trace->step_count; i++) {
        const rcx_step *step = &self->trace->steps[i];
        if (step->thread == from->thread && step->kind == RCX_STEP_ATOMIC &&
            step->event.kind == RCX_FENCE && acquires(step->event.order)) {
            return true;
        }
    }
    return false;
}

/* What the read makes of the store in another thread that it has read. */
static void add_order(const rcx_story *self, rcx_text *to, unsigned index)
{
    const rcx_step *step = &self->trace->steps[index];
    if (step->thread == RCX_FIBER_MAIN || add_learned(self, to, index) || step->source_step < 0 ||
        step->source_thread == step->thread) {
        return;
    }
    const rcx_step *source = &self->trace->steps[step->source_step];
    if (rcx_clock_has(step->event.clock, source->thread, source->event.time)) {
        return;
    }
    if (!acquires(step->event.order) && fenced_later(self, index)) {
        return;
    }
    if (!acquires(step->event.order)) {
        rcx_add(to, "; no order, as this read does not acquire");
    } else if (!releases(source->event.order)) {
        rcx_add(to, "; no order, as step %d does not release", step->source_step + 1);
    }
}

static void add_compare(rcx_story *self, rcx_text *to, const rcx_step *step)
{
    const rcx_event *event = &step->event;
    if (event->writes) {
        rcx_add(to, ": ");
        add_read(self, to, step);
        rcx_add(to, " -> ");
        rcx_add_value(self, to, event->written_value, step->size);
    } else if (event->spurious) {
        rcx_add(to, " fails for no reason, as a weak one may: it reads ");
        add_read(self, to, step);
    } else {
        rcx_add(to, " fails: it expects ");
        rcx_add_value(self, to, step->operation.expected, step->size);
        rcx_add(to, " and reads ");
        add_read(self, to, step);
    }
}

static void add_atomic(rcx_story *self, rcx_text *to, unsigned index)
{
    const rcx_step *step = &self->trace->steps[index];
    const rcx_event *event = &step->event;
    rcx_add(to, "%s", rcx_operation_name(&step->operation));
    if (event->kind == RCX_FENCE) {
        rcx_add(to, " %s", rcx_order_name(event->order));
        add_learned(self, to, index);
        return;
    }
    if (event->kind == RCX_RMW && step->operation.function != RCX_EXCHANGE) {
        rcx_add(to, " ");
        rcx_add_value(self, to, step->operation.operand, step->size);
    }
    if (event->kind != RCX_LOCK && event->kind != RCX_UNLOCK) {
        rcx_add(to, " %s", rcx_order_name(event->order));
    }
    rcx_add(to, " ");
    rcx_add_memory(self, to, step->address);
    switch (event->kind) {
    case RCX_LOAD:
        rcx_add(to, ": reads ");
        add_read(self, to, step);
        break;
    case RCX_STORE:
        rcx_add(to, ": writes ");
        rcx_add_value(self, to, event->written_value, step->size);
        break;
    case RCX_LOCK:
    case RCX_UNLOCK:
        break;
    case RCX_RMW:
        rcx_add(to, ": ");
        add_read(self, to, step);
        rcx_add(to, " -> ");
        rcx_add_value(self, to, event->written_value, step->size);
        break;
    default:
        add_compare(self, to, step);
        break;
    }
    if (event->reads) {
        add_order(self, to, index);
    }
    if (step->inserted && step->later_step >= 0) {
        rcx_add(to, "; in modification order before step %d", step->later_step + 1);
    } else if (step->inserted) {
        rcx_add(to, "; in modification order before a store that is there");
    }
}

static const char *access_name(rcx_access access)
{
    static const char *const names[] = {"atomic read", "plain read", "atomic write", "plain write",
                                        "free"};
    return names[access];
}

/* What the step is to the failure. */
static void add_part(const rcx_story *self, rcx_text *to, int index)
{
    const rcx_trace *trace = self->trace;
    if (index != self->failing && index != self->other) {
        return;
    }
    switch (trace->kind) {
    case RCX_RACE:
        rcx_add(to, "   <-- the race: %s access", index == self->failing ? "the other" : "one");
        break;
    case RCX_USE_AFTER_FREE:
        rcx_add(to, "   <-- %s",
                (index == self->failing ? trace->access : trace->other_access) == RCX_FREE
                    ? "the free"
                    : "the use");
        break;
    case RCX_BAD_FREE:
        rcx_add(to, "   <-- the %s free", index == self->failing ? "bad" : "first");
        break;
    default:
        rcx_add(to, "   <-- the failure");
        break;
    }
}

/* What a thread waits for in the end. */
static void add_waiting(rcx_story *self, rcx_text *to, const rcx_step *step)
{
    rcx_add(to, "waits for ever: %s ", rcx_operation_name(&step->operation));
    rcx_add_memory(self, to, step->address);
    if (step->operation.kind != RCX_LOCK) {
        return;
    }
    for (unsigned i = self->trace->step_count; i-- > 0;) {
        const rcx_step *other = &self->trace->steps[i];
        if (other->kind == RCX_STEP_ATOMIC && other->address == step->address &&
            other->event.kind != RCX_UNLOCK && other->event.writes) {
            rcx_add(to, ", which thread %u has locked in step %u", other->thread, i + 1);
            return;
        }
    }
}

void rcx_add_step(rcx_story *self, rcx_text *to, unsigned index)
{
    const rcx_trace *trace = self->trace;
    const rcx_step *step = &trace->steps[index];
    switch (step->kind) {
    case RCX_STEP_ATOMIC:
        add_atomic(self, to, index);
        break;
    case RCX_STEP_SLEEP:
        add_waiting(self, to, step);
        break;
    case RCX_STEP_ALLOCATE:
        rcx_add(to, "allocates ");
        rcx_add_memory(self, to, step->address);
        rcx_add(to, " (%zu bytes)", step->size);
        break;
    case RCX_STEP_FREE:
        rcx_add(to, "frees ");
        rcx_add_memory(self, to, step->address);
        break;
    case RCX_STEP_PLAIN:
        if (step->failed) {
            rcx_add(to, "%s ", access_name(trace->access));
        } else {
            rcx_add(to, "plain %s ", step->event.writes ? "write" : "read");
        }
        rcx_add_memory(self, to, step->address);
        if (step->size != 0) {
            rcx_add(to, " (%zu byte%s)", step->size, step->size == 1 ? "" : "s");
        }
        break;
    }
    add_part(self, to, (int)index);
}

/* ---- The steps of the failure ---- */

void rcx_find_parts(rcx_story *self)
{
    const rcx_trace *trace = self->trace;
    self->failing = -1;
    self->other = -1;
    if (trace->step_count == 0) {
        return;
    }
    unsigned last = trace->step_count - 1;
    if (!trace->steps[last].failed || trace->kind == RCX_DEADLOCK) {
        return;
    }
    self->failing = (int)last;
    for (unsigned i = last; trace->other_known && i-- > 0;) {
        const rcx_step *step = &trace->steps[i];
        if (step->thread == trace->other_thread && step->place == trace->other_place) {
            self->other = (int)i;
            return;
        }
    }
}
