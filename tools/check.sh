#!/usr/bin/env bash
# Everything that has to hold before a change is merged: installs what is missing, builds with warnings as errors, runs
# all tests, then all again under sanitizers, then the fuzzer. FUZZ_SECONDS=0 leaves the fuzzer out.
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

echo "== the same under address and undefined sanitizers"
cmake --preset asan >/dev/null
cmake --build --preset asan --parallel "$jobs"
ctest --preset asan --parallel "$jobs"

seconds=${FUZZ_SECONDS:-60}
if [ "$seconds" -gt 0 ]; then
    echo "== fuzzing the ONNX reader for $seconds s"
    cmake --preset fuzz -DTSR_GLES=OFF >/dev/null
    cmake --build --preset fuzz --parallel "$jobs"
    mkdir -p build-fuzz/found # new inputs go there; the seeds come from the test make_corpus
    build-fuzz/fuzz_onnx -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -verbosity=0 \
        -print_final_stats=1 -artifact_prefix=build-fuzz/ build-fuzz/found build-dev/corpus \
        >build-fuzz/log 2>&1 || { tail -n 60 build-fuzz/log; exit 1; }
    grep '^stat::' build-fuzz/log
fi
echo "All checks passed."
