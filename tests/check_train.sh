#!/usr/bin/env bash
# tessera train: what is learned from pairs, halves, classes and .npy files, what is written of it, and what is refused.
source "$(dirname "$0")/support/common.sh"
model() { "$build/make_case" 13 "$@"; } # model TEXT FILE
train() { "$tool" train "$@" --backend cpu >told 2>err; }
of_python() { python3 -c "$1" "${@:2}" >out 2>err; }

# ---- samples -----------------------------------------------------------------------------------------

cat >samples.py <<'END'
import os, random, struct
random.seed(1)
def ppm(path, width, height, pixel):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"P5 %d %d 255\n" % (width, height))
        file.write(bytes(pixel(x, y) for y in range(height) for x in range(width)))
def npy(path, shape, values):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        text = b"{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % str(tuple(shape)).encode()
        file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text + struct.pack("<%df" % len(values), *values))
for i in range(15): # stripes across, down, neither
    for name, bright in ("across", lambda x, y: (y + i) // 2 % 2), ("down", lambda x, y: (x + i) // 2 % 2), ("even", lambda x, y: 0.5):
        ppm(f"classes/{name}/{i:02}.pgm", 8, 8, lambda x, y: int(30 + 180 * bright(x, y) + random.randrange(30)))
for i in range(12): # pictures, and the same moved by a pixel
    p = [[random.randrange(256) for _ in range(8)] for _ in range(8)]
    left = lambda x, y: p[y][x - 1] if x else 0
    ppm(f"in/{i:02}.pgm", 8, 8, lambda x, y: p[y][x])
    ppm(f"moved/{i:02}.pgm", 8, 8, left)
    ppm(f"both/{i:02}.pgm", 16, 8, lambda x, y: p[y][x] if x < 8 else left(x - 8, y))
    ppm(f"twice/{i:02}.pgm", 16, 16, lambda x, y: p[y // 2][x // 2])
    signed = lambda v: v * 257 / 65535 * 2 - 1
    npy(f"in_npy/{i:02}.npy", [1, 8, 8], [signed(p[y][x]) for y in range(8) for x in range(8)]) # no batch axis
    npy(f"vectors/{i:02}.npy", [1, 3], [i, 1, 0])
    npy(f"moved_npy/{i:02}.npy", [1, 1, 8, 8], [signed(left(x, y)) for y in range(8) for x in range(8)])
ppm("same/0.pgm", 15, 8, lambda x, y: x)
for i in range(8): # all samples are the same
    ppm(f"alike/{i}.pgm", 14, 12, lambda x, y: (x * 37 + y * 91 + x * y * 5) % 256)
    npy(f"same_in/{i}.npy", [1, 4, 3, 3], [k * 7 % 11 / 10 - 0.5 for k in range(36)])
    npy(f"same_out/{i}.npy", [1, 3, 2, 2], [0.1, 0.5, 0.3, 0, 0.2, 0.5, 0.3, 0.25, 0.7, 0, 0.4, 0.75])
END
check 'samples are made' python3 samples.py
model 'Conv x[N,1,8,8] w{8,1,3,3} b{8} -> c; MaxPool c -> m kernel_shape=6,6; Flatten m -> f; Gemm f v{8,3} d{3} -> g; Softmax g -> y' classes.onnx
model 'Conv x[N,1,8,8] w{1,1,3,3} -> y pads=1,1,1,1' filter.onnx
model 'Conv x[N,1,12,14] w{1,1,3,3} -> y pads=1,1,1,1' larger.onnx

# ---- classes -----------------------------------------------------------------------------------------

stripes=(classes.onnx --data classes --steps 150 --rate 0.05 --validation 0.2 --every 50)
check 'three classes are learned' train "${stripes[@]}" -o c.onnx --log c.csv --svg c.svg
train "${stripes[@]}" -o c.onnx --log c.csv --svg c.svg
check 'all that is held out is right' grep -q '^c.onnx: 150 steps, loss .* held out [0-9.]* to 0\.0[0-9]*, top-1 [0-9.]* to 100.0 %$' told
check 'nothing goes to a stderr that is no terminal' [ ! -s err ]
check 'the log has a line for each step' [ "$(tail -n +2 c.csv | grep -cE '^[0-9]+,[0-9.e-]+,')" = 150 ]
check 'and held-out losses before training, and every 50' [ "$(grep -E ',[0-9.e-]+,[0-9.]+$' c.csv | cut -d, -f1 | xargs)" = '0 50 100 150' ]
check 'the chart is XML with the losses' of_python 'import xml.etree.ElementTree as e
root = e.parse("c.svg").getroot(); svg = "{http://www.w3.org/2000/svg}"
points = root.find(svg + "polyline").get("points").split(); assert len(points) == 150
heights = [float(p.split(",")[1]) for p in points]; assert all(60 <= h <= 440 for h in heights) and heights[-1] > heights[0]
assert len(root.findall(svg + "circle")) == 4'
check 'the trained model still leaves its batch open' sh -c "'$tool' info c.onnx --backend cpu | grep -qF 'x: float32 [N, 1, 8, 8]'"
train "${stripes[@]}" -o again.onnx
check 'the same command writes the same file' cmp c.onnx again.onnx
train "${stripes[@]}" -o other.onnx --seed 1
check 'another seed has another order' sh -c '! cmp -s c.onnx other.onnx'
echo '{"tessera": 1, "labels": ["even", "down", "across"]}' >labels.json
check 'labels number the classes' train "${stripes[@]}" -o l.onnx --description labels.json
check 'classes of .npy files are made' of_python 'exec(open("samples.py").read().split("for i in range(15)")[0])
for i in range(6):
    for c, name in enumerate(("low", "middle", "high")): npy(f"levels/{name}/{i}.npy", [1, 8, 8], [c - 1 + random.random() / 4] * 64)'
train classes.onnx --data levels --steps 100 --rate 0.05 -o levels.onnx
check 'and learned' awk '$5 * 0.2 > $7 { good = 1 } END { exit !good }' told
for class in across down even; do
    "$tool" run l.onnx -i classes/$class/03.pgm --description labels.json --top 1 --backend cpu >told 2>err
    check "$class is seen as such" grep -q "[^a-z]$class\$" told
done

# ---- pairs -------------------------------------------------------------------------------------------

filter=(filter.onnx --steps 300 --rate 0.02 --batch 4 --loss mse)
learned() { awk -v file="$1:" '$1 == file && $7 + 0 < 1e-3 { good = 1 } END { exit !good }' told; } # learned FILE
train "${filter[@]}" --data in --targets moved -o pairs.onnx
check 'a picture that is moved: learned from two folders' learned pairs.onnx
train "${filter[@]}" --data both --side-by-side -o halves.onnx
check 'halves of pictures are the same pairs' cmp pairs.onnx halves.onnx
train "${filter[@]}" --data in --targets moved -o pairs.onnx --validation 0.25 --steps 450 --log held.csv
check 'held-out losses before training, every 100 steps, and at the end' [ "$(grep -vE ',,$|step' held.csv | cut -d, -f1 | xargs)" = '0 100 200 300 400 450' ]
train "${filter[@]}" --data in_npy --targets moved_npy -o npy.onnx
check 'learned from .npy files' awk '$5 * 0.2 > $7 { good = 1 } END { exit !good }' told
echo '{"tessera": 1, "inputs": {"x": {"range": [-1, 1]}}, "outputs": {"y": {"range": [-1, 1]}}}' >signed.json
train "${filter[@]}" --data in --targets moved --description signed.json -o signed.onnx
check "ranges are the description's" cmp npy.onnx signed.onnx
train "${filter[@]}" --data in --targets moved --range -1:1 -o signed.onnx
check 'or those of --range' cmp npy.onnx signed.onnx
train "${filter[@]}" --data in --targets in --flip --crop 2 -o moves.onnx
check '--flip and --crop move input and target alike' learned moves.onnx
train "${filter[@]}" --data in --targets moved --flip -o moves.onnx
check 'and --flip does mirror' sh -c '! awk "\$7 + 0 < 1e-3 { good = 1 } END { exit !good }" told'
train "${filter[@]}" --data in --targets in --color 0.3 --color-targets -o colors.onnx
check '--color and --color-targets change input and target alike' learned colors.onnx
train "${filter[@]}" --data in --targets in --color 0.3 -o colors.onnx
check 'and --color does change' sh -c '! awk "\$7 + 0 < 1e-3 { good = 1 } END { exit !good }" told'
model 'ConvTranspose x[N,1,8,8] w{1,1,2,2} -> y strides=2,2' twice.onnx
train twice.onnx --data in --targets twice --steps 300 --rate 0.05 --batch 4 --loss mse --flip --crop 2 -o moves.onnx
check 'also of targets that are twice as large' learned moves.onnx
model 'Conv x[2,1,H,W] w{1,1,3,3} -> y pads=1,1,1,1' sizes.onnx
train sizes.onnx --data in --targets moved --steps 300 --rate 0.02 --loss mse -o sizes_too.onnx
check "open sizes are the first file's, a fixed batch is kept" learned sizes_too.onnx
check 'and stay open' sh -c "'$tool' info sizes_too.onnx --backend cpu | grep -qF 'x: float32 [2, 1, H, W]'"

# ---- losses and updates ------------------------------------------------------------------------------

# With samples that are all the same, what is held out after a step has the loss of the next step.
for loss in mse l1 smooth-l1 cross-entropy binary-cross-entropy; do
    case $loss in cross*) last='Softmax c -> y axis=1' ;; binary*) last='Sigmoid c -> y' ;; *) last='Mul c k<3 -> y' ;; esac
    model "Conv x[N,4,3,3] w{3,4,2,2} b{3} -> c; $last" losses.onnx
    check "training with $loss" train losses.onnx --data same_in --targets same_out --loss $loss --steps 12 --batch 3 \
        --validation 0.25 --every 1 --rate 0.01 -o l.onnx --log l.csv
    check "the held-out $loss is that of training" of_python 'rows = [l.split(",") for l in open("l.csv")][1:]
