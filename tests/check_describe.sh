#!/usr/bin/env bash
# The description of a model: beside it, in its metadata, of an option; read by every command, written, refused where it
# does not fit.
source "$(dirname "$0")/support/common.sh"

floats() { perl -e 'print pack("f<*", @ARGV)' -- "$@"; }
made() { floats "${@:3}" | npy 1 "$(header '<f4' "$2")" >"$1"; } # made FILE SHAPE ELEMENT...
elements() {
    perl -e 'local $/; binmode STDIN; $_ = <STDIN>; s/^.*?\n//s; print join(" ", map { sprintf "%.3f", $_ } unpack("f<*", $_))' <"$1"
}
reads() { # reads WANTED OPTIONS...: what net.onnx is given of dot.png
    expect 0 '' run net.onnx --backend cpu -i dot.png -o y.npy "${@:2}"
    [ "$(elements y.npy)" = "$1" ] && report yes "$*" || report no "$*" "'$(elements y.npy)'"
}
describe() { printf '%s' "$1" >net.json; }
refused() { # refused TEXT JSON
    describe "$2"
    expect 2 "$1" run net.onnx --backend cpu -i dot.png
}
# with_metadata KEY VALUE FILE: net.onnx with one more entry of metadata_props
with_metadata() {
    perl -e 'local $/; my ($k, $v, $in) = @ARGV; open F, "<:raw", $in; my $b = <F>;
        sub n { my $n = shift; my $o = ""; while ($n > 127) { $o .= chr($n & 127 | 128); $n >>= 7 } $o . chr $n }
        my $e = "\x0a" . n(length $k) . $k . "\x12" . n(length $v) . $v; print $b, "\x72", n(length $e), $e' \
        "$1" "$2" net.onnx >"$3"
}

"$build/make_case" 17 'Identity x[1,3,H,W] -> y' net.onnx
"$build/make_case" 17 'Identity s[1,3] -> t' scores.onnx
made dot.npy '1, 3, 1, 1' 0 0.5 1
made s.npy '1, 3' 1 2 0
expect 0 '' run net.onnx --backend cpu -i dot.npy -o dot.png

# ---- what it says of pictures ------------------------------------------------------------------------

reads '0.000 0.502 1.000'
describe '{"tessera": 1, "inputs": {"x": {"range": [0, 255], "mean": [0, 128, 0], "std": 2, "channels": "bgr"}}}'
reads '127.500 0.000 0.000'
expect 0 'here as bgr, range 0:255, mean 0,128,0, scale 0.5' info net.onnx --backend cpu
reads '0.500 -63.749 0.000' --range 0:1
reads '0.000 0.000 127.500' --channels rgb
reads '0.000 0.502 1.000' --description none
describe '{"tessera": 1, "outputs": {"y": {"range": [-1, 1]}}}'
expect 0 '' run net.onnx --backend cpu -i dot.png -o out.png
cp out.png dot.png
reads '0.502 0.753 1.000' --description none
expect 0 '' run net.onnx --backend cpu -i dot.npy -o dot.png --description none
describe '{"tessera": 1, "inputs": {"x": {"size": [2, 1]}}}'
expect 0 'y [1, 3, 1, 2]' run net.onnx --backend cpu -i dot.png -o y.npy
expect 0 'y [1, 3, 1, 4]' run net.onnx --backend cpu -i dot.png -o y.npy --dim W=4
expect 0 'GFLOP/s' bench net.onnx --backend cpu --runs 1
expect 0 'described by net.json: task unknown' info net.onnx --backend cpu

# ---- labels ------------------------------------------------------------------------------------------

printf 'cat\ndog\nowl\n' >names.txt
for labels in '"names.txt"' '["cat", "dog", "owl"]'; do
    printf '{"tessera": 1, "task": "classification", "labels": %s}' "$labels" >scores.json
    expect 0 '2           dog' run scores.onnx --backend cpu -i s.npy
done
printf 'pug\npug\npug\n' >pugs.txt
expect 0 'pug' run scores.onnx --backend cpu -i s.npy --labels pugs.txt
printf '{"tessera": 1, "task": "other"}' >scores.json
"$tool" run scores.onnx --backend cpu -i s.npy >told
check 'no classes of another task' sh -c '! grep -q "^ *1  2" told'
cp scores.onnx net.onnx
with_metadata labels $'\xef\xbb\xbfcat\r\ndog\r\nowl:barn\r\n\r\n' lines.onnx
with_metadata classes 'cat, dog, owl:barn' commas.onnx
with_metadata tessera '{"tessera": 1, "labels": ["cat", "dog", "owl:barn"]}' whole.onnx
with_metadata names "{0: 'cat', 1: 'dog', 2: \"owl:barn\"}" dictionary.onnx
for names in '{0: 1}' "{1: 'dog', 0: 'cat', 2: 'owl:barn'}" "{'cat': 0}" "{'cat': 'a'}"; do
    with_metadata names "$names" wrong-names.onnx
    expect 0 'is not a dictionary of texts by number, from 0 on: not read as names of classes' \
        run wrong-names.onnx --backend cpu -i s.npy
