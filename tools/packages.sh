# Sourced by demo.sh, check.sh and compare_peers.sh: installs missing Debian packages and prints which.
# Usage: need_packages NAME...; need_webgpu; need_web; need_pages

need_packages() {
    local missing=() package root=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            { echo "Please install as root: apt-get install ${missing[*]}" >&2; exit 3; }
        root=(sudo)
    fi
    echo "Installing with apt: ${missing[*]}"
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

build_packages=(gcc libc6-dev make cmake pkg-config libprotobuf-c-dev protobuf-c-compiler
    libcjson-dev nettle-dev libstb-dev libwebp-dev python3 python3-glad)
# For demos/pix2pix and demos/camera, which are not built without them.
window_packages=(libglfw3-dev fonts-dejavu-core)
# Mesa's software rasteriser with EGL: needs neither a GPU nor a display.
driver_packages=(libegl1 libgles2 libegl-mesa0 libgl1-mesa-dri)

# SwiftShader: a WebGPU adapter that needs no GPU. Ubuntu has no such package: its Chromium is a snap.
swiftshader=/usr/lib/chromium/vk_swiftshader_icd.json
has_swiftshader() {
    [ -e "$swiftshader" ] || ! grep -qx 'ID=ubuntu' /etc/os-release
}

# Makes the webgpu backend usable: its library, and SwiftShader if available, unless
# VK_ICD_FILENAMES already selects a driver. Fails, with the reason on stderr, if the library cannot be fetched.
need_webgpu() {
    local packages=(libvulkan1) use
    command -v npm >/dev/null || packages+=(npm ca-certificates)
    ! has_swiftshader || packages+=(chromium-common)
    (need_packages "${packages[@]}") || return 1
    use=$("${BASH_SOURCE[0]%/*}/get-webgpu.sh") || return 1
    eval "$use"
    [ ! -e "$swiftshader" ] || export VK_ICD_FILENAMES="${VK_ICD_FILENAMES:-$swiftshader}"
}

# Makes tools/web.sh usable. Fails, with the reason on stderr, if something cannot be fetched.
need_web() {
    local packages=(clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32 binaryen curl ca-certificates)
    command -v node >/dev/null || packages+=(nodejs)
    command -v npm >/dev/null || packages+=(npm)
    (need_packages "${packages[@]}") && "${BASH_SOURCE[0]%/*}/web.sh" fetch
}

# Makes tests in Chromium usable, whose npm packages NODE_PATH then names. Fails, with the reason on stderr, on Ubuntu, whose
# Chromium is a snap, and if the packages cannot be fetched.
need_pages() {
    local packages=(chromium) use
    [ -e /usr/bin/chromium ] || ! grep -qx 'ID=ubuntu' /etc/os-release ||
        { echo "Ubuntu's Chromium is a snap" >&2; return 1; }
    command -v npm >/dev/null || packages+=(npm ca-certificates)
    (need_packages "${packages[@]}") || return 1
    use=$("${BASH_SOURCE[0]%/*}/get-npm.sh") || return 1
    eval "$use"
}
