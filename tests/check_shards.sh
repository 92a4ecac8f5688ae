#!/usr/bin/env bash
# The recipes of docs/shards.md for GNU parallel and Slurm, as they are written there: a worker is killed in mid-run, is
# started again, and no output is lost or made twice.
source "$(dirname "$0")/support/common.sh"
source "$source/tests/support/slurm.sh"
export TSR_CACHE=off

# recipe TITLE: the code under this headline
recipe() { sed -n "/^## $1\$/,/^## /p" "$source/docs/shards.md" | sed -n '/^```bash$/,/^```$/{//!p}'; }
same_folder() { diff -rq "$1" "$2"; }

# The tool as users call it, on the cpu backend: which one does not matter here. The first start of worker 1 is to be killed.
mkdir bin work
cat >bin/tessera <<TOOL
#!/bin/bash
set -C
case "\$* \${SLURM_ARRAY_TASK_ID:-}" in *' 1/4 ' | *' auto 1') { echo \$\$ >../victim; } 2>/dev/null ;; esac
exec "$tool" run --backend cpu "\${@:2}" 2>>../told
TOOL
chmod +x bin/tessera
PATH=$PWD/bin:$PATH
"$build/make_case" 17 'Conv x[1,3,40,40] w{96,3,5,5} -> c; Conv c v{48,96,5,5} -> d; Conv d u{3,48,1,1} -> y' work/model.onnx
mkdir work/in
for i in {10..41}; do
    perl -e 'srand $ARGV[0]; print map { pack "f<", rand } 1 .. 4800' $i | npy 1 "$(header '<f4' '1, 3, 40, 40')" >work/in/$i.npy
done
check 'one run' "$tool" run work/model.onnx --backend cpu -i work/in -o whole

written() { (cd work/out && stat -c '%n %i' -- *.png) 2>/dev/null; }
written_by_victim() { for i in {11..41..4}; do [ ! -e work/out/$i.png ] || echo $i; done | wc -l; }

# Kills worker 1 once it has written something. before: what is there then; killed: how many of it are that worker's
kill_worker() {
    for ((i = 0; i < 1200; i++)); do
        [ ! -s victim ] || [ "$(written_by_victim)" = 0 ] || break
        sleep 0.02
    done
    check 'a worker is stopped' kill -STOP "$(cat victim)"
    written >before
    killed=$(written_by_victim)
    check 'a worker is killed' kill -KILL "$(cat victim)"
    report "$([ "$killed" -lt 8 ] && echo yes || echo no)" 'it had not finished' "$killed of 8 files"
}

# After all have ended.
expect_each_once() { # expect_each_once NAME
    local sum
    check "$1: the outputs are those of one run" same_folder whole work/out
    written >after
    check "$1: what was there is not made again" sh -c '[ -s before ] && [ -z "$(comm -23 before after)" ]'
    sum=$(sed -n 's/^ran on cpu: \([0-9]*\) files* .*/\1/p' told | paste -sd+)
    report "$([ $((sum + killed)) = 32 ] && echo yes || echo no)" "$1: each is made once" "$sum + $killed of 32"
    rm -rf work/out told victim
}

# ---- GNU parallel ------------------------------------------------------------------------------------

if command -v parallel >/dev/null; then
    recipe 'GNU parallel' >recipe
    (cd work && exec bash ../recipe) >recipe.log 2>&1 </dev/null &
    kill_worker
    check 'GNU parallel ends well' wait $!
    expect_each_once 'GNU parallel'
else
    lacking 'GNU parallel; on Debian: apt install parallel'
fi

# ---- Slurm -------------------------------------------------------------------------------------------

# A job that is queued again waits for two minutes otherwise.
release() { squeue -h -t PENDING -o '%i %r' | sed -n 's/ BeginTime$//p' | xargs -r -I{} scontrol update JobId={} StartTime=now; }

run_slurm() {
    recipe Slurm >job.sh
    check sbatch sbatch --chdir=work job.sh
    kill_worker
    for ((i = 0; i < 600; i++)); do
        [ -n "$(squeue -h)" ] || break
        release
        sleep 0.1
    done
    check 'no job is left' sh -c '[ -z "$(squeue -h)" ]'
    expect_each_once Slurm
}

if command -v slurmctld >/dev/null && command -v slurmd >/dev/null && [ "$(id -u)" = 0 ]; then
    trap 'stop_slurm "$folder/slurm"; rm -rf "$folder"' EXIT
    chmod 711 .
    if start_slurm "$folder/slurm" >out 2>err; then run_slurm; else report no 'Slurm on one node'; fi
else
    lacking 'Slurm, or being root; on Debian: apt install slurmctld slurmd munge'
fi
finish
