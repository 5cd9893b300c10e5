# cells.awk: the rows of summary.csv that one figure needs, cut into panels.
#
#   awk -v figure=FIGURE -v mode=MODE [-v panel=P] [-v row=R] -f cells.awk summary.csv
#
# FIGURE is a list of selectors separated by spaces, each `workload:variant:sharing:threads:allocator`.
#   workload    a name, or several joined by |, which are then drawn as one
#   variant     a name; ? the first in the file; * a panel each; + all in one panel
#   sharing     private, shared, or * for either
#   threads     a number; * all; min the smallest that the panel's rows have
#   allocator   first: the first in the file; each: a panel each; + all in one panel
# A selector that finds nothing still makes one panel, an empty one, so that a gap is seen as a gap.
#
# Panels and rows (a strategy is a row of the figure, in the file's order) are numbered from 0. Names
# of the file never travel through a command line: callers ask by number.
#
# MODE, one answer or one line each:
#   panels      how many
#   rows        row, label (a dagger after strategies that are reached by a call), place in the file
#   cells       of panel P (and row R): the columns in print_cell below, separated by tabs
#   title unit max min null   of panel P. max and min of the intervals, zero included, but max no more
#               than 1.6 times the greatest median, lest one wild interval crush all bars; null: the time of
#               the cell that the others were compared with, -1 if there was none
#   floors      of panel P: value, name and value as text
#   scaling     of panel P: row, throughput at the most threads over that at the fewest, as text
#   threads allocators classes present disturbed called   lists, separated by spaces, of the whole
#               figure; of panel P alone with -v one=1. present: the rows that have a cell
#   over whole  1 if some cell of panel P has a value over null; 1 if some cell has none
# With -v exempt=0 strategies that the battery exempts (null) are left out.
# With -v fold=1 a title's allocator stands on a second line.
# With -v over=1 max and min are those of the value over null wherever the panel has one.
BEGIN {
    FS = ","
    if (exempt == "") {
        exempt = 1
    }
}

{
    sub(/\r$/, "")
}

NR == 1 {
    for (i = 1; i <= NF; i++) {
        column[$i] = i
    }
    next
}

NF {
    n++
    impl[n] = field("impl")
    workload[n] = field("workload")
    variant[n] = field("variant")
    threads[n] = field("threads")
    sharing[n] = field("sharing")
    allocator[n] = field("allocator")
    median[n] = field("median_ns")
    low[n] = field("ci95_low_ns")
    high[n] = field("ci95_high_ns")
    flagged[n] = field("flagged")
    conformance[n] = field("conformance")
    repetitions[n] = field("repetitions")
    called[n] = field("called")
    ranked[n] = field("ranked")
    over_null[n] = field("over_null_ns")
    if (median[n] == "") {
        n--
        next
    }
    if (over_null[n] == "" && conformance[n] == "exempt") {
        over_null[n] = 0 # null itself
    }
    if (low[n] == "") {
        low[n] = median[n]
    }
    if (high[n] == "") {
        high[n] = median[n]
    }
    # No time is below zero: an interval that reaches there says that little is known. The fastest
    # repetition is its end then, for axes are logarithmic in places.
    if (low[n] + 0 <= 0) {
        low[n] = field("min_ns") + 0 > 0 ? field("min_ns") : median[n]
    }
    if (impl[n] != "floor" && !(impl[n] in rank)) {
        order[++impls] = impl[n]
        rank[impl[n]] = impls
    }
}

END {
    split_figure()
    number_rows()
    answer()
}

function field(name) {
    return (name in column) ? $column[name] : ""
}

# Panels: which[p] lists the numbers of its cells, ` 3 4 `; floor_of[p] those of its floors.
function split_figure(    s, count, selectors) {
    panels = 0
    count = split(figure, selectors, " ")
    for (s = 1; s <= count; s++) {
        split_selector(selectors[s])
    }
}

