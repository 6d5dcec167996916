//! What is wrong with a file: code, place, reason, fix.

use super::class_name::{ClassName, sentence};
use super::{Kind, Node, ParamError, Place, Tree};
use crate::units::{UnitError, UnitFault};
use std::borrow::Cow;

/// Whether a [`Problem`] stops the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The run may continue.
    Warning,
    /// It may not.
    Error,
}

/// One fault of a file: what, where, why, and the suggested fix.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Error or warning.
    pub severity: Severity,
    /// Stable code, documented in `docs/reference/diagnostics.md`.
    pub code: &'static str,
    /// Where; `None` when it is about the file as a whole.
    pub place: Option<Place>,
    /// What is wrong; [`CLASS`](super::CLASS) stands for the class.
    pub message: String,
    /// The class that it is about.
    pub class: Option<ClassName>,
    /// Words under the caret.
    pub label: String,
    /// The suggested fix.
    pub help: String,
}

impl Problem {
    /// A problem without label and help; without `place` it concerns the file as a whole.
    pub fn new(
        severity: Severity,
        code: &'static str,
        place: impl Into<Option<Place>>,
        message: impl Into<String>,
    ) -> Self {
        let (place, message) = (place.into(), message.into());
        Self { severity, code, place, message, class: None, label: String::new(), help: String::new() }
    }

    /// What is wrong, with the name of the class.
    pub fn sentence(&self) -> Cow<'_, str> {
        sentence(&self.message, self.class.as_ref())
    }
}

/// The problem just added, to which a label and help may be added.
pub struct Report<'a>(&'a mut Problem);

impl Report<'_> {
    /// The class that it is about.
    pub fn of_class(self, class: impl Into<Option<ClassName>>) -> Self {
        self.0.class = class.into();
        self
    }

    /// Words under the caret.
    pub fn label(self, label: impl Into<String>) -> Self {
        self.0.label = label.into();
        self
    }

    /// The suggested fix.
    pub fn help(self, help: impl Into<String>) -> Self {
        self.0.help = help.into();
        self
    }

    /// `None`: what a reader returns once it has reported why it cannot read.
    pub fn none<T>(self) -> Option<T> {
        None
    }
}

/// Everything found so far, and the section that is being read.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    /// In the order found.
    pub list: Vec<Problem>,
    /// Section names from the outside in: `conditioner`, `marker`.
    pub path: Vec<String>,
}

impl Problems {
    /// Adds an error; the [`Report`] adds to it.
    pub fn error(
        &mut self,
        code: &'static str,
        place: impl Into<Option<Place>>,
        message: impl Into<String>,
    ) -> Report<'_> {
        self.add(Problem::new(Severity::Error, code, place, message))
    }

    /// Adds a warning.
    pub fn warn(
        &mut self,
        code: &'static str,
        place: impl Into<Option<Place>>,
        message: impl Into<String>,
    ) -> Report<'_> {
        self.add(Problem::new(Severity::Warning, code, place, message))
    }

    fn add(&mut self, problem: Problem) -> Report<'_> {
        self.list.push(problem);
        Report(self.list.last_mut().expect("it was just added"))
    }

    /// Whether anything found forbids a run.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|p| p.severity == Severity::Error)
    }

    /// Reads something inside a named section.
    pub fn within<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name.to_owned());
        let out = read(self);
        self.path.pop();
        out
    }

    /// `[conditioner.marker]`, or "the file" at the top.
    pub fn section(&self) -> String {
        if self.path.is_empty() { "the file".to_owned() } else { format!("[{}]", self.path.join(".")) }
    }

    /// A value of another type than its key takes.
    pub fn wrong_type<T>(&mut self, node: &Node, kind: &Kind) -> Option<T> {
        let message = format!("expected {}, found {}", kind.noun(), node.tree.noun());
        let help = match (kind, &node.tree) {
            (Kind::Integer, Tree::Float(_)) => "write it without a decimal point, as in 10".into(),
            _ => kind.help(),
        };
        self.error("E003", node.place, message).help(help).none()
    }

    /// A quantity that could not be read.
    pub fn unit<T>(&mut self, node: &Node, error: UnitError) -> Option<T> {
        self.error(unit_code(error.fault), node.place, error.message).help(error.help).none()
    }

    /// A parameter whose value its algorithm refuses.
    pub fn param(&mut self, error: &ParamError, place: Place) -> Report<'_> {
        let report = self.error(error.code, place, &error.message).of_class(error.class.clone());
        report.label(&error.label).help(&error.help)
    }

    /// A parameter that runs, but probably not as intended.
    pub fn advise(&mut self, advice: &ParamError, place: Place) {
        let report = self.warn(advice.code, place, &advice.message).of_class(advice.class.clone());
        report.label(&advice.label).help(&advice.help);
    }

    /// One of a list of names, or an error with the nearest one.
    pub fn choice(&mut self, node: &Node, names: &'static [&'static str]) -> Option<&'static str> {
        let Tree::Text(text) = &node.tree else { return self.wrong_type(node, &Kind::Choice(names)) };
        match names.iter().find(|n| *n == text) {
            Some(name) => Some(name),
            None => {
                let message = format!("unknown name `{text}`");
                self.error("E006", node.place, message).help(suggest(text, names)).none()
            }
        }
    }
}

