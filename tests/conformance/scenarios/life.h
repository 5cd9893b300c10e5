/* LIFE: birth, retain, release, death, counts, uniqueness, slots.
 *
 * One thread, but for LIFE-05. The checks that come first serve the other areas too.
 */

/* ---- Checks ---- */

#define LIFE_EXACT (((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) != 0)

/* The object has not died and will not. Not from a hook: what was put off is finished first. */
static inline void life_expect_alive(const rcb_world *world, uint32_t id, const char *expected)
{
    rcb_settle();
    RCB_EXPECT(world->finalized[id] == 0, expected,
               "object %" PRIu32 " was finalized %" PRIu32 " times", id, world->finalized[id]);
}

/* The object has died, once. Not from a hook. */
static inline void life_expect_died(const rcb_world *world, uint32_t id, const char *expected)
{
    rcb_settle();
    RCB_EXPECT(world->finalized[id] == 1, expected,
               "object %" PRIu32 " was finalized %" PRIu32 " times", id, world->finalized[id]);
}

/* Counts, where the implementation says that they are exact. */
static inline void life_expect_strong(rc_strong handle, uint64_t wanted, const char *what)
{
    if (LIFE_EXACT) {
        RCB_EXPECT_EQ(rc_use_count(handle), wanted, what);
    }
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static inline void life_expect_weak(rc_strong handle, uint64_t wanted, const char *what)
{
    if (LIFE_EXACT) {
        RCB_EXPECT_EQ(rc_weak_count(handle), wanted, what);
    }
}
#endif

/* The handle lends the payload that rcb_new set up, and nobody has written over it. */
static inline void life_expect_payload(rc_strong handle, uint32_t id)
{
    const rcb_payload *payload = rcb_payload_of(handle);
    RCB_EXPECT(payload != NULL, "a handle of an object lends its payload", "NULL");
    RCB_EXPECT(payload->canary == RCB_CANARY && payload->id == id, "the payload stays as written",
               "canary %08" PRIx32 " and id %" PRIu32 " of object %" PRIu32, payload->canary,
               payload->id, id);
}

/* Nothing of any object is left. Not from a hook. */
static inline void life_expect_no_memory(const char *expected)
{
    rcb_settle();
    RCB_EXPECT(rcb_heap_live_blocks() == 0, expected,
               "%" PRIu64 " blocks with %" PRIu64 " bytes are live", rcb_heap_live_blocks(),
               rcb_heap_live_bytes());
}

/* ---- LIFE-01 ---- */

/* A new object is asked for its counts and released once: shows counts that start at 0 or 2. */
static void life_new_counts(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    life_expect_strong(object, 1, "strong references of a new object");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    life_expect_weak(object, 0, "weak references of a new object");
#endif
    rc_release(object);
    life_expect_died(world, 0, "a new object dies at its first release");
    life_expect_no_memory("a new object has no weak reference that could keep its memory");
}

/* The second object after one that had many references: shows a count taken over from freed
 * memory. */
static void life_new_after_others(rcb_world *world)
{
    rc_strong first = rcb_new(world, 0);
    rc_strong copies[3] = {rc_retain(first), rc_retain(first), rc_retain(first)};
    rc_release(first);
    for (unsigned i = 0; i < 3; i++) {
        rc_release(copies[i]);
    }
    rcb_settle();
    rc_strong second = rcb_new(world, 1);
    life_expect_strong(second, 1, "strong references of the object made next");
    life_expect_alive(world, 1, "a new object lives while its handle is held");
    rc_release(second);
    life_expect_died(world, 1, "the object made next dies at its first release");
}

/* ---- LIFE-02 ---- */

/* Two handles, released in the order they were made: shows a death at the first release, or
 * none. */
static void life_two_releases(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_strong copy = rc_retain(object);
    rc_release(object);
    life_expect_alive(world, 0, "an object lives while a second handle is held");
    life_expect_payload(copy, 0);
    rc_release(copy);
    life_expect_died(world, 0, "the release of the last handle finalizes");
}

/* Three handles, released in every order: shows one that takes the maker's handle for the last. */
static void life_every_order(rcb_world *world)
{
    static const unsigned orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (uint32_t id = 0; id < 6; id++) {
        rc_strong object = rcb_new(world, id);
        rc_strong handles[3] = {object, rc_retain(object), rc_retain(object)};
        for (unsigned i = 0; i < 3; i++) {
            life_expect_alive(world, id, "an object lives while a handle is held");
            life_expect_payload(handles[orders[id][i]], id);
            rc_release(handles[orders[id][i]]);
        }
        life_expect_died(world, id, "the third of three releases finalizes");
    }
}

/* From one handle to two and back, often: shows a count that drifts. */
static void life_up_and_down(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    for (unsigned i = 0; i < 300; i++) {
        rc_release(rc_retain(object));
        RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while the first handle is held");
    }
    life_expect_strong(object, 1, "strong references after as many releases as retains");
    rc_release(object);
    life_expect_died(world, 0, "the release of the last handle finalizes");
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* Two strong and two weak handles: shows a death that waits for the weak ones, or that counts them
 * as strong. */
static void life_releases_beside_weak(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak[2] = {rc_weak_new(object), rc_weak_new(object)};
    rc_strong copy = rc_retain(object);
    rc_release(copy);
    life_expect_alive(world, 0, "an object lives while a strong handle is held");
    rc_weak_release(weak[0]);
    life_expect_alive(world, 0, "a weak release does not finalize");
    rc_release(object);
    life_expect_died(world, 0, "the release of the last strong handle finalizes");
    rc_weak_release(weak[1]);
    life_expect_died(world, 0, "a weak release does not finalize");
}
#endif

/* The last handle goes by way of a slot: shows an rc_reset or rc_assign that forgets the old
 * one. */
static void life_slots_release(rcb_world *world)
{
    rc_strong slot = rcb_new(world, 0);
    rc_assign(&slot, rcb_new(world, 1));
    life_expect_died(world, 0, "rc_assign releases what the slot held");
    life_expect_alive(world, 1, "rc_assign keeps the new value");
    rc_reset(&slot);
    RCB_EXPECT_TRUE(rc_is_null(slot), "rc_reset leaves null");
    life_expect_died(world, 1, "rc_reset releases what the slot held");
}

/* ---- LIFE-03 ---- */

/* Eight objects with different numbers of handles: shows a finalize left out or run again. */
static void life_each_once(rcb_world *world)
{
    for (uint32_t id = 0; id < RCB_OBJECTS; id++) {
        rc_strong object = rcb_new(world, id);
        rc_strong copies[3];
        for (unsigned i = 0; i < id % 4; i++) {
            copies[i] = rc_retain(object);
        }
        for (unsigned i = 0; i < id % 4; i++) {
            rc_release(copies[i]);
        }
        rc_release(object);
    }
    for (uint32_t id = 0; id < RCB_OBJECTS; id++) {
        life_expect_died(world, id, "every object is finalized once");
    }
    rcb_settle();
    for (uint32_t id = 0; id < RCB_OBJECTS; id++) {
        life_expect_died(world, id, "quiescing again finalizes nothing again");
    }
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* A dead object is locked, weakly retained and released: shows a second finalize with the
 * memory. */
static void life_once_beside_weak(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(object);
    rc_release(object);
    life_expect_died(world, 0, "the last strong release finalizes");
    rc_weak copy = rc_weak_retain(weak);
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)), "a lock of a dead object gives null");
    rc_weak_release(weak);
    life_expect_died(world, 0, "neither lock nor weak release finalizes again");
    rc_weak_release(copy);
    life_expect_died(world, 0, "the last weak release does not finalize again");
}
#endif

