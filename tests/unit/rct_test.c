/* rct_test: the reader of recordings. Each reason for refusal with its line, what is accepted, compressed
 * files, and traces damaged at random: the reader accepts or refuses, and never crashes. */
#include "rct.h"

#include <archive.h>
#include <archive_entry.h>
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAD                                                                                       \
    "rct 1 text\nmeta source test\norder total\nclass 0 storage\nclass 1 tensor\nclass 2 node\n"
enum { HEAD_LINES = 6 };

/* Reads a trace from memory to its end. */
static rct_error read_all(const char *bytes, size_t size)
{
    rct_error error;
    rct_event event;
    rct_reader *reader = rct_open_memory("t.rct", bytes, size, &error);
    if (reader == NULL) {
        return error;
    }
    int got;
    do {
        got = rct_next(reader, &event);
    } while (got == 1);
    ck_assert_int_eq(rct_next(reader, &event), got); /* the answer stays */
    error = *rct_reader_error(reader);
    ck_assert_int_eq(got, error.reason == RCT_OK ? 0 : -1);
    rct_close(reader);
    return error;
}

/* ---- Refused ---- */

typedef struct refusal {
    rct_reason reason;
    uint64_t line; /* from 1 in `text`; `headed`: behind HEAD */
    bool headed;
    const char *text;
    const char *says; /* part of the message */
} refusal;

