//! Conditioners at the edge: recolour, relabel or drop each packet.
//!
//! A conditioner sits at a port and sees both directions: `forward` before the port's queue, `reverse` for packets
//! that arrive over the mate link (ACKs), `departing` at the start of transmission. The host gives it the time and
//! its random stream; it knows nothing else of the host. [`crate::port::edge::Edge`] runs several at a port.
//!
//! To add one: write its file, add its line to the list below.

use crate::Scope;
use crate::estimate::Timestamps;
use crate::needs::Needs;
use crate::packet::{Colour, FlowId, Packet};
use crate::params::ParamError;
use crate::port::turn::Turn;
use crate::rng::Rng;
use crate::units::{BitRate, Bytes, Length, Span, Time};
use crate::verdict::Verdict;

crate::algorithms! {
    $ "conditioner", Conditioner over Scope => AnyConditioner, ConditionerParams, dispatch;

    /// Two-colour token bucket (RFC 2697 with EBS = 0).
    "token-bucket" => token_bucket::{Params, TokenBucketMarker},
    /// Single rate three colour marker (RFC 2697).
    "srtcm" => srtcm::{Params, SrTcm},
    /// Two rate three colour marker (RFC 2698).
    "trtcm" => trtcm::{Params, TrTcm},
    /// Two rate three colour marker with separate buckets (RFC 4115).
    "trtcm-4115" => trtcm4115::{Params, TrTcm4115},
    /// Probabilistic two colour marker on a time sliding window (Clark and Fang).
    "tsw2cm" => tsw2cm::{Params, Tsw2Cm},
    /// Time sliding window three colour marker (RFC 2859).
    "tsw3cm" => tsw3cm::{Params, Tsw3Cm},
    /// Probabilistic aggregate marker: RED on the token level.
    "pam" => pam::{Params, Pam},
    /// PAM with a proportional-integral controller in place of RED's curve.
    "pi-pam" => pi_pam::{Params, PiPam},
    /// Fair stateless aggregate marker: CSFQ with tokens in place of link capacity; needs labels.
    "f-sam" => fsam::{Params, FSam},
    /// Random early demotion and promotion at a domain's boundary, with the combined dropper.
    "redp" => redp::{Params, Redp},
    /// RTT-aware: excess packets are red or yellow by the squared ratio of the round-trip times.
    "rtt-aware" => rtt_aware::{Params, RttAware},
    /// RTT-aware with time-outs taken into account, for many flows.
    "rtt-rto" => rtt_rto::{Params, RttRto},
    /// RTT-aware, with flows of small windows protected from loss.
    "rtt-sw" => rtt_sw::{Params, RttSw},
    /// TSW3CM, with flows of small windows protected from loss.
    "tsw3cm-sw" => tsw3cm_sw::{Params, Tsw3CmSw},
    /// Gives every packet one colour; with `match`, a classifier (RFC 2475).
    "marker" => marker::{Params, Marker},
    /// Writes the flow's rate on each of its packets, for F-SAM and CSFQ.
    "rate-labeller" => rate_labeller::{Params, RateLabeller},
    /// PPS: spreads a source's tickets over its packets.
    "pps-tagger" => pps_tagger::{Params, PpsTagger},
    /// PPS: exchanges tickets at a link for those of the next entity.
    "pps-relabeller" => pps_relabeller::{Params, PpsRelabeller},
    /// PPS, receiver-based: spreads a sink's tickets over its ACKs.
    "pps-ack-tagger" => pps_ack_tagger::{Params, PpsAckTagger},
    /// PPS, receiver-based: exchanges tickets of ACKs and of the data they belong to.
    "pps-ack-relabeller" => pps_ack_relabeller::{Params, PpsAckRelabeller},
    /// Gives the colour or label that a formula says: a conditioner of your own, as text in the file.
    "formula" => formula/mod::{Params, Formula},
    _ => foreign::{Params, Foreign},
}

pub mod meter;
mod police;
pub mod pps;
pub mod rtt;

/// What the simulator knows of a sender and the wire does not carry: the oracle of the RTT papers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderTruth {
    /// Smoothed round-trip time.
    pub srtt: Span,
    /// Retransmission timeout.
    pub rto: Span,
    /// Congestion window, segments.
    pub cwnd: f64,
}

/// A packet's passage through a port.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    /// Now; never decreases.
    pub now: Time,
    /// The flow in the port's direction: the packet's own, or in `reverse` the one whose other half it is.
    pub flow: FlowId,
    /// The packet's TCP timestamps, where the host reads them.
    pub stamps: Option<Timestamps>,
    /// The sender's state, for conditioners that ask for [`Needs::TRUTH`] and only in the simulator.
    pub truth: Option<&'a SenderTruth>,
}

impl Passage<'_> {
    /// A passage about which the host knows nothing more.
    pub const fn of(now: Time, flow: FlowId) -> Self {
        Self { now, flow, stamps: None, truth: None }
    }
}

/// What a conditioner writes on a packet. On a path a label has one writer; those that rewrite what they read may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// The colour: a meter with its marker.
    Colour,
    /// The label, as a rate in bytes/s: a labeller.
    Rate,
    /// The label, as tickets: a tagger.
    Tickets,
    /// The label of an ACK, as tickets: a tagger at a sink.
    AckTickets,
}

