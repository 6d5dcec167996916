//! What is found in a configuration: by its readers, by rules that need only the text, and by the check of the scenario that is
//! made of each port, in the configuration's own lines.

use super::{File, Stated, guessed, not_taken};
use crate::request::Configuration;
use perhop_config::account::Verdict;
use perhop_config::finding::Refused;
use perhop_config::import::{Imported, read};
use perhop_config::import_options::ImportOptions;
use perhop_config::load::Load;
use perhop_config::model::Way;
use perhop_config::stub::{Stub, with_load};
use perhop_config::value::Origin;
use perhop_core::params::{ClassName, Severity};
use perhop_core::units::BitRate;
use perhop_scenario::{Diagnostic, Document, Options};
use std::collections::{BTreeSet, HashSet};

/// Everything found in a file, and notes, which are no fault of it.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Diagnostic>,
    pub(crate) notes: Vec<String>,
}

/// Codes that are about the load of the stub, or about the network around its port, and not about the port.
pub(crate) const OF_THE_LOAD: &[&str] = &[
    "W302", "W305", "W306", "W307", "W318", "W321", "W322", "W331", "W339", "W340", "W341", "W344", "W355", "W356",
    "W358", "W360", "W361",
];

/// What is found in a configuration, and what it was taken for.
pub(crate) fn findings(file: &File<'_>, asked: &Configuration, options: &Options) -> Findings {
    let given = asked.import_options();
    let mut imported = match read(file.bytes, asked.from.as_deref(), &given) {
        Ok(imported) => imported,
        Err(Refused { fault, text }) => {
            return Findings { list: vec![file.diagnostic(&text, Severity::Error, fault)], ..Findings::default() };
        }
    };
    let text = imported.text.clone();
    let mut findings = Collector::default();
    for finding in imported.findings(&given) {
        let better = finding.instead_of;
        findings.add(file.finding(&text, finding), better);
    }
    let ports = imported.ports(&given).unwrap_or_else(|fault| {
        // An error that was found already may be why there is none.
        if findings.list.iter().all(|known| known.severity == Severity::Warning) {
            findings.add(file.diagnostic(&text, Severity::Error, fault), &[]);
        }
        Vec::new()
    });
    let (mut unknown, mut known) = (Vec::new(), BTreeSet::new());
    for port in ports {
        imported.port = port;
        if !known.insert(alike(&imported, &given)) {
            continue;
        }
        match imported.stub(&given, None) {
            Ok(stub) => {
                of_stub(file, &imported, (&stub, &|_| true), options, &mut findings);
                of_tcp(file, &imported, (&given, options), &mut findings);
            }
            Err(_) => unknown.push(imported.port().interface.is.as_str().to_owned()),
        }
    }
    let mut list = findings.list;
    list.sort_by_key(|it| it.spot.as_ref().map_or((0, 0), |spot| (spot.line, spot.column)));
    Findings { list, notes: notes(file, &imported, &unknown) }
}

/// What tells a port from others in its findings: the direction, the rate, and where its queue and its conditioners are said. A
/// policy may be at thousands of interfaces.
fn alike(imported: &Imported, given: &ImportOptions) -> (Way, Option<BitRate>, Vec<usize>) {
    let port = imported.port();
    let queue = port.queue.iter().map(|queue| queue.name.origin);
    let conditioners = port.conditioners.iter().map(|it| it.name.origin);
    let places: Vec<_> = queue.chain(conditioners).filter_map(Origin::place).collect();
    let own = if places.is_empty() { port.interface.origin.place() } else { None };
    (port.way, imported.link(given).ok(), places.into_iter().chain(own).map(|place| place.start).collect())
}

/// What the file was taken for, the ports whose links' rates are unknown, and what was not taken.
fn notes(file: &File<'_>, imported: &Imported, unknown: &[String]) -> Vec<String> {
    let mut notes: Vec<_> = imported.guessed.then(|| guessed(file.name, imported)).into_iter().collect();
    if !unknown.is_empty() {
        const SHOWN: usize = 4;
        let mut names: Vec<_> = unknown.iter().map(|name| format!("`{name}`")).collect();
        names.dedup();
        let more = names.len().saturating_sub(SHOWN);
        let shown = names[..names.len() - more].join(", ");
        let others = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = "checked without what depends on the rate of its link; give it by --link";
        notes.push(format!("{}: note: {shown}{others}: {what}", file.name));
    }
    let others = not_taken(imported);
    if !others.is_empty() {
        let which = if imported.read.account.count(&Verdict::NotModelled) > 0 {
            "says which and why"
        } else {
            "says which and how"
        };
        notes.push(format!("{}: note: {others}: `perhop import {}` {which}", file.name, file.name));
    }
    notes
}

/// A policer that holds TCP below its rate: only seen where no datagrams are sent beside it.
const OF_TCP: &str = "W301";

/// Adds what a port does to TCP alone, if it has a policer.
fn of_tcp(file: &File<'_>, imported: &Imported, (given, options): (&ImportOptions, &Options), list: &mut Collector) {
    let Ok(link) = imported.link(given) else { return };
    let port = imported.port();
    if !port.conditioners.iter().any(|it| it.settings.get("cir").is_some()) {
        return;
    }
    let stub = with_load(port, link, &Load::of_tcp(port, link));
    of_stub(file, imported, (&stub, &|code| code == OF_TCP), options, list);
}

/// A stub, and which codes are of interest.
type StubCheck<'a> = (&'a Stub, &'a dyn Fn(&str) -> bool);

