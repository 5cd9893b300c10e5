#!/bin/sh
# What each operation executes has not changed: rclab cost against results/reference/costs.csv. Exact, so
# it is a gate. A wanted change is accepted by rclab cost --record, with the reason in the commit.
#
# usage: reference.sh RCLAB COMPILER
# Exit: 0 unchanged, 1 something changed, 77 skipped (says why).
set -u

rclab=$1
compiler=$2
if ! command -v "$compiler" >/dev/null 2>&1; then
    echo "skipped: costs: $compiler is not installed"
    exit 77
fi
status=0
output=$("$rclab" cost --cc "$compiler" --check 2>&1) || status=$?
if [ "$status" = 3 ]; then
    # Another compiler, machine or other flags than the reference has rows for, or no valgrind.
    echo "skipped: costs: ${output#rclab cost: }"
    exit 77
fi
printf '%s\n' "$output"
exit "$status"
