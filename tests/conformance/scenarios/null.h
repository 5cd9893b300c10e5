/* NULL: handles that own nothing. One thread. Uses the checks of life.h. */

static const rc_class null_empty_class = {.name = "empty"};

/* ---- NULL-01 ---- */

/* Null beside objects with and without a payload: shows a null that an object can equal. */
static void null_differs(rcb_world *world)
{
    RCB_EXPECT_TRUE(rc_is_null(rc_null()), "rc_null is null");
    RCB_EXPECT(rc_payload(rc_null()) == NULL, "null lends NULL", "an address");
    rc_strong object = rcb_new(world, 0);
    rc_strong empty[2] = {rc_new(&null_empty_class), rc_new(&null_empty_class)};
    RCB_EXPECT_FALSE(rc_is_null(object), "a handle of an object is not null");
    for (unsigned i = 0; i < 2; i++) {
        RCB_EXPECT_FALSE(rc_is_null(empty[i]), "a handle of an empty object is not null");
        rc_strong copy = rc_retain(empty[i]);
        RCB_EXPECT_FALSE(rc_is_null(copy), "nor is a retained one");
        rc_release(copy);
    }
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    empty[0] = rc_from_raw(rc_into_raw(empty[0]));
    RCB_EXPECT_FALSE(rc_is_null(empty[0]), "nor is one that travelled as a bare pointer");
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(empty[1]);
    RCB_EXPECT_FALSE(rc_weak_is_null(weak), "a weak handle of an empty object is not null");
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT_FALSE(rc_is_null(locked), "nor is a locked one");
    rc_release(locked);
    rc_weak_release(weak);
#endif
    RCB_EXPECT_TRUE(rc_is_null(rc_null()), "rc_null is null beside objects");
    rc_release(empty[0]);
    rc_release(empty[1]);
    rc_release(object);
    life_expect_no_memory("empty objects are freed like others");
}

/* An object in the first and in a later block of a tight heap: shows a null that is an address. */
static void null_differs_tight(rcb_world *world)
{
    rcb_heap_reset(RCB_PLACE_TIGHT);
    rc_strong objects[RCB_OBJECTS];
    for (uint32_t id = 0; id < RCB_OBJECTS; id++) {
        objects[id] = rcb_new(world, id);
        RCB_EXPECT_FALSE(rc_is_null(objects[id]), "a handle of an object is not null");
        RCB_EXPECT(rc_payload(objects[id]) != NULL, "an object's payload is not NULL", "NULL");
    }
    for (uint32_t id = 0; id < RCB_OBJECTS; id++) {
        rc_release(objects[id]);
        life_expect_died(world, id, "the release of a handle that is not null counts");
    }
}

/* ---- NULL-02 ---- */

/* More releases than retains of null, beside a live object: shows a null that is counted, that asks
 * for memory, or that stands for some object. */
static void null_counts_nothing(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rcb_settle();
    uint64_t requests = rcb_heap_requests();
    uint64_t blocks = rcb_heap_live_blocks();
    rc_strong copy = rc_retain(rc_null());
    RCB_EXPECT_TRUE(rc_is_null(copy), "rc_retain of null gives null");
    for (unsigned i = 0; i < 300; i++) {
        rc_release(rc_null());
        rc_share(rc_null());
    }
    rc_release(copy);
    RCB_EXPECT_TRUE(rc_is_null(rc_null()), "null is null after many releases");
    RCB_EXPECT_EQ(rcb_heap_requests(), requests, "requests for memory");
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), blocks, "live blocks");
    life_expect_strong(object, 1, "strong references of an object beside null");
    life_expect_alive(world, 0, "releases of null finalize nothing");
    life_expect_payload(object, 0);
    rc_release(object);
    life_expect_died(world, 0, "the object's own release finalizes");
}

/* ---- NULL-03 ---- */

/* Null is asked for its counts, before and after it was retained: shows one that claims an
 * owner. */
static void null_has_no_count(rcb_world *world)
{
    (void)world;
    for (unsigned i = 0; i < 3; i++) {
        RCB_EXPECT_EQ(rc_use_count(rc_null()), 0, "strong references of null");
        RCB_EXPECT_FALSE(rc_is_unique(rc_null()), "null is not unique");
        (void)rc_retain(rc_null());
    }
    rc_strong slot = rc_null();
    rc_reset(&slot);
    RCB_EXPECT_EQ(rc_use_count(slot), 0, "strong references of a reset slot");
    RCB_EXPECT_FALSE(rc_is_unique(slot), "a reset slot is not unique");
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK

/* ---- NULL-04 ---- */

/* Every weak operation on null: shows one that follows it, or that counts it. */
static void null_weak(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rcb_settle();
    uint64_t requests = rcb_heap_requests();
    RCB_EXPECT_TRUE(rc_weak_is_null(rc_weak_null()), "rc_weak_null is null");
    RCB_EXPECT_TRUE(rc_weak_expired(rc_weak_null()), "the null weak handle is expired");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(rc_weak_null())), "a lock of it gives null");
    rc_weak copy = rc_weak_retain(rc_weak_null());
    RCB_EXPECT_TRUE(rc_weak_is_null(copy), "rc_weak_retain of it gives null");
    for (unsigned i = 0; i < 300; i++) {
        rc_weak_release(copy);
    }
    RCB_EXPECT_TRUE(rc_weak_expired(copy), "the null weak handle stays expired");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(copy)), "a lock of it still gives null");
    RCB_EXPECT_EQ(rcb_heap_requests(), requests, "requests for memory");
    life_expect_weak(object, 0, "weak references of an object beside null");
    rc_release(object);
    life_expect_died(world, 0, "the object beside null dies as ever");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(rc_weak_null())), "a lock of null gives null");
}

