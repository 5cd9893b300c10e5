#!/bin/sh
# A small run: what it writes, and what it keeps when it is interrupted or an implementation crashes.
# shellcheck disable=SC2016 # the inner shell expands them
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 2

columns="schema,impl,workload,variant,threads,sharing,allocator,launches,median_ns,mad_ns,ci95_low_ns,ci95_high_ns,min_ns,flagged,conformance"

expect "a small run" 0 "retain_release, 1 thread" \
    "$RCLAB" bench --workload retain_release --threads 1 --impl packed64,null --launches 2 \
    --seconds 1 --seed 7 --no-plots --out run
check "raw.csv has a row for each repetition" \
    sh -c '[ "$(tail -n +2 run/raw.csv | wc -l)" = 16 ]' # 4 cells, 2 launches, 2 repetitions
check "summary.csv begins with the columns that scripts rely on" \
    sh -c "head -n 1 run/summary.csv | grep -q '^$columns'"
check "summary.csv has a row for each cell" sh -c '[ "$(tail -n +2 run/summary.csv | wc -l)" = 4 ]'
check "null is exempt and not ranked" sh -c 'grep "^1,null," run/summary.csv | grep -q ",exempt,.*,no,"'
check "packed64 is ranked" sh -c 'grep "^1,packed64," run/summary.csv | grep -Eq ",(pass|untested),.*,yes,"'
check "floor rows are there" sh -c 'grep -q "^1,floor,retain_release,locked_pair,1,private," run/summary.csv'
check "space.csv has both implementations" sh -c '[ "$(tail -n +2 run/space.csv | wc -l)" = 2 ]'
check "machine.json has the seed" grep -q '"seed": 7,' run/machine.json
check "table.txt is there" test -s run/table.txt

"$RCLAB" bench --workload retain_release --threads 1 --impl packed64 --launches 1 --seconds 1 \
    --seed 7 --no-plots --out again >/dev/null 2>&1
check "the same seed gives the same order of cells" \
    sh -c '"$0" bench --workload retain_release --threads 1 --impl packed64 --launches 1 --seconds 1 \
        --seed 7 --no-plots --out third >/dev/null 2>&1
        cut -d, -f3-8,19 again/raw.csv >a; cut -d, -f3-8,19 third/raw.csv >b; cmp a b' "$RCLAB"

"$RCLAB" bench --workload retain_release --threads 1 --impl packed64 --launches 1 --repetition-ms 3 \
    --no-plots --out length >/dev/null 2>&1
check "--repetition-ms sets the length of a repetition" grep -q '"repetition_min_ms": 3\.\{0,1\}0*,' length/machine.json

# Ctrl-C after the first rows: what is finished is kept, and it says so.
"$RCLAB" bench --workload operations --launches 50 --seconds 100 --no-plots --out cut \
    >cut.out 2>&1 &
pid=$!
tries=0
while [ ! -f cut/raw.csv ] || [ "$(wc -l <cut/raw.csv)" -lt 5 ]; do
    tries=$((tries + 1))
    [ $tries -gt 600 ] && break
    sleep 0.1
done
kill -TERM "$pid" # as Ctrl-C: a shell without job control starts background work with SIGINT ignored
status=0
wait "$pid" || status=$?
check "an interrupted run ends with 130" test "$status" = 130
check "it says that the finished rows are kept" grep -q "the finished rows are kept" cut.out
check "summary.csv of the finished rows is there" sh -c '[ "$(wc -l <cut/summary.csv)" -gt 1 ]'
check "machine.json says that it was interrupted" grep -q '"interrupted": true' cut/machine.json
finish
