/* rct: the reader of RCT 1. See rct.h for its use, workloads/traces/FORMAT.md for the format. */
#include "rct.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 256 * 1024, /* well above a line, so that a line is always whole in the buffer */
    SOURCE_BYTES = 64 * 1024   /* compressed input, at a time */
};

#define NUMBER_MAX ((uint64_t)INT64_MAX)
#define NO_KEY UINT64_MAX /* ids, threads and classes end at NUMBER_MAX */

const char *rct_reason_name(rct_reason reason)
{
    static const char *const names[RCT_REASONS] = {
        [RCT_OK] = "ok",
        [RCT_CANNOT_READ] = "cannot-read",
        [RCT_NO_MEMORY] = "no-memory",
        [RCT_NOT_RCT] = "not-rct",
        [RCT_VERSION] = "version",
        [RCT_CRLF] = "crlf",
        [RCT_NOT_ASCII] = "not-ascii",
        [RCT_LINE_TOO_LONG] = "line-too-long",
        [RCT_UNKNOWN_OPERATION] = "unknown-operation",
        [RCT_BAD_NUMBER] = "bad-number",
        [RCT_SHORT_RECORD] = "short-record",
        [RCT_LONG_RECORD] = "long-record",
        [RCT_MISPLACED] = "misplaced",
        [RCT_CLASS_UNDECLARED] = "class-undeclared",
        [RCT_CLASS_TWICE] = "class-twice",
        [RCT_ATTRIBUTE] = "attribute",
        [RCT_STORAGE_NOT_LIVE] = "storage-not-live",
        [RCT_OTHER_KIND] = "other-kind",
        [RCT_NEVER_CREATED] = "never-created",
        [RCT_DEAD] = "dead",
        [RCT_ID_REUSED] = "id-reused",
        [RCT_COUNT] = "count",
        [RCT_NO_WEAK] = "no-weak",
        [RCT_LOCK_IMPOSSIBLE] = "lock-impossible",
        [RCT_DROP_WITHOUT_OWNER] = "drop-without-owner",
        [RCT_NEVER_DROPPED] = "never-dropped",
        [RCT_TRUNCATED] = "truncated",
        [RCT_END_DISAGREES] = "end-disagrees",
        [RCT_AFTER_END] = "after-end",
        [RCT_COMPRESSED] = "compressed",
        [RCT_CANNOT_REPLAY] = "cannot-replay",
    };
    return (unsigned)reason < RCT_REASONS ? names[reason] : "?";
}

/* ---- A map from a number to a small one: open addressing, linear probing, at most half full ---- */

typedef struct map_entry {
    uint64_t key; /* NO_KEY: empty */
    uint32_t value;
} map_entry;

typedef struct map {
    map_entry *entries;
    unsigned bits; /* 2^bits entries */
    size_t used;
} map;

static size_t map_home(const map *m, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - m->bits));
}

static size_t map_mask(const map *m)
{
    return ((size_t)1 << m->bits) - 1;
}

/* NULL if the key is not there. A loan until the map changes. */
static map_entry *map_find(const map *m, uint64_t key)
{
    if (m->entries == NULL) {
        return NULL;
    }
    for (size_t i = map_home(m, key);; i = (i + 1) & map_mask(m)) {
        if (m->entries[i].key == key) {
            return &m->entries[i];
        }
        if (m->entries[i].key == NO_KEY) {
            return NULL;
        }
    }
}

static void map_place(map *m, uint64_t key, uint32_t value)
{
    size_t i = map_home(m, key);
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): map_grow fills every key. */
    while (m->entries[i].key != NO_KEY) {
        i = (i + 1) & map_mask(m);
    }
    m->entries[i] = (map_entry){key, value};
}

static bool map_grow(map *m)
{
    map bigger = {.bits = m->entries == NULL ? 6 : m->bits + 1, .used = m->used};
    size_t size = (size_t)1 << bigger.bits;
    bigger.entries = malloc(size * sizeof *bigger.entries);
    if (bigger.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        bigger.entries[i].key = NO_KEY;
    }
    if (m->entries != NULL) {
        for (size_t i = 0; i <= map_mask(m); i++) {
            if (m->entries[i].key != NO_KEY) {
                map_place(&bigger, m->entries[i].key, m->entries[i].value);
            }
        }
        free(m->entries);
    }
    *m = bigger;
    return true;
}

/* The key must not be there. False if memory was refused. */
static bool map_add(map *m, uint64_t key, uint32_t value)
{
    if ((m->entries == NULL || m->used * 2 >= map_mask(m)) && !map_grow(m)) {
        return false;
    }
    map_place(m, key, value);
    m->used++;
    return true;
}

/* Closes the gap by moving later entries of the same run back: no tombstones, so the table does not
 * fill up however many keys come and go. */
static void map_remove(map *m, map_entry *entry)
{
    size_t gap = (size_t)(entry - m->entries);
    for (size_t i = (gap + 1) & map_mask(m); m->entries[i].key != NO_KEY;
         i = (i + 1) & map_mask(m)) {
        size_t home = map_home(m, m->entries[i].key);
        if (((i - home) & map_mask(m)) >= ((i - gap) & map_mask(m))) {
            m->entries[gap] = m->entries[i];
            gap = i;
        }
    }
    m->entries[gap].key = NO_KEY;
    m->used--;
}

/* ---- The set of ids used so far: bitmaps of 512 ids, found by a map ---- */

typedef struct id_chunk {
    uint64_t bits[8];
} id_chunk;

typedef struct id_set {
    map chunks;
    id_chunk *pool;
    size_t count, room;
    uint64_t last_key; /* the chunk used last: ids mostly come in order */
    uint32_t last_chunk;
} id_set;

static bool id_set_has(const id_set *set, uint64_t id)
{
    const map_entry *entry = map_find(&set->chunks, id >> 9);
    return entry != NULL && (set->pool[entry->value].bits[(id >> 6) & 7] >> (id & 63) & 1) != 0;
}

typedef enum id_added { ID_NEW, ID_OLD, ID_NO_MEMORY } id_added;

static id_added id_set_add(id_set *set, uint64_t id)
{
    uint64_t key = id >> 9;
    if (set->count == 0 || set->last_key != key) {
        const map_entry *entry = map_find(&set->chunks, key);
        if (entry != NULL) {
            set->last_chunk = entry->value;
        } else {
            if (set->count == set->room) {
                size_t room = set->room == 0 ? 16 : set->room + set->room / 2;
                id_chunk *pool = room > UINT32_MAX ? NULL : realloc(set->pool, room * sizeof *pool);
                if (pool == NULL) {
                    return ID_NO_MEMORY;
                }
                set->pool = pool;
                set->room = room;
            }
            if (!map_add(&set->chunks, key, (uint32_t)set->count)) {
                return ID_NO_MEMORY;
            }
            set->pool[set->count] = (id_chunk){{0}};
            set->last_chunk = (uint32_t)set->count++;
        }
        set->last_key = key;
    }
    uint64_t *word = &set->pool[set->last_chunk].bits[(id >> 6) & 7];
    uint64_t bit = UINT64_C(1) << (id & 63);
    if ((*word & bit) != 0) {
        return ID_OLD;
    }
    *word |= bit;
    return ID_NEW;
}

