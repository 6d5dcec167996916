//! Capture: replays the packets of a capture as datagrams, with their times and sizes.
//!
//! The first packet leaves at `start`, and every other one as long after it as in the capture, with its IP length.
//! The replay is open loop: nothing on the path changes what is sent, although real TCP would have slowed down. It is
//! right for traffic that does not adapt, and for the first effects of a burst. One `[traffic]` is one direction,
//! which `match` chooses by addresses. Of `flows` sources the i-th sends every `flows`-th flow (5-tuple) of the
//! capture, in the order in which flows appear; with one source all packets are one flow. `stop` and the end of the
//! run cut off the rest.
//!
//! | symbol | field         | unit | default   |
//! |--------|---------------|------|-----------|
//! | -      | `file`        | -    | -         |
//! | -      | `match`       | -    | all       |
//! | -      | `code-points` | -    | `capture` |
//! | -      | `hash`        | -    | the file's |
//!
//! Deviations: two packets of a source are at least 1 ns apart. Payloads, fragments and TCP's sequence numbers are
//! not replayed, so a conditioner that measures ACKs and round trips finds none. Packets without a readable IP header
//! are omitted.

use super::{Carrier, Offer, Step, Traffic, TrafficModel, TrafficScope};
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::packet::Ecn;
use perhop_core::params::{Choice, Kind, Located, Node, ParamError, Params as Declared, Problems, Tree, Value};
use perhop_core::rng::Rng;
use perhop_core::units::{Bytes, Span, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whose DSCP and ECN field packets have.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodePoints {
    /// Those of the capture.
    #[default]
    Capture,
    /// `dscp` and `ecn` of the traffic.
    Traffic,
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// After the first one.
    pub at: Span,
    /// Number of its flow, in the order of appearance.
    pub flow: u32,
    /// IP length, bytes.
    pub wire: u32,
    /// Code point.
    pub dscp: Dscp,
    /// ECN field.
    pub ecn: Ecn,
}

/// A capture: its name, and once the host has read it its packets in the order of time.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Where it is.
    pub file: String,
    /// Empty until it is read.
    pub packets: Arc<[Replayed]>,
}

/// The file's hash says what is in it.
impl PartialEq for Recording {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

/// What a host has read of a capture.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Its packets that match, in the order of time.
    pub packets: Arc<[Replayed]>,
    /// Of these: 16 hexadecimal digits.
    pub hash: String,
}

/// Why a capture cannot be replayed: what is wrong, and the fix.
pub type Fault = [String; 2];

/// Reads captures for a scenario, which knows no format of them.
pub trait CaptureReader: Sync {
    /// Whether a file that begins with these bytes is a capture.
    fn recognises(&self, start: &[u8]) -> bool;

    /// The packets of a file that match.
    ///
    /// # Errors
    /// It cannot be read, or what it holds cannot be replayed.
    fn read(&self, file: &str, matches: &Match) -> Result<Contents, Fault>;
}

impl Value for Recording {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        String::read(node, problems).map(|file| Self { file, packets: Arc::default() })
    }
    fn tree(&self) -> Option<Tree> {
        self.file.tree()
    }
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The capture (pcap or pcapng, plain or .gz), from the directory in which perhop runs.
    pub file: Recording,
    /// Which of its packets; default: all.
    #[param(name = "match")]
    pub matches: Option<Box<Located<Match>>>,
    /// Where DSCP and ECN field come from: the capture, or `dscp` and `ecn` of the traffic.
    #[param(default = "capture")]
    pub code_points: CodePoints,
    /// Hash of the packets replayed; default: filled in, so that results belong to one content.
    pub hash: Option<String>,
}

/// One source of a capture's packets.
#[derive(Clone, Debug)]
pub struct Capture {
    params: Box<Params>,
    /// Which of how many.
    source: [u32; 2],
    /// The next packet.
    next: usize,
    began: Time,
}

impl Params {
    /// # Errors
    /// None: the host that reads the file reports its faults.
    pub fn build(self, scope: &TrafficScope) -> Result<Capture, ParamError> {
        let (params, source) = (Box::new(self), [scope.source, scope.sources.max(1)]);
        let mut it = Capture { params, source, next: 0, began: Time::ZERO };
        it.next = it.own(0);
        Ok(it)
    }
}

impl Capture {
    fn packets(&self) -> &[Replayed] {
        &self.params.file.packets
    }

    /// The first of its packets at or behind `from`.
    fn own(&self, from: usize) -> usize {
        let [source, sources] = self.source;
        let own = |packet: &Replayed| packet.flow % sources == source;
        self.packets()[from..].iter().position(own).map_or(self.packets().len(), |i| from + i)
    }

