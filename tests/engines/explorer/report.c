#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fiber.h"
#include "places.h"

enum {
    WIDTH = 110,
    INDENT = 10,        /* of a step's text */
    BLOCKS_SHOWN = 256, /* named B0, B1, ... */
    FOLD_ABOVE = 40,    /* steps that are all shown */
    CHAIN_MAX = 64,     /* functions around a place */
    LEAKS_SHOWN = 8,
    SMALL = 1000000, /* values below it are shown as decimal numbers */
    TEXT_BYTES = 1024,
    NAME_BYTES = 160
};

/* A heap block that the trace speaks of. */
typedef struct block {
    uintptr_t address;
    size_t size;
    int born_step; /* -1: before the threads */
    rcx_place born;
} block;

typedef struct report {
    FILE *out;
    const rcx_trace *trace;
    const rcx_names *names;
    rcx_places *places;
    bool colour;
    unsigned block_count;
    block blocks[BLOCKS_SHOWN];
    int failing, other; /* steps, or -1 */
    bool shown[RCX_STEPS_MAX];
} report;

typedef struct text {
    char bytes[TEXT_BYTES];
    size_t used;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *to, const char *format, ...)
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

/* The block at the address or next to it, with the number that it is shown under; -1: none. */
static int block_of(report *self, uintptr_t address)
{
    if (!rcx_heap_has(address)) {
        return -1;
    }
    const rcx_block *near = rcx_heap_near(address);
    size_t best = SIZE_MAX;
    block found = {.born_step = -1};
    if (near != NULL) {
        best = distance(address, near->address, near->size);
        found = (block){near->address, near->size, -1, near->born};
    }
    for (unsigned i = 0; i < self->trace->step_count; i++) {
        const rcx_step *step = &self->trace->steps[i];
        if (step->kind == RCX_STEP_ALLOCATE &&
            distance(address, step->address, step->size) < best) {
            best = distance(address, step->address, step->size);
            found = (block){step->address, step->size, (int)i, step->place};
        }
    }
    if (best == SIZE_MAX) {
        return -1;
    }
    for (unsigned i = 0; i < self->block_count; i++) {
        if (self->blocks[i].address == found.address) {
            return (int)i;
        }
    }
    if (self->block_count == BLOCKS_SHOWN) {
        return -1;
    }
    self->blocks[self->block_count] = found;
    return (int)self->block_count++;
}

static void add_offset(text *to, const char *name, uintptr_t address, uintptr_t start)
{
    if (address == start) {
        add(to, "%s", name);
    } else if (address < start) {
        add(to, "%s-%ju", name, (uintmax_t)(start - address));
    } else {
        add(to, "%s+%ju", name, (uintmax_t)(address - start));
    }
}

static void add_memory(report *self, text *to, uintptr_t address)
{
    for (size_t i = 0; self->names != NULL && i < self->names->count; i++) {
        const rcx_name *name = &self->names->items[i];
        if (address - name->address < name->size) {
            add_offset(to, name->name, address, name->address);
            return;
        }
    }
    int number = block_of(self, address);
    if (number >= 0) {
        char name[16];
        snprintf(name, sizeof name, "B%d", number);
        add_offset(to, name, address, self->blocks[number].address);
        return;
    }
    unsigned stack = rcx_fiber_of_stack(address);
    if (stack < RCX_FIBERS) {
        add(to, "a local variable of ");
        add(to, stack == RCX_FIBER_MAIN ? "the main program" : "thread %u", stack);
        return;
    }
    size_t offset = 0;
    const char *variable = rcx_places_variable(self->places, address, &offset);
    if (variable != NULL) {
        add_offset(to, variable, address, address - offset);
        return;
    }
    add(to, "0x%jx", (uintmax_t)address);
}

/* Small ones decimal; pointers to blocks by name; else 0x1_0000_0001. */
static void add_value(report *self, text *to, rcx_value value, size_t size)
{
    if (value < SMALL) {
        add(to, "%u", (unsigned)value);
        return;
    }
    if (size == sizeof(uintptr_t) && rcx_heap_has((uintptr_t)value)) {
        add(to, "&");
        add_memory(self, to, (uintptr_t)value);
        return;
    }
    unsigned groups = 7;
    while (groups > 0 && (value >> 16 * groups & 0xffff) == 0) {
        groups--;
    }
    add(to, "0x%x", (unsigned)(value >> 16 * groups & 0xffff));
    while (groups-- > 0) {
        add(to, "_%04x", (unsigned)(value >> 16 * groups & 0xffff));
    }
}

