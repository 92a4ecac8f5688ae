#!/usr/bin/env bash
# The examples of CONTRIBUTING.md are what is in the tree, and complete: its diff blocks can be taken out of a copy of the
# sources, which then builds without a warning and refuses the operators by name. With their lines in ops.def alone, the build
# names each place that is lacking. 40 s on two cores.
source "$(dirname "$0")/support/common.sh"
data=/usr/share/libonnx-testdata/data/node

command -v patch >/dev/null || { lacking 'patch; on Debian: apt install patch'; finish; }
mkdir copy
cp -r "$source"/{CMakeLists.txt,src,glsl,wgsl,tools,tests} copy
awk '/^```/ { inside = $0 == "```diff"; next } inside' "$source/CONTRIBUTING.md" >examples.diff
check 'the examples can be taken out' patch -R -p1 --fuzz=0 --no-backup-if-mismatch -d copy -i "$folder/examples.diff"

check 'the rest configures' cmake -S copy -B . -DCMAKE_BUILD_TYPE=Debug -DTSR_WERROR=ON -DTSR_GLES=OFF \
    -DTSR_WEBGPU=OFF -DTSR_BUILD_DEMOS=OFF
check 'the rest builds' cmake --build . -j "$(nproc)" --target tessera_tool make_corpus test_infer test_cpu
[ $failed = 0 ] || finish

mkdir -p corpus
check 'every other operator has a seed' ./make_corpus corpus
check 'shapes' ./test_infer
check 'values' ./test_cpu

tool=./tessera
if [ -d $data ]; then
    expect 0 'not supported: operator Abs (1 node' check $data/test_abs --backend cpu
    expect 0 'not supported: operator Trilu (1 node' check $data/test_triu --backend cpu
fi

# ---- lacking places ----------------------------------------------------------------------------------

# lacks WHAT FILE...: with these files of the tree a build fails, which names WHAT
lacks() {
    local what=$1 file
    shift
    for file in "$@"; do cp "$source/$file" "copy/$file"; done
    if cmake --build . -j "$(nproc)" --target tessera_tool >built 2>&1; then report no "a build without $what" 'it passed'; fi
    check "a build names what is lacking: $what" grep -q "$what" built
}
lacks 'ops.def:[0-9]*: error: .*glsl/unary.glsl has no tsr_abs()' src/graph/ops.def
lacks 'wgsl/unary.wgsl has no tsr_abs()' glsl/unary.glsl
lacks abs_float wgsl/unary.wgsl
lacks 'undefined reference to `tsr_cpu_trilu' src/cpu/elementwise.c
check 'the same build: tsr_infer_trilu' grep -q 'undefined reference to `tsr_infer_trilu' built
finish