/* ---- LIFE-04 ---- */

/* Four handles from one another: shows a retain that adds nothing or two, gives another object, or
 * takes the handle given. */
static void life_retain_adds_one(rcb_world *world)
{
    rc_strong handles[5] = {rcb_new(world, 0)};
    for (unsigned i = 1; i < 5; i++) {
        handles[i] = rc_retain(handles[i - 1]);
        RCB_EXPECT_FALSE(rc_is_null(handles[i]), "rc_retain of an object gives no null");
        RCB_EXPECT(rc_payload(handles[i]) == rc_payload(handles[0]),
                   "rc_retain gives the same object", "another payload");
        life_expect_strong(handles[0], i + 1, "strong references after a retain");
    }
    for (unsigned i = 0; i < 4; i++) {
        rc_release(handles[i]);
        life_expect_alive(world, 0, "as many releases as retains leave the object alive");
        life_expect_payload(handles[4], 0);
    }
    rc_release(handles[4]);
    life_expect_died(world, 0, "one release more than retains is the last");
}

/* The copy goes first, then the handle given, again and again: shows a retain from a count of 1
 * that differs from one above. */
static void life_given_stays(rcb_world *world)
{
    rc_strong given = rcb_new(world, 0);
    for (unsigned i = 0; i < 3; i++) {
        rc_strong second = rc_retain(given);
        rc_strong third = rc_retain(given);
        rc_release(second);
        life_expect_strong(given, 2, "strong references after two retains and a release");
        rc_release(third);
        life_expect_alive(world, 0, "the handle given to rc_retain stays its owner's");
        life_expect_payload(given, 0);
    }
    rc_release(given);
    life_expect_died(world, 0, "the handle given to rc_retain is released like any other");
}

