//! Lines as a shell reads them: words, quotes, variables, several commands in a line.

use super::bounds::{Room, VALUE};
use super::sums;
use super::words::Token;
use crate::foreign::unquoted;
use perhop_core::params::Place;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Variables that a text sets.
#[derive(Debug, Default)]
pub(super) struct Variables {
    values: HashMap<String, String>,
    /// What they may still add to the text.
    pub(super) room: Room,
}

/// A line without what mails and listings put before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bare<'a> {
    /// Its number.
    pub(super) number: usize,
    /// Where the rest starts.
    pub(super) start: usize,
    /// The rest, without the blanks around it.
    pub(super) text: &'a str,
}

/// One simple command: its words.
pub(super) type Simple<'a> = Vec<Token<'a>>;

impl Variables {
    /// None, with room for their values.
    pub(super) fn within(room: Room) -> Self {
        Self { room, ..Self::default() }
    }

    /// Takes the assignments of a command, if it consists of nothing else: `DEV=eth0`, `export RATE=10mbit`.
    pub(super) fn assign(&mut self, words: &[Token<'_>]) -> bool {
        let declares =
            |word: &Token<'_>| matches!(&*word.text, "export" | "local" | "readonly" | "declare" | "typeset");
        let words = if words.first().is_some_and(declares) { &words[1..] } else { words };
        let found: Option<Vec<_>> =
            words.iter().map(|word| assignment(&word.text).map(|it| (it, word.unset))).collect();
        let Some(found) = found.filter(|it| !it.is_empty()) else { return false };
        for ((name, value), unset) in found {
            match unset || !self.room.holds(value.len()) {
                true => _ = self.values.remove(name),
                false => _ = self.values.insert(name.to_owned(), value.to_owned()),
            }
        }
        true
    }

    /// Gives one a value.
    pub(super) fn set(&mut self, name: &str, value: String) {
        self.values.insert(name.to_owned(), value);
    }

    /// Takes the value from those that a line of a loop sets to what the text does not say: `for i in $LIST`, `while read a b`.
    pub(super) fn forget(&mut self, line: &str) {
        if !matches!(line.split_whitespace().next(), Some("for" | "while" | "until")) {
            return;
        }
        let words = line.split([' ', '\t', ';']).skip_while(|word| !matches!(*word, "for" | "read")).skip(1);
        let asked = line.split_whitespace().filter(|word| word.contains('$')).map(name_of);
        words.chain(asked).for_each(|name| _ = self.values.remove(name));
    }

    /// Its value.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

/// `NAME=value`
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fit = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(named);
    fit.then_some((name, value))
}

/// The simple commands of a line, and whether the last goes on in the next line.
pub(super) fn simple<'a>(line: Bare<'a>, variables: &Variables) -> (Vec<Simple<'a>>, bool) {
    let mut commands = Commands::new(line);
    let list = std::iter::from_fn(|| commands.next(variables)).collect();
    (list, commands.goes_on)
}

/// The simple commands of a line, one after the other, so that what one sets counts for the next.
pub(super) struct Commands<'a> {
    line: Bare<'a>,
    at: usize,
    /// The last goes on in the next line.
    pub(super) goes_on: bool,
    is_over: bool,
    /// Ends of expansions that the rest of the line does not have.
    missing: Vec<&'static str>,
}

impl<'a> Commands<'a> {
    /// Of a line.
    pub(super) const fn new(line: Bare<'a>) -> Self {
        Self { line, at: 0, goes_on: false, is_over: false, missing: Vec::new() }
    }

    /// The next, which may have no words; `None` behind the last.
    pub(super) fn next(&mut self, variables: &Variables) -> Option<Simple<'a>> {
        if self.is_over {
            return None;
        }
        let mut scanner = Scanner { of: self, variables, words: Vec::new() };
        while scanner.word() {}
        Some(scanner.words)
    }
}

struct Scanner<'a, 'v> {
    of: &'v mut Commands<'a>,
    variables: &'v Variables,
    words: Simple<'a>,
}

/// A word that is being read.
#[derive(Default)]
struct Growing {
    /// What quotes and variables have made of it; `None`: it is as it is written.
    text: Option<String>,
    unset: bool,
}

