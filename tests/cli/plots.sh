#!/bin/sh
# plots.sh: does plots/render.sh draw what the CSV says, and refuse in words what it cannot draw?
# Needs no build: the figures are the made-up ones of fixtures/run.
# Prints `ok - name` or `not ok - name` for each check; exits 1 if one failed, 3 without gnuplot.

# Helpers are called through `check`; programs of awk stand in single quotes.
# shellcheck disable=SC2016,SC2317
set -u

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 2
root=$(CDPATH='' cd -- "$tests/../.." && pwd) || exit 2
render=$root/plots/render.sh
fixture=$tests/fixtures/run
names=$(sed -n 's/^RCL_PLOT(\([a-z0-9_]*\),.*/\1/p' "$root/plots/plots.def")

if ! command -v gnuplot >/dev/null 2>&1; then
    echo "not ok - gnuplot is missing: nothing can be checked"
    exit 3
fi

# The name has a space and an apostrophe: folders of results may have any.
scratch=$(mktemp -d) || exit 2
work="$scratch/run's results"
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work"

failed=0
# check NAME COMMAND...: the command decides.
check()
{
    check_name=$1
    shift
    if "$@"; then
        echo "ok - $check_name"
    else
        echo "not ok - $check_name"
        failed=1
    fi
}

# fresh NAME: a new copy of the fixture; its folder in $run.
fresh()
{
    run=$work/$1
    mkdir "$run" && cp "$fixture/summary.csv" "$fixture/space.csv" "$fixture/delay.csv" \
        "$fixture/machine.json" "$run"
}

# draw [PLOT...]: draws them, or all, for $run; exit code in $code, everything said in $said.
draw()
{
    said=$("$render" "$run" "$@" 2>&1)
    code=$?
}

# edit FILE AWK_PROGRAM: rewrites a CSV of $run.
edit()
{
    awk -F, -v OFS=, "$2" "$run/$1" >"$run/$1.new" && mv "$run/$1.new" "$run/$1"
}

is() { [ "$1" = "$2" ] || { echo "# expected '$2', got '$1'"; return 1; }; }
says() { case $said in *"$1"*) ;; *) echo "# expected '$1' in: $said"; return 1 ;; esac; }
shows() { grep -q -F -- "$2" "$run/plots/$1.svg" || { echo "# no '$2' in $1.svg"; return 1; }; }
lacks() { ! grep -q -F -- "$2" "$run/plots/$1.svg" || { echo "# there is '$2' in $1.svg"; return 1; }; }
one_line() { is "$(printf '%s\n' "$said" | wc -l | tr -d ' ')" 1; }
# How many bytes a picture has tells a drawing from an empty frame well enough.
has_bytes() { [ "$(wc -c <"$1")" -ge "$2" ] || { echo "# $1 has fewer than $2 bytes"; return 1; }; }
differ() { ! cmp -s "$1" "$2" || { echo "# $1 and $2 are the same"; return 1; }; }
nothing_left() { is "$(find "$run" -name '.plots.*' | wc -l | tr -d ' ')" 0; }

# refused NAME CODE WORDS: draw has just run; its code, one line with the words, and no plots.
refused()
{
    check "$1: exit code" is "$code" "$2"
    check "$1: one line" one_line
    check "$1: says why" says "$3"
    check "$1: no plots" is "$(find "$run/plots" -type f 2>/dev/null | wc -l | tr -d ' ')" 0
    check "$1: nothing left behind" nothing_left
}

# ---- A whole run ----

fresh whole
draw
check "whole: exit code" is "$code" 0
check "whole: says nothing" is "$said" ""
check "whole: nothing left behind" nothing_left
[ -n "$names" ] || failed=1
for name in $names; do
    check "whole: $name.svg" has_bytes "$run/plots/$name.svg" 8000
    check "whole: $name.png" has_bytes "$run/plots/$name.png" 8000
    check "whole: $name.png is a PNG" is "$(head -c 4 "$run/plots/$name.png" | tail -c 3)" PNG
    check "whole: $name.svg is complete" is "$(grep -c '^</svg>' "$run/plots/$name.svg")" 1
    check "whole: $name names the machine" shows "$name" 'Fixture "CPU" @ 1.00GHz · 2 logical processors · GNU 12.2.0 · 2026-01-02'
    question=$(sed -n "s/^RCL_PLOT($name, \"\\(.*\\)\").*/\\1/p" "$root/plots/plots.def")
    check "whole: $name asks its question" shows "$name" "$question"
    check "whole: $name lacks no data" lacks "$name" "no data"
