//! A note, not a warning: TCP that a file leaves to ns-2's sender without saying so.
//!
//! Decision: docs/decisions/017-unnamed-stacks-are-noted.md

use crate::resolve::offered::{Flowline, tables};
use crate::sections::model::Model;
use crate::sections::stack::StackSection;
use crate::sections::tcp::{RecoveryName, TcpRef, TcpSection};

/// What `check` says of it, once.
pub const NOTE: &str = "no stack is named, so TCP is \"classic\", the sender of ns-2 of about 2002; `stack = \"linux\"` in a \
    `[tcp.X]`, or `tcp = \"linux\"`, is what hosts do today, and `stack = \"classic\"` keeps this one";

/// Whether any traffic over TCP names neither a stack nor what hosts do today.
pub fn any(model: &Model, traffic: &[Flowline]) -> bool {
    let sections = model.traffic.declared().iter().filter_map(|it| Some((it.place, it.section.as_ref()?)));
    sections.zip(tables(traffic)).filter(|(_, flow)| flow.tcp).any(|((place, section), _)| {
        let Some(stated) = &section.common.tcp else { return true };
        // What a file does not state is where its table is.
        stated.place == place || table(model, stated).is_some_and(unnamed)
    })
}

fn unnamed(tcp: &TcpSection) -> bool {
    tcp.stack == StackSection::default() && tcp.recovery != RecoveryName::Rack
}

/// The table that a traffic's `tcp` is; `None` of a stack by its name.
fn table<'a>(model: &'a Model, tcp: &'a TcpRef) -> Option<&'a TcpSection> {
    match tcp {
        TcpRef::Inline(section) => Some(&section.value),
        TcpRef::Named(name) => model.tcp.get(name).map(|section| &section.value),
    }
}
