#!/usr/bin/env bash
# The table of docs/operators.md is what `tessera ops` prints; docs/optimizer.md has every pass; the example of docs/op-tests.md passes.
source "$(dirname "$0")/support/common.sh"

"$tool" ops --markdown --tests "$source/tests/ops" >table 2>err
check 'tessera ops prints a table' grep -q '^| Conv | kernel |' table
sed -n '/^| operator/,$p' "$source/docs/operators.md" >documented
check "docs/operators.md is in step ('tessera ops --markdown --tests tests/ops')" diff table documented

sed -n 's/^TSR_OPTIMIZER_PASS(\([a-z_]*\),.*/\1/p' "$source/src/passes/passes.def" >passes
sed -n 's/^| `\([a-z_]*\)` |.*/\1/p' "$source/docs/optimizer.md" >documented
check 'docs/optimizer.md has the passes in their order' diff passes documented

expect 2 'No such file' ops --tests nowhere
sed -n '/^```json$/,/^```$/p' "$source/docs/op-tests.md" | sed '/^```/d' >Gemm.json
expect 0 '1 passed, 0 failed, 1 skipped' check Gemm.json --backend cpu
sed -i 's/\[2, 6\]/[2, 5]/' Gemm.json
expect 1 "output 'y0': 1 of 2 elements differ, worst at [0, 1]: 6 instead of 5" check Gemm.json --backend cpu
expect 2 "there is no 'metal'" ops --backend metal
"$tool" ops --backend gles >listed 2>err
check 'what a GPU computes' sh -c "grep -q '^Conv ' listed && ! grep -q '^NonZero ' listed"
finish
