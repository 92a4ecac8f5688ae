#!/usr/bin/env bash
# Builds Mesa's OpenGL ES drivers for the GPUs of phones, with "drm-shim" libraries that stand in for the kernel's drivers:
# contexts open and shaders go through the real compilers, nothing is executed, no hardware is needed.
# Usage: build.sh [--built]. In the user's cache, once: about 2,000 files, 15 minutes on two cores. Prints where they are
# installed. --built: fails where they are not yet.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../packages.sh"
to=${XDG_CACHE_HOME:-$HOME/.cache}/tessera-phones
recipe=$(cat "$here"/build.sh "$here"/*.patch | sha256sum | cut -d' ' -f1)

fail() {
    echo "phones.sh: $1" >&2
    exit 1
}

if [ "$(cat "$to/inst/.done" 2>/dev/null)" = "$recipe" ]; then
    echo "$to/inst"
    exit
fi
[ "${1:-}" != --built ] || exit 1
[ "$(uname -s)" = Linux ] || fail "the drivers are built on Linux only"
command -v apt-get >/dev/null || fail "apt-get is missing: the drivers are built from Debian's source package"
need_packages dpkg-dev debian-archive-keyring meson ninja-build python3-mako bison flex llvm-dev libelf-dev libdrm-dev \
    libexpat1-dev zlib1g-dev libzstd-dev libudev-dev pkg-config gcc g++ patch >&2
mkdir -p "$to"
cd "$to"

# Debian 12's source package, by apt, which checks its signature, with lists of its own: no root, no change to the system.
if ! ls mesa_22.3.*.orig.tar.* >/dev/null 2>&1; then
    echo "Downloading Mesa's sources" >&2
    mkdir -p apt/lists/partial apt/cache/archives/partial
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" \
        >apt/sources.list
    apt=(apt-get -o Dir::Etc::SourceList="$to/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::Lists="$to/apt/lists" -o Dir::Cache="$to/apt/cache" -o APT::Sandbox::User=)
    { "${apt[@]}" update && "${apt[@]}" source --download-only mesa; } >download.log 2>&1 ||
        { cat download.log >&2; fail "Mesa's sources cannot be downloaded"; }
    rm -rf apt
fi

echo "Building Mesa's drivers in $to: about 15 minutes, once" >&2
rm -rf inst mesa-src b
mkdir mesa-src
tar xf mesa_22.3.*.orig.tar.* -C mesa-src --strip-components=1
for change in "$here"/*.patch; do
    patch -s -d mesa-src -p1 <"$change"
done
export PATH=/usr/bin:$PATH # Debian's python3 has mako
# Little optimised: what they compile is small.
meson setup b mesa-src --prefix="$to/inst" --libdir=lib -Dbuildtype=release -Doptimization=1 -Dllvm=enabled \
    -Dshared-llvm=enabled -Dvulkan-drivers= -Dplatforms= -Dglx=disabled -Degl=enabled -Dgles1=disabled -Dgles2=enabled \
    -Dgallium-drivers=freedreno,panfrost,v3d,iris,crocus,radeonsi,lima,vc4 -Dtools=drm-shim,intel -Dgbm=enabled \
    -Dshared-glapi=enabled -Dopengl=true -Dgallium-xa=disabled -Dgallium-vdpau=disabled -Dgallium-va=disabled \
    -Dvideo-codecs= >setup.log 2>&1 || { tail setup.log >&2; fail "meson cannot configure Mesa: $to/setup.log"; }
nice ninja -C b install >build.log 2>&1 || { tail build.log >&2; fail "Mesa cannot be built: $to/build.log"; }
rm -rf mesa-src b
echo "$recipe" >inst/.done
echo "$to/inst"
