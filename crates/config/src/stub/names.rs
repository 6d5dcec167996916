//! Names of a device as a scenario can have them: each once, printable, and no series.

use crate::model::{Port, Queue};
use perhop_core::params::steers;
use std::collections::{HashMap, HashSet};

/// The names of one kind of section.
#[derive(Clone, Debug, Default)]
pub struct Names {
    all: HashSet<String>,
    /// The number from which on one may be free, by the name before it.
    next: HashMap<String, usize>,
}

impl Names {
    /// A name like this one that no other has.
    pub fn unique(&mut self, wanted: &str) -> String {
        let plain = plain(wanted);
        if self.all.insert(plain.clone()) {
            return plain;
        }
        let next = self.next.entry(plain.clone()).or_insert(2);
        loop {
            let name = format!("{plain}-{next}");
            *next += 1;
            if self.all.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Without control characters and braces, which would be a series of names.
pub fn plain(name: &str) -> String {
    let fit = |c: char| match c {
        '{' => '(',
        '}' => ')',
        c if steers(c) => ' ',
        c => c,
    };
    let name: String = name.chars().map(fit).collect();
    let name = name.trim();
    if name.is_empty() { "unnamed".to_owned() } else { name.to_owned() }
}

/// `WAN` of `policy-map WAN`.
pub fn last_word(name: &str) -> &str {
    name.split_whitespace().last().unwrap_or(name)
}

/// What a port's queue is called: as the text does, or as the interface where it has no name, or only the kernel's number.
pub(crate) fn queue_name(port: &Port) -> &str {
    let named = |queue: &&Queue| queue.name.origin.place().is_some() && !is_given(&queue.name.is);
    last_word(port.queue.as_ref().filter(named).map_or(&port.interface.is, |queue| &queue.name.is))
}

/// Whether a handle of tc is one that the kernel gives: `8001:` and on, or `0:` for what no command has made.
fn is_given(handle: &str) -> bool {
    let number = handle.strip_suffix(':').and_then(|digits| u16::from_str_radix(digits, 16).ok());
    number.is_some_and(|number| number == 0 || number >= 0x8000)
}
