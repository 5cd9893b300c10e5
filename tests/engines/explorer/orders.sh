#!/bin/sh
# How strong must each atomic operation of an implementation be? For every one, in its source line: the
# weakest memory order with which all scenarios of the battery still pass under the explorer, all others as
# they are, and whether it passes as a load and then a store. Where the source has a stronger one, the
# comment above it has to say "stronger than needed" and why.
#
# usage: orders.sh [--checked] [--executions N] [--processes N] [--csv FILE] [IMPL...]
#   IMPL          a folder of impls/, or the path of an rc.h (default: all but null, nonatomic)
#   --checked     the checked build (RC_CHECKED=1): its checks have atomics of their own
#   --executions  of one scenario, at most (default 100000)
# EXPLORER names librclab_explorer.a (default: build/librclab_explorer.a), CC and CXX the compilers.
# Nothing is compiled again for a weaker order: the search changes what the compiler told it. So it is not
# in the result what a compiler could do with the weaker order, such as move or merge.
# Exit: 0 every surplus is explained, 1 one is not, or the implementation fails as it is, 2 wrong use,
# 3 the machine lacks something.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
library=${EXPLORER:-$root/build/librclab_explorer.a}
checked=0
csv=
set_options=
impls=

wrong() {
    echo "orders.sh: $*; see the head of this file" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --checked) checked=1 ;;
    --executions | --processes)
        [ $# -ge 2 ] || wrong "$1 needs a number"
        set_options="$set_options $1 $2"
        shift
        ;;
    --csv)
        [ $# -ge 2 ] || wrong "--csv needs a file"
        csv=$2
        shift
        ;;
    -h | --help)
        sed -n 's/^# \{0,1\}//p' "$0" | sed -n '2,18p'
        exit 0
        ;;
    -*) wrong "unknown option $1" ;;
    *) impls="$impls $1" ;;
    esac
    shift
done
case $set_options in *--processes*) ;; *) set_options="$set_options --processes $(nproc)" ;; esac
if [ -z "$impls" ]; then
    for header in "$root"/impls/*/rc.h; do
        case $header in */null/* | */nonatomic/*) continue ;; esac
        impls="$impls $(basename "${header%/*}")"
    done
fi
[ -f "$library" ] || {
    echo "orders.sh: there is no $library; make build makes it (on Linux on x86-64)" >&2
    exit 3
}

work=$(mktemp -d "${TMPDIR:-/tmp}/rclab-orders-XXXXXX") || exit 3
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# One place of the program for each of the source: no equal ends of functions made one.
apart="-O2 -fno-crossjumping -fno-tree-tail-merge -fno-ipa-icf"
case $(${CC:-cc} --version 2>/dev/null) in *clang*) apart=-O1 ;; esac

worst=0
for impl in $impls; do
    header=$root/impls/$impl/rc.h
    [ -f "$header" ] || header=$impl
    [ -f "$header" ] || wrong "there is no implementation $impl, and no file of that name"
    header=$(cd "$(dirname "$header")" && pwd)/$(basename "$header")
    printf '\n== %s%s\n' "$impl" "$([ $checked = 1 ] && echo ', checked')"
    sh "$here/build.sh" "$header" "$work/program" "$library" $checked "$apart" >"$work/log" 2>&1
    built=$?
    if [ $built != 0 ]; then
        tail -n 5 "$work/log" >&2
        [ $built = 1 ] && worst=1 || worst=3
        continue
    fi
    # shellcheck disable=SC2086 # options are words
    "$work/program" orders $set_options ${csv:+--csv "$work/rows"}
    code=$?
    [ $code -gt $worst ] && worst=$code
    if [ -n "$csv" ] && [ -f "$work/rows" ]; then
        [ -f "$work/csv" ] || sed -n '1s/^/implementation,checked,/p' "$work/rows" >"$work/csv"
        sed -n "2,\$s|^|$(basename "$impl"),$checked,|p" "$work/rows" >>"$work/csv"
    fi
done
if [ -n "$csv" ] && ! cp "$work/csv" "$csv"; then
    exit 2
fi
exit $worst
