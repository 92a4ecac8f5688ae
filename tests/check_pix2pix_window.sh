#!/usr/bin/env bash
# The window of demos/pix2pix: a button does what its key does, a path is typed, a colour is mixed, sessions are made while
# the one before paints, windows of all shapes have their panels, and a drawing comes back after the end and after a kill.
source "$(dirname "$0")/support/common.sh"
source "$source/tests/support/pix2pix.sh" xdotool

drawing=state/tessera/pix2pix/drawing.ppm
"$build/make_models" pix2pix --ngf 1 -o small.onnx
"$build/make_models" pix2pix --ngf 2 -o larger.onnx
demo() { "$pix2pix" --model small.onnx "$@"; }
same() { # same NAME PICTURE PICTURE
    cmp "$2" "$3" >out 2>&1 && good=yes || good=no
    report $good "$1"
}
differ() { # differ NAME PICTURE PICTURE
    cmp -s "$2" "$3" && good=no || good=yes
    report $good "$1"
}

# ---- buttons ----

# Two windows get the same commands, one by keys and one by buttons; the pointer rests beside the buttons.
keys=(E P K Escape 5 Ctrl+Z Ctrl+Y C Ctrl+Z G Escape H G H Escape Ctrl+O Escape T M S L F F)
has_device webgpu && keys+=(B B B)
by() { # by key|click FOLDER
    local key number=0
    echo 'stroke 60 60 200 60 200 200'
    echo wait
    for key in "${keys[@]}"; do
        case $key in
        [0-9] | Escape) echo "key $key" ;;
        *) echo "$1 $key" ;;
        esac
        printf 'hover 1055 300\nwait\n'
        number=$((number + 1))
        [ "$key" = T ] && printf 'key T\nwait\n' # times differ
        printf 'screenshot %s-%02d.png\n' "$2" $number
    done
    printf 'stroke 60 100 200 100\nwait\nsave %s\n' "$2"
}
by key keys >keys.txt
by click buttons >buttons.txt
for by in keys buttons; do
    check "by $by" demo --out saved/to --script $by.txt
    mv saved saved-$by
