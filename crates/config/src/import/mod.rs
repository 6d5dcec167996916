//! From bytes to a port and its scenario: the text, its dialect, the port that is meant, the rate of its link.
//!
//! Every way to refuse is a [`Fault`] with a code, one line and what to do.

mod guess;

use crate::account::{Account, Entry};
use crate::dialect::{Dialect, Read};
use crate::finding::{Fault, Finding, Refused};
use crate::foreign::Screen;
use crate::import_options::ImportOptions;
use crate::load::Load;
use crate::model::{Port, Way, same_interface};
use crate::policy::policy;
use crate::rules;
use crate::stub::{self, Stub};
use crate::text::Text;
use crate::value::{Value, WithOrigin};
use guess::guess;
use perhop_core::params::suggest;
use perhop_core::units::BitRate;
use std::collections::{BTreeSet, HashMap};

pub use guess::{is_configuration, other};

/// Of a thousand characters, as many may be of no text.
const ODD: usize = 20;

/// The dialects.
pub const DIALECTS: &[Dialect] = &[crate::tc::DIALECT, crate::ios::DIALECT];

/// A configuration that was read.
pub struct Imported {
    /// What it is written in.
    pub dialect: &'static Dialect,
    /// Whether that was guessed.
    pub guessed: bool,
    /// Its text, as far as it may be printed.
    pub text: Text,
    /// What it says, in notes and findings that may be printed.
    pub read: Read,
    /// The port that is meant, by its place in the device.
    pub port: usize,
    /// What may be printed of it.
    screen: Screen,
    /// All of the text.
    whole: Text,
}

/// A port, and that of the other direction of its interface if the text has one, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// What leaves, if the text has both directions.
    pub port: usize,
    /// What comes in.
    pub back: Option<usize>,
}

/// Reads a configuration, and finds the port that is meant.
///
/// # Errors
/// As [`read`]; it has no port, or several that may be meant.
pub fn import(bytes: &[u8], from: Option<&str>, given: &ImportOptions) -> Result<Imported, Refused> {
    let imported = read(bytes, from, given)?;
    let port = imported.chosen(given)?;
    Ok(Imported { port, ..imported })
}

/// Reads a configuration; the port is the first.
///
/// # Errors
/// It is no text, or in no dialect that is known; the reader refuses it.
pub fn read(bytes: &[u8], from: Option<&str>, given: &ImportOptions) -> Result<Imported, Refused> {
    let whole = text(bytes)?;
    let (dialect, guessed) = dialect_of(&whole, from)?;
    let mut read = match (dialect.read)(&whole, given) {
        Ok(read) => read,
        Err(fault) => {
            let mut recognition = (dialect.recognition)(&whole);
            given.interface.iter().for_each(|name| recognition.name(name));
            let screen = Screen::new(&whole, &mut recognition);
            let fault = screen.fault(advised(fault, &whole, dialect));
            return Err(Refused { fault, text: Box::new(screen.text(&whole, &recognition)) });
        }
    };
    if let Some(framing) = given.framing {
        let stated = WithOrigin::assumed("given by --framing", Value::Word(framing.name().to_owned()));
        read.device.ports.iter_mut().for_each(|port| port.link.set("framing", stated.clone()));
    }
    let screen = Screen::new(&whole, &mut read.recognition);
    screen.account(&mut read.account);
    read.findings = read.findings.into_iter().map(|it| screen.finding(it)).collect();
    let text = screen.text(&whole, &read.recognition);
    Ok(Imported { dialect, guessed, text, read, port: 0, screen, whole })
}

impl Imported {
    /// What the reader has found, and what the rules find.
    pub fn findings(&self, given: &ImportOptions) -> Vec<Finding> {
        let found = rules::findings(&self.read, &self.whole, given).into_iter().map(|it| self.screen.finding(it));
        self.read.findings.iter().cloned().chain(found).collect()
    }