impl<'a> Scanner<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.of.line.text[self.of.at..]
    }

    fn next_char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The next word; false at the end of the command.
    fn word(&mut self) -> bool {
        let of = &mut *self.of;
        of.at = of.line.text.len() - of.line.text[of.at..].trim_start().len();
        let Some(first) = self.next_char().filter(|first| *first != '#') else {
            self.of.is_over = true;
            return false;
        };
        if let Some(length) = operator(self.rest()) {
            self.of.at += length;
            return false;
        }
        if let Some(length) = redirection(self.rest()) {
            self.of.at += length;
            return true;
        }
        if first == '\\' && self.rest() == "\\" {
            (self.of.goes_on, self.of.is_over) = (true, true);
            return false;
        }
        let start = self.of.at;
        let grown = self.grow();
        self.push(start, grown);
        true
    }

    fn push(&mut self, start: usize, grown: Growing) {
        let Commands { line, at, .. } = *self.of;
        let raw = &line.text[start..at];
        let text = grown.text.map_or(Cow::Borrowed(raw), |text| Cow::Owned(unquoted(&text).into_owned()));
        let place = Place { start: line.start + start, end: line.start + at };
        self.words.push(Token { text, place, line: line.number, unset: grown.unset });
    }

    /// Goes to the end of a word.
    fn grow(&mut self) -> Growing {
        let (start, mut it, mut quote) = (self.of.at, Growing::default(), None);
        while let Some(c) = self.next_char() {
            if quote.is_none() && (c.is_whitespace() || operator(self.rest()).is_some()) {
                break;
            }
            let special = matches!(c, '\'' | '"' | '\\' | '$' | '`');
            if special && it.text.is_none() {
                it.text = Some(self.of.line.text[start..self.of.at].to_owned());
            }
            match (c, quote) {
                ('\'' | '"', None) => quote = Some(c),
                (c, Some(open)) if c == open => quote = None,
                ('\\', None | Some('"')) if self.escaped(&mut it) => continue,
                ('$', None | Some('"')) | ('`', None | Some('"')) => {
                    self.expansion(&mut it);
                    continue;
                }
                (c, _) => it.text.iter_mut().for_each(|text| text.push(c)),
            }
            self.of.at += c.len_utf8();
        }
        it
    }

    /// A backslash; at the end of the line it joins this one and the next.
    fn escaped(&mut self, it: &mut Growing) -> bool {
        let Some(c) = self.rest()[1..].chars().next() else {
            (self.of.goes_on, self.of.at) = (true, self.of.at + 1);
            return true;
        };
        it.text.iter_mut().for_each(|text| text.push(c));
        self.of.at += 1 + c.len_utf8();
        true
    }

    /// `$NAME`, `${NAME}`, `$((sum))`, `$(command)`, or a command between backticks; not more than a value may have.
    fn expansion(&mut self, it: &mut Growing) {
        let (length, value) = expanded(self.rest(), self.variables, &mut self.of.missing);
        let raw = &self.rest()[..length];
        self.of.at += length;
        let text = it.text.get_or_insert_default();
        let value = value.filter(|value| self.variables.room.takes(text.len(), value.len()));
        it.unset |= value.is_none();
        text.push_str(&value.unwrap_or_else(|| Cow::Owned(unknown(raw))));
    }
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

/// How long an expansion is, and its value. An end that is `missing` is not looked for again.
fn expanded<'v>(
    text: &str,
    variables: &'v Variables,
    missing: &mut Vec<&'static str>,
) -> (usize, Option<Cow<'v, str>>) {
    let mut closed = |begin: &str, end: &'static str| {
        let inner = text.strip_prefix(begin).filter(|_| !missing.contains(&end))?;
        let Some(at) = inner.find(end) else {
            missing.push(end);
            return None;
        };
        Some((begin.len() + at + end.len(), inner[..at].to_owned()))
    };
    let sum = |inner: &str| sums::sum(inner, &|name| variables.get(name)).map(Cow::Owned);
    if let Some((end, inner)) = closed("$((", "))").or_else(|| closed("$[", "]")) {
        return (end, sum(&inner));
    }
    if let Some((end, inner)) = closed("$(", ")").or_else(|| closed("`", "`")) {
        return (end, output(&inner, variables).map(Cow::Owned));
    }
    if let Some((end, name)) = closed("${", "}") {
        let (name, default) = name.split_once(":-").or_else(|| name.split_once(":=")).unwrap_or((&name, ""));
        let default = (!default.is_empty()).then(|| Cow::Owned(default.to_owned()));
        return (end, variables.get(name).map(Cow::Borrowed).or(default));
    }
    let name = text[1..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let length = 1 + if name.starts_with(|c: char| c.is_ascii_digit()) { 1 } else { name.len() };
    (length, variables.get(name).map(Cow::Borrowed))
}

