//! The receiver's state as Linux keeps it, step by step: bytes in order, bytes told of, timers in ticks of 1 ms. The
//! application reads at once, but after the kernel has decided whether to acknowledge.

use super::queue::Queue;
use super::space::{Space, memory};
use super::{MSS, at, ms};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{Received, stamp};
use std::collections::BTreeMap;

/// The least estimate of the time between segments, and the most, in ticks.
const LEAST: u64 = 40;
const MOST: u64 = 200;

/// What an ACK says: the next number expected, how many segments the receiver has room for, the time stamp that it echoes
/// and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AckFields {
    pub(super) next: u32,
    pub(super) window: u64,
    pub(super) echo: u32,
    pub(super) stamp: u32,
}

pub(super) struct Oracle {
    window: u64,
    first: u32,
    /// Bytes of each segment received.
    got: BTreeMap<u32, u64>,
    /// Of these, what waits for one that is missing.
    queue: Queue,
    /// Bytes in order when the last ACK was sent, and what it expected.
    told: u64,
    told_next: u32,
    pub(super) timer: Option<Time>,
    quick: u64,
    /// None before the first segment in order; ticks.
    ato: Option<u64>,
    last: Option<u64>,
    opened: Option<Time>,
    round_trip: Option<Span>,
    pub(super) echo: bool,
    marked: bool,
    /// RFC 8257: each ACK tells of what it acknowledges.
    dctcp: bool,
    /// An ACK before the last one; what it offers is not compared where it is 0.
    pub(super) earlier: Option<AckFields>,
    pub(super) space: Space,
    /// The first missing segment that was asked for last, and how often; how many ACKs wait to ask for it together.
    asked: (u32, u32),
    together: u32,
    /// When the timer of a delayed ACK was to expire, whether the ACK has been sent since or not.
    stale: Time,
    /// TS.Recent (RFC 7323 section 4.3).
    ts_recent: u32,
    /// When the kernel looked at its clock last: as a segment came, and as the timer of a delayed ACK expired.
    clock: Time,
}

fn ticks(time: Time) -> u64 {
    time.ns() / ms(1).ns()
}

fn ticks_up(span: Span) -> u64 {
    span.ns().div_ceil(ms(1).ns())
}

/// A timer is late by up to one tick, and if it was set for long by up to 8.
fn on_a_tick(now: Time, after: u64) -> Time {
    let each = if after < 63 { 1 } else { 8 };
    at((ticks(now) + after + 1..).find(|tick| tick.is_multiple_of(each)).unwrap())
}

impl Oracle {
    pub(super) fn new(window: u32, syn: bool, dctcp: bool) -> Self {
        Self {
            window: window.into(),
            first: u32::from(!syn),
            got: BTreeMap::new(),
            queue: Queue::default(),
            told: 0,
            told_next: u32::from(!syn),
            timer: None,
            quick: 0,
            ato: None,
            last: None,
            opened: None,
            round_trip: None,
            echo: false,
            marked: false,
            dctcp,
            earlier: None,
            space: Space::new(),
            asked: (0, 0),
            together: 0,
            stale: Time::ZERO,
            ts_recent: 0,
            clock: Time::ZERO,
        }
    }

    fn next(&self) -> u32 {
        (self.first..).find(|n| !self.got.contains_key(n)).unwrap()
    }

    fn bytes_in_order(&self) -> u64 {
        self.got.range(..self.next()).map(|(_, bytes)| bytes).sum()
    }

    /// From one sample R: RTTVAR = R/2, and 4 RTTVAR at least 200 ms.
    fn time_out(&self) -> u64 {
        self.round_trip.map_or(1000, |it| ticks_up(it + (it * 2).max(ms(200))))
    }

    /// More quick ACKs: one for each two full segments of the window, 2 if that is none, at most `most`.
    fn more_quick(&mut self, most: u64) {
        let acks = (self.window * MSS).min(self.space.offered) / (2 * MSS);
        self.quick = self.quick.max(most.min(if acks == 0 { 2 } else { acks }));
    }

    fn enter_quick(&mut self, most: u64) {
        self.more_quick(most);
        self.ato = Some(LEAST);
    }

