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

# ---- weights in fewer bits -----------------------------------------------------------------------------

# of_json FILE EXPRESSION: prints what Python makes of the report r
of_json() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }
# below FORMAT MOST MODEL OPTIONS...: the outputs are off by that at most, measured with what was written
below() {
    expect 0 'before)' convert "$3" -o packed.onnx --weights "$1" --json report.json "${@:4}"
    check "$3 as $1 ${*:4}: every layer is packed" \
        [ "$(of_json report.json 'len(r["layers"]) > 0 and all(l["format"] != "as it is" for l in r["layers"])')" = True ]
    check "$3 as $1 ${*:4}: error below $2" \
        [ "$(of_json report.json "max(o['error'] for o in r['outputs']) < $2 and max(l['output_error'] for l in r['layers']) < $2")" = True ]
}
model 17 'Conv x[1,3,8,8] w{16,3,3,3} b{16} -> c pads=1,1,1,1; Relu c -> r; ConvTranspose r v{16,9,3,3} -> y group=2' conv.onnx
model 17 'MatMul x[3,40] w{40,24} -> a; Gemm a v{30,24} -> y transB=1' matmul.onnx
model 17 'Gather t{130,24} i:int64[5] -> a axis=0; Conv x[5,24,1] v{12,24,1} -> b; Flatten b -> c; MatMul c u{12,24} -> d; Add a d -> y' table.onnx
for name in conv matmul table; do
    below fp16 0.001 $name.onnx
    below int8 0.02 $name.onnx
    below int8 0.02 $name.onnx --zero-points
    for block in 32 64 128; do below int4 0.3 $name.onnx --block $block; done
    below int4 0.3 $name.onnx --zero-points --opset 23
done
expect 0 'as asked' convert conv.onnx -o kept.onnx --weights int8 --keep Conv0
check 'a layer that is kept has its weights as they were' sh -c "'$tool' info kept.onnx --backend cpu | grep -q 'DequantizeLinear 1'"
expect 0 'its error is above the tolerance' convert conv.onnx -o kept.onnx --weights int8 --tolerance 0.0001
check 'none is packed then' sh -c "! '$tool' info kept.onnx --backend cpu | grep -q DequantizeLinear"
expect 0 '        -' convert conv.onnx -o packed.onnx --weights int8 --no-measure
expect 0 '' convert open.onnx -o open_too.onnx --weights int8 --batch 3

# ---- activations of 8 bits -----------------------------------------------------------------------------

