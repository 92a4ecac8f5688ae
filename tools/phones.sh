#!/usr/bin/env bash
# What the compilers of phones' GPUs make of networks: see --help. Builds the drivers (tools/phones/build.sh) and Tessera.
# TESSERA=PATH in the environment: another build's tessera.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
    echo "phones.sh: $1" >&2
    exit 1
}

command -v python3 >/dev/null || fail "python3 is missing; on Debian: apt-get install python3"
main=$root/tools/phones/main.py
for argument in "$@"; do
    [ "$argument" != --help ] && [ "$argument" != -h ] || exec python3 "$main" "" "" "" --help
done
drivers=$(bash "$root/tools/phones/build.sh")

models=$(mktemp -d) # by default
trap 'rm -rf "$models"' EXIT
if [ "${1:-}" = --draws ]; then # programs of others
    "${CC:-cc}" -std=c11 "$root/tools/phones/replay.c" -o "$models/replay" -lEGL -lGLESv2 ||
        fail "replay.c cannot be built; on Debian: apt-get install gcc libegl-dev libgles-dev"
    python3 "$main" "$models/replay" "$drivers" "$models" "${@:2}"
    exit
fi

if [ -z "${TESSERA:-}" ]; then
    (cd "$root" && cmake --preset release && cmake --build --preset release --parallel "$(nproc)" --target tessera_tool make_models) \
        >"$drivers/../tessera.log" 2>&1 || { tail "$drivers/../tessera.log" >&2; fail "Tessera cannot be built"; }
    TESSERA=$root/build/tessera
fi
[ -x "$TESSERA" ] || fail "there is no program $TESSERA"
make_models=${TESSERA%/*}/make_models
[ -x "$make_models" ] || fail "there is no program $make_models, which makes the models beside $TESSERA"
"$make_models" pix2pix --ngf 16 -o "$models/pix16.onnx"
"$make_models" autoencoder -o "$models/autoencoder.onnx"
"$make_models" mobile -o "$models/mobile.onnx"
ln -s "$root/demos/models/edges2emoji.onnx" "$models"
python3 "$main" "$TESSERA" "$drivers" "$models" "$@"
