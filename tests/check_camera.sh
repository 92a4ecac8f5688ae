#!/usr/bin/env bash
# demos/camera in a window on a display of its own: a pattern, films and a camera that is none, through networks whose
# pictures are known; what goes wrong is said in a sentence; nothing grows.
source "$(dirname "$0")/support/common.sh"
source "$source/tests/support/window.sh"

camera=$build/camera
for need in "$camera" Xvfb xdotool; do
    command -v "$need" >/dev/null || { lacking "${need##*/}" "${TSR_REQUIRE_DRIVER:-}"; finish; }
done
has_device gles || { lacking 'a gles device' "${TSR_REQUIRE_DRIVER:-}"; finish; }

expect_of 'the options' 0 'usage: camera' "$camera" --help
expect_of 'no display' 3 'no display' env -u DISPLAY -u WAYLAND_DISPLAY "$camera" --pattern
open_display

make() { "$build/make_case" 13 "$1" "$2.onnx"; }
make 'Identity x[1,3,48,64] -> y' same
are_same() { # are_same NAME PICTURE PICTURE
    cmp "$2" "$3" >out 2>err && good=yes || good=no
    report $good "$1"
}
is_near() { # is_near NAME X Y RED GREEN BLUE: within 2
    local got
    got=$(pixel "$2" "$3")
    echo "$got ${*:4}" | awk 'NF != 6 { exit 1 }
        { for (c = 1; c < 4; c++) { d = $c - $(c + 3); if (d > 2 || d < -2) exit 1 } }' && good=yes || good=no
    report $good "$1" "pixel ($2, $3) is $got, not ${*:4}"
}
# The N-th picture of the network, of every frame: nth N PREFIX ARGUMENTS...
nth() { "$camera" --every-frame --frames "$1" --save "$2" "${@:3}"; }

# ---- the pattern ----

check 'a pattern' nth 3 third same.onnx --pattern --size 97x61 --screenshot window.png
are_same 'the identity changes nothing' third-source.png third-result.png
check 'again' nth 3 again same.onnx --pattern --size 97x61
are_same 'the third frame is the third frame' third-source.png again-source.png
check 'the first one' nth 1 first same.onnx --pattern --size 97x61
cmp first-source.png third-source.png >/dev/null && good=no || good=yes
report $good 'the pattern moves'
check 'its size' look third-source.png 97 61
check 'many colours' test "$(colours 0 0 97 61)" -gt 15
check 'the window' look window.png 1120 520
check 'shows both' test "$(colours 566 44 540 340)" -gt 15
check 'a range' nth 1 range same.onnx --pattern --size 97x61 --range -1:1
are_same 'goes in and out' first-source.png range-result.png
check 'the newest frame' "$camera" same.onnx --pattern --size 97x61 --frames 3
make 'Neg x[1,3,48,64] -> y' negative
find_gpus
for backend in "${gpus[@]}"; do
    check "$backend" nth 2 "negative-$backend" negative.onnx --pattern --size 96x64 --range -1:1 --backend "$backend"
    look "negative-$backend-source.png" 96 64
    expected=$(pixel 20 10 | awk '{ print 255 - $1, 255 - $2, 255 - $3 }')
    look "negative-$backend-result.png" 96 64
    is_near "$backend: the negative" 20 10 $expected
done

# ---- networks ----

"$build/make_case" 18 'ReduceMean x[1,3,48,64] a(1) -> y' gray.onnx
check 'one channel' nth 1 gray gray.onnx --pattern --size 64x48
look gray-source.png 64 48
mean=$(pixel 10 10 | awk '{ printf "%d", ($1 + $2 + $3) / 3 + 0.5 }')
look gray-result.png 64 48
is_near 'is grey' 10 10 "$mean" "$mean" "$mean"
make 'Resize x[1,3,16,20] _ s<1,1,2,2> -> y mode=nearest' twice
check 'twice the size' nth 1 twice twice.onnx --pattern --size 64x48
check 'is twice the size' look twice-result.png 128 96
# Only its own size fits: 97 x 61 pixels become 64 x 40 of 64 x 48, and the bars above and below are cut off.
make 'Add x[1,3,48,64] b{48,64} -> a; Sub a b -> y' fixed
check 'a fixed size' nth 1 fixed fixed.onnx --pattern --size 97x61
check 'without bars' look fixed-result.png 64 40
check 'has the pattern' test "$(colours 0 0 64 40)" -gt 15
printf '{"tessera": 1, "inputs": {"x": {"range": [0, 255], "mean": 127.5, "std": 127.5}}, "outputs": {"y": {"range": [-1, 1]}}}' \
    >described.json
