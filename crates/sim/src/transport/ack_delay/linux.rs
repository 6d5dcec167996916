//! How long Linux's receiver delays an ACK.
//!
//! Source: the behaviour of Linux 6.12 (`tcp_input.c`, `tcp_output.c`, `tcp_timer.c`).
//!
//! A segment that arrives in order, completes nothing, and for which no other waits already, is
//!
//! - acknowledged at once while quick ACKs are left: as many as half of what was offered has segments, at most 16, from the first
//!   segment on, after a pause longer than the receiver's time-out, and after a segment from below what is expected or
//!   beyond the window; 2 after the first congestion mark; none while less than half of the buffer is free;
//! - acknowledged at once while the receive buffer grows (`receive_buffer.rs`);
//! - acknowledged at once if it is not full (the application reads it and waits for more), asks for it (PSH), or tells of a cut
//!   window;
//! - else delayed by the time that segments take to arrive, as estimated below: so every second one is acknowledged.
//!
//! ```text
//! m = time since the segment in order before it
//! m <= 20 ms:  ato = ato/2 + 20 ms        m < ato:  ato = min(ato/2 + m, RTO, 200 ms)
//! delay = min(ato, max(R, 40 ms), 200 ms, least RTO - 1 ms)
//! ```
//! A delayed ACK that was sent by the timer doubles ato, up to RTO and 200 ms. All of these
//! are whole ticks of 1 ms, R and RTO rounded up.
//!
//! With SACK, of the ACKs that ask for the same missing segment the first three are sent at once; one that
//! acknowledges more than a segment, and offers as much from there as was offered before, is sent too and not
//! counted. The others wait, at most 44 together,
//!
//! - for a twentieth of the round trip (the shorter of R and the buffer's), at most 1 ms, and the 0.1
//!   ms by which Linux lets such a timer be late;
//! - or until the timer of an ACK that was delayed before expires, though that ACK was sent earlier;
//! - or until a segment arrives that begins a third block, or belongs to it: that segment is acknowledged with the next.
//!
//! That ACK bears the time stamp of the last segment that waited, not its own.
//!
//! | symbol | field            | unit | default                                                       |
//! |--------|------------------|------|---------------------------------------------------------------|
//! | ato    | `ato`            | time | 40 ms, and again with the last quick ACK                      |
//! | R      | `round_trip`     | time | from the SYN to the ACK that ends the handshake; unknown without a SYN |
//! | RTO    | [`Linux::rto`]   | time | R + max(2 R, its least value); without R, its initial value   |
//! | -      | `quick`          | ACKs | 0                                                             |
//!
//! Deviations: the size of a full segment is known and not estimated; a repeat without ECT in a connection with ECN gives no
//! quick ACKs; an ACK offers one segment at least, for none is sent when the application has read.

use super::{Answer, Arrival, Place, Reached};
use crate::transport::config::Config;
use crate::transport::receive_buffer::Buffer;
use crate::transport::tick;
use perhop_core::units::{Span, Time};

/// The least estimate of the time between segments.
const LEAST: Span = Span::from_ms(40);
/// No ACK waits longer.
const MOST: Span = Span::from_ms(200);
/// Linux's tick of 1 ms.
const TICK: Span = Span::from_ms(1);
/// Quick ACKs that are given at once.
const QUICK: u32 = 16;
/// Quick ACKs after a congestion mark.
const QUICK_AFTER_MARK: u32 = 2;

/// ACKs for one missing segment that do not wait.
const AT_ONCE: u8 = 3;
/// Most ACKs for one missing segment that are sent as one.
const TOGETHER: u8 = 44;
/// How long they wait at most, and by how much Linux lets the timer be late.
const TOGETHER_FOR: (Span, Span) = (Span::from_ms(1), Span::from_us(100));

/// Linux's delayed ACKs.
#[derive(Clone, Debug)]
pub(in crate::transport) struct Linux {
    /// Bytes of a full segment.
    mss: u16,
    window: u32,
    /// Segments, by the latest ACK.
    offered: u16,
    least_rto: Span,
    initial_rto: Span,
    quick: u32,
    /// 0 before the first segment in order.
    ato: Span,
    /// When the SYN arrived.
    opened: Option<Time>,
    round_trip: Option<Span>,
    /// When the last segment in order arrived, or the handshake ended.
    last: Option<Time>,
    buffer: Buffer,
    /// When the ACK that was delayed last was due: the timer is not stopped when it is sent earlier.
    timer: Time,
    /// Bytes read when the last segment in order had come, and when the last ACK was sent.
    seen: u64,
    told: u64,
    holes: Holes,
}