static const refusal refusals[] = {
    {RCT_NOT_RCT, 1, false, "hello\n", "not an RCT file"},
    {RCT_NOT_RCT, 1, false, "\x89PNG\r\n", "not an RCT file"},
    {RCT_NOT_RCT, 1, false, "\nrct 1 text\n", "not an RCT file"},
    {RCT_NOT_RCT, 1, false, "rct\n", "not an RCT file"},
    {RCT_NOT_RCT, 1, false, "no newline at all", "not an RCT file"},
    {RCT_VERSION, 1, false, "rct 2 text\n", "the file says 'rct 2 text'"},
    {RCT_VERSION, 1, false, "rct 1 binary\n", "this reader knows 'rct 1 text'"},
    {RCT_VERSION, 2, false, "rct 1 text\norder partial\n", "'partial'"},
    {RCT_CRLF, 1, false, "rct 1 text\r\nend 0 0\r\n", "CR LF"},
    {RCT_CRLF, 1, true, "0 N 0 2\r\nend 1 1\n", "CR LF"},
    {RCT_CRLF, 2, true, "0 N 0 2\n0 + 0 2\r\nend 2 1\n", "CR LF"},
    {RCT_CRLF, 1, true, "meta a b\r\n", "CR LF"},
    {RCT_CRLF, 1, true, "end 0 0\r\n", "CR LF"},
    {RCT_CRLF, 1, true, "0 M mark\r\n", "CR LF"},
    {RCT_NOT_ASCII, 1, true, "meta name caf\xc3\xa9\n", "byte 0xc3 in column 14"},
    {RCT_NOT_ASCII, 1, true, "0 M m\xff\n", "byte 0xff"},
    {RCT_NOT_ASCII, 1, true, "0\t+ 0 2\n", "byte 0x09 in column 2"},
    {RCT_NOT_ASCII, 1, true, "class 3 \x80\n", "byte 0x80"},
    {RCT_UNKNOWN_OPERATION, 1, true, "0 x 0\n", "unknown operation 'x'"},
    {RCT_UNKNOWN_OPERATION, 1, true, "0 ++ 0 1\n", "unknown operation '++'"},
    {RCT_UNKNOWN_OPERATION, 1, true, "frob 1 2\n", "unknown operation 'frob'"},
    {RCT_UNKNOWN_OPERATION, 1, true, "\n", "unknown operation ''"},
    {RCT_UNKNOWN_OPERATION, 1, true, " 0 N 0 2\n", "unknown operation"},
    {RCT_BAD_NUMBER, 1, true, "0 N 00 2\n", "the object's id should be"},
    {RCT_BAD_NUMBER, 1, true, "01 N 0 2\n", "the thread should be"},
    {RCT_BAD_NUMBER, 1, true, "0 N 9223372036854775808 2\n", "'9223372036854775808'"},
    {RCT_BAD_NUMBER, 1, true, "0 N 99999999999999999999999999 2\n", "the object's id"},
    {RCT_BAD_NUMBER, 1, true, "0 N -1 2\n", "'-1'"},
    {RCT_BAD_NUMBER, 2, true, "0 N 0 2\n0 + 0 +2\n", "'+2'"},
    {RCT_BAD_NUMBER, 2, true, "0 N 0 2\n0 + 0  2\n", "count after the operation"},
    {RCT_BAD_NUMBER, 2, true, "0 N 0 2\n0 l 0 2\n", "outcome should be 0 or 1"},
    {RCT_BAD_NUMBER, 1, true, "pre 0 2 0\n", "should be 1 or more"},
    {RCT_SHORT_RECORD, 1, true, "0\n", "the operation"},
    {RCT_SHORT_RECORD, 1, true, "0 \n", "the operation"},
    {RCT_SHORT_RECORD, 1, true, "0 N\n", "the object's id"},
    {RCT_SHORT_RECORD, 1, true, "0 N 0\n", "the class"},
    {RCT_SHORT_RECORD, 2, true, "0 N 0 2\n0 + 0\n", "count after the operation"},
    {RCT_SHORT_RECORD, 1, true, "0 M\n", "the mark"},
    {RCT_SHORT_RECORD, 1, true, "class\n", "the class's number"},
    {RCT_SHORT_RECORD, 1, true, "class 3\n", "the class's name"},
    {RCT_SHORT_RECORD, 1, true, "class 3 \n", "the class's name"},
    {RCT_SHORT_RECORD, 1, true, "meta\n", "the key"},
    {RCT_SHORT_RECORD, 1, true, "meta key\n", "the value of 'key'"},
    {RCT_SHORT_RECORD, 1, true, "meta key \n", "the value of 'key'"},
    {RCT_SHORT_RECORD, 1, true, "pre\n", "the object's id"},
    {RCT_SHORT_RECORD, 1, true, "pre 0\n", "the class"},
    {RCT_SHORT_RECORD, 1, true, "pre 0 2\n", "the count"},
    {RCT_SHORT_RECORD, 1, true, "end\n", "the number of events"},
    {RCT_SHORT_RECORD, 1, true, "end 0\n", "the number of live objects"},
    {RCT_SHORT_RECORD, 2, false, "rct 1 text\norder\n", "the order"},
    {RCT_LONG_RECORD, 2, true, "0 N 0 2\n0 + 0 2 3\n", "should end before '3'"},
    {RCT_LONG_RECORD, 2, true, "0 N 0 2\n0 + 0 2 \n", "should end before ''"},
    {RCT_LONG_RECORD, 1, true, "end 0 0 0\n", "should end before '0'"},
    {RCT_LONG_RECORD, 1, true, "class 3 a b\n", "should end before 'b'"},
    {RCT_LONG_RECORD, 1, true, "0 M a b\n", "should end before 'b'"},
    {RCT_MISPLACED, 2, true, "0 N 0 2\npre 1 2 1\n", "after the first event"},
    {RCT_MISPLACED, 1, true, "order total\n", "once"},
    {RCT_CLASS_UNDECLARED, 1, true, "0 N 0 7\n", "class 7 has no class record"},
    {RCT_CLASS_UNDECLARED, 1, true, "pre 0 7 1\n", "class 7 has no class record"},
    {RCT_CLASS_TWICE, 1, true, "class 2 other\n", "class 2 is declared twice"},
    {RCT_ATTRIBUTE, 1, true, "0 N 0 0\n", "attribute missing: storage 0 needs bytes=B"},
    {RCT_ATTRIBUTE, 1, true, "pre 0 0 1\n", "attribute missing"},
    {RCT_ATTRIBUTE, 2, true, "0 N 0 0 bytes=4\n0 N 1 1 s0 off=0\n", "needs sS, off=O and n=N"},
    {RCT_ATTRIBUTE, 2, true, "0 N 0 0 bytes=4\n0 N 1 1 off=0 n=1\n", "needs sS, off=O and n=N"},
    {RCT_ATTRIBUTE, 1, true, "0 N 0 0 bytes=x\n", "'bytes=x' is no attribute"},
    {RCT_ATTRIBUTE, 1, true, "0 N 0 0 bytes=\n", "'bytes=' is no attribute"},
    {RCT_ATTRIBUTE, 1, true, "0 N 0 0 bytes=04\n", "'bytes=04' is no attribute"},
    {RCT_ATTRIBUTE, 1, true, "0 N 0 0 size=4\n", "'size=4' is no attribute"},
    {RCT_ATTRIBUTE, 1, true, "0 N 0 0 bytes=4 bytes=4\n", "bytes= is given twice"},
    {RCT_ATTRIBUTE, 2, true, "0 N 0 0 bytes=4\n0 N 1 1 s0 s0 off=0 n=1\n", "s is given twice"},
    {RCT_ATTRIBUTE, 1, true, "0 N 0 2 s0 off=0 n=1\n", "are for tensors"},
    {RCT_ATTRIBUTE, 1, true, "0 N 0 1 bytes=4\n", "is not for tensors"},
    {RCT_ATTRIBUTE, 1, true, "0 N 0 0  bytes=4\n", "is no attribute"},
    {RCT_STORAGE_NOT_LIVE, 1, true, "0 N 1 1 s0 off=0 n=1\n", "it was never created"},
    {RCT_STORAGE_NOT_LIVE, 3, true, "0 N 0 0 bytes=4\n0 - 0 0\n0 N 1 1 s0 off=0 n=1\n", "it died"},
    {RCT_STORAGE_NOT_LIVE, 4, true, "0 N 0 0 bytes=4\n0 w 0\n0 - 0 0\n0 N 1 1 s0 off=0 n=1\n",
     "it died"},
    {RCT_STORAGE_NOT_LIVE, 1, true, "pre 1 1 1 s0 off=0 n=1\n", "is not live"},
    {RCT_OTHER_KIND, 2, true, "0 N 0 2\n0 N 1 1 s0 off=0 n=1\n", "should be a storage"},
    {RCT_OTHER_KIND, 2, true, "0 N 0 2\n0 d 0 0\n", "should be a storage, its class is 'node'"},
    {RCT_NEVER_CREATED, 1, true, "0 + 5 1\n", "object 5 was never created"},
    {RCT_NEVER_CREATED, 1, true, "0 - 5 1\n", "object 5 was never created"},
    {RCT_NEVER_CREATED, 1, true, "0 w 5\n", "object 5 was never created"},
    {RCT_NEVER_CREATED, 1, true, "0 l 5 1\n", "object 5 was never created"},
    {RCT_DEAD, 3, true, "0 N 0 2\n0 - 0 0\n0 + 0 1\n", "object 0 is used after it died"},
    {RCT_DEAD, 3, true, "0 N 0 2\n0 - 0 0\n0 - 0 0\n", "object 0 is used after it died"},
    {RCT_DEAD, 3, true, "0 N 0 2\n0 - 0 0\n0 w 0\n", "object 0 is used after it died"},
    {RCT_DEAD, 4, true, "0 N 0 2\n0 w 0\n0 - 0 0\n0 + 0 1\n", "only weak handles are left"},
    {RCT_DEAD, 5, true, "0 N 0 0 bytes=4\n0 N 1 1 s0 off=0 n=1\n0 - 0 0\n0 - 1 0\n0 d 0 0\n",
     "object 0"},
    {RCT_ID_REUSED, 2, true, "0 N 0 2\n0 N 0 2\n", "id 0 was used before"},
    {RCT_ID_REUSED, 3, true, "0 N 0 2\n0 - 0 0\n0 N 0 2\n", "id 0 was used before"},
    {RCT_ID_REUSED, 2, true, "pre 9223372036854775807 2 1\n0 N 9223372036854775807 2\n",
     "was used before"},
    {RCT_COUNT, 2, true, "0 N 0 2\n0 + 0 3\n",
     "count of object 0 after the operation should be 2, file says 3"},
    {RCT_COUNT, 2, true, "0 N 0 2\n0 - 0 1\n", "should be 0, file says 1"},
    {RCT_COUNT, 4, true, "0 N 0 0 bytes=4\n0 N 1 1 s0 off=0 n=1\n0 - 1 0\n0 d 0 1\n",
     "should be 0, file says 1"},
    {RCT_COUNT, 2, true, "pre 0 2 4\n0 - 0 4\n", "should be 3, file says 4"},
    {RCT_COUNT, 3, true, "0 N 0 2\n0 l 0 1\n0 - 0 0\n", "should be 1, file says 0"},
    {RCT_NO_WEAK, 2, true, "0 N 0 2\n0 v 0\n", "without a weak handle"},
    {RCT_NO_WEAK, 4, true, "0 N 0 2\n0 w 0\n0 v 0\n0 v 0\n", "without a weak handle"},
    {RCT_LOCK_IMPOSSIBLE, 3, true, "0 N 0 2\n0 w 0\n0 l 0 0\n",
     "object 0 is alive, so the outcome should be 1"},
    {RCT_LOCK_IMPOSSIBLE, 4, true, "0 N 0 2\n0 w 0\n0 - 0 0\n0 l 0 1\n",
     "object 0 is dead, so the outcome should be 0"},
    {RCT_DROP_WITHOUT_OWNER, 2, true, "0 N 0 0 bytes=4\n0 d 0 0\n", "d without a dead owner"},
    {RCT_DROP_WITHOUT_OWNER, 4, true, "0 N 0 0 bytes=4\n0 N 1 1 s0 off=0 n=1\n0 - 1 0\n1 d 0 0\n",
     "on thread 1"},
    {RCT_DROP_WITHOUT_OWNER, 6, true,
     "0 N 0 0 bytes=4\n0 N 1 1 s0 off=0 n=1\n0 + 0 2\n0 - 1 0\n0 d 0 1\n0 d 0 0\n",
     "d without a dead owner"},
    {RCT_NEVER_DROPPED, 4, true, "0 N 0 0 bytes=4\n0 N 1 1 s0 off=0 n=1\n0 - 1 0\nend 3 1\n",
     "tensor 1 died in line 9, but its reference of storage 0 was never dropped"},
    {RCT_NEVER_DROPPED, 5, true,
     "0 N 0 0 bytes=4\n0 N 1 1 s0 off=0 n=1\n0 - 0 0\n0 - 1 0\nend 4 0\n", "never dropped"},
    {RCT_TRUNCATED, 0, false, "", "the file is empty"},
    {RCT_TRUNCATED, 1, false, "rct 1 te", "the first line has no end"},
    {RCT_TRUNCATED, 1, false, "rct 1 text", "the first line has no end"},
    {RCT_TRUNCATED, 1, false, "rct 1 text\n", "without an end record"},
    {RCT_TRUNCATED, 1, true, "0 N 0 2\n", "without an end record"},
    {RCT_TRUNCATED, 2, true, "0 N 0 2\n0 + 0", "the last line has no LF"},
    {RCT_TRUNCATED, 1, true, "end 0 0", "the last line has no LF"},
    {RCT_END_DISAGREES, 2, true, "0 N 0 2\nend 2 1\n",
     "end should say 1 events and 1 live objects"},
    {RCT_END_DISAGREES, 2, true, "0 N 0 2\nend 1 0\n", "file says 1 and 0"},
    {RCT_AFTER_END, 2, true, "end 0 0\n0 N 0 2\n", "data after the end record"},
    {RCT_AFTER_END, 2, true, "end 0 0\n\n", "data after the end record"},
};
enum { REFUSALS = sizeof refusals / sizeof refusals[0] };

