#!/usr/bin/env bash
# A kernel that does not fit its declaration fails the build, with file and line: tools/cmake/kernels.py on copies of
# kernels.txt, ops.def and the shaders that have one mistake each.
source "$(dirname "$0")/support/common.sh"

copy() {
    rm -rf glsl wgsl kernels.txt ops.def
    cp -r "$source"/{glsl,wgsl,src/kernel/kernels.txt,src/graph/ops.def} .
    mkdir -p written
}
fit() { python3 "$source/tools/cmake/kernels.py" kernels.txt ops.def glsl wgsl written glsl wgsl; }

# refused AT MESSAGE: the first complaint is of the line AT, file:line
refused() {
    local good=no
    if ! fit >out 2>err && [[ $(head -n 1 err) == "$1: error: $2" ]]; then good=yes; fi
    report $good "$1" "wanted '$2'"
}

# mistake FILE OLD NEW MESSAGE [AT]: the first OLD of FILE becomes NEW; the complaint is of this line, or of AT
mistake() {
    local file=$1 line
    copy
    line=$(grep -nF -m 1 -- "$2" "$file" | cut -d: -f1)
    sed -i "${line:-0}s|${2//[\[\]*.]/\\&}|$3|" "$file" 2>/dev/null
    refused "${5:-$file:$line}" "$4"
}

# declared KERNEL OLD NEW MESSAGE: the same in a kernel's declaration
declared() {
    local first line
    copy
    first=$(grep -nx "kernel $1" kernels.txt | cut -d: -f1)
    line=$(awk -v first="$first" -v old="$2" 'NR > first && index($0, old) { print NR; exit }' kernels.txt)
    sed -i "${line:-0}s|$2|$3|" kernels.txt 2>/dev/null
    refused "kernels.txt:$line" "$4"
}

copy
check 'the kernels as they are' fit
check 'a list of them' test -s written/kernel_list.h -a -s written/kernel_list.c
# LLVM takes minutes for 32 loops one after another: 4 channels of 8 planes.
no_looping_element() { ! grep -l "^#include element" glsl/*.glsl | xargs grep -l "\<for ("; }
check 'no loop in a function of one element' no_looping_element

# ---- in a shader -------------------------------------------------------------------------------------

mistake glsl/normalize.glsl u.epsilon u.epsilom 'u.epsilom is not declared'
mistake wgsl/reduce.wgsl u.factor u.facter 'u.facter is not declared'
mistake glsl/pool.glsl u.window_y.kernel u.window_y.kernels 'u.window_y.kernels is not declared'
mistake wgsl/matmul.wgsl u.B_tiles u.B_tile 'u.B_tile is not declared'
mistake glsl/concat.glsl '#if WHOLE' '#if WHOL' 'WHOL is neither declared nor a loop'\''s variable'
mistake wgsl/resize.wgsl '#for i COLUMN_TAPS' '#for i COLUMN_TAP' 'COLUMN_TAP is neither declared nor a loop'\''s variable'
mistake glsl/copy.glsl X_ Z_ 'Z is no input of this kernel'
mistake glsl/pool.glsl '#if DILATED' '#iff DILATED' '#iff is no directive'
mistake glsl/pool_row.glsl '#include row' '#include rows' 'there is no glsl/rows.glsl'
mistake wgsl/copy.wgsl 'fn kernel(' 'fn kernels(' 'it is declared as texel, but defines no such function' wgsl/copy.wgsl:1

# ---- in a declaration --------------------------------------------------------------------------------

declared space_to_depth blocksize 'blocksize spare' 'glsl/space_to_depth.glsl does not use spare'
declared normalize 'input X' 'input X spare' 'glsl/normalize.glsl does not use spare'
declared matmul 'RANK' 'RANK SPARE' 'glsl/matmul.glsl does not use SPARE'
declared copy BROADCAST 'BROADCAST BROADCAST' "'BROADCAST' is declared twice"
declared normalize float flaot "'flaot' is no property of a kernel, nor a group"
declared normalize 'float epsilon' 'float' "'float' needs something after it"
declared copy 'glsl texel' 'glsl pixel' "'pixel' is no form: texel, row, element, entry"
declared conv_uniform_block pad_x 'pad_x spare' 'a draw has at most 4 arguments'
declared conv_uniform_block uniform_block 'uniform_blocks' "'uniform_blocks' is no feature: uniform_block, workgroup_memory"
mistake kernels.txt 'kernel reshape' 'kernel copy' 'kernel copy is declared twice'
mistake kernels.txt 'kernel reshape' 'kernels reshape' "'kernels' is no declaration"
# Of another name or class than the shader's: the complaint is of the shader, which is right if the declaration is wrong.
line_of() { grep -nF -m 1 -- "$2" "$source/$1" | cut -d: -f1; }
mistake kernels.txt 'float epsilon' 'float epsilom' 'u.epsilon is not declared' \
    glsl/normalize.glsl:"$(line_of glsl/normalize.glsl u.epsilon)"
mistake kernels.txt 'literal DCR' 'int DCR' 'glsl/depth_to_space.glsl does not use DCR'
mistake kernels.txt 'int partials' 'literal partials' 'u.partials is not declared' \
    glsl/split_k_sum.glsl:"$(line_of glsl/split_k_sum.glsl u.partials)"

# ---- operators ---------------------------------------------------------------------------------------

# lacking_function FILE STEM: without the function of the operator, whose line the complaint names
lacking_function() {
    copy
    sed -i "s/ tsr_$2(/ tsr_other_$2(/" "$1"
    refused ops.def:"$(grep -n -m 1 "[A-Za-z], $2," ops.def | cut -d: -f1)" "$1 has no tsr_$2()"
}
lacking_function glsl/unary.glsl abs
lacking_function wgsl/unary.wgsl atanh
lacking_function glsl/binary.glsl bitwise_or
lacking_function wgsl/binary.wgsl max

# ---- files -------------------------------------------------------------------------------------------

# The complaint about a file that is not there, or of a table, is of the kernel's line.
kernel_line() { grep -nx "kernel $1" kernels.txt | cut -d: -f1; }
copy
rm glsl/reshape.glsl
refused kernels.txt:"$(kernel_line reshape)" 'there is no glsl/reshape.glsl'
copy
touch wgsl/spare.wgsl
refused wgsl/spare.wgsl:1 'no kernel of kernels.txt has this stem, and nothing includes it'
copy
sed -i "$(kernel_line gather),/table/{/table/d}" kernels.txt
refused kernels.txt:"$(kernel_line gather)" 'glsl/gather.glsl reads a table'
copy
sed -i "$(kernel_line copy)a\\    table" kernels.txt
refused kernels.txt:"$(kernel_line copy)" 'glsl/copy.glsl reads no table'
finish
