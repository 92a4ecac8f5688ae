#!/usr/bin/env bash
# Tessera for web pages and node: the library as WebAssembly, with Debian's clang, lld and wasi-libc.
# Usage: web.sh build             build-web/tessera.wasm; tessera-webgl.wasm and tessera-webgpu.wasm, with what ordinary networks
#                                 need; and beside them, the modules that load them (src/web)
#        web.sh fetch             what has to be downloaded: build then needs no network
#        web.sh pages [MODEL...]  build-web/site: demos/web with what build made, the demos' models and these ONNX files; with
#                                 PEERS=FOLDER, the libraries that npm installed there (see demos/web/README.md), too;
#                                 TESSERA=FILE names the tool, which is built otherwise
#        web.sh serve [PORT]      build-web/site at http://localhost:8080
#        web.sh pack              the npm package, in build-web/package, after build
#        web.sh sizes             what a page loads, in bytes, as it is and compressed by brotli; fails above the limits
#        web.sh node-bench MODEL  after build: times in node, on npm's WebGPU (Dawn), with matrix units where the GPU has them
#                    [--precision fp32|fp16] [--runs N] [--dim NAME=N]... [--plain] [--passes] [--check]
#                                 fp16, 60 runs; --plain: without matrix units; --passes: each pass, too; --check: beside the CPU
#        WEBGPU=OFF in the environment: build leaves WebGPU out
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build-web
clang=${CLANG:-clang-14}
memory=$((2 << 30)) # bytes that the module may use at most
stack=$((1 << 20)) # of these
layers=(api autotune/web base base/web graph onnx passes kernel plan algorithm backend cpu lower gpu web) # of every module
gles=(gles gles/web)
webgpu=(webgpu webgpu/web)
[ "${WEBGPU:-ON}" = ON ] || webgpu=()
# Files whose errors end the loading of a model: small modules have no texts of these (see src/web/open.mjs).
loading='/src/((graph|onnx|passes|kernel|plan|algorithm|lower)/|api/(late|model|names|sized|storage_choice)\.c)'
# Bytes, as they are and compressed by brotli.
most_full='545300 237800'
most_webgl='353400 155300'
most_webgpu='333500 144750'
most_modules='69700 22950'
# As in Debian 12's source package protobuf-c, whose .dsc is signed and has this sum.
protobuf=protobuf-c_1.4.1.orig.tar.gz
protobuf_sum=4cc4facd508172f3e0a4d3a8736225d472418aee35b4ad053384b137b220339f
protobuf_url=http://deb.debian.org/debian/pool/main/p/protobuf-c/$protobuf

fail() {
    echo "web.sh: $1" >&2
    exit 1
}

version() {
    sed -n 's/^#define TSR_VERSION "\(.*\)".*/\1/p' "$root/src/tessera.h"
}

# need PROGRAM PACKAGE
need() {
    command -v "$1" >/dev/null || fail "$1 is missing; on Debian: apt-get install $2"
}

check_tools() {
    need "$clang" clang-14
    need wasm-ld-14 lld-14
    need wasm-opt binaryen
    need cmake cmake
    need node nodejs
    [ -e /usr/include/wasm32-wasi/stdlib.h ] ||
        fail "the C library for WebAssembly is missing; on Debian: apt-get install wasi-libc"
    [ -e "$("$clang" --target=wasm32-wasi -print-resource-dir)/lib/wasi/libclang_rt.builtins-wasm32.a" ] ||
        fail "clang's runtime for WebAssembly is missing; on Debian: apt-get install libclang-rt-14-dev-wasm32"
}

# protobuf-c's C file and header, in $build/protobuf-c: Debian has none compiled for WebAssembly.
fetch_protobuf() {
    local to=$build/protobuf-c
    [ ! -e "$to/.done" ] || return 0
    need curl curl
    rm -rf "$to"
    mkdir -p "$to"
    curl -fsSL "$protobuf_url" -o "$build/$protobuf" || fail "$protobuf_url cannot be downloaded"
    echo "$protobuf_sum  $build/$protobuf" | sha256sum --check --quiet >&2 || fail "$protobuf is not what it was: $protobuf_url"
    tar xf "$build/$protobuf" -C "$to" --strip-components=1 --wildcards '*/protobuf-c/protobuf-c.[ch]'
    rm "$build/$protobuf"
    touch "$to/.done"
}

fetch() {
    mkdir -p "$build"
    fetch_protobuf
    [ -e "$root/.webgpu/include/webgpu/webgpu.h" ] || "$root/tools/get-webgpu.sh" >&2
}

