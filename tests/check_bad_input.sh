#!/usr/bin/env bash
# What the tool does with bad files, bad sizes, too little memory, a missing driver and outputs that cannot be written:
# a clear message, the exit code of the documentation (2, or 3 for device trouble), nothing half-written.
# Options, files of tensors and single images are check_cli.sh's.
source "$(dirname "$0")/support/common.sh"

sanitized=$(sed -n 's/^TSR_SANITIZE:STRING=\(..*\)/\1/p' "$build/CMakeCache.txt")
export ASAN_OPTIONS=allocator_may_return_null=1:${ASAN_OPTIONS:-}
generator=$source/demos/models/edges2emoji.onnx
sketch=$source/demos/sketches/sketch_face.png
find_gpus
backends=(cpu "${gpus[@]}")

case_file() { "$build/make_case" 17 "$1" case.onnx || exit 1; }

# never_dies NAME COMMAND...: it ends with 0 or 2, a failure has a message
never_dies() {
    local name=$1 code good=no
    shift
    "$@" >out 2>err
    code=$?
    [ $code = 0 ] || { [ $code = 2 ] && grep -q '^tessera: ' err; } && good=yes
    report $good "$name" "exit code $code"
}

no_leftovers() { check "$1: nothing is left" sh -c '[ -z "$(find . -name "*.tmp")" ]'; }

# ---- damaged models ----------------------------------------------------------------------------------

"$build/make_models" pix2pix --ngf 1 --norm batch -o small.onnx
size=$(stat -c %s small.onnx)
"$tool" run small.onnx -i "$sketch" --backend cpu -o small.npy >out 2>err
for ((length = 0; length < size; length += size / 23)); do
    head -c "$length" small.onnx >cut.onnx
    expect 2 'cut.onnx' info cut.onnx
    expect 2 'cut.onnx' run cut.onnx -i "$sketch" --backend cpu -o cut.npy
done
check 'a damaged model writes nothing' test ! -e cut.npy
no_leftovers 'a damaged model'

# Bytes are overwritten all over the file, and where names, shapes and types are most: at its end.
RANDOM=7
for ((i = 0; i < 60; i++)); do
    cp small.onnx changed.onnx
    for ((k = 0; k < 4; k++)); do
        ((i % 2)) && at=$((RANDOM * 32768 % size)) || at=$((size - 1 - RANDOM % 4000))
        printf "\\x$(printf %02x $((RANDOM % 256)))" |
            dd of=changed.onnx bs=1 seek=$at conv=notrunc status=none
    done
    never_dies "overwritten $i" "$tool" run changed.onnx -i "$sketch" --backend cpu -o changed.npy
done
for length in 1 10 1000 100000; do
    head -c $length /dev/zero >zeros.onnx
    expect 2 'zeros.onnx' info zeros.onnx
    head -c $length /dev/zero | tr '\0' '\377' >ones.onnx
    expect 2 'ones.onnx' info ones.onnx
done
cp "$sketch" picture.onnx
expect 2 'picture.onnx' info picture.onnx
"$build/make_case" 13 'Foo x[1,4] -> a; Relu a -> b slope=1.0; Bar b -> c; Foo c -> y' lacking.onnx
expect 2 "lacking.onnx: not supported: operators Foo (2 nodes, first 'Foo0'), Bar (1 node, 'Bar2'); attribute slope of Relu (1 node, 'Relu1')" \
    info lacking.onnx

# ---- well-formed models that make no sense -----------------------------------------------------------

image='x[1,3,8,8]'
while read -r text; do
    case_file "$text"
    for backend in "${backends[@]}"; do expect 2 'case.onnx: ' compare case.onnx --backends $backend,cpu; done
