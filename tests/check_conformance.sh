#!/usr/bin/env bash
# ONNX's own tests of the operators in ops.def: all of conformance.txt passes on cpu and on the GPU backends, with NaN in
# everything that a GPU must not read, in the long form without it, too; conformance_fallback.txt where the CPU may help;
# conformance_gradient.txt is of what a page's build lacks.
source "$(dirname "$0")/support/common.sh"
data=/usr/share/libonnx-testdata/data

conformance() { # conformance LIST OPTIONS...
    local list=$source/tests/$1.txt count
    count=$(grep -cv '^#' "$list")
    shift
    "$tool" check --list "$list" --root "$data" "$@" >out 2>err
    if tail -n 1 out | grep -qx "$count passed, 0 failed, 0 skipped"; then
        report yes "$*"
        echo "$*: $count passed"
    else
        sed -i '/^PASS /d' out
        report no "$*" "wanted $count passed"
    fi
}

if [ ! -d $data ]; then
    lacking "ONNX's tests ($data); on Debian: apt install libonnx-testdata" "${TSR_REQUIRE_DRIVER:-}"
    finish
fi
conformance conformance --backend cpu
conformance conformance_fallback --backend cpu
conformance conformance_gradient --backend cpu
find_gpus
for backend in "${gpus[@]}"; do
    few=(check "$data/node/test_sigmoid" --backend "$backend" --rtol 0 --atol 1e-6)
    expect 0 '1 passed' "${few[@]}"
    expect 1 '1 failed' "${few[@]}" --precision fp16 # as 16 bits are
    [ "${TSR_TEST_CASES:-}" != all ] || conformance conformance --backend "$backend"
    conformance conformance --backend "$backend" --poison
    conformance conformance_gradient --backend "$backend" --poison
    conformance conformance_fallback --backend "$backend" --allow-cpu-fallback --poison
done
finish
