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

# Building takes most of the time here: so one implementation has all faults that come at run time.

# begin FUNCTION CODE: the function of faults/rc.h begins with CODE.
begin() {
    sed "/^static inline [a-z0-9_ ]*[ *]$1(/{n;s|^{|{ $2|;}" faults/rc.h >faults/new
    if cmp -s faults/rc.h faults/new; then
        not_ok "faults: there is no function $1 to break"
    fi
    mv faults/new faults/rc.h
}

mkdir faults no_c lacks claims twice fine
cp "$root/impls/nonatomic/rc.h" fine/rc.h
cp fine/rc.h faults/rc.h
begin rc_retain 'if (handle.header != NULL) { __builtin_trap(); }'
begin rc_weak_expired 'if (weak.header != NULL) { *(volatile int *)0 = 1; }'
begin rc_weak_lock 'for (;;) { __asm__ volatile(""); }'
begin rc_weak_count 'if (handle.header != NULL) { exit(0); }'
begin rc_into_raw 'for (size_t i = 0; i + 1 != 0; i++) { if (rc_mem_alloc(64) == NULL) { break; } }'
begin rc_wrapper_attach 'int from = 0; if (deep(\&from) == 7) { return; }'
begin rc_use_count 'if (handle.header != NULL) { return 7; }'
sed -i '1i #include <stdlib.h>\n__attribute__((noinline)) static int deep(volatile int *up)\n{\n    volatile int here[64];\n    here[0] = *up + 1;\n    return deep(here) + here[1];\n}' faults/rc.h
sed '1i this is no C' fine/rc.h >no_c/rc.h
sed 's/rc_use_count/rc_use_counts/g' fine/rc.h >lacks/rc.h
sed 's/rc_wrapper_detach/rc_wrapper_undo/g' fine/rc.h >claims/rc.h
sed '1i int helper(void);\nint helper(void)\n{\n    return 1;\n}' fine/rc.h >twice/rc.h
printf 'int helper(void);\nint helper(void)\n{\n    return 2;\n}\n' >twice/helper.c

conform() {
    "$RCLAB" conform --quick --timeout 2 --engine native --seed 7 "$@"
}

# status NAME STATUS: that of the last command was this.
status() {
    if [ "$found" = "$2" ]; then
        ok "$1"
    else
        not_ok "$1: exit status $found, expected $2"
    fi
}

# section CLAUSE: what the report says of a clause.
# shellcheck disable=SC2317 # called through expect
section() {
    awk -v clause="$1" '/^[A-Z]+-[0-9]+ /{ on = $1 == clause } on' report
}

# ---- Faults at run time: each is told, and the battery goes on

conform --impl faults/rc.h --junit out.xml \
    --clause LIFE-01,LIFE-04,NULL-05,WEAK-02,WEAK-09,WEAK-05,RAW-01,WRAP-01 >report 2>progress
found=$?
status "faults are a failed result" 1
expect "a crash" 0 "the process died of signal 4 (Illegal instruction)" section LIFE-04
expect "a bad access" 0 "the process died of signal 11 (Segmentation fault)" section WEAK-05
expect "exit inside the implementation" 0 \
    "the process ended by itself with status 0 before the test was over" section WEAK-09
expect "a stack overflow" 0 "the stack overflowed" section WRAP-01
expect "a hang" 0 "it still ran after 2 s" section WEAK-02
expect "allocation without end" 0 "RAW-01     FAIL" section RAW-01
expect "a wrong value" 0 "came       7" section LIFE-01
expect "where it was found" 0 "where      life.h:" section LIFE-01
expect "how to see it again" 0 \
    "again      rclab conform --impl faults/rc.h --clause LIFE-04 --engine native --seed 7" \
    section LIFE-04
expect "what is right passes" 0 "NULL-05    PASS" section NULL-05
expect "the summary counts" 0 "faults: FAILED: 1 passed, 7 failed" tail -1 report
if command -v xmllint >/dev/null; then
    check "JUnit XML is well-formed" xmllint --noout out.xml
else
    expect "JUnit XML ends" 0 "</testsuites>" tail -1 out.xml
fi
expect "JUnit counts" 0 'name="faults" tests="8" failures="7" errors="0" skipped="0"' cat out.xml

# ---- Not built

expect "no such file" 2 "there is no file none/rc.h; give the path of an rc.h" \
    "$RCLAB" conform --impl none/rc.h
expect "no such name" 2 "there is no implementation 'packed'; there are: null, nonatomic" \
    "$RCLAB" conform --impl packed
