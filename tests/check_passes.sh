#!/usr/bin/env bash
# The optimizer's passes by name: tessera info --passes and --dot, --passes of the other commands.
source "$(dirname "$0")/support/common.sh"

has_device gles || { lacking 'a gles device' "${TSR_REQUIRE_DRIVER:-}"; finish; }
"$build/make_case" 13 'Conv x[1,3,9,9] w{8,3,3,3} -> c; Relu c -> r; Identity r -> i; Softmax i -> y' net.onnx

passes() { # passes OPTIONS...: name, nodes before and after, GPU passes without it, of each
    "$tool" info net.onnx --backend gles "$@" 2>err | awk '/^pass /{ on = 1; next } on { print $1, $2, $3, $4 }'
}

passes --passes >all
check 'Identity is bypassed' grep -qx 'bypass 4 3 .*' all
check 'Relu is fused' grep -qx 'fuse_posts 3 2 .*' all
check 'some passes are needed' grep -qx 'decompose 4 4 needed' all
without=$(awk '$1 == "fuse_posts" { print $4 }' all) with=$(awk '$1 == "cse" { print $4 }' all)
check 'without fusion there is a pass more' test "$without" = $((with + 1))
passes --passes -bypass >some
check 'one is off, others are not' test "$(grep -c ' off ' some)" = 1 -a "$(grep 'bypass off' some)"
expect 2 "there is no optimizer pass 'fuse'" info net.onnx --passes fuse --backend gles
expect 2 'fuse_posts' info net.onnx --passes fuse --backend gles
expect 2 "'decompose' cannot be left out" run net.onnx --random --passes -decompose
expect 2 "either each name has a '-', or none" run net.onnx --random --passes bypass,-cse
expect 0 'fold_constants' info net.onnx --passes --backend cpu
expect 0 'fold_constants' info --backend cpu --passes net.onnx

expect 0 'within tolerance' compare net.onnx --passes none --backends cpu,gles
expect 0 'ran on gles' run net.onnx --random --passes -fuse_posts,-bypass -o y.npy

# The names are the file's: a quote and a backslash in one do not end a label.
"$tool" info net.onnx --backend gles --dot net.dot >said
check 'it says what it wrote' grep -q '^net.dot: ' said
check 'a node, its post-op, its constants' grep -q 'label="Conv+Relu\\nConv0\\nconstant 8x3x3x3"' net.dot
check 'the shape of what it reads' grep -q ' -> n0 \[label="1x3x9x9"\]' net.dot
"$tool" info net.onnx --backend gles --passes none --dot plain.dot >out
check 'the plain graph has every node' test "$(grep -c '^  n[0-9]* \[label' plain.dot)" = 4
check 'the optimized one has fewer' test "$(grep -c '^  n[0-9]* \[label' net.dot)" = 2
"$build/make_case" 13 'Abs x[1,3,9,9] -> a; MaxPool a -> z! kernel_shape=2,2; LeakyRelu a -> r; Conv r w{8,3,3,3} -> y' before.onnx
"$tool" info before.onnx --backend gles --dot before.dot >out
check 'an operator that a node applies as it reads' grep -qF 'label="Conv(LeakyRelu)\nConv' before.dot
expect 2 'no backend can plan it' info net.onnx --passes bogus
"$build/make_case" 13 'Relu x[N,3] -> y' open.onnx
expect 2 'its sizes are open' info open.onnx --dot open.dot
"$build/make_case" 13 'Relu a"\b[2] -> y' odd.onnx
"$tool" info odd.onnx --backend gles --dot odd.dot >out
check 'names are escaped' grep -qF 'label="a\"\\b\n2"' odd.dot
expect 2 'net.onnx/net.dot' info net.onnx --backend gles --dot net.onnx/net.dot # a file is no folder
finish
