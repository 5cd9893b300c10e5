#!/bin/sh
# Runs the project's own tests.
#
# usage: run.sh quick|full
#   quick   one build with gcc; unit tests on every implementation, the command, what operations execute
#   full    that, and: the same under AddressSanitizer and UndefinedBehaviorSanitizer; threads under
#           ThreadSanitizer; everything built with clang, some of it run; the battery against its mutants; lint
# Exit: 0 all passed, 1 a test failed, 2 a build failed or wrong use.
set -u

mode=${1:-}
case $mode in
quick | full) ;;
*)
    echo "usage: run.sh quick|full" >&2
    exit 2
    ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 2
jobs=$(nproc)
targets=
passed=0
failed=0
skipped=0

say() {
    printf '\n== %s\n' "$*"
}

# build NAME OPTION...: configures and builds build-test/NAME; only $targets of it, if that is set.
build() {
    name=$1
    shift
    say "$name: building"
    log=build-test/$name.log
    mkdir -p build-test
    # shellcheck disable=SC2086 # a list of names
    if ! cmake -S . -B "build-test/$name" -G Ninja -DRCL_TESTS=ON "$@" >"$log" 2>&1 ||
        ! cmake --build "build-test/$name" -j "$jobs" ${targets:+--target $targets} >>"$log" 2>&1; then
        grep -E -A8 'error|FAILED|Error' "$log" | head -60
        echo "the build '$name' failed; all of it is in $log"
        exit 2
    fi
}

# run NAME CTEST_OPTION...: runs its tests and counts them.
run() {
    name=$1
    shift
    say "$name: testing"
    log=build-test/$name.ctest
    ctest --test-dir "build-test/$name" -j "$jobs" --output-on-failure --no-tests=error \
        --timeout 300 "$@" >"$log" 2>&1
    grep -E -v '^(Internal ctest|Test project|    Start|.*Test +#[0-9]+: .* Passed +)' "$log"
    passed=$((passed + $(grep -c ' Passed  *[0-9.]* sec' "$log")))
    failed=$((failed + $(grep -c -E '(\*\*\*(Failed|Timeout|Exception)|\*\*\*Not Run)' "$log")))
    skipped=$((skipped + $(grep -c '\*\*\*Skipped' "$log")))
    # What a program skipped inside it, and why.
    sed -n 's/^\(skipped: .*\)/  \1/p' "build-test/$name/Testing/Temporary/LastTest.log" |
        sort | uniq -c | sort -rn
}

build plain
if [ "$mode" = quick ]; then
    # Those that compile the whole program or a battery again take longest.
    run plain -E '^cli\.(conform|explore|foreign_impl|example|plots|cost)|^costs\.clang|^explorer\.sabotage'
else
    run plain
fi

if [ "$mode" = full ]; then
    build sanitized -DRCL_SANITIZE=address,undefined
    run sanitized
    targets=$(sed -n 's/^RC_IMPL(\([a-z0-9_]*\),.*/threads_test.\1/p' impls/impls.def)
    build threads -DRCL_SANITIZE=thread
    targets=
    run threads -R '^threads_test'
    build clang -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++
    run clang -R '^(contract_test|tensor_test|rct_test|plan_test|stats_test|team_test)'
    say "mutants"
    if sh tests/mutants/run.sh >build-test/mutants.log 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        tail -40 build-test/mutants.log
    fi
    tail -3 build-test/mutants.log
    say "lint"
    if sh tests/lint.sh; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
fi

say "all"
echo "tests: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
