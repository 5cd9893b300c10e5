#!/bin/sh
# rclab report: one page that says what the files say, needs nothing else, and lets nothing of the files
# through but text. Twins of the page that break a promise on purpose must be noticed by the same check.
# shellcheck disable=SC2016 # programs of awk stand in single quotes
# shellcheck disable=SC2317 # functions are called through check
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 2
reference=$root/results/reference/amd-epyc-2cpu
fixture=$root/tests/cli/fixtures/run

# fresh NAME: a run of its own, copied from the made-up one.
fresh() {
    mkdir "$1" && cp "$fixture/summary.csv" "$fixture/space.csv" "$fixture/machine.json" "$1"
}

# edit FILE AWK_PROGRAM: rewrites a CSV.
edit() {
    awk -F, -v OFS=, "$2" "$1" >"$1.new" && mv "$1.new" "$1"
}

shows() {
    grep -q -F -e "$2" "$1" || { echo "not in $1: $2"; false; }
}

lacks() {
    ! grep -n -i -E -e "$2" "$1" | cut -c1-200 | grep .
}

# text FILE: what a reader reads, a row of a table on one line.
text() {
    sed -e 's/<svg[^>]*>.*<\/svg>//' -e 's/<\/t[dh]>/ /g' -e 's/<[^>]*>//g' -e 's/&nbsp;/ /g' "$1" |
        tr -s ' '
}

# ---- The reference run ----

expect "the reference run" 0 "is the fastest strategy that threads can share" \
    "$RCLAB" report "$reference" --out page.html
expect "says where it is written" 0 "page.html: " "$RCLAB" report "$reference" --out page.html
small() { [ "$(wc -c <page.html)" -lt 2000000 ] && [ "$(wc -c <page.html)" -gt 300000 ]; }
check "below 2 MB, with all plots in it" small
check "the same bytes again" sh -c '"$0" report "$1" --out again.html >/dev/null && cmp page.html again.html' \
    "$RCLAB" "$reference"
check "leaves nothing beside it" sh -c '! ls page.html.new 2>/dev/null'

# alone FILE: nothing that a browser would fetch, run or leave for.
alone() {
    lacks "$1" '<script|<link|<img|<iframe|<object|<embed|<base|@import|https?:|javascript:| src=| srcset=' &&
        lacks "$1" "url\\([^#)]|href=[\"'][^#]"
}
check "needs nothing else" alone page.html
for twin in '<img src=x.png>' '<a href="x.html">' '<style>a{background:url(x.png)}</style>' \
    '<p>http://example.invalid/'; do
    { cat page.html; echo "$twin"; } >twin.html
    if alone twin.html >/dev/null; then not_ok "not noticed: $twin"; else ok "a twin with it fails"; fi
done
no_double_ids() {
    double=$(grep -o " id=[\"'][^\"']*" "$1" | sort | uniq -d)
    [ -z "$double" ] || { echo "$double" | head -3; false; }
}
check "no id twice" no_double_ids page.html
references_meet() {
    grep -o 'href="#[^"]*\|url(#[^)]*' "$1" | sed 's/.*#//' | sort -u >wanted
    grep -o ' id="[^"]*' "$1" | sed 's/.*"//' | sort -u >there
    missing=$(comm -23 wanted there)
    [ -z "$missing" ] || { echo "missing: $missing"; false; }
}
check "every reference has its target" references_meet page.html
sed -n 's/^RCL_PLOT(\([a-z0-9_]*\), "\(.*\)")$/\1 \2/p' "$root/plots/plots.def" >plots
while read -r name question; do
    check "has the plot $name" shows page.html "aria-label=\"$question\""
done <plots

# ---- Against an account of its own ----