/* ---- NULL-05 ---- */

/* A weak handle is made from null: shows one that is made of nothing, or that null counts. */
static void null_weak_of_null(rcb_world *world)
{
    uint64_t requests = rcb_heap_requests();
    rc_weak weak = rc_weak_new(rc_null());
    RCB_EXPECT_TRUE(rc_weak_is_null(weak), "rc_weak_new of null gives null");
    RCB_EXPECT_TRUE(rc_weak_expired(weak), "and it is expired");
    RCB_EXPECT_EQ(rc_weak_count(rc_null()), 0, "weak references of null");
    rc_weak_release(weak);
    RCB_EXPECT_EQ(rc_weak_count(rc_null()), 0, "weak references of null after a release");
    RCB_EXPECT_EQ(rcb_heap_requests(), requests, "requests for memory");
    rc_strong object = rcb_new(world, 0);
    weak = rc_weak_new(object);
    RCB_EXPECT_FALSE(rc_weak_is_null(weak), "rc_weak_new of an object does not give null");
    rc_release(object);
    rcb_settle();
    RCB_EXPECT_FALSE(rc_weak_is_null(weak), "an expired weak handle is not a null one");
    rc_weak_release(weak);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW

/* ---- NULL-06 ---- */

/* Null goes to a bare pointer and back: shows an offset that is added to NULL. */
static void null_raw(rcb_world *world)
{
    (void)world;
    uint64_t requests = rcb_heap_requests();
    RCB_EXPECT(rc_into_raw(rc_null()) == NULL, "rc_into_raw of null gives NULL", "an address");
    rc_strong back = rc_from_raw(NULL);
    RCB_EXPECT_TRUE(rc_is_null(back), "rc_from_raw of NULL gives null");
    RCB_EXPECT(rc_payload(back) == NULL, "which lends NULL", "an address");
    rc_strong retained = rc_retain_raw(NULL);
    RCB_EXPECT_TRUE(rc_is_null(retained), "rc_retain_raw of NULL gives null");
    RCB_EXPECT_EQ(rc_use_count(retained), 0, "strong references of it");
    rc_release(back);
    rc_release(retained);
    RCB_EXPECT_EQ(rcb_heap_requests(), requests, "requests for memory");
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER

/* ---- NULL-07 ---- */

/* Attach and detach of null, more than once: shows a null that remembers, or that traps. */
static void null_wrapper(rcb_world *world)
{
    (void)world;
    RCB_EXPECT_FALSE(rc_has_wrapper(rc_null()), "null has no wrapper");
    rc_wrapper_attach(rc_null());
    RCB_EXPECT_FALSE(rc_has_wrapper(rc_null()), "null has none after attach");
    rc_wrapper_attach(rc_null());
    rc_wrapper_detach(rc_null());
    rc_wrapper_detach(rc_null());
    rc_wrapper_detach(rc_null());
    RCB_EXPECT_FALSE(rc_has_wrapper(rc_null()), "null has none after detach");
    RCB_EXPECT_TRUE(rc_is_null(rc_retain(rc_null())), "null is as it was");
}
#endif

static const rcb_scenario rcb_null[] = {
    {.clause = "NULL-01", .name = "differs", .thread = {null_differs}},
    {.clause = "NULL-01",
     .name = "differs_tight",
     .flags = RCB_OWN_HEAP,
     .thread = {null_differs_tight}},
    {.clause = "NULL-02", .name = "counts_nothing", .thread = {null_counts_nothing}},
    {.clause = "NULL-03", .name = "has_no_count", .thread = {null_has_no_count}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "NULL-04", .name = "weak", .thread = {null_weak}},
    {.clause = "NULL-05", .name = "weak_of_null", .thread = {null_weak_of_null}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    {.clause = "NULL-06", .name = "raw", .thread = {null_raw}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    {.clause = "NULL-07", .name = "wrapper", .thread = {null_wrapper}},
#endif
    {.clause = NULL},
};
