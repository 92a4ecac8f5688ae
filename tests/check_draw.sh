#!/usr/bin/env bash
# tessera run --draw: heads of every type decoded from made outputs with known boxes, drawn pixels, and the faces and the
# mask of the networks of $TSR_MODELS on their own inputs.
source "$(dirname "$0")/support/common.sh"
models=${TSR_MODELS:-$source/../shared/models}

# made FILE SHAPE [AT=VALUE]...: zeros but for these elements
made() {
    perl -e 'my ($shape, @set) = @ARGV; my $n = 1; $n *= $_ for split /,/, $shape; my @e = (0) x $n;
        for (@set) { my ($at, $v) = split /=/; $e[$at] = $v } print pack "f<*", @e' -- "$2" "${@:3}" |
        npy 1 "$(header '<f4' "$2")" >"$1"
}
# case_of BOXES SCORES: heads.onnx, whose outputs boxes and scores are inputs
case_of() { "$build/make_case" 17 "Identity p[1,3,32,32] -> q; Identity b[$1] -> boxes!; Identity s[$2] -> scores" heads.onnx; }
draws() { # draws TEXT WHAT ARGUMENTS...
    expect 0 "$1" run heads.onnx --backend cpu -i p=p.npy -i b=b.npy -i s=s.npy --draw "$2" -o out.png "${@:3}"
}
decode() { printf '{"tessera": 1, "decode": {%s}}' "$1" >heads.json; }
pixel() { # pixel NAME X Y WANTED: of out.png
    "$build/make_case" 17 'Identity x[1,3,32,32] -> y' same.onnx
    "$tool" run same.onnx --backend cpu -i out.png -o pixels.npy >/dev/null
    local got
    got=$(perl -e 'my ($x, $y) = @ARGV; local $/; binmode STDIN; $_ = <STDIN>; s/^.*?\n//s; my @e = unpack "f<*", $_;
        print join " ", map { sprintf "%.1f", $e[$_ * 1024 + $y * 32 + $x] } 0 .. 2' "$2" "$3" <pixels.npy)
    [ "$got" = "$4" ] && report yes "$1" || report no "$1" "'$got' instead of '$4'"
}
made p.npy 1,3,32,32

# ---- heads -------------------------------------------------------------------------------------------

# Final boxes: the second overlaps the first, the third is of another class, the fourth too bad.
case_of 1,4,4 1,4,3
made b.npy 1,4,4 0=0.25 1=0.25 2=0.75 3=0.5 4=0.25 5=0.25 6=0.75 7=0.53125 8=0.25 9=0.25 10=0.75 11=0.5 14=1 15=1
made s.npy 1,4,3 1=0.9 4=0.8 8=0.7 10=0.3
decode '"type": "ssd", "boxes": "boxes", "scores": "scores", "background": 0'
draws 'box 0   0.900  x 8 to 24, y 8 to 16  class 1' boxes
draws '2 boxes of a score above 0.5' boxes
pixel 'the rim of the box' 8 12 '0.0 1.0 0.2'
pixel 'nothing in it' 16 12 '0.0 0.0 0.0'
draws '3 boxes of a score' boxes --score 0.2
decode '"type": "ssd", "boxes": "boxes", "scores": "scores", "background": 0, "nms": 0.99'
draws '3 boxes of a score' boxes
decode '"type": "ssd", "boxes": "boxes", "scores": "scores", "format": "center", "units": "pixels", "background": 0'
made b.npy 1,4,4 0=16 1=8 2=4 3=2
draws 'x 14 to 18, y 7 to 9  class 1' boxes

# Boxes far outside, and a score that is NaN: the class is another.
made b.npy 1,4,4 0=1e30 1=1e30 2=1e25 3=1e25 4=-1e30 5=16 6=1e28 7=4
made s.npy 1,4,3 1=0.9 3=nan 5=0.8
decode '"type": "ssd", "boxes": "boxes", "scores": "scores", "format": "center", "units": "pixels"'
draws '2 boxes of a score' boxes --allow-nan
draws 'y 14 to 18  class 2' boxes --allow-nan

# Priors of two sizes: cell (1, 0), the larger one, moved by a tenth of its size.
case_of 1,8,4 1,8,2
made b.npy 1,8,4 12=1
made s.npy 1,8,2 7=0.9
decode '"type": "ssd", "boxes": "boxes", "scores": "scores", "background": 0, "strides": 16, "sizes": [[8, 16]]'
draws 'box 0   0.900  x 18 to 34, y 0 to 16  class 1' boxes
printf '{"tessera": 1, "labels": ["none", "face"], "decode": {"type": "ssd", "boxes": "boxes", "scores": "scores",
    "background": 0, "activation": "softmax", "strides": [16], "sizes": [[8, 16]]}}' >heads.json
