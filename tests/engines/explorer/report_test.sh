#!/bin/sh
# Reports of programs that are broken in known ways: they name the right source lines, say what each read
# has seen, and the same is there as JSON. With CC, and with the other one of gcc and clang where it is
# installed; at -O0 and -O2. Exits 77, a skip, where the explorer cannot run.
set -u

here=$(cd "$(dirname "$0")" && pwd)
broken=$here/report_test/broken.c
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failures=0
cd "$work" || exit 2 # paths in reports are then whole

skip() {
    echo "SKIP: $*"
    exit 77
}
[ "$(uname -m)" = x86_64 ] || skip "the explorer runs on x86-64"
for tool in objcopy addr2line nm; do
    command -v $tool >/dev/null || skip "$tool of binutils is not installed"
done
cc=${CC:-cc}
compilers=$cc
for more in gcc clang; do
    if command -v $more >/dev/null &&
        [ "$(readlink -f "$(command -v $more)")" != "$(readlink -f "$(command -v "$cc")")" ]; then
        compilers="$compilers $more"
    fi
done

for room in abi fiber model sc shadow search places words report; do
    $cc -std=gnu17 -D_GNU_SOURCE -O1 -g -w -c "$here/$room.c" -o "$work/$room.o" || exit 1
done
$cc -std=gnu17 -D_GNU_SOURCE -w -I"$here" -c "$here/report_test/show.c" -o "$work/show.o" || exit 1
# shellcheck disable=SC2046 # a list of flags
$cc -std=gnu17 -w "$here/report_test/parse.c" -o "$work/parse" $(pkg-config --cflags --libs jansson) || exit 1

renames=
for name in malloc free; do renames="$renames --redefine-sym $name=rcx_$name"; done
for name in lock unlock; do
    renames="$renames --redefine-sym pthread_mutex_$name=rcx_mutex_$name"
done

line_of() {
    grep -n "/\* $1 \*/" "$broken" | cut -d: -f1
}

fail() {
    failures=$((failures + 1))
    echo "FAIL: $what: $*"
    [ $failures -gt 1 ] || sed 's/^/    /' "$work/text"
}

# says WORDS: a line of the report has them, whatever the line breaks and runs of blanks.
says() {
    tr -s ' \n' ' ' <"$work/text" | grep -qF -e "$1" || fail "the report does not say: $1"
}

# json_says WORDS: a line that parse.c printed.
json_says() {
    grep -qxF -e "$1" "$work/json" || fail "the JSON report does not say: $1: $(cat "$work/json")"
}

# build BREAK
build() {
    what="$1 with $compiler $level"
    $compiler -std=gnu17 "$level" -g -w -fno-builtin -fno-pie -fsanitize=thread -I"$here" \
        -DBREAK="$1" -c "$broken" -o "$work/broken.o" || exit 1
    # shellcheck disable=SC2086 # a list of flags
    objcopy $renames "$work/broken.o" || exit 1
    $cc -no-pie "$work"/*.o -o "$work/program" -pthread || exit 1
    "$work/program" text >"$work/text"
    [ $? = 1 ] || fail "it does not fail"
    "$work/program" json >"$work/report.json"
    "$work/parse" <"$work/report.json" >"$work/json" || fail "no JSON: $(cat "$work/json")"
    schedule=$(sed -n 's/^Schedule: //p' "$work/text")
    says "Show it again: show text $schedule"
    "$work/program" text "$schedule" >"$work/again"
    cmp -s "$work/text" "$work/again" || fail "its schedule shows another execution"
    [ "$(awk '{ if (length($0) > longest) longest = length($0) } END { print longest }' "$work/text")" -le 112 ] ||
        fail "a line is too long"
}

for compiler in $compilers; do
    for level in -O0 -O2; do
        build RELAXED_RELEASE
        says "data race: a plain write in thread 0, and a plain write in thread 1"
        says "memory B0+8 of block B0: 16 bytes, allocated before the threads in setup, broken.c:$(line_of BORN)"
        says "one access step 1, thread 0 in thread, $broken:$(line_of 'RACE FIRST') shared->field = 1;"
        says "the other step 4, thread 1 in release, $broken:$(line_of 'RACE SECOND') from->field = -1;"
        says "fetch_sub 1 RELAXED B0: 0x1_0000_0001 (step 2, thread 0) -> 0x1_0000_0000; no order, as this read does not acquire"
        says "thread 1 in release, from thread (broken.c:"
        json_says "thread $(line_of 'RACE FIRST')"
        json_says "release $(line_of 'RACE SECOND')"

        build FREED_TWICE
        says "first free step 1, thread 0 in thread, $broken:$(line_of TWICE)"
        says "the free step 2, thread 1 in thread, $broken:$(line_of TWICE)"

        build USED_AFTER_FREE
        says "the free step 2, thread 0 in thread, $broken:$(line_of 'USE FIRST') free(shared);"
        says "the use step 4, thread 1 in thread, $broken:$(line_of 'USE SECOND') atomic_fetch_add"
        says "load ACQUIRE flag: reads 1 (step 1, thread 0); synchronizes with step 1"
        json_says "thread $(line_of 'USE FIRST')"
        json_says "thread $(line_of 'USE SECOND')"

        build LEAKED
        says "not freed B0: 16 bytes, allocated before the threads in setup, broken.c:$(line_of BORN)"

        build LOCKED_FOR_EVER
        says "> 3 waits for ever: lock other, which thread 1 has locked in step 2 broken.c:$(line_of WAITS)"
        says "> 4 waits for ever: lock one, which thread 0 has locked in step 1 broken.c:$(line_of WAITS)"

        build STALE
        says "noticed by the main program in check, $broken:$(line_of NOTICED)"
        says "load ACQUIRE flag: reads 1 (step 2, thread 0); no order, as step 2 does not release broken.c:$(line_of 'STALE FIRST')"
        says "load RELAXED data: reads 0 (there before, though step 1 has stored later) broken.c:$(line_of 'STALE SECOND')"
        json_says 'broken promise: a "flag" without its data'
    done
done

[ $failures = 0 ] || exit 1
echo "reports: all as expected, with $compilers at -O0 and -O2"
