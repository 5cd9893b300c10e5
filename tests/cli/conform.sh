#!/bin/sh
# rclab conform: an implementation that crashes, hangs, leaves, eats memory or does not even build
# fails in words, with the right exit status, and takes nothing else along.
# shellcheck disable=SC2016 # code for sed
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 2
mkdir tmp
TMPDIR=$work/tmp
export TMPDIR

# broken NAME FUNCTION CODE: a copy of nonatomic whose function begins with CODE.
broken() {
    mkdir "$1"
    sed "/^static inline [a-z_ ]*[ *]$2(/{n;s|^{|{ $3|;}" "$root/impls/nonatomic/rc.h" >"$1/rc.h"
    if cmp -s "$root/impls/nonatomic/rc.h" "$1/rc.h"; then
        not_ok "$1 is not broken: $2 was not found"
    fi
}

broken crashes rc_retain 'if (handle.header != NULL) { __builtin_trap(); }'
broken reads_null rc_retain 'if (handle.header != NULL) { *(volatile int *)0 = 1; }'
broken hangs rc_weak_lock 'for (;;) { __asm__ volatile(""); }'
broken leaves rc_release 'if (handle.header != NULL) { exit(0); }'
broken eats rc_new 'for (size_t i = 0; i + 1 != 0; i++) { if (rc_mem_alloc(64) == NULL) { break; } }'
broken recurses rc_retain 'int from = 0; if (deep(\&from) == 7) { return rc_null(); }'
broken counts_wrong rc_use_count 'if (handle.header != NULL) { return 7; }'
sed -i '1i #include <stdlib.h>' leaves/rc.h
sed -i '1i __attribute__((noinline)) static int deep(volatile int *up)\n{\n    volatile int here[64];\n    here[0] = *up + 1;\n    return deep(here) + here[1];\n}' recurses/rc.h

mkdir no_c lacks claims twice fine
cp "$root/impls/nonatomic/rc.h" fine/rc.h
sed '1i this is no C' fine/rc.h >no_c/rc.h
sed 's/rc_use_count/rc_use_counts/g' fine/rc.h >lacks/rc.h
sed 's/rc_wrapper_detach/rc_wrapper_undo/g' fine/rc.h >claims/rc.h
sed '1i int helper(void);\nint helper(void)\n{\n    return 1;\n}' fine/rc.h >twice/rc.h
printf 'int helper(void);\nint helper(void)\n{\n    return 2;\n}\n' >twice/helper.c

# ---- At work: one clause where it shows, one that is untouched

faults() {
    "$RCLAB" conform --quick --timeout 2 --engine native --seed 7 "$@"
}

faults --impl crashes/rc.h --impl reads_null/rc.h --impl leaves/rc.h --impl recurses/rc.h \
    --clause LIFE-04,NULL-02 --junit out.xml >report 2>progress
expect "a fault is a failed result" 1 "" sh -c "exit $?"
expect "a crash is told" 0 "the process died of signal 4 (Illegal instruction)" cat report
expect "a bad access is told" 0 "the process died of signal 11 (Segmentation fault)" cat report
expect "exit inside the implementation is no pass" 0 \
    "the process ended by itself with status 0 before the test was over" cat report
expect "a stack overflow is told" 0 "the stack overflowed" cat report
expect "the way back is told" 0 \
    "rclab conform --impl crashes/rc.h --clause LIFE-04 --engine native --seed 7" cat report
check "the battery went on" sh -c '[ "$(grep -c "^NULL-02 *PASS" report)" = 4 ]'
check "each has its summary" sh -c '[ "$(grep -c "^[a-z_]*: FAILED: 1 passed, 1 failed" report)" = 8 ]'
if command -v xmllint >/dev/null; then
    check "JUnit XML is well-formed" xmllint --noout out.xml
else
    expect "JUnit XML ends" 0 "</testsuites>" tail -1 out.xml
fi
expect "JUnit has the failures" 0 'name="leaves" tests="2" failures="1" errors="0" skipped="0"' cat out.xml

faults --impl hangs/rc.h --clause WEAK-02,NULL-02 >report 2>progress
expect "a hang is a failed result" 1 "" sh -c "exit $?"
expect "a hang is told" 0 "it still ran after 2 s" cat report
check "the battery went on after the hang" grep -q '^NULL-02 *PASS' report
expect "allocation without end is stopped and told" 1 "allocates without end" \
    faults --impl eats/rc.h --clause LIFE-01 --timeout 10
