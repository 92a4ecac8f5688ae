#!/usr/bin/env bash
# Networks written as exporters write them: GPUs against the cpu backend, fp32 and fp16. MobileViT and ViT run without a
# node on the CPU; of the tagger it takes the words from the embedding's table.
source "$(dirname "$0")/support/common.sh"
find_gpus
printf -v backends ',%s' cpu "${gpus[@]}"
backends=${backends#,}

words() { # words BATCH LENGTH: 0 to 199, as int64
    local i
    for ((i = 0; i < $1 * $2; i++)); do printf "\\x$(printf %02x $(((i * 37 + 11) % 200)))\0\0\0\0\0\0\0"; done |
        npy 1 "$(header '<i8' "$1, $2")"
}

within() { # within NAME ARGUMENTS...: of tessera compare
    local name=$1
    shift
    check "$name, fp32" "$tool" compare --poison --rtol 0 --atol 1e-4 --backends "$backends" "$@"
    check "$name, fp16" "$tool" compare --poison --rtol 0 --atol 1e-2 --precision fp16 --backends "$backends" "$@"
}

for model in 'mobilevit --size 40' 'vit --size 40' tagger; do
    check "make_models $model" "$build/make_models" $model --seed 3 -o "${model%% *}.onnx"
    check "$model, again" "$build/make_models" $model --seed 3 -o again.onnx
    check "$model: the same file" cmp "${model%% *}.onnx" again.onnx
done
expect_of 'a size of 0' 2 'mobilevit' "$build/make_models" mobilevit --size 0 -o none.onnx
expect_of 'a size that patches do not divide' 2 'vit' "$build/make_models" vit --size 36 -o none.onnx

words 3 11 >words.npy
words 1 1 >word.npy
if [ ${#gpus[@]} -gt 0 ]; then
    within MobileViT mobilevit.onnx
    within 'ViT, 3 pictures' vit.onnx --dim batch=3
    within 'tagger, 3 lines of 11 words' tagger.onnx -i words.npy --allow-cpu-fallback
    within 'tagger, one word' tagger.onnx -i word.npy --allow-cpu-fallback
fi
finish
