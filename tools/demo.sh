#!/usr/bin/env bash
# From a fresh clone to a picture computed by fragment shaders: installs missing packages, builds, and runs
# a Pix2Pix-style generator on a sketch. Needs no display and no GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/packages.sh
need_packages "${build_packages[@]}" "${window_packages[@]}" "${driver_packages[@]}"
need_webgpu || echo "WebGPU is left out; the fragment shaders do not need it"

echo "Building in build/"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DTSR_BUILD_TESTS=OFF >/dev/null
cmake --build build --parallel "$(nproc)" >/dev/null

mkdir -p out
picture=out/emoji_face.png
echo "Running demos/models/edges2emoji.onnx on demos/sketches/sketch_face.png"
run=(build/tessera run demos/models/edges2emoji.onnx -i demos/sketches/sketch_face.png --range -1:1
    -o "$picture")
"${run[@]}" --backend gles
if [ -n "${TSR_WEBGPU_LIBRARY:-}" ]; then
    printf -v settings '%s=%q ' TSR_WEBGPU_LIBRARY "$TSR_WEBGPU_LIBRARY" \
        ${VK_ICD_FILENAMES:+VK_ICD_FILENAMES "$VK_ICD_FILENAMES"}
    echo "The same with compute kernels: $settings${run[*]} --backend webgpu"
fi
[ -z "${DISPLAY:-}" ] || echo "To draw yourself: build/pix2pix"
echo "$PWD/$picture"
