#!/usr/bin/env bash
# Tests of operators as data (docs/op-tests.md): every operator has a file in tests/ops, all of its cases pass on cpu and
# on the GPU backends; a wrong expectation is found, and bad files are refused with file, case and field.
source "$(dirname "$0")/support/common.sh"
export TSR_CACHE=off GALLIVM_PERF=${GALLIVM_PERF-nopt} # most of the time goes into llvmpipe's compiler
tolerance=(--rtol 2e-5 --atol 2e-6)

# ---- every operator has cases ------------------------------------------------------------------------

"$tool" ops --markdown --tests "$source/tests/ops" >out 2>err
lacks=$(sed -n 's/^| \([A-Z][A-Za-z0-9]*\) .*| 0 |$/\1/p' out)
count=$(grep -c '^| [A-Z]' out)
if [ -z "$lacks" ] && [ "$count" -gt 100 ]; then good=yes; else good=no; fi
report $good 'every operator has a file in tests/ops' "${lacks//$'\n'/ } of $count"
for file in "$source"/tests/ops/*.json; do
    name=$(basename "$file" .json)
    grep -q "^| $name |" out || report no "tests/ops/$name.json" 'there is no such operator'
    grep -q "\"operator\": \"$name\"" "$file" || report no "tests/ops/$name.json" 'its operator has another name'
done

# ---- they pass ---------------------------------------------------------------------------------------

run_cases() { # run_cases BACKEND SKIPPED: what may be skipped
    "$tool" check "$source"/tests/ops/*.json "${tolerance[@]}" --backend "$1" >out 2>err
    local code=$? skipped
    skipped=$(grep '^SKIP ' out | grep -vc "$2")
    if [ $code = 0 ] && [ "$skipped" = 0 ]; then
        report yes "$1"
        echo "$1: $(tail -n 1 out)"
    else
        sed -i '/^PASS /d' out
        report no "operators on $1" "exit code $code"
    fi
}
find_gpus
run_cases cpu 'what it expects is what cpu computes'
for backend in "${gpus[@]}"; do run_cases "$backend" 'nothing is skipped'; done

# ---- what is wrong is found --------------------------------------------------------------------------

write() { cat >case.json; }
case_of() { printf '{"operator": "Add", "cases": [{"name": "sum", %s}]}' "$1" >case.json; }
two='"inputs": [{"shape": [2, 2], "data": [1, 2, 3, 4]}, {"shape": [2], "data": [10, 20]}]'
case_of "$two, \"outputs\": [{\"shape\": [2, 2], \"data\": [11, 22, 13, 24]}]"
expect 0 'PASS case sum' check case.json --backend cpu
case_of "$two, \"outputs\": [{\"shape\": [2, 2], \"data\": [11, 22, 13.5, 24]}]"
for backend in cpu "${gpus[@]}"; do
    expect 1 "output 'y0': 1 of 4 elements differ, worst at [1, 0]: 13 instead of 13.5" check case.json --backend "$backend"
done
case_of "$two, \"outputs\": [{\"shape\": [4], \"data\": [11, 22, 13, 24]}]"
expect 1 "output 'y0' is [2, 2] instead of [4]" check case.json --backend cpu
case_of "$two, \"outputs\": [{\"shape\": [2, 2], \"type\": \"int32\", \"data\": [11, 22, 13, 24]}]"
expect 1 "output 'y0' is of type float32 instead of int32" check case.json --backend cpu
case_of "$two, \"outputs\": [{\"data\": \"cpu\"}]"
for backend in "${gpus[@]}"; do
    expect 0 'PASS case sum' check case.json --backend "$backend" --precision fp16
done
case_of "${two/1, 2,/1.001, 2,}, \"outputs\": [{\"data\": \"cpu\"}]"
for backend in "${gpus[@]}"; do
    expect 0 'PASS case sum' check case.json --backend "$backend" --rtol 0 --atol 1e-5
    expect 1 'FAIL case sum' check case.json --backend "$backend" --rtol 0 --atol 1e-5 --precision fp16
done
case_of "$two, \"cpu_only\": \"no reason\", \"outputs\": [{\"data\": \"cpu\"}]"
for backend in "${gpus[@]}"; do
    expect 1 "cpu_only: this backend computes it without the CPU" check case.json --backend "$backend"
done
expect 2 "no test has a name that holds 'nothing'" check case.json --case nothing --backend cpu
expect 0 '1 passed, 0 failed, 0 skipped' check "$source/tests/ops/Softmax.json" --case 'axis 1, opset 11' --backend cpu

# ---- bad files ---------------------------------------------------------------------------------------

refused() { expect 1 "$1" check case.json --backend cpu; } # refused TEXT
write <<<'{"operator": "Add", "cases": [{"name": "sum",
  "inputs": [}]}'
refused 'case.json:2: not JSON'
write <<<'{"operator": "Add", "cases": []} x'
refused 'case.json:1: not JSON'
write <<<'[1]'
refused 'not tests of an operator'
write <<<'{"operator": "Add", "cases": [{"name": "a", "inputs": [], "outputs": []}, {"name": "a"}]}'
refused "two cases have the name 'a'"
write <<<'{"operator": "A b", "cases": [{"name": "a", "inputs": [], "outputs": []}]}'
refused "case 'a': operator: not the name of an operator"
head -c 100000 /dev/zero | tr '\0' '[' >case.json
refused 'not JSON'
variable() { # variable FIELDS TEXT: how the second input is refused
    case_of "\"inputs\": [{\"shape\": [1], \"data\": [1]}, {$1}], \"outputs\": [{\"data\": \"cpu\"}]"
    refused "case 'sum': inputs[1]: $2"
}
variable '"data": [1]' '"shape" is not a list'
variable '"shape": [1, -1], "data": []' 'size 1 of "shape" is not an integer'
variable '"shape": [1000000, 1000000], "data": [1]' 'more than 1048576 elements'
variable '"shape": [1,1,1,1,1,1,1,1,1], "data": [1]' '"shape" has more than 8 sizes'
variable '"shape": [2], "data": [1]' '"data" has 1 elements, [2] has 2'
variable '"shape": [1], "data": ["one"]' 'element 0 of "data" is not of type float32'
variable '"shape": [1], "type": "int8", "data": [128]' 'element 0 of "data" is not of type int8'
variable '"shape": [1], "type": "int32", "data": [1.5]' 'element 0 of "data" is not of type int32'
variable '"shape": [1], "type": "int64", "data": [16777217]' 'it has integers that no float holds'
variable '"shape": [1], "type": "int7", "data": [1]' "\"type\" is 'int7', which is no element type"
variable '"shape": [1], "data": [1], "seed": 1' 'it has both of "data" and "seed"'
variable '"shape": [1]' 'it has none of "data" and "seed"'
variable '"shape": [1], "seed": -1' '"seed" is not an integer'
variable '"shape": [1], "seed": 1, "low": 2, "high": 1' '"low" and "high" are not a range'
variable '"shape": [1], "dat": [1]' 'there is no field "dat"'
variable '"shape": [1], "shape": [1], "data": [1]' 'the field "shape" is given twice'
variable '"name": "a,b", "shape": [1], "data": [1]' '"name" is not made of letters'
variable '"data": "cpu"' '"data" is "cpu", which only outputs can be'
attribute() { # attribute VALUE TEXT: how a value of "axis" is refused
    case_of "$two, \"attributes\": {\"axis\": $1}, \"outputs\": [{\"shape\": [1], \"data\": [1]}]"
    refused "case 'sum': axis: $2"
}
attribute true 'not a number, text, list or object'
attribute '[1, "a"]' 'numbers and texts in one list'
attribute '[[1]]' 'element 0 is no number and no text'
attribute '{"int": 1}' 'there is no field "int"'
attribute '{"graph": 1}' 'its value is of another kind'
attribute '{"tensor": {"shape": [2], "data": [1]}}' '"data" has 1 elements'
case_of "$two, \"attributes\": {\"axis\": {\"graph\": {\"nodes\": [{\"operator\": \"Relu\", \"inputs\": [1],
    \"outputs\": []}], \"outputs\": []}}}, \"outputs\": [{\"shape\": [1], \"data\": [1]}]"
refused "case 'sum': inputs: not a list of names"
case_of "$two, \"attributes\": {\"axis\": {\"graph\": {\"nodes\": [{\"operator\": \"Relu\", \"inputs\": [],
    \"outputs\": [], \"attributes\": [1]}, [1]], \"outputs\": []}}}, \"outputs\": [{\"shape\": [1], \"data\": [1]}]"
refused "case 'sum': attributes: not an object"
finish
