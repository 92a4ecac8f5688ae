#!/usr/bin/env bash
# tessera run on many inputs: folders, patterns and pipes give what single runs give, in order, whole or in shards.
source "$(dirname "$0")/support/common.sh"

# raw WIDTH HEIGHT SEED: an rgb24 frame of noise
raw() { perl -e 'srand $ARGV[2]; print map { chr int rand 256 } 1 .. $ARGV[0] * $ARGV[1] * 3' "$@"; }
# picture FILE WIDTH HEIGHT SEED: the same frame as a file
picture() {
    raw "${@:2}" | perl -e 'local $/; binmode STDIN; my @p = unpack "C*", <STDIN>;
        for my $c (0 .. 2) { print pack "f<", $p[3 * $_ + $c] / 255 for 0 .. @p / 3 - 1 }' |
        npy 1 "$(header '<f4' "1, 3, $3, $2")" >picture.npy
    "$tool" run same.onnx --backend cpu -i picture.npy -o "$1" >/dev/null || report no "making $1"
}
# frame_of FILE.npy WIDTH HEIGHT: its elements as an rgb24 frame
frame_of() {
    perl -e 'local $/; binmode STDIN; $_ = <STDIN>; s/^.*?\n//s; my @e = unpack "f<*", $_; my $n = @e / 3;
        for (map { my $i = $_; map { $e[$_ * $n + $i] } 0 .. 2 } 0 .. $n - 1) {
            print chr($_ <= 0 ? 0 : $_ >= 1 ? 255 : int($_ * 255 + 0.5))
        }' <"$1"
}
same_folder() { diff -rq "$1" "$2"; }
# single BACKEND FOLDER: every input by a run of its own, as .png, .npy, and all as frames in order
single() {
    mkdir -p "$2"
    : >"$2.rgb"
    local name
    for name in "${names[@]}"; do
        "$tool" run blur.onnx --backend "$1" -i in/$name.png -o "$2/$name.png" >/dev/null &&
            "$tool" run blur.onnx --backend "$1" -i in/$name.png -o one.npy >/dev/null || report no "a run on $name"
        frame_of one.npy >>"$2.rgb"
    done
}

"$build/make_case" 17 'Identity x[1,3,H,W] -> y' same.onnx
"$build/make_case" 17 'AveragePool x[1,3,9,7] -> y kernel_shape=3,3 pads=1,1,1,1' blur.onnx
"$build/make_case" 17 'Identity x[1,1,9,7] -> y' grey.onnx
"$build/make_case" 18 'Split x[1,6,H,W] -> a b axis=1 num_outputs=2' split.onnx
"$build/make_case" 17 'Add x[1,3,9,7] z[1,3,9,7] -> y' add.onnx
names=(B10 B2 B9 a c z) # in the order of their bytes
mkdir in
: >frames
for seed in 4 2 0 5 1 3; do picture in/${names[seed]}.png 7 9 $seed; done
for seed in 0 1 2 3 4 5; do raw 7 9 $seed >>frames; done
echo 'no tensor' >in/readme.txt
cp in/a.png in/.hidden.png

# ---- each backend gives what single runs give, in order ----------------------------------------------

find_gpus
for backend in cpu "${gpus[@]}"; do
    many=(run blur.onnx --backend "$backend")
    single "$backend" "one-$backend"
    check "$backend: results differ" sh -c '[ $(md5sum "$1"/* | cut -c 1-32 | sort -u | wc -l) = 6 ]' - "one-$backend"
    expect 0 "ran on $backend: 6 files" "${many[@]}" -i in -o "many-$backend"
    check "$backend: a folder" same_folder "one-$backend" "many-$backend"
    "$tool" "${many[@]}" -i 'in/*.png' -o - >out.rgb 2>err
    check "$backend: frames in order" cmp "one-$backend.rgb" out.rgb
    "$tool" "${many[@]}" -i - --frame 7x9 -o - <frames >out.rgb 2>said
    check "$backend: frames from a pipe" cmp "one-$backend.rgb" out.rgb
    check "$backend: nothing but size and rate is said" \
        sh -c '[ $(wc -l <said) = 2 ] && grep -q "a film of 7 x 9, rgb24" said && grep -q "6 frames in .* a second" said'
