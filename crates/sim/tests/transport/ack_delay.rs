//! Linux's delayed ACKs against the rules of its receiver, step by step and in bytes.

use perhop_core::units::{Span, Time};
use perhop_sim::transport::{AckDelay, Config, EcnFeedback, Reaction, Received, Receiver, RtoConfig};
use proptest::prelude::*;
use std::collections::BTreeMap;

const MSS: u64 = 1000;
const LEAST: Span = Span::from_ms(40);
const MOST: Span = Span::from_ms(200);

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn config(window: u32, syn: bool) -> Config {
    let reaction = Reaction { ack: AckDelay::Linux, overhead: None, sack: true, ..Reaction::NONE };
    Config { window, syn, reaction, rto: RtoConfig::MODERN, ecn: true, ..Config::default() }
}

/// The space for what arrives, in bytes: of each segment 1000 are data and 960 are not.
struct Space {
    all: u64,
    clamp: u64,
    threshold: u64,
    /// Bytes that came in the round trip before this one.
    before: u64,
    /// When this one began, and how much had come.
    began: Option<(Time, u64)>,
    /// Of time stamps; us / 8.
    round_trip8: u64,
    stamp: Time,
}

/// 130 of 256 bytes of space are data.
fn data_of(space: u64) -> u64 {
    space * (MSS * 256 / (MSS + 960)) / 256
}

impl Space {
    fn new() -> Self {
        let (all, threshold) = (128 * 1024, 64 * 1024 - MSS);
        let (before, began, stamp) = (10 * MSS, None, Time::ZERO);
        Self { all, clamp: data_of(all), threshold, before, began, round_trip8: 0, stamp }
    }

    /// A shorter round trip counts at once, a longer one by an eighth; in whole ms.
    fn stamped(&mut self, now: Time, stamp: Time) {
        if stamp == self.stamp || stamp == Time::ZERO {
            return;
        }
        self.stamp = stamp;
        let passed = now.ns() / 1_000_000 - stamp.ns() / 1_000_000;
        match passed * 8000 {
            0 => {}
            new if self.round_trip8 == 0 || new < self.round_trip8 => self.round_trip8 = new,
            _ => self.round_trip8 = self.round_trip8 - self.round_trip8 / 8 + passed * 1000,
        }
    }

    /// Whether the threshold rises while so many bytes of space are taken.
    fn rises(&mut self, taken: u64) -> bool {
        let most = self.clamp.min(data_of(self.all.saturating_sub(taken)));
        let room = most.saturating_sub(self.threshold);
        self.threshold += room.min(2 * MSS);
        room > 0
    }

    fn read(&mut self, now: Time, bytes: u64) {
        let (since, from) = *self.began.get_or_insert((now, 0));
        if self.round_trip8 == 0 || now.since(since) < Span::from_us(self.round_trip8 / 8) {
            return;
        }
        let came = bytes - from;
        if came > self.before {
            // Twice what came, and 16 segments; and as much again, twice, as the sender has got faster.
            let window = 2 * came + 16 * MSS;
            let window = window + window * (came - self.before) / self.before * 2;
            let space = (window * 256 / (MSS * 256 / (MSS + 960))).min(6 * 1024 * 1024);
            if space > self.all {
                (self.all, self.clamp) = (space, data_of(space));
            }
            self.before = came;
        }
        self.began = Some((now, bytes));
    }
}

/// A tick is 1 ms. A timer is late by up to one, and if it was set for long by up to 8 or 64.
fn on_a_tick(now: Time, after: Span) -> Time {
    let ticks = after.ns().div_ceil(1_000_000);
    let each = if ticks < 63 { 1 } else { 8 };
    let due = now.ns() / 1_000_000 + ticks;
    at((due + 1..).find(|tick| tick.is_multiple_of(each)).unwrap())
}

/// The receiver's state as Linux keeps it, the application reading at once: bytes in order, bytes told of, a timer.
struct Oracle {
    window: u64,
    first: u32,
    /// Bytes of each segment received.
    got: BTreeMap<u32, u64>,
    told: u64,
    timer: Option<Time>,
    quick: u64,
    /// None before the first segment in order.
    ato: Option<Span>,
    last: Option<Time>,
    opened: Option<Time>,
    round_trip: Option<Span>,
    echo: bool,
    marked: bool,
    /// RFC 8257: each ACK tells of what it acknowledges.
    dctcp: bool,
    /// What an ACK before the last one expects.
    earlier: Option<u32>,
    space: Space,
    /// The first missing segment that was asked for last, and how often; how many ACKs wait to ask for it together.
    asked: (u32, u32),
    together: u32,
    /// When the timer of a delayed ACK was to expire, whether the ACK has been sent since or not.
    stale: Time,
}

