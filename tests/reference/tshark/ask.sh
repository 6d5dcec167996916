#!/bin/bash
# ask.sh CAPTURE.pcap...: what tshark says about each TCP segment, written beside it as CAPTURE.tsv (fields that it leaves empty are
# empty), and who sends how much, as CAPTURE.groups.tsv: what a line is of, its name, packets, bytes of IP.
set -euo pipefail
fields="frame.number tcp.stream tcp.srcport tcp.seq_raw tcp.len tcp.ack_raw tcp.flags.syn tcp.flags.fin tcp.options.timestamp.tsval tcp.options.timestamp.tsecr
 tcp.analysis.acks_frame tcp.analysis.ack_rtt tcp.analysis.retransmission tcp.analysis.out_of_order tcp.analysis.spurious_retransmission tcp.analysis.duplicate_ack
 tcp.analysis.bytes_in_flight tcp.options.sack_le tcp.options.sack_re"
both="ip.src ipv6.src ip.dst ipv6.dst ip.len ipv6.plen ip.dsfield.dscp ipv6.tclass.dscp ip.dsfield.ecn ipv6.tclass.ecn tcp.srcport tcp.dstport"
groups='
    $1 $2 == "" { next }
    {
        source = $1 $2; destination = $3 $4; bytes = $5 == "" ? $6 + 40 : $5
        add("host", source, bytes); add("host", destination, bytes); add("sent", source, bytes)
        add("pair", source " > " destination, bytes); add("flow", source " " $11 " > " destination " " $12, bytes)
        add("dscp", $7 $8, bytes); add("ecn", $9 $10, bytes)
    }
    function add(by, name, bytes) { packets[by "\t" name]++; sum[by "\t" name] += bytes }
    END { for (of in packets) print of "\t" packets[of] "\t" sum[of] }'
for capture in "$@"; do
    # shellcheck disable=SC2046,SC2086 # fields are words
    tshark -r "$capture" -n -o tcp.relative_sequence_numbers:FALSE -T fields -E header=y \
        $(printf -- '-e %s ' $fields) 2>/dev/null > "${capture%.pcap}.tsv"
    # shellcheck disable=SC2046,SC2086
    tshark -r "$capture" -n -T fields -E separator=/t $(printf -- '-e %s ' $both) 2>/dev/null |
        awk -F '\t' "$groups" | LC_ALL=C sort > "${capture%.pcap}.groups.tsv"
done
