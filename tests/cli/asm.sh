#!/bin/sh
# rclab asm: the code of each operation, locked instructions and what is executed marked, what is out of
# line apart.
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v objdump >/dev/null 2>&1 || [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: asm: this is no x86-64, or objdump is not installed"
    exit 77
fi

cd "$work" || exit 2
mkdir tmp mine
TMPDIR=$work/tmp
export TMPDIR
cp "$root/impls/split32/rc.h" mine/rc.h

expect "the function of an operation" 0 "counted_retain" "$RCLAB" asm --impl packed64 --op retain
cp out retain
check "its locked instruction is marked" grep -q 'LOCK  *[0-9a-f]*  lock xadd QWORD PTR \[r' retain
check "just one is" test "$(grep -c LOCK retain)" = 1
check "addresses are offsets" grep -q '   0  [a-z]' retain

# What is marked is what rclab cost counts, with the ret.
if command -v valgrind >/dev/null 2>&1; then
    "$RCLAB" asm --impl packed64 --op retain,release_shared,new,weak_lock_alive >listing
    "$RCLAB" cost --impl packed64 --op retain,release_shared,new,weak_lock_alive --csv counted >out
    awk -F, 'NR > 1 { print $5 + 1 }' counted >expected
    awk '/^counted_/ { on = 1 } on && / executed in one operation$/ { print $(NF - 4); on = 0 }' \
        listing >found
    check "there is something to compare" test -s expected
    check "it executes what rclab cost counts" diff expected found
    awk '/ \| / { bars++ } / executed / { sum += $(NF - 4) } END { print bars == sum }' retain >same
    check "a bar for each instruction that is executed" grep -q '^1$' same
fi

"$RCLAB" asm --impl packed64_called --op retain >called
check "what is called is shown" grep -q '^packed64_called_retain  (called: a function of its own)' called
check "calls name their target" grep -q 'call   packed64_called_retain$' called
"$RCLAB" asm --impl mine/rc.h --op retain --syntax att >dollars
check "one from elsewhere, in AT&T syntax" grep -q 'LOCK.*lock xadd %.*(%r' dollars
"$RCLAB" asm --impl mine/rc.h --op retain --source >source
check "with source lines" grep -q '; .*rc_retain' source
"$RCLAB" asm --impl control_block --op all >everything
check "all operations" grep -q '^graph_node: ' everything
check "what is not offered is named among all" \
    grep -q '^retain_raw: not offered by control_block' everything
expect "asked for alone it is refused" 2 "retain_raw is not offered by control_block: it needs RC_CAP_RAW" \
    "$RCLAB" asm --impl control_block --op retain_raw

expect "asm: no implementation" 2 "name an implementation" "$RCLAB" asm
expect "asm: unknown operation" 2 "there is no operation 'retian'; there are: all, retain" \
    "$RCLAB" asm --impl packed64 --op retian
expect "asm: unknown syntax" 2 "there are: intel, att" "$RCLAB" asm --impl null --syntax masm
expect "asm: two" 2 "one implementation at a time" "$RCLAB" asm --impl null --impl null
expect "asm: no compiler" 3 "there is no compiler 'no_such_cc'" \
    "$RCLAB" asm --impl null --cc no_such_cc
mkdir tools
for tool in "${CC:-cc}" cc as ld; do
    path=$(command -v "$tool") && ln -sf "$path" "tools/${tool##*/}"
done
expect "asm: no objdump" 3 "objdump is missing: run make deps" \
    env PATH="$work/tools" "$RCLAB" asm --impl null --op retain
ln -s "$(command -v objdump)" tools/objdump
expect "asm: no valgrind is no failure" 0 "What is executed is not marked: valgrind is missing" \
    env PATH="$work/tools" "$RCLAB" asm --impl null --op retain
check "nothing is left in TMPDIR" test -z "$(ls tmp)"
finish
