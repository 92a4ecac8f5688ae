# Sourced by scripts that need Slurm: one node on this machine, on ports of its own, all of whose files are in a folder.
#
#     start_slurm FOLDER     exports SLURM_CONF; fails if a daemon does not start
#     stop_slurm FOLDER

start_slurm() {
    local host port
    host=$(hostname -s)
    port=$((20000 + $$ % 10000))
    mkdir -p "$1"/{state,spool}
    chmod 711 "$1"
    head -c 64 /dev/urandom >"$1/key"
    chmod 400 "$1/key"
    munged --force --key-file="$1/key" --socket="$1/munge.socket" --pid-file="$1/munged.pid" --log-file="$1/munged.log" \
        --seed-file="$1/munged.seed" || return 1
    cat >"$1/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthInfo=socket=$1/munge.socket
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF=$1/slurm.conf
    slurmctld && slurmd
}

stop_slurm() {
    local daemon process
    for daemon in slurmd slurmctld munged; do
        process=$(cat "$1/$daemon.pid" 2>/dev/null) && kill "$process" || continue
        while kill -0 "$process" 2>/dev/null; do sleep 0.1; done
    done
}
