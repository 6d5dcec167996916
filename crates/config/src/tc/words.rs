//! Words of a text, and the statements that they make.

use perhop_core::params::Place;
use std::borrow::Cow;

/// A word, as tc reads it: without quotes, with shell variables put in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// Its characters.
    pub(super) text: Cow<'a, str>,
    /// Where it is written.
    pub(super) place: Place,
    /// The number of its line.
    pub(super) line: usize,
    /// A shell variable in it that the text does not set.
    pub(super) unset: bool,
}

/// What a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// A queueing discipline.
    Qdisc,
    /// A class.
    Class,
    /// A filter.
    Filter,
    /// An action by itself.
    Action,
}

/// What happens to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Made, and refused if it exists.
    Add,
    /// Altered, and refused if it does not exist.
    Change,
    /// Made or altered.
    Replace,
    /// Removed.
    Delete,
    /// Printed by tc: it exists.
    Shown,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As a person types them for tc.
    Typed,
    /// As tc prints them, for people or as JSON in the same words.
    Shown,
}

/// The interface of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Device<'a> {
    /// Its network namespace; empty: the one of the caller.
    pub(super) namespace: String,
    /// Its name; `None`: the text does not say it.
    pub(super) name: Option<Token<'a>>,
}

/// A statement: one command, or one object that tc prints.
#[derive(Clone, Debug)]
pub(super) struct Statement<'a> {
    /// What it is about.
    pub(super) object: Object,
    /// What happens to it.
    pub(super) verb: Verb,
    /// The interface.
    pub(super) device: Device<'a>,
    /// All other words, without those that name the interface.
    pub(super) words: Vec<Token<'a>>,
    /// All of it.
    pub(super) place: Place,
    /// Its lines, as far as they say something.
    pub(super) lines: Vec<usize>,
}

impl Statement<'_> {
    /// How its numbers are written.
    pub(super) fn form(&self) -> Form {
        if self.verb == Verb::Shown { Form::Shown } else { Form::Typed }
    }
}

/// What tc or the kernel would refuse: why, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// What is wrong, with the value.
    pub(super) message: String,
    /// Where; `None`: all of the statement.
    pub(super) place: Option<Place>,
    /// What to write instead; empty: nothing is known.
    pub(super) instead: String,
}

impl Refusal {
    /// Of a word.
    pub(super) fn at(token: &Token<'_>, message: impl Into<String>) -> Self {
        Self { message: message.into(), place: Some(token.place), instead: String::new() }
    }

    /// Of a whole statement.
    pub(super) fn of(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None, instead: String::new() }
    }

    /// With what to write instead.
    pub(super) fn instead(mut self, instead: impl Into<String>) -> Self {
        self.instead = instead.into();
        self
    }
}

/// What is read, or why it is refused.
pub(super) type Taken<T> = Result<T, Refusal>;

/// Words that are read one after the other.
#[derive(Clone, Debug)]
pub(super) struct Words<'w, 'a> {
    list: &'w [Token<'a>],
}

impl<'w, 'a> Words<'w, 'a> {
    /// All of a list.
    pub(super) const fn new(list: &'w [Token<'a>]) -> Self {
        Self { list }
    }

    /// The next, which stays.
    pub(super) fn peek(&self) -> Option<&'w Token<'a>> {
        self.list.first()
    }

    /// The next.
    pub(super) fn next(&mut self) -> Option<&'w Token<'a>> {
        let (first, rest) = self.list.split_first()?;
        self.list = rest;
        Some(first)
    }

    /// The next, if it is this one.
    pub(super) fn take(&mut self, text: &str) -> Option<&'w Token<'a>> {
        self.peek().filter(|it| it.text == text)?;
        self.next()
    }

    /// The value after a word.
    ///
    /// # Errors
    /// The text ends before it.
    pub(super) fn value(&mut self, of: &Token<'_>) -> Taken<&'w Token<'a>> {
        self.next().ok_or_else(|| Refusal::at(of, format!("nothing follows `{}`", of.text)))
    }

    /// Those that are left.
    pub(super) const fn rest(&self) -> &'w [Token<'a>] {
        self.list
    }
}

/// From the first word to the last.
pub(super) fn span(words: &[Token<'_>]) -> Place {
    let start = words.iter().map(|word| word.place.start).min().unwrap_or_default();
    Place { start, end: words.iter().map(|word| word.place.end).max().unwrap_or_default() }
}