# The ONNX schema and the kernels' declarations and texts, as for other builds, which find webgpu.h, too.
generate() {
    { cmake -S "$root" -B "$build/native" -DTSR_GLES=ON -DTSR_WEBGPU="${WEBGPU:-ON}" -DTSR_PACK_KERNELS=ON -DTSR_BUILD_TOOLS=OFF \
        -DTSR_BUILD_TESTS=OFF -DTSR_BUILD_DEMOS=OFF && cmake --build "$build/native" --target tessera_generated; } \
        >"$build/native.log" 2>&1 ||
        { tail "$build/native.log" >&2; fail "the sources that the build writes cannot be made: $build/native.log"; }
}

# The C files of a module of these layers, but for the kernels' (pack_kernels).
sources() {
    local layer
    for layer in "$@"; do
        printf '%s\n' "$root/src/$layer"/*.c
    done
    printf '%s\n' "$build/native/generated/onnx.pb-c.c" "$build/protobuf-c/protobuf-c/protobuf-c.c"
}

# The C library's printf() without floats is smaller, but traps where it has to print one.
check_formats() {
    ! sources "${layers[@]}" "${gles[@]}" "${webgpu[@]}" | grep -v "^$build" |
        xargs -d '\n' grep -nE '%[-+#0-9.*]*l?[aefgAEFG]' >&2 || fail "a page cannot print floats"
}

# compile OBJECTS FLAG... <FILES. Only the C library's own headers: those of the machine must not be found. What clang inlines and
# the pointers that it keeps for loops (LSR) are larger than what they replace; the loops of the CPU backend may be.
compile() {
    local to=$1 native=$build/native/generated webgpu_include file object flags
    local small=(-mllvm -inline-threshold=-50 -mllvm -disable-lsr)
    webgpu_include=$(sed -n 's/^TSR_WEBGPU_INCLUDE:PATH=//p' "$build/native/CMakeCache.txt")
    mkdir -p "$to"
    while read -r file; do
        object=${file#"$root/"}
        flags=(-Wall -Wextra -Wpedantic -Werror "${@:2}")
        [[ $file != "$build"/* ]] || flags+=(-w)
        [[ $file == "$root"/src/cpu/* ]] || flags+=("${small[@]}")
        [[ ! " $* " =~ " -DTSR_SMALL " || ! $file =~ $loading ]] || flags+=(-DTSR_WITHOUT_MESSAGES -include base/error.h)
        printf '%q ' "$clang" --target=wasm32-wasi -nostdlibinc -isystem /usr/include/wasm32-wasi -Oz -std=c11 -DNDEBUG \
            -DTSR_WITHOUT_GRADIENT "-DTSR_WASM_MEMORY_BYTES=${memory}u" "${flags[@]}" -I"$root/src" -I"$to" -isystem "$native" \
            -isystem "$native/glad/include" ${webgpu_include:+-isystem "$webgpu_include"} -isystem "$build/protobuf-c" \
            -mnontrapping-fptoint -msign-ext -fvisibility=hidden -ffunction-sections -fdata-sections \
            -c "$file" -o "$to/${object//\//_}.o"
        echo
    done | xargs -d '\n' -P "$(nproc)" -I{} nice bash -c '{}' || fail "the sources cannot be compiled"
}

# link OBJECTS FLAG...: a library: its start runs constructors and returns. The stack is below everything else, so that an
# overflow is a trap. Without -O, for which clang runs whatever wasm-opt the machine has, not with what the module needs.
link() {
    "$clang" --target=wasm32-wasi -mexec-model=reactor -Wl,-O2,--gc-sections,--strip-all,--stack-first \
        -Wl,-z,stack-size=$stack,--max-memory=$memory,--export=malloc,--export=free "$1"/*.o "${@:2}" \
        -lc-printscan-no-floating-point -o "$1/linked.wasm" || fail "the objects cannot be linked"
}

# pack_kernels OBJECTS LANGUAGE...: the kernels' declarations, and the texts of those that the module's code reaches.
pack_kernels() {
    local to=$1
    echo "$build/native/generated/kernel_list.c" | compile "$to"
    link "$to" -Wl,--Map="$to/map"
    sed -n 's/.*(\.rodata\.tsr_kernel_\([a-z0-9_]*\))$/\1/p' "$to/map" >"$to/kernels"
    python3 "$root/tools/cmake/kernels.py" "$root/src/kernel/kernels.txt" "$root/src/graph/ops.def" "$root/glsl" "$root/wgsl" \
        "$to" packed "only=$to/kernels" "${@:2}" || fail "the kernels' texts cannot be packed"
    rm "$to"/*kernel_list.c.o
    printf '%s\n' "$to/kernel_list.c" "$root/src/web/exports.c" | compile "$to"
}

# make_module NAME 'FLAGS' 'LANGUAGES' LAYER...: $build/NAME.wasm. Small ones compile without warnings: the full one has them all.
make_module() {
    local to=$build/objects/$1 flags languages
    read -ra flags <<<"$2"
    read -ra languages <<<"$3"
    rm -rf "$to"
    mkdir -p "$to"
    cp "$build/native/generated/kernels.zlib" "$to"
    sources "${@:4}" | compile "$to" "${flags[@]}"
    pack_kernels "$to" "${languages[@]}"
    link "$to"
    wasm-opt -tnh --low-memory-unused --flatten --rereloop -Oz -Oz --converge --strip-producers --enable-bulk-memory \
        --enable-nontrapping-float-to-int --enable-sign-ext "$to/linked.wasm" -o "$build/$1.wasm" ||
        fail "$1.wasm cannot be made smaller"
    echo "$build/$1.wasm: $(stat -c %s "$build/$1.wasm") bytes"
}

# What the module asks of the page must be what src/web/imports.txt lists; the small ones ask for no more.
check_imports() {
    node -e 'const module = new WebAssembly.Module(require("fs").readFileSync(process.argv[1]));
        for (const i of WebAssembly.Module.imports(module)) console.log(i.module, i.name);' "$build/tessera.wasm" |
        LC_ALL=C sort | diff <(sed "$([ -n "${webgpu:-}" ] || echo '/^gpu /d')" "$root/src/web/imports.txt") - >&2 ||
        fail "the module's imports (>) are not those of src/web/imports.txt (<)"
}

# The modules without comments and indentation; lines keep their numbers. No string of theirs has " // ".
copy_modules() {
    node -e 'const { readFileSync, writeFileSync } = require("fs"), [, to, ...files] = process.argv;
        const bare = text => text.replace(/^ *\/\*\*[^]*?\*\/$/gm, comment => comment.replace(/.+/g, ""))
            .replace(/^ *\/\/.*| +\/\/ .*/gm, "").replace(/^ +/gm, "");
        for (const file of files) writeFileSync(`${to}/${file.split("/").at(-1)}`, bare(readFileSync(file, "utf8")));' \
        "$build" "$root"/src/web/*.mjs
}

