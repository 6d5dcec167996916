//! Lines as a shell reads them: words, quotes, variables, several commands in a line.

use super::sums;
use super::words::Token;
use crate::foreign::unquoted;
use perhop_core::params::Place;
use std::borrow::Cow;
use std::collections::HashMap;

/// The longest sequence of numbers.
const LONGEST: usize = 5000;

/// Variables that a text sets.
#[derive(Debug, Default)]
pub(super) struct Variables {
    values: HashMap<String, String>,
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
    /// Takes the assignments of a command, if it consists of nothing else: `DEV=eth0`, `export RATE=10mbit`.
    pub(super) fn assign(&mut self, words: &[Token<'_>]) -> bool {
        let declares =
            |word: &Token<'_>| matches!(&*word.text, "export" | "local" | "readonly" | "declare" | "typeset");
        let words = if words.first().is_some_and(declares) { &words[1..] } else { words };
        let found: Option<Vec<_>> =
            words.iter().map(|word| assignment(&word.text).map(|it| (it, word.unset))).collect();
        let Some(found) = found.filter(|it| !it.is_empty()) else { return false };
        for ((name, value), unset) in found {
            match unset {
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
    let mut scanner = Scanner { line, at: 0, variables, commands: vec![Vec::new()], goes_on: false };
    while scanner.word() {}
    let goes_on = scanner.goes_on;
    (scanner.commands, goes_on)
}

struct Scanner<'a, 'v> {
    line: Bare<'a>,
    at: usize,
    variables: &'v Variables,
    commands: Vec<Simple<'a>>,
    goes_on: bool,
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
        &self.line.text[self.at..]
    }

    fn next_char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The next word, operator or comment; false at the end of the line.
    fn word(&mut self) -> bool {
        self.at = self.line.text.len() - self.rest().trim_start().len();
        let Some(first) = self.next_char() else { return false };
        if first == '#' {
            return false;
        }
        if let Some(length) = operator(self.rest()) {
            self.at += length;
            self.commands.push(Vec::new());
            return true;
        }
        if let Some(length) = redirection(self.rest()) {
            self.at += length;
            return true;
        }
        if self.rest() == "\\" {
            self.goes_on = true;
            return false;
        }
        let start = self.at;
        let grown = self.grow();
        self.push(start, grown);
        true
    }

    fn push(&mut self, start: usize, grown: Growing) {
        let raw = &self.line.text[start..self.at];
        let text = grown.text.map_or(Cow::Borrowed(raw), |text| Cow::Owned(unquoted(&text).into_owned()));
        let place = Place { start: self.line.start + start, end: self.line.start + self.at };
        let token = Token { text, place, line: self.line.number, unset: grown.unset };
        self.commands.iter_mut().last().into_iter().for_each(|it| it.push(token.clone()));
    }

    /// Goes to the end of a word.
    fn grow(&mut self) -> Growing {
        let (start, mut it, mut quote) = (self.at, Growing::default(), None);
        while let Some(c) = self.next_char() {
            if quote.is_none() && (c.is_whitespace() || operator(self.rest()).is_some()) {
                break;
            }
            let special = matches!(c, '\'' | '"' | '\\' | '$' | '`');
            if special && it.text.is_none() {
                it.text = Some(self.line.text[start..self.at].to_owned());
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
            self.at += c.len_utf8();
        }
        it
    }

    /// A backslash; at the end of the line it joins this one and the next.
    fn escaped(&mut self, it: &mut Growing) -> bool {
        let Some(c) = self.rest()[1..].chars().next() else {
            (self.goes_on, self.at) = (true, self.at + 1);
            return true;
        };
        it.text.iter_mut().for_each(|text| text.push(c));
        self.at += 1 + c.len_utf8();
        true
    }

    /// `$NAME`, `${NAME}`, `$((sum))`, `$(command)`, or a command between backticks.
    fn expansion(&mut self, it: &mut Growing) {
        let (length, value) = expanded(self.rest(), self.variables);
        let raw = &self.rest()[..length];
        self.at += length;
        it.unset |= value.is_none();
        let value = value.unwrap_or_else(|| unknown(raw));
        it.text.iter_mut().for_each(|text| text.push_str(&value));
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

/// How long an expansion is, and its value.
fn expanded(text: &str, variables: &Variables) -> (usize, Option<String>) {
    let closed = |open: usize, end: &str| text[open..].find(end).map(|at| (at + open, at + open + end.len()));
    if let Some((inner, end)) = text.strip_prefix("$((").and_then(|_| closed(3, "))")) {
        return (end, sums::sum(&text[3..inner], &|name| variables.get(name)));
    }
    if let Some((inner, end)) = text.strip_prefix("$[").and_then(|_| closed(2, "]")) {
        return (end, sums::sum(&text[2..inner], &|name| variables.get(name)));
    }
    if let Some((inner, end)) = text.strip_prefix("$(").and_then(|_| closed(2, ")")) {
        return (end, output(&text[2..inner], variables));
    }
    if let Some((inner, end)) = text.strip_prefix('`').and_then(|_| closed(1, "`")) {
        return (end, output(&text[1..inner], variables));
    }
    if let Some((inner, end)) = text.strip_prefix("${").and_then(|_| closed(2, "}")) {
        let name = &text[2..inner];
        let (name, default) = name.split_once(":-").or_else(|| name.split_once(":=")).unwrap_or((name, ""));
        let default = Some(default.to_owned()).filter(|it| !it.is_empty());
        return (end, variables.get(name).map(str::to_owned).or(default));
    }
    let name = text[1..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let length = 1 + if name.starts_with(|c: char| c.is_ascii_digit()) { 1 } else { name.len() };
    (length, variables.get(name).map(str::to_owned))
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
            Some(sequence(from, to).iter().map(i64::to_string).collect::<Vec<_>>().join(" "))
        }
        ("expr", rest) => sums::sum(&rest.replace('\\', ""), &|name| variables.get(name)),
        ("echo", rest) if !rest.contains(['|', '$']) => Some(rest.trim_matches(['"', '\'']).to_owned()),
        _ => None,
    }
}

/// Whole numbers from one to another, as far as a loop goes.
pub(super) fn sequence(from: i64, to: i64) -> Vec<i64> {
    (from..=to).take(LONGEST).collect()
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
        assert_eq!(found, [vec!["eth0", "$DEV", "UP_ + 5", "tc"], vec!["a b"], vec!["c"]]);
        assert_eq!(words("rate $((2*5))kbit `expr 4 / 2` ${NO:-7}", &variables)[0], ["rate", "10kbit", "2", "7"]);
    }

    #[test]
    fn a_backslash_joins_lines() {
        let (commands, goes_on) = simple(Bare { number: 1, start: 4, text: "tc qdisc \\" }, &Variables::default());
        assert!(goes_on && commands[0].len() == 2);
        assert_eq!(commands[0][1].place, Place { start: 7, end: 12 });
    }
}
