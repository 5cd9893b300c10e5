# throughput: operations per second of a whole team over its threads, logarithmic. With up to three
# thread counts a point each in the strategy's row; with more, a line a strategy.
name = "throughput"
figure = "retain_release:-:private:*:first contended:?:shared:*:first"
load lib."/common.gp"

panels = int(ask("panels"))
counts = ask("threads")
by_rows = words(counts) <= 3
pitch = 22
top = 66
gap = by_rows ? 62 : 64
bottom = top + (by_rows ? pitch * larger(row_count, 4) : larger(330, key_height))
eval(canvas(bottom + 112))
left = by_rows ? names_width : 72
right = by_rows ? gap : names_width + 58
panel_width = (width - left - right - gap * (panels - 1)) / (panels * 1.0)
per_second(ns, threads) = threads * 1e9 / ns
point_shape(i) = int(word("7 4 9", i))
point_size(i) = (i == 1 ? 0.8 : 0.95) * mark
point_ink(i) = word("#1a1a1a #1b6ca8 #c2501a", i)
keyed = 0

set multiplot
do for [k = 0:panels - 1] {
    eval(new_panel)
    if (k == 0) {
        eval(page_head)
        eval(notes("median, with the 95 % interval".(by_rows ? " · ×: at the most threads over at the fewest" : ""). \
            note_called))
        if (by_rows) {
            do for [i = 1:words(counts)] {
                set label 10 + i plural(int(word(counts, i)), "thread") \
                    at screen x_of(22 + 100 * (i - 1)), y_of(height - 54) \
                    font small tc rgb ink point pt point_shape(i) ps point_size(i) lc rgb point_ink(i) \
                    offset 1.2, -0.2
            }
        }
    }
    from = left + k * (panel_width + gap)
    eval(place(from, from + panel_width, top, bottom))
    set title ask_panel("title", k).(k == 0 ? ", an object each" : ", one object for all") \
        font font(13) noenhanced offset 0, -0.4
    if (by_rows) {
        eval(rows_axis(0))
        if (k == 0) { eval(row_tics) }
        set xlabel "operations per second, all threads together" font small offset 0, 0.5 + air
        if (cell_count(k) == 0) { eval(no_data); continue }
        set xrange [*:*]
        set x2range [0:1]
        set logscale x 10
        set xtics 10 format "%.0s%c"
        set mxtics 10
        here = ask_panel("threads", k)
        factors = lines_of(rcl_ask("scaling", k, "")) == 0 ? "" : \
            ", scaling(k) using (1):1:2 axes x2y1 with labels left offset 0.8, 0 font small noenhanced notitle"
        eval("plot for [r in ask_panel('present', k)] cells_of_row(k, int(r)) using (per_second($5, $2)):1 \
                with lines lc rgb '#9a9a9a' lw 1.5 notitle, \
            for [c in here] cells(k) \
                using ($2 == int(c) ? per_second($5, $2) : NaN):1:(per_second($7, $2)):(per_second($6, $2)) \
                with xerrorbars pt point_shape(place_in(counts, c)) ps point_size(place_in(counts, c)) \
                lc rgb point_ink(place_in(counts, c)) notitle".factors)
        unset logscale x
    } else {
        set xlabel "threads" font small offset 0, 0.5 + air
        set ylabel k == 0 ? "operations per second, all threads together" : "" font small offset 0.5, 0
        set yrange [*:*]
        set ytics format "%.0s%c" font small
        set grid ytics
        if (cell_count(k) == 0) { eval(no_data_at_all); continue }
        set xrange [real(word(counts, 1)) / 1.12:real(word(counts, words(counts))) * 1.12]
        set logscale x 2
        set logscale y 10
        set xtics (word(counts, 1) int(word(counts, 1))) font small
        set for [i = 2:words(counts)] xtics add (word(counts, i) int(word(counts, i)))
        if (!keyed) { eval(key_right) }
        key_entries = keyed ? "" : ", ".line_key
        keyed = 1
        eval("plot for [r in ask_panel('present', k)] cells_of_row(k, int(r)) \
            using 2:(per_second($5, $2)):(per_second($7, $2)):(per_second($6, $2)) \
            with yerrorlines ".lines_of_row.key_entries)
        unset logscale
    }
}
unset multiplot
