//! What a column is. It is declared once, where its values are made; Parquet's types, `--show`, headings, intervals, plots,
//! comparisons and the tables of docs/reference/results.md come from that.
//!
//! By convention a column's name ends with its unit (a test); what a column is, is never read from its name.
//!
//! Decision: docs/decisions/084-columns-are-declared-once.md

use perhop_sim::record::bucket_width;
use std::borrow::Cow;

/// What a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Real,
    /// Names.
    Text,
}

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// With the table's other keys it tells its rows apart.
    Key,
    /// What else names a row, or what it belongs to.
    Label,
    /// May be summed over rows; a row that is absent counted nothing.
    Count,
    /// A rate of one stretch of time: as a count.
    Rate,
    /// Of its row alone: a mean, a maximum, a time, a setting.
    Measure,
    /// A quantile that comes from buckets.
    Quantile,
    /// A share, an index or a percentage.
    Share,
}

/// What the absence of a row means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Nothing was counted.
    Zero,
    /// Nothing was measured.
    Unknown,
}

impl Role {
    /// Name in Python.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Label => "label",
            Self::Count => "count",
            Self::Rate => "rate",
            Self::Measure => "measure",
            Self::Quantile => "quantile",
            Self::Share => "share",
        }
    }

    /// Whether it names rows.
    pub const fn names(self) -> bool {
        matches!(self, Self::Key | Self::Label)
    }

    /// What the absence of a row means.
    pub const fn absent(self) -> Absent {
        match self {
            Self::Count | Self::Rate => Absent::Zero,
            _ => Absent::Unknown,
        }
    }
}

/// A unit as it is printed, and what values are multiplied by to be in it.
pub type Step = (&'static str, f64);

/// What values are measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Numbers and names.
    None,
    /// Bits in a second.
    BitS,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// Packets.
    Packets,
    /// Hundredths.
    Percent,
    /// Parts of one, printed in per cent.
    Part,
}

