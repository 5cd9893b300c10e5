#!/bin/sh
# rclab cost: the same figures on every run, those that are promised, and a change is seen.
# shellcheck disable=SC2016 # code for sed
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v valgrind >/dev/null 2>&1; then
    echo "skipped: cost: valgrind is not installed"
    exit 77
fi

cd "$work" || exit 2
mkdir tmp mine
TMPDIR=$work/tmp
export TMPDIR
cp "$root/impls/packed64/rc.h" mine/rc.h

# figure FILE IMPL OPERATION COLUMN: COLUMN counts from instructions = 5.
figure() {
    awk -F, -v impl="$2" -v operation="$3" -v column="$4" \
        '$2 == impl && $3 == operation { print $column }' "$1"
}

# is NAME EXPECTED FOUND
is() {
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        not_ok "$1: found '$3', expected '$2'"
    fi
}

# ---- Figures

check "counts a shipped one and one from elsewhere" \
    "$RCLAB" cost --impl packed64,mine/rc.h --out run --csv first.csv
check "--out and --csv write the same" cmp run/costs.csv first.csv
is "the columns" "schema,impl,operation,compiler,instructions,locked,reads,writes" \
    "$(head -1 first.csv)"
if [ "$(uname -m)" = x86_64 ]; then
    is "packed64 locks once to retain" 1 "$(figure first.csv packed64 retain 6)"
    is "... once to release what others hold" 1 "$(figure first.csv packed64 release_shared 6)"
    is "... never to release what nobody else holds" 0 "$(figure first.csv packed64 release_unique 6)"
    is "... once to lock a weak handle" 1 "$(figure first.csv packed64 weak_lock_alive 6)"
fi
sed -n 's/^1,packed64,//p' first.csv >shipped
sed -n 's/^1,mine,//p' first.csv >foreign
check "there are rows" test -s shipped
check "a copy costs what the original costs" cmp shipped foreign
check "counted whole: no fraction where nothing is put off" sh -c '! cut -d, -f3- foreign | grep -q "\."'

# The second time with an environment of another size, which moves the stack.
long=$(head -c 5021 /dev/zero | tr '\0' x)
check "counts again" env LONG="$long" "$RCLAB" cost --impl packed64,mine/rc.h --csv second.csv
check "the same to the unit" cmp first.csv second.csv
expect "one operation in the table" 0 "use_count" "$RCLAB" cost --impl null --op use_count

# Work that is done in every fourth operation only.
mkdir fourth
sed '/^static inline uint64_t rc_use_count(/{n;s|^{|{ static unsigned n; if (++n % 4 == 0) { static volatile int here; here = 1; }|;}' \
    mine/rc.h >fourth/rc.h
"$RCLAB" cost --impl fourth/rc.h --op use_count --csv fourth.csv >out 2>&1
is "a quarter of a write" 1.25 "$(figure fourth.csv fourth use_count 8)"

# ---- Changes

expect "records" 0 "1 implementation with " "$RCLAB" cost --impl mine/rc.h --record=reference.csv
expect "nothing changed" 0 "0 of " "$RCLAB" cost --impl mine/rc.h --check=reference.csv

# edit FUNCTION CODE: that function of mine/rc.h begins with CODE.
edit() {
    sed "/^static inline [a-z0-9_ ]*[ *]$1(/{n;s|^{|{ $2|;}" "$root/impls/packed64/rc.h" >mine/rc.h
    if cmp -s "$root/impls/packed64/rc.h" mine/rc.h; then
        not_ok "there is no function $1 to edit"
    fi
}

edit rc_retain 'if (handle.payload != NULL) { if (*(volatile char *)handle.payload == 77) { return rc_null(); } }'
expect "one more read is seen" 1 "mine retain: " "$RCLAB" cost --impl mine/rc.h --check=reference.csv
cp out seen
check "... from what to what" grep -q 'mine retain: instructions [0-9]* -> [0-9]*, reads [0-9]* -> [0-9]*' seen
check "... how to accept it is said" grep -q 'rclab cost --record=reference.csv' seen
edit rc_retain 'if (handle.payload != NULL) { atomic_fetch_add((_Atomic(int) *)handle.payload, 1); }'
expect "one more locked instruction is seen" 1 "locked 1 -> 2" \
    "$RCLAB" cost --impl mine/rc.h --op retain --check=reference.csv