impl Oracle {
    fn new(window: u32, syn: bool, dctcp: bool) -> Self {
        let (window, first, got) = (u64::from(window), u32::from(!syn), BTreeMap::new());
        let [timer, last, opened] = [None; 3];
        let (told, quick, ato, round_trip, echo, marked) = (0, 0, None, None, false, false);
        let (space, asked, together, stale) = (Space::new(), (0, 0), 0, Time::ZERO);
        Self {
            window,
            first,
            got,
            told,
            timer,
            quick,
            ato,
            last,
            opened,
            round_trip,
            echo,
            marked,
            dctcp,
            earlier: None,
            space,
            asked,
            together,
            stale,
        }
    }

    fn next(&self) -> u32 {
        (self.first..).find(|n| !self.got.contains_key(n)).unwrap()
    }

    fn bytes_in_order(&self) -> u64 {
        self.got.range(..self.next()).map(|(_, bytes)| bytes).sum()
    }

    fn something_is_missing(&self) -> bool {
        self.got.range(self.next()..).next().is_some()
    }

    /// From one sample R: RTTVAR = R/2, and 4 RTTVAR at least 200 ms.
    fn time_out(&self) -> Span {
        self.round_trip.map_or(Span::from_s(1), |it| it + (it * 2).max(ms(200)))
    }

    /// More quick ACKs: one for each two full segments of the window, 2 if that is none, at most `most`.
    fn more_quick(&mut self, most: u64) {
        let acks = self.window * MSS / (2 * MSS);
        self.quick = self.quick.max(most.min(if acks == 0 { 2 } else { acks }));
    }

    fn enter_quick(&mut self, most: u64) {
        self.more_quick(most);
        self.ato = Some(LEAST);
    }

    fn note_gap(&mut self, now: Time) {
        let gap = ms(now.ns() / 1_000_000 - self.last.unwrap().ns() / 1_000_000);
        match self.ato {
            None => self.enter_quick(16),
            Some(ato) if gap <= LEAST / 2 => self.ato = Some(ato / 2 + LEAST / 2),
            Some(ato) if gap < ato => {
                self.ato = Some([ato / 2 + gap, self.time_out(), MOST].into_iter().min().unwrap())
            }
            Some(_) if gap > self.time_out() => self.more_quick(16),
            Some(_) => {}
        }
        self.last = Some(now);
    }

    fn acknowledge(&mut self) -> Option<u32> {
        if self.quick == 1 {
            self.ato = Some(LEAST);
        }
        self.quick = self.quick.saturating_sub(1);
        self.together = 0;
        (self.told, self.timer, self.marked) = (self.bytes_in_order(), None, false);
        Some(self.next())
    }

    fn on_syn(&mut self, now: Time) -> Option<u32> {
        self.opened = Some(now);
        self.got.insert(0, 0);
        (self.timer, self.marked) = (None, false);
        self.told = self.bytes_in_order();
        Some(self.next())
    }

