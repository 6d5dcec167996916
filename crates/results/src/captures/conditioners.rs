//! Conditioners of a policy: which packets came and left, what they count themselves, which buckets would do; labels.

use super::printout::{Printout, bit_rate, bytes, share};
use crate::tables::column::{Unit, measure, name, total};
use crate::tables::columns::{Columns, Made};
use perhop_capture::mark::{ColourRow, ConditionerReport, LabelReport, Report, TallyRow};

const IN: &str = "colour on arrival: that of the AF code point, or `unmarked`";
const OUT: &str = "colour on leaving, or `dropped`";
const CONDITIONER: &str = "name of the conditioner";

/// Packets that came to a conditioner, or to none, with one colour and left with another.
pub(super) struct ColourChange<'a> {
    of: Option<&'a ConditionerReport>,
    row: &'a ColourRow,
    /// Bytes that it took.
    total: u64,
}

impl<'a> ColourChange<'a> {
    fn all(of: Option<&'a ConditionerReport>, rows: &'a [ColourRow]) -> impl Iterator<Item = Self> {
        let total = rows.iter().map(|row| row.volume.bytes).sum();
        rows.iter().map(move |row| Self { of, row, total })
    }
}

/// Of each conditioner, then of none.
pub(super) fn colour_rows(report: &Report) -> impl Iterator<Item = ColourChange<'_>> {
    let own = report.conditioners.iter().flat_map(|it| ColourChange::all(Some(it), &it.colours));
    own.chain(ColourChange::all(None, &report.unmatched))
}

pub(super) fn colours(rows: &[ColourChange<'_>]) -> Made {
    let conditioner = "name of the conditioner; null for packets that no conditioner coloured";
    Columns::of("colours", &["conditioner", "before", "after"], rows)
        .text("conditioner", conditioner, |r| r.of.map(|it| it.name.clone()))
        .label(name("before", IN).printed("colour in"), |r| r.row.before.to_owned())
        .label(name("after", OUT).printed("colour out"), |r| r.row.after.to_owned())
        .volume("arrived and left with these two colours", |r| r.row.volume)
        .made()
}

pub(super) fn unmatched(rows: &[&ColourRow]) -> Made {
    Columns::of("unmatched", &["before"], rows)
        .text("before", IN, |r| r.before.to_owned())
        .text("after", OUT, |r| r.after.to_owned())
        .volume("packets that no conditioner coloured", |r| r.volume)
        .made()
}

pub(super) fn conditioners(rows: &[&ConditionerReport]) -> Made {
    let rate = |of: &'static str, doc| measure(of, Unit::BitS, doc).accounted();
    let burst = |of: &'static str, doc| measure(of, Unit::Bytes, doc).accounted();
    let cbs = "smallest `cbs` at which, at `cir`, every packet held to it would conform (RFC 2697); with several \
               instances, of the one that needs most; null without a rate or packets, and for a labeller";
    let pbs = "smallest `pbs` at which, at `pir`, no packet would be red; null without packets";
    let ebs = "smallest `ebs` at which, at `eir` and with the committed bucket as it is, no packet would be red; null \
               if no packet finds that bucket empty";
    let larger = "packets larger than `cbs`: they can never be green";
    Columns::of("conditioners", &["name"], rows)
        .label(name("name", CONDITIONER).printed("conditioner"), |r| r.name.clone())
        .text("kind", "its kind", |r| r.kind.to_owned())
        .integer(rate("cir_bit_s", "committed rate; null without one"), |r| r.cir_bit_s)
        .integer(burst("cbs_bytes", "committed burst; null without one"), |r| r.cbs_bytes)
        .integer(burst("conforming_cbs_bytes", cbs).printed("all would conform from cbs"), |r| r.conforming_cbs_bytes)
        .integer(total("packets_larger_than_cbs", Unit::None, larger), |r| r.packets_larger_than_cbs)
        .integer(rate("pir_bit_s", "peak rate (RFC 2698); null without one"), |r| r.peak.pir_bit_s)
        .integer(burst("pbs_bytes", "peak burst; null without one"), |r| r.peak.pbs_bytes)
        .integer(burst("conforming_pbs_bytes", pbs).printed("none would be red from pbs"), |r| {
            r.peak.conforming_pbs_bytes
        })
        .integer(rate("eir_bit_s", "excess rate (RFC 4115); null without one"), |r| r.excess.eir_bit_s)
        .integer(burst("ebs_bytes", "excess burst; null without one"), |r| r.excess.ebs_bytes)
        .integer(burst("conforming_ebs_bytes", ebs).printed("none would be red from ebs"), |r| {
            r.excess.conforming_ebs_bytes
        })
        .made()
}

/// A total that a conditioner keeps itself.
pub(super) type Tally<'a> = (&'a ConditionerReport, &'a TallyRow);

/// In the conditioners' order.
pub(super) fn tally_rows(report: &Report) -> impl Iterator<Item = Tally<'_>> {
    report.conditioners.iter().flat_map(|it| it.tallies.iter().map(move |row| (it, row)))
}

