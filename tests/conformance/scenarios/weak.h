/* WEAK: weak handles. Uses the checks of life.h. What threads do to them at once is RACE's; the scenarios
 * with threads here put a clause of this area to the test while the object dies elsewhere.
 *
 * Freed memory is filled with a pattern and kept. So a weak handle whose memory went too early
 * reads a count that is not zero: its lock succeeds, and a later write is found at the end of the
 * scenario.
 */

#if (RC_IMPL_CAPS) & RC_CAP_WEAK

/* A lock gives null and the handle says that it has expired. Legal in hooks. */
static inline void weak_expect_dead(rc_weak weak, const char *when)
{
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT(rc_is_null(locked), when, "a lock gave a handle of a dead object");
    RCB_EXPECT(rc_weak_expired(weak), when, "the weak handle says that the object lives");
}

/* ---- WEAK-01 ---- */

/* One weak handle, then three of different origin, beside the last strong one: shows a weak handle
 * that counts as an owner. */
static void weak_keeps_nothing(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(object);
    life_expect_strong(object, 1, "strong references beside a weak handle");
    rc_release(object);
    life_expect_died(world, 0, "an object with a weak handle dies with its last strong one");
    rc_weak_release(weak);

    object = rcb_new(world, 1);
    rc_strong copy = rc_retain(object);
    rc_weak three[3] = {rc_weak_new(object), rc_weak_new(copy)};
    three[2] = rc_weak_retain(three[0]);
    rc_release(object);
    life_expect_alive(world, 1, "it lives while a strong handle is held");
    rc_release(copy);
    life_expect_died(world, 1, "three weak handles keep nothing alive");
    for (unsigned i = 0; i < 3; i++) {
        rc_weak_release(three[i]);
    }
}

/* Two objects that know each other weakly, one of them in a chain: shows a cycle that leaks. */
static void weak_makes_no_cycle(rcb_world *world)
{
    rc_strong parent = rcb_new(world, 0);
    rc_strong child = rcb_new(world, 1);
    rcb_payload_of(child)->weak = rc_weak_new(parent);
    rcb_payload_of(parent)->weak = rc_weak_new(child);
    rcb_payload_of(parent)->child = child;
    rc_release(parent);
    life_expect_died(world, 0, "a parent that its child knows weakly dies");
    life_expect_died(world, 1, "and the child with it");
    life_expect_no_memory("neither keeps the other's memory");
}

/* ---- WEAK-02 ---- */

/* Two locks, then every strong handle is released in turn: shows a lock that adds nothing or
 * two, or uses the weak handle up. */
static void weak_lock_adds_one(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(object);
    rc_strong first = rc_weak_lock(weak);
    RCB_EXPECT_FALSE(rc_is_null(first), "a lock of a live object succeeds");
    RCB_EXPECT(rc_payload(first) == rc_payload(object), "a lock gives that object", "another");
    life_expect_strong(object, 2, "strong references after a lock");
    life_expect_weak(object, 1, "weak references after a lock");
    rc_strong second = rc_weak_lock(weak);
    RCB_EXPECT_FALSE(rc_is_null(second), "a second lock succeeds");
    life_expect_strong(object, 3, "strong references after two locks");
    rc_release(object);
    life_expect_alive(world, 0, "locked handles keep the object alive");
    life_expect_payload(first, 0);
    rc_release(first);
    life_expect_alive(world, 0, "one locked handle keeps the object alive");
    rc_strong third = rc_weak_lock(weak);
    RCB_EXPECT(rc_payload(third) == rc_payload(second), "the weak handle can be locked on", "null");
    rc_release(third);
    life_expect_alive(world, 0, "as many releases as locks leave the object alive");
    life_expect_payload(second, 0);
    rc_release(second);
    life_expect_died(world, 0, "the last locked handle's release finalizes");
    weak_expect_dead(weak, "the weak handle is its owner's to the end, and expired");
    rc_weak_release(weak);
    life_expect_no_memory("the weak handle was counted once");
}

/* ---- WEAK-03 ---- */

/* Locks after death, again and again, while weak handles come and go and new objects are made:
 * shows a second lock that succeeds, and one that finds another object. */
static void weak_dead_for_good(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(object);
    rc_weak other = rc_weak_new(object);
    rc_release(rc_weak_lock(weak));
    rc_release(object);
    life_expect_died(world, 0, "the last release finalizes");
    for (unsigned i = 0; i < 5; i++) {
        weak_expect_dead(weak, "a lock of a dead object gives null");
    }
    weak_expect_dead(other, "so does a lock through another weak handle");
    rc_strong next = rcb_new(world, 1);
    rc_weak copy = rc_weak_retain(weak);
    weak_expect_dead(copy, "so does a lock through one retained after death");
    rc_weak_release(weak);
    rc_strong after = rcb_new(world, 2);
    weak_expect_dead(copy, "so does a lock after others were made and weak handles went");
    rc_weak_release(other);
    weak_expect_dead(copy, "so does a lock through the last weak handle");
    rc_weak_release(copy);
    rc_release(next);
    rc_release(after);
    life_expect_died(world, 0, "the dead object was not brought back");
}