function split_selector(selector,    part, i, key, first_variant, first_allocator, panel_of, made) {
    split(selector, part, ":")
    made = 0
    for (i = 1; i <= n; i++) {
        if (impl[i] == "floor" || !selected(i, part)) {
            continue
        }
        if (part[2] == "?") {
            if (first_variant == "") {
                first_variant = variant[i]
            }
            if (variant[i] != first_variant) {
                continue
            }
        }
        if (part[5] == "first") {
            if (first_allocator == "") {
                first_allocator = allocator[i]
            }
            if (allocator[i] != first_allocator) {
                several_allocators[workload[i]] = 1
                continue
            }
        }
        key = (part[2] == "*" ? variant[i] : "") SUBSEP (part[5] == "each" ? allocator[i] : "")
        if (!(key in panel_of)) {
            panel_of[key] = panels
            open_panel(part, i)
            made++
        }
        which[panel_of[key]] = which[panel_of[key]] i " "
    }
    if (!made) {
        open_panel(part, 0)
    }
}

function open_panel(part, i,    p) {
    p = panels++
    which[p] = " "
    if (part[1] ~ /[|]/) {
        title[p] = part[1]
        sub(/[|].*/, "", title[p])
    } else {
        title[p] = part[1]
    }
    if (i && part[2] != "+" && variant[i] != "-") {
        title[p] = title[p] " " variant[i]
    } else if (!i && part[2] !~ /^[-?*+]$/) {
        title[p] = title[p] " " part[2]
    }
    panel_workload[p] = part[1]
    panel_sharing[p] = part[3]
    panel_threads[p] = part[4]
    panel_allocator[p] = part[5] == "+" ? "" : (i ? allocator[i] : "")
    names_allocator[p] = part[5] == "each"
}

function selected(i, part) {
    return is_one_of(workload[i], part[1]) &&
        (part[2] ~ /^[?*+]$/ || variant[i] == part[2]) &&
        (part[3] == "*" || sharing[i] == part[3]) &&
        (part[4] == "*" || part[4] == "min" || threads[i] + 0 == part[4] + 0)
}

function is_one_of(name, list) {
    return index("|" list "|", "|" name "|") > 0
}

# Leaves in which[p] what is drawn: fewest threads only where asked, exempt strategies where wanted,
# the first of several cells for one place. Then gives every strategy that is left its row.
function number_rows(    p, k, c, i, list, fewest, kept, place, used, name) {
    for (p = 0; p < panels; p++) {
        c = split(which[p], list, " ")
        fewest = -1
        for (k = 1; k <= c; k++) {
            i = list[k]
            if (fewest < 0 || threads[i] + 0 < fewest) {
                fewest = threads[i] + 0
            }
        }
        fewest_threads[p] = fewest
        kept = " "
        for (k = 1; k <= c; k++) {
            i = list[k]
            if (panel_threads[p] == "min" && threads[i] + 0 != fewest) {
                continue
            }
            if (conformance[i] == "exempt" || over_null[i] != "") {
                note_null(p, i)
            }
            if (!exempt && conformance[i] == "exempt") {
                continue
            }
            place = p SUBSEP impl[i] SUBSEP workload[i] SUBSEP variant[i]
            place = place SUBSEP threads[i] SUBSEP allocator[i]
            if (place in taken) {
                continue
            }
            taken[place] = 1
            used[impl[i]] = 1
            kept = kept i " "
        }
        which[p] = kept
    }
    rows = 0
    for (k = 1; k <= impls; k++) {
        name = order[k]
        if (name in used) {
            row_of[name] = rows
            row_name[rows++] = name
        }
    }
}

function note_null(p, i,    value) {
    if (over_null[i] == "") {
        return
    }
    value = median[i] - over_null[i]
    if (!(p in null_time) || value < null_time[p]) {
        null_time[p] = value
    }
}

function answer() {
    if (mode == "panels") {
        print panels
    } else if (mode == "rows") {
        print_rows()
    } else if (mode == "cells") {
        print_cells(panel)
    } else if (mode == "title") {
        print full_title(panel)
    } else if (mode == "unit") {
        print unit_name(panel)
    } else if (mode == "max" || mode == "min") {
        print limit(panel, mode)
    } else if (mode == "null") {
        print (panel in null_time) ? null_time[panel] / unit(panel) : -1
    } else if (mode == "over") {
        print has_over(panel)
    } else if (mode == "whole") {
        print lacks_over(panel)
    } else if (mode == "floors") {
        print_floors(panel)
    } else if (mode == "scaling") {
        print_scaling(panel)
    } else {
        print_list()
    }
}

function full_title(p) {
    if (panel_allocator[p] == "" || !(names_allocator[p] || title_needs_allocator(p))) {
        return title[p]
    }
    return title[p] (fold ? "\n" : ", ") panel_allocator[p]
}