sed 's/RC_CAP_WRAPPER |//' "$root/impls/packed64/rc.h" >mine/rc.h
expect "what is gone is seen" 1 "mine wrapper_attach: was there, is not offered now" \
    "$RCLAB" cost --impl mine/rc.h --check=reference.csv
expect "one that is new is told, and is no failure" 0 "has no rows for nonatomic yet" \
    "$RCLAB" cost --impl nonatomic --op retain --check=reference.csv
sed 's/,\(gcc\|clang\)-[0-9.]*,/,other-1.0,/' reference.csv >other.csv
expect "another compiler is not compared" 3 "has no rows for " \
    "$RCLAB" cost --impl nonatomic --op retain --check=other.csv
"$RCLAB" cost --impl nonatomic --record=other.csv >out 2>&1
check "recording keeps the other compiler's rows" grep -q '^1,mine,retain,other-1.0,' other.csv
check "... and adds its own" grep -q '^1,nonatomic,retain,[gc]' other.csv
sed 's/,retain,/,retain/' reference.csv >broken.csv
expect "a broken reference is refused" 2 "broken.csv, line 2: it has not 8 fields" \
    "$RCLAB" cost --impl nonatomic --op retain --check=broken.csv

# ---- Refused, in words

for command in cost asm; do
    expect "$command --help" 0 "usage: rclab $command" "$RCLAB" "$command" --help
done
expect "what the columns do not tell" 0 "instructions are not time" "$RCLAB" cost --help
expect "unknown operation" 2 "there is no operation 'retian'; there are: all, retain" \
    "$RCLAB" cost --op retian
expect "unknown implementation" 2 "there is no implementation 'packed'; there are: null" \
    "$RCLAB" cost --impl packed
expect "no such file" 2 "there is no file none/rc.h" "$RCLAB" cost --impl none/rc.h
expect "two of one name" 2 "two implementations would be called packed64" \
    "$RCLAB" cost --impl packed64,packed64
expect "surplus argument" 2 "'now' is no option" "$RCLAB" cost now
expect "--record of a part" 2 "give it neither --op nor" "$RCLAB" cost --op retain --record=x.csv
: >file
expect "a folder under a file" 2 "cannot make the result folder file/run" \
    "$RCLAB" cost --impl null --out file/run
expect "a file in no folder" 2 "cannot write none/x.csv.new" "$RCLAB" cost --impl null --csv none/x.csv
expect "no reference" 2 "cannot read none.csv" \
    "$RCLAB" cost --impl null --op retain --check=none.csv
expect "no compiler" 3 "there is no compiler 'no_such_cc'" "$RCLAB" cost --impl null --cc no_such_cc
mkdir empty
expect "no valgrind" 3 "valgrind is missing: run make deps" env PATH="$work/empty" "$RCLAB" cost
mkdir no_c crashes
sed '1i this is no C' "$root/impls/nonatomic/rc.h" >no_c/rc.h
expect "no C" 2 "no_c does not build:" "$RCLAB" cost --impl no_c/rc.h
sed '/^static inline uint64_t rc_use_count(/{n;s|^{|{ __builtin_trap();|;}' \
    "$root/impls/nonatomic/rc.h" >crashes/rc.h
expect "a crash" 1 "crashes: counting failed under valgrind: it died of signal 4" \
    "$RCLAB" cost --impl crashes/rc.h

# ---- Interrupted

mkdir hangs
sed '/^static inline uint64_t rc_use_count(/{n;s|^{|{ for (;;) { __asm__ volatile(""); }|;}' \
    "$root/impls/nonatomic/rc.h" >hangs/rc.h
"$RCLAB" cost --impl hangs/rc.h --csv hangs.csv >hangs.out 2>hangs.err &
program=$!
tries=0
# The file comes with the first operation that is counted.
while ! ls tmp/rclab-counted-*/callgrind-0 >/dev/null 2>&1 && [ $tries -lt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -INT "$program"
found=0
wait "$program" || found=$?
is "Ctrl-C is exit 130" 130 "$found"
expect "what that means is told" 0 "interrupted; nothing was written" cat hangs.err
check "no file is left" test ! -e hangs.csv
check "nothing is left in TMPDIR" test -z "$(ls tmp)"
finish