/* ---- LIFE-05 ---- */
#if (RC_IMPL_CAPS) & RC_CAP_IMMEDIATE

/* Parent and child die by one release, and nothing is settled: shows a finalize that is put off. */
static void life_at_once(rcb_world *world)
{
    rc_strong parent = rcb_new(world, 0);
    rcb_payload_of(parent)->child = rcb_new(world, 1);
    rc_release(parent);
    for (uint32_t id = 0; id < 2; id++) {
        RCB_EXPECT_EQ(world->finalized[id], 1,
                      "finalizers when the outermost release has returned");
        RCB_EXPECT_EQ(world->finalized_by[id], 1, "the thread (1) that finalized");
    }
}

/* The same on the way of counts above 1, and through a slot: shows one path that puts off. */
static void life_at_once_shared(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_strong copy = rc_retain(object);
    rc_release(object);
    rc_release(copy);
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers when the last of two releases has returned");
    rc_strong slot = rcb_new(world, 1);
    rc_reset(&slot);
    RCB_EXPECT_EQ(world->finalized[1], 1, "finalizers when rc_reset has returned");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    object = rcb_new(world, 2);
    rc_weak weak = rc_weak_new(object);
    copy = rc_weak_lock(weak);
    rc_release(object);
    rc_release(copy);
    RCB_EXPECT_EQ(world->finalized[2], 1, "finalizers when a locked handle's release has returned");
    rc_weak_release(weak);
#endif
}

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
/* value[i]: thread i is inside rc_release. */
static void life_finalize_inside_release(rcb_payload *payload)
{
    uint32_t thread = rcb_thread_index();
    RCB_EXPECT(thread < RCB_THREADS_MAX, "finalize runs on a thread that released the object",
               "it runs on main");
    RCB_EXPECT_EQ(payload->world->value[thread], 1, "this thread is inside rc_release (1)");
}

static void life_setup_own_and_shared(rcb_world *world)
{
    world->on_finalize = life_finalize_inside_release;
    for (uint32_t id = 0; id < 3; id++) {
        world->strong[id] = rcb_new(world, id);
        rc_share(world->strong[id]);
    }
    world->strong[3] = rc_retain(world->strong[2]);
}

/* Thread i releases the only handle of object i, and one of the two of object 2. */
static void life_release_own_and_shared(rcb_world *world)
{
    uint32_t self = rcb_thread_index();
    world->value[self] = 1;
    rc_release(world->strong[self]);
    world->value[self] = 0;
    RCB_EXPECT_EQ(world->finalized[self], 1, "finalizers when the only handle's release returned");
    RCB_EXPECT_EQ(world->finalized_by[self], self + 1, "the thread that finalized, from 1 on");
    world->value[self] = 1;
    rc_release(world->strong[2 + self]);
    world->value[self] = 0;
}

static void life_check_own_and_shared(rcb_world *world)
{
    for (uint32_t id = 0; id < 3; id++) {
        RCB_EXPECT_EQ(world->finalized[id], 1, "finalizers after the threads have ended");
    }
}
#endif
#endif

/* ---- LIFE-06 ---- */

/* The payload is written through one handle and read through others while counts move, then seen by
 * finalize: shows an address that moves and a count or link kept in the payload. */
static void life_payload_stays(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rcb_payload *payload = rcb_payload_of(object);
    for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
        payload->field[i] = UINT64_C(0x1111111111111111) * (i + 1);
    }
    rc_strong copies[3];
    for (unsigned i = 0; i < 3; i++) {
        copies[i] = rc_retain(object);
        rc_share(copies[i]);
        RCB_EXPECT(rc_payload(copies[i]) == payload, "every handle lends one address", "another");
    }
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(object);
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT(rc_payload(locked) == payload, "a locked handle lends that address", "another");
    rc_release(object);
    object = locked;
    rc_weak_release(weak);
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    rc_strong from_raw = rc_from_raw(rc_into_raw(object));
    RCB_EXPECT(rc_payload(from_raw) == payload, "an adopted handle lends that address", "another");
    object = from_raw;
#endif
    rc_release(object);
    rc_release(copies[1]);
    rc_release(copies[0]);
    RCB_EXPECT(rc_payload(copies[2]) == payload, "the last handle lends that address", "another");
    life_expect_payload(copies[2], 0);
    for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
        RCB_EXPECT_EQ(payload->field[i], UINT64_C(0x1111111111111111) * (i + 1),
                      "what was written to the payload");
    }
    rc_release(copies[2]);
    life_expect_died(world, 0, "the last release finalizes");
    for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
        RCB_EXPECT_EQ(world->seen[0][i], UINT64_C(0x1111111111111111) * (i + 1),
                      "what finalize sees in the payload");
    }
}

