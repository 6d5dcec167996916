//! Problems as a person reads them: code, place, line, caret, reason, fix; and as JSON.
//!
//! Decision: docs/decisions/072-all-faults-in-one-pass.md

use crate::codes::Host;
use crate::text::printable::printable;
use crate::text::source::{Sources, Spot};
use anstyle::{AnsiColor, Style};
use perhop_core::door::Door;
use perhop_core::params::{ClassName, Problem, Problems, Severity, sentence};
use perhop_core::units::counted;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Column at which the place stands in a heading.
const PLACE_COLUMN: usize = 58;

/// One problem with its place looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable code; [`perhop_core::codes`] says where its page is.
    pub code: &'static str,
    /// What is wrong; [`CLASS`](perhop_core::params::CLASS) stands for the class.
    pub message: String,
    /// The class that it is about.
    pub class: Option<ClassName>,
    /// The file.
    pub file: String,
    /// Where in it, or in an override; `None` when it is about the file as a whole.
    pub spot: Option<Spot>,
    /// Words under the caret.
    pub label: String,
    /// The suggested fix.
    pub help: String,
}

/// What has been read so far, and its problems.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The texts.
    pub sources: Sources,
    /// Problems in them.
    pub problems: Problems,
}

impl Findings {
    /// What was read, with the warnings.
    ///
    /// # Errors
    /// Everything found, if anything is an error or nothing could be read.
    pub fn conclude<T>(self, read: Option<T>) -> Result<(T, Diagnostics), Diagnostics> {
        let failed = self.problems.has_errors();
        let diagnostics = Diagnostics::new(self.problems, &self.sources);
        match read {
            Some(read) if !failed => Ok((read, diagnostics)),
            _ => Err(diagnostics),
        }
    }
}

/// All problems of a file, errors and warnings in the order of their places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    /// Errors and warnings.
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Looks up the places of `problems`. Duplicates are shown once; of those at one place that differ only in their
    /// numbers (copies of a series, ports, points of a sweep) the first is shown, with their count.
    pub fn new(problems: Problems, sources: &Sources) -> Self {
        let (mut found, mut known) = (Vec::<(Problem, BTreeSet<String>)>::new(), BTreeMap::new());
        for problem in problems.list {
            let words = format!("{}\n{}", problem.sentence(), problem.label);
            let place = problem.place.map(|p| (p.start, p.end));
            let index = *known.entry((problem.code, place, without_numbers(&words))).or_insert(found.len());
            if index == found.len() {
                found.push((problem, BTreeSet::new()));
            }
            found[index].1.insert(words);
        }
        found.sort_by_key(|(problem, _)| problem.place.map_or(0, |place| place.start));
        Self { list: found.into_iter().map(|(first, all)| Diagnostic::new(alike(first, all.len()), sources)).collect() }
    }

    /// A file that could not even be read as text.
    pub fn of_file(file: &str, code: &'static str, what: [String; 2]) -> Self {
        let [message, help] = what;
        Diagnostic { file: file.into(), ..Diagnostic::error(code, message, help) }.into()
    }

    /// In the words of a door.
    #[must_use]
    pub fn at(self, door: Door) -> Self {
        Self { list: self.list.into_iter().map(|it| it.at(door)).collect() }
    }

    /// Errors, and the warnings that mean something to a host.
    #[must_use]
    pub fn of(mut self, host: Host) -> Self {
        self.list.retain(|it| it.severity == Severity::Error || host.has_use_for(it.code));
        self
    }

    /// Of those that differ only in numbers and in names between backticks, the first with the lines of all: one cause, many lines. A
    /// few with different help stay as they are.
    #[must_use]
    pub fn by_cause(self) -> Self {
        const FEW: usize = 3;
        let mut groups: Vec<Vec<Diagnostic>> = Vec::new();
        let mut known = BTreeMap::new();
        for it in self.list {
            let line = it.spot.as_ref().map(|spot| (spot.name.clone(), spot.path.clone()));
            let words = (it.code, line, without_names(&it.sentence()), without_names(&it.label));
            let place = *known.entry(words).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push(it),
                None => groups.push(vec![it]),
            }
        }
        let is_one = |group: &[Diagnostic]| group.len() > FEW || group.iter().all(|it| it.help == group[0].help);
        let list = groups.into_iter().flat_map(|group| if is_one(&group) { vec![first_of(group)] } else { group });
        let mut list: Vec<_> = list.collect();
        list.sort_by_key(|it| it.spot.as_ref().map_or((0, 0), |spot| (spot.line, spot.column)));
        Self { list }
    }

    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.list.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// Number of warnings.
    pub fn warnings(&self) -> usize {
        self.list.len() - self.errors()
    }

    /// `"3 errors, 1 warning"`; empty when nothing was found.
    pub fn summary(&self) -> String {
        let count = |n: usize, nouns| (n > 0).then(|| counted(n, nouns));
        let parts = [count(self.errors(), ["error", "errors"]), count(self.warnings(), ["warning", "warnings"])];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// One object a problem: code, severity, message, class, file, line, column, label, help.
    pub fn to_json(&self) -> serde_json::Value {
        self.list.iter().map(Diagnostic::to_json).collect()
    }
}

