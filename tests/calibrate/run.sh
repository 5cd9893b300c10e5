#!/bin/sh
# How often does `rclab compare` cry wolf, and how small a change does it find? Measures runs of the same
# code, and runs of packed64 with a release that is slower by a known share, and compares them.
#
#   run.sh [--runs N] [--pairs N] [--quick] [--out DIR] [--keep]
#
# --runs N    full runs of the same code, default length; all N (N - 1) / 2 pairs of them are compared
#             (default 7: 21 pairs; pairs share runs, so they are not independent)
# --pairs N   pairs of runs for each slowed implementation: retain_release alone, launches, repetitions
#             and length of a repetition as in a full run; no two pairs share a run (default 20)
# --quick     3 quick runs and 4 pairs, to see that it works; judges nothing
# --out DIR   where the runs go (default results/calibration). Finished runs in it are kept, and not
#             measured again, and so are the programs that measured them: remove DIR to start anew.
# --keep      copy calibration.csv and calibration.txt to results/reference/calibration
#
# Use an idle machine. With the defaults about 30 minutes. Writes DIR/calibration.csv, a row for each
# comparison, and DIR/calibration.txt, what they say. Ctrl-C keeps what was finished.
# Exits 0 if, by the statistic that compare uses, at most 1 % of the cells of the same code were called
# different and slowed_5 was found in 19 of 20 pairs; 1 if not; 3 if the machine was too disturbed to say.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 3
runs=7
pairs=20
quick=
out=$root/results/calibration
keep=

wrong_use() {
    echo "calibrate: $*; see the head of tests/calibrate/run.sh" >&2
    exit 2
}

interrupted() {
    trap '' INT TERM
    echo "calibrate: interrupted; the finished runs are kept, and the same command goes on" >&2
    exit 130
}

number() { # option value least
    case $2 in
        '' | *[!0-9]*) wrong_use "$1 takes a number, not '$2'" ;;
    esac
    [ "$2" -ge "$3" ] || wrong_use "$1 takes $3 or more, not $2"
}

while [ $# -gt 0 ]; do
    case $1 in
        --runs | --pairs | --out)
            [ $# -ge 2 ] || wrong_use "$1 takes a value"
            case $1 in
                --runs) number "$1" "$2" 2 && runs=$2 ;;
                --pairs) number "$1" "$2" 1 && pairs=$2 ;;
                *) out=$2 ;;
            esac
            shift
            ;;
        --quick) quick=--quick runs=3 pairs=4 ;;
        --keep) keep=yes ;;
        *) wrong_use "there is no option '$1'" ;;
    esac
    shift
done

slowed="slowed_0 slowed_2 slowed_5"
target=retain_release

# ---- The programs ----

# build NAME [RC_H]: the program of these runs, kept beside them.
build() {
    [ -x "$out/bin/$1" ] && return
    echo "calibrate: building $1"
    if ! cmake -S "$root" -B "$root/build-calibrate" -G Ninja -DRCL_IMPL="${2:-}" >"$out/build.log" 2>&1 ||
        ! cmake --build "$root/build-calibrate" --target rclab >>"$out/build.log" 2>&1; then
        tail -20 "$out/build.log" >&2
        echo "calibrate: $1 does not build" >&2
        exit 3
    fi
    cp "$root/build-calibrate/rclab" "$out/bin/$1.part" && mv "$out/bin/$1.part" "$out/bin/$1" || exit 3
}

# ---- The runs ----

started=$(date +%s)
done_runs=0
fresh_seconds=0 # what this call has measured, by its plan
full_seconds=180
[ -n "$quick" ] && full_seconds=45
short_seconds=4

is_done() { # folder
    [ -f "$out/$1/machine.json" ] && grep -q '"interrupted": false' "$out/$1/machine.json"
}

