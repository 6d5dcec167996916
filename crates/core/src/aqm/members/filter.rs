//! What an entry of a list takes: by colour and code point, or by a `match`.

use crate::classify::{FlowHeaders, Match};
use crate::dscp::Dscp;
use crate::packet::{Colour, Packet};
use crate::params::{CLASS, ClassName, Kind, Node, Params, Problems, Tree, Value};
use std::fmt;

/// What identifies a packet's class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// Its colour.
    Colour(Colour),
    /// Its code point.
    Dscp(Dscp),
}

impl Member {
    /// Whether a packet has it.
    pub fn is_of(self, packet: &Packet) -> bool {
        match self {
            Self::Colour(colour) => packet.colour == colour,
            Self::Dscp(dscp) => packet.dscp == dscp,
        }
    }
}

impl Value for Member {
    const KIND: Kind = Kind::Any;

    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let named = |text: &str| Colour::ALL.into_iter().find(|c| c.name() == text);
        match &node.tree {
            Tree::Text(text) if named(text).is_some() => named(text).map(Self::Colour),
            _ => Dscp::read(node, problems).map(Self::Dscp),
        }
    }

    fn tree(&self) -> Option<Tree> {
        match self {
            Self::Colour(colour) => Some(Tree::Text(colour.name().to_owned())),
            Self::Dscp(dscp) => dscp.tree(),
        }
    }
}

/// Which packets an entry of a list takes: by `for` or by `match`; only the last may have neither.
#[derive(Params, Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Colours and code points of its packets; optional in the last entry.
    #[param(name = "for")]
    pub members: Vec<Member>,
    /// In place of `for`: its packets by address, port, protocol, traffic, code point, ECN, round-trip time or conditioner.
    #[param(name = "match")]
    pub matches: Option<Match>,
}

impl From<Vec<Member>> for Filter {
    fn from(members: Vec<Member>) -> Self {
        Self { members, matches: None }
    }
}

impl From<Match> for Filter {
    fn from(matches: Match) -> Self {
        Self { members: Vec::new(), matches: Some(matches) }
    }
}

impl Filter {
    /// Whether it has neither `for` nor `match`.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.matches.is_none()
    }

    /// Which of the two it has.
    pub fn key(&self) -> Option<&'static str> {
        let matched = self.matches.as_ref().map(|_| "match");
        if self.members.is_empty() { matched } else { Some("for") }
    }

    /// Whether it takes packets of a flow.
    pub fn flow(&self, headers: &FlowHeaders) -> bool {
        self.matches.as_ref().is_none_or(|matches| matches.flow(headers))
    }

    /// Whether it takes this packet of a flow of which it takes some, if it has passed the right conditioners.
    pub fn packet(&self, packet: &Packet) -> bool {
        let listed = self.members.is_empty() || self.members.iter().any(|member| member.is_of(packet));
        listed && self.matches.as_ref().is_none_or(|matches| matches.packet(packet))
    }

    /// Whether it takes all packets of a flow of which it takes some.
    pub fn is_of_flows(&self) -> bool {
        self.members.is_empty() && self.matches.as_ref().is_none_or(Match::is_of_flows)
    }
}

/// An entry of a list, as its classifier is made.
pub(crate) struct Item<'a> {
    /// What it takes.
    pub(crate) filter: &'a Filter,
    /// What a message about it is about.
    pub(crate) subject: Subject,
    /// The template of which it is a plan, and which of its plans, if it has a place for each address.
    pub(crate) plan: Option<(usize, usize)>,
}

/// What a message about an entry is about.
pub(crate) enum Subject {
    /// A class.
    Class(ClassName),
    /// Something else, in these words.
    Other(String),
}

impl Subject {
    /// What stands for it in a message about it.
    pub(crate) fn mark(&self) -> &str {
        if let Self::Other(words) = self { words } else { CLASS }
    }

    /// The class that it is.
    pub(crate) fn class(&self) -> Option<ClassName> {
        if let Self::Class(class) = self { Some(class.clone()) } else { None }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(class) => class.fmt(f),
            Self::Other(words) => f.write_str(words),
        }
    }
}