    fn note_gap(&mut self, now: Time) {
        let gap = ticks(now) - self.last.unwrap();
        match self.ato {
            None => self.enter_quick(16),
            Some(ato) if gap <= LEAST / 2 => self.ato = Some(ato / 2 + LEAST / 2),
            Some(ato) if gap < ato => {
                self.ato = Some([ato / 2 + gap, self.time_out(), MOST].into_iter().min().unwrap())
            }
            Some(_) if gap > self.time_out() => self.more_quick(16),
            Some(_) => {}
        }
        self.last = Some(ticks(now));
    }

    /// With little space there are no quick ACKs, whenever the window is worked out.
    fn look_at_space(&mut self) {
        if self.space.is_short() {
            self.quick = 0;
        }
    }

    /// Quick ACKs are counted if something has arrived for which an ACK is owed.
    fn acknowledge(&mut self, owed: bool) -> Option<AckFields> {
        self.look_at_space();
        let next = self.next();
        let window = self.space.offer(u64::from(next.saturating_sub(1)) * MSS) / MSS;
        if owed && self.quick == 1 {
            self.ato = Some(LEAST);
        }
        self.quick = self.quick.saturating_sub(owed.into());
        self.together = 0;
        (self.told, self.told_next, self.timer, self.marked) = (self.bytes_in_order(), next, None, false);
        Some(AckFields { next, window: window.clamp(1, self.window), echo: self.ts_recent, stamp: stamp(self.clock) })
    }

    fn on_syn(&mut self, now: Time) -> Option<AckFields> {
        self.opened = Some(now);
        self.got.insert(0, 0);
        self.acknowledge(false)
    }

    /// RFC 7323 sections 4.3 and 5.3 (R2, R3): of a segment that is acceptable and begins at or before what was
    /// acknowledged last, the time stamp if it is not older.
    fn note_stamp(&mut self, segment: &Received) {
        if segment.number <= self.told_next && segment.number + 1 >= self.told_next {
            self.ts_recent = self.ts_recent.max(segment.stamp);
        }
    }

    pub(super) fn on_segment(&mut self, now: Time, segment: &Received) -> Option<AckFields> {
        self.clock = now;
        self.note_stamp(segment);
        if segment.syn {
            return self.on_syn(now);
        }
        if self.last.is_none() {
            self.last = Some(ticks(now));
            self.round_trip = self.opened.map(|opened| now.since(opened));
        }
        let expected = self.next();
        if segment.number < expected || u64::from(segment.number - expected) >= self.window {
            return self.outside(segment);
        }
        let before = self.bytes_in_order();
        if segment.number > expected {
            return self.out_of_order(now, segment);
        }
        let at_once = segment.cwr;
        self.hear_cwr(segment);
        self.got.insert(segment.number, segment.payload.into());
        // The kernel counts those behind it a little later.
        self.space.filled(now, before + u64::from(segment.payload));
        self.note_gap(now);
        let at_once = self.hear_mark(segment, expected) || at_once;
        // It is looked at as a separate piece.
        self.space.taken = self.queue.memory() + memory(1, 1);
        self.grow(segment, self.space.taken);
        let missed = !self.queue.is_empty();
        let first = self.queue.pass(self.next());
        let owed = self.check(now, at_once || missed && self.queue.is_empty());
        // The application reads one piece of memory after the other: the first is looked at while the others wait.
        let bytes = self.bytes_in_order();
        let first = bytes.min(before + first * MSS);
        self.space.read(now, first, bytes - first);
        self.space.taken = self.queue.memory();
        owed.or_else(|| self.has_read(segment))
    }

    fn out_of_order(&mut self, now: Time, segment: &Received) -> Option<AckFields> {
        let (mut at_once, without) = (segment.cwr, self.queue.memory());
        self.hear_cwr(segment);
        at_once |= self.hear_mark(segment, self.next());
        if self.queue.crowds(segment.number) && self.together > 0 {
            self.earlier = self.acknowledge(true);
        }
        let fresh = !self.got.contains_key(&segment.number);
        self.got.entry(segment.number).or_insert(segment.payload.into());
        let joins = fresh && self.queue.keep(segment.number);
        self.queue.report(segment.number);
        self.space.taken = self.queue.memory();
        if fresh {
            // One that begins a piece is looked at before it takes space.
            self.grow(segment, if joins { self.space.taken } else { without });
        }
        if self.earlier.is_some_and(|ack| ack.window > 0) { None } else { self.check(now, at_once) }
    }

