//! `[nodes]` and `[links]`.

use super::chosen::text;
use super::queue::QueueRef;
use perhop_core::accounting::Accounting;
use perhop_core::params::{Kind, Node, Params, Problems, Spanned, Tree, Value};
use perhop_core::units::{BitRate, Bytes, Probability, Span};
use perhop_sim::plan::Spread;
use std::net::Ipv4Addr;

/// `[nodes.X]`
#[derive(Params, Clone, Debug, PartialEq)]
pub struct NodeSection {
    /// Its address; default: 10.0.n.1 in the order of appearance.
    pub address: Option<Spanned<Address>>,
}

/// `"A - B"` (both directions) or `"A -> B"` (one, or what differs there) in `[links]`.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct LinkSection {
    /// Rate.
    pub rate: Option<Spanned<BitRate>>,
    /// Which bytes of a packet the rate counts; default: the IP packet (`l3`).
    pub framing: Option<Spanned<Accounting>>,
    /// Propagation delay.
    pub delay: Option<Span>,
    /// Its queue: a name of `[queue]`, or a table of the same keys.
    pub queue: Option<Spanned<QueueRef>>,
    /// Share of packets lost on the wire.
    pub loss: Option<Probability>,
    /// How far a packet's time on the wire may be from `delay`, of a normal distribution its standard deviation.
    pub jitter: Option<Spanned<Span>>,
    /// The jitter's distribution; default: `uniform`.
    pub distribution: Option<Spanned<Spread>>,
    /// Share of packets that overtake all that are on the wire.
    pub reorder: Option<Spanned<Probability>>,
    /// The largest IP packet that it carries.
    pub mtu: Option<Spanned<Bytes>>,
}

/// A node's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub Ipv4Addr);

impl Value for Address {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let text = text::<Self>(node, problems)?;
        text.parse().ok().map(Self).or_else(|| {
            let message = format!("`{text}` is not an IPv4 address");
            problems.error("E243", node.place, message).help("write it as in \"10.0.1.1\"").none()
        })
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.0.to_string()))
    }
}