# size NAME MOST MOST_BROTLI FILE...: of the files together
size() {
    node -e 'const { readFileSync } = require("fs"), { brotliCompressSync } = require("zlib"), [, name, ...most] = process.argv;
        const files = most.splice(2).map(file => readFileSync(file)), sum = list => list.reduce((all, file) => all + file.length, 0);
        const sizes = [sum(files), sum(files.map(file => brotliCompressSync(file)))];
        console.log(`${name}: ${sizes[0]} bytes, ${sizes[1]} compressed`);
        process.exitCode = sizes.some((size, i) => size > most[i]) ? 1 : 0;' "$@" || fail "$1: more than $2 bytes, or $3 compressed"
}

sizes() {
    [ -e "$build/tessera.wasm" ] || fail "there is no $build/tessera.wasm: web.sh build makes it"
    size tessera-webgl.wasm $most_webgl "$build/tessera-webgl.wasm"
    size tessera-webgpu.wasm $most_webgpu "$build/tessera-webgpu.wasm"
    size tessera.wasm $most_full "$build/tessera.wasm"
    size 'the modules' $most_modules "$build"/*.mjs
}

# The other libraries that demos/web/bench.html compares with.
copy_peers() {
    local from=$1/node_modules to=$build/site/peers
    mkdir -p "$to"
    cp "$from"/onnxruntime-web/dist/{ort.{wasm,webgl,webgpu}.min.js,ort-wasm-simd-threaded{,.asyncify}.{mjs,wasm}} "$to"
    cp "$from"/@tensorflow/tfjs-{core,backend-{wasm,webgl,webgpu}}/dist/tf-*.es2017.min.js \
        "$from"/@tensorflow/tfjs-backend-wasm/dist/*.wasm "$to" # not tf.min.js: it evaluates strings, which the pages forbid
}

# The tool, for the CPU alone.
build_tool() {
    [ -z "${TESSERA:-}" ] || return 0
    TESSERA=$build/tool/tessera
    { cmake -S "$root" -B "$build/tool" -DCMAKE_BUILD_TYPE=Release -DTSR_GLES=OFF -DTSR_WEBGPU=OFF -DTSR_BUILD_TESTS=OFF \
        -DTSR_BUILD_DEMOS=OFF && cmake --build "$build/tool" --target tessera_tool --parallel "$(nproc)"; } >"$build/tool.log" 2>&1 ||
        { tail "$build/tool.log" >&2; fail "the tool, which makes the pages' network, cannot be built: $build/tool.log"; }
}

# What a static server cannot list: files that are kept for use offline, models and other libraries.
write_index() {
    node -e 'const fs = require("fs"), site = process.argv[1];
        const list = at => fs.existsSync(`${site}/${at}`) ? fs.readdirSync(`${site}/${at}`).sort() : [];
        const files = fs.readdirSync(site, { recursive: true }).filter(f => fs.statSync(`${site}/${f}`).isFile()).sort();
        const kept = files.filter(f => !/^peers.|^models.(?!edges2emoji-int8)|^tessera.tessera\.wasm$/.test(f)).concat("site.json");
        const index = { files: kept, models: list("models"), peers: list("peers") };
        fs.writeFileSync(`${site}/site.json`, JSON.stringify(index));' "$build/site"
}

pages() {
    [ -e "$build/tessera.wasm" ] || fail "$build/tessera.wasm is missing: web.sh build makes it"
    build_tool
    rm -rf "$build/site"
    mkdir -p "$build"/site/{tessera,models}
    cp -r "$root"/demos/web/. "$root/demos/sketches" "$build/site"
    cp "$build"/*.mjs "$build"/*.wasm "$build/site/tessera"
    cp "$root"/demos/models/*.onnx "$@" "$build/site/models"
    # Of all layers down0 loses most by it: kept, pictures are off by 0.1 % of their range instead of 2.4 %.
    "$TESSERA" convert "$root/demos/models/edges2emoji.onnx" --weights int8 --keep down0 --no-measure \
        -o "$build/site/models/edges2emoji-int8.onnx" >"$build/int8.log" || fail "the network in 8 bits cannot be made"
    [ -z "${PEERS:-}" ] || copy_peers "$PEERS"
    write_index
    echo "$build/site: $(du -sh "$build/site" | cut -f 1)"
}

# Whose code is in the .wasm files besides ours, as their licences ask.
third_parties() {
    echo "tessera*.wasm have code of protobuf-c:"
    echo
    sed -n '2,/\*\//s/^ \*[/ ]\{0,1\}//p' "$build/protobuf-c/protobuf-c/protobuf-c.c"
    echo "and of wasi-libc, as Debian has it:"
    echo
    cat /usr/share/doc/wasi-libc/copyright
}

# The npm package, in $build/package: what npm packs must be all of that, no more.
pack() {
    local to=$build/package
    need npm npm
    [ -e "$build/tessera.wasm" ] || fail "there is no $build/tessera.wasm: web.sh build makes it"
    rm -rf "$to"
    mkdir "$to"
    cp "$build"/{*.wasm,version.mjs} "$root"/src/web/{*.mjs,tessera.d.ts} "$root/src/web/npm/README.md" "$root/LICENSE" "$to"
    third_parties >"$to/THIRD-PARTY.txt"
    sed "s/@VERSION@/$(version)/" "$root/src/web/npm/package.json" >"$to/package.json"
    (cd "$to" && npm pack --dry-run --json --loglevel=error) >"$build/package.json" || fail "npm cannot pack $to"
    node -e 'for (const { path } of JSON.parse(require("fs").readFileSync(process.argv[1]))[0].files) console.log(path);' \
        "$build/package.json" | LC_ALL=C sort | tee "$build/package.txt" | diff <(cd "$to" && LC_ALL=C ls) - >&2 ||
        fail "npm packs other files (>) than those of $to (<)"
    cat "$build/package.txt"
}

case "${1:-}" in
fetch)
    fetch
    ;;
build)
    [ $# = 1 ] || fail "usage: web.sh build"
    check_tools
    fetch
    generate
    check_formats
    make_module tessera "-DTSR_GLES ${webgpu:+-DTSR_WEBGPU}" "glsl ${webgpu:+wgsl}" "${layers[@]}" "${gles[@]}" "${webgpu[@]}"
    make_module tessera-webgl "-DTSR_SMALL -w -DTSR_GLES" glsl "${layers[@]}" "${gles[@]}"
    make_module tessera-webgpu "-DTSR_SMALL -w ${webgpu:+-DTSR_WEBGPU}" "${webgpu:+wgsl}" "${layers[@]}" "${webgpu[@]}"
    check_imports
    copy_modules
    echo "export const version = '$(version)';" >"$build/version.mjs"
    ;;
pages)
    pages "${@:2}"
    ;;
serve)
    exec node "$root/tools/serve.mjs" "$build/site" "${@:2}"
    ;;
pack)
    pack
    ;;
sizes)
    sizes
    ;;
node-bench)
    [ -e "$build/tessera.wasm" ] || fail "there is no $build/tessera.wasm: web.sh build makes it"
    "$root/tools/get-npm.sh" "$build/node-webgpu" "$root/tools/node_bench" >/dev/null
    exec node "$root/tools/node_bench/bench.mjs" "--build=$build" "--packages=$build/node-webgpu" "${@:2}"
    ;;
-h | --help) sed -n '2,16s/^# //p' "${BASH_SOURCE[0]}" ;;
*) fail "usage: web.sh build | fetch | pages [MODEL...] | serve [PORT] | pack | sizes | node-bench MODEL" ;;
esac
