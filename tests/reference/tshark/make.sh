#!/bin/bash
# Records the captures beside this script and what tshark says about them: real TCP through an edge, a quarter of a minute.
# Needs root, python3, and: apt install iproute2 ethtool tcpdump tshark
#
#   client -- path: 1 ms, 1 Gbit/s -- edge -- path: delay, 4 Mbit/s, queue of 30 packets, losses -- servers
#
# tcpdump listens at the edge, between the two paths, so data to the servers shows the round trip of the far path, and
# data to the client that of the near one.
set -euo pipefail
cd "$(dirname "$0")"
client=perhop-c-$$ edge=perhop-e-$$ server=perhop-s-$$

cleanup() {
    kill $(jobs -p) 2>/dev/null || true
    wait 2>/dev/null || true
    for space in "$client" "$edge" "$server"; do ip netns del "$space" 2>/dev/null || true; done
    rm -f ./*.tmp
}
trap cleanup EXIT

for tool in ip ethtool tcpdump tshark python3; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt install iproute2 ethtool tcpdump tshark" >&2; exit 2; }
done

# inside SPACE COMMAND...; not for background commands, where only the intermediate shell would be killed
inside() { ip netns exec "$@"; }

for space in "$client" "$edge" "$server"; do ip netns add "$space"; done
ip link add host netns "$client" type veth peer name near netns "$edge"
ip link add left netns "$edge" type veth peer name right netns "$edge"
ip link add far netns "$edge" type veth peer name host netns "$server"
for device in near left right far; do
    inside "$edge" sysctl -qw net.ipv6.conf.$device.disable_ipv6=1
    inside "$edge" ip link set $device up
done
for space in "$client" "$server"; do
    # packets as long as a wire takes, with the checksums they have there
    inside "$space" ethtool -K host tx off tso off gso off gro off >/dev/null
    inside "$space" ip link set lo up
    inside "$space" ip link set host up
done
inside "$client" ip addr add 10.79.0.1/24 dev host
inside "$client" ip addr add fd79::1/64 dev host nodad
for n in 2 3; do inside "$server" ip addr add 10.79.0.$n/24 dev host; done
inside "$server" ip addr add fd79::2/64 dev host nodad
ip netns exec "$server" python3 talk.py serve &

# timestamps 0|1: whether segments carry the TCP timestamps option
timestamps() { for space in "$client" "$server"; do inside "$space" sysctl -qw net.ipv4.tcp_timestamps="$1"; done; }

# paths "NEAR OPTIONS" "FAR OPTIONS"
paths() {
    # shellcheck disable=SC2086 # options are words
    ip netns exec "$edge" python3 path.py near left --delay 1ms $1 & near=$!
    # shellcheck disable=SC2086
    ip netns exec "$edge" python3 path.py right far --rate 4Mbit --limit 30p $2 & far=$!
    sleep 1
}

# record NAME "TCPDUMP OPTIONS" ADDRESS WISH...: what passes the edge while the client has these wishes
record() {
    local name=$1 options=$2
    shift 2
    # shellcheck disable=SC2086
    ip netns exec "$edge" timeout 60 tcpdump -Z root -q -s 96 -i left $options -w "$name.pcap" tcp 2>/dev/null & local dump=$!
    sleep 1
    inside "$client" timeout 50 python3 talk.py "$@"
    sleep 1
    kill "$dump" "$near" "$far"
    wait "$dump" "$near" "$far" || true
    ./ask.sh "$name.pcap"
}

timestamps 1
paths "" "--delay 9ms --delay-of 10.79.0.3=39ms --loss 2% --seed 3"
record two-servers "" 10.79.0.2 upload:150000 10.79.0.3 upload:150000 10.79.0.3 download:150000 10.79.0.2 ask:10
timestamps 0
paths "" "--delay 40ms --loss 6% --seed 5"
record no-timestamps "" 10.79.0.2 upload:200000 10.79.0.2 upload:8000 10.79.0.2 download:60000
timestamps 1
paths "--loss 2% --seed 7" "--delay 20ms --loss 3% --seed 8"
record losses-before "--time-stamp-precision=nano" fd79::2 upload:200000 fd79::2 download:100000
du -cb ./*.pcap ./*.tsv | tail -1
