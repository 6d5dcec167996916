#!/bin/sh
# The first process inside: what has to be mounted, then the program that the job is for, then the end. The host's files are there to be read;
# the job's folder, mounted once more, is the only one that may be written. The host's /tmp stays visible: private files go to /run.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/run PYTHONDONTWRITEBYTECODE=1
mount() { busybox mount "$@"; }
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
# Senders hold all that they have to send.
echo 400000 400000 400000 >/proc/sys/net/ipv4/tcp_mem
busybox mkdir -p /run/netns /run/job
mount -t hostfs -o "$LAB_JOB" job /run/job
work=inside.py
for job in scenario configurations shows; do if [ -f "/run/job/$job.json" ]; then work=$job.py; fi; done
if /usr/bin/python3 "${0%/*}/$work" /run/job; then echo ok >/run/job/done; fi
busybox poweroff -f