# What is still to be measured, in seconds.
to_do() {
    left=0
    i=1
    while [ $i -le "$runs" ]; do
        is_done "same/$i" || left=$((left + full_seconds))
        i=$((i + 1))
    done
    for name in $slowed; do
        i=1
        while [ $i -le $((2 * pairs)) ]; do
            is_done "$name/$i" || left=$((left + short_seconds))
            i=$((i + 1))
        done
    done
    echo $left
}

say_progress() { # what
    left=$(to_do)
    if [ $fresh_seconds -gt 0 ]; then # as fast as it went until now
        left=$((left * ($(date +%s) - started) / fresh_seconds))
    fi
    printf 'calibrate: %s; about %d:%02d left\n' "$1" $((left / 60)) $((left % 60))
}

# measure FOLDER SECONDS PROGRAM OPTION...: one run, unless it is there.
measure() {
    folder=$1
    seconds=$2
    program=$out/bin/$3
    shift 3
    is_done "$folder" && return
    say_progress "$folder"
    rm -rf "${out:?}/$folder" "${out:?}/$folder.part"
    status=0
    "$program" bench --no-plots --out "$out/$folder.part" "$@" >"$out/run.log" 2>&1 || status=$?
    if [ $status = 130 ]; then
        rm -rf "${out:?}/$folder.part"
        interrupted
    elif [ $status != 0 ]; then
        tail -5 "$out/run.log" >&2
        echo "calibrate: $folder: bench ended with $status" >&2
        exit $status
    fi
    mv "$out/$folder.part" "$out/$folder" || exit 3
    done_runs=$((done_runs + 1))
    fresh_seconds=$((fresh_seconds + seconds))
}

# The length of a repetition in a run, in milliseconds.
repetition_ms() { # folder
    sed -n 's/.*"repetition_min_ms": \([0-9.]*\).*/\1/p' "$out/$1/machine.json"
}

measure_all() {
    i=1
    while [ $i -le "$runs" ]; do
        # shellcheck disable=SC2086 # --quick or nothing
        measure "same/$i" $full_seconds same $quick
        i=$((i + 1))
    done
    # Not longer than in a full run: whole milliseconds, rounded down.
    ms=$(repetition_ms same/1)
    ms=${ms%.*}
    [ "${ms:-0}" -ge 1 ] || ms=1
    i=1
    while [ $i -le $((2 * pairs)) ]; do
        for name in $slowed; do
            # shellcheck disable=SC2086
            measure "$name/$i" $short_seconds "$name" $quick --impl "packed64,$name" \
                --workload $target --allocator libc --repetition-ms "$ms"
        done
        i=$((i + 1))
    done
}

# ---- The comparisons ----

columns=schema,kind,statistic,before,after,repetition_ms,compared,slower,faster,no_difference,left_out
columns=$columns,target_verdict,target_ratio,target_low,target_high,team_verdict,team_ratio

# compare KIND BEFORE AFTER OPTION...: a row for each statistic. target_*: retain_release of one thread;
# team_*: of several, each with an object of its own.
compare() {
    kind=$1
    before=$2
    after=$3
    shift 3
    for statistic in fastest median; do
        option=
        [ $statistic = median ] && option=--median
        # Runs that were disturbed so much that nothing is left give a row of zeros.
        # shellcheck disable=SC2086
        if ! "$rclab" compare "$out/$before" ${after:+"$out/$after"} $option "$@" --csv - \
            >"$out/compare.csv" 2>"$out/compare.err" &&
            ! grep -q 'nothing is left to compare' "$out/compare.err"; then
            cat "$out/compare.err" >&2
            exit 1
        fi
        awk -F, -v head="1,$kind,$statistic,$before,${after:-$before},$(repetition_ms "$before")" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            { verdict = $at["verdict"]; count[verdict]++ }
            $at["workload"] == "retain_release" && $at["sharing"] == "private" && $at["impl_before"] == "packed64" {
                if ($at["threads"] == 1) {
                    target = verdict "," $at["ratio"] "," $at["low"] "," $at["high"]
                } else if (team == "") {
                    team = verdict "," $at["ratio"]
                }
            }
            END {
                same = count["no_difference"] + 0
                printf "%s,%d,%d,%d,%d,%d,%s,%s\n", head, count["slower"] + count["faster"] + same,
                    count["slower"], count["faster"], same, count["flagged"] + count["one_launch"],
                    target == "" ? ",,," : target, team == "" ? "," : team
            }' "$out/compare.csv" >>"$out/calibration.csv.part"
    done
}