START_TEST(refused)
{
    const refusal *r = &refusals[_i];
    char text[2048];
    int size = snprintf(text, sizeof text, "%s%s", r->headed ? HEAD : "", r->text);
    char *exact = malloc((size_t)size + 1); /* so that a sanitizer sees a read behind the end */
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, text, (size_t)size);
    rct_error error = read_all(exact, (size_t)size);
    free(exact);
    ck_assert_msg(error.reason == r->reason, "'%s': expected %s, got %s (%s)", r->text,
                  rct_reason_name(r->reason), rct_reason_name(error.reason), error.message);
    uint64_t line = r->line + (r->headed ? HEAD_LINES : 0);
    ck_assert_msg(error.line == line, "'%s': expected line %" PRIu64 ": %s", r->text, line,
                  error.message);
    ck_assert_msg(strstr(error.message, r->says) != NULL, "'%s' should say '%s': %s", r->text,
                  r->says, error.message);
    char place[64];
    snprintf(place, sizeof place, line == 0 ? "t.rct: " : "t.rct:%" PRIu64 ": ", line);
    ck_assert_msg(strncmp(error.message, place, strlen(place)) == 0, "%s", error.message);
}
END_TEST

START_TEST(every_reason_has_a_test)
{
    bool seen[RCT_REASONS] = {
        [RCT_OK] = true,
        [RCT_CANNOT_READ] = true,   /* files */
        [RCT_NO_MEMORY] = true,     /* cannot be had on demand */
        [RCT_LINE_TOO_LONG] = true, /* long_lines */
        [RCT_COMPRESSED] = true,    /* compressed */
        [RCT_CANNOT_REPLAY] = true, /* replay_plan_test */
    };
    for (int i = 0; i < REFUSALS; i++) {
        seen[refusals[i].reason] = true;
    }
    for (int i = 0; i < RCT_REASONS; i++) {
        ck_assert_msg(seen[i], "no test for the reason %s", rct_reason_name((rct_reason)i));
        for (int k = 0; k < i; k++) {
            ck_assert_str_ne(rct_reason_name((rct_reason)i), rct_reason_name((rct_reason)k));
        }
    }
}
END_TEST

