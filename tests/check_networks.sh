#!/usr/bin/env bash
# Whole networks on cpu and the GPU backends: those of $TSR_MODELS and the trained generator against stored outputs,
# with their multiply-adds and memory; the seeded U-Net-256 on GPUs against cpu. Lacking models are a failure where CI
# is set.
source "$(dirname "$0")/support/common.sh"
models=${TSR_MODELS:-$source/../shared/models}
generator=$models/../generator
find_gpus
printf -v backends ',%s' cpu "${gpus[@]}"
backends=${backends#,}

within() { # within NAME ARGUMENTS...: of tessera compare
    local name=$1
    shift
    "$tool" compare --poison "$@" >out 2>err && report yes "$name" || report no "$name"
    printf '%-34s %s\n' "$name" "$(tail -n 1 out)"
}

# of NETWORK KEY: the values of a key in index.json, which has one pair a line
of() {
    awk -v network="\"$1\":" -v key="\"$2\":" '/^ "/ { inside = $1 == network }
        inside && $1 == key { sub(/,$/, "", $2); print $2 }' "$models/index.json"
}

# Tensors take little more than must be alive at once: at most 1.15 times as much.
tight() { # tight NAME ARGUMENTS...: of tessera info
    local name=$1 gpu precision where slack=1.16 # of rounded numbers
    shift
    for where in "${gpus[@]/%/ fp32}" "${gpus[@]/%/ fp16}"; do
        read -r gpu precision <<<"$where"
        "$tool" info "$@" --backend "$gpu" --precision "$precision" >out 2>err
        awk -v gpu="$gpu" -v slack="$slack" '
            BEGIN { unit["B"] = 1; unit["KiB"] = 1024; unit["MiB"] = 1048576 }
            $1 == gpu { n++; taken = $5 * unit[$6]; bound = $7 * unit[$8] }
            END { exit !(n == 1 && taken > 0 && taken <= slack * bound) }' out && report yes "$name" || report no "$name: memory on $where"
    done
}

# tensor_bytes BACKEND: of the table that info printed
tensor_bytes() {
    awk -v gpu="$1" 'BEGIN { unit["B"] = 1; unit["KiB"] = 1024; unit["MiB"] = 1048576 }
        $1 == gpu { print $5 * unit[$6]; exit }' out
}

# Networks that 16 bits are hard for: outputs within 1e-2 of their largest element once calibrated, with at most 1.25 times
# the memory of 16 bits. MediaPipe's selfie segmentation stays out: its mask has a step that any rounding moves.
trusted() { # trusted NAME ARGUMENTS...
    local name=$1 gpu half
    local -x TSR_CACHE= XDG_CACHE_HOME=$PWD/cache # where info finds what compare chose
    shift
    case $name in doodlenet | mediapipe_face_detection_short | mobilenet_v1_025_imagenet | ppocr_cls_mbv3 | ultraface_rfb320 | yunet_n_320) ;;
        *) return ;; esac
    for gpu in "${gpus[@]}"; do
        within "$name, $gpu, auto" "$models/$name/model.onnx" "$@" --backends "cpu,$gpu" --precision auto --rtol 0 --atol 1e-2
        "$tool" info "$models/$name/model.onnx" "$@" --backend "$gpu" --precision fp16 >out 2>err
        half=$(tensor_bytes "$gpu")
        "$tool" info "$models/$name/model.onnx" "$@" --backend "$gpu" --precision auto >out 2>err
        grep -q ': calibrated, outputs' out && awk -v auto="$(tensor_bytes "$gpu")" -v half="$half" \
            'BEGIN { exit !(half > 0 && auto > 0 && auto <= 1.26 * half) }' && report yes "$name, $gpu, auto: memory" ||
            report no "$name, $gpu, auto: memory"
    done
}

# The tolerance's floor is how far the reference itself moves, output by output.
network() { # network NAME
    local name=$1 arguments=() inputs file outputs noises i macs wanted
    for file in "$models/$name"/input_*.npy; do arguments+=(-i "$file"); done
    inputs=("${arguments[@]}")
    "$tool" info "$models/$name/model.onnx" "${arguments[@]}" --backend cpu >info 2>err
    mapfile -t outputs < <(sed -n 's/^output  *\(.*\): [a-z]*[0-9]* \[.*/\1/p' info)
    mapfile -t noises < <(of "$name" maxdiff)
    if [ ${#outputs[@]} = 0 ] || [ ${#noises[@]} != ${#outputs[@]} ]; then
        report no "$name" "${#outputs[@]} outputs, ${#noises[@]} in index.json"
        return
    fi
    for i in "${!outputs[@]}"; do
        arguments+=(--expect "${outputs[i]}=$models/$name/output_$i.npy" --floor "${outputs[i]}=${noises[i]}")
    done
    within "$name" "$models/$name/model.onnx" "${arguments[@]}" --backends "$backends"
    tight "$name" "$models/$name/model.onnx" "${inputs[@]}"

    trusted "$name" "${inputs[@]}"

    macs=$(awk '$1 == "cpu" { print $NF }' info)
    wanted=$(of "$name" macs)
    [ "$name" = ppocr_cls_mbv3 ] && wanted=$((wanted + 400)) # index.json leaves its MatMul out, 200 x 2
    [ "$macs" = "$wanted" ] && report yes "$name" || report no "$name" "$macs multiply-adds instead of $wanted"
}

if [ -f "$models/index.json" ]; then
    while read -r name; do network "$name"; done < <(sed -n 's/^ "\(.*\)": {/\1/p' "$models/index.json")
else
    lacking "the networks ($models); TSR_MODELS names their folder" "${CI:-}"
fi
if [ -d "$generator" ]; then
    for sketch in face fish heart house; do
        within "trial generator, $sketch" "$generator/edges2emoji-trial.onnx" --range -1:1 --threshold 0.6 \
            -i "$generator/sketch_$sketch.png" --expect "$generator/picture_$sketch.npy" --backends "$backends"
    done
else
    lacking "the generator's pictures ($generator)" "${CI:-}"
fi

if [ ${#gpus[@]} -gt 0 ]; then
    for sketch in "$source"/demos/sketches/*.png; do
        within "$(basename "$sketch")" "$source/demos/models/edges2emoji.onnx" --range -1:1 -i "$sketch" \
            --backends "$backends"
    done
    unets=('16 none' '16 batch' '16 instance' '64 none')
    [ "${TSR_TEST_CASES:-}" != all ] || unets+=('64 batch' '64 instance')
    for model in "${unets[@]}"; do
        read -r ngf norm <<<"$model"
        check "make_models $model" "$build/make_models" pix2pix --ngf "$ngf" --norm "$norm" -o unet.onnx
        within "U-Net-256, ngf $ngf, norm $norm" unet.onnx --rtol 0 --atol 1e-4 --backends "$backends"
    done
fi
finish
