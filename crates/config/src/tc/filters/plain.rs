//! Filters that look at no header: all packets, or those with a mark; and `basic`.

use super::fields::{Field, Fields};
use super::{Rule, Sorter, common, unknown};
use crate::tc::units::number;
use crate::tc::words::{Form, Refusal, Taken, Token, Words};
use perhop_core::classify::Match;

/// All packets.
///
/// # Errors
/// What tc would refuse.
pub(super) fn matchall<'a>(it: &mut Sorter<'a>, words: &mut Words<'_, 'a>, form: Form) -> Taken<()> {
    it.rule = Rule::one(Match::default());
    rest(it, words, form, "matchall")
}

/// Packets with a mark: `handle 6 fw`, `handle 0x6/0xff fw`.
///
/// # Errors
/// What tc would refuse.
pub(super) fn fw<'a>(
    it: &mut Sorter<'a>,
    handle: Option<&Token<'a>>,
    words: &mut Words<'_, 'a>,
    form: Form,
) -> Taken<()> {
    let Some(handle) = handle else {
        it.rule.lose("`fw` without a handle: the mark itself names the class");
        return rest(it, words, form, "fw");
    };
    let (mark, mask) = handle.text.split_once('/').unwrap_or((&handle.text, "0xffffffff"));
    let (Some(mark), Some(mask)) = (number(mark), number(mask)) else {
        return Err(Refusal::at(handle, format!("`{}` is no mark", handle.text)));
    };
    it.rule = Rule { mark: Some((mark, mask)), ..Rule::one(Match::default()) };
    rest(it, words, form, "fw")
}

/// Words that all filters have.
fn rest<'a>(it: &mut Sorter<'a>, words: &mut Words<'_, 'a>, form: Form, kind: &str) -> Taken<()> {
    while let Some(word) = words.next() {
        if !common(it, word, words, form)? {
            return Err(unknown(kind, word));
        }
    }
    Ok(())
}

/// Extended matches.
///
/// # Errors
/// What tc would refuse.
pub(super) fn basic<'a>(it: &mut Sorter<'a>, words: &mut Words<'_, 'a>, form: Form) -> Taken<()> {
    let mut asked = false;
    while let Some(word) = words.next() {
        match &*word.text {
            "match" => {
                asked = true;
                let text = words.value(word)?;
                matches(it, &text.text);
            }
            "handle" => _ = words.value(word)?,
            _ if common(it, word, words, form)? => {}
            _ => return Err(unknown("basic", word)),
        }
    }
    match asked {
        true => {}
        false if form == Form::Shown => it.rule.lose("`basic`: tc does not print what it matches"),
        false => it.rule = Rule::one(Match::default()),
    }
    Ok(())
}

/// `cmp(u8 at 1 layer network mask 0xfc eq 0xb8) and u32(..)`
fn matches(it: &mut Sorter<'_>, text: &str) {
    let mut fields = Fields::default();
    for part in text.split(" and ") {
        let part = part.trim();
        match compared(part).or_else(|| masked(part)) {
            Some(field) => fields.add(field),
            None => {
                let name = part.split(['(', ' ']).next().unwrap_or_default();
                it.rule.lose(format!("`{name}` of basic: perhop matches fields of the IP header for equality"));
            }
        }
    }
    fields.into_rule(it.protocol, &mut it.rule);
}

/// `cmp(u8 at 1 layer network mask 0xfc eq 0xb8)`
fn compared(part: &str) -> Option<Field> {
    let words: Vec<_> = part.strip_prefix("cmp(")?.strip_suffix(')')?.split_whitespace().collect();
    let after = |word: &str| words.iter().position(|it| *it == word).and_then(|at| words.get(at + 1)).copied();
    let bits = width(words.first()?)?;
    let layer = after("layer").unwrap_or("network");
    let mask = after("mask").map_or(Some(full(bits)), number)?;
    let at = i32::try_from(number(after("at")?)?).ok()?;
    let next = match layer {
        "network" | "1" => false,
        "transport" | "tcp" | "2" => true,
        _ => return None,
    };
    Field::new([number(after("eq")?)?, mask], bits, at, next)
}

/// `u32(u32 0xb80000 0xfc0000 at 0)`
fn masked(part: &str) -> Option<Field> {
    let words: Vec<_> = part.strip_prefix("u32(")?.strip_suffix(')')?.split_whitespace().collect();
    let bits = width(words.first()?)?;
    let at = words.get(4)?;
    let (at, next) = at.strip_prefix("nexthdr+").map_or((*at, false), |at| (at, true));
    Field::new([number(words.get(1)?)?, number(words.get(2)?)?], bits, at.parse().ok()?, next)
}

fn width(word: &str) -> Option<u32> {
    word.strip_prefix('u')?.parse().ok().filter(|bits| matches!(bits, 8 | 16 | 32))
}

const fn full(bits: u32) -> u64 {
    (1 << bits) - 1
}
