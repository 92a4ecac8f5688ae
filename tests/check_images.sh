#!/usr/bin/env bash
# Elements and pixels: what images become as tensors and back, and which differences compare and check let pass.
source "$(dirname "$0")/support/common.sh"

floats() { perl -e 'print pack("f<*", @ARGV)' -- "$@"; }
doubles() { perl -e 'print pack("d<*", @ARGV)' -- "$@"; }
# made FILE SHAPE ELEMENT...: a tensor
made() { floats "${@:3}" | npy 1 "$(header '<f4' "$2")" >"$1"; }
# elements FILE: those of a tensor that the tool wrote
elements() {
    perl -e 'local $/; binmode STDIN; $_ = <STDIN>; s/^.*?\n//s; print join(" ", map { sprintf "%.3f", $_ } unpack("f<*", $_))' <"$1"
}
# holds NAME TENSOR WANTED
holds() {
    local got
    got=$(elements "$2")
    [ "$got" = "$3" ] && report yes "$1" || report no "$1" "'$got' instead of '$3'"
}
passing() { "$build/make_case" 17 "Identity x[$1] -> y" "$2.onnx"; }
through() { expect 0 '' run "$1.onnx" --backend cpu -i "$2" -o "$3" "${@:4}"; }
reads() { # reads WANTED MODEL IMAGE OPTIONS...
    through "$2" "$3" y.npy "${@:4}"
    holds "$3 by $2 ${*:4}" y.npy "$1"
}

passing 1,3,H,W rgb
passing 1,4,H,W rgba
passing 1,1,H,W grey
passing 1,H,W,3 last
passing N vector

# ---- images ------------------------------------------------------------------------------------------

made colour.npy '1, 3, 1, 1' 0 0.5 1
through rgb colour.npy colour.png
reads '0.000 0.502 1.000' rgb colour.png
reads '-1.000 0.004 1.000' rgb colour.png --range -1:1
reads '1.000 0.498 0.000' rgb colour.png --range 1:0
reads '1.000 0.502 0.000' rgb colour.png --channels bgr
reads '-1.000 0.004 1.000' rgb colour.png --mean 0.5 --scale 2
reads '-2.000 0.502 3.000' rgb colour.png --mean 1,0,0 --scale 2,1,3
reads '0.000 0.000 1.000' rgb colour.png --threshold 0.6
reads '0.000 1.000 1.000' rgb colour.png --threshold 0.5
through rgb colour.npy signed.png --out-range -1:1
reads '0.502 0.749 1.000' rgb signed.png
through rgb colour.npy swapped.png --channels bgr
reads '1.000 0.502 0.000' rgb swapped.png
made clamped.npy '1, 3, 1, 1' -3 0.2 7
through rgb clamped.npy clamped.png
reads '0.000 0.200 1.000' rgb clamped.png

made alpha.npy '1, 4, 1, 1' 0 0.5 1 0.5
through rgba alpha.npy alpha.png
reads '0.498 0.750 1.000' rgb alpha.png # over white
reads '0.000 0.502 1.000 0.502' rgba alpha.png
reads '0.000 0.502 1.000 1.000' rgba colour.png

made pair.npy '1, 3, 1, 2' 0 0.2 0.4 0.6 0.8 1
through rgb pair.npy pair.png
reads '0.000 0.200 0.400 0.600 0.800 1.000' rgb pair.png
reads '0.000 0.400 0.800 0.200 0.600 1.000' last pair.png
made line.npy '1, 1, 1, 4' 0 0.2 0.4 0.6
through grey line.npy line.png
reads '0.000 0.200 0.400 0.600' grey line.png
reads '0.200 0.400' grey line.png --dim H=1 --dim W=2 --fit crop

# Above zero a mosaic is warm, below it is cool; full colour is near white.
for sign in '' -; do
    made some.npy '1, 1, 1, 4' ${sign}0.2 ${sign}0.2 ${sign}1 ${sign}1
    expect 0 '1 channels of 4 x 1' show grey.onnx -i some.npy --backend cpu --layer y -o mosaic.png
    through rgb mosaic.png y.npy --dim H=1 --dim W=1
    elements y.npy | awk -v sign=${sign}1 '{ exit !(sign * ($1 - $3) > 0.05) }' && good=yes || good=no
    report $good "the colour of ${sign}0.2" "$(elements y.npy)"
