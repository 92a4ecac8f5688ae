#!/usr/bin/env bash
# The Python package of src/python as a wheel, made and tested with Debian's python3 only.
set -euo pipefail
usage="Usage: tools/python.sh wheel | test [--help]

  wheel   builds the shared library and packs it with src/python into build-python/*.whl
  test    installs that wheel into a fresh virtual environment and runs tests/python there

In the environment: TSR_BUILD_DIR=FOLDER, a build that has the library (and, for the test, make_case); PYTHON=COMMAND, by default
python3; PYTHON_OUT=FOLDER in place of build-python"
build=${TSR_BUILD_DIR:+$(realpath "$TSR_BUILD_DIR")}
out=${PYTHON_OUT:+$(realpath -m "$PYTHON_OUT")}
cd "$(dirname "$0")/.."
root=$PWD
python=${PYTHON:-python3}
out=${out:-$root/build-python}
abi=$(sed -n 's/^#define TSR_ABI_VERSION //p' src/tessera.h)

build_library() {
    source tools/packages.sh
    need_packages "${build_packages[@]}"
    mkdir -p build-python
    cmake --preset release -B build-python -DTSR_BUILD_TOOLS=OFF -DTSR_BUILD_DEMOS=OFF >build-python/build.log
    cmake --build build-python --target tessera_shared --parallel "$(nproc)" >>build-python/build.log ||
        { cat build-python/build.log; exit 1; }
    build=$root/build-python
}

make_wheel() {
    mkdir -p "$out"
    rm -f "$out"/tessera-*.whl
    [ -n "$build" ] || build_library
    TSR_LIBRARY=$build/libtessera.so.$abi "$python" src/python/wheel_backend.py "$out"
}

# The environment sees Debian's packages: numpy and onnx.
test_wheel() {
    [ -n "$build" ] || { echo "TSR_BUILD_DIR has to name a build with make_case" >&2; exit 2; }
    local wheels=("$out"/*.whl)
    [ -e "${wheels[0]}" ] || { echo "There is no wheel in $out: tools/python.sh wheel makes it" >&2; exit 2; }
    "$python" -m venv --clear --system-site-packages "$out/venv"
    "$out/venv/bin/pip" --quiet --disable-pip-version-check install --no-index "${wheels[0]}"
    unset TSR_LIBRARY PYTHONPATH
    TSR_SOURCE_DIR=$root TSR_BUILD_DIR=$build "$out/venv/bin/python" -m unittest discover --start-directory tests/python
}

case ${1:-} in
wheel) make_wheel ;;
test) test_wheel ;;
--help) echo "$usage" ;;
*) echo "$usage" >&2; exit 2 ;;
esac
