#!/bin/bash
# `tessera bench`: its tables, JSON, trace and chart, comparisons, batches and runs in flight, and what it refuses.
source "$(dirname "$0")/support/common.sh"

# Is the file JSON, and is every expression, in which d is its content, true? figure(x): finite and positive. near(x, y): equal
# but for rounding.
json_holds() { # json_holds FILE EXPRESSION...
    python3 - "$@" <<'END'
import json, math, sys
def figure(*values):
    return all(isinstance(v, (int, float)) and math.isfinite(v) and v > 0 for v in values)
def near(a, b):
    return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5)
with open(sys.argv[1], encoding="utf-8") as file:
    d = json.load(file)
bad = [e for e in sys.argv[2:] if not eval(e)]
print(*bad, sep="\n")
sys.exit(bool(bad))
END
}

# A well-formed SVG with that many bars, none of them beside the picture?
svg_holds() { # svg_holds FILE BARS
    python3 - "$@" <<'END'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
bars = [r for r in root.iter("{http://www.w3.org/2000/svg}rect") if "bar" in r.get("class", "").split()]
inside = all(0 <= float(r.get("x")) + float(r.get("width")) <= float(root.get("width")) for r in bars)
sys.exit(len(bars) != int(sys.argv[2]) or not inside)
END
}

# check_bench BACKEND EXPRESSION...: every output for a model of 3 layers, and what else its JSON holds
check_bench() {
    local backend=$1
    shift
    expect 0 'layers: medians of 3 runs' bench chain.onnx --backend "$backend" --runs 3 --layers --json bench.json \
        --trace trace.json --svg bench.svg
    cp out tables
    awk 'length > 120 { bad = 1 } END { exit bad }' tables
    [ $? = 0 ] && fits=yes || fits=no
    report $fits "bench on $backend fits into 120 columns"
    check "bench.json of $backend" json_holds bench.json "figure(d['cold_ms'], d['warm_ms'])" \
        "0 < d['min_ms'] <= d['q1_ms'] <= d['median_ms'] <= d['q3_ms'] <= d['max_ms']" "figure(d['gflops'])" \
        "d['macs'] == 4 * 64 * 27" "d['upload_bytes'] == d['readback_bytes'] * 3 // 4" "len(d['layers']) == 2" \
        "0 < d['median_ms'] <= d['p90_ms'] <= d['p99_ms'] <= d['max_ms']" \
        "near(d['per_second'], d['batch'] * d['runs'] / d['seconds'])" "d['runs'] == len(d['samples_ms']) == 3" \
        "d['seconds'] * 1e3 >= sum(d['samples_ms']) * 0.999" \
        "d['bytes'] == sum(l['bytes'] for l in d['layers'])" "all(0 <= l['ms'] < math.inf for l in d['layers'])" "$@"
    check "sums of $backend" json_holds bench.json "{o['op'] for o in d['operators']} == {'Conv', 'MaxPool'}" \
        "all(near(d['all_layers'][k], sum(l[k] for l in d['layers'])) for k in ('macs', 'bytes', 'draws', 'ms'))" \
        "all(near(d['all_layers'][k], sum(o[k] for o in d['operators'])) for k in ('macs', 'bytes', 'draws', 'ms'))" \
        "d['all_layers']['layers'] == sum(o['layers'] for o in d['operators']) == 2" \
        "near(sum(o['share'] for o in d['operators']), 1)" "d['operators'][0]['ms'] >= d['operators'][1]['ms']" \
        "all(near(o['gflops'], 2e-6 * o['macs'] / o['ms']) for o in d['operators'])"
    check "the tables of $backend have a sum" grep -q '^all layers  ' tables
    check "the tables of $backend have operators" grep -q '^Conv  *1 ' tables
    check "trace.json of $backend" json_holds trace.json \
        "[e['name'] for e in d['traceEvents'] if e['tid'] == 1 and e['ph'] == 'X'] == ['upload', 'run', 'readback']" \
        "len([e for e in d['traceEvents'] if e['tid'] == 2 and e['ph'] == 'X']) == 2" \
        "all(e['ts'] >= 0 and 0 <= e['dur'] < math.inf for e in d['traceEvents'] if e['ph'] == 'X')"
    check "bench.svg of $backend" svg_holds bench.svg 4
}

"$build/make_case" 13 'Relu x[N,3,H,W] -> y' relu.onnx
expect 0 'GFLOP/s' bench relu.onnx --shape x=1,3,8,8 --backend cpu --runs 2 --layers --json bench.json
for key in cold_ms warm_ms median_ms gflops share_of_peak peak_tensor_bytes \
    live_lower_bound_bytes programs compile_ms layers; do
    check "bench.json has $key" grep -q "\"$key\":" bench.json
