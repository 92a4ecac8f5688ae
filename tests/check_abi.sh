#!/usr/bin/env bash
# The ABI: a program runs with a library whose structs have grown at their ends, and one that was built with the grown
# header runs with today's library, which refuses only what it does not know. 20 s on two cores.
source "$(dirname "$0")/support/common.sh"

structs="device_desc device_info device_peaks model_desc custom_op session_desc tensor_info report node_report"
structs+=" candidate_report texture optimizer_pass_report write_desc"
primitive_structs="post_op primitive_desc primitive_args primitive_report net_desc layer_desc trainer_desc loss_term"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
sanitizers=$(sed -n 's/^TSR_SANITIZE:STRING=\(..*\)/\1/p' "$build/CMakeCache.txt")

abi=$(sed -n 's/^#define TSR_ABI_VERSION //p' "$source/src/tessera.h")
check "the shared object's name has the ABI's version" \
    sh -c "readelf -d '$build/libtessera.so' | grep -F 'SONAME' | grep -F '[libtessera.so.$abi]'"

mkdir -p source_grown today grown
cp -r "$source"/{CMakeLists.txt,src,glsl,wgsl,tools} source_grown
for name in $structs $primitive_structs; do
    sed -i "s/^} tsr_$name;/    uint64_t grown[3];\n&/" source_grown/src/tessera*.h
done
check 'every struct has grown' \
    [ "$(cat source_grown/src/tessera*.h | grep -c 'uint64_t grown')" = "$(wc -w <<<"$structs $primitive_structs")" ]
check 'a model' "$build/make_case" 13 'test:Twice x[N,3] -> a; test:Thrice a -> y' model.onnx

# make_pair FOLDER SOURCES FLAGS...: a library, of the cpu backend alone, and the program of its header
make_pair() {
    check "$1: the library configures" cmake -S "$2" -B "$1" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_COMPILER="$compiler" -DTSR_SANITIZE="$sanitizers" -DTSR_GLES=OFF -DTSR_WEBGPU=OFF \
        -DTSR_BUILD_TOOLS=OFF -DTSR_BUILD_TESTS=OFF -DTSR_BUILD_DEMOS=OFF
    check "$1: the library builds" cmake --build "$1" -j "$(nproc)" --target tessera_shared
    check "$1: the program builds" "$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror \
        ${sanitizers:+-fsanitize=$sanitizers} -I"$2/src" "${@:3}" "$source/tests/abi_program.c" \
        -o "$1/program" -L"$1" -ltessera
}
make_pair today "$source"
make_pair grown source_grown -DGROWN

program_with() { LD_LIBRARY_PATH=$2 "$1/program" model.onnx; } # program_with PROGRAM LIBRARY
check 'program and library of today' program_with today today
check 'an older program with a newer library' program_with today grown
check 'a newer program with an older library' program_with grown today
# Where the library knows the new members, it does not refuse them, as that program expects.
expect_of 'program and library that have grown' 1 'tsr_device_desc' program_with grown grown
finish
