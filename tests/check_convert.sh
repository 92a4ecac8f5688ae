#!/usr/bin/env bash
# tessera convert: what it writes computes the same, is smaller, and has the inputs' and outputs' names; bad input is refused by
# name, with nothing half-written.
source "$(dirname "$0")/support/common.sh"
data=/usr/share/libonnx-testdata/data
model() { "$build/make_case" "$@"; } # model OPSET TEXT FILE

# ---- every operator: written, read again, run ------------------------------------------------------

passes() { # passes NAME OPTIONS...: all that `tessera check` runs but opset 8's Scan, which has another form
    "$tool" check "${@:2}" --backend cpu --converted >out 2>err
    sed -i '/^PASS /d; /^SKIP node\/test_scan_sum: .*of opset 8/d; s/, 1 skipped$/, 0 skipped/' out
    if grep -qx '[0-9]* passed, 0 failed, 0 skipped' out && [ "$(wc -l <out)" = 1 ]; then report yes "$1"; else report no "$1"; fi
}
passes 'each test of an operator passes with the converted model' "$source"/tests/ops/*.json
if [ -d $data ]; then
    passes "ONNX's tests pass with the converted models" --list "$source/tests/conformance.txt" --root $data
else
    lacking "ONNX's tests ($data); on Debian: apt install libonnx-testdata" "${TSR_REQUIRE_DRIVER:-}"
fi

# ---- what the file has -------------------------------------------------------------------------------

operators() { "$tool" info "$1" --backend cpu 2>err | sed -n 's/^operators *//p'; }

model 12 'Conv x[1,3,8,8] w{8,3,3,3} -> c pads=1,1,1,1; BatchNormalization c s{8} b{8} m{8} v<1,2,1,2,1,2,1,2> -> n; Relu n -> y' norm.onnx
expect 0 'opset 13, 2 nodes (3 before)' convert norm.onnx -o folded.onnx
expect 0 '' run folded.onnx --random --seed 3 -o y.npy --backend cpu
expect 0 '' compare norm.onnx --backends cpu --seed 3 --expect y=y.npy
expect 0 'opset 20' convert norm.onnx -o folded.onnx --opset 20
expect 0 'x: float32 [1, 3, 8, 8]' info folded.onnx --backend cpu
expect 0 'y: float32 [1, 8, 8, 8]' info folded.onnx --backend cpu

model 13 'Shape x[N,4] -> s; Gather s i(0) -> n axis=0; Concat n k(4) -> l axis=0; Reshape x l -> r; Neg r -> y' open.onnx
expect 0 '5 nodes (5 before)' convert open.onnx -o open_too.onnx
expect 0 '1 nodes (5 before)' convert open.onnx -o fixed.onnx --batch 2
expect 0 '1 nodes (5 before)' convert open.onnx -o fixed.onnx --dim N=3
expect 0 '1 nodes (5 before)' convert open.onnx -o fixed.onnx --fix-shape x=7,4
expect 0 'x: float32 [7, 4]' info fixed.onnx --backend cpu

# ---- bad input ---------------------------------------------------------------------------------------

refused() { # refused TEXT OPTIONS...: exit code 2, and no file
    expect 2 "$1" convert "${@:2}"
    check "nothing is left of it: $1" [ -z "$(ls | grep '^never\|\.tmp$')" ]
}
refused 'give -o' norm.onnx
refused 'is the model itself' norm.onnx -o ./norm.onnx
refused 'No such file' norm.onnx -o nowhere/never.onnx
refused 'is a folder' norm.onnx -o .
refused 'opset 12: files are written in opsets 13 to 27' norm.onnx -o never.onnx --opset 12
refused 'opset 28' norm.onnx -o never.onnx --opset 28
refused 'no input leaves its first size open' norm.onnx -o never.onnx --batch 2
refused "no input has a dimension named 'M'" open.onnx -o never.onnx --dim M=2
refused 'does not fit' open.onnx -o never.onnx --fix-shape x=2,5
refused "no input 'z'" open.onnx -o never.onnx --fix-shape z=2,5
model 20 'Gelu x[1,4] -> y' gelu.onnx
refused 'opset 17 lacks the operator; opset 20 has it' gelu.onnx -o never.onnx --opset 17
printf 'no model' >text.onnx
refused 'text.onnx' text.onnx -o never.onnx
finish