/* ---- LIFE-07 ---- */
#if (RC_IMPL_CAPS) & RC_CAP_EXACT_COUNT

/* Up to five handles and down, beside weak ones: shows a count that adds the weak, or says no more
 * than "some". */
static void life_counts_follow(rcb_world *world)
{
    rc_strong handles[5] = {rcb_new(world, 0)};
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak[2] = {rc_weak_new(handles[0]), rc_weak_new(handles[0])};
#endif
    for (unsigned i = 1; i < 5; i++) {
        handles[i] = rc_retain(handles[0]);
        RCB_EXPECT_EQ(rc_use_count(handles[i]), i + 1, "strong references on the way up");
        RCB_EXPECT_EQ(rc_use_count(handles[0]), i + 1, "the same, asked through another handle");
    }
    for (unsigned i = 4; i > 0; i--) {
        rc_release(handles[i]);
        RCB_EXPECT_EQ(rc_use_count(handles[0]), i, "strong references on the way down");
    }
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_strong locked = rc_weak_lock(weak[0]);
    RCB_EXPECT_EQ(rc_use_count(locked), 2, "strong references after a lock");
    rc_release(locked);
    rc_weak_release(weak[0]);
    rc_weak_release(weak[1]);
    RCB_EXPECT_EQ(rc_use_count(handles[0]), 1, "strong references after the weak ones went");
#endif
    rc_release(handles[0]);
}

enum { LIFE_MANY = 70000 };

/* Seventy thousand handles at once: shows a count of 8 or 16 bits, in the word or in the answer. */
static void life_counts_many(rcb_world *world)
{
    static rc_strong handles[LIFE_MANY];
    const uint64_t max = RC_IMPL_STRONG_MAX;
    const unsigned many = max < LIFE_MANY ? (unsigned)max : LIFE_MANY;
    handles[0] = rcb_new(world, 0);
    for (unsigned i = 1; i < many; i++) {
        handles[i] = rc_retain(handles[0]);
        if (((i + 1) & 0xff) == 0 || i + 1 == many) {
            RCB_EXPECT_EQ(rc_use_count(handles[0]), i + 1, "strong references on the way up");
        }
    }
    for (unsigned i = many; i > 1; i--) {
        rc_release(handles[i - 1]);
        RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while a handle is held");
        if ((i & 0xff) == 0) {
            RCB_EXPECT_EQ(rc_use_count(handles[0]), i - 1, "strong references on the way down");
        }
    }
    rc_release(handles[0]);
    life_expect_died(world, 0, "the release of the last of many handles finalizes");
}

#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET
static const uint64_t life_widths[] = {2,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x100,
                                       0x101,
                                       0x7fff,
                                       0x8000,
                                       0xffff,
                                       0x10000,
                                       0x10001,
                                       0xffffff,
                                       0x1000000,
                                       0x3fffffff,
                                       0x40000000,
                                       0x7ffffffe,
                                       0x7fffffff,
                                       0x80000000,
                                       0x80000001,
                                       0xfffffffe,
                                       0xffffffff,
                                       UINT64_C(0x100000000),
                                       UINT64_C(0x100000001),
                                       UINT64_C(0x7fffffffffffffff)};

enum { LIFE_WIDTHS = sizeof life_widths / sizeof life_widths[0] };

/* Counts set to every width below the limit: shows an answer that is cut or signed. */
static void life_counts_wide(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    for (unsigned i = 0; i < LIFE_WIDTHS; i++) {
        if (life_widths[i] >= RC_IMPL_STRONG_MAX) {
            continue;
        }
        rc_test_preset(object, life_widths[i], 0);
        RCB_EXPECT_EQ(rc_use_count(object), life_widths[i], "strong references, set by the test");
        life_expect_payload(object, 0);
    }
    rc_test_preset(object, 1, 0);
    rc_release(object);
    life_expect_died(world, 0, "set back to one reference, a release finalizes");
}
#endif

/* ---- LIFE-08 ---- */

/* New, and again after everything that made it shared has gone: shows one that never says true, or
 * that never says so again. */