done

check 'bench prints nothing but JSON' sh -c "'$tool' bench relu.onnx --shape x=1,3,8,8 --backend cpu --runs 3 --json - >piped.json"
check 'what was measured, when and by what' json_holds piped.json "len(d['samples_ms']) == 3" "figure(*d['samples_ms'])" \
    "d['version'].startswith('0.')" "d['date'].endswith('Z')" "d['backend'] == 'cpu'" "'device_version' in d"

"$build/make_case" 13 'Conv x[1,3,8,8] w{4,3,3,3} -> c pads=1,1,1,1; MaxPool c -> y kernel_shape=1,1' chain.onnx
check_bench cpu "d['peaks'] is None" "d['share_of_peak'] is None" "d['layers'][0]['bytes'] == 4 * (192 + 108 + 256)"
# Names that no XML and no JSON may hold, and no table can.
for name in '\x01\xff<\&"' '\xff]]>\&'; do
    "$build/make_case" 13 'Relu x[1,3,8,8] -> abcde' named.onnx
    LC_ALL=C sed -i "s/Relu0/$name/" named.onnx
    expect 0 'GFLOP/s' bench named.onnx --backend cpu --runs 1 --svg bench.svg --json bench.json --trace trace.json
    check 'names are escaped in bench.svg' svg_holds bench.svg 2
    check 'names are escaped in bench.json' json_holds bench.json "'xff' in d['layers'][0]['name']"
    check 'names are escaped in trace.json' json_holds trace.json "'xff' in d['traceEvents'][-1]['name']"
done
expect 2 'named for two' bench chain.onnx --backend cpu --json bench.svg --svg bench.svg

expect 0 'ratio here / there' bench chain.onnx --backend cpu --runs 3 --against cpu --json bench.json
against="d['against']['device'].startswith('cpu')"
check 'a backend against itself' json_holds bench.json "$against" "figure(d['against']['ratio'])" \
    "d['against']['ratio_q1'] <= d['against']['ratio'] <= d['against']['ratio_q3']" \
    "figure(d['against']['here']['median_ms'], d['against']['there']['median_ms'])"
expect 0 'ratio step / run' bench chain.onnx --backend cpu --runs 3 --train --json bench.json
check 'training steps beside runs' json_holds bench.json "figure(*[d['train'][k][q] for k in ('step', 'run') for q in ('median_ms', 'q1_ms')])" \
    "figure(d['train']['ratio'], d['train']['first_ms'], d['train']['nodes'])"
expect 2 'there is no weight' bench relu.onnx --dim N=1 --shape x=1,3,4,4 --backend cpu --runs 2 --train
expect 0 'against cpu: ' bench relu.onnx --dim N=1 --shape x=1,3,4,4 --backend cpu --runs 2 --against "$tool"
expect 3 "no backend 'nowhere'" bench chain.onnx --backend cpu --runs 2 --against nowhere
expect 2 'no/such/tool: cannot be run' bench chain.onnx --backend cpu --against no/such/tool
expect 3 'ended without an answer' bench chain.onnx --backend cpu --against /bin/true
printf '#!/bin/sh\ncat\n' >echo
chmod +x echo
expect 3 "answered 'begin'" bench chain.onnx --backend cpu --against ./echo
expect_of 'a server that nobody begins' 0 '' "$tool" bench --serve cpu chain.onnx </dev/null

# ---- both sides of --against -------------------------------------------------------------------------

both_sides() { # bench.json and bench.svg have the layers of both
    check "layers of $1" json_holds bench.json "all(l['there_ms'] >= 0 for l in d['layers'])" \
        "near(d['all_layers']['there_ms'], sum(l['there_ms'] for l in d['layers']))" \
        "near(d['all_layers']['there_ms'], sum(o['there_ms'] for o in d['operators']))"
    check "bars of $1" svg_holds bench.svg 8
    check "the legend of $1" grep -q 'class="there".*height="12"' bench.svg
}
expect 0 'ratio here / there' bench chain.onnx --backend cpu --runs 2 --against cpu --json bench.json --svg bench.svg
both_sides 'cpu twice'
# A build of before, which makes a run whatever it is asked for.
printf '#!/bin/sh\nread a; echo "1 0 0 old"; while read a; do echo 1.5; done\n' >old
chmod +x old
expect 0 'does not tell its layers' bench chain.onnx --backend cpu --runs 2 --against ./old --json bench.json --svg bench.svg
check 'bars of one side' svg_holds bench.svg 4
check 'a side without layers' json_holds bench.json "all(l['there_ms'] is None for l in d['layers'])" "d['against']['pairs'] == 2"

