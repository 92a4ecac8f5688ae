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
finish
