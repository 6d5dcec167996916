//! Which dialect a text is in, and which of those that perhop does not read.

use super::DIALECTS;
use super::fault;
use crate::dialect::Dialect;
use crate::finding::Fault;
use crate::text::{Line, Text};

/// Dialects that are known by name only: starts of lines that no other has, and how many are enough.
const OTHERS: &[(&str, &[&str])] = &[
    (
        "Junos",
        &[
            "set class-of-service",
            "class-of-service {",
            "set firewall policer",
            "set firewall family",
            "forwarding-classes {",
            "scheduler-maps {",
            "traffic-control-profiles {",
        ],
    ),
    ("VyOS", &["set traffic-policy", "set qos policy", "set qos interface", "traffic-policy {"]),
    (
        "SONiC CONFIG_DB",
        &["\"SCHEDULER\"", "\"WRED_PROFILE\"", "\"DSCP_TO_TC_MAP\"", "\"TC_TO_QUEUE_MAP\"", "\"PORT_QOS_MAP\""],
    ),
    ("OpenConfig", &["\"openconfig-qos", "\"scheduler-policies\"", "\"forwarding-groups\""]),
    (
        "Arista EOS",
        &[
            "policy-map type quality-of-service",
            "class-map type qos match-any",
            "policy-map type qos",
            "tx-queue ",
            "uc-tx-queue ",
            "qos rewrite ",
            "qos map dscp",
        ],
    ),
    ("Cisco NX-OS", &["policy-map type queuing", "class-map type queuing", "class type queuing", "system qos"]),
    ("Cisco ASA", &["ASA Version ", "police output ", "police input "]),
    ("Nokia SR OS", &["sap-ingress ", "sap-egress ", "network-queue "]),
    ("Huawei VRP", &["traffic classifier ", "traffic behavior ", "traffic policy ", "qos queue-profile"]),
];

/// The dialect that a text looks like.
pub(super) fn guess(text: &Text) -> Result<&'static Dialect, Fault> {
    if let Some(name) = other(text) {
        let help = format!("perhop reads {}; if it is one of them, say so by ⟨from=⟩", titles(" and "));
        return Err(fault("E312", format!("the text looks like {name}"), help));
    }
    let best = DIALECTS.iter().map(|dialect| ((dialect.looks)(text), dialect)).max_by_key(|it| it.0);
    best.filter(|(lines, _)| *lines > 0).map(|(_, dialect)| dialect).ok_or_else(|| {
        let message = format!("no line of the text is of {}", titles(" or "));
        fault(
            "E312",
            message,
            "paste the commands, or what the device prints of its QoS; ⟨from=tc⟩ or ⟨from=ios⟩ says which",
        )
    })
}

/// Whether a text is a configuration in a dialect that is known, or known by name.
pub fn is_configuration(text: &Text) -> bool {
    DIALECTS.iter().any(|dialect| (dialect.looks)(text) > 0) || other(text).is_some()
}

/// A dialect that perhop does not read, if the text looks like it more than like those that it does.
pub fn other(text: &Text) -> Option<&'static str> {
    let count = |starts: &[&str]| text.lines().filter(|line| begins(*line, starts)).count();
    let (lines, name) = OTHERS.iter().map(|(name, starts)| (count(starts), *name)).max_by_key(|it| it.0)?;
    // A policy map of IOS has no type; a text with one of these lines is of the other.
    (lines > 0).then_some(name)
}

fn begins(line: Line<'_>, starts: &[&str]) -> bool {
    let text = line.text.trim_start().trim_start_matches(['>', '#', ' ']);
    starts.iter().any(|start| text.starts_with(start))
}

fn titles(between: &str) -> String {
    DIALECTS.iter().map(|dialect| dialect.title).collect::<Vec<_>>().join(between)
}