# Three strategies and two workloads, so that every mean can be done by hand: a 10 and 10, b 20 and 10,
# c 40 and 90. Of the best, a is 1 and 1, b 2 and 1, c 4 and 9: means 1, 1.41 (root of 2), 6. In the second
# workload a and b tie. d fails the battery, and would be the fastest.
head=$(head -1 "$fixture/summary.csv")
row() { # impl workload median low high verdict ranked threads sharing allocator
    echo "1,$1,$2,-,${8:-1},${9:-private},${10:-libc},6,$3,0.1,$4,$5,$4,0,$6,operations,12,no,$7,"
}
account() {
    echo "$head"
    row a one 10 9 11 pass yes
    row b one 20 19 21 pass yes
    row c one 40 39 41 pass yes
    row d one 1 0.9 1.1 fail no
    row a two 10 9 11 pass yes
    row b two 10 9.5 12 pass yes
    row c two 90 80 95 pass yes
    row null two 2 1.9 2.1 exempt no
    echo "1,floor,two,bare_pair,1,private,libc,6,5,0.1,4.9,5.1,4.9,0,exempt,floor,12,no,no,"
}
mkdir hand && account >hand/summary.csv
expect "the fastest" 0 \
    "Over 2 questions of 2 workloads, a is the fastest strategy that threads can share: it takes 1.00 times the best time of each question, geometric mean, and b takes 1.41 times." \
    "$RCLAB" report hand
expect "first places, in words" 0 "It comes first in 2 questions, in 1 of them alone." "$RCLAB" report hand
expect "how often for certain" 0 \
    "Against b it is certainly faster in 1, certainly slower in 0, and in 1 the run cannot tell them apart." \
    "$RCLAB" report hand
expect "the fastest loses nowhere" 0 "It loses nowhere for certain." "$RCLAB" report hand
expect "the widest gap" 0 \
    "Slowest is c with 6.00; the widest gap is in two, 1 thread, where c takes 9.00 times as long as a." \
    "$RCLAB" report hand
check "written into the run" test -s hand/report.html
text hand/report.html >hand/text
check "a tie shares its place" sh -c 'grep -q "^ *1= a 10.00 9.00–11.00 1.00" hand/text && grep -q "^ *1= b 10.00 9.50–12.00 1.00" hand/text'
check "no tie, no equals sign" sh -c 'grep -q "^ *1 a 10.00" hand/text && grep -q "^ *2 b 20.00 19.00–21.00 2.00" hand/text && grep -q "^ *3 c 40.00" hand/text'
check "what fails is shown" grep -q '^ *d fails 1.00 0.90–1.10' hand/text
check "and said to fail" shows hand/text "d fails the battery: it is shown, not ranked."
check "null is shown and not ranked" grep -q '^ *null 2.00 1.90–2.10' hand/text
check "so is a floor" grep -q '^ *floor: bare_pair 5.00 4.90–5.10' hand/text
check "first places" grep -q '^ *a 1.00 .* 1 1 nowhere for certain' hand/text
check "what is not there is said" sh -c 'for what in "this run has no plots" "space.csv" "this run has no delay.csv" "machine.json" "this run has no costs.csv"; do
    grep -F "$what" hand/text >/dev/null || { echo "$what"; exit 1; }; done'

# Intervals that overlap at their ends tie, however far the medians.
mkdir ends && account | awk -F, -v OFS=, '$2 == "b" && $3 == "two" { $9 = 10.8; $11 = 10.5; $12 = 12 } { print }' \
    >ends/summary.csv
expect "a tie at the ends" 0 "certainly faster in 1, certainly slower in 0, and in 1 the run cannot" \
    "$RCLAB" report ends

# One workload asked in many ways weighs no more than another asked once.
mkdir weight && { account && row a two 10 9 11 pass yes 2 && row b two 10 9 12 pass yes 2 &&
    row c two 90 80 95 pass yes 2 && row a two 10 9 11 pass yes 4 && row b two 10 9 12 pass yes 4 &&
    row c two 90 80 95 pass yes 4; } >weight/summary.csv
expect "a workload weighs the same however often it is asked" 0 "and b takes 1.41 times" \
    "$RCLAB" report weight

