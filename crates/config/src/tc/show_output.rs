//! What `tc [-s] [-d] qdisc|class|filter show` prints, as statements in the words of commands.

use super::counters;
use super::words::{Device, Object, Statement, Token, Verb, span};
use crate::evidence::Counters;
use crate::foreign::unquoted;
use crate::text::Line;
use perhop_core::params::Place;

/// Reads line by line.
#[derive(Debug, Default)]
pub(super) struct Reader<'a> {
    /// What is said so far.
    pub(super) statements: Vec<Statement<'a>>,
    /// What was counted.
    pub(super) evidence: Vec<Counters>,
    /// Of what interface the next lines are, by the command before them.
    pub(super) device: Device<'a>,
    /// Where the next filters are, by the command before them.
    pub(super) place: Option<Token<'a>>,
    open: Option<Open<'a>>,
}

/// An object whose lines are being read.
#[derive(Debug)]
struct Open<'a> {
    object: Object,
    device: Device<'a>,
    /// Before the kind.
    head: Vec<Token<'a>>,
    kind: Option<Token<'a>>,
    /// Behind the kind.
    rest: Vec<Token<'a>>,
    lines: Vec<usize>,
    place: Place,
    counters: Counters,
    /// Of the tins of `cake`.
    tins: Vec<Counters>,
    /// Whether it says something: what filters of a kind have in common does not.
    says: bool,
}

impl<'a> Reader<'a> {
    /// A line; false: it is not one of tc's.
    pub(super) fn line(&mut self, line: Line<'a>) -> bool {
        let mut words = line.text.split_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let object = match (first, second) {
            ("qdisc", _) if line.text.contains(':') => Object::Qdisc,
            ("class", _) if line.text.contains(':') => Object::Class,
            ("filter", "parent" | "protocol" | "block" | "dev" | "[parent" | "root" | "ingress" | "egress") => {
                Object::Filter
            }
            ("", _) => return false,
            _ => return self.goes_on(first, line),
        };
        self.end();
        self.open = Open::of(object, &self.device, self.place.as_ref(), tokens(line));
        self.open.is_some()
    }

    fn goes_on(&mut self, first: &str, line: Line<'a>) -> bool {
        let Some(open) = &mut self.open else { return false };
        if !counters::lines::goes_on(first) {
            return false;
        }
        open.line(first, line);
        true
    }

    /// Nothing more comes of what is open.
    pub(super) fn end(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.evidence.extend(open.tins.iter().cloned());
        if !open.counters.counts.is_empty() {
            self.evidence.push(open.counters.clone());
        }
        self.statements.push(open.statement());
    }
}

/// What a key of `pedit` does to the octet of the code point, as it is typed.
pub(super) fn munged([value, mask]: [u32; 2], shift: u32, six: bool) -> String {
    let (octet, retain) = (value >> shift & 0xff, !mask >> shift & 0xff);
    let field = if six { "ip6 traffic_class" } else { "ip dsfield" };
    format!("munge {field} set {octet:#04x} retain {retain:#04x}")
}

/// Words between blanks.
fn tokens(line: Line<'_>) -> Vec<Token<'_>> {
    let at = |word: &str| line.start + (word.as_ptr() as usize - line.text.as_ptr() as usize);
    let token = |word| Token {
        text: unquoted(word),
        place: Place { start: at(word), end: at(word) + word.len() },
        line: line.number,
        unset: false,
    };
    line.text.split_whitespace().map(token).collect()
}

/// Passes over the rest of what `-s` counts: `(rule hit 100 success 20)`, `(success 20 )`.
fn uncounted<'a>(words: &mut impl Iterator<Item = Token<'a>>) {
    while words.next().is_some_and(|it| !it.text.ends_with(')')) {}
}

/// A word that is not printed, at the place of one that is.
fn word<'a>(text: &'static str, at: &Token<'a>) -> Token<'a> {
    Token { text: text.into(), ..at.clone() }
}

