# common.gp: what the plots share. A plot sets `name` and, if it reads summary.csv, `figure` (a list of
# selectors, see cells.awk), then loads this file. From the command line come `run` (folder of the
# results), `lib` (this folder), `out` (file to write, without its extension) and `format` (svg or png).
#
# All lengths are pixels of the SVG, 830 wide, the width of a README. The PNG has twice as many, every
# length and letter doubled (a point is 4/3 of a pixel there, hence the 1.5). Plots are laid out by hand,
# from the top: place(left, right, top, bottom).
if (!exists("run") || !exists("lib") || !exists("out") || !exists("format")) {
    printerr "expected -e \"run='RESULTS'; lib='plots'; out='FILE'; format='svg'\" before the script"
    exit status 2
}
if (format ne "svg" && format ne "png") {
    printerr sprintf("format '%s': expected svg or png", format)
    exit status 2
}

set encoding utf8
set datafile separator tab
set datafile missing "NaN"

# ---- Data ----

summary = run."/summary.csv"
if (!exists("figure")) { figure = "" }
if (!exists("options")) { options = "" }
rcl_ask(mode, panel, more) = sprintf("awk -v figure='%s' %s -v mode=%s -v panel=%d %s -f '%s/cells.awk' '%s'", \
    figure, options, mode, panel, more, lib, summary)
ask(mode) = system(rcl_ask(mode, 0, ""))
ask_panel(mode, panel) = system(rcl_ask(mode, panel, "-v one=1"))
cells(panel) = "< ".rcl_ask("cells", panel, "")
cells_of_row(panel, row) = "< ".rcl_ask("cells", panel, sprintf("-v row=%d", row))
scaling(panel) = "< ".rcl_ask("scaling", panel, "")
floors_of(panel) = "< ".rcl_ask("floors", panel, "")
floor_count(panel) = lines_of(rcl_ask("floors", panel, ""))
floor_line(panel, number) = system(rcl_ask("floors", panel, "").sprintf(" | sed -n %dp", number))
# Standard output of a command, counted in lines.
lines_of(command) = int(system(command." | wc -l"))
cell_count(panel) = lines_of(rcl_ask("cells", panel, ""))

# Row r's label, its strategy's place in the file, and how much room the longest label needs.
row_count = 0
label_width = 0
if (figure ne "") {
    row_count = lines_of(rcl_ask("rows", 0, ""))
    array row_label[row_count + 1]
    array row_place[row_count + 1]
    do for [r = 0:row_count - 1] {
        row_label[r + 1] = system(rcl_ask("rows", 0, "")." | cut -f2 | sed -n ".(r + 1)."p")
        row_place[r + 1] = int(system(rcl_ask("rows", 0, "")." | cut -f3 | sed -n ".(r + 1)."p"))
        label_width = strlen(row_label[r + 1]) > label_width ? strlen(row_label[r + 1]) : label_width
    }
}
letter = 7.6 # widest likely mean of a letter in a strategy's name
names_width = int(label_width * letter) + 14

# ---- Canvas ----

width = 830
base_font = 13
font_family = format eq "svg" ? "sans-serif" : "DejaVu Sans" # a reader of the SVG may lack any other
font(size) = sprintf("%s,%g", font_family, size)
small = font(12)
# The SVG terminal puts more air between an axis and its labels: what takes it out again, in lines.
air = format eq "svg" ? 0.5 : 0

# And it draws points larger.
mark = format eq "svg" ? 0.65 : 1

# To be evaluated once the height is known.
canvas(h) = (height = h, format eq "svg" ? \
    sprintf("set terminal svg size %d,%d fixed background '#ffffff' font '%s' linewidth 1; set output out.'.svg'", \
        width, height, font(base_font)) : \
    sprintf("set terminal pngcairo size %d,%d background '#ffffff' font '%s' fontscale 1.5 linewidth 2 \
        pointscale 2; set output out.'.png'", 2 * width, 2 * height, font(base_font)))

x_of(pixels) = pixels / (width * 1.0)
y_of(pixels) = 1.0 - pixels / (height * 1.0)
place(left, right, top, bottom) = sprintf( \
    "set lmargin at screen %f; set rmargin at screen %f; set tmargin at screen %f; set bmargin at screen %f", \
    x_of(left), x_of(right), y_of(top), y_of(bottom))

# ---- Ink: differs in lightness and pattern, so that a grey print says the same ----

ink = "#1a1a1a"
fill_ranked = "#5b8fc4"
fill_unranked = "#e4e9ef"
fill_untested = "#b4cde6"
fill_failed = "#8a3b12"

# Lines: the point's shape tells strategies apart; dash, lightness and colour only help. They go by the
# strategy's place in the file, so that it looks the same in every figure of a run.
look(r, list) = word(list, row_place[r + 1] % words(list) + 1)
line_point(r) = int(look(r, "7 4 9 12 5 6 11 8 13 10 15 14 1 2 3"))
line_dash(r) = int(look(r, "1 2 1 4 1 2 3"))
line_colour(r) = look(r, "#000000 #1b6ca8 #c2501a #3f8f3f #7a7a7a #6b3fa0 #a8801b #2a9d9d")