# A copy of run $1 in which retain_release of packed64, private, takes $2 times as long: what a full run
# would show of a change that touches nothing else. The figures are made, not measured.
plant() {
    rm -rf "${out:?}/planted"
    mkdir "$out/planted" && cp "$out/$1/machine.json" "$out/planted" || exit 3
    awk -F, -v OFS=, -v factor="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 && $at["impl"] == "packed64" && $at["workload"] == "retain_release" && $at["sharing"] == "private" {
            $at["ns_per_op"] = sprintf("%.4f", $at["ns_per_op"] * factor)
        }
        { print }' "$out/$1/raw.csv" >"$out/planted/raw.csv" || exit 3
}

compare_all() {
    echo "$columns" >"$out/calibration.csv.part"
    i=1
    while [ $i -le "$runs" ]; do
        j=$((i + 1))
        while [ $j -le "$runs" ]; do
            compare same same/$i same/$j
            plant same/$j 1.05
            compare planted_5 same/$i planted --impl packed64
            compare planted_5_of_all same/$i planted
            j=$((j + 1))
        done
        i=$((i + 1))
    done
    for name in $slowed; do
        i=1
        while [ $i -le "$pairs" ]; do
            compare "$name" "$name/$((2 * i - 1))" "$name/$((2 * i))" --impls "packed64,$name"
            i=$((i + 1))
        done
        i=1
        while [ $i -le $((2 * pairs)) ]; do
            compare "${name}_inside" "$name/$i" "" --impls "packed64,$name"
            i=$((i + 1))
        done
    done
    rm -rf "${out:?}/planted" "$out/compare.csv" "$out/compare.err"
    mv "$out/calibration.csv.part" "$out/calibration.csv" || exit 3
}

# ---- What they say ----

