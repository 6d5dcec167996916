//! `[traffic]`: from where to where, how many, when, and by which model.
//!
//! Decision: docs/decisions/021-accounting-is-stated.md

use super::chosen::{Entries, chosen, name_of};
use super::named::Name;
use super::tcp::TcpRef;
use perhop_core::dscp::Dscp;
use perhop_core::params::{Kind, Located, Node, Params, Problems, Spanned, Tree, Value};
use perhop_core::units::{BitRate, Span};
use perhop_sim::traffic::{self, TrafficParams};

/// Options of the sockets of a source.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Sockets {
    /// Datagrams that leave together, as one packet until they leave their host (UDP_SEGMENT); default: 1.
    pub gso: Option<Spanned<u32>>,
    /// No socket of it sends faster (`SO_MAX_PACING_RATE`): TCP paces itself, datagrams are paced by `fq` at their host's port.
    pub max_pacing_rate: Option<Spanned<BitRate>>,
    /// The port that they send from; default: one for each flow, from 1024 on.
    pub source_port: Option<u16>,
    /// The port that they send to; default: one for each table, from 5001 on.
    pub destination_port: Option<u16>,
}

/// The keys of `[traffic.X]` in addition to the model's parameters.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct TrafficCommon {
    /// The sending node; a list for a model that draws one of several.
    pub from: Spanned<Senders>,
    /// The receiving node.
    pub to: Spanned<String>,
    /// Number of sources.
    #[param(default = 1)]
    pub flows: Spanned<u32>,
    /// Earliest start.
    #[param(default = "0s")]
    pub start: Spanned<Span>,
    /// Each source starts a uniform draw from [0, spread) after `start`; default: 1s, for `capture` 0s.
    pub spread: Option<Spanned<Span>>,
    /// When a source stops offering; default: at the end.
    pub stop: Option<Spanned<Span>>,
    /// Code point of its packets.
    #[param(default = "BE")]
    pub dscp: Spanned<Dscp>,
    /// Class its packets are counted in; default: the table's name.
    pub class: Option<Name>,
    /// ECN (RFC 3168); default: for TCP as its preset or table says, for QUIC on, else off.
    pub ecn: Option<Spanned<bool>>,
    /// L4S (RFC 9331): its ECN-capable packets carry ECT(1); default: ECT(0).
    pub l4s: Option<Spanned<bool>>,
    /// What its sockets are set to.
    #[param(flatten)]
    pub sockets: Sockets,
    /// TCP: a stack ("linux", "newreno" ...; default: "newreno"), a name of `[tcp]`, or a table of the same keys.
    pub tcp: Option<Spanned<TcpRef>>,
}

/// `[traffic.X]`
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficSection {
    /// From where to where, how many, when.
    pub common: TrafficCommon,
    /// `model` with its parameters.
    pub model: Located<TrafficParams>,
}

/// Names of the nodes that send, at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Senders(pub Vec<Spanned<String>>);

impl Value for Senders {
    const KIND: Kind = Vec::<String>::KIND;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        Vec::read(node, problems).map(Self)
    }
    fn tree(&self) -> Option<Tree> {
        match self.0.as_slice() {
            [one] => one.tree(),
            _ => self.0.tree(),
        }
    }
}

impl TrafficSection {
    /// Keys on which the check of no other depends.
    pub const SPARE: &[&str] = &["flows", "start", "spread", "stop", "class"];

    /// `[traffic.X]`
    pub fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        chosen(node, problems, |reader| {
            let name = name_of(reader, "model", None, traffic::NAMES);
            let model = name.as_ref().and_then(|name| TrafficParams::read(name, name.place, reader));
            let model = model.map(|value| Located { value, places: reader.places() });
            let common = <TrafficCommon as Params>::read(reader);
            let known = name.is_some_and(|name| traffic::NAMES.contains(&name.as_str()));
            (known, common.zip(model).map(|(common, model)| Self { common, model }))
        })
    }

    /// The inverse of [`TrafficSection::read`].
    pub fn tree(&self) -> Tree {
        let mut entries: Entries = vec![("model", Tree::Text(self.model.name().into()))];
        self.model.show(&mut entries);
        self.common.show(&mut entries);
        Tree::table(entries)
    }
}
