//! Changes that are stated while a scenario runs: each is a `[[change]]` at the time that is reached.
//!
//! What is in force is kept, and what the file still has ahead. A change is laid over the one with every check, then the
//! file's later changes are laid over the result, as if the file had had it from the beginning.
//!
//! Decision: docs/decisions/121-a-session-is-the-engine-itself.md

use crate::change::follow::{Said, follow};
use crate::change::overlay::{self, Overlay};
use crate::expand::short;
use crate::in_force::InForce;
use crate::scenario::{Scenario, expanded};
use crate::sections::model::Change;
use crate::text::diagnostics::{Diagnostics, Findings};
use crate::text::options::Options;
use crate::text::source::Sources;
use crate::text::tree::{self, KeyPath};
use perhop_core::params::{Node, Place, Problem, Problems, Tree, Value};
use perhop_core::units::Span;
use perhop_sim::plan::{self, Alteration};

/// What is in force while a scenario runs, and may be changed.
#[derive(Clone, Debug)]
pub struct Knobs {
    scenario: Scenario,
    sources: Sources,
    now: InForce,
    /// Changes made so far, the file's among them.
    made: Vec<Change>,
    /// Those of the file that are still to come.
    ahead: Vec<Overlay>,
    /// What the file, or a change, has been warned of.
    known: Vec<Problem>,
}

/// What a change means for the simulation.
#[derive(Clone, Debug, Default)]
pub struct Turned {
    /// To be altered now.
    pub what: Vec<Alteration>,
    /// All that is still to come.
    pub ahead: Vec<plan::Change>,
}

impl Knobs {
    /// Those of a scenario that was read from this text with these options.
    pub fn new(scenario: &Scenario, text: &str, options: &Options) -> Self {
        let mut problems = Problems::default();
        let root = expanded(&scenario.stated, &mut problems).expect("a checked scenario");
        let now = InForce::new(root, &options.stem(), &mut problems);
        let ahead = overlay::all(&scenario.stated, &now, &mut problems);
        let (scenario, known) = (scenario.clone(), problems.list);
        Self { scenario, sources: sources(text, options), now, made: Vec::new(), ahead, known }
    }

    /// Makes the change `KEY=VALUE` at `at`, where the simulation is: what has to be altered, and warnings.
    ///
    /// # Errors
    /// All that is wrong with it, as of a `[[change]]`; nothing is then changed.
    pub fn set(&mut self, at: Span, text: &str) -> Result<(Turned, Diagnostics), Diagnostics> {
        self.pass(at);
        let base = self.sources.add("set", text);
        let mut findings = Findings { sources: self.sources.clone(), problems: Problems::default() };
        let turned = self.turn(at, (text, base), &mut findings.problems);
        findings.conclude(turned)
    }

    fn turn(&mut self, at: Span, (text, base): (&str, usize), problems: &mut Problems) -> Option<Turned> {
        let item = self.item(at, (text, base), problems)?;
        let change = overlay::overlay(&item, &self.now, problems)?;
        let mut said = Said { known: self.known.clone(), problems };
        let laid = said.lay(&self.now, &change)?;
        let known = said.known;
        let mut later = Problems { list: known.clone(), ..Problems::default() };
        let (_, ahead) = follow(&laid.after, &self.ahead, &mut later);
        problems.list.extend(later.list.iter().filter(|it| !known.contains(it)).cloned());
        if problems.has_errors() {
            return None;
        }
        (self.now, self.known) = (laid.after, later.list);
        self.made.extend(laid.change);
        Some(Turned { what: laid.what.unwrap_or_default(), ahead })
    }

    /// As it would stand below `[[change]]`.
    fn item(&self, at: Span, (text, base): (&str, usize), problems: &mut Problems) -> Option<Node> {
        let place = Place { start: base, end: base + text.len() };
        let Some((key, begin)) = tree::split(text) else {
            return problems.error("E010", place, format!("`{text}` has no `=`")).help("write KEY=VALUE").none();
        };
        let path = short::in_full(tree::parse_key(key.trim_end(), base, problems)?);
        let value = tree::parse_value(&text[begin..], base + begin, problems)?;
        let (path, value) = self.whole_list(path, value, problems);
        let when = Node { place: Place { start: base, end: base + key.len() }, tree: at.tree()? };
        let mut item = Node { place, ..Tree::table(vec![]).into() };
        tree::set(&mut item, &path, value, problems);
        let Tree::Table(table) = &mut item.tree else { return None };
        table.entries.insert(0, ("at".to_owned(), when.place, when));
        Some(item)
    }

