#!/usr/bin/env bash
# demos/pix2pix in a window on a display of its own: a script draws, switches backends, opens the mosaic and saves; a
# real mouse draws; what goes wrong is said in a sentence; nothing grows.
source "$(dirname "$0")/support/common.sh"
source "$source/tests/support/pix2pix.sh" xdotool

model=$source/demos/models/edges2emoji.onnx
expect_of 'no display' 3 'no display' env -u DISPLAY -u WAYLAND_DISPLAY "$pix2pix"

"$build/make_case" 13 'Identity x[1,3,256,256] -> y' same.onnx
# What the demo saved is what the tool makes of the saved input, within the half step of 8 bits.
as_tool() { # as_tool PREFIX BACKEND [PRECISION]
    "$tool" run "$model" -i "$1-input.png" --range -1:1 --backend "$2" --precision "${3:-fp32}" -o "$1.npy" >/dev/null 2>err
    check "$1 is what tessera run makes of its input" "$tool" compare same.onnx -i "$1-output.png" --range -1:1 \
        --backends cpu --expect "y=$1.npy" --atol 0.0041 --rtol 0
}

# ---- a script ----

cat >script.txt <<'SCRIPT'
frames 2            # nothing is on the canvas yet
stroke 60 128 70 80 128 50 186 80 196 128 186 180 128 206 70 180 60 128
stroke 100 110 101 120
key 2 + +
stroke 95 155 110 170 128 175 146 170 161 155
wait
save gles
screenshot window.png
key Ctrl+Z 
wait
save undone
key Ctrl+Y F
wait
save fp16
key F B
SCRIPT
backends=(cpu)
if has_device webgpu; then
    backends=(webgpu cpu)
    echo 'stroke 200 20 220 40' >>script.txt
    printf 'wait\nsave webgpu\nkey B\n' >>script.txt
else
    lacking 'a webgpu device' "${TSR_REQUIRE_DRIVER:-}"
    echo 'key B' >>script.txt
fi
cat >>script.txt <<'SCRIPT'
stroke 20 220 40 240
wait
save cpu
key M PageDown T
wait
screenshot mosaic-cpu.png
key B T
wait
screenshot mosaic-gles.png
key H
frames 1
screenshot help.png
key Escape G
frames 1
screenshot gallery.png
key 2 C Space Right Right Right Down Space E
wait
save pen
SCRIPT
check 'the script runs' "$pix2pix" --script script.txt
grep -q 'GL error' err && good=no || good=yes
report $good 'no GL error'
as_tool gles gles
as_tool undone gles
as_tool fp16 gles fp16
for backend in "${backends[@]}"; do as_tool "$backend" "$backend"; done

look gles-input.png 256 256
is_pixel 'a black stroke' 128 50 '0 0 0'
is_pixel 'a red stroke' 128 175 "$(printf '%d %d %d' 222 46 43)"
is_pixel 'white paper' 20 20 '255 255 255'
look undone-input.png 256 256
is_pixel 'the last stroke undone' 128 175 '255 255 255'
is_pixel 'the others kept' 128 50 '0 0 0'
look fp16-input.png 256 256
is_pixel 'the stroke is back' 128 175 '222 46 43'
look pen-input.png 256 256
is_pixel 'the pen of the keys' 134 128 '222 46 43'
check 'side by side' look gles-both.png 512 256
is_pixel 'the sketch on the left' 128 50 '0 0 0'

# The window's panels, without other windows or scaling: 1060 x 636.
check 'the window' look window.png 1060 636
is_pixel 'the sketch in the window' 268 167 '0 0 0'
is_pixel "the canvas's paper" 30 98 '255 255 255'
check 'the picture beside it' test "$(colours 536 67 512 512)" -gt 10
for backend in cpu gles; do
    check "the mosaic on $backend" look mosaic-$backend.png 1060 636
    check 'many colours in it' test "$(colours 362 155 336 336)" -gt 15
done
check 'the list of keys' look help.png 1060 636
is_pixel 'lies over the window' 690 100 '16 16 21'
check 'the gallery' look gallery.png 1060 636
check 'has pictures' test "$(colours 262 50 162 162)" -gt 1

# S saves a sketch with the picture of it, which the network has yet to make.
mkdir early
printf 'wait\nstroke 60 60 200 200\nkey S\nwait\nframes 1\nsave late\n' >early.txt
check 'S right after a stroke' "$pix2pix" --out early --script early.txt
for what in input output; do check "saves its $what" cmp early/pix2pix-001-$what.png late-$what.png; done
expect_of 'a folder of a name that is too long' 0 'a: the folder cannot be made: File name too long' \
    "$pix2pix" --out "$(printf '%5000s' | tr ' ' a)" --script early.txt