impl<'a> Open<'a> {
    /// The first line of an object; `None` if it is none.
    fn of(object: Object, device: &Device<'a>, place: Option<&Token<'a>>, words: Vec<Token<'a>>) -> Option<Self> {
        let (line, all) = (words[0].line, span(&words));
        let mut it = Open {
            object,
            device: device.clone(),
            head: Vec::new(),
            kind: None,
            rest: Vec::new(),
            lines: vec![line],
            place: all,
            counters: Counters { place: all, ..Counters::default() },
            tins: Vec::new(),
            says: true,
        };
        let mut words = words.into_iter();
        let first = words.next()?;
        if object == Object::Filter {
            it.filter(words, place, &first);
        } else {
            it.kind = words.next();
            let id = words.next()?;
            it.counted(&id.text);
            it.own(id, words);
        }
        it.counters.interface = it.device.name.as_ref().map(|name| name.text.to_string()).unwrap_or_default();
        Some(it)
    }

    fn counted(&mut self, of: &str) {
        self.counters.of = of.to_owned();
        self.counters.kind = self.kind.as_ref().map(|kind| kind.text.to_string()).unwrap_or_default();
    }

    /// Of a queueing discipline or a class, behind its number.
    fn own(&mut self, id: Token<'a>, words: impl Iterator<Item = Token<'a>>) {
        let mut words = words.peekable();
        let mut root = false;
        while let Some(next) = words.peek() {
            match &*next.text {
                "dev" => {
                    words.next();
                    self.device.name = words.next();
                }
                "root" => {
                    root = true;
                    self.head.extend(words.next());
                }
                "parent" => {
                    self.head.extend(words.next());
                    self.head.extend(words.next());
                }
                "refcnt" | "bands_in" => {
                    words.next();
                    words.next();
                }
                "offloaded" | "[Unknown" | "qdisc" => _ = words.next(),
                text if text.starts_with('-') => _ = words.next(),
                _ => break,
            }
        }
        let (word_of, bare) =
            if self.object == Object::Class { ("classid", false) } else { ("handle", id.text == "0:") };
        // hfsc has a class of its own above all others.
        self.says = self.object != Object::Class || !id.text.ends_with(':');
        if !bare || root {
            let key = word(word_of, &id);
            self.head.splice(0..0, [key, id]);
        }
        if self.kind.as_ref().is_some_and(|kind| matches!(&*kind.text, "ingress" | "clsact")) {
            self.head.clear();
        }
        for next in words.filter(|next| !next.text.starts_with("--")) {
            counters::first_line(&mut self.counters, &next, &self.rest);
            self.rest.push(next);
        }
    }

    /// The first line of a filter.
    fn filter(&mut self, words: impl Iterator<Item = Token<'a>>, place: Option<&Token<'a>>, first: &Token<'a>) {
        let mut words = words.peekable();
        let mut placed = false;
        while let Some(next) = words.next() {
            match &*next.text {
                "parent" | "protocol" | "pref" | "block" | "dev" => {
                    let Some(value) = words.next() else { break };
                    placed |= next.text == "parent";
                    if next.text == "dev" {
                        self.device.name = Some(value);
                    } else {
                        self.head.extend([next, value]);
                    }
                }
                "root" | "ingress" | "egress" => {
                    placed = true;
                    self.head.push(next);
                }
                _ => {
                    self.kind = Some(next);
                    break;
                }
            }
        }
        if let Some(place) = place.filter(|_| !placed) {
            self.head.extend([word("parent", first), place.clone()]);
        }
        self.says = false;
        while let Some(next) = words.next() {
            match &*next.text {
                "chain" => _ = words.next(),
                "handle" => {
                    self.says = true;
                    let value = words.next();
                    self.head.push(next);
                    self.head.extend(value);
                }
                "fh" => {
                    let value = words.next();
                    if value.as_ref().is_some_and(|it| it.text.matches(':').count() == 2 && !it.text.ends_with(':')) {
                        self.says = true;
                        self.head.push(word("handle", &next));
                        self.head.extend(value);
                    }
                }
                "(rule" => uncounted(&mut words),
                _ => self.rest.push(next),
            }
        }
        if !self.says {
            self.rest.clear();
        }
        let pref =
            self.head.windows(2).find(|pair| pair[0].text == "pref").map_or("", |pair| &*pair[1].text).to_owned();
        self.counted(&format!("pref {pref}"));
    }

