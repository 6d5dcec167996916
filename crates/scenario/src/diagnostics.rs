//! Problems as a person reads them: code, place, line, caret, reason, way out; and as JSON.

use crate::source::{Sources, Spot};
use perhop_core::params::{Problem, Problems, Severity};
use std::fmt;

/// Column at which the place stands in a heading.
const PLACE_COLUMN: usize = 58;

/// One problem with its place looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable code; [`crate::codes::TABLE`] has its meaning.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The file.
    pub file: String,
    /// Where in it, or in an override; `None` when it is about the file as a whole.
    pub spot: Option<Spot>,
    /// Words under the caret.
    pub label: String,
    /// The way out.
    pub help: String,
}

/// All problems of a file, errors and warnings in the order of their places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    /// Errors and warnings.
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Looks up the places of `problems`; what was found twice stands once.
    pub fn new(problems: Problems, sources: &Sources) -> Self {
        let mut found: Vec<Problem> = Vec::new();
        for problem in problems.list {
            if !found.contains(&problem) {
                found.push(problem);
            }
        }
        found.sort_by_key(|p| p.place.map_or(0, |place| place.start));
        Self { list: found.into_iter().map(|p| Diagnostic::new(p, sources)).collect() }
    }

    /// A file that could not even be read as text.
    pub fn of_file(file: &str, code: &'static str, what: [String; 2]) -> Self {
        let [message, help] = what;
        let severity = Severity::Error;
        Self {
            list: vec![Diagnostic {
                severity,
                code,
                message,
                file: file.into(),
                spot: None,
                label: String::new(),
                help,
            }],
        }
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
        let count = |n: usize, noun: &str| match n {
            0 => None,
            1 => Some(format!("1 {noun}")),
            _ => Some(format!("{n} {noun}s")),
        };
        let parts = [count(self.errors(), "error"), count(self.warnings(), "warning")];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// One object a problem: code, severity, message, file, line, column, label, help.
    pub fn to_json(&self) -> serde_json::Value {
        self.list.iter().map(Diagnostic::to_json).collect()
    }
}

impl Diagnostic {
    fn new(problem: Problem, sources: &Sources) -> Self {
        let Problem { severity, code, place, message, label, help } = problem;
        let spot = place.filter(|p| p.end > p.start).and_then(|p| sources.spot(p));
        Self { severity, code, message, file: sources.file().to_owned(), spot, label, help }
    }

    /// See [`Diagnostics::to_json`]; what is not known is null.
    pub fn to_json(&self) -> serde_json::Value {
        let file = self.spot.as_ref().map_or(&self.file, |s| &s.name);
        serde_json::json!({
            "severity": self.severity_name(), "code": self.code, "message": self.message, "file": file,
            "line": self.spot.as_ref().map(|s| s.line), "column": self.spot.as_ref().map(|s| s.column),
            "label": self.label, "help": self.help,
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
            Some(spot) => format!("{}:{}:{}", spot.name, spot.line, spot.column),
            None => self.file.clone(),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = format!("{}[{}] {}", self.severity_name(), self.code, self.message);
        writeln!(f, "{heading:PLACE_COLUMN$} {}", self.place())?;
        if let Some(spot) = &self.spot {
            let number = spot.line.to_string();
            writeln!(f, "{number} | {}", spot.text)?;
            let caret = format!("{}{}", " ".repeat(spot.column - 1), "^".repeat(spot.width));
            writeln!(f, "{} | {}", " ".repeat(number.len()), format!("{caret} {}", self.label).trim_end())?;
        } else if !self.label.is_empty() {
            writeln!(f, "   {}", self.label)?;
        }
        if self.help.is_empty() { Ok(()) } else { writeln!(f, "   help: {}", self.help) }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.list.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
