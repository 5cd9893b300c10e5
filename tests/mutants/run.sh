#!/bin/sh
# The mutation run: does the battery find each mutant, by the clause in its name, and no correct
# implementation? Builds the battery anew for each, in the cheapest flavour that can kill it, and runs
# the scenarios of that clause; the next flavour follows only if it survived.
#
#   run.sh [--quick] [--seed N] [--jobs N] [--controls | --no-controls] [NAME...]
#
# NAME: folders of tests/mutants or tests/controls; none: all. --quick: some 15 % of the mutants and of
# the correct implementations, drawn by the seed. Results: build/mutants.csv. Needs cc (or $CC), and for
# the explorer Linux on x86-64 and binutils.
# Exits 1 if a mutant survived, if it was found by another clause than its own, or if a correct
# implementation was accused. Without the explorer its mutants are counted apart.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 3
cc=${CC:-cc}

# ---- Flavours, cheapest first ----

flavour_flags() {
    case $1 in
        checked) echo "-O0 -DRC_CHECKED=1" ;;
        checked_O1) echo "-O1 -DRC_CHECKED=1" ;;
        plain) echo "-O0 -DRC_CHECKED=0" ;;
        asan) echo "-O0 -DRC_CHECKED=0 -fsanitize=address,undefined -fno-sanitize-recover=all" ;;
        tsan) echo "-O0 -DRC_CHECKED=0 -fsanitize=thread" ;;
    esac
}

# How often a scenario with threads is repeated. `rounds`: 1000 for mutants, fewer where nothing may fail.
rounds_of() {
    case $1 in
        asan) echo $((rounds / 10)) ;;
        tsan) echo $((rounds * 6 / 10)) ;;
        *) echo "$rounds" ;;
    esac
}

# Which flavours can kill a mutant of this clause, in the order in which they are tried. The explorer
# needs no luck; natively a lost update is found as soon, and shows that the battery finds it there.
ladder_of() {
    case $1 in
        MISUSE-* | LIMIT-0[3-7]) echo "checked checked_O1" ;;
        ORDER-*) echo "explorer tsan" ;;
        RACE-11) echo "explorer tsan plain" ;;
        RACE-* | WRAP-1[678]) echo "plain explorer checked tsan" ;;
        THREAD-0[236]) echo "plain checked explorer tsan" ;;
        HOOK-0[12356] | LIMIT-0[1289] | LIMIT-10) echo "checked plain explorer asan" ;;
        *) echo "checked plain asan" ;;
    esac
}

engine_of() { # flavour trap
    case $1 in
        explorer) echo explorer ;;
        asan | tsan) echo sanitizer ;;
        *) if [ "$2" != 0 ]; then echo death; else echo native; fi ;;
    esac
}

# ---- Building and running ----

# Objects that are the same for all implementations.
build_common() { # flavour
    for unit in heap verdict; do
        # shellcheck disable=SC2046 # flags are words
        "$cc" -std=gnu17 $(flavour_flags "$1") -g -D_GNU_SOURCE -I"$root/impls" -I"$root/harness" \
            -c "$root/tests/conformance/$unit.c" -o "$work/$1-$unit.o" || return 1
    done
}

build_battery() { # header flavour program
    # shellcheck disable=SC2046
    "$cc" -std=gnu17 $(flavour_flags "$2") -g -D_GNU_SOURCE -DRC_PRESET=1 \
        -DRC_IMPL_HEADER="\"$1\"" -I"$root/impls" -I"$root/harness" -I"$root/tests/conformance" \
        "$root/tests/conformance/battery.c" "$work/$2-heap.o" "$work/$2-verdict.o" -o "$3" \
        -lpthread >"$3.log" 2>&1
}