START_TEST(long_lines)
{
    static char text[20000];
    for (int extra = 0; extra <= 1; extra++) {
        size_t used = (size_t)sprintf(text, "%smeta key ", HEAD);
        size_t fill = (size_t)RCT_LINE_MAX - strlen("meta key ") + (size_t)extra;
        memset(text + used, 'x', fill);
        used += fill;
        used += (size_t)sprintf(text + used, "\nend 0 0\n");
        rct_error error = read_all(text, used);
        ck_assert_msg(error.reason == (extra ? RCT_LINE_TOO_LONG : RCT_OK), "%s", error.message);
        ck_assert_uint_eq(error.line, extra ? HEAD_LINES + 1 : 0);
    }
    /* The same in the first line, and without any LF. */
    memset(text, 'y', sizeof text);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes of a longer line, no string. */
    memcpy(text, "rct ", 4);
    ck_assert_int_eq(read_all(text, sizeof text).reason, RCT_LINE_TOO_LONG);
    text[0] = 'R';
    ck_assert_int_eq(read_all(text, sizeof text).reason, RCT_NOT_RCT);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): likewise. */
    memcpy(text, HEAD, strlen(HEAD));
    ck_assert_int_eq(read_all(text, sizeof text).reason, RCT_LINE_TOO_LONG);
}
END_TEST