/// ACKs for a missing segment.
#[derive(Clone, Debug, Default)]
struct Holes {
    /// Linux sends some of them as one.
    compresses: bool,
    /// Bytes before the segment.
    at: u64,
    sent: u8,
    waiting: u8,
    due: Time,
    /// When the last of those came that wait.
    heard: Time,
}

impl Linux {
    pub(super) fn new(config: &Config) -> Self {
        let (least_rto, initial_rto) = (config.rto.minimum, config.rto.initial);
        let (mss, window) = (config.mss, config.window);
        Self {
            mss,
            window,
            offered: 0,
            least_rto,
            initial_rto,
            quick: 0,
            ato: Span::ZERO,
            opened: None,
            round_trip: None,
            last: None,
            buffer: Buffer::new(mss),
            timer: Time::ZERO,
            seen: 0,
            told: 0,
            holes: Holes { compresses: config.reaction.sack, ..Holes::default() },
        }
    }

    /// The segment that comes next echoes the time stamp of an ACK.
    pub(super) fn echoed(&mut self, now: Time, stamp: u32) {
        self.buffer.echoed(now, stamp);
    }

    /// Segments for which there was room when the latest ACK was sent.
    pub(super) fn offered(&self) -> u16 {
        self.offered
    }

    /// What waits is an ACK for a missing segment, of several together.
    pub(super) fn compresses(&self) -> bool {
        self.holes.waiting > 0
    }

    /// The time stamp of the ACK whose time has come: of several together that of the last arrival, for the kernel does not look at
    /// the clock again; 0: the present one.
    pub(super) fn stamp(&self) -> u32 {
        if self.compresses() { tick::stamp(self.holes.heard) } else { 0 }
    }

    /// A round trip was measured in a handshake that this receiver has not seen.
    pub(super) fn measured(&mut self, round_trip: Span) {
        self.round_trip = Some(round_trip);
    }

    /// The kernel decides before the application reads what has come.
    #[inline(never)]
    pub(super) fn answer(&mut self, arrival: &Arrival) -> Answer {
        let Arrival { now, segment, place, waits, after, reached, .. } = *arrival;
        if segment.syn {
            self.opened = Some(now);
            self.offer(reached.next);
            return Answer::Now;
        }
        self.learn(arrival);
        let answer = self.check(arrival);
        if answer == Answer::Now {
            self.send(reached, waits || place != Place::Old);
        }
        if let Place::InOrder { first } = place {
            let first = reached.bytes.min(self.seen + u64::from(first) * u64::from(self.mss));
            self.buffer.read(now, first, reached.bytes);
            self.seen = reached.bytes;
        }
        self.buffer.keeps(after);
        if answer == Answer::Read {
            self.send(reached, true);
        }
        answer
    }

    /// What a segment says of those to come.
    fn learn(&mut self, arrival: &Arrival) {
        let Arrival { now, segment, place, marked, before, after, .. } = *arrival;
        let last = self.last.unwrap_or_else(|| self.establish(now));
        match place {
            Place::InOrder { .. } => {
                self.buffer.received(now, self.seen + u64::from(segment.payload));
                self.in_order(now, last);
            }
            Place::Ahead => {}
            Place::Outside | Place::Old => self.hurry(QUICK),
        }
        if marked {
            self.hurry(QUICK_AFTER_MARK);
        }
        let kept = place.is_in_order() || after.segments > before.segments;
        if kept && self.buffer.grows(segment.payload, (before, after), place.is_in_order()) {
            self.quick |= 1;
        }
    }

    fn check(&mut self, arrival: &Arrival) -> Answer {
        let Arrival { now, segment, place, may_wait, at_once, before, after, told, reached, .. } = *arrival;
        if may_wait && self.quick == 0 && !segment.cwr {
            self.timer = tick::expiry(now, self.wait());
            let asks = segment.payload < self.mss || segment.push;
            return if asks { Answer::Read } else { Answer::After(self.timer.since(now)) };
        }
        if told {
            return Answer::Later;
        }
        let many = reached.bytes - self.told > u64::from(self.mss);
        let moves_on = many && self.buffer.moves_on();
        if many {
            self.spare();
        }
        let at_once = at_once || segment.cwr || matches!(place, Place::Outside | Place::Old);
        if moves_on || self.quick > 0 || at_once {
            return Answer::Now;
        }
        match (before.segments, after.segments) {
            (0, 0) => Answer::Read,
            (_, 0) => Answer::Now,
            _ => self.ask(now, reached.bytes),
        }
    }