static void add_thread(text *to, unsigned thread)
{
    if (thread == RCX_FIBER_MAIN) {
        add(to, "the main program");
    } else {
        add(to, "thread %u", thread);
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

/* The functions around a place, the innermost first: of each, its line on the way to the place. */
static size_t chain_of(const report *self, rcx_place place, const rcx_place *callers,
                       unsigned depth, rcx_frame *frames)
{
    size_t count = 0;
    for (unsigned level = 0; level <= depth; level++) {
        const rcx_frame *some = NULL;
        size_t more =
            rcx_places_frames(self->places, level == 0 ? place : callers[depth - level], &some);
        for (size_t i = 0; i < more && count < CHAIN_MAX; i++) {
            frames[count++] = some[i];
        }
    }
    count = keep_frames(frames, count, is_search);
    count = keep_frames(frames, count, is_machinery);
    count = keep_frames(frames, count, is_system);
    return join_parts(frames, count);
}

static size_t step_chain(const report *self, const rcx_step *step, rcx_frame *frames)
{
    return chain_of(self, step->place, step->callers, step->depth, frames);
}

static const char *short_file(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

/* Without the working directory in front. */
static const char *local_file(const char *file, char *room, size_t size)
{
    char here[TEXT_BYTES];
    if (getcwd(here, sizeof here) == NULL) {
        return file;
    }
    size_t length = strlen(here);
    if (strncmp(file, here, length) != 0 || file[length] != '/') {
        return file;
    }
    snprintf(room, size, "%s", file + length + 1);
    return room;
}

/* "thread 1 in drop_weak, from rc_release (rc.h:140), from race_release_own (race.h:40)" */
static void add_chain(text *to, unsigned thread, const rcx_frame *frames, size_t count)
{
    if (thread == RCX_FIBER_MAIN) {
        add(to, "after the threads");
    } else {
        add(to, "thread %u", thread);
    }
    for (size_t i = 0; i < count; i++) {
        if (i == 0) {
            add(to, " in %s", frames[i].function);
        } else {
            add(to, ", from %s (%s:%u)", frames[i].function, short_file(frames[i].file),
                frames[i].line);
        }
    }
}

/* ---- What a step did ---- */

static const char *order_name(int order)
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

static const char *operation_name(const rcx_operation *operation)
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
static const rcx_step *previous_of(const report *self, unsigned thread, unsigned before)
{
    for (unsigned i = before; i-- > 0;) {
        const rcx_step *step = &self->trace->steps[i];
        if (step->thread == thread && step->kind == RCX_STEP_ATOMIC) {
            return step;
        }
    }
    return NULL;
}

static int last_known(const report *self, unsigned thread, rcx_clock clock)
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
static bool add_learned(const report *self, text *to, unsigned index)
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
                add(to, "; synchronizes with step %d", last + 1);
                joint = ", so comes after";
            } else {
                add(to, "%s step %d (thread %u)", joint, last + 1, i);
                joint = " and";
            }
            any = true;
        }
    }
    return any;
}

/* What was read, and whose store it was: "1 (step 3, thread 0)". */
static void add_read(report *self, text *to, const rcx_step *step)
{
    add_value(self, to, step->event.read_value, step->size);
    if (step->thread == RCX_FIBER_MAIN) {
        return;
    }
    if (step->source_step >= 0) {
        add(to, " (step %d", step->source_step + 1);
        if (step->source_thread != step->thread) {
            add(to, ", thread %u", step->source_thread);
        }
    } else if (step->source_thread < RCX_THREADS_MAX) {
        add(to, " (a plain write of thread %u", step->source_thread);
    } else {
        add(to, " (there before");
    }
    if (step->stale && step->later_step >= 0) {
        add(to, ", though step %d has stored later", step->later_step + 1);
    } else if (step->stale) {
        add(to, ", though a later value is stored");
    }
    add(to, ")");
}

