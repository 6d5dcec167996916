# A branch office behind HTB: voice by its code point, HTTPS, and the rest.
#
#   perhop check examples/branch.sh
#   perhop predict examples/branch.sh
tc qdisc add dev eth0 root handle 1: htb default 30
tc class add dev eth0 parent 1: classid 1:1 htb rate 20mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 2mbit ceil 20mbit prio 0
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 12mbit ceil 20mbit prio 1
tc class add dev eth0 parent 1:1 classid 1:30 htb rate 6mbit ceil 20mbit prio 2
tc qdisc add dev eth0 parent 1:20 handle 20: fq_codel
tc qdisc add dev eth0 parent 1:30 handle 30: fq_codel
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10
tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match ip dport 443 0xffff flowid 1:20
