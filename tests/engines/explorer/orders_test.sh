#!/bin/sh
# orders.sh finds an order that is stronger than needed, accepts one that is explained, and needs a
# read-modify-write to be one. EXPLORER and CC as there. Exit 77: this machine has no explorer.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/rclab-orders-test-XXXXXX") || exit 3
trap 'rm -rf "$work"' EXIT
failures=0

expect() { # what, wanted, came
    if [ "$2" != "$3" ]; then
        echo "orders_test: $1: expected $2, came $3"
        failures=$((failures + 1))
    fi
}

said() { # text
    if ! grep -q "$1" "$work/out"; then
        echo "orders_test: expected the output to say: $1"
        failures=$((failures + 1))
    fi
}

run() {
    sh "$here/orders.sh" --executions 3000 "$@" >"$work/out" 2>&1
    code=$?
    [ $code = 3 ] && { cat "$work/out"; exit 77; }
}

# The counting of retains made RELEASE, first without and then with a reason.
mkdir "$work/strong"
sed '/R1 RELAXED/,/memory_order_relaxed/s/memory_order_relaxed/memory_order_release/' \
    "$root/impls/packed64/rc.h" >"$work/strong/rc.h"
cmp -s "$work/strong/rc.h" "$root/impls/packed64/rc.h" && expect "the retain of packed64" changed the_same
run --csv "$work/csv" "$work/strong/rc.h"
expect "exit for an order that is too strong" 1 $code
said 'fetch_add RELEASE; needs RELAXED'
said 'STRONGER THAN NEEDED'
said 'load, then store *fails in '
expect "rows that say the retain passes when RELAXED" 1 \
    "$(grep -c ',fetch_add,RELEASE,,order,RELAXED,1,' "$work/csv")"

sed -i 's/R1 RELAXED: /R1, stronger than needed for a test: /' "$work/strong/rc.h"
run "$work/strong/rc.h"
expect "exit when it is explained" 0 $code
said 'stronger than needed; the source says why'

# A release that is too weak fails as it is.
mkdir "$work/weak"
sed '/D1 ACQ_REL/,/memory_order_acq_rel/s/memory_order_acq_rel/memory_order_release/' \
    "$root/impls/packed64/rc.h" >"$work/weak/rc.h"
run "$work/weak/rc.h"
expect "exit for an implementation that fails" 1 $code
said 'ORDER-01 two_owners does not pass as it is'

run "$work/none/rc.h"
expect "exit for a file that is not there" 2 $code

[ $failures = 0 ] && echo "orders_test: all passed"
exit $((failures > 0))
