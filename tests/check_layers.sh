#!/usr/bin/env bash
# No layer of src/ includes a higher one, nor one that is not listed here.
set -euo pipefail

# Lowest first. Of files straight in src/ every layer may include tessera.h, api those of primitives, building and training, too.
layers="base graph onnx passes kernel plan algorithm lower backend cpu gpu gles webgpu autotune api web"

# Prints each include in tree $1 that looks upwards.
upward_includes() {
    local file line
    (cd "$1" && grep -rn --include='*.[ch]' --include='*.def' '^ *# *include "' .) |
        awk -v layers="$layers" '
        BEGIN { n = split(layers, name, " "); for (i = 1; i <= n; i++) rank[name[i]] = i }
        function layer(path) { return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : path }
        {
            match($0, /"[^"]+"/)
            included = substr($0, RSTART + 1, RLENGTH - 2)
            file = substr($0, 3, index($0, ":") - 3)
            if (included ~ /^tessera_(primitive|build|train)\.h$/ && file ~ /^api\//)
                next
            if (included ~ /^tessera(_types|_report|_write)?\.h$/ || included == "onnx.pb-c.h" || included == "kernel_list.h" ||
                included == "gl_calls.h")
                next
            from = layer(file); to = layer(included)
            if (!(from in rank) || !(to in rank) || rank[to] > rank[from])
                print $0 "   (" from " must not know " to ")"
        }'
}

# The check itself is checked: one upward include must be found in a tree of two files.
sample=$(mktemp -d)
trap 'rm -rf "$sample"' EXIT
mkdir "$sample/base"
echo '#include "tessera.h"' >"$sample/base/good.c"
[ -z "$(upward_includes "$sample")" ] || { echo "check_layers.sh: finds what is no fault"; exit 1; }
echo '#include "graph/graph.h"' >"$sample/base/bad.c"
[ -n "$(upward_includes "$sample")" ] || { echo "check_layers.sh: finds no upward include"; exit 1; }

found=$(upward_includes "${TSR_SOURCE_DIR:-.}/src")
if [ -n "$found" ]; then
    echo "includes of a higher layer:"
    echo "$found"
    exit 1
fi