assert len(rows) == 13 and float(rows[12][1]) < float(rows[1][1])
for now, then in zip(rows, rows[1:]): assert abs(float(now[2]) - float(then[1])) < 1e-5 * max(1, float(now[2])), (now, then)'
done
for range in 0:1 -1:1; do
    check "training with ssim, $range" train larger.onnx --data alike --targets alike --range $range --loss ssim --steps 12 \
        --batch 2 --validation 0.25 --every 1 --rate 0.01 -o l.onnx --log l.csv
    check "the held-out ssim is that of training, $range" of_python 'rows = [l.split(",") for l in open("l.csv")][1:]
assert len(rows) == 13 and float(rows[12][1]) < float(rows[1][1])
for now, then in zip(rows, rows[1:]): assert abs(float(now[2]) - float(then[1])) < 1e-5, (now, then)'
done
for update in 'sgd' 'sgd --momentum 0.9' 'sgd --momentum 0.9 --nesterov --clip 0.5' 'adamw --weight-decay 0.01' \
    'adam --schedule cosine --warmup 5' 'adam --schedule linear --weight-decay 0.01'; do
    # shellcheck disable=SC2086 # several options
    train filter.onnx --data in --targets moved --steps 60 --rate 0.02 --optimizer $update -o u.onnx
    check "the loss falls with $update" awk '$5 * 0.7 > $7 { good = 1 } END { exit !good }' told
