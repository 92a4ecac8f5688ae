#!/usr/bin/env bash
# tools/compare_peers.sh: its options, and the table of a small model with Tessera alone, natively and, where the pages are built
# (tools/web.sh pages, tools/get-npm.sh), in Chromium; an engine that is not here has a row that says so.
source "$(dirname "$0")/support/common.sh"

peers=$source/tools/compare_peers.sh
expect_of 'help' 0 '--quick' bash "$peers" --help
expect_of 'an unknown option' 2 'Usage: ' bash "$peers" --fast
expect_of 'an option without its value' 2 '--runs expects a value' bash "$peers" --runs

command -v node >/dev/null || { lacking 'node'; finish; }
"$build/make_case" 13 'Conv x[1,4,8,8] w{4,4,3,3} -> y pads=1,1,1,1' conv.onnx
export NODE_PATH=$source/build-web/npm/node_modules

# measure CODE TEXT ONLY OPTIONS...: table.md has what it prints
measure() {
    local code=$1 text=$2 only=$3
    shift 3
    expect_of "measure $only $*" "$code" "$text" \
        node "$source/tools/compare_peers/measure.mjs" --starts 1 --runs 3 --peers "$folder/none" --only "$only" "$@" conv.onnx
    cp out table.md
}

# row ENGINE RUNS REMARKS: one row of the table, as extended regular expressions; its first run and its median are times if it ran
row() {
    local time='[0-9.]+ m?s' median='[0-9.]+ m?s \| [0-9.]+ m?s – [0-9.]+ m?s'
    [ "$2" != 0 ] || time=– median='– \| –'
    check "the row of $1" [ "$(grep -cE "^\| conv \| [^|]* \| $1 \| $time \| – \| $median \| $2 \| – \| [^|]* \| $3 \|$" table.md)" = 1 ]
}

# Ratios are to the best peer of the same place, or of pages if there is none; what failed is told.
cat >table.mjs <<E
import { toMarkdown } from '$source/tools/compare_peers/table.mjs';
const row = (library, place, first, median, more) => ({ model: 'm', engine: { api: 'GL', library, place, backend: 'webgl' }, first,
    steady: { median, low: median, high: median }, times: Array.from({ length: median ? 3 : 0 }, () => median), ...more });
const others = [row('tfjs', 'page', 400, 100, { difference: 0.5 }), row('ort', 'page', NaN, NaN, { error: 'a|b' })];
const all = [row('tessera', 'native', 100, 10), row('tessera', 'page', 200, 2500), ...others];
console.log(toMarkdown(all, {}), toMarkdown([...all, row('ort', 'native', 50, 30)], {}));
E
check 'a table' node table.mjs
cp out table.md
holds() { check "$1" grep -qxF -e "$1" table.md; }
holds '| m | GL | Tessera WebGL, native | 100 ms | 4.00 | 10.0 ms | 10.0 ms – 10.0 ms | 3 | 10.00 | – |  |'
holds '| m | GL | Tessera WebGL, native | 100 ms | 0.50 | 10.0 ms | 10.0 ms – 10.0 ms | 3 | 3.00 | – |  |'
holds '| m | GL | Tessera WebGL, page | 200 ms | 2.00 | 2.50 s | 2.50 s – 2.50 s | 3 | 0.04 | – |  |'
holds '| m | GL | TF.js WebGL, page | 400 ms | – | 100 ms | 100 ms – 100 ms | 3 | – | 5.0e-1 | **computes something else** |'
holds '| m | GL | ONNX Runtime WebGL, page | – | – | – | – | 0 | – | – | failed: a/b |'

find_gpus
for backend in "${gpus[@]}"; do
    measure 0 'Peer / it' "tessera $backend, native"
    row 'Tessera (OpenGL ES|WebGPU), native' 3 '[^|]+'
done
measure 0 'onnxruntime-node missing' 'ort webgpu, native'
row 'ONNX Runtime WebGPU, native' 0 'failed: [^|]*onnxruntime-node[^|]*'
measure 1 'no engine is called so' 'nobody'
measure 1 '--runs expects a number' tessera --runs none

if [ -e "$source/build-web/site/engine.html" ] && [ -e "$NODE_PATH/puppeteer-core" ] && [ -e /usr/bin/chromium ]; then
    measure 0 'Peer / it' 'tessera webgl, page, GL on llvmpipe'
    row 'Tessera WebGL, page' 3 '[^|]*llvmpipe[^|]*'
else
    lacking 'Chromium with the pages (tools/web.sh pages)'
fi
finish
