#!/usr/bin/env bash
# The canvas of demos/pix2pix: a blank one has a white picture and no run; strokes are smooth, soft at their edges, without
# gaps and of the mouse's speed; each sketch of the gallery can be drawn and undone.
source "$(dirname "$0")/support/common.sh"
source "$source/tests/support/pix2pix.sh" xdotool

"$build/make_models" pix2pix --ngf 1 -o small.onnx
draw() { # draw NAME SCRIPT: in the file out, what the program says
    printf '%s\n' "$2" >"script_${1// /_}.txt"
    expect_of "$1" 0 ' runs' "$pix2pix" --model small.onnx --script "script_${1// /_}.txt"
    grep -q 'GL error' err && good=no || good=yes
    report $good "$1: no GL error"
}
runs() { sed -n 's/.*; \([0-9]*\) runs$/\1/p' out; }
is_white() { # is_white PICTURE
    look "$1" 256 256
    [ "$(od -An -v -t f4 -w4 -j $data look.npy | sort -u | tr -d ' ')" = 255 ] && good=yes || good=no
    report $good "$1 is white"
}
differ() { # differ NAME PICTURE PICTURE
    cmp -s "$2" "$3" && good=no || good=yes
    report $good "$1"
}
same() { # same NAME PICTURE PICTURE
    cmp "$2" "$3" && good=yes || good=no
    report $good "$1"
}

# ---- nothing is drawn ----

blank=$'wait\nframes 9\nsave blank\nkey B\nwait\nframes 9\nsave thread\nkey C F\nwait\nlose\nwait\nsave lost'
draw 'a blank canvas' "$blank"
check 'is not run' [ "$(runs)" = 0 ]
for name in blank thread lost; do for what in input output; do is_white $name-$what.png; done; done

draw 'blank again' $'stroke 60 60 200 200\nwait\nsave line\nkey C\nwait\nsave cleared\nkey Ctrl+Z\nwait\nsave back
key Ctrl+Z\nwait\nsave undone\nkey Ctrl+Y\nwait\nsave redone\nkey Ctrl+Z\nscreenshot window.png\nstroke 9 9\nwait\nsave dot'
check 'a stroke is run' [ "$(runs)" -gt 0 ]
for name in cleared undone; do for what in input output; do is_white $name-$what.png; done; done
for name in back redone; do same "$name: its picture" line-output.png $name-output.png; done
differ 'a dot has a picture' undone-output.png dot-output.png
look window.png 1060 636
check 'the canvas says what to do' [ "$(colours 220 308 96 28)" -gt 1 ]
draw 'paper that is painted on' $'wait\nscreenshot first.png\nstroke 128 20\nwait\nscreenshot then.png'
look then.png 1060 636
check 'it says nothing then' [ "$(colours 220 308 96 28)" = 1 ]

# ---- strokes ----

draw 'strokes' $'stroke 40 40.25 200 40.25\nstroke 20.25 100 20.25 200 20.25 100 20.25 200
stroke 60.25 100 60.25 200\nwait\nsave straight
key C + + + + + + + + + +\nstroke 60 128 128 60 196 128 128 196 60 128 128 60\nwait\nsave round
key C 2\nstroke 128 128 128 128.5 128 128\nwait\nsave dot
key E +\nstroke 0 128 255 128\nwait\nsave erased'
look straight-input.png 256 256
is_pixel 'the middle of a line' 100 40 '0 0 0'
is_pixel 'beside it' 100 45 '255 255 255'
# From 38.25 to 42.25, one pixel soft: of row 42 a quarter is covered, of row 37 nothing, of row 38 three quarters.
is_pixel 'its soft edge below' 100 42 '191 191 191'
is_pixel 'and above' 100 38 '64 64 64'
is_pixel 'a line drawn three times is as soft' 22 150 "$(pixel 62 150)"
is_pixel 'which is' 22 150 '191 191 191'
look round-input.png 256 256
grey() { od -An -v -t f4 -w4 -j $data -N $((4 * 256 * 256)) look.npy; }
check 'edges of any brush are soft' [ "$(grey | awk '$1 > 0 && $1 < 255' | wc -l)" -gt 100 ]
look dot-input.png 256 256
is_pixel 'a dot' 128 128 '222 46 43'
is_white erased-input.png

# A turn of less than 60 degrees is a curve through its points: the chord's middle lies inside, points on it.
draw 'a circle of twelve points' "stroke $(awk 'BEGIN { for (i = 0; i < 14; i++)
    printf "%.2f %.2f ", 128 + 80 * cos(i * 0.5235988), 128 + 80 * sin(i * 0.5235988) }')"$'\nwait\nsave circle'
look circle-input.png 256 256
# Seen from the middle, in steps of a degree, it is black 80 pixels away, without gaps.
check 'is round and without gaps' [ "$(grey | awk '{ at[NR - 1] = $1 } END { for (a = 0; a < 6.2832; a += 0.01745)
    dark += at[int(128 + 80 * sin(a)) * 256 + int(128 + 80 * cos(a))] < 128; print dark }')" = 361 ]

