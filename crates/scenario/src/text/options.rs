//! What the command line adds to a file.

use perhop_core::classify::Match;
use perhop_sim::traffic::capture::{CaptureReader, Contents, Fault};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One `KEY=VALUE`, or `KEY=A,B,C`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, String)", into = "(String, String)")]
pub struct Override {
    /// How it was given, for messages: `-s`, `--seed`; Python's `overrides`.
    pub flag: String,
    /// `traffic.bulk.flows=20`, `@red.max-p=0.1`
    pub text: String,
}

impl From<(String, String)> for Override {
    fn from((flag, text): (String, String)) -> Self {
        Self { flag, text }
    }
}

impl From<Override> for (String, String) {
    fn from(it: Override) -> Self {
        (it.flag, it.text)
    }
}

/// The host's reader of captures that traffic replays, if it has one.
#[derive(Clone, Copy, Default)]
pub struct Captures(Option<&'static dyn CaptureReader>);

impl Captures {
    /// The host's reader.
    pub fn read_by(reader: &'static dyn CaptureReader) -> Self {
        Self(Some(reader))
    }

    /// Whether a file that begins with these bytes is a capture that could be read.
    pub fn recognise(self, start: &[u8]) -> bool {
        self.0.is_some_and(|reader| reader.recognises(start))
    }

    /// The packets of a file that match.
    ///
    /// # Errors
    /// Those of the reader; there is none.
    pub fn read(self, file: &str, matches: &Match) -> Result<Contents, Fault> {
        let none = || ["no captures can be read here".to_owned(), "run it where perhop reads files".to_owned()];
        self.0.ok_or_else(none)?.read(file, matches)
    }
}

/// Whoever reads them, they hold the same.
impl PartialEq for Captures {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Captures {}

impl fmt::Debug for Captures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Captures(reader)" } else { "Captures(none)" })
    }
}

/// How to read a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The file's name, for messages; without its ending it is the default of `name`.
    pub file_name: String,
    /// Applied in order, before anything is checked.
    pub overrides: Vec<Override>,
    /// Axes of a sweep, `key=a,b,c`; each replaces the file's axis of that key.
    pub vary: Vec<Override>,
    /// For a text whose lines are `KEY = VALUE`: the parts of each key, which messages name in place of lines.
    pub keys: Vec<Vec<String>>,
    /// Who reads the captures that it names. No part of what is asked: each host has its own.
    #[serde(skip)]
    pub captures: Captures,
}

impl Options {
    /// For a file of this name.
    pub fn new(file_name: &str) -> Self {
        Self { file_name: file_name.to_owned(), ..Self::default() }
    }

    /// With captures read by `reader`.
    pub fn captures(self, reader: &'static dyn CaptureReader) -> Self {
        Self { captures: Captures::read_by(reader), ..self }
    }

    /// Adds `-s KEY=VALUE`.
    pub fn set(self, text: &str) -> Self {
        self.set_by("-s", text)
    }

    /// Adds `KEY=VALUE`, which was given as `flag`.
    pub fn set_by(self, flag: &str, text: &str) -> Self {
        self.flag(flag, text.to_owned())
    }

    /// Adds `--duration`, `--warmup`, `--seed` or `--replications`: a key of `[scenario]`.
    pub fn setting(self, key: &str, value: &str) -> Self {
        self.flag(&format!("--{key}"), format!("scenario.{key}={value}"))
    }

    /// Adds `--queue` or `--link`: a key of `[policy]`.
    pub fn of_policy(self, key: &str, value: &str) -> Self {
        self.flag(&format!("--{key}"), format!("policy.{key}={value}"))
    }

    /// Adds `--vary KEY=A,B,C`.
    pub fn vary(self, text: &str) -> Self {
        self.axis("--vary", text)
    }

    /// Adds `KEY=A,B,C`, which was given as `flag`.
    pub fn axis(mut self, flag: &str, text: &str) -> Self {
        self.vary.push(Override { flag: flag.to_owned(), text: text.to_owned() });
        self
    }

    fn flag(mut self, flag: &str, text: String) -> Self {
        self.overrides.push(Override { flag: flag.to_owned(), text });
        self
    }

    /// The file's name without directories and ending.
    pub fn stem(&self) -> String {
        let stem = std::path::Path::new(&self.file_name).file_stem();
        stem.map_or_else(|| "scenario".to_owned(), |s| s.to_string_lossy().into_owned())
    }
}
