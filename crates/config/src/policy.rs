//! A port's conditioners as a policy, for `mark` and `meter`: as in a scenario, but without `at`.

use crate::load::Load;
use crate::model::Port;
use crate::stub::page::Page;
use crate::stub::{Stub, Writer};
use crate::value::{Said, Value};
use perhop_core::units::BitRate;

/// The conditioners of a port as a policy.
pub fn policy(port: &Port) -> Stub {
    let load = Load::default();
    let mut writer = Writer::new(&load);
    let conditioners = writer.conditioned(port, None);
    let mut page = Page::default();
    page.add(&format!("# {} {}. What the device says stands behind `!`.\n", port.interface.is, port.way.name()));
    page.add("[policy]\n");
    if let Some(accounting) = &port.accounting {
        page.entry("accounting", &Said { is: Value::Word(accounting.is.to_owned()), origin: accounting.origin });
    }
    page.append(&conditioners);
    Stub { text: page.text, map: page.map, notes: writer.notes, load: String::new(), link: BitRate::default() }
}
