//! PPS tagger: a source spreads its tickets over its packets.
//!
//! Source: Zhang et al., "Probabilistic Packet Scheduling" (INFOCOM 2002), sections II-B, II-F (receiver-based), II-G.
//!
//! ```text
//! on ACK:   AvgRate = TSW(packets newly acknowledged)
//!           receiver-based: O = TSW(tickets on ACKs)
//! on send:  raw = O / AvgRate            (nothing measured yet: `first-tag`)
//!           tag = round(raw x policing), see pps/issuer.rs and pps/tags.rs
//! ```
//!
//! One instance is one source: `per = "flow"`, at the output port of the source's host. Pure ACKs pass untagged.
//!
//! | symbol     | field          | unit      | default |
//! |------------|----------------|-----------|---------|
//! | OutTktRate | `tickets`      | tickets/s | -       |
//! | AvgRate    | `rate`         | packets/s | acks    |
//! | WinLength  | `window`       | s         | 5s      |
//! | -          | `policing`     | -         | ratio   |
//! | -          | `policing-min` | -         | 0.25    |
//! | -          | `policing-max` | -         | 4       |
//! | -          | `warm-start`   | s         | -       |
//! | -          | `first-tag`    | bits      | most    |
//! | -          | `unit`         | -         | packets |
//! | -          | `scarce`       | -         | raise   |
//! | -          | `bits`         | -         | 8       |
//! | -          | `tags`         | -         | linear  |
//! | -          | `rounding`     | -         | nearest |
//! | -          | `least-tag`    | -         | one     |
//!
//! Without `tickets` the source issues the tickets that its ACKs bring (receiver-based). With `rate = "sent"` the
//! rate is the sending rate, which is all that a datagram source knows. With `unit = "bytes"` tickets are spread over
//! bytes, so a packet's tag is in proportion to its size. If a source is so fast that there is less than one ticket
//! per packet, it puts out more than it was issued, because no tag can encode less than one. `scarce = "drop"` then
//! drops packets until the tickets match those issued. This holds unresponsive sources to their share.
//!
//! Deviations: the paper does not say what packets carry before the first ACK arrives. `first-tag = "most"` is the
//! most that a tag can hold (255 tickets with 8 bits, 131071 with 17); a number n is the most that n bits hold, 2^n -
//! 1 tickets (with linear tags n is at most `bits`). The paper's tags are in [0, 255] (section III-J); here they are
//! in [1, 255] unless `least-tag = "zero"`. `warm-start`, `sent`, `bytes` and `scarce` are ours.

use super::pps::issuer::Wanted;
use super::pps::{FirstTag, Issuer, Issuing, Scarce, Tags, ack_tickets};
use crate::Scope;
use crate::conditioner::{Conditioner, Passage, Writes};
use crate::estimate::EventRate;
use crate::needs::Needs;
use crate::packet::{Packet, flags};
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{Span, TicketRate, Time};
use crate::verdict::{Reason, Verdict};

/// Which events make a source's rate.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateOf {
    /// Packets newly acknowledged.
    Acks,
    /// The same, and a duplicate ACK counts as one packet.
    AcksAndDuplicates,
    /// Packets sent.
    Sent,
}

/// What tickets are spread over.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Packets, whatever their size.
    Packets,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// What a packet of `size` bytes counts.
    #[inline]
    pub fn of(self, size: u32) -> f64 {
        match self {
            Self::Packets => 1.0,
            Self::Bytes => f64::from(size),
        }
    }
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Tickets issued to the source; default: those that its ACKs bring (receiver-based).
    pub tickets: Option<TicketRate>,
    /// Which events its rate counts.
    #[param(default = "acks")]
    pub rate: RateOf,
    /// If given, the rate during the first window is the plain mean over at least this time.
    pub warm_start: Option<Span>,
    /// Tag of packets before anything is measured: the most that a tag can hold, or the most that a number of bits holds.
    #[param(default = "most")]
    pub first_tag: FirstTag,
    /// What tickets are spread over.
    #[param(default = "packets")]
    pub unit: Unit,
    /// What happens to a packet for which there is less than one ticket.
    #[param(default = "raise")]
    pub scarce: Scarce,
    /// Window, policing, tags.
    #[param(flatten)]
    pub issuing: Issuing,
}

/// One source.
#[derive(Clone, Debug)]
pub struct PpsTagger {
    rules: Params,
    issuer: Issuer,
    /// Tickets.
    first_tag: f64,
    /// Packets/s or bytes/s.
    rate: EventRate,
    /// Tickets/s that ACKs bring.
    granted: EventRate,
    acknowledged: Option<u32>,
    /// Payload and size of the last packet with data: what an acknowledged byte is worth.
    segment: (u16, u32),
}

