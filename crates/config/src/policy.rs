//! A port's conditioners and queues as a policy, for `mark` and `meter`: as in a scenario, but without `at` and without a load.

use crate::load::Load;
use crate::model::Port;
use crate::stub::page::Page;
use crate::stub::{Stub, Writer};
use crate::value::{Said, Value};
use perhop_core::units::BitRate;

/// A port as a policy.
pub fn policy(port: &Port) -> Stub {
    let load = Load::default();
    let mut writer = Writer::new(&load);
    port.queue.iter().for_each(|queue| _ = writer.queue(queue));
    let conditioners = writer.conditioned(port, None);
    let mut page = Page::default();
    page.add(&format!("# {} {}. What the device says stands behind `!`.\n", port.interface.is, port.way.name()));
    page.add("[policy]\n");
    if let Some(accounting) = &port.accounting {
        page.entry("accounting", &Said { is: Value::Word(accounting.is.to_owned()), origin: accounting.origin });
    }
    page.append(&conditioners);
    page.append(&writer.tree);
    Stub {
        text: page.text,
        map: page.map,
        lists: page.lists,
        notes: writer.notes,
        load: String::new(),
        link: BitRate::default(),
    }
}