/* ---- Accepted ---- */

START_TEST(events_are_given_whole)
{
    static const char text[] = HEAD
        "pre 7 0 2 bytes=6144\npre 3 1 1 n=1536 off=2 s7\n5 N 9223372036854775807 2\n5 + 7 3\n9 w 3\n9 l 3 1\n"
        "9 - 3 1\n9 v 3\n5 M step_begin\n5 - 3 0\n5 d 7 2\nclass 4 late\n5 N 1 4\nend 10 3\n";
    rct_error error;
    rct_event e;
    rct_reader *reader = rct_open_memory("t", text, strlen(text), &error);
    ck_assert_ptr_nonnull(reader);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_PRE && e.id == 7 && e.kind == RCT_STORAGE && e.class == 0);
    ck_assert(e.count == 2 && e.bytes == 6144 && e.line == 7 && e.object == 0 &&
              e.storage == RCT_NO_OBJECT);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_PRE && e.id == 3 && e.kind == RCT_TENSOR && e.class == 1);
    ck_assert(e.count == 1 && e.storage == 0 && e.offset == 2 && e.n == 1536 && e.object == 1);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_NEW && e.id == (uint64_t)INT64_MAX && e.kind == RCT_OTHER);
    ck_assert(e.thread_id == 5 && e.thread == 0 && e.count == 1 && e.object == 2);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_RETAIN && e.id == 7 && e.count == 3 && e.object == 0);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_WEAK_NEW && e.thread_id == 9 && e.thread == 1 && e.weak == 1);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_LOCK && e.locked && e.count == 2);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_RELEASE && e.count == 1 && e.storage == RCT_NO_OBJECT);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_WEAK_RELEASE && e.weak == 0);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_MARK && e.thread == 0);
    ck_assert_str_eq(e.mark, "step_begin");
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_RELEASE && e.count == 0 && e.storage == 0);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_DROP && e.id == 7 && e.object == 0 && e.count == 2);
    ck_assert_int_eq(rct_next(reader, &e), 1);
    ck_assert(e.operation == RCT_NEW && e.object == 1); /* the dead tensor's number again */
    ck_assert_str_eq(rct_class_name(reader, e.class), "late");
    ck_assert_ptr_null(rct_class_name(reader, e.class + 1));
    ck_assert_int_eq(rct_next(reader, &e), 0);
    ck_assert_int_eq(rct_next(reader, &e), 0);
    rct_close(reader);
}
END_TEST

START_TEST(sparse_ids)
{
    enum { IDS = 5000 };
    static char text[IDS * 80];
    size_t used = (size_t)sprintf(text, "%s", HEAD);
    for (uint64_t i = 0; i < IDS; i++) {
        uint64_t id = i * UINT64_C(1844674407370955) % (uint64_t)INT64_MAX;
        used += (size_t)sprintf(text + used, "0 N %" PRIu64 " 2\n", id);
        if (i % 3 == 0) {
            used += (size_t)sprintf(text + used, "0 - %" PRIu64 " 0\n", id);
        }
    }
    snprintf(text + used, sizeof text - used, "end %d %d\n", IDS + (IDS + 2) / 3,
             IDS - (IDS + 2) / 3);
    rct_error error = read_all(text, strlen(text));
    ck_assert_msg(error.reason == RCT_OK, "%s", error.message);
    snprintf(text + used, sizeof text - used, "0 N %" PRIu64 " 2\nend 1 1\n",
             UINT64_C(1844674407370955) * 3);
    ck_assert_int_eq(read_all(text, strlen(text)).reason, RCT_ID_REUSED);
}
END_TEST

