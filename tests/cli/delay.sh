#!/bin/sh
# Delays of reclamation: what a run writes, prints and keeps when it is interrupted.
# shellcheck disable=SC2016 # the inner shell expands them
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 2

columns="schema,impl,workload,variant,allocator,launches,releases,rate_per_s,p50_ns,p99_ns,p999_ns,max_ns,flagged"

check "list shows the group and its questions" \
    sh -c '"$0" list | sed -n "/^reclamation$/,/^$/p" | grep -c "_delay .*memory" | grep -q "^3$"' "$RCLAB"
check "bench --help names delay.csv" sh -c '"$0" bench --help | grep -q delay.csv' "$RCLAB"

expect "a run of delays alone" 0 "chain_delay n512, libc, 99.9 %" \
    "$RCLAB" bench --workload reclamation --impl packed64,null --launches 2 --seconds 1 \
    --seed 7 --no-plots --out run
check "delay.csv has exactly its columns" sh -c "head -n 1 run/delay.csv | grep -q '^$columns\$'"
check "a row for each strategy, workload and allocator" \
    sh -c '[ "$(tail -n +2 run/delay.csv | wc -l)" = 12 ]'
check "every row has both launches, a thousand releases and more in each, and a rate" \
    awk -F, 'NR > 1 && ($6 != 2 || $7 < 2000 || $8 <= 0) { bad = 1 } END { exit bad || NR != 13 }' \
    run/delay.csv
check "the rate is the same for all strategies" \
    awk -F, 'NR > 1 { k = $3 FS $5; if (k in rate && rate[k] != $8) bad = 1; rate[k] = $8 }
        END { exit bad }' run/delay.csv
check "percentiles ascend, or are unknown together" \
    awk -F, 'NR > 1 && !($9 != "" && $9 <= $10 && $10 <= $11 && $11 <= $12) &&
        !($9 $10 $11 $12 == "") { bad = 1 } END { exit bad }' run/delay.csv
check "delays are no rows of raw.csv and summary.csv" \
    sh -c '[ "$(wc -l <run/raw.csv)" = 1 ] && [ "$(wc -l <run/summary.csv)" = 1 ]'
check "table.txt has the table, and the clock's cost" \
    sh -c 'grep -q "^fanout_delay n512, jemalloc, 50 %" run/table.txt &&
        tr "\n" " " <run/table.txt | grep -q "A look at the clock, [0-9]* ns"'
check "null is not ranked" \
    sh -c 'grep "^single_delay, libc, 50 %" run/table.txt | grep -Eq "50 % +[0-9.]+[ ~] "'

expect "delays beside other questions" 0 "retain_release, 1 thread" \
    "$RCLAB" bench --workload retain_release,single_delay --threads 1 --impl packed64 --launches 1 \
    --allocator libc --seconds 1 --seed 7 --no-plots --out both
check "both files have their rows" \
    sh -c '[ "$(wc -l <both/delay.csv)" = 2 ] && [ "$(wc -l <both/summary.csv)" = 4 ]'
check "no delay.csv where none was asked for" \
    sh -c '"$0" bench --workload retain_release --threads 1 --impl packed64 --launches 1 --seconds 1 \
        --no-plots --out none >/dev/null 2>&1 && [ ! -e none/delay.csv ]' "$RCLAB"
expect "delays are a question to one thread" 2 "nothing to run" \
    "$RCLAB" bench --workload chain_delay --threads "$(nproc)" --no-plots --out threads

# Ctrl-C once a launch is through: what is finished is kept.
"$RCLAB" bench --workload single_delay,retain_release --threads 1 --impl packed64 --launches 200 \
    --allocator libc --seconds 200 --no-plots --out cut >cut.out 2>&1 &
pid=$!
tries=0
while [ ! -f cut/raw.csv ] || ! grep -q '^1,1,' cut/raw.csv; do
    tries=$((tries + 1))
    [ $tries -gt 600 ] && break
    sleep 0.1
done
kill -TERM "$pid" # as Ctrl-C: a shell without job control starts background work with SIGINT ignored
status=0
wait "$pid" || status=$?
check "an interrupted run ends with 130" test "$status" = 130
check "delay.csv of the finished launches is there" \
    awk -F, 'NR == 2 && $6 >= 1 && $6 < 200 { kept = 1 } END { exit !kept }' cut/delay.csv
finish
