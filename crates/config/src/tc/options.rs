//! The options of queueing disciplines, classes and actions, as tables: one row a word.

use super::units;
use super::words::{Form, Refusal, Taken, Token, Words, span};
use crate::model::Kind;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::params::Place;
use perhop_core::units::{BitRate, Bytes, Packets, SignedBytes, Span};

/// What follows a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: the word says it.
    Nothing,
    /// A rate.
    Rate,
    /// A size, as in `10k`.
    Size,
    /// A size, as in `10k` or, with the size of a cell, `10k/8`.
    Burst,
    /// A whole number of bytes.
    Bytes,
    /// A whole number of bytes, which may be below 0.
    Signed,
    /// A whole number of packets.
    Packets,
    /// A size that counts packets, as in `10k`.
    SizeInPackets,
    /// A whole number.
    Count,
    /// A time, in us without unit.
    Time,
    /// A time, in ns without unit.
    TimeNs,
    /// A share, in percent without unit.
    Percent,
    /// A real number.
    Real,
    /// One word.
    Word,
    /// That many words.
    Words(usize),
    /// As many whole numbers as follow.
    Numbers,
    /// All words up to the next one of the table.
    Several,
}

/// What a word does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Does {
    /// The value is that of a key of perhop.
    Sets(&'static str),
    /// A key of perhop gets this value.
    Says(&'static str, Fixed),
    /// A key of perhop is as if it were not said.
    Clears(&'static str),
    /// A key of perhop is the number divided by this: how it counts.
    Parts(&'static str, f64, &'static str),
    /// Several together are keys of perhop: how.
    Makes(&'static str),
    /// perhop does the same without a key: why.
    Same(&'static str),
    /// perhop does nearly the same: how.
    Nearly(&'static str),
    /// perhop does not do it: why.
    Lost(&'static str),
}

/// A word of tc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// As it is typed and printed.
    pub word: &'static str,
    /// What follows it.
    pub takes: Takes,
    /// What it does.
    pub does: Does,
}

/// A row of a table.
pub const fn row(word: &'static str, takes: Takes, does: Does) -> Row {
    Row { word, takes, does }
}

/// A value that stands in a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fixed {
    /// bit/s
    Rate(u64),
    /// Bytes.
    Bytes(u64),
    /// Bytes that may be below 0.
    Signed(i32),
    /// Packets.
    Packets(u32),
    /// Microseconds.
    Us(u64),
    /// A real number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// Yes or no.
    Flag(bool),
    /// A word of perhop's.
    Word(&'static str),
}

impl Fixed {
    /// As the model has it.
    pub fn value(self) -> Value {
        match self {
            Self::Rate(bits) => Value::Rate(BitRate::bps(bits)),
            Self::Bytes(bytes) => Value::Bytes(Bytes::new(bytes)),
            Self::Signed(bytes) => Value::Signed(SignedBytes::new(bytes)),
            Self::Packets(packets) => Value::Packets(Packets::new(packets)),
            Self::Us(us) => Value::Time(Span::from_us(us)),
            Self::Number(number) => Value::Number(number),
            Self::Count(count) => Value::Count(count),
            Self::Flag(flag) => Value::Flag(flag),
            Self::Word(word) => Value::Word(word.to_owned()),
        }
    }
}

/// A value that tc or the kernel assumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumed {
    /// The key of perhop.
    pub key: &'static str,
    /// The value.
    pub value: Fixed,
    /// Who assumes it.
    pub source: &'static str,
}

/// A row of a table of defaults.
pub const fn assumed(key: &'static str, value: Fixed, source: &'static str) -> Assumed {
    Assumed { key, value, source }
}

/// A queueing discipline.
#[derive(Clone, Copy, Debug)]
pub struct Discipline {
    /// As tc calls it.
    pub name: &'static str,
    /// As perhop calls it; `None`: drop-tail, or a shaper.
    pub kind: Option<Kind>,
    /// Its words.
    pub rows: &'static [Row],
    /// The words of its classes.
    pub class_rows: &'static [Row],
    /// The words of a command that makes one, in their order.
    pub typed: &'static str,
    /// What it assumes.
    pub assumed: &'static [Assumed],
    /// Its classes.
    pub classes: Classes,
    /// Whether `change` keeps what it does not say, of the discipline and of its classes.
    pub keeps: [bool; 2],
    /// Whether the kernel alters nothing of one that is there.
    pub fixed: bool,
    /// Words of which one of each list must be said.
    pub needs: &'static [&'static [&'static str]],
    /// What else tc and the kernel want of one that is made.
    pub(super) check: fn(&'static str, &Options<'_>) -> Taken<()>,
}

/// The classes of a queueing discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classes {
    /// None.
    None,
    /// One, which any number of a class names.
    One,
    /// Bands, as many as its options say.
    Bands,
    /// Bands to which no filter leads, with queues that nothing replaces.
    FixedBands,
    /// One for each queue of the hardware.
    Hardware,
    /// Those that commands make, side by side.
    Flat,
    /// Those that commands make, also below each other.
    Tree,
}

impl Classes {
    /// Whether commands make them.
    pub const fn are_made(self) -> bool {
        matches!(self, Self::Flat | Self::Tree)
    }

    /// Whether filters lead to them.
    pub const fn are_sorted(self) -> bool {
        matches!(self, Self::Bands | Self::Flat | Self::Tree)
    }
}

impl Discipline {
    /// One without words or classes.
    pub(super) const fn plain(name: &'static str) -> Self {
        Self {
            name,
            kind: None,
            rows: &[],
            class_rows: &[],
            typed: "",
            assumed: &[],
            classes: Classes::None,
            keeps: [false; 2],
            fixed: false,
            needs: &[],
            check: |_, _| Ok(()),
        }
    }
}

/// An option that is said.
#[derive(Clone, Debug)]
pub(super) struct Opt<'a> {
    /// Its row.
    pub(super) row: &'static Row,
    /// Its value, if it has one.
    pub(super) value: Option<Value>,
    /// The words of its value.
    pub(super) words: Vec<Token<'a>>,
    /// With its value.
    pub(super) place: Place,
    /// The number of its line.
    pub(super) line: usize,
    /// Which of the commands says it that altered one thing after the other, from 0.
    pub(super) command: usize,
}

/// Options that are said, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Options<'a> {
    pub(super) list: Vec<Opt<'a>>,
    /// Words of a print that are not in the table: those of newer versions, or the last one of a text that is cut off.
    pub(super) unknown: Vec<Token<'a>>,
}

impl<'a> Options<'a> {
    /// The last of a word.
    pub(super) fn get(&self, word: &str) -> Option<&Opt<'a>> {
        self.list.iter().rev().find(|it| it.row.word == word)
    }

    /// The last of several words.
    pub(super) fn any(&self, words: &[&str]) -> Option<&Opt<'a>> {
        self.list.iter().rev().find(|it| words.contains(&it.row.word))
    }

    /// Whether a word is said.
    pub(super) fn has(&self, word: &str) -> bool {
        self.get(word).is_some()
    }

    /// The keys that single words say.
    pub(super) fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        for it in &self.list {
            match it.row.does {
                Does::Sets(key) => it.value.iter().for_each(|value| settings.set(key, it.said(value.clone()))),
                Does::Says(key, value) => settings.set(key, it.said(value.value())),
                Does::Clears(key) => _ = settings.remove(key),
                Does::Parts(key, of, _) => {
                    it.number().into_iter().for_each(|n| settings.set(key, it.said(Value::Number(n / of))));
                }
                _ => {}
            }
        }
        settings
    }

    /// Later options count.
    pub(super) fn extend(&mut self, later: Self) {
        let command = self.list.last().map_or(0, |it| it.command + 1);
        self.list.extend(later.list.into_iter().map(|it| Opt { command, ..it }));
    }
}

