#!/usr/bin/env bash
# Everything that has to hold before a change is merged; its last line says whether all passed, and what was left out.
set -euo pipefail
usage="Usage: tools/check.sh [--all] [--help]

Installs what is missing, builds with warnings as errors, runs all tests, then those of the library as WebAssembly, in node
and in Chromium, then, under address and undefined sanitizers, those that run C of ours: few cases, since the drivers'
work is checked by then; what has threads, under the thread sanitizer, too. Then fuzzes: random graphs on every backend, the
readers of models and other files. tools/soak.sh does that for hours.

  --all           more cases at random, each in every environment; everything once more under sanitizers
  FUZZ_SECONDS=N  in the environment: how long to fuzz, twice; 60 if it is not set, 0 leaves it out"
all=
for argument in "$@"; do
    case $argument in
    --all) all=yes ;;
    --help) echo "$usage"; exit ;;
    *) echo "$usage" >&2; exit 2 ;;
    esac
done
cd "$(dirname "$0")/.."
source tools/packages.sh
need_packages "${build_packages[@]}" "${window_packages[@]}" "${driver_packages[@]}" g++ clang libclang-rt-dev \
    libegl-dev libgles-dev libcmocka-dev libonnx-testdata glslang-tools parallel patch xvfb xdotool x11-utils \
    dpkg-dev fakeroot file lintian python3-numpy python3-onnx python3-venv
# Their packages start daemons, and its test has to be root: only where nobody works.
[ -z "${CI:-}" ] || [ "$(id -u)" -ne 0 ] || need_packages slurmctld slurmd munge
jobs=$(nproc)
left_out=()

webgpu=ON
if [ -n "${VK_ICD_FILENAMES:-}" ] || has_swiftshader; then
    need_webgpu
else
    webgpu=OFF
    left_out+=("the webgpu backend (no SwiftShader here; VK_ICD_FILENAMES chooses another Vulkan driver)")
fi

# Here a missing driver is a failure; elsewhere such tests are skipped.
export TSR_REQUIRE_DRIVER=1

build() { # build PRESET OPTIONS...
    mkdir -p "build-$1"
    { cmake --preset "$@" -DTSR_WEBGPU="$webgpu" && cmake --build --preset "$1" --parallel "$jobs"; } \
        >"build-$1/check-build.log" 2>&1 || { cat "build-$1/check-build.log"; exit 1; }
}

run_tests() { # run_tests PRESET OPTIONS...: of ctest
    ctest --preset "$@" --parallel "$jobs" | tee "build-$1/check-tests.log"
    local skipped
    mapfile -t skipped < <(sed -n "s/.* - \(.*\) (Skipped)$/\1 ($1)/p" "build-$1/check-tests.log")
    left_out+=("${skipped[@]}")
}

# fuzz TARGET SECONDS SEEDS: new inputs are kept
fuzz() {
    local found=build-fuzz/found-$1 log=build-fuzz/$1.log
    mkdir -p "$found"
    "build-fuzz/fuzz_$1" -max_total_time="$2" -rss_limit_mb=2048 -timeout=20 -verbosity=0 -print_final_stats=1 \
        -artifact_prefix=build-fuzz/ "$found" "$3" >"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
    grep '^stat::' "$log"
}