    fn offer(&self, packet: &Replayed) -> Offer {
        let Replayed { wire, dscp, ecn, .. } = *packet;
        match self.params.code_points {
            CodePoints::Capture => Offer::Replayed { wire, dscp, ecn },
            CodePoints::Traffic => Offer::Datagram(wire),
        }
    }
}

impl TrafficModel for Params {
    fn carrier(&self) -> Carrier {
        Carrier::Datagrams
    }

    fn is_endless(&self) -> bool {
        false
    }

    fn rate(&self) -> Option<f64> {
        None
    }

    fn largest_datagram(&self) -> Option<Bytes> {
        let largest = self.file.packets.iter().map(|packet| packet.wire).max();
        Some(Bytes::new(u64::from(largest.unwrap_or(0))))
    }

    /// Packets have the capture's times.
    fn spread(&self) -> Span {
        Span::ZERO
    }

    fn replayed(&mut self) -> Option<&mut Params> {
        Some(self)
    }

    fn code_points(&self) -> Option<BTreeSet<Dscp>> {
        let own = || self.file.packets.iter().map(|packet| packet.dscp).collect();
        (self.code_points == CodePoints::Capture).then(own)
    }

    /// What a capture holds, and what its replay is not.
    fn remark(&self) -> Option<String> {
        let packets = &self.file.packets;
        let lasts = packets.last().map_or(0.0, |last| last.at.seconds());
        Some(format!(
            "{} packets of {} in {lasts:.3} s, open loop: whatever happens to them, the next ones come as captured; real TCP \
             would have reacted",
            packets.len(),
            self.file.file
        ))
    }
}

impl Traffic for Capture {
    type Params = Params;

    fn first(&mut self, start: Time, _rng: &mut Rng) -> Time {
        self.began = start;
        self.packets().get(self.next).map_or(start, |packet| start + packet.at)
    }

    fn wake(&mut self, now: Time, _rng: &mut Rng) -> Step {
        let Some(packet) = self.packets().get(self.next) else { return Step { offer: Offer::Nothing, next: None } };
        let offer = self.offer(packet);
        self.next = self.own(self.next + 1);
        let earliest = now + Span::from_ns(1);
        let next = self.packets().get(self.next).map(|packet| (self.began + packet.at).max(earliest));
        Step { offer, next }
    }

    fn retune(&mut self, _now: Time, params: &Params, _scope: &TrafficScope) -> Result<(), ParamError> {
        let same = |a: &Params, b: &Params| a.file == b.file && a.matches == b.matches && a.hash == b.hash;
        if !same(&self.params, params) {
            let error = ParamError::new("file", "E202", "a change cannot replace the capture".into());
            return Err(error.help("a change may alter `code-points`; write another [traffic.X] with a later `start`"));
        }
        *self.params = params.clone();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(at: u64, flow: u32) -> Replayed {
        let (dscp, ecn) = (Dscp::new(flow as u8).unwrap(), Ecn::Ect0);
        Replayed { at: Span::from_ns(at), flow, wire: 100 + flow, dscp, ecn }
    }

    /// Every time and size that a source offers.
    fn offered(source: u32, sources: u32, code_points: CodePoints) -> Vec<(u64, Offer)> {
        let packets = [packet(0, 0), packet(5, 1), packet(5, 0), packet(5, 2), packet(5, 2), packet(90, 1)].into();
        let file = Recording { file: "x".into(), packets };
        let params = Params { file, matches: None, code_points, hash: None };
        let mut it = params.build(&TrafficScope { source, sources, ..TrafficScope::default() }).unwrap();
        let mut rng = Rng::stream(1, 0, "x");
        let (mut at, mut all) = (Some(it.first(Time::from_ns(1000), &mut rng)), Vec::new());
        while let Some(now) = at {
            let step = it.wake(now, &mut rng);
            all.push((now.ns(), step.offer));
            at = step.next;
        }
        all
    }

    #[test]
    fn packets_come_at_their_times() {
        let times: Vec<_> = offered(0, 1, CodePoints::Traffic);
        let of = |flow: u32| Offer::Datagram(100 + flow);
        assert_eq!(times, [(1000, of(0)), (1005, of(1)), (1006, of(0)), (1007, of(2)), (1008, of(2)), (1090, of(1))]);
    }

    #[test]
    fn flows_are_dealt_to_sources() {
        let of = |flow: u32| Offer::Replayed { wire: 100 + flow, dscp: Dscp::new(flow as u8).unwrap(), ecn: Ecn::Ect0 };
        assert_eq!(offered(1, 2, CodePoints::Capture), [(1005, of(1)), (1090, of(1))]);
        assert_eq!(offered(0, 2, CodePoints::Capture).len(), 4);
        assert_eq!(offered(7, 8, CodePoints::Capture), [(1000, Offer::Nothing)]);
    }
}
