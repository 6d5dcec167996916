//! Rows of flows: the two directions of a connection are one.

use perhop_core::packet::{FlowId, Packet, flags};
use perhop_sim::record::{FlowCounts, FlowOf, FlowRow, PortFate, TableRow};

/// The `[traffic]` tables of such a run, in their order: what flows are told apart by.
pub const TRAFFIC: [&str; 3] = ["tcp", "udp", "other"];

/// Beyond so many flows of a run, those of a table share its last row: memory is bounded.
const MOST: usize = 100_000;

/// A flow's number that has no row.
const NONE: u32 = u32::MAX;

/// The table of an IP protocol.
pub(super) fn table(protocol: u8) -> usize {
    match protocol {
        6 => 0,
        17 => 1,
        _ => 2,
    }
}

/// A flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    table: u32,
    number: u32,
    pub(super) counts: FlowCounts,
    /// Payload of the forward direction that left, each byte of TCP once.
    goodput: u64,
    /// TCP: behind the highest byte that left.
    highest: Option<u32>,
}

/// All flows of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    rows: Vec<Row>,
    /// By number at the edge.
    of: Vec<u32>,
    /// By table, how many there are.
    known: [u32; TRAFFIC.len()],
}

impl Flows {
    /// The row of a flow, or of its other half, which may be known already.
    pub(super) fn of(&mut self, flow: FlowId, mate: Option<FlowId>, table: impl FnOnce() -> usize) -> u32 {
        let row = |of: &[u32], flow: FlowId| of.get(flow.0 as usize).copied().filter(|row| *row != NONE);
        if let Some(row) = row(&self.of, flow) {
            return row;
        }
        let found = mate.and_then(|mate| row(&self.of, mate)).unwrap_or_else(|| self.another(table()));
        let slot = flow.0 as usize;
        if self.of.len() <= slot {
            self.of.resize(slot + 1, NONE);
        }
        self.of[slot] = found;
        found
    }

    fn another(&mut self, table: usize) -> u32 {
        let last = || self.rows.iter().rposition(|row| row.table as usize == table);
        if self.rows.len() >= MOST
            && let Some(last) = last()
        {
            return last as u32;
        }
        let number = self.known[table];
        self.known[table] += 1;
        self.rows.push(Row { table: table as u32, number, ..Row::default() });
        self.rows.len() as u32 - 1
    }

    pub(super) fn forget(&mut self, flow: FlowId) {
        self.of.get_mut(flow.0 as usize).into_iter().for_each(|it| *it = NONE);
    }

    pub(super) fn row(&mut self, row: u32) -> &mut Row {
        &mut self.rows[row as usize]
    }

    pub(super) fn name(&self, row: u32) -> FlowOf {
        let Row { table, number, .. } = self.rows[row as usize];
        FlowOf { table, number }
    }

    /// What became of a packet of this row on a link.
    pub(super) fn end(&mut self, row: u32, link: u32, packet: &Packet, fate: PortFate) {
        let row = &mut self.rows[row as usize];
        let lost = matches!(fate, PortFate::Dropped(_));
        let counts = &mut row.counts;
        let count = match (link, lost) {
            (0, false) => &mut counts.delivered,
            (0, true) => &mut counts.dropped,
            (_, false) => &mut counts.acks[1],
            (_, true) => &mut counts.acks[2],
        };
        count.add(packet.size);
        if link == 0 && !lost {
            row.goodput += row.progress(packet);
        }
    }

    /// Tables and rows.
    pub(super) fn rows(&self) -> (Vec<TableRow>, Vec<FlowRow>) {
        let table = |table: usize| {
            let of = self.rows.iter().filter(|row| row.table as usize == table);
            TableRow { goodput_bytes: of.map(|row| row.goodput).sum(), complete: 0, open: 0, tcp: None }
        };
        let row = |it: &Row| FlowRow {
            table: it.table as usize,
            number: it.number,
            counts: it.counts,
            goodput_bytes: it.goodput,
            tcp: None,
            cuts: None,
            delay: None,
            jitter: None,
        };
        let mut rows: Vec<_> = self.rows.iter().map(row).collect();
        rows.sort_by_key(|row| (row.table, row.number));
        ((0..TRAFFIC.len()).map(table).collect(), rows)
    }
}

impl Row {
    /// Payload of a packet that no packet before it had, as far as numbers tell. The numbers begin again with a SYN.
    fn progress(&mut self, packet: &Packet) -> u64 {
        if self.table != 0 {
            return u64::from(packet.payload);
        }
        let begins = packet.flags & flags::SYN != 0;
        let before = self.highest.filter(|_| !begins).unwrap_or(packet.seq_end.wrapping_sub(packet.payload.into()));
        let ahead = packet.seq_end.wrapping_sub(before) as i32;
        if ahead >= 0 || begins {
            self.highest = Some(packet.seq_end);
        }
        u64::from(packet.payload).min(ahead.max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(seq_end: u32, payload: u16) -> Packet {
        Packet { seq_end, payload, ..Packet::default() }
    }

    /// Numbers wrap; a repeated segment, and a part of one, count once.
    #[test]
    fn a_byte_counts_once() {
        let mut row = Row::default();
        let sent = [(u32::MAX - 9, 100), (90, 100), (90, 100), (190, 150), (90, 100)];
        assert_eq!(sent.map(|(end, payload)| row.progress(&segment(end, payload))), [100, 100, 0, 100, 0]);
    }

    #[test]
    fn two_halves_are_one_row() {
        let mut flows = Flows::default();
        let [a, b, c] = [FlowId(5), FlowId(2), FlowId(7)];
        assert_eq!(flows.of(a, None, || 0), 0);
        assert_eq!(flows.of(b, Some(a), || 0), 0);
        assert_eq!(flows.of(c, None, || 1), 1);
        flows.forget(a);
        assert_eq!(flows.of(a, None, || 0), 2);
        assert_eq!((flows.known, flows.name(2)), ([2, 1, 0], FlowOf { table: 0, number: 1 }));
    }
}
