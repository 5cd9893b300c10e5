#!/bin/sh
# Wrong use: one clear line that says what was expected, exit 2 (3 where the machine lacks something),
# refused before work starts, and nothing left behind.
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 2

expect "no command" 2 "usage: rclab COMMAND" "$RCLAB"
expect "unknown command" 2 "there is no command 'benhc'; there are: list" "$RCLAB" benhc
expect "help" 0 "usage: rclab COMMAND" "$RCLAB" --help
for command in list bench replay; do
    expect "$command --help" 0 "usage: rclab $command" "$RCLAB" "$command" --help
done
expect "list: surplus argument" 2 "'now' is no option" "$RCLAB" list now
expect "bench: unknown option" 2 "rclab bench --help lists the options" "$RCLAB" bench --fast
expect "bench: surplus argument" 2 "'packed64' is no option" "$RCLAB" bench packed64
expect "bench: unknown implementation" 2 "there is no implementation 'packed'; there are: null" \
    "$RCLAB" bench --impl packed
expect "bench: unknown workload" 2 "there is no workload or group 'retain'; there are: retain_release" \
    "$RCLAB" bench --workload retain
expect "bench: threads 0" 2 "'0' is no number of threads" "$RCLAB" bench --threads 0
expect "bench: threads in words" 2 "'two' is no number of threads" "$RCLAB" bench --threads two
expect "bench: too many threads" 2 "4096 threads, but this process may use" \
    "$RCLAB" bench --threads 4096
expect "bench: unknown allocator" 2 "there is no allocator 'tcmalloc'; there are: libc, jemalloc, both" \
    "$RCLAB" bench --allocator tcmalloc
expect "bench: seconds" 2 "--seconds takes a number from 1" "$RCLAB" bench --seconds 1.5
expect "bench: launches" 2 "--launches takes a number from 1" "$RCLAB" bench --launches 0
expect "bench: seed" 2 "--seed takes a number from 1" "$RCLAB" bench --seed x
expect "bench: missing value" 2 "rclab bench --help lists the options" "$RCLAB" bench --seed
expect "bench: empty result folder" 2 "is no name for a result folder" "$RCLAB" bench --out ''

: >file
expect "bench: result folder under a file" 2 "cannot make the result folder file/run" \
    "$RCLAB" bench --out file/run
if [ "$(id -u)" != 0 ]; then
    mkdir closed && chmod a-w closed
    expect "bench: result folder in a closed one" 2 "cannot make the result folder closed/run" \
        "$RCLAB" bench --out closed/run
else
    # Root may write anywhere but here.
    expect "bench: result folder in /proc" 2 "cannot make the result folder /proc/run" \
        "$RCLAB" bench --out /proc/run
fi
mkdir used && : >used/raw.csv
expect "bench: folder with a run" 2 "used already holds a run" "$RCLAB" bench --out used

mkdir empty
expect "bench: no gnuplot" 3 "gnuplot is missing" \
    env PATH="$work/empty" "$RCLAB" bench --out missing
left=$(ls)
if [ "$left" = "$(printf 'empty\nerr\nfile\nout\nused')" ] ||
    [ "$left" = "$(printf 'closed\nempty\nerr\nfile\nout\nused')" ]; then
    ok "nothing is left behind"
else
    not_ok "left behind: $left"
fi
finish