impl Unit {
    /// In documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::BitS => "bit/s",
            Self::Ms => "ms",
            Self::S => "s",
            Self::Ns => "ns",
            Self::Bytes => "B",
            Self::Packets => "packets",
            Self::Percent => "%",
            Self::Part => "0 to 1",
        }
    }

    /// What a column's name ends with, by convention.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::None | Self::Part => "",
            Self::BitS => "bit_s",
            Self::Ms => "ms",
            Self::S => "s",
            Self::Ns => "ns",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Percent => "percent",
        }
    }

    /// The units that values are printed in, in ascending order.
    pub const fn steps(self) -> &'static [Step] {
        match self {
            Self::None => &[("", 1.0)],
            Self::BitS => &[("bit/s", 1.0), ("kbit/s", 1e-3), ("Mbit/s", 1e-6), ("Gbit/s", 1e-9)],
            Self::Ms => &[("us", 1e3), ("ms", 1.0), ("s", 1e-3)],
            Self::S => &[("s", 1.0)],
            Self::Ns => &[("ns", 1.0)],
            Self::Bytes => &[("B", 1.0), ("kB", 1e-3), ("MB", 1e-6), ("GB", 1e-9)],
            Self::Packets => &[("packets", 1.0)],
            Self::Percent => &[("%", 1.0)],
            Self::Part => &[("%", 100.0)],
        }
    }

    /// Which of them is used where a table's values do not decide.
    const fn usual(self) -> usize {
        match self {
            Self::BitS => 2,
            Self::Ms => 1,
            _ => 0,
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name in files.
    pub name: Cow<'static, str>,
    /// What its values are.
    pub kind: Kind,
    /// What it is for.
    pub role: Role,
    /// What they are measured in.
    pub unit: Unit,
    /// Whether it counts bytes as `accounting` says, or is a rate of such bytes.
    pub accounted: bool,
    /// What it says, in a line.
    pub doc: &'static str,
    printed: Option<Cow<'static, str>>,
    step: usize,
}

impl Column {
    fn new(name: Cow<'static, str>, role: Role, unit: Unit, doc: &'static str) -> Self {
        Self { name, kind: Kind::Real, role, unit, accounted: false, doc, printed: None, step: unit.usual() }
    }

    /// The same under another name in everything that is printed.
    pub fn printed(self, name: impl Into<Cow<'static, str>>) -> Self {
        Self { printed: Some(name.into()), ..self }
    }

    /// The same of bytes as `accounting` counts them.
    pub fn accounted(self) -> Self {
        Self { accounted: true, ..self }
    }

    /// The same printed in another step of its unit.
    pub fn step(self, step: usize) -> Self {
        Self { step, ..self }
    }

    /// The same of these values.
    pub fn of(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// What its quantity is called wherever it is printed.
    pub fn words(&self) -> Cow<'static, str> {
        let plain = || {
            let stem = self.name.strip_suffix(self.unit.ending()).unwrap_or(&self.name).trim_end_matches('_');
            if stem.is_empty() { self.unit.name().to_owned() } else { stem.replace('_', " ") }
        };
        self.printed.clone().unwrap_or_else(|| plain().into())
    }

    /// The unit that it is printed in where its values do not decide.
    pub const fn usual(&self) -> Step {
        self.unit.steps()[self.step]
    }

    /// Its heading: `delivered Mbit/s`.
    pub fn heading(&self) -> String {
        let (words, unit) = (self.words(), self.usual().0);
        let alone = words == unit || words == self.unit.name();
        if alone { unit.to_owned() } else { format!("{words} {unit}").trim_end().to_owned() }
    }

    /// How far above the exact quantile a value may be: the width of the bucket whose largest value it is. 0 for whatever is
    /// exact, as no delay at all is.
    pub fn resolution(&self, value: f64) -> f64 {
        let is_bucket = self.role == Role::Quantile && value > 0.0;
        if is_bucket { bucket_width((value * 1e6).round() as u64) as f64 / 1e6 } else { 0.0 }
    }

    /// The bounds of a share, of an index and of a percentage.
    pub fn bounds(&self) -> Option<[f64; 2]> {
        let most = if self.unit == Unit::Percent { 100.0 } else { 1.0 };
        (self.role == Role::Share).then_some([0.0, most])
    }
}

/// What may be summed over rows.
pub fn total(name: impl Into<Cow<'static, str>>, unit: Unit, doc: &'static str) -> Column {
    Column::new(name.into(), Role::Count, unit, doc)
}

/// Bits in a second, over the measured time.
pub fn rate(name: impl Into<Cow<'static, str>>, doc: &'static str) -> Column {
    Column::new(name.into(), Role::Rate, Unit::BitS, doc)
}

/// What is of its row alone.
pub fn measure(name: impl Into<Cow<'static, str>>, unit: Unit, doc: &'static str) -> Column {
    Column::new(name.into(), Role::Measure, unit, doc)
}

/// A quantile of times, ms.
pub fn quantile(name: impl Into<Cow<'static, str>>, doc: &'static str) -> Column {
    Column::new(name.into(), Role::Quantile, Unit::Ms, doc)
}

/// A share or an index, from 0 to 1; from 0 to 100 in per cent.
pub fn share(name: impl Into<Cow<'static, str>>, unit: Unit, doc: &'static str) -> Column {
    Column::new(name.into(), Role::Share, unit, doc)
}

/// What names rows.
pub fn name(name: impl Into<Cow<'static, str>>, doc: &'static str) -> Column {
    Column::new(name.into(), Role::Label, Unit::None, doc).of(Kind::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buckets have two digits, from 512 ns on.
    #[test]
    fn quantiles_know_their_bucket() {
        let bucketed = quantile("delay_p99_ms", "");
        assert_eq!(bucketed.resolution(0.05), 0.000512);
        let wide = bucketed.resolution(8.290303);
        assert!(wide / 8.290303 > 0.0039 && wide / 8.290303 < 0.0079, "{wide}");
        assert_eq!([bucketed.resolution(0.0), measure("delay_max_ms", Unit::Ms, "").resolution(8.0)], [0.0; 2]);
    }

    #[test]
    fn shares_have_bounds() {
        assert_eq!(share("jain", Unit::None, "").bounds(), Some([0.0, 1.0]));
        assert_eq!(share("loss_percent", Unit::Percent, "").bounds(), Some([0.0, 100.0]));
        assert_eq!(measure("delay_mean_ms", Unit::Ms, "").bounds(), None);
    }

    #[test]
    fn headings_name_quantity_and_unit() {
        assert_eq!(rate("throughput_bit_s", "").printed("delivered").heading(), "delivered Mbit/s");
        assert_eq!(rate("goodput_mean_bit_s", "").step(1).heading(), "goodput mean kbit/s");
        assert_eq!(total("packets", Unit::Packets, "").heading(), "packets");
        assert_eq!(total("dropped_early_packets", Unit::Packets, "").heading(), "dropped early packets");
        assert_eq!(share("utilisation", Unit::Part, "").heading(), "utilisation %");
        assert_eq!(share("jain", Unit::None, "").heading(), "jain");
        assert_eq!(rate("bit_s", "").heading(), "Mbit/s");
    }
}
