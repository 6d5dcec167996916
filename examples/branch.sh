#!/bin/sh
# A branch office: an uplink of 20 Mbit/s on eth0, and guests who download through wlan0. It has two mistakes.
#
#   perhop check examples/branch.sh
#   perhop predict examples/branch.sh --interface eth0
tc qdisc add dev eth0 root handle 1: htb default 30
tc class add dev eth0 parent 1: classid 1:1 htb rate 20mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 3mbit prio 0               # voice
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 12mbit ceil 20mbit prio 1  # business
tc class add dev eth0 parent 1:1 classid 1:30 htb rate 5mbit ceil 20mbit prio 2   # the rest
tc qdisc add dev eth0 parent 1:20 fq_codel
tc qdisc add dev eth0 parent 1:30 fq_codel
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10
tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match ip dport 443 0xffff flowid 1:20
tc qdisc add dev wlan0 clsact
tc filter add dev wlan0 egress matchall action police rate 10mbit burst 4k conform-exceed drop
