#!/bin/bash
# The command line tool from outside: help, exit codes, files in and out, bad files, nothing left behind.
source "$(dirname "$0")/support/common.sh"

# ---- models and tensors ------------------------------------------------------------------------------

# One operator, x -> y, both float [N, 3, H, W]; OPERATOR has four letters.
model() {
    printf '\x08\x07\x3a\x51\x0a\x0c\x0a\x01x\x12\x01y\x22\x04%s\x12\x01g' "$1"
    local field
    for field in '\x5a\x1e\x0a\x01x' '\x62\x1e\x0a\x01y'; do
        printf "$field"'\x12\x19\x0a\x17\x08\x01\x12\x13\x0a\x03\x12\x01N\x0a\x02\x08\x03'
        printf '\x0a\x03\x12\x01H\x0a\x03\x12\x01W'
    done
    printf '\x42\x02\x10\x0d'
}

model Relu >relu.onnx
model Nope >unknown.onnx
shape='1, 3, 2, 2'
{ printf '\x00\x00\x80\x3f\x00\x00\x00\xbf\x00\x00\x00\x3f'; zeros 36; } |
    npy 1 "$(header '<f4' "$shape")" >x.npy # 1, -0.5, 0.5, 0 ...
{ printf '\x00\x00\xc0\x7f'; zeros 44; } | npy 1 "$(header '<f4' "$shape")" >nan.npy
run=(run relu.onnx --backend cpu)

# ---- help and bad use --------------------------------------------------------------------------------

expect 0 'usage: tessera COMMAND' --help
expect 0 'tessera 0.' --version
expect 2 'usage: tessera COMMAND'
expect 2 "no command 'frobnicate'" frobnicate
for command in info run bench compare check show devices; do
    expect 0 "usage: tessera $command" "$command" --help
    expect 2 "unknown option '--bogus'" "$command" --bogus
    expect 2 "unknown option '-X'" "$command" -X
    check "tessera --help names $command" sh -c "'$tool' --help | grep -q '^  $command '"
done
expect 2 'missing argument' run
expect 2 'unexpected argument' info relu.onnx relu.onnx
expect 2 'expects a value' "${run[@]}" -i
expect 2 'expects a value' "${run[@]}" -i --backend cpu
expect 2 'accepts no value' "${run[@]}" --allow-nan=yes
expect 2 'is not one of: fp32, fp16' "${run[@]}" --precision fp8
expect 2 'expects a whole number' bench relu.onnx --runs 0
expect 2 'expects a whole number' bench relu.onnx --runs 3x
expect 2 'expects LO:HI' "${run[@]}" --range 1
expect 2 'expects 1, 3 or 4 numbers' "${run[@]}" --mean 1,2
expect 2 "dimension named 'Q'" "${run[@]}" --dim Q=3 -i x.npy
expect 3 "nowhere" "${run[@]}" --backend nowhere -i x.npy
expect 0 'cpu' devices

# ---- models ------------------------------------------------------------------------------------------

for command in info run bench 'compare --backends cpu,cpu' check describe 'convert -o o.onnx' 'show --layer y -o o.png'; do
    read -ra words <<<"$command"
    expect 2 'missing.onnx: No such file' "${words[0]}" missing.onnx "${words[@]:1}"
done
mkdir hollow
expect 2 'hollow/model.onnx: No such file' check hollow
: >empty.onnx
expect 2 'empty.onnx' info empty.onnx
head -c 60 relu.onnx >cut.onnx
expect 2 'cut.onnx' info cut.onnx
head -c 5000 /dev/urandom >random.onnx
expect 2 'random.onnx' info random.onnx
expect 2 'Nope' info unknown.onnx
expect 2 '/' info /

