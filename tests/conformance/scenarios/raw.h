/* RAW: a unit as a bare pointer. Uses the checks of life.h. */

#if (RC_IMPL_CAPS) & RC_CAP_RAW

/* ---- RAW-01 ---- */

/* A handle becomes a bare pointer beside another handle: shows one that counts, or gives the
 * header's address. */
static void raw_into(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_strong copy = rc_retain(object);
    void *raw = rc_into_raw(copy);
    RCB_EXPECT(raw == rc_payload(object), "rc_into_raw gives the payload pointer", "another");
    life_expect_strong(object, 2, "strong references after rc_into_raw");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    life_expect_weak(object, 0, "weak references after rc_into_raw");
#endif
    rc_release(object);
    life_expect_alive(world, 0, "rc_into_raw gives no unit up");
    rc_release(rc_from_raw(raw));
    life_expect_died(world, 0, "rc_into_raw adds no unit");
}

/* ---- RAW-02 ---- */

/* Three hundred round trips of the only unit: shows an adoption that adds a unit, strong or
 * weak, or takes one. */
static void raw_round_trips(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    void *payload = rc_payload(object);
    for (unsigned i = 0; i < 300; i++) {
        object = rc_from_raw(rc_into_raw(object));
        RCB_EXPECT(rc_payload(object) == payload, "rc_from_raw gives the same object", "another");
        life_expect_strong(object, 1, "strong references after a round trip");
    }
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    life_expect_weak(object, 0, "weak references after round trips");
#endif
    life_expect_alive(world, 0, "round trips give no unit up");
    rc_release(object);
    life_expect_died(world, 0, "round trips add no strong unit");
    life_expect_no_memory("round trips add no weak unit");
}

/* One of two units travels and comes back: shows an adoption that takes the object for unique. */
static void raw_from_shared(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    void *raw = rc_into_raw(rc_retain(object));
    rc_strong back = rc_from_raw(raw);
    life_expect_strong(object, 2, "strong references after rc_from_raw");
    rc_release(back);
    life_expect_alive(world, 0, "the other unit is left");
    life_expect_payload(object, 0);
    rc_release(object);
    life_expect_died(world, 0, "two releases for two units");
}

/* ---- RAW-03 ---- */

/* From a loan at one and at two strong references: shows a retain that adopts, or adds two. */
static void raw_retain(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_strong second = rc_retain_raw(rc_payload(object));
    RCB_EXPECT(rc_payload(second) == rc_payload(object), "rc_retain_raw gives that object",
               "another");
    life_expect_strong(object, 2, "strong references after rc_retain_raw");
    rc_strong third = rc_retain_raw(rc_payload(second));
    life_expect_strong(object, 3, "strong references after a second rc_retain_raw");
    rc_release(object);
    life_expect_alive(world, 0, "retained handles keep the object alive");
    rc_release(third);
    life_expect_alive(world, 0, "one retained handle keeps the object alive");
    life_expect_payload(second, 0);
    rc_release(second);
    life_expect_died(world, 0, "the last retained handle's release finalizes");
    life_expect_no_memory("rc_retain_raw adds no weak unit");
}

/* ---- RAW-04 ---- */

/* The only unit is a bare pointer while other handles come and go: shows one that holds nothing. */
static void raw_keeps_alive(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rcb_payload_of(object)->field[0] = 42;
    world->raw[0] = rc_into_raw(object);
    life_expect_alive(world, 0, "a bare pointer that carries the only unit keeps the object");
    rc_release(rc_retain_raw(world->raw[0]));
    life_expect_alive(world, 0, "so it does after another handle came and went");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_strong loan = rc_retain_raw(world->raw[0]);
    rc_weak weak = rc_weak_new(loan);
    rc_release(loan);
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT(rc_payload(locked) == world->raw[0], "it can be locked meanwhile", "it cannot");
    rc_release(locked);
    life_expect_alive(world, 0, "so it does after a lock");
    rc_weak_release(weak);
    life_expect_alive(world, 0, "so it does after a weak handle went");
#endif
    rc_strong back = rc_from_raw(world->raw[0]);
    life_expect_payload(back, 0);
    RCB_EXPECT_EQ(rcb_payload_of(back)->field[0], 42, "what was written before the journey");
    rc_release(back);
    life_expect_died(world, 0, "the unit that came back is the last");
}
/* The unit sets out beside another handle, which goes meanwhile: shows a unit that is given up when the
 * journey begins, and taken anew when it ends. */
static void raw_outlives_the_handle(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    world->raw[0] = rc_into_raw(rc_retain(object));
    life_expect_alive(world, 0, "an object lives while a handle and a bare pointer hold it");
    rc_release(object);
    life_expect_alive(world, 0, "a bare pointer that set out beside a handle keeps the object");
    rc_strong back = rc_from_raw(world->raw[0]);
    life_expect_payload(back, 0);
    rc_release(back);
    life_expect_died(world, 0, "the release of the unit that came back is the last");
}

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
/* A unit travels to thread 0 as a bare pointer; thread 1 has a handle, and makes another from a loan.
 * Whoever is last sees what both wrote. Shows a release of such a unit without the order of a handle's. */
static void raw_send(rcb_world *world)
{
    world->strong[1] = rcb_new(world, 0);
    rc_share(world->strong[1]);
    world->raw[0] = rc_into_raw(rc_retain(world->strong[1]));
}

static void raw_receive(rcb_world *world)
{
    rc_strong received = rc_from_raw(world->raw[0]);
    rcb_payload_of(received)->field[0] = 20;
    rc_release(received);
}

static void raw_borrow(rcb_world *world)
{
    rc_strong copy = rc_retain_raw(rc_payload(world->strong[1]));
    rcb_payload_of(copy)->field[1] = 21;
    rc_reset(&world->strong[1]);
    rc_release(copy);
}

static void raw_check_received(rcb_world *world)
{
    life_expect_died(world, 0, "the object dies with its last unit");
    RCB_EXPECT(world->seen[0][0] == 20 && world->seen[0][1] == 21,
               "finalize sees both threads' writes", "%" PRIu64 " and %" PRIu64, world->seen[0][0],
               world->seen[0][1]);
    life_expect_no_memory("it leaves no memory");
}
#endif
#endif

static const rcb_scenario rcb_raw[] = {
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    {.clause = "RAW-01", .name = "into", .thread = {raw_into}},
    {.clause = "RAW-02", .name = "round_trips", .thread = {raw_round_trips}},
    {.clause = "RAW-02", .name = "from_shared", .thread = {raw_from_shared}},
    {.clause = "RAW-03", .name = "retain", .thread = {raw_retain}},
    {.clause = "RAW-04", .name = "keeps_alive", .thread = {raw_keeps_alive}},
    {.clause = "RAW-04", .name = "outlives_the_handle", .thread = {raw_outlives_the_handle}},
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "RAW-04",
     .name = "travels_to_a_thread",
     .setup = raw_send,
     .thread = {raw_receive, raw_borrow},
     .check = raw_check_received},
#endif
#endif
    {.clause = NULL},
};