summarise() {
    sed -n 's/.*"cpu": "\(.*\)".*/\1/p; s/.*"compiler": "\(.*\)".*/\1/p; s/.*"commit": "\(.*\)".*/commit \1/p
        s/.*"finished": "\(.*\)".*/\1/p' "$out/same/1/machine.json" | paste -s -d '~' | sed 's/~/; /g'
    awk -F, -v runs="$runs" -v quick="$quick" '
        function median(list, n,    i, j, t) {
            for (i = 2; i <= n; i++) {
                t = list[i]
                for (j = i - 1; j >= 1 && list[j] > t; j--) {
                    list[j + 1] = list[j]
                }
                list[j + 1] = t
            }
            return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
        }
        function truth(name, statistic,    n, i, list) {
            n = inside[name, statistic]
            for (i = 1; i <= n; i++) {
                list[i] = inside_ratio[name, statistic, i]
            }
            return n ? sprintf("truly %+.1f %%", (median(list, n) - 1) * 100) : "truth not known"
        }
        function of(kind, statistic) {
            return kind SUBSEP statistic
        }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            k = of($at["kind"], $at["statistic"])
            pairs[k]++
            cells[k] += $at["compared"]
            wrong = $at["slower"] + $at["faster"]
            called[k] += wrong
            some[k] += wrong > 0
            most[k] = wrong > most[k] ? wrong : most[k]
            disturbed[k] += $at["kind"] != "same" && $at["target_verdict"] !~ /slower|faster|no_difference/
            found[k] += $at["target_verdict"] == "slower"
            opposite[k] += $at["target_verdict"] == "faster"
            team[k] += $at["team_verdict"] == "slower"
        }
        $at["kind"] ~ /_inside$/ && $at["target_ratio"] != "" {
            name = $at["kind"]
            sub(/_inside$/, "", name)
            n = ++inside[name, $at["statistic"]]
            inside_ratio[name, $at["statistic"], n] = $at["target_ratio"] + 0
        }
        END {
            printf "\nThe same code, %d full runs, all pairs of them (pairs share runs):\n", runs
            for (s = 1; s <= 2; s++) {
                statistic = s == 1 ? "fastest" : "median"
                k = of("same", statistic)
                printf "  by %-8s %d pairs: %d of %d cells called different (%.3f %%), in %d of the pairs, at most %d in one\n",
                    statistic ":", pairs[k], called[k], cells[k], cells[k] ? 100 * called[k] / cells[k] : 0, some[k], most[k]
            }
            printf "\npacked64 against itself with a slower release, retain_release, runs of their own for each pair.\n"
            printf "The true share is the median of what the runs show inside, where both are measured in turns:\n"
            for (v = 1; v <= 3; v++) {
                name = v == 1 ? "slowed_0" : (v == 2 ? "slowed_2" : "slowed_5")
                for (s = 1; s <= 2; s++) {
                    statistic = s == 1 ? "fastest" : "median"
                    k = of(name, statistic)
                    printf "  %s, %s, by %-8s called slower in %d of %d pairs, faster in %d; several threads: slower in %d%s\n",
                        name, truth(name, statistic), statistic ":", found[k], pairs[k], opposite[k], team[k],
                        disturbed[k] ? "; flagged, so not compared: " disturbed[k] : ""
                }
            }
            printf "\nFull runs of the same code, where 5 %% were added to that cell of one run by hand:\n"
            for (v = 1; v <= 2; v++) {
                kind = v == 1 ? "planted_5" : "planted_5_of_all"
                for (s = 1; s <= 2; s++) {
                    statistic = s == 1 ? "fastest" : "median"
                    k = of(kind, statistic)
                    printf "  %s by %-8s found in %d of %d pairs%s\n", v == 1 ? "cells of packed64 compared,   " : "cells of all strategies compared,",
                        statistic ":", found[k], pairs[k], disturbed[k] ? "; flagged, so not compared: " disturbed[k] : ""
                }
            }
            same = of("same", "fastest")
            slow = of("slowed_5", "fastest")
            kept_same = cells[same] > 0 && called[same] * 100 <= cells[same]
            kept_slow = pairs[slow] > 0 && found[slow] * 20 >= pairs[slow] * 19
            if (quick) {
                print "\nQuick runs have too few launches to find what full ones find: nothing is judged."
                exit 0
            }
            printf "\nAt most 1 %% of the same called different: %s. slowed_5 found in 19 of 20: %s.\n",
                kept_same ? "kept" : "NOT KEPT", kept_slow ? "kept" : "NOT KEPT"
            if (!kept_slow && disturbed[slow] > 0) {
                print "The machine was disturbed: too many repetitions are flagged to say how small a change is found."
                exit kept_same ? 3 : 1
            }
            exit !(kept_same && kept_slow)
        }' "$out/calibration.csv"
}

mkdir -p "$out/bin" "$out/same" "$out/slowed_0" "$out/slowed_2" "$out/slowed_5" || exit 2
out=$(cd "$out" && pwd) || exit 2
trap interrupted INT TERM
build same
for name in $slowed; do
    build "$name" "$root/tests/calibrate/$name/rc.h"
done
rclab=${RCLAB:-$out/bin/same}
measure_all
echo "calibrate: comparing"
compare_all
status=0
summarise >"$out/calibration.txt" || status=$?
cat "$out/calibration.txt"
if [ -n "$keep" ]; then
    mkdir -p "$root/results/reference/calibration" &&
        cp "$out/calibration.csv" "$out/calibration.txt" "$root/results/reference/calibration" || exit 2
fi
echo "$done_runs runs measured; in $out: calibration.csv, calibration.txt"
exit $status