static bool fenced_later(const report *self, unsigned index)
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
static void add_order(const report *self, text *to, unsigned index)
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
        add(to, "; no order, as this read does not acquire");
    } else if (!releases(source->event.order)) {
        add(to, "; no order, as step %d does not release", step->source_step + 1);
    }
}

static void add_compare(report *self, text *to, const rcx_step *step)
{
    const rcx_event *event = &step->event;
    if (event->writes) {
        add(to, ": ");
        add_read(self, to, step);
        add(to, " -> ");
        add_value(self, to, event->written_value, step->size);
    } else if (event->spurious) {
        add(to, " fails for no reason, as a weak one may: it reads ");
        add_read(self, to, step);
    } else {
        add(to, " fails: it expects ");
        add_value(self, to, step->operation.expected, step->size);
        add(to, " and reads ");
        add_read(self, to, step);
    }
}

static void add_atomic(report *self, text *to, unsigned index)
{
    const rcx_step *step = &self->trace->steps[index];
    const rcx_event *event = &step->event;
    add(to, "%s", operation_name(&step->operation));
    if (event->kind == RCX_FENCE) {
        add(to, " %s", order_name(event->order));
        add_learned(self, to, index);
        return;
    }
    if (event->kind == RCX_RMW && step->operation.function != RCX_EXCHANGE) {
        add(to, " ");
        add_value(self, to, step->operation.operand, step->size);
    }
    if (event->kind != RCX_LOCK && event->kind != RCX_UNLOCK) {
        add(to, " %s", order_name(event->order));
    }
    add(to, " ");
    add_memory(self, to, step->address);
    switch (event->kind) {
    case RCX_LOAD:
        add(to, ": reads ");
        add_read(self, to, step);
        break;
    case RCX_STORE:
        add(to, ": writes ");
        add_value(self, to, event->written_value, step->size);
        break;
    case RCX_LOCK:
    case RCX_UNLOCK:
        break;
    case RCX_RMW:
        add(to, ": ");
        add_read(self, to, step);
        add(to, " -> ");
        add_value(self, to, event->written_value, step->size);
        break;
    default:
        add_compare(self, to, step);
        break;
    }
    if (event->reads) {
        add_order(self, to, index);
    }
    if (step->inserted && step->later_step >= 0) {
        add(to, "; in modification order before step %d", step->later_step + 1);
    } else if (step->inserted) {
        add(to, "; in modification order before a store that is there");
    }
}

static const char *access_name(rcx_access access)
{
    static const char *const names[] = {"atomic read", "plain read", "atomic write", "plain write",
                                        "free"};
    return names[access];
}

/* What the step is to the failure. */
static void add_part(const report *self, text *to, int index)
{
    const rcx_trace *trace = self->trace;
    if (index != self->failing && index != self->other) {
        return;
    }
    switch (trace->kind) {
    case RCX_RACE:
        add(to, "   <-- the race: %s access", index == self->failing ? "the other" : "one");
        break;
    case RCX_USE_AFTER_FREE:
        add(to, "   <-- %s",
            (index == self->failing ? trace->access : trace->other_access) == RCX_FREE ? "the free"
                                                                                       : "the use");
        break;
    case RCX_BAD_FREE:
        add(to, "   <-- the %s free", index == self->failing ? "bad" : "first");
        break;
    default:
        add(to, "   <-- the failure");
        break;
    }
}

/* What a thread waits for in the end. */
static void add_waiting(report *self, text *to, const rcx_step *step)
{
    add(to, "waits for ever: %s ", operation_name(&step->operation));
    add_memory(self, to, step->address);
    if (step->operation.kind != RCX_LOCK) {
        return;
    }
    for (unsigned i = self->trace->step_count; i-- > 0;) {
        const rcx_step *other = &self->trace->steps[i];
        if (other->kind == RCX_STEP_ATOMIC && other->address == step->address &&
            other->event.kind != RCX_UNLOCK && other->event.writes) {
            add(to, ", which thread %u has locked in step %u", other->thread, i + 1);
            return;
        }
    }
}

static void add_step(report *self, text *to, unsigned index)
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
        add(to, "allocates ");
        add_memory(self, to, step->address);
        add(to, " (%zu bytes)", step->size);
        break;
    case RCX_STEP_FREE:
        add(to, "frees ");
        add_memory(self, to, step->address);
        break;
    case RCX_STEP_PLAIN:
        if (step->failed) {
            add(to, "%s ", access_name(trace->access));
        } else {
            add(to, "plain %s ", step->event.writes ? "write" : "read");
        }
        add_memory(self, to, step->address);
        if (step->size != 0) {
            add(to, " (%zu byte%s)", step->size, step->size == 1 ? "" : "s");
        }
        break;
    }
    add_part(self, to, (int)index);
}

