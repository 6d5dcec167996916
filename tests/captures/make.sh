#!/bin/bash
# Remakes the captures beside this script: real TCP and UDP between two network namespaces, about half a minute.
# Needs root, python3, and: apt install iproute2 iperf3 tcpdump wireshark-common
#
#   tcp.pcap             Ethernet, IPv4 TCP with ECN, microseconds, snapped to 96 B
#   tcp-offload.pcap     the same before segmentation: packets longer than the MTU, IPv4 checksums as the stack leaves them
#   tcp6-ns.pcap         Ethernet, IPv6 TCP, nanoseconds
#   udp-ns.pcap          Ethernet, IPv4 UDP marked EF, nanoseconds
#   udp-fragments.pcap   UDP datagrams of 3000 B in IPv4 fragments, marked AF11
#   udp6-fragments.pcap  the same over IPv6: fragment headers
#   vlan.pcap            TCP inside an 802.1Q tag
#   qinq.pcap            TCP inside an 802.1ad and an 802.1Q tag
#   any-sll.pcap         tcpdump -i any, Linux cooked version 1
#   any-sll2.pcap        tcpdump -i any, Linux cooked version 2
#   raw.pcap             tcp.pcap without Ethernet headers
#   tcp.pcapng           tcp.pcap as pcapng, with a comment on some packets
#   merged.pcapng        four interfaces: Ethernet, cooked, raw IP; micro- and nanoseconds
#   sections.pcapng      two sections, one after the other
set -euo pipefail
cd "$(dirname "$0")"
left=perhop-l-$$ right=perhop-r-$$

cleanup() {
    kill $(jobs -p) 2>/dev/null || true
    wait 2>/dev/null || true
    ip netns del "$left" 2>/dev/null || true
    ip netns del "$right" 2>/dev/null || true
    rm -f ./*.tmp
}
trap cleanup EXIT

l() { ip netns exec "$left" "$@"; }
r() { ip netns exec "$right" "$@"; }

for tool in ip iperf3 tcpdump editcap mergecap python3; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt install iproute2 iperf3 tcpdump wireshark-common" >&2; exit 2; }
done

ip netns add "$left"
ip netns add "$right"
ip link add veth0 address 02:00:00:00:00:01 netns "$left" type veth peer name veth0 address 02:00:00:00:00:02 netns "$right"
for host in 1 2; do
    side=$([ $host = 1 ] && echo "$left" || echo "$right")
    on() { ip netns exec "$side" "$@"; }
    on ip link set lo up
    on ip link set veth0 mtu 1520 up
    on ip addr add 10.77.0.$host/24 dev veth0
    on ip addr add fd77::$host/64 dev veth0 nodad
    on sysctl -qw net.ipv4.tcp_ecn=1
done

# offload on|off: whether the sender hands its device packets longer than a wire takes
offload() {
    local segments=65535
    [ "$1" = on ] || segments=1
    l ip link set veth0 gso_max_segs $segments
    r ip link set veth0 gso_max_segs $segments
}

# tagged TAG...: from here on, 10.77.1.0/24 is reached through the wire with these VLAN tags
taggers=
tagged() {
    # shellcheck disable=SC2086 # numbers of processes
    [ -z "$taggers" ] || kill $taggers
    taggers=
    for host in 1 2; do
        side=$([ $host = 1 ] && echo "$left" || echo "$right")
        ip netns exec "$side" python3 tagger.py tap0 veth0 "$@" & taggers="$taggers $!"
        sleep 0.5
        ip netns exec "$side" ip addr add 10.77.1.$host/24 dev tap0
        ip netns exec "$side" ip link set tap0 mtu 1500 up
    done
}

# record FILE DEVICE "TCPDUMP OPTIONS" IPERF3-ARGUMENTS...: what passes DEVICE on the left while iperf3 sends for a second
record() {
    local file=$1 device=$2 options=$3
    shift 3
    ip netns exec "$right" timeout 12 iperf3 -s -1 >/dev/null 2>&1 & local server=$!
    # shellcheck disable=SC2086 # options are words
    ip netns exec "$left" timeout 12 tcpdump -Z root -q -s 96 -c 300 -i "$device" $options -w "$file" 2>/dev/null & local dump=$!
    sleep 1
    l timeout 8 iperf3 -t 1 "$@" >/dev/null
    wait "$server" || true
    sleep 0.3
    kill "$dump" 2>/dev/null || true
    wait "$dump" || true
    l ip neigh flush all
    echo "$file: $(stat -c %s "$file") bytes"
}

offload off
record tcp.pcap veth0 "ip or arp" -c 10.77.0.2 -b 2M
record tcp6-ns.pcap veth0 "--time-stamp-precision=nano ip6" -c fd77::2 -b 2M
record udp-ns.pcap veth0 "--time-stamp-precision=nano ip or arp" -c 10.77.0.2 -u -b 2M -l 1000 -S 0xb8
record udp-fragments.pcap veth0 "ip or arp" -c 10.77.0.2 -u -b 1M -l 3000 -S 0x28
record udp6-fragments.pcap veth0 "ip6" -c fd77::2 -u -b 1M -l 3000 -S 0x28
record any-sll.pcap any "-y LINUX_SLL" -c 10.77.0.2 -b 1M
record any-sll2.pcap any "-y LINUX_SLL2" -c 10.77.0.2 -b 1M
offload on
record tcp-offload.pcap veth0 "ip or arp" -c 10.77.0.2 -b 20M
tagged 8100:100
record vlan.pcap veth0 "vlan" -c 10.77.1.2 -b 2M
tagged 88a8:200 8100:300
record qinq.pcap veth0 "vlan" -c 10.77.1.2 -b 2M

editcap -F pcap -C 14 -T rawip tcp.pcap raw.pcap
editcap -F pcapng -a 1:"first packet" -a 20:"twentieth packet" tcp.pcap tcp.pcapng
for part in udp-ns any-sll raw tcp6-ns; do editcap -r -F "$([[ $part = *-ns ]] && echo nsecpcap || echo pcap)" $part.pcap $part.tmp 3-60; done
mergecap -F pcapng -I none -w merged.pcapng udp-ns.tmp any-sll.tmp raw.tmp tcp6-ns.tmp
cat tcp.pcapng merged.pcapng > sections.pcapng
du -cb ./*.pcap ./*.pcapng | tail -1
