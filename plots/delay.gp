# delay: how late memory comes back after its last release, a panel a workload, a line a strategy over the
# percentiles, logarithmic.
name = "delay"
load lib."/common.gp"

delay(mode, panel, row) = sprintf("awk -v mode=%s -v panel=%d -v row=%d -f '%s/delay.awk' '%s/delay.csv'", \
    mode, panel, row, lib, run)
exists_delay = int(system(sprintf("test -r '%s/delay.csv' && echo 1 || echo 0", run)))
panels = exists_delay ? int(system(delay("panels", 0, 0))) : 1
row_count = exists_delay ? lines_of(delay("rows", 0, 0)) : 0
array row_label[row_count + 1]
array row_place[row_count + 1]
do for [r = 0:row_count - 1] {
    row_label[r + 1] = system(delay("rows", 0, 0)." | cut -f2 | sed -n ".(r + 1)."p")
    row_place[r + 1] = r
    label_width = larger(label_width, strlen(row_label[r + 1]))
}
missing = exists_delay && int(system(delay("missing", 0, 0)))

top = 66
gap = 18
bottom = top + larger(330, key_height)
eval(canvas(bottom + 94))
left = 72
right = int(label_width * letter) + 64
panel_width = (width - left - right - gap * (panels - 1)) / (panels * 1.0)
keyed = 0
least = exists_delay ? real(system(delay("min", 0, 0))) : 0

set multiplot
do for [k = 0:panels - 1] {
    eval(new_panel)
    if (k == 0) {
        eval(page_head)
        eval(notes("median over launches, max: of all · one thread · from the scheduled last release". \
            (missing ? " · without a line: did not keep up, or kept memory" : "")))
    }
    from = left + k * (panel_width + gap)
    eval(place(from, from + panel_width, top, bottom))
    set title exists_delay ? system(delay("title", k, 0)) : "" font font(13) noenhanced offset 0, -0.4
    set xlabel "share of the releases" font small offset 0, 0.5 + air
    set ylabel k == 0 ? "µs until the memory is back" : "" font small offset 0.5, 0
    if (least <= 0) { eval(no_data_at_all); continue }
    set logscale y 10
    set yrange [least / 1.5:real(system(delay("max", 0, 0))) * 1.5]
    if (k == 0) { set ytics format "%g" font small } else { set ytics format "" }
    set grid ytics
    set xrange [0.6:4.4]
    set xtics ("50 %%" 1, "99 %%" 2, "99.9 %%" 3, "max" 4) font small
    if (!keyed) { eval(key_right) }
    key_entries = keyed ? "" : ", ".line_key
    keyed = 1
    eval("plot for [r in system(delay('present', k, 0))] '< '.delay('cells', k, int(r)) using 1:2 \
        with linespoints ".lines_of_row.key_entries)
    unset logscale
}
unset multiplot
