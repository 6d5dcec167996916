//! PPS relabeller: at each link, exchanges the tickets of one currency for those of the next.
//!
//! Source: Zhang et al., "Probabilistic Packet Scheduling" (INFOCOM 2002), sections II-D and II-G.
//!
//! ```text
//! on arrival:    In = TSW(tickets that come to the link's queue)
//! on departure:  X = O/In, 1 where nothing has come
//!                tag = round(tag x X x policing), see pps/issuer.rs and pps/tags.rs
//! ```
//!
//! One instance at the output port u -> v serves all packets: v issues O tickets/s, in its own currency, to this
//! link.
//!
//! | symbol     | field          | unit      | default   |
//! |------------|----------------|-----------|-----------|
//! | OutTktRate | `tickets`      | tickets/s | -         |
//! | InTktRate  | `measure`      | -         | arrivals  |
//! | -          | `relabel`      | -         | departure |
//! | -          | `scarce`       | -         | raise     |
//! | -          | `untagged`     | -         | pass      |
//! | WinLength  | `window`       | s         | 5s        |
//! | -          | `policing`     | -         | ratio     |
//! | -          | `policing-min` | -         | 0.25      |
//! | -          | `policing-max` | -         | 4         |
//! | -          | `bits`         | -         | 8         |
//! | -          | `tags`         | -         | linear    |
//! | -          | `rounding`     | -         | nearest   |
//! | -          | `least-tag`    | -         | one       |
//!
//! `scarce = "drop"` (with `relabel = "arrival"`) drops some of the packets for which there is less than one ticket,
//! so that no input puts out more tickets than it was issued. `untagged` says what happens to packets without tickets
//! (pps/untagged.rs): if they pass unchanged, no cap limits a source that does not tag. A link that is issued no
//! tickets has no relabeller, and tickets pass it unchanged.
//!
//! Deviations: the paper does not say whether a tag is exchanged before or after the queue, nor whether dropped
//! packets count as incoming; here you can choose both. The paper's tags are in [0, 255] (section III-J); here they
//! are in [1, 255] unless `least-tag = "zero"`. `scarce` and `untagged` are ours.

use super::pps::issuer::Wanted;
use super::pps::{Door, Issuer, Issuing, Scarce, Tags, Untagged};
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

/// Which packets the incoming rate counts.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// All that arrive at the queue.
    Arrivals,
    /// Those that the queue lets through.
    Departures,
}

/// When tags are exchanged.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After the queue.
    Departure,
    /// Before it.
    Arrival,
}

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Tickets that the node at the link's other end issues to it.
    pub tickets: TicketRate,
    /// Which packets the incoming rate counts.
    #[param(default = "arrivals")]
    pub measure: Measure,
    /// When tags are exchanged.
    #[param(default = "departure")]
    pub relabel: Moment,
    /// What happens to a packet for which there is less than one ticket.
    #[param(default = "raise")]
    pub scarce: Scarce,
    /// What happens to a packet without tickets.
    #[param(default = "pass")]
    pub untagged: Untagged,
    /// Window, policing, tags.
    #[param(flatten)]
    pub issuing: Issuing,
}

/// One link's exchange.
#[derive(Clone, Debug)]
pub struct PpsRelabeller {
    rules: Params,
    door: Door,
    incoming: EventRate,
    issuer: Issuer,
}

impl Params {
    /// # Errors
    /// E201 for `tickets` or `window` of 0, `bits`, `policing-min` or `policing-max` out of bounds, `measure = "departures"` before
    /// the queue, or tags that `scarce` or `least-tag` cannot have.
    pub fn build(self, _scope: &Scope) -> Result<PpsRelabeller, ParamError> {
        ParamError::above_zero("tickets", self.tickets)?;
        if (self.measure, self.relabel) == (Measure::Departures, Moment::Arrival) {
            let message = "`measure = \"departures\"` with `relabel = \"arrival\"`".into();
            let help = "what departs is not known before the queue: relabel = \"departure\", or measure = \"arrivals\"";
            return Err(ParamError::new("measure", "E201", message).help(help));
        }
        if (self.scarce, self.relabel) == (Scarce::Drop, Moment::Departure) {
            let message = "`scarce = \"drop\"` with `relabel = \"departure\"`".into();
            let help = "after the queue nothing is dropped: relabel = \"arrival\", or scarce = \"raise\"";
            return Err(ParamError::new("scarce", "E201", message).help(help));
        }
        self.issuing.thins(self.scarce)?;
        let issuer = self.issuing.issuer()?;
        let door = Door::new(self.untagged, &self.issuing.tags);
        Ok(PpsRelabeller { door, incoming: EventRate::new(self.issuing.window), issuer, rules: self })
    }
}

impl PpsRelabeller {
    fn exchange_rate(&self) -> f64 {
        match self.incoming.rate() {
            0.0 => 1.0,
            incoming => self.rules.tickets.tickets_s() / incoming,
        }
    }

    fn relabel(&mut self, now: Time, packet: &mut Packet, rng: &mut Rng) {
        let Some(tickets) = self.door.tickets(packet) else { return };
        let wanted = Wanted { raw: tickets * self.exchange_rate(), issued: self.rules.tickets.tickets_s() };
        packet.set_label(self.issuer.issue(now, wanted, rng));
    }

    fn count(&mut self, now: Time, packet: &Packet) {
        if let Some(tickets) = self.door.tickets(packet) {
            self.incoming.update(now, tickets);
        }
    }
}

impl Conditioner for PpsRelabeller {
    type Params = Params;

    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        if !self.door.admits(packet) {
            return Verdict::Drop(Reason::Policer);
        }
        if self.rules.measure == Measure::Arrivals {
            self.count(at.now, packet);
        }
        if self.rules.relabel == Moment::Departure {
            return Verdict::Pass;
        }
        let raw = self.door.tickets(packet).map(|tickets| tickets * self.exchange_rate());
        if self.rules.scarce == Scarce::Drop && raw.is_some_and(|raw| self.issuer.refuses(raw, rng)) {
            return Verdict::Drop(Reason::Policer);
        }
        self.relabel(at.now, packet, rng);
        Verdict::Pass
    }

    fn departing(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) {
        if self.rules.measure == Measure::Departures {
            self.count(at.now, packet);
        }
        if self.rules.relabel == Moment::Departure {
            self.relabel(at.now, packet, rng);
        }
    }

    fn writes(&self) -> Writes {
        Writes::Tickets
    }

    fn needs(&self) -> Needs {
        if self.rules.relabel == Moment::Departure { Needs::DEPARTURES } else { Needs::NOTHING }
    }

    fn reads(&self) -> Option<Writes> {
        Some(Writes::Tickets)
    }

    fn tags(&self) -> Option<&Tags> {
        Some(self.issuer.tags())
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let next = params.clone().build(scope)?;
        if next.rules.relabel != self.rules.relabel {
            let error = ParamError::new("relabel", "E202", "`relabel` changes while running".into());
            return Err(error.help("waiting packets would be exchanged twice or not at all: keep the old value"));
        }
        self.door.retune(params.untagged, &params.issuing.tags);
        self.issuer.retune(&params.issuing);
        self.incoming.rewindow(params.issuing.window);
        self.rules = next.rules;
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("exchange_rate", self.exchange_rate());
        each("incoming_tickets_s", self.incoming.rate());
        each("emitted_tickets_s", self.issuer.emitted());
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        self.issuer.tallies(each);
        self.door.tallies(each);
    }
}