/* ---- The reader ---- */

/* A dead tensor whose reference of its storage is still to be dropped. In a list per storage, the
 * newest first; unused ones are in a free list. */
typedef struct owed_drop {
    uint64_t tensor_id;
    uint64_t line; /* of the tensor's death */
    uint32_t thread, next;
} owed_drop;

typedef struct object {
    uint64_t id;
    uint64_t count; /* strong; 0: dead, kept for its weak handles */
    uint64_t weak;
    uint32_t class;
    uint64_t storage_id;
    uint32_t storage; /* of a tensor: the object of that id, as long as it lives */
    uint32_t owed;    /* of a storage: first of its list, or RCT_NO_OBJECT */
    uint32_t next_free;
    uint64_t bytes, offset, n;
} object;

typedef struct class_record {
    char *name;
    rct_kind kind;
} class_record;

struct rct_reader {
    char *name;
    rct_error error;

    /* The source: a file descriptor, or memory. */
    int descriptor; /* -1: memory */
    bool close_it;
    const char *bytes; /* memory: what is left */
    size_t bytes_left;
    char head[6]; /* read ahead to recognise compression, given out first */
    size_t head_size, head_given;
    int source_errno;

    struct archive *archive; /* NULL: not compressed */
    unsigned char *source;   /* SOURCE_BYTES of compressed input */
    bool gzip;               /* libarchive does not check gzip's sum, so this does */
    uint32_t gzip_sum, gzip_length;
    unsigned char gzip_tail[8]; /* the last bytes of the compressed file */
    uint64_t gzip_bytes;

    char *buffer; /* BUFFER_BYTES */
    size_t begin, end;
    bool source_ended;
    uint64_t bytes_read; /* before buffer[begin] */

    const char *at; /* in the line being read, which ends at *line_end == '\n' */
    const char *line_end;
    uint64_t line;
    bool started, ordered, has_events, finished;
    rct_operation operation;

    map class_map, thread_map, object_map;
    class_record *classes;
    uint32_t class_count, class_room;
    uint64_t last_class_number;
    uint32_t last_class;
    uint64_t last_thread_id;
    uint32_t last_thread, thread_count;
    object *objects;
    uint32_t object_count, object_room, first_free;
    id_set used;
    owed_drop *owed;
    uint32_t owed_count, owed_room, owed_free;
    uint64_t owed_now;
    uint64_t events, live, most_live;
};

/* Keeps the first error: what comes after it is only its consequence. Returns -1. */
__attribute__((format(printf, 3, 4), cold, noinline)) static int
fail(rct_reader *reader, rct_reason reason, const char *format, ...)
{
    rct_error *error = &reader->error;
    if (error->reason != RCT_OK) {
        return -1;
    }
    error->reason = reason;
    error->line = reader->line;
    /* A long path must not push the reason out of the message: its end is what tells files apart. */
    const char *name = reader->name;
    size_t length = strlen(name);
    const char *dots = length > 200 ? "..." : "";
    name += length > 200 ? length - 197 : 0;
    char place[24] = "";
    if (reader->line != 0) {
        snprintf(place, sizeof place, "%" PRIu64 ":", reader->line);
    }
    int used = snprintf(error->message, sizeof error->message, "%s%s:%s ", dots, name, place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message + used, sizeof error->message - (size_t)used, format, arguments);
    va_end(arguments);
    return -1;
}

static int fail_memory(rct_reader *reader)
{
    return fail(reader, RCT_NO_MEMORY,
                "memory was refused; the trace has %" PRIu64 " live objects here", reader->live);
}

/* ---- Bytes ---- */

/* Raw bytes of the source: at most `size`. 0: the end. -1: reader->source_errno. */
static ssize_t source_read(rct_reader *reader, void *to, size_t size)
{
    if (reader->head_given < reader->head_size) {
        size_t n = reader->head_size - reader->head_given;
        n = n < size ? n : size;
        memcpy(to, reader->head + reader->head_given, n);
        reader->head_given += n;
        return (ssize_t)n;
    }
    if (reader->descriptor < 0) {
        size_t n = reader->bytes_left < size ? reader->bytes_left : size;
        if (n != 0) {
            memcpy(to, reader->bytes, n);
        }
        reader->bytes += n;
        reader->bytes_left -= n;
        return (ssize_t)n;
    }
    for (;;) {
        ssize_t n = read(reader->descriptor, to, size);
        if (n >= 0) {
            return n;
        }
        if (errno != EINTR) {
            reader->source_errno = errno;
            return -1;
        }
    }
}

static ssize_t archive_source(struct archive *archive, void *data, const void **block)
{
    rct_reader *reader = data;
    ssize_t n = source_read(reader, reader->source, SOURCE_BYTES);
    if (n < 0) {
        archive_set_error(archive, reader->source_errno, "%s", strerror(reader->source_errno));
        return -1;
    }
    for (ssize_t i = n > 8 ? n - 8 : 0; reader->gzip && i < n; i++) {
        memmove(reader->gzip_tail, reader->gzip_tail + 1, 7);
        reader->gzip_tail[7] = reader->source[i];
    }
    reader->gzip_bytes += (uint64_t)n;
    *block = reader->source;
    return n;
}

static void gzip_add(rct_reader *reader, const char *bytes, size_t size)
{
    static const uint32_t nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                        0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t sum = ~reader->gzip_sum;
    for (size_t i = 0; i < size; i++) {
        sum ^= (unsigned char)bytes[i];
        sum = sum >> 4 ^ nibble[sum & 15];
        sum = sum >> 4 ^ nibble[sum & 15];
    }
    reader->gzip_sum = ~sum;
    reader->gzip_length += (uint32_t)size;
}

