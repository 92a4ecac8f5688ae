#!/usr/bin/env bash
# Everything that has to hold before a change is merged: installs what is missing, builds with warnings as errors, runs
# all tests, then the CPU-side ones again under sanitizers, then the fuzzer. FUZZ_SECONDS=0 leaves the fuzzer out.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/packages.sh
need_packages "${build_packages[@]}" "${driver_packages[@]}" g++ clang libclang-rt-dev libcmocka-dev \
    libonnx-testdata glslang-tools
jobs=$(nproc)

# Here a missing driver is a failure; elsewhere such tests are skipped.
export TSR_REQUIRE_DRIVER=1

echo "== build and test"
cmake --preset dev >/dev/null
cmake --build --preset dev --parallel "$jobs"
ctest --preset dev --parallel "$jobs"

echo "== address and undefined sanitizers, CPU side"
cmake --preset asan -DTSR_GLES=OFF >/dev/null
cmake --build --preset asan --parallel "$jobs"
env -u TSR_REQUIRE_DRIVER ctest --preset asan --parallel "$jobs"

seconds=${FUZZ_SECONDS:-60}
if [ "$seconds" -gt 0 ]; then
    echo "== fuzzing the ONNX reader for $seconds s"
    cmake --preset fuzz -DTSR_GLES=OFF >/dev/null
    cmake --build --preset fuzz --parallel "$jobs"
    found=$(mktemp -d) # new inputs go there, not into the corpus
    build-fuzz/fuzz_onnx -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=20 -print_final_stats=1 \
        -verbosity=0 -artifact_prefix=build-fuzz/ "$found" tests/corpus
    rm -rf "$found"
fi
echo "All checks passed."
