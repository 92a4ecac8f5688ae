#!/usr/bin/env bash
# Pictures of sizes that a model does not declare: whole, extended, in tiles, letterboxed; luma.
source "$(dirname "$0")/support/common.sh"

photo() { # photo WIDTH HEIGHT >PPM
    perl -e 'my ($w, $h) = @ARGV; printf "P6 %d %d 255\n", $w, $h;
        for my $y (0 .. $h - 1) { for my $x (0 .. $w - 1) {
            print pack "C3", 127 + 90 * sin($x / 7) * cos($y / 11), ($x * $y / 50) % 256, 128 + 100 * sin(($x + $y) / 23)
        } }' "$@"
}
# difference A.npy B.npy: the largest of two elements, by the largest element
difference() {
    perl -e 'local $/; my @d = map { open my $f, "<:raw", $_; ($_ = <$f>) =~ s/^.*?\n//s; [unpack "f<*", $_] } @ARGV;
        my ($most, $largest) = (@{$d[0]} == @{$d[1]} ? 0 : 1e9, 1);
        for (@{$d[0]}) { $largest = abs if abs > $largest }
        for (0 .. $#{$d[0]}) { my $d = abs($d[0][$_] - $d[1][$_]); $most = $d if !($d <= $most) }
        print $most / $largest' "$@"
}
close_to() { # close_to NAME A.npy B.npy
    local d
    d=$(difference "$2" "$3")
    awk -v d="$d" 'BEGIN { exit !(d <= 1e-4) }' && report yes "$1" || report no "$1" "they differ by $d"
}
make() { "$build/make_case" 18 "$1" "$2.onnx"; }
# tiled MODEL PICTURE SIZE BACKEND: in tiles as whole
tiled() {
    expect 0 '' run "$1.onnx" -i "$2" -o whole.npy --backend "$4"
    expect 0 'tiles of' run "$1.onnx" -i "$2" -o tiles.npy --backend "$4" --tile "$3"
    close_to "$1 on $4 in tiles of $3" whole.npy tiles.npy
}

photo 61 43 >photo.ppm
photo 64 48 >even.ppm
photo 20 16 >declared.ppm
make "Conv x[1,3,16,20] w{8,3,3,3} -> a strides=2,2 pads=1,1,1,1; Relu a -> b; ConvTranspose b v{8,4,4,4} -> c \
strides=2,2 pads=1,1,1,1; Conv x u{4,3,5,5} -> d pads=2,2,2,2; Concat c d -> e axis=1; \
Conv e t{12,8,3,3} -> f pads=1,1,1,1; DepthToSpace f -> y blocksize=2" net
make "Conv x[1,3,16,20] w{4,3,3,3} -> a dilations=2,2; AveragePool a -> b kernel_shape=3,3 auto_pad=SAME_UPPER strides=2,2; \
Resize b _ s<1,1,2,2> -> c mode=linear; Conv c v{3,4,3,3} -> y pads=1,1,1,1" valid
make 'Conv x[1,3,16,20] w{4,3,3,3} -> a pads=1,1,1,1; Reshape a s(1,4,16,20) -> b; Conv b v{3,4,3,3} -> y pads=1,1,1,1' stiff
make 'Conv x[1,3,16,20] w{3,3,3,3} -> a pads=1,1,1,1; InstanceNormalization a c{3} d{3} -> y' normal
make 'Conv x[1,3,16,20] w{5,3,3,3} -> a; GlobalAveragePool a -> y' classes
make 'Transpose x[1,16,20,3] -> a perm=0,3,1,2; Conv a w{3,3,3,3} -> b pads=1,1,1,1; Transpose b -> y perm=0,2,3,1' last
make 'Resize x[1,1,16,20] _ s<1,1,2,2> -> y mode=linear' luma
make 'Conv x[1,3,H,W] w{3,3,3,3} -> y pads=1,1,1,1' open
make 'Identity x[1,3,16,20] -> y' same
make 'AveragePool x[1,3,16,20] -> y kernel_shape=2,2 strides=2,2' half
make 'Conv x[1,3,16,20] w{3,3,3,3} -> a pads=1,1,1,1; Slice a s(0,3) e(-2,-1) q(2,3) -> y' crop
make 'Relu x[5] -> y' vector
find_gpus

# ---- whole, in tiles ---------------------------------------------------------------------------------

for backend in cpu "${gpus[@]:0:1}"; do
    tiled net even.ppm 24 $backend
    tiled valid photo.ppm 33 $backend
done
expect 0 'y [1, 3, 86, 122]' run net.onnx -i photo.ppm -o y.npy --backend cpu
expect 0 'photo.ppm: 61 x 43 is extended to 62 x 44' run net.onnx -i photo.ppm -o y.npy --backend cpu # both are odd
tiled last photo.ppm 20 cpu
tiled open photo.ppm 20 cpu
tiled half photo.ppm 20 cpu
tiled crop photo.ppm 20 cpu
expect 0 'y [1, 43, 61, 3]' run last.onnx -i photo.ppm -o y.png --backend cpu
# Tiles of the size that a layer needs.
expect 0 '4 x 4 tiles of 20 x 16' run stiff.onnx -i photo.ppm -o tiles.npy --backend cpu
make 'Conv x[1,3,16,20] w{4,3,3,3} -> a pads=1,1,1,1; Conv a v{3,4,3,3} -> y pads=1,1,1,1' loose # of the same weights
expect 0 'y [1, 3, 43, 61]' run loose.onnx -i photo.ppm -o whole.npy --backend cpu
close_to 'tiles of the declared size' whole.npy tiles.npy

# ---- what is not local -------------------------------------------------------------------------------

expect 0 'y [1, 3, 43, 61]' run normal.onnx -i photo.ppm -o y.npy --backend cpu
expect 2 "(InstanceNormalization) normalizes over all pixels" run normal.onnx -i photo.ppm -o y.npy --backend cpu --tile 32
expect 0 'photo.ppm: 61 x 43 is scaled to 20 x 16, its aspect changes' run classes.onnx -i photo.ppm -o y.npy --backend cpu
expect 2 "(GlobalAveragePool) reads the whole picture" run classes.onnx -i photo.ppm -o y.npy --backend cpu --tile 16
expect 0 'y [1, 5, 1, 1]' run classes.onnx -i photo.ppm -o y.npy --backend cpu --shape x=1,3,43,61
make 'Shape x[1,3,H,W] -> s; Cast s -> f to=1; ReduceMax f -> m keepdims=0; Div x m -> y' relative
expect 2 "its layers depend on the picture's size" run relative.onnx -i photo.ppm -o y.npy --backend cpu --tile 32
expect 2 "--tile: input 'x' [5] is no picture" run vector.onnx --random -o y.npy --backend cpu --tile 16

# ---- sizes as they are asked for ---------------------------------------------------------------------

expect 0 'y [1, 3, 30, 40]' run same.onnx -i photo.ppm -o y.npy --backend cpu --shape x=1,3,30,40
expect 0 '61 x 43 is scaled to 40 x 30' run same.onnx -i photo.ppm -o y.npy --backend cpu --shape x=1,3,30,40
expect 2 "node 'Reshape" run stiff.onnx -i photo.ppm -o y.npy --backend cpu --shape x=1,3,30,40
expect 2 'Conv' run net.onnx -i photo.ppm -o y.npy --backend cpu --shape x=1,4,30,40
expect 2 'has the shape' run net.onnx -i photo.ppm -o y.npy --backend cpu --shape x=1,3,30
expect 0 'y [1, 3, 16, 20]' run same.onnx -i photo.ppm -o y.npy --backend cpu --fit scale
expect 0 'parts of it are cut off' run same.onnx -i photo.ppm -o y.npy --backend cpu --fit crop
expect 2 'the model needs 20 x 16' run same.onnx -i photo.ppm -o y.npy --backend cpu --fit refuse
expect 0 '' run same.onnx -i declared.ppm -o y.npy --backend cpu --fit refuse
# 61 x 43 in 20 x 16 leaves bars of 2 rows: 20 x 14.
expect 0 'y [1, 3, 14, 20]' run same.onnx -i photo.ppm -o boxed.npy --backend cpu --fit pad
expect 0 'letterboxed to 20 x 16' run half.onnx -i photo.ppm -o boxed.png --backend cpu --fit pad
expect 0 'y [1, 3, 7, 10]' run half.onnx -i photo.ppm -o boxed.npy --backend cpu --fit pad
expect 0 '' run same.onnx -i photo.ppm -o wanted.npy --backend cpu --shape x=1,3,14,20
expect 0 '' run same.onnx -i photo.ppm -o boxed.npy --backend cpu --fit pad
close_to 'the bars are gone' boxed.npy wanted.npy
expect 0 'y [1, 5, 1, 1]' run classes.onnx -i photo.ppm -o y.npy --backend cpu --fit pad

# ---- luma --------------------------------------------------------------------------------------------

expect 0 'y [1, 3, 86, 122]' run luma.onnx -i photo.ppm -o colours.npy --luma --backend cpu
expect 0 'y [1, 1, 86, 122]' run luma.onnx -i photo.ppm -o gray.npy --backend cpu
make 'Identity x[1,1,H,W] -> y' gray
expect 0 'y [1, 3, 43, 61]' run gray.onnx -i photo.ppm -o colours.npy --luma --backend cpu
expect 0 '' run same.onnx -i photo.ppm -o wanted.npy --backend cpu
close_to 'luma and chroma are the picture' colours.npy wanted.npy
expect 0 '' run luma.onnx -i photo.ppm -o colours.png --luma --backend cpu --tile 20
expect 2 '--luma is for models of one channel' run same.onnx -i photo.ppm -o y.png --luma --backend cpu

# ---- folders -----------------------------------------------------------------------------------------

# alike FOLDER MODEL ARGUMENTS...: each picture of a folder is run as it is alone
alike() {
    local name
    expect 0 'a second' run "$2.onnx" -i "$1" -o 'many_*.npy' "${@:3}"
    for name in "$1"/*; do
        name=$(basename "$name" .ppm)
        expect 0 '' run "$2.onnx" -i "$1/$name.ppm" -o one.npy "${@:3}"
        check "$2: $name of $1" cmp one.npy "many_$name.npy"
    done
}
mkdir sizes
cp photo.ppm sizes/b.ppm
cp declared.ppm sizes/a.ppm
cp even.ppm sizes/c.ppm
cp photo.ppm sizes/d.ppm
for backend in cpu "${gpus[@]:0:1}"; do alike sizes net --backend $backend; done
alike sizes stiff --backend cpu
alike sizes classes --backend cpu
alike sizes open --backend cpu --tile 20
expect 0 'sizes/b.ppm: 61 x 43 is extended to 62 x 44' run net.onnx -i sizes -o net --backend cpu
expect 0 'sizes/b.ppm: 61 x 43 is scaled to 20 x 16' run same.onnx -i sizes -o same.y4m --backend cpu # frames: of one size
make 'Conv x[1,3,H,W] w{3,3,5,5} -> y' small
photo 3 2 >sizes/b2.ppm
expect 1 "skipped: sizes/b2.ppm: a picture of 2 pixels is too small" run small.onnx -i sizes -o small --backend cpu
expect 2 'sizes/b2.ppm: a picture of 2 pixels is too small' run small.onnx -i sizes/b2.ppm --backend cpu
expect 1 '4 files' run small.onnx -i sizes -o small --backend cpu
mv sizes/b2.ppm sizes/1.ppm
expect 1 '4 files' run small.onnx -i sizes -o small --backend cpu # neither does the first one end it

# ---- a network that people use -----------------------------------------------------------------------

anime4k=${TSR_MODELS:-$source/../shared/models}/anime4k_upscale_cnn_x2_m/model.onnx
if [ -e "$anime4k" ]; then
    photo 640 427 >large.ppm
    expect 0 '[1, 3, 854, 1280]' run "$anime4k" -i large.ppm -o y.png --backend cpu
    photo 160 107 >small.ppm
    expect 0 '[1, 3, 214, 320]' run "$anime4k" -i small.ppm -o whole.npy --backend cpu
    expect 0 'tiles of 64 x 64' run "$anime4k" -i small.ppm -o tiles.npy --backend cpu --tile 64
    close_to 'anime4k in tiles' whole.npy tiles.npy
    # A budget that the whole picture exceeds.
    expect 0 'tiles of' run "$anime4k" -i large.ppm -o y.png --backend cpu --max-memory 16
else
    lacking "anime4k: no $anime4k" "${TSR_MODELS:-}"
fi
finish
