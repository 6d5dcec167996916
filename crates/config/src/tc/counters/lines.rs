//! What `tc -s` and `tc -s -j` print beside a configuration: the counters of each object, line by line, and states.
//!
//! Source: `print_xstats` of the files tc/q_*.c of iproute2. Signs, and words that name no counter, are left out:
//! `flows # inactive #` is `flows 3 (inactive 1`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// A line of counters. Behind the word of each stands the form of its number: `#` a whole number, `#b` bytes, `#bit` a
/// rate, `#us` a time, [`SHARE`]. A word without one is printed while it holds.
pub(crate) type Line = &'static str;

/// The form of a share, which is no whole number.
pub(crate) const SHARE: &str = "#.";

/// The lines of an object below those that all have, by what it is.
pub(crate) const LINES: [(&str, Line); 20] = [
    ("class htb", " lended: # borrowed: # giants: #"),
    ("class htb", " tokens: # ctokens: #"),
    ("class hfsc", " period # level #"),
    ("class drr", "  deficit #b"),
    ("class fq_codel", "  deficit # count # lastcount # ldelay #us dropping drop_next #us"),
    ("qdisc codel", "  count # lastcount # ldelay #us dropping drop_next #us"),
    ("qdisc codel", "  maxpacket # ecn_mark # drop_overlimit # ce_mark #"),
    ("qdisc fq_codel", "  maxpacket # drop_overlimit # new_flow_count # ecn_mark # ce_mark # drop_overmemory #"),
    ("qdisc fq_codel", "  new_flows_len # old_flows_len #"),
    ("qdisc fq_pie", "  pkts_in # overlimit # overmemory # dropped # ecn_mark #"),
    ("qdisc fq_pie", "  new_flow_count # new_flows_len # old_flows_len # memory_used #"),
    ("qdisc pie", "  prob #. delay #us avg_dq_rate #"),
    ("qdisc pie", "  pkts_in # overlimit # dropped # maxq # ecn_mark #"),
    ("qdisc red", "  marked # early # pdrop # other #"),
    ("qdisc choke", "  marked # early # pdrop # other # matched #"),
    ("qdisc sfq", " prob_mark # prob_mark_head # prob_drop #"),
    ("qdisc sfq", " forced_mark # forced_mark_head # forced_drop #"),
    ("qdisc fq", "  flows # inactive # throttled #"),
    ("qdisc fq", "  gc # highprio # fastpath # throttled # latency #us flows_plimit # horizon_drops #"),
    ("qdisc dualpi2", "  step_marked # credit #"),
];

/// The counter in the first line of `htb`.
pub(crate) const DIRECT: &str = "direct_packets_stat";

/// Counters that JSON alone has, or that no line has.
const OTHERS: &str = "requeues packets_in_c packets_in_l pkts_in_c pkts_in_l alloc_errors pkts_too_long";

/// Counters that are called otherwise here: as printed, as they are called.
const RENAMED: [(&str, &str); 7] = [
    ("ldelay", "ldelay_us"),
    ("drop_next", "drop_next_us"),
    ("delay", "delay_us"),
    ("latency", "latency_us"),
    // `dropped` is what `Sent` has.
    ("dropped", "dropped_by_aqm"),
    ("pkts_in_c", "packets_in_c"),
    ("pkts_in_l", "packets_in_l"),
];

/// The table of `cake`, with a number for each tin: as printed, in what form, as named in JSON, and here.
pub(crate) const TINS: [[&str; 4]; 20] = [
    ["thresh", "#bit", "threshold_rate", "thresh"],
    ["target", "#us", "target_us", "target_us"],
    ["interval", "#us", "interval_us", "interval_us"],
    ["pk_delay", "#us", "peak_delay_us", "pk_delay_us"],
    ["av_delay", "#us", "avg_delay_us", "av_delay_us"],
    ["sp_delay", "#us", "base_delay_us", "sp_delay_us"],
    ["backlog", "#b", "backlog_bytes", "backlog_bytes"],
    ["pkts", "#", "sent_packets", "sent_packets"],
    ["bytes", "#", "sent_bytes", "sent_bytes"],
    ["way_inds", "#", "way_indirect_hits", "way_inds"],
    ["way_miss", "#", "way_misses", "way_miss"],
    ["way_cols", "#", "way_collisions", "way_cols"],
    ["drops", "#", "drops", "dropped"],
    ["marks", "#", "ecn_mark", "ecn_mark"],
    ["ack_drop", "#", "ack_drops", "ack_drop"],
    ["sp_flows", "#", "sparse_flows", "sp_flows"],
    ["bk_flows", "#", "bulk_flows", "bk_flows"],
    ["un_flows", "#", "unresponsive_flows", "un_flows"],
    ["max_len", "#", "max_pkt_len", "max_len"],
    ["quantum", "#", "flow_quantum", "quantum"],
];

