//! Loops that the text says all of: `for i in 10 20 30; do .. done`, `for ((i = 1; i < 5; i++))`, `while [ $i -lt 5 ]`.

use super::lexer::{Lexer, OPERATORS};
use super::variables::{Commands, Variables};
use crate::tc::words::Token;
use crate::text::Line;
use std::vec::IntoIter;

/// Words with which loops begin.
pub(in crate::tc) const BEGINS: &[&str] = &["for", "while", "until", "select"];
/// Words behind the head of a loop.
pub(in crate::tc) const BEHIND: &[&str] = &["do", "for", "while", "until", "select"];

/// A loop whose lines are being read.
#[derive(Debug)]
pub(in crate::tc) struct Loop<'a> {
    /// `for`: its variable, which has no value if the loop is cut off.
    pub(in crate::tc) name: String,
    /// The values that are left; `None`: one that is not known.
    values: IntoIter<Option<String>>,
    /// `while`, `until`: what stands before `do`.
    pub(in crate::tc) condition: Option<Line<'a>>,
    /// The words of the condition in the last turn.
    last: Vec<Token<'a>>,
    /// What is done in each turn.
    pub(in crate::tc) lines: Vec<Line<'a>>,
    /// How often `do` is without its `done`.
    open: usize,
}

/// A line up to a command behind its first that begins with one of these words, and from there on.
pub(in crate::tc) fn in_two<'a>(line: Line<'a>, words: &[&str]) -> [Line<'a>; 2] {
    let all = line.text.len();
    // Behind the first command is an operator.
    let searched = if line.text.bytes().any(|byte| OPERATORS.contains(&char::from(byte))) { all } else { 0 };
    let behind = Lexer::new(line.part(0, searched)).skip(1).find(|it| it.leads(words));
    let at = behind.map_or(all, |it| it.place.start - line.start);
    [line.part(0, at), line.part(at, all)]
}

impl<'a> Loop<'a> {
    /// The loop that a head begins, with so many of its values at most; `None`: the text does not say its values.
    pub(in crate::tc) fn begin(head: Line<'a>, variables: &Variables, most: usize) -> Option<Self> {
        let is_for = head.text.starts_with("for");
        let (name, mut values) = match is_for {
            true => counted(head.text, variables, most).or_else(|| listed(head, variables, most))?,
            false => holds(&words(head, variables)).map(|_| Default::default())?,
        };
        if values.is_empty() {
            values.push(None);
        }
        let (condition, values) = (Some(head).filter(|_| !is_for), values.into_iter());
        Some(Self { name, values, condition, last: Vec::new(), lines: Vec::new(), open: 0 })
    }

    /// What follows the head, line by line; what stands behind its `done`.
    pub(in crate::tc) fn line(&mut self, line: Line<'a>) -> Option<Line<'a>> {
        let (mut from, all) = (0, line.text.len());
        let done = Lexer::new(line).find(|piece| {
            let is_last = piece.leads(&["done"]) && self.open <= 1;
            if piece.leads(&["do"]) {
                from = if self.open == 0 { piece.place.end - line.start } else { from };
                self.open += 1;
            } else if piece.leads(&["done"]) && !is_last {
                self.open -= 1;
            }
            is_last
        });
        let to = done.map_or(all, |it| it.place.start - line.start);
        self.lines.extend(Some(line.part(from, to)).filter(|it| !it.text.is_empty()));
        let rest = line.text[done?.place.end - line.start..].trim_start_matches([';', '&', '|', ' ', '\t']);
        Some(line.part(all - rest.len(), all))
    }

    /// Whether there is another turn.
    pub(in crate::tc) fn goes_on(&self, variables: &Variables) -> bool {
        let is_met = |head| holds(&words(head, variables)) == Some(true) && !self.is_stuck(variables);
        self.condition.map_or(self.values.len() > 0, is_met)
    }

    /// Begins another turn.
    pub(in crate::tc) fn turn(&mut self, variables: &mut Variables) {
        match self.condition {
            Some(head) => self.last = words(head, variables),
            None => variables.set(&self.name, self.values.next().flatten()),
        }
    }

    /// Whether the last turn altered nothing that the condition asks.
    pub(in crate::tc) fn is_stuck(&self, variables: &Variables) -> bool {
        self.condition.is_some_and(|head| words(head, variables) == self.last)
    }
}

/// A variable with its values.
type Known = (String, Vec<Option<String>>);

/// `for i in 10 20 30`
fn listed(head: Line<'_>, variables: &Variables, most: usize) -> Option<Known> {
    let words = words(head, variables);
    let [_, name, of, values @ ..] = &words[..] else { return None };
    let is_known = of.text == "in" && values.iter().all(|it| !it.unset);
    let values = || values.iter().flat_map(|it| expanded(&it.text)).take(most).map(Some).collect();
    is_known.then(|| (name.text.to_string(), values()))
}

/// `for ((i = 1; i <= 5; i++))`; without values, if it counts in another way.
fn counted(head: &str, variables: &Variables, most: usize) -> Option<Known> {
    let inner = head.strip_prefix("for")?.trim_start().strip_prefix("((")?.split("))").next()?;
    let inner: String = inner.split_whitespace().collect();
    let name = inner.split('=').next()?;
    let values = || {
        let [start, end, step] = inner.split(';').collect::<Vec<_>>()[..] else { return None };
        let number = |text| variables.sum(text);
        let from = number(start.strip_prefix(name)?.strip_prefix('=')?)?;
        let end = end.strip_prefix(name)?.strip_prefix('<')?;
        let to = end.strip_prefix('=').map_or_else(|| number(end)?.checked_sub(1), number)?;
        let step = step.strip_prefix(name).or_else(|| step.strip_suffix(name))?.replace("++", "+=1");
        let by = usize::try_from(number(step.strip_prefix("+=")?)?).ok().filter(|by| *by > 0)?;
        Some((from..=to).step_by(by).take(most).map(|number| Some(number.to_string())).collect())
    };
    Some((name.to_owned(), values().unwrap_or_default()))
}

/// The words of a head, with the values that variables have.
fn words<'a>(head: Line<'a>, variables: &Variables) -> Vec<Token<'a>> {
    Commands::new(head, Vec::new()).next(variables).unwrap_or_default()
}

/// Whether a condition holds: `while [ $i -lt 5 ]`; `None`: that is not known.
fn holds(words: &[Token<'_>]) -> Option<bool> {
    let [first, "[" | "[[", a, sign, b, "]" | "]]"] = words.iter().map(|it| &*it.text).collect::<Vec<_>>()[..] else {
        return None;
    };
    let order = a.parse::<i64>().ok()?.cmp(&b.parse().ok()?);
    let is = match sign {
        "-lt" => order.is_lt(),
        "-le" => order.is_le(),
        "-gt" => order.is_gt(),
        "-ge" => order.is_ge(),
        "-ne" => order.is_ne(),
        "-eq" => order.is_eq(),
        _ => return None,
    };
    Some(is == (first == "while"))
}

/// The values of a word: `{1..5}`, or the words in it.
fn expanded(word: &str) -> impl Iterator<Item = String> {
    let braces = word.strip_prefix('{').and_then(|it| it.strip_suffix('}')).and_then(|it| it.split_once(".."));
    let ends = braces.and_then(|(from, to)| Some((from.parse::<i64>().ok()?, to.parse::<i64>().ok()?)));
    let numbers = ends.into_iter().flat_map(|(from, to)| from..=to).map(|number| number.to_string());
    let words = if ends.is_some() { "" } else { word };
    numbers.chain(words.split_whitespace().map(str::to_owned))
}