done
made nan.npy '1, 1, 1, 2' nan -1
expect 0 'from -1 to -1, NaN or infinity in magenta' \
    show grey.onnx -i nan.npy --allow-nan --backend cpu --layer y -o mosaic.png
made nan.npy '1, 1, 1, 1' nan
expect 0 'nothing but NaN' show grey.onnx -i nan.npy --allow-nan --backend cpu --layer x -o mosaic.png

# ---- .npy --------------------------------------------------------------------------------------------

doubles 1.5 -2.25 | npy 1 "$(header '<f8' '2,')" >double.npy
through vector double.npy y.npy
holds 'doubles' y.npy '1.500 -2.250'
check 'a vector has its comma' grep -aq "'shape': (2,)" y.npy

# ---- differences -------------------------------------------------------------------------------------

differs() { # differs CODE SHAPE "ELEMENTS" "EXPECTED" OPTIONS...
    read -ra ours <<<"$3"
    read -ra theirs <<<"$4"
    made ours.npy "$2" "${ours[@]}"
    made theirs.npy "$2" "${theirs[@]}"
    "$build/make_case" 17 "Identity x[${2// /}] -> y" same.onnx
    expect "$1" '' compare same.onnx -i ours.npy --allow-nan --backends cpu --expect theirs.npy "${@:5}"
}
differs 0 '1, 1, 1, 3' '2 1 0' '2 1 0.00019' # 1e-4 of the largest
differs 1 '1, 1, 1, 3' '2 1 0' '2 1 0.00021'
differs 0 '1, 1, 1, 3' '2 1 0' '2.002 1 0'   # 1e-3 of the element
differs 1 '1, 1, 1, 3' '2 1 0' '2.003 1 0'
differs 1 '1, 1, 1, 3' '2 1 0' '2.001 1 0' --rtol 0
differs 0 '1, 1, 1, 3' '2 1 0' '2.001 1 0' --rtol 0 --atol 1e-3
differs 1 '1, 1, 1, 3' 'nan 1 0' '2 1 0'
differs 1 '1, 1, 1, 3' '2 1 0' 'nan 1 0'
differs 0 '1, 1, 1, 3' 'nan 1 0' 'nan 1 0'
differs 0 '1, 1, 1, 3' 'inf -inf 0' 'inf -inf 0'
differs 1 '1, 1, 1, 3' 'inf inf 0' 'inf -inf 0'
# The best of a row of scores.
differs 1 '2, 3' '0 1 1.00001 0 1 2' '0 1.00001 1 0 1 2'
differs 1 '1, 3, 1, 1' '0 1 1.00001' '0 1.00001 1'
differs 0 '1, 1, 1, 3' '0 1 1.00001' '0 1.00001 1' # no scores
differs 0 '2, 3' '0 1 1.00001 0 1 2' '0 1 1 0 1 2' # as good as the best
differs 1 '1, 3' 'nan 1 1.00001' 'nan 1.00001 1'

# check: the same elements in another shape.
mkdir -p shapes/test_data_set_0
tensor() { # tensor NAME DIMENSION DIMENSION: a TensorProto of two elements
    printf '\x08'"\\x0$2"'\x08'"\\x0$3"'\x10\x01\x42\x01%s\x4a\x08' "$1"
    floats 1 2
}
"$build/make_case" 17 'Identity x[1,2] -> y' shapes/model.onnx
tensor x 1 2 >shapes/test_data_set_0/input_0.pb
tensor y 1 2 >shapes/test_data_set_0/output_0.pb
expect 0 'PASS shapes' check shapes --backend cpu
tensor y 2 1 >shapes/test_data_set_0/output_0.pb
expect 1 "output 'y' is [1, 2] instead of [2, 1]" check shapes --backend cpu
finish
