#!/usr/bin/env bash
# The demos without a window run, on every backend that has a device here.
source "$(dirname "$0")/support/common.sh"

[ -x "$build/custom_op" ] || { lacking 'the demos: they were not built'; finish; }
find_gpus
"$build/make_models" swirl --size 48 -o swirl.onnx
for backend in cpu "${gpus[@]}"; do
    expect_of "custom_op $backend" 0 "On $backend; the largest difference from cpu is " \
        "$build/custom_op" swirl.onnx "$backend"
    # A GPU's sine may be off by 2^-11, 24 pixels from the middle.
    awk '/largest difference/ { sub(/\.$/, ""); exit !($NF < 0.05) }' out && close=yes || close=no
    report $close "custom_op $backend is as on cpu"
done
expect_of 'the operator without the demo' 2 'not supported: operator demo.Swirl (1 node' "$tool" info swirl.onnx
expect_of 'custom_op without arguments' 2 usage "$build/custom_op"
expect_of 'custom_op without a model' 1 'no such file' "$build/custom_op" "no such file" cpu

# ---- frames through a filter ----

"$build/make_case" 13 'Identity x[1,3,-1,-1] -> y' same.onnx
"$build/make_case" 13 'MaxPool x[1,3,4,6] -> y kernel_shape=2,2 strides=2,2' half.onnx
head -c $((3 * 4 * 6 * 5)) /dev/urandom >frames.raw
for backend in cpu "${gpus[@]}"; do
    "$build/filter" same.onnx --size 6x4 --backend "$backend" <frames.raw >through.raw 2>err
    check "five frames on $backend, in order" cmp frames.raw through.raw
done
# Of frames that are one colour each, half the size is the same colours.
for colour in a b c; do printf "$colour%.0s" {1..72}; done >flat.raw
for colour in a b c; do printf "$colour%.0s" {1..18}; done >small.raw
"$build/filter" half.onnx --size 6x4 --backend cpu --range -1:1 <flat.raw >halved.raw 2>err
check 'a model that scales' cmp small.raw halved.raw
# Pictures of different sizes, one with a comment.
{
    printf 'P6\n# of\n 6 4\n255\n'
    head -c 72 frames.raw
    printf 'P6 2 1 255\nabcdef'
} >two.ppm
{
    printf 'P6\n6 4\n255\n'
    head -c 72 frames.raw
    printf 'P6\n2 1\n255\nabcdef'
} >expected.ppm
"$build/filter" same.onnx --backend cpu <two.ppm >through.ppm 2>err
check 'pictures of two sizes' cmp expected.ppm through.ppm
# What came before a frame that is cut short is there.
head -c 350 frames.raw | "$build/filter" same.onnx --size 6x4 --backend cpu >through.raw 2>err
check 'the whole frames of an input that is not' cmp -n 288 frames.raw through.raw
check 'and no more' test "$(wc -c <through.raw)" = 288
filter() { # filter INPUT ARGUMENTS...: only its message matters
    local input=$1
    shift
    "$build/filter" "$@" <"$input" >/dev/null
}
printf 'P5 1 1 255\na' >grey.pgm
printf 'P6 0 1 255\n' >empty.ppm
head -c 100 frames.raw >part.raw
expect_of 'filter --help' 0 'usage: filter MODEL' "$build/filter" --help
expect_of 'filter without arguments' 2 usage filter /dev/null
expect_of 'filter without a model' 1 'nosuch.onnx' filter /dev/null nosuch.onnx
expect_of 'no PPM' 1 'raw frames need --size' filter grey.pgm same.onnx --backend cpu
expect_of 'an empty picture' 1 'its size is not' filter empty.ppm same.onnx --backend cpu
expect_of 'half a frame' 1 'in the middle of a frame' filter part.raw same.onnx --size 6x4 --backend cpu
expect_of 'another size' 1 'half.onnx' filter two.ppm half.onnx --backend cpu
expect_of 'no output' 1 'cannot be written' sh -c '"$1" same.onnx --backend cpu <two.ppm >/dev/full' - "$build/filter"
finish