    fn grow(&mut self, segment: &Received, taken: u64) {
        if segment.payload >= 128 && self.space.rises(taken) {
            self.quick |= 1;
        }
    }

    /// It has come before, or is beyond the window. What lies wholly below the last ACK is answered, but no ACK is owed for it.
    fn outside(&mut self, segment: &Received) -> Option<AckFields> {
        self.hear_cwr(segment);
        self.enter_quick(16);
        self.hear_mark_outside(segment);
        let owed = self.timer.is_some() || segment.number + 1 >= self.told_next;
        self.acknowledge(owed)
    }

    fn hear_cwr(&mut self, segment: &Received) {
        if segment.cwr && !self.marked && !self.dctcp {
            self.echo = false;
        }
    }

    fn hear_mark_outside(&mut self, segment: &Received) {
        if segment.ce && !self.dctcp {
            if !self.echo {
                self.enter_quick(2);
            }
            (self.echo, self.marked) = (true, true);
        }
    }

    /// Whether its ACK must not wait: with DCTCP as the marks change, and then what waits is acknowledged apart.
    fn hear_mark(&mut self, segment: &Received, expected: u32) -> bool {
        self.hear_mark_outside(segment);
        let changes = self.dctcp && segment.ce != self.echo;
        if changes {
            let waits = self.timer.is_some() && self.together == 0;
            self.earlier = waits.then_some(AckFields {
                next: expected,
                window: 0,
                echo: self.ts_recent,
                stamp: stamp(self.clock),
            });
            self.echo = segment.ce;
        }
        changes
    }

    /// Whether to acknowledge before the application reads; else a timer.
    fn check(&mut self, now: Time, at_once: bool) -> Option<AckFields> {
        let mut moves_on = false;
        if self.bytes_in_order() - self.told > MSS {
            moves_on = self.space.moves_on();
            self.look_at_space();
        }
        if moves_on || self.quick > 0 || at_once {
            return self.acknowledge(true);
        }
        if self.queue.is_empty() { self.start_timer(now) } else { self.ask(now) }
    }

    /// Then more than one segment is acknowledged; or one, if it was the last for now.
    fn has_read(&mut self, segment: &Received) -> Option<AckFields> {
        let more = self.bytes_in_order() - self.told > MSS;
        let last = u64::from(segment.payload) < MSS || segment.push;
        (more || last && self.queue.is_empty()).then(|| self.acknowledge(true)).flatten()
    }

    /// The first three times at once, then together with others.
    fn ask(&mut self, now: Time) -> Option<AckFields> {
        if self.asked.0 != self.next() {
            self.asked = (self.next(), 0);
        }
        if self.together >= 44 {
            return self.acknowledge(true);
        }
        if self.asked.1 < 3 {
            self.asked.1 += 1;
            return self.acknowledge(true);
        }
        if self.together == 0 {
            // The shorter of what the receiver has measured and its own segments' round trip, in eighths of us.
            let measured = self.space.round_trip8();
            let trip8 = self.round_trip.map_or(measured, |it| measured.min(it.ns() / 1000 * 8));
            let twentieth = Span::from_ns(trip8 * 125 / 20);
            let due = now + twentieth.min(ms(1)) + Span::from_us(100);
            self.timer = Some(if self.stale > now { due.min(self.stale) } else { due });
        }
        self.together += 1;
        None
    }

    /// At most the round trip, if it is known, but not below 40 ms; at most 200 ms, and 1 ms less than the least time-out.
    fn start_timer(&mut self, now: Time) -> Option<AckFields> {
        let mut ato = self.ato.unwrap();
        if ato > LEAST {
            ato = ato.min(self.round_trip.map_or(500, |it| ticks_up(it).clamp(LEAST, 500)));
        }
        // A second one is acknowledged once the application has read it.
        if self.timer.is_none() {
            self.stale = on_a_tick(now, ato.min(MOST).min(199));
            self.timer = Some(self.stale);
        }
        None
    }

    pub(super) fn on_timer(&mut self, now: Time) -> Option<AckFields> {
        self.timer.filter(|&timer| timer <= now)?;
        if self.together == 0 {
            self.clock = now;
            self.ato = self.ato.map(|ato| (ato * 2).min(self.time_out()).min(MOST));
        }
        self.acknowledge(true)
    }
}
