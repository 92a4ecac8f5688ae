#!/usr/bin/env bash
# The examples of CONTRIBUTING.md are complete: its diff blocks, in their order, apply to a copy of the sources, which then
# builds without a warning and computes the new operators. 20 s on two cores.
source "$(dirname "$0")/support/common.sh"
data=/usr/share/libonnx-testdata/data/node

command -v patch >/dev/null || { lacking 'patch; on Debian: apt install patch'; finish; }
mkdir copy
cp -r "$source"/{CMakeLists.txt,src,glsl,wgsl,tools,tests} copy
awk '/^```/ { inside = $0 == "```diff"; next } inside' "$source/CONTRIBUTING.md" >examples.diff
check 'the examples apply' patch -p1 --fuzz=0 --no-backup-if-mismatch -d copy -i "$folder/examples.diff"

gles=$(sed -n 's/^TSR_GLES:BOOL=//p' "$build/CMakeCache.txt")
check 'the examples configure' cmake -S copy -B . -DCMAKE_BUILD_TYPE=Debug -DTSR_WERROR=ON -DTSR_GLES="$gles" \
    -DTSR_WEBGPU=OFF -DTSR_BUILD_DEMOS=OFF
check 'the examples build' cmake --build . -j "$(nproc)" \
    --target tessera_tool make_case make_corpus test_infer test_cpu $([ "$gles" = OFF ] || echo test_gpu_ops)
[ $failed = 0 ] || finish

mkdir -p corpus
check 'every operator has a seed' ./make_corpus corpus
check 'shapes' ./test_infer
check 'values' ./test_cpu

tool=./tessera
find_gpus
for backend in cpu "${gpus[@]}"; do
    [ ! -d $data ] || expect 0 ' 0 failed, 0 skipped' check $data/test_abs $data/test_globalmaxpool* --backend "$backend"
done
for backend in "${gpus[@]}"; do
    while read -r text; do
        check "$text" ./make_case 22 "$text" case.onnx
        expect 0 'within tolerance' compare case.onnx --backends "cpu,$backend"
    done <<'CASES'
Abs x[2,5,7,9] -> y
Conv x[1,3,9,9] w{6,3,3,3} -> c; Abs c -> y
GlobalMaxPool x[2,5,17,11] -> y
CASES
done
finish
