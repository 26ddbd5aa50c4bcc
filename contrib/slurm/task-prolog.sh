#!/bin/sh
# Slurm's TaskProlog: every task of every job gets the library, unless its user says no with
# NETRA=off or has another LD_PRELOAD that must stay alone. What is printed as `export` Slurm puts
# into the environment of the task. Runs as the user.
#
# slurm.conf: TaskProlog=/etc/slurm/netra/task-prolog.sh
LIBRARY=${NETRA_PRELOAD:-/usr/lib/libnetra_preload.so}

# Says once a job step why it is not recorded, for the page of the site, and goes. Nobody waits for it.
leave() {
    if [ "${SLURM_PROCID:-0}" = 0 ] && command -v netra >/dev/null 2>&1; then
        netra publish netra.unrecorded --format json \
            "{\"job\":\"slurm.$SLURM_JOB_ID.${SLURM_STEP_ID:-0}\",\"why\":\"$1\"}" >/dev/null 2>&1 </dev/null &
    fi
    exit 0
}

case "$NETRA" in
off | 0 | no | false) leave "its user said NETRA=off" ;;
esac
[ -r "$LIBRARY" ] || leave "the library is not on the node"
case ":$LD_PRELOAD:" in
*libnetra_preload*) exit 0 ;;
*libdarshan*) leave "Darshan's own library records it" ;;
esac
echo "export LD_PRELOAD=$LIBRARY${LD_PRELOAD:+:$LD_PRELOAD}"
echo "export NETRA_STREAM=on"
echo "export NETRA_SEGMENT_DIR=${NETRA_SEGMENT_DIR:-/dev/shm}"
exit 0