    /// Another line.
    fn line(&mut self, first: &str, line: Line<'a>) {
        let words = tokens(line);
        if first != "linklayer" && counters::line(&mut self.counters, &mut self.tins, &words) {
            self.lines.push(line.number);
            return;
        }
        match (self.object, first) {
            (Object::Qdisc, "linklayer") => {
                self.lines.push(line.number);
                self.place.end = self.place.end.max(span(&words).end);
                let stab = word("stab", &words[0]);
                self.head.push(stab);
                self.head.extend(words);
            }
            (Object::Filter, _) => {
                self.lines.push(line.number);
                self.filter_line(first, words);
            }
            _ => self.lines.push(line.number),
        }
    }

    /// `match`, `police`, an action, or a key of `flower`.
    fn filter_line(&mut self, first: &str, words: Vec<Token<'a>>) {
        self.place.end = self.place.end.max(span(&words).end);
        match first {
            "Action" | "random" | "used_hw_stats" | "installed" | "mark" => {}
            "action" | "police" => {
                let words = self.action(words);
                self.rest.extend(words);
            }
            "key" => self.pedit(&words),
            "not_in_hw" | "in_hw" => {}
            _ => {
                let mut words = words.into_iter();
                while let Some(next) = words.next() {
                    match &*next.text {
                        "(success" => uncounted(&mut words),
                        // `installed 8 sec used 2 sec`, of an action.
                        "installed" => break,
                        _ => self.rest.push(next),
                    }
                }
            }
        }
    }

    /// Without what tc prints beside a command's words.
    fn action(&mut self, words: Vec<Token<'a>>) -> Vec<Token<'a>> {
        let mut out = Vec::new();
        let mut words = words.into_iter().peekable();
        let mut police = false;
        while let Some(next) = words.next() {
            let number = words.peek().is_some_and(|it| it.text.starts_with("0x"));
            match &*next.text {
                "order" | "keys" => _ = words.next(),
                "police" if number => {
                    police = true;
                    let index = word("index", &next);
                    out.extend([next, index]);
                    out.extend(words.next());
                }
                "action" if police && !out.is_empty() => out.push(word("conform-exceed", &next)),
                "action" if out.len() > 1 => {}
                _ => {
                    police |= next.text == "police";
                    out.push(next);
                }
            }
        }
        if police {
            self.counters.kind = "police".to_owned();
        }
        out
    }

    /// `key #0  at ipv4+0: val 00280000 mask ff03ffff`: octet 1 is that of the code point.
    fn pedit(&mut self, words: &[Token<'a>]) {
        let after = |name: &str| words.iter().position(|it| it.text == name).and_then(|at| words.get(at + 1));
        let hex = |name: &str| after(name).and_then(|it| u32::from_str_radix(&it.text, 16).ok());
        let (Some(value), Some(mask), Some(at)) = (hex("val"), hex("mask"), after("at")) else { return };
        let place = at.text.trim_end_matches(':');
        let (shift, six) = match place {
            "ipv4+0" | "0" | "ip+0" => (16, false),
            "ipv6+0" | "ip6+0" => (20, true),
            _ => return self.rest.push(Token { text: "munge".into(), ..at.clone() }),
        };
        let made = |text: String| Token { text: text.into(), ..at.clone() };
        let text = munged([value, mask], shift, six);
        let position = self.rest.iter().rposition(|it| it.text == "pedit").map_or(self.rest.len(), |at| at + 1);
        self.rest.splice(position..position, text.split(' ').map(|word| made(word.to_owned())));
    }

    fn statement(self) -> Statement<'a> {
        let Self { object, device, mut head, kind, rest, lines, place, says, .. } = self;
        if says {
            head.extend(kind);
            head.extend(rest);
        } else {
            head.clear();
        }
        Statement { object, verb: Verb::Shown, device, words: head, place, lines }
    }
}