done
printf 'dog\ncat\nowl:barn\n' >wanted-names
for model in lines commas whole dictionary; do
    "$tool" run $model.onnx --backend cpu -i s.npy >told
    sed -n 's/^ .* //p' told >names
    check "labels of $model.onnx" diff names wanted-names
done
expect 0 '' convert whole.onnx -o converted.onnx
expect 0 '2           dog' run converted.onnx --backend cpu -i s.npy
with_metadata tessera '{"tessera": 1, "task": "x"}' wrong.onnx
expect 2 "wrong.onnx: metadata: task: there is no 'x'" info wrong.onnx
expect 2 "'keypoints'; --description none reads no metadata" info wrong.onnx
expect 0 '' info wrong.onnx --description none
with_metadata classes 1000 wrong.onnx
expect 2 "has 1 labels, but output 't' is [1, 3]; --description none reads no metadata" \
    run wrong.onnx --backend cpu -i s.npy

# ---- written, and read again -------------------------------------------------------------------------

expect 0 '' describe lines.onnx -o there/lines.json
expect 0 '2           dog' run net.onnx --description there/lines.json --backend cpu -i s.npy
"$tool" describe lines.onnx >again.json 2>err
check 'describe prints what it writes' cmp again.json there/lines.json
expect 0 '' describe lines.onnx --description again.json -o third.json
check 'a description describes itself' cmp again.json third.json

# ---- kept --------------------------------------------------------------------------------------------

"$build/make_case" 17 'Identity x[1,3,H,W] -> net' net.onnx
describe '{"tessera": 1}'
kept() { # kept COMMAND ARGUMENTS...
    expect 2 'net.json: is the description of the model net.onnx' "$1" net.onnx --backend cpu "${@:2}"
    [ "$(cat net.json)" = '{"tessera": 1}' ] && report yes kept || report no "kept by $*"
}
kept run -i dot.png -o net.json
kept run -i dot.png -o ./net.json --description none
kept run -i dot.png -o ./ --format json
mkdir nets && cp dot.png nets/net.png
kept run -i nets -o './*.json'
kept bench --runs 1 --json net.json
expect 2 'net.json: is the description of' convert net.onnx -o smaller.onnx --json net.json
printf '{"shape": [1]}' >net.json
expect 0 '' run net.onnx --backend cpu -i dot.png -o net.json

# ---- what does not fit -------------------------------------------------------------------------------

"$build/make_case" 17 'Identity x[1,3,H,W] -> y' net.onnx
refused "net.json: tasc: unknown key; the nearest is 'task'" '{"tessera": 1, "tasc": 1}'
refused "net.json: task: there is no 'detector'; the nearest: 'detection'" '{"tessera": 1, "task": "detector"}'
refused 'net.json: task: is not a text' '{"tessera": 1, "task": 7}'
refused "net.json: inputs.z: unknown key; the nearest is 'x'" '{"tessera": 1, "inputs": {"z": {}}}'
refused "net.json: outputs.x: unknown key; the nearest is 'y'" '{"tessera": 1, "outputs": {"x": {}}}'
refused 'net.json: inputs.x: is not an object' '{"tessera": 1, "inputs": {"x": 1}}'
refused 'net.json: inputs.x.range: is not a list of 2 to 2 elements' '{"tessera": 1, "inputs": {"x": {"range": 1}}}'
refused 'net.json: inputs.x.mean: is not a number' '{"tessera": 1, "inputs": {"x": {"mean": ["a"]}}}'
refused 'net.json: inputs.x.std: is 0' '{"tessera": 1, "inputs": {"x": {"std": 0}}}'
refused 'net.json: inputs.x.type: the model has float32' '{"tessera": 1, "inputs": {"x": {"type": "int8"}}}'
refused 'net.json: inputs.x.shape: the model has [1, 3, H, W]' '{"tessera": 1, "inputs": {"x": {"shape": [1, 4, 8, 8]}}}'
refused "net.json: outputs.y.mean: unknown key" '{"tessera": 1, "outputs": {"y": {"mean": 1}}}'
refused 'net.json: tessera: is not 1' '{"tessera": 2}'
refused "net.json: decode.boxes: there is no 'b'; the nearest: 'y'" '{"tessera": 1, "decode": {"type": "ssd", "boxes": "b"}}'
refused 'net.json: decode.scores: is missing' '{"tessera": 1, "decode": {"type": "ssd", "boxes": "y"}}'
refused 'net.json: labels: is neither' '{"tessera": 1, "labels": 1}'
refused 'net.json: labels: is neither' '{"tessera": 1, "labels": ""}'
refused 'none.txt' '{"tessera": 1, "labels": "none.txt"}'
refused 'net.json:1: not JSON' '{"tessera": 1'
describe '{"name": "of something else"}'
expect 0 'net.json: has no key "tessera": not read' run net.onnx --backend cpu -i dot.png
expect 2 'net.json: name: unknown key' run net.onnx --backend cpu -i dot.png --description net.json
"$build/make_case" 17 'Relu s[1,3] -> t; Softmax t -> u' scores.onnx
printf '{"tessera": 1, "labels": ["cat", "dog"]}' >scores.json
expect 2 'scores.json: has 2 labels, but output' run scores.onnx --backend cpu -i s.npy
finish
