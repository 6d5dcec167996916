//! The tables of WRED that devices print.
//!
//! ```text
//! dscp    Transmitted  Random drop  Tail drop   Minimum  Maximum  Mark     class    min-threshold  max-threshold  mark-probability
//!         pkts/bytes   pkts/bytes   pkts/bytes  thresh   thresh   prob     --------------------------------------------------------
//! af31    1300/650000  84/42000     0/0         32       64       1/10     0        25             50             1/10
//! ```

use super::show_pattern::holes;
use super::wred::DENOMINATOR;
use crate::ios::plan::{Basis, Of, Profile, WithPlace, Wred};
use crate::ios::read::Reader;
use crate::ios::read::words::{Outcome, Words, dscp, length};
use crate::ios::tree::Row;
use perhop_core::units::Length;

/// The columns of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Which field the rows are for.
    field: Field,
    /// The unit of the thresholds, where they have one number.
    unit: &'static str,
    /// Thresholds of the virtual class whose code points come next, in percent of the limit.
    virtual_class: Option<(u64, u64)>,
}

/// What a table is by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Field {
    /// No table yet.
    #[default]
    None,
    /// `class`: precedence.
    Precedence,
    /// `dscp`
    Dscp,
    /// `discard-class`
    DiscardClass,
    /// Of no packet here.
    Other,
}

impl Reader {
    /// A heading or a row of a table; `None` if the line is neither.
    pub(super) fn row_of_wred(&mut self, at: (usize, usize), row: &Row<'_>) -> Option<Outcome> {
        if let Some(field) = heading(row) {
            let unit = if self.shown.percent { "%" } else { self.unit_of_limit(at) };
            self.shown.table = Columns {
                field,
                unit: row.word(1).strip_prefix("min-threshold").and_then(self::unit).unwrap_or(unit),
                virtual_class: None,
            };
            self.wred_of(at)?.at.get_or_insert(row.at());
            return Some(Ok(None));
        }
        if let Some(outcome) = self.row_of_afd(at, row) {
            return Some(outcome);
        }
        if self.shown.table.field == Field::None {
            return None;
        }
        if let Some(unit) = units(row) {
            self.shown.table.unit = unit.unwrap_or(self.shown.table.unit);
            return Some(Ok(None));
        }
        let probability = row.word(row.words.len() - 1).split_once('/');
        let is_row = probability.is_some_and(|(one, of)| one == "1" && of.parse::<u64>().is_ok());
        is_row.then(|| self.data(at, row))
    }

    /// Approximate fair drop: WRED by virtual classes, each with its thresholds and then its code points.
    fn row_of_afd(&mut self, at: (usize, usize), row: &Row<'_>) -> Option<Outcome> {
        if ["AFD WRED STATS *", "Virtual Class *"].iter().any(|pattern| holes(pattern, row).is_some()) {
            self.shown.table = Columns::default();
            return Some(Ok(None));
        }
        if let Some(holes) = holes("# # / # *", row) {
            let [class, min, max] = [0, 1, 2].map(|i| holes[i].number);
            self.shown.table.virtual_class = Some((min, max));
            self.shown.afd = class;
            self.counted_by_afd(row, ("(Byte)", 4), ["transmit_bytes", "random_drop_bytes"]);
            return Some(Ok(None));
        }
        if row.word(0).starts_with("(Pkts)") {
            self.counted_by_afd(row, ("(Pkts)", 0), ["transmit_packets", "random_drop_packets"]);
            return Some(Ok(None));
        }
        let (min, max) = self.shown.table.virtual_class?;
        (row.starts(&["dscp", ":"])).then(|| self.virtual_class(at, row, (min, max)))
    }