# numbers FOLDER SHAPE COUNT: files of random numbers, each of another seed
numbers() {
    mkdir -p "$1"
    model 17 "Neg x[$2] -> y" numbers.onnx
    for ((seed = 1; seed <= $3; seed++)); do "$tool" run numbers.onnx --random --seed $seed -o "$1/$seed.npy" --backend cpu >out; done
}
quantize() { expect 0 "$1" convert "$2" -o quantized.onnx --quantize static --json report.json "${@:3}"; } # quantize TEXT MODEL OPTIONS...
numbers pictures 1,3,8,8 3
numbers vectors 3,40 3
model 17 'Conv x[1,3,8,8] w{4,3,3,3} b{4} -> c pads=1,1,1,1; Relu c -> r; MaxPool r -> p kernel_shape=2,2; ConvTranspose p v{4,9,3,3} d{9} -> t; Conv t u{5,9,1,1} -> y' chain.onnx
for method in minmax percentile entropy; do
    for name in chain:pictures conv:pictures matmul:vectors; do
        quantize "calibrated with 3 of ${name#*:}: $method" ${name%:*}.onnx --calibrate ${name#*:} --calibration $method
        check "${name%:*} with $method: every layer has 8 bits, and errors are small" [ "$(of_json report.json \
            'all(l["format"] == "int8 QDQ" and l["output_error"] < 0.04 for l in r["layers"]) and r["outputs"][0]["error"] < 0.06')" = True ]
        check "${name%:*} with $method: the report tells how" [ "$(of_json report.json 'list(r["calibration"].values())')" = \
            "['$method', '${name#*:}', 3]" ]
    done
done
quantize '' chain.onnx --calibrate pictures
check 'one pair for each tensor that a layer reads or makes for the next' [ "$(operators quantized.onnx)" = \
    'Relu 1, Conv 2, ConvTranspose 1, MaxPool 1, DequantizeLinear 9, QuantizeLinear 4' ]
quantize 'as asked' chain.onnx --calibrate pictures --keep Conv0
check 'a layer that is kept reads floats' [ "$(operators quantized.onnx)" = \
    'Relu 1, Conv 2, ConvTranspose 1, MaxPool 1, DequantizeLinear 6, QuantizeLinear 3' ]
quantize 'its error is above the tolerance' chain.onnx --calibrate pictures --tolerance 0.0001
check 'no layer has 8 bits then' [ "$(operators quantized.onnx)" = "$(operators chain.onnx)" ]
quantize '        -' chain.onnx --calibrate pictures --no-measure
quantize '' chain.onnx --calibrate pictures --calibration percentile --percentile 90
check 'numbers outside the range cost' [ "$(of_json report.json 'r["outputs"][0]["error"] > 0.06')" = True ]
model 17 'MatMul a[3,40] w{40,6} -> c; MatMul b[3,40] v{40,6} -> d; Mul c d -> m; MatMul m u{6,9} -> y' two.onnx
mkdir -p both
cp -r vectors both/a
cp -r vectors both/b
quantize 'calibrated with 3 of both' two.onnx --calibrate both
quantize 'calibrated with 3 of vectors' two.onnx --calibrate vectors -i a=vectors/1.npy
model 17 'Conv x[N,3,H,H] w{4,3,3,3} -> y' sizes.onnx
quantize '' sizes.onnx --calibrate pictures
check 'open sizes stay open' sh -c "'$tool' info quantized.onnx --backend cpu | grep -qF 'x: float32 [N, 3, H, H]'"
model 17 'MatMul x[3,40] y[40,3] -> z' product.onnx
mkdir -p factors
cp -r vectors factors/x
numbers factors/y 40,3 3
quantize 'int8 QDQ' product.onnx --calibrate factors
quantize '' chain.onnx --calibrate pictures
if [ -n "${TSR_REQUIRE_DRIVER:-}" ] && "$tool" devices 2>err | grep -q gles; then
    expect 0 '' compare quantized.onnx -i pictures/1.npy --backends cpu,gles
fi

# ---- real networks -------------------------------------------------------------------------------------

models=${TSR_MODELS:-$source/../shared/models}
[ -d "$models" ] || models=$source/../../shared/models
if [ -e "$models/index.json" ]; then
    networks=(anime4k_upscale_cnn_x2_m mnist_cntk mobilenet_v1_025_imagenet resnet20_cifar10 ppocr_cls_mbv3 yunet_n_320)
    [ "${TSR_TEST_CASES:-}" != all ] || networks=($(cd "$models" && ls -d */ | tr -d /))
    for name in "${networks[@]}"; do
        from=$models/$name inputs=() outputs=() expected=()
        for i in $(seq 0 $(($(ls "$from"/input_*.npy | wc -l) - 1))); do inputs+=(-i "$from/input_$i.npy"); done
        for i in $(seq 0 $(($(ls "$from"/output_*.npy | wc -l) - 1))); do
            outputs+=(-o "output_$i.npy")
            expected+=(--expect "output_$i.npy")
        done
        check "$name runs" "$tool" run "$from/model.onnx" "${inputs[@]}" "${outputs[@]}" --backend cpu
        check "$name is converted" "$tool" convert "$from/model.onnx" -o network.onnx
        check "$name: the converted one computes the same" \
            "$tool" compare network.onnx "${inputs[@]}" "${expected[@]}" --backends cpu --atol 1e-5 --rtol 0
        check "$name as int8" "$tool" convert "$from/model.onnx" -o network.onnx --weights int8 "${inputs[@]}" --json report.json
        [ "$(ls "$from"/input_*.npy | wc -l)" != 1 ] || {
            rm -rf usual && mkdir usual && cp "$from/input_0.npy" usual
            check "$name in 8 bits" "$tool" convert "$from/model.onnx" -o network.onnx --quantize static --calibrate usual --json quantized.json
            check "$name in 8 bits: every layer, and no layer is far off" [ "$(of_json quantized.json \
                'all(l["format"] == "int8 QDQ" and l["output_error"] < 0.2 for l in r["layers"])')" = True ]
            echo "$name in 8 bits: $(of_json quantized.json '"error %.3g" % max(o["error"] for o in r["outputs"])')"
        }
        echo "$name as int8: $(of_json report.json '"error %.3g, %d of %d bytes" % (max(o["error"] for o in r["outputs"]), r["bytes"], r["bytes_before"])')"
    done
    from=$models/mobilenet_v1_025_imagenet
    expect 0 'the same best class for 1 of 1' convert "$from/model.onnx" -o network.onnx --weights int8 -i "$from/input_0.npy"
    expect 0 '' convert "$from/model.onnx" -o network.onnx --weights int4 --tolerance 0.1 -i "$from/input_0.npy" --json report.json
    check 'some layers stay, the others are within the tolerance' [ "$(of_json report.json \
        'len({l["format"] for l in r["layers"]}) == 2 and all((l["output_error"] <= 0.1) == (l["format"] == "int4") for l in r["layers"])')" = True ]
else
    lacking "the networks ($models)"
fi

# ---- bad input ---------------------------------------------------------------------------------------

refused() { # refused TEXT OPTIONS...: exit code 2, and no file
    expect 2 "$1" convert "${@:2}"
    check "nothing is left of it: $1" [ -z "$(ls | grep '^never\|\.tmp$')" ]
}
refused 'give -o' norm.onnx
refused 'is the model itself' norm.onnx -o ./norm.onnx
refused 'Not a directory' norm.onnx -o norm.onnx/never.onnx
refused 'is a folder' norm.onnx -o .
refused 'opset 12: files are written in opsets 13 to 27' norm.onnx -o never.onnx --opset 12
refused 'opset 28' norm.onnx -o never.onnx --opset 28
refused 'no input leaves its first size open' norm.onnx -o never.onnx --batch 2
refused "no input has a dimension named 'M'" open.onnx -o never.onnx --dim M=2
refused 'does not fit' open.onnx -o never.onnx --fix-shape x=2,5
refused "no input 'z'" open.onnx -o never.onnx --fix-shape z=2,5
model 20 'Gelu x[1,4] -> y' gelu.onnx
refused "'int5' is not one of" conv.onnx -o never.onnx --weights int5
refused 'blocks of 16 weights' conv.onnx -o never.onnx --weights int4 --block 16
refused 'only int4 weights are in blocks' conv.onnx -o never.onnx --weights int8 --block 32
refused 'opset 20 cannot have such weights' conv.onnx -o never.onnx --weights int4 --opset 20
refused "no node is named 'Conf0' whose weights could stay; similar names: 'Conv0'" conv.onnx -o never.onnx --weights int8 --keep Conf0
refused 'nothing to keep' conv.onnx -o never.onnx --keep Conv0
refused "--tolerance" conv.onnx -o never.onnx --weights int8 --tolerance much
refused 'a tolerance needs inputs' conv.onnx -o never.onnx --weights int8 --tolerance 0.1 --no-measure
refused 'the model is quantized already: node' packed.onnx -o never.onnx --weights fp16
refused '--fix-shape x=N,N..' open.onnx -o never.onnx --weights int8
refused 'No such file' conv.onnx -o never.onnx --weights int8 -i nothing.npy
refused 'Not a directory' conv.onnx -o never.onnx --json norm.onnx/report.json
refused 'opset 17 lacks the operator; opset 20 has it' gelu.onnx -o never.onnx --opset 17
quantized() { refused "$1" "${2:-chain.onnx}" -o never.onnx --quantize static "${@:3}"; } # quantized TEXT MODEL OPTIONS...
quantized 'needs files of usual inputs: --calibrate FOLDER'
quantized 'nowhere: is no folder' chain.onnx --calibrate nowhere
quantized 'chain.onnx: is no folder' chain.onnx --calibrate chain.onnx
mkdir -p empty wrong mixed endless broken
quantized 'empty: holds no picture, .npy or .pb file' chain.onnx --calibrate empty
quantized 'vectors/1.npy: is [3, 40], but input' chain.onnx --calibrate vectors
cp pictures/1.npy mixed/a.npy
cp vectors/1.npy mixed/b.npy
quantized 'mixed/b.npy: is [3, 40]' chain.onnx --calibrate mixed
cp pictures/1.npy broken/a.npy
printf 'no numbers' >broken/b.npy
quantized 'broken/b.npy' chain.onnx --calibrate broken
model 17 'Log x[1,3,8,8] -> y' log.onnx
"$tool" run log.onnx -i pictures/1.npy -o endless/a.npy --backend cpu --allow-nan >out 2>err
quantized "endless/a.npy: input 'x' holds NaN" chain.onnx --calibrate endless
quantized "endless/a.npy: input 'x' has NaN" chain.onnx --calibrate endless --allow-nan
model 17 'Conv x[1,3,8,8] w{4,3,1,1} -> c; Log c -> l; Conv l v{2,4,1,1} -> y' nan.onnx
quantized "pictures/1.npy: node 'Log1' (Log): its output 'l' has NaN" nan.onnx --calibrate pictures
quantized "both/x: no such folder: each of the 2 inputs" product.onnx --calibrate both
mkdir -p uneven/a uneven/b
cp vectors/1.npy uneven/a
cp vectors/[12].npy uneven/b
quantized "input 'b' has 2 files, but input 'a' has 1" two.onnx --calibrate uneven
quantized '-i gives all inputs' chain.onnx --calibrate pictures -i pictures/1.npy
quantized "'mean' is not one of" chain.onnx --calibrate pictures --calibration mean
quantized 'only that calibration has a percentile' chain.onnx --calibrate pictures --percentile 99
quantized 'not one of 50 to 100' chain.onnx --calibrate pictures --calibration percentile --percentile 101
quantized 'has weights of int8' chain.onnx --calibrate pictures --weights int4
quantized 'have zero points' chain.onnx --calibrate pictures --zero-points
quantized 'a tolerance needs to be measured' chain.onnx --calibrate pictures --no-measure --tolerance 0.1
quantized 'the model is quantized already' quantized.onnx --calibrate pictures
quantized "no node is named 'Conf0'" chain.onnx --calibrate pictures --keep Conf0
refused '--calibrate is for --quantize static' chain.onnx -o never.onnx --calibrate pictures
refused '--calibration is for --quantize static' chain.onnx -o never.onnx --calibration entropy
printf 'no model' >text.onnx
refused 'text.onnx' text.onnx -o never.onnx
finish
