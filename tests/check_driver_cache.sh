#!/usr/bin/env bash
# llvmpipe compiles nothing in a second process: what the first one compiled is all in Mesa's cache on disk.
source "$(dirname "$0")/support/common.sh"

unset TSR_CACHE MESA_SHADER_CACHE_DISABLE MESA_SHADER_DUMP_PATH
export XDG_CACHE_HOME=$folder/cache MESA_SHADER_CACHE_DIR=$folder/driver

count() { find "$MESA_SHADER_CACHE_DIR" -type f -size +0 | grep -cv '/index$\|\.tmp$'; }

if ! "$tool" devices 2>err | grep -q '^gles .*llvmpipe'; then
    lacking 'gles on llvmpipe'
    finish
fi
# twice MODEL: the files in the driver's cache after the first process and after the second
twice() {
    rm -rf "$XDG_CACHE_HOME" "$MESA_SHADER_CACHE_DIR"
    for run in first second; do
        check "$1, the $run run" "$tool" run net.onnx --backend gles --no-tune -i x=x.npy -o "$run.npy"
        eval "$run=$(count)"
    done
    check "$1, the same output" cmp first.npy second.npy
}

zeros $((3 * 256 * 256 * 4)) | npy 1 "$(header '<f4' '1, 3, 256, 256')" >x.npy
for model in 'pix2pix --ngf 2' mobile; do # one program reads textures of several sizes
    check "make_models $model" "$build/make_models" $model -o net.onnx
    first=0 second=1
    for try in 1 2 3 4 5; do # Mesa's thread that writes may be ended by the process before its last file
        if [ "$first" != "$second" ]; then twice "$model"; fi
    done
    report "$([ "$first" = "$second" ] && echo yes || echo no)" "$model: the driver's cache" \
        "$first files after the first run, $second after the second"
done
finish
