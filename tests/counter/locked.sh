#!/bin/sh
# Counts the locked instructions of each operation of each implementation and compares them with
# locked.expected. Exact, so it is a gate.
#
# usage: locked.sh DIR     DIR holds the programs locked.<implementation>
# Exit: 0 as expected, 1 something changed, 77 skipped (no x86-64, or no valgrind).
set -eu

programs=$1
here=$(cd "$(dirname "$0")" && pwd)
calls=1000

if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: locked instructions: the expected figures are for x86-64, this is $(uname -m)"
    exit 77
fi
if ! command -v valgrind >/dev/null 2>&1; then
    echo "skipped: locked instructions: valgrind is not installed"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in "$programs"/locked.*; do
    impl=${program##*/locked.}
    # Names of functions suffice, and valgrind 3.19 cannot read the debugging information of clang.
    objcopy --strip-debug "$program" "$work/$impl"
    valgrind --tool=callgrind --collect-bus=yes --callgrind-out-file="$work/$impl.out" "$work/$impl" \
        >"$work/$impl.log" 2>&1 || {
        echo "not ok: $impl: valgrind failed:"
        cat "$work/$impl.log"
        exit 1
    }
    # Columns: Ir (share) Ge (share) file:function [object]; zero is printed as a dot. glibc's own
    # locked instructions (a heap that grows) are a few in all, so the quotient is rounded.
    callgrind_annotate --inclusive=yes --threshold=100 --show=Ge "$work/$impl.out" 2>/dev/null |
        sed -n 's/^ *\([0-9,.]*\) *\(([^)]*)\)\{0,1\} *[^ ]*:count_\([a-z_]*\) .*/\1 \3/p' |
        sort -u |
        while read -r count operation; do
            count=$(printf '%s' "$count" | tr -d ',.')
            echo "$impl $operation $(((${count:-0} + calls / 2) / calls))"
        done
done | sort >"$work/found"

grep -v '^#' "$here/locked.expected" | sort >"$work/all_expected"
# A strategy that has no row yet is no failure: its rows are shown, to be put in.
# shellcheck disable=SC2013 # names without blanks
for impl in $(cut -d' ' -f1 "$work/found" | sort -u); do
    if ! grep -q "^$impl " "$work/all_expected"; then
        echo "no rows for $impl yet; add to locked.expected:"
        grep "^$impl " "$work/found"
        grep -v "^$impl " "$work/found" >"$work/rest" || true
        mv "$work/rest" "$work/found"
    fi
done
mv "$work/all_expected" "$work/expected"
if [ ! -s "$work/found" ]; then
    echo "not ok: callgrind reported no counted function"
    exit 1
fi
if ! diff -u "$work/expected" "$work/found" >"$work/diff"; then
    echo "not ok: locked instructions differ (- expected, + found):"
    grep '^[-+][^-+]' "$work/diff"
    exit 1
fi
echo "ok: $(wc -l <"$work/found") operations have the expected number of locked instructions"
