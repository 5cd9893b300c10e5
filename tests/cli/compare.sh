#!/bin/sh
# rclab compare on runs that were made by hand: what it says, writes and refuses. Nothing is measured.
# shellcheck disable=SC2016 # the inner shell expands them
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 2

# make_run FOLDER SEED [AWK]: 6 launches of 2 repetitions of 1 % noise; AWK sees each row's cell (impl,
# workload, variant, threads, allocator), launch and repetition, and may change ns and flagged, or set
# skip.
make_run() {
    mkdir "$1"
    cat >"$1/machine.json" <<END
{"schema": 1,
 "machine": {"cpu": "Made Up", "processors": 2, "architecture": "x86_64", "kernel": "6.1",
             "caches": [{"level": 1, "bytes": 32768, "line_bytes": 64}], "frequency_governor": "none"},
 "build": {"compiler": "GNU 12.2.0", "flags": "-O2 -g", "libc": "2.36", "jemalloc": "5.3.0",
           "google_benchmark": "1.7", "commit": "$1$1$1$1$1$1$1", "changed_since_commit": false},
 "run": {"launches": 6, "repetitions_per_launch": 2, "repetition_min_ms": 8.5, "interrupted": false}}
END
    awk -v state="$2" '
        # Lehmer'"'"'s generator: the same figures with every awk.
        function uniform() { state = (state * 48271) % 2147483647; return state / 2147483647 }
        BEGIN {
            print "schema,launch,repetition,sequence,impl,workload,variant,threads,sharing,allocator," \
                "operations,ns_per_op,elapsed_ms,utilisation,involuntary_switches,steal_percent,pinned,flagged,seed"
            impls = split("null floor packed64 split32", impl_names, " ")
            workloads = split("retain_release new_release view training_step", workload_names, " ")
            for (launch = 0; launch < 6; launch++)
                for (repetition = 0; repetition < 2; repetition++)
                    for (i = 1; i <= impls; i++)
                        for (w = 1; w <= workloads; w++)
                            for (threads = 1; threads <= 2; threads++) {
                                impl = impl_names[i]; workload = workload_names[w]; variant = "-"
                                allocator = "libc"; flagged = 0; skip = 0
                                ns = 10 * w * (1 + 0.02 * (uniform() - 0.5))
                                '"${3:-}"'
                                if (!skip)
                                    printf "1,%d,%d,0,%s,%s,%s,%d,private,%s,1,%.4f,1,1,0,0,1,%d,1\n",
                                        launch, repetition, impl, workload, variant, threads, allocator, ns, flagged
                            }
        }' >"$1/raw.csv"
}

make_run a 11
make_run b 12
make_run slow 13 'if (impl == "packed64" && workload == "view" && threads == 1) ns *= 1.06
                  if (impl == "split32" && workload == "new_release") ns *= 0.9'
make_run other 14 'if (workload == "view") skip = 1; if (workload == "new_release") variant = "x"
                   if (impl == "packed64" && workload == "training_step") flagged = 1
                   if (impl == "split32" && workload == "training_step" && launch > 0) skip = 1'
make_run once 15 'if (launch > 0) skip = 1'
make_run short 15 'if (launch > 2) skip = 1'
make_run disturbed 16 'flagged = 1'

expect "runs of the same do not differ" 0 "16 cells compared: 0 slower, 0 faster, 16 with no difference" \
    "$RCLAB" compare a b
expect "and say how much they could have shown" 0 "half of the cells could have shown" "$RCLAB" compare a b
expect "and what the machine did" 0 "from null and floor: 1 thread 0.0 %, 2 threads" \
    "$RCLAB" compare a b
expect "a run is the same as itself" 0 "0 slower, 0 faster, 16 with" "$RCLAB" compare a a

expect "differences are counted" 0 "16 cells compared: 1 slower, 2 faster, 13 with" "$RCLAB" compare a slow
check "those that differ are shown, slower ones first" sh -c '
    "$0" compare a slow >out.txt
    [ "$(grep -c -E "(slower|faster)$" out.txt)" = 3 ] &&
    grep -E "(slower|faster)$" out.txt | head -n 1 | grep -q "^packed64  view, 1 thread private, libc .* slower$"' "$RCLAB"
check "--all shows every cell" \
    sh -c '[ "$("$0" compare a slow --all | grep -c -E " to [0-9.]+ +(slower|faster|-|control)$")" = 32 ]' "$RCLAB"
expect "both commits are shown" 0 "commit slowslowslow" "$RCLAB" compare a slow
expect "--median compares what tables show" 0 "by the median of the repetitions" "$RCLAB" compare a slow --median
check "the same files give the same answer" sh -c '
    "$0" compare a slow --all >1.txt && "$0" compare a slow --all >2.txt && cmp 1.txt 2.txt' "$RCLAB"

expect "--fail-if-slower fails on a regression" 1 "1 cell slower by 5 % or more" \
    "$RCLAB" compare a slow --fail-if-slower 5
