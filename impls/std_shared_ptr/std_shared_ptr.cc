/* std_shared_ptr: the contract's operations as calls into libstdc++. See rc.h. */
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "contract.h"

#include "calls.h"

#ifndef __GLIBCXX__
#error "std_shared_ptr: this reads the control block of libstdc++; compile with -stdlib=libstdc++"
#endif

namespace
{

using handle_bits = std_shared_ptr_handle;

/* ---- The object: a class pointer, then the payload, in the block's own allocation ---- */

struct object;

void *payload_of(void *object)
{
    return static_cast<char *>(object) + STD_SHARED_PTR_HEAD_BYTES;
}

/* Checked builds: 1 while finalize is running, in the 16 bytes before the payload. Outside the
 * object, whose own bytes end with its destructor. */
std::uint64_t *finalizing_mark(void *object)
{
    return reinterpret_cast<std::uint64_t *>(static_cast<char *>(object) + sizeof(void *));
}

void set_finalizing(void *object, std::uint64_t value)
{
    if (RC_CHECKED) {
        /* M1 RELAXED: orders nothing; only the checks of weak operations read it. */
        __atomic_store_n(finalizing_mark(object), value, __ATOMIC_RELAXED);
    }
}

struct object {
    const rc_class *const its_class;

    explicit object(const rc_class *of) : its_class(of)
    {
        set_finalizing(this, 0);
    }

    object(const object &) = delete;
    object &operator=(const object &) = delete;

    ~object()
    {
        set_finalizing(this, 1);
        if (its_class->finalize != nullptr) {
            its_class->finalize(payload_of(this));
        }
        set_finalizing(this, 0);
    }
};

static_assert(sizeof(object) == sizeof(void *),
              "the payload begins right behind the class pointer");

/* Takes block and payload as one piece from the contract's memory. */
template <typename T> struct allocator {
    using value_type = T;

    const rc_class *its_class;

    explicit allocator(const rc_class *of) noexcept : its_class(of)
    {
    }

    template <typename U>
    allocator(const allocator<U> &other) noexcept : its_class(other.its_class) // NOLINT: converts
    {
    }

    /* libstdc++ asks for one block. The object is its last member (std_shared_ptr_layout_fault). */
    static constexpr std::size_t block_bytes()
    {
        static_assert((sizeof(T) + STD_SHARED_PTR_HEAD_BYTES - sizeof(object)) %
                              alignof(std::max_align_t) ==
                          0,
                      "the payload must be aligned for any object");
        return sizeof(T) + STD_SHARED_PTR_HEAD_BYTES - sizeof(object);
    }

    T *allocate(std::size_t)
    {
        void *block = nullptr;
        if (its_class->payload_size <= SIZE_MAX - block_bytes()) {
            block = rc_mem_alloc(block_bytes() + its_class->payload_size);
        }
        if (block == nullptr) {
            throw std::bad_alloc();
        }
        return static_cast<T *>(block);
    }

    void deallocate(T *block, std::size_t) noexcept
    {
        rc_mem_free(block, block_bytes() + its_class->payload_size);
    }

    template <typename U> bool operator==(const allocator<U> &other) const noexcept
    {
        return its_class == other.its_class;
    }
};

/* ---- Handles as the library's pointers ---- */

using strong_pointer = std::shared_ptr<object>;
using weak_pointer = std::weak_ptr<object>;
using library_block = std::_Sp_counted_base<__gnu_cxx::__default_lock_policy>;

// NOLINTBEGIN(misc-redundant-expression): the check takes one size for another.
static_assert(sizeof(strong_pointer) == sizeof(handle_bits) &&
                  sizeof(weak_pointer) == sizeof(handle_bits) &&
                  alignof(strong_pointer) == alignof(handle_bits),
              "a handle holds a pointer of the library bit for bit");
// NOLINTEND(misc-redundant-expression)

/* Storage that holds a pointer of the library without running its constructor or destructor: a
 * handle's unit neither rises nor falls on the way in and out. */
template <typename Pointer> class bits
{
  public:
    explicit bits(handle_bits handle)
    {
        std::memcpy(storage, &handle, sizeof handle);
    }

    explicit bits(Pointer &&pointer)
    {
        new (storage) Pointer(std::move(pointer));
    }

    Pointer &pointer()
    {
        return *std::launder(reinterpret_cast<Pointer *>(storage));
    }

    handle_bits handle() const
    {
        handle_bits handle;
        std::memcpy(&handle, storage, sizeof handle);
        return handle;
    }

    /* Gives up the unit. */
    void destroy()
    {
        pointer().~Pointer();
    }

  private:
    alignas(Pointer) unsigned char storage[sizeof(Pointer)];
};

/* ---- Both counts at once ---- */

struct counts {
    std::uint32_t use;
    std::uint32_t weak; /* handles, and the implicit one */
};

/* The two ints behind the block's vtable pointer, which libstdc++ itself reads as one word. */
std::uint64_t *word_of(void *block)
{
    return reinterpret_cast<std::uint64_t *>(static_cast<char *>(block) + sizeof(void *));
}

counts read_counts(void *block)
{
    /* U1 ACQUIRE: pairs with the library's ACQ_REL decrements of both counts, so that use 1 and
     * weak 1 put everybody's uses before what the caller writes. */
    std::uint64_t word = __atomic_load_n(word_of(block), __ATOMIC_ACQUIRE);
    counts both;
    std::memcpy(&both, &word, sizeof both);
    return both;
}

/* Handles among the weak units. Exact in checked builds; else one too many while finalize runs. */
std::uint32_t weak_handles(handle_bits handle, counts both)
{
    bool implicit = both.use > 0;
    if (RC_CHECKED && !implicit && both.weak > 0) {
        implicit = __atomic_load_n(finalizing_mark(handle.object), __ATOMIC_RELAXED) != 0;
    }
    return both.weak - (implicit ? 1U : 0U);
}

constexpr std::uint32_t strong_max = 0x7fffffff;
constexpr std::uint32_t weak_max = 0x7ffffffe;

/* Traps if a strong unit more would be one too many, or if that has happened. */
void check_strong_limit(handle_bits handle, std::uint32_t most)
{
    if (read_counts(handle.block).use > most) {
        rc_trap(RC_TRAP_STRONG_OVERFLOW, payload_of(handle.object));
    }
}

/* After a weak unit was taken, which keeps the block: traps if it was one too many. */
void check_weak_limit(handle_bits handle, counts after)
{
    if (weak_handles(handle, after) > weak_max) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, payload_of(handle.object));
    }
}