done
model 'Conv x[N,1,8,8] w{1,1,3,3} -> c pads=1,1,1,1; PRelu c s<0.71875> -> y' frozen.onnx
has_slope() { of_python 'import struct, sys; sys.exit(struct.pack("<f", 0.71875) not in open(sys.argv[1], "rb").read())' "$1"; }
train frozen.onnx --data in_npy --targets moved_npy --steps 20 -o f.onnx --freeze 's*'
check 'a frozen weight stays' has_slope f.onnx
train frozen.onnx --data in_npy --targets moved_npy --steps 20 -o f.onnx --freeze 'w*'
[ -s f.onnx ] && ! has_slope f.onnx && good=yes || good=no
report $good 'others do not'
model 'Conv x[N,1,8,8] w{32,1,3,3} -> c pads=1,1,1,1; Conv c v{1,32,3,3} -> y pads=1,1,1,1' two.onnx
check 'weights of 16 bits' "$tool" convert two.onnx -o half.onnx --weights fp16 --no-measure
train half.onnx --data in --targets moved --steps 60 --rate 0.01 -o f.onnx
check 'are trained' awk '$5 * 0.2 > $7 { good = 1 } END { exit !good }' told
check 'and become weights of 32 bits' sh -c "'$tool' info half.onnx --backend cpu | grep -q 'Cast 2' && '$tool' info f.onnx --backend cpu | grep -q 'Conv 2$'"
deep='Identity x[N,1,8,8] -> a0'
for i in 0 1 2 3 4 5 6 7; do deep+="; Conv a$i w$i{$([ $i = 7 ] && echo 1 || echo 4),$([ $i = 0 ] && echo 1 || echo 4),3,3} -> c$i pads=1,1,1,1; Tanh c$i -> a$((i + 1))"; done
model "$deep" deep.onnx
train deep.onnx --data in --targets moved --steps 5 -o plain.onnx
check '--recompute trains' train deep.onnx --data in --targets moved --steps 5 -o again.onnx --recompute
check 'and gives the same weights' cmp plain.onnx again.onnx
model 'Conv x[2,1,8,8] w{4,1,3,3} -> c; BatchNormalization c s{4} b{4} m{4} v<1,2,1,2> -> n; Conv n u{1,4,3,3} -> y pads=2,2,2,2' norm.onnx
train norm.onnx --data in --targets moved --steps 5 -o n.onnx
check 'BatchNormalization stays, and can be trained again' train n.onnx --data in --targets moved --steps 5 -o m.onnx
check 'also where all sizes are known' sh -c "'$tool' info m.onnx --backend cpu | grep -q 'BatchNormalization 1'"

