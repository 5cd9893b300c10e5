/* MEM: allocation, placement, leaks. One thread. Uses the checks of life.h.
 *
 * That each block comes back once, with its size, and with the zones around it untouched, is
 * checked by the heap itself, at the moment it comes back; that nothing writes to it later, at the
 * end.
 */

/* ---- Payloads of bytes ---- */

/* They have no room for a world, so what their finalize expects and counts lies here. One scenario
 * at a time uses it, and begins with mem_begin. */
static struct mem_record {
    uint64_t finalized;
    size_t size;           /* of the payload that dies next */
    unsigned char pattern; /* of its bytes */
} mem_record;

/* 0 and 0xff: these alone, as a count or flag in the payload would mistake them; else a
 * sequence. */
static inline unsigned char mem_byte(unsigned char pattern, size_t i)
{
    return pattern == 0 || pattern == 0xff ? pattern : (unsigned char)(pattern + 7 * i);
}

static inline void mem_fill(unsigned char *bytes, size_t size, unsigned char pattern)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = mem_byte(pattern, i);
    }
}

static inline void mem_expect(const unsigned char *bytes, size_t size, unsigned char pattern,
                              const char *expected)
{
    for (size_t i = 0; i < size; i++) {
        RCB_EXPECT(bytes[i] == mem_byte(pattern, i), expected,
                   "byte %zu of a payload of %zu is %u, not %u", i, size, bytes[i],
                   mem_byte(pattern, i));
    }
}

static void mem_finalize(void *payload)
{
    mem_expect(payload, mem_record.size, mem_record.pattern,
               "finalize sees the payload as written");
    mem_record.finalized++;
}

static inline void mem_begin(void)
{
    mem_record = (struct mem_record){0};
}

static inline rc_class mem_class_of(size_t size)
{
    return (rc_class){.name = "bytes", .payload_size = size, .finalize = mem_finalize};
}

/* An object of this class, filled; its finalize expects the same. */
static inline rc_strong mem_new(const rc_class *class, unsigned char pattern)
{
    rc_strong object = rc_new(class);
    RCB_EXPECT(!rc_is_null(object), "rc_new gives an object when memory is granted", "null");
    mem_fill(rc_payload(object), class->payload_size, pattern);
    mem_record.size = class->payload_size;
    mem_record.pattern = pattern;
    return object;
}

static inline void mem_expect_finalized(uint64_t wanted, const char *what)
{
    rcb_settle();
    RCB_EXPECT_EQ(mem_record.finalized, wanted, what);
}

static const size_t mem_sizes[] = {0,  1,  2,  7,  8,  9,   15,  16,  17,   24,   31,
                                   32, 33, 48, 63, 64, 100, 127, 128, 1000, 4096, 100000};

enum { MEM_SIZES = sizeof mem_sizes / sizeof mem_sizes[0] };

/* ---- MEM-01 ---- */

/* Payloads of every size die with one and with two handles: shows a block that leaks, goes
 * twice, or comes back with another size. */
