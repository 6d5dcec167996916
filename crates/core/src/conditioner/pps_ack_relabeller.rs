//! PPS relabeller of ACKs (receiver-based): exchanges the R-currency on returning ACKs and converts it to S-currency
//! on the data.
//!
//! Source: Zhang et al., "Probabilistic Packet Scheduling" (INFOCOM 2002), sections II-F and II-G.
//!
//! ```text
//! returning ACK (v -> u):        AckIn = TSW(its tickets);  its tag = round(tag x O/AckIn x policing)
//! data on arrival (u -> v):      In = TSW(its tickets)
//! data on departure:             X = AckIn/In, 1 where one of them is 0     (exchange = "measured")
//!                                X = AckIn/O = 1/AckXRate, 1 where AckIn is 0  (exchange = "inverse", as printed)
//!                                its tag = round(tag x X x policing)
//! ```
//!
//! One instance at the output port u -> v serves all packets: u issues O tickets/s, in its own currency, to this
//! output. The ACKs bring the tickets that v would have issued to this output in the sender-based scheme. ACKs must
//! return over the link that carried their data; `check` reports paths on which they do not.
//!
//! | symbol        | field          | unit      | default  |
//! |---------------|----------------|-----------|----------|
//! | AckOutTktRate | `tickets`      | tickets/s | -        |
//! | XRate         | `exchange`     | -         | measured |
//! | -             | `untagged`     | -         | pass     |
//! | WinLength     | `window`       | s         | 5s       |
//! | -             | `policing`     | -         | ratio    |
//! | -             | `policing-min` | -         | 0.25     |
//! | -             | `policing-max` | -         | 4        |
//! | -             | `ack-policing` | -         | ratio    |
//! | -             | `bits`         | -         | 8        |
//! | -             | `tags`         | -         | linear   |
//! | -             | `rounding`     | -         | nearest  |
//! | -             | `least-tag`    | -         | one      |
//!
//! `policing` applies to the tags of data, `ack-policing` to those of ACKs. The paper states the rule for sources and
//! links (II-G) and prints the formulas for ACKs (II-F) without it, so both readings are available.
//!
//! `untagged` says what happens to data without tickets (pps/untagged.rs). An ACK without tickets is never dropped;
//! with `least` it counts as having the least tag.
//!
//! Deviations: section II-F.1 deduces InTktRate = AckOutTktRate and prints XRate = 1/AckXRate: the exchange rate of
//! the data is the inverse of that of the ACKs. By default X comes from the tickets measured on the data, as in
//! section II-D for the sender-based scheme. The two agree only if the data bring as many tickets as the ACKs took
//! along, which is not so for a source that puts too few or too many tickets on its packets. `exchange = "inverse"`
//! is the printed formula. Tags are in [1, 255] unless `least-tag = "zero"`, not in [0, 255] (section III-J).
//! `untagged` is ours.

use super::pps::issuer::{Policing, Wanted};
use super::pps::{Door, Issuer, Issuing, Tags, Untagged, ack_tickets};
use crate::Scope;
use crate::conditioner::{Conditioner, Passage, Writes};
use crate::estimate::EventRate;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{Choice, ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{TicketRate, Time};
use crate::verdict::{Reason, Verdict};

/// Where the exchange rate of the data comes from.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// From the tickets that are measured on them.
    Measured,
    /// From the ACKs: the inverse of theirs, as printed.
    Inverse,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Tickets that the node issues to this output.
    pub tickets: TicketRate,
    /// How the tickets put on ACKs are kept to the rate issued.
    #[param(default = "ratio")]
    pub ack_policing: Policing,
    /// Where the exchange rate of the data comes from.
    #[param(default = "measured")]
    pub exchange: Exchange,
    /// What happens to data without tickets; ACKs are never dropped.
    #[param(default = "pass")]
    pub untagged: Untagged,
    /// Window, policing of data, tags.
    #[param(flatten)]
    pub issuing: Issuing,
}

/// Incoming tickets in one direction, and those passed on.
#[derive(Clone, Debug)]
struct Side {
    incoming: EventRate,
    issuer: Issuer,
}

