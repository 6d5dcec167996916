//! A pipe for one connection: a fixed delay each way, no queue, and a fate for every packet.

use perhop_core::units::{Span, Time};
use perhop_sim::transport::{AckInfo, Config, Received, Receiver, Recovery, Segment, Sender, Supply, stamp};
use std::collections::{BTreeSet, VecDeque};

/// What the pipe does to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Lose,
    /// Congestion experienced, if the segment is ECN-capable; else it is lost.
    Mark,
}

/// SplitMix64: a generator good enough for tests, in three lines.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// True with probability `p`.
    pub(crate) fn falls(&mut self, p: f64) -> bool {
        ((self.next() >> 11) as f64) < p * (1u64 << 53) as f64
    }
}

/// The head of a queue, if it is due.
fn take_due<T>(queue: &mut VecDeque<(Time, T)>, now: Time) -> Option<T> {
    queue.front().is_some_and(|head| head.0 == now).then(|| queue.pop_front().unwrap().1)
}

/// A connection over the pipe. `fate` decides each data-direction packet, `ack_lost` each ACK.
pub(crate) struct Pipe<F> {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) now: Time,
    one_way: Span,
    config: Config,
    segments: VecDeque<(Time, Received)>,
    acks: VecDeque<(Time, AckInfo)>,
    fate: F,
    /// Duplicate ACKs since the last ACK of new data outside recovery.
    duplicates: u32,
    /// Segments that reached the receiver, SYNs included.
    pub(crate) arrived: u64,
    /// Whether each number was among them.
    got: Vec<bool>,
    /// The numbers on the way that have not arrived before.
    needed: BTreeSet<u32>,
    end: u32,
}

impl<F: FnMut(&Segment) -> Fate> Pipe<F> {
    pub(crate) fn new(config: Config, supply: Supply, round_trip: Span, fate: F) -> Self {
        let end = match supply {
            Supply::Bytes(bytes) => bytes.div_ceil(u64::from(config.mss)) as u32 + 1,
            _ => u32::MAX,
        };
        let mut pipe = Self {
            sender: Sender::new(&config, supply).unwrap(),
            receiver: Receiver::new(&config).unwrap(),
            now: Time::ZERO,
            one_way: round_trip / 2,
            config,
            segments: VecDeque::new(),
            acks: VecDeque::new(),
            fate,
            duplicates: 0,
            arrived: 0,
            got: Vec::new(),
            needed: BTreeSet::new(),
            end,
        };
        pipe.sender.start();
        pipe.transmit();
        pipe
    }

    fn next_event(&self) -> Option<Time> {
        let packets = [self.segments.front().map(|s| s.0), self.acks.front().map(|a| a.0)];
        packets.into_iter().chain([self.sender.timer_at(), self.receiver.timer_at()]).flatten().min()
    }

    /// Handles the next event; false when there is none up to `end`.
    pub(crate) fn step(&mut self, end: Time, mut ack_lost: impl FnMut() -> bool) -> bool {
        let Some(now) = self.next_event().filter(|&at| at <= end) else { return false };
        self.now = now;
        if let Some(segment) = take_due(&mut self.segments, now) {
            if segment.payload > 0 || segment.syn {
                self.arrived += 1;
                self.note_arrival(segment.number);
            }
            let ack = self.receiver.on_segment(now, &segment);
            let earlier = self.receiver.take_earlier();
            self.reply(earlier.filter(|_| !ack_lost()));
            self.reply(ack.filter(|_| !ack_lost()));
        } else if let Some(ack) = take_due(&mut self.acks, now) {
            self.take_ack(ack);
        } else if self.receiver.timer_at() == Some(now) {
            let ack = self.receiver.on_timer(now);
            assert!(ack.is_some());
            self.reply(ack.filter(|_| !ack_lost()));
        } else {
            self.sender.on_timer(now);
            self.duplicates = 0;
            self.transmit();
        }
        true
    }

    /// Runs to `end` without loss of ACKs.
    pub(crate) fn run(&mut self, end: Time) {
        while self.step(end, || false) {}
    }

    /// The application offers more at `now`, not before the last event.
    pub(crate) fn offer(&mut self, now: Time, segments: u32) {
        self.now = now;
        self.sender.offer(segments);
        self.transmit();
    }

    fn has_arrived(&self, number: u32) -> bool {
        self.got.get(number as usize).is_some_and(|&got| got)
    }

    fn note_arrival(&mut self, number: u32) {
        let place = number as usize;
        self.got.resize(self.got.len().max(place + 1), false);
        self.got[place] = true;
        self.needed.remove(&number);
    }

    fn take_ack(&mut self, ack: AckInfo) {
        let before = self.sender.first_unacknowledged();
        self.sender.on_ack(self.now, ack);
        if ack.next_expected == before {
            self.duplicates += 1;
        } else if !self.sender.recovering() {
            self.duplicates = 0;
        }
        self.transmit();
    }

    fn reply(&mut self, ack: Option<AckInfo>) {
        self.acks.extend(ack.map(|ack| (self.now + self.one_way, ack)));
    }

    fn transmit(&mut self) {
        while let Some(segment) = self.sender.next_segment(self.now) {
            self.check(&segment);
            let mut ce = false;
            match (self.fate)(&segment) {
                Fate::Lose => continue,
                Fate::Mark if !segment.ect => continue,
                Fate::Mark => ce = true,
                Fate::Pass => {}
            }
            let Segment { number, payload, syn, cwr, .. } = segment;
            if !self.has_arrived(number) {
                self.needed.insert(number);
            }
            self.segments.push_back((
                self.now + self.one_way,
                Received { number, payload, syn, cwr, ce, stamp: stamp(self.now), ..Received::default() },
            ));
        }
        assert_eq!(self.sender.next_segment(self.now), None, "None must stay None");
        let outstanding = self.sender.in_flight() > 0;
        assert!(!outstanding || self.sender.timer_at().is_some(), "data outstanding and no timer");
    }

    /// What may be sent: nothing beyond the supply or the advertised window; nothing new beyond floor(cwnd) and one
    /// segment for each duplicate ACK (two of them limited transmit, the rest the inflation of fast recovery).
    fn check(&self, segment: &Segment) {
        let offset = segment.number - self.sender.first_unacknowledged();
        if segment.payload == 0 && !segment.syn {
            assert_eq!((segment.number, self.sender.in_flight()), (1, 0), "the ACK that ends the handshake goes first");
            return;
        }
        assert!(segment.number < self.end, "{segment:?} beyond the supply {}", self.end);
        assert!(offset < self.config.window, "{segment:?} beyond the advertised window");
        if self.config.recovery == Recovery::Rack {
            return self.check_flight(segment);
        }
        let most = self.sender.cwnd() as u32 + self.duplicates;
        assert!(segment.retransmission || offset < most, "{segment:?} beyond cwnd: {offset} of {most}");
    }

    /// With SACK: no more on the way than floor(cwnd), and one as a probe, but for repeats of what has arrived. After a time-out
    /// what is on the way is taken as lost, so the sender knows of less.
    fn check_flight(&self, segment: &Segment) {
        let (flying, cwnd) = (self.needed.len() as u32, self.sender.cwnd() as u32);
        let spurious = self.sender.counters().timeouts > 0;
        assert!(spurious || flying <= cwnd.max(1), "{segment:?} beyond cwnd: {flying} of {cwnd}");
    }
}
