#include "places.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct entry {
    rcx_place place;
    size_t first, count; /* frames */
} entry;

typedef struct variable {
    uintptr_t address;
    size_t size;
    const char *name;
} variable;

struct rcx_places {
    entry *entries; /* by place */
    size_t entry_count;
    rcx_frame *frames;
    size_t frame_count, frame_room;
    variable *variables;
    size_t variable_count, variable_room;
    char **strings; /* what the others point to */
    size_t string_count, string_room;
    bool known, variables_read;
};

/* ---- Lists ---- */

static int by_place(const void *a, const void *b)
{
    const entry *left = a;
    const entry *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

static entry *find_entry(const rcx_places *places, rcx_place place)
{
    const entry key = {.place = place};
    if (places->entry_count == 0) {
        return NULL;
    }
    return bsearch(&key, places->entries, places->entry_count, sizeof key, by_place);
}

/* Room for one more; false: no memory. */
static bool grow(void **items, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return true;
    }
    size_t more = *room == 0 ? 64 : 2 * *room;
    void *bigger = realloc(*items, more * size);
    if (bigger == NULL) {
        return false;
    }
    *items = bigger;
    *room = more;
    return true;
}

static const char *copy_of(rcx_places *places, const char *text)
{
    char *copy = strdup(text);
    if (copy == NULL ||
        !grow((void **)&places->strings, places->string_count, &places->string_room, sizeof copy)) {
        free(copy);
        return NULL;
    }
    places->strings[places->string_count++] = copy;
    return copy;
}

/* ---- addr2line ---- */

static void cut_line_end(char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
}

/* "/path/./rc.h": without the dot. */
static void drop_dots(char *path)
{
    for (char *at = strstr(path, "/./"); at != NULL; at = strstr(at, "/./")) {
        memmove(at, at + 2, strlen(at + 2) + 1);
    }
}

/* "/path/rc.h:132 (discriminator 3)" */
static bool add_frame(rcx_places *places, entry *of, const char *function, char *where)
{
    char *discriminator = strstr(where, " (discriminator");
    if (discriminator != NULL) {
        *discriminator = '\0';
    }
    unsigned line = 0;
    char *colon = strrchr(where, ':');
    if (colon != NULL) {
        line = (unsigned)strtoul(colon + 1, NULL, 10);
        *colon = '\0';
    }
    drop_dots(where);
    bool named = strcmp(where, "??") != 0;
    if (!grow((void **)&places->frames, places->frame_count, &places->frame_room,
              sizeof *places->frames)) {
        return false;
    }
    rcx_frame frame = {.function = copy_of(places, strcmp(function, "??") == 0 ? "?" : function),
                       .file = copy_of(places, named ? where : ""),
                       .line = named ? line : 0};
    places->frames[places->frame_count++] = frame;
    of->count++;
    return frame.function != NULL && frame.file != NULL;
}

/* Groups of lines: the address, then a function and where it is for each frame. */
static bool read_frames(rcx_places *places, FILE *in)
{
    char *line = NULL;
    size_t room = 0;
    entry *at = NULL;
    char function[256];
    bool expect_where = false;
    bool good = true;
    while (good && getline(&line, &room, in) >= 0) {
        cut_line_end(line);
        if (!expect_where && strncmp(line, "0x", 2) == 0) {
            at = find_entry(places, (rcx_place)strtoul(line, NULL, 16));
            if (at != NULL) {
                at->first = places->frame_count;
                at->count = 0;
            }
            continue;
        }
        if (!expect_where) {
            snprintf(function, sizeof function, "%s", line);
        } else if (at != NULL) {
            good = add_frame(places, at, function, line);
        }
        expect_where = !expect_where;
    }
    free(line);
    return good;
}

/* A command of binutils on this program. NULL: no memory, or no process. */
static FILE *ask(const char *command, const rcx_places *places)
{
    char *line = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&line, &size);
    if (text == NULL) {
        return NULL;
    }
    fprintf(text, "LC_ALL=C %s /proc/%ld/exe", command, (long)getpid());
    for (size_t i = 0; places != NULL && i < places->entry_count; i++) {
        fprintf(text, " 0x%x", places->entries[i].place);
    }
    fputs(" 2>/dev/null", text);
    if (fclose(text) != 0) {
        free(line);
        return NULL;
    }
    fflush(NULL);
    FILE *answer = popen(line, "r"); // NOLINT(cert-env33-c): fixed words and numbers
    free(line);
    return answer;
}

static bool set_entries(rcx_places *places, const rcx_place *wanted, size_t count)
{
    places->entries = calloc(count > 0 ? count : 1, sizeof *places->entries);
    if (places->entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        places->entries[i].place = wanted[i];
    }
    qsort(places->entries, count, sizeof *places->entries, by_place);
    for (size_t i = 0; i < count; i++) {
        size_t last = places->entry_count;
        bool again = last > 0 && places->entries[last - 1].place == places->entries[i].place;
        if (!again && places->entries[i].place != 0) {
            places->entries[places->entry_count++] = places->entries[i];
        }
    }
    return true;
}

