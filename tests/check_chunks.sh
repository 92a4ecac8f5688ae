#!/usr/bin/env bash
# Models in chunks: tessera convert --chunk writes them, all or none; every command reads them; chunks that are missing, cut, altered
# or swapped and what is no index are refused by name.
source "$(dirname "$0")/support/common.sh"

"$build/make_models" pix2pix --ngf 2 --norm batch -o net.onnx
"$build/tessera" convert net.onnx -o whole.onnx >out 2>err
size=$(stat -c %s whole.onnx)
mkdir parts

# ---- what is written -------------------------------------------------------------------------------

count=$(((size + 65535) / 65536))
expect 0 ", $count chunks" convert net.onnx -o parts --chunk 64K
index=parts/net.onnx.json
check 'the chunks are the file' sh -c "cat \$(ls parts/net.onnx.[0-9]* | sort -V) | cmp - whole.onnx"
cat >read_index.py <<'P'
import hashlib, json, os, sys
index = json.load(open(sys.argv[1]))
folder = os.path.dirname(sys.argv[1])
assert index["format"] == "tessera chunks 1" and index["bytes"] == sum(c["bytes"] for c in index["chunks"])
for chunk in index["chunks"]:
    data = open(os.path.join(folder, chunk["file"]), "rb").read()
    assert len(data) == chunk["bytes"] <= int(sys.argv[2]) and hashlib.sha256(data).hexdigest() == chunk["sha256"]
P
check 'sizes and SHA-256 sums are right' python3 read_index.py $index 65536
expect 0 ', 1 chunk' convert net.onnx -o one.json --chunk 1G
check 'a chunk beside its index' cmp one.0 whole.onnx
expect 0 'chunks' convert net.onnx -o parts/bytes.json --chunk 5000 --json report.json
check 'a size in bytes' python3 read_index.py parts/bytes.json 5000
check 'the report has the number of chunks' [ "$(python3 -c 'import json; print(json.load(open("report.json"))["chunks"])')" = $(((size + 4999) / 5000)) ]

# ---- every command reads it --------------------------------------------------------------------------

input=(--random --seed 3 --backend cpu)
expect 0 '' run whole.onnx "${input[@]}" -o whole.npy
expect 0 '' run $index "${input[@]}" -o chunks.npy
check 'a model in chunks computes the same' cmp whole.npy chunks.npy
expect 0 "model        $index" info $index --backend cpu
expect 0 '' compare $index --backends cpu --seed 3 --expect y=whole.npy
expect 0 '' bench $index --backend cpu --runs 1
expect 0 '' convert $index -o again.onnx
check 'converted again it stays as it is' cmp again.onnx whole.onnx
expect 0 '1 chunk' convert $index -o . --chunk 1M --weights int8 --no-measure
check 'an index is named as the one it comes from' python3 read_index.py net.onnx.json 1048576
"$tool" run whole.onnx "${input[@]}" -o image.png >out 2>err
expect 0 '' show $index -i image.png --layer e1_c -o mosaic.png --backend cpu
check 'in the current folder' sh -c "cd parts && '$tool' info net.onnx.json --backend cpu"

# ---- bad chunks ----------------------------------------------------------------------------------------

damaged() { # damaged TEXT COMMAND: what COMMAND does in a copy of the folder is refused by `info`, and nothing is written by `run`
    rm -rf bad
    cp -r parts bad
    (cd bad && eval "$2")
    expect 2 "$1" info bad/net.onnx.json --backend cpu
    expect 2 "$1" run bad/net.onnx.json "${input[@]}" -o never.npy
    check "nothing is written: $2" test ! -e never.npy
}
change() { echo "python3 -c 'import json; i = json.load(open(\"net.onnx.json\")); c = i[\"chunks\"]; $1; json.dump(i, open(\"net.onnx.json\", \"w\"))'"; }
damaged "chunk 'net.onnx.1': bad/net.onnx.1: No such file" 'rm net.onnx.1'
damaged "chunk 'net.onnx.2': it has 65535 bytes, not the 65536" 'truncate -s 65535 net.onnx.2'
damaged "chunk 'net.onnx.1': it has 65537 bytes" 'printf x >>net.onnx.1'
damaged "chunk 'net.onnx.1': its SHA-256 sum is not that of the index: it is altered" \
    'printf "\377\376\375" | dd of=net.onnx.1 bs=1 seek=99 conv=notrunc status=none'
damaged "chunk 'net.onnx.0': its SHA-256 sum" 'mv net.onnx.0 x && mv net.onnx.1 net.onnx.0 && mv x net.onnx.1'
damaged "chunk 'net.onnx.0': its SHA-256 sum" "$(change 'c[0]["sha256"] = c[1]["sha256"]')"
damaged "chunk 'net.onnx.1': " 'rm net.onnx.1 && mkdir net.onnx.1'
damaged "chunk 'net.onnx.1': " 'rm net.onnx.1 && mkfifo net.onnx.1'
damaged 'leads out of' 'rm net.onnx.1 && ln -s ../parts/net.onnx.1 net.onnx.1'
damaged 'no path inside its folder' "$(change 'c[1]["file"] = "../parts/net.onnx.1"')"
damaged 'no path inside its folder' "$(change "c[1][\"file\"] = \"$folder/parts/net.onnx.1\"")"
damaged 'no path inside its folder' "$(change 'c[1]["file"] = ""')"