/// What a command prints, where that is known: `which tc`, `expr 3 \* 4`, `echo 5`.
fn output(command: &str, variables: &Variables) -> Option<String> {
    let command = command.trim();
    let (program, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    match (program, rest.trim()) {
        ("which" | "command" | "type", rest) => rest.split_whitespace().next_back().map(str::to_owned),
        ("seq", rest) => {
            let ends: Option<Vec<i64>> = rest.split_whitespace().map(|it| it.parse().ok()).collect();
            let (from, to) = match ends?[..] {
                [to] => (1, to),
                [from, to] => (from, to),
                _ => return None,
            };
            sequence(from, to, variables)
        }
        ("expr", rest) => sums::sum(&rest.replace('\\', ""), &|name| variables.get(name)),
        ("echo", rest) if !rest.contains(['|', '$']) => Some(rest.trim_matches(['"', '\'']).to_owned()),
        _ => None,
    }
}

/// Whole numbers from one to another; `None` of more than a value holds.
fn sequence(from: i64, to: i64, variables: &Variables) -> Option<String> {
    let mut out = String::new();
    for number in from..=to {
        let gap = if out.is_empty() { "" } else { " " };
        let _ = write!(out, "{gap}{number}");
        if out.len() > VALUE {
            break;
        }
    }
    variables.room.holds(out.len()).then_some(out)
}

/// What ends a command.
fn operator(text: &str) -> Option<usize> {
    ["&&", "||", ";;"].into_iter().find(|it| text.starts_with(it)).map(str::len).or_else(|| {
        let one = text.starts_with([';', '|', '(', ')']) || (text.starts_with('&') && !text.starts_with("&>"));
        one.then_some(1)
    })
}

/// `>/dev/null`, `2>&1`, with its target.
fn redirection(text: &str) -> Option<usize> {
    let sign = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
    if !sign.starts_with(['>', '<']) || text.len() - sign.len() > 1 {
        return None;
    }
    let target = sign.trim_start_matches(['>', '<', '&']).trim_start();
    let length = target.find(|c: char| c.is_whitespace() || matches!(c, ';' | '|')).unwrap_or(target.len());
    Some(text.len() - target.len() + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, variables: &Variables) -> Vec<Vec<String>> {
        let (commands, _) = simple(Bare { number: 1, start: 0, text }, variables);
        let texts = |it: Simple<'_>| it.iter().map(|word| word.text.to_string()).collect();
        commands.into_iter().filter(|it| !it.is_empty()).map(texts).collect()
    }

    #[test]
    fn words_are_those_of_a_shell() {
        let mut variables = Variables::default();
        let (commands, _) =
            simple(Bare { number: 1, start: 0, text: "export DEV=eth0 UP=\"9 0\" TC=$(which tc)" }, &variables);
        assert!(variables.assign(&commands[0]));
        let found = words("${DEV} '$DEV' $(($UP_ + 5)) $TC 2>&1 >/dev/null && a\\ b; c # d", &variables);
        assert_eq!(found, [vec!["eth0", "$DEV", &*unknown("$(($UP_ + 5))"), "tc"], vec!["a b"], vec!["c"]]);
        assert_eq!(words("rate $((2*5))kbit `expr 4 / 2` ${NO:-7}", &variables)[0], ["rate", "10kbit", "2", "7"]);
    }

    #[test]
    fn a_backslash_joins_lines() {
        let (commands, goes_on) = simple(Bare { number: 1, start: 4, text: "tc qdisc \\" }, &Variables::default());
        assert!(goes_on && commands[0].len() == 2);
        assert_eq!(commands[0][1].place, Place { start: 7, end: 12 });
    }
}
