#!/usr/bin/env bash
# tessera train --state and --resume: a run that was interrupted goes on to the same files, and what else is refused.
source "$(dirname "$0")/support/common.sh"
model() { "$build/make_case" 13 "$@"; } # model TEXT FILE

cat >samples.py <<'PY'
import os, random
random.seed(1)
def picture(path, size, pixel):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"P5 %d %d 255\n" % (size, size))
        file.write(bytes(pixel(x, y) for y in range(size) for x in range(size)))
for i in range(11):
    p = [[random.randrange(256) for _ in range(9)] for _ in range(9)]
    picture(f"in/{i:02}.pgm", 9, lambda x, y: p[y][x])
    picture(f"moved/{i:02}.pgm", 9, lambda x, y: p[y][x - 1] if x else 0)
    picture(f"classes/across/{i:02}.pgm", 9, lambda x, y: (y + i) // 2 % 2 * 200 + random.randrange(50))
    picture(f"classes/down/{i:02}.pgm", 9, lambda x, y: (x + i) // 2 % 2 * 200 + random.randrange(50))
PY
check 'samples are made' python3 samples.py
cp -r in more && cp in/00.pgm more/11.pgm && cp -r moved more_moved && cp moved/00.pgm more_moved/11.pgm
cp -r in changed && cp in/01.pgm changed/02.pgm
model 'Conv x[N,1,9,9] w{6,1,3,3} b{6} -> c; BatchNormalization c s{6} o{6} m{6} v<1,2,1,2,1,2> -> n; Relu n -> r; Flatten r -> f; Gemm f u{294,2} d{2} -> g; Softmax g -> y' classes.onnx
model 'Conv x[N,1,9,9] w{1,1,3,3} -> y pads=1,1,1,1' filter.onnx
model 'Conv x[N,1,9,9] w{1,1,5,5} -> y pads=2,2,2,2' other.onnx
model 'Concat x[N,1,9,9] p[N,1,9,9] -> j axis=1; Conv j w{6,2,3,3} b{6} -> c; LeakyRelu c -> l alpha=0.2; Conv l v{1,6,3,3} -> y' judge.onnx
model 'Conv x[N,1,48,48] w{16,1,5,5} -> c pads=2,2,2,2; Conv c v{1,16,5,5} -> y pads=2,2,2,2' slow.onnx

# command_of NAME OPTIONS...: one that writes NAME/{net.onnx,losses.csv,losses.svg,run.state}, from run.state on if it is there
command_of() {
    local name=$1 again=(--state run.state)
    shift
    mkdir -p "$name"
    [ -e "$name/run.state" ] && again=(--resume run.state)
    command=(env -C "$name" --default-signal=INT "$tool" train "$@" -o net.onnx --log losses.csv --svg losses.svg "${again[@]}")
}
run() {
    command_of "$@"
    "${command[@]}"
}
same() { # same NAME OTHER: of all files
    local file
    [ -e "$1/run.state" ] && [ "$(ls -A "$1")" = "$(ls -A "$2")" ] && for file in "$1"/*; do cmp "$file" "$2/${file##*/}" || return 1; done
}

# ---- runs of fewer steps, which go on ----------------------------------------------------------------

# in_parts TEXT OPTIONS...: 41 steps at once, and in three runs
in_parts() {
    local text=$1 steps
    shift
    rm -rf whole parts
    check "all steps at once: $text" run whole "$@" --steps 41
    for steps in 1 17 41; do check "up to step $steps: $text" run parts "$@" --steps $steps; done
    check "both write the same files: $text" same whole parts
}
pairs=(../filter.onnx --data ../in --targets ../moved --batch 4)
find_gpus
for backend in cpu "${gpus[@]}"; do
    in_parts "Adam on $backend" "${pairs[@]}" --backend "$backend" --validation 0.2 --every 5 --flip --crop 2 --color 0.2
    in_parts "a discriminator on $backend" "${pairs[@]}" --backend "$backend" --average 0.9 --discriminator ../judge.onnx \
        --spectral-norm --adversarial hinge --discriminator-output judge.onnx
done
in_parts 'momentum' ../classes.onnx --data ../classes --backend cpu --optimizer sgd --momentum 0.9 --validation 0.25 --every 10
check 'the log has all steps' [ "$(cut -d, -f1 parts/losses.csv | xargs)" = "step $(seq -s' ' 0 41)" ]
check 'and what is held out when a run at once has it' [ "$(grep -E ',[0-9.e-]+,[0-9.]+$' parts/losses.csv | cut -d, -f1 | xargs)" = '0 10 20 30 40 41' ]

# ---- interrupted runs --------------------------------------------------------------------------------

# A schedule that ends with the last step, a checkpoint after each, and SIGINT once the log has some more lines.
slow=(../slow.onnx --data ../in --targets ../moved --fit scale --steps 300 --batch 3 --schedule cosine --validation 0.2 --every 7
    --checkpoint 1 --backend cpu)
lines() { if [ -e "$1" ]; then wc -l <"$1"; else echo 0; fi; }
interrupt() { # after 2 to 81 further steps; adds the exit code to codes
    local lines process i
    lines=$(($(lines broken/losses.csv) + 4 + RANDOM % 80))
    command_of broken "${slow[@]}"
    "${command[@]}" >out 2>err &
    process=$!
    for ((i = 0; i < 3000 && $(lines broken/losses.csv) < lines; i++)); do sleep 0.01; done
    kill -INT $process
    wait $process
    codes+=" $?"
}
check 'a run that is not interrupted' run whole_slow "${slow[@]}"
codes=
interrupt
interrupt
[ "$codes" = ' 130 130' ] && good=yes || good=no
report $good 'SIGINT ends training, twice' "$codes, step $(($(lines broken/losses.csv) - 2)) of 300"
check 'the last of three runs' run broken "${slow[@]}"
check 'an interrupted run goes on to the same files' same whole_slow broken

# ---- a rate that was too high ------------------------------------------------------------------------

lost=(--data in --targets moved --optimizer sgd --backend cpu -o lost.onnx)
expect 1 'step 2: the loss is' train filter.onnx "${lost[@]}" --rate 1e38 --state lost.state
expect 0 "with '--rate 1e+38', and goes on with '--rate 0.01'" train filter.onnx "${lost[@]}" --rate 0.01 --resume lost.state --steps 9

# ---- what is refused ---------------------------------------------------------------------------------

run base "${pairs[@]}" --backend cpu --steps 5 --validation 0.2 >out 2>err
cp base/run.state run.state
refused() { # refused TEXT MODEL OPTIONS...: exit code 2, and nothing is written
    expect 2 "$1" train "${@:2}" -o never.onnx --backend cpu
    check "nothing is changed by it: $1" sh -c 'cmp run.state base/run.state && [ ! -e never.onnx ]'
}
usual=(--batch 4 --validation 0.2 --resume run.state)
right=(--data in --targets moved "${usual[@]}")
refused 'has 5 steps already, and --steps is 5' filter.onnx "${right[@]}" --steps 5
refused "is of a run with 'the model (checksum" other.onnx "${right[@]}"
refused "is of a run with '11 samples of 'x' [1, 1, 9, 9] and 'y' [1, 1, 9, 9] (checksum" filter.onnx --data changed --targets moved "${usual[@]}"
refused "this has '12 samples" filter.onnx --data more --targets more_moved "${usual[@]}"
refused "is of a run with '2 samples held out', this has '4 samples held out'" filter.onnx "${right[@]}" --validation 0.4
refused "is of a run with '--batch 4', this has '--batch 3'" filter.onnx "${right[@]}" --batch 3
refused "is of a run with '--optimizer adam', this has '--optimizer sgd'" filter.onnx "${right[@]}" --optimizer sgd
refused "is of a run with '--seed 0', this has '--seed 1'" filter.onnx "${right[@]}" --seed 1
refused "is of a run with '--schedule constant', this has '--schedule linear'" filter.onnx "${right[@]}" --schedule linear
refused "is of a run with 'no --flip', this has '--flip'" filter.onnx "${right[@]}" --flip
refused "is of a run with '--freeze', this has '--freeze b*,c*'" filter.onnx "${right[@]}" --freeze 'b*' --freeze 'c*'
refused "is of a run with 'no discriminator', this has 'a discriminator (checksum" filter.onnx "${right[@]}" --discriminator judge.onnx
refused 'nowhere.state' filter.onnx "${right[@]}" --resume nowhere.state
refused 'named for two files' filter.onnx "${right[@]}" --log ./run.state --state ./run.state
damage() { python3 -c "b = bytearray(open('run.state', 'rb').read()); $1; open('bad.state', 'wb').write(b)"; }
for change in 'del b[-1]' 'del b[200:]' 'b += b"x"' 'b[len(b) // 2] ^= 1' 'b[12] ^= 1' 'b[24] ^= 64' 'b[-1] ^= 128'; do
    damage "$change"
    refused 'bad.state: is cut or changed' filter.onnx "${right[@]}" --resume bad.state
done
damage 'b[8] = 77'
refused 'bad.state: has version 77' filter.onnx "${right[@]}" --resume bad.state
for change in 'b[0] ^= 1' 'del b[30:]' 'del b[:]'; do
    damage "$change"
    refused 'bad.state: was not written by --state' filter.onnx "${right[@]}" --resume bad.state
done

finish