draws '0.711  x 18 to 34, y 0 to 16  face' boxes

# YuNet: cell (1, 1) of stride 16, the square root of both scores, a point.
yunet='Identity p[1,3,32,32] -> q; Identity b[1,4,4] -> boxes!; Identity s[1,4,1] -> scores!; Identity o[1,4,1] -> obj!; '
"$build/make_case" 17 "${yunet}Identity k[1,4,2] -> points" heads.onnx
decode '"type": "yunet", "boxes": "boxes", "scores": "scores", "objectness": "obj", "landmarks": "points", "strides": 16'
made b.npy 1,4,4 12=0.5 13=0.5
made s.npy 1,4,1 3=0.81
made o.npy 1,4,1 3=1
made k.npy 1,4,2 6=0.25 7=0.75
draws 'box 0   0.900  x 16 to 32, y 16 to 32  class 0  points 20,28' keypoints -i o=o.npy -i k=k.npy
pixel 'the point' 20 28 '0.0 1.0 0.2'

# BlazeFace: two anchors in each of four cells; pixels from the cell's centre, a sigmoid.
case_of 1,8,6 1,8,1
decode '"type": "blazeface", "boxes": "boxes", "scores": "scores", "strides": 16, "per_cell": 2'
made b.npy 1,8,6 18=2 19=1 20=8 21=4 22=-3 23=3
made s.npy 1,8,1 0=-9 1=-9 2=-9 3=2 4=-9 5=-9 6=-9 7=-9
draws 'box 0   0.881  x 22 to 30, y 7 to 11  class 0  points 21,11' keypoints

# NanoDet: sides as distributions over 0 and 1, in an output of their own and behind the scores.
case_of 1,4,8 1,4,1
decode '"type": "nanodet", "boxes": "boxes", "scores": "scores", "strides": 16, "bins": 2'
made b.npy 1,4,8 25=1.0986123 # a left side of 3/4
made s.npy 1,4,1 3=0.7
draws 'box 0   0.700  x 4 to 24, y 8 to 24  class 0' boxes
decode '"type": "nanodet", "boxes": "boxes", "scores": "scores", "strides": 16, "bins": 2, "offset": 0.5'
draws 'box 0   0.700  x 12 to 32, y 16 to 32  class 0' boxes
case_of 1,4,8 1,4,9
decode '"type": "nanodet", "scores": "scores", "strides": 16, "bins": 2'
made s.npy 1,4,9 27=0.7
draws 'box 0   0.700  x 8 to 24, y 8 to 24  class 0' boxes

# Maps: a class of five by the largest, points where heat is.
case_of 1,1,4,4 1,5,4,4
made b.npy 1,1,4,4 5=0.9
made s.npy 1,5,4,4 37=1
decode '"type": "mask", "scores": "scores", "background": 0'
draws 'class 2      6.2 % of the picture' classes
pixel 'half a colour where the class is' 8 8 '0.0 0.2 0.5'
pixel 'no colour elsewhere' 0 0 '0.0 0.0 0.0'
decode '"type": "mask", "scores": "boxes"'
draws 'class 0      6.2 % of the picture' mask
decode '"type": "heatmaps", "scores": "scores"'
draws 'point 2   1.000  12,12' keypoints
decode '"type": "heatmaps", "scores": "scores", "activation": "sigmoid", "threshold": 0.6'
draws 'point 2   0.731  12,12' keypoints