/* The figures of the project's own recordings, counted by other means. */
START_TEST(recordings)
{
    static const struct {
        const char *name;
        uint64_t events, threads, tensors, storages, tensors_alive, storages_alive;
    } known[] = {
        {"mlp_adam", 9381, 1, 711, 511, 42, 39},
        {"mlp_adam_all", 13824, 1, 711, 511, 42, 39},
        {"tfm_adamw", 32086, 1, 3236, 1284, 195, 167},
        {"tfm_adamw_all", 47515, 1, 3236, 1284, 195, 167},
        {"inf_3threads", 2761, 4, 237, 116, 36, 32},
        {"inf_3threads_all", 4537, 4, 237, 116, 36, 32},
        {"par_2threads", 11208, 3, 790, 430, 47, 40},
        {"par_2threads_all", 19539, 3, 790, 430, 47, 40},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char path[4096];
        rct_summary summary;
        rct_error error;
        snprintf(path, sizeof path, "%s/%s.rct.xz", rcl_trace_dir(), known[i].name);
        ck_assert_msg(rct_check(path, &summary, &error), "%s", error.message);
        ck_assert_uint_eq(summary.events, known[i].events);
        ck_assert_uint_eq(summary.threads, known[i].threads);
        for (uint32_t c = 0; c < summary.class_count; c++) {
            const rct_class_summary *class = &summary.classes[c];
            if (class->kind != RCT_OTHER) {
                bool tensor = class->kind == RCT_TENSOR;
                ck_assert_uint_eq(class->births + class->pre,
                                  tensor ? known[i].tensors : known[i].storages);
                ck_assert_uint_eq(class->most_alive,
                                  tensor ? known[i].tensors_alive : known[i].storages_alive);
            }
        }
        rct_summary_free(&summary);
    }
}
END_TEST

/* ---- Files ---- */

START_TEST(files)
{
    rct_error error;
    rct_summary summary;
    ck_assert(!rct_check("/no/such/file.rct", &summary, &error));
    ck_assert_int_eq(error.reason, RCT_CANNOT_READ);
    ck_assert_ptr_nonnull(strstr(error.message, "/no/such/file.rct: cannot be opened"));
    ck_assert(!rct_check("/tmp", &summary, &error));
    ck_assert_int_eq(error.reason, RCT_CANNOT_READ);
    char longest[900];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    rct_reader *reader = rct_open_memory(longest, "no", 2, &error);
    ck_assert_ptr_nonnull(reader);
    rct_event event;
    ck_assert_int_eq(rct_next(reader, &event), -1);
    ck_assert_ptr_nonnull(
        strstr(rct_reader_error(reader)->message, "not an RCT file")); /* not cut off */
    rct_close(reader);
}
END_TEST

typedef int (*filter_adder)(struct archive *);

/* Compresses into `out`; returns the size. */
static size_t compress(filter_adder add_filter, const char *text, size_t size, char *out,
                       size_t room)
{
    size_t used = 0;
    struct archive *archive = archive_write_new();
    ck_assert_int_eq(add_filter(archive), ARCHIVE_OK);
    archive_write_set_format_raw(archive);
    archive_write_set_bytes_in_last_block(archive, 1);
    ck_assert_int_eq(archive_write_open_memory(archive, out, room, &used), ARCHIVE_OK);
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    ck_assert_int_eq(archive_write_header(archive, entry), ARCHIVE_OK);
    ck_assert_int_eq(archive_write_data(archive, text, size), (la_ssize_t)size);
    archive_entry_free(entry);
    ck_assert_int_eq(archive_write_close(archive), ARCHIVE_OK);
    archive_write_free(archive);
    return used;
}

/* A trace of some length: `events` births and deaths. */
static char *make_trace(unsigned events, size_t *size)
{
    char *text = malloc((size_t)events * 64 + 256);
    ck_assert_ptr_nonnull(text);
    size_t used = (size_t)sprintf(text, "%s", HEAD);
    for (unsigned i = 0; i < events; i++) {
        used += (size_t)sprintf(text + used, "%u N %u 2\n%u + %u 2\n%u - %u 1\n%u - %u 0\n", i % 3,
                                i, i % 3, i, i % 3, i, i % 3, i);
    }
    used += (size_t)sprintf(text + used, "end %u 0\n", events * 4);
    *size = used;
    return text;
}