# ---- a discriminator ---------------------------------------------------------------------------------

model 'Concat x[N,1,8,8] p[N,1,8,8] -> j axis=1; Conv j w{6,2,3,3} b{6} -> c; LeakyRelu c -> l alpha=0.2; Conv l v{1,6,3,3} -> y' judge.onnx
gan=(filter.onnx --data in --targets moved --discriminator judge.onnx --batch 4)
for kind in cross-entropy hinge least-squares; do
    check "training with a discriminator, $kind" train "${gan[@]}" --steps 60 --rate 0.01 -o gan.onnx --log gan.csv \
        --adversarial $kind --adversarial-weight 0.01 --spectral-norm --discriminator-output judged.onnx --validation 0.25
    check "the loss is the sum of both, $kind" of_python 'rows = [l.strip().split(",") for l in open("gan.csv")]
assert rows[0] == "step,loss,held_out_loss,top1,target_loss,adversarial_loss,discriminator_loss".split(",")
for row in rows[2:]:
    loss, target, adversarial, discriminator = (float(row[i]) for i in (1, 4, 5, 6))
    assert abs(loss - target - 0.01 * adversarial) < 1e-5, row
assert len(rows) == 62 and rows[1][0] == "0" and float(rows[61][4]) < 0.7 * float(rows[2][4])'
    check "the discriminator has learned, $kind" sh -c "[ -s judged.onnx ] && ! cmp -s judge.onnx judged.onnx && rm judged.onnx"