/* The last strong handle came from a lock, or is the second of two: shows a way to zero that weak
 * handles are not told of. */
static void weak_dead_by_any_release(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(object);
    rc_strong locked = rc_weak_lock(weak);
    rc_release(object);
    rc_release(locked);
    rcb_settle();
    weak_expect_dead(weak, "a lock gives null after a locked handle was the last");
    rc_weak_release(weak);

    object = rcb_new(world, 1);
    rc_strong copy = rc_retain(object);
    weak = rc_weak_new(copy);
    rc_release(copy);
    rc_reset(&object);
    rcb_settle();
    weak_expect_dead(weak, "a lock gives null after a slot's handle was the last");
    rc_weak_release(weak);
}

/* ---- WEAK-04 ---- */

/* Every weak handle to object 0, in weak[0] and weak[1] and one more, fails. */
static void weak_lock_in_finalize(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    for (unsigned i = 0; i < 2; i++) {
        weak_expect_dead(world->weak[i], "a lock fails while finalize runs");
    }
    rc_weak copy = rc_weak_retain(world->weak[0]);
    weak_expect_dead(copy, "a lock through a handle retained in finalize fails");
    rc_weak_release(copy);
    world->value[payload->id]++;
}

/* Finalize locks its own object through two handles, and so does the finalize of a child that it
 * releases: shows death declared after the hook, or handle by handle. */
static void weak_finalize_locks(rcb_world *world)
{
    world->on_finalize = weak_lock_in_finalize;
    rc_strong object = rcb_new(world, 0);
    rcb_payload_of(object)->child = rcb_new(world, 1);
    world->weak[0] = rc_weak_new(object);
    world->weak[1] = rc_weak_new(object);
    rc_release(object);
    life_expect_died(world, 0, "an object that is locked in its finalize dies once");
    life_expect_died(world, 1, "and so does its child");
    RCB_EXPECT_EQ(world->value[0], 1, "finalizers of the object that locked it");
    RCB_EXPECT_EQ(world->value[1], 1, "finalizers of its child that locked it");
    weak_expect_dead(world->weak[0], "a lock fails after finalize");
    rc_weak_release(world->weak[0]);
    rc_weak_release(world->weak[1]);
}

/* The same where the last of two handles, got by a lock, dies: shows the other way to zero. */
static void weak_finalize_locks_shared(rcb_world *world)
{
    world->on_finalize = weak_lock_in_finalize;
    rc_strong object = rcb_new(world, 0);
    world->weak[0] = rc_weak_new(object);
    world->weak[1] = rc_weak_retain(world->weak[0]);
    rc_strong locked = rc_weak_lock(world->weak[1]);
    rc_release(object);
    RCB_EXPECT_EQ(world->value[0], 0, "finalizers while a locked handle is held");
    rc_release(locked);
    life_expect_died(world, 0, "an object that is locked in its finalize dies once");
    RCB_EXPECT_EQ(world->value[0], 1, "finalizers that locked the object");
    rc_weak_release(world->weak[0]);
    rc_weak_release(world->weak[1]);
}

/* ---- WEAK-05 ---- */

/* value[id]: finalize found weak[0] expired (1) or not (2). */
static void weak_expired_in_finalize(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    world->value[payload->id] = rc_weak_expired(world->weak[0]) ? 1 : 2;
}

/* Asked at one and two strong handles, in finalize, in the child's, and after: shows an answer that
 * follows the weak count, is stuck, or comes late. */
static void weak_expired_follows(rcb_world *world)
{
    world->on_finalize = weak_expired_in_finalize;
    rc_strong object = rcb_new(world, 0);
    rcb_payload_of(object)->child = rcb_new(world, 1);
    world->weak[0] = rc_weak_new(object);
    RCB_EXPECT_FALSE(rc_weak_expired(world->weak[0]), "not expired with one strong handle");
    rc_strong copy = rc_retain(object);
    RCB_EXPECT_FALSE(rc_weak_expired(world->weak[0]), "not expired with two");
    rc_release(object);
    RCB_EXPECT_FALSE(rc_weak_expired(world->weak[0]), "not expired with the second of two");
    rc_strong locked = rc_weak_lock(world->weak[0]);
    rc_release(copy);
    rc_weak other = rc_weak_retain(world->weak[0]);
    RCB_EXPECT_FALSE(rc_weak_expired(other), "not expired with a locked handle");
    rc_release(locked);
    rcb_settle();
    RCB_EXPECT_EQ(world->value[0], 1, "expired in finalize (1: yes)");
    RCB_EXPECT_EQ(world->value[1], 1, "expired in the finalize of a child (1: yes)");
    RCB_EXPECT_TRUE(rc_weak_expired(world->weak[0]), "expired after finalize");
    rc_weak_release(world->weak[0]);
    RCB_EXPECT_TRUE(rc_weak_expired(other), "expired through the last weak handle");
    rc_weak_release(other);
}