expect 0 '[N, 3, H, W]' info relu.onnx
expect 0 '0..255 becomes 0..1' info relu.onnx
expect 0 'give --dim NAME=N' info relu.onnx --backend cpu
expect 0 'backend' info relu.onnx --backend cpu --dim N=1 --dim H=4 --dim W=4
expect 0 'Relu' info relu.onnx --backend cpu --shape x=1,3,4,4 --layers
expect 2 'give its sizes' bench relu.onnx --backend cpu

# ---- .npy in and out ---------------------------------------------------------------------------------

expect 0 'y.npy: y [1, 3, 2, 2]' "${run[@]}" -i x.npy -o y.npy
expect 0 '' "${run[@]}" -i x=y.npy -o y=z.npy
check 'Relu twice is Relu once' cmp y.npy z.npy
expect 0 'within tolerance' compare relu.onnx -i y.npy --backends cpu --expect y.npy
expect 1 'OUT OF TOLERANCE' compare relu.onnx -i x.npy --backends cpu --expect y=x.npy
expect 0 'within tolerance' compare relu.onnx -i x.npy --backends cpu --expect y=x.npy --floor 0.6
expect 2 'nothing to compare' compare relu.onnx -i x.npy --backends cpu
expect 0 "floor 0.6" compare relu.onnx -i x.npy --backends cpu --expect y=x.npy --floor 9 --floor y=0.6
expect 1 "OUT OF TOLERANCE" compare relu.onnx -i x.npy --backends cpu --expect x.npy --floor y=0.4
expect 2 "no output 'q'" compare relu.onnx -i x.npy --backends cpu --expect x.npy --floor q=1
expect 2 "expects a number" compare relu.onnx -i x.npy --backends cpu --expect x.npy --floor y=
expect 0 'within tolerance' compare relu.onnx --shape x=2,3,5,7 --backends cpu,cpu --layers
for version in 2 3; do
    tail -c 48 x.npy | npy $version "$(header '<f4' "$shape")" >version.npy
    expect 0 '' "${run[@]}" -i version.npy -o z.npy
    check "version $version reads as version 1" cmp y.npy z.npy
done
{ printf '\x00\x3c\x00\xb8\x00\x38'; zeros 18; } | npy 1 "$(header '<f2' "$shape")" >half.npy
expect 0 '' "${run[@]}" -i half.npy -o z.npy
check 'half floats read as floats' cmp y.npy z.npy
printf '\x01\xff' | { cat; zeros 10; } | npy 1 "$(header '|i1' "$shape")" >int8.npy
expect 0 '' "${run[@]}" -i int8.npy -o z.npy

bad_npy() { # bad_npy NAME: the file is on the standard input
    cat >bad.npy
    expect 2 'bad.npy' "${run[@]}" -i bad.npy
}
printf '' | bad_npy
head -c 11 x.npy | bad_npy
head -c 100 x.npy | bad_npy
head -c -1 x.npy | bad_npy
cat x.npy x.npy | bad_npy
printf '\x93NUMPY\x09\x00\x10\x00' | bad_npy
printf '\x93NUMPY\x02\x00\xff\xff\xff\xff{}' | bad_npy
zeros 48 | npy 1 "$(header '>f4' "$shape")" | bad_npy
zeros 48 | npy 1 "$(header '<c8' "$shape")" | bad_npy
zeros 48 | npy 1 "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 3, 2, 2), }" | bad_npy
zeros 48 | npy 1 "{'descr': '<f4', 'shape': (1, 3, 2, 2), }" | bad_npy
zeros 48 | npy 1 "$(header '<f4' '1, -3, 2, 2')" | bad_npy
zeros 48 | npy 1 "$(header '<f4' '99999999999999999999,')" | bad_npy
zeros 48 | npy 1 "$(header '<f4' '4294967296, 4294967296, 4294967296')" | bad_npy
zeros 48 | npy 1 "$(header '<f4' '1,1,1,1,1,1,1,1,12')" | bad_npy
zeros 48 | npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3" | bad_npy
zeros 48 | npy 1 "$(header '<f4' "$shape") import os" | bad_npy
zeros 48 | npy 1 "$(header '<f4' '3, 2, 2')" | bad_npy # another rank than the model's
zeros 64 | npy 1 "$(header '<f4' '1, 4, 2, 2')" | bad_npy # another number of channels

