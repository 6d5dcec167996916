//! How long an ACK may wait for the next segment.
//!
//! Source: ns-2's `Agent/TCPSink/DelAck`; the behaviour of Linux 6.12's receiver (`tcp_input.c`, `tcp_output.c`, `tcp_timer.c`).
//!
//! As Linux has it, a segment that arrives in order, completes nothing, and for which no other waits already, is
//!
//! - acknowledged at once while quick ACKs are left: as many as half the window has segments, at most 16, from the first
//!   segment on, after a pause longer than the receiver's time-out, and after a segment from below what is expected or
//!   beyond the window; 2 after the first congestion mark;
//! - acknowledged at once while the receive buffer grows (`receive_buffer.rs`);
//! - acknowledged at once if it is not full (the application reads it and waits for more), or tells of a cut window;
//! - else delayed by the time that segments take to arrive, as estimated below: so every second one is acknowledged.
//!
//! ```text
//! m = time since the segment in order before it
//! m <= 20 ms:  ato = ato/2 + 20 ms        m < ato:  ato = min(ato/2 + m, RTO, 200 ms)
//! delay = min(ato, max(R, 40 ms), 200 ms, least RTO - 1 ms)
//! ```
//! A delayed ACK that was sent by the timer doubles ato, up to RTO and 200 ms.
//!
//! With SACK, of the ACKs that ask for the same missing segment the first three are sent at once; the others wait, at most 44
//! together, for a twentieth of the round trip and at most 1 ms, and for the 0.1 ms by which Linux lets such a timer be late; or until the timer of an ACK that was
//! delayed before expires, though that ACK was sent earlier.
//!
//! | symbol | field            | unit | default                                                       |
//! |--------|------------------|------|---------------------------------------------------------------|
//! | ato    | `ato`            | time | 40 ms, and again with the last quick ACK                      |
//! | R      | `round_trip`     | time | from the SYN to the first segment; unknown without a SYN      |
//! | RTO    | [`Linux::rto`]   | time | R + max(2 R, its least value); without R, its initial value   |
//! | -      | `quick`          | ACKs | 0                                                             |
//!
//! Deviations from Linux: the size of a full segment is known and not estimated; no
//! segment asks for its ACK (PSH); a repeat without ECT in a connection with ECN gives no quick ACKs.

use super::Received;
use super::config::{AckDelay, Config};
use super::receive_buffer::Buffer;
use super::tick;
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

/// What a segment is to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The next one expected.
    InOrder,
    /// Beyond it.
    Ahead,
    /// Below it, or beyond the window.
    Outside,
}

/// A segment, and what is to be known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<'a> {
    pub(super) now: Time,
    pub(super) segment: &'a Received,
    pub(super) place: Place,
    /// In order, nothing is missing behind it, and no other waits for its ACK.
    pub(super) may_wait: bool,
    /// Its ACK does not wait whatever else is missing: its mark is told at once.
    pub(super) at_once: bool,
    /// The first with a congestion mark that is not echoed yet.
    pub(super) marked: bool,
    /// Segments that waited for one that is missing when it came.
    pub(super) held: u32,
    /// One is still missing.
    pub(super) missing: bool,
    /// Bytes that the application has read, those of this segment included.
    pub(super) read: u64,
}

/// How ACKs are delayed.
#[derive(Clone, Debug)]
pub(super) enum Delayer {
    Never,
    Fixed(Span),
    Linux(Box<Linux>),
}

impl Delayer {
    pub(super) fn new(config: &Config) -> Self {
        match config.reaction.ack {
            AckDelay::None => Self::Never,
            AckDelay::Fixed(delay) => Self::Fixed(delay),
            AckDelay::Linux => Self::Linux(Box::new(Linux::new(config))),
        }
    }

    /// How long the ACK of a segment waits; `None`: it is sent now.
    #[inline]
    pub(super) fn delay(&mut self, arrival: Arrival) -> Option<Span> {
        match self {
            Self::Never => None,
            Self::Fixed(delay) => arrival.may_wait.then_some(*delay),
            Self::Linux(linux) => linux.delay(&arrival),
        }
    }

    /// The segment that comes next echoes the time stamp of an ACK sent at `stamp`.
    #[inline]
    pub(super) fn echoed(&mut self, now: Time, stamp: Time) {
        if let Self::Linux(linux) = self {
            linux.buffer.echoed(now, stamp);
        }
    }

    /// An ACK of `read` bytes was sent because it has waited long enough.
    pub(super) fn expired(&mut self, read: u64) {
        if let Self::Linux(linux) = self {
            linux.expired(read);
        }
    }

