#!/usr/bin/env bash
# Builds Mesa's OpenGL ES drivers for the GPUs of phones, with "drm-shim" libraries that stand in for the kernel's drivers:
# contexts open and shaders go through the real compilers, nothing is executed, no hardware is needed.
# Usage: build.sh [--built]. In the user's cache, once: about 2,000 files, 15 minutes on two cores; a build that was stopped
# goes on. Prints where they are installed. --built: fails where they are not yet.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../packages.sh"
to=${XDG_CACHE_HOME:-$HOME/.cache}/tessera-phones
# Little optimised: what they compile is small.
options=(--libdir=lib -Dbuildtype=release -Doptimization=1 -Dllvm=enabled -Dshared-llvm=enabled -Dvulkan-drivers=
    -Dplatforms= -Dglx=disabled -Degl=enabled -Dgles1=disabled -Dgles2=enabled -Dgbm=enabled -Dshared-glapi=enabled
    -Dgallium-drivers=freedreno,panfrost,v3d,iris,crocus,radeonsi,lima,vc4 -Dtools=drm-shim,intel -Dopengl=true
    -Dgallium-xa=disabled -Dgallium-vdpau=disabled -Dgallium-va=disabled -Dvideo-codecs=)
recipe=$({ cat "$here"/*.patch; echo "${options[@]}"; } | sha256sum | cut -d' ' -f1)

fail() {
    echo "phones.sh: $1" >&2
    exit 1
}

is_made() { [ "$(cat "$1/.recipe" 2>/dev/null)" = "$recipe" ]; } # is_made FOLDER: by this recipe, and complete

# Debian 12's source package, by apt, which checks its signature, with lists of its own: no root, no change to the system.
download() {
    echo "Downloading Mesa's sources" >&2
    mkdir -p apt/lists/partial apt/cache/archives/partial
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" \
        >apt/sources.list
    local apt=(apt-get -o Dir::Etc::SourceList="$to/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::Lists="$to/apt/lists" -o Dir::Cache="$to/apt/cache" -o APT::Sandbox::User=)
    { "${apt[@]}" update && "${apt[@]}" source --download-only mesa; } >download.log 2>&1 ||
        { cat download.log >&2; fail "Mesa's sources cannot be downloaded"; }
    rm -rf apt
}

configure() {
    rm -rf mesa-src b
    mkdir mesa-src
    tar xf mesa_22.3.*.orig.tar.* -C mesa-src --strip-components=1
    local change
    for change in "$here"/*.patch; do
        patch -s -d mesa-src -p1 <"$change"
    done
    meson setup b mesa-src --prefix="$to/inst" "${options[@]}" >setup.log 2>&1 ||
        { tail setup.log >&2; fail "meson cannot configure Mesa: $to/setup.log"; }
    echo "$recipe" >b/.recipe
}

if is_made "$to/inst"; then
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
exec 9>lock
flock 9 # another build may be under way, and then done
if ! is_made "$to/inst"; then
    export PATH=/usr/bin:$PATH # Debian's python3 has mako
    ls mesa_22.3.*.orig.tar.* >/dev/null 2>&1 || download
    is_made b || configure
    echo "Building Mesa's drivers in $to: about 15 minutes, once" >&2
    nice ninja -C b >build.log 2>&1 || { tail build.log >&2; fail "Mesa cannot be built: $to/build.log"; }
    rm -rf inst
    ninja -C b install >>build.log 2>&1 || { tail build.log >&2; fail "Mesa cannot be installed: $to/build.log"; }
    rm -rf mesa-src b
    echo "$recipe" >inst/.recipe
    touch inst/.done
fi
echo "$to/inst"
