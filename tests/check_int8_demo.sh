#!/usr/bin/env bash
# The shipped generator in 8 bits, as tools/web.sh makes it for the drawing page: its size, and how far its pictures of the shipped
# sketches are off from those with 16 bits.
source "$(dirname "$0")/support/common.sh"

halves=$source/demos/models/edges2emoji.onnx
options=$(sed -n 's/.*"$TESSERA" convert .*edges2emoji.onnx" \(.*\) \\$/\1/p' "$source/tools/web.sh")
expect 0 "Conv          [96, 48, 4, 4]     int8" convert "$halves" $options -o int8.onnx
size=$(stat -c %s int8.onnx)
check "at most 7.8 MB: $size bytes" [ "$size" -le 7800000 ]

mkdir halves int8
for sketch in "$source"/demos/sketches/*.png; do
    name=$(basename "$sketch" .png)
    run=(-i "$sketch" --range -1:1 --backend cpu)
    expect 0 '' run "$halves" "${run[@]}" -o "halves/$name.npy"
    expect 0 '' run int8.onnx "${run[@]}" -o "int8/$name.npy"
done
cat >difference.py <<'P'
import array, os, sys
def floats(path):
    data = open(path, "rb").read()
    elements = array.array("f")
    elements.frombytes(data[10 + int.from_bytes(data[8:10], "little"):])
    return elements
names, sums = sorted(os.listdir(sys.argv[1])), []
for name in names:
    a, b = (floats(os.path.join(folder, name)) for folder in sys.argv[1:3])
    assert len(a) == len(b) == 3 * 256 * 256
    sums.append(sum(abs(x - y) for x, y in zip(a, b)) / len(a) / 2 * 100)  # of the range, -1 to 1
    print("%s: %.2f %% of the range" % (name, sums[-1]))
print("the mean of %d sketches: %.2f %%" % (len(sums), sum(sums) / len(sums)))
sys.exit(0 if len(sums) >= 6 and max(sums) <= float(sys.argv[3]) else 1)
P
check 'each picture is off by at most 1 % of the range, on the mean of its elements' python3 difference.py halves int8 1
cat out
finish