# A strategy that runs wherever one thread is enough, and nowhere where objects are shared.
mkdir apart && { account && row a three 30 29 31 pass yes 2 shared && row b three 30 29 31 pass yes 2 shared &&
    row c three 30 29 31 pass yes 2 shared && row e one 1 0.9 1.1 pass yes && row e two 4 3.9 4.1 pass yes; } \
    >apart/summary.csv
expect "one thread only: apart from the others" 0 \
    "Where one thread is enough, e takes 0.20 times the time of the fastest of them." "$RCLAB" report apart

mkdir reversed && account | awk -F, -v OFS=, '$2 == "a" && $3 == "two" { $9 = 30; $11 = 28; $12 = 32 } { print }' \
    >reversed/summary.csv
expect "where the fastest loses" 0 "in two, 1 thread" "$RCLAB" report reversed

mkdir once && account | awk -F, -v OFS=, 'NR > 1 { $8 = 1; $11 = $9; $12 = $9 } { print }' >once/summary.csv
expect "no intervals, no clear lead" 0 "no strategy that threads can share is clearly the fastest: a has the lowest mean" "$RCLAB" report once
expect "one launch has no intervals" 0 "Each cell was measured in one launch" "$RCLAB" report once

mkdir all_fail && account | awk -F, -v OFS=, 'NR > 1 { $15 = "fail"; $19 = "no" } { print }' >all_fail/summary.csv
expect "nothing to rank" 0 "No strategy of this run may be ranked" "$RCLAB" report all_fail

# Delays speak in their own section.
mkdir late && { account && row c late_delay 1 0.9 1.1 pass yes | sed 's/,operations,/,reclamation,/'; } >late/summary.csv
cat >late/delay.csv <<'END'
schema,impl,workload,variant,allocator,launches,releases,rate_per_s,p50_ns,p99_ns,p999_ns,max_ns,flagged
1,a,late_delay,n1k,libc,6,60000,5000,118.4,354,2360,472000,0
1,c,late_delay,n1k,libc,6,60000,5000,,,,,0
END
cat >late/costs.csv <<'END'
schema,impl,operation,compiler,instructions,locked,reads,writes
1,a,retain,gcc-12.2.0,7,1,2,1
1,c,retain,gcc-12.2.0,11.5,0,3,2
1,c,weak_lock,gcc-12.2.0,31,2,6,4
END
expect "delays and costs" 0 "Over 2 questions of 2 workloads, a is" "$RCLAB" report late
text late/report.html >late/text
check "a delay" grep -q '^ *a 118 ns 354 ns 2.36 µs 472 µs 60000 5000' late/text
check "a delay that is not known" grep -q '^ *c – – – – 60000 5000' late/text
check "costs" sh -c 'grep -q "retain 712 r, 1 w 11.503 r, 2 w" late/text && grep -q "weak_lock – 3126 r, 4 w" late/text'

# Without counts of its own a run shows those that are kept, if they are of its compiler.
fresh kept
"$RCLAB" report kept >/dev/null
if grep -q ',gcc-12.2.0,' "$root/results/reference/costs.csv" 2>/dev/null; then
    check "costs that are kept are shown, and said to be" shows kept/report.html "counted elsewhere"
else
    check "without any costs, it says so" shows kept/report.html "this run has no costs.csv"
fi
sed -i 's/GNU 12.2.0/GNU 4.8.1/' kept/machine.json
"$RCLAB" report kept >/dev/null
check "those of another compiler are not" lacks kept/report.html 'counted elsewhere'

# ---- What the files say is text ----

