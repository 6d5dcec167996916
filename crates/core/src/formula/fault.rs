//! Where and why a formula is wrong.

/// A stretch of a formula's text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// First byte.
    pub start: usize,
    /// One past the last.
    pub end: usize,
}

/// What is wrong with a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Stable code.
    pub code: &'static str,
    /// Where in its text.
    pub at: Stretch,
    /// What is wrong.
    pub message: String,
    /// Words under the caret.
    pub label: String,
    /// The suggested fix.
    pub help: String,
}

impl Fault {
    /// A fault without label and help.
    pub fn new(code: &'static str, at: Stretch, message: impl Into<String>) -> Self {
        Self { code, at, message: message.into(), label: String::new(), help: String::new() }
    }

    /// It is not an expression.
    pub fn syntax(at: Stretch, message: impl Into<String>) -> Self {
        Self::new("E340", at, message)
    }

    /// Its units do not agree.
    pub fn units(at: Stretch, message: impl Into<String>) -> Self {
        Self::new("E341", at, message)
    }

    /// With words under the caret.
    pub fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// With a suggested fix.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: help.into(), ..self }
    }
}
