//! The words of a line, one after the other, and what numbers with units mean in them.

use crate::ios::plan::{At, Bits, Burst, Rate, WithPlace};
use crate::ios::tree::Row;
use perhop_core::dscp::Dscp;
use perhop_core::params::Place;
use perhop_core::units::{BitRate, Bytes, Length, Packets, Span};

/// What became of a line: taken, taken nearly (how), or why it is not modelled.
pub type Outcome = Result<Option<String>, String>;

/// The words of a line that are still to be read.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    row: &'a Row<'a>,
    next: usize,
    end: usize,
}

impl<'a> Words<'a> {
    /// From a word on.
    pub const fn new(row: &'a Row<'a>, next: usize) -> Self {
        Self { row, next, end: row.words.len() }
    }

    /// The next word alone, read.
    pub fn one(&mut self) -> Self {
        let only = Self { end: self.end.min(self.next + 1), ..self.clone() };
        self.take();
        only
    }

    /// The words up to one of these, read.
    pub fn until(&mut self, stops: &[&str]) -> Self {
        let words = &self.row.words[self.next.min(self.end)..self.end];
        let end = self.next + words.iter().take_while(|word| !stops.contains(&word.text)).count();
        let before = Self { end, ..self.clone() };
        self.next = end;
        before
    }

    /// Its line.
    pub const fn row(&self) -> &'a Row<'a> {
        self.row
    }

