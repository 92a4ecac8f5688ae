# Sourced by check_*.sh: the tool, a folder that goes away, results that are counted, and skipping.
#
#     source "$(dirname "$0")/support/common.sh"
#     expect 0 'text' run relu.onnx ...       one result each
#     finish                                  the summary and the exit code

export NODEVICE_SELECT=1 # Mesa's choice among Vulkan devices complains on stderr where there is no desktop
set -u
shopt -s lastpipe # the last command of a pipe counts its results in this shell
SKIPPED=77        # CTest's SKIP_RETURN_CODE
build=${TSR_BUILD_DIR:?names the build folder}
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
tool=$build/tessera
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0 failed=0 missing=

report() { # report GOOD NAME [DETAIL]: yes or no; on "no" the files out and err are shown
    if [ "$1" = yes ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $2${3:+: $3}"
        sed 's/^/    /' out err 2>/dev/null
    fi
}

# expect CODE TEXT ARGUMENTS...: the tool's exit code, and a part of what it prints ("" for anything)
expect() {
    local code=$1 text=$2
    shift 2
    expect_of "tessera $*" "$code" "$text" "$tool" "$@"
}

# expect_of NAME CODE TEXT COMMAND...
expect_of() {
    local name=$1 code=$2 text=$3 got good=no
    shift 3
    "$@" >out 2>err
    got=$?
    if [ $got = "$code" ] && grep -qF -e "$text" out err; then good=yes; fi
    if [ $got = "$code" ] && [ -z "$text" ]; then good=yes; fi
    report $good "$name" "exit code $got, wanted $code and '$text'"
}

check() { # check NAME COMMAND...
    local name=$1
    shift
    if "$@" >out 2>err; then report yes "$name"; else report no "$name"; fi
}

# A .npy file: npy VERSION "$(header DESCR SHAPE)", the elements' bytes on the standard input.
npy() {
    local length=${#2}
    printf '\x93NUMPY'"\\x$(printf %02x "$1")"'\x00'
    printf "\\x$(printf %02x $((length % 256)))\\x$(printf %02x $((length / 256)))"
    [ "$1" = 1 ] || printf '\x00\x00'
    printf '%s' "$2"
    cat
}

zeros() { head -c "$1" /dev/zero; }
header() { printf "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" "$1" "$2"; }

# lacking WHAT [REQUIRED]: something that the test cannot do without is not here; a failure where REQUIRED is not empty
lacking() {
    if [ -n "${2:-}" ]; then
        report no "$1"
    else
        echo "left out: $1"
        missing=yes
    fi
}

has_device() { "$tool" devices 2>/dev/null | grep "^$1 " | grep -vq 'not available'; } # has_device BACKEND

# Sets the array gpus to the GPU backends of this build that have a device here; others of the build are lacking, a
# failure where TSR_REQUIRE_DRIVER is set.
find_gpus() {
    local backend
    gpus=()
    check 'tessera devices' "$tool" devices
    for backend in gles webgpu; do
        grep -q "^$backend " out || continue
        if has_device $backend; then gpus+=($backend); else lacking "a $backend device" "${TSR_REQUIRE_DRIVER:-}"; fi
    done
}

# Where EGL is found, Dawn looks for adapters there too; unloading it then, it leaves Mesa's displays behind, which leak
# checkers count.
no_egl=__EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent

finish() {
    echo "$passed passed, $failed failed${missing:+, some left out}"
    [ $failed = 0 ] || exit 1
    [ -z "$missing" ] || exit $SKIPPED
    exit 0
}