done
check "operations: a median" shows operations ">11.0<"
check "operations: the star of a disturbed cell" shows operations ">6.00*<"
check "operations: the floor" shows operations "locked_pair 5.50"
check "operations: a strategy that fails says so" shows operations "called † (fails)"
check "operations: one that is not tested says so" shows operations "not tested yet"
check "throughput: two threads over one" shows throughput "×0.30"
check "training: the counting's share" shows training "29.0, 52 %"
check "training: microseconds" shows training "µs per operation"
check "training: null is split, not unknown" lacks training "null not measured"
check "space: bytes and blocks" shows space "232 in 4 blocks"
check "delay: a panel names its workload and allocator" shows delay "chain_delay n512, libc"
check "delay: the second panel" shows delay "single_delay, libc"
check "delay: all keep up" lacks delay "did not keep up"
check "delay: null is there" shows delay ">null<"
check "replay: null is not among the rows" lacks replay ">null<"
check "replay: the time of null" shows replay "replay inf_3threads (null itself: 7 ns)"
mkdir "$scratch/first" && cp "$run/plots/"* "$scratch/first"

# ---- What the CSV says is what is drawn ----

draw
for name in $names; do
    check "again: $name.svg is the same" cmp -s "$scratch/first/$name.svg" "$run/plots/$name.svg"
done

# changed PLOT FILE AWK_PROGRAM: one number moves, and that plot with it.
changed()
{
    fresh "changed_$1"
    edit "$2" "$3"
    draw "$1"
    check "changed: $1: exit code" is "$code" 0
    check "changed: $1.svg" differ "$scratch/first/$1.svg" "$run/plots/$1.svg"
    check "changed: $1.png" differ "$scratch/first/$1.png" "$run/plots/$1.png"
}
changed operations summary.csv '$2 == "packed64" && $3 == "weak_lock" { $9 = 17 } { print }'
check "changed: the new median stands there" shows operations ">17.0<"
check "changed: only the plot asked for" is "$(ls "$run/plots")" "$(printf 'operations.png\noperations.svg')"
draw replay
check "changed: another plot is as before" cmp -s "$scratch/first/replay.svg" "$run/plots/replay.svg"
changed throughput summary.csv '$2 == "packed64" && $3 == "contended" && $5 == 2 { $9 = 20 } { print }'
changed working_set summary.csv '$2 == "other" && $4 == "n4m" { $9 = 90; $12 = 95 } { print }'
changed training summary.csv '$2 == "nonatomic" && $3 == "autograd" { $20 = 40 } { print }'
changed space space.csv '$2 == "other" && $3 == "libc" { $13 = 256 } { print }'
changed delay delay.csv '$2 == "other" && $3 == "chain_delay" { $11 = 95000 } { print }'
changed replay summary.csv '$2 == "other" && $4 == "mlp_adam" && $7 == "libc" { $20 = 13 } { print }'

# Changes too small for the text beside it: the ink itself moves.
# moved NAME PLOT FILE AWK_PROGRAM INK: of the SVG's lines those with INK.
moved()
{
    fresh "moved_$1"
    edit "$3" "$4"
    draw "$2"
    check "moved: $1: exit code" is "$code" 0
    grep -e "$5" "$scratch/first/$2.svg" >"$scratch/before"
    grep -e "$5" "$run/plots/$2.svg" >"$scratch/after"
    check "moved: $1: is drawn" has_bytes "$scratch/before" 20
    check "moved: $1" differ "$scratch/before" "$scratch/after"
    check "moved: $1: the text stays" is "$(texts "$run/plots/$2.svg")" "$(texts "$scratch/first/$2.svg")"
}
texts() { grep '<text' "$1"; }
# The fill of a plain bar, #5b8fc4 in common.gp; a hatched one's.
plain="polygon fill = 'rgb( 91, 143, 196)'"
hatched="polygon  fill = 'url(#gpPat"
moved "bar" operations summary.csv '$2 == "packed64" && $3 == "weak_lock" { $9 = 13.04 } { print }' "polygon"
moved "interval" operations summary.csv '$2 == "packed64" && $3 == "retain_release" && $5 == 1 { $11 = 5 } { print }' "path"
moved "floor" operations summary.csv '$4 == "locked_pair" { $9 = 5.504 } { print }' "dasharray"
moved "bytes taken" space space.csv '$2 == "other" && $3 == "libc" { $13 = 232.4 } { print }' "$hatched"
moved "bytes asked for" space space.csv '$2 == "other" && $3 == "libc" { $12 = 180 } { print }' "$plain"
moved "share of null" training summary.csv '$2 == "packed64" && $3 == "view" { $20 = 15.05 } { print }' "$plain"

# delay: who did not keep up has no line, and the plot says so.
fresh saturated
edit delay.csv '$2 == "other" && $3 == "chain_delay" { $9 = $10 = $11 = $12 = "" } { print }'
draw delay
check "saturated: exit code" is "$code" 0
check "saturated: says nothing" is "$said" ""
check "saturated: the plot says why" shows delay "did not keep up"
edit delay.csv 'NR > 1 { $9 = $10 = $11 = $12 = "" } { print }'
draw delay
check "all saturated: no data" shows delay "no data"