# ---- batches, runs in flight, seconds ----------------------------------------------------------------

expect 0 'a second: ' bench chain.onnx --backend cpu --runs 2 --batch 3 --layers --json bench.json
check 'a batch where the model fixes another' json_holds bench.json "d['batch'] == 3" "d['macs'] == 3 * 4 * 64 * 27" \
    "d['layers'][0]['shape'] == [3, 4, 8, 8]" "near(d['per_second'], 3 * d['runs'] / d['seconds'])"
expect 0 'a second: ' bench relu.onnx --backend cpu --runs 2 --batch 5 --dim H=2 --dim W=4 --json bench.json
check 'a batch that the model leaves open' json_holds bench.json "d['upload_bytes'] == 4 * 5 * 3 * 2 * 4"
zeros 48 | npy 1 "$(header '<f4' '1, 3, 2, 2')" >x.npy
expect 0 'a second: ' bench relu.onnx --backend cpu --runs 2 --batch 5 -i x.npy --json bench.json
check 'a batch of one file' json_holds bench.json "d['upload_bytes'] == 5 * 48"
expect 0 'a second: ' bench relu.onnx --backend cpu --runs 1 --batch 5 --shape x=5,3,2,2
expect 2 'neither 1 nor --batch 5' bench relu.onnx --backend cpu --batch 5 --shape x=4,3,2,2
"$build/make_case" 13 'Reshape x[1,8] s(1,2,4) -> y' stiff.onnx
expect 2 '--batch 2: ' bench stiff.onnx --backend cpu --batch 2
expect 2 "node 'Reshape" bench stiff.onnx --backend cpu --batch 2
expect 2 '--batch 2000000000: ' bench chain.onnx --backend cpu --batch 2000000000 # before any element is repeated
expect 2 'expects a whole number' bench chain.onnx --batch 0
"$build/make_case" 13 'Relu x[] -> y' scalar.onnx
expect 2 'no input has an axis' bench scalar.onnx --backend cpu --batch 2

# Each run in flight has other inputs; bench compares its results with those of runs alone.
in_flight() { # in_flight BACKEND
    local backend=$1 count
    for count in 2 3 5; do
        expect 0 "$count in flight" bench chain.onnx --backend "$backend" --runs 7 --in-flight $count --batch 2 --json bench.json
        check "$count runs in flight on $backend" json_holds bench.json "d['in_flight']['count'] == $count" \
            "d['in_flight']['runs'] == d['runs'] == 7" \
            "near(d['in_flight']['per_second'], 2 * 7 / d['in_flight']['seconds'])" \
            "0 < d['in_flight']['min_ms'] <= d['in_flight']['median_ms'] <= d['in_flight']['p90_ms']" \
            "d['in_flight']['max_ms'] * 1e-3 <= d['in_flight']['seconds']"
    done
    expect 2 'there can be 1 to 16' bench chain.onnx --backend "$backend" --in-flight 17
}
in_flight cpu
expect 2 'not with allow_cpu_fallback' bench chain.onnx --backend cpu --in-flight 2 --allow-cpu-fallback
expect 0 'one at a time' bench chain.onnx --backend cpu --runs 2 --json bench.json
check 'one run at a time' json_holds bench.json "'in_flight' not in d"

expect 0 'steady' bench chain.onnx --backend cpu --seconds 0.2 --in-flight 2 --layers --json bench.json
check 'runs for 0.2 seconds' json_holds bench.json "0.2 <= d['seconds'] < 0.3 + d['max_ms'] * 1e-3" "d['runs'] > 10" \
    "0.2 <= d['in_flight']['seconds'] < 0.3 + 3e-3 * d['in_flight']['max_ms']" "len(d['samples_ms']) == d['runs']"
expect 0 'median of 1 runs' bench chain.onnx --backend cpu --seconds 1e-9
expect 2 'only one of them' bench chain.onnx --backend cpu --seconds 1 --runs 3
expect 2 'more than 0' bench chain.onnx --backend cpu --seconds 0

# ---- the GPU backends, where there are some ----------------------------------------------------------

find_gpus
for backend in "${gpus[@]}"; do
    check_bench "$backend" "figure(*d['peaks'].values())" "figure(d['share_of_peak'], d['bound_ms'])" \
        "all(figure(l['bound_ms']) for l in d['layers'])" "d['passes'] == d['draws'] == 2" \
        "d['programs'] == 2 + 2" "0 <= d['warm_cached_programs'] <= 4" "figure(d['compile_ms'])"
    expect 0 'ratio here / there' bench chain.onnx -b cpu --runs 2 --against "$backend" --json bench.json --svg bench.svg
    both_sides "cpu and $backend"
    in_flight "$backend"
done

finish
