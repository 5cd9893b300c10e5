#!/bin/sh
# contract_refusals: contract.h must refuse an implementation that does not keep to it, in words
# that name the operation. Each case takes a small implementation that compiles, breaks one thing in
# it, and reads what the compiler says. Environment: CC (default cc). Exit: 0 all refused as they
# must be, 1 not, 3 no compiler.
set -eu

CC=${CC:-cc}
root=$(cd "$(dirname "$0")/../.." && pwd)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
number=0
failed=0

if ! command -v "${CC%% *}" >/dev/null 2>&1; then
    echo "contract_refusals: no compiler \"$CC\"; set CC to a C17 compiler" >&2
    exit 3
fi

# The smallest implementation with everything: it never frees, for only its signatures count here.
mkdir "$temporary/whole"
cat >"$temporary/whole/rc.h" <<'RC'
#define RC_IMPL_CAPS (RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER | RC_CAP_PRESET)
#define RC_IMPL_OVERFLOW RC_OVERFLOW_UNCHECKED
#define RC_IMPL_STRONG_MAX UINT64_C(100)
#define RC_IMPL_WEAK_MAX UINT64_C(100)
typedef struct { void *payload; } rc_strong;
typedef struct { void *payload; } rc_weak;
static inline rc_strong rc_null(void) { return (rc_strong){0}; }
static inline bool rc_is_null(rc_strong s) { return !s.payload; }
static inline rc_strong rc_new(const rc_class *c) { return (rc_strong){rc_mem_alloc(c->payload_size)}; }
static inline void *rc_payload(rc_strong s) { return s.payload; }
static inline rc_strong rc_retain(rc_strong s) { return s; }
static inline void rc_release(rc_strong s) { (void)s; }
static inline bool rc_is_unique(rc_strong s) { (void)s; return false; }
static inline uint64_t rc_use_count(rc_strong s) { (void)s; return 1; }
static inline rc_weak rc_weak_null(void) { return (rc_weak){0}; }
static inline bool rc_weak_is_null(rc_weak w) { return !w.payload; }
static inline rc_weak rc_weak_new(rc_strong s) { return (rc_weak){s.payload}; }
static inline rc_weak rc_weak_retain(rc_weak w) { return w; }
static inline void rc_weak_release(rc_weak w) { (void)w; }
static inline rc_strong rc_weak_lock(rc_weak w) { return (rc_strong){w.payload}; }
static inline bool rc_weak_expired(rc_weak w) { return !w.payload; }
static inline uint64_t rc_weak_count(rc_strong s) { (void)s; return 0; }
static inline void *rc_into_raw(rc_strong s) { return s.payload; }
static inline rc_strong rc_from_raw(void *p) { return (rc_strong){p}; }
static inline rc_strong rc_retain_raw(void *p) { return (rc_strong){p}; }
static inline void rc_wrapper_attach(rc_strong s) { (void)s; }
static inline void rc_wrapper_detach(rc_strong s) { (void)s; }
static inline bool rc_has_wrapper(rc_strong s) { (void)s; return false; }
static inline void rc_thread_attach(void) {}
static inline void rc_thread_detach(void) {}
static inline void rc_share(rc_strong s) { (void)s; }
static inline void rc_quiesce(void) {}
static inline void rc_test_preset(rc_strong s, uint64_t strong, uint64_t weak) { (void)s; (void)strong; (void)weak; }
RC

# compile FOLDER: what the compiler says of $temporary/FOLDER/rc.h goes to its file `says`.
compile() {
    printf '#define RC_IMPL_HEADER "rc.h"\n#define RC_PRESET 1\n#include "contract.h"\n' \
        >"$temporary/$1/unit.c"
    # shellcheck disable=SC2086 # CC may carry arguments
    LC_ALL=C $CC -std=gnu17 -fsyntax-only -I"$root/impls" -I"$temporary/$1" "$temporary/$1/unit.c" \
        >"$temporary/$1/says" 2>&1
}

report() { # RESULT WHAT
    number=$((number + 1))
    echo "$1 $number - $2"
    if [ "$1" != ok ]; then
        failed=1
    fi
}

