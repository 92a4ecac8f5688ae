#!/usr/bin/env bash
# Attacks the library for hours: random graphs on every backend, mutated models and data files, lost devices, processes
# killed while they share a cache, the demo's script. What was done, found and held (memory, files) is logged.
set -euo pipefail
usage="Usage: tools/soak.sh HOURS [FOLDER]

Uses what tools/check.sh has built (build-dev, build-fuzz). HOURS may be 0.5. FOLDER, by default build-soak, gets log.txt,
whose end is a summary, and a file for each finding. Fails if there was one."
case ${1:---help} in
--help) echo "$usage"; exit ;;
*[!0-9.]*) echo "$usage" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
source tools/packages.sh
hours=$1 folder=$(realpath -m "${2:-build-soak}")
end=$(awk -v now="$(date +%s)" -v hours="$hours" 'BEGIN { printf "%d", now + hours * 3600 }')
[ -x build-dev/fuzz_graphs ] && [ -x build-fuzz/fuzz_onnx ] || { echo "soak.sh: run tools/check.sh first" >&2; exit 2; }
[ ! -e "$swiftshader" ] || need_webgpu
export TSR_REQUIRE_DRIVER=1 TSR_SOURCE_DIR=$PWD TSR_BUILD_DIR=$PWD/build-dev GALLIVM_PERF=nopt
rm -rf "$folder"
mkdir -p "$folder/large" "$folder/found"
declare -A counts
findings=0

say() { echo "$(date +%T) $*" | tee -a "$folder/log.txt"; }
count() { counts[$1]=$((${counts[$1]:-0} + $2)); }

# part NAME COMMAND...: its output is kept if it fails
part() {
    local name=$1 log=$folder/last-$1.log
    shift
    if "$@" >"$log" 2>&1; then
        count "$name: runs" 1
    else
        findings=$((findings + 1))
        mv "$log" "$folder/finding-$findings-$name.log"
        say "FOUND: $folder/finding-$findings-$name.log"
    fi
}

graphs() {
    TSR_CACHE=off part graphs build-dev/fuzz_graphs --seconds 300 --seed "$1" --verbose
    [ -e "$folder/last-graphs.log" ] || return 0
    count 'random graphs compared' "$(sed -n 's/ graphs of .*//p' "$folder/last-graphs.log")"
    say "$(grep -m 1 ' resident, ' "$folder/last-graphs.log")"
}

# fuzz TARGET SECONDS MOST_BYTES SEEDS...
fuzz() {
    part "fuzz_$1" "build-fuzz/fuzz_$1" -max_total_time="$2" -max_len="$3" -rss_limit_mb=2048 -timeout=20 -verbosity=0 \
        -print_final_stats=1 -artifact_prefix="$folder/" "$folder/found" "${@:4}"
    [ ! -e "$folder/last-fuzz_$1.log" ] ||
        count "mutants of fuzz_$1" "$(sed -n 's/^stat::number_of_executed_units: //p' "$folder/last-fuzz_$1.log")"
}

# Three processes fill one cache and are killed at any moment; the one after them computes what one without a cache does.
kills() {
    local model=demos/models/edges2emoji.onnx cache=$folder/cache run=(build-dev/tessera run) i pid
    rm -rf "$cache"
    TSR_CACHE=off "${run[@]}" "$model" --random --backend gles -o "$folder/expected.npy"
    for i in $(seq 30); do
        XDG_CACHE_HOME=$cache "${run[@]}" "$model" --random --backend gles -o "$folder/killed-$((i % 3)).npy" &
        pid=$!
        sleep "$(awk -v seed="$i$RANDOM" 'BEGIN { srand(seed); print rand() * 2 }')"
        [ $((i % 3)) = 0 ] || kill -KILL $pid 2>/dev/null || true
    done
    wait
    XDG_CACHE_HOME=$cache "${run[@]}" "$model" --random --backend gles -o "$folder/after.npy"
    cmp "$folder/expected.npy" "$folder/after.npy"
}

losses() {
    TSR_CACHE=off part "losses_$1" env TSR_TEST_BACKEND="$1" "build-dev/test_$1_losses"
    count 'devices lost' 100
}

for model in demos/models/*.onnx; do
    head -c 4000000 "$model" >"$folder/large/$(basename "$model")"
done
for ((round = 1; $(date +%s) < end; round++)); do
    say "round $round"
    graphs $((round + RANDOM))
    fuzz onnx 60 4194304 build-dev/corpus "$folder/large"
    fuzz data 20 65536 build-fuzz/seeds
    losses gles
    losses webgpu
    part kills kills
    count 'processes killed' 20
    TSR_CACHE=off part demo bash tests/check_pix2pix.sh
done
say "After $hours hours, $((round - 1)) rounds: $findings findings"
for name in "${!counts[@]}"; do say "  ${counts[$name]} $name"; done
[ "$findings" = 0 ]
