//! Variables that a text sets, and the words that they make.

use super::bounds::{Room, VALUE};
use super::lexer::{Kind, Lexer, Piece};
use super::sums;
use crate::foreign::unquoted;
use crate::tc::words::Token;
use crate::text::Line;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Variables that a text sets.
#[derive(Debug, Default)]
pub(in crate::tc) struct Variables {
    values: HashMap<String, String>,
    /// What they may still add to the text.
    pub(in crate::tc) room: Room,
}

/// The simple commands of a line, one after the other, so that what one sets counts for the next.
#[derive(Debug)]
pub(in crate::tc) struct Commands<'a> {
    number: usize,
    pieces: Lexer<'a>,
    /// The words of one that goes on in the next line.
    pub(in crate::tc) open: Vec<Token<'a>>,
}

impl<'a> Commands<'a> {
    /// Of a line; its first command continues these words.
    pub(in crate::tc) const fn new(line: Line<'a>, open: Vec<Token<'a>>) -> Self {
        Self { number: line.number, pieces: Lexer::new(line), open }
    }

    /// The words of the next; `None` behind the last.
    pub(in crate::tc) fn next(&mut self, variables: &Variables) -> Option<Vec<Token<'a>>> {
        let mut word = None;
        for piece in self.pieces.by_ref() {
            match piece.kind {
                Kind::Joint => {
                    self.open.extend(word);
                    return None;
                }
                Kind::Blank | Kind::Aside => self.open.extend(word.take()),
                Kind::Operator if word.is_none() && self.open.is_empty() => {}
                Kind::Operator => break,
                _ => variables.add(
                    piece,
                    word.get_or_insert_with(|| Token { place: piece.place, line: self.number, ..Token::default() }),
                ),
            }
        }
        self.open.extend(word);
        Some(std::mem::take(&mut self.open)).filter(|words| !words.is_empty())
    }
}

impl Variables {
    /// None, with room for their values.
    pub(in crate::tc) fn within(room: Room) -> Self {
        Self { room, ..Self::default() }
    }

    /// Takes the assignments of a command, if it consists of nothing else: `DEV=eth0`, `export RATE=10mbit`.
    pub(in crate::tc) fn assign(&mut self, words: &[Token<'_>]) -> bool {
        let declares =
            |word: &Token<'_>| matches!(&*word.text, "export" | "local" | "readonly" | "declare" | "typeset");
        let words = if words.first().is_some_and(declares) { &words[1..] } else { words };
        let found: Option<Vec<_>> = words.iter().map(|word| assignment(&word.text)).collect();
        for (word, (name, value)) in words.iter().zip(found.iter().flatten()) {
            let is_known = !word.unset && self.room.holds(value.len());
            self.set(name, is_known.then(|| (*value).to_owned()));
        }
        found.is_some_and(|it| !it.is_empty())
    }

    /// Gives one a value; `None`: one that is not known.
    pub(in crate::tc) fn set(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => _ = self.values.insert(name.to_owned(), value),
            None => _ = self.values.remove(name),
        }
    }

    /// Takes the value from those that the head of a loop sets to what the text does not say: `for i in $LIST`, `while read a b`,
    /// `while [ $i -lt $N ]`.
    pub(in crate::tc) fn forget(&mut self, head: Line<'_>) {
        let mut sets = false;
        for piece in Lexer::new(head) {
            if sets || piece.kind == Kind::Expansion {
                self.set(name_of(piece.text), None);
            }
            sets |= matches!(piece.text, "for" | "select" | "read");
        }
    }

