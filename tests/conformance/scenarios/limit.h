/* LIMIT: the ends of the counts, which rc_test_preset makes reachable.
 *
 * What must happen one step beyond a limit depends on RC_IMPL_OVERFLOW: a trap (in checked builds, or in
 * all: RCB_TRAPS_ALWAYS), LIMIT-03 to LIMIT-07; or a count that is pinned, LIMIT-08 and LIMIT-09. Where
 * counts do not saturate, LIMIT-01 and LIMIT-02 look for one that is pinned all the same.
 * A preset count is taken back by another preset before the object dies: strong 1, and the weak handles
 * that there are.
 */
#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET

#if (RC_IMPL_OVERFLOW) == RC_OVERFLOW_TRAP
#define LIMIT_FLAGS RCB_TRAPS_ALWAYS
#else
#define LIMIT_FLAGS 0
#endif

enum { LIMIT_EXACT = ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) != 0 };

/* Ways to one more strong reference. They need weak[0] or the payload of `handle`. */
typedef rc_strong (*limit_raise)(rcb_world *world, rc_strong handle);

static rc_strong limit_retain(rcb_world *world, rc_strong handle)
{
    (void)world;
    return rc_retain(handle);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static rc_strong limit_lock(rcb_world *world, rc_strong handle)
{
    (void)handle;
    return rc_weak_lock(world->weak[0]);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW
static rc_strong limit_retain_raw(rcb_world *world, rc_strong handle)
{
    (void)world;
    return rc_retain_raw(rc_payload(handle));
}
#endif

static void limit_expect_strong(rc_strong handle, uint64_t wanted, const char *when)
{
    if (LIMIT_EXACT) {
        char what[160];
        snprintf(what, sizeof what, "strong references, %s", when);
        RCB_EXPECT_EQ(rc_use_count(handle), wanted, what);
    }
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static void limit_expect_weak(rc_strong handle, uint64_t wanted, const char *when)
{
    if (LIMIT_EXACT) {
        char what[160];
        snprintf(what, sizeof what, "weak handles, %s", when);
        RCB_EXPECT_EQ(rc_weak_count(handle), wanted, what);
    }
}
#endif

/* A new object, in strong[0]; with weak handles, one of them in weak[0]. */
static void limit_setup(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    rcb_payload_of(world->strong[0])->field[0] = UINT64_C(0x0123456789abcdef);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    world->weak[0] = rc_weak_new(world->strong[0]);
#endif
}

/* The counts that limit_setup left, after a preset. */
static void limit_preset(rcb_world *world, uint64_t strong)
{
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_test_preset(world->strong[0], strong, 1);
#else
    rc_test_preset(world->strong[0], strong, 0);
#endif
}

static void limit_finish(rcb_world *world)
{
    limit_preset(world, 1);
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while a handle is held");
    const rcb_payload *payload = rcb_payload_of(world->strong[0]);
    RCB_EXPECT(payload->canary == RCB_CANARY && payload->field[0] == UINT64_C(0x0123456789abcdef),
               "the payload is as it was left", "it was overwritten");
    rc_reset(&world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last release");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak_reset(&world->weak[0]);
#endif
}

/* ---- LIMIT-01 ---- */

/* One up to `strong` and one back, by one entry. Shows a limit that is one too low, a field that is
 * narrower than RC_IMPL_STRONG_MAX says, and a carry into a neighbour. */
static void limit_strong_to(rcb_world *world, limit_raise raise, uint64_t strong)
{
    limit_preset(world, strong - 1);
    limit_expect_strong(world->strong[0], strong - 1, "after a preset");
    rc_strong made = raise(world, world->strong[0]);
    RCB_EXPECT_FALSE(rc_is_null(made), "a raise up to the limit gives a handle");
    RCB_EXPECT_TRUE(rc_payload(made) == rc_payload(world->strong[0]), "it is of the same object");
    limit_expect_strong(made, strong, "after a raise");
    RCB_EXPECT_FALSE(rc_is_unique(made), "an object with many handles is not unique");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    limit_expect_weak(made, 1, "after a raise of the strong count");
#endif
    rc_release(made);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while many handles are held");
    limit_expect_strong(world->strong[0], strong - 1, "after a raise and a release");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    limit_expect_weak(world->strong[0], 1, "after a release");
#endif
}

/* At every power of two, and at the limit. */
static void limit_strong(rcb_world *world, limit_raise raise)
{
    limit_setup(world);
    for (uint64_t strong = 4; strong < RC_IMPL_STRONG_MAX && strong != 0; strong *= 2) {
        limit_strong_to(world, raise, strong);
    }
    limit_strong_to(world, raise, RC_IMPL_STRONG_MAX);
    limit_finish(world);
}

static void limit_strong_retain(rcb_world *world)
{
    limit_strong(world, limit_retain);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static void limit_strong_lock(rcb_world *world)
{
    limit_strong(world, limit_lock);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW
static void limit_strong_retain_raw(rcb_world *world)
{
    limit_strong(world, limit_retain_raw);
}
#endif

/* ---- LIMIT-02 ---- */

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static rc_weak limit_weak_raise(rcb_world *world, bool from_weak)
{
    return from_weak ? rc_weak_retain(world->weak[0]) : rc_weak_new(world->strong[0]);
}

/* As above for weak handles. Shows also a limit that leaves no room for the implicit weak, or a flag
 * above the field that is set by carry. */
static void limit_weak_to(rcb_world *world, bool from_weak, uint64_t weak)
{
    rc_test_preset(world->strong[0], 1, weak - 1);
    limit_expect_weak(world->strong[0], weak - 1, "after a preset");
    rc_weak made = limit_weak_raise(world, from_weak);
    RCB_EXPECT_FALSE(rc_weak_is_null(made), "a raise up to the limit gives a weak handle");
    limit_expect_weak(world->strong[0], weak, "after a raise");
    limit_expect_strong(world->strong[0], 1, "after a raise of the weak count");
    RCB_EXPECT_FALSE(rc_is_unique(world->strong[0]), "an object with weak handles is not unique");
    RCB_EXPECT_FALSE(rc_weak_expired(made), "the object is alive");
    rc_weak_release(made);
    limit_expect_weak(world->strong[0], weak - 1, "after a raise and a weak release");
    limit_expect_strong(world->strong[0], 1, "after a weak release");
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    RCB_EXPECT_FALSE(rc_has_wrapper(world->strong[0]), "weak handles set no wrapper's bit");
#endif
}

static void limit_weak(rcb_world *world, bool from_weak)
{
    limit_setup(world);
    for (uint64_t weak = 4; weak < RC_IMPL_WEAK_MAX && weak != 0; weak *= 2) {
        limit_weak_to(world, from_weak, weak);
    }
    limit_weak_to(world, from_weak, RC_IMPL_WEAK_MAX);
    limit_finish(world);
}

static void limit_weak_new(rcb_world *world)
{
    limit_weak(world, false);
}

static void limit_weak_retain(rcb_world *world)
{
    limit_weak(world, true);
}
#endif

/* ---- LIMIT-03, 04, 05, and 08 where counts saturate: one more than STRONG_MAX ---- */

#if (RC_IMPL_OVERFLOW) != RC_OVERFLOW_SATURATE
/* One more at the limit. Shows an entry without the check, a comparison that is never true, and a check
 * of a narrower or wider field than the count's. */
static void limit_beyond(rcb_world *world, limit_raise raise)
{
    limit_setup(world);
    limit_preset(world, RC_IMPL_STRONG_MAX);
    world->strong[1] = raise(world, world->strong[0]);
    rcb_settle();
}

/* The last free reference is taken first: the check does not rest on the preset. */
static void limit_beyond_by_two(rcb_world *world, limit_raise raise)
{
    limit_setup(world);
    limit_preset(world, RC_IMPL_STRONG_MAX - 1);
    world->strong[1] = raise(world, world->strong[0]);
    world->strong[2] = raise(world, world->strong[0]);
    rcb_settle();
}

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
/* Two threads want the last free reference: one of them is one too many. Shows a check that is not one
 * step with the change. */
static void limit_share_below(rcb_world *world)
{
    limit_setup(world);
    limit_preset(world, RC_IMPL_STRONG_MAX - 1);
    rc_share(world->strong[0]);
}

static void limit_thread_retain(rcb_world *world)
{
    world->strong[1 + rcb_thread_index()] = rc_retain(world->strong[0]);
}

static void limit_check_not_trapped(rcb_world *world)
{
    RCB_EXPECT(false, "one of two retains beyond the limit is trapped",
               "both returned; strong references: %" PRIu64, rc_use_count(world->strong[0]));
}
#endif
#else
/* One more at the limit, and the count is pinned there. Shows a count that wraps, traps, or says more. */
static void limit_beyond(rcb_world *world, limit_raise raise)
{
    limit_setup(world);
    limit_preset(world, RC_IMPL_STRONG_MAX);
    rc_strong made = raise(world, world->strong[0]);
    RCB_EXPECT_FALSE(rc_is_null(made), "a raise of a count that saturates gives a handle");
    RCB_EXPECT_EQ(rc_use_count(made), RC_IMPL_STRONG_MAX, "strong references of a saturated count");
    RCB_EXPECT_FALSE(rc_is_unique(made), "an object with a saturated count is not unique");
    rc_release(made);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers of an object with a saturated count");
}

static void limit_beyond_by_two(rcb_world *world, limit_raise raise)
{
    limit_setup(world);
    limit_preset(world, RC_IMPL_STRONG_MAX - 1);
    for (unsigned i = 1; i < 4; i++) {
        world->strong[i] = raise(world, world->strong[0]);
        RCB_EXPECT_EQ(rc_use_count(world->strong[0]), RC_IMPL_STRONG_MAX,
                      "strong references at the limit and beyond");
    }
}
#endif

static void limit_beyond_retain(rcb_world *world)
{
    limit_beyond(world, limit_retain);
}

static void limit_beyond_retain_by_two(rcb_world *world)
{
    limit_beyond_by_two(world, limit_retain);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static void limit_beyond_lock(rcb_world *world)
{
    limit_beyond(world, limit_lock);
}

static void limit_beyond_lock_by_two(rcb_world *world)
{
    limit_beyond_by_two(world, limit_lock);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW
static void limit_beyond_retain_raw(rcb_world *world)
{
    limit_beyond(world, limit_retain_raw);
}

static void limit_beyond_retain_raw_by_two(rcb_world *world)
{
    limit_beyond_by_two(world, limit_retain_raw);
}
#endif

/* ---- LIMIT-06, 07, and 09 where counts saturate: one more than WEAK_MAX ---- */

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
#if (RC_IMPL_OVERFLOW) != RC_OVERFLOW_SATURATE
/* As above for weak handles, with `strong` references: the limit does not depend on them. */
static void limit_beyond_weak(rcb_world *world, bool from_weak, uint64_t strong)
{
    limit_setup(world);
    rc_test_preset(world->strong[0], strong, RC_IMPL_WEAK_MAX);
    world->weak[1] = limit_weak_raise(world, from_weak);
    rcb_settle();
}
#else
static void limit_beyond_weak(rcb_world *world, bool from_weak, uint64_t strong)
{
    limit_setup(world);
    rc_test_preset(world->strong[0], strong, RC_IMPL_WEAK_MAX);
    rc_weak made = limit_weak_raise(world, from_weak);
    RCB_EXPECT_FALSE(rc_weak_is_null(made),
                     "a raise of a count that saturates gives a weak handle");
    RCB_EXPECT_EQ(rc_weak_count(world->strong[0]), RC_IMPL_WEAK_MAX,
                  "weak handles of a saturated count");
    rc_weak_release(made);
    RCB_EXPECT_EQ(rc_weak_count(world->strong[0]), RC_IMPL_WEAK_MAX,
                  "weak handles of a saturated count after a weak release");
    RCB_EXPECT_FALSE(rc_weak_expired(world->weak[0]), "the object is alive");
}
#endif

static void limit_beyond_weak_new(rcb_world *world)
{
    limit_beyond_weak(world, false, 1);
}

static void limit_beyond_weak_new_shared(rcb_world *world)
{
    limit_beyond_weak(world, false, RC_IMPL_STRONG_MAX);
}

static void limit_beyond_weak_retain(rcb_world *world)
{
    limit_beyond_weak(world, true, 1);
}

static void limit_beyond_weak_retain_shared(rcb_world *world)
{
    limit_beyond_weak(world, true, RC_IMPL_STRONG_MAX);
}
#endif

/* ---- LIMIT-08, LIMIT-09; or LIMIT-01, LIMIT-02 ---- */

#if (RC_IMPL_OVERFLOW) == RC_OVERFLOW_SATURATE
/* Pinned by one too many, then more releases than there were raises. Shows a count that is pinned on its
 * way up only. */
static void limit_pinned_strong(rcb_world *world)
{
    limit_setup(world);
    limit_preset(world, RC_IMPL_STRONG_MAX);
    rc_strong handle = world->strong[0];
    (void)rc_retain(handle);
    for (unsigned i = 0; i < 8; i++) {
        rc_release(handle);
        rcb_settle();
        RCB_EXPECT_EQ(rc_use_count(handle), RC_IMPL_STRONG_MAX,
                      "strong references of a saturated count after a release");
    }
    (void)rc_retain(handle);
    RCB_EXPECT_EQ(rc_use_count(handle), RC_IMPL_STRONG_MAX,
                  "strong references of a saturated count after a retain");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    RCB_EXPECT_FALSE(rc_weak_expired(world->weak[0]), "an object with a saturated count lives");
    RCB_EXPECT_FALSE(rc_is_null(rc_weak_lock(world->weak[0])), "it can be locked");
    rc_weak_reset(&world->weak[0]);
#endif
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers of an object with a saturated count");
    RCB_EXPECT_TRUE(rcb_heap_live_blocks() > 0, "its memory stays");
    RCB_EXPECT_EQ(rcb_payload_of(handle)->canary, RCB_CANARY, "its payload stays");
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The same for weak handles; then the object dies. Shows a block that goes, or an object that cannot. */
static void limit_pinned_weak(rcb_world *world)
{
    limit_setup(world);
    rc_test_preset(world->strong[0], 1, RC_IMPL_WEAK_MAX);
    rc_weak weak = world->weak[0];
    for (unsigned i = 0; i < 3; i++) {
        (void)rc_weak_new(world->strong[0]);
        (void)rc_weak_retain(weak);
        RCB_EXPECT_EQ(rc_weak_count(world->strong[0]), RC_IMPL_WEAK_MAX,
                      "weak handles beyond the limit");
    }
    for (unsigned i = 0; i < 8; i++) {
        rc_weak_release(weak);
        RCB_EXPECT_EQ(rc_weak_count(world->strong[0]), RC_IMPL_WEAK_MAX,
                      "weak handles of a saturated count after a weak release");
    }
    rc_reset(&world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last strong release");
    for (unsigned i = 0; i < 8; i++) {
        RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)), "a lock of a dead object gives null");
        rc_weak_release(weak);
        RCB_EXPECT_TRUE(rcb_heap_live_blocks() > 0, "the block stays");
    }
    world->weak[0] = rc_weak_null();
}
#endif
#else
/* The limit itself is reached and left. Shows a count that is pinned though RC_IMPL_OVERFLOW does not
 * say so: the object would never die. */
static void limit_strong_not_pinned(rcb_world *world)
{
    limit_setup(world);
    limit_preset(world, RC_IMPL_STRONG_MAX);
    rc_strong handle = world->strong[0];
    rc_release(handle);
    rc_release(handle);
    rcb_settle();
    limit_expect_strong(handle, RC_IMPL_STRONG_MAX - 2, "after two releases at the limit");
    limit_finish(world);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The same for weak handles. */
static void limit_weak_not_pinned(rcb_world *world)
{
    limit_setup(world);
    rc_test_preset(world->strong[0], 1, RC_IMPL_WEAK_MAX);
    rc_weak_release(world->weak[0]);
    rc_weak_release(world->weak[0]);
    limit_expect_weak(world->strong[0], RC_IMPL_WEAK_MAX - 2,
                      "after two weak releases at the limit");
    limit_finish(world);
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks after the last weak release");
}
#endif
#endif

/* ---- LIMIT-10 ---- */

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* Both counts at their limits at once, each moved there by its own operations, with a wrapper's bit where
 * there is one. Shows a field that spills into its neighbour. */
static void limit_neighbours(rcb_world *world)
{
    limit_setup(world);
    rc_strong handle = world->strong[0];
    rc_test_preset(handle, RC_IMPL_STRONG_MAX - 1, RC_IMPL_WEAK_MAX - 1);
    limit_expect_strong(handle, RC_IMPL_STRONG_MAX - 1, "after a preset of both");
    limit_expect_weak(handle, RC_IMPL_WEAK_MAX - 1, "after a preset of both");
    rc_strong copy = rc_retain(handle);
    limit_expect_strong(handle, RC_IMPL_STRONG_MAX, "at both limits");
    limit_expect_weak(handle, RC_IMPL_WEAK_MAX - 1, "when the strong count reached its limit");
    rc_weak weak = rc_weak_new(handle);
    limit_expect_strong(handle, RC_IMPL_STRONG_MAX, "when the weak count reached its limit");
    limit_expect_weak(handle, RC_IMPL_WEAK_MAX, "at both limits");
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    RCB_EXPECT_FALSE(rc_has_wrapper(handle), "counts at their limits set no wrapper's bit");
    rc_wrapper_attach(handle);
    RCB_EXPECT_TRUE(rc_has_wrapper(handle), "a wrapper can be attached at the limits");
    limit_expect_strong(handle, RC_IMPL_STRONG_MAX, "with a wrapper");
    limit_expect_weak(handle, RC_IMPL_WEAK_MAX, "with a wrapper");
#endif
    rc_weak_release(weak);
    limit_expect_strong(handle, RC_IMPL_STRONG_MAX, "when the weak count left its limit");
    limit_expect_weak(handle, RC_IMPL_WEAK_MAX - 1, "when the weak count left its limit");
    rc_release(copy);
    rcb_settle();
    limit_expect_strong(handle, RC_IMPL_STRONG_MAX - 1, "when the strong count left its limit");
    limit_expect_weak(handle, RC_IMPL_WEAK_MAX - 1, "when the strong count left its limit");
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    RCB_EXPECT_TRUE(rc_has_wrapper(handle), "the wrapper's bit survives at the limits");
    rc_wrapper_detach(handle);
    RCB_EXPECT_FALSE(rc_has_wrapper(handle), "a wrapper can be detached at the limits");
    limit_expect_strong(handle, RC_IMPL_STRONG_MAX - 1, "after detach");
    limit_expect_weak(handle, RC_IMPL_WEAK_MAX - 1, "after detach");
#endif
    limit_finish(world);
}

/* One count at its limit, the other at its least. */
static void limit_alone(rcb_world *world)
{
    limit_setup(world);
    rc_strong handle = world->strong[0];
    limit_preset(world, RC_IMPL_STRONG_MAX);
    rc_weak weak = rc_weak_new(handle);
    limit_expect_weak(handle, 2, "with the strong count at its limit");
    limit_expect_strong(handle, RC_IMPL_STRONG_MAX, "after a weak handle was made");
    rc_weak_release(weak);
    limit_expect_weak(handle, 1, "with the strong count at its limit");
    limit_expect_strong(handle, RC_IMPL_STRONG_MAX, "after a weak handle went");
    rc_test_preset(handle, 1, RC_IMPL_WEAK_MAX);
    rc_strong copy = rc_retain(handle);
    limit_expect_strong(handle, 2, "with the weak count at its limit");
    limit_expect_weak(handle, RC_IMPL_WEAK_MAX, "after a retain");
    rc_release(copy);
    rcb_settle();
    limit_expect_strong(handle, 1, "with the weak count at its limit");
    limit_expect_weak(handle, RC_IMPL_WEAK_MAX, "after a release");
    RCB_EXPECT_FALSE(rc_is_unique(handle), "an object with weak handles is not unique");
    limit_finish(world);
}

#if (RC_IMPL_OVERFLOW) == RC_OVERFLOW_SATURATE
/* One count pinned: the other goes on. */
static void limit_pinned_neighbour(rcb_world *world)
{
    limit_setup(world);
    rc_strong handle = world->strong[0];
    limit_preset(world, RC_IMPL_STRONG_MAX);
    for (unsigned i = 0; i < 4; i++) {
        (void)rc_retain(handle);
    }
    rc_weak weak = rc_weak_new(handle);
    RCB_EXPECT_EQ(rc_weak_count(handle), 2, "weak handles with the strong count pinned");
    rc_weak_release(weak);
    RCB_EXPECT_EQ(rc_weak_count(handle), 1, "weak handles with the strong count pinned");
    RCB_EXPECT_EQ(rcb_payload_of(handle)->field[0], UINT64_C(0x0123456789abcdef), "the payload");
    rc_weak_reset(&world->weak[0]);
}
#endif
#endif

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
/* ---- With threads ---- */

/* LIMIT-01. Two threads take the last two units below the limit, through main's handle, and give them
 * back. Shows a limit that is checked before the unit is added, or that one thread sees for another. */
static void limit_share_at(rcb_world *world, uint64_t strong)
{
    limit_setup(world);
    rc_share(world->strong[0]);
    limit_preset(world, strong);
}

static void limit_share_2_below(rcb_world *world)
{
    limit_share_at(world, RC_IMPL_STRONG_MAX - 2);
}

static void limit_up_and_down(rcb_world *world)
{
    rc_release(rc_retain(world->strong[0]));
}

static void limit_check_2_below(rcb_world *world)
{
    limit_expect_strong(world->strong[0], RC_IMPL_STRONG_MAX - 2,
                        "after two threads reached the limit and left it");
    limit_finish(world);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* LIMIT-02. The same for weak handles, one made and one retained. */
static void limit_share_weak_2_below(rcb_world *world)
{
    limit_setup(world);
    rc_share(world->strong[0]);
    rc_test_preset(world->strong[0], 1, RC_IMPL_WEAK_MAX - 2);
}

static void limit_weak_new_and_drop(rcb_world *world)
{
    rc_weak_release(rc_weak_new(world->strong[0]));
}

static void limit_weak_retain_and_drop(rcb_world *world)
{
    rc_weak_release(rc_weak_retain(world->weak[0]));
}

static void limit_check_weak_2_below(rcb_world *world)
{
    limit_expect_weak(world->strong[0], RC_IMPL_WEAK_MAX - 2,
                      "after two threads reached the limit and left it");
    limit_finish(world);
}

/* LIMIT-10. One thread reaches the strong limit while another reaches the weak one. */
static void limit_share_both_1_below(rcb_world *world)
{
    limit_setup(world);
    rc_share(world->strong[0]);
    rc_test_preset(world->strong[0], RC_IMPL_STRONG_MAX - 1, RC_IMPL_WEAK_MAX - 1);
}

static void limit_check_both_1_below(rcb_world *world)
{
    limit_expect_strong(world->strong[0], RC_IMPL_STRONG_MAX - 1, "after both reached their limits");
    limit_expect_weak(world->strong[0], RC_IMPL_WEAK_MAX - 1, "after both reached their limits");
    RCB_EXPECT_EQ(rcb_payload_of(world->strong[0])->field[0], UINT64_C(0x0123456789abcdef),
                  "the payload");
    limit_finish(world);
}
#endif

#if (RC_IMPL_OVERFLOW) == RC_OVERFLOW_SATURATE
/* LIMIT-08. The count is pinned before the threads; they release more than they retain. Shows a pin that
 * is put back in a second step, between which others see or lower the count. */
static void limit_share_pinned(rcb_world *world)
{
    limit_share_at(world, RC_IMPL_STRONG_MAX);
    (void)rc_retain(world->strong[0]);
}

static void limit_release_pinned(rcb_world *world)
{
    rc_release(world->strong[0]);
    RCB_EXPECT_EQ(rc_use_count(world->strong[0]), RC_IMPL_STRONG_MAX,
                  "strong references of a saturated count after a release");
    rc_release(world->strong[0]);
}

static void limit_retain_pinned(rcb_world *world)
{
    (void)rc_retain(world->strong[0]);
    RCB_EXPECT_EQ(rc_use_count(world->strong[0]), RC_IMPL_STRONG_MAX,
                  "strong references of a saturated count after a retain");
    rc_release(world->strong[0]);
}

static void limit_check_pinned(rcb_world *world)
{
    RCB_EXPECT_EQ(rc_use_count(world->strong[0]), RC_IMPL_STRONG_MAX,
                  "strong references of a saturated count after the threads");
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers of an object with a saturated count");
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* LIMIT-09. The same for weak handles. */
static void limit_share_weak_pinned(rcb_world *world)
{
    limit_setup(world);
    rc_share(world->strong[0]);
    rc_test_preset(world->strong[0], 1, RC_IMPL_WEAK_MAX);
    (void)rc_weak_new(world->strong[0]);
}

static void limit_release_weak_pinned(rcb_world *world)
{
    rc_weak_release(world->weak[0]);
    rc_weak_release(world->weak[0]);
}

static void limit_retain_weak_pinned(rcb_world *world)
{
    (void)rc_weak_retain(world->weak[0]);
    rc_weak_release(world->weak[0]);
}

static void limit_check_weak_pinned(rcb_world *world)
{
    RCB_EXPECT_EQ(rc_weak_count(world->strong[0]), RC_IMPL_WEAK_MAX,
                  "weak handles of a saturated count after the threads");
    rc_reset(&world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last strong release");
    RCB_EXPECT_TRUE(rcb_heap_live_blocks() > 0, "the block stays");
}
#endif
#endif
#endif

#endif

static const rcb_scenario rcb_limit[] = {
#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET
    {.clause = "LIMIT-01", .name = "retain_up_to_the_limit", .thread = {limit_strong_retain}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIMIT-01", .name = "lock_up_to_the_limit", .thread = {limit_strong_lock}},
    {.clause = "LIMIT-02", .name = "weak_new_up_to_the_limit", .thread = {limit_weak_new}},
    {.clause = "LIMIT-02", .name = "weak_retain_up_to_the_limit", .thread = {limit_weak_retain}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    {.clause = "LIMIT-01",
     .name = "retain_raw_up_to_the_limit",
     .thread = {limit_strong_retain_raw}},
#endif

#if (RC_IMPL_OVERFLOW) == RC_OVERFLOW_SATURATE
    {.clause = "LIMIT-08",
     .name = "retain_beyond_the_limit",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_beyond_retain}},
    {.clause = "LIMIT-08",
     .name = "retain_to_the_limit_and_beyond",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_beyond_retain_by_two}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIMIT-08",
     .name = "lock_beyond_the_limit",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_beyond_lock}},
    {.clause = "LIMIT-08",
     .name = "lock_to_the_limit_and_beyond",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_beyond_lock_by_two}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    {.clause = "LIMIT-08",
     .name = "retain_raw_beyond_the_limit",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_beyond_retain_raw}},
    {.clause = "LIMIT-08",
     .name = "retain_raw_to_the_limit_and_beyond",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_beyond_retain_raw_by_two}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIMIT-09",
     .name = "weak_new_beyond_the_limit",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_beyond_weak_new}},
    {.clause = "LIMIT-09",
     .name = "weak_new_beyond_with_both_at_the_limit",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_beyond_weak_new_shared}},
    {.clause = "LIMIT-09",
     .name = "weak_retain_beyond_the_limit",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_beyond_weak_retain}},
    {.clause = "LIMIT-09",
     .name = "weak_retain_beyond_with_both_at_the_limit",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_beyond_weak_retain_shared}},
#endif
    {.clause = "LIMIT-08",
     .name = "saturated_strong_count_stays",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_pinned_strong}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIMIT-09",
     .name = "saturated_weak_count_stays",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_pinned_weak}},
    {.clause = "LIMIT-10",
     .name = "the_other_count_goes_on",
     .flags = RCB_KEEPS_MEMORY,
     .thread = {limit_pinned_neighbour}},
#endif
#else
    {.clause = "LIMIT-03",
     .name = "retain_beyond_the_limit",
     .trap = RC_TRAP_STRONG_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .thread = {limit_beyond_retain}},
    {.clause = "LIMIT-03",
     .name = "retain_to_the_limit_and_beyond",
     .trap = RC_TRAP_STRONG_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .thread = {limit_beyond_retain_by_two}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIMIT-04",
     .name = "lock_beyond_the_limit",
     .trap = RC_TRAP_STRONG_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .thread = {limit_beyond_lock}},
    {.clause = "LIMIT-04",
     .name = "lock_to_the_limit_and_beyond",
     .trap = RC_TRAP_STRONG_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .thread = {limit_beyond_lock_by_two}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    {.clause = "LIMIT-05",
     .name = "retain_raw_beyond_the_limit",
     .trap = RC_TRAP_STRONG_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .thread = {limit_beyond_retain_raw}},
    {.clause = "LIMIT-05",
     .name = "retain_raw_to_the_limit_and_beyond",
     .trap = RC_TRAP_STRONG_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .thread = {limit_beyond_retain_raw_by_two}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIMIT-06",
     .name = "weak_new_beyond_the_limit",
     .trap = RC_TRAP_WEAK_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .thread = {limit_beyond_weak_new}},
    {.clause = "LIMIT-06",
     .name = "weak_new_beyond_with_both_at_the_limit",
     .trap = RC_TRAP_WEAK_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .thread = {limit_beyond_weak_new_shared}},
    {.clause = "LIMIT-07",
     .name = "weak_retain_beyond_the_limit",
     .trap = RC_TRAP_WEAK_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .thread = {limit_beyond_weak_retain}},
    {.clause = "LIMIT-07",
     .name = "weak_retain_beyond_with_both_at_the_limit",
     .trap = RC_TRAP_WEAK_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .thread = {limit_beyond_weak_retain_shared}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "LIMIT-03",
     .name = "two_threads_want_the_last",
     .needs = RC_CAP_THREADS,
     .trap = RC_TRAP_STRONG_OVERFLOW,
     .flags = LIMIT_FLAGS,
     .setup = limit_share_below,
     .thread = {limit_thread_retain, limit_thread_retain},
     .check = limit_check_not_trapped},
#endif
    {.clause = "LIMIT-01",
     .name = "the_limit_does_not_hold_the_count",
     .thread = {limit_strong_not_pinned}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIMIT-02",
     .name = "the_limit_does_not_hold_the_count",
     .thread = {limit_weak_not_pinned}},
#endif
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIMIT-10", .name = "both_counts_at_the_limit", .thread = {limit_neighbours}},
    {.clause = "LIMIT-10", .name = "one_count_at_the_limit", .thread = {limit_alone}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "LIMIT-01",
     .name = "two_threads_reach_the_limit",
     .needs = RC_CAP_THREADS,
     .setup = limit_share_2_below,
     .thread = {limit_up_and_down, limit_up_and_down},
     .check = limit_check_2_below},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIMIT-02",
     .name = "two_threads_reach_the_limit",
     .needs = RC_CAP_THREADS,
     .setup = limit_share_weak_2_below,
     .thread = {limit_weak_new_and_drop, limit_weak_retain_and_drop},
     .check = limit_check_weak_2_below},
    {.clause = "LIMIT-10",
     .name = "two_threads_reach_both_limits",
     .needs = RC_CAP_THREADS,
     .setup = limit_share_both_1_below,
     .thread = {limit_up_and_down, limit_weak_new_and_drop},
     .check = limit_check_both_1_below},
#endif
#if (RC_IMPL_OVERFLOW) == RC_OVERFLOW_SATURATE
    {.clause = "LIMIT-08",
     .name = "two_threads_at_a_saturated_count",
     .needs = RC_CAP_THREADS,
     .flags = RCB_KEEPS_MEMORY,
     .setup = limit_share_pinned,
     .thread = {limit_release_pinned, limit_retain_pinned},
     .check = limit_check_pinned},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "LIMIT-09",
     .name = "two_threads_at_a_saturated_count",
     .needs = RC_CAP_THREADS,
     .flags = RCB_KEEPS_MEMORY,
     .setup = limit_share_weak_pinned,
     .thread = {limit_release_weak_pinned, limit_retain_weak_pinned},
     .check = limit_check_weak_pinned},
#endif
#endif
#endif
#endif
    {.clause = NULL},
};
#undef LIMIT_FLAGS
