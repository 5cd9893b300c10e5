# delay.awk: the rows of delay.csv, a panel a workload's variant, with the first allocator of the file.
#
#   awk -v mode=MODE [-v panel=P] [-v row=R] -f delay.awk delay.csv
#
# MODE: panels; rows (row, label); title of panel P; min and max, in µs, of all panels; present, the rows that
# panel P has; cells of panel P and row R: place of the percentile (1 to 4), µs; missing: 1 if a row has no
# delays.
BEGIN {
    FS = ","
    count = split("p50_ns p99_ns p999_ns max_ns", percentile, " ")
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
    impl = $column["impl"]
    allocator = $column["allocator"]
    if (first == "") {
        first = allocator
    }
    if (allocator != first) {
        several = 1
        next
    }
    if (!(impl in row_of)) {
        row_of[impl] = rows++
        name[rows - 1] = impl
    }
    key = $column["workload"] ($column["variant"] == "-" ? "" : " " $column["variant"])
    if (!(key in panel_of)) {
        panel_of[key] = panels++
        title[panels - 1] = key
    }
    if ($column["p50_ns"] == "") {
        missing = 1
        next
    }
    p = panel_of[key]
    r = row_of[impl]
    present[p] = present[p] r " "
    for (i = 1; i <= count; i++) {
        value = $column[percentile[i]] / 1000
        cells[p, r] = cells[p, r] i "\t" sprintf("%.6g", value) "\n"
        least = least == "" || value < least ? value : least
        most = value > most ? value : most
    }
}

END {
    if (mode == "panels") {
        print panels ? panels : 1
    } else if (mode == "rows") {
        for (r = 0; r < rows; r++) {
            print r "\t" name[r]
        }
    } else if (mode == "title") {
        print title[panel + 0] (several ? ", " first : "")
    } else if (mode == "min") {
        print least + 0
    } else if (mode == "max") {
        print most + 0
    } else if (mode == "present") {
        print present[panel + 0]
    } else if (mode == "missing") {
        print missing + 0
    } else {
        printf "%s", cells[panel + 0, row + 0]
    }
}
