//! What becomes of packets that are not of IPv4.

use super::names::plain;
use crate::model::{Fate, Port};

/// A sentence on them, by where they end; `None`: where classes are, the text says nothing of them, or all end in one.
pub(super) fn sentence(port: &Port) -> Option<String> {
    let has_classes = port.queue.as_ref().is_none_or(|queue| !queue.classes.is_empty());
    let mut ends: Vec<(&Fate, Vec<&str>)> = Vec::new();
    for (protocol, fate) in port.others.iter().filter(|_| has_classes) {
        match ends.iter_mut().find(|it| it.0 == fate) {
            Some((_, protocols)) => protocols.push(protocol),
            None => ends.push((fate, vec![protocol])),
        }
    }
    let said: Vec<_> = ends.iter().map(|(fate, protocols)| format!("{} {}", list(protocols), end(fate))).collect();
    (!said.is_empty()).then(|| format!("Packets of {}.", said.join("; of ")))
}

fn list(protocols: &[&str]) -> String {
    match protocols {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        all => all.concat(),
    }
}

fn end(of: &Fate) -> String {
    match of {
        Fate::Class(name) => format!("go to {}", plain(name)),
        Fate::Direct => "pass all classes, unshaped".to_owned(),
        Fate::Dropped => "are dropped".to_owned(),
        Fate::Metered => "pass as far as a policer lets them".to_owned(),
        Fate::Passed => "pass without being metered".to_owned(),
    }
}