impl Opt<'_> {
    /// A value at its place.
    pub(super) fn said<T>(&self, value: T) -> WithOrigin<T> {
        WithOrigin::at(self.place, value)
    }

    /// Its value as a rate.
    pub(super) fn rate(&self) -> Option<BitRate> {
        if let Some(Value::Rate(rate)) = self.value { Some(rate) } else { None }
    }

    /// Its value as a size.
    pub(super) fn bytes(&self) -> Option<Bytes> {
        if let Some(Value::Bytes(bytes)) = self.value { Some(bytes) } else { None }
    }

    /// Its value as a time.
    pub(super) fn time(&self) -> Option<Span> {
        if let Some(Value::Time(time)) = self.value { Some(time) } else { None }
    }

    /// Its value as a number.
    pub(super) fn number(&self) -> Option<f64> {
        match self.value {
            Some(Value::Number(number)) => Some(number),
            Some(Value::Count(count)) => Some(count as f64),
            _ => None,
        }
    }

    /// Its value as a whole number.
    pub(super) fn count(&self) -> Option<u64> {
        if let Some(Value::Count(count)) = self.value { Some(count) } else { None }
    }
}

impl Assumed {
    /// Says what is not said.
    pub(super) fn complete(list: &[Self], settings: &mut Settings) {
        list.iter().for_each(|it| settings.assume(it.key, it.source, it.value.value()));
    }
}