/* ---- Which steps are shown ---- */

static void find_parts(report *self)
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

static bool same_memory(report *self, uintptr_t a, uintptr_t b)
{
    int one = block_of(self, a);
    return a / 8 == b / 8 || (one >= 0 && one == block_of(self, b));
}

/* With many steps, only the threads that touch what failed; and what they read from. */
static void choose_steps(report *self)
{
    const rcx_trace *trace = self->trace;
    bool touches[RCX_FIBERS] = {false};
    bool all = trace->step_count <= FOLD_ABOVE || trace->address == 0;
    for (unsigned i = 0; i < trace->step_count; i++) {
        const rcx_step *step = &trace->steps[i];
        if (step->address != 0 && same_memory(self, step->address, trace->address)) {
            touches[step->thread] = true;
        }
    }
    for (unsigned i = trace->step_count; i-- > 0;) {
        const rcx_step *step = &trace->steps[i];
        self->shown[i] = self->shown[i] || all || touches[step->thread] || step->failed;
        if (self->shown[i] && step->source_step >= 0) {
            self->shown[step->source_step] = true;
        }
    }
}

/* ---- Text ---- */

/* Columns of UTF-8 text, up to `bytes`. */
static size_t columns_of(const char *from, size_t bytes)
{
    size_t columns = 0;
    for (size_t i = 0; i < bytes; i++) {
        columns += ((unsigned char)from[i] & 0xc0) != 0x80;
    }
    return columns;
}

/* At most `columns`; what is cut leaves an ellipsis. */
static void print_cut(FILE *out, const char *line, size_t columns)
{
    size_t length = strlen(line);
    if (columns_of(line, length) <= columns) {
        fputs(line, out);
        return;
    }
    size_t bytes = 0;
    for (size_t seen = 0; line[bytes] != '\0'; bytes++) {
        seen += ((unsigned char)line[bytes] & 0xc0) != 0x80;
        if (seen == columns) {
            break;
        }
    }
    fprintf(out, "%.*s…", (int)bytes, line);
}

/* In lines of at most WIDTH; all but the first begin with `indent` blanks, and the first one is there
 * already up to `column`. */
static void print_wrapped(FILE *out, const char *words, size_t column, size_t indent)
{
    bool first = true;
    while (*words != '\0') {
        size_t blanks = strspn(words, " ");
        size_t length = strcspn(words + blanks, " ");
        size_t needed = columns_of(words, blanks + length);
        if (!first && column + needed > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            words += blanks;
            blanks = 0;
            needed = columns_of(words, length);
        }
        fprintf(out, "%.*s", (int)(blanks + length), words);
        column += needed;
        words += blanks + length;
        first = false;
    }
    fputc('\n', out);
}

static void paint(const report *self, const char *code)
{
    if (self->colour) {
        fprintf(self->out, "\033[%sm", code);
    }
}

static const char *kind_title(rcx_failure_kind kind)
{
    switch (kind) {
    case RCX_RACE:
        return "data race";
    case RCX_USE_AFTER_FREE:
        return "use after free";
    case RCX_BAD_FREE:
        return "bad free";
    case RCX_OUT_OF_BOUNDS:
        return "out of bounds";
    case RCX_LEAK:
        return "leak";
    case RCX_DEADLOCK:
        return "deadlock";
    case RCX_ASSERTION:
        return "broken promise";
    case RCX_TRAP:
        return "trap";
    case RCX_CRASH:
        return "crash";
    default:
        return "failure";
    }
}

