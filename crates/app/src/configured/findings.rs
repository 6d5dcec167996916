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
use perhop_config::rules;
use perhop_config::stub::{Stub, with_load};
use perhop_config::value::Origin;
use perhop_core::params::{ClassName, Place, Severity};
use perhop_core::units::BitRate;
use perhop_scenario::text::source::Spot;
use perhop_scenario::{Diagnostic, Diagnostics, Document, Options};
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
    imported.findings(&given).into_iter().for_each(|finding| findings.add(file.finding(&text, finding)));
    let ports = imported.ports(&given).unwrap_or_else(|fault| {
        // An error that was found already may be why there is none.
        if findings.list.iter().all(|known| known.severity == Severity::Warning) {
            findings.add(file.diagnostic(&text, Severity::Error, fault));
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
    let found = Document::check(&stub.text, options).map_or_else(|errors| errors, |(found, _)| found);
    for diagnostic in in_its_words(file, imported, (stub, None), found).into_iter().filter(|it| wanted(it.code)) {
        list.push(diagnostic);
    }
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
    /// Adds one, whatever its line has.
    fn add(&mut self, it: Diagnostic) {
        let line = it.spot.as_ref().map(|spot| spot.line);
        self.better.extend(rules::instead_of(it.code).iter().map(|code| (line, *code)));
        self.same.insert((line, it.code, it.message.clone(), it.class.clone()));
        self.list.push(it);
    }

    /// Adds one unless its line has it, or another that says it better.
    fn push(&mut self, it: Diagnostic) {
        let line = it.spot.as_ref().map(|spot| spot.line);
        let known = self.same.contains(&(line, it.code, it.message.clone(), it.class.clone()));
        if !known && !self.better.contains(&(line, it.code)) {
            self.add(it);
        }
    }
}

/// What is found in a scenario, where it comes from a configuration: at the configuration's place, with its line and its names. What
/// is about a load that a file states is at that file's place. What is about the scenario's own load is left out, unless nothing can
/// run.
pub(crate) fn in_its_words(
    file: &File<'_>,
    imported: &Imported,
    (stub, stated): (&Stub, Option<&Stated>),
    found: Diagnostics,
) -> Vec<Diagnostic> {
    let sources = file.sources(&imported.text);
    let (origins, loads, lines) = (stub.origins(), stub.stated_origins(), starts(&stub.text));
    let moved = |it: Diagnostic| {
        if it.severity != Severity::Error && OF_THE_LOAD.contains(&it.code) {
            return None;
        }
        let Some(spot) = it.spot.clone().filter(|spot| spot.name == it.file && spot.path.is_empty()) else {
            return Some(it).filter(|it| it.severity == Severity::Error);
        };
        let at = byte((&stub.text, &lines), &spot)?;
        if let Some((load, place)) = stated.zip(loads.origin(at)) {
            return Some(Diagnostic { file: load.name.clone(), spot: load.sources.spot(place), ..it });
        }
        let (place, class) = match stub.classes(at).zip(it.class.as_ref()).and_then(of_device) {
            Some((place, class)) => (place.or_else(|| origins.origin(at)), Some(class)),
            None => (origins.origin(at), it.class.clone()),
        };
        let spot = place.and_then(|place| sources.spot(place));
        (it.severity == Severity::Error || spot.is_some()).then_some(Diagnostic { spot, class, ..it })
    };
    found.list.into_iter().filter_map(moved).collect()
}

/// The place of a class of the list that a problem is about, and the device's name for it.
fn of_device((classes, class): (&[(String, Option<Place>)], &ClassName)) -> Option<(Option<Place>, ClassName)> {
    let ClassName::Listed { number, .. } = class else { return None };
    let (name, place) = classes.get(number.checked_sub(1)?)?;
    Some((*place, ClassName::Device(name.clone())))
}

/// Where the lines of a text begin.
fn starts(text: &str) -> Vec<usize> {
    [0].into_iter().chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect()
}

/// The byte of a scenario, with the starts of its lines, at a spot.
fn byte((text, lines): (&str, &[usize]), spot: &Spot) -> Option<usize> {
    let start = *lines.get(spot.line - 1)?;
    let before = text[start..].chars().take_while(|c| *c != '\n').take(spot.column - 1);
    Some(start + before.map(char::len_utf8).sum::<usize>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::door::Door;
    use perhop_core::params::{CLASS, Problems};
    use perhop_scenario::text::source::Sources;

    const SCRIPT: &str = "tc qdisc add dev eth0 root handle 1: htb default 20\n\
        tc class add dev eth0 parent 1: classid 1:10 htb rate 2mbit\n\
        tc class add dev eth0 parent 1: classid 1:20 htb rate 8mbit\n";

    /// What is said of these classes of the script's list, each with its line.
    fn words(of: [(&str, Option<ClassName>); 4]) -> [(String, usize); 4] {
        let file = File::new("a.sh", SCRIPT.as_bytes(), Door::default());
        let given = ImportOptions { link: Some(BitRate::mbps(10)), ..ImportOptions::default() };
        let mut imported = read(SCRIPT.as_bytes(), None, &given).unwrap_or_else(|it| panic!("{}", it.fault.message));
        let stub = imported.stub(&given, None).unwrap_or_else(|fault| panic!("{}", fault.message));
        let (mut problems, mut sources) = (Problems::default(), Sources::default());
        let start = sources.add("stub.toml", &stub.text) + stub.lists[0].at;
        let place = Place { start, end: start + 1 };
        for (i, (message, class)) in of.into_iter().enumerate() {
            problems.error(["E001", "E002", "E003", "E004"][i], place, message).of_class(class).help("help");
        }
        let found = in_its_words(&file, &imported, (&stub, None), Diagnostics::new(problems, &sources));
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