static const struct {
    filter_adder add;
    const char *name;
} filters[] = {{archive_write_add_filter_xz, "xz"},
               {archive_write_add_filter_zstd, "zstd"},
               {archive_write_add_filter_gzip, "gzip"}};

START_TEST(compressed)
{
    enum { ROOM = 1 << 20 };
    size_t size;
    char *text = make_trace(20000, &size);
    char *packed = malloc(ROOM);
    ck_assert_ptr_nonnull(packed);
    size_t packed_size = compress(filters[_i].add, text, size, packed, ROOM);
    rct_error error = read_all(packed, packed_size);
    ck_assert_msg(error.reason == RCT_OK, "%s: %s", filters[_i].name, error.message);
    /* Cut off anywhere. With a few bytes only it may not be seen what it was. */
    for (size_t cut = 6; cut < packed_size;
         cut += cut < 64 || cut > packed_size - 64 ? 1 : packed_size / 97) {
        error = read_all(packed, cut);
        ck_assert_msg(error.reason == RCT_COMPRESSED, "%s cut to %zu of %zu: %s", filters[_i].name,
                      cut, packed_size, error.message);
    }
    /* A byte changed. The text may tell, by another reason. libarchive writes zstd without a
     * checksum: there a change that makes another correct trace cannot be seen by anybody. */
    int refused_as_compressed = 0;
    bool has_sum = filters[_i].add != archive_write_add_filter_zstd;
    for (size_t at = 20; at < packed_size; at += packed_size / 50) {
        packed[at] = (char)(packed[at] ^ 0x10);
        error = read_all(packed, packed_size);
        ck_assert_msg(error.reason != RCT_OK || !has_sum, "%s with byte %zu changed was accepted",
                      filters[_i].name, at);
        refused_as_compressed += error.reason == RCT_COMPRESSED;
        packed[at] = (char)(packed[at] ^ 0x10);
    }
    ck_assert_int_gt(refused_as_compressed, 0);
    /* An error inside has its line. */
    text[strlen(HEAD)] = 'x';
    packed_size = compress(filters[_i].add, text, size, packed, ROOM);
    error = read_all(packed, packed_size);
    ck_assert_int_eq(error.reason, RCT_UNKNOWN_OPERATION);
    ck_assert_uint_eq(error.line, HEAD_LINES + 1);
    packed_size = compress(filters[_i].add, "", 0, packed, ROOM);
    ck_assert_int_eq(read_all(packed, packed_size).reason, RCT_TRUNCATED);
    free(packed);
    free(text);
}
END_TEST

/* Only the sum tells: a letter of a mark, changed before packing, with the old sum put behind. */
START_TEST(gzip_sum_is_checked)
{
    static const char one[] = HEAD "0 M aaaa\nend 1 0\n";
    static const char two[] = HEAD "0 M aaab\nend 1 0\n";
    char packed_one[1024], packed_two[1024];
    size_t size_one =
        compress(archive_write_add_filter_gzip, one, strlen(one), packed_one, sizeof packed_one);
    size_t size_two =
        compress(archive_write_add_filter_gzip, two, strlen(two), packed_two, sizeof packed_two);
    ck_assert_int_eq(read_all(packed_two, size_two).reason, RCT_OK);
    memcpy(packed_two + size_two - 8, packed_one + size_one - 8, 8);
    ck_assert_int_eq(read_all(packed_two, size_two).reason, RCT_COMPRESSED);
}
END_TEST

START_TEST(lines_across_buffers)
{
    size_t size;
    char *text = make_trace(60000, &size); /* several of the reader's buffers */
    ck_assert_uint_gt(size, 3 * 256 * 1024);
    char path[] = "/tmp/rct_test_XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, size), (ssize_t)size);
    rct_summary summary;
    rct_error error;
    ck_assert_msg(rct_check(path, &summary, &error), "%s", error.message);
    ck_assert_uint_eq(summary.events, 240000);
    ck_assert_uint_eq(summary.threads, 3);
    ck_assert_uint_eq(summary.most_alive, 1);
    ck_assert_uint_eq(summary.most_objects, 1);
    ck_assert_uint_eq(summary.bytes_read, size);
    rct_summary_free(&summary);
    close(file);
    remove(path);
    free(text);
}
END_TEST

/* ---- Damaged at random ---- */

static uint64_t seed_state;