set border 1 lc rgb "#606060"
set tics nomirror out scale 0.5 tc rgb ink font small
set xtics offset 0, air * 0.8
set grid xtics lc rgb "#e4e4e4" lt 1 lw 0.7
set style fill solid 1 border lc rgb ink
set errorbars small
set style textbox opaque noborder fillcolor rgb "#ffffff" margins 0.3, 0.3
set boxwidth 0.7

# A key at the right for all strategies, the same whichever of them a panel has: a macro for plot.
line_key = "for [r = 0:row_count - 1] keyentry with linespoints pt line_point(r) dt line_dash(r) \
    lc rgb line_colour(r) ps 0.8 * mark lw 1.3 title row_label[r + 1]"
lines_of_row = "pt line_point(int(r)) dt line_dash(int(r)) lc rgb line_colour(int(r)) ps 0.8 * mark lw 1.3 notitle"
key_right = "set key at screen x_of(width - 4), y_of(top) right top Left reverse samplen 2.5 spacing 1.15 \
    font small noenhanced"
key_height = 19 * row_count

# ---- Small parts ----

nice(step) = (p = 10 ** floor(log10(step)), m = step / p, (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10) * p)
# Which word of the list is `name`, from 1; 0 if none. Both are words without spaces.
found_at(list, name_) = strstrt(" ".list." ", " ".name_." ")
place_in(list, name_) = words((" ".list." ")[1:found_at(list, name_)]) + (found_at(list, name_) > 0)
larger(a, b) = a > b ? a : b
smaller(a, b) = a < b ? a : b
plural(count, noun) = sprintf("%d %s%s", count, noun, count == 1 ? "" : "s")

question = system(sprintf("awk -F'\"' '/^RCL_PLOT\\(%s,/ { print $2 }' '%s/plots.def'", name, lib))
machine = system(sprintf("cat '%s/machine.json' 2>/dev/null | awk -f '%s/machine.awk'", run, lib))

# Title on top, machine at the bottom. Labels 1 and 2 stay for the whole page, so they are set on the
# first panel alone and taken away by `new_panel`.
page_head = "set label 1 '{/:Bold '.question.'}' at screen x_of(14), y_of(22) \
    font font(17) enhanced tc rgb ink front; \
    set label 2 machine at screen x_of(14), y_of(height - 12) font small noenhanced tc rgb '#606060' front"
new_panel = "unset label; unset arrow; unset object; unset key; unset x2tics; unset x2label; \
    set title ''; set xlabel ''"

# Rows of strategies down the page, first on top, `head` empty lines above them for the floors' names.
rows_axis(head) = sprintf("set yrange [%d - 0.5:%f]; unset ytics", larger(row_count, 1), -0.5 - head)
row_tics = "set ytics scale 0 ('' -100) noenhanced font small tc rgb ink; \
    set for [r = 0:row_count - 1] ytics add (row_label[r + 1] r)"

# A panel without a cell: the frame stays, and says so. The second form is for panels without rows.
no_data = "set label 99 'no data' at graph 0.5, 0.5 center tc rgb '#606060' noenhanced; unset xtics; \
    plot [0:1] NaN notitle"
no_data_at_all = "unset ytics; set yrange [0:1]; ".no_data

# A line of notes above the machine's.
notes(line) = sprintf("set label 3 '%s' at screen x_of(14), y_of(height - 33) \
    font small noenhanced tc rgb ink", line)
note_called = strlen(figure) && strstrt(ask("called"), "1") ? " · † reached by a call" : ""
note_disturbed = strlen(figure) && strstrt(ask("disturbed"), "1") ? " · * mostly disturbed" : ""

# Patches of the legend, drawn by hand: left edge and the line's place in pixels from the top.
patch(tag, left, top, style) = sprintf( \
    "set object %d rectangle from screen %f, screen %f to screen %f, screen %f front %s", \
    tag, x_of(left), y_of(top + 6), x_of(left + 18), y_of(top - 6), style)
patch_label(tag, left, top, text) = sprintf( \
    "set label %d \"%s\" at screen %f, screen %f font small noenhanced tc rgb ink front", \
    tag, text, x_of(left + 24), y_of(top))

# One class of the bars of panel `p`, as a piece of a plot command: the class's cells, from 0 to the
# value in column `v`. Empty where the panel has none, for gnuplot warns of a plot without points.
bars_of_class(p, c, v, style) = strstrt(classes_of_panel, sprintf("%d", c)) == 0 ? "" : sprintf( \
    "cells(%d) using ($11 == %d ? $%d : NaN):1:(0):%d:($1 - 0.34):($1 + 0.34) with boxxyerror %s notitle, ", \
    p, c, v, v, style)
# All of them; expects the answer of `classes` for this panel in classes_of_panel.
bars(p, v) = bars_of_class(p, 0, v, style_ranked).bars_of_class(p, 1, v, style_unranked). \
    bars_of_class(p, 2, v, style_failed).bars_of_class(p, 3, v, style_untested)

style_ranked = sprintf("fillstyle solid 1 border lc rgb '%s' fillcolor rgb '%s'", ink, fill_ranked)
style_unranked = sprintf("fillstyle solid 1 border lc rgb '%s' fillcolor rgb '%s'", ink, fill_unranked)
style_untested = sprintf("fillstyle solid 1 border lc rgb '%s' fillcolor rgb '%s'", ink, fill_untested)
style_failed = sprintf("fillstyle pattern 4 border lc rgb '%s' fillcolor rgb '%s'", ink, fill_failed)
