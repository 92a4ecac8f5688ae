# Sourced after common.sh by checks of demos in a window: a display of their own, and pixels of the pictures that they save.

# X11's and Mesa's libraries keep a few blocks, and are gone when a leak checker wants to know whose they are:
# nothing_leaked looks at what leaked.
export LSAN_OPTIONS=exitcode=0 ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=$folder/sanitizer:quarantine_size_mb=1

# Xvfb chooses a display that is free and says its number. Without -noreset it restarts whenever its last window closes, and
# refuses the next one meanwhile.
open_display() {
    mkfifo number
    Xvfb -noreset -displayfd 3 -screen 0 1400x900x24 3>number 2>/dev/null &
    server=$!
    trap 'kill $server; wait $server 2>/dev/null; rm -rf "$folder"' EXIT
    read -r number <number
    export DISPLAY=:$number
}

# Reports whether the sanitizers found a fault in our code; the last check of a script. Stack frames of unloaded libraries
# have no function name, and may be attributed to our program: only lines with a function of ours count.
nothing_leaked() {
    cat sanitizer.* 2>/dev/null | grep -e " in .*$source" -e 'runtime error' >err && good=no || good=yes
    report $good 'nothing of ours leaked'
}

# Makes a picture's pixels readable: look FILE WIDTH HEIGHT
look() {
    width=$2 height=$3
    rm -f look.npy # of the picture before
    "$build/make_case" 13 "Identity x[1,3,$height,$width] -> y" look.onnx
    "$tool" run look.onnx -i "$1" --range 0:255 -o look.npy --backend cpu >/dev/null 2>err || return 1
    data=$((10 + $(od -An -t u2 -j 8 -N 2 look.npy)))
}
pixel() { # pixel X Y: its red, green and blue
    local c
    for c in 0 1 2; do
        od -An -t f4 -j $((data + 4 * ((c * height + $2) * width + $1))) -N 4 look.npy
    done | awk '{ printf "%s%d", (NR > 1 ? " " : ""), $1 + 0.5 }'
}
is_pixel() { # is_pixel NAME X Y COLOUR
    local got
    got=$(pixel "$2" "$3")
    [ -n "$got" ] && [ "$got" = "$4" ] && good=yes || good=no
    report $good "$1" "pixel ($2, $3) is $got, not $4"
}
# How many different colours a grid of points in a region has: colours X Y WIDTH HEIGHT
colours() {
    local x y
    for x in 1 2 3 4 5 6 7; do
        for y in 1 2 3 4 5 6 7; do
            pixel $(($1 + $3 * x / 8)) $(($2 + $4 * y / 8))
            echo
        done
    done | sort -u | wc -l
}