expect "and names it" 1 "packed64  view, 1 thread private, libc" "$RCLAB" compare a slow --fail-if-slower 5
expect "not on a smaller one" 0 "1 slower" "$RCLAB" compare a slow --fail-if-slower 20
expect "not on a gain" 0 "2 faster" "$RCLAB" compare a slow --fail-if-slower 0 --impl split32
expect "not on what may be chance" 0 "0 slower" "$RCLAB" compare a b --fail-if-slower 0

expect "--workload takes names" 0 "4 cells compared" "$RCLAB" compare a b --workload view
expect "--workload takes groups" 0 "8 cells compared" "$RCLAB" compare a b --workload operations
expect "--impl takes a list" 0 "8 cells compared" "$RCLAB" compare a b --impl packed64
expect "two implementations of one run" 0 "packed64 -> split32  new_release" \
    "$RCLAB" compare slow --impls packed64,split32
expect "what only one of them has" 0 "1 only of null: null  view, 1 thread private, libc" sh -c '
    mkdir gap && cp a/machine.json gap && grep -v ",packed64,view,-,1," a/raw.csv >gap/raw.csv
    "$0" compare gap --impls null,packed64' "$RCLAB"
expect "two implementations of two runs" 0 "8 cells compared" "$RCLAB" compare a b --impls packed64,split32

expect "unmatched cells are counted and named" 0 "8 only in a: packed64  new_release, 1 thread private, libc;" \
    "$RCLAB" compare a other
expect "the first few of them" 0 "and 5 more (--all)" "$RCLAB" compare a other
expect "all of them with --all" 0 "split32  view, 2 threads private, libc" "$RCLAB" compare a other --all
expect "flagged cells are left out by name" 0 \
    "2 left out, most repetitions flagged: packed64  training_step, 1 thread private, libc; packed64" \
    "$RCLAB" compare a other
expect "so are cells of one launch" 0 "2 left out, one launch shows no spread: split32  training_step" \
    "$RCLAB" compare a other
expect "without null and floor it says so" 0 "No row of null or floor tells whether the machine changed" sh -c '
    mkdir few_a few_b && cp a/machine.json few_a && cp b/machine.json few_b
    grep -v -E ",(null|floor)," a/raw.csv >few_a/raw.csv && grep -v -E ",(null|floor)," b/raw.csv >few_b/raw.csv
    "$0" compare few_a few_b' "$RCLAB"
expect "few launches show little, and it says so" 0 "So few launches show large differences only" \
    "$RCLAB" compare a short
expect "and for which numbers of threads" 0 "1 thread 0.0 %, 2 threads not known beyond" sh -c '
    mkdir one_a one_b && cp a/machine.json one_a && cp b/machine.json one_b
    for run in a b; do grep -v -E ",(null|floor),[a-z_]*,-,2," $run/raw.csv >one_$run/raw.csv; done
    "$0" compare one_a one_b' "$RCLAB"

# ---- CSV and Markdown ----

columns="schema,impl_before,impl_after,workload,variant,threads,sharing,allocator,verdict,launches_before,launches_after,before_ns,after_ns,ratio,low,high,ci95_low,ci95_high,p,p_adjusted"
"$RCLAB" compare a other --csv c.csv --markdown m.md >/dev/null
check "the CSV has its columns" sh -c '[ "$(head -n 1 c.csv)" = "$0" ]' "$columns"
check "and a row for each cell, of as many fields" \
    sh -c '[ "$(grep -c "" c.csv)" = 29 ] && awk -F, "NF != 20 { exit 1 }" c.csv'
check "with every verdict" sh -c 'for v in no_difference control flagged one_launch only_before only_after; do
    cut -d, -f9 c.csv | grep -q -x $v || exit 1; done'
check "the Markdown begins with what was found" sh -c 'head -n 1 m.md | grep -q "^\*\*4 cells compared"'
check "--csv - is the CSV alone" sh -c '"$0" compare a slow --csv - >c2.csv && [ "$(head -n 1 c2.csv)" = "$1" ] &&
    [ "$(cut -d, -f9 c2.csv | sort | uniq -c | tr -s " " | tr "\n" ";")" = " 16 control; 2 faster; 13 no_difference; 1 slower; 1 verdict;" ]' \
    "$RCLAB" "$columns"
expect "--markdown - is the table alone" 0 "| packed64 | view, 1 thread private, libc |" \
    "$RCLAB" compare a slow --markdown -
expect "a file that cannot be written is named" 2 "cannot write no/where.csv: No such file or directory" \
    "$RCLAB" compare a slow --csv no/where.csv

# ---- Refusals: one line, status 2 ----

refused() { # name text command...
    name=$1
    text=$2
    shift 2
    expect "$name" 2 "$text" "$@"
    check "$name: in one line, without a table" sh -c '[ "$(grep -c "" "$0")" -le 2 ] && [ ! -s "$1" ]' \
        "$work/err" "$work/out"
}