done <<CASES
Relu a -> b; Relu b -> a; Relu $image -> y
Relu nobody -> y
Relu $image -> y; Relu x -> y
Frobnicate $image -> y
Relu $image w{3} -> y
Conv $image w{4,3,3,3} -> y strides=0,0
Conv $image w{4,3,3,3} -> y strides=-1,1
Conv $image w{4,3,3,3} -> y dilations=4,4
Conv $image w{4,3,3,3} -> y dilations=9223372036854775807,1
Conv $image w{4,3,3,3} -> y pads=9223372036854775807,0,0,1
Conv $image w{4,3,3,3} -> y pads=-3,-3,-3,-3
Conv $image w{4,3,3,3} -> y group=0
Conv $image w{4,3,3,3} -> y group=2
Conv $image w{4,3,3,3} -> y kernel_shape=5,5
Conv $image w{4,3,3,3} v{5} -> y
Conv $image w{4,5,3,3} -> y
ConvTranspose $image w{3,4,3,3} -> y output_padding=5,5
ConvTranspose $image w{3,4,3,3} -> y strides=4611686018427387904,1
ConvTranspose $image w{3,4,3,3} -> y output_shape=-4,-4
MaxPool $image -> y kernel_shape=0,0
MaxPool $image -> y kernel_shape=9,9
AveragePool $image -> y kernel_shape=2,2 pads=2,2,2,2
Add $image z[1,3,8,7] -> y
Concat $image z[1,4,8,7] -> y axis=1
Concat $image z[1,3,8,8] -> y axis=9
Split $image -> y z axis=1 split=7,9
Reshape $image s(-1,-1) -> y
Reshape $image s(5,7) -> y
Reshape $image s(9223372036854775807,9223372036854775807,3) -> y
Transpose $image -> y perm=0,1,2,9
Transpose $image -> y perm=0,1,1,2
DepthToSpace $image -> y blocksize=0
SpaceToDepth $image -> y blocksize=3
Pad $image s(0,0,-9,0,0,0,0,0) -> y
Slice $image s(0) s(1) s(17) -> y
Squeeze $image s(1) -> y
Softmax $image -> y axis=7
Gemm x[2,3] w{4,5} -> y
MatMul x[2,3] w{4,5} -> y
Resize $image _ f<1,1,-2,2> -> y mode=nearest
Resize $image _ f<1,1,1e30,1e30> -> y mode=nearest
BatchNormalization $image w{3} v{3} u{4} t{3} -> y
CASES

# ---- inputs that do not fit --------------------------------------------------------------------------

case_file 'Gather x[3,4] s(0) -> y axis=0'
zeros 12 | npy 1 "$(header '<f4' '3,')" >three.npy
zeros 24 | npy 1 "$(header '<i8' '1, 3')" >row.npy
zeros 12 | npy 1 "$(header '<f4' '1, 3')" >zero.npy
printf '\x00\x00\xc0\x7f\x00\x00\x80\x7f\x00\x00\x00\x00' | npy 1 "$(header '<f4' '1, 3')" >nan.npy
expect 2 "input 'x' is [3, 4]" run case.onnx -i three.npy --backend cpu
case_file 'Add x[A,3] z[B,3] -> y'
expect 2 '' run case.onnx -i x=row.npy -i z=three.npy --backend cpu
expect 2 "no file for input 'z'" run case.onnx -i row.npy --backend cpu
printf 'no tensor' >bad.pb
expect 2 'bad.pb' run case.onnx -i bad.pb --backend cpu
for backend in "${backends[@]}"; do
    expect 2 'holds NaN at [0, 0]' run case.onnx -i x=nan.npy -i z=zero.npy --backend $backend
    expect 0 '' run case.onnx -i x=nan.npy -i z=zero.npy --backend $backend --allow-nan -o sum_$backend.npy
done
for backend in "${gpus[@]}"; do check "NaN and infinity on $backend as on cpu" cmp sum_cpu.npy sum_$backend.npy; done

head -c 2000 "$sketch" >cut.png
expect 2 'cut.png' run "$generator" -i cut.png --backend cpu

# 256 million pixels in few bytes.
python3 - <<'END' || exit 1
import struct, zlib
def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
header = struct.pack('>IIBBBBB', 16000, 16000, 8, 0, 0, 0, 0)
pixels = zlib.compress(bytes(16001) * 16000, 9)
open('huge.png', 'wb').write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', pixels) + chunk(b'IEND', b''))
END
expect 2 'more than 32 million (--max-megapixels' run "$generator" -i huge.png --backend cpu
expect_of '--max-memory' 2 'max_bytes is 1048576' "$tool" run "$generator" -i "$sketch" --backend cpu --max-memory 1

# ---- pipes and devices instead of files --------------------------------------------------------------

