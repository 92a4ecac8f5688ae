#!/usr/bin/env bash
# cpack's Debian packages: lintian's opinion, and what a machine has on which they were installed, used and removed again.
# They are installed below a folder, by dpkg, which knows there what they depend on. 20 s on two cores.
source "$(dirname "$0")/support/common.sh"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
for program in dpkg dpkg-shlibdeps file; do
    command -v $program >/dev/null || { lacking "$program, for packages"; finish; }
done
grep -qx 'CMAKE_INSTALL_PREFIX:[A-Z]*=/usr' "$build/CMakeCache.txt" || { lacking 'packages: the prefix is not /usr'; finish; }
! grep -q '^TSR_SANITIZE:STRING=.' "$build/CMakeCache.txt" || { lacking 'packages: they have no sanitizers'; finish; }
as_root=()
if [ "$(id -u)" != 0 ]; then
    command -v fakeroot >/dev/null || { lacking 'fakeroot, to install packages'; finish; }
    as_root=(fakeroot)
fi

abi=$(sed -n 's/^#define TSR_ABI_VERSION //p' "$source/src/tessera.h")
names=("libtessera$abi" libtessera-dev tessera-tools)
check 'cpack' cpack --config "$build/CPackConfig.cmake" -B "$folder"
debs=("$folder"/libtessera"${abi}"_*.deb "$folder"/libtessera-dev_*.deb "$folder"/tessera-tools_*.deb)
check 'three packages' test "$(find . -maxdepth 1 -name '*.deb' | wc -l)" = 3
[ $failed = 0 ] || finish
if command -v lintian >/dev/null; then
    check 'lintian' lintian --allow-root --fail-on error,warning "${debs[@]}"
else
    lacking 'lintian'
fi

# A machine that has what the packages depend on, by dpkg's word.
root=$folder/root
mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers}
touch "$root"/var/lib/dpkg/available
dpkg-deb -f "${debs[0]}" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' >library_needs
for deb in "${debs[@]}"; do dpkg-deb -f "$deb" Depends; done | tr ',' '\n' | sed 's/^ *//; s/ .*//; /tessera/d' | sort -u >needed
check 'the library needs protobuf-c' grep -qx 'libprotobuf-c1' library_needs
check 'development needs protobuf-c' grep -qx 'libprotobuf-c-dev' needed
xargs dpkg-query -s <needed >"$root/var/lib/dpkg/status" 2>err || lacking "$(tr '\n' ' ' <err)"
PATH+=:/usr/sbin:/sbin # which dpkg wants
install_packages() { "${as_root[@]}" dpkg --root="$root" --log=/dev/null "$@"; }
list_files() { (cd "$root" && find . -path ./var/lib/dpkg -prune -o -print | sort); }
list_files >before

expect_of 'the tool alone' 0 'Setting up tessera-tools' install_packages -i "${debs[2]}"
expect_of 'development needs the library' 1 "depends on libtessera$abi (= " install_packages -i "${debs[1]}"
check 'all packages' install_packages -i "${debs[@]}"

library=$(find "$root" -name "libtessera.so.$abi")
libraries=${library%/*}
export LD_LIBRARY_PATH=$libraries
check 'the tool' "$root/usr/bin/tessera" ops
check 'it has no symbols' sh -c "! readelf -S '$root/usr/bin/tessera' | grep -q symtab"
zcat "$root/usr/share/man/man1/tessera-run.1.gz" >page
check 'manual pages' grep -q '^\.TH' page
check 'completion' bash -n "$root/usr/share/bash-completion/completions/tessera"
for name in "${names[@]}"; do
    check "$name: copyright" grep -q '^Copyright: .*Tessera' "$root/usr/share/doc/$name/copyright"
done

export PKG_CONFIG_PATH=$libraries/pkgconfig
read -ra options < <(pkg-config --cflags --libs tessera)
example=$root/usr/share/doc/libtessera-dev/examples/custom_op.c
check 'a program, by pkg-config' "$compiler" "$example" -o program "${options[@]}" -lm
check 'it uses the shared library' sh -c "readelf -d program | grep -q 'NEEDED.*libtessera.so.$abi'"
"$build/make_models" swirl --size 48 -o swirl.onnx
expect_of 'it runs' 0 'On cpu' ./program swirl.onnx cpu
mkdir project
cat >project/CMakeLists.txt <<C
cmake_minimum_required(VERSION 3.21)
project(consumer C)
find_package(tessera REQUIRED)
foreach(kind tessera shared)
    add_executable(with_\${kind} $example)
    target_link_libraries(with_\${kind} PRIVATE tessera::\${kind} m)
endforeach()
C
check 'find_package' cmake -S project -B built -DCMAKE_PREFIX_PATH="$root/usr" -DCMAKE_C_COMPILER="$compiler"
check 'programs, by find_package' cmake --build built
for kind in tessera shared; do
    expect_of "tessera::$kind runs" 0 'On cpu' built/with_$kind swirl.onnx cpu
done

check 'all are removed' install_packages --purge "${names[@]}"
list_files >after
check 'no file is left' diff before after
check 'dpkg knows nothing of them' sh -c "! grep -q '^Package:.*tessera' '$root/var/lib/dpkg/status'"
finish