expect 2 'no file for input' "${run[@]}"
expect 0 'ran on cpu' "${run[@]}" --random --shape x=1,3,2,2
expect 2 "no input 'q'" "${run[@]}" -i q=x.npy
"$build/make_case" 13 "Concat$(printf ' part%d[1,2]' {1..9}) -> y axis=1" parts.onnx
expect 2 "no input 'parts3'; the most similar: 'part3', 'part1'" run parts.onnx --backend cpu -i parts3=x.npy
expect 2 'only 1 input' "${run[@]}" -i x.npy -i x.npy
expect 2 'given twice' "${run[@]}" -i x=x.npy -i x=x.npy
expect 2 'missing.npy' "${run[@]}" -i missing.npy
expect 2 'x.txt' "${run[@]}" -i x.txt
expect 2 'NaN at [0, 0, 0, 0]' "${run[@]}" -i nan.npy
expect 0 '' "${run[@]}" -i nan.npy --allow-nan
expect 1 'OUT OF TOLERANCE' compare relu.onnx -i nan.npy --allow-nan --backends cpu --expect y.npy

# ---- images ------------------------------------------------------------------------------------------

zeros 3072 | npy 1 "$(header '<f4' '1, 3, 16, 16')" >dark.npy
expect 0 '' "${run[@]}" -i dark.npy -o dark.png --out-range -1:1
expect 0 '[1, 3, 16, 16]' "${run[@]}" -i dark.png -o image.npy
expect 0 '' "${run[@]}" -i dark.png -o again.png
check 'a picture goes through unchanged' cmp dark.png again.png
expect 0 '' "${run[@]}" -i dark.png -o dark.jpg
expect 0 '[1, 3, 16, 16]' "${run[@]}" -i dark.jpg -o z.npy
expect 0 '[1, 3, 5, 7]' "${run[@]}" --dim H=5 --dim W=7 -i dark.png -o z.npy
expect 0 '[1, 3, 5, 7]' "${run[@]}" --dim H=5 --dim W=7 --fit crop -i dark.png -o z.npy
expect 2 'is 16 x 16, but the model needs 7 x 5' "${run[@]}" --dim H=5 --dim W=7 --fit refuse \
    -i dark.png
expect 2 'not a picture' "${run[@]}" --shape x=2,3,4,4 -i dark.png
head -c 40 dark.png >cut.png
expect 2 'cut.png' "${run[@]}" -i cut.png
expect 0 '3 channels of 2 x 2' show relu.onnx -i x.npy --backend cpu --layer y -o mosaic.png
expect 0 'x [1, 3, 2, 2], from -0.5 to 1' show relu.onnx -i x.npy --backend cpu --layer x -o mosaic.png
check 'the mosaic is there' test -s mosaic.png
expect 2 "named 'z'" show relu.onnx -i x.npy --backend cpu --layer z -o z.png
# Channels last: what is drawn is what the same tensor with channels first gives.
"$build/make_case" 17 'Transpose x[1,3,4,4] -> t perm=0,2,3,1; Identity t -> y' last.onnx
perl -e 'print pack("f<*", map { $_ * 37 % 48 - 20 } 1 .. 48)' | npy 1 "$(header '<f4' '1, 3, 4, 4')" >noise.npy
expect 0 '3 channels of 4 x 4' show last.onnx -i noise.npy --backend cpu --layer x -o first.png
expect 0 'channels axis 3 of [1, 4, 4, 3], guessed' show last.onnx -i noise.npy --backend cpu --layer y -o last.png
check 'the axis of channels is guessed' cmp first.png last.png
expect 0 '4 channels of 3 x 4' show last.onnx -i noise.npy --backend cpu --layer y -o last.png --axis 1
expect 0 'channels axis 2' show last.onnx -i noise.npy --backend cpu --layer y -o last.png --axis 2
expect 2 '--axis 4: the tensor is [1, 4, 4, 3]' show last.onnx -i noise.npy --backend cpu --layer y -o last.png --axis 4
expect 2 'is written as .png' show relu.onnx -i x.npy --backend cpu --layer y -o z.jpg