done
train "${gan[@]}" --steps 10 -o one.onnx --spectral-norm --discriminator-output judged.onnx
check 'it can be trained on' train filter.onnx --data in --targets moved --steps 5 -o gan.onnx --discriminator judged.onnx
train "${gan[@]}" --steps 10 -o again.onnx --spectral-norm
check 'the same command writes the same file, with or without its own' cmp one.onnx again.onnx
train "${filter[@]}" --data in --targets moved -o plain.onnx --steps 40 --beta1 0.5
train "${filter[@]}" --data in --targets moved -o average.onnx --steps 40 --beta1 0.5 --average 0.9 --schedule linear --hold 39
check '--average writes other weights, and --hold keeps the rate' sh -c '[ -s average.onnx ] && ! cmp -s plain.onnx average.onnx'
train "${filter[@]}" --data in --targets moved -o held.onnx --steps 40 --beta1 0.5 --schedule linear --hold 39
check 'a rate that is held is constant' cmp plain.onnx held.onnx
train "${filter[@]}" --data in --targets moved -o fallen.onnx --steps 40 --beta1 0.5 --schedule linear --hold 38
check 'and falls after these steps' sh -c '[ -s fallen.onnx ] && ! cmp -s plain.onnx fallen.onnx'

# ---- several inputs and targets ----------------------------------------------------------------------

# Two sums of products of both inputs: the first is to be 2 of the first input, the second 3 of the second.
cat >several.py <<'END'
exec(open("samples.py").read().split("for i in range(15)")[0])
for i in range(20):
    x, z = ([random.uniform(-1, 1) for _ in range(2)] for _ in range(2))
    npy(f"first/{i}.npy", [2], x)
    npy(f"second/{i}.npy", [1, 2], z)
    npy(f"twice_first/{i}.npy", [1, 2], [2 * a for a in x])
    npy(f"thrice_second/{i}.npy", [2], [3 * a for a in z])
END
check 'samples of several inputs are made' python3 several.py
model 'MatMul x[N,2] a{2,2} -> xa; MatMul z[N,2] b{2,2} -> zb; MatMul x c{2,2} -> xc; MatMul z d{2,2} -> zd; Add xa zb -> y!; Add xc zd -> v' several.onnx
several=(several.onnx --data first --data z=second --targets v=thrice_second --targets y=twice_first --loss mse --rate 0.05 --batch 5)
check 'two inputs and two targets' train "${several[@]}" --steps 400 --validation 0.2 -o both.onnx --log several.csv
check 'both are learned' grep -qE 'loss .* held out [0-9.]+ to ([0-9.]+e-|0\.000)' told
train "${several[@]}" --steps 1 --target-weight v=3 -o weighted.onnx --log weighted.csv --validation 0.2
train "${several[@]}" --steps 1 -o plain.onnx --log plain.csv --validation 0.2
train several.onnx --data first --data z=second --targets v=thrice_second --loss mse --batch 5 --steps 1 -o one.onnx --log one.csv --validation 0.2
check 'losses are summed by weight, those of steps and those held out' of_python 'first = lambda name: [[float(x) for x in l.strip().split(",")[k:k + 2] if x] for k, l in ((1, list(open(name))[1]), (1, list(open(name))[2]))]
(plain_held, plain), (weighted_held, weighted), (one_held, one) = map(first, ("plain.csv", "weighted.csv", "one.csv"))
assert abs(plain[0] + 2 * one[0] - weighted[0]) < 1e-4 and abs(plain_held[0] + 2 * one_held[0] - weighted_held[0]) < 1e-4'

# ---- ends --------------------------------------------------------------------------------------------