    /// The next word.
    pub fn peek(&self) -> &'a str {
        if self.is_over() { "" } else { self.row.word(self.next) }
    }

    /// The next word, read.
    pub fn take(&mut self) -> &'a str {
        let word = self.peek();
        self.next += usize::from(!word.is_empty());
        word
    }

    /// Whether the next word is this one, then read.
    pub fn has(&mut self, word: &str) -> bool {
        self.has_any(&[word])
    }

    /// Whether the next word is one of these, then read.
    pub fn has_any(&mut self, words: &[&str]) -> bool {
        let found = words.contains(&self.peek());
        self.next += usize::from(found);
        found
    }

    /// Whether nothing is left.
    pub const fn is_over(&self) -> bool {
        self.next >= self.end
    }

    /// All that is left.
    pub fn rest(&mut self) -> String {
        let words: Vec<_> = self.row.words.iter().take(self.end).skip(self.next).map(|word| word.text).collect();
        self.next = self.end.max(self.next);
        words.join(" ")
    }

    /// Where the word is that was read last.
    pub fn at(&self) -> At {
        let place = self.row.words.get(self.next.saturating_sub(1)).map_or(Place::default(), |word| word.place);
        At { line: self.row.number, place }
    }

    /// From the word that was read last to another.
    pub fn since(&self, first: At) -> At {
        At { line: first.line, place: Place { start: first.place.start, end: self.at().place.end } }
    }

    /// Nothing may be left.
    pub fn end(&mut self) -> Result<(), String> {
        let left = self.rest();
        if left.is_empty() { Ok(()) } else { Err(format!("`{left}` is not understood")) }
    }

    /// A whole number.
    pub fn number(&mut self) -> Result<u64, String> {
        let word = self.take();
        word.parse().map_err(|_| wanted(word, "a whole number"))
    }

    /// A whole number with its place.
    pub fn count(&mut self) -> Result<WithPlace<u64>, String> {
        let is = self.number()?;
        Ok(WithPlace { is, at: self.at() })
    }

    /// The number of the word that was read last.
    pub const fn before(&self) -> usize {
        self.next.saturating_sub(1)
    }

    /// Whether a number is next.
    pub fn is_number(&self) -> bool {
        self.peek().starts_with(|c: char| c.is_ascii_digit())
    }

    /// A percentage.
    pub fn percent(&mut self) -> Result<f64, String> {
        let word = self.take();
        let bare = word.strip_suffix('%').unwrap_or(word);
        match bare.parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
            _ => Err(wanted(word, "a percentage from 0 to 100")),
        }
    }

    /// A rate in bit/s or packets/s, with the unit behind it, or of this many bit/s without one.
    pub fn rate(&mut self, unit: u64) -> Result<WithPlace<Rate>, String> {
        let first = self.has("percent");
        let word = self.peek();
        if first || word.ends_with('%') || matches!(self.row.word(self.next + 1), "%" | "(%)") {
            let percent = self.percent()?;
            self.has_any(&["%", "(%)"]);
            return Ok(WithPlace { is: Rate::Percent(percent), at: self.at() });
        }
        let (number, scale) = scaled(self.take());
        let (count, at) = (number.ok_or_else(|| wanted(word, "a rate"))?, self.at());
        let of = self.unit(&["bps", "(bps)", "kbps", "(kbps)", "(kb/s)", "mbps", "gbps", "pps"]);
        let is = match (scale, of.trim_matches(['(', ')'])) {
            (Some(scale), _) => bits(count, scale)?,
            (None, "bps") => bits(count, 1)?,
            (None, "kbps" | "kb/s") => bits(count, 1_000)?,
            (None, "mbps") => bits(count, 1_000_000)?,
            (None, "gbps") => bits(count, 1_000_000_000)?,
            (None, "pps") => Rate::Packets(whole(count).ok_or_else(|| wanted(word, "a whole number of packets"))?),
            (None, _) => bits(count, unit)?,
        };
        Ok(WithPlace { is, at: self.since(at) })
    }

    /// The unit that is next, if it is one of these, then read.
    fn unit(&mut self, units: &[&str]) -> &'a str {
        let word = self.peek();
        if self.has_any(units) { word } else { "" }
    }

    /// A burst in bytes, packets, or time.
    pub fn burst(&mut self) -> Result<WithPlace<Burst>, String> {
        let (count, at) = (self.number()?, self.at());
        let is = match self.unit(&["ms", "us", "packets", "packet", "pkts", "kbytes", "bytes"]) {
            unit @ ("ms" | "us") => Burst::Time(span(count, unit)?),
            "packets" | "packet" | "pkts" => Burst::Packets(count),
            "kbytes" => Burst::Bytes(count.checked_mul(1_000).ok_or("a burst beyond 2^64 bytes")?),
            _ => Burst::Bytes(count),
        };
        Ok(WithPlace { is, at: self.since(at) })
    }

    /// A burst in bits or time.
    pub fn bits(&mut self) -> Result<WithPlace<Bits>, String> {
        let (count, at) = (self.number()?, self.at());
        let is = match self.unit(&["ms", "us", "bits", "(bits)"]) {
            unit @ ("ms" | "us") => Bits::Time(span(count, unit)?),
            _ => Bits::Count(count),
        };
        Ok(WithPlace { is, at: self.since(at) })
    }

    /// A length of a queue, in packets without a unit.
    pub fn length(&mut self) -> Result<WithPlace<Length>, String> {
        let is_percent = self.has("percent");
        let (count, at) = (self.number()?, self.at());
        let unit = self.unit(&["bytes", "kbytes", "mbytes", "ms", "us", "packets"]);
        let is = length(count, if is_percent { "%" } else { unit })?;
        Ok(WithPlace { is, at: self.since(at) })
    }

    /// Code points up to a word that is none.
    pub fn dscps(&mut self) -> Result<Vec<Dscp>, String> {
        let mut list = Vec::new();
        while let Some(found) = dscp_list(self.peek()) {
            list.extend(found);
            self.take();
        }
        if list.is_empty() { Err(wanted(self.peek(), "a code point")) } else { Ok(list) }
    }

    /// Numbers of at most 7, or their names, up to a word that is none.
    pub fn precedences(&mut self) -> Result<Vec<u8>, String> {
        let mut list = Vec::new();
        while let Some(found) = of_list(self.peek(), precedence) {
            list.extend(found);
            self.take();
        }
        if list.is_empty() { Err(wanted(self.peek(), "a precedence from 0 to 7")) } else { Ok(list) }
    }
}

/// What a word is not.
pub fn wanted(word: &str, what: &str) -> String {
    match word {
        "" => format!("{what} is missing"),
        word => format!("`{word}` is not {what}"),
    }
}