constexpr handle_bits null_handle = {nullptr, nullptr};

/* A copy of a std::shared_ptr adds without a look; this looks and adds in one step. */
handle_bits retain_checked(handle_bits strong)
{
    check_strong_limit(strong, strong_max - 1);
    /* The library's own step from n > 0 to n + 1, the one behind std::weak_ptr::lock. */
    if (!static_cast<library_block *>(strong.block)->_M_add_ref_lock_nothrow()) {
        rc_trap(RC_TRAP_RETAIN_DEAD, payload_of(strong.object));
    }
    check_strong_limit(strong, strong_max);
    return strong;
}

} // namespace

extern "C" {

/* ---- Handles and objects ---- */

handle_bits std_shared_ptr_new(const rc_class *its_class)
{
    try {
        return bits<strong_pointer>(
                   std::allocate_shared<object>(allocator<object>(its_class), its_class))
            .handle();
    } catch (const std::bad_alloc &) {
        return null_handle;
    }
}

handle_bits std_shared_ptr_retain(handle_bits strong)
{
    if (RC_CHECKED && strong.object != nullptr) {
        return retain_checked(strong);
    }
    bits<strong_pointer> given(strong);
    return bits<strong_pointer>(strong_pointer(given.pointer())).handle();
}

void std_shared_ptr_release(handle_bits strong)
{
    if (RC_CHECKED && strong.object != nullptr && read_counts(strong.block).use == 0) {
        rc_trap(RC_TRAP_RELEASE_DEAD, payload_of(strong.object));
    }
    bits<strong_pointer>(strong).destroy();
}

bool std_shared_ptr_is_unique(handle_bits strong)
{
    if (strong.object == nullptr) {
        return false;
    }
    counts both = read_counts(strong.block);
    return both.use == 1 && both.weak == 1;
}

std::uint64_t std_shared_ptr_use_count(handle_bits strong)
{
    return static_cast<std::uint64_t>(bits<strong_pointer>(strong).pointer().use_count());
}

/* ---- Weak handles ---- */

handle_bits std_shared_ptr_weak_new(handle_bits strong)
{
    bits<strong_pointer> given(strong);
    handle_bits weak = bits<weak_pointer>(weak_pointer(given.pointer())).handle();
    if (RC_CHECKED && strong.object != nullptr) {
        counts after = read_counts(weak.block);
        if (after.use == 0) {
            rc_trap(RC_TRAP_RETAIN_DEAD, payload_of(strong.object));
        }
        check_weak_limit(weak, after);
    }
    return weak;
}

handle_bits std_shared_ptr_weak_retain(handle_bits weak)
{
    bits<weak_pointer> given(weak);
    handle_bits made = bits<weak_pointer>(weak_pointer(given.pointer())).handle();
    if (RC_CHECKED && weak.object != nullptr) {
        check_weak_limit(made, read_counts(made.block));
    }
    return made;
}

void std_shared_ptr_weak_release(handle_bits weak)
{
    if (RC_CHECKED && weak.object != nullptr) {
        counts both = read_counts(weak.block);
        if (both.weak == 0 || weak_handles(weak, both) == 0) {
            rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, payload_of(weak.object));
        }
    }
    bits<weak_pointer>(weak).destroy();
}

