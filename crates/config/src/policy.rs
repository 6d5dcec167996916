//! A port's conditioners and queues as a policy, for `mark` and `meter`: as in a scenario, but without `at` and without a load.

use crate::load::Load;
use crate::model::Port;
use crate::stub::draft::{Draft, Section};
use crate::stub::names::queue_name;
use crate::stub::{Stub, Writer};
use crate::value::{Value, WithOrigin};

/// A port as a policy.
pub fn policy(port: &Port) -> Stub {
    let link = &port.link;
    let port = port.both_versions.as_deref().unwrap_or(port);
    let load = Load::default();
    let mut writer = Writer::new(port, &load);
    let root = port.queue.as_ref().map(|queue| writer.queue(queue, queue_name(port)));
    let conditioners = writer.conditioned(port, None);
    let mut draft = Draft::default();
    draft.comment(format!("# {} {}. What the device says stands behind `!`.\n", port.interface.is, port.way.name()));
    let mut section = Section::new("policy", None, None);
    section.count(port.accounting.as_ref());
    // Without a rate of the link, `meter` asks for one where packets wait.
    if let Some((name, rate)) = root.as_ref().zip(link.get("rate")) {
        section.set("queue", &WithOrigin { is: Value::Word(name.clone()), origin: rate.origin });
        section.extend([("link", rate)].into_iter().chain(link.get("framing").map(|framing| ("framing", framing))));
    }
    draft.add(section);
    conditioners.into_iter().chain(writer.tree).for_each(|section| draft.add(section));
    Stub { text: draft.text(), draft, notes: writer.notes, ..Stub::default() }
}
