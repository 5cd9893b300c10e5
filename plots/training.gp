# training: each bar is a whole operation of the tensor and training groups; its light part is what the
# same code takes over `null`, its dark part what the strategy adds to it.
name = "training"
figure = "view:?:private:1:first clone:?:private:1:first autograd:?:private:1:first". \
    " optimizer:?:private:1:first training_step:?:private:1:first"
load lib."/common.gp"

panels = int(ask("panels"))
across = 3
down = (panels + across - 1) / across
pitch = 20
panel_height = int(pitch * larger(row_count, 4))
top = 66
gap = 18
row_gap = 82
eval(canvas(top + down * panel_height + (down - 1) * row_gap + 92))
left = names_width
panel_width = (width - left - 6 - gap * (across - 1)) / (across * 1.0)

style_harness = style_unranked
style_counting = sprintf("fillstyle solid 1 border rgb '%s' fillcolor rgb '%s'", ink, fill_ranked)
style_whole = sprintf("fillstyle pattern 5 border rgb '%s' fillcolor rgb '%s'", ink, "#7a7a7a")

harness(median, over) = over > 0 ? (over < median ? median - over : 0) : median
any_split = 0
any_whole = 0
do for [k = 0:panels - 1] {
    any_split = any_split || int(ask_panel("over", k))
    any_whole = any_whole || int(ask_panel("whole", k))
}

set multiplot
do for [k = 0:panels - 1] {
    eval(new_panel)
    from = left + (k % across) * (panel_width + gap)
    upper = top + (k / across) * (panel_height + row_gap)
    eval(rows_axis(0))
    if (k % across == 0) { eval(row_tics) }
    if (k == 0) {
        eval(page_head)
        eval(notes("number: median, and how much of it is counting · whisker: 95 % interval". \
            note_called.note_disturbed))
        # The legend stands in the place that five panels leave empty.
        at = left + (panels % across) * (panel_width + gap) + 8
        line = top + (down - 1) * (panel_height + row_gap)
        if (any_split) {
            eval(patch(10, at, line + 20, style_counting))
            eval(patch_label(10, at, line + 20, "what counting adds"))
            eval(patch(11, at, line + 44, style_harness))
            eval(patch_label(11, at, line + 44, "the same work, over null"))
        }
        if (any_whole) {
            eval(patch(12, at, line + 68, style_whole))
            eval(patch_label(12, at, line + 68, "whole (null not measured)"))
        }
    }
    eval(place(from, from + panel_width, upper, upper + panel_height))
    set title ask_panel("title", k) font font(13) noenhanced offset 0, -0.4
    set xlabel sprintf("%s per operation", ask_panel("unit", k)) font small offset 0, 0.5 + air
    if (cell_count(k) == 0) { eval(no_data); continue }
    most = real(ask_panel("max", k))
    full = most * panel_width / (panel_width - 84.0)
    set xrange [0:full]
    set xtics 0, nice(full / (panel_width / 52.0)) format "%g"
    split_bars = int(ask_panel("over", k)) == 0 ? "" : sprintf( \
        "cells(%d) using ($15 == 1 ? $5 : NaN):1:(0):(harness($5, $8)):($1 - 0.34):($1 + 0.34) \
            with boxxyerror %s notitle, \
        '' using ($15 == 1 ? $5 : NaN):1:(harness($5, $8)):5:($1 - 0.34):($1 + 0.34) with boxxyerror %s notitle, ", \
        k, style_harness, style_counting)
    whole_bars = int(ask_panel("whole", k)) == 0 ? "" : sprintf( \
        "cells(%d) using ($15 == 0 ? $5 : NaN):1:(0):5:($1 - 0.34):($1 + 0.34) \
            with boxxyerror %s notitle, ", k, style_whole)
    eval("plot ".whole_bars.split_bars."cells(k) using 5:1:6:7 with xerrorbars pt -1 lc rgb ink lw 1.3 notitle, \
        '' using (smaller($7, most)):1:13 with labels left offset 0.6, 0 font small noenhanced boxed notitle")
}
unset multiplot
