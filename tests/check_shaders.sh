#!/usr/bin/env bash
# Every shader that the tests gave to the driver goes through glslangValidator as strict GLSL ES 3.00, so that a lenient
# driver hides nothing. Mesa writes them to the folder shaders/ of the build; what ran before this test is in it too.
source "$(dirname "$0")/support/common.sh"
shaders=$build/shaders
data=/usr/share/libonnx-testdata/data
export MESA_SHADER_DUMP_PATH=$shaders

has_device gles || { lacking 'a gles device' "${TSR_REQUIRE_DRIVER:-}"; finish; }
command -v glslangValidator >/dev/null || {
    lacking 'glslangValidator; on Debian: apt install glslang-tools' "${TSR_REQUIRE_DRIVER:-}"
    finish
}
mkdir -p "$shaders"
# Every operator, planes and layout; whether they pass is their own business.
for test in test_gpu_ops test_gpu_custom; do
    TSR_TEST_BACKEND=gles "$build/$test" >/dev/null 2>&1
done
[ ! -d $data ] || "$tool" check --list "$source/tests/conformance.txt" --root "$data" --backend gles >/dev/null 2>&1
# A window too wide for rows, and the device's own peak.
"$build/make_case" 13 'Conv x[1,4,90,90] w{4,4,3,3} -> y dilations=33,33' wide.onnx
"$tool" bench wide.onnx --runs 1 >/dev/null 2>&1
for stage in FS:frag VS:vert; do
    # Without the one that test_gpu_custom breaks.
    mapfile -t files < <(find "$shaders" -name "${stage%:*}_*.glsl" -exec grep -L missing_name {} +)
    [ ${#files[@]} -gt 0 ] || {
        lacking "shaders of Mesa's" "${TSR_REQUIRE_DRIVER:-}"
        finish
    }
    printf '%s\0' "${files[@]}" | xargs -0 -n 200 glslangValidator -S "${stage#*:}" >all 2>err
    [ $? = 0 ] && valid=yes || valid=no
    grep -E 'ERROR|WARNING' all >out
    report $valid "shaders are GLSL ES 3.00"
    echo "${#files[@]} of ${stage%:*}"
done

# Was each kernel, and each kind of layout, among them?
seen() { # seen NAME LINE
    if grep -qxFr -e "$2" "$shaders"; then report yes "$1"; else report no "no shader with $1"; fi
}
for kernel in "$source"/glsl/*.glsl; do
    seen "$(basename "$kernel")" "$(grep -m 1 '^//' "$kernel")"
done
for planes in 1 2 4 8; do seen "$planes planes" "#define PLANES $planes"; done
seen 'a wrapped layout' '#define O_LINEAR 1'
finish