# ---- what is no index, and sizes that cannot be ----------------------------------------------------------

damaged 'its format is not' "$(change 'i["format"] = "tessera chunks 2"')"
damaged 'its format is not' 'echo "[1, 2]" >net.onnx.json'
damaged 'net.onnx.json:1: not JSON' 'echo "{\"format\": " >net.onnx.json'
damaged 'net.onnx.json' ': >net.onnx.json'
damaged 'not JSON' "cp $folder/whole.onnx net.onnx.json"
damaged 'no list of chunks' "$(change 'i["chunks"] = {}')"
damaged 'do not add up' "$(change 'del c[1]')"
damaged 'do not add up' "$(change 'i["chunks"] = []')"
damaged 'a chunk has no file' "$(change 'del c[1]["file"]')"
damaged 'a chunk has no file' "$(change 'c[1]["sha256"] = c[1]["sha256"][:63]')"
damaged 'a chunk has no file' "$(change 'c[1]["sha256"] = "x" * 64')"
damaged 'a chunk has no file' "$(change 'c[1]["bytes"] = 0.5')"
for bytes in -1 0 1.5 1e18 '"7"'; do
    damaged 'no size of 1 to 2147483647 bytes' "$(change "i[\"bytes\"] = $bytes")"
done
damaged 'bytes, not the 2147400000 of the index' "$(change 'i["bytes"] += 2147400000 - c[0]["bytes"] - i["bytes"] + c[0]["bytes"]; i["chunks"] = [c[0]]; c[0]["bytes"] = 2147400000')"
damaged 'more than 16777216 bytes' 'truncate -s 99G net.onnx.json'
"$build/make_models" pix2pix --ngf 8 -o large.onnx
expect 0 '' convert large.onnx -o large.json --chunk 1M
expect 2 'max_bytes is 1048576' info large.json --backend cpu --max-memory 1
expect 2 'No such file' info nothing.json --backend cpu

# ---- writing that fails ------------------------------------------------------------------------------

all_files() { find . ! -name out ! -name err ! -type d -printf '%p %s %T@\n' | sort; }
refused() { # refused TEXT OPTIONS...: exit code 2, and all files stay as they were
    local before
    before=$(all_files)
    expect 2 "$1" convert "${@:2}"
    check "files stay as they are: $1" [ "$before" = "$(all_files)" ]
}
for chunk in 0 1023 2G 4X 4MB -1 '' M 99999999999999999999; do refused "--chunk expects" net.onnx -o parts "--chunk=$chunk"; done
"$build/make_models" conv --in 512 --out 600 -o wide.onnx # 11 MB
refused 'more than 10000: give a larger --chunk' wide.onnx -o parts --chunk 1K
refused 'give their size with --chunk' net.onnx -o never.json
refused 'into a folder that exists' net.onnx -o never --chunk 4M
refused 'into a folder that exists' net.onnx -o never.onnx --chunk 4M
refused 'Not a directory' net.onnx -o net.onnx/never.json --chunk 4M
refused 'is the model itself' $index -o parts --chunk 4M
cp whole.onnx self.1
refused 'self.1: is the model itself' self.1 -o self.json --chunk 64K
mkdir taken taken/net.onnx.2
refused 'net.onnx.2' net.onnx -o taken --chunk 64K
mkdir -p taken_index/net.onnx.json
refused 'is a folder' net.onnx -o taken_index --chunk 64K
if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=192k tmpfs full 2>err; then
    expect 2 'No space left' convert net.onnx -o full --chunk 64K
    check 'a full disk: nothing is left' [ -z "$(ls -A full)" ]
    umount full
else
    (ulimit -f 100 && trap '' XFSZ && "$tool" convert net.onnx -o taken --chunk 200K >out 2>err)
    check 'a file that grows too large: nothing is left' [ "$(ls -A taken)" = net.onnx.2 ]
fi

# A pipe without a reader makes it wait, after two chunks.
mkdir slow
mkfifo slow/net.onnx.2
"$tool" convert net.onnx -o slow --chunk 64K >out 2>err &
for ((i = 0; i < 300; i++)); do
    [ -z "$(find slow -name '*net.onnx.1.*.tmp')" ] || break
    sleep 0.1
done
check 'chunks are written beside their places' [ "$(find slow -name '*.tmp' | wc -l)" = 2 ]
kill $!
wait $! 2>/dev/null
check 'a signal: nothing is left' [ "$(ls -A slow)" = net.onnx.2 ]
finish