rcx_places *rcx_places_look(const rcx_place *wanted, size_t count)
{
    rcx_places *places = calloc(1, sizeof *places);
    if (places == NULL || !set_entries(places, wanted, count)) {
        rcx_places_free(places);
        return NULL;
    }
    if (places->entry_count == 0) {
        places->known = true;
        return places;
    }
    FILE *answer = ask("addr2line -a -f -i -C -e", places);
    if (answer != NULL) {
        bool good = read_frames(places, answer);
        places->known = pclose(answer) == 0 && places->frame_count > 0;
        if (!good) {
            rcx_places_free(places);
            return NULL;
        }
    }
    return places;
}

void rcx_places_free(rcx_places *places)
{
    if (places == NULL) {
        return;
    }
    for (size_t i = 0; i < places->string_count; i++) {
        free(places->strings[i]);
    }
    free(places->strings);
    free(places->frames);
    free(places->variables);
    free(places->entries);
    free(places);
}

bool rcx_places_known(const rcx_places *places)
{
    return places->known;
}

size_t rcx_places_frames(const rcx_places *places, rcx_place place, const rcx_frame **frames)
{
    const entry *found = find_entry(places, place);
    if (found == NULL || found->count == 0) {
        return 0;
    }
    *frames = &places->frames[found->first];
    return found->count;
}

/* ---- nm ---- */

/* "0000000000404080 0000000000000008 b counter" */
static void read_variables(rcx_places *places, FILE *in)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, in) >= 0) {
        char *rest = NULL;
        cut_line_end(line);
        uintptr_t address = strtoull(line, &rest, 16);
        size_t size = strtoull(rest, &rest, 16);
        if (strlen(rest) < 4 || strchr("bBdDuV", rest[1]) == NULL) {
            continue;
        }
        variable found = {address, size, copy_of(places, rest + 3)};
        if (found.name == NULL || !grow((void **)&places->variables, places->variable_count,
                                        &places->variable_room, sizeof found)) {
            break;
        }
        places->variables[places->variable_count++] = found;
    }
    free(line);
}

const char *rcx_places_variable(rcx_places *places, uintptr_t address, size_t *offset)
{
    if (!places->variables_read) {
        places->variables_read = true;
        FILE *answer = ask("nm -S -C --defined-only", NULL);
        if (answer != NULL) {
            read_variables(places, answer);
            pclose(answer);
        }
    }
    for (size_t i = 0; i < places->variable_count; i++) {
        const variable *at = &places->variables[i];
        if (address - at->address < at->size) {
            *offset = address - at->address;
            return at->name;
        }
    }
    return NULL;
}

/* ---- Source ---- */

enum { LINES_AROUND = 3, LINE_BYTES = 512 };

static void trim(char *line)
{
    size_t start = strspn(line, " \t");
    size_t length = strlen(line);
    while (length > start && isspace((unsigned char)line[length - 1])) {
        length--;
    }
    memmove(line, line + start, length - start);
    line[length - start] = '\0';
    for (char *at = line; *at != '\0'; at++) {
        *at = *at == '\t' ? ' ' : *at;
    }
}

/* A statement ends here, or there is none: the next line begins another one. */
static bool is_complete(const char *line)
{
    size_t length = strlen(line);
    return length == 0 || line[0] == '#' || strncmp(line, "//", 2) == 0 ||
           strchr(";{}:", line[length - 1]) != NULL ||
           (length > 1 && strcmp(line + length - 2, "*/") == 0);
}

void rcx_places_source(const rcx_frame *frame, char *text, size_t size)
{
    enum { WINDOW = 2 * LINES_AROUND + 1 };
    char lines[WINDOW][LINE_BYTES] = {{0}};
    text[0] = '\0';
    FILE *in = frame->line == 0 ? NULL : fopen(frame->file, "r");
    if (in == NULL) {
        return;
    }
    char *line = NULL;
    size_t room = 0;
    for (unsigned number = 1;
         number <= frame->line + LINES_AROUND && getline(&line, &room, in) >= 0; number++) {
        if (number + LINES_AROUND >= frame->line) {
            char *to = lines[number + LINES_AROUND - frame->line];
            snprintf(to, LINE_BYTES, "%s", line);
            trim(to);
        }
    }
    free(line);
    fclose(in);
    unsigned from = LINES_AROUND;
    while (from > 0 && !is_complete(lines[from - 1])) {
        from--;
    }
    /* Where the beginning is farther away, the line alone says more. */
    from = from == 0 ? LINES_AROUND : from;
    size_t used = 0;
    for (unsigned i = from; i < WINDOW && used < size; i++) {
        bool glued = i == from || (used > 0 && text[used - 1] == '(');
        used += (size_t)snprintf(text + used, size - used, "%s%s", glued ? "" : " ", lines[i]);
        if (i >= LINES_AROUND && is_complete(lines[i])) {
            break;
        }
    }
}
