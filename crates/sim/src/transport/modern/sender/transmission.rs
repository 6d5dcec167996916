//! What is sent next; after a pause, how much of the window is left (RFC 2861 section 3.1).

use super::{Event, Modern, SYN, State, Timer};
use crate::transport::Segment;
use crate::transport::congestion::CongestionControl;
use crate::transport::modern::rate::Stamp;
use crate::transport::modern::send_buffer::Filling;
use perhop_core::units::Time;

impl Modern {
    /// The next segment to put on the wire.
    pub(in crate::transport) fn next_segment(&mut self, now: Time) -> Option<Segment> {
        if !self.data.started {
            return None;
        }
        if std::mem::take(&mut self.flow.answers) {
            return Some(self.answer());
        }
        let segment = self.due(now);
        match segment {
            Some(_) => self.usage.sent_since = true,
            None => self.settle(now),
        }
        segment
    }

    /// The ACK that ends the handshake: no data, and before all data.
    fn answer(&self) -> Segment {
        let number = self.board.una();
        let (syn, retransmission, ect, cwr, push, more) = (false, false, false, false, false, false);
        Segment { number, payload: 0, syn, retransmission, ect, cwr, push, more }
    }

    fn due(&mut self, now: Time) -> Option<Segment> {
        if std::mem::take(&mut self.tail.probe_due) {
            return self.send_probe(now);
        }
        self.flow.pace.forget();
        if !self.has_room() {
            return None;
        }
        let lost = if self.episode.new_first { None } else { self.board.first_lost() };
        if lost.is_none() && !self.has_new() || !self.flow.burst.goes_on() && self.flow.pace.holds(now) {
            return None;
        }
        if let Some(number) = lost {
            let joins = self.flow.burst.goes_on_again(number);
            if joins || !self.holds_again(number) {
                return Some(self.send_again(now, number, joins));
            }
        }
        let begins = !self.flow.burst.goes_on();
        let waits = !self.has_new() || self.waits_for_burst(now) || begins && self.holds_new();
        (!waits).then(|| self.send_new(now))
    }

    /// Whether the host's queue has no room for what was lost, from this segment on.
    fn holds_again(&mut self, number: u32) -> bool {
        let segments = self.lost_together(number);
        self.flow.queue.holds(true, segments, self.board.outstanding())
    }

    /// Whether it has none for the burst that begins.
    fn holds_new(&mut self) -> bool {
        self.flow.queue.holds(false, self.flow.burst.length(), self.board.outstanding())
    }

    /// Whether the window allows another segment.
    pub(super) fn has_room(&self) -> bool {
        self.window.cwnd as u32 > self.board.in_flight()
    }

    /// Whether there is something new that the receiver has room for.
    pub(super) fn has_new(&self) -> bool {
        let next = self.board.next();
        let opening = self.board.una() == SYN;
        next < self.data.end && next < self.edge() && !(opening && next > SYN)
    }

    /// One past the last number that the receiver has room for (RFC 9293 section 3.3.1).
    pub(super) fn edge(&self) -> u32 {
        self.data.edge.unwrap_or(self.board.una().saturating_add(self.data.advertised))
    }

    /// Nothing more goes now: was it the window that held it back, and when is a probe due?
    fn settle(&mut self, now: Time) {
        let limited = self.flow.burst.end() || !self.has_room();
        let sent = std::mem::take(&mut self.usage.sent_since);
        if sent || limited {
            self.note_usage(limited);
        }
        if sent {
            self.arm_probe(now, false);
        }
        if self.data.buffer.is_some() {
            self.fill_buffer();
        }
    }

    /// What the application writes, if it is to stop.
    #[cold]
    fn fill_buffer(&mut self) {
        let at = Filling {
            una: self.board.una(),
            next: self.board.next(),
            cwnd: self.window.cwnd as u32,
            full: !self.has_room(),
            factor: if self.law.is_in_control() { 3 } else { 2 },
            mss: self.data.mss,
            packets: self.flow.burst.packets(),
        };
        if let Some(buffer) = self.data.buffer.as_mut().filter(|_| at.una > SYN) {
            buffer.settle(&at);
        }
    }

    fn note_usage(&mut self, limited: bool) {
        let (una, out) = (self.board.una(), self.board.outstanding());
        if una >= self.usage.usage_until || limited || !self.usage.limited && out > self.usage.most_out {
            (self.usage.limited, self.usage.most_out, self.usage.usage_until) = (limited, out, self.board.next());
        }
    }