done
for ((i = 1; i <= ${#keys[@]}; i++)); do
    n=$(printf %02d $i)
    same "the button ${keys[i - 1]}" keys-$n.png buttons-$n.png
done
differ 'the eraser is seen' keys-01.png keys-02.png
differ 'help is seen' keys-11.png keys-12.png
differ 'the gallery takes its place' keys-12.png keys-13.png
same 'help takes its place again' keys-12.png keys-14.png
differ 'the mosaic is seen' keys-18.png keys-19.png
same 'what was drawn by both' keys-input.png buttons-input.png
for by in keys buttons; do check "the folder of $by is made" look saved-$by/to/pix2pix-001-both.png 512 256; done
printf 'hover Ctrl+Z\nframes 1\nscreenshot tip.png\nhover 1055 300\nframes 1\nscreenshot no-tip.png\n' >tip.txt
check 'a tooltip' demo --script tip.txt
look tip.png 1060 636
is_pixel 'lies under its button' 190 40 "$(printf '%d %d %d' 14 14 19)"
look no-tip.png 1060 636
is_pixel 'and goes' 190 40 "$(printf '%d %d %d' 36 38 43)"

# ---- a path, a colour, another network ----

mkdir pictures
cp "$source/demos/sketches/sketch_fish.png" pictures/fish.png
cat >type.txt <<'SCRIPT'
key Ctrl+O
type pictures/nosuch
key Enter
frames 1
screenshot typing.png
key Backspace Backspace Backspace Backspace Backspace
key Backspace Tab
type x
key Backspace Enter
wait
save typed
key C
load pictures/fish.png
wait
save loaded
key Ctrl+O
type pic
key Tab
frames 1
key Escape 2
stroke 10 10 40 10
wait
save closed
SCRIPT
check 'a path is typed' demo --script type.txt
check 'and one that is none is told' test "$(grep -c 'pictures/nosuch: No such file' err)" = 1
same 'completed and opened' typed-input.png loaded-input.png
look closed-input.png 256 256
is_pixel 'Escape closes it, keys are keys again' 25 10 '222 46 43'

# The square of saturation and value: the upper right corner is the pure hue, the strip's upper end is red.
cat >color.txt <<'SCRIPT'
key K
click 440 413
click 407 413
frames 1
screenshot picker.png
click 900 100
key + + + +
stroke 20 20 60 20
key 2
stroke 20 60 60 60
key 0
stroke 20 100 60 100
wait
save color
SCRIPT
check 'a colour is mixed' demo --script color.txt
look color-input.png 256 256
is_pixel 'and drawn with' 40 100 "$(pixel 40 20)"
pixel 40 20 | awk '$1 > 240 && $2 < 25 && $3 < 25 { found = 1 } END { exit !found }' && good=yes || good=no
report $good 'it is red' "$(pixel 40 20)"
is_pixel 'beside those of the palette' 40 60 '222 46 43'

cat >networks.txt <<'SCRIPT'
stroke 60 60 200 60 200 200
wait
save first
click 355 615
wait
save second
screenshot networks.png
key N
wait
save third
SCRIPT
check 'two networks' "$pix2pix" small.onnx larger.onnx --script networks.txt
differ 'are different' first-output.png second-output.png
same 'and the first is back' first-output.png third-output.png
"$build/make_case" 13 'Relu x[1,3,32,32] -> y' tiny.onnx
expect_of 'two canvases' 2 'they share a canvas' "$pix2pix" small.onnx tiny.onnx --frames 1
expect_of 'too many networks' 2 'there are 8 models already' "$pix2pix" a.onnx b.onnx c.onnx d.onnx e.onnx f.onnx g.onnx \
    h.onnx i.onnx

# ---- sessions are made behind ----

# The shipped network, drawn on meanwhile. No frame takes more than 100 ms while a session is made; where other programs, or
# sanitizers, slow all frames down, none takes longer than those of plain runs. Others may disturb one try.
backends=cpu
has_device webgpu && backends='webgpu cpu'
{
    printf 'stroke 60 128 128 50 196 128 128 206 60 128\nwait\nlongest first\n'
    for key in T M PageDown F; do printf 'key %s\nready\nlongest %s\nwait\nlongest run\n' $key $key; done
    for backend in $backends gles; do printf 'key B\nready\nlongest %s\nwait\nlongest run\n' $backend; done
    for key in N N; do printf 'key %s\nready\nlongest %s\nwait\nlongest run\n' $key $key; done
    printf 'key F\nframes 1\nstroke 20 20 40 20\nwait\nsave behind\n'
} >behind.txt
for try in 1 2 3; do
    check 'sessions are made' "$pix2pix" "$source/demos/models/edges2emoji.onnx" larger.onnx --script behind.txt
    awk '/longest frame/ { ms = $(NF - 1) } /^(first|run): longest/ { run = ms > run ? ms : run; next }
        /longest frame/ { made = ms > made ? ms : made } END { exit !(made <= 100 || made <= run) }' out && good=yes || good=no
    [ $good = no ] || break
done
report $good 'no frame is long while a session is made'
# What cannot be made leaves the network that is there.
printf 'stroke 20 20 200 20\nwait\nsave before\nkey B B\nframes 3\nkey B\nwait\nsave after\n' >quick.txt
check 'keys that follow each other' demo --script quick.txt
same 'lead back' before-output.png after-output.png

# ---- windows ----

cat >shapes.txt <<'SCRIPT'
stroke 20 20 236 20 236 236 20 236 20 20
wait
window 400 790
frames 1
screenshot portrait.png
key H
frames 1
screenshot portrait-help.png
key G
frames 1
screenshot portrait-gallery.png
key Escape
window 1280 800
frames 1
screenshot landscape.png
window 2560 1440
frames 1
screenshot large.png
SCRIPT
check 'windows of three shapes' demo --script shapes.txt
check 'portrait' look portrait.png 400 790
is_pixel 'the sketch is above' 100 200 '255 255 255'
is_pixel 'its stroke' 200 139 '0 0 0'
check 'the picture below' test "$(colours 62 425 276 276)" -gt 10
check 'help' look portrait-help.png 400 790
is_pixel 'lies over both' 200 170 '47 47 51'
check 'the gallery' look portrait-gallery.png 400 790
check 'landscape' look landscape.png 1280 800
is_pixel 'the sketch is on the left' 300 400 '255 255 255'
check 'the picture on the right' test "$(colours 646 85 622 622)" -gt 10
check 'large' look large.png 2560 1440
is_pixel 'the sketch on the left of it' 640 700 '255 255 255'
check 'the picture on the right of it' test "$(colours 1286 100 1240 1240)" -gt 10

# A screen of 192 points per inch: twice the pixels.
if command -v xprop >/dev/null; then
    xprop -root -f RESOURCE_MANAGER 8s -set RESOURCE_MANAGER $'Xft.dpi:\t192'
    printf 'stroke 20 20 236 20\nwait\nhover Ctrl+Z\nframes 1\nscreenshot dense.png\n' >dense.txt
    check 'a dense screen' demo --script dense.txt
    xprop -root -remove RESOURCE_MANAGER
    check 'has a large window' look dense.png 2120 1272
    is_pixel 'with a large tooltip' 380 80 '14 14 19'
else
    lacking xprop "${TSR_REQUIRE_DRIVER:-}"
fi

# ---- the drawing is kept ----

printf 'frames 3\nwait\nsave %s\n' none >none.txt
check 'a script keeps nothing' demo --script none.txt
check 'unless asked' test ! -e $drawing
printf 'stroke 60 60 200 60 200 200\nwait\nsave kept\nkey Escape Escape\nframes 5\n' >keep.txt
printf 'wait\nsave back\nkey Ctrl+Z\nwait\nsave undone\nkey Ctrl+Y\n' >back.txt
check 'Escape twice' demo --restore --script keep.txt
check 'leaves a whole file' test "$(wc -c <$drawing)" = $((15 + 3 * 256 * 256))
check 'the next start' demo --restore --script back.txt
same 'has the drawing' kept-input.png back-input.png
look undone-input.png 256 256
is_pixel 'which can be undone' 130 60 '255 255 255'
check 'the start after that' demo --restore --script back.txt
same 'has it, too' kept-input.png back-input.png
check 'a fresh start' demo --restore --fresh --script none.txt
look none-input.png 256 256
is_pixel 'has none' 130 60 '255 255 255'
# Killed, with a mouse's stroke that is complete.
demo >out 2>err &
program=$!
window=$(timeout 60 xdotool search --sync --onlyvisible --name 'Tessera: pix2pix' | head -n 1)
before=$(cksum <$drawing)
xdotool windowfocus "$window" mousemove --window "$window" 100 438 mousedown 1 mousemove --window "$window" 200 440 \
    mousemove --window "$window" 400 438 mouseup 1
for ((tries = 0; tries < 60; tries++)); do
    [ "$(cksum <$drawing)" = "$before" ] || break
    sleep 0.5
done
kill -9 $program
wait $program 2>/dev/null
printf 'wait\nsave killed\n' >killed.txt
check 'after a kill' demo --restore --script killed.txt
look killed-input.png 256 256
is_pixel 'the stroke is there' 130 60 '0 0 0'
pixel 100 186 | awk '$1 < 60 { found = 1 } END { exit !found }' && good=yes || good=no
report $good 'and the one of the mouse' "$(pixel 100 186)"
head -c 1000 $drawing >cut && mv cut $drawing
printf 'wait\nsave cut\n' >cut.txt
check 'a file that was cut' demo --restore --script cut.txt
check 'is told' test "$(grep -c 'drawing.ppm: damaged' err)" = 1
look cut-input.png 256 256
is_pixel 'and not shown' 130 60 '255 255 255'
# The GPU is reset before the file was written again, and there is no other window.
printf 'key C\nstroke 20 20 60 20\nwait\nstroke 20 200 200 200\nwait\nlose\nwait\n' >gone.txt
expect_of 'no other window' 2 'the GPU was reset' env ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0" \
    LD_PRELOAD="$build/one_window.so" "$pix2pix" --model small.onnx --restore --script gone.txt
printf 'wait\nsave gone\n' >after.txt
check 'after it' demo --restore --script after.txt
look gone-input.png 256 256
is_pixel 'the latest stroke is there' 100 200 '0 0 0'
printf 'frames 2\nkey Escape\nframes 2\nstroke 10 10 20 20\nwait\nsave asked\n' >asked.txt
check 'Escape once' demo --script asked.txt
check 'only asks' look asked-input.png 256 256

nothing_leaked
finish
