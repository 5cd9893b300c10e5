# space.awk: the rows of space.csv, a panel an allocator.
#
#   awk -v mode=MODE [-v panel=P] -f space.awk space.csv
#
# MODE: panels; rows (row, label); title of panel P; max, the most bytes of all panels; cells of panel P:
# row, bytes asked for, bytes taken, a label; ratio: gigabytes of 400 million tensors for one byte of each.
BEGIN {
    FS = ","
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

NF && $column["taken_bytes_per_tensor"] != "" {
    n++
    impl[n] = $column["impl"]
    allocator[n] = $column["allocator"]
    requested[n] = $column["requested_bytes_per_tensor"] + 0
    taken[n] = $column["taken_bytes_per_tensor"] + 0
    allocations[n] = $column["allocations_per_tensor"]
    if (!(impl[n] in row)) {
        row[impl[n]] = rows++
        name[rows - 1] = impl[n]
    }
    if (!(allocator[n] in place)) {
        place[allocator[n]] = panels++
        title[panels - 1] = allocator[n]
    }
    most = taken[n] > most ? taken[n] : most
    most = requested[n] > most ? requested[n] : most
    if (taken[n] > 0) {
        ratio = $column["gigabytes_400m_tensors"] / taken[n]
    }
}

# Strategies that cut objects from slabs of their own make less than one allocation a tensor.
function label(i) {
    return sprintf(allocations[i] >= 1 ? "%.0f in %.3g blocks" : "%.0f", taken[i], allocations[i])
}

END {
    if (mode == "panels") {
        print panels ? panels : 1
    } else if (mode == "rows") {
        for (r = 0; r < rows; r++) {
            print r "\t" name[r]
        }
    } else if (mode == "title") {
        print title[panel + 0]
    } else if (mode == "max") {
        print most + 0
    } else if (mode == "ratio") {
        print ratio + 0
    } else {
        for (i = 1; i <= n; i++) {
            if (place[allocator[i]] == panel + 0) {
                printf "%d\t%.6g\t%.6g\t%s\n", row[impl[i]], requested[i], taken[i], label(i)
            }
        }
    }
}