pub(super) fn tallies(rows: &[Tally<'_>]) -> Made {
    Columns::of("tallies", &["conditioner", "quantity"], rows)
        .text("conditioner", CONDITIONER, |r| r.0.name.clone())
        .label(name("quantity", "name of the count").printed("counted"), |r| r.1.quantity.to_owned())
        .integer(total("total", Unit::None, "sum over the conditioner's instances"), |r| r.1.total)
        .made()
}

pub(super) fn labels(rows: &[&LabelReport]) -> Made {
    let count = |of: &'static str, doc| total(of, Unit::None, doc);
    let foreign = "packets that came with a flow label that is no label of this policy, and counted as having none";
    let carried = "what flow labels carry: `tickets` or `rate`";
    let saturated = "of those that left, labels beyond the codes: the nearest code was written";
    let no_room = "packets that left without the label they were given: IPv4 has no flow label";
    Columns::of("labels", &["carried"], rows)
        .label(name("carried", carried).printed("flow label"), |r| r.carried.to_owned())
        .integer(count("came", "packets that came with a label"), |r| r.came)
        .integer(count("foreign", foreign), |r| r.foreign)
        .integer(count("left", "packets that left with a label"), |r| r.left)
        .integer(count("changed", "of those, with another flow label than they came with"), |r| r.changed)
        .integer(count("saturated", saturated), |r| r.saturated)
        .integer(count("no_room", no_room).printed("no room (IPv4)"), |r| r.no_room)
        .made()
}

/// What came and left, then which buckets would do.
pub(super) fn text(report: &Report) -> [String; 4] {
    let buckets = [
        ["cir_bit_s", "cbs_bytes", "conforming_cbs_bytes"],
        ["pir_bit_s", "pbs_bytes", "conforming_pbs_bytes"],
        ["eir_bit_s", "ebs_bytes", "conforming_ebs_bytes"],
    ];
    let [committed, peak, excess] = buckets.map(|columns| bucket(report, columns));
    [colour_text(report), committed, peak, excess]
}

fn colour_text(report: &Report) -> String {
    let rows: Vec<_> = colour_rows(report).collect();
    let names = rows.iter().map(|r| r.of.map_or("(none)", |it| &it.name).to_owned());
    Printout::of(&colours(&rows))
        .under("conditioner", names)
        .cells("kind", rows.iter().map(|r| r.of.map_or("", |it| it.kind).to_owned()))
        .columns(&["before", "after", "packets", "bytes"])
        .cells("share %", rows.iter().map(|r| share(r.row.volume.bytes, r.total)))
        .text(4)
}

/// The meter's answer to "which CBS would do?", and the same of the second bucket of meters with two rates: conditioners
/// that have such a rate and packets.
fn bucket(report: &Report, [rate, burst, conforming]: [&str; 3]) -> String {
    let all: Vec<_> = report.conditioners.iter().collect();
    let table = conditioners(&all).table;
    let known = |place: &usize| [rate, conforming].iter().all(|name| table.integers(name)[*place].is_some());
    let rows: Vec<_> = (0..all.len()).filter(known).map(|place| all[place]).collect();
    let made = conditioners(&rows);
    let printout = Printout::of(&made).columns(&["name"]);
    printout.form(rate, bit_rate).form(burst, bytes).form(conforming, bytes).text(1)
}

/// What conditioners count themselves.
pub(super) fn tally_text(report: &Report) -> String {
    Printout::of(&tallies(&tally_rows(report).collect::<Vec<_>>()))
        .columns(&["conditioner", "quantity", "total"])
        .text(2)
}

pub(super) fn label_text(report: &Report) -> String {
    let columns = ["carried", "came", "foreign", "left", "changed", "saturated", "no_room"];
    Printout::of(&labels(&report.labels.iter().collect::<Vec<_>>())).columns(&columns).text(1)
}