/* ---- WEAK-06 ---- */

/* Four weak handles of a dead object go one by one, each is used until then: shows memory that goes
 * with the object, with the first weak handle, or not with the last. */
static void weak_needs_stay(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak[4];
    for (unsigned i = 0; i < 4; i++) {
        weak[i] = i % 2 == 0 ? rc_weak_new(object) : rc_weak_retain(weak[i - 1]);
    }
    rc_weak_release(weak[0]);
    rc_release(object);
    life_expect_died(world, 0, "the last strong release finalizes");
    static const unsigned order[3] = {2, 1, 3};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = i; j < 3; j++) {
            weak_expect_dead(weak[order[j]], "a weak handle works until it is released");
            rc_weak_release(rc_weak_retain(weak[order[j]]));
        }
        rc_weak_release(weak[order[i]]);
        const char *wrong = rcb_heap_check();
        RCB_EXPECT(wrong == NULL, "no weak operation writes to freed memory", "%s", wrong);
    }
    life_expect_no_memory("the last weak handle's release gives all memory back");
}

/* A weak handle goes while the object lives, the other after its death, and the other way round:
 * shows a weak unit that is lost where the two orders differ. */
static void weak_last_of_either(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(object);
    rc_weak_release(weak);
    rc_release(object);
    life_expect_no_memory("with the weak handle gone, the object's death frees it");

    object = rcb_new(world, 1);
    weak = rc_weak_new(object);
    rc_release(object);
    rcb_settle();
    weak_expect_dead(weak, "a weak handle works until it is released");
    rc_weak_release(weak);
    life_expect_no_memory("with the object dead, the weak handle's release frees it");

    object = rcb_new(world, 2);
    weak = rc_weak_new(object);
    rc_strong locked = rc_weak_lock(weak);
    rc_release(object);
    rc_weak_release(weak);
    life_expect_alive(world, 2, "a locked handle keeps the object without its weak one");
    life_expect_payload(locked, 2);
    rc_release(locked);
    life_expect_no_memory("with the weak handle gone, a locked handle's release frees it");
}

/* ---- WEAK-07 ---- */

/* The only weak handle lies in the object itself and goes in finalize: shows memory freed by the
 * inner release, and once more by the outer one. */
static void weak_self(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rcb_payload_of(object)->weak = rc_weak_new(object);
    rc_release(object);
    life_expect_died(world, 0, "an object that knows itself weakly dies once");
    life_expect_no_memory("an object that knows itself weakly is freed");
    const char *wrong = rcb_heap_check();
    RCB_EXPECT(wrong == NULL, "nothing is written after the memory went", "%s", wrong);
}

/* weak[0] and weak[1] are to the object itself. */
static void weak_drop_in_finalize(rcb_payload *payload)
{
    rc_weak_reset(&payload->world->weak[0]);
    rc_weak_release(rc_weak_retain(payload->weak));
    rc_weak_reset(&payload->world->weak[1]);
    rc_weak_reset(&payload->weak);
    RCB_EXPECT(payload->canary == RCB_CANARY, "finalize goes on after the last weak handle went",
               "the payload's canary is %08" PRIx32, payload->canary);
}

/* Three weak handles to the object go in its finalize, after two strong ones: shows the same on the
 * other way to zero, and a count of weak handles taken before the hook. */
static void weak_self_many(rcb_world *world)
{
    world->on_finalize = weak_drop_in_finalize;
    rc_strong object = rcb_new(world, 0);
    rc_strong copy = rc_retain(object);
    rcb_payload_of(object)->weak = rc_weak_new(object);
    world->weak[0] = rc_weak_new(object);
    world->weak[1] = rc_weak_retain(world->weak[0]);
    rc_release(copy);
    rc_release(object);
    life_expect_died(world, 0, "an object that drops its weak handles in finalize dies once");
    life_expect_no_memory("and is freed");
    const char *wrong = rcb_heap_check();
    RCB_EXPECT(wrong == NULL, "nothing is written after the memory went", "%s", wrong);
}

/* One weak handle goes in finalize, one stays: shows memory that goes with the first. */
static void weak_self_and_other(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rcb_payload_of(object)->weak = rc_weak_new(object);
    rc_weak weak = rc_weak_new(object);
    rc_release(object);
    life_expect_died(world, 0, "an object that knows itself weakly dies once");
    weak_expect_dead(weak, "a weak handle outlives one that finalize dropped");
    rc_weak_release(weak);
    life_expect_no_memory("the last weak handle's release frees");
}