static void life_unique_again(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    RCB_EXPECT_TRUE(rc_is_unique(object), "a new object is unique");
    rc_release(rc_retain(object));
    RCB_EXPECT_TRUE(rc_is_unique(object), "unique again after a second handle went");
    rc_strong copy = rc_retain(object);
    rc_release(object);
    object = copy;
    RCB_EXPECT_TRUE(rc_is_unique(object), "unique through whichever handle is left");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(object);
    rc_weak_release(rc_weak_retain(weak));
    rc_release(rc_weak_lock(weak));
    rc_weak_release(weak);
    RCB_EXPECT_TRUE(rc_is_unique(object), "unique again after the weak handles went");
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    object = rc_from_raw(rc_into_raw(object));
    rc_release(rc_retain_raw(rc_payload(object)));
    RCB_EXPECT_TRUE(rc_is_unique(object), "unique again after a raw round trip");
#endif
    rc_share(object);
    RCB_EXPECT_TRUE(rc_is_unique(object), "announcing another thread makes no handle");
    rc_release(object);
}
#endif

/* ---- LIFE-09 ---- */

/* A second handle by retain, asked through both: shows one that looks at its own handle only. */
static void life_not_unique(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_strong second = rc_retain(object);
    rc_strong third = rc_retain(object);
    RCB_EXPECT_FALSE(rc_is_unique(object), "not unique with three strong handles");
    rc_release(third);
    RCB_EXPECT_FALSE(rc_is_unique(object), "not unique with two strong handles");
    RCB_EXPECT_FALSE(rc_is_unique(second), "not unique, asked through the second");
    rc_release(object);
    rc_release(second);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The second handle comes from a lock whose weak handle goes: shows one that knows retain only. */
static void life_not_unique_by_lock(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(object);
    rc_strong locked = rc_weak_lock(weak);
    rc_weak_release(weak);
    RCB_EXPECT_FALSE(rc_is_unique(object), "not unique while a locked handle is held");
    RCB_EXPECT_FALSE(rc_is_unique(locked), "not unique, asked through the locked handle");
    rc_release(object);
    rc_release(locked);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW
/* The second unit travels as a bare pointer: shows one that counts handles and not units. */
static void life_not_unique_by_raw(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    void *raw = rc_into_raw(rc_retain(object));
    RCB_EXPECT_FALSE(rc_is_unique(object), "not unique while a unit travels as a bare pointer");
    rc_release(rc_from_raw(raw));
    rc_strong second = rc_retain_raw(rc_payload(object));
    RCB_EXPECT_FALSE(rc_is_unique(object), "not unique after rc_retain_raw");
    rc_release(object);
    rc_release(second);
}
#endif

#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET && ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT)
/* Counts whose low bits read 1: shows a comparison of a part of the count. */
static void life_not_unique_wide(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    for (unsigned bit = 1; bit < 64; bit++) {
        uint64_t strong = (UINT64_C(1) << bit) + 1;
        if (strong >= RC_IMPL_STRONG_MAX) {
            break;
        }
        rc_test_preset(object, strong, 0);
        RCB_EXPECT(!rc_is_unique(object), "not unique with many strong references",
                   "unique with %" PRIu64, strong);
    }
    rc_test_preset(object, 1, 0);
    rc_release(object);
}
#endif

/* ---- LIFE-10 ---- */
#if (RC_IMPL_CAPS) & RC_CAP_WEAK

/* One strong handle beside one, two and one weak: shows one that looks at strong only. */
static void life_not_unique_by_weak(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(object);
    RCB_EXPECT_FALSE(rc_is_unique(object), "not unique with a weak handle");
    rc_weak copy = rc_weak_retain(weak);
    RCB_EXPECT_FALSE(rc_is_unique(object), "not unique with two weak handles");
    rc_weak_release(weak);
    RCB_EXPECT_FALSE(rc_is_unique(object), "not unique with the retained weak handle");
    rc_release(rc_weak_lock(copy));
    RCB_EXPECT_FALSE(rc_is_unique(object), "not unique after a lock came and went");
    rc_weak_release(copy);
    rc_release(object);
}

#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET
/* Weak counts whose low bits read 0: shows a comparison of a part of the word. */
static void life_not_unique_by_weak_wide(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t weak = UINT64_C(1) << bit;
        if (weak >= RC_IMPL_WEAK_MAX) {
            break;
        }
        rc_test_preset(object, 1, weak);
        RCB_EXPECT(!rc_is_unique(object), "not unique with many weak references",
                   "unique with %" PRIu64, weak);
    }
    rc_test_preset(object, 1, 0);
    rc_release(object);
}
#endif
#endif

/* ---- LIFE-11 ---- */

/* value[0]: finalize of object 0 saw the slot strong[0] as it has to be. */
static void life_look_at_slot(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    if (payload->id == 0) {
        world->value[0] = rc_payload(world->strong[0]) == rc_payload(world->strong[1]) ? 1 : 2;
    }
}

/* Finalize of the old value reads the slot: shows an assignment that lets go before it stores. */
static void life_assign_first(rcb_world *world)
{
    world->on_finalize = life_look_at_slot;
    world->strong[0] = rcb_new(world, 0);
    world->strong[1] = rcb_new(world, 1);
    rc_assign(&world->strong[0], rc_retain(world->strong[1]));
    life_expect_died(world, 0, "rc_assign releases what the slot held");
    RCB_EXPECT_EQ(world->value[0], 1, "finalize sees the new value in the slot (1)");
    life_expect_strong(world->strong[1], 2, "strong references, one of them in the slot");
    rc_reset(&world->strong[0]);
    rc_reset(&world->strong[1]);
    life_expect_died(world, 1, "both slots gave up the new value");
}

/* The same with rc_reset: finalize has to see null. */
static void life_reset_first(rcb_world *world)
{
    world->on_finalize = life_look_at_slot; /* strong[1] is null */
    world->strong[0] = rcb_new(world, 0);
    rc_reset(&world->strong[0]);
    life_expect_died(world, 0, "rc_reset releases what the slot held");
    RCB_EXPECT_EQ(world->value[0], 1, "finalize sees null in the slot (1)");
}

/* ---- LIFE-12 ---- */

/* The last handle is assigned to its own slot and swapped with it: shows an object lost on the
 * way. */
static void life_slot_of_itself(rcb_world *world)
{
    rc_strong slot = rcb_new(world, 0);
    rc_assign(&slot, rc_retain(slot));
    life_expect_alive(world, 0, "self-assignment keeps the object");
    rc_swap(&slot, &slot);
    RCB_EXPECT_FALSE(rc_is_null(slot), "a slot swapped with itself keeps its value");
    life_expect_payload(slot, 0);
    life_expect_strong(slot, 1, "strong references after self-assignment");
    rc_strong other = rc_null();
    rc_swap(&slot, &other);
    RCB_EXPECT_TRUE(rc_is_null(slot), "a swap moves null");
    life_expect_payload(other, 0);
    rc_assign(&slot, rc_null());
    life_expect_alive(world, 0, "null assigned to a null slot releases nothing");
    rc_reset(&other);
    life_expect_died(world, 0, "the last slot's reset finalizes");
    rc_reset(&other);
    life_expect_died(world, 0, "a null slot's reset releases nothing");
}

/* The only handle of an object lies in its own payload: shows a slot that is touched after the
 * release, or an old value that finalize finds once more. */
static void life_slot_inside_target(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rcb_payload *payload = rcb_payload_of(object);
    payload->child = object;
    life_expect_alive(world, 0, "an object that holds itself lives");
    rc_reset(&payload->child);
    life_expect_died(world, 0, "resetting the slot inside finalizes, once");
    life_expect_no_memory("resetting the slot inside frees the object");

    object = rcb_new(world, 1);
    payload = rcb_payload_of(object);
    payload->child = object;
    rc_strong next = rcb_new(world, 2);
    rc_assign(&payload->child, rc_retain(next));
    life_expect_died(world, 1, "assigning to the slot inside finalizes, once");
    life_expect_alive(world, 2, "the new value is held elsewhere too");
    life_expect_strong(next, 1, "strong references after finalize released the slot's new value");
    rc_release(next);
    life_expect_died(world, 2, "the new value dies with its last handle");
}

/* A list is walked by assigning to its head what the head holds: shows a child that dies with the
 * parent before it was retained. */
static void life_slot_advances(rcb_world *world)
{
    rc_strong head = rc_null();
    for (uint32_t id = 0; id < 4; id++) {
        rc_strong object = rcb_new(world, id);
        rcb_payload_of(object)->child = head;
        head = object;
    }
    for (uint32_t id = 4; id > 0; id--) {
        life_expect_payload(head, id - 1);
        rc_assign(&head, rc_retain(rcb_payload_of(head)->child));
        life_expect_died(world, id - 1, "the old head dies");
        if (id > 1) {
            life_expect_alive(world, id - 2, "the new head lives");
        }
    }
    RCB_EXPECT_TRUE(rc_is_null(head), "the list ends in null");
}

/* ---- LIFE-13 ---- */

/* Objects with different counts side by side, of which one after the other dies: shows counts that
 * two objects share, and writes beyond an object. */
static void life_neighbours(rcb_world *world)
{
    enum { OBJECTS = 4 };
    rc_strong handles[OBJECTS][OBJECTS];
    rcb_heap_reset(RCB_PLACE_TIGHT);
    for (uint32_t id = 0; id < OBJECTS; id++) {
        handles[id][0] = rcb_new(world, id);
        for (unsigned i = 1; i <= id; i++) {
            handles[id][i] = rc_retain(handles[id][0]);
        }
        for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
            rcb_payload_of(handles[id][0])->field[i] = 100 * id + i;
        }
    }
    for (uint32_t dying = 0; dying < OBJECTS; dying++) {
        for (uint32_t id = dying; id < OBJECTS; id++) {
            life_expect_strong(handles[id][0], id + 1, "strong references beside a dying object");
            life_expect_alive(world, id, "an object lives while its neighbour dies");
            life_expect_payload(handles[id][0], id);
            RCB_EXPECT(!rc_is_unique(handles[id][0]) || id == 0,
                       "an object with more than one handle is not unique", "object %" PRIu32, id);
        }
        for (unsigned i = 0; i <= dying; i++) {
            rc_release(handles[dying][i]);
        }
        life_expect_died(world, dying, "an object dies beside living ones");
        for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
            RCB_EXPECT_EQ(world->seen[dying][i], 100 * dying + i, "what finalize sees");
        }
    }
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* One object's weak handles come and go, it dies and is locked in vain, beside a live neighbour on
 * each side: shows a flag or count that reaches over. */