# Runs the battery's program with arguments; its verdict comes in $3.verdict. A hang ends in time.
run_battery() { # seconds flavour program arguments...
    seconds=$1 flavour=$2 program=$3
    shift 3
    : >"$program.verdict"
    case $flavour in
        tsan) set -- prlimit --core=0 setarch "$(uname -m)" -R timeout -k 1 "$seconds" "$program" "$@" ;;
        asan) set -- prlimit --core=0 timeout -k 1 "$seconds" "$program" "$@" ;;
        *) set -- timeout -k 1 "$seconds" prlimit --core=0 --as=6000000000 "$program" "$@" ;;
    esac
    ASAN_OPTIONS=color=never:exitcode=66:allocator_may_return_null=1:detect_leaks=0 \
        UBSAN_OPTIONS=halt_on_error=1 TSAN_OPTIONS=exitcode=66:halt_on_error=1 \
        "$@" 3>"$program.verdict" >"$program.out" 2>&1 </dev/null
}

# True if a scenario passes. `limit` is in seconds and generous: only a hang may reach
# it, on any machine. `go` tells further goes with the same seed apart.
scenario_passes() { # flavour program index trap
    run_battery "$limit" "$1" "$2" run "$3" $((seed + go)) "$(rounds_of "$1")"
    ended=$?
    if [ "$4" != 0 ]; then
        [ "$(cat "$2.verdict")" = "trap	$4" ]
    else
        [ $ended = 0 ] && [ "$(cat "$2.verdict")" = pass ]
    fi
}

# The scenarios that run in this flavour: index, clause, name and trap, a line each.
scenarios_of() { # flavour program [clause]
    run_battery 60 "$1" "$2" list || return 1
    caps=$(awk '$1 == "impl" { print $2 }' "$2.out")
    overflow=$(awk '$1 == "impl" { print $3 }' "$2.out")
    awk -v only="${3-}" '$1 == "scenario" && (only == "" || only == $3)' "$2.out" |
        while read -r _ index clause name threads trap needs flags; do
            [ "$threads" -gt 1 ] && needs=$((needs | 1)) # RC_CAP_THREADS
            [ $((needs & ~caps)) -ne 0 ] && continue
            case $1 in
                checked*) ;;
                tsan) { [ "$trap" != 0 ] || [ "$threads" -le 1 ]; } && continue ;;
                plain) # RCB_TRAPS_ALWAYS, RC_OVERFLOW_TRAP
                    [ "$trap" != 0 ] && { [ $((flags & 32)) = 0 ] || [ "$overflow" != 2 ]; } && continue ;;
                *) [ "$trap" != 0 ] && continue ;;
            esac
            echo "$index $clause $name $trap"
        done
}

# The first scenario that fails: "clause scenario trap". Nothing if all pass.
first_failure() { # flavour program [clause]
    scenarios_of "$@" >"$2.scenarios" || { echo "list - 0"; return; }
    while read -r index clause name trap; do
        if ! scenario_passes "$1" "$2" "$index" "$trap"; then
            echo "$clause $name $trap"
            return
        fi
    done <"$2.scenarios"
}

# ---- The explorer ----

