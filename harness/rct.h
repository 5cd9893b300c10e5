/* rct: reads RCT 1, the text form of a recording of reference counting.
 *
 * The format and every reason for refusal stand in workloads/traces/FORMAT.md. The reader is strict
 * and makes one pass: each record is checked against what came before, so an event that rct_next gave
 * is one that could have happened. Memory: the live objects, and a bitmap of the ids used so far.
 *
 * Files compressed by xz, zstd or gzip are recognised by their first bytes, not by their names. "-" is
 * standard input.
 */
#ifndef RCL_RCT_H
#define RCL_RCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a file is refused. RCT_OK is 0. */
typedef enum rct_reason {
    RCT_OK,
    RCT_CANNOT_READ,        /* no such file, a directory, a failing disk */
    RCT_NO_MEMORY,          /* the reader was refused memory */
    RCT_NOT_RCT,            /* the first line is not that of an RCT file */
    RCT_VERSION,            /* RCT, but a version or encoding unknown here */
    RCT_CRLF,               /* a line ends in CR LF */
    RCT_NOT_ASCII,          /* a byte outside printable ASCII */
    RCT_LINE_TOO_LONG,      /* more than RCT_LINE_MAX bytes */
    RCT_UNKNOWN_OPERATION,  /* neither a record's word nor an operation's letter */
    RCT_BAD_NUMBER,         /* not a decimal number, a leading zero, or out of range */
    RCT_SHORT_RECORD,       /* a field is missing */
    RCT_LONG_RECORD,        /* text after the last field, or a space too many */
    RCT_MISPLACED,          /* a record where it may not stand */
    RCT_CLASS_UNDECLARED,   /* no class record of that number */
    RCT_CLASS_TWICE,        /* two class records of one number */
    RCT_ATTRIBUTE,          /* missing, malformed, or given twice */
    RCT_STORAGE_NOT_LIVE,   /* a tensor over a storage that is not there */
    RCT_OTHER_KIND,         /* a storage was needed, this is something else */
    RCT_NEVER_CREATED,      /* no object ever had this id */
    RCT_DEAD,               /* used after it died */
    RCT_ID_REUSED,          /* born with an id that was used before */
    RCT_COUNT,              /* the recorded count is not the replayed one */
    RCT_NO_WEAK,            /* weak release (or lock) without a weak handle */
    RCT_LOCK_IMPOSSIBLE,    /* locked though dead, or failed though alive */
    RCT_DROP_WITHOUT_OWNER, /* d, but no tensor over this storage died on this thread */
    RCT_NEVER_DROPPED,      /* a dead tensor's reference of its storage was not dropped */
    RCT_TRUNCATED,          /* empty, last line unfinished, or no end record */
    RCT_END_DISAGREES,      /* the end record does not say what was read */
    RCT_AFTER_END,          /* data after the end record */
    RCT_COMPRESSED,         /* the compressed stream is damaged or cut off */
    RCT_CANNOT_REPLAY,      /* correct, but not to be replayed that way (replay_plan.h) */
    RCT_REASONS             /* how many there are */
} rct_reason;

enum { RCT_LINE_MAX = 4096 /* bytes, without the LF */ };

/* One word per reason, for tables and tests: "crlf", "id-reused". Static. */
const char *rct_reason_name(rct_reason reason);

typedef struct rct_error {
    rct_reason reason;
    uint64_t line;     /* from 1; 0 if no line is to blame */
    char message[512]; /* "file:line: what is wrong, what was expected", or "file: ..." */
} rct_error;

typedef enum rct_operation {
    RCT_PRE,          /* alive when recording began */
    RCT_NEW,          /* N */
    RCT_RETAIN,       /* + */
    RCT_RELEASE,      /* - */
    RCT_DROP,         /* d: the destructor of a dead tensor drops its storage */
    RCT_WEAK_NEW,     /* w */
    RCT_WEAK_RELEASE, /* v */
    RCT_LOCK,         /* l */
    RCT_MARK,         /* M */
    RCT_OPERATIONS
} rct_operation;

