#!/bin/sh
# An implementation from outside the tree: built and run beside the others without an edit; what is
# wrong with it is said in words; one that crashes takes nothing else along.
# shellcheck disable=SC2317 # called through check and expect
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 2
mkdir mine crashes lacks
cp "$root/impls/nonatomic/rc.h" mine/rc.h
sed 's/header->strong++;/header->strong++; if (header->strong == 2) { __builtin_trap(); }/' \
    mine/rc.h >crashes/rc.h
grep -v '^#define RC_IMPL_OVERFLOW' mine/rc.h >lacks/rc.h

# build HEADER: configures and builds a program that has it too.
build() {
    cmake -S "$root" -B build -G Ninja -DCMAKE_C_COMPILER="${CC:-cc}" -DRCL_IMPL="$1" &&
        cmake --build build --target rclab -j "$(nproc)"
}

check "an rc.h from elsewhere builds" build "$work/mine/rc.h"
expect "it is listed under its folder's name" 0 "mine" build/rclab list
expect "it runs beside the others" 0 "mine" build/rclab bench --impl mine,packed64 --threads 1 \
    --workload retain_release,new_release --allocator libc --launches 1 --seconds 1 --no-plots \
    --out run
check "its rows are in summary.csv" grep -q '^1,mine,new_release,-,1,private,libc,' run/summary.csv

check "an rc.h that crashes builds" build "$work/crashes/rc.h"
expect "its crash is reported" 1 "crashes: retain_release, 1 thread: the measuring process died of signal" \
    build/rclab bench --impl crashes,packed64 --threads 1 --workload retain_release,is_unique \
    --launches 2 --seconds 1 --no-plots --out crash
check "the others' rows are there" grep -q '^1,packed64,retain_release,-,1,private,libc,2,' crash/summary.csv
check "so are its other rows" grep -q '^1,crashes,is_unique,' crash/summary.csv
check "machine.json names the failure" grep -q 'crashes: retain_release' crash/machine.json

expect "a missing parameter is named" 1 "contract: define RC_IMPL_OVERFLOW" build "$work/lacks/rc.h"
expect "a missing file is named" 1 "there is no file $work/none/rc.h" build "$work/none/rc.h"
expect "make says so too" 2 "IMPL: there is no file" make -C "$root" build IMPL="$work/none/rc.h"
finish