/* ---- WEAK-08 ---- */

/* Object 0 keeps a copy of its own weak handle, and a new one to object 1, which strong[1]
 * holds. */
static void weak_keep_in_finalize(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    if (payload->id == 0) {
        world->weak[0] = rc_weak_retain(payload->weak);
        world->weak[1] = rc_weak_new(world->strong[1]);
        world->weak[2] = rc_weak_retain(world->weak[1]);
    }
}

/* Finalize retains the object's only weak handle and keeps it: shows a decision to free that was
 * taken before the hook ran. */
static void weak_kept_by_finalize(rcb_world *world)
{
    world->on_finalize = weak_keep_in_finalize;
    world->strong[1] = rcb_new(world, 1);
    rc_strong object = rcb_new(world, 0);
    rcb_payload_of(object)->weak = rc_weak_new(object);
    rc_release(object);
    life_expect_died(world, 0, "an object whose weak handle is kept in finalize dies once");
    weak_expect_dead(world->weak[0], "the kept handle is one of a dead object");
    weak_expect_dead(world->weak[0], "and stays one");
    life_expect_alive(world, 1, "the other object lives");
    life_expect_weak(world->strong[1], 2, "weak references that finalize made to it");
    rc_strong locked = rc_weak_lock(world->weak[1]);
    RCB_EXPECT(rc_payload(locked) == rc_payload(world->strong[1]),
               "a weak handle made in finalize can be locked", "it cannot");
    rc_release(locked);
    rc_weak_release(world->weak[0]);
    rc_weak_release(world->weak[1]);
    rc_reset(&world->strong[1]);
    life_expect_died(world, 1, "the other object dies with its last handle");
    weak_expect_dead(world->weak[2], "the handle retained in finalize expires with it");
    rc_weak_release(world->weak[2]);
    life_expect_no_memory("all memory comes back with the kept handles");
}

/* ---- WEAK-09 ---- */
#if (RC_IMPL_CAPS) & RC_CAP_EXACT_COUNT

/* Up to five weak handles and down, at one and two strong: shows an answer of 0 or 1, one that
 * counts the implicit weak, and one that strong handles change. */
static void weak_count_follows(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak[5];
    for (unsigned i = 0; i < 5; i++) {
        RCB_EXPECT_EQ(rc_weak_count(object), i, "weak references on the way up");
        weak[i] = i % 2 == 0 ? rc_weak_new(object) : rc_weak_retain(weak[i - 1]);
    }
    RCB_EXPECT_EQ(rc_weak_count(object), 5, "weak references at the top");
    RCB_EXPECT_EQ(rc_use_count(object), 1, "strong references beside them");
    rc_strong copy = rc_retain(object);
    RCB_EXPECT_EQ(rc_weak_count(copy), 5, "weak references after a retain");
    rc_strong locked = rc_weak_lock(weak[0]);
    RCB_EXPECT_EQ(rc_weak_count(locked), 5, "weak references after a lock");
    rc_release(locked);
    rc_release(copy);
    for (unsigned i = 5; i > 0; i--) {
        RCB_EXPECT_EQ(rc_weak_count(object), i, "weak references on the way down");
        rc_weak_release(weak[i - 1]);
    }
    RCB_EXPECT_EQ(rc_weak_count(object), 0, "weak references at the end");
    rc_release(object);
}

enum { WEAK_MANY = 70000 };

/* Seventy thousand weak handles at once: shows a count of 8 or 16 bits, in the word or in the
 * answer. */
static void weak_count_many(rcb_world *world)
{
    static rc_weak handles[WEAK_MANY];
    const uint64_t max = RC_IMPL_WEAK_MAX;
    const unsigned many = max < WEAK_MANY ? (unsigned)max : WEAK_MANY;
    rc_strong object = rcb_new(world, 0);
    for (unsigned i = 0; i < many; i++) {
        handles[i] = rc_weak_new(object);
        if (((i + 1) & 0xff) == 0 || i + 1 == many) {
            RCB_EXPECT_EQ(rc_weak_count(object), i + 1, "weak references on the way up");
        }
    }
    RCB_EXPECT_EQ(rc_use_count(object), 1, "strong references beside many weak ones");
    for (unsigned i = many; i > many / 2; i--) {
        rc_weak_release(handles[i - 1]);
    }
    RCB_EXPECT_EQ(rc_weak_count(object), many / 2, "weak references half way down");
    rc_release(object);
    life_expect_died(world, 0, "an object dies beside many weak handles");
    for (unsigned i = many / 2; i > 0; i--) {
        rc_weak_release(handles[i - 1]);
    }
    life_expect_no_memory("the last of many weak handles frees");
}