    fn on_segment(&mut self, now: Time, segment: &Received) -> Option<u32> {
        if segment.syn {
            return self.on_syn(now);
        }
        if self.last.is_none() {
            self.last = Some(now);
            self.round_trip = self.opened.map(|opened| now.since(opened));
        }
        let mut at_once = segment.cwr;
        if segment.cwr && !self.marked && !self.dctcp {
            self.echo = false;
        }
        let expected = self.next();
        let held = self.got.range(expected..).count() as u64;
        let taken = match (segment.number == expected, held) {
            (true, 0) => MSS + 960,
            (true, _) => (held + 1) * MSS + 2 * 960,
            (false, 0) => 0,
            (false, _) => (held + 1) * MSS + 960,
        };
        let fresh = (expected..expected + self.window as u32).contains(&segment.number);
        if segment.number < expected || u64::from(segment.number - expected) >= self.window {
            self.enter_quick(16);
            at_once = true;
        } else {
            let missed = self.something_is_missing();
            if self.dctcp && segment.ce != self.echo {
                self.earlier = self.timer.filter(|_| self.together == 0).map(|_| expected);
                (self.echo, at_once) = (segment.ce, true);
            }
            self.got.insert(segment.number, segment.payload.into());
            if segment.number == expected {
                self.note_gap(now);
                at_once |= missed && !self.something_is_missing();
            }
        }
        if segment.ce && !self.dctcp {
            if !self.echo {
                self.enter_quick(2);
            }
            (self.echo, self.marked) = (true, true);
        }
        if fresh && segment.payload >= 128 && self.space.rises(taken) {
            self.quick |= 1;
        }
        if segment.number == expected {
            self.space.read(now, self.bytes_in_order());
        }
        // A small one is read, and the application has nothing more to read.
        at_once |= u64::from(segment.payload) < MSS && segment.number == expected && !self.something_is_missing();
        let many = self.bytes_in_order() - self.told > MSS;
        if many || self.quick > 0 || at_once {
            return self.acknowledge();
        }
        if self.something_is_missing() { self.ask(now) } else { self.start_timer(now) }
    }

    /// The first three times at once, then together with others.
    fn ask(&mut self, now: Time) -> Option<u32> {
        if self.asked.0 != self.next() {
            self.asked = (self.next(), 0);
        }
        if self.asked.1 < 3 || self.together >= 44 {
            self.asked.1 += 1;
            return self.acknowledge();
        }
        if self.together == 0 {
            let twentieth = Span::from_us(self.space.round_trip8 / 8) / 20;
            let due = now + twentieth.min(ms(1)) + Span::from_us(100);
            self.timer = Some(if self.stale > now { due.min(self.stale) } else { due });
        }
        self.together += 1;
        None
    }

    /// At most the round trip, if it is known, but not below 40 ms; at most 200 ms, and 1 ms less than the least time-out.
    fn start_timer(&mut self, now: Time) -> Option<u32> {
        let mut ato = self.ato.unwrap();
        if ato > LEAST {
            let most = self.round_trip.map_or(ms(500), |it| if it < LEAST { LEAST } else { it.min(ms(500)) });
            ato = ato.min(most);
        }
        ato = ato.min(MOST).min(ms(199));
        assert!(self.timer.is_none(), "a second segment is acknowledged at once");
        self.stale = on_a_tick(now, ato);
        self.timer = Some(self.stale);
        None
    }

    fn on_timer(&mut self, now: Time) -> Option<u32> {
        self.timer.filter(|&timer| timer <= now)?;
        if self.together == 0 {
            self.ato = self.ato.map(|ato| (ato * 2).min(self.time_out()).min(MOST));
        }
        self.acknowledge()
    }
}

/// What arrives: mostly the next segment, full, and soon.
fn any_step() -> impl Strategy<Value = (i64, u64, u16, [bool; 2])> {
    let offset = prop_oneof![20 => Just(0i64), 6 => 1i64..12, 1 => -3i64..0, 1 => 0i64..100];
    let wait = prop_oneof![6 => 0u64..5_000, 3 => 15_000u64..70_000, 1 => 0u64..2_000_000];
    let payload = prop_oneof![12 => Just(MSS as u16), 1 => 1..MSS as u16];
    let flag = || prop::bool::weighted(0.03);
    (offset, wait, payload, [flag(), flag()])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn agrees_with_the_rules(
        steps in prop::collection::vec(any_step(), 1..200),
        window in prop_oneof![1u32..40, 40u32..200],
        syn: bool,
        dctcp: bool,
    ) {
        let feedback = if dctcp { EcnFeedback::Dctcp } else { EcnFeedback::Rfc3168 };
        let base = config(window, syn);
        let reaction = Reaction { feedback, ..base.reaction };
        let mut receiver = Receiver::new(&Config { reaction, ..base }).unwrap();
        let mut oracle = Oracle::new(window, syn, dctcp);
        let mut now = at(5);
        if syn {
            let syn = Received { number: 0, payload: 0, syn: true, cwr: true, ce: false };
            receiver.on_segment(now, &syn).unwrap();
            oracle.on_segment(now, &syn).unwrap();
        }
        for (offset, wait_us, payload, [ce, cwr]) in steps {
            let arrives = now + Span::from_us(wait_us);
            if let Some(due) = receiver.timer_at().filter(|&due| due <= arrives) {
                prop_assert_eq!(receiver.on_timer(due).map(|a| a.next_expected), oracle.on_timer(due));
            }
            now = arrives;
            let number = (i64::from(receiver.next_expected()) + offset).max(1) as u32;
            let segment = Received { number, payload, syn: false, cwr, ce };
            // Most segments answer the ACK of a round trip ago.
            let trip = wait_us % 97 * 1_000_000;
            let stamp = Time::from_ns(now.ns().saturating_sub(trip));
            receiver.echoed(now, stamp);
            oracle.space.stamped(now, stamp);
            let before = oracle.echo;
            let ours = receiver.on_segment(now, &segment);
            let told = receiver.take_earlier();
            prop_assert!(told.is_none_or(|ack| ack.ece == before && ours.is_some()));
            prop_assert_eq!(ours.map(|a| a.next_expected), oracle.on_segment(now, &segment));
            prop_assert!(ours.is_none_or(|ack| ack.ece == oracle.echo));
            prop_assert_eq!(told.map(|ack| ack.next_expected), oracle.earlier.take());
            prop_assert_eq!(receiver.timer_at(), oracle.timer);
        }
    }
}

