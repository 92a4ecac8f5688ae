#!/bin/bash
# --custom-ops: the examples of docs/custom-ops.md, a shared object and a text file, on every backend; bad files.
source "$(dirname "$0")/support/common.sh"

fenced() { # fenced LANGUAGE: the first such block of the document
    awk -v fence="\`\`\`$1" '/^```$/ && inside { exit } inside; $0 == fence { inside = 1 }' "$source/docs/custom-ops.md"
}
fenced c >halve.c
fenced '' >vignette.ops

compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
build_object() { # build_object NAME OPTIONS...
    "$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$source/src" -shared -fPIC "${@:2}" -o "$1.so" || exit 1
}
build_object halve halve.c
echo 'int nothing;' | build_object without -xc -
sed 's/sizeof ops\[0\]/8/' halve.c | build_object older -xc -
sed 's/\*count = 1/*count = 0/' halve.c | build_object empty -xc -

"$build/make_case" 13 'demo:Halve x[1,3,5,7] -> y' halve.onnx
"$build/make_case" 13 'demo:Vignette x[1,3,5,7] -> y strength=2' vignette.onnx
# Loops, which llvmpipe's compiler took minutes for where a program repeated them for each plane of its textures.
"$build/make_case" 13 'demo:Blur x[1,3,33,35] -> y' blur.onnx
cat >blur.ops <<'end'
[demo:Blur]
glsl:
    float sum = 0.0;
    for (int i = -2; i <= 2; i++)
        for (int j = -2; j <= 2; j++)
            sum += IN0(n, c, y + i, x + j);
    return sum / 25.0;
wgsl:
    var sum = 0.0;
    for (var i = -2; i <= 2; i++) { for (var j = -2; j <= 2; j++) { sum += IN0(n, c, y + i, x + j); } }
    return sum / 25.0;
end

expect 2 'not supported: operator demo.Halve' run halve.onnx --random
expect 0 'y' run halve.onnx --custom-ops halve.so --random --backend cpu -o cpu.npy
expect 0 'Halve' info halve.onnx --custom-ops "$PWD/halve.so"
for backend in gles webgpu; do
    "$tool" devices 2>&1 | grep -q "^$backend" || continue
    expect 0 'within tolerance' compare halve.onnx --custom-ops halve.so --backends "cpu,$backend"
    for op in vignette blur; do
        expect 0 'ran on' run $op.onnx --custom-ops $op.ops --random --backend $backend -o $op-$backend.npy
    done
done
for op in vignette blur; do
    [ ! -e $op-gles.npy ] || [ ! -e $op-webgpu.npy ] ||
        expect 0 'within tolerance' compare $op.onnx --custom-ops $op.ops --backends webgpu --expect $op-gles.npy
done
expect 2 'has shader bodies only' run vignette.onnx --custom-ops vignette.ops --random --backend cpu

bad() { # bad MESSAGE TEXT: of a text file
    printf "$2" >bad.ops
    expect 2 "$1" run vignette.onnx --custom-ops bad.ops --random
}
expect 2 'missing.so' run halve.onnx --custom-ops missing.so --random
expect 2 'exports no function tessera_custom_ops' run halve.onnx --custom-ops without.so --random
expect 2 'tessera.h of another version' run halve.onnx --custom-ops older.so --random
expect 2 'returns no operator' run halve.onnx --custom-ops empty.so --random
head -c 200 halve.so >cut.so
expect 2 'cut.so' run halve.onnx --custom-ops cut.so --random
expect 2 'neither a shared object nor text' run halve.onnx --custom-ops halve.onnx --random
bad 'there is no operator' ''
bad "bad.ops:1: no [domain:Name] before 'glsl:'" 'glsl:\n return 1.0;\n'
bad "bad.ops:2: not [domain:Name]: '[demo:]'" '# one\n[demo:]\n'
bad 'Vignette has no body' '[demo:Vignette]\nattr strength 1\n'
bad "bad.ops:2: no body follows 'glsl:'" '[demo:Vignette]\nglsl:\nwgsl:\n return 1.0;\n'
bad "bad.ops:4: a second body 'glsl:'" '[demo:Vignette]\nglsl:\n return 1.0;\nglsl:\n return 2.0;\n'
bad "bad.ops:2: not attr NAME NUMBER: 'attr strength much'" '[demo:Vignette]\nattr strength much\nglsl:\n return 1.0;\n'
bad "bad.ops:2: not inputs LEAST MOST: 'inputs two'" '[demo:Vignette]\ninputs two\nglsl:\n return 1.0;\n'
bad "bad.ops:2: not inputs LEAST MOST: 'inputs 12'" '[demo:Vignette]\ninputs 12\nglsl:\n return 1.0;\n'
bad "bad.ops:2: unknown: 'output 3'" '[demo:Vignette]\noutput 3\nglsl:\n return 1.0;\n'
bad 'attribute' '[demo:Vignette]\nattr a__b 1\nglsl:\n return 1.0;\n'
finish
