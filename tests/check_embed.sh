#!/usr/bin/env bash
# The examples of demos/embed run, on every backend that has a device here, and find what the tool finds.
source "$(dirname "$0")/support/common.sh"

embed=$build/embed
[ -x "$embed/camera" ] || { lacking 'the examples: they were not built'; finish; }
find_gpus
make_case=$build/make_case
"$make_case" 13 'Identity x[1,3,48,64] -> y' same.onnx
"$make_case" 13 'Conv x[1,3,48,64] w{3,3,3,3} b{3} -> y pads=1,1,1,1' conv.onnx
"$make_case" 13 'MaxPool x[1,3,32,32] -> y kernel_shape=2,2 strides=2,2' half.onnx
"$make_case" 13 'Conv x[1,3,32,32] w{8,3,3,3} -> a; Relu a -> b; Conv b v{8,8,3,3} -> c; GlobalAveragePool c -> d; Mul c d -> y' \
    net.onnx

# close TOLERANCE FILE EXPECTED: the same bytes, to within TOLERANCE each
close() {
    [ "$(wc -c <"$2")" = "$(wc -c <"$3")" ] &&
        paste <(od -An -v -tu1 -w1 "$2") <(od -An -v -tu1 -w1 "$3") |
        awk -v most="$1" '{ d = $1 - $2 } d > most || -d > most { print NR ": " $1 " " $2; exit 1 }'
}

# close_pixels FILE EXPECTED: the same lines of four bytes each, which may have been rounded the other way
close_pixels() {
    [ -s "$1" ] && paste "$1" "$2" |
        awk 'NF != 8 { bad = 1 }
            { for (i = 1; i <= 4; i++) if (($i - $(i + 4)) ^ 2 > 1) bad = 1 }
            bad { print NR ": " $0; exit 1 }'
}

# close_text FILE EXPECTED: the same words, numbers to within a 10,000th of the expected one
close_text() {
    paste -d '\n' "$1" "$2" | awk 'NR % 2 { split($0, a); n = NF; next }
        { bad = n != NF }
        { for (i = 1; i <= NF; i++) {
              d = a[i] - $i
              if ($i ~ /^-?[0-9.]+$/ ? d * d > 1e-8 * $i * $i : a[i] != $i) bad = 1
          } }
        bad { print; exit 1 }'
}

# ---- camera ----

# Frames of the pattern in camera.c, as they come back through a model that changes nothing.
pattern() {
    awk 'BEGIN { for (f = 0; f < 4; f++) for (y = 0; y < 48; y++) for (x = 0; x < 64; x++)
        print (x + 8 * f) * 3 % 256, int(y * 255 / 48), x + y }'
}
raw() { # raw PPM: its pixels
    for i in 0 1 2 3; do tail -c +$((i * (13 + 64 * 48 * 3) + 14)) "$1" | head -c $((64 * 48 * 3)); done
}
for backend in cpu "${gpus[@]}"; do
    "$embed/camera" same.onnx "$backend" >same.ppm 2>err
    check "camera $backend: nothing but pictures" test ! -s err
    raw same.ppm >same.raw
    check "camera $backend: the pattern" cmp <(od -An -v -tu1 -w3 same.raw | awk '{ print $1, $2, $3 }') <(pattern)
    "$embed/camera" conv.onnx "$backend" >conv.ppm 2>err
    raw conv.ppm >conv.raw
    "$tool" run conv.onnx -i - --frame 64x48 --range -1:1 -o - --backend cpu <same.raw >expected.raw 2>err
    check "camera $backend: as the tool" close 1 conv.raw expected.raw
    # Scaled to 32 x 32 on the way in.
    "$embed/camera" half.onnx "$backend" >"half.$backend" 2>err
    check "camera $backend: a picture of another size" close 1 "half.$backend" half.cpu
