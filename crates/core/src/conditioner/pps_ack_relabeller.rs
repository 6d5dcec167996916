//! PPS relabeller of ACKs: exchanges R-currency on returning ACKs and turns it into S-currency on the data (receiver-based).
//!
//! Source: Zhang et al., "Probabilistic Packet Scheduling" (INFOCOM 2002), sections II-F and II-G.
//!
//! ```text
//! returning ACK (v -> u):        AckIn = TSW(its tickets);  its tag = round(tag x O/AckIn x policing)
//! data on arrival (u -> v):      In = TSW(its tickets)
//! data on departure:             X = AckIn/In, 1 where one of them is 0
//!                                its tag = round(tag x X x policing)
//! ```
//!
//! One instance at the output port u -> v, for all packets: u issues O tickets/s, in its own currency, to this output.
//! What the ACKs bring is what v would have issued to it in the sender-based scheme. ACKs have to return over
//! the link that carried their data: `check` reports paths where they do not.
//!
//! | symbol        | field          | unit      | default |
//! |---------------|----------------|-----------|---------|
//! | AckOutTktRate | `tickets`      | tickets/s | -       |
//! | WinLength     | `window`       | s         | 5s      |
//! | -             | `policing`     | -         | ratio   |
//! | -             | `policing-min` | -         | 0.25    |
//! | -             | `policing-max` | -         | 4       |
//! | -             | `ack-policing` | -         | ratio   |
//! | -             | `bits`         | -         | 8       |
//! | -             | `tags`         | -         | linear  |
//! | -             | `rounding`     | -         | nearest |
//!
//! `policing` is that of the data's tags, `ack-policing` that of the ACKs'. The paper states the rule for sources and
//! links (II-G) and prints the formulas for ACKs (II-F) without it, so both readings are available.
//!
//! Deviations: X is taken from the tickets measured on the data, as in the sender-based scheme, not as the inverse of
//! the ACKs' rate; in equilibrium the two agree.

use super::pps::issuer::{Policing, Wanted};
use super::pps::{Issuer, Issuing, Tags, ack_tickets, tickets};
use crate::Scope;
use crate::conditioner::{Conditioner, Passage, Writes};
use crate::estimate::EventRate;
use crate::needs::Needs;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{TicketRate, Time};
use crate::verdict::Verdict;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Tickets that the node issues to this output.
    pub tickets: TicketRate,
    /// How the tickets put on ACKs are kept to the rate issued.
    #[param(default = "ratio")]
    pub ack_policing: Policing,
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

    fn exchange(&mut self, now: Time, tickets: f64, issued: f64, rng: &mut Rng) -> f32 {
        let raw = tickets * self.exchange_rate(issued);
        self.issuer.issue(now, Wanted { raw, issued }, rng)
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
        Ok(PpsAckRelabeller { tickets: self.tickets.tickets_s(), acks, data })
    }
}

impl Params {
    /// What holds for ACKs.
    fn acks(&self) -> Issuing {
        Issuing { policing: self.ack_policing, ..self.issuing.clone() }
    }
}

impl Conditioner for PpsAckRelabeller {
    type Params = Params;

    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, _rng: &mut Rng) -> Verdict {
        if let Some(tickets) = tickets(packet) {
            self.data.incoming.update(at.now, tickets);
        }
        Verdict::Pass
    }

    fn reverse(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) {
        let Some(tickets) = ack_tickets(packet) else { return };
        self.acks.incoming.update(at.now, tickets);
        packet.set_ack_label(self.acks.exchange(at.now, tickets, self.tickets, rng));
    }

    fn departing(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) {
        let Some(tickets) = tickets(packet) else { return };
        packet.set_label(self.data.exchange(at.now, tickets, self.acks.incoming.rate(), rng));
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
        self.acks.retune(&params.acks());
        self.data.retune(&params.issuing);
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("ack_exchange_rate", self.acks.exchange_rate(self.tickets));
        each("exchange_rate", self.data.exchange_rate(self.acks.incoming.rate()));
        each("incoming_tickets_s", self.data.incoming.rate());
        each("emitted_tickets_s", self.data.issuer.emitted());
        each("ack_incoming_tickets_s", self.acks.incoming.rate());
        each("ack_emitted_tickets_s", self.acks.issuer.emitted());
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        self.acks.issuer.tallies(each);
        self.data.issuer.tallies(each);
    }
}
