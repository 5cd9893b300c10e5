# machine.awk: one line on the machine of a run, from machine.json: processor, how many, compiler, day.
# Knows just enough JSON for four members with a string or a number, wherever they stand; what is not there
# is left out.
{
    text = text $0 "\n"
}

END {
    line = string("cpu")
    line = join(line, number("processors"), " logical processors")
    line = join(line, string("compiler"), "")
    line = join(line, substr(string("finished"), 1, 10), "")
    print line == "" ? "machine unknown: no machine.json" : line
}

function join(line, value, unit) {
    return value == "" ? line : line (line == "" ? "" : " · ") value unit
}

function string(name,    value) {
    if (!match(text, "\"" name "\"[ \t\n]*:[ \t\n]*\"([^\"\\\\]|\\\\.)*\"")) {
        return ""
    }
    value = substr(text, RSTART, RLENGTH)
    sub(/^"[a-z_]*"[ \t\n]*:[ \t\n]*"/, "", value)
    sub(/"$/, "", value)
    gsub(/\\[nrtbfu]/, " ", value)
    gsub(/\\/, "", value)
    gsub(/[ \t\n]+/, " ", value)
    return value
}

function number(name,    value) {
    if (!match(text, "\"" name "\"[ \t\n]*:[ \t\n]*[0-9]+")) {
        return ""
    }
    value = substr(text, RSTART, RLENGTH)
    sub(/.*[^0-9]/, "", value)
    return value
}