# ---- teaching ----

# Blue is painted over the face: the network shall make the face blue.
points=$(for y in 70 84 98 112 140 154 168 182; do echo "70 $y 186 $y"; done)
blue='66 135 237'
error() { # error PICTURE: how far it is from the correction, by points that were painted
    local x y
    look "$1" 256 256 || return 1
    for y in 70 84 98 112 140 154 168 182; do
        for x in 75 100 125 150 180; do
            echo "$blue $(pixel $x $y)"
            echo
        done
    done | awk 'NF { for (c = 1; c < 4; c++) { d = $(c + 3) - $c; sum += d < 0 ? -d : d } } END { printf "%d", sum }'
}
is_better() { # is_better NAME BEFORE AFTER PERCENT: that are left of the error at most
    local before after
    before=$(error "$2")
    after=$(error "$3")
    [ "${before:-0}" -gt 1000 ] && [ "${after:-$before}" -le $((before * $4 / 100)) ] && good=yes || good=no
    report $good "$1" "$before before, $after after"
}
are_same() { # are_same NAME PICTURE PICTURE
    cmp "$2" "$3" && good=yes || good=no
    report $good "$1"
}
lesson() { # lesson PREFIX: commands
    echo "load $source/demos/sketches/sketch_face.png"
    printf 'wait\nsave %s-before\nkey 6 + + + + + + +\n' "$1"
    echo "paint" $points
    printf 'key L\nwait\nsave %s-after\n' "$1"
}
mkdir learned
{
    lesson gles
    printf 'key Ctrl+S Ctrl+Z\nwait\nsave undone\nkey Ctrl+Y\nwait\nsave redone\nkey F\nwait\nkey F\nwait\nsave switched\n'
    # The correction's strokes are undone first, then the lesson, then the sketch.
    printf 'paint 20 20 40 40\nkey Ctrl+Z Ctrl+Z Ctrl+Z\nwait\nsave blank\n'
} >lesson.txt
check 'a lesson on gles' "$pix2pix" --out learned --script lesson.txt
grep -q 'GL error' err && good=no || good=yes
report $good 'no GL error in it'
is_better 'it has learned' gles-before-output.png gles-after-output.png 50
are_same 'undone' gles-before-output.png undone-output.png
are_same 'redone' gles-after-output.png redone-output.png
are_same 'other sessions keep it' gles-after-output.png switched-output.png
look blank-input.png 256 256
is_pixel 'the sketch is undone last' 128 34 '255 255 255'
model=learned/pix2pix-001.onnx as_tool gles-after gles
{
    lesson cpu
    printf 'key B\nwait\nsave carried\nkey Ctrl+Z\nwait\nkey B B\nwait\nsave cpu-undone\n'
} >lesson.txt
# On the CPU the shipped network takes minutes; a small one of random weights learns less.
"$build/make_models" pix2pix --ngf 4 -o taught.onnx
taught=(--model taught.onnx) left=90
[ "${TSR_TEST_CASES:-}" != all ] || taught=() left=50
check 'a lesson on a thread' "$pix2pix" --backend cpu "${taught[@]}" --script lesson.txt
is_better 'it has learned, too' cpu-before-output.png cpu-after-output.png $left
is_better 'gles has what the thread learned' cpu-before-output.png carried-output.png $left
are_same 'undone on gles, seen on cpu' cpu-before-output.png cpu-undone-output.png

# A lesson that is disturbed begins again; drawing goes on meanwhile; nine of them, which is one more than can be undone.
"$build/make_models" pix2pix --ngf 1 -o small.onnx
{
    printf 'stroke 60 60 200 200\nwait\nkey 3 + + +\nsave small-before\npaint 80 80 150 80 150 150\nkey Enter\nframes 12\nlose\n'
    printf 'key Ctrl+Z Ctrl+Y L\nframes 5\nkey B\nframes 3\nstroke 20 200 60 200\nwait\nkey B B\nwait\nkey Ctrl+Z Ctrl+Z\n'
    printf 'wait\nsave small-undone\n'
    for lesson in 1 2 3 4 5 6 7 8 9; do printf 'key 5\npaint 80 80 150 80 150 150\nkey L\nwait\n'; done
    for lesson in 1 2 3 4 5 6 7 8; do printf 'key Ctrl+Z\nwait\n'; done
    printf 'save small-first\nkey Ctrl+Y\nwait\nkey C L\nwait\n'
} >lesson.txt
check 'disturbed lessons' "$pix2pix" --model small.onnx --script lesson.txt