static void mem_comes_back(rcb_world *world)
{
    (void)world;
    mem_begin();
    for (unsigned i = 0; i < MEM_SIZES; i++) {
        const rc_class class = mem_class_of(mem_sizes[i]);
        rc_release(mem_new(&class, 3));
        life_expect_no_memory("an object with one handle gives its memory back");
        rc_strong object = mem_new(&class, 5);
        rc_strong copy = rc_retain(object);
        rc_release(object);
        RCB_EXPECT(rcb_heap_live_blocks() > 0, "memory stays while a handle is held",
                   "none is live");
        rc_release(copy);
        life_expect_no_memory("an object with two handles gives its memory back");
    }
    mem_expect_finalized(2 * MEM_SIZES, "finalizers of all objects");
    RCB_EXPECT_EQ(rcb_heap_live_bytes(), 0, "live bytes");
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The same with weak handles that go before the object, after it, and on both sides: shows a
 * leak or a second free on one of these ways. */
static void mem_comes_back_weak(rcb_world *world)
{
    (void)world;
    mem_begin();
    for (unsigned i = 0; i < MEM_SIZES; i++) {
        const rc_class class = mem_class_of(mem_sizes[i]);
        rc_strong object = mem_new(&class, 3);
        rc_weak_release(rc_weak_new(object));
        rc_release(object);
        life_expect_no_memory("memory comes back when the weak handle goes first");

        object = mem_new(&class, 5);
        rc_weak weak = rc_weak_new(object);
        rc_release(object);
        rcb_settle();
        rc_weak_release(weak);
        life_expect_no_memory("memory comes back when the weak handle goes last");

        object = mem_new(&class, 7);
        rc_weak three[3] = {rc_weak_new(object), rc_weak_new(object), rc_weak_new(object)};
        rc_strong locked = rc_weak_lock(three[0]);
        rc_weak_release(three[0]);
        rc_release(object);
        rc_release(locked);
        rcb_settle();
        rc_weak_release(three[2]);
        rc_weak_release(three[1]);
        life_expect_no_memory("memory comes back with the last of three weak handles");
    }
    mem_expect_finalized(3 * MEM_SIZES, "finalizers of all objects");
}

/* An object that knows itself weakly, and one that its child knows: shows a leak where finalize
 * drops the last weak handle. */
static void mem_comes_back_self(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rcb_payload_of(object)->weak = rc_weak_new(object);
    rc_release(object);
    life_expect_no_memory("memory of an object that knows itself weakly comes back");
    object = rcb_new(world, 1);
    rcb_payload_of(object)->child = rcb_new(world, 2);
    rcb_payload_of(rcb_payload_of(object)->child)->weak = rc_weak_new(object);
    rc_release(object);
    life_expect_no_memory("memory of an object that its child knows weakly comes back");
}
#endif

/* ---- MEM-02 ---- */

enum { MEM_REQUESTS_MAX = 64 }; /* more for one operation are taken for a loop */

/* Refuses each request of rc_new in turn, until one call gets through. */
static inline void mem_refuse_new(const rc_class *class)
{
    for (uint64_t k = 1;; k++) {
        RCB_EXPECT(k <= MEM_REQUESTS_MAX, "rc_new makes a few requests", "more than %d",
                   MEM_REQUESTS_MAX);
        uint64_t blocks = rcb_heap_live_blocks();
        uint64_t bytes = rcb_heap_live_bytes();
        uint64_t finalized = mem_record.finalized;
        uint64_t requests = rcb_heap_requests();
        rcb_heap_refuse(k);
        rc_strong object = rc_new(class);
        bool refused = rcb_heap_requests() - requests >= k;
        rcb_heap_refuse(0);
        if (!refused) {
            RCB_EXPECT_FALSE(rc_is_null(object), "rc_new gives an object when nothing is refused");
            mem_fill(rc_payload(object), class->payload_size, 9);
            mem_record.size = class->payload_size;
            mem_record.pattern = 9;
            rc_release(object);
            mem_expect_finalized(finalized + 1, "finalizers of the object made at last");
            return;
        }
        RCB_EXPECT(rc_is_null(object), "rc_new gives null when a request is refused",
                   "an object, with request %" PRIu64 " refused", k);
        RCB_EXPECT(rc_payload(object) == NULL, "which lends NULL", "an address");
        RCB_EXPECT_EQ(rcb_heap_live_blocks(), blocks, "live blocks after a refusal");
        RCB_EXPECT_EQ(rcb_heap_live_bytes(), bytes, "live bytes after a refusal");
        mem_expect_finalized(finalized, "finalizers after a refusal");
    }
}

/* Every request of rc_new is refused once, for several sizes: shows a crash, an object without its
 * memory, a first block that leaks when the second is refused, and a hook run for nothing. */
static void mem_refused(rcb_world *world)
{
    (void)world;
    mem_begin();
    for (unsigned i = 0; i < MEM_SIZES; i += 3) {
        const rc_class class = mem_class_of(mem_sizes[i]);
        mem_refuse_new(&class);
        life_expect_no_memory("refusals leave no memory");
    }
}

/* The same beside a live object: shows a refusal that changes others. */
static void mem_refused_beside(rcb_world *world)
{
    mem_begin();
    rc_strong object = rcb_new(world, 0);
    rc_strong copy = rc_retain(object);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(object);
#endif
    const rc_class class = mem_class_of(40);
    mem_refuse_new(&class);
    mem_refuse_new(&class);
    life_expect_strong(object, 2, "strong references of another object after refusals");
    life_expect_payload(object, 0);
    life_expect_alive(world, 0, "refusals finalize nothing");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    life_expect_weak(object, 1, "weak references of another object after refusals");
    rc_weak_release(weak);
#endif
    rc_release(object);
    rc_release(copy);
    life_expect_died(world, 0, "the other object dies with its last handle");
}

/* ---- MEM-03 ---- */
#if (RC_IMPL_CAPS) & RC_CAP_WEAK

/* Refuses each request of rc_weak_new in turn, until one call gets through, which it returns. The
 * object has `strong` strong and `weak` weak handles. */
static inline rc_weak mem_refuse_weak_new(rc_strong object, uint64_t strong, uint64_t weak)
{
    for (uint64_t k = 1;; k++) {
        RCB_EXPECT(k <= MEM_REQUESTS_MAX, "rc_weak_new makes a few requests", "more than %d",
                   MEM_REQUESTS_MAX);
        uint64_t blocks = rcb_heap_live_blocks();
        uint64_t bytes = rcb_heap_live_bytes();
        uint64_t requests = rcb_heap_requests();
        rcb_heap_refuse(k);
        rc_weak made = rc_weak_new(object);
        bool refused = rcb_heap_requests() - requests >= k;
        rcb_heap_refuse(0);
        if (!refused) {
            RCB_EXPECT_FALSE(rc_weak_is_null(made), "rc_weak_new succeeds when nothing is refused");
            life_expect_weak(object, weak + 1, "weak references after rc_weak_new");
            return made;
        }
        RCB_EXPECT(rc_weak_is_null(made), "rc_weak_new gives null when a request is refused",
                   "a handle, with request %" PRIu64 " refused", k);
        RCB_EXPECT_EQ(rcb_heap_live_blocks(), blocks, "live blocks after a refusal");
        RCB_EXPECT_EQ(rcb_heap_live_bytes(), bytes, "live bytes after a refusal");
        life_expect_weak(object, weak, "weak references after a refusal");
        life_expect_strong(object, strong, "strong references after a refusal");
        if (LIFE_EXACT) {
            RCB_EXPECT_EQ(rc_is_unique(object), strong == 1 && weak == 0,
                          "unique (1) after a refusal, as before");
        }
    }
}

/* Every request of the first, second and third weak handle is refused once: shows a crash, a count
 * that moved before the request, and a refusal where nothing was asked for. */
static void mem_refused_weak(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_weak weak[3];
    weak[0] = mem_refuse_weak_new(object, 1, 0);
    rc_strong copy = rc_retain(object);
    weak[1] = mem_refuse_weak_new(copy, 2, 1);
    rc_release(copy);
    weak[2] = mem_refuse_weak_new(object, 1, 2);
    for (unsigned i = 0; i < 3; i++) {
        rc_strong locked = rc_weak_lock(weak[i]);
        RCB_EXPECT(rc_payload(locked) == rc_payload(object), "each weak handle can be locked",
                   "one cannot");
        rc_release(locked);
    }
    life_expect_alive(world, 0, "refusals finalize nothing");
    life_expect_payload(object, 0);
    rc_release(object);
    life_expect_died(world, 0, "the object dies with its last handle");
    for (unsigned i = 0; i < 3; i++) {
        rc_weak_release(weak[i]);
    }
    life_expect_no_memory("refusals leave no memory behind");
}
#endif

/* ---- MEM-04 ---- */

/* Payload sizes up to 512 below the largest number, and around half of it: shows a sum that
 * wraps, by which a small block is taken for a huge payload. */
static void mem_size_wraps(rcb_world *world)
{
    mem_begin();
    rc_strong object = rcb_new(world, 0);
    uint64_t blocks = rcb_heap_live_blocks();
    for (size_t below = 0; below <= 1024; below++) {
        size_t size = below <= 512 ? SIZE_MAX - below : SIZE_MAX / 2 - 256 + (below - 512);
        const rc_class class = mem_class_of(size);
        rc_strong huge = rc_new(&class);
        RCB_EXPECT(rc_is_null(huge), "a size that would wrap gives null",
                   "an object with a payload of %zu bytes", size);
        RCB_EXPECT_EQ(rcb_heap_live_blocks(), blocks, "live blocks after a size was refused");
    }
    mem_expect_finalized(0, "finalizers of objects that never were");
    life_expect_payload(object, 0);
    rc_release(object);
    life_expect_no_memory("refused sizes leave no memory");
}

/* ---- MEM-05 ---- */

/* Every size to 300 and some above, in a tight heap, where blocks are aligned to 16 and no more:
 * shows a header of odd size, and one that relies on a roomier allocator. */
static void mem_aligned(rcb_world *world)
{
    (void)world;
    mem_begin();
    rcb_heap_reset(RCB_PLACE_TIGHT);
    for (size_t size = 0; size <= 300; size++) {
        const rc_class class = mem_class_of(size < 300 ? size : 100000);
        rc_strong object = mem_new(&class, 11);
        uintptr_t address = (uintptr_t)rc_payload(object);
        RCB_EXPECT(address % _Alignof(max_align_t) == 0, "payloads are aligned for max_align_t",
                   "one of %zu bytes is at %zu beyond a multiple", class.payload_size,
                   (size_t)(address % _Alignof(max_align_t)));
        rc_release(object);
        mem_expect_finalized(size + 1, "finalizers of the objects that have died");
    }
}

/* ---- MEM-06 ---- */

/* Uses an object in every way that leaves it alive, and looks at its bytes after each. */
static inline void mem_use(rc_strong object, size_t size, unsigned char pattern)
{
    const unsigned char *bytes = rc_payload(object);
    rc_share(object);
    rc_strong copy = rc_retain(object);
    mem_expect(bytes, size, pattern, "rc_retain leaves the payload alone");
    rc_release(copy);
    mem_expect(bytes, size, pattern, "rc_release leaves a live payload alone");
    (void)rc_is_unique(object);
    (void)rc_use_count(object);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(object);
    rc_weak_release(rc_weak_retain(weak));
    mem_expect(bytes, size, pattern, "weak handles leave the payload alone");
    rc_release(rc_weak_lock(weak));
    mem_expect(bytes, size, pattern, "a lock leaves the payload alone");
    rc_weak_release(weak);
    mem_expect(bytes, size, pattern, "rc_weak_release leaves a live payload alone");
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    copy = rc_from_raw(rc_into_raw(rc_retain(object)));
    rc_release(copy);
    rc_release(rc_retain_raw(rc_payload(object)));
    mem_expect(bytes, size, pattern, "raw conversions leave the payload alone");
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    rc_wrapper_attach(object);
    rc_wrapper_detach(object);
    mem_expect(bytes, size, pattern, "attach and detach leave the payload alone");
#endif
    rcb_settle();
    mem_expect(bytes, size, pattern, "rc_quiesce leaves a live payload alone");
}

/* Every byte of payloads of many sizes is 0, then 0xff, then its own, while the object is used
 * in every way: shows a count, flag or link kept in the payload, and a payload that is too
 * short. */
static void mem_every_byte(rcb_world *world)
{
    (void)world;
    static const unsigned char patterns[3] = {0, 0xff, 0x35};
    mem_begin();
    for (unsigned i = 0; i < MEM_SIZES; i++) {
        const rc_class class = mem_class_of(mem_sizes[i]);
        for (unsigned p = 0; p < 3; p++) {
            rc_strong object = mem_new(&class, patterns[p]);
            mem_use(object, class.payload_size, patterns[p]);
            mem_expect_finalized(3 * i + p, "finalizers of objects used before");
            rc_release(object);
            mem_expect_finalized(3 * i + p + 1, "finalizers when the object has died");
        }
    }
    life_expect_no_memory("objects of bytes leave no memory");
}

/* ---- MEM-07 ---- */

/* Eight objects of eight sizes in a tight heap are used and die from the middle outwards: shows
 * a write beyond an object, and bits of a pointer taken for free that 16 bytes do not leave. */
static void mem_side_by_side(rcb_world *world)
{
    (void)world;
    static const size_t sizes[8] = {16, 1, 33, 0, 80, 15, 48, 17};
    static const unsigned order[8] = {3, 4, 2, 5, 1, 6, 0, 7};
    rc_class classes[8];
    rc_strong objects[8];
    mem_begin();
    rcb_heap_reset(RCB_PLACE_TIGHT);
    for (unsigned i = 0; i < 8; i++) {
        classes[i] = mem_class_of(sizes[i]);
        objects[i] = mem_new(&classes[i], (unsigned char)(20 + i));
    }
    for (unsigned i = 0; i < 8; i++) {
        mem_use(objects[i], sizes[i], (unsigned char)(20 + i));
        for (unsigned j = 0; j < 8; j++) {
            mem_expect(rc_payload(objects[j]), sizes[j], (unsigned char)(20 + j),
                       "the use of one object leaves those beside it alone");
            life_expect_strong(objects[j], 1, "strong references of an object beside it");
        }
    }
    for (unsigned n = 0; n < 8; n++) {
        unsigned dying = order[n];
        mem_record.size = sizes[dying];
        mem_record.pattern = (unsigned char)(20 + dying);
        rc_release(objects[dying]);
        mem_expect_finalized(n + 1, "finalizers of the objects that have died");
        for (unsigned later = n + 1; later < 8; later++) {
            unsigned j = order[later];
            mem_expect(rc_payload(objects[j]), sizes[j], (unsigned char)(20 + j),
                       "the death of one object leaves those beside it alone");
            life_expect_strong(objects[j], 1, "strong references of an object beside a dead one");
        }
    }
}

/* ---- MEM-08 ---- */

/* Two objects without a payload are used in every way and die in turn: shows one that is taken for
 * null, or for the other, or that has no room for its counts. */
static void mem_empty(rcb_world *world)
{
    (void)world;
    mem_begin();
    const rc_class class = mem_class_of(0);
    rc_strong objects[2] = {mem_new(&class, 0), mem_new(&class, 0)};
    RCB_EXPECT_FALSE(rc_is_null(objects[0]), "a handle of an empty object is not null");
    mem_use(objects[0], 0, 0);
    rc_strong copy = rc_retain(objects[0]);
    life_expect_strong(objects[0], 2, "strong references of an empty object");
    life_expect_strong(objects[1], 1, "strong references of another empty object");
    RCB_EXPECT_FALSE(rc_is_unique(copy), "an empty object with two handles is not unique");
    rc_release(copy);
    mem_expect_finalized(0, "finalizers while both are held");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(objects[0]);
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT_FALSE(rc_is_null(locked), "an empty object can be locked");
    rc_release(locked);
    mem_expect_finalized(0, "finalizers after a lock");
#endif
    rc_release(objects[0]);
    mem_expect_finalized(1, "finalizers when the first has died");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    RCB_EXPECT_TRUE(rc_weak_expired(weak), "the first has expired");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)), "the first cannot be locked");
    rc_weak_release(weak);
