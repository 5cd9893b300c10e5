# replay: time per recorded event beyond what `null` takes for the same trace, a panel a trace, a point an
# allocator. Where null was not measured a panel shows the whole time, and says so.
name = "replay"
figure = "replay:*:*:min:+"
options = "-v exempt=0 -v over=1"
load lib."/common.gp"

panels = int(ask("panels"))
allocators = ask("allocators")
across = panels < 2 ? 1 : 2
down = (panels + across - 1) / across
pitch = 20
panel_height = int(pitch * larger(row_count, 4))
top = 66
gap = 24
row_gap = 82
eval(canvas(top + down * panel_height + (down - 1) * row_gap + 116))
left = names_width
panel_width = (width - left - 24 - gap * (across - 1)) / (across * 1.0)
number_of(allocator) = place_in(allocators, allocator) - 1
point_shape(i) = int(word("7 4 9 12 5", i % 5 + 1))
point_ink(i) = word("#1a1a1a #1b6ca8 #c2501a #3f8f3f #7a7a7a", i % 5 + 1)

set multiplot
do for [k = 0:panels - 1] {
    eval(new_panel)
    from = left + (k % across) * (panel_width + gap)
    upper = top + (k / across) * (panel_height + row_gap)
    eval(rows_axis(0))
    set grid ytics
    set ytics format "" scale 0
    set for [r = 0:row_count - 1] ytics add ("" r)
    if (k % across == 0) { eval(row_tics) }
    if (k == 0) {
        eval(page_head)
        eval(notes("median, with the 95 % interval".note_called))
        do for [i = 0:words(allocators) - 1] {
            set label 10 + i word(allocators, i + 1) at screen x_of(22 + 110 * i), y_of(height - 54) \
                font small noenhanced tc rgb ink point pt point_shape(i) ps 0.9 * mark lc rgb point_ink(i) \
                    offset 1.2, -0.2
        }
    }
    eval(place(from, from + panel_width, upper, upper + panel_height))
    above = int(ask_panel("over", k))
    null_ns = real(ask_panel("null", k))
    heading = ask_panel("title", k)
    unit = ask_panel("unit", k)
    heading = above && null_ns >= 0 ? heading.sprintf(" (null itself: %.3g %s)", null_ns, unit) : heading
    set title heading font font(13) noenhanced offset 0, -0.4
    count = cell_count(k)
    missing = count ? ", whole: null was not measured" : ""
    set xlabel unit." per event".(above ? ", over null" : missing) font small offset 0, 0.5 + air
    if (count == 0) { eval(no_data); continue }
    most = real(ask_panel("max", k)) * 1.06
    least = real(ask_panel("min", k)) * 1.06
    most = most > least ? most : 1
    set xrange [least:most]
    set xtics autofreq nice((most - least) / (panel_width / 60.0)) format "%g"
    v = above ? 8 : 5
    plot for [a in ask_panel("allocators", k)] cells(k) \
        using ($4 == number_of(a) ? column(v) : NaN):1:(column(above ? 9 : 6)):(column(above ? 10 : 7)) \
        with xerrorbars pt point_shape(number_of(a)) ps 0.9 * mark lc rgb point_ink(number_of(a)) notitle
}
unset multiplot
