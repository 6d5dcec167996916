#!/usr/bin/env bash
# make live-lab: perhop forward beside the kernel's tbf and htb, on virtual Ethernets between namespaces. It needs root,
# ip, tc and iperf3. One CUBIC flow of SECONDS_EACH (5) through each at 10 and 100 Mbit/s: a table of what arrived, and with
# a Python that has matplotlib as second word a figure of it over time, in the file that is the third.
set -euo pipefail
perhop=${1:-target/release/perhop}
python=${2:-}
figure=${3:-target/live-lab.png}
seconds=${SECONDS_EACH:-5}
name=live-lab-$$
folder=$(mktemp -d)

[ "$(id -u)" = 0 ] || { echo "live-lab: namespaces need root: run it as root" >&2; exit 2; }
for tool in ip tc iperf3; do
    command -v "$tool" >/dev/null || { echo "live-lab: $tool is not installed" >&2; exit 2; }
done

clean() {
    for n in s m r; do
        # a server that no client has asked
        for p in $(ip netns pids $name-$n 2>/dev/null); do kill "$p" 2>/dev/null || true; done
        ip netns delete $name-$n 2>/dev/null || true
    done
    rm -r "$folder"
}
trap clean EXIT

for n in s m r; do ip netns add $name-$n; done
for end in "s va 10.9.0.1" "r vb 10.9.0.2"; do
    set -- $end
    ip -n $name-m link add "$2" type veth peer name eth0 netns $name-$1
    ip -n $name-$1 link set eth0 gso_max_segs 1
    ip -n $name-$1 address add "$3/24" dev eth0
    ip -n $name-$1 link set eth0 up
    ip -n $name-m link set "$2" up
done

cat >"$folder/policy.toml" <<'POLICY'
[policy]
accounting = "l2"

[conditioner.all]
kind = "srtcm"
cir = "5Mbit/s"
cbs = "15kB"
ebs = "30kB"
green = "mark AF11"
yellow = "mark AF12"
red = "mark AF13"

[queue.line]
limit = "300kB"
POLICY

inside() { ip netns exec $name-m "$@"; }

# What one flow gets, Mbit/s; its seconds go to the folder under this name.
flow() {
    ip netns exec $name-r timeout $((seconds + 20)) iperf3 -s -1 -J -i 0.2 >/dev/null &
    until ip netns exec $name-r ss -Hlt | grep -q :5201; do sleep 0.1; done
    ip netns exec $name-s timeout $((seconds + 15)) iperf3 -c 10.9.0.2 -C cubic -t "$seconds" -i 0.2 -J --get-server-output \
        >"$folder/$1.json"
    awk '/"sum_received"/ {found = 1} found && /"bits_per_second"/ {printf "%.2f\n", $2 / 1e6; exit}' FS=': *' "$folder/$1.json"
}

bridge() {
    inside ip link add name bridge0 type bridge
    inside ip link set va master bridge0
    inside ip link set vb master bridge0
    inside ip link set bridge0 up
    inside tc qdisc add dev vb root "${@}"
}

unbridge() {
    inside tc qdisc delete dev vb root
    inside ip link delete bridge0
}

printf '%-10s %10s %10s %10s\n' "Mbit/s" tbf htb perhop
for rate in 10 100; do
    bridge tbf rate ${rate}mbit burst 10kb limit 300kb
    tbf=$(flow tbf-$rate)
    unbridge
    bridge handle 1: htb default 1
    inside tc class add dev vb parent 1: classid 1:1 htb rate ${rate}mbit burst 10kb cburst 10kb quantum 1514
    inside tc qdisc add dev vb parent 1:1 bfifo limit 300kb
    htb=$(flow htb-$rate)
    unbridge
    inside "$perhop" forward --in va --out vb --policy "$folder/policy.toml" --queue line --link ${rate}Mbit/s --real-time \
        >"$folder/counts.$rate" 2>"$folder/log" &
    until inside ip -details link show vb | grep -q 'promiscuity 1'; do sleep 0.1; done
    own=$(flow perhop-$rate)
    for p in $(ip netns pids $name-m); do kill -INT "$p"; done
    wait
    printf '%-10s %10s %10s %10s\n' $rate "$tbf" "$htb" "$own"
done
echo
cat "$folder/counts.100"
if [ -n "$python" ]; then
    "$python" "$(dirname "$0")/live_figure.py" "$folder" "$figure"
    echo "the same over time: $figure"
fi