/// First words of lines that all objects have, of those above the table of `cake`, and of lines that other versions of
/// tc print.
const HEADS: &str = "\
    Sent backlog rate requeues linklayer memory capacity min/max average Bulk Tin Best highprio throttled fastpath \
    band0 band1 band2 L4S Classic packets step_marked ecn_mark delay avg_dq_rate memory_used drop_overlimit";

/// First words of further lines of a filter: of `u32`, of `flower`, of actions.
const FILTERS: &str = "\
    match police action Action random key ref index mark used_hw_stats installed not_in_hw in_hw in_hw_count skip_hw \
    skip_sw eth_type ip_proto ip_tos ip_ttl ip_flags src_ip dst_ip src_port dst_port dst_mac src_mac tcp_flags \
    vlan_id vlan_prio indev ct_state icmp_type icmp_code arp_op";

/// Names of JSON that say nothing of a configuration.
pub(in crate::tc) const STATES: &str = "\
    not_in_hw in_hw in_hw_count rule_hit stats order ref bind key_ht bkt ht_divisor multiqueue installed last_used";

/// First words of lines that go on with an object.
static CONTINUING: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = LINES.iter().filter_map(|it| it.1.split_whitespace().next());
    let tins = TINS.iter().map(|it| it[0]);
    lines.chain(tins).chain([HEADS, FILTERS].into_iter().flat_map(str::split_whitespace)).collect()
});

/// What counters are called here, by what tc calls them.
pub(super) type Names = LazyLock<HashMap<&'static str, &'static str>>;

/// By the words before their numbers in `Sent 70 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)`.
pub(super) static SENT: Names = LazyLock::new(|| {
    let own = ["dropped", "overlimits", "requeues"].map(|word| (word, word));
    own.into_iter().chain([("Sent", "sent_bytes"), ("bytes", "sent_packets")]).collect()
});

/// By the words of all other lines.
pub(super) static NAMES: Names = LazyLock::new(|| {
    let lines = LINES.iter().flat_map(|it| fields(it.1));
    let words = lines.filter(|it| it.1.is_some_and(|form| form != SHARE)).map(|it| name(it.0));
    let all = words.chain(OTHERS.split(' ')).chain([DIRECT]);
    all.map(|word| (word, word)).chain(RENAMED).collect()
});

/// By the names of JSON.
pub(in crate::tc) static JSON: Names = LazyLock::new(|| {
    let common = [
        ("bytes", "sent_bytes"),
        ("packets", "sent_packets"),
        ("drops", "dropped"),
        ("overlimits", "overlimits"),
        ("backlog", "backlog_bytes"),
        ("qlen", "backlog_packets"),
    ];
    NAMES.iter().map(|(word, name)| (*word, *name)).chain(common).collect()
});

/// Of tins, by the names of JSON.
pub(super) static JSON_TINS: Names = LazyLock::new(|| TINS.map(|[_, _, json, name]| (json, name)).into());

/// The words of a line, each with the form of its number.
pub(crate) fn fields(line: Line) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let mut words = line.split_whitespace().peekable();
    std::iter::from_fn(move || Some((words.next()?, words.next_if(|it| it.starts_with('#')))))
}

/// A word without signs: the name of a counter in JSON.
pub(crate) fn name(word: &str) -> &str {
    word.trim_matches(['(', ',', ':'])
}

/// Whether a line that begins with this word goes on with an object.
pub(in crate::tc) fn goes_on(first: &str) -> bool {
    CONTINUING.contains(first)
}

#[cfg(test)]
mod tests {
    use super::CONTINUING;

    /// First words of lines that tc prints below the first one of an object.
    const FIRST_WORDS: &str = "\
        Sent backlog rate lended: tokens: period deficit maxpacket count new_flows_len new_flow_count flows gc \
        highprio prob pkts_in marked prob_mark forced_mark memory capacity min/max average Bulk Tin Best thresh \
        target interval pk_delay av_delay sp_delay pkts bytes way_inds way_miss way_cols drops marks ack_drop \
        sp_flows bk_flows un_flows max_len quantum linklayer match police action Action ref index random eth_type \
        ip_proto ip_tos ip_ttl ip_flags src_ip dst_ip src_port dst_port dst_mac src_mac tcp_flags vlan_id vlan_prio \
        not_in_hw in_hw in_hw_count skip_hw skip_sw key mark used_hw_stats installed indev ct_state icmp_type \
        icmp_code arp_op throttled fastpath band0 band1 band2 L4S step_marked ecn_mark delay avg_dq_rate Classic \
        packets memory_used drop_overlimit requeues";

    #[test]
    fn lines_go_on_with_an_object_by_their_first_word() {
        assert_eq!(*CONTINUING, FIRST_WORDS.split(' ').collect());
    }
}