done
check 'camera: 16 x 16 pixels' cmp -n 13 half.cpu <(printf 'P6\n16 16\n255\n')
expect_of 'camera --times' 0 'frame 3: ' sh -c '"$1" same.onnx cpu --times >/dev/null' - "$embed/camera"
expect_of 'camera: no output' 1 'cannot be written' sh -c '"$1" same.onnx cpu >/dev/full' - "$embed/camera"

# ---- frame_loop ----

for backend in cpu "${gpus[@]}"; do
    for way in step submit; do
        check "frame_loop $backend $way" "$embed/frame_loop" net.onnx "$backend" $way
        grep '^run' out >"runs.$backend.$way"
        check "frame_loop $backend $way: as on cpu" close_text "runs.$backend.$way" runs.cpu.step
        check "frame_loop $backend $way: eight runs" test "$(wc -l <"runs.$backend.$way")" = 8
    done
    expect_of "frame_loop $backend: the inputs in order" 0 'run 7: mean 0.875000' \
        "$embed/frame_loop" same.onnx "$backend"
done
# A rasteriser on the CPU needs many milliseconds for these convolutions: frames are drawn between the steps.
"$make_case" 13 'Conv x[1,3,256,256] w{32,3,3,3} -> a; Conv a v{32,32,3,3} -> b; Conv b u{32,32,3,3} -> y' slow.onnx
if "$tool" devices | grep -q '^gles .*llvmpipe'; then
    check 'frame_loop: steps' "$embed/frame_loop" slow.onnx gles
    frames=$(awk '/^step:/ { print $2 }' out)
    check "frame_loop: $frames frames in eight runs" test "$frames" -gt 8
fi

# ---- threads, embed ----

for backend in cpu "${gpus[@]}"; do
    expect_of "threads $backend" 0 'are equal' "$embed/threads" net.onnx "$backend"
    [ -x "$embed/embed" ] || continue
    expect_of "embed $backend" 0 'y [1, 8, 28, 28] mean' "$embed/embed" net.onnx "$backend"
    cp out "embed.$backend"
    cp err reports
    check "embed $backend: reports of progress" grep -q '^[1-9][0-9]* reports' reports
    check "embed $backend: as on cpu" close_text "embed.$backend" embed.cpu
    expect_of "embed $backend: cancelled" 1 CANCELLED "$embed/embed" net.onnx "$backend" --cancel
done
[ -x "$embed/embed" ] || lacking 'embed: there was no C++ compiler that goes with the C compiler'

# ---- primitive ----

for backend in cpu "${gpus[@]}"; do
    expect_of "primitive $backend" 0 'second: sum LeakyRelu' "$embed/primitive" "$backend" 5
    cp out "primitive.$backend"
    check "primitive $backend: as on cpu" close_text "primitive.$backend" primitive.cpu
done
expect_of 'primitive without arguments' 2 'usage: primitive' "$embed/primitive"
expect_of 'primitive without a device' 1 abacus "$embed/primitive" abacus

# ---- train ----

for backend in cpu "${gpus[@]}"; do
    expect_of "train $backend" 0 'step 100: loss 0.0' "$embed/train" "$backend" 100 "trained.$backend.onnx"
    cp out "train.$backend"
    check "train $backend: at least 98 % are right" \
        awk '/are right/ { good = $1 >= 0.98 * $3 } END { exit !good }' "train.$backend"
    check "train $backend: the losses of cpu" awk '/^step/ { split($2, n, ":"); s[n[1]] = s[n[1]] " " $4 }
        END { for (i in s) { split(s[i], l, " "); d = l[1] - l[2]; if (d * d > 1e-6) exit 1 } }' train.cpu "train.$backend"
    expect 0 'Softmax' info "trained.$backend.onnx"
done
expect_of 'train without arguments' 2 'usage: train' "$embed/train"
expect_of 'train without a device' 1 abacus "$embed/train" abacus

# ---- pix2pix ----

