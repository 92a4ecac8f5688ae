#!/usr/bin/env bash
# Names of a model that would control a terminal: whatever the tool prints of them is escaped.
source "$(dirname "$0")/support/common.sh"

"$build/make_case" 17 'Conv x_name[n_name,3,8,8] w_name{4,3,3,3} -> c_name; Relu c_name -> y_name' plain.onnx
# In the place of six bytes: a colour and a newline; C1's control sequence in UTF-8, a carriage return and a delete; a change
# of the writing's direction, no UTF-8 and a backspace; a letter and a title's beginning. In that of five: a clear screen.
LC_ALL=C sed 's/x_name/\x1b[31m\n/g; s/n_name/\xc2\x9b2J\r\x7f/g; s/c_name/\xe2\x80\xae\xff\x08\x01/g; s/y_name/\xc3\xa9\x1b]0;/g
    s/Conv0/C\x1b[2J/g' plain.onnx >names.onnx
printf '{"tessera": 1, "task": "\x1b[2J\xff"}' >odd.json
zeros 768 | npy 1 "$(header '<f4' '1, 3, 8, 8')" >x.npy
zeros 4 | npy 1 "$(header '<f4' '1,')" >small.npy

controls='[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae'
check 'controls are found' sh -c "LC_ALL=C grep -aqP '[\\x0b-\\x1f]' names.onnx"

shown() { # shown NAME: the standard input is UTF-8 without controls
    cat >printed
    check "$1: no controls" sh -c "! LC_ALL=C grep -aqP '$controls' printed"
    check "$1: UTF-8" iconv -f UTF-8 -t UTF-8 printed
}

# shows CODE TEXT ARGUMENTS...: the tool prints this, and no more than is shown
shows() {
    expect "$@"
    cat out err | shown "tessera ${*:3}"
}

size="$(printf '\xc2\x9b2J\r\x7f')=1"
shows 0 '\x1b[31m\n: float32 [\x9b2J\x0d\x7f, 3, 8, 8]' info names.onnx
shows 0 "needs the sizes of input '\\x1b[31m\\n'" info names.onnx
shows 0 'C\x1b[2J' info names.onnx --dim "$size" --kernels
shows 0 'é\x1b]0; [1, 4, 6, 6]' run names.onnx -i x.npy --backend cpu -o y.npy -vv
shows 2 "'\\x1b[31m\\n'" run names.onnx -i small.npy --backend cpu -o y.npy
shows 2 "'\\x1b[31m\\n'" run names.onnx -i other=x.npy --backend cpu -o y.npy
shows 2 "no file for input '\\x1b[31m\\n'" run names.onnx --dim "$size" --backend cpu -o y.npy
shows 0 "output 'é\\x1b]0;'" compare names.onnx -i x.npy --backends cpu,cpu --layers
shows 1 'é\x1b]0;' compare names.onnx -i x.npy --backends cpu -e small.npy
shows 2 "'\\u202e\\xff\\x08\\x01'" show names.onnx -i x.npy --backend cpu --layer "$(printf '\xe2\x80\xae\xff\x08')" -o y.png
shows 0 '\u202e\xff\x08\x01' show names.onnx -i x.npy --backend cpu --layer "$(printf '\xe2\x80\xae\xff\x08\x01')" -o y.png
expect 0 'is left out: JSON cannot hold its name' describe names.onnx
cat out err | tr -d '\t' | shown 'tessera describe'
shows 2 'there is no' run names.onnx -i x.npy --backend cpu --draw boxes -o out.png --description odd.json
shows 0 'opset 17' convert names.onnx -o converted.onnx
shows 0 'speed' bench names.onnx -i x.npy --backend cpu --runs 2 --json bench.json --svg bench.svg --trace trace.json
for file in bench.json bench.svg trace.json; do
    tr -d '\t' <"$file" | shown "$file"
    check "$file has the node" grep -qE 'C.{1,2}x1b\[2J' "$file"
done

# Files' names, too.
mkdir pictures
cp x.npy $'pictures/a\x1b[2Jb.npy'
cp small.npy $'pictures/c\x1b[2Jd.npy'
shows 1 'c\x1b[2Jd' run names.onnx -i pictures -o results --backend cpu
finish
