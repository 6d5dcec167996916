//! PPS tagger of ACKs (receiver-based): a sink spreads its tickets over its ACKs.
//!
//! Source: Zhang et al., "Probabilistic Packet Scheduling" (INFOCOM 2002), section II-F.
//!
//! ```text
//! on each ACK:  AckAvgRate = TSW(ACKs);  raw = O / AckAvgRate
//!               tag = round(raw x policing), see pps/issuer.rs and pps/tags.rs
//! ```
//!
//! One instance is one sink: `per = "flow"`, at the output port of the sink's host. Packets with data pass untagged.
//!
//! | symbol        | field          | unit      | default |
//! |---------------|----------------|-----------|---------|
//! | AckOutTktRate | `tickets`      | tickets/s | -       |
//! | WinLength     | `window`       | s         | 5s      |
//! | -             | `policing`     | -         | ratio   |
//! | -             | `policing-min` | -         | 0.25    |
//! | -             | `policing-max` | -         | 4       |
//! | -             | `bits`         | -         | 8       |
//! | -             | `tags`         | -         | linear  |
//! | -             | `rounding`     | -         | nearest |
//! | -             | `least-tag`    | -         | one     |
//!
//! Delayed ACKs make no difference, because tickets are divided by the rate of ACKs.
//!
//! Deviations: only those of the two files named above.

use super::pps::issuer::Wanted;
use super::pps::{Issuer, Issuing, Tags};
use crate::Scope;
use crate::conditioner::{Conditioner, Passage, Writes};
use crate::estimate::EventRate;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{TicketRate, Time};
use crate::verdict::Verdict;

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Tickets that the host issues to the sink.
    pub tickets: TicketRate,
    /// Window, policing, tags.
    #[param(flatten)]
    pub issuing: Issuing,
}

/// One sink.
#[derive(Clone, Debug)]
pub struct PpsAckTagger {
    tickets: f64,
    acks: EventRate,
    issuer: Issuer,
}

impl Params {
    /// # Errors
    /// E201 for `tickets` or `window` of 0, or `bits`, `policing-min` or `policing-max` out of bounds.
    pub fn build(self, _scope: &Scope) -> Result<PpsAckTagger, ParamError> {
        ParamError::above_zero("tickets", self.tickets)?;
        let issuer = self.issuing.issuer()?;
        Ok(PpsAckTagger { tickets: self.tickets.tickets_s(), acks: EventRate::new(self.issuing.window), issuer })
    }
}

impl Conditioner for PpsAckTagger {
    type Params = Params;

    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict {
        if packet.pure_ack() {
            self.acks.update(at.now, 1.0);
            let wanted = Wanted { raw: self.tickets / self.acks.rate(), issued: self.tickets };
            packet.set_ack_label(self.issuer.issue(at.now, wanted, rng));
        }
        Verdict::Pass
    }

    fn writes(&self) -> Writes {
        Writes::AckTickets
    }

    fn tags(&self) -> Option<&Tags> {
        Some(self.issuer.tags())
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        self.tickets = params.clone().build(scope)?.tickets;
        self.issuer.retune(&params.issuing);
        self.acks.rewindow(params.issuing.window);
        Ok(())
    }

    fn gauges(&self, _now: Time, each: &mut dyn FnMut(&'static str, f64)) {
        each("acks_s", self.acks.rate());
        each("emitted_tickets_s", self.issuer.emitted());
    }

    fn tallies(&self, each: &mut dyn FnMut(&'static str, u64)) {
        self.issuer.tallies(each);
    }
}
