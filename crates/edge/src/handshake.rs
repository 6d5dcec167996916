//! Round-trip times of connections, from their handshakes.
//!
//! The first sample of RFC 6298 section 2.2, taken at the edge: from the SYN to the segment that acknowledges
//! the SYN-ACK. The SYN passes here on its way out, its answer on the way back, the acknowledgement on the way out
//! again, so this is the whole round trip wherever on the path the edge is, plus the short delays in hosts and
//! queues. Without the SYN-ACK (one direction only), without the start, and if SYN or SYN-ACK came twice
//! (Karn's rule, RFC 6298 section 3) nothing is known.
//!
//! Decision: docs/decisions/010-class-by-empty-round-trip.md

use perhop_core::packet::FlowId;
use perhop_core::units::{Span, Time};

use crate::headers::TcpView;

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// How far a connection's handshake has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    /// Not begun, over, or unusable.
    #[default]
    None,
    /// A SYN went out.
    Asked,
    /// Its SYN-ACK came; this number acknowledges it.
    Answered(u32),
}

/// A handshake, kept at the flow that opens the connection.
#[derive(Clone, Copy, Debug, Default)]
struct Handshake {
    progress: Progress,
    begun: Time,
    /// SYN or SYN-ACK came more than once.
    repeated: bool,
}

/// The handshakes seen, and the round-trip times known so far.
#[derive(Debug, Default)]
pub struct Handshakes {
    /// By flow.
    handshakes: Vec<Handshake>,
    rtts: Vec<Option<Span>>,
}

/// Place of a flow in a list that grows.
fn slot<T: Default + Clone>(list: &mut Vec<T>, flow: FlowId) -> &mut T {
    let slot = flow.0 as usize;
    if list.len() <= slot {
        list.resize(slot + 1, T::default());
    }
    &mut list[slot]
}

impl Handshakes {
    /// The round-trip time of a flow, if it is known.
    pub fn rtt(&self, flow: FlowId) -> Option<Span> {
        self.rtts.get(flow.0 as usize).copied().flatten()
    }

    /// Looks at a segment of `flow`, whose return flow is `mate`. True when it makes the round-trip time of both known.
    pub(crate) fn observe(&mut self, now: Time, [flow, mate]: [FlowId; 2], tcp: TcpView) -> bool {
        match (tcp.flags & SYN != 0, tcp.flags & ACK != 0) {
            (true, false) => self.ask(now, [flow, mate]),
            (true, true) => self.answer(mate, tcp.seq),
            (false, _) => return self.complete(now, [flow, mate], tcp),
        }
        false
    }

    /// Nothing is known of a flow any longer.
    pub(crate) fn forget(&mut self, flow: FlowId) {
        (*slot(&mut self.handshakes, flow), *slot(&mut self.rtts, flow)) = (Handshake::default(), None);
    }

    fn ask(&mut self, now: Time, [flow, mate]: [FlowId; 2]) {
        let it = slot(&mut self.handshakes, flow);
        if it.progress != Progress::None {
            it.repeated = true;
            return;
        }
        *it = Handshake { progress: Progress::Asked, begun: now, repeated: false };
        (*slot(&mut self.rtts, flow), *slot(&mut self.rtts, mate)) = (None, None);
    }

    fn answer(&mut self, opener: FlowId, seq: u32) {
        let it = slot(&mut self.handshakes, opener);
        match it.progress {
            Progress::None => {}
            Progress::Asked => it.progress = Progress::Answered(seq.wrapping_add(1)),
            Progress::Answered(_) => it.repeated = true,
        }
    }

    fn complete(&mut self, now: Time, [flow, mate]: [FlowId; 2], tcp: TcpView) -> bool {
        let it = slot(&mut self.handshakes, flow);
        let Handshake { progress, begun, repeated } = std::mem::take(it);
        // at least the SYN-ACK is acknowledged, in numbers that wrap
        let acknowledges = |number| tcp.flags & ACK != 0 && tcp.ack.wrapping_sub(number) < 1 << 31;
        let known = matches!(progress, Progress::Answered(number) if acknowledges(number)) && !repeated;
        if known {
            let rtt = Some(now.since(begun));
            (*slot(&mut self.rtts, flow), *slot(&mut self.rtts, mate)) = (rtt, rtt);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: [FlowId; 2] = [FlowId(0), FlowId(1)];
    const SERVER: [FlowId; 2] = [FlowId(1), FlowId(0)];

    /// Flow, time in ms, flags, seq, ack.
    type Seen = ([FlowId; 2], u64, u8, u32, u32);

    /// The round-trip time after these segments, of both flows, ms.
    fn after(seen: &[Seen]) -> Option<u64> {
        let mut it = Handshakes::default();
        for &(flows, ms, flags, seq, ack) in seen {
            let tcp = TcpView { seq, ack, flags, header_length: 20, payload: 0, timestamps: None };
            let known = it.observe(Time::ZERO + Span::from_ms(ms), flows, tcp);
            assert_eq!(known && flows == CLIENT, known, "the opener's segment completes it");
        }
        assert_eq!(it.rtt(FlowId(0)), it.rtt(FlowId(1)));
        it.rtt(FlowId(0)).map(|rtt| rtt.ns() / 1_000_000)
    }

    const ASK: Seen = (CLIENT, 10, SYN, 99, 0);
    const ANSWER: Seen = (SERVER, 70, SYN | ACK, u32::MAX, 100);
    const DONE: Seen = (CLIENT, 90, ACK, 100, 0);

    #[test]
    fn the_round_trip_is_from_the_syn_to_the_acknowledgement_of_its_answer() {
        assert_eq!(after(&[ASK, ANSWER]), None);
        assert_eq!(after(&[ASK, ANSWER, DONE]), Some(80));
        // Later segments change nothing, nor does the other side's first data before the acknowledgement.
        assert_eq!(after(&[ASK, ANSWER, DONE, (CLIENT, 500, ACK, 100, 9)]), Some(80));
        assert_eq!(after(&[ASK, ANSWER, (SERVER, 75, ACK, 0, 100), DONE]), Some(80));
    }

    #[test]
    fn half_a_handshake_says_nothing() {
        assert_eq!(after(&[ASK, DONE]), None, "one direction");
        assert_eq!(after(&[ANSWER, (SERVER, 90, ACK, 0, 101)]), None, "the other");
        assert_eq!(after(&[ANSWER, DONE]), None, "begun before the first packet");
        assert_eq!(after(&[ASK, ANSWER, (CLIENT, 90, ACK, 100, u32::MAX)]), None, "it acknowledges something older");
        assert_eq!(after(&[ASK, ANSWER, (CLIENT, 90, 0x04, 100, 0)]), None, "a reset");
    }

    /// Karn's rule: it is unknown which of the two was answered. The next connection on the same ports counts again.
    #[test]
    fn a_repeated_segment_spoils_it_until_the_next_connection() {
        let again: Seen = (CLIENT, 1010, SYN, 99, 0);
        assert_eq!(after(&[ASK, again, ANSWER, DONE]), None);
        assert_eq!(after(&[ASK, ANSWER, again, DONE]), None);
        assert_eq!(after(&[ASK, ANSWER, ANSWER, DONE]), None);
        let next = [(CLIENT, 5000, SYN, 7, 0), (SERVER, 5001, SYN | ACK, 3, 8), (CLIENT, 5033, ACK, 8, 4)];
        assert_eq!(after(&[&[ASK, again, ANSWER, DONE][..], &next].concat()), Some(33));
        assert_eq!(after(&[&[ASK, ANSWER, DONE][..], &next[..1]].concat()), None, "the old time is not the new one's");
    }
}
