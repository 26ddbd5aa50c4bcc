#!/bin/sh
# Slurm's TaskProlog: every task of every job gets the library, unless its user says no with
# NETRA=off or has another LD_PRELOAD that must stay alone. What is printed as `export` Slurm puts
# into the environment of the task. Runs as the user.
#
# slurm.conf: TaskProlog=/etc/slurm/netra/task-prolog.sh
LIBRARY=${NETRA_PRELOAD:-/usr/lib/libnetra_preload.so}

[ "$NETRA" = off ] && exit 0
[ -r "$LIBRARY" ] || exit 0
case ":$LD_PRELOAD:" in
*libnetra_preload* | *libdarshan*) exit 0 ;;
esac
echo "export LD_PRELOAD=$LIBRARY${LD_PRELOAD:+:$LD_PRELOAD}"
echo "export NETRA_STREAM=on"
echo "export NETRA_SEGMENT_DIR=${NETRA_SEGMENT_DIR:-/dev/shm}"
exit 0