expect 1 'step 2: the loss is' train filter.onnx --data in --targets moved --optimizer sgd --rate 1e38 -o nan.onnx --backend cpu
expect 1 'nan.onnx: has the weights from after step 0' train filter.onnx --data in --targets moved --optimizer sgd --rate 1e38 -o nan.onnx --backend cpu
check 'weights that gave a finite loss are written' sh -c "'$tool' run nan.onnx -i in/00.pgm --backend cpu | grep '^y' | grep -qv 'nan\|inf'"
model 'Conv x[N,1,64,64] w{16,1,5,5} -> c pads=2,2,2,2; Conv c v{1,16,5,5} -> y pads=2,2,2,2' slow.onnx
# interrupted SIGNAL CODE: after the first checkpoint
interrupted() {
    local process i code
    rm -f slow_*
    env --default-signal="$1" "$tool" train slow.onnx --data in --targets moved --fit scale --steps 1000000 --checkpoint 2 \
        -o slow_too.onnx --log slow_log.csv --backend cpu >out 2>err &
    process=$!
    for ((i = 0; i < 500; i++)); do [ -e slow_log.csv ] && break || sleep 0.02; done
    kill -"$1" $process
    wait $process
    code=$?
    [ $code = "$2" ] && good=yes || good=no
    report $good "SIG$1 ends training" "exit code $code"
    check "SIG$1 leaves a complete model" "$tool" run slow_too.onnx -i in/00.pgm --backend cpu
    check "SIG$1 leaves a log that ends with a line" sh -c '[ "$(tail -c 1 slow_log.csv | wc -l)" = 1 ] && [ "$(wc -l <slow_log.csv)" -gt 2 ]'
}
interrupted INT 130
interrupted TERM 143

# ---- what is refused ---------------------------------------------------------------------------------

refused() { # refused TEXT MODEL OPTIONS...: exit code 2, and no file
    expect 2 "$1" train "${@:2}" --backend cpu
    check "nothing is left of it: $1" [ -z "$(ls -A | grep 'never\|\.tmp$')" ]
}
never=(-o never.onnx)
refused 'give -o' filter.onnx --data in --targets moved
refused 'give --data' filter.onnx "${never[@]}"
refused 'is the model itself' filter.onnx --data in --targets moved -o ./filter.onnx
refused 'named for two files' filter.onnx --data in --targets moved "${never[@]}" --log never.onnx
refused './never.onnx: named for two files' filter.onnx --data in --targets moved "${never[@]}" --log ./never.onnx
refused 'is a folder' filter.onnx --data in --targets moved -o in
for option in -o --log --svg --state; do
    refused 'moved/03.pgm: is a sample' filter.onnx --data in --targets moved "${never[@]}" $option moved/03.pgm