/* One side of the failure: "  the free   step 6, thread 0 in drop: rc.h:140", and its source line. */
static void print_side(report *self, const char *role, int index, unsigned thread,
                       const rcx_frame *frames, size_t count)
{
    text line = {.used = 0};
    add(&line, "  %-10s ", role);
    if (index >= 0) {
        add(&line, "step %d, ", index + 1);
    }
    add_thread(&line, thread);
    if (count == 0) {
        fprintf(self->out, "%s\n", line.bytes);
        return;
    }
    char room[TEXT_BYTES];
    add(&line, " in %s, %s:%u", frames[0].function, local_file(frames[0].file, room, sizeof room),
        frames[0].line);
    print_wrapped(self->out, line.bytes, 0, 13);
    rcx_places_source(&frames[0], room, sizeof room);
    if (room[0] != '\0') {
        fprintf(self->out, "%13s", "");
        print_cut(self->out, room, WIDTH - 13);
        fputc('\n', self->out);
    }
}

static void print_hex_side(report *self, const char *role, int index, unsigned thread,
                           rcx_place place, const rcx_frame *frames, size_t count)
{
    rcx_frame bare = {.function = "code", .file = "", .line = 0};
    if (count > 0 || place == 0) {
        print_side(self, role, index, thread, frames, count);
        return;
    }
    text line = {.used = 0};
    add_thread(&line, thread);
    fprintf(self->out, "  %-10s ", role);
    if (index >= 0) {
        fprintf(self->out, "step %d, ", index + 1);
    }
    fprintf(self->out, "%s in %s at 0x%x\n", line.bytes, bare.function, place);
}

static void print_block(report *self, int number, const char *prefix)
{
    const block *shown = &self->blocks[number];
    rcx_frame frames[CHAIN_MAX];
    size_t count = 0;
    text line = {.used = 0};
    add(&line, "%sB%d: %zu bytes, allocated ", prefix, number, shown->size);
    if (shown->born_step >= 0) {
        const rcx_step *step = &self->trace->steps[shown->born_step];
        count = step_chain(self, step, frames);
        add(&line, "in step %d by ", shown->born_step + 1);
        add_thread(&line, step->thread);
    } else {
        count = chain_of(self, shown->born, self->trace->callers, 0, frames);
        add(&line, "before the threads");
    }
    if (count > 0) {
        add(&line, " in %s, %s:%u", frames[0].function, short_file(frames[0].file), frames[0].line);
    }
    print_wrapped(self->out, line.bytes, 0, 13);
}

static bool is_freed(const report *self, uintptr_t address)
{
    for (unsigned i = 0; i < self->trace->step_count; i++) {
        const rcx_step *step = &self->trace->steps[i];
        if (step->kind == RCX_STEP_FREE && step->address == address) {
            return true;
        }
    }
    return false;
}

/* Blocks that nobody has freed. */
static unsigned list_leaks(report *self, int *numbers)
{
    unsigned count = 0;
    const rcx_block *at;
    for (uint32_t i = 0; count < LEAKS_SHOWN && (at = rcx_heap_number(i)) != NULL; i++) {
        if (at->live && !is_freed(self, at->address)) {
            numbers[count++] = block_of(self, at->address);
        }
    }
    for (unsigned i = 0; count < LEAKS_SHOWN && i < self->trace->step_count; i++) {
        const rcx_step *step = &self->trace->steps[i];
        if (step->kind == RCX_STEP_ALLOCATE && !is_freed(self, step->address)) {
            numbers[count++] = block_of(self, step->address);
        }
    }
    return count;
}

static const char *failing_role(const report *self)
{
    const rcx_trace *trace = self->trace;
    switch (trace->kind) {
    case RCX_RACE:
        return "the other";
    case RCX_USE_AFTER_FREE:
        return trace->access == RCX_FREE ? "the free" : "the use";
    case RCX_BAD_FREE:
        return "the free";
    case RCX_OUT_OF_BOUNDS:
        return "the access";
    case RCX_CRASH:
        return "happens in";
    default:
        return "noticed by";
    }
}

static const char *other_role(const report *self)
{
    const rcx_trace *trace = self->trace;
    if (trace->kind == RCX_RACE) {
        return "one access";
    }
    if (trace->kind == RCX_BAD_FREE) {
        return "first free";
    }
    return trace->other_access == RCX_FREE ? "the free" : "the use";
}

