#!/bin/sh
# The implementation that impls/README.md walks through, tests/examples/side_table/rc.h: it passes, and
# copies of it with one line broken fail in the clause that says so. The page names all that
# contract.h asks for.
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 2
example=$root/tests/examples/side_table/rc.h

# broken NAME FUNCTION SCRIPT: NAME/rc.h is the example with sed's SCRIPT run on that function.
broken() {
    mkdir "$1"
    sed "/^static inline [a-z0-9_ ]*[ *]$2(/,/^}/{$3;}" "$example" >"$1/rc.h"
    if cmp -s "$example" "$1/rc.h"; then
        not_ok "$1: '$3' changes nothing in $2"
    fi
}

# The clauses that failed in the last run, each with a blank behind it.
failed() {
    awk '$2 == "FAIL" && $1 ~ /^[A-Z]+-[0-9]+$/ { print $1 }' out | tr '\n' ' '
}

# only NAME CLAUSES: the last run failed in these and in no other.
only() {
    if [ "$(failed)" = "$2 " ]; then
        ok "$1"
    else
        not_ok "$1: failed in '$(failed)', expected '$2 '"
    fi
}

expect "the example passes" 0 " 0 failed, " "$RCLAB" conform --quick --seed 7 --impl "$example"

# Its unlock orders nothing: the explorer finds that every time, a sanitizer sometimes; each order is a clause of its own.
broken unordered side_table_unlock 's/memory_order_release/memory_order_relaxed/'
expect "an unlock without RELEASE" 1 "data race" "$RCLAB" conform --seed 7 --impl unordered/rc.h \
    --engine explorer --clause LIFE-02,ORDER-01,ORDER-06
only "fails where threads meet, and nowhere else" "ORDER-01 ORDER-06"

# Its uniqueness forgets weak handles.
broken forgets rc_is_unique 's/ && section.entry->weak == 0//'
expect "uniqueness that forgets weak handles" 1 \
    "expected   rc_is_unique is false while a weak handle exists" \
    "$RCLAB" conform --quick --seed 7 --impl forgets/rc.h --clause LIFE,NULL
only "fails in LIFE-10, and nowhere else" "LIFE-10"

# Its check of a release is gone.
broken unchecked rc_release 's/RC_CHECKED && entry->strong == 0/false/'
expect "a release without its check" 1 "came       the operation returned" \
    "$RCLAB" conform --quick --seed 7 --impl unchecked/rc.h --clause MISUSE
only "fails in MISUSE-04, and nowhere else" "MISUSE-04"

# ---- The page

grep -o -E 'RC_CAP_[A-Z_]*[A-Z]|RC_OVERFLOW_[A-Z]+|RC_IMPL_(CAPS|OVERFLOW|STRONG_MAX|WEAK_MAX)' \
    "$root/impls/contract.h" | sort -u >words
check "contract.h asks for something" test -s words
while read -r word; do
    check "impls/README.md says what $word is" grep -q -F -e "\`$word\`" "$root/impls/README.md"
done <words
finish
