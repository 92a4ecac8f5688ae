#!/usr/bin/env bash
# A project that has Tessera as a part of its own, by add_subdirectory() and by FetchContent: it builds, and finds nothing of its
# own changed. What is missing is told by Debian's names. 15 s on two cores.
source "$(dirname "$0")/support/common.sh"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")

mkdir project
cat >project/main.c <<'C'
#include <stdio.h>
#include <tessera.h>

int main(void) {
    tsr_device *device;
    if (tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device) != TSR_OK)
        return 1;
    tsr_device_destroy(device);
    return puts(tsr_version()) < 0;
}
C
# Names that Tessera's own build uses, too, are the project's.
cat >project/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.21)
project(foreign C)
foreach(name manual generated tests tools)
    add_custom_target(${name})
endforeach()
get_cmake_property(cached CACHE_VARIABLES)
if(FETCH)
    include(FetchContent)
    FetchContent_Declare(tessera SOURCE_DIR ${TESSERA})
    FetchContent_MakeAvailable(tessera)
else()
    add_subdirectory(${TESSERA} tessera)
endif()
add_executable(with_static main.c)
target_link_libraries(with_static PRIVATE tessera::tessera)
add_executable(with_shared main.c)
target_link_libraries(with_shared PRIVATE tessera::shared)
install(TARGETS with_static)

# What Tessera's folder leaves here: its targets, and no settings.
get_property(targets DIRECTORY ${TESSERA} PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER targets EXCLUDE REGEX "^tessera")
get_cmake_property(new CACHE_VARIABLES)
list(REMOVE_ITEM new ${cached})
list(FILTER new EXCLUDE REGEX "^(TSR|tessera)_")
# CMake's own modules leave these.
list(FILTER new EXCLUDE REGEX "^_*(pkg_config|pkgcfg|PKG_CONFIG|FETCHCONTENT|FIND_PACKAGE_MESSAGE|GNUInstallDirs|prefix_result)")
list(FILTER new EXCLUDE REGEX "^CMAKE_(INSTALL|PROJECT|HAVE)_")
get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
foreach(left targets new options CMAKE_BUILD_TYPE CMAKE_C_STANDARD CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    if(NOT "${${left}}" STREQUAL "")
        message(FATAL_ERROR "Tessera leaves ${left}: ${${left}}")
    endif()
endforeach()
C

configure() { # configure FOLDER OPTIONS...
    cmake -S project -B "$1" -DTESSERA="$source" -DCMAKE_C_COMPILER="$compiler" "${@:2}"
}
check 'FetchContent' configure fetched -DFETCH=ON
check 'FetchContent: nothing downloaded' test ! -e fetched/_deps/tessera-src
check 'add_subdirectory' configure built -DTSR_WEBGPU=OFF
[ $failed = 0 ] || finish
check 'it builds' cmake --build built -j "$(nproc)"
for program in with_static with_shared; do
    expect_of "$program runs" 0 "$(sed -n 's/^#define TSR_VERSION "\(.*\)"/\1/p' "$source/src/tessera.h")" built/$program
done
check 'nothing beside the build of the part' test ! -e built/generated
check 'it is installed' cmake --install built --prefix "$folder/prefix"
(cd prefix && find . -type f) >installed
check 'only what is its own' cmp installed - <<<./bin/with_static

# On a machine that lacks things: pkg-config knows less, and a variable that is OFF is a program or header that was not found.
bare() { # bare FOLDER OPTIONS...
    cmake -S "$source" -B "$1" -DCMAKE_C_COMPILER="$compiler" "${@:2}"
}
mkdir some none
for module in libprotobuf-c libcjson nettle; do
    cp "$(pkg-config --variable=pcfiledir $module)/$module.pc" some
done
export PKG_CONFIG_LIBDIR=$folder/none
packages='libprotobuf-c-dev protobuf-c-compiler python3 python3-glad libcjson-dev nettle-dev libstb-dev'
expect_of 'what everything lacks' 1 "apt-get install $packages" bare lacking -DTSR_GLES=ON -DTSR_PROTOC_C=OFF \
    -DTSR_PYTHON3=OFF -DTSR_GLAD=OFF -DTSR_STB=OFF
export PKG_CONFIG_LIBDIR=$folder/some
expect_of 'tests without cmocka' 0 'No tests: they need libcmocka-dev' bare some
expect_of 'tests that are wanted, without cmocka' 1 'apt-get install libcmocka-dev' bare some -DTSR_BUILD_TESTS=ON
finish
