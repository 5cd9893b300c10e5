/* battery: what a scenario is made of.
 *
 * A scenario is a small program over one implementation that puts one clause to the test: it sets up,
 * lets up to four threads do a few operations each, and checks. It is written once, and every engine
 * that can runs it: natively with delays and many rounds, under sanitizers, and exhaustively. So it
 * knows nothing of engines: no loops that wait, no time, no printing, nothing random.
 *
 * Included by battery.c after contract.h and the implementation.
 */
#ifndef RCB_BATTERY_H
#define RCB_BATTERY_H

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "verdict.h"

enum { RCB_THREADS_MAX = 4, RCB_OBJECTS = 8, RCB_HANDLES = 12, RCB_VALUES = 16 };

typedef struct rcb_world rcb_world;

/* The payload of the battery's objects. */
typedef struct rcb_payload {
    rcb_world *world;
    uint32_t id;                     /* below RCB_OBJECTS */
    uint32_t canary;                 /* RCB_CANARY while the payload may be read */
    uint64_t field[RCB_THREADS_MAX]; /* plain: field[i] is written by thread i only */
    rc_strong child;                 /* released by finalize */
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak; /* released by finalize */
#endif
} rcb_payload;

#define RCB_CANARY UINT32_C(0x5afec0de)

/* What a scenario works on. Zeroed before each round; handles are null. Each thread uses the handles
 * and values that the scenario gives it; plain fields that two threads use need an order, as always. */
struct rcb_world {
    rc_strong strong[RCB_HANDLES];
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak[RCB_HANDLES];
#endif
    void *raw[4];
    uint64_t value[RCB_VALUES];

    /* Kept by the class's hooks. Plain: finalize of one object runs once, so nobody else writes it. */
    uint32_t finalized[RCB_OBJECTS];    /* how often */
    uint32_t finalized_by[RCB_OBJECTS]; /* thread index + 1; main, before and after: RCB_MAIN + 1 */
    uint64_t seen[RCB_OBJECTS][RCB_THREADS_MAX]; /* field[] as finalize saw it */

    /* Hooks of one object may run on several threads at once. RELAXED: read after the join. */
    _Atomic(uint32_t) wrapper_retains[RCB_OBJECTS], wrapper_releases[RCB_OBJECTS];
    _Atomic(uint32_t) wrapper_tries[RCB_OBJECTS];
    _Atomic(uint32_t) refuse_tries; /* wrapper_try_retain says false while this is not 0 */

    /* Called inside finalize, before the payload's own handles are released; may be NULL. */
    void (*on_finalize)(rcb_payload *payload);
    /* Called inside the wrapper's hooks; may be NULL. */
    void (*on_wrapper_retain)(rcb_payload *payload);
    void (*on_wrapper_release)(rcb_payload *payload);
};

enum { RCB_MAIN = 100 };

typedef void (*rcb_step)(rcb_world *world);

typedef enum rcb_flags {
    RCB_KEEPS_MEMORY = 1, /* live blocks are left on purpose: a saturated count */
    RCB_HEAVY = 2,        /* long or large: one round, no exhaustive search */
    RCB_ONE_ROUND = 4,    /* sequential already: more rounds show nothing new */
    RCB_OWN_HEAP = 8,     /* calls rcb_heap_reset itself, for refusal or placement */
    RCB_FORKS = 16,       /* makes processes: not under the exhaustive search */
    RCB_TRAPS_ALWAYS = 32 /* the trap must come in unchecked builds too (RC_OVERFLOW_TRAP) */
} rcb_flags;

typedef struct rcb_scenario {
    const char *clause; /* "ORDER-02": the one that fails if it fails */
    const char *name;   /* what is done, in words_like_this */
    unsigned needs;     /* RC_CAP_ bits beyond the clause's */
    int trap;           /* rc_trap_kind that must come (checked builds only), or 0 */
    unsigned flags;
    rcb_step setup;                   /* on main */
    rcb_step thread[RCB_THREADS_MAX]; /* run at the same time; those up to the first NULL */
    rcb_step check;                   /* on main, after the join; releases what is left. Or NULL. */
} rcb_scenario;

/* The index of the calling thread of a scenario; RCB_MAIN in setup and check. */
static inline uint32_t rcb_thread_index(void);

/* ---- Saying what must hold ---- */

/* If `condition` is false, the clause fails: `expected` is a sentence part ("finalize runs once"), the
 * rest a format of what came. */
#define RCB_EXPECT(condition, expected, ...)                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            char rcb_came[256];                                                                    \
            snprintf(rcb_came, sizeof rcb_came, __VA_ARGS__);                                      \
            rcb_fail(__FILE__, __LINE__, expected, rcb_came);                                      \
        }                                                                                          \
    } while (0)

#define RCB_EXPECT_EQ(actual, wanted, what)                                                        \
    do {                                                                                           \
        uint64_t rcb_actual = (uint64_t)(actual);                                                  \
        uint64_t rcb_wanted = (uint64_t)(wanted);                                                  \
        if (rcb_actual != rcb_wanted) {                                                            \
            char rcb_expected[256];                                                                \
            char rcb_came[256];                                                                    \
            snprintf(rcb_expected, sizeof rcb_expected, "%s: %" PRIu64, what, rcb_wanted);         \
            snprintf(rcb_came, sizeof rcb_came, "%" PRIu64, rcb_actual);                           \
            rcb_fail(__FILE__, __LINE__, rcb_expected, rcb_came);                                  \
        }                                                                                          \
    } while (0)

#define RCB_EXPECT_TRUE(actual, what)                                                              \
    RCB_EXPECT((actual), what, "the opposite: %s is false", #actual)
#define RCB_EXPECT_FALSE(actual, what)                                                             \
    RCB_EXPECT(!(actual), what, "the opposite: %s is true", #actual)

/* ---- Objects ---- */

/* Finalize and the wrapper's hooks count in the world. */
extern const rc_class rcb_class;       /* no wrapper hooks */
extern const rc_class rcb_wrapped;     /* wrapper_retain, wrapper_release, no try */
extern const rc_class rcb_wrapped_try; /* all three */

/* A new object with this id, its payload set up. Fails the test if it is null. */
static inline rc_strong rcb_new_of(rcb_world *world, const rc_class *class, uint32_t id);
static inline rc_strong rcb_new(rcb_world *world, uint32_t id);

static inline rcb_payload *rcb_payload_of(rc_strong handle);

/* Finishes what is put off on this thread, where an implementation puts off: call it in a check before
 * looking at finalizers. */
static inline void rcb_settle(void);

#endif
