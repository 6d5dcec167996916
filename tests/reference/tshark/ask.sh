#!/bin/bash
# ask.sh CAPTURE.pcap...: what tshark says about each TCP segment, written beside it as CAPTURE.tsv. Fields that it leaves empty are empty.
set -euo pipefail
fields="frame.number tcp.stream tcp.srcport tcp.seq_raw tcp.len tcp.ack_raw tcp.flags.syn tcp.flags.fin tcp.options.timestamp.tsval tcp.options.timestamp.tsecr
 tcp.analysis.acks_frame tcp.analysis.ack_rtt tcp.analysis.retransmission tcp.analysis.out_of_order tcp.analysis.spurious_retransmission tcp.analysis.duplicate_ack
 tcp.analysis.bytes_in_flight tcp.options.sack_le tcp.options.sack_re"
for capture in "$@"; do
    # shellcheck disable=SC2046,SC2086 # fields are words
    tshark -r "$capture" -n -o tcp.relative_sequence_numbers:FALSE -T fields -E header=y \
        $(printf -- '-e %s ' $fields) 2>/dev/null > "${capture%.pcap}.tsv"
done