expect "a wrong count is told" 1 "came       7" faults --impl counts_wrong/rc.h --clause LIFE-01
expect "where it was found is told" 1 "life.h:" faults --impl counts_wrong/rc.h --clause LIFE-01

# ---- Not built

expect "no such file" 2 "there is no file none/rc.h; give the path of an rc.h" \
    "$RCLAB" conform --impl none/rc.h
expect "no such name" 2 "there is no implementation 'packed'; there are: null, nonatomic" \
    "$RCLAB" conform --impl packed
expect "no C" 2 "error: " faults --impl no_c/rc.h
expect "a missing name is named" 2 "rc_use_count" faults --impl lacks/rc.h
expect "a claim without its functions is named" 2 "rc_wrapper_detach" faults --impl claims/rc.h
expect "a double definition is named" 2 "multiple definition of" faults --impl twice/rc.h
expect "no compiler" 3 "there is no compiler 'no_such_cc'" \
    env CC=no_such_cc "$RCLAB" conform --quick --impl fine/rc.h
"$RCLAB" conform --quick --engine native --clause NULL-02 --impl no_c/rc.h --impl fine/rc.h >report 2>errors
expect "others are tested though one does not build" 2 "" sh -c "exit $?"
expect "the one that builds passes" 0 "fine: PASSED" cat report
expect "the other is in the summary" 0 "no_c: FAILED: does not build" cat report

# ---- Forms

faults --impl fine/rc.h --impl counts_wrong/rc.h --clause LIFE-01,NULL-02,RACE-01 --tap >tap 2>progress
expect "TAP: a failure is exit 1" 1 "" sh -c "exit $?"
expect "TAP: version" 0 "TAP version 13" head -1 tap
expect "TAP: plan" 0 "1..6" tail -1 tap
check "TAP: a passed line" grep -q '^ok 2 - fine NULL-02: ' tap
check "TAP: a failed line" grep -q '^not ok 4 - counts_wrong LIFE-01: ' tap
check "TAP: a skipped line says why" \
    grep -q '^ok 3 - fine RACE-01: .* # SKIP unsupported: needs RC_CAP_THREADS' tap
expect "an unknown clause" 2 "there is no clause or area 'LIVE-01'" "$RCLAB" conform --clause LIVE-01
expect "an unknown area" 2 "there is no clause or area 'LIF'" "$RCLAB" conform --clause LIF
expect "an unknown engine" 2 "there is no engine 'fuzz'; there are: oracle, death, native, sanitizer" \
    "$RCLAB" conform --engine fuzz
expect "an engine that is not here" 2 "the engine 'explorer' is not in this version" \
    "$RCLAB" conform --engine explorer
expect "conform: surplus argument" 2 "'now' is no option" "$RCLAB" conform now
expect "conform: a folder that is not there" 2 "cannot write none/out.xml.new" \
    "$RCLAB" conform --junit none/out.xml
expect "clauses: one area" 0 "WEAK-01" "$RCLAB" clauses --area WEAK
expect "clauses: unknown area" 2 "there is no clause or area 'NONE'" "$RCLAB" clauses --area NONE
"$RCLAB" clauses --markdown >CLAUSES.md
check "tests/conformance/CLAUSES.md is what rclab clauses --markdown prints" \
    diff "$root/tests/conformance/CLAUSES.md" CLAUSES.md

# ---- Interrupted

check "nothing is left in TMPDIR" sh -c '[ -z "$(ls tmp)" ]'
"$RCLAB" conform --quick --timeout 100 --engine native --impl hangs/rc.h --clause WEAK-02 >report 2>errors &
program=$!
tries=0
while ! pgrep -f "$work/tmp/rclab-conform-[A-Za-z0-9]*/battery-[a-z]* run" >/dev/null && [ $tries -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -INT "$program"
wait "$program"
expect "Ctrl-C is exit 130" 130 "" sh -c "exit $?"
expect "what was finished is told" 0 "interrupted; 0 of 1 implementations were finished" cat errors
check "no test is left running" sh -c '! pgrep -f "$1/tmp/rclab-conform-" >/dev/null' sh "$work"
check "the build folder is gone" sh -c '[ -z "$(ls tmp)" ]'
finish
