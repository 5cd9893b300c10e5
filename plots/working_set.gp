# working_set: time of a retain and release over the number of objects walked in random order, both axes
# logarithmic: the steps are where the objects leave a cache.
name = "working_set"
figure = "working_set|working_set_large:+:private:1:first"
load lib."/common.gp"

top = 50
bottom = top + larger(360, key_height)
eval(canvas(bottom + 94))
count = cell_count(0)
if (count) {
    stats cells(0) using 6:7 nooutput
    stats cells(0) using 3 name "SIZE" nooutput
}
set multiplot
eval(page_head)
eval(notes("median of one retain and its release, with the 95 % interval · one thread".note_called))
eval(place(74, width - names_width - 60, top, bottom))
set xlabel "objects (each is retained and released in turn, in random order)" font small offset 0, 0.5 + air
set ylabel "ns per operation" font small offset 0.5, 0
set ytics format "%g" font small
set grid ytics
if (count == 0) {
    eval(no_data_at_all)
} else {
    set logscale x 2
    set logscale y 10
    set xrange [0.7:larger(SIZE_max, 1) * 1.4]
    set yrange [STATS_min_x / 1.3:STATS_max_y * 1.3]
    set xtics () font small
    do for [power = 0:30:2] {
        set xtics add ((power < 10 ? sprintf("%d", 2 ** power) : power < 20 ? sprintf("%dk", 2 ** (power - 10)) : \
            sprintf("%dM", 2 ** (power - 20))) 2 ** power)
    }
    eval(key_right)
    plot for [r in ask("present")] cells_of_row(0, int(r)) using ($3 > 0 ? $3 : NaN):5:6:7 \
        with yerrorlines @lines_of_row, \
        @line_key
}
unset multiplot
