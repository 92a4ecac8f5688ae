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

# ---- photos, other formats --------------------------------------------------------------------------

# exif ORIENTATION ENDIAN FILE: a photo with the tag; FILE's start is replaced
exif() {
    perl -e 'my ($o, $big, $file) = @ARGV; local $/; open my $f, "<:raw", $file; my $jpeg = <$f>;
        my ($s, $l) = $big eq "big" ? ("n", "N") : ("v", "V");
        my $tiff = ($big eq "big" ? "MM" : "II") . pack("$s$l", 42, 8) .
            pack("$s ${s}${s}${l}${s}x2 ${s}${s}${l}${s}x2 $l", 2, 0x100, 3, 1, 99, 0x112, 3, 1, $o, 0);
        my $body = "Exif\0\0$tiff";
        my $fill = $big eq "big" ? "" : "\xff\xff"; # JPEG allows such bytes before a marker
        print "\xff\xd8$fill\xff\xe1" . pack("n", 2 + length $body) . $body . substr($jpeg, 2)' "$@"
}
# A picture of 16 x 8: white above left, gray above right, black below.
perl -e 'print pack "f<*", map { my $y = int(($_ % 128) / 16); my $x = $_ % 16; $y > 3 ? 0 : $x < 8 ? 1 : 0.5 } 0 .. 383' |
    npy 1 "$(header '<f4' '1, 3, 8, 16')" >photo.npy
through rgb photo.npy photo.jpg
corners() { # corners FILE: of the gray picture, as digits: 0, 1 (gray) or 2, above left, right, below left, right
    perl -e 'local $/; binmode STDIN; $_ = <STDIN>; /\((?:1, 1, )?(\d+), (\d+)\)/ or die; my ($h, $w) = ($1, $2);
        s/^.*?\n//s; my @e = unpack "f<*", $_;
        print "$w $h ", map { int($e[$_] * 2 + 0.5) } $w + 1, 2 * $w - 2, ($h - 2) * $w + 1, ($h - 1) * $w - 2' <"$1"
}
n=0
for wanted in '16 8 2100' '16 8 1200' '16 8 0012' '16 8 0021' '8 16 2010' '8 16 0201' '8 16 0102' '8 16 1020'; do
    n=$((n + 1))
    for endian in big little; do
        exif $n $endian photo.jpg >turned.jpg
        through grey turned.jpg y.npy
        got=$(corners y.npy)
        [ "$got" = "$wanted" ] && report yes "orientation $n" || report no "orientation $n, $endian" "'$got', not '$wanted'"
    done
done
for bad in 0 9 65535; do
    exif $bad big photo.jpg >turned.jpg
    through grey turned.jpg y.npy
    [ "$(corners y.npy)" = '16 8 2100' ] && report yes bad || report no "orientation $bad is ignored"
done
exif 6 big photo.jpg >turned.jpg
for size in 4 5 6 11 12 20 30 40 48 52; do # headers that end early
    { head -c $size turned.jpg; tail -c +3 photo.jpg; } >cut.jpg
    "$tool" run grey.onnx -i cut.jpg -o y.npy --backend cpu >out 2>err
    [ $? -le 2 ] && report yes cut || report no "a header cut after $size bytes"
done

printf 'P6\n# of\n2 1\n255\n\0\200\377abc' >two.ppm
reads '0.000 0.380 0.502 0.384 1.000 0.388' rgb two.ppm
printf 'P5 2 1 255\n\0\377' >two.pgm
reads '0.000 1.000' grey two.pgm
printf '\0\0\2\0\0\0\0\0\0\0\0\0\1\0\1\0\030\040\377\200\0' >one.tga
reads '0.000 0.502 1.000' rgb one.tga
printf 'BM:\0\0\0\0\0\0\0\066\0\0\0\050\0\0\0\1\0\0\0\1\0\0\0'\
'\1\0\030\0\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\377\200\0\0' >one.bmp
reads '0.000 0.502 1.000' rgb one.bmp
printf 'GIF89a\1\0\1\0\200\0\0\0\200\377\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;' >one.gif
reads '0.000 0.502 1.000' rgb one.gif
# A lossless WebP of one red pixel.
printf 'RIFF\032\0\0\0WEBPVP8L\015\0\0\0\057\0\0\0\020\007\020\021\021\210\210\376\007\0' >one.webp
if "$tool" run rgb.onnx --backend cpu -i one.webp -o y.npy >out 2>err; then
    elements y.npy >out && grep -Eq '^[01].000 [01].000 [01].000$' out && report yes webp || report no webp
    head -c 24 one.webp >cut.webp
    expect 2 'cut.webp: cannot be read as an image' run rgb.onnx --backend cpu -i cut.webp -o y.npy
else
    expect 2 'install libwebp-dev' run rgb.onnx --backend cpu -i one.webp -o y.npy
fi
mkdir folder folder/inner
cp two.ppm one.bmp folder
touch folder/notes.txt
expect 0 'left out: folder/notes.txt' run rgb.onnx --backend cpu -i folder -o folder_out --dim H=1 --dim W=2
expect 0 'left out: folder/inner is a folder' run rgb.onnx --backend cpu -i folder -o folder_out --dim H=1 --dim W=2

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