    /// What waits is an ACK for a missing segment, of several together.
    pub(super) fn compresses(&self) -> bool {
        matches!(self, Self::Linux(linux) if linux.holes.waiting > 0)
    }

    /// A round trip was measured in a handshake that this receiver has not seen.
    pub(super) fn measured(&mut self, round_trip: Span) {
        if let Self::Linux(linux) = self {
            linux.round_trip = Some(round_trip);
        }
    }
}

/// Linux's delayed ACKs.
#[derive(Clone, Debug)]
pub(super) struct Linux {
    /// Bytes of a full segment.
    mss: u16,
    window: u32,
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
    /// Bytes read when the last ACK was sent.
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
}

impl Linux {
    fn new(config: &Config) -> Self {
        let (least_rto, initial_rto) = (config.rto.minimum, config.rto.initial);
        let (mss, window) = (config.mss, config.window);
        Self {
            mss,
            window,
            least_rto,
            initial_rto,
            quick: 0,
            ato: Span::ZERO,
            opened: None,
            round_trip: None,
            last: None,
            buffer: Buffer::new(mss),
            timer: Time::ZERO,
            told: 0,
            holes: Holes { compresses: config.reaction.sack, ..Holes::default() },
        }
    }

    #[inline(never)]
    fn delay(&mut self, arrival: &Arrival) -> Option<Span> {
        let Arrival { now, segment, place, may_wait, at_once, marked, held, missing, read } = *arrival;
        if segment.syn {
            self.opened = Some(now);
            return None;
        }
        let last = self.last.unwrap_or_else(|| self.establish(now));
        match place {
            Place::InOrder => self.in_order(now, last),
            Place::Ahead => {}
            Place::Outside => self.hurry(QUICK),
        }
        if marked {
            self.hurry(QUICK_AFTER_MARK);
        }
        if place != Place::Outside && self.buffer.grows(segment.payload, held, place == Place::InOrder) {
            self.quick |= 1;
        }
        if place == Place::InOrder {
            self.buffer.read(now, read);
        }
        let asks = segment.cwr || segment.payload < self.mss;
        if may_wait && self.quick == 0 && !asks {
            self.timer = tick::expiry(now, self.wait());
            return Some(self.timer.since(now));
        }
        let asks = at_once || segment.cwr;
        if missing && place != Place::Outside && self.quick == 0 && !asks && read - self.told <= u64::from(self.mss) {
            return self.ask(now, read);
        }
        self.told(read);
        None
    }

    /// How long an ACK for the segment that is missing after `read` bytes waits.
    fn ask(&mut self, now: Time, read: u64) -> Option<Span> {
        let holes = &mut self.holes;
        if holes.at != read {
            (holes.at, holes.sent) = (read, 0);
        }
        if !holes.compresses || holes.waiting >= TOGETHER || holes.sent < AT_ONCE {
            holes.sent = holes.sent.saturating_add(1);
            self.told(read);
            return None;
        }
        if holes.waiting == 0 {
            let (most, late) = TOGETHER_FOR;
            holes.due = now + most.min(self.buffer.round_trip() / 20) + late;
            if self.timer > now {
                holes.due = holes.due.min(self.timer);
            }
        }
        holes.waiting += 1;
        Some(holes.due.since(now))
    }

    /// The first segment ends the handshake.
    fn establish(&mut self, now: Time) -> Time {
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
            self.ato = self.ato / 2 + LEAST / 2;
        } else if gap < self.ato {
            self.ato = (self.ato / 2 + gap).min(self.rto()).min(MOST);
        } else if gap > self.rto() {
            self.grant(QUICK);
        }
    }

    fn grant(&mut self, most: u32) {
        let half = match self.window / 2 {
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

    /// An ACK is sent, of `read` bytes.
    fn told(&mut self, read: u64) {
        (self.told, self.holes.waiting) = (read, 0);
        if self.quick == 1 {
            self.ato = LEAST;
        }
        self.quick = self.quick.saturating_sub(1);
    }

    fn expired(&mut self, read: u64) {
        if self.holes.waiting == 0 {
            self.inflate();
        }
        self.told(read);
    }

    fn inflate(&mut self) {
        self.ato = (self.ato * 2).min(self.rto()).min(MOST);
    }

    fn wait(&self) -> Span {
        let round_trip = self.round_trip.map_or(MOST, |it| it.max(LEAST));
        let least_rto = self.least_rto.max(TICK * 2) - TICK;
        self.ato.min(round_trip).min(MOST).min(least_rto)
    }

    /// The time-out of the receiver's own data, of which it sends none: from the one round trip that it has measured.
    fn rto(&self) -> Span {
        self.round_trip.map_or(self.initial_rto, |it| it + (it * 2).max(self.least_rto))
    }
}
