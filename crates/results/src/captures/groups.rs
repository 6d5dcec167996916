//! Packets in groups, as a table and as text.

use super::printout::Printout;
use crate::tables::column::{Unit, name, rate, share, total};
use crate::tables::columns::{Columns, Made};
use perhop_capture::mark::{By, Group, Groups};
use std::borrow::Borrow;

/// A row for each of these groups of all.
pub fn table<G: Borrow<Group>>(of: &Groups, rows: &[G]) -> Made {
    let (key, doc): (&'static [&'static str], _) = match of.by {
        By::Host => (&["host"], "address; a packet counts at its sender and at its receiver"),
        By::Pair => (&["pair"], "source and destination address"),
        By::Flow => (&["flow"], "protocol, addresses and ports"),
        By::Dscp => (&["dscp"], "name of the code point, or its number"),
        By::Ecn => (&["ecn"], "ECN, as RFC 3168 calls its values"),
    };
    let seconds = "`bytes` over the time of the captures; null where that is 0";
    let of_all = "share of the bytes of all packets";
    let columns = Columns::of(of.by.name(), key, rows)
        .label(name(key[0], doc).printed(key[0]), |row| row.borrow().name.clone())
        .volume("packets of both directions as they arrived", |row| row.borrow().volume)
        .real(rate("bit_s", seconds).accounted(), |row| of.bit_s(row.borrow()))
        .real(share("share_percent", Unit::Percent, of_all).printed("% of bytes"), |row| {
            of.share_percent(row.borrow())
        });
    if of.by != By::Host {
        return columns.made();
    }
    let sent = "packets that the host sent";
    columns
        .integer(total("sent_packets", Unit::Packets, sent).printed("sent packets"), |row| row.borrow().sent.packets)
        .integer(total("sent_bytes", Unit::Bytes, sent).printed("sent bytes").accounted(), |row| {
            row.borrow().sent.bytes
        })
        .made()
}

/// The `most` largest, with the others in the last line.
pub fn text(of: &Groups, most: usize) -> String {
    let (first, others) = of.rows.split_at(most.min(of.rows.len()));
    let mut rest = Group { name: format!("{} others", others.len()), ..Group::default() };
    others.iter().for_each(|row| rest.add(row));
    let rows: Vec<_> = first.iter().chain((!others.is_empty()).then_some(&rest)).collect();
    let made = table(of, &rows);
    let sent: &[&str] = if of.by == By::Host { &["sent_packets", "sent_bytes"] } else { &[] };
    Printout::of(&made)
        .columns(&[of.by.name(), "packets", "bytes", "bit_s"])
        .form("share_percent", |share| format!("{share:.1}"))
        .columns(sent)
        .text(1)
}