expect_of 'pix2pix' 0 '' "$embed/pix2pix" 32 generator.onnx discriminator.onnx 2
expect 0 'BatchNormalization 7' info generator.onnx --dim batch=2
expect 0 'output       logits: float32 [batch, 1, 2, 2]' info discriminator.onnx --dim batch=2
expect_of 'pix2pix without arguments' 2 'usage: pix2pix' "$embed/pix2pix"

# ---- draw ----

"$make_case" 13 'Identity x[1,3,32,32] -> y' square.onnx
"$make_case" 13 'Concat x[1,3,32,32] a{1,1,32,32} -> y axis=1' alpha.onnx
pam() { sed '1,/^ENDHDR$/d' "$1" | od -An -v -tu1 -w4 | awk '{ print $1, $2, $3, $4 }'; } # pam FILE: a line for each pixel
if [ -x "$embed/draw" ] && has_device gles; then
    check 'draw' "$embed/draw" square.onnx drawn.pam read.pam
    # The last of three pictures, its upper row first, opaque; around it the background, which is not.
    awk 'BEGIN { for (y = -16; y < 48; y++) for (x = -16; x < 48; x++)
        if (x >= 0 && x < 32 && y >= 0 && y < 32) print x * 8, y * 8, 160, 255; else print 51, 102, 153, 0 }' >expected
    check 'draw: the frame' cmp <(pam drawn.pam) expected
    check 'draw: the output' cmp <(pam read.pam) <(grep '255$' expected)
    # The frame has 48 x 48 or 64 x 64 pixels.
    for model in half alpha; do
        check "draw $model" "$embed/draw" $model.onnx drawn.pam read.pam
        pam drawn.pam | awk '{ p[NR - 1] = $0 }
            END { n = sqrt(NR); for (y = 16; y < n - 16; y++) for (x = 16; x < n - 16; x++) print p[y * n + x] }' >middle
        pam read.pam >output
        check "draw $model: what is drawn is what is read" close_pixels middle output
    done
    # The same frame by a shader that reads the output's texture; the fourth component of 3 channels is not 1 here.
    "$make_case" 13 'Add x[1,3,32,32] b{1,3,1,1} -> c; Sigmoid c -> y' three.onnx
    for model in square alpha three; do
        check "draw $model: by the session" "$embed/draw" $model.onnx drawn.pam read.pam
        check "draw $model --texture" "$embed/draw" $model.onnx texture.pam read.pam --texture
        pam texture.pam >by_shader
        pam drawn.pam >by_session
        check "draw $model --texture: the same frame" close_pixels by_shader by_session
    done
    expect_of 'draw --texture: no picture' 1 'neither 3 nor 4' "$embed/draw" net.onnx drawn.pam read.pam --texture
    expect_of 'draw: no picture' 1 'net.onnx' "$embed/draw" net.onnx drawn.pam read.pam
    expect_of 'draw: no folder' 1 'none/drawn.pam' "$embed/draw" square.onnx none/drawn.pam read.pam
else
    lacking 'draw: it was not built, or there is no gles device'
fi

# ---- what is wrong ----

for example in camera frame_loop threads embed draw; do
    [ -x "$embed/$example" ] || continue
    more=cpu
    [ $example != draw ] || more='drawn.pam read.pam'
    expect_of "$example without arguments" 2 "usage: $example MODEL" "$embed/$example"
    expect_of "$example: too many arguments" 2 'usage' "$embed/$example" same.onnx $more --other --more
    [ $example != draw ] || has_device gles || continue
    expect_of "$example without a model" 1 'nosuch.onnx' "$embed/$example" nosuch.onnx $more
    [ $example = draw ] || expect_of "$example without a device" 1 abacus "$embed/$example" same.onnx abacus
done
expect_of 'camera: no picture' 1 'no picture of 1, 3 or 4 channels' "$embed/camera" net.onnx cpu
finish
