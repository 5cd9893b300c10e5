#!/bin/sh
# render.sh RUN_DIR [PLOT...]: draws the plots named, or every one of plots.def, from RUN_DIR/summary.csv,
# space.csv, delay.csv and machine.json into RUN_DIR/plots, as SVG and as PNG. What is there is replaced once
# all of them are drawn, or not at all.
#
# Exit codes: 0 drawn; 2 RUN_DIR or its summary.csv is missing or of another schema, or there is no such
# plot; 3 gnuplot is missing or lacks a terminal; 1 a plot failed, or the files could not be written.
set -u

schema=1
columns=schema,impl,workload,variant,threads,sharing,allocator,launches,median_ns,mad_ns,ci95_low_ns,ci95_high_ns,min_ns,flagged,conformance

fail()
{
    code=$1
    shift
    echo "render.sh: $*" >&2
    exit "$code"
}

[ $# -ge 1 ] || fail 2 "expected a folder of results: render.sh RUN_DIR [PLOT...]"
[ -d "$1" ] || fail 2 "$1: no such folder; expected one that rclab bench wrote"
[ -r "$1/summary.csv" ] || fail 2 "$1/summary.csv: missing or not readable; expected a folder that rclab bench wrote"

# The first row that is not of our schema, or nothing.
other=$(awk -F, -v expected="$columns" -v schema="$schema" '
    { sub(/\r$/, "") }
    NR == 1 && index($0 ",", expected ",") != 1 { print "its first line is not the header"; exit }
    NR > 1 && NF && $1 != schema { print "line " NR " has schema " $1; exit }
    END { if (NR == 0) { print "it is empty" } }' "$1/summary.csv")
[ -z "$other" ] || fail 2 "$1/summary.csv: expected schema $schema, but $other; use the rclab that wrote it"

command -v gnuplot >/dev/null 2>&1 || fail 3 "gnuplot is missing; install gnuplot-nox (make deps) or plot the CSV with another tool"
terminals=" $(gnuplot -e 'print GPVAL_TERMINALS' 2>&1) "
for terminal in svg pngcairo; do
    case $terminals in
    *" $terminal "*) ;;
    *) fail 3 "gnuplot has no terminal '$terminal'; install gnuplot-nox or gnuplot-qt (make deps)" ;;
    esac
done

run=$(CDPATH='' cd -- "$1" && pwd) || fail 2 "$1: cannot be entered"
lib=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || fail 1 "the folder of $0 cannot be entered"
names=$(sed -n 's/^RCL_PLOT(\([a-z0-9_]*\),.*/\1/p' "$lib/plots.def")
[ -n "$names" ] || fail 1 "$lib/plots.def: names no plot"
folder=$1
shift
for name in "$@"; do
    printf '%s\n' "$names" | grep -q -x -F -e "$name" ||
        fail 2 "no plot is called '$name'; there are: $(printf '%s' "$names" | tr '\n' ' ')"
done
wanted=${*:-$names}

# Beside the target, so that the moves at the end are renames. The links spare gnuplot and the shells
# it starts every folder name that would need quoting.
scratch=$(mktemp -d "$run/.plots.XXXXXX") || fail 1 "$run: cannot be written"
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
{ mkdir "$scratch/new" && ln -s "$run" "$scratch/run" && ln -s "$lib" "$scratch/lib"; } ||
    fail 1 "$run: cannot be written"

# Decimal points are points whatever the user's language; labels are UTF-8.
LC_ALL=C.UTF-8
export LC_ALL
for name in $wanted; do
    for format in svg png; do
        (cd "$scratch" && gnuplot -e "run='run'; lib='lib'; out='new/$name'; format='$format'" -c "lib/$name.gp") ||
            fail 1 "$name.gp failed for $folder ($format); nothing was changed"
        [ -s "$scratch/new/$name.$format" ] || fail 1 "$name.gp drew nothing for $folder ($format); nothing was changed"
    done
done

{ mkdir -p "$run/plots" && mv -f "$scratch/new/"* "$run/plots/"; } || fail 1 "$run/plots: cannot be written"
