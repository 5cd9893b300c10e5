#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "sabotage.h"

rcx_model rcx_now;

enum { BUCKETS = 256 };

static rcx_location *buckets[BUCKETS];
static uint16_t buckets_used[RCX_LOCATIONS_MAX];
static unsigned buckets_used_count;

bool rcx_model_start(void)
{
    rcx_now.locations = calloc(RCX_LOCATIONS_MAX, sizeof *rcx_now.locations);
    return rcx_now.locations != NULL;
}

void rcx_model_begin(unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) {
        rcx_now.threads[i] = (rcx_thread){.events = 0};
        rcx_now.threads[i].clock[i] = 1;
    }
    while (buckets_used_count > 0) {
        buckets[buckets_used[--buckets_used_count]] = NULL;
    }
    rcx_now.location_count = 0;
    rcx_now.event_count = 0;
    rcx_now.sequence = 1;
    rcx_now.sc = false;
    rcx_now.wide = false;
    rcx_now.full = NULL;
}

/* ---- Memory ---- */

rcx_value rcx_memory_get(uintptr_t address, unsigned size)
{
    rcx_value value = 0;
    memcpy(&value, (const void *)address, size);
    return value;
}

void rcx_memory_set(uintptr_t address, unsigned size, rcx_value value)
{
    rcx_undo_keep(address, size);
    memcpy((void *)address, &value, size);
}

rcx_value rcx_model_compute(rcx_function function, rcx_value old, rcx_value operand, unsigned size)
{
    rcx_value new = 0;
    switch (function) {
    case RCX_EXCHANGE:
        new = operand;
        break;
    case RCX_ADD:
        new = old + operand;
        break;
    case RCX_SUB:
        new = old - operand;
        break;
    case RCX_AND:
        new = old &operand;
        break;
    case RCX_OR:
        new = old | operand;
        break;
    case RCX_XOR:
        new = old ^ operand;
        break;
    case RCX_NAND:
        new = ~(old & operand);
        break;
    }
    return size < sizeof new ? new &(((rcx_value)1 << 8 * size) - 1) : new;
}

/* ---- Orders ---- */

static bool acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* ---- Locations ---- */

static unsigned bucket_of(uintptr_t address)
{
    return (unsigned)((address / 8 * UINT64_C(0x9e3779b97f4a7c15)) >> 56) % BUCKETS;
}

rcx_location *rcx_model_find(uintptr_t address, size_t size)
{
    /* A location of 16 bytes is found by its first granule. */
    uintptr_t granule = address / 8 - (rcx_now.wide ? 1 : 0);
    for (; granule <= (address + size - 1) / 8; granule++) {
        for (rcx_location *at = buckets[bucket_of(granule * 8)]; at != NULL; at = at->next) {
            if (at->address < address + size && address < at->address + at->size) {
                return at;
            }
        }
    }
    return NULL;
}

/* The value that a plain write left is in memory now. */
static void settle_plain(rcx_location *location)
{
    if (!location->plain_pending || RCX_SABOTAGED(plain_stores_unseen)) {
        return;
    }
    location->plain_pending = false;
    if (location->store_count == RCX_STORES_MAX) {
        rcx_now.full = "more than 128 stores to one location";
        return;
    }
    unsigned index = location->store_count++;
    location->stores[index] = (rcx_store){
        .value = rcx_memory_get(location->address, location->size),
        .thread = location->plain_thread,
        .time = location->plain_time,
        .event = RCX_NO_EVENT,
        .created = RCX_SABOTAGED(plain_wakes_nobody) ? 0 : ++rcx_now.sequence,
    };
    location->order[index] = (uint8_t)index;
    location->newest = location->stores[index].created;
}

rcx_location *rcx_model_location(uintptr_t address, unsigned size)
{
    rcx_location *found = rcx_model_find(address, size);
    if (found != NULL) {
        if (found->address != address || found->size != size) {
            rcx_now.full = "atomic operations of different sizes on the same memory";
            return NULL;
        }
        settle_plain(found);
        return found;
    }
    if (rcx_now.location_count == RCX_LOCATIONS_MAX) {
        rcx_now.full = "more than 96 atomic locations";
        return NULL;
    }
    found = &rcx_now.locations[rcx_now.location_count++];
    unsigned bucket = bucket_of(address);
    if (buckets[bucket] == NULL) {
        buckets_used[buckets_used_count++] = (uint16_t)bucket;
    }
    rcx_now.wide = rcx_now.wide || size > 8;
    found->address = address;
    found->size = size;
    found->next = buckets[bucket];
    found->newest = 0;
    found->plain_pending = false;
    found->store_count = 1;
    found->read_count = 0;
    found->order[0] = 0;
    found->stores[0] = (rcx_store){.value = rcx_memory_get(address, size), .thread = RCX_NOBODY};
    buckets[bucket] = found;
    return found;
}

