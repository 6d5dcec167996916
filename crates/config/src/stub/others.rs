//! What becomes of packets that are not of IPv4.

use super::names::plain;
use crate::model::{Fate, Port};

/// A sentence on them, by where they end; `None`: nothing at the port tells packets apart.
pub(super) fn sentence(port: &Port) -> Option<String> {
    let has_classes = port.queue.as_ref().is_some_and(|queue| !queue.classes.is_empty());
    let tells_apart = if port.queue.is_some() { has_classes } else { !port.conditioners.is_empty() };
    let mut ends: Vec<(&Fate, Vec<&str>)> = Vec::new();
    for (protocol, fate) in port.others.iter().filter(|_| tells_apart) {
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