# Its library, once for all. Nothing, if this machine is none for it: no file then.
build_explorer() {
    [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || return 0
    for tool in objcopy objdump nm ar; do command -v $tool >/dev/null || return 0; done
    for source in "$root"/tests/engines/explorer/*.c; do
        [ "$(basename "$source")" = battery_program.c ] && continue
        "$cc" -std=gnu17 -O2 -g -w -D_GNU_SOURCE -fno-pie -I"$root/impls" -I"$root/harness" \
            -I"$root/tests/conformance" -I"$root/tests/engines/explorer" \
            -c "$source" -o "$work/explorer-$(basename "$source" .c).o" || return 1
    done
    ar rc "$work/explorer.a" "$work"/explorer-*.o
}

# Searches the scenarios of a clause, or all: "fail", or "unsupported", clause, name and the search's
# seconds of the first one that does not pass. Nothing if all pass. 1: it could not be built.
explored() { # header program executions [clause]
    CC=$cc sh "$root/tests/engines/explorer/build.sh" "$1" "$2" "$work/explorer.a" 0 -O0 \
        >"$2.log" 2>&1
    case $? in
        0) ;;
        4) echo "unsupported $(tail -n 1 "$2.log" | tr ' ' '_') - 0"; return 0 ;;
        *) return 1 ;;
    esac
    "$2" list 2>/dev/null | awk -F'\t' -v only="${4-}" '$1 == "searched" && (only == "" || only == $3) {
        print $2, $3, $4 }' >"$2.searched"
    while read -r index clause name; do
        timeout -k 1 120 "$2" run "$index" "$seed" "$3" 3>"$2.verdict" >"$2.out" 2>&1 </dev/null
        said=$(cut -f1 "$2.verdict" | head -n 1)
        [ "$said" = pass ] && continue
        echo "${said:-crash} $clause $name $(sed -n 's/.*blocked, \([0-9.]*\) s$/\1/p' "$2.out" | tail -n 1)"
        return 0
    done <"$2.searched"
}

seconds_since() { # nanoseconds
    awk -v from="$1" -v to="$(date +%s%N)" 'BEGIN { printf "%.1f", (to - from) / 1e9 }'
}

# A row of the results: kind,name,clause,outcome,engine,flavour,test,seconds,search_seconds
report() { # kind name clause outcome engine flavour test
    row_seconds=$(seconds_since "$started")
    echo "$1,$2,$3,$4,$5,$6,$7,$row_seconds,$searched" >"$work/rows/$1-$2"
    done_now=$(find "$work/rows" -type f | wc -l)
    printf '%3d/%d  %-9s %-36s %-18s %-28s %5s s\n' "$done_now" "$total" "$4" "$2" "$5/$6" "$7" \
        "$row_seconds"
}

# ---- One mutant, one correct implementation ----

run_mutant() { # name
    rounds=1000 limit=60 go=0
    clause=${1%%_*}
    header=$root/tests/mutants/$1/rc.h
    program=$work/$1
    explorer=no
    head -n 1 "$header" | grep -q 'explorer:' && explorer=yes
    outcome=survived flavour=- engine=- test=- searched=
    # What is the explorer's is not left to luck, and may hang natively.
    ladder=$(ladder_of "$clause")
    [ $explorer = yes ] && ladder=explorer
    for flavour in $ladder; do
        if [ "$flavour" = explorer ]; then
            [ -f "$work/explorer.a" ] || continue
            if ! failure=$(explored "$header" "$program" 100000 "$clause"); then
                outcome=unbuilt
                sed 's/^/    /' "$program.log" >&2
                break
            fi
            case $failure in
                '') continue ;;
                unsupported*) [ $explorer = yes ] && outcome=refused || continue ;;
                *) outcome=killed ;;
            esac
            engine=explorer test=$(echo "$failure" | cut -d' ' -f3)
            searched=$(echo "$failure" | cut -d' ' -f4)
            break
        fi
        if ! build_battery "$header" "$flavour" "$program"; then
            outcome=unbuilt engine=- test=-
            sed 's/^/    /' "$program.log" >&2
            break
        fi
        failure=$(first_failure "$flavour" "$program" "$clause")
        # A missing order shows only when threads meet in a certain way: give chance several goes.
        for go in 1 2 3 4 5 6 7; do
            { [ -n "$failure" ] || [ "$flavour" != tsan ] || [ $explorer = yes ]; } && break
            failure=$(first_failure tsan "$program" "$clause")
        done
        go=0
        if [ -n "$failure" ]; then
            outcome=killed test=$(echo "$failure" | cut -d' ' -f2)
            engine=$(engine_of "$flavour" "$(echo "$failure" | cut -d' ' -f3)")
            break
        fi
    done
    # The oracle last: it looks for everything at once, and says which clause.
    case $outcome,$clause in
        survived,RACE-* | survived,ORDER-* | survived,MISUSE-* | survived,LIMIT-0[3-7]) ;;
        survived,*)
            build_battery "$header" checked "$program"
            run_battery 300 checked "$program" oracle "$seed" 20000
            if [ "$(cut -f2 "$program.verdict")" = "$clause" ]; then
                outcome=killed flavour=checked engine=oracle test=oracle
            fi
            ;;
    esac
    if [ $outcome = survived ] && [ $explorer = yes ] && [ ! -f "$work/explorer.a" ]; then
        outcome=explorer flavour=-
    elif [ $outcome = survived ]; then
        for flavour in checked plain; do
            build_battery "$header" "$flavour" "$program"
            failure=$(first_failure "$flavour" "$program")
            if [ -n "$failure" ]; then
                outcome=misjudged test=$(echo "$failure" | cut -d' ' -f1,2 | tr ' ' ':')
                break
            fi
        done
        [ $outcome = survived ] && flavour=-
    fi
    report mutant "$1" "$clause" "$outcome" "$engine" "$flavour" "$test"
    rm -rf "$program" "$program".*
}

run_correct() { # kind name
    rounds=160 limit=300 go=0 searched=
    header=$root/tests/controls/$2/rc.h
    [ "$1" = impl ] && header=$root/impls/$2/rc.h
    program=$work/$1-$2
    outcome=cleared flavour=all engine=all test=-
    for flavour in checked plain asan tsan explorer; do
        if [ $flavour = explorer ]; then
            [ -f "$work/explorer.a" ] || continue
            failure=$(explored "$header" "$program" 20000) || failure="fail unbuilt - 0"
            [ -z "$failure" ] && continue
            outcome=accused engine=explorer test=$(echo "$failure" | cut -d' ' -f2,3 | tr ' ' ':')
            { cat "$program.verdict"; head -n 40 "$program.out"; } | sed 's/^/    /' >&2
            break
        fi
        if ! build_battery "$header" "$flavour" "$program"; then
            outcome=unbuilt
            sed 's/^/    /' "$program.log" >&2
            break
        fi
        failure=$(first_failure "$flavour" "$program")
        if [ -n "$failure" ]; then
            outcome=accused test=$(echo "$failure" | cut -d' ' -f1,2 | tr ' ' ':')
            engine=$(engine_of "$flavour" "$(echo "$failure" | cut -d' ' -f3)")
            { cat "$program.verdict"; head -n 12 "$program.out"; } | sed 's/^/    /' >&2
            break
        fi
        [ "$flavour" = tsan ] && continue
        run_battery 600 "$flavour" "$program" oracle "$seed" 10000
        if [ "$(cat "$program.verdict")" != pass ]; then
            outcome=accused engine=oracle test=$(cut -f2 "$program.verdict")
            sed 's/^/    /' "$program.verdict" >&2
            break
        fi
    done
    [ $outcome = cleared ] && flavour=all
    report "$1" "$2" - "$outcome" "$engine" "$flavour" "$test"
    rm -rf "$program" "$program".*
}

# A child of the run: MUTANT_RUN=1 run.sh KIND:NAME, with work, seed and total in the environment.
if [ -n "${MUTANT_RUN-}" ]; then
    started=$(date +%s%N)
    case $1 in
        mutant:*) run_mutant "${1#*:}" ;;
        *) run_correct "${1%%:*}" "${1#*:}" ;;
    esac
    exit 0
fi

# ---- The run ----

quick=no seed=$(date +%s) jobs=$(nproc) which=all names=
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=yes ;;
        --seed | --jobs)
            [ $# -ge 2 ] || { echo "run.sh: $1 needs a number" >&2; exit 2; }
            case $2 in '' | *[!0-9]*) echo "run.sh: $1 $2: expected a number" >&2; exit 2 ;; esac
            [ "$1" = --seed ] && seed=$2
            [ "$1" = --jobs ] && jobs=$2
            shift ;;
        --controls) which=controls ;;
        --no-controls) which=mutants ;;
        -*) echo "run.sh: unknown option $1; see the head of this file" >&2; exit 2 ;;
        *) names="$names $1" ;;
    esac
    shift
done

list_all() {
    if [ $which != controls ]; then
        for folder in "$root"/tests/mutants/*_*/; do echo "mutant:$(basename "$folder")"; done
    fi
    if [ $which != mutants ]; then
        for folder in "$root"/tests/controls/*/; do echo "control:$(basename "$folder")"; done
        # The bases of the mutants: a flavour in which these failed would kill everything.
        for base in packed64 split32 control_block nonatomic; do echo "impl:$base"; done
    fi
}

work=$(mktemp -d "${TMPDIR:-/tmp}/rclab-mutants-XXXXXX") || exit 3
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$work/rows"

if [ -n "$names" ]; then
    for name in $names; do
        list_all | grep ":$name\$" || { echo "run.sh: there is no $name" >&2; exit 2; }
    done >"$work/list" || exit 2
elif [ $quick = yes ]; then
    list_all | awk -v seed="$seed" 'BEGIN { srand(seed) } rand() < 0.15' >"$work/list"
else
    list_all >"$work/list"
fi
total=$(wc -l <"$work/list")
echo "mutants: $total to run, seed $seed"
began=$(date +%s%N)
for flavour in checked checked_O1 plain asan tsan; do
    build_common $flavour || { echo "run.sh: $cc cannot build the flavour $flavour" >&2; exit 3; }
done
build_explorer || { echo "run.sh: $cc cannot build the explorer" >&2; exit 3; }

# What a mutant says of the rows that it expresses, and what the table says of it, must agree.
for header in "$root"/tests/mutants/*_*/rc.h; do
    name=$(basename "$(dirname "$header")")
    tr '\n*' '  ' <"$header" | tr -s ' ' | sed -n 's|.*Known bugs: rows\{0,1\} \([0-9, ]*\)\..*|\1|p' |
        awk -F, -v name="$name" '{ for (i = 1; i <= NF; i++) print $i + 0, name }'
done | sort >"$work/said"
awk -F'|' '/^\| [0-9]+ \|/ { n = split($6, mutants, /[ ,]+/)
    for (i = 1; i <= n; i++) if (mutants[i] ~ /^`[A-Z]+-[0-9]+_/) { gsub(/`/, "", mutants[i])
        print $2 + 0, mutants[i] } }' "$root/tests/mutants/README.md" | sort >"$work/listed"