/// Reads all words by a table.
///
/// # Errors
/// A word that is not in the table; a value that tc does not take.
pub(super) fn read<'a>(rows: &'static [Row], name: &str, words: &[Token<'a>], form: Form) -> Taken<Options<'a>> {
    let mut words = Words::new(words);
    let mut options = Options::default();
    while let Some(word) = words.next() {
        let row = rows.iter().find(|row| row.word == word.text);
        let cut = row.is_some_and(|row| row.takes != Takes::Nothing) && words.peek().is_none();
        let Some(row) = row.filter(|_| form == Form::Typed || !cut) else {
            if form == Form::Typed {
                return Err(unknown(rows, name, word));
            }
            options.unknown.push(word.clone());
            continue;
        };
        let own = values(row.takes, word, &mut words, rows)?;
        options.list.push(of_values(row, word, own, form)?);
    }
    Ok(options)
}

/// One option, whose word has been read.
///
/// # Errors
/// Its value is none.
pub(super) fn option<'a>(row: &'static Row, word: &Token<'a>, words: &mut Words<'_, 'a>, form: Form) -> Taken<Opt<'a>> {
    let own = values(row.takes, word, words, &[])?;
    of_values(row, word, own, form)
}

fn of_values<'a>(row: &'static Row, word: &Token<'a>, own: Vec<Token<'a>>, form: Form) -> Taken<Opt<'a>> {
    if let Some(unset) = own.iter().find(|it| it.unset) {
        let message = format!("`{}` has a shell variable that this text does not set", unset.text);
        return Err(Refusal::at(unset, message).instead("set it above, as in RATE=10mbit, or write its value"));
    }
    let value = value(row.takes, &own, form)?;
    let (place, line) = (of(word, &own), own.first().map_or(word.line, |it| it.line));
    Ok(Opt { row, value, words: own, place, line, command: 0 })
}

/// A word with its values, or the values alone if they are on another line.
fn of(word: &Token<'_>, values: &[Token<'_>]) -> Place {
    match values.first() {
        Some(first) if first.line != word.line => span(values),
        Some(_) => {
            Place { start: word.place.start.min(values[0].place.start), end: span(values).end.max(word.place.end) }
        }
        None => word.place,
    }
}

fn values<'a>(takes: Takes, word: &Token<'_>, words: &mut Words<'_, 'a>, rows: &[Row]) -> Taken<Vec<Token<'a>>> {
    let many = match takes {
        Takes::Nothing => 0,
        Takes::Words(n) => n,
        Takes::Numbers => {
            let numbers = words.rest().iter().take_while(|it| units::number(&it.text).is_some()).count();
            numbers.max(1)
        }
        Takes::Several => {
            let own = |it: &&Token<'_>| rows.iter().all(|row| row.word != it.text);
            1 + words.rest().iter().skip(1).take_while(own).count()
        }
        _ => 1,
    };
    (0..many).map(|_| words.value(word).cloned()).collect()
}

fn value(takes: Takes, words: &[Token<'_>], form: Form) -> Taken<Option<Value>> {
    let Some(first) = words.first() else { return Ok(None) };
    let plain = |suffix: &str| {
        let text = first.text.strip_suffix(suffix).filter(|_| form == Form::Shown).unwrap_or(&first.text);
        Token { text: text.to_owned().into(), ..*first }
    };
    Ok(Some(match takes {
        Takes::Rate => Value::Rate(units::rate(first)?),
        Takes::Size => Value::Bytes(units::size(first)?),
        Takes::Burst => {
            let text = first.text.split('/').next().unwrap_or_default().to_owned();
            Value::Bytes(units::size(&Token { text: text.into(), ..*first })?)
        }
        Takes::Bytes if form == Form::Shown => Value::Bytes(units::size(first)?),
        Takes::Bytes => Value::Bytes(Bytes::new(units::count(first)?.into())),
        Takes::Signed => Value::Signed(SignedBytes::new(signed(&plain("b"))?)),
        Takes::Packets => Value::Packets(Packets::new(units::count(&plain("p"))?)),
        Takes::SizeInPackets => Value::Packets(Packets::new(packets(&plain("p"))?)),
        // `flows 128/1024` of `tc -d`: the second is another option.
        Takes::Count => Value::Count(units::count(&Token { text: before_slash(first, form).into(), ..*first })?.into()),
        Takes::Time => Value::Time(units::time(first)?),
        Takes::TimeNs => Value::Time(units::time_ns(first)?),
        Takes::Percent => Value::Number(units::percent(first)?),
        Takes::Real => Value::Number(units::real(first)?),
        Takes::Numbers => {
            let each = words.iter().map(|it| Ok(Value::Count(units::count(it)?.into())));
            Value::List(each.collect::<Taken<_>>()?)
        }
        Takes::Word => Value::Word(first.text.to_string()),
        Takes::Words(_) | Takes::Several | Takes::Nothing => return Ok(None),
    }))
}

fn before_slash(token: &Token<'_>, form: Form) -> String {
    let text = if form == Form::Shown { token.text.split('/').next() } else { None };
    text.unwrap_or(&token.text).to_owned()
}

fn signed(token: &Token<'_>) -> Taken<i32> {
    token.text.parse().map_err(|_| Refusal::at(token, format!("`{}` is no whole number", token.text)))
}

fn packets(token: &Token<'_>) -> Taken<u32> {
    let size = units::size(token)?.get();
    u32::try_from(size).map_err(|_| Refusal::at(token, format!("`{}` is too many packets", token.text)))
}

fn unknown(rows: &[Row], name: &str, word: &Token<'_>) -> Refusal {
    if word.unset {
        return Refusal::at(word, format!("`{}` is a shell variable that this text does not set", word.text));
    }
    let refusal = Refusal::at(word, format!("tc knows no `{}` of {name}", word.text));
    let near = rows.iter().map(|row| row.word).find(|known| known.eq_ignore_ascii_case(&word.text));
    near.map_or(refusal.clone(), |known| refusal.instead(known))
}
