#!/bin/sh
# rclab replay: a recording is checked to its end before anything is measured, played in each mode, and a
# bad one is refused with its line and nothing left behind.
# shellcheck disable=SC2016 # the inner shell expands them
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 2
traces=$root/workloads/traces

expect "check says what is in it" 0 "events            9381" \
    "$RCLAB" replay "$traces/mlp_adam.rct.xz" --check
xz -dc "$traces/inf_3threads.rct.xz" >plain.rct
expect "check reads standard input" 0 "threads           4" \
    sh -c '"$0" replay - --check <plain.rct' "$RCLAB"

expect "serial" 0 "replay plain, 1 thread" "$RCLAB" replay plain.rct --seconds 1 --launches 1 \
    --impl null,packed64,nonatomic --no-plots --out serial
check "its rows carry the recording's name" grep -q '^1,packed64,replay,plain,1,private,libc,' \
    serial/summary.csv
if [ "$(nproc)" -gt 1 ]; then
    expect "replicated" 0 "replay plain, 2 threads shared" "$RCLAB" replay plain.rct --seconds 1 \
        --launches 1 --mode replicated --threads 2 --impl packed64,nonatomic --no-plots --out two
    check "who cannot share is left out" sh -c '! grep -q "^1,nonatomic," two/summary.csv'
    expect "recorded" 0 "as recorded by 2 threads" "$RCLAB" replay plain.rct --seconds 1 \
        --launches 1 --mode recorded --threads 2 --impl packed64 --no-plots --out recorded
fi
expect "repeat plays it that often" 0 "1 rows of 1 cells" "$RCLAB" replay plain.rct --repeat 1000 \
    --impl packed64 --no-plots --out repeat
check "and counts every event" grep -q '^1,0,0,0,packed64,replay,plain,1,private,libc,2748000,' \
    repeat/raw.csv
"$RCLAB" replay plain.rct --impl packed64 --repeat 10 --no-plots --out gone >/dev/null 2>&1

before=$(ls)
expect "no file given" 2 "which recording?" "$RCLAB" replay
expect "two files" 2 "one recording at a time" "$RCLAB" replay plain.rct plain.rct
expect "no such file" 2 "none.rct: cannot be opened" "$RCLAB" replay none.rct
expect "not a recording" 2 "COPY:1: not an RCT file" sh -c 'cp "$1" COPY; "$0" replay COPY
    status=$?; rm COPY; exit $status' "$RCLAB" "$root/LICENSE"
head -c 3000 plain.rct >cut.rct
expect "a truncated one" 2 "cut.rct:" "$RCLAB" replay cut.rct
sed 's/^0 + 1 2$/0 + 1 3/' plain.rct >altered.rct
expect "an altered count" 2 "should be 2, file says 3" "$RCLAB" replay altered.rct
expect "check refuses it too" 2 "should be 2, file says 3" "$RCLAB" replay altered.rct --check
xz -9 <plain.rct | head -c 2000 >cut.rct.xz
expect "truncated in its compression" 2 "cut.rct.xz" "$RCLAB" replay cut.rct.xz
rm -f cut.rct altered.rct cut.rct.xz
expect "an unknown mode" 2 "there is no mode 'fast'; there are: serial" \
    "$RCLAB" replay plain.rct --mode fast
expect "threads without a mode" 2 "--threads goes with --mode" \
    sh -c '[ "$(nproc)" = 1 ] && { echo "--threads goes with --mode"; exit 2; }; exec "$0" "$@"' \
    "$RCLAB" replay plain.rct --threads 2
expect "an unknown implementation" 2 "there is no implementation 'nope'" \
    "$RCLAB" replay plain.rct --impl nope
expect "repeat 0" 2 "--repeat takes a number from 1" "$RCLAB" replay plain.rct --repeat 0
expect "standard input to measure" 2 "standard input will do for --check only" "$RCLAB" replay -
if [ "$before" = "$(ls)" ]; then
    ok "nothing is left behind"
else
    not_ok "left behind: before: $before; after: $(ls)"
fi
finish