    fn counted_by_afd(&mut self, row: &Row<'_>, (mark, first): (&str, usize), [sent, dropped]: [&'static str; 2]) {
        let sent = row.word(first).strip_prefix(mark).and_then(|rest| rest.parse().ok()).map(|count| (sent, count));
        let dropped = row.word(first + 1).parse().ok().map(|count| (dropped, count));
        let counts: Vec<_> = sent.into_iter().chain(dropped).collect();
        self.count(&format!("afd {}", self.shown.afd), row.at(), &counts);
    }

    /// `dscp : 10`
    fn virtual_class(&mut self, at: (usize, usize), row: &Row<'_>, (min, max): (u64, u64)) -> Outcome {
        let list = Words::new(row, 2).dscps()?;
        let wred = self.wred_of(at).ok_or("no class comes before it")?;
        wred.at.get_or_insert(row.at());
        wred.basis = Some(Basis::Dscp);
        let percent = |count: u64| Length::Percent(count as f64);
        let thresholds = Some([percent(min), percent(max)]);
        let is = Profile { of: Of::Dscp(list), thresholds, denominator: DENOMINATOR };
        wred.profiles.push(WithPlace { is, at: row.at() });
        Ok(Some("approximate fair drop is WRED here, which drops one of 10 packets at its maximum".into()))
    }

    fn wred_of(&mut self, (policy, class): (usize, usize)) -> Option<&mut Wred> {
        let wred = self.plan.policies.get_mut(policy)?.classes.get_mut(class)?.waiting.wred.get_or_insert_default();
        wred.whole = true;
        Some(wred)
    }

    /// Tables without units are in those of the limit.
    fn unit_of_limit(&self, (policy, class): (usize, usize)) -> &'static str {
        let class = self.plan.policies.get(policy).and_then(|policy| policy.classes.get(class));
        match class.and_then(|class| class.waiting.limit).map(|limit| limit.is) {
            Some(Length::Bytes(_)) => "bytes",
            _ => "packets",
        }
    }

    /// `af31  1300/650000  84/42000  0/0  32  64  1/10`
    fn data(&mut self, at: (usize, usize), row: &Row<'_>) -> Outcome {
        let columns = self.shown.table;
        let wred = self.wred_of(at).ok_or("no class comes before it")?;
        wred.basis = match columns.field {
            Field::Dscp => Some(Basis::Dscp),
            Field::DiscardClass => Some(Basis::DiscardClass),
            Field::Precedence | Field::Other | Field::None => wred.basis.or(Some(Basis::Precedence)),
        };
        let of = of(columns.field, row.word(0));
        let last = row.words.len() - 1;
        let threshold = |back: usize| threshold(row.word(last.checked_sub(back)?), columns.unit);
        let thresholds = threshold(2).zip(threshold(1)).map(|(min, max)| [min, max]);
        let denominator = row.word(last).strip_prefix("1/").and_then(|rest| rest.parse().ok());
        let denominator = denominator.filter(|number| *number > 0).unwrap_or(DENOMINATOR);
        if thresholds.is_some() || (denominator != DENOMINATOR && of != Of::Other) {
            wred.profiles.push(WithPlace { is: Profile { of: of.clone(), thresholds, denominator }, at: row.at() });
        }
        self.counted_by_wred(row);
        match of {
            Of::Other => Ok(Some("packets of reservations, or of other fields, are not told from others".into())),
            _ => Ok(None),
        }
    }

    fn counted_by_wred(&mut self, row: &Row<'_>) {
        const NAMES: [[&str; 2]; 3] = [
            ["transmitted_packets", "transmitted_bytes"],
            ["random_drop_packets", "random_drop_bytes"],
            ["tail_drop_packets", "tail_drop_bytes"],
        ];
        if row.words.len() < 6 {
            return;
        }
        let mut counts = Vec::new();
        for (names, word) in NAMES.iter().zip(row.words.iter().skip(1)) {
            if let Some((packets, bytes)) = word.text.split_once('/')
                && let (Ok(packets), Ok(bytes)) = (packets.parse(), bytes.parse())
            {
                counts.extend([(names[0], packets), (names[1], bytes)]);
            }
        }
        self.count(&format!("random-detect {}", row.word(0)), row.at(), &counts);
    }
}

/// What a heading says that the rows are for.
fn heading(row: &Row<'_>) -> Option<Field> {
    let next = row.word(1);
    if !(next.eq_ignore_ascii_case("transmitted") || next.starts_with("min-threshold")) {
        return None;
    }
    match row.word(0) {
        "dscp" => Some(Field::Dscp),
        "class" | "precedence" | "prec" => Some(Field::Precedence),
        "discard-class" => Some(Field::DiscardClass),
        "cos" | "exp" | "mpls-exp" | "clp" | "atm-clp" => Some(Field::Other),
        _ => None,
    }
}

/// The unit that a word of a heading is, as in `min-threshold(bytes)`.
fn unit(word: &str) -> Option<&'static str> {
    match word.trim_matches(['(', ')']) {
        "bytes" | "ms/bytes" | "us/bytes" => Some("bytes"),
        "packets" | "pkts" => Some("packets"),
        "ms" => Some("ms"),
        "us" => Some("us"),
        _ => None,
    }
}

/// Whether a line only has units or rules, and the unit of the thresholds if it says one.
fn units(row: &Row<'_>) -> Option<Option<&'static str>> {
    let is_rule = |word: &str| {
        matches!(word, "pkts/bytes" | "thresh" | "prob" | "threshold" | "probability")
            || word.trim_matches('-').is_empty()
    };
    let words = row.words.iter().map(|word| word.text);
    words.clone().all(|word| unit(word).is_some() || is_rule(word)).then(|| words.rev().find_map(unit))
}

/// Whom a row is for.
fn of(field: Field, word: &str) -> Of {
    let number = word.parse::<u8>().ok().filter(|number| *number < 8);
    match field {
        Field::Dscp => dscp(word).map_or(Of::Other, |dscp| Of::Dscp(vec![dscp])),
        Field::DiscardClass => number.map_or(Of::Other, Of::DiscardClass),
        // `default (0)`: the code point 0.
        Field::Precedence if word == "default" => Of::Precedence(0),
        Field::Precedence => number.map_or(Of::Other, Of::Precedence),
        Field::Other | Field::None => Of::Other,
    }
}

/// `32`, `5/187500` (time and bytes); `None` for `-`, the device's own.
fn threshold(word: &str, unit: &str) -> Option<Length> {
    let (count, unit) = word.split_once('/').map_or((word, unit), |(_, bytes)| (bytes, "bytes"));
    length(count.parse().ok()?, unit).ok()
}
