# space: bytes of one live tensor, a panel an allocator: what was asked for, and what the allocator takes
# for it. The axis on top is the same length in gigabytes of 400 million tensors.
name = "space"
load lib."/common.gp"

space(mode, panel) = sprintf("awk -v mode=%s -v panel=%d -f '%s/space.awk' '%s/space.csv'", mode, panel, lib, run)
exists_space = int(system(sprintf("test -r '%s/space.csv' && echo 1 || echo 0", run)))
panels = exists_space ? int(system(space("panels", 0))) : 1
row_count = exists_space ? lines_of(space("rows", 0)) : 0
array row_label[row_count + 1]
do for [r = 0:row_count - 1] {
    row_label[r + 1] = system(space("rows", 0)." | cut -f2 | sed -n ".(r + 1)."p")
    label_width = larger(label_width, strlen(row_label[r + 1]))
}

pitch = 22
top = 98
gap = 24
bottom = top + int(pitch * larger(row_count, 4))
eval(canvas(bottom + 112))
left = int(label_width * letter) + 14
panel_width = (width - left - 14 - gap * (panels - 1)) / (panels * 1.0)
style_requested = style_ranked
style_rounding = sprintf("fillstyle pattern 4 border rgb '%s' fillcolor rgb '%s'", ink, "#606060")

set multiplot
do for [k = 0:panels - 1] {
    eval(new_panel)
    eval(rows_axis(0))
    if (k == 0) {
        eval(page_head)
        eval(row_tics)
        eval(patch(10, 14, height - 54, style_requested))
        eval(patch_label(10, 14, height - 54, "asked for"))
        eval(patch(11, 130, height - 54, style_rounding))
        eval(patch_label(11, 130, height - 54, "added by the allocator"))
        eval(notes("number: bytes taken, and the blocks of memory they come in"))
    }
    from = left + k * (panel_width + gap)
    eval(place(from, from + panel_width, top, bottom))
    count = exists_space ? lines_of(space("cells", k)) : 0
    heading = count ? system(space("title", k)) : ""
    set title heading font font(13) noenhanced offset 0, -0.2 - air * 1.4
    set xlabel "bytes for one live tensor" font small offset 0, 0.5 + air
    if (count == 0) { eval(no_data); continue }
    full = real(system(space("max", k))) * panel_width / (panel_width - 104.0)
    set xrange [0:full]
    set xtics 0, nice(full / (panel_width / 56.0)) format "%g"
    gigabytes = real(system(space("ratio", k)))
    if (gigabytes > 0) {
        set x2range [0:full * gigabytes]
        set x2tics 0, nice(full * gigabytes / (panel_width / 56.0)) format "%g" font small tc rgb ink offset 0, -0.4
        set x2label "GB for 400 million" font small offset 0, -0.7
        set border 5
    }
    plot "< ".space("cells", k) using 2:1:(0):2:($1 - 0.34):($1 + 0.34) with boxxyerror @style_requested notitle, \
        '' using 3:1:2:3:($1 - 0.34):($1 + 0.34) with boxxyerror @style_rounding notitle, \
        '' using 3:1:4 with labels left offset 0.6, 0 font small noenhanced boxed notitle
}
unset multiplot
