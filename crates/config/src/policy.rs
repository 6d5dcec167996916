//! A port's conditioners and queues as a policy, for `mark` and `meter`: as in a scenario, but without `at` and without a load.

use crate::load::Load;
use crate::model::Port;
use crate::stub::names::queue_name;
use crate::stub::page::Page;
use crate::stub::{Stub, Writer};
use crate::value::{Value, WithOrigin};
use perhop_core::units::BitRate;

/// A port as a policy.
pub fn policy(port: &Port) -> Stub {
    let link = &port.link;
    let port = port.both_versions.as_deref().unwrap_or(port);
    let load = Load::default();
    let mut writer = Writer::new(port, &load);
    let root = port.queue.as_ref().map(|queue| writer.queue(queue, queue_name(port)));
    let conditioners = writer.conditioned(port, None);
    let mut page = Page::default();
    page.add(&format!("# {} {}. What the device says stands behind `!`.\n", port.interface.is, port.way.name()));
    page.add("[policy]\n");
    if let Some(accounting) = &port.accounting {
        page.entry("accounting", &WithOrigin { is: Value::Word(accounting.is.to_owned()), origin: accounting.origin });
    }
    // Without a rate of the link, `meter` asks for one where packets wait.
    if let Some((name, rate)) = root.as_ref().zip(link.get("rate")) {
        page.entry("queue", &WithOrigin { is: Value::Word(name.clone()), origin: rate.origin });
        page.entry("link", rate);
        link.get("framing").into_iter().for_each(|framing| page.entry("framing", framing));
    }
    page.append(&conditioners);
    page.append(&writer.tree);
    Stub {
        text: page.text,
        map: page.map,
        stated: Vec::new(),
        lists: page.lists,
        notes: writer.notes,
        load: String::new(),
        link: BitRate::default(),
        back: None,
        rows: Vec::new(),
        filters: Vec::new(),
        others: Vec::new(),
    }
}