    /// A value within a list is stated by the whole list.
    fn whole_list(&self, path: KeyPath, value: Node, problems: &mut Problems) -> (KeyPath, Node) {
        let list = |end: &usize| {
            let names: Vec<_> = path[..*end].iter().map(|part| part.0.as_str()).collect();
            tree::get(&self.now.root, &names).filter(|node| matches!(node.tree, Tree::List(_)))
        };
        let Some((end, list)) = (1..path.len()).find_map(|end| Some((end, list(&end)?))) else { return (path, value) };
        let mut list = list.clone();
        tree::set(&mut list, &path[end..], value, problems);
        (path[..end].to_vec(), list)
    }

    /// The file's changes until a time are in force then.
    fn pass(&mut self, until: Span) {
        while self.ahead.first().is_some_and(|overlay| overlay.at <= until) {
            let overlay = self.ahead.remove(0);
            let mut said = Said { known: self.known.clone(), problems: &mut Problems::default() };
            let Some(laid) = said.lay(&self.now, &overlay) else { continue };
            self.known = said.known;
            self.made.extend(laid.change);
            self.now = laid.after;
        }
    }

    /// The scenario with every change that was made and those that the file has ahead: what ran.
    pub fn scenario(mut self) -> Scenario {
        if let Some(last) = self.ahead.last().map(|overlay| overlay.at) {
            self.pass(last);
        }
        self.scenario.with_changes(self.made)
    }
}

/// A time that a session is to reach, as it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal<'a> {
    /// Since the start of the run: `1.5s`.
    Until(&'a str),
    /// Since now: `10ms`.
    Step(&'a str),
}

impl Goal<'_> {
    /// When that is, of a session that is at `now` in a run of this length.
    ///
    /// # Errors
    /// It is no time, has passed, or is beyond the end.
    pub fn reached(self, now: Span, duration: Span) -> Result<Span, Diagnostics> {
        let goal = self.text().parse().ok().and_then(|given| self.after(given, now));
        goal.filter(|goal| (now..=duration).contains(goal)).map_or_else(|| Err(self.refused(now, duration)), Ok)
    }

    fn text(&self) -> &str {
        let (Self::Until(text) | Self::Step(text)) = self;
        text
    }

    /// `None`: later than any time.
    fn after(self, given: Span, now: Span) -> Option<Span> {
        match self {
            Self::Until(_) => Some(given),
            Self::Step(_) => now.ns().checked_add(given.ns()).map(Span::from_ns),
        }
    }

    /// Why it cannot be.
    fn refused(self, now: Span, duration: Span) -> Diagnostics {
        let (mut findings, text) = (Findings::default(), self.text());
        let base = findings.sources.add(if matches!(self, Self::Until(_)) { "until" } else { "step" }, text);
        let node = Node { place: Place { start: base, end: base + text.len() }, tree: Tree::Text(text.to_owned()) };
        let problems = &mut findings.problems;
        match Span::read(&node, problems).map(|given| self.after(given, now)) {
            None => {}
            Some(Some(goal)) if goal < now => {
                let message = format!("the session is at {now}, which is after {goal}");
                problems.error("E201", node.place, message).help("take a snapshot before, and restore it to go back");
            }
            Some(_) => {
                let left = Span::from_ns(duration.ns() - now.ns());
                let help = format!("the session is at {now}: at most {left} are left; `finish` runs to the end");
                problems.error("E201", node.place, format!("the run ends at {duration}")).help(help);
            }
        }
        Diagnostics::new(findings.problems, &findings.sources)
    }
}

/// The texts of a file and of what was added to it, as they were read.
fn sources(text: &str, options: &Options) -> Sources {
    let mut sources = Sources::default();
    sources.add(&options.file_name, text);
    sources.keyed(&options.keys);
    options.overrides.iter().chain(&options.vary).for_each(|over| _ = sources.add(&over.flag, &over.text));
    sources
}