# Files as tests/fuzz_data.c wants them, in this folder.
make_data_seeds() {
    local file
    mkdir -p "$1"
    build-dev/make_case 13 'Relu x[1,3,4,5] -> y' "$1/relu.onnx"
    build-dev/tessera run "$1/relu.onnx" --random --backend cpu -o "$1/y.npy" >/dev/null
    seed() { { printf "\\x0$1"; cat "$2"; } >"$3/$(sha1sum <"$2" | head -c 12)"; }
    seed 0 "$1/y.npy" "$1"
    for file in glsl/*.glsl wgsl/*.wgsl; do seed 2 "$file" "$1"; done
    find /usr/share/libonnx-testdata -name '*.pb' -size -4k | sort | sed -n 1,50p | while read -r file; do seed 1 "$file" "$1"; done
    printf '\xff\xd8\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0' >"$1/photo"
    seed 3 "$1/photo" "$1"
    rm "$1/relu.onnx" "$1/y.npy" "$1/photo"
}

echo "== build and test"
build dev
[ -z "$all" ] || export TSR_TEST_CASES=all
run_tests dev

# The library as WebAssembly. A part that cannot be had here is left out, but not where CI is set.
leave_out() { # leave_out WHAT
    [ -z "${CI:-}" ] || { echo "Not available here: $1" >&2; exit 1; }
    left_out+=("$1")
}

run_web() { # run_web TEST ARGUMENTS...: of tests/web_*.mjs
    local lacking
    echo "-- ${*}"
    TSR_MODELS=$networks timeout 1200 node "tests/web_$1.mjs" "${@:2}" | tee build-web/check-test.log ||
        { echo "Failed, or took more than 1200 s: web_$1.mjs ${*:2}" >&2; exit 1; }
    mapfile -t lacking < <(sed -n 's/^lacking: //p' build-web/check-test.log)
    left_out+=("${lacking[@]}")
}

# Where the networks of TSR_MODELS are not there, some of random weights. small: those for the slower driver.
find_networks() {
    small=(anime4k_upscale_cnn_x2_m doodlenet mediapipe_face_detection_short mediapipe_selfie_landscape mnist_cntk
        mobilenet_v1_025_imagenet ppocr_cls_mbv3 resnet20_cifar10)
    networks=${TSR_MODELS:-$PWD/../shared/models}
    [ ! -d "$networks" ] || return 0
    small=(conv conv_transpose mobile mobile_small)
    networks=$PWD/build-web/networks
    left_out+=("real networks in node and in pages")
    node tests/support/make_networks.mjs build-dev "$networks"
}

test_pages() {
    if ! need_pages; then
        leave_out "tests in Chromium"
        return
    fi
    local test
    [ -z "$all" ] || small=() # all of them
    run_web page llvmpipe webgl
    run_web page swiftshader webgl "${small[@]}"
    run_web page swiftshader webgpu "${small[@]}"
    for test in use official; do
        run_web $test llvmpipe webgl
        run_web $test swiftshader webgpu
    done
    tools/get-npm.sh build-web/node-webgpu tools/node_bench
    run_web subgroup_matrix
    [ -z "$all" ] || run_web official swiftshader webgl
    TESSERA=$PWD/build-dev/tessera tools/web.sh pages
    run_web demos llvmpipe build-web/pages
    run_web package
    TSR_BUILD_DIR=$PWD/build-dev bash tests/check_peers.sh # with pages, which ctest may have been without
}

echo "== as WebAssembly, in node and in pages"
if need_web; then
    tools/web.sh build
    tools/web.sh sizes
    find_networks
    run_web cpu
    run_web official node cpu
    test_pages
else
    leave_out "the web build"
fi

echo "== under address and undefined sanitizers"
build asan
if [ -n "$all" ]; then
    run_tests asan
else
    TSR_TEST_CASES=few run_tests asan --label-exclude drivers
fi

echo "== under the thread sanitizer"
build tsan
TSR_TEST_CASES=few run_tests tsan

seconds=${FUZZ_SECONDS:-60}
if [ "$seconds" -gt 0 ]; then
    echo "== random graphs for $((seconds / 2)) s"
    only=()
    [ "$webgpu" = ON ] || only=(--backend gles)
    TSR_CACHE=off GALLIVM_PERF=nopt build-dev/fuzz_graphs --seconds $((seconds / 2 + 1)) --verbose "${only[@]}" >build-dev/fuzz_graphs.log ||
        { tail -n 40 build-dev/fuzz_graphs.log; exit 1; }
    grep -A 1 ' resident, ' build-dev/fuzz_graphs.log
    echo "== each operator on random inputs"
    TSR_CACHE=off GALLIVM_PERF=nopt build-dev/fuzz_graphs --op all --cases $((seconds / 60 + 1)) "${only[@]}" >build-dev/fuzz_ops.log ||
        { grep -A 3 FAILED build-dev/fuzz_ops.log; exit 1; }
    tail -n 1 build-dev/fuzz_ops.log
    echo "== fuzzing the readers for $seconds s"
    webgpu=OFF build fuzz -DTSR_GLES=OFF
    make_data_seeds build-fuzz/seeds
    fuzz onnx $((seconds * 3 / 4)) build-dev/corpus # which the test make_corpus made
    fuzz data $((seconds / 4)) build-fuzz/seeds
else
    left_out+=("the fuzzer")
fi

if [ ${#left_out[@]} = 0 ]; then
    echo "All checks passed."
else
    printf -v list ', %s' "${left_out[@]}"
    echo "All checks that ran passed. Left out:${list#,}."
fi