#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET
/* Counts set to every width below the limit: shows an answer that is cut or signed. */
static void weak_count_wide(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    for (unsigned i = 0; i < LIFE_WIDTHS; i++) {
        if (life_widths[i] >= RC_IMPL_WEAK_MAX) {
            continue;
        }
        rc_test_preset(object, 1, life_widths[i]);
        RCB_EXPECT_EQ(rc_weak_count(object), life_widths[i], "weak references, set by the test");
        RCB_EXPECT_EQ(rc_use_count(object), 1, "strong references beside them");
        life_expect_payload(object, 0);
    }
    rc_test_preset(object, 1, 0);
    RCB_EXPECT_EQ(rc_weak_count(object), 0, "weak references, set back");
    rc_release(object);
    life_expect_no_memory("set back to none, the object's death frees it");
}
#endif
#endif

/* ---- WEAK-10 ---- */

/* A dead object's weak handle is retained, the first goes, the copy is retained again: shows a
 * retain that fails or does not count once the object is dead. */
static void weak_retain_after_death(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(object);
    rc_release(object);
    life_expect_died(world, 0, "the last strong release finalizes");
    for (unsigned i = 0; i < 4; i++) {
        rc_weak copy = rc_weak_retain(weak);
        RCB_EXPECT_FALSE(rc_weak_is_null(copy), "a weak handle is retained after death");
        rc_weak_release(weak);
        weak_expect_dead(copy, "the copy works when the first handle is gone");
        weak = copy;
    }
    rc_weak pair[2] = {rc_weak_retain(weak), rc_weak_retain(weak)};
    rc_weak_release(pair[0]);
    rc_weak_release(weak);
    weak_expect_dead(pair[1], "the last of three works");
    rc_weak_release(pair[1]);
    life_expect_no_memory("the last copy frees");
}

/* ---- WEAK-11 ---- */

/* Ten failing locks of a dead object: shows a unit of either kind that is left behind or taken
 * away. */
static void weak_failing_lock(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak[2] = {rc_weak_new(object), rc_weak_new(object)};
    rc_release(object);
    life_expect_died(world, 0, "the last strong release finalizes");
    uint64_t blocks = rcb_heap_live_blocks();
    uint64_t bytes = rcb_heap_live_bytes();
    for (unsigned i = 0; i < 10; i++) {
        rc_strong locked = rc_weak_lock(weak[i % 2]);
        RCB_EXPECT_TRUE(rc_is_null(locked),
                        "a lock of a dead object gives null, as the one before");
        rc_release(locked);
        RCB_EXPECT_TRUE(rc_weak_expired(weak[0]), "a failing lock leaves the handle expired");
        life_expect_strong(object, 0, "strong references of a dead object after a failing lock");
    }
    life_expect_died(world, 0, "failing locks finalize nothing");
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), blocks, "live blocks after failing locks");
    RCB_EXPECT_EQ(rcb_heap_live_bytes(), bytes, "live bytes after failing locks");
    rc_weak_release(weak[0]);
    weak_expect_dead(weak[1], "failing locks took no weak unit away");
    rc_weak_release(weak[1]);
    life_expect_no_memory("failing locks left no weak unit behind");
}

/* weak[0] is to the object itself. */
static void weak_fail_in_finalize(rcb_payload *payload)
{
    for (unsigned i = 0; i < 5; i++) {
        RCB_EXPECT(rc_is_null(rc_weak_lock(payload->world->weak[0])),
                   "a lock in finalize gives null", "a handle");
    }
}

/* Failing locks inside finalize: shows one that crosses zero again and finalizes twice. */
static void weak_failing_lock_in_finalize(rcb_world *world)
{
    world->on_finalize = weak_fail_in_finalize;
    rc_strong object = rcb_new(world, 0);
    world->weak[0] = rc_weak_new(object);
    rc_release(object);
    life_expect_died(world, 0, "failing locks in finalize finalize nothing");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(world->weak[0])), "nor do they leave a reference");
    rc_weak_release(world->weak[0]);
    life_expect_no_memory("failing locks in finalize keep no memory");
}

/* ---- WEAK-12 ---- */

/* The first weak handle of a new object goes before anything else, then another seventy thousand:
 * shows an object that goes with its weak handles, and a count that drifts. */