static uint16_t location_index(const rcx_location *location)
{
    return (uint16_t)(location - rcx_now.locations);
}

/* ---- Reads ---- */

static unsigned place_of(const rcx_location *location, uint8_t store)
{
    unsigned place = 0;
    while (location->order[place] != store) {
        place++;
    }
    return place;
}

/* The place in modification order of the newest store that the thread knows of: written before, or read
 * before by whom it knows. */
static unsigned floor_of(unsigned thread, const rcx_location *location)
{
    rcx_clock clock = rcx_now.threads[thread].clock;
    unsigned floor = location->store_count - 1;
    for (; floor > 0; floor--) {
        const rcx_store *store = &location->stores[location->order[floor]];
        if (store->thread != RCX_NOBODY && rcx_clock_has(clock, store->thread, store->time) &&
            !RCX_SABOTAGED(stores_forgotten)) {
            break;
        }
    }
    for (unsigned i = 0; i < location->read_count; i++) {
        const rcx_read *read = &location->reads[i];
        if (rcx_clock_has(clock, read->thread, read->time) && !RCX_SABOTAGED(reads_forgotten)) {
            unsigned place = place_of(location, read->store);
            floor = place > floor ? place : floor;
        }
    }
    return floor;
}

unsigned rcx_model_readable(unsigned thread, const rcx_operation *operation, uint32_t since,
                            bool spurious, uint8_t *out)
{
    const rcx_location *location = operation->location;
    unsigned count = 0;
    unsigned floor = floor_of(thread, location);
    for (unsigned place = location->store_count; place-- > floor;) {
        uint8_t index = location->order[place];
        const rcx_store *store = &location->stores[index];
        bool last = place + 1 == location->store_count;
        bool taken = store->taken && !RCX_SABOTAGED(two_updates_of_one);
        if (since != 0 && store->created <= since && !RCX_SABOTAGED(takes_old_stores)) {
            continue;
        }
        switch (operation->kind) {
        case RCX_RMW:
            if (!taken && (last || !RCX_SABOTAGED(updates_read_last))) {
                out[count++] = index;
            }
            break;
        case RCX_LOCK:
            if ((store->value == 0 || RCX_SABOTAGED(lock_enters)) && !taken) {
                out[count++] = index;
            }
            break;
        case RCX_CAS:
            if (store->value != operation->expected) {
                if (last || !RCX_SABOTAGED(failure_reads_last)) {
                    out[count++] = index;
                }
                break;
            }
            if (!taken) {
                out[count++] = index;
            }
            if ((operation->weak || RCX_SABOTAGED(strong_fails)) && spurious &&
                !RCX_SABOTAGED(no_spurious_failure)) {
                out[count++] = index | RCX_SPURIOUS;
            }
            break;
        default:
            if (last || !RCX_SABOTAGED(no_stale_reads)) {
                out[count++] = index;
            }
            break;
        }
    }
    return count;
}

/* The thread's time goes up around each operation: clock.h. */
static void step_before(rcx_thread *self, unsigned thread)
{
    if (!RCX_SABOTAGED(no_time_before)) {
        self->clock[thread]++;
    }
}

static void step_after(rcx_thread *self, unsigned thread)
{
    if (!RCX_SABOTAGED(no_time_after)) {
        self->clock[thread]++;
    }
}

static rcx_event *log_event(unsigned thread, rcx_kind kind, int order, rcx_place place)
{
    if (rcx_now.event_count == RCX_EVENTS_MAX) {
        rcx_now.full = "more than 1,024 atomic operations";
        rcx_now.event_count--;
    }
    rcx_thread *self = &rcx_now.threads[thread];
    rcx_event *event = &rcx_now.events[rcx_now.event_count++];
    *event = (rcx_event){
        .kind = kind,
        .order = order,
        .thread = (uint8_t)thread,
        .number = (uint16_t)self->events,
        .place = place,
    };
    if (kind != RCX_GAP) {
        self->events++;
        self->gap_count = 0;
        rcx_now.sc = rcx_now.sc || order == __ATOMIC_SEQ_CST;
    }
    return event;
}

static void put_store(rcx_location *location, uint8_t index, unsigned place)
{
    memmove(&location->order[place + 1], &location->order[place], location->store_count - place);
    location->order[place] = index;
    location->store_count++;
    location->newest = rcx_now.sequence;
    if (place + 1 == location->store_count) {
        rcx_memory_set(location->address, location->size, location->stores[index].value);
    }
}