#endif
    life_expect_strong(objects[1], 1, "strong references of the second");
    rc_release(objects[1]);
    mem_expect_finalized(2, "finalizers when both have died");
    life_expect_no_memory("empty objects leave no memory");
}

/* ---- MEM-09 ---- */
#if ((RC_IMPL_CAPS)&RC_CAP_EARLY_FREE) && ((RC_IMPL_CAPS)&RC_CAP_WEAK)

/* A large object dies beside two weak handles, one of which goes later: shows a payload that stays
 * with the counts, on either way to zero. */
static void mem_early_free(rcb_world *world)
{
    (void)world;
    mem_begin();
    const rc_class class = mem_class_of(100000);
    for (unsigned shared = 0; shared < 2; shared++) {
        rc_strong object = mem_new(&class, 13);
        rc_weak weak[2] = {rc_weak_new(object), rc_weak_new(object)};
        rc_strong last = shared != 0 ? rc_weak_lock(weak[0]) : rc_retain(object);
        rc_release(object);
        RCB_EXPECT(rcb_heap_live_bytes() >= class.payload_size, "a live payload's memory stays",
                   "%" PRIu64 " bytes are live", rcb_heap_live_bytes());
        mem_expect(rc_payload(last), class.payload_size, 13, "a live payload stays as written");
        rc_release(last);
        mem_expect_finalized(shared + 1, "finalizers of the objects that have died");
        RCB_EXPECT(rcb_heap_live_bytes() < class.payload_size,
                   "a dead payload's memory has gone, weak handles or not",
                   "%" PRIu64 " bytes are live", rcb_heap_live_bytes());
        RCB_EXPECT_TRUE(rc_weak_expired(weak[0]), "the weak handles have expired");
        rc_weak_release(weak[0]);
        RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak[1])), "the last one cannot be locked");
        rc_weak_release(weak[1]);
        life_expect_no_memory("the rest goes with the last weak handle");
    }
}
#endif

