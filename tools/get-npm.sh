#!/usr/bin/env bash
# Fetches what the tests of the web build need from npm, in the versions and with the hashes of tests/npm/package-lock.json:
# puppeteer-core, which drives Chromium and Firefox, two bundlers, TypeScript. Usage: tools/get-npm.sh [FOLDER [LIST]], by default
# build-web/npm and tests/npm; LIST: another folder with package.json and package-lock.json. Nothing is downloaded if FOLDER
# already has it; the last line shows how to use it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(realpath -m "${1:-$root/build-web/npm}")
list=${2:-$root/tests/npm}

fail() {
    echo "get-npm.sh: $1" >&2
    exit 1
}

print_use() {
    printf 'export NODE_PATH=%q\n' "$folder/node_modules"
}

# The lock is copied there when everything is complete.
if cmp -s "$list/package-lock.json" "$folder/complete"; then
    print_use
    exit 0
fi
[ ! -e "$folder" ] || [ -e "$folder/package.json" ] || [ -z "$(ls -A "$folder")" ] ||
    fail "$folder holds something else: name a folder that is empty or not there yet"
command -v npm >/dev/null || fail "npm is missing; on Debian: apt-get install npm"
mkdir -p "$folder"
rm -f "$folder/complete"
cp "$list"/package*.json "$folder"
echo "Downloading what $list/package.json lists from npm" >&2
# None of the packages needs its scripts.
(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) || fail "npm cannot download the packages"
cp "$folder/package-lock.json" "$folder/complete"
print_use