    /// Whether the window is what holds the sender back; in slow start, half of it may be used.
    pub(super) fn is_limited(&self) -> bool {
        self.usage.limited
            || self.window.cwnd < self.window.ssthresh && self.window.cwnd < 2.0 * f64::from(self.usage.most_out)
    }

    fn send_new(&mut self, now: Time) -> Segment {
        self.after_idle(now);
        let idle = self.board.outstanding() == 0;
        let stamp = self.stamp(now);
        let number = self.board.send(now, stamp);
        let segment = self.segment(now, number, (false, self.flow.burst.joins()));
        if idle || self.clock.timer == Timer::Probe {
            self.arm_retransmission(now);
        }
        segment
    }

    /// What is so now, for a segment that is about to be sent.
    fn stamp(&mut self, now: Time) -> Stamp {
        if self.flow.counters.segments == 0 && self.board.una() > SYN {
            self.tell(Event::Open, now);
        }
        if self.board.in_flight() == 0 && self.flow.rate.is_limited() {
            self.tell(Event::Restart, now);
        }
        self.flow.rate.stamp(now, self.board.flight())
    }

    fn send_again(&mut self, now: Time, number: u32, joins: bool) -> Segment {
        let stamp = self.stamp(now);
        self.board.send_again(number, now, stamp);
        let undo = &mut self.episode.undo;
        undo.repeats = Some(undo.repeats.unwrap_or(0) + 1);
        undo.first_repeat = undo.first_repeat.or(Some(now));
        if number == self.board.una() && self.clock.timer != Timer::Reordering {
            self.arm(now, Timer::Retransmission, self.rtt.rto());
        }
        self.flow.counters.retransmitted += 1;
        self.segment(now, number, (true, joins))
    }

    /// A segment that goes now, again or not; `joins`: in the packet of the one before.
    fn segment(&mut self, now: Time, number: u32, (again, joins): (bool, bool)) -> Segment {
        self.clock.last_sent = now;
        self.flow.counters.segments += 1;
        if matches!(self.episode.state, State::Reduction | State::Recovery) {
            self.episode.reduction.out += 1;
        }
        let data = number != SYN;
        let new = self.ecn.agreed && data && !again;
        let cwr = if data { new && std::mem::take(&mut self.ecn.cwr) } else { self.ecn.willing };
        let ect = new || self.ecn.always && if data { self.ecn.agreed } else { self.ecn.willing };
        let payload = match number {
            SYN => 0,
            _ if number == self.data.short => self.data.short_payload,
            _ => self.data.mss,
        };
        if payload > 0 {
            self.flow.queue.enter(joins);
        }
        let rate = self.flow.pace.rate(self.law.pacing_rate(self.data.mss));
        self.flow.pace.sent(now, payload, rate, joins);
        let push = data && (number.is_multiple_of(self.data.push) || !again && self.flow.burst.ends());
        let more = self.flow.burst.has_more(again) && (again || self.has_new());
        Segment { number, payload, syn: !data, retransmission: again, ect, cwr, push, more }
    }

    /// A window that was not used for a time-out is no longer known to fit.
    fn after_idle(&mut self, now: Time) {
        let idle = now.since(self.clock.last_sent);
        if self.law.is_in_control()
            || self.board.outstanding() > 0
            || self.clock.last_sent == Time::ZERO
            || idle <= self.rtt.rto()
        {
            return;
        }
        let (least, timeouts) =
            (f64::from(self.data.initial_window).min(self.window.cwnd), idle.ns() / self.rtt.rto().ns());
        self.window.ssthresh = self.threshold();
        self.window.cwnd = (self.window.cwnd / (1u64 << timeouts.min(32)) as f64).floor().max(least);
        self.usage.limited = false;
    }

    /// Tail loss probe: a new segment, or the last one again.
    fn send_probe(&mut self, now: Time) -> Option<Segment> {
        let segment = if self.has_new() {
            self.tail.probe_repeats = false;
            self.send_new(now)
        } else {
            let last = self.board.next() - 1;
            if self.board.get(last).sacked {
                self.tail.probe = None;
                self.arm(now, Timer::Retransmission, self.left(now));
                return None;
            }
            self.tail.probe_repeats = true;
            let stamp = self.stamp(now);
            self.board.send_probe(last, now, stamp);
            self.flow.counters.retransmitted += 1;
            self.segment(now, last, (true, false))
        };
        self.tail.probe = Some(self.board.next());
        self.arm(now, Timer::Retransmission, self.rtt.rto());
        self.usage.sent_since = false;
        Some(segment)
    }
}