impl Params {
    /// # Errors
    pub fn build(self, _scope: &Scope) -> Result<PpsTagger, ParamError> {
        if let Some(tickets) = self.tickets {
            ParamError::above_zero("tickets", tickets)?;
        }
        if let Some(warm) = self.warm_start {
            ParamError::above_zero("warm-start", warm)?;
        }
        self.issuing.thins(self.scarce)?;
        let issuer = self.issuing.issuer()?;
        let first_tag = self.first_tag.tickets(&self.issuing.tags)?;
        let rate = EventRate::new(self.issuing.window);
        let (granted, rate) = (rate, rate.warmed(self.warm_start));
        Ok(PpsTagger { issuer, first_tag, rate, granted, acknowledged: None, segment: (0, 0), rules: self })
    }
}

impl PpsTagger {
    /// Tickets/s it may issue now.
    fn issued(&self) -> f64 {
        self.rules.tickets.map_or(self.granted.rate(), TicketRate::tickets_s)
    }

    /// Tickets that policing has not yet seen.
    fn raw(&self, now: Time, size: u32) -> f64 {
        let (issued, rate) = (self.issued(), self.rate.decayed(now));
        if issued > 0.0 && rate > 0.0 { issued / rate * self.rules.unit.of(size) } else { self.first_tag }
    }

    /// Remembers what a segment is, and where the first one begins.
    fn sends(&mut self, packet: &Packet) {
        if packet.payload > 0 {
            self.segment = (packet.payload, packet.size);
        }
        self.acknowledged.get_or_insert(packet.seq_end.wrapping_sub(u32::from(packet.payload)));
    }

    /// Packets (or bytes) that an ACK newly acknowledges; a duplicate's according to the rules. With data it is not a duplicate
    /// (RFC 5681 section 2).
    fn newly(&mut self, packet: &Packet) -> f64 {
        let Some(before) = self.acknowledged else { return 0.0 };
        let (payload, size) = self.segment;
        let bytes = packet.ack.wrapping_sub(before) as i32;
        if bytes > 0 && payload > 0 {
            self.acknowledged = Some(packet.ack);
            return f64::from(bytes) / f64::from(payload) * self.rules.unit.of(size);
        }
        let duplicate = bytes == 0 && payload > 0 && packet.pure_ack();
        if duplicate && self.rules.rate == RateOf::AcksAndDuplicates { self.rules.unit.of(size) } else { 0.0 }
    }
}

impl Conditioner for PpsTagger {
    type Params = Params;

    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        if packet.pure_ack() {
            return Verdict::Pass;
        }
        self.sends(packet);
        if self.rules.rate == RateOf::Sent {
            self.rate.update(at.now, self.rules.unit.of(packet.size));
        }
        let raw = self.raw(at.now, packet.size);
        if self.rules.scarce == Scarce::Drop && self.issuer.refuses(raw, rng) {
            return Verdict::Drop(Reason::Policer);
        }
        packet.set_label(self.issuer.issue(at.now, Wanted { raw, issued: self.issued() }, rng));
        Verdict::Pass
    }

    fn reverse(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, _rng: &mut Rng) {
        if packet.flags & flags::ACK == 0 {
            return;
        }
        if let Some(tickets) = ack_tickets(packet) {
            self.granted.update(at.now, tickets);
        }
        let newly = self.newly(packet);
        if newly > 0.0 && self.rules.rate != RateOf::Sent {
            self.rate.update(at.now, newly);
        }
    }

    fn writes(&self) -> Writes {
        Writes::Tickets
    }

    fn needs(&self) -> Needs {
        Needs::REVERSE
    }

    fn reads(&self) -> Option<Writes> {
        self.rules.tickets.is_none().then_some(Writes::AckTickets)
    }

    fn tags(&self) -> Option<&Tags> {
        Some(self.issuer.tags())
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let next = params.clone().build(scope)?;
        self.issuer.retune(&params.issuing);
        self.first_tag = next.first_tag;
        self.rate = self.rate.warmed(params.warm_start);
        self.rate.rewindow(params.issuing.window);
        self.granted.rewindow(params.issuing.window);
        self.rules = next.rules;
        Ok(())
    }

    fn gauges(&self, now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("issued_tickets_s", self.issued());
        each("emitted_tickets_s", self.issuer.emitted());
        each("tickets_per_packet", self.raw(now, self.segment.1));
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        self.issuer.tallies(each);
    }
}