fresh evil
edit evil/summary.csv '{ gsub(/^packed64$/, "<b>\\&amp;\x27<script>alert(1)</script>", $2); print }'
sed -i 's/Fixture/<b onclick=alert(1)>/' evil/machine.json
edit evil/space.csv '{ gsub(/^packed64$/, "</table><script>", $2); print }'
mkdir evil/plots
cat >evil/plots/operations.svg <<'END'
<?xml version="1.0"?>
<!DOCTYPE svg [<!ENTITY e SYSTEM "file:///etc/passwd">]>
<svg viewBox="0 0 10 10" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)">
<script>alert(2)</script><style>@import "http://example.invalid/a.css";</style>
<image href="http://example.invalid/a.png"/><foreignObject><iframe src="http://example.invalid/"/></foreignObject>
<a xlink:href="http://example.invalid/"><text>gone</text></a>
<g id="kept" fill="url(http://example.invalid/#x)" style="fill:url(//example.invalid)" onclick="alert(3)">
<path id='same' d="M0,0 h1" fill="url(#same)" style="filter:url(#same)"/><use xlink:href="#same"/>
<use xlink:href="other.svg#same"/><animate attributeName="x" values="1"/><text>1 &lt; 2 &amp; &e;3</text></g></svg>
END
sed 's/1 &lt; 2/another/' evil/plots/operations.svg >evil/plots/zz_other.svg
echo '<svg viewBox="0 0 1 1"><g>' >evil/plots/broken.svg
expect "hostile files" 0 "opens in any browser" "$RCLAB" report evil
check "let nothing through" alone evil/report.html
check "no handler" lacks evil/report.html '<[^>]* on[a-z]+='
check "no element of another kind" lacks evil/report.html '<(script|style>@|image|foreignobject|animate|a xlink)'
check "a name is text" shows evil/report.html '&lt;b&gt;&amp;amp;&#39;&lt;script&gt;alert(1)&lt;/script&gt;'
check "a processor is text" shows evil/report.html '&lt;b onclick=alert(1)&gt;'
check "ids do not clash" no_double_ids evil/report.html
check "references within a drawing stay" sh -c \
    'grep -q "<path id=\"p0-same\" d=\"M0,0 h1\" fill=\"url(#p0-same)\" style=\"filter:url(#p0-same)\"/>" evil/report.html &&
     grep -q "<use href=\"#p0-same\"/>" evil/report.html'
check "text of a drawing stays text" shows evil/report.html '1 &lt; 2 &amp; 3'
check "a plot of somebody else's is there" shows evil/report.html 'aria-label="zz_other"'
check "a broken one is said to be" shows evil/report.html 'broken.svg:'

# ---- Refusals: one line, exit 2, and a page of before stays ----

refused() { # NAME TEXT COMMAND...
    name=$1
    said=$2
    shift 2
    expect "$name" 2 "$said" "$@"
    if [ "$(cat "$work/out" "$work/err" | wc -l)" = 1 ]; then
        ok "$name: one line"
    else
        not_ok "$name: more than a line"
        cat "$work/out" "$work/err"
    fi
}
refused "no folder" "there is no folder nowhere" "$RCLAB" report nowhere
refused "no run yet" "there is no folder results/latest" "$RCLAB" report
refused "a file" "is no folder" "$RCLAB" report page.html
mkdir empty
refused "an empty folder" "empty has no summary.csv; expected a folder that rclab bench wrote" \
    "$RCLAB" report empty
fresh bad
echo before >bad/report.html
: >bad/summary.csv
refused "an empty summary.csv" "bad/summary.csv is empty" "$RCLAB" report bad
echo "$head" >bad/summary.csv
refused "a header alone" "nothing was measured" "$RCLAB" report bad
sed '5s/^1,/2,/' "$fixture/summary.csv" >bad/summary.csv
refused "another schema" "bad/summary.csv:5: schema 2, but this rclab reads schema 1" \
    "$RCLAB" report bad
cut -d, -f1-8 "$fixture/summary.csv" >bad/summary.csv
refused "a column is missing" "has no column 'median_ns'" "$RCLAB" report bad
awk -F, -v OFS=, 'NR == 3 { $9 = "fast" } { print }' "$fixture/summary.csv" >bad/summary.csv
refused "no number" "bad/summary.csv:3: median_ns is 'fast', not a number" "$RCLAB" report bad
awk -F, -v OFS=, 'NR == 3 { $9 = "-1" } { print }' "$fixture/summary.csv" >bad/summary.csv
refused "a time below zero" "bad/summary.csv:3: a median of -1 ns" "$RCLAB" report bad
check "the page of before stays" grep -q before bad/report.html
refused "two runs" "one run at a time" "$RCLAB" report hand hand
refused "no name" "--out takes the name of a file" "$RCLAB" report hand --out ''
refused "a folder to write to" "cannot write empty: Is a directory" "$RCLAB" report hand --out empty
refused "nowhere to write to" "cannot write nowhere/page.html: No such file" \
    "$RCLAB" report hand --out nowhere/page.html
