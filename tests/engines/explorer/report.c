#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fiber.h"
#include "words.h"

enum {
    WIDTH = 110,
    INDENT = 10,      /* of a step's text */
    ROLE_INDENT = 13, /* of the lines above the steps */
    FOLD_ABOVE = 40,  /* steps that are all shown */
    LEAKS_SHOWN = 8
};

typedef struct report {
    FILE *out;
    bool colour;
    rcx_story story;
    bool shown[RCX_STEPS_MAX];
} report;

/* ---- Which steps are shown ---- */

static bool same_memory(report *self, uintptr_t a, uintptr_t b)
{
    int one = rcx_block_of(&self->story, a);
    return a / 8 == b / 8 || (one >= 0 && one == rcx_block_of(&self->story, b));
}

/* With many steps, only the threads that touch what failed; and what they read from. */
static void choose_steps(report *self)
{
    const rcx_trace *trace = self->story.trace;
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

/* Without the working directory in front. */
static const char *local_file(const char *file, char *room, size_t size)
{
    char here[RCX_TEXT_BYTES];
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

/* One side of the failure: "  the free   step 6, thread 0 in drop, rc.h:140", and its source line. */
static void print_side(report *self, const char *role, int index, unsigned thread, rcx_place place,
                       const rcx_frame *frames, size_t count)
{
    char room[RCX_TEXT_BYTES] = "";
    rcx_text line = {.used = 0};
    rcx_add(&line, "  %-10s ", role);
    if (index >= 0) {
        rcx_add(&line, "step %d, ", index + 1);
    }
    rcx_add_thread(&line, thread);
    if (count > 0) {
        rcx_add(&line, " in %s, %s:%u", frames[0].function,
                local_file(frames[0].file, room, sizeof room), frames[0].line);
    } else if (place != 0) {
        rcx_add(&line, " at 0x%x", place);
    }
    print_wrapped(self->out, line.bytes, 0, ROLE_INDENT);
    if (count > 0) {
        rcx_places_source(&frames[0], room, sizeof room);
        if (room[0] != '\0') {
            fprintf(self->out, "%*s", ROLE_INDENT, "");
            print_cut(self->out, room, WIDTH - ROLE_INDENT);
            fputc('\n', self->out);
        }
    }
}

static void print_block(report *self, int number, const char *prefix)
{
    const rcx_shown_block *shown = &self->story.blocks[number];
    rcx_frame frames[RCX_CHAIN_MAX];
    size_t count = 0;
    rcx_text line = {.used = 0};
    rcx_add(&line, "%sB%d: %zu bytes, allocated ", prefix, number, shown->size);
    if (shown->born_step >= 0) {
        const rcx_step *step = &self->story.trace->steps[shown->born_step];
        count = rcx_chain_of_step(&self->story, step, frames);
        rcx_add(&line, "in step %d by ", shown->born_step + 1);
        rcx_add_thread(&line, step->thread);
    } else {
        count = rcx_chain_of(&self->story, shown->born, self->story.trace->callers, 0, frames);
        rcx_add(&line, "before the threads");
    }
    if (count > 0) {
        rcx_add(&line, " in %s, %s:%u", frames[0].function, rcx_short_file(frames[0].file),
                frames[0].line);
    }
    print_wrapped(self->out, line.bytes, 0, ROLE_INDENT);
}

static bool is_freed(const report *self, uintptr_t address)
{
    for (unsigned i = 0; i < self->story.trace->step_count; i++) {
        const rcx_step *step = &self->story.trace->steps[i];
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
            numbers[count++] = rcx_block_of(&self->story, at->address);
        }
    }
    for (unsigned i = 0; count < LEAKS_SHOWN && i < self->story.trace->step_count; i++) {
        const rcx_step *step = &self->story.trace->steps[i];
        if (step->kind == RCX_STEP_ALLOCATE && !is_freed(self, step->address)) {
            numbers[count++] = rcx_block_of(&self->story, step->address);
        }
    }
    return count;
}

static const char *failing_role(const report *self)
{
    const rcx_trace *trace = self->story.trace;
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
    const rcx_trace *trace = self->story.trace;
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
    const rcx_trace *trace = self->story.trace;
    rcx_frame frames[RCX_CHAIN_MAX];
    rcx_text line = {.used = 0};
    paint(self, "1;31");
    fputs(kind_title(trace->kind), self->out);
    paint(self, "0");
    static const char again[] = "a crash: "; /* the title says so */
    bool said = strncmp(trace->text, again, sizeof again - 1) == 0;
    rcx_add(&line, ": %s", trace->text + (said ? sizeof again - 1 : 0));
    print_wrapped(self->out, line.bytes, strlen(kind_title(trace->kind)), 2);
    if (trace->address != 0) {
        rcx_text memory = {.used = 0};
        rcx_add(&memory, "  %-10s ", "memory");
        rcx_add_memory(&self->story, &memory, trace->address);
        int number = rcx_block_of(&self->story, trace->address);
        if (number >= 0) {
            rcx_add(&memory, "   of block ");
            print_block(self, number, memory.bytes);
        } else {
            fprintf(self->out, "%s\n", memory.bytes);
        }
    }
    if (trace->other_known) {
        const rcx_step *step = self->story.other >= 0 ? &trace->steps[self->story.other] : NULL;
        size_t count = step != NULL ? rcx_chain_of_step(&self->story, step, frames)
                                    : rcx_chain_of(&self->story, trace->other_place,
                                                   self->story.trace->callers, 0, frames);
        print_side(self, other_role(self), self->story.other, trace->other_thread,
                   trace->other_place, frames, count);
    }
    if (trace->kind != RCX_DEADLOCK && trace->kind != RCX_LEAK) {
        size_t count =
            rcx_chain_of(&self->story, trace->place, trace->callers, trace->depth, frames);
        print_side(self, failing_role(self), self->story.failing, trace->failed_thread,
                   trace->place, frames, count);
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

static void print_step(report *self, unsigned index, rcx_text *group)
{
    const rcx_step *step = &self->story.trace->steps[index];
    rcx_frame frames[RCX_CHAIN_MAX];
    size_t count = rcx_chain_of_step(&self->story, step, frames);
    rcx_text header = {.used = 0};
    rcx_text words = {.used = 0};
    bool marked = step->failed || (int)index == self->story.other;
    rcx_add_chain(&header, step->thread, frames, count);
    if (group->used == 0 || strcmp(header.bytes, group->bytes) != 0) {
        *group = header;
        paint(self, "1");
        print_wrapped(self->out, header.bytes, 0, 4);
        paint(self, "0");
    }
    rcx_add_step(&self->story, &words, index);
    paint(self, marked ? "31" : "0");
    fprintf(self->out, "%c %5u   ", marked ? '>' : ' ', index + 1);
    print_wrapped(self->out, words.bytes, INDENT, INDENT + 2);
    paint(self, "0");
    char source[RCX_TEXT_BYTES];
    rcx_text line = {.used = 0};
    if (count > 0) {
        rcx_places_source(&frames[0], source, sizeof source);
        rcx_add(&line, "%s:%u  %s", rcx_short_file(frames[0].file), frames[0].line, source);
    } else {
        rcx_add(&line, "0x%x", step->place);
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
    rcx_text group = {.used = 0};
    fputs(
        "\nAn execution that C11 allows and that fails. In brackets: whose store a step reads.\n\n",
        self->out);
    if (self->story.trace->step_count == 0) {
        fputs("  (no atomic operation comes before the failure)\n", self->out);
    }
    for (unsigned i = 0; i < self->story.trace->step_count; i++) {
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
    self->story.trace = trace;
    self->story.names = names;
    self->story.places = places;
    int descriptor = fileno(out);
    self->colour = descriptor >= 0 && isatty(descriptor) == 1;
    rcx_find_parts(&self->story);
    if (trace->address != 0) {
        rcx_block_of(&self->story, trace->address);
    }
    return self;
}

static void end(report *self)
{
    rcx_places_free(self->story.places);
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
    if (!rcx_places_known(self->story.places)) {
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
    char source[RCX_TEXT_BYTES] = "";
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
    rcx_text memory = {.used = 0};
    if (address != 0) {
        rcx_add_memory(&self->story, &memory, address);
    }
    json_member(self->out, name, address != 0 ? memory.bytes : NULL);
}

static void json_value(report *self, const char *name, bool there, rcx_value value, size_t size)
{
    rcx_text shown = {.used = 0};
    rcx_add_value(&self->story, &shown, value, size);
    fputs(", ", self->out);
    json_member(self->out, name, there ? shown.bytes : NULL);
}

static const char *step_kind(const rcx_step *step)
{
    switch (step->kind) {
    case RCX_STEP_ATOMIC:
        return rcx_operation_name(&step->operation);
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
    const rcx_step *step = &self->story.trace->steps[index];
    bool atomic = step->kind == RCX_STEP_ATOMIC;
    rcx_frame frames[RCX_CHAIN_MAX];
    size_t count = rcx_chain_of_step(&self->story, step, frames);
    rcx_text words = {.used = 0};
    FILE *out = self->out;
    fprintf(out, "    {\"step\": %u, ", index + 1);
    json_thread(out, step->thread);
    fputs(", ", out);
    json_member(out, "operation", step_kind(step));
    fputs(", ", out);
    json_member(out, "order", atomic ? rcx_order_name(step->event.order) : NULL);
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
    rcx_add_step(&self->story, &words, index);
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
    rcx_frame frames[RCX_CHAIN_MAX];
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
        const rcx_step *step = self->story.other >= 0 ? &trace->steps[self->story.other] : NULL;
        size_t count = step != NULL ? rcx_chain_of_step(&self->story, step, frames)
                                    : rcx_chain_of(&self->story, trace->other_place,
                                                   self->story.trace->callers, 0, frames);
        fputc('\n', out);
        json_side(self, other_role(self), self->story.other, trace->other_thread, frames, count);
        fputc(',', out);
    }
    size_t own = rcx_chain_of(&self->story, trace->place, trace->callers, trace->depth, frames);
    fputc('\n', out);
    json_side(self, failing_role(self), self->story.failing, trace->failed_thread, frames, own);
    fputs("\n  ],\n  \"steps\": [", out);
    for (unsigned i = 0; i < trace->step_count; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        json_step(self, i);
    }
    fputs("\n  ],\n  \"blocks\": [", out);
    for (unsigned i = 0; i < self->story.block_count; i++) {
        fprintf(out, "%s{\"name\": \"B%u\", \"size\": %zu}", i > 0 ? ", " : "", i,
                self->story.blocks[i].size);
    }
    fputs("]\n}\n", out);
    end(self);
}