refused "no runs" "give two runs, or one with --impls A,B" "$RCLAB" compare
refused "one run" "1 given" "$RCLAB" compare a
refused "three runs" "3 given" "$RCLAB" compare a b slow
refused "no such run" "cannot read nowhere/raw.csv: No such file" "$RCLAB" compare a nowhere
refused "one launch only" "once has one launch only, which shows no spread: measure again with bench --launches 3" \
    "$RCLAB" compare a once
refused "everything flagged" "16 had most repetitions flagged" "$RCLAB" compare a disturbed
refused "an unknown implementation" "--impl: there is no 'packed' in these runs; there are: floor, null, packed64, split32" \
    "$RCLAB" compare a b --impl packed
refused "an unknown implementation of --impls" "--impls: there is no 'c' in a" "$RCLAB" compare a --impls c,split32
refused "an unknown workload" "--workload: there is no 'views'" "$RCLAB" compare a b --workload view,views
refused "an empty list" "the list after --impl is empty" "$RCLAB" compare a b --impl ""
refused "one name for --impls" "--impls takes two implementations" "$RCLAB" compare a --impls packed64
refused "an implementation with itself" "compares it with itself" "$RCLAB" compare a --impls packed64,packed64
refused "--impl with --impls" "say two things" "$RCLAB" compare a b --impls packed64,split32 --impl null
refused "no percentage" "--fail-if-slower takes percent from 0 to 1000, not '5%'" \
    "$RCLAB" compare a b --fail-if-slower 5%
refused "a negative percentage" "not '-1'" "$RCLAB" compare a b --fail-if-slower -1
refused "two outputs on one" "only one of --csv and --markdown can be -" "$RCLAB" compare a b --csv - --markdown -
refused "an unknown option" "unrecognized option '--fast'" "$RCLAB" compare a b --fast
refused "controls alone" "have no cell in common that was asked for" "$RCLAB" compare a b --impl null

# spoil NAME FILE SED: a copy of run b with one file changed.
spoil() {
    mkdir "$1"
    cp b/raw.csv b/machine.json "$1"
    sed "$3" "b/$2" >"$1/$2"
}
spoil clang machine.json 's/GNU 12.2.0/Clang 14.0.6/'
spoil elsewhere machine.json 's/Made Up/Another/; s/"flags": "-O2 -g"/"flags": "-O3"/'
spoil kernel machine.json 's/"6.1"/"6.2"/'
spoil newer raw.csv '2,$s/^1,/2,/'
spoil empty raw.csv '2,$d'
spoil nothing raw.csv '1,$d'
spoil foreign raw.csv '1s/ns_per_op/nanoseconds/'
spoil words raw.csv '5s/,private,libc,1,[^,]*,/,private,libc,1,fast,/'
spoil cut raw.csv '$s/,1,1,0,0,1.*//'
spoil negative raw.csv '5s/,private,libc,1,[^,]*,/,private,libc,1,-3,/'
spoil nomachine raw.csv ''
rm nomachine/machine.json
spoil nojson machine.json 's/{/(/'
refused "another compiler" "a and clang cannot be compared: compiler GNU 12.2.0 against Clang 14.0.6 (--anyway" \
    "$RCLAB" compare a clang
refused "another machine" "processor Made Up against Another; flags -O2 -g against -O3" "$RCLAB" compare a elsewhere
expect "--anyway compares them, and says how they differ" 0 "Differs: compiler, GNU 12.2.0 before, Clang 14.0.6 after" \
    "$RCLAB" compare a clang --anyway
expect "another kernel is told, not refused" 0 "Differs: kernel, 6.1 before, 6.2 after" "$RCLAB" compare a kernel
refused "another schema" "newer/raw.csv:2: schema 2, but this rclab reads schema 1: a newer one wrote it" \
    "$RCLAB" compare a newer
expect "--anyway reads it" 0 "16 cells compared" "$RCLAB" compare a newer --anyway
refused "a run without rows" "empty/raw.csv has no rows: the run measured nothing" "$RCLAB" compare a empty
refused "an empty file" "nothing/raw.csv is empty" "$RCLAB" compare a nothing
refused "a foreign file" "foreign/raw.csv has no column 'ns_per_op'" "$RCLAB" compare a foreign
refused "words for figures" "words/raw.csv:5: ns_per_op is 'fast', not a number" "$RCLAB" compare a words
refused "a negative time" "negative/raw.csv:5: ns_per_op is -3: nothing takes no time" "$RCLAB" compare a negative
refused "a file cut off" "12 fields, where the first line names 19 columns; the file may be cut off" \
    "$RCLAB" compare a cut
refused "no machine.json" "nomachine/machine.json is missing" "$RCLAB" compare a nomachine
expect "--anyway goes without" 0 "16 cells compared" "$RCLAB" compare a nomachine --anyway
refused "a machine.json that is none" "nojson/machine.json cannot be read: " "$RCLAB" compare a nojson
expect "--help teaches" 0 "rclab compare results/before results/after" "$RCLAB" compare --help
finish
