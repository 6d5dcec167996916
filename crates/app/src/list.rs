//! `list`: what is available, from the lists themselves.

use crate::request;
use crate::terminal::show::say;
use crate::{Exit, Failure, codes};
use perhop_core::params::{Field, Tree, suggest};
use perhop_core::registry::Entry;
use perhop_core::units::{READERS, Reader};
use perhop_core::{aqm, conditioner, sched};
use perhop_scenario::sections::stack::NAMES;
use perhop_scenario::text::json;
use perhop_sim::traffic;
use perhop_sim::transport::congestion;
use serde_json::{Map, Value, json};

/// A list by the name it is asked for, with what is registered.
type List = (&'static str, fn() -> Vec<Entry>);

/// The lists of algorithms.
pub const LISTS: [List; 5] = [
    ("conditioners", conditioner::entries),
    ("aqms", aqm::entries),
    ("schedulers", sched::entries),
    ("traffic", traffic::entries),
    ("congestion", congestion::entries),
];

/// Where a quantity may be written in other ways.
const OTHERS: &str = "\
queue              packets (30p), bytes (45kB), time at the link's rate (5ms), share of the limit (40%)
DSCP               a name (EF, AF11, CS6, BE), decimal or hex

k, M and G are 1000-based, Ki, Mi and Gi 1024-based; bps means bit/s.";

/// What is listed, for people and for programs.
struct Listed {
    text: String,
    json: Value,
}

/// Prints a list, or a page.
///
/// # Errors
/// There is nothing of that name.
pub fn list(args: &request::List) -> Result<Exit, Failure> {
    let listed = match args.what.as_deref() {
        None => everything(),
        Some(what) => called(what).ok_or_else(|| unknown(what))?,
    };
    match args.json {
        true => say!("{}", listed.json),
        false => say!("{}", listed.text),
    }
    Ok(Exit::Fine)
}

fn everything() -> Listed {
    let all = LISTS.map(|(heading, entries)| (heading, several(&entries())));
    let text =
        all.iter().map(|(heading, listed)| format!("{heading}\n{}\n", listed.text)).collect::<Vec<_>>().join("\n");
    let json: Map<_, _> = all.into_iter().map(|(heading, listed)| (heading.to_owned(), listed.json)).collect();
    Listed { text, json: json.into() }
}

fn called(what: &str) -> Option<Listed> {
    match what {
        "units" => Some(units()),
        "tcp" => Some(stacks()),
        "diagnostics" => Some(diagnostics()),
        _ => {
            let list = LISTS.iter().find(|list| list.0 == what).map(|list| several(&list.1()));
            list.or_else(|| pages(what)).or_else(|| code(what))
        }
    }
}

fn entries() -> impl Iterator<Item = Entry> {
    LISTS.into_iter().flat_map(|list| list.1())
}

fn unknown(what: &str) -> Failure {
    let mut names = LISTS.map(|list| list.0).to_vec();
    names.extend(["tcp", "studies", "units", "diagnostics"]);
    names.extend(entries().map(|entry| entry.name));
    names.extend(codes::all().iter().map(|code| code.name));
    Failure::of_call(format!("perhop has nothing called `{what}`"), suggest(what, &names))
}

/// Every unit that files may have, by quantity.
fn units() -> Listed {
    let names = |reader: &Reader| reader.units.iter().map(|unit| unit.0).collect::<Vec<_>>();
    let line = |reader: &&Reader| format!("{:18} {}", reader.quantity, names(reader).join(" "));
    let object = |reader: &&Reader| json!({ "quantity": reader.quantity, "units": names(reader) });
    Listed {
        text: READERS.iter().map(line).chain([OTHERS.to_owned()]).collect::<Vec<_>>().join("\n"),
        json: READERS.iter().map(object).collect(),
    }
}

fn stacks() -> Listed {
    Listed { text: NAMES.join("\n"), json: json!(NAMES) }
}

fn diagnostics() -> Listed {
    let all = codes::all();
    let lines: Vec<_> = all.iter().map(|code| format!("  {}  {}", code.name, code.meaning())).collect();
    Listed {
        text: lines.join("\n"),
        json: all.iter().map(|code| json!({ "code": code.name, "meaning": code.meaning() })).collect(),
    }
}

fn several(entries: &[Entry]) -> Listed {
    let lines: Vec<_> = entries.iter().map(|it| format!("  {:15} {}", it.name, it.summary.trim())).collect();
    let object = |it: &Entry| json!({ "name": it.name, "summary": it.summary.trim() });
    Listed { text: lines.join("\n"), json: entries.iter().map(object).collect() }
}

/// The page of an algorithm; of those of several lists that have the name, one after the other.
fn pages(name: &str) -> Option<Listed> {
    let mut all: Vec<_> = entries().filter(|entry| entry.name == name).map(|entry| one(&entry)).collect();
    if all.len() < 2 {
        return all.pop();
    }
    let texts: Vec<_> = all.iter().map(|listed| listed.text.trim_end()).collect();
    let text = texts.join("\n\n");
    Some(Listed { text, json: all.into_iter().map(|listed| listed.json).collect() })
}

/// The page of an algorithm.
fn one(entry: &Entry) -> Listed {
    let (page, parameters) = (entry.page(), entry.parameters());
    let line = |(name, it): &(String, &Field)| format!("  {name:17} {} ({}; {})", it.doc, it.kind.noun(), default(it));
    let object = |(name, it): &(String, &Field)| {
        let default = it.default.map(|literal| json::json(&Tree::from(literal)));
        json!({ "name": name, "summary": it.doc, "type": it.kind.noun(), "default": default, "optional": it.optional })
    };
    Listed {
        text: format!("{page}\n\nParameters\n\n{}", parameters.iter().map(line).collect::<Vec<_>>().join("\n")),
        json: json!({
            "name": entry.name, "summary": entry.summary.trim(), "page": page,
            "parameters": parameters.iter().map(object).collect::<Value>(),
        }),
    }
}

/// The page of a diagnostic.
fn code(what: &str) -> Option<Listed> {
    let code = codes::all().into_iter().find(|code| code.name == what)?;
    let page = codes::plain(code);
    Some(Listed { json: json!({ "code": code.name, "meaning": code.meaning(), "page": page }), text: page })
}

/// A parameter's default, in words.
pub fn default(field: &Field) -> String {
    match field.default {
        Some(literal) => format!("default {}", Tree::from(literal)),
        None if field.optional => "optional".into(),
        None => "required".into(),
    }
}