if ! diff "$work/said" "$work/listed" >"$work/differ"; then
    echo "run.sh: tests/mutants/README.md and the comments of the mutants differ (< comment, > table):" >&2
    cat "$work/differ" >&2
    exit 1
fi

# Correct ones first: they take longest.
export work seed total MUTANT_RUN=1
{ grep -v '^mutant:' "$work/list"; grep '^mutant:' "$work/list"; } |
    xargs -P "$jobs" -n 1 sh "$root/tests/mutants/run.sh"

mkdir -p "$root/build"
{
    echo "kind,name,clause,outcome,engine,flavour,test,seconds,search_seconds"
    find "$work/rows" -type f | sort | xargs -r cat
} >"$work/mutants.csv"
mv "$work/mutants.csv" "$root/build/mutants.csv"
awk -F, -v total="$total" -v seconds="$(seconds_since "$began")" '
    NR == 1 { next }
    { n[$1 == "mutant" ? "mutant" : "correct"]++; count[$4]++ }
    $4 == "killed" && $5 == "explorer" { searched[++explored] = $9 + 0 }
    $4 == "refused" { print "  refused: " $2 " (C11 does not know what it does: the explorer says so)" }
    $4 == "survived" || $4 == "misjudged" || $4 == "accused" || $4 == "unbuilt" {
        bad++
        print "  " $4 ": " $2 " (" $7 " " $6 ")"
    }
    END {
        printf "%d mutants: %d killed, %d refused, %d for the explorer, %d survived, %d killed by another clause; ",
               n["mutant"], count["killed"], count["refused"], count["explorer"], count["survived"],
               count["misjudged"]
        printf "%d correct ones: %s accused; %.0f s\n", n["correct"],
               (count["accused"] ? count["accused"] : "none"), seconds
        if (explored > 0) {
            for (i = 2; i <= explored; i++) {
                for (k = i; k > 1 && searched[k] < searched[k - 1]; k--) {
                    swap = searched[k]; searched[k] = searched[k - 1]; searched[k - 1] = swap
                }
            }
            printf "%d killed by the explorer: search until the failure, median %.4f s, longest %.4f s\n",
                   explored, searched[int((explored + 1) / 2)], searched[explored]
        }
        if (NR - 1 != total) { print "  " total - NR + 1 " gave no result"; bad++ }
        exit (bad > 0)
    }' "$root/build/mutants.csv"