/// A problem that represents `count` of its kind.
fn alike(mut problem: Problem, count: usize) -> Problem {
    if count > 1 {
        let gap = if problem.label.is_empty() { "" } else { "; " };
        problem.label += &format!("{gap}the first of {count} like this");
    }
    problem
}

/// The first of several that have one cause, with the lines of all.
fn first_of(group: Vec<Diagnostic>) -> Diagnostic {
    const SHOWN: usize = 12;
    let lines: BTreeSet<_> = group.iter().filter_map(|it| Some(it.spot.as_ref()?.line)).collect();
    let mut group = group.into_iter();
    let mut first = group.next().unwrap_or_else(|| unreachable!("a group has a first"));
    if lines.len() > 1 {
        let names: Vec<_> = lines.iter().take(SHOWN).map(usize::to_string).collect();
        let more = if lines.len() > SHOWN { ", .." } else { "" };
        let gap = if first.label.is_empty() { "" } else { "; " };
        first.label += &format!("{gap}the first of {} lines like this: {}{more}", lines.len(), names.join(", "));
    }
    first
}

/// Words with `#` for each number, its unit included, and for each name between backticks.
fn without_names(words: &str) -> String {
    let parts: Vec<_> = words.split('`').enumerate().map(|(i, part)| if i % 2 == 1 { "#" } else { part }).collect();
    without_numbers(&parts.concat())
}

/// Words with `#` for each number, its unit included.
fn without_numbers(words: &str) -> String {
    let (mut out, mut within) = (String::new(), false);
    for c in words.chars() {
        let goes_on = within && (c.is_alphanumeric() || matches!(c, '.' | '/' | '%'));
        if !goes_on {
            within = c.is_ascii_digit();
            out.push(if within { '#' } else { c });
        }
    }
    out
}

impl Diagnostic {
    /// An error that is of no place in a file.
    pub fn error(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        let (message, help) = (message.into(), help.into());
        let (class, file, spot, label) = (None, String::new(), None, String::new());
        Self { severity: Severity::Error, code, message, class, file, spot, label, help }
    }

    /// A warning that is of no place in a file.
    pub fn warning(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message, help) }
    }

    /// An error of how perhop was called, which has no page.
    pub fn of_call(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::error("", message, help)
    }

    fn new(problem: Problem, sources: &Sources) -> Self {
        let Problem { severity, code, place, message, class, label, help } = problem;
        let of_device = place.zip(class.as_ref()).and_then(|(list, class)| sources.class(list, class));
        let (place, class) = of_device.map_or((place, class), |(place, class)| (Some(place), Some(class)));
        let spot = place.filter(|p| p.end > p.start).and_then(|p| sources.spot(p));
        let [message, label, help] = [message, label, help].map(|words| printable(&words).into_owned());
        Self { severity, code, message, class, file: sources.file().to_owned(), spot, label, help }
    }

    /// What is wrong, with the name of the class.
    pub fn sentence(&self) -> Cow<'_, str> {
        sentence(&self.message, self.class.as_ref())
    }

    /// With the name of the class, and in the words of a door; of the command line unless that is said.
    #[must_use]
    pub fn at(mut self, door: Door) -> Self {
        self.message = self.sentence().into_owned();
        let name = self.spot.as_mut().map(|spot| &mut spot.name);
        for words in [&mut self.message, &mut self.label, &mut self.help, &mut self.file].into_iter().chain(name) {
            if words.contains('⟨') {
                *words = door.words(words);
            }
        }
        self
    }

    /// See [`Diagnostics::to_json`]; unknown values are null.
    pub fn to_json(&self) -> serde_json::Value {
        let it = self.clone().at(Door::default());
        let file = it.spot.as_ref().map_or(&it.file, |s| &s.name);
        serde_json::json!({
            "severity": it.severity_name(), "code": it.code, "message": it.message,
            "class": it.class.as_ref().map(ToString::to_string), "file": file,
            "line": it.spot.as_ref().map(|s| s.line), "column": it.spot.as_ref().map(|s| s.column),
            "label": it.label, "help": it.help,
        })
    }

    fn severity_name(&self) -> &'static str {
        match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }

    fn place(&self) -> String {
        match &self.spot {
            Some(spot) => spot.place(),
            None => printable(&self.file).into_owned(),
        }
    }
}

/// Plain with `{}`, in colour with `{:#}`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.clone().at(Door::default()).write(f)
    }
}