# Nobody writes to the pipe, or one writes to it once: nothing waits, and nothing is read.
mkfifo pipe.onnx pipe.npy
no_file='this is a device or pipe, not a file'
refuses_pipe() { # refuses_pipe NAME CONTENT ARGUMENTS...: which name the pipe NAME
    local pipe=$1 content=$2
    shift 2
    expect_of "tessera $*" 2 "$pipe: $no_file" timeout 60 "$tool" "$@"
    timeout 60 sh -c "cat $content >$pipe" 2>/dev/null &
    expect_of "tessera $*, written once" 2 "$pipe: $no_file" timeout 60 "$tool" "$@"
    kill $! 2>/dev/null
    wait $! 2>/dev/null
}
refuses_pipe pipe.onnx small.onnx info pipe.onnx
refuses_pipe pipe.onnx small.onnx run pipe.onnx -i "$sketch" --backend cpu
refuses_pipe pipe.onnx small.onnx bench pipe.onnx --backend cpu
refuses_pipe pipe.onnx small.onnx compare pipe.onnx --backends cpu
refuses_pipe pipe.npy small.npy bench small.onnx -i pipe.npy --backend cpu
expect 2 "/dev/zero: $no_file" bench /dev/zero
mkdir -p folder/test
mkfifo folder/test/model.onnx folder/pipe.png
cp "$sketch" folder/
expect_of 'a pipe instead of model.onnx' 1 "model.onnx: $no_file" timeout 60 "$tool" check --backend cpu folder/test
mkdir -p folder/data/test_data_set_0
cp small.onnx folder/data/model.onnx
mkfifo folder/data/test_data_set_0/input_0.pb
expect_of 'a pipe instead of input_0.pb' 1 "input_0.pb: $no_file" timeout 60 "$tool" check --backend cpu folder/data
expect_of 'a pipe in a folder of inputs' 1 "skipped: folder/pipe.png: $no_file" \
    timeout 60 "$tool" run small.onnx -i folder -o made --backend cpu
check 'the file beside it is done' test -s "made/$(basename "$sketch")"

# ---- too little memory -------------------------------------------------------------------------------

if truncate -s 8T huge.onnx 2>err; then
    expect 2 'max_bytes is' info huge.onnx
else
    echo "left out: this file system takes no sparse file of 8 TiB"
fi
case_file 'Relu x[1,3,2000000,2000000] -> y'
for backend in "${backends[@]}"; do expect 2 '' bench case.onnx --backend $backend; done
case_file 'Relu x[3037000500,3037000500,2,2] -> y'
expect 2 'too large' bench case.onnx --backend cpu

# An address space that is too small at one point or the next; sanitizers reserve terabytes.
if [ -z "$sanitized" ]; then
    "$build/make_models" pix2pix --ngf 16 -o unet.onnx
    refused=0
    for ((kilobytes = 8000; kilobytes < 48000; kilobytes += 1000)); do
        never_dies "$kilobytes KiB of address space" \
            bash -c "ulimit -v $kilobytes; exec '$tool' run unet.onnx -i '$sketch' --backend cpu -o picture.npy"
        grep -q '^tessera: .*memory' err && refused=$((refused + 1))
    done
    check 'some of them were too small' test $refused -gt 3
    no_leftovers 'too little memory'
fi

# ---- missing driver ----------------------------------------------------------------------------------

mkdir none
for library in libEGL.so libEGL.so.1 libGLESv2.so libGLESv2.so.2; do : >none/$library; done
without() { # without BACKEND TEXT VARIABLE=VALUE...: what the backend says when the variable hides its driver
    local backend=$1 text=$2
    shift 2
    expect_of "run with $*" 3 "$text" env "$@" "$tool" run small.onnx -i "$sketch" --backend $backend -o gone.npy
    check "run with $*: no output" test ! -e gone.npy
    expect_of "compare with $*" 3 "$text" env "$@" "$tool" compare small.onnx --backends $backend,cpu
    expect_of "cpu with $*" 0 'ran on cpu' env "$@" "$tool" run small.onnx -i "$sketch" --backend cpu
}
if "$tool" devices 2>/dev/null | grep -q '^gles .*llvmpipe'; then
    without gles 'libEGL was not found' LD_LIBRARY_PATH="$PWD/none"
    without gles 'EGL offers neither' LIBGL_DRIVERS_PATH=/nonexistent
    expect_of 'devices without a driver' 0 'not available' env LIBGL_DRIVERS_PATH=/nonexistent "$tool" devices
    without gles 'OpenGL ES 3.0' MESA_GLES_VERSION_OVERRIDE=2.0
    bits=(MESA_GLES_VERSION_OVERRIDE=3.0 MESA_EXTENSION_OVERRIDE='-GL_EXT_color_buffer_float -GL_EXT_color_buffer_half_float')
    expect_of 'a GPU of no floats' 0 'renders to no floats' env "${bits[@]}" "$tool" devices
    expect_of 'compared with the cpu there' 0 'within tolerance' env "${bits[@]}" "$tool" compare small.onnx -i "$sketch" \
        --backends cpu,gles --poison
    half=MESA_EXTENSION_OVERRIDE=-GL_EXT_color_buffer_float
    expect_of 'a GPU of 16 bits' 0 'renders to no 32-bit floats' env $half "$tool" devices
    expect_of 'run there' 0 'tensors are stored in 16 bits, not 32' env $half "$tool" run small.onnx -i "$sketch" \
        --backend gles -o half.npy
    grep -qF ', tensors of 16 bits; ' out && report yes 'its result' || report no 'its result'
    expect_of 'fp16 there' 0 ', tensors of 16 bits; ' env $half "$tool" run small.onnx -i "$sketch" --backend gles \
        --precision fp16 -o half.npy
    check 'fp16 there: no warning' test "$(grep -c 'not 32' err)" = 0