static void life_neighbours_weak(rcb_world *world)
{
    rcb_heap_reset(RCB_PLACE_TIGHT);
    rc_strong before = rcb_new(world, 0);
    rc_strong object = rcb_new(world, 1);
    rc_strong behind = rcb_new(world, 2);
    rc_weak weak_before = rc_weak_new(before);
    rc_weak weak = rc_weak_new(object);
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    rc_wrapper_attach(object);
    RCB_EXPECT_FALSE(rc_has_wrapper(before), "the object before has no wrapper");
    RCB_EXPECT_FALSE(rc_has_wrapper(behind), "the object behind has no wrapper");
    rc_wrapper_detach(object);
#endif
    rc_weak copy = rc_weak_retain(weak);
    rc_release(rc_weak_lock(copy));
    rc_release(object);
    life_expect_died(world, 1, "the object in the middle dies");
    RCB_EXPECT_TRUE(rc_weak_expired(weak), "the object in the middle has expired");
    RCB_EXPECT_FALSE(rc_weak_expired(weak_before), "its neighbour has not");
    rc_weak_release(weak);
    rc_weak_release(copy);
    life_expect_alive(world, 0, "the object before lives");
    life_expect_alive(world, 2, "the object behind lives");
    life_expect_strong(before, 1, "strong references of the object before");
    life_expect_weak(before, 1, "weak references of the object before");
    life_expect_strong(behind, 1, "strong references of the object behind");
    life_expect_weak(behind, 0, "weak references of the object behind");
    life_expect_payload(before, 0);
    life_expect_payload(behind, 2);
    rc_strong locked = rc_weak_lock(weak_before);
    RCB_EXPECT(rc_payload(locked) == rc_payload(before), "the neighbour can be locked",
               "it cannot");
    rc_release(locked);
    rc_release(before);
    life_expect_died(world, 0, "the object before dies with its last handle");
    rc_weak_release(weak_before);
    rc_release(behind);
    life_expect_died(world, 2, "the object behind dies with its last handle");
}
#endif