static void weak_come_and_go(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak_release(rc_weak_new(object));
    life_expect_alive(world, 0, "an object outlives its first weak handle");
    life_expect_payload(object, 0);
    for (unsigned i = 0; i < 70000; i++) {
        rc_weak_release(rc_weak_new(object));
    }
    rc_weak weak = rc_weak_new(object);
    for (unsigned i = 0; i < 300; i++) {
        rc_weak copy = rc_weak_retain(weak);
        rc_weak_release(weak);
        weak = copy;
        rc_release(rc_weak_lock(weak));
    }
    rc_weak_release(weak);
    life_expect_alive(world, 0, "an object outlives all its weak handles");
    life_expect_payload(object, 0);
    life_expect_strong(object, 1, "strong references after weak handles came and went");
    life_expect_weak(object, 0, "weak references after weak handles came and went");
    rc_strong copy = rc_retain(object);
    rc_weak_release(rc_weak_new(copy));
    rc_release(object);
    life_expect_alive(world, 0, "so it does with two strong handles");
    rc_release(copy);
    life_expect_died(world, 0, "it dies with its last strong handle");
    life_expect_no_memory("and its memory goes with it");
}

/* ---- WEAK-13 ---- */

/* A weak slot is assigned, assigned to itself, swapped and reset, with live and dead objects:
 * shows a slot that keeps the old value, or lets the last handle go first. */
static void weak_slots(rcb_world *world)
{
    rc_strong first = rcb_new(world, 0);
    rc_strong second = rcb_new(world, 1);
    rc_weak slot = rc_weak_new(first);
    rc_weak_assign(&slot, rc_weak_new(second));
    rc_strong locked = rc_weak_lock(slot);
    RCB_EXPECT(rc_payload(locked) == rc_payload(second), "the slot has the new value", "another");
    rc_release(locked);
    life_expect_weak(first, 0, "weak references of the old value");
    life_expect_weak(second, 1, "weak references of the new value");

    rc_release(second);
    rcb_settle();
    rc_weak_assign(&slot, rc_weak_retain(slot));
    weak_expect_dead(slot, "the last weak handle of a dead object stands self-assignment");
    rc_weak_swap(&slot, &slot);
    weak_expect_dead(slot, "and a swap with itself");

    rc_weak other = rc_weak_null();
    rc_weak_swap(&slot, &other);
    RCB_EXPECT_TRUE(rc_weak_is_null(slot), "a swap moves null");
    RCB_EXPECT_FALSE(rc_weak_is_null(other), "a swap moves the handle");
    rc_weak_assign(&slot, rc_weak_null());
    rc_weak_reset(&slot);
    RCB_EXPECT_TRUE(rc_weak_is_null(slot), "a null slot stands null and reset");
    rc_weak_assign(&slot, rc_weak_new(first));
    rc_weak_swap(&slot, &other);
    weak_expect_dead(slot, "a swap exchanges two handles");
    RCB_EXPECT_FALSE(rc_weak_expired(other), "both ways");
    rc_weak_reset(&slot);
    RCB_EXPECT_TRUE(rc_weak_is_null(slot), "rc_weak_reset leaves null");
    life_expect_alive(world, 0, "weak slots keep their hands off strong handles");
    rc_release(first);
    life_expect_died(world, 0, "the object dies with its last strong handle");
    rc_weak_assign(&other, rc_weak_null());
    life_expect_no_memory("slots released what they held");
}

/* Finalize assigns to a weak slot that holds the last weak handle to its own object: shows a
 * slot that is written after the memory went. */
static void weak_slot_in_finalize(rcb_payload *payload)
{
    rc_weak_assign(&payload->weak, rc_weak_retain(payload->weak));
    rc_weak_reset(&payload->weak);
    RCB_EXPECT_TRUE(rc_weak_is_null(payload->weak), "rc_weak_reset leaves null");
}

static void weak_slot_inside_target(rcb_world *world)
{
    world->on_finalize = weak_slot_in_finalize;
    rc_strong object = rcb_new(world, 0);
    rcb_payload_of(object)->weak = rc_weak_new(object);
    rc_weak_assign(&rcb_payload_of(object)->weak, rc_weak_retain(rcb_payload_of(object)->weak));
    life_expect_weak(object, 1, "weak references after self-assignment");
    rc_release(object);
    life_expect_died(world, 0, "the object dies once");
    life_expect_no_memory("the slot inside released what it held");
}

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
/* ---- With threads ---- */

/* Thread 0 has the only strong handle, threads 1 and 2 a weak one each, the payload another. */
static void weak_share(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    rcb_payload_of(world->strong[0])->weak = rc_weak_new(world->strong[0]);
    world->weak[1] = rc_weak_new(world->strong[0]);
    world->weak[2] = rc_weak_new(world->strong[0]);
    rc_share(world->strong[0]);
}

static void weak_release_strong(rcb_world *world)
{
    rc_reset(&world->strong[0]);
}

static void weak_check_died(rcb_world *world)
{
    life_expect_died(world, 0, "the object dies once");
    for (unsigned i = 1; i < RCB_HANDLES; i++) {
        if (!rc_weak_is_null(world->weak[i])) {
            weak_expect_dead(world->weak[i], "a weak handle of a dead object locks to null");
            rc_weak_reset(&world->weak[i]);
        }
    }
    life_expect_no_memory("its memory goes with the last weak handle");
}

