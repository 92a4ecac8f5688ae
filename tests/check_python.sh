#!/usr/bin/env bash
# The Python package: its wheel, installed into a virtual environment, passes tests/python, runs README's and docs/python.md's
# examples, and ONNX's own backend tests, all on cpu, some on gles.
source "$(dirname "$0")/support/common.sh"

if grep -q '^TSR_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
    lacking 'a python3 with sanitizers'
    finish
fi
# The first in PATH may not be Debian's.
for PYTHON in python3 /usr/bin/python3 none; do
    ! $PYTHON -c 'import ensurepip, onnx.backend.test.loader as data; data.load_model_tests(kind="node")' 2>/dev/null || break
done
if [ $PYTHON = none ]; then
    lacking 'numpy, onnx with its tests, venv; on Debian: apt install python3-numpy python3-onnx libonnx-testdata python3-venv' \
        "${TSR_REQUIRE_DRIVER:-}"
    finish
fi
export PYTHON PYTHON_OUT=$folder/wheel PYTHONDONTWRITEBYTECODE=1 GALLIVM_PERF=nopt
CC=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
export CC

check 'the wheel is made' "$source/tools/python.sh" wheel
check 'the wheel is installed, tests/python pass' "$source/tools/python.sh" test
python=$PYTHON_OUT/venv/bin/python

# Comments of the examples say what they print.
run_example() {
    sed -n '/^```python$/,/^```$/{//!p}' "$source/$1" >example.py
    sed -n 's/.*print(.*) *# //p' example.py >expected
    (cd "$source" && "$python" "$folder/example.py") >out 2>err
    if [ -s expected ] && cmp -s expected out; then report yes "$1"; else report no "$1"; fi
}

conformance() { # conformance OPTIONS...
    "$python" "$source/tests/onnx_backend.py" "$@" >out 2>err
    if [ $? = 0 ]; then report yes "$*"; else report no "$*"; fi
    sed '/^FAIL/,$d' out
}
conformance --backend cpu
count=$(grep -o '[0-9]* passed' out)
check "README.md says that $count" grep -q "it passes ${count% passed} on \`cpu\`" "$source/README.md"
every=8
[ "${TSR_TEST_CASES:-}" != all ] || every=1
if has_device gles; then
    conformance --backend gles --every $every
    run_example README.md
    run_example docs/python.md
else
    lacking 'a gles device' "${TSR_REQUIRE_DRIVER:-}"
fi
finish
