#!/usr/bin/env bash
# What is not supported is a SKIP of `tessera check` that says what it is, never a FAIL; a pointer of Git LFS is called one;
# an error that rounding explains comes with the option that allows it.
source "$(dirname "$0")/support/common.sh"

# ---- types, domains, forms of constants --------------------------------------------------------------

python3 - <<'END' || exit 1
import os
def number(n):
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])
def part(field, value): # of a protobuf message
    if isinstance(value, int): return number(field << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(field << 3 | 2) + number(len(value)) + value
def tensor_type(kind): return part(1, part(1, kind) + part(2, part(1, part(1, 2))))
def info(name, type): return part(1, name) + part(2, type)
def node(op, domain='', attribute=b''): return part(1, 'x') + part(2, 'y') + part(4, op) + part(7, domain) + attribute
def attribute(name, kind, content): return part(5, part(1, name) + part(20, kind) + content)
def model(folder, node, type=tensor_type(1), opset=part(2, 22), extra=b''):
    os.makedirs(folder + '/test_data_set_0')
    graph = part(1, node) + part(2, 'g') + extra + part(11, info('x', type)) + part(12, info('y', tensor_type(1)))
    open(folder + '/model.onnx', 'wb').write(part(1, 8) + part(8, opset) + part(7, graph))
    for name in 'input', 'output': # float32[2]
        open(folder + '/test_data_set_0/' + name + '_0.pb', 'wb').write(part(1, 2) + part(2, 1) + part(9, bytes(8)))
relu = node('Relu')
for name, kind in (('string', 8), ('complex64', 14), ('float8e4m3fn', 17),
                   ('float4e2m1', 23), ('float8e8m0', 24), ('uint2', 25), ('int2', 26), ('newer', 40)):
    model(name, relu, tensor_type(kind))
    model('cast_' + name, node('Cast', '', attribute('to', 2, part(3, kind))))
model('sequence', relu, part(4, part(1, tensor_type(1))))
model('optional', relu, part(9, part(1, tensor_type(1))))
model('sparse', relu, part(8, part(1, 1)))
model('map', relu, part(5, part(1, 7) + part(2, tensor_type(1))))
model('domain', node('Scaler', 'ai.onnx.ml'))
model('only_domain', node('Scaler', 'ai.onnx.ml'), opset=part(1, 'ai.onnx.ml') + part(2, 3))
model('training', node('GraphCall', 'ai.onnx.preview.training'))
model('type', node('Optional', '', attribute('type', 13, part(14, tensor_type(1)))))
model('sparse_initializer', relu, extra=part(15, part(3, 2)))
constant = part(2, 'y') + part(4, 'Constant')
model('sparse_constant', constant + attribute('sparse_value', 11, part(22, part(3, 2))))
model('string_constant', constant + attribute('value_string', 3, part(4, 'a')))
END
folders=(*/)
"$tool" check "${folders[@]%/}" --backend cpu >out 2>err
if [ "$(tail -n 1 out)" = "0 passed, 0 failed, ${#folders[@]} skipped" ]; then good=yes; else good=no; fi
report $good 'what is not supported is skipped'
cp out skips
for text in 'int2: .*element type int2' 'domain: .*operator ai.onnx.ml.Scaler (1 node' 'sequence: .*not declared as a tensor' \
    'newer: .*element type newer than' 'cast_float8e8m0: .*to is float8e8m0'; do
    check "$text" grep -q "^SKIP $text" skips
done

# ---- Git LFS -----------------------------------------------------------------------------------------

printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 1234\n' 0 >pointer.onnx
expect 2 'pointer.onnx: this is a pointer of Git LFS' info pointer.onnx
"$build/make_case" 22 'Relu x[2] -> y' relu.onnx
cp pointer.onnx pointer.pb
expect 2 'this is a pointer of Git LFS' run relu.onnx -i pointer.pb --backend cpu

# ---- rounding ----------------------------------------------------------------------------------------

# What is left of a million: its last digit is 0.0625.
"$build/make_case" 22 'Sub x[2] k<1e6 -> y' noise.onnx
printf '\x08\x24\x74\x49\x0c\x24\x74\x49' | npy 1 "$(header '<f4' '2,')" >x.npy           # 1000000.5, 1000000.75
printf '\x00\x00\x10\x3f\x00\x00\x40\x3f' | npy 1 "$(header '<f4' '2,')" >expected.npy    # 0.5625, 0.75
expect 1 "so that the error, 0.0625, may be rounding; --floor 'y=0.069' allows that much" \
    compare noise.onnx -i x.npy --expect expected.npy --backends cpu
expect 0 'within tolerance' compare noise.onnx -i x.npy --expect expected.npy --backends cpu --floor y=0.069
printf '\x00\x00\xa0\x40\x00\x00\x40\x3f' | npy 1 "$(header '<f4' '2,')" >expected.npy    # 5, 0.75
"$tool" compare noise.onnx -i x.npy --expect expected.npy --backends cpu >out 2>err
check 'an error is not explained by rounding' test "$(grep -c 'may be rounding' out)" = 0
finish