rcx_value rcx_model_read(unsigned thread, const rcx_operation *operation, uint8_t source,
                         bool *success)
{
    rcx_location *location = operation->location;
    rcx_thread *self = &rcx_now.threads[thread];
    bool spurious = (source & RCX_SPURIOUS) != 0;
    source &= (uint8_t)~RCX_SPURIOUS;
    rcx_store *from = &location->stores[source];
    *success = operation->kind != RCX_CAS || (!spurious && from->value == operation->expected);
    bool writes = operation->kind != RCX_LOAD && *success;
    int order = *success || RCX_SABOTAGED(failure_has_success_order) ? operation->order
                                                                     : operation->failure_order;

    step_before(self, thread);
    self->acquirable = RCX_SABOTAGED(fence_forgets)
                           ? from->released
                           : rcx_clock_join(self->acquirable, from->released);
    if ((acquires(order) || RCX_SABOTAGED(relaxed_acquires)) &&
        !(writes && RCX_SABOTAGED(updates_do_not_acquire))) {
        self->clock = rcx_clock_join(self->clock, from->released);
    }
    rcx_event *event = log_event(thread, operation->kind, order, operation->place);
    event->reads = true;
    event->spurious = spurious;
    event->location = location_index(location);
    event->source = source;
    event->time = self->clock[thread];
    event->clock = self->clock;
    event->read_value = from->value;
    if (location->read_count == RCX_READS_MAX || location->store_count == RCX_STORES_MAX) {
        rcx_now.full = "more than 128 stores to one location, or 512 reads";
        return from->value;
    }
    location->reads[location->read_count++] = (rcx_read){event->time, (uint8_t)thread, source};
    if (writes) {
        uint8_t index = (uint8_t)location->store_count;
        rcx_value new = operation->kind == RCX_RMW
                            ? rcx_model_compute(operation->function, from->value,
                                                operation->operand, location->size)
                            : operation->operand;
        rcx_clock continued = from->released;
        if (RCX_SABOTAGED(no_release_sequence)) {
            continued -= continued;
        }
        location->stores[index] = (rcx_store){
            .value = new,
            .released =
                rcx_clock_join(continued, releases(order) && !RCX_SABOTAGED(updates_do_not_release)
                                              ? self->clock
                                              : self->fence_released),
            .created = ++rcx_now.sequence,
            .time = event->time,
            .event = (uint16_t)(rcx_now.event_count - 1),
            .thread = (uint8_t)thread,
            .exchanged = true,
        };
        from->taken = true;
        event->writes = true;
        event->store = index;
        event->written_value = new;
        put_store(location, index, place_of(location, source) + 1);
    }
    step_after(self, thread);
    return from->value;
}

/* ---- Stores, fences, plain accesses ---- */

unsigned rcx_model_places(unsigned thread, const rcx_location *location, uint8_t *out)
{
    unsigned count = 0;
    unsigned floor = floor_of(thread, location);
    for (unsigned place = location->store_count; place > floor; place--) {
        bool last = place == location->store_count;
        bool inside = !last && location->stores[location->order[place]].exchanged &&
                      !RCX_SABOTAGED(between_update_and_source);
        if (!inside && (last || !RCX_SABOTAGED(no_middle))) {
            out[count++] = (uint8_t)place;
        }
    }
    return count;
}

static bool store_releases(const rcx_operation *operation)
{
    if (RCX_SABOTAGED(relaxed_releases)) {
        return true;
    }
    return releases(operation->order) &&
           !(operation->kind == RCX_UNLOCK && RCX_SABOTAGED(unlock_relaxed));
}

void rcx_model_store(unsigned thread, const rcx_operation *operation, uint8_t place)
{
    rcx_location *location = operation->location;
    rcx_thread *self = &rcx_now.threads[thread];
    step_before(self, thread);
    rcx_event *event = log_event(thread, operation->kind, operation->order, operation->place);
    event->writes = true;
    event->location = location_index(location);
    event->time = self->clock[thread];
    event->clock = self->clock;
    event->written_value = operation->operand;
    if (location->store_count == RCX_STORES_MAX) {
        rcx_now.full = "more than 128 stores to one location";
        return;
    }
    uint8_t index = (uint8_t)location->store_count;
    event->store = index;
    location->stores[index] = (rcx_store){
        .value = operation->operand,
        .released = store_releases(operation) ? self->clock : self->fence_released,
        .created = ++rcx_now.sequence,
        .time = event->time,
        .event = (uint16_t)(rcx_now.event_count - 1),
        .thread = (uint8_t)thread,
    };
    if (RCX_SABOTAGED(old_release_sequence) && place > 0 &&
        location->stores[location->order[place - 1]].thread == thread) {
        location->stores[index].released =
            rcx_clock_join(location->stores[index].released,
                           location->stores[location->order[place - 1]].released);
    }
    put_store(location, index, place);
    step_after(self, thread);
}

