#!/usr/bin/env bash
# Films: y4m and raw frames, to y4m and raw frames, as single pictures are.
source "$(dirname "$0")/support/common.sh"

# film CHROMA WIDTH HEIGHT FRAMES [FIELDS]: a y4m film of smooth colours that move
film() {
    perl -e 'my ($c, $w, $h, $n, $more) = @ARGV; my %half = map { $_ => 1 } qw(420jpeg 420mpeg2 420paldv);
        print "YUV4MPEG2 W$w H$h F30000:1001 Ip A1:1 C$c" . ($more ? " $more" : "") . "\n";
        my ($cw, $ch) = $half{$c} ? (($w + 1) >> 1, ($h + 1) >> 1) : $c eq "422" ? (($w + 1) >> 1, $h) : ($w, $h);
        for my $f (0 .. $n - 1) {
            print "FRAME\n";
            for my $y (0 .. $h - 1) { print map { chr int(125 + 60 * sin(($_ + 3 * $f) / 9) * cos($y / 7)) } 0 .. $w - 1 }
            for my $y ($c eq "mono" ? () : 0 .. 2 * $ch - 1) {
                print map { chr int(128 + 30 * sin(($_ * $w / $cw + $y + $f) / 40)) } 0 .. $cw - 1
            }
        }' "$@"
}
# apart A B HEADER MOST: whether the bytes of two y4m films differ by at most that, behind equal headers if HEADER is yes
apart() {
    perl -e 'local $/; my ($a, $b, $header, $most) = @ARGV;
        my @d = map {
            open my $f, "<:raw", $_; $_ = <$f>; s/^(.*?)\n//s;
            my $h = $1; [$h, map { [unpack "C*", $_] } split /FRAME\n/, $_, -1]
        } $a, $b;
        @{$d[0]} == @{$d[1]} && ($header ne "yes" || $d[0][0] eq $d[1][0]) or exit 1;
        for my $f (1 .. $#{$d[0]}) { my ($x, $y) = ($d[0][$f], $d[1][$f]); @$x == @$y or exit 2;
            for (0 .. $#$x) { exit 3 if abs($x->[$_] - $y->[$_]) > $most } }' "$@"
}
frames() { grep -ac '^FRAME$\|FRAME$' "$1"; }
make() { "$build/make_case" 18 "$1" "$2.onnx"; }

make 'Identity x[1,3,H,W] -> y' same
make 'Identity x[1,1,H,W] -> y' gray
make 'Transpose x[1,H,W,3] -> a perm=0,3,1,2; Identity a -> b; Transpose b -> y perm=0,2,3,1' last
make 'Resize x[1,3,16,20] _ s<1,1,2,2> -> y mode=linear' twice
make 'Conv x[1,3,16,20] w{3,3,3,3} -> a pads=1,1,1,1; InstanceNormalization a c{3} d{3} -> b; Sigmoid b -> y' style
make 'GlobalAveragePool x[1,3,12,14] -> a; Resize a _ s<1,1,12,14> -> y mode=nearest' fixed
run() { "$tool" run "$@" --backend cpu; }

# ---- colour spaces -----------------------------------------------------------------------------------

for chroma in 420jpeg 420mpeg2 420paldv 422 444 mono; do
    film $chroma 31 18 2 >in.y4m
    network=same
    [ $chroma = mono ] && network=gray
    expect 0 "a film of 31 x 18, $chroma" run $network.onnx -i in.y4m -o out.y4m --backend cpu
    check "$chroma comes back" apart in.y4m out.y4m yes 3
done
film 444 31 18 2 XCOLORRANGE=FULL >in.y4m
run same.onnx -i - -o - <in.y4m >out.y4m 2>err
check 'full range' apart in.y4m out.y4m yes 2
grep -q 'XCOLORRANGE=FULL' out.y4m && report yes range || report no 'the range is told'
# BT.601 in limited range, by hand: white, black, red.
printf 'YUV4MPEG2 W3 H1 F25:1 C444\nFRAME\n\353\020\121\200\200\132\200\200\360' >three.y4m
run same.onnx -i three.y4m -o - --video rgb24 2>err | od -An -tu1 | tr -s ' ' >bytes
check 'white, black and red' grep -qx ' 255 255 255 0 0 0 25[45] 0 [01]' bytes
expect 0 '2 frames' run last.onnx -i in.y4m -o out.y4m --backend cpu
check 'channels last' apart in.y4m out.y4m yes 2
film mono 20 16 2 >mono.y4m
expect 0 'a film of 20 x 16, 444' run same.onnx -i mono.y4m -o out.y4m --backend cpu # of a network that makes colours

# ---- raw frames, rates -------------------------------------------------------------------------------

head -c $((3 * 31 * 18 * 3)) /dev/urandom >frames.rgb
run same.onnx -i - --frame 31x18 -o - <frames.rgb >out.rgb 2>err
check 'raw frames' cmp frames.rgb out.rgb
run same.onnx -i - --frame 31x18 -o - --video y4m <frames.rgb >out.y4m 2>err
check 'raw frames as y4m' sh -c 'head -1 out.y4m | grep -q "^YUV4MPEG2 W31 H18 F25:1 Ip A0:0 C420jpeg$"'
film 420jpeg 31 18 3 >in.y4m
expect 0 'ran on cpu: 3 frames in ' run same.onnx -i in.y4m -o out.y4m --backend cpu
check 'the rate stays' sh -c 'head -1 out.y4m | grep -q "F30000:1001 Ip A1:1 C420jpeg"'
expect 0 '1 frame' run same.onnx -i in.y4m -o out.y4m --backend cpu --shard 1/3
mkdir folder
expect 0 '3 frames' run same.onnx -i in.y4m -o folder --backend cpu
check 'frames as files' [ -s folder/000002.png ]
expect 0 '3 files' run same.onnx -i folder -o pictures.y4m --backend cpu
check 'pictures as a film' sh -c 'head -1 pictures.y4m | grep -q "W31 H18 F25:1"'

# ---- as single pictures: style transfer, super-resolution --------------------------------------------

find_gpus
film 444 320 240 3 >in.y4m
expect 0 '3 frames' run same.onnx -i in.y4m -o 'in_*.png' --backend cpu
backend=${gpus[0]:-cpu}
for network in style twice; do
    expect 0 'a second' run $network.onnx -i in.y4m -o 'film_*.npy' --backend "$backend"
    expect 0 'a second' run $network.onnx -i in.y4m -o $network.y4m --backend "$backend"
    [ "$(frames $network.y4m)" = 3 ] && report yes frames || report no "$network: three frames"
    for i in 0 2; do
        expect 0 '' run $network.onnx -i in_00000$i.png -o one.npy --backend "$backend"
        check "$network, frame $i" cmp one.npy film_00000$i.npy
    done
done
expect 0 '4 x 3 tiles of 100 x 100' run twice.onnx -i in.y4m -o tiles.y4m --backend "$backend" --tile 100
check 'in tiles' apart twice.y4m tiles.y4m yes 1
check 'twice the size' sh -c 'head -1 twice.y4m | grep -q "W640 H480 "'
run style.onnx -i in.y4m -o - 2>err | run twice.onnx -i - -o - 2>err >both.y4m
[ "$(frames both.y4m)" = 3 ] && report yes both || report no 'one after the other'
expect 0 '320 x 240 is scaled to 14 x 12' run fixed.onnx -i in.y4m -o out.y4m --backend cpu
check 'which is told once' [ "$("$tool" run fixed.onnx -i in.y4m -o out.y4m --backend cpu 2>&1 | grep -c 'is scaled')" = 1 ]
expect 0 'a film of 14 x 10' run fixed.onnx -i in.y4m -o out.y4m --backend cpu --fit pad

# ---- bad films ---------------------------------------------------------------------------------------

film 420jpeg 20 16 4 >in.y4m
refused() { # refused TEXT FRAMES: running bad.y4m fails with TEXT, and the output has FRAMES frames
    rm -f out.y4m
    expect 2 "$1" run same.onnx -i bad.y4m -o out.y4m --backend cpu
    local got=0
    [ -e out.y4m ] && got=$(frames out.y4m)
    [ "$got" = "$2" ] && report yes kept || report no "$1: $2 frames are kept" "$got"
}
head -c 1500 in.y4m >bad.y4m
refused 'bad.y4m ends within frame 2' 2
{ cat in.y4m; film 420jpeg 22 16 1; } >bad.y4m
refused 'frame 4 is 22 x 16, those before are 20 x 16' 4
{ cat in.y4m; film 444 20 16 1; } >bad.y4m
refused 'frame 4 is 444, those before are 420jpeg' 4
{ cat in.y4m; echo hello; } >bad.y4m
refused 'frame 4 has no header' 4
{ cat in.y4m; echo; } >bad.y4m
refused 'frame 4 has no header' 4
{ cat in.y4m; film 420jpeg 20 16 1 XCOLORRANGE=FULL; } >bad.y4m
refused 'frame 4 is of another XCOLORRANGE' 4
cat in.y4m in.y4m >twofold.y4m
expect 0 '8 frames' run same.onnx -i twofold.y4m -o out.y4m --backend cpu
film 420p10 20 16 1 >bad.y4m
refused "the colour space '420p10' is not read" 0
for header in 'YUV4MPEG2 W20' 'YUV4MPEG2 W0 H3' 'YUV4MPEG2 W99999 H3' 'YUV4MPEG2 W2x H3' 'YUV4MPEG2 W2 H3 F1' \
    'YUV4MPEG2 W2 H3 F99999999999:1' 'YUV4MPEG2 W32768 H32768' 'YUV4MPEG3 W2 H2' ''; do
    echo "$header" >bad.y4m
    refused 'bad.y4m' 0
done
echo 'YUV4MPEG2 W20 H16' >bad.y4m
refused 'bad.y4m has no frame' 0
head -c 3000 /dev/zero >bad.y4m
refused 'is no y4m film' 0
expect 2 'nothing.y4m: No such file' run same.onnx -i nothing.y4m -o out.y4m --backend cpu
run same.onnx -i - -o - <frames.rgb >out 2>err
grep -q 'raw frames need their size' err && report yes raw || report no 'raw frames without a size'
expect_of 'a full disk' 2 'cannot be written to' sh -c '"$1" run same.onnx -i in.y4m -o - --backend cpu >/dev/full' - "$tool"

if command -v ffmpeg >/dev/null; then
    film 420jpeg 64 48 5 | ffmpeg -v error -i - -f yuv4mpegpipe - 2>err | run twice.onnx -i - -o - 2>err |
        ffmpeg -v error -y -i - film.mp4 2>err
    check 'through ffmpeg' [ -s film.mp4 ]
fi
finish