/* ---- MEM-10 ---- */

/* Objects with a child, two handles and weak ones die while the k-th request is refused, anew
 * for each operation: shows a release that needs memory to put something off, and loses it. */
static void mem_release_refused(rcb_world *world)
{
    for (uint64_t k = 1; k <= 4; k++) {
        uint32_t id = (uint32_t)(k - 1) * 2;
        rc_strong parent = rcb_new(world, id);
        rcb_payload_of(parent)->child = rcb_new(world, id + 1);
        rc_strong copy = rc_retain(parent);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
        rc_weak weak = rc_weak_new(parent);
        rc_weak other = rc_weak_new(rcb_payload_of(parent)->child);
        rcb_payload_of(parent)->weak = rc_weak_new(parent);
        rcb_heap_refuse(k);
        rc_weak_release(other);
#endif
        rcb_heap_refuse(k);
        rc_release(parent);
        rcb_heap_refuse(k);
        rc_release(copy);
        rcb_heap_refuse(k);
        rcb_settle();
        rcb_heap_refuse(0);
        life_expect_died(world, id, "a release finalizes although memory is refused");
        life_expect_died(world, id + 1, "so does one inside finalize");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
        rcb_heap_refuse(k);
        rc_weak_release(weak);
        rcb_heap_refuse(0);
#endif
        life_expect_no_memory("releases free although memory is refused");
    }
}

