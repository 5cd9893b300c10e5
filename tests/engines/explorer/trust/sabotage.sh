#!/bin/sh
# Breaks the explorer in every way that sabotage.def names; litmus or random programs have to notice each.
#
# usage: sabotage.sh LITMUS RANDOM [NAME...]
#   LITMUS, RANDOM   the two trust programs, linked with an explorer that can be sabotaged
#   NAME             only these
# Exit: 0 all were noticed, 1 one was not, or the programs fail without sabotage, 2 wrong use.
set -u

# one LITMUS RANDOM NAME: a line that begins with "noticed" or "MISSED".
one() {
    found=$(RCX_SABOTAGE=$3 timeout 60 "$1" --first 2>&1)
    case $? in
    0) litmus=no ;;
    1) litmus=$(echo "$found" | sed -n "s/^WRONG \([^ ]*\) .*/\\1/p") ;;
    2) litmus=no ;; # there is no such sabotage
    *) litmus=crashed ;;
    esac
    found=$(RCX_SABOTAGE=$3 timeout 60 "$2" --first --programs 400 2>&1)
    case $? in
    0) random=no ;;
    1) random=$(echo "$found" | sed -n 's/^DIFFERS.*--profile \([a-z_]*\) --seed \([0-9]*\).*/\2 (\1)/p') ;;
    2) random=no ;;
    *) random=crashed ;;
    esac
    verdict=noticed
    [ "$litmus" != no ] || [ "$random" != no ] || verdict=MISSED
    printf '%-8s %-26s litmus: %-26s random: %s\n' "$verdict" "$3" "$litmus" "$random"
}

if [ "${1:-}" = --one ]; then
    shift
    one "$@"
    exit
fi
if [ $# -lt 2 ] || ! [ -x "$1" ] || ! [ -x "$2" ]; then
    sed -n 's/^# \{0,1\}//p' "$0" | sed -n '3,6p' >&2
    exit 2
fi
litmus=$1
random=$2
shift 2
names=$*
here=$(cd "$(dirname "$0")" && pwd)
[ -n "$names" ] || names=$(sed -n 's/^SABOTAGE(\([a-z_0-9]*\),.*/\1/p' "$here/../sabotage.def")

if ! "$litmus" >/dev/null || ! "$random" --programs 90 >/dev/null; then
    echo "sabotage: the explorer fails without any; see explorer.litmus and explorer.random"
    exit 1
fi
# shellcheck disable=SC2086 # a list of names
lines=$(printf '%s\n' $names | xargs -P "$(nproc)" -n 1 sh "$0" --one "$litmus" "$random" | sort -k 2)
echo "$lines"
missed=$(echo "$lines" | grep -c '^MISSED')
echo "sabotage: $(echo "$lines" | grep -c .) ways, $missed not noticed"
[ "$missed" = 0 ]