    /// When an ACK for the segment that is missing after `read` bytes is sent.
    fn ask(&mut self, now: Time, read: u64) -> Answer {
        let holes = &mut self.holes;
        if holes.at != read {
            (holes.at, holes.sent) = (read, 0);
        }
        if !holes.compresses || holes.waiting >= TOGETHER || holes.sent < AT_ONCE {
            holes.sent = holes.sent.saturating_add(1);
            return Answer::Now;
        }
        if holes.waiting == 0 {
            let (most, late) = TOGETHER_FOR;
            let measured = self.buffer.round_trip();
            let round_trip = self.round_trip.map_or(measured, |it| tick::us(it).min(measured));
            holes.due = now + most.min(round_trip / 20) + late;
            if self.timer > now {
                holes.due = holes.due.min(self.timer);
            }
        }
        (holes.waiting, holes.heard) = (holes.waiting + 1, now);
        Answer::After(holes.due.since(now))
    }

    /// The handshake ends: with its ACK, or if that was lost with the first segment.
    pub(super) fn establish(&mut self, now: Time) -> Time {
        self.round_trip = self.round_trip.or(self.opened.map(|at| now.since(at)));
        self.last = Some(now);
        now
    }

    /// A segment has arrived in order: the time since the one before it counts.
    fn in_order(&mut self, now: Time, last: Time) {
        self.last = Some(now);
        if self.ato == Span::ZERO {
            self.hurry(QUICK);
        } else {
            self.gap(tick::floor(now).since(tick::floor(last)));
        }
    }

    fn gap(&mut self, gap: Span) {
        if gap <= LEAST / 2 {
            self.ato = tick::down(self.ato / 2) + LEAST / 2;
        } else if gap < self.ato {
            self.ato = (tick::down(self.ato / 2) + gap).min(self.rto()).min(MOST);
        } else if gap > self.rto() {
            self.grant(QUICK);
        }
    }

    fn grant(&mut self, most: u32) {
        let half = match self.buffer.offered().min(self.window) / 2 {
            0 => 2,
            segments => segments,
        };
        self.quick = self.quick.max(half.min(most));
    }

    /// Quick ACKs, and what was learnt of the time between segments is forgotten.
    fn hurry(&mut self, most: u32) {
        self.grant(most);
        self.ato = LEAST;
    }

    /// An ACK is sent; `owed`: something has come that was not acknowledged.
    pub(super) fn send(&mut self, reached: Reached, owed: bool) {
        self.spare();
        self.offer(reached.next);
        (self.told, self.holes.waiting) = (reached.bytes, 0);
        if owed {
            if self.quick == 1 {
                self.ato = LEAST;
            }
            self.quick = self.quick.saturating_sub(1);
        }
    }

    fn offer(&mut self, next: u32) {
        self.offered = self.buffer.offers(next).clamp(1, self.window) as u16;
    }

    /// With little space left there are no quick ACKs.
    fn spare(&mut self) {
        if self.buffer.is_short() {
            self.quick = 0;
        }
    }

    pub(super) fn expired(&mut self, reached: Reached) {
        if self.holes.waiting == 0 {
            self.inflate();
        }
        self.send(reached, true);
    }

    fn inflate(&mut self) {
        self.ato = (self.ato * 2).min(self.rto()).min(MOST);
    }

    fn wait(&self) -> Span {
        let round_trip = self.round_trip.map_or(MOST, |it| tick::up(it).max(LEAST));
        let least_rto = self.least_rto.max(TICK * 2) - TICK;
        self.ato.min(round_trip).min(MOST).min(least_rto)
    }

    /// The time-out of the receiver's own data, of which it sends none: from the one round trip that it has measured.
    fn rto(&self) -> Span {
        self.round_trip.map_or(self.initial_rto, |it| tick::up(it + (it * 2).max(self.least_rto)))
    }
}
