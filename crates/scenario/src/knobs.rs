//! Changes that are stated while a scenario runs: each is a `[[change]]` at the time that is reached.
//!
//! What is in force is kept, and what the file still has ahead. A change is laid over the one with every check, then the
//! file's later changes are laid over the result, as if the file had had it from the beginning. Changes of the same time, the
//! file's among them, are one, as in a file.
//!
//! Decision: docs/decisions/121-a-session-is-the-engine-itself.md

use crate::change::follow::{Laid, Review, follow};
use crate::change::overlay::{self, Overlay};
use crate::expand::short;
use crate::in_force::InForce;
use crate::scenario::{Scenario, expanded};
use crate::sections::model::Change;
use crate::text::diagnostics::{Diagnostics, Findings};
use crate::text::options::Options;
use crate::text::source::Sources;
use crate::text::tree::{self, KeyPath};
use perhop_core::params::{Node, Place, Problem, Problems, Severity, Tree, Value};
use perhop_core::units::{Span, Time};
use perhop_sim::plan;

/// What is in force while a scenario runs, and may be changed.
#[derive(Clone, Debug)]
pub struct Knobs {
    scenario: Scenario,
    sources: Sources,
    /// In force before the changes of this time.
    before: InForce,
    /// In force with them.
    now: InForce,
    here: Option<Here>,
    /// Changes of earlier times, the file's among them.
    made: Vec<Change>,
    /// Those of the file that are still to come.
    ahead: Vec<Overlay>,
    /// What the file, or a change, has been warned of.
    known: Vec<Problem>,
}

/// The changes of one time, as one.
#[derive(Clone, Debug)]
struct Here {
    overlay: Overlay,
    /// What differs in effective values; `None`: nothing.
    change: Option<Change>,
}

impl Knobs {
    /// Those of a scenario that was read from this text with these options.
    pub fn new(scenario: &Scenario, text: &str, options: &Options) -> Self {
        let mut problems = Problems::default();
        let root = expanded(&scenario.stated, &mut problems).expect("a checked scenario");
        let now = InForce::new(root, &options.stem(), options.captures, &mut problems);
        let ahead = overlay::all(&scenario.stated, &now, &mut problems);
        let (scenario, sources, known) = (scenario.clone(), sources(text, options), problems.list);
        Self { scenario, sources, before: now.clone(), now, here: None, made: Vec::new(), ahead, known }
    }

    /// Makes the change `KEY=VALUE` at `at`, where the simulation has paused: all changes from this time on, and warnings.
    ///
    /// # Errors
    /// All that is wrong with it, as of a `[[change]]`; nothing is then changed.
    pub fn set(&mut self, at: Span, text: &str) -> Result<(Vec<plan::Change>, Diagnostics), Diagnostics> {
        self.pass(at);
        let base = self.sources.add("set", text);
        let mut findings = Findings { sources: self.sources.clone(), problems: Problems::default() };
        let changes = self.turn(at, (text, base), &mut findings.problems);
        findings.conclude(changes)
    }

    fn turn(&mut self, at: Span, text: (&str, usize), problems: &mut Problems) -> Option<Vec<plan::Change>> {
        let item = self.item(at, text, problems)?;
        let overlay = overlay::overlay(&item, &self.now, problems)?;
        let mut said = Review { known: self.known.clone(), problems };
        let laid = said.lay(&self.now, &overlay)?;
        let known = said.known;
        let (overlay, laid) = self.together((overlay, laid), problems)?;
        let mut later = Problems { list: known.clone(), ..Problems::default() };
        let (_, ahead) = follow(&laid.after, &self.ahead, &mut later);
        problems.list.extend(later.list.iter().filter(|it| !known.contains(it)).cloned());
        if problems.has_errors() {
            return None;
        }
        (self.now, self.known) = (laid.after, later.list);
        self.here = Some(Here { overlay, change: laid.change });
        Some(laid.what.map(|what| plan::Change { at: Time::ZERO + at, what }).into_iter().chain(ahead).collect())
    }

    /// A change, and what it made, with those that were made at this time before it.
    fn together(&self, (overlay, laid): (Overlay, Laid), problems: &mut Problems) -> Option<(Overlay, Laid)> {
        let Some(here) = &self.here else { return Some((overlay, laid)) };
        let mut all = here.overlay.clone();
        all.join(&overlay);
        let mut found = Problems::default();
        let laid = Review { known: self.known.clone(), problems: &mut found }.lay(&self.before, &all);
        problems.list.extend(found.list.into_iter().filter(|it| it.severity == Severity::Error));
        laid.map(|laid| (all, laid))
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
            self.arrive(overlay.at);
            let mut said = Review { known: self.known.clone(), problems: &mut Problems::default() };
            let Some(laid) = said.lay(&self.now, &overlay) else { continue };
            self.known = said.known;
            self.now = laid.after;
            self.here = Some(Here { overlay, change: laid.change });
        }
        self.arrive(until);
    }

    /// Changes of an earlier time have been made.
    fn arrive(&mut self, at: Span) {
        if let Some(here) = self.here.take_if(|here| here.overlay.at < at) {
            self.made.extend(here.change);
            self.before = self.now.clone();
        }
    }

    /// The scenario with every change that was made and those that the file has ahead: what ran.
    pub fn scenario(mut self) -> Scenario {
        if let Some(last) = self.ahead.last().map(|overlay| overlay.at) {
            self.pass(last);
        }
        self.made.extend(self.here.and_then(|here| here.change));
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