/// `10`, `1.5m`, `10k`: the number and what its suffix stands for.
fn scaled(word: &str) -> (Option<f64>, Option<u64>) {
    let scale = match word.as_bytes().last().map(u8::to_ascii_lowercase) {
        Some(b'k') => Some(1_000),
        Some(b'm') => Some(1_000_000),
        Some(b'g') => Some(1_000_000_000),
        _ => None,
    };
    let number = if scale.is_some() { &word[..word.len() - 1] } else { word };
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (number.parse().ok().filter(|_| plain), scale)
}

fn whole(number: f64) -> Option<u64> {
    (number >= 0.0 && number < (1u64 << 53) as f64 && number.fract() == 0.0).then_some(number as u64)
}

fn bits(count: f64, unit: u64) -> Result<Rate, String> {
    let rate = whole(libm_round(count * unit as f64)).ok_or_else(|| format!("{count} is not a rate"))?;
    Ok(Rate::Bits(BitRate::bps(rate)))
}

/// To the next whole number if it is that but for rounding.
fn libm_round(number: f64) -> f64 {
    let near = number.round();
    if (number - near).abs() < 1e-6 { near } else { number }
}

/// So many of `ms` or `us`.
fn span(count: u64, unit: &str) -> Result<Span, String> {
    let ns = if unit == "ms" { 1_000_000 } else { 1_000 };
    count.checked_mul(ns).map(Span::from_ns).ok_or_else(|| format!("{count} is too long a time"))
}

/// The length of a queue in a unit, in packets without one.
pub fn length(count: u64, unit: &str) -> Result<Length, String> {
    Ok(match unit {
        "%" => Length::Percent(count as f64),
        "bytes" => Length::Bytes(Bytes::new(count)),
        "kbytes" => Length::Bytes(Bytes::new(count.saturating_mul(1_000))),
        "mbytes" => Length::Bytes(Bytes::new(count.saturating_mul(1_000_000))),
        "ms" | "us" => Length::Time(span(count, unit)?),
        _ => {
            let few = u32::try_from(count).map_err(|_| wanted(&count.to_string(), "below 2^32 packets"))?;
            Length::Packets(Packets::new(few))
        }
    })
}

/// A code point by name or number; `default` is 0.
pub fn dscp(word: &str) -> Option<Dscp> {
    match word {
        "default" => Some(Dscp::BE),
        "cs0" => Some(Dscp::BE),
        "" => None,
        word if word.starts_with("0x") => None,
        word => word.parse().ok(),
    }
}

fn dscp_list(word: &str) -> Option<Vec<Dscp>> {
    // What devices show: `ef (46)`, `af11(10)`.
    if let Some(number) = word.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return number.parse::<u8>().ok().and_then(Dscp::new).map(|_| Vec::new());
    }
    let word = word.split_once('(').map_or(word, |(name, _)| name);
    of_list(word, |word| dscp(word).map(Dscp::get)).map(|list| list.into_iter().filter_map(Dscp::new).collect())
}

/// `1`, `0,5-7`, `1-2,4`
fn of_list(word: &str, one: impl Fn(&str) -> Option<u8>) -> Option<Vec<u8>> {
    let mut list = Vec::new();
    for part in word.trim_end_matches(',').split(',') {
        match part.split_once('-').filter(|(from, _)| from.bytes().all(|byte| byte.is_ascii_digit())) {
            Some((from, to)) => list.extend(one(from)?..=one(to)?),
            None => list.push(one(part)?),
        }
    }
    Some(list)
}

/// A precedence by name or number.
pub fn precedence(word: &str) -> Option<u8> {
    const NAMES: [&str; 8] =
        ["routine", "priority", "immediate", "flash", "flash-override", "critical", "internet", "network"];
    let word = word.split_once('(').map_or(word, |(name, _)| name);
    let named = NAMES.iter().position(|name| *name == word).and_then(|at| u8::try_from(at).ok());
    named.or_else(|| word.parse().ok().filter(|number| *number < 8))
}

/// The code points of a precedence.
pub fn dscps_of(precedence: u8) -> impl Iterator<Item = Dscp> {
    (0..8).filter_map(move |low| Dscp::new((precedence & 7) * 8 + low))
}