    /// Other dialects that lines of the text look like, and how many do.
    pub fn others(&self) -> Vec<(&'static Dialect, usize)> {
        let others = DIALECTS.iter().filter(|it| it.name != self.dialect.name);
        others.map(|it| (it, (it.looks)(&self.whole))).filter(|it| it.1 > 0).collect()
    }

    /// The lines of the account with what may be printed of them.
    pub fn lines(&self) -> impl Iterator<Item = (usize, String, &Entry)> {
        let mut lines = self.text.lines();
        let mut at = 0;
        self.read.account.lines.iter().map(move |(number, entry)| {
            let line = lines.nth(number.saturating_sub(at + 1));
            at = *number;
            (*number, in_single_blanks(line.map_or("", |line| line.text)), entry)
        })
    }

    /// The ports that may be meant.
    ///
    /// # Errors
    /// There is none.
    pub fn ports(&self, given: &ImportOptions) -> Result<Vec<usize>, Fault> {
        let ports = &self.read.device.ports;
        let found = meant(ports, given);
        if found.is_empty() { self.chosen(given).map(|_| found) } else { Ok(found) }
    }

    /// The ports that may be meant, both directions of an interface together.
    ///
    /// # Errors
    /// There is none.
    pub fn wires(&self, given: &ImportOptions) -> Result<Vec<Wire>, Fault> {
        let ports = &self.read.device.ports;
        let meant = self.ports(given)?;
        let full: Vec<_> = meant.iter().copied().filter(|place| is_full(&ports[*place])).collect();
        let meant = if full.is_empty() { meant } else { full };
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        meant.iter().for_each(|place| by_name.entry(&ports[*place].interface.is).or_default().push(*place));
        let of = |place: usize| match by_name[ports[place].interface.is.as_str()].as_slice() {
            &[one, other] if faces(&ports[one], &ports[other]) => {
                let [port, back] = if ports[one].way == Way::Output { [one, other] } else { [other, one] };
                (place == one).then_some(Wire { port, back: Some(back) })
            }
            _ => Some(Wire { port: place, back: None }),
        };
        Ok(meant.into_iter().filter_map(of).collect())
    }

    /// The place of the port that is meant.
    ///
    /// # Errors
    /// It is none, or one of several.
    pub fn chosen(&self, given: &ImportOptions) -> Result<usize, Fault> {
        let ports = &self.read.device.ports;
        let found = meant(ports, given);
        let full: Vec<_> = found.iter().copied().filter(|place| is_full(&ports[*place])).collect();
        match if full.len() == 1 { full } else { found }.as_slice() {
            [one] => Ok(*one),
            [] if ports.is_empty() => Err(portless(given, &self.read.account)),
            [] => Err(absent(ports, given)),
            several => {
                let names: Vec<_> = several.iter().map(|&i| called(&ports[i])).collect();
                let ways = several.iter().all(|&i| ports[i].interface.is == ports[several[0]].interface.is);
                let option = if ways { "⟨direction=⟩" } else { "⟨interface=⟩" };
                let message = format!("the text has {} ports: {}", several.len(), list(&names));
                Err(fault("E313", message, format!("choose one by {option}")))
            }
        }
    }

    /// The port that is meant.
    pub fn port(&self) -> &Port {
        &self.read.device.ports[self.port]
    }

    /// The rate of its link.
    ///
    /// # Errors
    /// Neither the text nor what is given says it.
    pub fn link(&self, given: &ImportOptions) -> Result<BitRate, Fault> {
        stub::link(self.port(), given).ok_or_else(|| {
            let message = format!("the text does not say how fast the link of `{}` is", self.port().interface.is);
            fault("E315", message, "give its rate, as in ⟨link=100Mbit/s⟩")
        })
    }