done
many=(run blur.onnx --backend cpu)

# ---- names -------------------------------------------------------------------------------------------

expect 0 '2 files' "${many[@]}" -i x='in/B[29].png' -o y='made_*.npy'
check 'a pattern has its names' sh -c '[ "$(echo made_*)" = "made_B2.npy made_B9.npy" ]'
"$tool" "${many[@]}" -i in/B9.png -o B9.npy >out
check 'and its elements' cmp B9.npy made_B9.npy
cp in/a.png 'in [a].png'
expect 0 'y [1, 3, 9, 7]' "${many[@]}" -i 'in [a].png' -o y.npy # a file, whatever its name
expect 0 '6 frames' "${many[@]}" -i - --frame 7x9 -o numbered <frames
check 'frames are numbered' cmp numbered/000004.png one-cpu/c.png
expect 0 '6 frames' run grey.onnx --backend cpu -i - --frame 7x9 -o greys <frames
expect 0 '6 files' run grey.onnx --backend cpu -i in -o grey
check 'a grey frame is as grey as its file' cmp greys/000004.png grey/c.png
"$tool" run grey.onnx --backend cpu -i grey -o - 2>err | perl -e 'local $/; $_ = <STDIN>; exit !/^(?:(.)\1\1){378}$/s'
[ "${PIPESTATUS[*]}" = '0 0' ] && good=yes || good=no
report $good 'grey frames have three equal bytes'

# Another input stays the same for all; two outputs go to two folders.
"$tool" run add.onnx --backend cpu -i x=in/z.png -i z=in/a.png -o y.npy >out
expect 0 '6 files' run add.onnx --backend cpu -i in -i z=in/a.png -o 'sum_*.npy'
check 'one input of two is many' cmp y.npy sum_z.npy
mkdir six
for name in p q; do raw 4 2 7 | cat - <(raw 4 10 8) | npy 1 "$(header '<f4' '1, 6, 3, 2')" >six/$name.npy; done
expect 0 '2 files' run split.onnx --backend cpu --allow-nan -i six -o 'a_*.npy' -o 'b_*.npy'
"$tool" run split.onnx --backend cpu --allow-nan -i six/p.npy -o b=b.npy >out
expect 0 "not written: output 'b'; -o NAME=FOLDER writes another one" run split.onnx --backend cpu --allow-nan -i six \
    -o 'a_*.npy'
check 'the second output of two' cmp b.npy b_p.npy
expect 2 'two outputs would be written to the same files' run split.onnx --backend cpu -i six -o o -o ./o/
expect 2 './a_*.npy: named for two outputs' run split.onnx --backend cpu -i six -o 'a_*.npy' -o './a_*.npy'
expect 2 'is the folder of the inputs' run blur.onnx --backend cpu -i in -o ./in/
expect 0 '1 file' run blur.onnx --backend cpu -i 'in/z.*' -o 'in/../z_*.npy'

# ---- shards ------------------------------------------------------------------------------------------