/// Adds what the check of a port's scenario finds.
fn of_stub(
    file: &File<'_>,
    imported: &Imported,
    (stub, wanted): StubCheck<'_>,
    options: &Options,
    list: &mut Collector,
) {
    let found = check(file, imported, (stub, None), options);
    found.into_iter().filter(|it| wanted(it.code)).for_each(|it| list.push(it));
}

/// What tells a diagnostic from others: its line, code, message and class.
type Identity = (Option<usize>, &'static str, String, Option<ClassName>);

/// Diagnostics, of which a line has each once.
#[derive(Default)]
struct Collector {
    list: Vec<Diagnostic>,
    same: HashSet<Identity>,
    /// Codes that say the same of a line, less well.
    better: HashSet<(Option<usize>, &'static str)>,
}

impl Collector {
    /// Adds one, whatever its line has, and whatever codes say the same less well.
    fn add(&mut self, it: Diagnostic, instead_of: &[&'static str]) {
        let line = it.spot.as_ref().map(|spot| spot.line);
        self.better.extend(instead_of.iter().map(|code| (line, *code)));
        self.same.insert((line, it.code, it.message.clone(), it.class.clone()));
        self.list.push(it);
    }

    /// Adds one unless its line has it, or another that says it better.
    fn push(&mut self, it: Diagnostic) {
        let line = it.spot.as_ref().map(|spot| spot.line);
        let known = self.same.contains(&(line, it.code, it.message.clone(), it.class.clone()));
        if !known && !self.better.contains(&(line, it.code)) {
            self.add(it, &[]);
        }
    }
}

/// What the check of a scenario finds that comes from a configuration, in the configuration's lines and names, or in those of the file
/// of its load. What is about the scenario's own load is left out, unless nothing can run.
pub(crate) fn check(
    file: &File<'_>,
    imported: &Imported,
    (stub, stated): (&Stub, Option<&Stated>),
    options: &Options,
) -> Vec<Diagnostic> {
    let texts = [file.sources(&imported.text).clone(), stated.map(|it| it.sources.clone()).unwrap_or_default()];
    let names = texts.each_ref().map(|text| text.file().to_owned());
    let found = Document::check(&stub.draft.made(texts), options).map_or_else(|errors| errors, |(found, _)| found);
    let is_of_texts = |it: &Diagnostic| it.spot.as_ref().is_some_and(|spot| names.contains(&spot.name));
    let counts = |it: &Diagnostic| it.severity == Severity::Error || !OF_THE_LOAD.contains(&it.code) && is_of_texts(it);
    found.list.into_iter().filter(counts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::door::Door;
    use perhop_core::params::{CLASS, Problems};
    use perhop_scenario::Diagnostics;
    use perhop_scenario::text::source::Sources;
    use perhop_scenario::text::tree;

    const SCRIPT: &str = "tc qdisc add dev eth0 root handle 1: htb default 20\n\
        tc class add dev eth0 parent 1: classid 1:10 htb rate 2mbit\n\
        tc class add dev eth0 parent 1: classid 1:20 htb rate 8mbit\n";

    /// What is said of these classes of the script's list, each with its line.
    fn words(of: [(&str, Option<ClassName>); 4]) -> [(String, usize); 4] {
        let file = File::new("a.sh", SCRIPT.as_bytes(), Door::default());
        let given = ImportOptions { link: Some(BitRate::mbps(10)), ..ImportOptions::default() };
        let mut imported = read(SCRIPT.as_bytes(), None, &given).unwrap_or_else(|it| panic!("{}", it.fault.message));
        let stub = imported.stub(&given, None).unwrap_or_else(|fault| panic!("{}", fault.message));
        let made = stub.draft.made([file.sources(&imported.text).clone(), <_>::default()]);
        let list = tree::get(&made.root, &["queue", "1:", "classes"]).unwrap_or_else(|| panic!("{}", stub.text));
        let (mut problems, mut sources) = (Problems::default(), Sources::default());
        sources.add_made("stub.toml", &made);
        for (i, (message, class)) in of.into_iter().enumerate() {
            problems.error(["E001", "E002", "E003", "E004"][i], list.place, message).of_class(class).help("help");
        }
        let found = Diagnostics::new(problems, &sources).list;
        let words = |it: &Diagnostic| (it.sentence().into_owned(), it.spot.as_ref().map_or(0, |spot| spot.line));
        found.iter().map(words).collect::<Vec<_>>().try_into().unwrap_or_else(|found| panic!("{found:?}"))
    }

    /// The class is a field; what its sentence says besides is left alone, whatever it looks like.
    #[test]
    fn a_class_has_the_device_s_name_and_line() {
        let class = |number| Some(ClassName::listed(number));
        let between = format!("`class 1` has 3 packets, {CLASS} has 4, and class 2 before it has 20");
        let of = [
            (between.as_str(), class(2)),
            (CLASS, Some(ClassName::listed(1).named(Some("1:10")))),
            ("`class 1` is a name of the user's own", None),
            (CLASS, class(3)),
        ];
        let said = words(of);
        let said = said.each_ref().map(|(words, line)| (words.as_str(), *line));
        let between = "`class 1` has 3 packets, class `1:20` has 4, and class 2 before it has 20";
        let whole = said[2].1;
        let expected =
            [(between, 3), ("class `1:10`", 2), ("`class 1` is a name of the user's own", whole), ("class 3", whole)];
        assert_eq!(said, expected);
    }
}