handle_bits std_shared_ptr_weak_lock(handle_bits weak)
{
    if (RC_CHECKED && weak.object != nullptr) {
        check_strong_limit(weak, strong_max - 1);
    }
    bits<weak_pointer> given(weak);
    handle_bits strong = bits<strong_pointer>(given.pointer().lock()).handle();
    if (RC_CHECKED && strong.object != nullptr) {
        check_strong_limit(strong, strong_max);
    }
    return strong;
}

bool std_shared_ptr_weak_expired(handle_bits weak)
{
    return bits<weak_pointer>(weak).pointer().expired();
}

std::uint64_t std_shared_ptr_weak_count(handle_bits strong)
{
    if (strong.object == nullptr) {
        return 0;
    }
    return weak_handles(strong, read_counts(strong.block));
}

/* ---- What the code above assumes of the library ---- */

const char *std_shared_ptr_layout_fault(void)
{
    static const rc_class probe_class = {
        "std_shared_ptr_probe", 48, nullptr, nullptr, nullptr, nullptr};
    const char *fault = nullptr;
    handle_bits first = std_shared_ptr_new(&probe_class);
    if (first.object == nullptr) {
        return "memory for the probe was refused";
    }
    bits<strong_pointer> strong(first);
    bits<weak_pointer> weak(std_shared_ptr_weak_new(first));
    strong_pointer second(strong.pointer());
    counts both = read_counts(first.block);

    if (strong.pointer().get() != first.object || strong.pointer()->its_class != &probe_class) {
        fault = "a std::shared_ptr does not begin with its object";
    } else if (weak.handle().object != first.object || weak.handle().block != first.block) {
        fault = "a std::weak_ptr is not laid out as a std::shared_ptr";
    } else if (both.use != 2 || both.weak != 2 || strong.pointer().use_count() != 2) {
        fault = "the control block is not vtable, use, weak";
    } else if (static_cast<char *>(first.object) - static_cast<char *>(first.block) != 24) {
        fault = "the object is not the last member of a control block of 32 bytes";
    }
    second.reset();
    weak.destroy();
    both = read_counts(first.block);
    if (fault == nullptr && (both.use != 1 || both.weak != 1)) {
        fault = "a unique object does not read use 1 and weak 1";
    }
    strong.destroy();
    return fault;
}

#if RC_PRESET
void std_shared_ptr_test_preset(handle_bits strong, std::uint64_t use, std::uint64_t weak)
{
    counts both = {static_cast<std::uint32_t>(use),
                   static_cast<std::uint32_t>(weak + (use > 0 ? 1 : 0))};
    std::uint64_t word;
    std::memcpy(&word, &both, sizeof word);
    /* P1 RELAXED: the test is alone with the object. */
    __atomic_store_n(word_of(strong.block), word, __ATOMIC_RELAXED);
}
#endif

} // extern "C"