static void print_failure(report *self)
{
    const rcx_trace *trace = self->trace;
    rcx_frame frames[CHAIN_MAX];
    text line = {.used = 0};
    paint(self, "1;31");
    fputs(kind_title(trace->kind), self->out);
    paint(self, "0");
    static const char again[] = "a crash: "; /* the title says so */
    bool said = strncmp(trace->text, again, sizeof again - 1) == 0;
    add(&line, ": %s", trace->text + (said ? sizeof again - 1 : 0));
    print_wrapped(self->out, line.bytes, strlen(kind_title(trace->kind)), 2);
    if (trace->address != 0) {
        text memory = {.used = 0};
        add(&memory, "  %-10s ", "memory");
        add_memory(self, &memory, trace->address);
        int number = block_of(self, trace->address);
        if (number >= 0) {
            add(&memory, "   of block ");
            print_block(self, number, memory.bytes);
        } else {
            fprintf(self->out, "%s\n", memory.bytes);
        }
    }
    if (trace->other_known) {
        const rcx_step *step = self->other >= 0 ? &trace->steps[self->other] : NULL;
        size_t count = step != NULL
                           ? step_chain(self, step, frames)
                           : chain_of(self, trace->other_place, self->trace->callers, 0, frames);
        print_hex_side(self, other_role(self), self->other, trace->other_thread, trace->other_place,
                       frames, count);
    }
    if (trace->kind != RCX_DEADLOCK && trace->kind != RCX_LEAK) {
        size_t count = chain_of(self, trace->place, trace->callers, trace->depth, frames);
        print_hex_side(self, failing_role(self), self->failing, trace->failed_thread, trace->place,
                       frames, count);
    }
    if (trace->kind == RCX_LEAK) {
        int numbers[LEAKS_SHOWN];
        unsigned count = list_leaks(self, numbers);
        for (unsigned i = 0; i < count; i++) {
            if (numbers[i] >= 0) {
                print_block(self, numbers[i], "  not freed  ");
            }
        }
    }
}

static void print_folded(report *self, unsigned count)
{
    if (count > 0) {
        fprintf(self->out, "%*s(%u operation%s of threads that touch other memory)\n", INDENT, "",
                count, count == 1 ? "" : "s");
    }
}

static void print_step(report *self, unsigned index, text *group)
{
    const rcx_step *step = &self->trace->steps[index];
    rcx_frame frames[CHAIN_MAX];
    size_t count = step_chain(self, step, frames);
    text header = {.used = 0};
    text words = {.used = 0};
    bool marked = step->failed || (int)index == self->other;
    add_chain(&header, step->thread, frames, count);
    if (group->used == 0 || strcmp(header.bytes, group->bytes) != 0) {
        *group = header;
        paint(self, "1");
        print_wrapped(self->out, header.bytes, 0, 4);
        paint(self, "0");
    }
    add_step(self, &words, index);
    paint(self, marked ? "31" : "0");
    fprintf(self->out, "%c %5u   ", marked ? '>' : ' ', index + 1);
    print_wrapped(self->out, words.bytes, INDENT, INDENT + 2);
    paint(self, "0");
    char source[TEXT_BYTES];
    text line = {.used = 0};
    if (count > 0) {
        rcx_places_source(&frames[0], source, sizeof source);
        add(&line, "%s:%u  %s", short_file(frames[0].file), frames[0].line, source);
    } else {
        add(&line, "0x%x", step->place);
    }
    paint(self, "2");
    fprintf(self->out, "%*s", INDENT, "");
    print_cut(self->out, line.bytes, WIDTH - INDENT);
    paint(self, "0");
    fputc('\n', self->out);
}

static void print_interleaving(report *self)
{
    unsigned folded = 0;
    text group = {.used = 0};
    fputs(
        "\nAn execution that C11 allows and that fails. In brackets: whose store a step reads.\n\n",
        self->out);
    if (self->trace->step_count == 0) {
        fputs("  (no atomic operation comes before the failure)\n", self->out);
    }
    for (unsigned i = 0; i < self->trace->step_count; i++) {
        if (!self->shown[i]) {
            folded++;
            continue;
        }
        if (folded > 0) {
            print_folded(self, folded);
            group.used = 0;
        }
        folded = 0;
        print_step(self, i, &group);
    }
    print_folded(self, folded);
}

/* ---- Both ---- */

