#!/usr/bin/env bash
# tessera info --kernels: each layer's candidates, and which one was chosen; their times once they were measured.
source "$(dirname "$0")/support/common.sh"

has_device gles || { lacking 'a gles device' "${TSR_REQUIRE_DRIVER:-}"; finish; }
"$build/make_case" 13 'Conv x[1,48,15,13] w{48,48,3,3} -> c pads=1,1,1,1; MaxPool c -> y kernel_shape=2,2' conv.onnx

candidates() { # candidates NODE OPTIONS...: name, Winograd's tile, whether it is chosen, and measured time of each
    "$tool" info conv.onnx --backend gles --kernels "${@:2}" 2>err |
        awk -v node="$1" '/^node /{ on = 1; next } on && $1 ~ /[01]$/ { name = $1 }
            on && name == node { print $(NF - 6), $(NF - 5), $(NF - 7) == "*", $NF }'
}

winograd='conv_winograd F(2x2,3x3)'
candidates Conv0 >estimated
check 'a convolution has several candidates' test "$(grep -c ^conv_ estimated)" -ge 2
check 'one of them is chosen' test "$(grep -c ' 1 ' estimated)" = 1
check 'none is measured' test -z "$(grep -v -- ' -$' estimated)"
candidates Conv0 --tune 60000 >measured
check 'candidates are measured' test "$(grep -cv -- ' -$' measured)" -ge 2
check 'the chosen one is' test -n "$(grep ' 1 ' measured | grep -v -- ' -$')"
check "Winograd's has a tile, no other has one" test "$(grep -v ' - [01]' estimated | cut -d' ' -f1,2 | sort -u)" = "$winograd"
check 'a pool has candidates' grep -q '^pool_' <(candidates MaxPool1)
expect 0 'conv_direct' info conv.onnx --kernels
expect 0 'kernels on cpu' info conv.onnx --kernels --backend cpu
finish