cp same.onnx described.onnx
check 'a description' nth 1 described described.onnx --pattern --size 97x61
are_same 'has the ranges' first-source.png described-result.png
check 'the shipped network' nth 1 emoji --pattern

refuses() { # refuses NAME TEXT OPERATORS
    make "$3" refused
    expect_of "$1" 2 "$2" "$camera" refused.onnx --pattern
}
refuses 'five channels' "refused.onnx: input 'x' [1, 5, 32, 32] is no picture" 'Relu x[1,5,32,32] -> y'
refuses 'a vector comes out' "refused.onnx: output 'y' [1, 3] is no picture" 'GlobalAveragePool x[1,3,32,32] -> a; Flatten a -> y'
refuses 'two inputs' 'refused.onnx has 2 inputs' 'Add x[1,3,32,32] z[1,3,32,32] -> y'
expect_of 'no such model' 2 'nosuch.onnx' "$camera" nosuch.onnx --pattern
expect_of 'an option that is none' 2 'no option --nonsense' "$camera" --nonsense 1
expect_of 'no size' 2 '--size expects WxH' "$camera" --size 64 --pattern
expect_of 'no range' 2 '--range expects LO:HI' "$camera" --range 1:1 --pattern
expect_of 'an endless range' 2 '--range expects LO:HI' "$camera" --range 0:inf --pattern
expect_of 'no such backend' 2 '--backend expects' "$camera" --backend cpu --pattern
printf '{"tessera": 1, "inputs": {"x": {"mean": [1, 2, 3]}}}' >described.json
expect_of 'a mean for each channel' 2 'described.json' "$camera" described.onnx --pattern

# ---- films ----

# film CHROMA WIDTH HEIGHT FRAMES [FIELDS]: y4m of smooth colours, each frame brighter
film() {
    perl -e 'my ($c, $w, $h, $n, $more) = @ARGV; my $tall = $c eq "422" ? $h : ($h + 1) >> 1; my $wide = ($w + 1) >> 1;
        ($wide, $tall) = ($w, $h) if $c eq "444";
        print "YUV4MPEG2 W$w H$h F25:1 Ip A1:1 C$c" . ($more ? " $more" : "") . "\n";
        for my $f (0 .. $n - 1) {
            print "FRAME\n";
            for my $y (0 .. $h - 1) { print map { chr int(60 + 30 * $f + $_ / 2 + $y / 3) } 0 .. $w - 1 }
            next if $c eq "mono";
            for my $s (-1, 1) { for my $y (0 .. $tall - 1) { print map { chr int(128 + $s * ($_ - $y)) } 0 .. $wide - 1 } }
        }' "$@"
}
# What the tool makes of frame N, from 0 on, by points: as_tool NAME PREFIX FILM N
as_tool() {
    local expected=() at
    "$tool" run same.onnx -i "$3" -o "$2-*.png" --backend cpu >out 2>err
    look "$2-00000$4.png" 33 21
    for at in '0 0' '7 5' '16 10' '25 3' '32 20'; do expected+=("$(pixel $at)"); done
    look "$2-result.png" 33 21
    for at in '0 0' '7 5' '16 10' '25 3' '32 20'; do
        is_near "$1" $at ${expected[0]}
        expected=("${expected[@]:1}")
    done
}
for chroma in 420jpeg 420mpeg2 420paldv 422 444 mono; do
    film $chroma 33 21 3 >$chroma.y4m
    check "a film, $chroma" nth 3 $chroma same.onnx --film $chroma.y4m
    as_tool "its last frame, $chroma" $chroma $chroma.y4m 2
