# Sourced by the tests of the command. Gives ok, not_ok, expect and a folder of their own in $work.
# shellcheck shell=sh disable=SC2034

: "${RCLAB:?RCLAB must name the program}"
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

ok() {
    echo "ok - $*"
}

not_ok() {
    echo "not ok - $*"
    failures=$((failures + 1))
}

# check NAME COMMAND...: the command must succeed.
check() {
    name=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        ok "$name"
    else
        not_ok "$name"
        sed 's/^/    /' "$work/out"
    fi
}

# expect NAME STATUS TEXT COMMAND...: exit status and a piece of what it prints must be these.
expect() {
    name=$1
    status=$2
    text=$3
    shift 3
    found=0
    "$@" >"$work/out" 2>"$work/err" || found=$?
    if [ "$found" != "$status" ]; then
        not_ok "$name: exit status $found, expected $status"
        sed 's/^/    /' "$work/out" "$work/err" | head -20
    elif ! cat "$work/out" "$work/err" | grep -q -F -e "$text"; then
        not_ok "$name: does not say '$text'"
        sed 's/^/    /' "$work/out" "$work/err" | head -20
    else
        ok "$name"
    fi
}

finish() {
    [ "$failures" = 0 ] || echo "$failures failed"
    [ "$failures" = 0 ]
    exit
}