function title_needs_allocator(p,    first) {
    first = panel_workload[p]
    sub(/[|].*/, "", first)
    return first in several_allocators
}

function print_rows(    r, i, label, mark) {
    for (i = 1; i <= n; i++) {
        if (called[i] == "yes") {
            mark[impl[i]] = mark[impl[i]] == "" ? " †" : mark[impl[i]]
        }
        if (conformance[i] == "fail") {
            fails[impl[i]] = 1
        }
    }
    for (r = 0; r < rows; r++) {
        label = row_name[r] mark[row_name[r]]
        if (row_name[r] in fails) {
            label = label " (fails)"
        }
        print r "\t" label "\t" rank[row_name[r]] - 1
    }
}

# Times are printed in nanoseconds until ten thousand of them; then in the next unit.
function unit(p,    m) {
    m = greatest(p)
    return m >= 1e7 ? 1e6 : (m >= 1e4 ? 1e3 : 1)
}

function unit_name(p,    u) {
    u = unit(p)
    return u == 1e6 ? "ms" : (u == 1e3 ? "µs" : "ns")
}

function greatest(p,    c, k, list, m) {
    c = split(which[p], list, " ")
    for (k = 1; k <= c; k++) {
        if (high[list[k]] + 0 > m) {
            m = high[list[k]] + 0
        }
    }
    return m + 0
}

function has_over(p,    c, k, list) {
    c = split(which[p], list, " ")
    for (k = 1; k <= c; k++) {
        if (over_null[list[k]] != "") {
            return 1
        }
    }
    return 0
}

function lacks_over(p,    c, k, list) {
    c = split(which[p], list, " ")
    for (k = 1; k <= c; k++) {
        if (over_null[list[k]] == "") {
            return 1
        }
    }
    return 0
}

function limit(p, side,    c, k, list, i, shift, least, most, middle, use_over) {
    use_over = over && has_over(p)
    c = split(which[p], list, " ")
    for (k = 1; k <= c; k++) {
        i = list[k]
        if (use_over && over_null[i] == "") {
            continue
        }
        shift = use_over ? median[i] - over_null[i] : 0
        if (high[i] - shift > most) {
            most = high[i] - shift
        }
        if (median[i] - shift > middle) {
            middle = median[i] - shift
        }
        if (low[i] - shift < least) {
            least = low[i] - shift
        }
    }
    if (middle > 0 && most > 1.6 * middle) {
        most = 1.6 * middle
    }
    return (side == "max" ? most + 0 : least + 0) / unit(p)
}

function print_cells(p,    c, k, list, i) {
    c = split(which[p], list, " ")
    for (k = 1; k <= c; k++) {
        i = list[k]
        if (row == "" || row_of[impl[i]] == row + 0) {
            print_cell(p, i)
        }
    }
}

#  1 row  2 threads  3 number in the variant's name (n16k: 16384), else 0  4 allocator, as its place in
#  `allocators`  5 median  6 low  7 high  8 over null, NaN if not known  9 low  10 high of that
#  11 class: 0 passes the battery, 1 measured but never ranked, 2 fails the battery, 3 not tested yet
#  12 the median as text, a star where more than half of the repetitions were flagged
#  13 the median and the part of it that is counting, as text  14 over null as text
#  15 whether it is known: 1 or 0
function print_cell(p, i,    u, known, harness, class, star) {
    u = unit(p)
    known = over_null[i] != ""
    harness = median[i] - over_null[i]
    class = class_of(i)
    star = is_disturbed(i) ? "*" : ""
    printf "%d\t%d\t%d\t%d\t%.6g\t%.6g\t%.6g\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%d\n", row_of[impl[i]],
        threads[i], size(variant[i]), allocator_place(allocator[i]), median[i] / u, low[i] / u,
        high[i] / u, known ? over_null[i] / u : "NaN", known ? (low[i] - harness) / u : "NaN",
        known ? (high[i] - harness) / u : "NaN", class, digits(median[i] / u) star,
        digits(median[i] / u) star share(i, known), known ? digits(over_null[i] / u) star : "-", known
}

function class_of(i) {
    if (conformance[i] == "fail") {
        return 2
    }
    if (conformance[i] == "exempt") {
        return 1
    }
    return conformance[i] == "pass" ? (ranked[i] == "no" ? 1 : 0) : 3
}