# ---- check -----------------------------------------------------------------------------------------

mkdir -p tests/good/test_data_set_0 tests/wrong/test_data_set_0 tests/unknown tests/hollow
tensor() { # a TensorProto of shape [1, 3, 1, 1] named $1 whose first element is $2
    printf '\x08\x01\x08\x03\x08\x01\x08\x01\x10\x01\x42\x01%s\x4a\x0c'"$2" "$1"
    zeros 8
}
for name in good wrong; do
    cp relu.onnx tests/$name/model.onnx
    tensor x '\x00\x00\x80\x3f' >tests/$name/test_data_set_0/input_0.pb
done
tensor y '\x00\x00\x80\x3f' >tests/good/test_data_set_0/output_0.pb
tensor y '\x00\x00\x00\x40' >tests/wrong/test_data_set_0/output_0.pb
cp unknown.onnx tests/unknown/model.onnx
printf '# a list\ngood # the first\n\nwrong\nunknown\nhollow\n' >list
expect 0 '1 passed, 0 failed, 0 skipped' check tests/good --backend cpu
expect 1 'FAIL tests/wrong: ' check tests/wrong --backend cpu
expect 0 'SKIP tests/unknown: ' check tests/unknown --backend cpu
expect 1 '1 passed, 2 failed, 1 skipped' check --list list --root tests --backend cpu
expect 2 'no folder' check --backend cpu
expect 2 'nolist' check --list nolist --backend cpu
expect 2 'names no folder' check --list /dev/null --backend cpu

# ---- outputs that cannot be written ------------------------------------------------------------------

expect 2 'an output file is .npy, .txt' "${run[@]}" -i x.npy -o y.gif
expect 2 'cannot be written' "${run[@]}" -i x.npy -o x.npy/folder/y.npy
mkdir -p folder.npy locked
expect 2 'is a folder' "${run[@]}" -i x.npy -o folder.npy
locked=locked
chmod a-w locked
[ -w locked ] && locked=/proc # root may write anywhere but there
expect 2 'cannot be written' "${run[@]}" -i x.npy -o $locked/y.npy
expect 2 'cannot be written' show relu.onnx -i x.npy --backend cpu --layer y -o $locked/y.png
expect 2 'cannot be written' bench relu.onnx -i x.npy --backend cpu --runs 1 --json $locked/y.json
"$build/make_case" 18 'Split x[1,4,2,2] -> a b axis=1 num_outputs=2' split.onnx
zeros 64 | npy 1 "$(header '<f4' '1, 4, 2, 2')" >four.npy
expect 2 'y.npy: named for two outputs' run split.onnx -i four.npy --backend cpu -o y.npy -o y.npy
expect 2 './y.npy: named for two outputs' run split.onnx -i four.npy --backend cpu -o y.npy -o ./y.npy
expect 0 'b.npy: b [1, 2, 2, 2]' run split.onnx -i four.npy --backend cpu -o b=b.npy -o a.npy
zeros 8 | npy 1 "$(header '<f4' '1, 2')" >two.npy
"$build/make_case" 13 "Concat$(printf ' a%d[1,2]' {1..256}) -> y axis=1" many.onnx
expect 0 'many.npy: y [1, 512]' run many.onnx $(printf -- '-i a%d=two.npy ' {1..256}) -o many.npy --backend cpu
expect 2 'given more than 256 times' run many.onnx $(printf -- '-i a%d=two.npy ' {1..257}) -o many.npy --backend cpu
zeros 384 | npy 1 "$(header '<f4' '2, 3, 4, 4')" >batch.npy
expect 2 'not a picture' "${run[@]}" -i batch.npy -o batch.png
check 'a failed picture leaves no file' test ! -e batch.png
cp dark.png kept.png
expect 2 'not a picture' "${run[@]}" -i batch.npy -o kept.png
check 'a failed picture leaves the former one' cmp dark.png kept.png
if [ -w /dev/full ]; then
    "$tool" info relu.onnx >/dev/full 2>err
    [ $? = 2 ] && good=yes || good=no
    report "$good" 'a full standard output is an error'