# refused WHAT WORDS SED-PROGRAM: the broken copy must not compile; an error must have the words.
refused() {
    folder=case$number
    mkdir "$temporary/$folder"
    sed "$3" "$temporary/whole/rc.h" >"$temporary/$folder/rc.h"
    if cmp -s "$temporary/whole/rc.h" "$temporary/$folder/rc.h"; then
        report "not ok" "$1 (the case changes nothing: mend its sed program)"
    elif compile "$folder"; then
        report "not ok" "$1 (it compiled; expected an error that says \"$2\")"
    elif ! grep 'error:' "$temporary/$folder/says" | grep -qF -- "$2"; then
        report "not ok" "$1 (expected an error that says \"$2\"; the compiler said:)"
        sed 's/^/#   /' "$temporary/$folder/says"
    else
        report ok "$1"
    fi
}

# The unbroken twin: without it every refusal below could have another reason.
if compile whole; then
    report ok "the whole implementation compiles"
else
    report "not ok" "the whole implementation compiles; the compiler said:"
    sed 's/^/#   /' "$temporary/whole/says"
fi

# Each operation once missing, once with a result that no operation has, once as a macro.
sed -n 's/^static inline [a-z0-9_]* \**\(rc_[a-z_]*\)(.*/\1/p' "$temporary/whole/rc.h" \
    >"$temporary/operations"
if [ "$(wc -l <"$temporary/operations")" -ne 27 ]; then
    report "not ok" "27 operations were found in the whole implementation"
fi
while read -r operation; do
    refused "$operation is missing" "$operation" "/^static inline .*[ *]$operation(/d"
    refused "$operation has a wrong result" "contract: $operation must have the signature" \
        "s/^static inline .*[ *]$operation(\([^)]*\)).*/long $operation(\1);/"
    refused "$operation is a macro" "must be functions, not macros" \
        "\$a #define $operation(...) 0"
done <"$temporary/operations"

refused "rc_retain takes a pointer" "contract: rc_retain must have the signature" \
    's/^static inline rc_strong rc_retain(.*/rc_strong rc_retain(rc_strong *s);/'
refused "rc_new takes no const" "contract: rc_new must have the signature" \
    's/^static inline rc_strong rc_new(.*/rc_strong rc_new(rc_class *c);/'
refused "rc_release returns something" "contract: rc_release must have the signature" \
    's/^static inline void rc_release(.*/bool rc_release(rc_strong s);/'
refused "rc_weak_lock gives a weak handle" "contract: rc_weak_lock must have the signature" \
    's/^static inline rc_strong rc_weak_lock(.*/rc_weak rc_weak_lock(rc_weak w);/'
refused "weak handles are claimed, no operation is there" "rc_weak_" \
    '/^static inline .*rc_weak_/d'
refused "RC_IMPL_CAPS is missing" "contract: define RC_IMPL_CAPS" '/RC_IMPL_CAPS/d'
refused "RC_IMPL_CAPS has a bit of no capability" "contract: RC_IMPL_CAPS has a bit" \
    's/(RC_CAP_WEAK |/((1u << 9) | RC_CAP_WEAK |/'
refused "RC_IMPL_OVERFLOW is missing" "contract: define RC_IMPL_OVERFLOW" '/RC_IMPL_OVERFLOW/d'
refused "RC_IMPL_OVERFLOW has no such value" "contract: RC_IMPL_OVERFLOW must be" \
    's/RC_OVERFLOW_UNCHECKED/7/'
refused "RC_IMPL_STRONG_MAX is missing" "contract: define RC_IMPL_STRONG_MAX" '/RC_IMPL_STRONG_MAX/d'
refused "RC_IMPL_STRONG_MAX is 0" "contract: RC_IMPL_STRONG_MAX must be" \
    's/STRONG_MAX UINT64_C(100)/STRONG_MAX UINT64_C(0)/'
refused "RC_IMPL_WEAK_MAX is missing" "contract: RC_CAP_WEAK needs RC_IMPL_WEAK_MAX" \
    '/RC_IMPL_WEAK_MAX/d'
refused "RC_IMPL_WEAK_MAX is 0" "contract: RC_IMPL_WEAK_MAX must be" \
    's/WEAK_MAX UINT64_C(100)/WEAK_MAX UINT64_C(0)/'

echo "1..$number"
exit $failed