impl Diagnostic {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ink = Ink::of(self.severity, f.alternate());
        let code = format!("{}[{}]", self.severity_name(), self.code);
        if self.spot.is_none() && self.file.is_empty() {
            let code = if self.code.is_empty() { String::new() } else { ink.loud(&code) + " " };
            let help =
                if self.help.is_empty() { String::new() } else { format!("\n   {} {}", ink.help("help:"), self.help) };
            return write!(f, "{code}{}{help}", self.message);
        }
        let wide = PLACE_COLUMN.saturating_sub(code.chars().count() + 1);
        writeln!(f, "{} {:wide$} {}", ink.loud(&code), self.message, self.place())?;
        // of a line of a device's configuration that may not be printed only blanks are left
        if let Some(spot) = self.spot.as_ref().filter(|spot| !spot.text.trim().is_empty()) {
            let number = if spot.path.is_empty() { spot.line.to_string() } else { " ".into() };
            writeln!(f, "{number} | {}", spot.text.trim_end())?;
            let caret = format!("{} {}", "^".repeat(spot.width), self.label);
            let indent = " ".repeat(spot.shown_column - 1);
            writeln!(f, "{} | {indent}{}", " ".repeat(number.len()), ink.loud(caret.trim_end()))?;
        } else if !self.label.is_empty() {
            writeln!(f, "   {}", self.label)?;
        }
        if self.help.is_empty() { Ok(()) } else { writeln!(f, "   {} {}", ink.help("help:"), self.help) }
    }
}

/// Plain with `{}`, in colour with `{:#}`.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.list.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            fmt::Display::fmt(diagnostic, f)?;
        }
        Ok(())
    }
}

/// Styles of a problem.
struct Ink {
    loud: Style,
    help: Style,
}

impl Ink {
    fn of(severity: Severity, colour: bool) -> Self {
        let of = |ink: AnsiColor| if colour { ink.on_default().bold() } else { Style::new() };
        let loud = match severity {
            Severity::Error => of(AnsiColor::Red),
            Severity::Warning => of(AnsiColor::Yellow),
        };
        Self { loud, help: of(AnsiColor::Cyan) }
    }

    fn loud(&self, words: &str) -> String {
        format!("{0}{words}{0:#}", self.loud)
    }

    fn help(&self, words: &str) -> String {
        format!("{0}{words}{0:#}", self.help)
    }
}

impl std::error::Error for Diagnostics {}

impl std::error::Error for Diagnostic {}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Self { list: vec![one] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_that_differ_in_numbers_alone_stand_once() {
        let mut problems = Problems::default();
        let place = perhop_core::params::Place { start: 1, end: 3 };
        let mut say = |words: [&str; 2]| {
            problems.error("E001", place, words[0]).label(words[1]).help("help");
        };
        say(["`S1 -> P` is 10kB", "above 5%"]);
        say(["`S2 -> P` is 1.5MB", "above 55%"]);
        say(["`S2 -> P` is 1.5MB", "above 55%"]);
        say(["`T2 -> P` is 1.5MB", "above 55%"]);
        say(["`T2 -> P` is 1.5MB", ""]);
        say(["`T2 -> P` is 2MB", ""]);
        let list = Diagnostics::new(problems, &Sources::default()).list;
        let said: Vec<_> = list.iter().map(|d| (d.message.as_str(), d.label.as_str())).collect();
        let first = ("`S1 -> P` is 10kB", "above 5%; the first of 2 like this");
        let others = [("`T2 -> P` is 1.5MB", "above 55%"), ("`T2 -> P` is 1.5MB", "the first of 2 like this")];
        assert_eq!(said, [first, others[0], others[1]]);
    }

    #[test]
    fn lines_with_one_cause_are_one_problem() {
        let by_cause = |lines: &[(&str, &str)]| {
            let (mut problems, mut sources) = (Problems::default(), Sources::default());
            sources.add("a.cfg", &"words\n".repeat(lines.len()));
            for (i, (message, help)) in lines.iter().enumerate() {
                problems
                    .warn("W401", perhop_core::params::Place { start: 6 * i, end: 6 * i + 5 }, *message)
                    .help(*help);
            }
            let list = Diagnostics::new(problems, &sources).by_cause().list;
            list.into_iter().map(|it| (it.message, it.label)).collect::<Vec<_>>()
        };
        let one = |message: &str, label: &str| (message.to_owned(), label.to_owned());
        let same = by_cause(&[("class `1:a` gets 3bit", "less"), ("else", ""), ("class `1:b` gets 4bit", "less")]);
        assert_eq!(same, [one("class `1:a` gets 3bit", "the first of 2 lines like this: 1, 3"), one("else", "")]);
        // Each has a line of its own to be written, and few are all shown.
        assert_eq!(by_cause(&[("burst 3B", "4B"), ("burst 5B", "6B")]).len(), 2);
        let many: Vec<_> = ["1", "2", "3", "4"].map(|help| ("burst 3B", help)).into();
        assert_eq!(by_cause(&many), [one("burst 3B", "the first of 4 lines like this: 1, 2, 3, 4")]);
    }

    #[test]
    fn a_line_of_blanks_is_not_shown() {
        let (mut problems, mut sources) = (Problems::default(), Sources::default());
        sources.add("a.cfg", "    \nset  \n");
        for (start, end, message) in [(0, 4, "unknown"), (5, 8, "not taken")] {
            problems.error("E001", perhop_core::params::Place { start, end }, message).help("help");
        }
        let said = Diagnostics::new(problems, &sources).to_string();
        assert!(said.contains("a.cfg:1:1") && !said.contains("1 |") && said.contains("2 | set\n"), "{said}");
    }
}