fi
# A pipe is written to, not replaced.
mkfifo pipe.npy
cat pipe.npy >piped.npy &
expect 0 '' "${run[@]}" -i x.npy -o pipe.npy
wait $!
check 'an output goes through a pipe' cmp y.npy piped.npy
check 'and the pipe stays' test -p pipe.npy
expect_of 'a closed standard output is an error' 2 '' bash -c "exec '$tool' run relu.onnx -i x.npy --backend cpu -o closed.npy >&-"
check 'and nothing else gets the messages' cmp y.npy closed.npy

# ---- interruptions -----------------------------------------------------------------------------------

# interrupt NAME PATTERN COMMAND...: asked to end once a file of that pattern is there, it ends and removes it
interrupt() {
    local name=$1 pattern=$2 process code i
    shift 2
    "$@" >out 2>err &
    process=$!
    for ((i = 0; i < 1000; i++)); do compgen -G "$pattern" >/dev/null && break || sleep 0.02; done
    kill -TERM $process
    wait $process
    code=$?
    [ $code = 143 ] && ! compgen -G "$pattern" >/dev/null && report yes "$name" || report no "$name" "exit code $code"
}
"$build/make_case" 13 'Conv x[1,64,256,256] w{64,64,3,3} -> y pads=1,1,1,1' slow.onnx
zeros 12000000 | npy 1 "$(header '|i1' '1, 3, 2000, 2000')" >large.npy
mkdir caches
interrupt 'an interrupted bench leaves no caches' 'caches/*' \
    env TMPDIR="$PWD/caches" "$tool" bench slow.onnx --backend cpu --runs 1
interrupt 'an interrupted run leaves no file' '.large.png.*' \
    "$tool" run relu.onnx --backend cpu -i large.npy -o large.png
check 'nor the output in part' test ! -e large.png
# Containers number their processes alike: what one that was killed left must not stop the next one.
expect_of "a killed process's file" 0 '' bash -c "touch .after.npy.\$\$.tmp
    exec '$tool' run relu.onnx --backend cpu -i x.npy -o after.npy"
check 'is replaced' cmp y.npy after.npy

check 'no temporary file is left' sh -c '[ -z "$(find . -name "*.tmp")" ]'

# ---- the GPU backends, where there are some ----------------------------------------------------------

find_gpus
for backend in "${gpus[@]}"; do
    gpu=(--backend "$backend")
    expect 0 'within tolerance' compare relu.onnx --shape x=2,3,5,7 --backends "$backend,cpu" --layers
    expect 0 "ran on $backend" run relu.onnx -i x.npy -o z.npy "${gpu[@]}"
    check "$backend equals cpu" cmp y.npy z.npy
done
if has_device gles; then
    expect 0 'within tolerance' compare relu.onnx --shape x=2,3,5,7 --layers
    expect 0 'ran on gles' run relu.onnx -i x.npy -o z.npy
    expect 3 'GPU 99' run relu.onnx -i x.npy --gpu 99
fi
if has_device webgpu; then
    expect_of 'adapter 99' 3 'adapter 99' env $no_egl "$tool" run relu.onnx -i x.npy -b webgpu --gpu 99
    expect_of 'an unknown adapter' 3 "'nowhere'" env $no_egl "$tool" run relu.onnx -i x.npy -b webgpu --adapter nowhere
    expect 2 '' run relu.onnx -i x.npy --backend webgpu --adapter x --gpu 1
fi

finish
