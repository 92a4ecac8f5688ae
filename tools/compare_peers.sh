#!/usr/bin/env bash
# Tessera beside TF.js and ONNX Runtime, natively and in Chromium, on the same models and drivers without a GPU.
set -euo pipefail
usage="Usage: tools/compare_peers.sh [OPTIONS] [MODEL.onnx...]

Installs and builds what is missing, then measures, in turns: Tessera (gles, webgpu), ONNX Runtime's own WebGPU provider, and in
Chromium Tessera, TF.js and ONNX Runtime Web, with WebGL on llvmpipe and on SwiftShader and with WebGPU on SwiftShader. The table
is printed as Markdown, progress on stderr. Models, if none is named: an autoencoder (ae) and pix2pix with 16 and 64 channels.

  --quick        one start and three rounds, without pix64
  --starts N     first runs of each, with empty caches (3)
  --runs N       rounds, in each of which every engine runs twice; the second run counts (9)
  --seconds S    for the runs of an engine, about: slow ones do fewer rounds (240)
  --limit S      after which an engine has failed (120)
  --only REGEX   engines whose names match, such as 'tfjs webgl, page, GL on llvmpipe'
  --help"
cd "$(dirname "$0")/.."
source tools/packages.sh

options=() models=() quick=
while [ $# -gt 0 ]; do
    case $1 in
    --help) echo "$usage"; exit ;;
    --quick) quick=yes options=(--starts 1 --runs 3 "${options[@]}") ;;
    --starts | --runs | --seconds | --limit | --only)
        [ $# -gt 1 ] || { echo "compare_peers.sh: $1 expects a value" >&2; exit 2; }
        options+=("$1" "$2")
        shift ;;
    -*) echo "$usage" >&2; exit 2 ;;
    *) models+=("$(realpath -e "$1")") ;;
    esac
    shift
done

# What cannot be had is told in the rows that need it.
quietly() { "$@" >&2 || echo "compare_peers.sh: failed: $*" >&2; }
build_tessera() {
    cmake --preset release -DTSR_WEBGPU=ON -DTSR_BUILD_DEMOS=OFF && cmake --build --preset release --parallel "$(nproc)"
}
build_web() { # the file that it writes last is older than a source?
    [ -e build-web/version.mjs ] && [ -z "$(find src glsl wgsl tools/web.sh -newer build-web/version.mjs -print -quit)" ] ||
        tools/web.sh build
}
need_packages "${build_packages[@]}" "${driver_packages[@]}" git >&2
export VK_ICD_FILENAMES=$swiftshader TSR_BUILD_DIR=$PWD/build
quietly need_webgpu
quietly need_web
quietly need_pages
quietly tools/get-npm.sh "$PWD/build-web/peers" tools/compare_peers
build_tessera >&2
quietly build_web
[ ! -e build-web/peers/complete ] || export PEERS=$PWD/build-web/peers
TESSERA=$PWD/build/tessera quietly tools/web.sh pages

if [ ${#models[@]} = 0 ]; then
    mkdir -p build-web/measured
    make_models=build/make_models
    $make_models autoencoder -o build-web/measured/ae.onnx
    $make_models pix2pix --ngf 16 -o build-web/measured/pix16.onnx
    $make_models pix2pix --ngf 64 -o build-web/measured/pix64.onnx
    models=("$PWD"/build-web/measured/{ae,pix16,pix64}.onnx)
    [ -z "$quick" ] || unset 'models[2]'
fi
exec node tools/compare_peers/measure.mjs "${options[@]}" "${models[@]}"
