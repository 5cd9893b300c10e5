#!/bin/sh
# rclab explore: what it finds out about a correct implementation, a wrong one, and those that it cannot
# know; the same as an engine of rclab conform.
# shellcheck disable=SC2016,SC2317 # code for sed; functions called through expect
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 2
mkdir tmp
TMPDIR=$work/tmp
export TMPDIR

case $(uname -s)-$(uname -m) in
    Linux-x86_64) ;;
    *)
        expect "another machine is told so" 3 "the explorer runs on Linux on x86-64" \
            "$RCLAB" explore --impl packed64 --list
        [ "$failures" = 0 ] || exit 1
        echo "skipped: the explorer runs on Linux on x86-64"
        exit 77
        ;;
esac

mutant=$root/tests/mutants/ORDER-01_release_only/rc.h

# variant NAME DECLARATION CODE: packed64 with a declaration before rc_retain, which begins with CODE.
variant() {
    mkdir "$1"
    sed "/^static inline rc_strong rc_retain(/{i\\
$2
n;s|^{|{ $3|;}" "$root/impls/packed64/rc.h" >"$1/rc.h"
    if cmp -s "$1/rc.h" "$root/impls/packed64/rc.h"; then
        not_ok "$1: there is no rc_retain to change"
    fi
}

variant assembly '' '__asm__ volatile("lock; addl $0, (%%rsp)" ::: "memory");'
variant wide 'typedef struct wide { long word[3]; } wide; static _Atomic(wide) wides;' \
    'wide now = atomic_load(\&wides); atomic_store(\&wides, now);'
variant sizes 'static union { _Atomic(uint64_t) whole; _Atomic(uint32_t) half; } both;' \
    'atomic_fetch_add(\&both.whole, 1); atomic_fetch_add(\&both.half, 1);'
variant broken '' 'this is no C;'
variant chance 'extern int rand(void);' 'if (rand() == 0) { return rc_null(); }'
variant unseen '__attribute__((no_sanitize("thread"))) static void unseen(void) { }' 'unseen();'
mkdir object
cp "$root/impls/packed64/rc.h" object/rc.h
echo 'int one_more(int *count); int one_more(int *count) { return ++*count; }' >more.c
check "an object compiles" "${CC:-cc}" -c more.c -o more.o

# row SCENARIO: its line of the table.
row() {
    grep "^$1 " report
}

# json FILTER-ish: the file has this text, whatever the blanks.
json_has() {
    tr -d ' \n' <"$1" | grep -q -F -e "$2"
}

# explore ARGUMENT...: keeps what it prints in report, and its exit status in $found.
explore() {
    found=0
    "$RCLAB" explore "$@" >report 2>errors || found=$?
}

# status NAME STATUS: that of the last explore was this.
status() {
    if [ "$found" = "$2" ]; then
        ok "$1"
    else
        not_ok "$1: exit status $found, expected $2"
        sed 's/^/    /' report errors | head -20
    fi
}

# ---- A correct one

explore --impl packed64 --optimise 0 --scenario ORDER-01/three_owners,RACE-01,RACE-06/three_up_and_down \
    --executions 2000 --random 100 --seed 9 --json fine.json
status "a correct one does not fail" 0
expect "the number of executions is exact" 0 "pass, exhaustive: 36 executions" \
    row ORDER-01/three_owners
expect "a clause is all its scenarios" 0 "6 pass, exhaustive; 1 pass, bounded; 0 failed" tail -1 report
check "JSON: a pass" json_has fine.json \
    '"clause":"ORDER-01","scenario":"three_owners","verdict":"pass","exhaustive":true,"text":"pass,exhaustive:36executions","executions":36,'
expect "a bounded one says so" 0 "pass, bounded: 2,000 executions" row RACE-06/three_up_and_down
expect "... and by what" 0 "100 at random (seed 9)" sh -c 'tr -s " \n" "  " <report'
check "JSON: a bounded one" json_has fine.json '"verdict":"bounded","exhaustive":false'
# How many there are is the compiler's: it decides which compare-exchanges may fail without reason.
for processes in 1 2; do
    explore --impl packed64 --optimise 0 --scenario owner_and_two_locks --processes $processes
    sed -n 's/^ORDER-03.*\(pass, exhaustive: .*\)/\1/p' report >count_$processes
done
check "a search ends" [ -s count_1 ]
check "two processes find as many executions as one" cmp count_1 count_2

# ---- A wrong one

explore --impl "$mutant" --optimise 0 --checked --scenario ORDER-01 --json wrong.json
status "a missing acquire fails" 1
expect "the row says what" 0 "FAIL: a data race" row ORDER-01/two_owners
check "the interleaving is shown" grep -q 'fetch_sub 1 RELEASE' report
again=$(sed -n 's/^Show it again: rclab \(.* --schedule [0-9.]*\)$/\1/p' report)
check "JSON: the steps of the failure" json_has wrong.json '"order":"RELEASE"'
grep '<-- the race' report >races
check "both accesses are marked" [ "$(wc -l <races)" = 2 ]
# shellcheck disable=SC2086 # words
expect "the printed command shows it again" 1 "FAIL: a data race" "$RCLAB" $again
grep '<-- the race' out >races_again
check "... the same one" cmp races races_again

# ---- What it cannot know is no pass

expect "inline assembly" 2 "assembly: UNSUPPORTED: rc.h has atomic instructions of its own" \
    "$RCLAB" explore --impl assembly/rc.h --optimise 0
expect "atomics wider than 16 bytes" 2 "wide: UNSUPPORTED: rc.h uses atomics wider than 16 bytes" \
    "$RCLAB" explore --impl wide/rc.h --optimise 0
expect "a call that the model does not know" 2 "chance: UNSUPPORTED: it calls rand, which the explorer does not know" \
    "$RCLAB" explore --impl chance/rc.h --optimise 0
expect "code that is not to be instrumented" 2 "unseen: UNSUPPORTED: some of it asks not to be instrumented" \
    "$RCLAB" explore --impl unseen/rc.h --optimise 0
expect "an object that is not instrumented" 2 "object: UNSUPPORTED: more.o is not instrumented" \
    "$RCLAB" explore --impl object/rc.h --libs "$work/more.o" --optimise 0
explore --impl sizes/rc.h --scenario RACE-06/two_up_and_down --optimise 0 --json sizes.json
status "atomics of two sizes" 2
expect "... are UNSUPPORTED" 0 "UNSUPPORTED: atomic operations" row RACE-06/two_up_and_down
check "JSON: unsupported" json_has sizes.json '"verdict":"unsupported","exhaustive":false'

# ---- Wrong use

expect "no --impl" 2 "--impl is missing" "$RCLAB" explore
expect "an unknown implementation" 2 "there is no implementation 'packed'" "$RCLAB" explore --impl packed
expect "a missing file" 2 "there is no file none/rc.h" "$RCLAB" explore --impl none/rc.h
expect "an unknown clause" 2 "there is no scenario, clause or area 'ORDER-99'" \
    "$RCLAB" explore --impl packed64 --scenario ORDER-99
expect "an unknown scenario" 2 "packed64 has no scenario, clause or area 'owners'" \
    "$RCLAB" explore --impl packed64 --optimise 0 --scenario owners
expect "a scenario that is not searched" 2 "LIFE-01/new_counts is not searched: it has one thread" \
    "$RCLAB" explore --impl packed64 --optimise 0 --scenario new_counts
expect "a schedule without a scenario" 2 "--schedule belongs to one scenario" \
    "$RCLAB" explore --impl packed64 --schedule 0
expect "a schedule of several" 2 "--schedule belongs to one scenario; --scenario names 3" \
    "$RCLAB" explore --impl packed64 --optimise 0 --scenario ORDER-01 --schedule 0
expect "a schedule that is none" 2 "--schedule takes numbers with points between" \
    "$RCLAB" explore --impl packed64 --scenario two_owners --schedule x
expect "another optimisation" 2 "--optimise takes 0 or 2, not '3'" \
    "$RCLAB" explore --impl packed64 --optimise 3
expect "surplus argument" 2 "'now' is no option" "$RCLAB" explore now
expect "no place for JSON" 2 "cannot write none/x.new" "$RCLAB" explore --impl packed64 --json none/x
expect "no compiler" 3 "there is no compiler 'no_such_cc'" \
    env CC=no_such_cc "$RCLAB" explore --impl packed64
expect "one that does not compile" 2 "broken: does not build:" "$RCLAB" explore --impl broken/rc.h
expect "what can be searched" 0 "RACE-01/two_last_releases" \
    "$RCLAB" explore --impl packed64 --optimise 0 --list

# ---- As an engine of conform. --quick: one build in place of two

conform() {
    found=0
    "$RCLAB" conform --seed 7 --quick "$@" >report 2>errors || found=$?
}

# section CLAUSE: what the report says of a clause.
section() {
    awk -v clause="$1" '/^[A-Z]+-[0-9]+ /{ on = $1 == clause } on' report
}

conform --impl packed64 --engine explorer --clause ORDER-01,RACE-06 --junit out.xml
status "conform: a correct one passes" 0
expect "conform: how many executions" 0 "explorer   pass, exhaustive: 44 executions in 3 searches" \
    section ORDER-01
expect "conform: bounded is said" 0 "explorer   pass, bounded:" section RACE-06
check "JUnit: the same" grep -q '<system-out>explorer: pass, exhaustive: 44' out.xml
conform --impl "$mutant" --engine explorer --clause ORDER-01
status "conform: a wrong one fails" 1
expect "conform: the interleaving" 0 "fetch_sub 1 RELEASE" section ORDER-01
again=$(sed -n 's/^ *again *rclab \(explore .* --schedule [0-9.]*\)$/\1/p' report)
# shellcheck disable=SC2086
expect "conform: the printed command shows it again" 1 "FAIL: a data race" "$RCLAB" $again
conform --impl assembly/rc.h --engine explorer --clause ORDER-01
status "conform: what was not tested at all is no pass" 1
expect "conform: UNSUPPORTED and why" 0 \
    "not run: explore, which is UNSUPPORTED: rc.h has atomic instructions of its own" cat report
expect "conform: the clause says so" 0 "ORDER-01   UNTESTED" section ORDER-01
conform --impl sizes/rc.h --engine native,explorer --clause RACE-06 --tap
expect "TAP: the other engines go on" 0 "ok 1 - sizes RACE-06" cat report
expect "TAP: the explorer's word" 0 "# explorer: unsupported: atomic operations" cat report
conform --impl broken/rc.h --engine explorer
status "conform: one that does not compile" 2

# ---- Interrupted

# True while a search runs. The brackets: grep must not find itself.
searching() {
    grep -q -s -a -e "$work/tmp/rclab-explore-.*/battery-explor[e][A-Za-z0-9_]*.run" /proc/[0-9]*/cmdline
}

"$RCLAB" explore --impl packed64 --optimise 0 --scenario RACE-09/three_lock,ORDER-01/two_owners \
    --executions 0 >report 2>errors &
program=$!
tries=0
while ! searching && [ $tries -lt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
check "a search runs" searching
sleep 1
kill -INT "$program"
wait "$program"
found=$?
status "Ctrl-C is exit 130" 130
expect "what was finished is printed" 0 "pass, exhaustive: 4 executions" row ORDER-01/two_owners
expect "what was not says how far it came" 0 "interrupted: no failure in the first" row RACE-09/three_lock
check "no search is left running" sh -c "! grep -q -s -a -e '$work/tmp/rclab-explore-.*/battery-explor[e][A-Za-z0-9_]*.run' /proc/[0-9]*/cmdline"
check "nothing is left in TMPDIR" sh -c '[ -z "$(ls tmp)" ]'
finish