if [ -w /dev/full ]; then
    mkdir full && ln -s /dev/full full/page.html.new
    refused "a full disk" "cannot write full/page.html: No space left" \
        "$RCLAB" report "$reference" --out full/page.html
fi
expect "unknown option" 2 "rclab report --help lists the options" "$RCLAB" report --fast
expect "help" 0 "usage: rclab report" "$RCLAB" report --help
fresh other
sed -i 's/"schema": 1/"schema": 9/' other/machine.json
sed -i '2s/^1,/7,/' other/space.csv
expect "another schema elsewhere" 0 "opens in any browser" "$RCLAB" report other
check "is said in its place" sh -c 'grep -q "machine.json: schema 9" other/report.html && grep -q "space.csv:2: schema 7" other/report.html'

# ---- In a browser ----

if ! command -v chromium >/dev/null 2>&1; then
    echo "skipped: report.sh: chromium is missing (make deps): the page was not rendered"
    finish
fi

# browse PAGE: renders it; the document as the browser has it to dom, what it reports to log, requests to
# net.json. Nothing can be reached.
browse() {
    profile=$(mktemp -d "$work/profile.XXXXXX")
    timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic \
        --no-first-run --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir="$profile" --host-resolver-rules='MAP * ~NOTFOUND' --log-net-log="$work/net.json" \
        --enable-logging=stderr --hide-scrollbars --window-size=1200,900 --virtual-time-budget=10000 \
        --dump-dom "file://$work/$1" >dom 2>log
    rm -rf "$profile"
}

quiet() { ! grep 'CONSOLE' log; }
# The browser's own housekeeping has no origin; what a page asks for has one.
asks_nothing() { ! grep -o '"initiator":"[^"]*"' net.json | grep -v 'not an origin'; }

browse page.html
check "a browser shows all of it" grep -q 'No figure was typed' dom
check "the log of requests is there" test -s net.json
check "nothing on the console" quiet
check "no request leaves the page" asks_nothing
sed 's/<\/body>/<img src="http:\/\/example.invalid\/x.png"><script>console.error("twin")<\/script><\/body>/' \
    page.html >twin.html
browse twin.html
if quiet >/dev/null; then not_ok "an error on the console goes unseen"; else ok "a twin that reports an error is seen"; fi
if asks_nothing >/dev/null; then not_ok "a request goes unseen"; else ok "a twin that asks for a picture is seen"; fi

# width PAGE PIXELS: how wide the document is in a window of so many. A frame, for no window is as narrow
# as a telephone.
width() {
    sed 's/<\/body>/<script>document.querySelectorAll("details").forEach(d => d.open = true); parent.postMessage(document.documentElement.scrollWidth + " of " + document.documentElement.clientWidth, "*")<\/script><\/body>/' \
        "$1" >inner.html
    echo "<!DOCTYPE html><title>nothing</title><iframe src=inner.html style='border:0;width:$2px;height:800px'></iframe><script>onmessage = e => document.title = e.data</script>" >outer.html
    browse outer.html
    sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' dom
}
is_wide() {
    found=$(width "$1" "$2")
    [ "$found" = "$3 of $3" ] || { echo "found $found"; false; }
}
check "as wide as a telephone" is_wide page.html 360 360
check "as wide as a screen" is_wide page.html 1100 1100
sed 's/<\/body>/<div style="width:400px">wide<\/div><\/body>/' page.html >twin.html
if is_wide twin.html 360 360 >/dev/null; then not_ok "a wide page goes unseen"; else ok "a twin that is too wide is seen"; fi
finish