done
refused 'nowhere: No such file' classes.onnx --data nowhere "${never[@]}"
refused 'nowhere: is no folder' filter.onnx --data nowhere --targets moved "${never[@]}"
refused 'in/00.pgm: is no folder' filter.onnx --data in/00.pgm --targets moved "${never[@]}"
mkdir -p empty one/only few/across few/down hollow/a hollow/b
refused 'empty: holds no picture' filter.onnx --data in --targets empty "${never[@]}"
refused 'in: has no folders of classes' classes.onnx --data in "${never[@]}"
cp in/00.pgm one/only
cp in/00.pgm few/across
cp in/00.pgm few/down
cp in/00.pgm hollow/a
refused "one: has one class only, 'only'" classes.onnx --data one "${never[@]}"
refused "few: has 2 folders of classes, but output 'y' has 3 classes" classes.onnx --data few "${never[@]}"
refused 'hollow/b: holds no picture' classes.onnx --data hollow "${never[@]}"
sed 's/across/up/' labels.json >up.json
refused "few/across: up.json has no label of that name" classes.onnx --data few "${never[@]}" --description up.json
cp -r moved odd && rm odd/05.pgm
refused 'in/05.pgm: odd has no file of that name' filter.onnx --data in --targets odd "${never[@]}"
refused 'in/05.pgm: odd has no file of that name' filter.onnx --data odd --targets in "${never[@]}"
cp in_npy/03.npy odd
refused 'odd/03.npy and odd/03.pgm have the same name' filter.onnx --data odd --targets in "${never[@]}"
cp -r moved_npy wrong && cp same_out/1.npy wrong/04.npy
refused "wrong/04.npy: is [1, 3, 2, 2], but a target of output 'y' is [1, 1, 8, 8]" filter.onnx --data in --targets wrong "${never[@]}"
refused "wrong/04.npy: is [1, 3, 2, 2], but a sample of input 'x' is [1, 1, 8, 8]" filter.onnx --data wrong --targets in "${never[@]}"
cp -r in broken && printf 'P5 no picture' >broken/07.pgm
refused 'broken/07.pgm' filter.onnx --data broken --targets moved "${never[@]}"
refused 'same/0.pgm: is 15 pixels wide' filter.onnx --data same --side-by-side "${never[@]}"
refused 'is no picture, which has halves' filter.onnx --data in_npy --side-by-side "${never[@]}"
refused "'y' [1, 3] is no batch of pictures" classes.onnx --data in --targets moved "${never[@]}"
refused "output 'y' is [1, 1, 8, 8], no vector of classes" filter.onnx --data classes "${never[@]}"
refused '--targets has others' filter.onnx --data in --targets moved --side-by-side "${never[@]}"
refused 'its batch is fixed' sizes.onnx --data in --targets moved "${never[@]}" --batch 4
refused 'a batch of 13, but there are 12 samples' filter.onnx --data in --targets moved "${never[@]}" --batch 13
refused 'a batch of 10, but there are 9 samples' filter.onnx --data in --targets moved "${never[@]}" --batch 10 --validation 0.25
refused 'leaves none of 12' filter.onnx --data in --targets moved "${never[@]}" --validation 0.99
refused 'below 1' filter.onnx --data in --targets moved "${never[@]}" --validation 1
refused '--every is for --validation' filter.onnx --data in --targets moved "${never[@]}" --every 5
refused 'all are frozen' filter.onnx --data in --targets moved "${never[@]}" --freeze '*'
refused "no weight has a name like 'q*'" filter.onnx --data in --targets moved "${never[@]}" --freeze 'q*'
refused '--momentum is for --optimizer sgd' filter.onnx --data in --targets moved "${never[@]}" --momentum 0.9
refused '--nesterov needs --momentum' filter.onnx --data in --targets moved "${never[@]}" --optimizer sgd --nesterov
refused '--rate has to be above 0' filter.onnx --data in --targets moved "${never[@]}" --rate 0
refused '--beta1 has to be above 0' filter.onnx --data in --targets moved "${never[@]}" --beta1 0
refused '--adversarial-weight has to be above 0' filter.onnx --data in --targets moved "${never[@]}" --discriminator judge.onnx --adversarial-weight 0
refused '--warmup 9: there are only 9 steps' filter.onnx --data in --targets moved "${never[@]}" --warmup 9 --steps 9
refused 'no multiple of the pixels' losses.onnx --data same_in --targets same_out "${never[@]}" --crop 1
model 'Flatten x[N,8,8] -> f; MatMul f w{64,3} -> y' vector.onnx
refused 'no input is a picture' vector.onnx --data in_npy --targets vectors "${never[@]}" --flip
model 'Conv p[N,2,8,8] w{1,2,3,3} -> y' colours.onnx
model 'Relu p[N,1,8,8] -> y' none.onnx
refused "the discriminator: colours.onnx: input 'p' has the shape [?, 2, 8, 8]" filter.onnx --data in --targets moved "${never[@]}" --discriminator colours.onnx
refused 'the discriminator: none.onnx: there is no weight' filter.onnx --data in --targets moved "${never[@]}" --discriminator none.onnx
refused 'nowhere.onnx' filter.onnx --data in --targets moved "${never[@]}" --discriminator nowhere.onnx
refused 'are for --discriminator' filter.onnx --data in --targets moved "${never[@]}" --spectral-norm
refused 'are for --discriminator' filter.onnx --data in --targets moved "${never[@]}" --adversarial hinge
refused 'is the model itself' filter.onnx --data in --targets moved "${never[@]}" --discriminator judge.onnx --discriminator-output judge.onnx
refused '--hold is for --schedule' filter.onnx --data in --targets moved "${never[@]}" --hold 5
refused '--warmup 4 and --hold: there are only 9 steps' filter.onnx --data in --targets moved "${never[@]}" --warmup 4 --hold 5 --schedule linear --steps 9
refused '--beta1 is for --optimizer adam' filter.onnx --data in --targets moved "${never[@]}" --beta1 0.5 --optimizer sgd
model 'Add x[N,3] z[N,3] -> a; MatMul a w{3,3} -> y' two.onnx
refused '--color is a part, 0 to 1' filter.onnx --data in --targets in "${never[@]}" --color 1.5
check 'pictures of two layouts are made' of_python 'exec(open("samples.py").read().split("for i in range(15)")[0])
for i in range(3):
    npy(f"first_channels/{i}.npy", [3, 5, 5], [0] * 75)
    npy(f"last_channels/{i}.npy", [5, 5, 3], [0] * 75)'