void rcx_model_fence(unsigned thread, int order, rcx_place place)
{
    rcx_thread *self = &rcx_now.threads[thread];
    step_before(self, thread);
    if (acquires(order) && !RCX_SABOTAGED(no_acquire_fence)) {
        self->clock = rcx_clock_join(self->clock, self->acquirable);
    }
    if (releases(order) && !RCX_SABOTAGED(no_release_fence)) {
        self->fence_released = self->clock;
    }
    rcx_event *event = log_event(thread, RCX_FENCE, order, place);
    event->time = self->clock[thread];
    event->clock = self->clock;
    step_after(self, thread);
}

/* A plain access is an event for psc, between atomic ones of other locations. It may lie where an atomic
 * location is, now or later. Two of different places between two atomic operations are enough: one of
 * them is not at the location in question. */
static void log_gap(unsigned thread, uintptr_t address, size_t size)
{
    rcx_thread *self = &rcx_now.threads[thread];
    if (self->gap_count == RCX_GAPS_MAX ||
        (self->gap_count > 0 && address < self->gap_address + self->gap_size &&
         self->gap_address < address + size)) {
        return;
    }
    rcx_event *event = log_event(thread, RCX_GAP, __ATOMIC_RELAXED, 0);
    event->time = self->clock[thread];
    event->clock = self->clock;
    event->gap_address = address;
    event->gap_size = size;
    self->gap_count++;
    self->gap_address = address;
    self->gap_size = size;
}

void rcx_model_plain(unsigned thread, uintptr_t address, size_t size, bool writes)
{
    rcx_thread *self = &rcx_now.threads[thread];
    if (rcx_now.sc && !RCX_SABOTAGED(psc_no_plain)) {
        log_gap(thread, address, size);
    }
    if (!writes || rcx_now.location_count == 0) {
        return;
    }
    uintptr_t end = address + size;
    for (unsigned i = 0; i < rcx_now.location_count; i++) {
        rcx_location *location = &rcx_now.locations[i];
        if (location->address < end && address < location->address + location->size) {
            settle_plain(location);
            location->plain_pending = true;
            location->plain_thread = (uint8_t)thread;
            location->plain_time = self->clock[thread];
            location->newest = RCX_SABOTAGED(plain_wakes_nobody) ? 0 : ++rcx_now.sequence;
        }
    }
}

void rcx_model_freed(uintptr_t address, size_t size)
{
    for (unsigned i = 0; i < rcx_now.location_count; i++) {
        rcx_location *location = &rcx_now.locations[i];
        if (location->address < address + size && address < location->address + location->size) {
            location->newest = RCX_SABOTAGED(free_wakes_nobody) ? 0 : ++rcx_now.sequence;
        }
    }
}

/* ---- Hash ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* A store's name that does not depend on when it was made. */
static uint64_t store_name(const rcx_store *store)
{
    if (store->thread == RCX_NOBODY) {
        return 1;
    }
    if (store->event == RCX_NO_EVENT) {
        return (uint64_t)1 << 32 | (uint64_t)store->thread << 16 | store->time;
    }
    return 2 + (uint64_t)store->thread * 65536 + rcx_now.events[store->event].number;
}

uint64_t rcx_model_hash(void)
{
    uint64_t threads[RCX_THREADS_MAX] = {0};
    for (unsigned i = 0; i < rcx_now.event_count; i++) {
        const rcx_event *event = &rcx_now.events[i];
        if (event->kind == RCX_GAP) {
            continue;
        }
        const rcx_location *location = &rcx_now.locations[event->location];
        uint64_t *hash = &threads[event->thread];
        *hash = mix(*hash, (uint64_t)event->kind * 4 + event->spurious * 2 + event->writes);
        if (event->kind != RCX_FENCE) {
            *hash = mix(*hash, location->address);
        }
        if (event->reads) {
            *hash = mix(*hash, store_name(&location->stores[event->source]));
        }
    }
    uint64_t whole = 0;
    for (unsigned i = 0; i < RCX_THREADS_MAX; i++) {
        whole = mix(whole, threads[i]);
    }
    uint64_t orders = 0;
    for (unsigned i = 0; i < rcx_now.location_count; i++) {
        const rcx_location *location = &rcx_now.locations[i];
        uint64_t hash = location->address;
        for (unsigned place = 0; place < location->store_count; place++) {
            hash = mix(hash, store_name(&location->stores[location->order[place]]));
        }
        orders += mix(hash, 7); /* whatever the order in which locations were met */
    }
    return mix(whole, orders);
}
