//! The neutral model: what a device does with packets, in the field's words and perhop's keys.

use crate::value::{Settings, WithOrigin};
use perhop_core::accounting::Accounting;
use perhop_core::classify::Match;
use perhop_core::colour::Colour;
use perhop_core::dscp::Dscp;
use perhop_core::units::Bytes;

/// What a text says of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// Its ports, in the order of the text.
    pub ports: Vec<Port>,
}

/// The most packets that a link of the device holds at once. Links of a scenario have no such bound.
pub const ON_THEIR_WAY: &str = "packets on their way";

/// A packet of 1500 B with the header of Ethernet, without VLAN tag.
pub const FRAME: Bytes = Bytes::new(1500 + Accounting::L2.overhead() as u64);

/// An interface in one direction, with what happens to its packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// The interface as the text calls it: `eth0`, `GigabitEthernet0/0`; a policy that no interface has is a port with the policy's
    /// name.
    pub interface: WithOrigin<String>,
    /// The direction.
    pub way: Way,
    /// The interface in whose queue packets wait that come in, as `ifb4eth0`; `None`: another name of the port is not said.
    pub behind: Option<WithOrigin<String>>,
    /// Whether filters of its queue sort packets, wherever they lead.
    pub sorts: bool,
    /// The bytes that its meters and queues count: `accounting` of a scenario.
    pub accounting: Option<WithOrigin<&'static str>>,
    /// Keys of the link: `rate`, `delay`, `jitter`, `loss`, `reorder`, `mtu`, [`ON_THEIR_WAY`].
    pub link: Settings,
    /// What meters, marks and polices before the queue, in the order in which packets meet it.
    pub conditioners: Vec<Conditioner>,
    /// What waits; `None`: the text says nothing of it.
    pub queue: Option<Queue>,
    /// Where packets end that are not of IP, and those of IPv6 if none of its filters looks at them; without those of which that depends on
    /// what they are.
    pub others: Vec<(&'static str, Fate)>,
    /// The same port for hosts that meet IPv6 as well, where its filters tell the two versions apart; `None`: it says all.
    pub both_versions: Option<Box<Self>>,
}

/// Where packets of a protocol end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// In a class.
    Class(String),
    /// Past all classes.
    Direct,
    /// Nowhere: they are dropped.
    Dropped,
    /// They pass as far as a policer lets them, and no class is there.
    Metered,
    /// They pass, and no class is there.
    Passed,
}

/// A direction of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// Packets that come in.
    Input,
    /// Packets that go out.
    Output,
}

impl Port {
    /// Its direction as a user calls it: `output`, `input (ifb4eth0)`.
    pub fn direction(&self) -> String {
        let behind = self.behind.as_ref().map(|name| format!(" ({})", name.is)).unwrap_or_default();
        format!("{}{behind}", self.way.name())
    }

    /// Its names: that of the interface, and that of the one behind it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [Some(&self.interface), self.behind.as_ref()].into_iter().flatten().map(|name| name.is.as_str())
    }
}

impl Way {
    /// As `--direction` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }
}

/// A queue, a scheduler over classes, or a scheduler over flows, below a shaper if it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// As the text calls it: `1:`, `policy-map WAN`.
    pub name: WithOrigin<String>,
    /// Its algorithm; `None`: drop-tail.
    pub kind: Option<Kind>,
    /// Keys of the algorithm, and `limit`.
    pub settings: Settings,
    /// Keys of `shape`; empty: it is not shaped.
    pub shape: Settings,
    /// Of a scheduler over classes, in the order of the scheduler.
    pub classes: Vec<Class>,
}

/// The algorithm of a queue, by its name in scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `aqm = ".."`
    Aqm(&'static str),
    /// `scheduler = ".."`
    Scheduler(&'static str),
}

/// A class of a scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// As the text calls it: `1:10`, `GOLD`.
    pub name: WithOrigin<String>,
    /// The place in [`Queue::classes`] of the class above it; of `htb` and `hfsc` only.
    pub parent: Option<usize>,
    /// Which packets it takes: any of these. Empty in a parent, and in a class that takes what is left.
    pub takes: Vec<Filter>,
    /// Whether it takes what no other class takes.
    pub rest: bool,
    /// Keys of the class: `rate`, `ceil`, `quantum`, `weight`, `prio`.
    pub settings: Settings,
    /// Its own queue; `None`: the text says nothing of it.
    pub queue: Option<Queue>,
}

impl Queue {
    /// For each class whether others are below it.
    pub fn parents(&self) -> Vec<bool> {
        let mut parents = vec![false; self.classes.len()];
        for parent in self.classes.iter().filter_map(|class| class.parent) {
            parents.get_mut(parent).into_iter().for_each(|is_parent| *is_parent = true);
        }
        parents
    }
}

impl Class {
    /// Whether the text leads no packet to it.
    pub fn is_unnamed(&self) -> bool {
        self.takes.is_empty() && !self.rest
    }
}

/// Packets that are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Filters of a port are asked by this number, the lowest first.
    pub order: u32,
    /// What agrees. A mark that no header has, such as that of a firewall, is a `traffic` called `mark-10`.
    pub matches: WithOrigin<Match>,
}

/// A meter, marker or policer.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditioner {
    /// As the text calls it, or its class.
    pub name: WithOrigin<String>,
    /// Which packets it takes: any of these; empty: all.
    pub takes: Vec<Filter>,
    /// The algorithm, by its name in scenarios: `token-bucket`, `trtcm`, `marker`.
    pub kind: &'static str,
    /// Its keys.
    pub settings: Settings,
    /// What happens to packets of a colour; a colour that is missing passes.
    pub actions: Vec<(Colour, WithOrigin<Vec<Act>>)>,
}

/// A part of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The packet goes on to the queue.
    Transmit,
    /// It goes no further.
    Drop,
    /// It gets a code point.
    Mark(Dscp),
    /// It gets a drop precedence.
    Colour(Colour),
    /// It goes on to the next conditioner that matches.
    Next,
}

/// Whether a name is meant by another: the same in other letters, or without the end of its first word, as in `Gi0/1`.
pub fn same_interface(name: &str, asked: &str) -> bool {
    let halves = |name: &str| {
        let (kind, number) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
        (kind.trim().to_ascii_lowercase(), number.trim().to_ascii_lowercase())
    };
    let ((kind, number), (short, asked)) = (halves(name), halves(asked));
    number == asked && !short.is_empty() && kind.starts_with(&short)
}