# ---- the gallery ----

for i in $(seq 0 15); do
    printf 'key G'
    [ $i = 0 ] || printf ' Right'
    printf ' Space\nwait\nsave sketch_%02d\nkey Ctrl+Z\nwait\nsave undone_%02d\n' $i $i
done >gallery.txt
{
    echo 'key 3 G Left Up Space'
    printf 'window 400 790\nkey G\nframes 1\nscreenshot tall.png\nwindow 1280 800\nframes 1\nscreenshot wide.png\n'
} >>gallery.txt
draw 'the gallery' "$(cat gallery.txt)"
for i in $(seq -w 0 15); do same "sketch $i can be undone" undone_$i-input.png undone_00-input.png; done
is_white undone_00-input.png
sketches=("$source"/demos/sketches/hand_*.txt)
check 'it has 16 sketches' [ ${#sketches[@]} = 16 ]
check 'each another one' [ "$(for i in $(seq -w 0 15); do cksum <sketch_$i-input.png; done | sort -u | wc -l)" = 16 ]
# Drawn by its script, the first one is the same picture.
draw 'its script' "$(cat "${sketches[0]}")"$'\nwait\nsave script'
same 'as its script draws it' script-input.png sketch_00-input.png
# The shade between the columns and rows of thumbnails.
look tall.png 400 790
is_pixel 'a thumbnail of a portrait window' 64 106 '255 255 255'
is_pixel 'beside it' 151 140 "$(pixel 248 140)"
look wide.png 1280 800
is_pixel 'a thumbnail of a wide window' 20 90 '255 255 255'

# Folders of its own: a script with other commands is none, a picture is one.
mkdir own
printf 'stroke 9 9 200 200\n' >own/a_line.txt
printf 'stroke 9 9\nwait\n' >own/b_wrong.txt
printf 'stroke 1 2 3\n' >own/c_half.txt
cp "$source/demos/sketches/sketch_fish.png" own/
printf 'key G 2\nwait\nsave own\n' >own.txt
expect_of 'a folder of sketches' 0 'own/b_wrong.txt:2: a sketch has strokes' "$pix2pix" --model small.onnx --gallery own \
    --script own.txt
grep -q 'own/c_half.txt:1' err && good=yes || good=no
report $good 'and one that has half a point'
look own-input.png 256 256
is_pixel 'the second is the picture' 20 20 '255 255 255'
mkdir none
expect_of 'an empty folder' 0 '0 runs' "$pix2pix" --model small.onnx --gallery none --script own.txt
expect_of 'no folder' 0 'nosuch: no gallery' "$pix2pix" --model small.onnx --gallery nosuch --script own.txt

# ---- a film ----

draw 'a film' $'film film 2\nstroke 20 20 80 20 140 20 200 20 200 80\nwait\nsave end'
check 'of every second point' [ "$(ls film-*.png | tr '\n' ' ')" = 'film-0001.png film-0002.png ' ]
look film-0001.png 1060 636
is_pixel 'it shows the first points' 151 106 '0 0 0'
is_pixel 'and no others' 391 106 '255 255 255'
look film-0002.png 1060 636
is_pixel 'then the next' 391 106 '0 0 0'
is_pixel 'but not the last' 412 198 '255 255 255'
echo 'film 7' >wrong.txt
expect_of 'a film without a prefix' 2 'film expects a prefix and a number of points' "$pix2pix" --model small.onnx \
    --script wrong.txt

# ---- pressure ----

# Of a line that the mouse draws in steps of 4 window pixels: how many pixels of column 64 are dark.
line() { # line OPTIONS...
    "$pix2pix" --model small.onnx --out . --fresh "$@" >out 2>err &
    local program=$! window x
    window=$(timeout 60 xdotool search --sync --onlyvisible --name 'Tessera: pix2pix' | head -n 1)
    xdotool windowfocus "$window" key plus key plus key plus mousemove --window "$window" 60 238 mousedown 1
    for ((x = 64; x < 200; x += 4)); do xdotool mousemove --window "$window" $x 238 sleep 0.06; done
    xdotool mouseup 1 key s
    for ((x = 0; x < 100; x++)); do
        [ ! -s pix2pix-001-both.png ] || break
        sleep 0.1
    done
    xdotool key Escape Escape
    wait $program
    look pix2pix-001-input.png 256 256
    grey | awk 'NR % 256 == 65 { sum += 1 - $1 / 255 } END { printf "%d", 10 * sum + 0.5 }'
    rm pix2pix-001-*
}
even=$(line --pressure off) slow=$(line)
# 3.9 pixels are the brush's radius.
check "an even line is as broad as the brush: $even tenths" [ "$even" = 78 ]
check "a slow line is broader: $slow tenths" [ "$slow" -gt 84 -a "$slow" -le 98 ]
expect_of 'no such pressure' 2 '--pressure expects on or off' "$pix2pix" --pressure much

nothing_leaked
finish