    /// Adds a piece to a word: what an expansion stands for, if that is known and no longer than a value may be.
    fn add<'a>(&self, piece: Piece<'a>, word: &mut Token<'a>) {
        let text = match piece.kind {
            Kind::Quote => "",
            Kind::Escape => &piece.text[1..],
            _ => piece.text,
        };
        word.place.end = piece.place.end;
        if piece.kind != Kind::Expansion {
            word.text += unquoted(text);
            return;
        }
        let value = self.value(text).filter(|value| self.room.takes(word.text.len(), value.len()));
        word.unset |= value.is_none();
        word.text.to_mut().push_str(&unquoted(&value.unwrap_or_else(|| unknown(text))));
    }

    /// What an expansion stands for.
    fn value(&self, raw: &str) -> Option<String> {
        let inner = |open, close| raw.strip_prefix(open)?.strip_suffix(close);
        if let Some(sum) = inner("$((", "))").or_else(|| inner("$[", "]")) {
            return self.sum(sum).map(|sum| sum.to_string());
        }
        if let Some(command) = inner("$(", ")").or_else(|| inner("`", "`")) {
            return self.output(command.trim());
        }
        let name = inner("${", "}").unwrap_or(&raw[1..]);
        let (name, default) = name.split_once(":-").or_else(|| name.split_once(":=")).unwrap_or((name, ""));
        self.values.get(name).cloned().or_else(|| (!default.is_empty()).then(|| default.to_owned()))
    }

    /// A sum of whole numbers.
    pub(super) fn sum(&self, text: &str) -> Option<i64> {
        sums::sum(text, &|name| self.values.get(name).map(String::as_str))
    }

    /// What a command prints, where that is known: `which tc`, `expr 3 \* 4`, `echo 5`.
    fn output(&self, command: &str) -> Option<String> {
        let (program, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        match (program, rest.trim()) {
            ("which" | "command" | "type", rest) => rest.split_whitespace().next_back().map(str::to_owned),
            ("seq", rest) => self.sequence(rest),
            ("expr", rest) => self.sum(&rest.replace('\\', "")).map(|sum| sum.to_string()),
            ("echo", rest) if !rest.contains(['|', '$']) => Some(rest.trim_matches(['"', '\'']).to_owned()),
            _ => None,
        }
    }

    /// Whole numbers up to one, or from one to another; `None` of more than a value holds.
    fn sequence(&self, ends: &str) -> Option<String> {
        let ends: Vec<i64> = ends.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let (to, from) = ends.split_last().filter(|_| ends.len() < 3)?;
        let mut out = String::new();
        for number in (from.first().copied().unwrap_or(1)..=*to).take(VALUE.most) {
            let _ = write!(out, "{number} ");
        }
        out.pop();
        self.room.holds(out.len()).then_some(out)
    }
}

/// `NAME=value`
pub(in crate::tc) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fit = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(named);
    fit.then_some((name, value))
}

/// What stands for an expansion whose value is not known: the name of a variable. What commands print has no name; each command
/// has a number, which says nothing of its words.
fn unknown(raw: &str) -> String {
    if raw.starts_with('`') || raw.starts_with("$(") {
        let hash = raw.bytes().fold(0xcbf2_9ce4_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        return format!("$({})", hash % 1000);
    }
    name_of(raw).to_owned()
}

/// Letters of an expansion that name something: `DEV` of `${DEV}`.
fn name_of(raw: &str) -> &str {
    raw.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::params::Place;

    fn of(text: &str) -> Commands<'_> {
        Commands::new(Line { number: 1, start: 4, text }, Vec::new())
    }

    fn words(text: &str, variables: &Variables) -> Vec<Vec<String>> {
        let texts = |it: Vec<Token<'_>>| it.iter().map(|word| word.text.to_string()).collect();
        let mut commands = of(text);
        std::iter::from_fn(|| commands.next(variables)).map(texts).collect()
    }

    #[test]
    fn words_are_those_of_a_shell() {
        let mut variables = Variables::within(Room::of(0));
        let set = of("export DEV=eth0 UP=\"9 0\" TC=$(which tc)").next(&variables).unwrap();
        assert!(variables.assign(&set));
        let found = words("${DEV} '$DEV' $(($UP_ + 5)) $TC 2>&1 >/dev/null && a\\ b; c # d", &variables);
        assert_eq!(found, [vec!["eth0", "$DEV", &*unknown("$(($UP_ + 5))"), "tc"], vec!["a b"], vec!["c"]]);
        assert_eq!(words("rate $((2*5))kbit `expr 4 / 2` ${NO:-7}", &variables)[0], ["rate", "10kbit", "2", "7"]);
    }

    #[test]
    fn a_backslash_joins_lines() {
        let mut commands = of("tc qdisc \\");
        assert_eq!((commands.next(&Variables::within(Room::of(0))), commands.open.len()), (None, 2));
        assert_eq!(commands.open[1].place, Place { start: 7, end: 12 });
    }
}
