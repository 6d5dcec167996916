//! `list`: what is available, from the lists themselves.

use crate::args::List;
use crate::{Exit, Failure, codes, say};
use perhop_core::params::{Field, suggest};
use perhop_core::registry::Entry;
use perhop_core::units::{READERS, Reader};
use perhop_core::{aqm, conditioner, sched};
use perhop_sim::traffic;
use perhop_sim::transport::congestion;

/// The lists of algorithms, by the name they are asked for.
pub(crate) const LISTS: [(&str, &[Entry]); 5] = [
    ("conditioners", conditioner::LIST),
    ("aqms", aqm::LIST),
    ("schedulers", sched::LIST),
    ("traffic", traffic::LIST),
    ("congestion", congestion::LIST),
];

/// Where a quantity may be written in other ways.
const OTHERS: &str = "\
queue              packets (30p), bytes (45kB), time at the link's rate (5ms), share of the limit (40%)
DSCP               a name (EF, AF11, CS6, BE), decimal or hex

k, M and G are 1000-based, Ki, Mi and Gi 1024-based; bps means bit/s.";

/// Every unit that files may have, by quantity.
fn units() -> String {
    let line = |reader: &&Reader| {
        let units: Vec<_> = reader.units.iter().map(|unit| unit.0).collect();
        format!("{:18} {}", reader.quantity, units.join(" "))
    };
    READERS.iter().map(line).chain([OTHERS.to_owned()]).collect::<Vec<_>>().join("\n")
}

pub(crate) fn list(args: &List) -> Result<Exit, Failure> {
    match args.what.as_deref() {
        None => LISTS.iter().for_each(|(heading, entries)| {
            say!("{heading}");
            entries.iter().for_each(line);
            say!("");
        }),
        Some("units") => say!("{}", units()),
        Some("tcp") => say!("{}", perhop_scenario::sections::stack::NAMES.join("\n")),
        Some("diagnostics") => {
            codes::all().iter().for_each(|code| say!("  {}  {}", code.name, code.meaning()));
        }
        Some(what) => return one(what),
    }
    Ok(Exit::Fine)
}

fn line(entry: &Entry) {
    say!("  {:15} {}", entry.name, entry.summary.trim());
}

fn one(what: &str) -> Result<Exit, Failure> {
    if let Some((_, entries)) = LISTS.iter().find(|l| l.0 == what) {
        entries.iter().for_each(line);
        return Ok(Exit::Fine);
    }
    let all = || LISTS.iter().flat_map(|l| l.1);
    if let Some(entry) = all().find(|e| e.name == what) {
        say!("{}\n\nParameters\n", entry.page());
        entry.parameters().iter().for_each(|(name, it)| field(name, it));
        return Ok(Exit::Fine);
    }
    let codes = codes::all();
    if let Some(code) = codes.iter().find(|code| code.name == what) {
        say!("{}", codes::plain(code));
        return Ok(Exit::Fine);
    }
    let mut names = LISTS.map(|list| list.0).to_vec();
    names.extend(["tcp", "studies", "units", "diagnostics"]);
    names.extend(all().map(|e| e.name));
    names.extend(codes.iter().map(|code| code.name));
    Err(Failure::Error(format!("nothing is called `{what}`\n   help: {}", suggest(what, &names))))
}

fn field(name: &str, field: &Field) {
    say!("  {name:17} {} ({}; {})", field.doc, field.kind.noun(), default(field));
}

/// A parameter's default, in words.
pub(crate) fn default(field: &Field) -> String {
    match field.default {
        Some(literal) => format!("default {}", perhop_core::params::Tree::from(literal)),
        None if field.optional => "optional".into(),
        None => "required".into(),
    }
}