    /// The port as a scenario, with a load or the first one; what that says differently stands in the account.
    ///
    /// # Errors
    /// As [`Imported::link`].
    pub fn stub(&mut self, given: &ImportOptions, load: Option<Load>) -> Result<Stub, Fault> {
        let link = self.link(given)?;
        let port = self.port();
        let load = load.unwrap_or_else(|| Load::of(port, link));
        let stub = stub::with_load(port, link, &load);
        Ok(self.noted(stub))
    }

    /// Both directions of the port's interface as one scenario. A rate that is said of one direction is that of both.
    ///
    /// # Errors
    /// As [`Imported::link`].
    pub fn stub_of_both(&mut self, given: &ImportOptions, back: usize) -> Result<Stub, Fault> {
        let ports = [self.port(), &self.read.device.ports[back]];
        let links = ports.map(|port| stub::link(port, given));
        let known = links[0].or(links[1]).map_or_else(|| self.link(given), Ok)?;
        let stub = stub::of_both([0, 1].map(|i| (ports[i], links[i].unwrap_or(known))));
        Ok(self.noted(stub))
    }

    /// The port's conditioners and queues as a policy.
    ///
    /// # Errors
    /// It has neither.
    pub fn policy(&mut self) -> Result<Stub, Fault> {
        let port = self.port();
        if port.conditioners.is_empty() && port.queue.is_none() {
            let message = format!("`{}` {} has neither conditioners nor queues", port.interface.is, port.way.name());
            return Err(fault("E316", message, "leave ⟨as=⟩ out: a scenario has the link, too"));
        }
        let policy = policy(port);
        Ok(self.noted(policy))
    }

    fn noted(&mut self, stub: Stub) -> Stub {
        for (place, note) in &stub.notes {
            let line = place.map(|place| self.text.line_of(place));
            let line = line.or_else(|| self.read.account.lines.keys().next().copied());
            let note = self.screen.message(note);
            line.into_iter().for_each(|line| self.read.account.approximated(line, note.clone()));
        }
        stub
    }
}

/// A port whose text says nothing, such as that of an `ingress` without filters, is none to choose.
fn is_full(port: &Port) -> bool {
    port.queue.is_some() || !port.conditioners.is_empty()
}

/// Whether two ports of an interface are its two directions, and one scenario can count the bytes of both.
fn faces(one: &Port, other: &Port) -> bool {
    let without_queue = |port: &Port| port.way == Way::Input && port.queue.is_none();
    one.way != other.way && (one.accounting == other.accounting || without_queue(one) || without_queue(other))
}

/// A line without the blanks around it, and with a single one for each stretch of them.
fn in_single_blanks(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn fault(code: &'static str, message: String, help: impl Into<String>) -> Fault {
    Fault { code, place: None, message, help: help.into() }
}

/// # Errors
/// Nothing is in it, or no text.
fn text(bytes: &[u8]) -> Result<Text, Fault> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(fault("E311", "the file is in UTF-16".into(), "save it as UTF-8"));
    }
    let odd = |byte: &&u8| matches!(byte, 0..=6 | 14..=26 | 28..=31 | 127);
    let start = &bytes[..bytes.len().min(1 << 16)];
    if start.iter().filter(odd).count() * 1000 > start.len() * ODD {
        return Err(fault(
            "E311",
            "the file is binary".into(),
            "give the configuration as text, as the device prints it",
        ));
    }
    let text = Text::new(bytes);
    match text.text.trim().is_empty() {
        true => Err(fault(
            "E310",
            "the text is empty".into(),
            "paste the configuration, or what `show` or `tc` prints of it",
        )),
        false => Ok(text),
    }
}

/// The dialect of a text, and whether it was guessed.
fn dialect_of(text: &Text, from: Option<&str>) -> Result<(&'static Dialect, bool), Fault> {
    let Some(from) = from else { return guess(text).map(|dialect| (dialect, true)) };
    let names: Vec<_> = DIALECTS.iter().map(|dialect| dialect.name).collect();
    let found = DIALECTS.iter().find(|dialect| dialect.name == from);
    let unknown = || fault("E312", format!("no dialect `{from}` for ⟨from=⟩"), suggest(from, &names));
    found.map(|dialect| (dialect, false)).ok_or_else(unknown)
}

