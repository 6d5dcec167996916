//! Commands for tc as they are typed.

use super::words::{Device, Object, Refusal, Statement, Taken, Token, Verb, Words, span};

/// What a command asks.
#[derive(Debug)]
pub(super) enum Command<'a> {
    /// Something is altered.
    Alters(Statement<'a>),
    /// Something is printed: what follows is of this interface, and filters are at this place.
    Shows(Device<'a>, Option<Token<'a>>),
    /// Nothing about queues.
    Other,
}

/// A simple command whose first word is `tc`.
///
/// # Errors
/// What tc would refuse at once.
pub(super) fn parse<'a>(all: &[Token<'a>], namespace: &str) -> Taken<Command<'a>> {
    let mut rest = Words::new(&all[1..]);
    let mut namespace = namespace.to_owned();
    while let Some(option) = rest.peek().filter(|it| it.text.starts_with('-')) {
        rest.next();
        match option.text.trim_start_matches('-') {
            "n" | "net" | "netns" => namespace = rest.value(option)?.text.to_string(),
            "b" | "batch" | "cf" | "conf" => _ = rest.next(),
            _ => {}
        }
    }
    let Some(word) = rest.next() else { return Ok(Command::Other) };
    let Some(object) = object(&word.text) else { return none(word, rest.peek()) };
    let verb = match rest.next() {
        Some(word) => {
            verb(&word.text).ok_or_else(|| Refusal::at(word, format!("tc knows no command `{}`", word.text)))?
        }
        None => Verb::Shown,
    };
    let (device, place, words) = device(rest, namespace, verb);
    if verb == Verb::Shown {
        return Ok(Command::Shows(device, place));
    }
    Ok(Command::Alters(Statement { object, verb, device, words, place: span(all), lines: lines(all) }))
}

/// The numbers of the lines of words, each once.
pub(super) fn lines(words: &[Token<'_>]) -> Vec<usize> {
    let mut lines: Vec<_> = words.iter().map(|it| it.line).collect();
    lines.dedup();
    lines
}

/// A word in the place of an object that is none of those that hold queues.
///
/// # Errors
/// Something is to be made or altered.
fn none<'a>(word: &Token<'a>, next: Option<&Token<'a>>) -> Taken<Command<'a>> {
    let alters = next.is_some_and(|it| it.text.len() > 2 && verb(&it.text).is_some_and(|verb| verb != Verb::Shown));
    if !alters || matches!(&*word.text, "chain" | "exec" | "monitor") {
        return Ok(Command::Other);
    }
    let message = format!("tc knows no object `{}`", word.text);
    Err(Refusal::at(word, message).instead("qdisc, class, filter or actions"))
}

/// The word that names the interface is taken out; the place is that of filters to be shown.
fn device<'a>(
    mut rest: Words<'_, 'a>,
    namespace: String,
    verb: Verb,
) -> (Device<'a>, Option<Token<'a>>, Vec<Token<'a>>) {
    let (mut device, mut place, mut words) = (Device { namespace, name: None }, None, Vec::new());
    while let Some(word) = rest.next() {
        match &*word.text {
            "dev" if device.name.is_none() => device.name = rest.next().cloned(),
            "parent" if verb == Verb::Shown => place = rest.next().cloned(),
            "root" | "ingress" | "egress" if verb == Verb::Shown => place = Some(word.clone()),
            _ => words.push(word.clone()),
        }
    }
    (device, place, words)
}

/// tc takes beginnings of its words.
fn object(word: &str) -> Option<Object> {
    let starts = |whole: &str| !word.is_empty() && whole.starts_with(word);
    match word {
        _ if starts("qdisc") => Some(Object::Qdisc),
        _ if starts("class") => Some(Object::Class),
        _ if starts("filter") => Some(Object::Filter),
        _ if word.len() > 2 && starts("actions") => Some(Object::Action),
        _ => None,
    }
}

fn verb(word: &str) -> Option<Verb> {
    let starts = |whole: &str| !word.is_empty() && whole.starts_with(word);
    match word {
        _ if starts("add") => Some(Verb::Add),
        _ if starts("change") => Some(Verb::Change),
        _ if starts("replace") || starts("link") => Some(Verb::Replace),
        _ if starts("delete") || starts("flush") => Some(Verb::Delete),
        _ if ["list", "show", "lst", "get", "help", "dev", "ls"].iter().any(|it| it.starts_with(word)) => {
            Some(Verb::Shown)
        }
        _ => None,
    }
}

/// Whether words begin a line of `tc -batch`.
pub(super) fn is_batch(words: &[&str]) -> bool {
    matches!(words, ["qdisc" | "class" | "filter", "add" | "change" | "replace" | "del" | "delete", ..])
}