/* ---- LIFE-14 ---- */
#if (RC_IMPL_CAPS) & RC_CAP_EXACT_COUNT

/* strong[id]: a copy of the last handle of object id, which has been given up. */
static void life_count_in_finalize(rcb_payload *payload)
{
    rc_strong stale = payload->world->strong[payload->id];
    RCB_EXPECT_EQ(rc_use_count(stale), 0, "strong references in finalize");
    RCB_EXPECT_FALSE(rc_is_unique(stale), "not unique in finalize");
    payload->world->value[payload->id]++;
}

/* Death of an only handle and of the second of two: shows a count lowered after finalize, or set
 * back to 1 for it. */
static void life_dying_counts(rcb_world *world)
{
    world->on_finalize = life_count_in_finalize;
    world->strong[0] = rcb_new(world, 0);
    rc_release(world->strong[0]);
    world->strong[1] = rcb_new(world, 1);
    rc_strong copy = rc_retain(world->strong[1]);
    rc_release(copy);
    rc_release(world->strong[1]);
    rcb_settle();
    RCB_EXPECT_EQ(world->value[0], 1, "finalizers that looked at object 0");
    RCB_EXPECT_EQ(world->value[1], 1, "finalizers that looked at object 1");
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The same with a weak handle, which is dropped later: shows the path that keeps the memory. */
static void life_dying_counts_weak(rcb_world *world)
{
    world->on_finalize = life_count_in_finalize;
    world->strong[0] = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(world->strong[0]);
    rc_release(world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->value[0], 1, "finalizers that looked at the object");
    RCB_EXPECT_EQ(rc_use_count(world->strong[0]), 0, "strong references after finalize");
    RCB_EXPECT_FALSE(rc_is_unique(world->strong[0]), "a dead object is not unique");
    rc_weak_release(weak);
}
#endif
#endif

static const rcb_scenario rcb_life[] = {
    {.clause = "LIFE-01", .name = "new_counts", .thread = {life_new_counts}},
    {.clause = "LIFE-01", .name = "new_after_others", .thread = {life_new_after_others}},
    {.clause = "LIFE-02", .name = "two_releases", .thread = {life_two_releases}},
    {.clause = "LIFE-02", .name = "every_order", .thread = {life_every_order}},
    {.clause = "LIFE-02", .name = "up_and_down", .thread = {life_up_and_down}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIFE-02", .name = "releases_beside_weak", .thread = {life_releases_beside_weak}},
#endif
    {.clause = "LIFE-02", .name = "slots_release", .thread = {life_slots_release}},
    {.clause = "LIFE-03", .name = "each_once", .thread = {life_each_once}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIFE-03", .name = "once_beside_weak", .thread = {life_once_beside_weak}},
#endif
    {.clause = "LIFE-04", .name = "retain_adds_one", .thread = {life_retain_adds_one}},
    {.clause = "LIFE-04", .name = "given_stays", .thread = {life_given_stays}},
#if (RC_IMPL_CAPS) & RC_CAP_IMMEDIATE
    {.clause = "LIFE-05", .name = "at_once", .thread = {life_at_once}},
    {.clause = "LIFE-05", .name = "at_once_shared", .thread = {life_at_once_shared}},
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "LIFE-05",
     .name = "inside_own_release",
     .needs = RC_CAP_THREADS,
     .setup = life_setup_own_and_shared,
     .thread = {life_release_own_and_shared, life_release_own_and_shared},
     .check = life_check_own_and_shared},
#endif
#endif
    {.clause = "LIFE-06", .name = "payload_stays", .thread = {life_payload_stays}},
#if (RC_IMPL_CAPS) & RC_CAP_EXACT_COUNT
    {.clause = "LIFE-07", .name = "counts_follow", .thread = {life_counts_follow}},
    {.clause = "LIFE-07",
     .name = "counts_many",
     .flags = RCB_ONE_ROUND | RCB_HEAVY,
     .thread = {life_counts_many}},
#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET
    {.clause = "LIFE-07",
     .name = "counts_wide",
     .needs = RC_CAP_PRESET,
     .thread = {life_counts_wide}},
#endif
    {.clause = "LIFE-08", .name = "unique_again", .thread = {life_unique_again}},
#endif
    {.clause = "LIFE-09", .name = "not_unique", .thread = {life_not_unique}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIFE-09",
     .name = "not_unique_by_lock",
     .needs = RC_CAP_WEAK,
     .thread = {life_not_unique_by_lock}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    {.clause = "LIFE-09",
     .name = "not_unique_by_raw",
     .needs = RC_CAP_RAW,
     .thread = {life_not_unique_by_raw}},
#endif
#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET && ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT)
    {.clause = "LIFE-09",
     .name = "not_unique_wide",
     .needs = RC_CAP_PRESET,
     .thread = {life_not_unique_wide}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIFE-10", .name = "not_unique_by_weak", .thread = {life_not_unique_by_weak}},
#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET
    {.clause = "LIFE-10",
     .name = "not_unique_by_weak_wide",
     .needs = RC_CAP_PRESET,
     .thread = {life_not_unique_by_weak_wide}},
#endif
#endif
    {.clause = "LIFE-11", .name = "assign_first", .thread = {life_assign_first}},
    {.clause = "LIFE-11", .name = "reset_first", .thread = {life_reset_first}},
    {.clause = "LIFE-12", .name = "slot_of_itself", .thread = {life_slot_of_itself}},
    {.clause = "LIFE-12", .name = "slot_inside_target", .thread = {life_slot_inside_target}},
    {.clause = "LIFE-12", .name = "slot_advances", .thread = {life_slot_advances}},
    {.clause = "LIFE-13", .name = "neighbours", .flags = RCB_OWN_HEAP, .thread = {life_neighbours}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIFE-13",
     .name = "neighbours_weak",
     .needs = RC_CAP_WEAK,
     .flags = RCB_OWN_HEAP,
     .thread = {life_neighbours_weak}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_EXACT_COUNT
    {.clause = "LIFE-14", .name = "dying_counts", .thread = {life_dying_counts}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIFE-14",
     .name = "dying_counts_weak",
     .needs = RC_CAP_WEAK,
     .thread = {life_dying_counts_weak}},
#endif
#endif
    {.clause = NULL},
};
