#!/usr/bin/env bash
# Every shader that the tests gave to the driver goes through glslangValidator as strict GLSL ES 3.00, so that a lenient
# driver hides nothing. Mesa writes them to the folder shaders/ of the build; CTest runs the tests of gles before this.
source "$(dirname "$0")/support/common.sh"
shaders=$build/shaders

has_device gles || { lacking 'a gles device' "${TSR_REQUIRE_DRIVER:-}"; finish; }
command -v glslangValidator >/dev/null || {
    lacking 'glslangValidator; on Debian: apt install glslang-tools' "${TSR_REQUIRE_DRIVER:-}"
    finish
}
for stage in FS:frag VS:vert; do
    # Without those that test_gpu_custom breaks.
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

# Is the line, a grep pattern, in one of the shaders?
seen() { # seen NAME LINE
    if grep -rqx -e "$2" "$shaders"; then report yes "$1"; else report no "no shader with $1"; fi
}
# Each file's text begins with its name (tools/cmake/kernels.py): a file in no shader is one that no test runs.
for file in "$source"/glsl/*.glsl; do
    name=$(basename "$file")
    seen "$name" "// glsl/$name"
done
for planes in 1 2 4 8; do seen "$planes planes" "const int PLANES = $planes;"; done
seen 'a wrapped layout' ' *int i = (p\.y << .*'
finish
