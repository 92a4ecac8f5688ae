#!/usr/bin/env bash
# tools/phones.sh: what it reads of each compiler, on recorded lines; and where its drivers are built, that the networks of
# this project open sessions on a GPU of each kind and that kernels are as tools/phones/expected.csv tells, what passes load and
# store as expected_tiles.csv.
source "$(dirname "$0")/support/common.sh"
phones=$source/tools/phones

check 'recorded lines' python3 "$source/tests/support/phones_test.py" "$phones"

if has_device gles; then
    "$build/make_case" 13 'Conv x[1,4,8,8] w{4,4,3,3} -> y pads=1,1,1,1' conv.onnx
    expect 0 "9216 multiply-adds, 'Conv0' (Conv)" run conv.onnx --random --backend gles -vv
fi

# phones CODE TEXT OPTIONS...: the exit code, and a part of what it prints
phones() {
    local code=$1 text=$2
    shift 2
    expect_of "phones.sh $*" "$code" "$text" \
        env -u MESA_SHADER_DUMP_PATH python3 "$phones/main.py" "$tool" "$drivers" "$folder/models" "$@"
}

models() {
    mkdir models
    "$build/make_models" pix2pix --ngf 16 -o models/pix16.onnx && "$build/make_models" autoencoder -o models/autoencoder.onnx &&
        "$build/make_models" mobile -o models/mobile.onnx &&
        cp "$source/demos/models/edges2emoji.onnx" models
}

if ! drivers=$(bash "$phones/build.sh" --built); then
    lacking 'drivers of phones (tools/phones.sh builds them)'
    finish
fi
if grep -q __asan_init "$tool"; then
    lacking 'drivers of phones under a sanitizer, which has to be the first library'
    finish
fi
check 'models' models
phones 0 'All kernels and tiles are as expected.' --check --brief --gpu mali-t860 --gpu mali-g52 --gpu mali-g57 --gpu pi4 --gpu adreno-630
# The table is of 16 bits; texels of 32 take more registers.
phones 0 '0 spill registers' --precision fp32 --brief --gpu mali-t860 --gpu mali-g57 --gpu pi4
cp out wide.txt
# On Midgard one register is stored once and loaded four times outside the loops of the painter's 3x3 convolutions with a bias, an
# Add and an activation, which take 300 to 2,260 cycles.
check 'no spill with 32 bits' bash -c '! grep -v ", 0 spill registers" wide.txt | grep -v "^edges2emoji.*on mali-t860.* 5 spill registers"'
phones 0 'refused, as it has OpenGL ES 2.0 only' --gpu lima
phones 1 'does not run: missing.onnx' --gpu pi4 missing.onnx
phones 2 'name none with --check' --check models/pix16.onnx

# What a page drew.
vertex=$'#version 300 es\nvoid main() { gl_Position = vec4(1.0); }'
fragment=$'#version 300 es\nuniform mediump sampler2D x; out mediump vec4 y; void main() { y = texelFetch(x, ivec2(0), 0) * 3.0; }'
printf 'program 5 %d %d\n%s%s\ndraw 5 34842 4096 2 8 8 1\n' "${#vertex}" "${#fragment}" "$vertex" "$fragment" >page.draws
expect_of 'phones.sh --draws' 0 ' program5 ' bash "$source/tools/phones.sh" --draws --gpu mali-g52 page.draws

# Worse than expected: a kernel that takes longer, and one that is not in the table.
cp -r "$phones" worse
sed -i 's/^pi4,conv_uniform_block,.*/pi4,conv_uniform_block,0,0.1/; /^pi4,copy,/d' worse/expected.csv
phones=worse
phones 1 'pi4: conv_uniform_block takes' --check --brief --gpu pi4
cp err worse.txt
check 'a kernel that is not in the table' grep 'pi4: kernel copy is not in the table' worse.txt
sed -i 's/^adreno-630,pix16.onnx,.*/adreno-630,pix16.onnx,99,0,,,/' worse/expected_tiles.csv
phones 1 'adreno-630: pix16.onnx: loads' --check --brief --gpu adreno-630
finish
