#!/bin/sh
# clang-format, shellcheck, cppcheck and clang-tidy over the project's own files. Prints what is wrong
# and exits 1. Needs a configured build for compile_commands.json; makes one.
#
# clang-format sees every file. cppcheck sees the harness. clang-tidy sees the harness, every
# implementation with the workloads and the tensor layer (through instantiate.c, which has one compile
# command for each), the explorer, and the programs in unit/. The battery in conformance/, its mutants and
# controls and the program of rclab cost (harness/counted/) are compiled with all warnings where they are
# used, the battery under sanitizers too.
set -u

cd "$(dirname "$0")/.." || exit 2
status=0

for tool in clang-format clang-tidy cppcheck shellcheck cmake; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "lint: $tool is missing: run make deps" >&2
        exit 3
    fi
done

files=$(git ls-files --cached --others --exclude-standard -- '*.c' '*.h' '*.cc')
scripts=$(git ls-files --cached --others --exclude-standard -- '*.sh' '.ci/run')

echo "lint: clang-format"
# shellcheck disable=SC2086 # lists of names without blanks
clang-format --dry-run -Werror $files || status=1

echo "lint: shellcheck"
# shellcheck disable=SC2086
shellcheck -x $scripts || status=1

echo "lint: cppcheck"
# Without instantiate.c and counted.c: cppcheck cannot parse a compound literal in a conditional.
# shellcheck disable=SC2046
cppcheck --quiet --std=c11 --language=c --enable=warning,portability,performance \
    --inline-suppr --suppress=missingIncludeSystem --suppress=unusedFunction \
    --suppress=normalCheckLevelMaxBranches --error-exitcode=1 -j "$(nproc)" \
    -DRC_CHECKED=1 -DRC_PRESET=1 -D__GNUC__=12 -D__x86_64__=1 -D_GNU_SOURCE \
    -DRCL_SOURCE_DIR='"."' -DRCL_BINARY_DIR='"."' -DRCL_COMPILER='"c"' -DRCL_FLAGS='""' \
    -DRCL_TRACE_DIR='"."' -Iharness -Iimpls \
    $(find harness -name '*.c' ! -name instantiate.c ! -name counted.c) || status=1

echo "lint: clang-tidy"
mkdir -p build-test
if ! cmake -S . -B build-test/lint -G Ninja -DRCL_TESTS=ON -DCMAKE_C_COMPILER=clang \
    -DCMAKE_CXX_COMPILER=clang++ >build-test/lint.log 2>&1; then
    cat build-test/lint.log
    exit 2
fi
# The two that take longest come first, so that no processor waits for them at the end.
sources=$(
    ls harness/*.c harness/*.cc impls/*/*.c impls/*/*.cc tests/unit/*_test.c 2>/dev/null
    find tests/engines/explorer -maxdepth 1 -name '*.c' ! -name battery_program.c
    find tests/engines/explorer/trust -name '*.c' ! -name '*_subject.c'
)
# shellcheck disable=SC2086
printf '%s\n' harness/replay_plan.c harness/instantiate.c $sources | awk '!seen[$0]++' |
    xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build-test/lint --warnings-as-errors='*' \
        2>build-test/lint.err || {
    # Of what it says there, only the numbers of warnings that are switched off mean nothing.
    grep -vE '^[0-9]+ warnings? (generated|treated as error)|^Suppressed ' build-test/lint.err
    status=1
}

[ $status = 0 ] && echo "lint: clean"
exit $status