/* ---- MEM-11 ---- */

/* Every operation but rc_new and rc_wrapper_attach, and the requests they make: shows which
 * implementation asks for memory, and where. */
static void mem_asks_for_none(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    uint64_t requests = rcb_heap_requests();
    rc_strong copy = rc_retain(object);
    RCB_EXPECT_EQ(rcb_heap_requests() - requests, 0, "requests of rc_retain");
    rc_release(copy);
    RCB_EXPECT_EQ(rcb_heap_requests() - requests, 0, "requests of rc_release");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(object);
    RCB_EXPECT_EQ(rcb_heap_requests() - requests, 0, "requests of rc_weak_new");
    rc_weak other = rc_weak_retain(weak);
    RCB_EXPECT_EQ(rcb_heap_requests() - requests, 0, "requests of rc_weak_retain");
    copy = rc_weak_lock(weak);
    RCB_EXPECT_EQ(rcb_heap_requests() - requests, 0, "requests of rc_weak_lock");
    rc_release(copy);
    rc_weak_release(other);
    RCB_EXPECT_EQ(rcb_heap_requests() - requests, 0, "requests of rc_weak_release");
    rc_release(object);
    rcb_settle();
    RCB_EXPECT_EQ(rcb_heap_requests() - requests, 0, "requests of the last rc_release");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)), "the object has died");
    rc_weak_release(weak);
