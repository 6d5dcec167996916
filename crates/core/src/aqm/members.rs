//! Which packets belong to a profile or a class: the first one that lists their colour or code point, else the last.
//!
//! Decision: docs/decisions/055-queues-class-by-packet.md

use crate::dscp::Dscp;
use crate::packet::{Colour, Packet};
use crate::params::{Kind, Node, ParamError, Problems, Tree, Value};

const CODE_POINTS: usize = 64;
const COLOURS: usize = Colour::ALL.len();
/// Each but the last has its own member.
pub const MOST: usize = CODE_POINTS + COLOURS + 1;

/// What identifies a packet's class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// Its colour.
    Colour(Colour),
    /// Its code point.
    Dscp(Dscp),
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

/// Place in the list of each code point and colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    table: [[u8; COLOURS]; CODE_POINTS],
    places: usize,
}

impl Members {
    /// The table of `lists`, at least one; `names` are the key that holds them and the noun for one of them.
    ///
    /// # Errors
    /// E223 when one of them can match no packet.
    pub fn new<'a>(
        names: [&'static str; 2],
        lists: impl ExactSizeIterator<Item = &'a [Member]>,
    ) -> Result<Self, ParamError> {
        let lists: Vec<_> = lists.collect();
        each_matches(names, &lists)?;
        let place = |dscp, colour| {
            let own = [Member::Dscp(dscp), Member::Colour(colour)];
            let matches = |list: &&[Member]| list.iter().any(|m| own.contains(m));
            lists.iter().position(matches).unwrap_or(lists.len() - 1) as u8
        };
        let mut table = [[0; COLOURS]; CODE_POINTS];
        for (dscp, row) in (0..).filter_map(Dscp::new).take(CODE_POINTS).zip(&mut table) {
            *row = Colour::ALL.map(|colour| place(dscp, colour));
        }
        Ok(Self { table, places: lists.len() })
    }

    /// The place of a packet's profile or class.
    #[inline]
    pub fn of(&self, packet: &Packet) -> usize {
        self.table[usize::from(packet.dscp.get())][packet.colour.index()].into()
    }

    /// How many profiles or classes there are.
    pub fn places(&self) -> usize {
        self.places
    }
}

fn each_matches([key, noun]: [&'static str; 2], lists: &[&[Member]]) -> Result<(), ParamError> {
    let mut seen: Vec<Member> = Vec::new();
    for (i, members) in lists.iter().enumerate() {
        let fault = |message| Err(ParamError::new(key, "E223", message));
        if members.is_empty() && i + 1 < lists.len() {
            return fault(format!("{noun} {} has no `for`, and is not the last", i + 1))
                .map_err(|e| e.help("give it a `for`: the packets it takes"));
        }
        for member in *members {
            if seen.contains(member) {
                let name = member.tree().map(|t| t.to_string()).unwrap_or_default();
                return fault(format!("{noun} {}: {name} is listed in `for` a second time", i + 1))
                    .map_err(|e| e.help("the first one takes its packets: remove this one"));
            }
            seen.push(*member);
        }
    }
    Ok(())
}
