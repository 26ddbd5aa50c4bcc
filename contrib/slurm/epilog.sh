#!/bin/sh
# Slurm's Epilog: what the processes of a job left on this node and no daemon has taken becomes a log
# of the user's, and the node's memory is free again. Runs as root after the last process of the job
# has ended; it never fails a node, whatever happens here.
#
# slurm.conf: Epilog=/etc/slurm/netra/epilog.sh
SEGMENTS=${NETRA_SEGMENT_DIR:-/dev/shm}
LOGS=${NETRA_LOGS:-/var/lib/netra/logs}
PATIENCE=${NETRA_PATIENCE:-30}

[ -n "$SLURM_JOB_UID" ] || exit 0
FOLDER=$SEGMENTS/netra-$SLURM_JOB_UID
[ -d "$FOLDER" ] || exit 0

# The node daemon removes a segment when it has all of it. It gets a moment for that.
while [ "$PATIENCE" -gt 0 ] && [ -n "$(ls -A "$FOLDER" 2>/dev/null)" ]; do
    sleep 1
    PATIENCE=$((PATIENCE - 1))
done
[ -n "$(ls -A "$FOLDER" 2>/dev/null)" ] || exit 0

# Another job of the same user may still run here: `recover` leaves the segments of running processes.
USER_NAME=$(id -nu "$SLURM_JOB_UID" 2>/dev/null) || exit 0
mkdir -p "$LOGS/$USER_NAME" && chown "$SLURM_JOB_UID" "$LOGS/$USER_NAME" && chmod 0700 "$LOGS/$USER_NAME"
runuser -u "$USER_NAME" -- netra recover --log-dir "$LOGS/$USER_NAME" "$FOLDER" >/dev/null 2>&1
exit 0
