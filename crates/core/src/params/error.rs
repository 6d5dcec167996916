//! A parameter that its algorithm refuses.

use super::class_name::{ClassName, sentence};
use std::borrow::Cow;
use std::fmt;

/// A parameter that an algorithm refuses: names field, value, bound and fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// The offending key.
    pub field: &'static str,
    /// Stable code.
    pub code: &'static str,
    /// What is wrong; [`CLASS`](super::CLASS) stands for the class.
    pub message: String,
    /// The class that it is about.
    pub class: Option<ClassName>,
    /// Words under the caret.
    pub label: String,
    /// The suggested fix.
    pub help: String,
}

impl ParamError {
    /// An error on `field`.
    pub fn new(field: &'static str, code: &'static str, message: String) -> Self {
        Self { field, code, message, class: None, label: String::new(), help: String::new() }
    }

    /// New parameters that belong to another algorithm.
    pub fn other_kind() -> Self {
        Self::new("kind", "E202", "a running algorithm cannot become another".into())
            .help("a timed change may change parameters, not `kind` or `aqm`")
    }

    /// With a suggested fix.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// With words under the caret.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// About a class.
    pub fn of_class(mut self, class: impl Into<Option<ClassName>>) -> Self {
        self.class = class.into();
        self
    }

    /// What is wrong, with the name of the class.
    pub fn sentence(&self) -> Cow<'_, str> {
        sentence(&self.message, self.class.as_ref())
    }

    /// # Errors
    /// E201 unless `value >= least`.
    pub fn at_least<T: PartialOrd + fmt::Display>(field: &'static str, value: T, least: T) -> Result<(), Self> {
        if value >= least {
            return Ok(());
        }
        Err(Self::new(field, "E201", format!("`{field}` is {value}")).help(format!("must be at least {least}")))
    }

    /// # Errors
    /// E201 if `value` is its type's zero.
    pub fn above_zero<T: PartialOrd + Default + fmt::Display>(field: &'static str, value: T) -> Result<(), Self> {
        if value > T::default() {
            return Ok(());
        }
        Err(Self::new(field, "E201", format!("`{field}` is {value}")).help("must be above 0"))
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.code, self.sentence(), self.help)
    }
}

impl std::error::Error for ParamError {}
