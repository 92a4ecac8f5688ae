#!/usr/bin/env bash
# Fetches two pinned npm packages for the webgpu backend and checks their hashes: Dawn as a shared library, and the
# webgpu.h to compile with. Usage: get-webgpu.sh [FOLDER], by default the repository's .webgpu where it is there already, else
# ${XDG_DATA_HOME:-~/.local/share}/tessera/webgpu, in which Tessera looks for the library and its build for the header.
# Nothing is downloaded if FOLDER already has it; the last line shows how to use it from any folder.
set -euo pipefail

library=bun-webgpu-linux-x64@0.1.7
library_sha256=8badfecdad4e726ac12be4f29771f4cbd7ce7683b4418316a547c5bda94fb798
header=react-native-wgpu@0.3.2
header_sha256=81896269a143abc98c9afc2d79d9b7e8d96565e8071e72b28e1a7c10b24b2fef

fail() {
    echo "get-webgpu.sh: $1" >&2
    exit 1
}

folder=${1:-$(dirname "$0")/../.webgpu}
data=~/.local/share
[[ ${XDG_DATA_HOME:-} != /* ]] || data=$XDG_DATA_HOME # a relative path is ignored, as in the XDG specification
[ $# -gt 0 ] || [ -e "$folder" ] || folder=$data/tessera/webgpu
folder=$(realpath -m "$folder")
contents="$library $library_sha256
$header $header_sha256"

print_use() {
    printf 'export TSR_WEBGPU_LIBRARY=%q\n' "$folder/lib/libwebgpu_wrapper.so"
}

is_there() {
    [ "$(cat "$folder/packages" 2>/dev/null)" = "$contents" ] && [ -e "$folder/lib/libwebgpu_wrapper.so" ] &&
        [ -e "$folder/include/webgpu/webgpu.h" ]
}

if is_there; then
    print_use
    exit 0
fi
[ ! -e "$folder" ] || [ -e "$folder/packages" ] || [ -z "$(ls -A "$folder")" ] ||
    fail "$folder holds something else: name a folder that is empty or not there yet"
[ "$(uname -sm)" = "Linux x86_64" ] ||
    fail "there is no pinned library for $(uname -sm), only for Linux x86_64; a build of Dawn does: TSR_WEBGPU_LIBRARY \
names it when tessera runs, cmake -DTSR_WEBGPU_INCLUDE=... the folder of its webgpu/webgpu.h"
command -v npm >/dev/null || fail "npm is missing; on Debian: apt-get install npm"

# Made next to the folder and moved there when complete.
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/webgpu/lib" "$work/webgpu/include/webgpu"

fetch() { # fetch PACKAGE@VERSION SHA256 FILE FOLDER FILE FOLDER...: unpacks those files of the package
    local package=$1 sha256=$2 archive="$work/${1%@*}-${1##*@}.tgz"
    shift 2
    echo "Downloading $package from npm" >&2
    (cd "$work" && npm pack --loglevel=error "$package" >/dev/null) || fail "npm cannot download $package"
    sha256sum --check --status <<<"$sha256  $archive" ||
        fail "$package is not the package that was pinned: its sha256 is not $sha256"
    while [ $# -gt 0 ]; do
        tar -xzf "$archive" -C "$work" "package/$1"
        mv "$work/package/$1" "$work/webgpu/$2"
        shift 2
    done
}

# Dawn's licence is stored next to it; webgpu.h contains its own.
fetch "$library" "$library_sha256" libwebgpu_wrapper.so lib LICENSE lib
fetch "$header" "$header_sha256" cpp/webgpu/webgpu.h include/webgpu
echo "$contents" >"$work/webgpu/packages"

# Another process may have been faster.
rm -rf "$folder"
mv -T "$work/webgpu" "$folder" 2>/dev/null || is_there || fail "$folder cannot be written"
print_use