/// The diagnostic code of a unit fault.
pub fn unit_code(fault: UnitFault) -> &'static str {
    match fault {
        UnitFault::Missing => "E103",
        UnitFault::Wrong => "E105",
        UnitFault::Ambiguous => "E106",
        UnitFault::Syntax => "E107",
        UnitFault::Range => "E108",
    }
}

/// Most names that a message lists.
const LISTED: usize = 40;

/// Shortest name that is known although a letter is missing.
const KNOWN_BY: usize = 3;

/// How much a text is like a name: above [`MEANT`] it is probably meant. A letter too many or missing, or two that have changed
/// places, count for more than all else; a wrong one would make most names of three letters alike. A name of half as many letters
/// or twice as many is only meant if it begins so.
fn likeness(text: &str, name: &str) -> f64 {
    let is_far = text.len().min(name.len()) * 2 <= text.len().max(name.len());
    if is_far && (text.len() < KNOWN_BY || !name.starts_with(text)) {
        return 0.0;
    }
    let is_other = text.len() == name.len() && strsim::levenshtein(text, name) == 1;
    let slip = text.len().min(name.len()) >= KNOWN_BY && strsim::osa_distance(text, name) == 1 && !is_other;
    strsim::jaro_winkler(text, name) + f64::from(u8::from(slip))
}

/// See [`likeness`].
const MEANT: f64 = 0.8;

/// What [`suggest`] begins with where a name is near.
pub const NEAREST: &str = "did you mean ";

/// "did you mean `x`?" for the nearest name, else all of them, or the first of very many.
pub fn suggest(text: &str, names: &[&str]) -> String {
    let near = names.iter().map(|name| (likeness(text, name), *name)).max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((likeness, name)) if likeness > MEANT => format!("{NEAREST}`{name}`?"),
        _ if names.is_empty() => "there is none to name here".to_owned(),
        _ if names.len() <= LISTED => format!("valid names: {}", names.join(", ")),
        _ => format!("valid names: {} and {} more", names[..LISTED].join(", "), names.len() - LISTED),
    }
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn a_slip_of_the_fingers_is_known() {
        let keys = ["cir", "cbs", "ebs", "colour-aware", "at", "match", "per"];
        for (text, name) in
            [("cri", "cir"), ("icr", "cir"), ("ccir", "cir"), ("bcs", "cbs"), ("color-aware", "colour-aware")]
        {
            assert_eq!(suggest(text, &keys), format!("did you mean `{name}`?"), "{text}");
        }
        for text in ["rate", "ab", "xyz", "crr", ""] {
            assert!(suggest(text, &keys).starts_with("valid names: "), "{text}");
        }
        assert_eq!(suggest("A2", &["A1"]), "valid names: A1", "names of two letters");
    }
}
