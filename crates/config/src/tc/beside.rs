//! What stands on a line beside tc's commands: a password for `sudo -S`, another command, a comment. None of it is shown.

use super::lines::before;
use crate::text::{Line, Text};
use perhop_core::params::Place;
use std::collections::BTreeMap;

/// By the number of its line, the places of a command's words; none: the command is in a text for another program.
pub(super) type Own = BTreeMap<usize, Vec<Place>>;

/// Words after a command that say nothing of anybody.
const PLAIN: [&str; 8] = ["\\", "true", "exit", "fi", "done", "}", "2>/dev/null", "2>&1"];
/// What a command in a text for another program begins with: an object and a verb.
const NESTED: [[&str; 3]; 2] = [["qdisc ", "class ", "filter "], ["add ", "replace ", "change "]];

/// The places of what is not tc's on the lines of commands, in their order.
pub(super) fn places(text: &Text, own: &Own) -> Vec<Place> {
    let mut out = Vec::new();
    for line in text.lines() {
        let Some(own) = own.get(&line.number) else { continue };
        let mut own = if own.is_empty() { nested(line).into_iter().collect() } else { own.clone() };
        own.sort_by_key(|place| place.start);
        let (mut at, end) = (line.start, line.start + line.text.len());
        let mut first = true;
        for place in own.into_iter().chain([Place { start: end, end }]) {
            let start = place.start.max(at);
            out.extend(beside(line, Place { start: at, end: start }, first));
            (at, first) = (place.end.max(at), false);
        }
    }
    out
}

/// What is hidden of a part of a line; before the first command, what leads to it stays.
fn beside(line: Line<'_>, part: Place, first: bool) -> Option<Place> {
    let text = &line.text[part.start - line.start..part.end - line.start];
    let sign = |word: &str| word.chars().all(|c| matches!(c, ';' | '&' | '|' | '(' | ')'));
    let number = |word: &str| word.trim_end_matches([':', ')', '.', '|']).bytes().all(|byte| byte.is_ascii_digit());
    let plain = |word: &&str| before(word) || sign(word) || number(word) || PLAIN.contains(word);
    let other = text.split_whitespace().rev().find(|word| !plain(word))?;
    let end = other.as_ptr() as usize - text.as_ptr() as usize + other.len();
    // Nor the signs between it and the command.
    let signs = text[end..].split_whitespace().take_while(|word| sign(word)).last();
    let end = signs.map_or(end, |word| word.as_ptr() as usize - text.as_ptr() as usize + word.len());
    Some(Place { start: part.start, end: if first { part.start + end } else { part.end } })
}

/// The command in a text for another program, up to where that may end.
fn nested(line: Line<'_>) -> Option<Place> {
    let starts = NESTED[0].iter().flat_map(|object| NESTED[1].iter().map(move |verb| format!("{object}{verb}")));
    let at = starts.filter_map(|start| line.text.find(&start)).min()?;
    let rest = &line.text[at..];
    let length = rest.find(['"', '\'', ';', '&', '|', '`', '#']).unwrap_or(rest.len());
    Some(Place { start: line.start + at, end: line.start + at + length })
}