typedef enum rct_kind { RCT_TENSOR, RCT_STORAGE, RCT_OTHER } rct_kind;

#define RCT_NO_OBJECT UINT32_MAX

/* One record. Strings are a loan until the next call of rct_next. */
typedef struct rct_event {
    rct_operation operation;
    uint64_t line;
    uint64_t thread_id; /* as in the file */
    uint32_t thread;    /* the n-th thread to appear, from 0; unused by RCT_PRE */
    uint64_t id;
    uint32_t object;  /* a small number for the id, unique among live objects; reused after the
                           object is gone, that is dead and without weak handles */
    rct_kind kind;    /* of the object */
    uint32_t class;   /* the n-th class declared, from 0 */
    uint64_t count;   /* after the operation: strong; RCT_PRE: at the start; RCT_NEW: 1 */
    uint64_t weak;    /* after the operation: weak handles */
    uint32_t storage; /* RCT_NEW and RCT_PRE of a tensor: its storage's object; RCT_NO_OBJECT: none.
                           RCT_RELEASE of a tensor, count 0: the storage whose drop is now owed */
    uint64_t bytes;   /* of a storage's data */
    uint64_t offset, n; /* of a tensor: first element, number of elements */
    bool locked;        /* RCT_LOCK */
    const char *mark;   /* RCT_MARK; zero-terminated */
} rct_event;

typedef struct rct_reader rct_reader;

/* Opens a file, or standard input for "-". NULL: *error says why. Nothing of the content is judged
 * yet, except that a compressed stream must begin well. The caller closes. */
rct_reader *rct_open(const char *path, rct_error *error);

/* Reads from memory instead; the bytes are a loan until rct_close. `name` stands in messages. */
rct_reader *rct_open_memory(const char *name, const void *bytes, size_t size, rct_error *error);

/* Reads from a descriptor that stays the caller's, from its present position on. */
rct_reader *rct_open_descriptor(const char *name, int descriptor, rct_error *error);

/* The next event: 1. The end of a correct file: 0, also when asked again. A bad file: -1, and
 * rct_reader_error says why; every later call gives -1 too. One thread. Cost: no allocation but for
 * growth. */
int rct_next(rct_reader *reader, rct_event *event);

/* After -1: why. A loan until rct_close. */
const rct_error *rct_reader_error(const rct_reader *reader);

/* Frees everything. NULL is ignored. */
void rct_close(rct_reader *reader);

/* The name of the n-th class declared; a loan until rct_close. NULL if there is none. */
const char *rct_class_name(const rct_reader *reader, uint32_t class);

typedef struct rct_class_summary {
    char name[64]; /* cut off if longer */
    rct_kind kind;
    uint64_t births; /* N records */
    uint64_t pre;
    uint64_t most_alive;
} rct_class_summary;

typedef struct rct_summary {
    uint64_t events; /* as the end record counts them: all but pre, marks too */
    uint64_t operations[RCT_OPERATIONS];
    uint64_t threads;
    uint64_t most_alive;   /* objects, all classes */
    uint64_t most_objects; /* event.object was always below this */
    uint64_t live_at_end;
    uint64_t bytes_read; /* of text, after decompression */
    rct_class_summary *classes;
    uint32_t class_count;
} rct_summary;

/* Reads a whole file. True: it is correct, and *summary is filled (rct_summary_free). False: *error
 * says why. */
bool rct_check(const char *path, rct_summary *summary, rct_error *error);

/* The same for a reader that has just been opened; the error is rct_reader_error's. */
bool rct_summarise(rct_reader *reader, rct_summary *summary);
void rct_summary_free(rct_summary *summary);

/* The folder that holds the project's own recordings: $RCLAB_TRACES, or the one fixed at build time. */
const char *rcl_trace_dir(void);

#endif