/// One link's exchange, both ways.
#[derive(Clone, Debug)]
pub struct PpsAckRelabeller {
    tickets: f64,
    exchange: Exchange,
    door: Door,
    acks: Side,
    data: Side,
}

impl Side {
    fn new(rules: &Issuing) -> Result<Self, ParamError> {
        Ok(Self { issuer: rules.issuer()?, incoming: EventRate::new(rules.window) })
    }

    /// What a ticket is worth when `issued` tickets/s are passed on.
    fn exchange_rate(&self, issued: f64) -> f64 {
        if self.incoming.rate() > 0.0 && issued > 0.0 { issued / self.incoming.rate() } else { 1.0 }
    }

    fn retune(&mut self, rules: &Issuing) {
        self.issuer.retune(rules);
        self.incoming.rewindow(rules.window);
    }
}

impl Params {
    /// # Errors
    /// E201 for `tickets` or `window` of 0, or `bits`, `policing-min` or `policing-max` out of bounds.
    pub fn build(self, _scope: &Scope) -> Result<PpsAckRelabeller, ParamError> {
        ParamError::above_zero("tickets", self.tickets)?;
        let (acks, data) = (Side::new(&self.acks())?, Side::new(&self.issuing)?);
        let door = Door::new(self.untagged, &self.issuing.tags);
        Ok(PpsAckRelabeller { tickets: self.tickets.tickets_s(), exchange: self.exchange, door, acks, data })
    }
}

impl Params {
    /// What holds for ACKs.
    fn acks(&self) -> Issuing {
        Issuing { policing: self.ack_policing, ..self.issuing.clone() }
    }
}

impl PpsAckRelabeller {
    /// Of ACKs.
    fn ack_exchange_rate(&self) -> f64 {
        self.acks.exchange_rate(self.tickets)
    }

    /// Of data.
    fn exchange_rate(&self) -> f64 {
        match self.exchange {
            Exchange::Measured => self.data.exchange_rate(self.acks.incoming.rate()),
            Exchange::Inverse => 1.0 / self.ack_exchange_rate(),
        }
    }
}

impl Conditioner for PpsAckRelabeller {
    type Params = Params;

    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        if !self.door.admits(packet) {
            return Verdict::Drop(Reason::Policer);
        }
        if let Some(tickets) = self.door.tickets(packet) {
            self.data.incoming.update(at.now, tickets);
        }
        Verdict::Pass
    }

    fn reverse(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) {
        let untagged = || self.door.of_untagged(packet.pure_ack());
        let Some(tickets) = ack_tickets(packet).or_else(untagged) else { return };
        self.acks.incoming.update(at.now, tickets);
        let wanted = Wanted { raw: tickets * self.ack_exchange_rate(), issued: self.tickets };
        packet.set_ack_label(self.acks.issuer.issue(at.now, wanted, rng));
    }

    fn departing(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) {
        let Some(tickets) = self.door.tickets(packet) else { return };
        let wanted = Wanted { raw: tickets * self.exchange_rate(), issued: self.acks.incoming.rate() };
        packet.set_label(self.data.issuer.issue(at.now, wanted, rng));
    }

    fn writes(&self) -> Writes {
        Writes::AckTickets
    }

    fn needs(&self) -> Needs {
        Needs::DEPARTURES | Needs::REVERSE
    }

    fn reads(&self) -> Option<Writes> {
        Some(Writes::AckTickets)
    }

    fn tags(&self) -> Option<&Tags> {
        Some(self.acks.issuer.tags())
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        self.tickets = params.clone().build(scope)?.tickets;
        self.exchange = params.exchange;
        self.door.retune(params.untagged, &params.issuing.tags);
        self.acks.retune(&params.acks());
        self.data.retune(&params.issuing);
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("ack_exchange_rate", self.ack_exchange_rate());
        each("exchange_rate", self.exchange_rate());
        each("incoming_tickets_s", self.data.incoming.rate());
        each("emitted_tickets_s", self.data.issuer.emitted());
        each("ack_incoming_tickets_s", self.acks.incoming.rate());
        each("ack_emitted_tickets_s", self.acks.issuer.emitted());
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        self.acks.issuer.tallies(each);
        self.data.issuer.tallies(each);
        self.door.tallies(each);
    }
}