# ---- the GPU is reset ----

cat >lost.txt <<'SCRIPT'
window 900 500
stroke 60 128 70 80 128 50
wait
save before
lose
wait
save after
lose
lose
key B M
wait
lose
wait
save thread
key Ctrl+Z C
stroke 10 10 20 20
lose
wait
SCRIPT
check 'the context is lost' "$pix2pix" --script lost.txt
check 'and told' test "$(grep -c 'the GPU was reset' err)" = 5
grep -q 'GL error' err && good=no || good=yes
report $good 'no GL error then'
for what in after-input after-output thread-input; do cmp "before-${what#*-}.png" "$what.png" && good=yes || good=no
    report $good "$what is as before"; done

# ---- a mouse ----

# Of what the program has in its memory, in KiB.
memory() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
until_file() { # until_file NAME COMMAND...: which is run each time; false after five minutes or if the program ends
    local name=$1 tries
    shift
    for ((tries = 0; tries < 600; tries++)); do
        [ ! -s "$name" ] || return 0
        kill -0 $program 2>/dev/null || return 1
        "$@"
        sleep 0.5
    done
    return 1
}

mkdir saved
"$pix2pix" --out saved >out 2>err &
program=$!
window=$(timeout 60 xdotool search --sync --onlyvisible --name 'Tessera: pix2pix' | head -n 1)
xdotool windowfocus "$window" mousemove --window "$window" 100 238 mousedown 1
for x in 140 180 220 260 300; do xdotool mousemove --window "$window" $x 238; done
xdotool mouseup 1
# The orange swatch, a stroke with it, and a click beside everything.
xdotool mousemove --window "$window" 72 614 click 1 mousemove --window "$window" 100 438 mousedown 1
xdotool mousemove --window "$window" 300 438 mouseup 1 mousemove --window "$window" 530 300 click 1
until_file saved/pix2pix-001-both.png xdotool key s && xdotool key Escape Escape || kill $program
wait $program
[ $? = 0 ] && good=yes || good=no
report $good 'the mouse draws, Escape twice closes'
check 'S saves' look saved/pix2pix-001-input.png 256 256
is_pixel 'what the mouse drew' 96 85 '0 0 0'
is_pixel 'what it drew in orange' 96 185 '245 140 31'

# Escape leaves only if it is pressed twice within seconds, also where another window was made meanwhile.
printf 'key Escape\nframes 1\nscreenshot asked.png\nframes 1000\nlose\nwait\nkey Escape\nframes 3\nsave asked\n' >clock.txt
"$pix2pix" --model small.onnx --script clock.txt >out 2>err &
program=$!
until_file asked.png true && kill -STOP $program && sleep 5 && kill -CONT $program
wait $program
check 'the clock goes on in another window' look asked-input.png 256 256

# ---- no growth ----

# The hand-drawn sketches that are shipped: all of them are over a thousand frames.
sketches=("$source"/demos/sketches/hand_*.txt)
[ "${TSR_TEST_CASES:-}" = all ] || sketches=("${sketches[@]:0:5}")
draw() { # draw NAME SKETCH...
    local name=$1 sketch
    shift
    for sketch in "$@"; do
        cat "$sketch"
        printf 'key Ctrl+Z M PageDown M T T C\nwait\n'
    done
    printf 'screenshot %s.png\nframes 40\n' "$name"
}
{
    draw round_0 "${sketches[@]:0:2}"
    for round in 1 2 3 4; do draw round_$round "${sketches[@]}"; done
    echo 'frames 1000000'
} >rounds.txt
"$pix2pix" --model small.onnx --script rounds.txt >out 2>err &
program=$!
good=no sizes=()
for round in 0 1 2 3 4; do # what drivers keep comes once, a leak every round
    until_file round_$round.png true && sizes+=("$(memory $program)")
    [ $round -gt 0 ] && [ "${sizes[-1]}" -le $((sizes[-2] + 4096)) ] && good=yes && break
done
kill $program
wait $program 2>/dev/null
report $good 'no growth' "${sizes[*]} KiB"

# ---- what goes wrong ----