/// Why a reader refuses a text, and what else it looks like.
fn advised(fault: Fault, text: &Text, dialect: &Dialect) -> Fault {
    let looks = |it: &&Dialect| it.name != dialect.name && (it.looks)(text) > 0;
    match (DIALECTS.iter().find(looks), other(text)) {
        (Some(better), _) => {
            Fault { help: format!("it looks like {}: ⟨from={}⟩", better.title, better.name), ..fault }
        }
        (None, Some(name)) => Fault { help: format!("it looks like {name}, which perhop does not read"), ..fault },
        (None, None) => fault,
    }
}

/// Why there is no port; a line that is not modelled may be why.
fn portless(given: &ImportOptions, account: &Account) -> Fault {
    let message = match account.lost(|_| true) {
        Some(why) => format!("no line that is modelled says what happens to packets at an interface; {why}"),
        None => "no line of the text says what happens to packets at an interface".to_owned(),
    };
    let help = match given.way {
        Some(_) => "leave ⟨direction=⟩ out: perhop then says which directions there are",
        None => {
            "add the lines that put it there: `tc qdisc add dev eth0 root ..`, `service-policy output ..` in an interface"
        }
    };
    fault("E314", message, help)
}

/// The ports that may be meant, by their places.
fn meant(ports: &[Port], given: &ImportOptions) -> Vec<usize> {
    let of_way = |port: &Port| given.way.is_none_or(|way| leads(port, given, way));
    let exact: Vec<_> = (0..ports.len()).filter(|&i| named(&ports[i], given)).collect();
    let found = if exact.is_empty() { (0..ports.len()).filter(|&i| begins(&ports[i], given)).collect() } else { exact };
    found.into_iter().filter(|&i| of_way(&ports[i])).collect()
}

/// Whether a port is of the interface that is asked for, which several policies have: they are called after it, and after
/// the policy.
fn begins(port: &Port, given: &ImportOptions) -> bool {
    let starts = |asked: &String| {
        port.interface.is.match_indices(' ').any(|(end, _)| same_interface(&port.interface.is[..end], asked))
    };
    given.interface.as_ref().is_some_and(starts)
}

/// Whether the direction of a port is meant: what comes in and waits in the queue of another interface leaves that one.
fn leads(port: &Port, given: &ImportOptions, way: Way) -> bool {
    let behind = port.behind.as_ref().zip(given.interface.as_ref());
    port.way == way || way == Way::Output && behind.is_some_and(|(name, asked)| same_interface(&name.is, asked))
}

fn named(port: &Port, given: &ImportOptions) -> bool {
    given.interface.as_ref().is_none_or(|asked| port.names().any(|name| same_interface(name, asked)))
}

fn absent(ports: &[Port], given: &ImportOptions) -> Fault {
    let asked = given.interface.as_deref().unwrap_or_default();
    let mut known = BTreeSet::new();
    let names: Vec<_> = ports.iter().flat_map(Port::names).filter(|name| known.insert(*name)).collect();
    let there: Vec<_> = ports.iter().filter(|port| named(port, given)).map(called).collect();
    match (there.is_empty(), given.way) {
        (true, _) => fault("E317", format!("the text says nothing of the interface `{asked}`"), suggest(asked, &names)),
        (false, way) => {
            let way = way.map_or("", |way| way.name());
            fault("E317", format!("the text says nothing of {way}"), format!("it has {}", list(&there)))
        }
    }
}

/// `eth0 output`
fn called(port: &Port) -> String {
    format!("`{}` {}", port.interface.is, port.direction())
}

fn list(names: &[String]) -> String {
    const MOST: usize = 12;
    let more = names.len().saturating_sub(MOST);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