static rcx_places *look_up(const rcx_trace *trace)
{
    size_t room = (size_t)(trace->step_count + 1) * (RCX_STACK_MAX + 1) + RCX_STACK_MAX;
    size_t count = 0;
    for (uint32_t i = 0; rcx_heap_number(i) != NULL; i++) {
        room++;
    }
    rcx_place *wanted = malloc(room * sizeof *wanted);
    if (wanted == NULL) {
        return NULL;
    }
    for (unsigned i = 0; i < trace->step_count; i++) {
        const rcx_step *step = &trace->steps[i];
        wanted[count++] = step->place;
        memcpy(wanted + count, step->callers, step->depth * sizeof *wanted);
        count += step->depth;
    }
    memcpy(wanted + count, trace->callers, trace->depth * sizeof *wanted);
    count += trace->depth;
    wanted[count++] = trace->place;
    wanted[count++] = trace->other_place;
    for (uint32_t i = 0; rcx_heap_number(i) != NULL; i++) {
        wanted[count++] = rcx_heap_number(i)->born;
    }
    rcx_places *places = rcx_places_look(wanted, count);
    free(wanted);
    return places;
}

static report *begin(FILE *out, const rcx_trace *trace, const rcx_names *names)
{
    report *self = calloc(1, sizeof *self);
    rcx_places *places = look_up(trace);
    if (self == NULL || places == NULL) {
        free(self);
        rcx_places_free(places);
        return NULL;
    }
    self->out = out;
    self->trace = trace;
    self->names = names;
    self->places = places;
    int descriptor = fileno(out);
    self->colour = descriptor >= 0 && isatty(descriptor) == 1;
    find_parts(self);
    if (trace->address != 0) {
        block_of(self, trace->address);
    }
    return self;
}

static void end(report *self)
{
    rcx_places_free(self->places);
    free(self);
}

void rcx_report_text(FILE *out, const rcx_trace *trace, const rcx_names *names, const char *again)
{
    report *self = begin(out, trace, names);
    if (self == NULL) {
        fprintf(out, "%s: %s\n(no memory for more)\n", kind_title(trace->kind), trace->text);
        return;
    }
    choose_steps(self);
    print_failure(self);
    if (!rcx_places_known(self->places)) {
        fputs("  (source lines need addr2line: install binutils)\n", out);
    }
    print_interleaving(self);
    fputc('\n', out);
    if (again != NULL) {
        fprintf(out, "Show it again: %s\n", again);
    }
    fprintf(out, "Schedule: %s\n", trace->schedule);
    end(self);
}

/* ---- JSON ---- */

static void json_text(FILE *out, const char *from)
{
    fputc('"', out);
    for (; *from != '\0'; from++) {
        unsigned char byte = (unsigned char)*from;
        if (byte == '"' || byte == '\\') {
            fprintf(out, "\\%c", byte);
        } else if (byte < 0x20 || byte == 0x7f) {
            fprintf(out, "\\u%04x", byte);
        } else {
            fputc(byte, out);
        }
    }
    fputc('"', out);
}

static void json_member(FILE *out, const char *name, const char *value)
{
    fprintf(out, "\"%s\": ", name);
    if (value == NULL) {
        fputs("null", out);
    } else {
        json_text(out, value);
    }
}

static void json_thread(FILE *out, unsigned thread)
{
    if (thread == RCX_FIBER_MAIN) {
        fputs("\"thread\": null", out);
    } else {
        fprintf(out, "\"thread\": %u", thread);
    }
}

static void json_frames(report *self, const rcx_frame *frames, size_t count)
{
    char source[TEXT_BYTES] = "";
    fputs("\"frames\": [", self->out);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? ", {" : "{", self->out);
        json_member(self->out, "function", frames[i].function);
        fputs(", ", self->out);
        json_member(self->out, "file", frames[i].file);
        fprintf(self->out, ", \"line\": %u}", frames[i].line);
    }
    fputs("], ", self->out);
    if (count > 0) {
        rcx_places_source(&frames[0], source, sizeof source);
    }
    json_member(self->out, "source", count > 0 ? source : NULL);
}

static void json_memory(report *self, const char *name, uintptr_t address)
{
    text memory = {.used = 0};
    if (address != 0) {
        add_memory(self, &memory, address);
    }
    json_member(self->out, name, address != 0 ? memory.bytes : NULL);
}

static void json_value(report *self, const char *name, bool there, rcx_value value, size_t size)
{
    text shown = {.used = 0};
    add_value(self, &shown, value, size);
    fputs(", ", self->out);
    json_member(self->out, name, there ? shown.bytes : NULL);
}