expect_of 'an option that is none' 2 'no option --nonsense' "$pix2pix" --nonsense 1
expect_of 'no such backend' 2 'expects gles, webgpu or cpu' "$pix2pix" --backend gpu
expect_of 'no such model' 2 'nosuch.onnx' "$pix2pix" --model nosuch.onnx
"$build/make_case" 13 'Relu x[1,5,32,32] -> y' channels.onnx
expect_of 'five channels' 2 "channels.onnx: input 'x' is not a picture" "$pix2pix" --model channels.onnx
"$build/make_case" 13 'GlobalAveragePool x[1,3,32,32] -> a; Flatten a -> y' flat.onnx
expect_of 'no picture comes out' 3 "output 'y' is not a picture" "$pix2pix" --model flat.onnx --frames 2
"$build/make_case" 13 'Relu x[1,3,4096,4096] -> y' large.onnx
# A tensor to look at that is 98304 columns wide.
"$build/make_case" 13 'Relu x[1,3,64,512] -> a; Reshape a s(1,1,98304) -> f; Relu f -> r; Reshape r z(1,3,64,512) -> y' \
    wide.onnx
printf 'stroke 5 5 50 50\nwait\nkey M PageDown\nwait\n' >wide.txt
expect_of 'a layer that fits no texture is passed over' 0 'texture of at most' "$pix2pix" --model wide.onnx --script wide.txt
expect_of 'on a thread the run tells' 2 'texture of at most' "$pix2pix" --model wide.onnx --script wide.txt --backend cpu
expect_of 'too large a canvas' 2 'pictures of 4096 x 4096' "$pix2pix" --model large.onnx
expect_of 'no such picture' 2 'nosuch.png: No such file' "$pix2pix" nosuch.png
echo text >text.png
expect_of 'a picture that is none' 2 'text.png: not a picture' "$pix2pix" text.png
expect_of 'no OpenGL ES' 3 'no window with OpenGL ES 3.0' env $no_egl "$pix2pix" --frames 2
fish=$source/demos/sketches/sketch_fish.png
expect_of 'closed in mid-run' 0 '3 frames' "$pix2pix" --frames 3 "$fish"
expect_of 'closed in mid-run on a thread' 0 '3 frames' "$pix2pix" --frames 3 --backend cpu "$fish"
fails() { # fails NAME TEXT SCRIPT
    printf '%s\n' "$3" >failing.txt
    expect_of "$1" 2 "$2" "$pix2pix" --script failing.txt
}
fails 'a folder that takes no file' '/proc/x-input.png: cannot be written' $'wait\nsave /proc/x'
fails 'no such command' 'failing.txt:2: no such command: draw' $'# a comment\ndraw 1 2'
fails 'no such key' 'no such key: Q' 'key Q'
fails 'half a point' 'pairs of numbers' 'stroke 1 2 3'
fails 'no number of frames' 'frames expects a number' 'frames 3x'
fails 'too large a window' 'window expects two sizes' 'window 100000 100'
fails 'no such file to load' 'failing.txt:1: load failed' 'load nosuch.png'
printf 'stroke 3 3 20 20\nwait\npaint 5 5 9 9\nkey L\nwait\n' >teach.txt
"$build/make_case" 13 'Conv x[1,3,32,32] w{3,3,1,1} -> a; Floor a -> y' floor.onnx
expect_of 'a network that cannot learn' 0 "cannot learn: floor.onnx: no differentiable path leads from 'w'" "$pix2pix" \
    --model floor.onnx --script teach.txt
"$build/make_case" 13 'Relu x[1,3,32,32] -> y' weightless.onnx
expect_of 'one without weights, on a thread' 0 'there is no weight to be trained' "$pix2pix" --model weightless.onnx \
    --script teach.txt --backend cpu
fails 'painting on nothing' 'nothing can be painted on now' $'wait\npaint 1 2'
fails 'half a point of a correction' 'pairs of numbers' $'stroke 1 1 9 9\nwait\npaint 1 2 3'
# Pictures of any size and channel count, one that a script loads and one to begin with.
cat >sizes.txt <<'SCRIPT'
wait
save first
load wide.png
wait
save wide
SCRIPT
"$build/make_case" 13 'Identity x[1,1,3,700] -> y' grey.onnx
"$tool" run grey.onnx -i "$fish" -o wide.png --backend cpu >/dev/null 2>&1
check 'pictures of other sizes' "$pix2pix" --script sizes.txt "$fish"
look wide-input.png 256 256
is_pixel 'white beside it' 128 20 '255 255 255'

nothing_leaked
finish