/* WEAK-03. Locks until one fails; the next fails too. Shows a count that comes back from zero. */
static void weak_lock_twice(rcb_world *world)
{
    const rc_weak weak = world->weak[rcb_thread_index()];
    rc_strong first = rc_weak_lock(weak);
    const bool dead = rc_is_null(first);
    rc_release(first);
    rc_strong second = rc_weak_lock(weak);
    RCB_EXPECT(!dead || rc_is_null(second), "once a lock gave null it does so for good",
               "the second lock gave a handle");
    rc_release(second);
}

/* WEAK-04, WEAK-05. Finalize asks and locks while another thread does. Shows a mark of death that is set
 * after finalize has begun, and a lock that undoes it. */
static void weak_ask_inside(rcb_payload *payload)
{
    weak_expect_dead(payload->weak, "the object is dead from its finalize on");
    payload->field[0] = 1;
    weak_expect_dead(payload->weak, "the object stays dead while finalize runs");
}

static void weak_share_asking(rcb_world *world)
{
    weak_share(world);
    world->on_finalize = weak_ask_inside;
}

static void weak_lock_once(rcb_world *world)
{
    rc_release(rc_weak_lock(world->weak[rcb_thread_index()]));
}

static void weak_ask_expired(rcb_world *world)
{
    const rc_weak weak = world->weak[rcb_thread_index()];
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT(rc_is_null(locked) || !rc_weak_expired(weak),
               "a weak handle has not expired while a handle is held", "it has");
    RCB_EXPECT(!rc_is_null(locked) || rc_weak_expired(weak),
               "a weak handle has expired once a lock gave null", "it has not");
    rc_release(locked);
}

/* WEAK-06, WEAK-10. A weak handle is retained while the object dies, and goes before or after. Shows a
 * block that goes with a handle that was not the last. */
static void weak_exchange(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rc_weak more = rc_weak_retain(world->weak[thread]);
    rc_weak_reset(&world->weak[thread]);
    (void)rc_weak_expired(more);
    world->weak[4 + thread] = more;
}

/* WEAK-07. Finalize drops the object's own weak handle while others retain and drop theirs. */
static void weak_drop_inside(rcb_payload *payload)
{
    rc_weak_reset(&payload->weak);
    payload->field[0] = 1;
}

static void weak_share_dropping(rcb_world *world)
{
    weak_share(world);
    world->on_finalize = weak_drop_inside;
}

static void weak_exchange_and_drop(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    weak_exchange(world);
    rc_weak_reset(&world->weak[4 + thread]);
}

/* WEAK-08. Finalize keeps a weak handle to its own object while others drop theirs. */
static void weak_keep_inside(rcb_payload *payload)
{
    payload->world->weak[4] = rc_weak_retain(payload->weak);
}

static void weak_share_keeping(rcb_world *world)
{
    weak_share(world);
    world->on_finalize = weak_keep_inside;
}

static void weak_drop_own(rcb_world *world)
{
    rc_weak_reset(&world->weak[rcb_thread_index()]);
}

/* WEAK-11. Locks of a dead object fail while its last weak handles go. Shows a lock that leaves a unit in
 * either count. */
static void weak_share_dead(rcb_world *world)
{
    weak_share(world);
    rc_reset(&world->strong[0]);
    life_expect_died(world, 0, "the object dies before the threads");
}

static void weak_fail_and_drop(rcb_world *world)
{
    weak_expect_dead(world->weak[rcb_thread_index()], "a lock of a dead object gives null");
    weak_drop_own(world);
}

/* WEAK-12. Weak handles come and go on two threads, all of them; the object lives. Shows an implicit weak
 * unit that is taken for a handle's. */
static void weak_share_loan(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    rc_share(world->strong[0]);
}

static void weak_make_and_drop(rcb_world *world)
{
    rc_weak weak = rc_weak_new(world->strong[0]);
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT_FALSE(rc_is_null(locked), "a lock of a live object gives a handle");
    rc_weak_release(weak);
    RCB_EXPECT_EQ(rcb_payload_of(locked)->canary, RCB_CANARY, "canary of a locked object");
    rc_release(locked);
}

static void weak_check_alive(rcb_world *world)
{
    life_expect_alive(world, 0, "an object lives on when its weak handles have gone");
    life_expect_strong(world->strong[0], 1, "strong references");
    life_expect_weak(world->strong[0], 0, "weak references");
    rc_reset(&world->strong[0]);
    weak_check_died(world);
}
#endif
#endif