for count in 1 2 4 9; do
    rm -rf union && mkdir union
    : >listed
    for ((i = 0; i < count; i++)); do
        expect 0 'ran on cpu' "${many[@]}" -i in -o part --shard $i/$count
        ls part >>listed
        mv part/* union 2>err
    done
    check "$count shards are the whole" same_folder one-cpu union
    check "$count shards share nothing" sh -c '[ -z "$(sort listed | uniq -d)" ]'
done
expect 0 '2 frames' "${many[@]}" -i - --frame 7x9 -o numbers --shard 1/3 <frames
check 'shards of frames' sh -c '[ "$(ls numbers)" = "000001.png
000004.png" ]'
check 'keep their numbers' cmp numbers/000004.png one-cpu/c.png

# From the environment of Slurm (an array of jobs, tasks of a job) and of Kubernetes. in_shard INDEX COUNT VARIABLE=VALUE... SHARD
in_shard() {
    rm -rf part
    expect_of "in shard $*" 0 'ran on cpu' env "${@:3:$#-3}" "$tool" "${many[@]}" -i in -o part --shard "${*: -1}"
    expect 0 'ran on cpu' "${many[@]}" -i in -o wanted --shard "$1/$2"
    check "the same part: $*" same_folder wanted part
    rm -rf wanted
}
array=(SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=2)
in_shard 1 3 "${array[@]}" auto
in_shard 1 4 "${array[@]}" auto/4
in_shard 3 6 "${array[@]}" SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 auto
in_shard 2 4 SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=2 auto
in_shard 0 3 "${array[@]}" SLURM_PROCID=0 SLURM_ARRAY_TASK_ID=0 auto # a script of a job is no task
in_shard 1 2 JOB_COMPLETION_INDEX=1 auto/2
not_a_shard() { # not_a_shard TEXT VARIABLE=VALUE... SHARD
    expect_of "no shard: $*" 2 "$1" env "${@:2:$#-2}" "$tool" "${many[@]}" -i in -o part --shard "${*: -1}"
}
not_a_shard 'no Slurm array' auto
not_a_shard 'give auto/N' JOB_COMPLETION_INDEX=1 auto
not_a_shard 'give auto/N' "${array[@]}" SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=3 auto
not_a_shard "index is 1, but parts are 0 to 0" "${array[@]}" auto/1
not_a_shard "SLURM_ARRAY_TASK_ID is 'x'" SLURM_ARRAY_TASK_ID=x auto/2
not_a_shard "--shard expects" "${array[@]}" auto/0

# A run that was killed goes on: what is there is not made again.
rm -rf part && mkdir part
echo done >part/a.png
expect 0 'left out: 1 of 3 inputs' "${many[@]}" -i in -o part --resume --shard 1/2
expect 0 '3 files' "${many[@]}" -i in -o part --resume --shard 0/2
check 'what was there is as it was' grep -q done part/a.png
expect 0 'left out: 6 of 6 inputs' "${many[@]}" -i in -o part --resume
rm b_p.npy # one of two outputs
expect 0 'left out: 1 of 2 inputs' run split.onnx --backend cpu --allow-nan -i six -o 'a_*.npy' -o 'b_*.npy' --resume
expect 2 'not for films' "${many[@]}" -i - --frame 7x9 -o part --resume <frames
expect 2 'not for films' "${many[@]}" -i in -o - --resume
expect 2 '--resume: no input is' "${many[@]}" -i in/a.png -o o.png --resume

# Sizes that the model leaves open are those of each file, in every shard.
mkdir sizes
head -c 50 in/a.png >sizes/0.png
picture sizes/1.png 5 4 1
picture sizes/2.png 7 9 2
picture sizes/3.png 6 3 3
expect 1 '3 files' run same.onnx --backend cpu -i sizes -o whole
for i in 0 1 2; do
    [ $i = 0 ] && code=1 || code=0
    expect $code 'ran on cpu' run same.onnx --backend cpu -i sizes -o sharded --shard $i/3
done
check 'shards agree on an open size' same_folder whole sharded
expect 0 'y [1, 3, 3, 6]' run same.onnx --backend cpu -i sharded/3.png -o y.npy

# ---- inputs that cannot be read ----------------------------------------------------------------------

mkdir mixed
cp in/a.png in/z.png mixed
head -c 60 in/c.png >mixed/c.png
expect 1 'skipped: mixed/c.png' "${many[@]}" -i mixed -o rest
expect 1 '2 files' "${many[@]}" -i mixed -o rest
check 'the others are written' sh -c '[ "$(ls rest)" = "a.png
z.png" ]'
check 'as ever' cmp rest/z.png one-cpu/z.png
expect 1 '; 1 skipped' "${many[@]}" -i mixed -o rest --fit refuse
mkdir bad
cp mixed/c.png bad
expect 2 'bad/c.png' "${many[@]}" -i bad -o rest
expect 2 'ends within frame 6: 20 bytes of 189' "${many[@]}" -i - --frame 7x9 -o cut < <(cat frames && zeros 20)
check 'the frames before a torn one are written' cmp cut/000005.png one-cpu/z.png
expect 0 '0 frames' "${many[@]}" -i - --frame 7x9 -o none </dev/null

# ---- bad use -----------------------------------------------------------------------------------------

for shard in 3/3 -1/3 1 1/ /3 1/0 1/3/5 x/3; do expect 2 '--shard expects' "${many[@]}" -i in -o o --shard=$shard; done
for frame in 7 7x 0x9 7x-9 7x9x2 99999x1; do expect 2 '--frame expects' "${many[@]}" -i - -o o --frame=$frame; done
expect 2 'raw frames need their size' "${many[@]}" -i - -o o <frames
expect 2 '--frame is for raw frames' "${many[@]}" -i in -o o --frame 7x9
expect 2 '--shard: no input is' "${many[@]}" -i in/a.png -o o.png --shard 0/2
expect 0 'in/B10.png: y [1, 3, 9, 7], min 0.2' "${many[@]}" -i in # told without -o
expect 0 '000005: y [1, 3, 9, 7], min 0.1' "${many[@]}" -i - --frame 7x9 <frames
expect 2 'one file for many' "${many[@]}" -i in -o o.png
expect 2 'one file for many' "${many[@]}" -i in -o frames
expect 2 'an output file is' "${many[@]}" -i in -o 'o/*.gif'
expect 2 'stands for' "${many[@]}" -i in -o 'o*/y.png'
expect 2 'cannot be made' "${many[@]}" -i in -o frames/such/folder
expect 2 'cannot be written' "${many[@]}" -i in -o 'frames/*.png'
expect 2 'nowhere: No such file' "${many[@]}" -i nowhere -o o
expect 2 'matches no file' "${many[@]}" -i 'in/*.jpg' -o o
expect 2 'holds no' "${many[@]}" -i none -o o
expect 2 'only one input' run add.onnx --backend cpu -i in -i - -o o
expect 2 'no file for input' run add.onnx --backend cpu -i in -o o
expect 2 'named for two' run split.onnx --backend cpu -i six -o o -o o
cp in/a.png mixed/kept.png
expect 2 'mixed/a.png: is an input' "${many[@]}" -i 'mixed/*' -o 'mixed/*.png'
check 'inputs are not written over' cmp mixed/a.png mixed/kept.png
cp made_B9.npy mixed/a.npy
expect 2 'would be written for' "${many[@]}" -i mixed -o o
expect 2 'not a picture' run split.onnx --backend cpu --allow-nan -i six -o 'o_*.npy' -o b=- --shape x=1,6,3,2 \
    --layout nhwc

# ---- pipes that wait, terminals ----------------------------------------------------------------------

# A frame is answered before the next one is there.
mkfifo to
timeout 60 "$tool" "${many[@]}" -i - --frame 7x9 -o - <to >from.rgb 2>err &
exec {feed}>to
head -c 189 frames >&$feed
for ((i = 0; i < 300; i++)); do [ "$(wc -c <from.rgb)" = 189 ] && break || sleep 0.1; done
check 'a frame is answered at once' cmp -n 189 from.rgb one-cpu.rgb
exec {feed}>&-
wait $!
report "$([ $? = 0 ] && echo yes || echo no)" 'and the pipe ends well'

if command -v script >/dev/null; then
    script -qec "'$tool' ${many[*]} -i in -o bar" /dev/null >screen </dev/null
    check 'a bar on a terminal' grep -q '\[###* *\] 3 of 6, .*\[#*\] 6 of 6, ' screen
fi
check 'no temporary file is left' sh -c '[ -z "$(find . -name "*.tmp")" ]'
finish