static uint64_t next_random(void)
{
    seed_state ^= seed_state >> 12;
    seed_state ^= seed_state << 25;
    seed_state ^= seed_state >> 27;
    return seed_state * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t first_seed(void)
{
    const char *named = getenv("RCLAB_SEED");
    uint64_t seed =
        named != NULL ? strtoull(named, NULL, 0) : (uint64_t)time(NULL) * 2654435761u + 1;
    printf("seed: RCLAB_SEED=%" PRIu64 "\n", seed);
    return seed == 0 ? 1 : seed;
}

/* Changes `text` in place or makes it shorter or longer; room for twice the size. Returns the size. */
static size_t damage(char *text, size_t size)
{
    size_t at = (size_t)(next_random() % size);
    char *line = text + at;
    while (line > text && line[-1] != '\n') {
        line--;
    }
    char *line_end = memchr(line, '\n', size - (size_t)(line - text));
    size_t length = line_end == NULL ? size - (size_t)(line - text) : (size_t)(line_end + 1 - line);
    size_t behind = size - (size_t)(line - text) - length;
    static const char letters[] = "0123456789 +-NdwvlMse=\n\r";
    switch (next_random() % 7) {
    case 0:
        text[at] = (char)(text[at] ^ (1 << next_random() % 8));
        return size;
    case 1:
        text[at] = letters[next_random() % (sizeof letters - 1)];
        return size;
    case 2:
        memmove(text + at, text + at + 1, size - at - 1);
        return size - 1;
    case 3: /* a line twice */
        memmove(line + length, line, length + behind);
        return size + length;
    case 4: /* a line gone */
        memmove(line, line + length, behind);
        return size - length;
    case 5: /* a line to the end */
        memmove(line + length + behind, line, length);
        memmove(line, line + length, behind + length);
        return size;
    default:
        return at;
    }
}

START_TEST(damaged_at_random)
{
    seed_state = first_seed();
    char path[4096];
    snprintf(path, sizeof path, "%s/inf_3threads_all.rct.xz", rcl_trace_dir());
    static char whole[1 << 17];
    struct archive *archive = archive_read_new();
    archive_read_support_filter_xz(archive);
    archive_read_support_format_raw(archive);
    struct archive_entry *entry;
    ck_assert_int_eq(archive_read_open_filename(archive, path, 1 << 14), ARCHIVE_OK);
    ck_assert_int_eq(archive_read_next_header(archive, &entry), ARCHIVE_OK);
    la_ssize_t got = archive_read_data(archive, whole, sizeof whole);
    ck_assert_int_gt(got, 10000);
    archive_read_free(archive);
    size_t whole_size = (size_t)got;
    int reasons[RCT_REASONS] = {0};
    for (int round = 0; round < 1500; round++) {
        /* A prefix that is short in most rounds, so that damage is spread over all kinds of records. */
        char *text = malloc(whole_size * 2);
        ck_assert_ptr_nonnull(text);
        memcpy(text, whole, whole_size);
        size_t size = whole_size;
        for (uint64_t times = 1 + next_random() % 3; times > 0 && size > 0; times--) {
            size = damage(text, size);
        }
        char *exact = malloc(size + 1);
        ck_assert_ptr_nonnull(exact);
        memcpy(exact, text, size);
        rct_error error = read_all(exact, size);
        reasons[error.reason]++;
        ck_assert_uint_lt((unsigned)error.reason, RCT_REASONS);
        ck_assert((error.reason == RCT_OK) == (error.message[0] == '\0'));
        ck_assert_int_ne(error.reason, RCT_NO_MEMORY);
        free(exact);
        free(text);
    }
    ck_assert_int_lt(reasons[RCT_OK], 400); /* a byte of a mark or of meta may change unseen */
    ck_assert_int_gt(reasons[RCT_COUNT], 0);
    ck_assert_int_gt(reasons[RCT_TRUNCATED], 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rct");
    TCase *cases = tcase_create("reader");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, refused, 0, REFUSALS);
    tcase_add_test(cases, every_reason_has_a_test);
    tcase_add_test(cases, long_lines);
    tcase_add_test(cases, events_are_given_whole);
    tcase_add_test(cases, sparse_ids);
    tcase_add_test(cases, recordings);
    tcase_add_test(cases, files);
    tcase_add_loop_test(cases, compressed, 0, sizeof filters / sizeof filters[0]);
    tcase_add_test(cases, gzip_sum_is_checked);
    tcase_add_test(cases, lines_across_buffers);
    tcase_add_test(cases, damaged_at_random);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