model 'Transpose z[N,5,5,3] -> t perm=0,3,1,2; Add x[N,3,5,5] t -> a; Conv a w{3,3,3,3} -> y pads=1,1,1,1' layouts.onnx
layouts=(layouts.onnx --data x=first_channels --data z=last_channels --targets first_channels --steps 1)
check 'pictures of two layouts' train "${layouts[@]}" -o layouts-trained.onnx
refused "has another order of axes" "${layouts[@]}" "${never[@]}" --flip
refused '--color-targets needs --color' filter.onnx --data in --targets in "${never[@]}" --color-targets
refused "input 'z' has no files: give --data z=FOLDER" two.onnx --data in_npy --targets moved_npy "${never[@]}"
refused 'has 2 inputs: give each its --data NAME=FOLDER, and --targets' two.onnx --data classes "${never[@]}"
refused "'q'" two.onnx --data q=in_npy --data in_npy --targets moved_npy "${never[@]}"
refused "input 'z' is given twice" two.onnx --data z=in_npy --data z=in_npy --targets moved_npy "${never[@]}"
refused "output 'y' is given twice" filter.onnx --data in --targets y=moved --targets y=in "${never[@]}"
refused 'in_npy: the model has only 2 inputs' two.onnx --data in_npy --data in_npy --data in_npy --targets moved_npy "${never[@]}"
refused "in_npy/00.npy: is [1, 8, 8], but a sample of input 'z' is [1, 3]" two.onnx --data vectors --data z=in_npy --targets vectors "${never[@]}"
refused "--target-weight q=2: no output of that name has targets" filter.onnx --data in --targets moved --target-weight q=2 "${never[@]}"
refused '--target-weight expects NAME=W' filter.onnx --data in --targets moved --target-weight y=0 "${never[@]}"
model 'Conv x[N,1,8,8] w{1,1,3,3} -> c; ReduceSum c -> y keepdims=0' sum.onnx
refused 'MiB, max_bytes is 4 MiB' slow.onnx --data in --targets moved --fit scale "${never[@]}" --max-memory 4
refused "is smaller than SSIM's windows of 11 x 11 pixels" filter.onnx --data in --targets moved "${never[@]}" --loss ssim
refused "output 'y' is []" sum.onnx --data in --targets moved "${never[@]}"
model 'Conv x[N,1,8,8] w{1,1,3,3} -> c pads=1,1,1,1; Round c -> y' round.onnx
refused "no differentiable path leads from 'w'" round.onnx --data in --targets moved "${never[@]}"

# ---- the GPU backends, where there are some ----------------------------------------------------------

find_gpus
train "${stripes[@]}" -o c.onnx --steps 20
read -r _ _ _ _ _ _ wanted _ <told
for backend in "${gpus[@]}"; do
    "$tool" train "${stripes[@]}" -o g.onnx --steps 20 --backend "$backend" >told 2>err
    check "$backend trains as cpu does" awk -v wanted="${wanted%,}" '{ exit !($7 - wanted < 1e-3 && wanted - $7 < 1e-3) }' told
done

finish