fi
if has_device webgpu; then
    without webgpu '/nonexistent/libwebgpu.so' TSR_WEBGPU_LIBRARY=/nonexistent/libwebgpu.so
    without webgpu 'tools/get-webgpu.sh' TSR_WEBGPU_LIBRARY=libm.so.6
    echo 'int wgpuGetVersion(void) { return 0; }' | cc -shared -fPIC -x c - -o "$PWD/native.so"
    without webgpu 'is wgpu-native' TSR_WEBGPU_LIBRARY="$PWD/native.so"
    sed -n 's/^    X(\([A-Za-z]*\)).*/void wgpu\1(void) {}/p' "$source/src/webgpu/wgpu.h" |
        cc -shared -fPIC -x c - -o "$PWD/old.so"
    without webgpu 'none of those known' TSR_WEBGPU_LIBRARY="$PWD/old.so"
    # What get-webgpu.sh fetched is found, and nothing in the current folder.
    mkdir -p data/tessera/webgpu/lib
    cp native.so data/tessera/webgpu/lib/libwebgpu_wrapper.so
    cp native.so libwebgpu.so
    without webgpu "$PWD/data/tessera/webgpu/lib/libwebgpu_wrapper.so is wgpu-native" -u TSR_WEBGPU_LIBRARY \
        XDG_DATA_HOME="$PWD/data"
    if ! PATH=$PATH:/sbin ldconfig -p | grep -qE 'libwebgpu|libwgpu'; then
        without webgpu 'no WebGPU library was found' -u TSR_WEBGPU_LIBRARY XDG_DATA_HOME=data HOME=data
    fi
    without webgpu 'WebGPU finds' VK_ICD_FILENAMES=/nonexistent $no_egl
    expect_of 'devices without an adapter' 0 'not available' env VK_ICD_FILENAMES=/nonexistent $no_egl "$tool" devices
fi

# ---- outputs that cannot be written ------------------------------------------------------------------

# As root nothing is read-only but what another user meets.
mkdir -m 555 locked
as_user=()
if [ "$(id -u)" = 0 ]; then
    as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chmod 755 .
    cp "$tool" tessera
    tool=$PWD/tessera
fi
for output in locked/y.npy locked/y.png; do
    expect_of "a read-only folder: $output" 2 'cannot be written' \
        "${as_user[@]}" "$tool" run "$PWD/small.onnx" -i "$PWD/small.npy" -o $output --backend cpu
done
check 'the read-only folder stays empty' rmdir locked

# A disk that is full after 64 KiB: the former file stays.
echo former >y.npy
for output in y.npy new.npy; do
    expect_of "a full disk: $output" 2 'cannot be written' bash -c "trap '' XFSZ; ulimit -f 64
        exec '$tool' run small.onnx -i '$sketch' --backend cpu -o $output"
done
check 'a full disk leaves the former file' grep -qx former y.npy
check 'a full disk leaves no new file' test ! -e new.npy
no_leftovers 'a full disk'

# The disk of the driver's cache is full; only root can make one.
mkdir full
if mount -t tmpfs -o size=300k tmpfs full 2>mounted; then
    head -c 299000 /dev/zero >full/fill
    for backend in "${gpus[@]}"; do
        expect_of "a full disk of the driver's cache: $backend" 0 '' env XDG_CACHE_HOME="$PWD/full" TSR_CACHE= \
            "$tool" run "$PWD/small.onnx" -i "$sketch" -o full.npy --backend "$backend"
    done
    umount full
fi
finish
