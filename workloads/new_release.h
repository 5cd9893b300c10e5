/* new_release: what does an object's whole life cost, birth to last release?
 *
 * One operation: rc_new of a 48-byte payload, one store to it, rc_release. The object is unique when
 * it goes, so a strategy may skip the read-modify-write.
 * Left out: finalizers, and reuse patterns: the block just freed is the next one given, the
 * allocator's best case. The floor is a bare allocate and free of the same size as packed64's.
 */
static const rc_class new_release_class = {.name = "new_release", .payload_size = 48};

static uint64_t new_release_run(rcl_thread *thread, uint64_t operations)
{
    (void)thread;
    for (uint64_t i = 0; i < operations; i++) {
        rc_strong object = rc_new(&new_release_class);
        if (rc_is_null(object)) {
            return i;
        }
        *(uint64_t *)rc_payload(object) = i;
        rcl_escape(rc_payload(object));
        rc_release(object);
        rcl_clobber();
        rcl_objects_are_dead();
    }
    return operations;
}

static const rcl_variant new_release_variants[] = {{.name = "-"}};

static const rcl_workload new_release_workload = {
    .name = "new_release",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .allocates = true,
    .variants = new_release_variants,
    .variant_count = 1,
    .run = new_release_run,
};