done
check 'the first frame' nth 1 begin same.onnx --film 422.y4m
as_tool 'is the first one' begin 422.y4m 0
check 'the fourth of three' nth 4 round same.onnx --film 422.y4m
are_same 'is the first one again' begin-result.png round-result.png
film 420jpeg 33 21 1 XCOLORRANGE=FULL >full.y4m
check 'full range' nth 1 full same.onnx --film full.y4m
as_tool 'is full range' full full.y4m 0
check 'a pipe' sh -c "cat 444.y4m | '$camera' same.onnx --film - --every-frame --frames 3 --save pipe"
are_same 'as the file' pipe-result.png 444-result.png
check 'dropped frames' "$camera" same.onnx --film 444.y4m --frames 4

bytes=$(stat -c %s 444.y4m)
for cut in 1 700 2060 3000; do
    head -c $((bytes - cut)) 444.y4m >cut.y4m
    check "a film of $cut bytes less" nth 4 cut same.onnx --film cut.y4m
    grep -q 'cut.y4m ends within frame' err && good=yes || good=no
    report $good "$cut bytes less are told"
done
head -c 60 444.y4m >cut.y4m
expect_of 'no whole frame' 0 'cut.y4m has no whole frame' nth 2 cut same.onnx --film cut.y4m
{ cat 444.y4m; echo nonsense; } >odd.y4m
expect_of 'nonsense behind it' 0 'odd.y4m: frame 3 has no header' nth 4 odd same.onnx --film odd.y4m
expect_of 'no such film' 2 'nosuch.y4m: No such file' "$camera" same.onnx --film nosuch.y4m
film_header() { # film_header NAME TEXT HEADER
    echo "$3" >header.y4m
    expect_of "$1" 2 "$2" "$camera" same.onnx --film header.y4m
}
film_header 'ten bits' "the colour space '420p10' is not read" 'YUV4MPEG2 W32 H32 C420p10'
film_header 'no size of a film' 'header has no size' 'YUV4MPEG2 F25:1'
film_header 'too wide a film' "'W99999'" 'YUV4MPEG2 W99999 H32'
# In place of ffmpeg, which reads all other films.
mkdir bin
printf '#!/bin/sh\nexec cat "$FILM"\n' >bin/ffmpeg
chmod +x bin/ffmpeg
echo 'another film' >other.mp4
check 'by ffmpeg' env PATH="$PWD/bin:$PATH" FILM=444.y4m "$camera" same.onnx --film other.mp4 --every-frame --frames 6 \
    --save ffmpeg
are_same 'twice, as the film itself' ffmpeg-result.png 444-result.png
expect_of 'ffmpeg fails' 2 'other.mp4: ffmpeg makes no film of it' env PATH="$PWD/bin:$PATH" FILM=/dev/null \
    "$camera" same.onnx --film other.mp4
printf '#!/bin/sh\n[ ! -e ran ] || exit\ntouch ran\nexec cat "$FILM"\n' >bin/ffmpeg
expect_of 'ffmpeg fails the second time' 0 'other.mp4 has no whole frame' env PATH="$PWD/bin:$PATH" FILM=444.y4m \
    "$camera" same.onnx --film other.mp4 --every-frame --frames 5
expect_of 'no ffmpeg' 2 'other.mp4 is no y4m film, and ffmpeg' env PATH=/nowhere "$camera" same.onnx --film other.mp4

# ---- cameras ----