static const char *step_kind(const rcx_step *step)
{
    switch (step->kind) {
    case RCX_STEP_ATOMIC:
        return operation_name(&step->operation);
    case RCX_STEP_SLEEP:
        return "waits";
    case RCX_STEP_ALLOCATE:
        return "allocate";
    case RCX_STEP_FREE:
        return "free";
    default:
        return step->event.writes ? "write" : "read";
    }
}

static void json_step(report *self, unsigned index)
{
    const rcx_step *step = &self->trace->steps[index];
    bool atomic = step->kind == RCX_STEP_ATOMIC;
    rcx_frame frames[CHAIN_MAX];
    size_t count = step_chain(self, step, frames);
    text words = {.used = 0};
    FILE *out = self->out;
    fprintf(out, "    {\"step\": %u, ", index + 1);
    json_thread(out, step->thread);
    fputs(", ", out);
    json_member(out, "operation", step_kind(step));
    fputs(", ", out);
    json_member(out, "order", atomic ? order_name(step->event.order) : NULL);
    fputs(", ", out);
    json_memory(self, "memory", step->address);
    fprintf(out, ", \"size\": %zu", step->size);
    json_value(self, "read", atomic && step->event.reads, step->event.read_value, step->size);
    json_value(self, "written", atomic && step->event.writes, step->event.written_value,
               step->size);
    if (step->source_step >= 0) {
        fprintf(out, ", \"read_from\": %d", step->source_step + 1);
    } else {
        fputs(", \"read_from\": null", out);
    }
    fprintf(out, ", \"stale\": %s, \"failed\": %s,\n     ", step->stale ? "true" : "false",
            step->failed ? "true" : "false");
    add_step(self, &words, index);
    json_member(out, "text", words.bytes);
    fputs(",\n     ", out);
    json_frames(self, frames, count);
    fputc('}', out);
}

static void json_side(report *self, const char *role, int index, unsigned thread,
                      const rcx_frame *frames, size_t count)
{
    FILE *out = self->out;
    fputs("    {", out);
    json_member(out, "role", role);
    fputs(", ", out);
    if (index >= 0) {
        fprintf(out, "\"step\": %d, ", index + 1);
    } else {
        fputs("\"step\": null, ", out);
    }
    json_thread(out, thread);
    fputs(",\n     ", out);
    json_frames(self, frames, count);
    fputc('}', out);
}

void rcx_report_json(FILE *out, const rcx_trace *trace, const rcx_names *names, const char *again)
{
    report *self = begin(out, trace, names);
    rcx_frame frames[CHAIN_MAX];
    fputs("{\n  ", out);
    json_member(out, "kind", kind_title(trace->kind));
    fputs(",\n  ", out);
    json_member(out, "text", trace->text);
    fputs(",\n  ", out);
    json_member(out, "schedule", trace->schedule);
    fputs(",\n  ", out);
    json_member(out, "again", again);
    if (self == NULL) {
        fputs("\n}\n", out);
        return;
    }
    fputs(",\n  ", out);
    json_memory(self, "memory", trace->address);
    fputs(",\n  \"places\": [", out);
    if (trace->other_known) {
        const rcx_step *step = self->other >= 0 ? &trace->steps[self->other] : NULL;
        size_t count = step != NULL
                           ? step_chain(self, step, frames)
                           : chain_of(self, trace->other_place, self->trace->callers, 0, frames);
        fputc('\n', out);
        json_side(self, other_role(self), self->other, trace->other_thread, frames, count);
        fputc(',', out);
    }
    size_t own = chain_of(self, trace->place, trace->callers, trace->depth, frames);
    fputc('\n', out);
    json_side(self, failing_role(self), self->failing, trace->failed_thread, frames, own);
    fputs("\n  ],\n  \"steps\": [", out);
    for (unsigned i = 0; i < trace->step_count; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        json_step(self, i);
    }
    fputs("\n  ],\n  \"blocks\": [", out);
    for (unsigned i = 0; i < self->block_count; i++) {
        fprintf(out, "%s{\"name\": \"B%u\", \"size\": %zu}", i > 0 ? ", " : "", i,
                self->blocks[i].size);
    }
    fputs("]\n}\n", out);
    end(self);
}