# ---- many pictures -----------------------------------------------------------------------------------

case_of 1,1,4,4 1,5,4,4
made b.npy 1,1,4,4
made s.npy 1,5,4,4 37=1
decode '"type": "mask", "scores": "scores", "background": 0'
"$build/make_case" 17 'Identity x[1,3,32,32] -> y' same.onnx
mkdir photos
made light.npy 1,3,32,32 0=1
"$tool" run same.onnx --backend cpu -i light.npy -o photos/light.png >said
"$tool" run same.onnx --backend cpu -i p.npy -o photos/dark.png >said
printf 'a text' >photos/text.png
many() { expect "$1" "$2" run heads.onnx --backend cpu -i p="$3" -i b=b.npy -i s=s.npy --draw classes "${@:4}"; }
many 1 'class 2      6.2 % of the picture' photos -o drawn
cp out told
check 'each by its name' sh -c 'grep photos/ told | tr "\n" " " | grep -qx "photos/dark.png photos/light.png "'
check 'each drawing is told of' [ "$(grep -c 'class 2  ' told)" = 2 ]
for name in dark light; do
    many 0 'class 2' photos/$name.png -o out.png
    check "$name as it is alone" cmp out.png drawn/$name.png
done
many 1 'photos/light.png' photos -o film.y4m
many 0 '000001' film.y4m -o 'frames_*.jpg'
check 'a film of two drawings' test -s frames_000001.jpg
many 2 'a drawing is .png or .jpg' photos -o 'drawn/*.npy'
many 2 'drawn: named for an output and for the drawing' photos -o drawn -o boxes=drawn
many 2 'two outputs would be written to the same files' photos -o drawn -o boxes=drawn/
made b.npy 1,1,4,3
case_of 1,1,4,3 1,5,4,4
decode '"type": "blazeface", "boxes": "boxes", "scores": "scores", "strides": 8, "per_cell": 1'
expect 2 "photos/dark.png: decode: output 'boxes'" run heads.onnx --backend cpu -i p=photos -i b=b.npy -i s=s.npy \
    --draw boxes -o drawn

# ---- what does not fit -------------------------------------------------------------------------------

fails() { expect 2 "$1" run heads.onnx --backend cpu -i p=p.npy -i b=b.npy -i s=s.npy "${@:2}"; }
misfit() { # misfit TEXT DECODE: a decoding that the outputs do not fit
    decode "$2"
    fails "$1" --draw boxes -o out.png
}
fails 'no description tells how its outputs are decoded' --draw boxes -o out.png --description none
fails 'one -o without an output' --draw keypoints
fails 'a drawing is .png or .jpg' --draw keypoints -o out.npy
fails '--score is for --draw' --score 0.5
fails 'is not one of: none, boxes' --draw faces -o out.png
fails 'out.png: named for an output and for the drawing' --draw keypoints -o out.png -o boxes=out.png
decode '"type": "heatmaps", "scores": "scores", "activation": "softmax"'
fails 'heads.json: decode.activation: of heatmaps is none or sigmoid' --draw keypoints -o out.png
case_of 1,4,4 1,3,2
made b.npy 1,4,4
made s.npy 1,3,2
decode '"type": "ssd", "boxes": "boxes", "scores": "scores"'
fails '--draw keypoints: no description tells' --draw keypoints -o out.png
decode '"type": "blazeface", "boxes": "boxes", "scores": "scores", "strides": 8, "per_cell": 1, "activation": "none"'
expect 0 '"activation":' describe heads.onnx
misfit "p.npy: decode: output 'scores' [1, 3, 2] has not the 4 rows of stride number 1" \
    '"type": "ssd", "boxes": "boxes", "scores": "scores", "strides": 16, "sizes": [[8]]'
misfit 'has not the 4 rows' '"type": "ssd", "boxes": "boxes", "scores": "scores", "strides": 16'
misfit 'heads.json: decode.sizes: is not a list for each of the strides' \
    '"type": "ssd", "boxes": "boxes", "scores": "scores", "sizes": [[8]]'