expect "no C" 2 "error: " conform --impl no_c/rc.h
expect "a claim without its functions is named" 2 "rc_wrapper_detach" conform --impl claims/rc.h
expect "a double definition is named" 2 "multiple definition of" \
    "$RCLAB" conform --quick --engine death --impl twice/rc.h
expect "no compiler" 3 "there is no compiler 'no_such_cc'" \
    env CC=no_such_cc "$RCLAB" conform --quick --impl fine/rc.h

# ---- TAP, and others are tested though one does not build

conform --impl lacks/rc.h --impl fine/rc.h --impl faults/rc.h --clause LIFE-01,NULL-02,RACE-01 --tap \
    >tap 2>errors
found=$?
status "one that does not build is wrong input" 2
check "a missing name is named" grep -q 'rc_use_count' errors
expect "TAP: version" 0 "TAP version 13" head -1 tap
expect "TAP: plan" 0 "1..7" tail -1 tap
check "TAP: not built" grep -q '^not ok 1 - lacks builds' tap
check "TAP: a passed line" grep -q '^ok 3 - fine NULL-02: ' tap
check "TAP: a failed line" grep -q '^not ok 5 - faults LIFE-01: ' tap
check "TAP: a skipped line says why" \
    grep -q '^ok 4 - fine RACE-01: .* # SKIP unsupported: needs RC_CAP_THREADS' tap

# ---- Words

expect "an unknown clause" 2 "there is no clause or area 'LIVE-01'" "$RCLAB" conform --clause LIVE-01
expect "an unknown area" 2 "there is no clause or area 'LIF'" "$RCLAB" conform --clause LIF
expect "an unknown engine" 2 "there is no engine 'fuzz'; there are: oracle, death, native, sanitizer, explorer" \
    "$RCLAB" conform --engine fuzz
expect "an engine that is not here" 2 "the engine 'counter' is not in this version" \
    "$RCLAB" conform --engine counter
expect "conform: surplus argument" 2 "'now' is no option" "$RCLAB" conform now
expect "conform: a folder that is not there" 2 "cannot write none/out.xml.new" \
    "$RCLAB" conform --junit none/out.xml
expect "clauses: one area" 0 "WEAK-01" "$RCLAB" clauses --area WEAK
expect "clauses: unknown area" 2 "there is no clause or area 'NONE'" "$RCLAB" clauses --area NONE
"$RCLAB" clauses --markdown >CLAUSES.md
check "tests/conformance/CLAUSES.md is what rclab clauses --markdown prints" \
    diff "$root/tests/conformance/CLAUSES.md" CLAUSES.md

# ---- Interrupted

# True while a program of the battery runs. The brackets: grep must not find itself.
testing() {
    grep -q -s -a -e "$work/tmp/rclab-conform-.*/battery-[a-z]*[n].run" /proc/[0-9]*/cmdline
}

check "nothing is left in TMPDIR" sh -c '[ -z "$(ls tmp)" ]'
"$RCLAB" conform --quick --timeout 100 --engine native --impl faults/rc.h --clause WEAK-02 \
    >report 2>errors &
program=$!
tries=0
while ! testing && [ $tries -lt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
check "a test runs" testing
kill -INT "$program"
wait "$program"
found=$?
status "Ctrl-C is exit 130" 130
expect "what was finished is told" 0 "interrupted; 0 of 1 implementations were finished" cat errors
if testing; then
    not_ok "a test is left running"
else
    ok "no test is left running"
fi
check "the build folder is gone" sh -c '[ -z "$(ls tmp)" ]'

# A check that is gone: the clause fails, and says which trap should have come.
mkdir unchecked
sed 's/RC_CHECKED && packed64_strong(before) == 0/false/' "$root/impls/packed64/rc.h" >unchecked/rc.h
expect "a missing check names the trap" 1 "this test waits for RC_TRAP_RETAIN_DEAD" \
    "$RCLAB" conform --impl "$work/unchecked/rc.h" --clause MISUSE-01

# ThreadSanitizer cannot see into a compiled library, and would accuse a correct one.
check "an object compiles" sh -c 'echo "int one_more_object;" >more.c && "$0" -c more.c -o more.o' "${CC:-cc}"
expect "with --libs ThreadSanitizer is left out" 0 "ThreadSanitizer is left out" \
    "$RCLAB" conform --impl packed64 --libs "$work/more.o" --clause ORDER-01 --engine native,sanitizer
finish