impl Writes {
    /// The field of the packet, by number: rates and tickets share one.
    pub const fn field(self) -> usize {
        match self {
            Self::Colour => 0,
            Self::Rate | Self::Tickets => 1,
            Self::AckTickets => 2,
        }
    }

    /// For messages: "reads tickets".
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Colour => "colours",
            Self::Rate => "rates",
            Self::Tickets => "tickets",
            Self::AckTickets => "tickets on ACKs",
        }
    }
}

/// Published by one conditioner for others of its kind: the times of its aggregate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Round-trip time, s.
    pub rtt: f64,
    /// Retransmission time-out, s.
    pub rto: f64,
}

/// Who published a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publisher {
    /// The host's number of the port.
    pub port: u32,
    /// The conditioner's place at the port.
    pub place: u32,
    /// Which of its instances.
    pub instance: u32,
}

/// Where `on_timer` puts what it publishes.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    /// Reports, and how long each takes to arrive.
    pub reports: Vec<(Span, Report)>,
}

/// A traffic conditioner. Defaults do nothing; the port calls only what [`Conditioner::needs`] asks for, and only the port
/// can: [`Turn`].
#[crate::registry::forward(AnyConditioner: dispatch, Params = ConditionerParams)]
pub trait Conditioner {
    /// Its parameters.
    type Params;
    /// A packet on its way to the port's queue.
    #[inline]
    fn forward(&mut self, at: Turn<&Passage<'_>>, packet: &mut Packet, rng: &mut Rng) -> Verdict;

    /// A packet that arrived over the mate link; may rewrite, never drops.
    fn reverse(&mut self, _at: Turn<&Passage<'_>>, _packet: &mut Packet, _rng: &mut Rng) {}

    /// A packet at the start of its transmission.
    fn departing(&mut self, _at: Turn<&Passage<'_>>, _packet: &mut Packet, _rng: &mut Rng) {}

    /// Time asked for by [`Conditioner::poll_at`] has come.
    fn on_timer(&mut self, _now: Turn<Time>, _outbox: &mut Outbox) {}

    /// No packet came since its last timer, and none will before `now`: it may leave out timers whose reports are all
    /// replaced by later ones that arrive by then. What it leaves out changes nothing that can be seen at `now`.
    fn skip_timers(&mut self, _now: Turn<Time>) {}

    /// Another conditioner's report.
    fn on_report(&mut self, _now: Turn<Time>, _from: Publisher, _report: &Report) {}

    /// Which hooks beyond `forward` it needs.
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    /// What it writes.
    fn writes(&self) -> Writes {
        Writes::Colour
    }

    /// The label it reads: `check` then reports a path on which nothing writes that label as an error.
    fn reads(&self) -> Option<Writes> {
        None
    }

    /// The colours that packets which arrive with this one may leave with, if it writes colours.
    fn gives(&self, _arriving: Colour) -> &'static [Colour] {
        &Colour::METERED
    }

    /// Whether packets that arrive with this colour are held to its committed rate: only they can exceed it.
    fn meters(&self, _arriving: Colour) -> bool {
        true
    }

    /// What the tokens of its buckets are: which bytes its rates count.
    fn tokens(&self) -> meter::Tokens {
        meter::Tokens::Bytes
    }

    /// How it writes tickets, if it does: what a flow label carries them as.
    fn tags(&self) -> Option<&pps::Tags> {
        None
    }

    /// When it next needs `on_timer`.
    fn poll_at(&self) -> Option<Time> {
        None
    }

    /// Takes new parameters at `now`, keeping its state (timed contracts, SIGHUP).
    ///
    /// # Errors
    /// The offending parameter; the old ones stay in force.
    fn retune(&mut self, now: Time, params: &Self::Params, scope: &Scope) -> Result<(), ParamError>;

    /// Forgets a flow before its number is given to another.
    fn forget(&mut self, _flow: Turn<FlowId>) {}

    /// Values for series: name, value. Changes nothing.
    fn gauges(&self, _now: Time, _each: &mut dyn FnMut(&'static str, f64)) {}

    /// Totals for tables: name, how many since the start. A host adds up those of one name, over all instances.
    fn tallies(&self, _each: &mut dyn FnMut(&'static str, u64)) {}
}

/// # Errors
/// E213 when `pir` is below `cir`.
fn peak_above_committed(pir: BitRate, cir: BitRate) -> Result<(), ParamError> {
    meter::peak_above_committed(pir.into(), cir.into())
}

/// A threshold on a bucket in bytes: stated so, or as a share of the bucket's depth.
///
/// # Errors
/// E105 if it is in packets or time.
fn bucket_threshold(field: &'static str, threshold: Length, depth: Bytes) -> Result<f64, ParamError> {
    match threshold {
        Length::Percent(share) => Ok(share / 100.0 * depth.get() as f64),
        Length::Bytes(bytes) => Ok(bytes.get() as f64),
        Length::Packets(_) | Length::Time(_) => {
            let error = ParamError::new(field, "E105", format!("`{field}` is {threshold}"));
            Err(error.help("a bucket's threshold is in bytes (\"20000B\") or a share of `cbs` (\"20%\")"))
        }
    }
}

impl AnyConditioner {
    /// Whether it rewrites what it reads, as a relabeller does.
    pub fn rewrites(&self) -> bool {
        self.reads().is_some_and(|read| read.field() == self.writes().field())
    }
}