static uint32_t little_endian(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static int fail_source(rct_reader *reader)
{
    reader->line = 0;
    if (reader->source_errno != 0) {
        return fail(reader, RCT_CANNOT_READ, "cannot be read: %s", strerror(reader->source_errno));
    }
    const char *text = archive_error_string(reader->archive);
    return fail(
        reader, RCT_COMPRESSED,
        "the compressed stream is damaged or cut off (%s); test the file with xz -t, zstd -t or "
        "gzip -t and fetch it again",
        text != NULL ? text : "the decoder gave no reason");
}

/* Text after decompression; as source_read, but the error is reported. */
static ssize_t text_read(rct_reader *reader, char *to, size_t size)
{
    if (reader->archive == NULL) {
        ssize_t n = source_read(reader, to, size);
        return n < 0 ? fail_source(reader) : n;
    }
    la_ssize_t n = archive_read_data(reader->archive, to, size);
    if (n < 0) {
        return fail_source(reader);
    }
    if (reader->gzip) {
        gzip_add(reader, to, (size_t)n);
        if (n == 0 && (little_endian(reader->gzip_tail) != reader->gzip_sum ||
                       little_endian(reader->gzip_tail + 4) != reader->gzip_length)) {
            reader->line = 0;
            return fail(reader, RCT_COMPRESSED,
                        "the compressed stream is damaged or cut off (its checksum says %08" PRIx32
                        ", its text %08" PRIx32
                        "); a .gz file must be one member, as gzip writes it",
                        little_endian(reader->gzip_tail), reader->gzip_sum);
        }
    }
    return (ssize_t)n;
}

/* Makes more text available behind what is there. 1: there is more. 0: the end. -1: failed. */
static int fill(rct_reader *reader)
{
    if (reader->source_ended) {
        return 0;
    }
    memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
    ssize_t n = text_read(reader, reader->buffer + reader->end, BUFFER_BYTES - reader->end);
    if (n < 0) {
        return -1;
    }
    reader->end += (size_t)n;
    reader->source_ended = n == 0;
    return n > 0;
}

/* ---- Lines ---- */

static bool printable(char c)
{
    return c >= ' ' && c <= '~';
}

/* How much of a token to quote: up to the next space, 40 bytes at most. */
static int token_length(const char *token)
{
    int n = 0;
    while (n < 40 && printable(token[n]) && token[n] != ' ') {
        n++;
    }
    return n;
}

/* Bytes that no record may have. Anything the parser accepts has none of them, so only text fields and
 * lines that failed are looked through. */
static int check_bytes(rct_reader *reader, const char *from)
{
    for (const char *c = from; c < reader->line_end; c++) {
        if (*c == '\r' && c + 1 == reader->line_end) {
            return fail(reader, RCT_CRLF, "the line ends in CR LF; lines must end in LF alone");
        }
        if (!printable(*c)) {
            return fail(reader, RCT_NOT_ASCII,
                        "byte 0x%02x in column %td: only printable ASCII may stand here",
                        (unsigned)(unsigned char)*c, c - (reader->buffer + reader->begin) + 1);
        }
    }
    return 0;
}

static int fail_too_long(rct_reader *reader)
{
    return fail(reader, RCT_LINE_TOO_LONG, "the line is longer than %d bytes", (int)RCT_LINE_MAX);
}

/* Sets at and line_end to the next line. 1: there is one. 0: the text has ended. -1: failed. */
static int next_line(rct_reader *reader)
{
    char *begin = reader->buffer + reader->begin;
    char *newline = memchr(begin, '\n', reader->end - reader->begin);
    reader->line++;
    while (newline == NULL) {
        /* The bound also keeps the buffer from filling up. The first line is judged by its reader. */
        if (reader->end - reader->begin > RCT_LINE_MAX && reader->started) {
            return fail_too_long(reader);
        }
        if (reader->end - reader->begin > RCT_LINE_MAX) {
            newline = begin + RCT_LINE_MAX;
            break;
        }
        size_t searched = reader->end - reader->begin;
        int more = fill(reader);
        if (more < 0) {
            return -1;
        }
        begin = reader->buffer + reader->begin;
        if (more == 0) {
            reader->at = begin;
            reader->line_end = begin + searched;
            return 0;
        }
        newline = memchr(begin + searched, '\n', reader->end - searched);
    }
    /* cppcheck-suppress nullPointerArithmeticRedundantCheck ; the loop ends when newline is not NULL */
    if (newline - begin > RCT_LINE_MAX && reader->started) {
        return fail_too_long(reader);
    }
    reader->at = begin;
    reader->line_end = newline;
    return 1;
}

static void line_done(rct_reader *reader)
{
    size_t size = (size_t)(reader->line_end + 1 - (reader->buffer + reader->begin));
    reader->begin += size;
    reader->bytes_read += size;
}

/* ---- Fields. Each begins with the space in front of it. ---- */

/* Reads digits at `at`. NULL unless they are a number in range that ends before a space or LF. */
static inline const char *scan_number(const char *at, uint64_t *value)
{
    uint64_t n = (uint64_t)(unsigned char)*at - '0';
    if (n > 9) {
        return NULL;
    }
    const char *first = at++;
    if (n != 0) {
        for (;;) {
            uint64_t digit = (uint64_t)(unsigned char)*at - '0';
            if (digit > 9) {
                break;
            }
            n = n * 10 + digit;
            at++;
            if (at - first > 19) {
                return NULL; /* 19 digits cannot wrap, 20 are too many */
            }
        }
    }
    *value = n;
    return n <= NUMBER_MAX && (*at == ' ' || *at == '\n') ? at : NULL;
}

/* The token at `at` is no number. */
__attribute__((cold)) static int fail_number(rct_reader *reader, const char *at, const char *field)
{
    if (check_bytes(reader, at) < 0) {
        return -1;
    }
    return fail(
        reader, RCT_BAD_NUMBER,
        "%s should be a decimal number from 0 to 9223372036854775807 without leading zeros, file "
        "says '%.*s'",
        field, token_length(at), at);
}

__attribute__((cold)) static int fail_field(rct_reader *reader, const char *field)
{
    if (check_bytes(reader, reader->at) < 0) {
        return -1;
    }
    if (*reader->at == '\n') {
        return fail(reader, RCT_SHORT_RECORD, "the record ends where %s should stand", field);
    }
    return fail_number(reader, *reader->at == ' ' ? reader->at + 1 : reader->at, field);
}

static inline int take_number(rct_reader *reader, const char *field, uint64_t *value)
{
    const char *after = *reader->at == ' ' ? scan_number(reader->at + 1, value) : NULL;
    if (after == NULL) {
        return fail_field(reader, field);
    }
    reader->at = after;
    return 0;
}

/* A word of printable characters without a space. */
static int take_word(rct_reader *reader, const char *field, const char **word, size_t *length)
{
    if (check_bytes(reader, reader->at) < 0) {
        return -1;
    }
    if (*reader->at == '\n') {
        return fail_field(reader, field);
    }
    const char *begin = reader->at + 1;
    const char *end = begin;
    while (*end != ' ' && *end != '\n') {
        end++;
    }
    if (*reader->at != ' ' || end == begin) {
        return fail(reader, *end == '\n' ? RCT_SHORT_RECORD : RCT_LONG_RECORD,
                    "%s should follow after one space", field);
    }
    *word = begin;
    *length = (size_t)(end - begin);
    reader->at = end;
    return 0;
}

static inline int take_end(rct_reader *reader)
{
    if (__builtin_expect(*reader->at == '\n', 1)) {
        return 0;
    }
    if (check_bytes(reader, reader->at) < 0) {
        return -1;
    }
    return fail(reader, RCT_LONG_RECORD, "the record should end before '%.*s'",
                token_length(reader->at + 1), reader->at + 1);
}

/* True if the line begins with the word and a space or the line's end behind it. */
static bool take_first(rct_reader *reader, const char *word)
{
    size_t length = strlen(word);
    size_t size = (size_t)(reader->line_end - reader->at);
    if (size < length || memcmp(reader->at, word, length) != 0 ||
        (size > length && reader->at[length] != ' ' && reader->at[length] != '\r')) {
        return false;
    }
    reader->at += length;
    return true;
}

/* ---- Classes, threads, objects ---- */

static int find_class(rct_reader *reader, uint64_t number, uint32_t *class)
{
    if (reader->class_count == 0 || number != reader->last_class_number) {
        const map_entry *entry = map_find(&reader->class_map, number);
        if (entry == NULL) {
            return fail(reader, RCT_CLASS_UNDECLARED, "class %" PRIu64 " has no class record above",
                        number);
        }
        reader->last_class_number = number;
        reader->last_class = entry->value;
    }
    *class = reader->last_class;
    return 0;
}

static int find_thread(rct_reader *reader, uint64_t id, uint32_t *thread)
{
    if (reader->thread_count == 0 || id != reader->last_thread_id) {
        const map_entry *entry = map_find(&reader->thread_map, id);
        if (entry == NULL) {
            if (!map_add(&reader->thread_map, id, reader->thread_count)) {
                return fail_memory(reader);
            }
            reader->last_thread = reader->thread_count++;
        } else {
            reader->last_thread = entry->value;
        }
        reader->last_thread_id = id;
    }
    *thread = reader->last_thread;
    return 0;
}

/* An object that is alive, or dead with weak handles left. NULL: failed. */
static inline object *find_object(rct_reader *reader, uint64_t id, map_entry **entry)
{
    *entry = map_find(&reader->object_map, id);
    if (__builtin_expect(*entry != NULL, 1)) {
        return &reader->objects[(*entry)->value];
    }
    if (id_set_has(&reader->used, id)) {
        fail(reader, RCT_DEAD, "object %" PRIu64 " is used after it died", id);
    } else {
        fail(reader, RCT_NEVER_CREATED, "object %" PRIu64 " was never created", id);
    }
    return NULL;
}

static inline object *find_live(rct_reader *reader, uint64_t id, map_entry **entry)
{
    object *o = find_object(reader, id, entry);
    if (o != NULL && o->count == 0) {
        fail(reader, RCT_DEAD,
             "object %" PRIu64 " is used after it died; only weak handles are left", id);
        return NULL;
    }
    return o;
}

static int add_object(rct_reader *reader, uint64_t id, uint32_t *index)
{
    id_added added = id_set_add(&reader->used, id);
    if (added == ID_OLD) {
        return fail(reader, RCT_ID_REUSED,
                    "id %" PRIu64 " was used before; ids are never used twice", id);
    }
    if (added == ID_NO_MEMORY) {
        return fail_memory(reader);
    }
    if (reader->first_free != RCT_NO_OBJECT) {
        *index = reader->first_free;
        reader->first_free = reader->objects[*index].next_free;
    } else {
        if (reader->object_count == reader->object_room) {
            uint64_t room = reader->object_room == 0 ? 64 : (uint64_t)reader->object_room * 2;
            object *objects = room >= RCT_NO_OBJECT
                                  ? NULL
                                  : realloc(reader->objects, (size_t)room * sizeof *objects);
            if (objects == NULL) {
                return fail_memory(reader);
            }
            reader->objects = objects;
            reader->object_room = (uint32_t)room;
        }
        *index = reader->object_count++;
    }
    if (!map_add(&reader->object_map, id, *index)) {
        return fail_memory(reader);
    }
    reader->live++;
    if (reader->live > reader->most_live) {
        reader->most_live = reader->live;
    }
    return 0;
}

static void remove_object(rct_reader *reader, map_entry *entry)
{
    uint32_t index = entry->value;
    map_remove(&reader->object_map, entry);
    reader->objects[index].next_free = reader->first_free;
    reader->first_free = index;
}

/* ---- Records ---- */

typedef struct attributes {
    uint64_t bytes, storage, offset, n;
    bool has_bytes, has_storage, has_offset, has_n;
} attributes;

static int take_attribute(rct_reader *reader, attributes *found)
{
    const char *begin = reader->at + 1;
    const struct {
        const char *key;
        uint64_t *value;
        bool *has;
    } known[] = {{"bytes=", &found->bytes, &found->has_bytes},
                 {"off=", &found->offset, &found->has_offset},
                 {"n=", &found->n, &found->has_n},
                 {"s", &found->storage, &found->has_storage}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t length = strlen(known[i].key);
        if (*reader->at != ' ' || strncmp(begin, known[i].key, length) != 0) {
            continue;
        }
        const char *after = scan_number(begin + length, known[i].value);
        if (after == NULL) {
            break;
        }
        if (*known[i].has) {
            return fail(reader, RCT_ATTRIBUTE, "attribute %s is given twice", known[i].key);
        }
        *known[i].has = true;
        reader->at = after;
        return 0;
    }
    if (check_bytes(reader, reader->at) < 0) {
        return -1;
    }
    return fail(reader, RCT_ATTRIBUTE, "'%.*s' is no attribute: expected bytes=B, or sS off=O n=N",
                token_length(begin), begin);
}

static int check_attributes(rct_reader *reader, const attributes *found, rct_kind kind, uint64_t id)
{
    bool any_view = found->has_storage || found->has_offset || found->has_n;
    bool all_view = found->has_storage && found->has_offset && found->has_n;
    if (kind == RCT_STORAGE && !found->has_bytes) {
        return fail(reader, RCT_ATTRIBUTE, "attribute missing: storage %" PRIu64 " needs bytes=B",
                    id);
    }
    if (kind != RCT_TENSOR && any_view) {
        return fail(reader, RCT_ATTRIBUTE,
                    "sS, off= and n= are for tensors; object %" PRIu64 " is none", id);
    }
    if (kind == RCT_TENSOR && found->has_bytes) {
        return fail(reader, RCT_ATTRIBUTE, "bytes= is not for tensors; tensor %" PRIu64 " has it",
                    id);
    }
    if (kind == RCT_TENSOR && any_view && !all_view) {
        return fail(reader, RCT_ATTRIBUTE,
                    "attribute missing: tensor %" PRIu64 " needs sS, off=O and n=N", id);
    }
    return 0;
}

/* Rest of N and pre, from the id on. */
static int read_birth(rct_reader *reader, rct_event *event, bool pre)
{
    uint64_t class_number = 0;
    attributes found = {0};
    event->count = 1;
    if (take_number(reader, "the object's id", &event->id) < 0 ||
        take_number(reader, "the class", &class_number) < 0 ||
        (pre && take_number(reader, "the count", &event->count) < 0)) {
        return -1;
    }
    while (*reader->at != '\n') {
        if (take_attribute(reader, &found) < 0) {
            return -1;
        }
    }
    if (event->count == 0) {
        return fail(reader, RCT_BAD_NUMBER,
                    "the count of an object that is alive should be 1 or more, "
                    "file says 0");
    }
    if (find_class(reader, class_number, &event->class) < 0) {
        return -1;
    }
    event->kind = reader->classes[event->class].kind;
    if (check_attributes(reader, &found, event->kind, event->id) < 0) {
        return -1;
    }
    event->storage = RCT_NO_OBJECT;
    if (found.has_storage) {
        const map_entry *entry = map_find(&reader->object_map, found.storage);
        if (entry == NULL || reader->objects[entry->value].count == 0) {
            return fail(reader, RCT_STORAGE_NOT_LIVE,
                        "storage %" PRIu64 " of tensor %" PRIu64 " is not live: it %s",
                        found.storage, event->id,
                        id_set_has(&reader->used, found.storage) ? "died" : "was never created");
        }
        if (reader->classes[reader->objects[entry->value].class].kind != RCT_STORAGE) {
            return fail(reader, RCT_OTHER_KIND,
                        "object %" PRIu64 " should be a storage, its class is '%s'", found.storage,
                        reader->classes[reader->objects[entry->value].class].name);
        }
        event->storage = entry->value;
    }
    if (add_object(reader, event->id, &event->object) < 0) {
        return -1;
    }
    event->weak = 0;
    event->bytes = found.bytes;
    event->offset = found.offset;
    event->n = found.n;
    reader->objects[event->object] = (object){.id = event->id,
                                              .count = event->count,
                                              .class = event->class,
                                              .storage = event->storage,
                                              .storage_id = found.storage,
                                              .owed = RCT_NO_OBJECT,
                                              .next_free = RCT_NO_OBJECT};
    return 1;
}

static int owe_drop(rct_reader *reader, const object *tensor, rct_event *event)
{
    object *storage = &reader->objects[tensor->storage];
    const map_entry *entry = map_find(&reader->object_map, tensor->storage_id);
    reader->owed_now++;
    if (entry == NULL || entry->value != tensor->storage || storage->count == 0) {
        return 0; /* the storage died first: the drop cannot come, and a later record says so */
    }
    event->storage = tensor->storage;
    uint32_t place = reader->owed_free;
    if (place != RCT_NO_OBJECT) {
        reader->owed_free = reader->owed[place].next;
    } else {
        if (reader->owed_count == reader->owed_room) {
            uint64_t room = reader->owed_room == 0 ? 16 : (uint64_t)reader->owed_room * 2;
            owed_drop *owed =
                room >= RCT_NO_OBJECT ? NULL : realloc(reader->owed, (size_t)room * sizeof *owed);
            if (owed == NULL) {
                return fail_memory(reader);
            }
            reader->owed = owed;
            reader->owed_room = (uint32_t)room;
        }
        place = reader->owed_count++;
    }
    reader->owed[place] = (owed_drop){.tensor_id = tensor->id,
                                      .line = reader->line,
                                      .thread = event->thread,
                                      .next = storage->owed};
    storage->owed = place;
    return 0;
}

/* Takes the newest drop owed by this thread off the storage's list. */
static int pay_drop(rct_reader *reader, object *storage, rct_event *event)
{
    uint32_t *link = &storage->owed;
    while (*link != RCT_NO_OBJECT && reader->owed[*link].thread != event->thread) {
        link = &reader->owed[*link].next;
    }
    if (*link == RCT_NO_OBJECT) {
        return fail(reader, RCT_DROP_WITHOUT_OWNER,
                    "d without a dead owner: no tensor over storage %" PRIu64
                    " died on thread %" PRIu64 " and still owes its drop",
                    storage->id, event->thread_id);
    }
    uint32_t place = *link;
    *link = reader->owed[place].next;
    reader->owed[place].next = reader->owed_free;
    reader->owed_free = place;
    reader->owed_now--;
    return 0;
}

static inline void fill_event(rct_event *event, const rct_reader *reader, const object *o)
{
    event->object = (uint32_t)(o - reader->objects);
    event->class = o->class;
    event->kind = reader->classes[o->class].kind;
    event->count = o->count;
    event->weak = o->weak;
    event->storage = RCT_NO_OBJECT;
}

static inline int check_count(rct_reader *reader, uint64_t id, uint64_t expected, uint64_t said)
{
    if (__builtin_expect(expected == said, 1)) {
        return 0;
    }
    return fail(reader, RCT_COUNT,
                "count of object %" PRIu64 " after the operation should be %" PRIu64
                ", file says %" PRIu64,
                id, expected, said);
}

/* Rest of "+", "-" and "d". */
static inline int read_count_change(rct_reader *reader, rct_event *event)
{
    uint64_t said = 0;
    map_entry *entry;
    if (take_number(reader, "the object's id", &event->id) < 0 ||
        take_number(reader, "the count after the operation", &said) < 0 || take_end(reader) < 0) {
        return -1;
    }
    object *o = find_live(reader, event->id, &entry);
    if (o == NULL) {
        return -1;
    }
    if (event->operation == RCT_RETAIN) {
        if (check_count(reader, event->id, o->count + 1, said) < 0) {
            return -1;
        }
        o->count++;
        fill_event(event, reader, o);
        return 1;
    }
    if (event->operation == RCT_DROP) {
        if (reader->classes[o->class].kind != RCT_STORAGE) {
            return fail(reader, RCT_OTHER_KIND,
                        "object %" PRIu64 " should be a storage, its class is '%s'", event->id,
                        reader->classes[o->class].name);
        }
        if (pay_drop(reader, o, event) < 0) {
            return -1;
        }
    }
    if (check_count(reader, event->id, o->count - 1, said) < 0) {
        return -1;
    }
    o->count--;
    fill_event(event, reader, o);
    if (o->count == 0) {
        reader->live--;
        if (o->storage != RCT_NO_OBJECT && owe_drop(reader, o, event) < 0) {
            return -1;
        }
        if (o->weak == 0) {
            remove_object(reader, entry);
        }
    }
    return 1;
}

/* Rest of "w" and "v". */
static int read_weak(rct_reader *reader, rct_event *event)
{
    map_entry *entry;
    if (take_number(reader, "the object's id", &event->id) < 0 || take_end(reader) < 0) {
        return -1;
    }
    object *o = find_object(reader, event->id, &entry);
    if (o == NULL) {
        return -1;
    }
    if (event->operation == RCT_WEAK_NEW) {
        o->weak++; /* of a dead object too: a weak handle can be copied */
        fill_event(event, reader, o);
        return 1;
    }
    if (o->weak == 0) {
        return fail(reader, RCT_NO_WEAK,
                    "weak release of object %" PRIu64 " without a weak handle: all were released",
                    event->id);
    }
    o->weak--;
    fill_event(event, reader, o);
    if (o->count == 0 && o->weak == 0) {
        remove_object(reader, entry);
    }
    return 1;
}

static int read_lock(rct_reader *reader, rct_event *event)
{
    uint64_t outcome = 0;
    map_entry *entry;
    if (take_number(reader, "the object's id", &event->id) < 0) {
        return -1;
    }
    const char *outcome_at = reader->at + 1;
    if (take_number(reader, "the lock's outcome", &outcome) < 0 || take_end(reader) < 0) {
        return -1;
    }
    if (outcome > 1) {
        return fail(reader, RCT_BAD_NUMBER, "the lock's outcome should be 0 or 1, file says '%.*s'",
                    token_length(outcome_at), outcome_at);
    }
    object *o = find_object(reader, event->id, &entry);
    if (o == NULL) {
        return -1;
    }
    event->locked = outcome == 1;
    if (event->locked != (o->count > 0)) {
        return fail(reader, RCT_LOCK_IMPOSSIBLE,
                    "lock outcome impossible: object %" PRIu64
                    " is %s, so the outcome should be %d, file "
                    "says %d",
                    event->id, o->count > 0 ? "alive" : "dead", o->count > 0, event->locked);
    }
    o->count += event->locked ? 1 : 0;
    fill_event(event, reader, o);
    return 1;
}

static int read_mark(rct_reader *reader, rct_event *event)
{
    const char *word;
    size_t length;
    if (take_word(reader, "the mark", &word, &length) < 0 || take_end(reader) < 0) {
        return -1;
    }
    /* The LF is not needed any more: its place in the buffer ends the string. */
    reader->buffer[word + length - reader->buffer] = '\0';
    event->mark = word;
    event->object = RCT_NO_OBJECT;
    event->storage = RCT_NO_OBJECT;
    return 1;
}

static int read_event(rct_reader *reader, rct_event *event)
{
    const char *after = scan_number(reader->at, &event->thread_id);
    if (after == NULL) {
        return fail_number(reader, reader->at, "the thread");
    }
    if (after[0] == '\n' || after[1] == '\n') {
        return fail(reader, RCT_SHORT_RECORD, "the record ends where the operation should stand");
    }
    char letter = after[1];
    if (after[2] != ' ' && after[2] != '\n') {
        letter = '?'; /* more than a letter */
    }
    reader->at = after + 2;
    if (find_thread(reader, event->thread_id, &event->thread) < 0) {
        return -1;
    }
    reader->has_events = true;
    reader->events++;
    switch (letter) {
    case '+':
        event->operation = RCT_RETAIN;
        return read_count_change(reader, event);
    case '-':
        event->operation = RCT_RELEASE;
        return read_count_change(reader, event);
    case 'd':
        event->operation = RCT_DROP;
        return read_count_change(reader, event);
    case 'N':
        event->operation = RCT_NEW;
        return read_birth(reader, event, false);
    case 'w':
        event->operation = RCT_WEAK_NEW;
        return read_weak(reader, event);
    case 'v':
        event->operation = RCT_WEAK_RELEASE;
        return read_weak(reader, event);
    case 'l':
        event->operation = RCT_LOCK;
        return read_lock(reader, event);
    case 'M':
        event->operation = RCT_MARK;
        return read_mark(reader, event);
    default:
        break;
    }
    if (check_bytes(reader, after) < 0) {
        return -1;
    }
    return fail(reader, RCT_UNKNOWN_OPERATION,
                "unknown operation '%.*s': expected N, +, -, d, w, v, l or M",
                token_length(after + 1), after + 1);
}

static int read_class(rct_reader *reader)
{
    uint64_t number = 0;
    const char *word;
    size_t length;
    if (take_number(reader, "the class's number", &number) < 0 ||
        take_word(reader, "the class's name", &word, &length) < 0 || take_end(reader) < 0) {
        return -1;
    }
    if (map_find(&reader->class_map, number) != NULL) {
        return fail(reader, RCT_CLASS_TWICE, "class %" PRIu64 " is declared twice", number);
    }
    if (reader->class_count == reader->class_room) {
        uint32_t room = reader->class_room == 0 ? 16 : reader->class_room * 2;
        class_record *classes = realloc(reader->classes, room * sizeof *classes);
        if (classes == NULL) {
            return fail_memory(reader);
        }
        reader->classes = classes;
        reader->class_room = room;
    }
    char *name = strndup(word, length);
    if (name == NULL || !map_add(&reader->class_map, number, reader->class_count)) {
        free(name);
        return fail_memory(reader);
    }
    rct_kind kind = strcmp(name, "tensor") == 0    ? RCT_TENSOR
                    : strcmp(name, "storage") == 0 ? RCT_STORAGE
                                                   : RCT_OTHER;
    reader->last_class_number = number;
    reader->last_class = reader->class_count;
    reader->classes[reader->class_count++] = (class_record){name, kind};
    return 0;
}

static int read_meta(rct_reader *reader)
{
    const char *word;
    size_t length;
    if (take_word(reader, "the key", &word, &length) < 0) {
        return -1;
    }
    if (reader->line_end - reader->at < 2) {
        return fail(reader, RCT_SHORT_RECORD,
                    "the record ends where the value of '%.*s' should stand", token_length(word),
                    word);
    }
    return 0; /* the value is free text; take_word has looked at all bytes of the line */
}

static int read_order(rct_reader *reader)
{
    const char *word;
    size_t length;
    if (take_word(reader, "the order", &word, &length) < 0 || take_end(reader) < 0) {
        return -1;
    }
    if (reader->ordered || reader->has_events) {
        return fail(reader, RCT_MISPLACED, "order should stand once, before the first event");
    }
    if (length != 5 || memcmp(word, "total", 5) != 0) {
        return fail(reader, RCT_VERSION,
                    "order should be 'total', the only one known here; file says '%.*s'",
                    token_length(word), word);
    }
    reader->ordered = true;
    return 0;
}

static int read_pre(rct_reader *reader, rct_event *event)
{
    event->operation = RCT_PRE;
    event->thread = 0;
    event->thread_id = 0;
    if (reader->has_events) {
        return fail(
            reader, RCT_MISPLACED,
            "a pre record after the first event: what is alive at the start stands before it");
    }
    return read_birth(reader, event, true);
}

/* The end record: 0 if all is well. */
static int read_end(rct_reader *reader)
{
    uint64_t events = 0, live = 0;
    if (take_number(reader, "the number of events", &events) < 0 ||
        take_number(reader, "the number of live objects", &live) < 0 || take_end(reader) < 0) {
        return -1;
    }
    if (reader->owed_now != 0) {
        for (uint32_t i = 0; i < reader->object_count; i++) {
            const object *o = &reader->objects[i];
            map_entry *entry = map_find(&reader->object_map, o->id);
            if (entry != NULL && entry->value == i && o->owed != RCT_NO_OBJECT) {
                const owed_drop *owed = &reader->owed[o->owed];
                return fail(reader, RCT_NEVER_DROPPED,
                            "tensor %" PRIu64 " died in line %" PRIu64
                            ", but its reference of storage %" PRIu64 " was never dropped (d)",
                            owed->tensor_id, owed->line, o->id);
            }
        }
        return fail(reader, RCT_NEVER_DROPPED,
                    "%" PRIu64
                    " dead tensors' references of their storages were never dropped, and the "
                    "storages died all the same",
                    reader->owed_now);
    }
    if (events != reader->events || live != reader->live) {
        return fail(reader, RCT_END_DISAGREES,
                    "end should say %" PRIu64 " events and %" PRIu64
                    " live objects, file says %" PRIu64 " and %" PRIu64,
                    reader->events, reader->live, events, live);
    }
    line_done(reader);
    int more = reader->begin < reader->end ? 1 : fill(reader);
    if (more < 0) {
        return -1;
    }
    if (more > 0) {
        reader->line++;
        return fail(reader, RCT_AFTER_END, "data after the end record");
    }
    reader->finished = true;
    return 0;
}

/* The first line. `whole`: it has its LF. */
static int read_first(rct_reader *reader, bool whole)
{
    static const char expected[] = "rct 1 text";
    const char *begin = reader->at;
    size_t size = (size_t)(reader->line_end - begin);
    if (!whole && size == 0) {
        reader->line = 0;
        return fail(reader, RCT_TRUNCATED, "truncated: the file is empty");
    }
    if (!whole && size <= sizeof expected - 1 && memcmp(begin, expected, size) == 0) {
        return fail(reader, RCT_TRUNCATED, "truncated: the first line has no end");
    }
    if (size < 4 || memcmp(begin, "rct ", 4) != 0) {
        return fail(reader, RCT_NOT_RCT, "not an RCT file: the first line should be '%s'",
                    expected);
    }
    if (!whole) {
        return fail(reader, RCT_TRUNCATED, "truncated: the first line has no end");
    }
    if (size > RCT_LINE_MAX || *reader->line_end != '\n') {
        return fail_too_long(reader);
    }
    if (check_bytes(reader, begin) < 0) {
        return -1;
    }
    if (size != sizeof expected - 1 || memcmp(begin, expected, size) != 0) {
        return fail(reader, RCT_VERSION, "this reader knows '%s', the file says '%.*s'", expected,
                    size > 60 ? 60 : (int)size, begin);
    }
    reader->started = true;
    return 0;
}

/* A line that is not an event. 1: *event is filled. 0: the end. 2: read on. -1: failed. */
static int read_other(rct_reader *reader, rct_event *event)
{
    if (take_first(reader, "pre")) {
        return read_pre(reader, event);
    }
    if (take_first(reader, "end")) {
        return read_end(reader);
    }
    int done;
    if (take_first(reader, "class")) {
        done = read_class(reader);
    } else if (take_first(reader, "meta")) {
        done = read_meta(reader);
    } else if (take_first(reader, "order")) {
        done = read_order(reader);
    } else {
        if (check_bytes(reader, reader->at) < 0) {
            return -1;
        }
        return fail(
            reader, RCT_UNKNOWN_OPERATION,
            "unknown operation '%.*s': expected meta, order, class, pre, end or a thread's number",
            token_length(reader->at), reader->at);
    }
    return done < 0 ? -1 : 2;
}

int rct_next(rct_reader *reader, rct_event *event)
{
    if (reader->error.reason != RCT_OK) {
        return -1;
    }
    if (reader->finished) {
        return 0;
    }
    for (;;) {
        int is_line = next_line(reader);
        if (is_line < 0) {
            return -1;
        }
        if (!reader->started) {
            if (read_first(reader, is_line != 0) < 0) {
                return -1;
            }
            line_done(reader);
            continue;
        }
        if (is_line == 0) {
            bool rest = reader->at != reader->line_end;
            reader->line -= rest ? 0 : 1;
            return fail(reader, RCT_TRUNCATED, "truncated: %s",
                        rest ? "the last line has no LF" : "the file ends without an end record");
        }
        int got = *reader->at >= '0' && *reader->at <= '9' ? read_event(reader, event)
                                                           : read_other(reader, event);
        if (got <= 0) {
            return got;
        }
        line_done(reader);
        if (got == 1) {
            event->line = reader->line;
            return 1;
        }
    }
}

/* ---- Opening and closing ---- */

static rct_reader *reader_new(const char *name, rct_error *error)
{
    *error = (rct_error){0};
    rct_reader *reader = calloc(1, sizeof *reader);
    if (reader != NULL) {
        reader->descriptor = -1;
        reader->first_free = RCT_NO_OBJECT;
        reader->owed_free = RCT_NO_OBJECT;
        reader->name = strdup(name);
        reader->buffer = malloc(BUFFER_BYTES);
    }
    if (reader == NULL || reader->name == NULL || reader->buffer == NULL) {
        rct_close(reader);
        error->reason = RCT_NO_MEMORY;
        snprintf(error->message, sizeof error->message, "%.200s: memory was refused", name);
        return NULL;
    }
    return reader;
}

/* Looks at the first bytes and puts a decompressor in between if they are those of one. */
static int recognise(rct_reader *reader)
{
    static const struct {
        const char *magic;
        size_t size;
        int (*support)(struct archive *);
    } known[] = {{"\xfd"
                  "7zXZ",
                  6, archive_read_support_filter_xz},
                 {"\x28\xb5\x2f\xfd", 4, archive_read_support_filter_zstd},
                 {"\x1f\x8b", 2, archive_read_support_filter_gzip}};
    size_t got = 0;
    while (got < sizeof reader->head) {
        ssize_t n = source_read(reader, reader->head + got, sizeof reader->head - got);
        if (n < 0) {
            return fail_source(reader);
        }
        if (n == 0) {
            break;
        }
        got += (size_t)n;
    }
    reader->head_size = got;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (got < known[i].size || memcmp(reader->head, known[i].magic, known[i].size) != 0) {
            continue;
        }
        reader->source = malloc(SOURCE_BYTES);
        reader->archive = archive_read_new();
        if (reader->source == NULL || reader->archive == NULL) {
            return fail_memory(reader);
        }
        reader->gzip = known[i].support == archive_read_support_filter_gzip;
        struct archive_entry *entry;
        known[i].support(reader->archive);
        archive_read_support_format_raw(reader->archive);
        archive_read_support_format_empty(reader->archive);
        if (archive_read_open(reader->archive, reader, NULL, archive_source, NULL) != ARCHIVE_OK) {
            return fail_source(reader);
        }
        int got_header = archive_read_next_header(reader->archive, &entry);
        if (got_header != ARCHIVE_OK && got_header != ARCHIVE_EOF) {
            return fail_source(reader);
        }
        if (got_header == ARCHIVE_EOF) {
            reader->source_ended = true;
        }
        return 0;
    }
    return 0;
}