# replay: what is over null counts, not what is below.
fresh below_null
edit summary.csv '$2 == "packed64" && $3 == "replay" { $9 += 100; $11 += 100; $12 += 100 } { print }'
draw replay
check "below null: replay.svg is the same" cmp -s "$scratch/first/replay.svg" "$run/plots/replay.svg"

# ---- Gaps ----

fresh gaps
edit summary.csv '!($2 == "nonatomic" && $3 == "new_release") && $2 != "null" && $3 != "replay" && $7 == "libc" || NR == 1'
edit summary.csv 'NR > 1 { $20 = "" } { print }'
rm "$run/space.csv" "$run/delay.csv" "$run/machine.json"
draw
check "gaps: exit code" is "$code" 0
check "gaps: says nothing" is "$said" ""
check "gaps: the other strategies are drawn" shows operations ">11.0<"
check "gaps: no replay" shows replay "no data"
check "gaps: no space.csv" shows space "no data"
check "gaps: no delay.csv" shows delay "no data"
check "gaps: no machine.json" shows operations "machine unknown"
check "gaps: without null nothing is split" shows training "null not measured"

fresh header_only
edit summary.csv 'NR == 1'
edit delay.csv 'NR == 1'
rm "$run/space.csv"
draw
check "header only: exit code" is "$code" 0
for name in $names; do
    check "header only: $name has no data" shows "$name" "no data"
done

# Many threads: lines over threads. An unknown strategy and columns that come later do no harm.
fresh many
edit summary.csv 'NR == 1 { print $0, "later"; next } { print $0, "x" } $3 == "contended" && $5 == 2 { for (t = 4; t <= 16; t *= 2) { $5 = t; $9 *= 1.1; $11 *= 1.1; $12 *= 1.1; print $0, "x" } }'
edit summary.csv '{ sub(/^called$/, "somebody_else", $2); print }'
draw throughput working_set operations
check "many threads: exit code" is "$code" 0
check "many threads: says nothing" is "$said" ""
check "many threads: an axis of threads" shows throughput ">threads<"
check "many threads: a strategy unknown here" shows throughput "somebody_else †"

# An interval that reaches zero, where a throughput has no end: its point stays. gpPt6 is the shape of the
# first thread count.
fresh zero
edit summary.csv '$3 == "retain_release" && $5 == 1 { $11 = 0 } { print }'
draw throughput
points() { grep -o "xlink:href='#gpPt6'" "$1" | wc -l | tr -d ' '; }
check "interval down to zero: no point is lost" is "$(points "$run/plots/throughput.svg")" "$(points "$scratch/first/throughput.svg")"

# ---- Refusals ----

fresh old
edit summary.csv 'NR == 5 { $1 = 2 } { print }'
draw
refused "schema 2" 2 "line 5 has schema 2"

fresh headless
edit summary.csv 'NR > 1'
draw
refused "no header" 2 "not the header"

fresh missing
rm "$run/summary.csv"
draw
refused "no summary.csv" 2 "summary.csv: missing"

fresh no_such_plot
draw operations pie
refused "no such plot" 2 "no plot is called 'pie'"

run=$work/nowhere
draw
check "no folder: exit code" is "$code" 2
check "no folder: one line" one_line

said=$("$render" 2>&1)
code=$?
check "no argument: exit code" is "$code" 2

# A PATH with every tool that the script uses but gnuplot.
mkdir "$scratch/tools"
for tool in awk sed mktemp rm mkdir ln mv dirname cat wc sh cut grep tr; do
    ln -s "$(command -v "$tool")" "$scratch/tools/$tool"
done
fresh no_gnuplot
said=$(PATH="$scratch/tools" "$render" "$run" 2>&1)
code=$?
refused "no gnuplot" 3 "gnuplot is missing"

# A gnuplot without the terminals, and one that fails: the plots of before stay as they were.
printf '#!/bin/sh\necho " dumb svg " >&2\n' >"$scratch/tools/gnuplot"
chmod +x "$scratch/tools/gnuplot"
fresh no_terminal
said=$(PATH="$scratch/tools" "$render" "$run" 2>&1)
code=$?
refused "no terminal" 3 "pngcairo"

printf '#!/bin/sh\ncase $2 in print*) echo " pngcairo svg " >&2 ;; *) for kind in svg png; do echo half >new/operations.$kind; done; exit 1 ;; esac\n' >"$scratch/tools/gnuplot"
fresh gnuplot_fails
mkdir "$run/plots" && echo before >"$run/plots/operations.svg"
said=$(PATH="$scratch/tools" "$render" "$run" operations 2>&1)
code=$?
check "failing gnuplot: exit code" is "$code" 1
check "failing gnuplot: says why" says "nothing was changed"
check "failing gnuplot: the old plot stays" is "$(cat "$run/plots/operations.svg")" before
check "failing gnuplot: nothing left behind" nothing_left

exit "$failed"