misfit "output 'boxes' [1, 4, 4] has other rows than 3 cells" '"type": "ssd", "boxes": "boxes", "scores": "scores"'
misfit 'heads.json: decode.sizes: is not lists' \
    '"type": "ssd", "boxes": "boxes", "scores": "scores", "strides": 16, "sizes": [[]]'
misfit 'heads.json: decode.per_cell: is not a number for each' \
    '"type": "yunet", "boxes": "boxes", "scores": "scores", "objectness": "scores", "strides": [8, 16], "per_cell": 2'
misfit "scores (scores) 2, landmarks (none) 0" '"type": "nanodet", "scores": "scores", "strides": 32, "bins": 8'
decode '"type": "mask", "scores": "scores"'
fails "p.npy: --draw mask: output 'scores' [1, 3, 2] is no map" --draw mask -o out.png
case_of 2,4,4 2,4,2
made b.npy 2,4,4
made s.npy 2,4,2
misfit "output 'scores' [2, 4, 2] is of 2 pictures" '"type": "ssd", "boxes": "boxes", "scores": "scores"'
misfit "output 'scores' [2, 4, 2] has other rows than 4 cells" \
    '"type": "ssd", "boxes": "boxes", "scores": "scores", "strides": 16, "sizes": [[8]]'
"$build/make_case" 17 'Identity p[2,3,8,8] -> q; Relu q -> scores' batch.onnx
printf '{"tessera": 1, "decode": {"type": "mask", "scores": "scores"}}' >batch.json
expect 2 'no input is a single picture' run batch.onnx --backend cpu --random --draw mask -o out.png
"$build/make_case" 17 'Relu v[1,4] -> w' vector.onnx
made v.npy 1,4
printf '{"tessera": 1, "decode": {"type": "mask"}}' >vector.json
expect 2 'no input is a single picture' run vector.onnx --backend cpu -i v.npy --draw mask -o out.png

made p.npy 1,3,4,0
"$build/make_case" 17 'Identity p[1,3,H,W] -> q; Identity b[1,1,4,4] -> boxes!; Identity s[1,5,4,4] -> scores' heads.onnx
made b.npy 1,1,4,4
made s.npy 1,5,4,4
decode '"type": "mask", "scores": "scores"'
fails 'is an empty picture' --draw mask -o out.png

# ---- networks ----------------------------------------------------------------------------------------

network() { # network NAME TEXT WHAT ARGUMENTS...
    local folder=$models/$1
    expect 0 "$2" run "$folder/model.onnx" --backend cpu -i "$folder/input_0.npy" --draw "$3" -o "$1.png" "${@:4}"
}
if [ -f "$models/index.json" ]; then
    face=(--range 0:255 --mean 127 --scale 0.0078125)
    network ultraface_rfb320 'x 120 to 173, y -1 to 58' boxes "${face[@]}"
    network yunet_n_320 'x 122 to 174, y 33 to 96' boxes --range 0:255 --channels bgr
    network yunet_n_320 'points 132,59 154,59 139,72 134,81 153,81' keypoints --range 0:255 --channels bgr
    network mediapipe_face_detection_short 'x 50 to 71, y 18 to 39' boxes --range -1:1
    network mediapipe_selfie_landscape 'class 0     47.3 % of the picture' mask
    sed -n '/^```json$/,/^```$/p' "$source/docs/description.md" | sed '/^```/d' >documented.json
    network ultraface_rfb320 'x 120 to 173, y -1 to 58  face' boxes --description documented.json
    # A photo is drawn on in its own size: here twice as large.
    "$build/make_case" 17 'Resize x[1,3,240,320] _ s<1,1,2,2> -> y mode=nearest' twice.onnx
    "$tool" run twice.onnx --backend cpu -i "$models/ultraface_rfb320/input_0.npy" -o photo.png --out-range -1:1 >said 2>&1
    expect 0 'photo-faces.png: 640 x 480' run "$models/ultraface_rfb320/model.onnx" --backend cpu -i photo.png "${face[@]}" \
        --draw boxes -o photo-faces.png
else
    lacking "the networks ($models); TSR_MODELS names their folder"
fi
finish