static const rcb_scenario rcb_weak_scenarios[] = {
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "WEAK-01", .name = "keeps_nothing", .thread = {weak_keeps_nothing}},
    {.clause = "WEAK-01", .name = "makes_no_cycle", .thread = {weak_makes_no_cycle}},
    {.clause = "WEAK-02", .name = "lock_adds_one", .thread = {weak_lock_adds_one}},
    {.clause = "WEAK-03", .name = "dead_for_good", .thread = {weak_dead_for_good}},
    {.clause = "WEAK-03", .name = "dead_by_any_release", .thread = {weak_dead_by_any_release}},
    {.clause = "WEAK-04", .name = "finalize_locks", .thread = {weak_finalize_locks}},
    {.clause = "WEAK-04", .name = "finalize_locks_shared", .thread = {weak_finalize_locks_shared}},
    {.clause = "WEAK-05", .name = "expired_follows", .thread = {weak_expired_follows}},
    {.clause = "WEAK-06", .name = "needs_stay", .thread = {weak_needs_stay}},
    {.clause = "WEAK-06", .name = "last_of_either", .thread = {weak_last_of_either}},
    {.clause = "WEAK-07", .name = "self", .thread = {weak_self}},
    {.clause = "WEAK-07", .name = "self_many", .thread = {weak_self_many}},
    {.clause = "WEAK-07", .name = "self_and_other", .thread = {weak_self_and_other}},
    {.clause = "WEAK-08", .name = "kept_by_finalize", .thread = {weak_kept_by_finalize}},
#if (RC_IMPL_CAPS) & RC_CAP_EXACT_COUNT
    {.clause = "WEAK-09", .name = "count_follows", .thread = {weak_count_follows}},
    {.clause = "WEAK-09",
     .name = "count_many",
     .flags = RCB_ONE_ROUND | RCB_HEAVY,
     .thread = {weak_count_many}},
#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET
    {.clause = "WEAK-09",
     .name = "count_wide",
     .needs = RC_CAP_PRESET,
     .thread = {weak_count_wide}},
#endif
#endif
    {.clause = "WEAK-10", .name = "retain_after_death", .thread = {weak_retain_after_death}},
    {.clause = "WEAK-11", .name = "failing_lock", .thread = {weak_failing_lock}},
    {.clause = "WEAK-11",
     .name = "failing_lock_in_finalize",
     .thread = {weak_failing_lock_in_finalize}},
    {.clause = "WEAK-12", .name = "come_and_go", .thread = {weak_come_and_go}},
    {.clause = "WEAK-13", .name = "slots", .thread = {weak_slots}},
    {.clause = "WEAK-13", .name = "slot_inside_target", .thread = {weak_slot_inside_target}},
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "WEAK-03",
     .name = "null_for_good_while_it_dies",
     .setup = weak_share,
     .thread = {weak_release_strong, weak_lock_twice},
     .check = weak_check_died},
    {.clause = "WEAK-04",
     .name = "finalize_locks_beside_a_lock",
     .setup = weak_share_asking,
     .thread = {weak_release_strong, weak_lock_once},
     .check = weak_check_died},
    {.clause = "WEAK-04",
     .name = "finalize_locks_beside_two_locks",
     .setup = weak_share_asking,
     .thread = {weak_release_strong, weak_lock_once, weak_lock_once},
     .check = weak_check_died},
    {.clause = "WEAK-05",
     .name = "expired_as_the_lock_says",
     .setup = weak_share_asking,
     .thread = {weak_release_strong, weak_ask_expired},
     .check = weak_check_died},
    {.clause = "WEAK-06",
     .name = "exchanged_while_it_dies",
     .setup = weak_share,
     .thread = {weak_release_strong, weak_exchange_and_drop, weak_drop_own},
     .check = weak_check_died},
    {.clause = "WEAK-07",
     .name = "self_beside_others",
     .setup = weak_share_dropping,
     .thread = {weak_release_strong, weak_exchange_and_drop, weak_drop_own},
     .check = weak_check_died},
    {.clause = "WEAK-08",
     .name = "kept_while_others_go",
     .setup = weak_share_keeping,
     .thread = {weak_release_strong, weak_drop_own, weak_drop_own},
     .check = weak_check_died},
    {.clause = "WEAK-10",
     .name = "retained_while_it_dies",
     .setup = weak_share,
     .thread = {weak_release_strong, weak_exchange},
     .check = weak_check_died},
    {.clause = "WEAK-11",
     .name = "failing_lock_beside_the_last_releases",
     .setup = weak_share_dead,
     .thread = {weak_drop_own, weak_fail_and_drop, weak_fail_and_drop},
     .check = weak_check_died},
    {.clause = "WEAK-12",
     .name = "come_and_go_on_two_threads",
     .setup = weak_share_loan,
     .thread = {weak_make_and_drop, weak_make_and_drop},
     .check = weak_check_alive},
#endif
#endif
    {.clause = NULL},
};