#else
    rc_release(object);
    rcb_settle();
#endif
    RCB_EXPECT_EQ(rcb_heap_requests() - requests, 0, "requests of all that gives up a handle");
    life_expect_died(world, 0, "the last release finalizes");
}

static const rcb_scenario rcb_mem[] = {
    {.clause = "MEM-01", .name = "comes_back", .thread = {mem_comes_back}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "MEM-01",
     .name = "comes_back_weak",
     .needs = RC_CAP_WEAK,
     .thread = {mem_comes_back_weak}},
    {.clause = "MEM-01",
     .name = "comes_back_self",
     .needs = RC_CAP_WEAK,
     .thread = {mem_comes_back_self}},
#endif
    {.clause = "MEM-02", .name = "refused", .thread = {mem_refused}},
    {.clause = "MEM-02", .name = "refused_beside", .thread = {mem_refused_beside}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "MEM-03", .name = "refused_weak", .thread = {mem_refused_weak}},
#endif
    {.clause = "MEM-04", .name = "size_wraps", .thread = {mem_size_wraps}},
    {.clause = "MEM-05", .name = "aligned", .flags = RCB_OWN_HEAP, .thread = {mem_aligned}},
    {.clause = "MEM-06", .name = "every_byte", .thread = {mem_every_byte}},
    {.clause = "MEM-07",
     .name = "side_by_side",
     .flags = RCB_OWN_HEAP,
     .thread = {mem_side_by_side}},
    {.clause = "MEM-08", .name = "empty", .thread = {mem_empty}},
#if ((RC_IMPL_CAPS)&RC_CAP_EARLY_FREE) && ((RC_IMPL_CAPS)&RC_CAP_WEAK)
    {.clause = "MEM-09", .name = "early_free", .thread = {mem_early_free}},
#endif
    {.clause = "MEM-10", .name = "release_refused", .thread = {mem_release_refused}},
    {.clause = "MEM-11", .name = "asks_for_none", .thread = {mem_asks_for_none}},
    {.clause = NULL},
};