static rct_reader *reader_ready(rct_reader *reader, rct_error *error)
{
    if (recognise(reader) < 0) {
        *error = reader->error;
        rct_close(reader);
        return NULL;
    }
    return reader;
}

rct_reader *rct_open(const char *path, rct_error *error)
{
    bool standard_input = strcmp(path, "-") == 0;
    rct_reader *reader = reader_new(standard_input ? "standard input" : path, error);
    if (reader == NULL) {
        return NULL;
    }
    reader->descriptor = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    reader->close_it = !standard_input;
    if (reader->descriptor < 0) {
        fail(reader, RCT_CANNOT_READ, "cannot be opened: %s", strerror(errno));
        *error = reader->error;
        rct_close(reader);
        return NULL;
    }
    return reader_ready(reader, error);
}

rct_reader *rct_open_memory(const char *name, const void *bytes, size_t size, rct_error *error)
{
    rct_reader *reader = reader_new(name, error);
    if (reader == NULL) {
        return NULL;
    }
    reader->bytes = bytes;
    reader->bytes_left = size;
    return reader_ready(reader, error);
}

rct_reader *rct_open_descriptor(const char *name, int descriptor, rct_error *error)
{
    rct_reader *reader = reader_new(name, error);
    if (reader == NULL) {
        return NULL;
    }
    reader->descriptor = descriptor;
    return reader_ready(reader, error);
}