function share(i, known) {
    if (!known || conformance[i] == "exempt" || median[i] + 0 <= 0) {
        return ""
    }
    return sprintf(", %.0f %%", 100 * over_null[i] / median[i])
}

function is_disturbed(i) {
    return flagged[i] * 2 > repetitions[i] + 0 && flagged[i] > 0
}

function digits(value,    size_of) {
    size_of = value < 0 ? -value : value
    return sprintf(size_of >= 99.95 ? "%.0f" : (size_of >= 9.995 ? "%.1f" : "%.2f"), value)
}

function size(name,    number) {
    if (name !~ /^n[0-9]+[km]?$/) {
        return 0
    }
    number = substr(name, 2) + 0
    return number * (name ~ /k$/ ? 1024 : (name ~ /m$/ ? 1048576 : 1))
}

function allocator_place(name,    i) {
    list_allocators()
    for (i = 1; i <= allocators; i++) {
        if (allocator_name[i] == name) {
            return i - 1
        }
    }
    return 0
}

function list_allocators(    p, c, k, list, name) {
    if (allocators) {
        return
    }
    for (p = 0; p < panels; p++) {
        c = split(which[p], list, " ")
        for (k = 1; k <= c; k++) {
            name = allocator[list[k]]
            if (!(name in allocator_seen)) {
                allocator_seen[name] = 1
                allocator_name[++allocators] = name
            }
        }
    }
}

# Floors of the panel's allocator; where the floor was not measured with it, those of any.
function print_floors(p,    i, pass, found) {
    for (pass = 1; pass <= 2 && !found; pass++) {
        for (i = 1; i <= n; i++) {
            if (impl[i] == "floor" && is_one_of(workload[i], panel_workload[p]) &&
                (panel_sharing[p] == "*" || sharing[i] == panel_sharing[p]) &&
                threads[i] + 0 == fewest_threads[p] &&
                (pass == 2 || allocator[i] == panel_allocator[p]) && !((p, variant[i]) in floor_seen)) {
                floor_seen[p, variant[i]] = 1
                found = 1
                printf "%.6g\t%s %s\n", median[i] / unit(p), variant[i], digits(median[i] / unit(p))
            }
        }
    }
}

function print_scaling(p,    c, k, list, i, r, few, many) {
    c = split(which[p], list, " ")
    for (k = 1; k <= c; k++) {
        i = list[k]
        r = row_of[impl[i]]
        if (median[i] + 0 <= 0) {
            continue
        }
        if (!(r in few) || threads[i] + 0 < threads[few[r]] + 0) {
            few[r] = i
        }
        if (!(r in many) || threads[i] + 0 > threads[many[r]] + 0) {
            many[r] = i
        }
    }
    for (r = 0; r < rows; r++) {
        if ((r in few) && threads[few[r]] != threads[many[r]]) {
            printf "%d\t×%.2f\n", r, threads[many[r]] / median[many[r]] * median[few[r]] / threads[few[r]]
        }
    }
}

function print_list(    p, c, k, list, i, seen, line, value, j, m, sorted, t) {
    m = 0
    for (p = 0; p < panels; p++) {
        c = one && p != panel ? 0 : split(which[p], list, " ")
        for (k = 1; k <= c; k++) {
            i = list[k]
            if (mode == "threads") {
                value = threads[i]
            } else if (mode == "allocators") {
                value = allocator[i]
            } else if (mode == "classes") {
                value = class_of(i)
            } else if (mode == "disturbed") {
                value = is_disturbed(i) ? "1" : "0"
            } else if (mode == "called") {
                value = called[i] == "yes" ? "1" : "0"
            } else if (mode == "present") {
                value = row_of[impl[i]]
            } else {
                value = ""
            }
            if (!(value in seen)) {
                seen[value] = 1
                sorted[++m] = value
            }
        }
    }
    if (mode != "allocators") {
        for (k = 2; k <= m; k++) {
            t = sorted[k]
            for (j = k - 1; j >= 1 && sorted[j] + 0 > t + 0; j--) {
                sorted[j + 1] = sorted[j]
            }
            sorted[j + 1] = t
        }
    }
    line = ""
    for (k = 1; k <= m; k++) {
        line = line (k > 1 ? " " : "") sorted[k]
    }
    print line
}
