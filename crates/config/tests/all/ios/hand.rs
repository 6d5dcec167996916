//! Reading by hand: a text in, its parts out.

use perhop_config::account::Verdict;
use perhop_config::as_ios::{self, Target};
use perhop_config::dialect::Read;
use perhop_config::finding::Fault;
use perhop_config::import_options::{ImportOptions, Platform};
use perhop_config::ios::DIALECT;
use perhop_config::model::{Conditioner, Port, Queue};
use perhop_config::text::Text;
use perhop_config::value::Settings;
use perhop_core::params::Tree;
use perhop_core::units::BitRate;
use perhop_scenario::{Options, Sweep};

/// With a link of 100 Mbit/s.
pub fn given() -> ImportOptions {
    ImportOptions { link: Some(BitRate::mbps(100)), ..ImportOptions::default() }
}

pub fn try_read(text: &str, given: &ImportOptions) -> Result<Read, Fault> {
    (DIALECT.read)(&Text::new(text.as_bytes()), given)
}

pub fn read(text: &str) -> Read {
    try_read(text, &given()).unwrap()
}

pub fn read_on(platform: Platform, text: &str) -> Read {
    try_read(text, &ImportOptions { platform, ..given() }).unwrap()
}

/// The only port.
pub fn port(text: &str) -> Port {
    let mut ports = read(text).device.ports;
    assert_eq!(ports.len(), 1, "{text}");
    ports.remove(0)
}

/// The queue of lines of the default class, at an interface.
pub fn default_class(lines: &str) -> Queue {
    port(&at_interface(&format!("class class-default\n{lines}"))).queue.unwrap()
}

/// A policy of these lines, at an interface.
pub fn at_interface(lines: &str) -> String {
    format!("policy-map P\n{}\ninterface Serial0/0\n service-policy output P\n", indented(lines))
}

/// What a text is once it has been imported and written again.
pub fn exported(text: &str) -> String {
    let link = BitRate::mbps(100);
    let stub = perhop_config::stub::stub(&port(text), link);
    let sweep = Sweep::parse(&stub.text, &Options::new("stub.toml")).unwrap_or_else(|_| panic!("{}", stub.text)).0;
    let interval = perhop_config::ios::defaults::interval(Platform::default()).0;
    let asked = Target { port: Some(perhop_config::stub::LINK), device: Some("Serial0/0"), interval };
    as_ios::of_sweep(&sweep, asked).unwrap_or_else(|error| panic!("{error}\n{}", stub.text)).text()
}

fn indented(lines: &str) -> String {
    let indent = |line: &str| {
        let line = line.trim();
        format!("{}{line}\n", if line.starts_with("class ") { " " } else { "  " })
    };
    lines.lines().map(indent).collect()
}

/// The policer of a line in the default class.
pub fn policer(lines: &str) -> Conditioner {
    let text = format!("policy-map P\n class class-default\n{}", indented(lines));
    let mut ports = read(&text).device.ports;
    ports.remove(0).conditioners.remove(0)
}

/// `cir 1Mbit/s, cbs 31250B`: keys in the order of their names.
pub fn keys(settings: &Settings) -> String {
    let mut list: Vec<_> = settings.iter().map(|(key, said)| format!("{key} {}", shown(&said.is.tree()))).collect();
    list.sort();
    list.join(", ")
}

fn shown(tree: &Tree) -> String {
    match tree {
        Tree::Text(text) => text.clone(),
        Tree::Integer(number) => number.to_string(),
        Tree::Float(number) => number.to_string(),
        Tree::Bool(flag) => flag.to_string(),
        Tree::List(items) => format!("[{}]", items.iter().map(|item| shown(&item.tree)).collect::<Vec<_>>().join(" ")),
        Tree::Table(table) => {
            let entry =
                |(key, _, node): &(String, _, perhop_core::params::Node)| format!("{key} {}", shown(&node.tree));
            format!("{{{}}}", table.entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// `green transmit, red drop`
pub fn actions(conditioner: &Conditioner) -> String {
    let one = |(colour, acts): &(perhop_core::colour::Colour, perhop_config::value::WithOrigin<Vec<_>>)| {
        format!("{} {:?}", colour.name(), acts.is)
    };
    conditioner.actions.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Verdicts of the lines with these words, and their notes.
pub fn verdict(text: &str, words: &str) -> (Verdict, String) {
    verdict_in(&read(text), text, words)
}

pub fn verdict_in(read: &Read, text: &str, words: &str) -> (Verdict, String) {
    let line = 1 + text.lines().position(|line| line.contains(words)).unwrap();
    let entry = read.account.lines.get(&line).unwrap_or_else(|| panic!("line {line} is not in the account"));
    (entry.verdict.clone(), entry.notes.join("; "))
}