/// Full segments in order, `gap` apart: after which of them an ACK was sent, the timer's included.
fn acknowledged(receiver: &mut Receiver, first: u32, segments: u32, (start, gap): (Time, Span)) -> Vec<u32> {
    let mut acks = Vec::new();
    let mut now = start;
    for number in first..first + segments {
        acks.extend(receiver.timer_at().filter(|&due| due <= now).and_then(|due| receiver.on_timer(due)));
        let segment = Received { number, payload: MSS as u16, syn: false, cwr: false, ce: false };
        acks.extend(receiver.on_segment(now, &segment));
        now += gap;
    }
    acks.iter().map(|ack| ack.next_expected - 1).collect()
}

/// 16 quick ACKs and one for the buffer, which grows once, then every second segment; after a pause beyond the time-out again.
#[test]
fn seventeen_are_quick_and_then_every_second_one() {
    let mut receiver = Receiver::new(&config(100, false)).unwrap();
    let expected: Vec<_> = (1..=17).chain((19..=29).step_by(2)).collect();
    assert_eq!(acknowledged(&mut receiver, 1, 30, (at(0), ms(1))), expected);
    assert_eq!(acknowledged(&mut receiver, 31, 4, (at(1000), ms(1))), [30, 32, 34], "970 ms are less than 1 s");
    let again: Vec<_> = (35..=50).chain([52]).collect();
    assert_eq!(acknowledged(&mut receiver, 35, 19, (at(2100), ms(1))), again);
}

/// A lone segment waits for 40 ms; segments that come more slowly make it wait longer, up to the round trip.
#[test]
fn a_lone_segment_waits_for_forty_milliseconds_at_least() {
    let mut receiver = Receiver::new(&config(2, true)).unwrap();
    let syn = Received { number: 0, payload: 0, syn: true, cwr: false, ce: false };
    assert!(receiver.on_segment(at(0), &syn).unwrap().syn);
    assert_eq!(acknowledged(&mut receiver, 1, 2, (at(70), ms(1))), [1], "half a window of 2 is one quick ACK");
    assert_eq!(receiver.timer_at(), Some(at(71 + 41)));
    assert_eq!(receiver.on_timer(at(112)).unwrap().next_expected, 3);
    assert_eq!(acknowledged(&mut receiver, 3, 1, (at(150), ms(1))), [] as [u32; 0]);
    assert_eq!(
        receiver.timer_at(),
        Some(at(224)),
        "to a tick of 8 ms; the timer has doubled 40 ms; the round trip is 70 ms"
    );
}

/// The receiver of the answer to a request knows the round trip of the request's handshake.
#[test]
fn a_receiver_may_know_the_round_trip() {
    let mut receiver = Receiver::new(&config(2, false)).unwrap().with_round_trip(ms(45));
    acknowledged(&mut receiver, 1, 2, (at(0), ms(30)));
    assert_eq!(receiver.timer_at(), Some(at(30 + 46)), "a gap of 30 ms has made 40 ms 50 ms, more than the round trip");
}
