#!/usr/bin/env bash
# Installs the build into a fresh folder and uses it from there as a stranger would: with find_package (static and
# shared library) and with pkg-config (shared and static, too), in C and in C++.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix
log=$folder/log
run() { "$@" >"$log" 2>&1 || { echo "failed: $*"; cat "$log"; exit 1; }; }

run cmake --install "$TSR_BUILD_DIR" --prefix "$prefix"
for file in include/tessera.h include/tessera_types.h include/tessera_report.h include/tessera_write.h include/tessera_primitive.h \
    include/tessera_build.h include/tessera_train.h bin/tessera \
    share/man/man1/tessera.1 share/man/man1/tessera-run.1 share/bash-completion/completions/tessera share/tessera/get-webgpu.sh \
    share/doc/tessera/LICENSE share/doc/tessera/examples/custom_op.c share/doc/tessera/examples/draw.c; do
    [ -e "$prefix/$file" ] || { echo "$file is not installed"; exit 1; }
done

# Every public header compiles alone, in each version of both languages that people use.
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$TSR_BUILD_DIR/CMakeCache.txt")
compiler_cxx=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$TSR_BUILD_DIR/CMakeCache.txt")
warnings="-Wall -Wextra -Wpedantic -Werror"
for header in "$prefix"/include/*.h; do
    echo "#include \"$header\"" >"$folder/alone.c"
    for standard in c99 c11; do
        run "$compiler" -std=$standard $warnings -fsyntax-only "$folder/alone.c"
    done
    for standard in c++11 c++20; do
        run "$compiler_cxx" -std=$standard $warnings -fsyntax-only -x c++ "$folder/alone.c"
    done
done

mkdir "$folder/consumer"
cat >"$folder/consumer/main.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <tessera.h>

int main(void) {
    tsr_device *device;
    if (tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device) != TSR_OK)
        return 1;
    tsr_device_destroy(device);
    return puts(tsr_status_name(TSR_ERROR_SHAPE)) < 0;
}
C
cat >"$folder/consumer/main.cpp" <<'C'
#include <tessera.h>

int main() {
    tsr_model *model;
    return tsr_model_load("no such file", nullptr, &model) == TSR_ERROR_IO ? 0 : 1;
}
C
cat >"$folder/consumer/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.21)
project(consumer C CXX)
find_package(tessera REQUIRED)
add_executable(with_static main.c)
target_link_libraries(with_static PRIVATE tessera::tessera)
add_executable(with_shared main.c)
target_link_libraries(with_shared PRIVATE tessera::shared)
add_executable(with_cxx main.cpp)
target_link_libraries(with_cxx PRIVATE tessera::shared)
C

# A library built with sanitizers needs programs built with them.
flags=$(sed -n 's/^TSR_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p' "$TSR_BUILD_DIR/CMakeCache.txt")
export CFLAGS=$flags CXXFLAGS=$flags LDFLAGS=$flags

run cmake -S "$folder/consumer" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix"
run cmake --build "$folder/build"
for program in with_static with_shared with_cxx; do
    run "$folder/build/$program"
done
! readelf -d "$folder/build/with_static" | grep -q 'NEEDED.*libtessera' || { echo 'with_static is not static'; exit 1; }

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tessera.pc)")
export PKG_CONFIG_PATH
read -ra options <<<"$flags $(pkg-config --cflags --libs tessera)"
run "$compiler" -std=c11 "$folder/consumer/main.c" -o "$folder/with_pkg_config" "${options[@]}"
# Once loaded, the shared library stays: see CMakeLists.txt.
cat >"$folder/plugin.c" <<'C'
#include <dlfcn.h>

int main(int argc, char **argv) {
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : 0;
    return !library || dlclose(library) || !dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
}
C
run "$compiler" "$folder/plugin.c" -o "$folder/plugin" ${flags:+"$flags"} -ldl
run "$folder/plugin" "$(find "$prefix" -name libtessera.so)"
# The README's program, too.
sed -n '/^```c$/,/^```$/{//!p}' "$TSR_SOURCE_DIR/README.md" >"$folder/readme.c"
run "$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror "$folder/readme.c" -o "$folder/readme" "${options[@]}"
# And the demos; demos/embed/draw.c where the system has headers of EGL and OpenGL ES.
for demo in "$TSR_SOURCE_DIR"/demos/*.c "$TSR_SOURCE_DIR"/demos/embed/*.c; do
    libraries=(-lm -pthread)
    if [ "$(basename "$demo")" = draw.c ]; then
        pkg-config --exists egl glesv2 || continue
        libraries=(-lEGL -lGLESv2)
    fi
    run "$compiler" -std=c11 $warnings "$demo" -o "$folder/demo" "${options[@]}" "${libraries[@]}"
done
run "$compiler_cxx" -std=c++17 $warnings "$TSR_SOURCE_DIR/demos/embed/embed.cpp" -o "$folder/demo" "${options[@]}"
# A static library in a program, as the README has it, and programs without any shared library, which no driver can be loaded into.
if [ -z "$flags" ]; then
    read -ra static < <(sed -n 's/^cc program.c \(.*libtessera\.a.*\) -o program$/\1/p' "$TSR_SOURCE_DIR/README.md")
    run bash -c '"$1" "$2" -o "$3" '"${static[*]}" - "$compiler" "$folder/readme.c" "$folder/readme_static"
    ! readelf -d "$folder/readme_static" | grep -qE 'NEEDED.*(tessera|protobuf)' || { echo 'readme_static is not static'; exit 1; }
    (cd "$TSR_SOURCE_DIR" && "$folder/readme_static") >"$log" 2>&1 || [ -z "${TSR_REQUIRE_DRIVER:-}" ] ||
        { echo 'readme_static does not run'; cat "$log"; exit 1; }
    read -ra static <<<"$(pkg-config --static --cflags --libs tessera)"
    run "$compiler" -static "$folder/consumer/main.c" -o "$folder/all_static" "${static[@]}"
    run "$folder/all_static"
fi
LD_LIBRARY_PATH=$(pkg-config --variable=libdir tessera)
export LD_LIBRARY_PATH
run "$folder/with_pkg_config"
