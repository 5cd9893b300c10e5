# operations: bars of time per operation, a panel an operation, with 95 % intervals; the floor, which is
# what the processor or the allocator takes alone, as a line.
name = "operations"
figure = "retain_release:-:private:1:first weak_lock:alive:private:1:first new_release:-:private:1:each"
options = "-v fold=1"
load lib."/common.gp"

panels = int(ask("panels"))
head = 0
do for [k = 0:panels - 1] { head = larger(head, floor_count(k)) }

pitch = 22
top = 78
gap = 16
bottom = top + int(pitch * (larger(row_count, 4) + head))
eval(canvas(bottom + 112))
left = names_width
panel_width = (width - left - 6 - gap * (panels - 1)) / (panels * 1.0)

set multiplot
do for [k = 0:panels - 1] {
    eval(new_panel)
    eval(rows_axis(head))
    if (k == 0) {
        eval(page_head)
        eval(row_tics)
        at = 14
        classes = ask("classes")
        do for [c in classes] {
            style = c == 0 ? style_ranked : c == 1 ? style_unranked : c == 2 ? style_failed : style_untested
            caption = c == 0 ? "passes the battery" : c == 1 ? "the harness alone" : \
                c == 2 ? "fails the battery" : "not tested yet"
            eval(patch(10 + c, at, height - 54, style))
            eval(patch_label(10 + c, at, height - 54, caption))
            at = at + 44 + strlen(caption) * 6.9
        }
        eval(notes("number: median · whisker: its 95 % interval".(head ? " · dashed: the machine alone" : ""). \
            note_called.note_disturbed))
    }
    from = left + k * (panel_width + gap)
    eval(place(from, from + panel_width, top, bottom))
    set title ask_panel("title", k) font font(13) noenhanced offset 0, -0.4
    set xlabel sprintf("%s per operation", ask_panel("unit", k)) font small offset 0, 0.5 + air
    if (cell_count(k) == 0) { eval(no_data); continue }

    most = real(ask_panel("max", k))
    floors = floor_count(k)
    do for [f = 1:floors] {
        line = floor_line(k, f)
        value = real(word(line, 1))
        most = larger(most, value)
    }
    full = most * panel_width / (panel_width - 46.0)
    do for [f = 1:floors] {
        line = floor_line(k, f)
        value = real(word(line, 1))
        caption = line[strstrt(line, "\t") + 1:]
        if (value < full / 2) {
            set label 100 + f caption at value, -0.5 - (head - f + 1) + 0.5 left offset 0.4, 0 \
                font small noenhanced boxed front
        } else {
            set label 100 + f caption at value, -0.5 - (head - f + 1) + 0.5 right offset -0.4, 0 \
                font small noenhanced boxed front
        }
    }
    set xrange [0:full]
    set xtics 0, nice(full / (panel_width / 50.0)) format "%g"
    classes_of_panel = ask_panel("classes", k)
    floor_lines = floors == 0 ? "" : sprintf( \
        "floors_of(%d) using 1:($0 - head - 0.4):(0):(row_count + head - 0.1 - $0) \
        with vectors nohead dt (9, 5) lw 1.3 lc rgb ink notitle, ", k)
    eval("plot ".bars(k, 5).floor_lines."cells(k) using 5:1:6:7 with xerrorbars pt -1 lc rgb ink lw 1.3 notitle, \
        '' using (smaller($7, most)):1:12 with labels left offset 0.6, 0 font small noenhanced boxed notitle")
}
unset multiplot