expect_of 'no such camera' 0 'there is no camera /dev/video98' nth 2 none same.onnx --device /dev/video98 --size 97x61
expect_of 'a camera that is a file' 0 'same.onnx is no camera' nth 1 none same.onnx --device same.onnx --size 97x61
are_same 'the pattern in its place' first-result.png none-result.png
# A camera by LD_PRELOAD; a sanitizer's library need not come first.
fake() { # fake KIND COMMAND...
    ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 FAKE_CAMERA=$1 LD_PRELOAD=$build/fake_camera.so "${@:2}"
}
for kind in yuyv nv12 mjpg bare; do
    check "a camera, $kind" fake $kind nth 5 $kind same.onnx --device /dev/video99
    check "its size, $kind" look $kind-result.png 160 120
    is_near "red, $kind" 30 100 255 0 0
    is_near "green, $kind" 130 10 0 255 0
    check "the newest, $kind" fake $kind "$camera" same.onnx --device /dev/video99 --frames 5
done
broken() { expect_of "a camera, $1" 0 "/dev/video99$2" fake "$1" nth 5 "$1" same.onnx --device /dev/video99; }
broken busy ' is used by another program'
broken radio ' (fake) is no camera'
broken raw ': the camera has none of the formats'
broken unplugged ': the camera was unplugged'
fake short timeout 5 "$camera" same.onnx --device /dev/video99 --frames 1 >out 2>err
[ $? = 124 ] && good=yes || good=no
report $good 'frames that are not whole are left out'
check 'and told once' test "$(grep -c 'a frame is broken or not whole' err)" = 1

# ---- keys and the mouse, and no growth ----

memory() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; } # of what the program has in its memory, in KiB
start() { # start ARGUMENTS...: the window has the focus
    "$camera" "$@" >out 2>err &
    program=$!
    window=$(timeout 60 xdotool search --sync --onlyvisible --name 'Tessera: camera' | head -n 1)
    xdotool windowfocus "$window"
}
start same.onnx --pattern --size 97x61 --out saved/to
sleep 3
xdotool key s key h key h key v mousemove --window "$window" 200 200 click 1 key v key e key f key r key b key b
xdotool key space key space
sleep 10
before=$(memory $program)
sleep 12 # some 300 frames
after=$(memory $program)
xdotool key s key Escape
wait $program
[ $? = 0 ] && good=yes || good=no
report $good 'keys, and Escape closes'
check 'S saves' look saved/to/camera-001-result.png 97 61
check 'and again' look saved/to/camera-002-result.png 97 61
[ "$after" -le $((before + 4096)) ] && good=yes || good=no
report $good 'no growth' "$before KiB, then $after"

# ---- sessions are made behind ----

# No frame of the shipped network takes more than 100 ms while another session is made; where other programs, or sanitizers,
# slow all frames down, none takes thrice as long as the others. Others may disturb one try.
ready() { # ready N: until N sessions were
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        [ "$(grep -c 'ready after' out)" -lt "$1" ] || return 0
        kill -0 $program 2>/dev/null || return 1
        sleep 0.2
    done
    return 1
}
keys=(f f)
has_device webgpu && keys=(f b f b f)
for try in 1 2 3; do
    start --pattern
    ready 1
    sleep 2
    for ((i = 0; i < ${#keys[@]}; i++)); do
        xdotool key "${keys[i]}"
        ready $((i + 2))
        sleep 1
    done
    xdotool key Escape
    wait $program
    sed -n 's/.* longest frame \([0-9]*\) ms, while a session was made \([0-9]*\) ms$/\1 \2/p' out >longest
    awk -v keys=${#keys[@]} '/ready after/ { made++; next } NR == FNR { next } { good = $2 > 0 && ($2 <= 100 || $2 <= 3 * $1) }
        END { exit !(good && made == keys + 1) }' out longest && good=yes || good=no
    [ $good = no ] || break
done
report $good 'no frame is long while a session is made' "$(tail -n 1 out)"
if has_device webgpu; then # asked for in one frame, or while one is made: the last one counts
    start same.onnx --pattern --size 97x61
    ready 1
    xdotool key b key f key b key f key b
    ready 2
    sleep 1
    xdotool key Escape
    wait $program
    grep -q '^webgpu, fp32: ready' out && good=yes || good=no
    report $good 'keys that follow each other' "$(tail -n 1 out)"
fi

nothing_leaked
finish