const rct_error *rct_reader_error(const rct_reader *reader)
{
    return &reader->error;
}

const char *rct_class_name(const rct_reader *reader, uint32_t class)
{
    return class < reader->class_count ? reader->classes[class].name : NULL;
}

void rct_close(rct_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    if (reader->archive != NULL) {
        archive_read_free(reader->archive);
    }
    if (reader->close_it && reader->descriptor >= 0) {
        close(reader->descriptor);
    }
    for (uint32_t i = 0; i < reader->class_count; i++) {
        free(reader->classes[i].name);
    }
    free(reader->classes);
    free(reader->class_map.entries);
    free(reader->thread_map.entries);
    free(reader->object_map.entries);
    free(reader->objects);
    free(reader->used.chunks.entries);
    free(reader->used.pool);
    free(reader->owed);
    free(reader->source);
    free(reader->buffer);
    free(reader->name);
    free(reader);
}

/* ---- Summaries ---- */

bool rct_summarise(rct_reader *reader, rct_summary *summary)
{
    *summary = (rct_summary){0};
    rct_event event = {0};
    uint64_t *alive = NULL; /* per class */
    uint32_t classes = 0;
    int got;
    while ((got = rct_next(reader, &event)) == 1) {
        summary->operations[event.operation]++;
        if (event.operation == RCT_MARK) {
            continue;
        }
        if (event.class >= classes) {
            uint32_t count = reader->class_count;
            rct_class_summary *more = realloc(summary->classes, count * sizeof *more);
            if (more != NULL) {
                summary->classes = more;
            }
            uint64_t *more_alive = realloc(alive, count * sizeof *more_alive);
            if (more_alive != NULL) {
                alive = more_alive;
            }
            if (more == NULL || more_alive == NULL) {
                free(alive);
                fail_memory(reader);
                return false;
            }
            memset(more + classes, 0, (count - classes) * sizeof *more);
            memset(alive + classes, 0, (count - classes) * sizeof *alive);
            classes = count;
            summary->class_count = count;
        }
        rct_class_summary *class = &summary->classes[event.class];
        if (event.operation == RCT_PRE || event.operation == RCT_NEW) {
            class->pre += event.operation == RCT_PRE;
            class->births += event.operation == RCT_NEW;
            alive[event.class]++;
            if (alive[event.class] > class->most_alive) {
                class->most_alive = alive[event.class];
            }
        } else if ((event.operation == RCT_RELEASE || event.operation == RCT_DROP) &&
                   event.count == 0) {
            alive[event.class]--;
        }
    }
    free(alive);
    for (uint32_t i = 0; i < classes; i++) {
        snprintf(summary->classes[i].name, sizeof summary->classes[i].name, "%s",
                 reader->classes[i].name);
        summary->classes[i].kind = reader->classes[i].kind;
    }
    summary->events = reader->events;
    summary->threads = reader->thread_count;
    summary->most_alive = reader->most_live;
    summary->most_objects = reader->object_count;
    summary->live_at_end = reader->live;
    summary->bytes_read = reader->bytes_read;
    return got == 0;
}

bool rct_check(const char *path, rct_summary *summary, rct_error *error)
{
    *summary = (rct_summary){0};
    rct_reader *reader = rct_open(path, error);
    if (reader == NULL) {
        return false;
    }
    bool good = rct_summarise(reader, summary);
    *error = reader->error;
    if (!good) {
        rct_summary_free(summary);
    }
    rct_close(reader);
    return good;
}

void rct_summary_free(rct_summary *summary)
{
    free(summary->classes);
    *summary = (rct_summary){0};
}

#ifndef RCL_TRACE_DIR
#define RCL_TRACE_DIR "workloads/traces"
#endif

const char *rcl_trace_dir(void)
{
    const char *named = getenv("RCLAB_TRACES");
    return named != NULL && named[0] != '\0' ? named : RCL_TRACE_DIR;
}
