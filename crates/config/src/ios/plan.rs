//! What a text says of QoS, in the words of the modular QoS command line (MQC): class maps, lists of packets, policy
//! maps, and where the policies are.

use crate::model::Way;
use perhop_core::classify::Match;
use perhop_core::dscp::Dscp;
use perhop_core::params::Place;
use perhop_core::units::{BitRate, Length, Span};
use std::collections::{HashMap, HashSet};

/// A place and the number of its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// From 1.
    pub line: usize,
    /// Bytes of the text.
    pub place: Place,
}

/// Something with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithPlace<T> {
    /// What is said.
    pub is: T,
    /// Where.
    pub at: At,
}

/// Everything.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// In the order of the text.
    pub class_maps: Vec<ClassMap>,
    /// Access lists.
    pub lists: Vec<List>,
    /// Tables of one field to another.
    pub tables: Vec<Table>,
    /// In the order of the text, those shown at an interface included.
    pub policies: Vec<Policy>,
    /// Interfaces.
    pub interfaces: Vec<Interface>,
    /// Policies at interfaces.
    pub attached: Vec<Attached>,
    /// What interfaces police and shape without a policy.
    pub apart: Vec<Apart>,
    /// By name: the last one said.
    pub class_map: HashMap<String, usize>,
    /// By name.
    pub list: HashMap<String, usize>,
    /// By name.
    pub table: HashMap<String, usize>,
    /// By name: those that are defined, not those shown at an interface.
    pub policy: HashMap<String, usize>,
}

/// `class-map`
#[derive(Clone, Debug, Default)]
pub struct ClassMap {
    /// As the text has it.
    pub name: String,
    /// Its head.
    pub at: At,
    /// `match-all`; otherwise any of the tests suffices.
    pub all: bool,
    /// Its `match` lines.
    pub tests: Vec<WithPlace<Test>>,
}

/// A `match` line.
#[derive(Clone, Debug)]
pub struct Test {
    /// `match not`
    pub not: bool,
    /// What is looked at.
    pub what: What,
}

/// What a `match` line looks at.
#[derive(Clone, Debug)]
pub enum What {
    /// `any`
    Any,
    /// Fields that headers here have.
    Fields(Box<Match>),
    /// An access list.
    List(String),
    /// A class map within a class map.
    Class(String),
}

/// An access list.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// Its name or number.
    pub name: String,
    /// Its lines. They are read when a class asks for them.
    pub lines: Vec<At>,
}

/// `table-map`
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// As the text has it.
    pub name: String,
    /// From, to.
    pub maps: Vec<(u8, u8)>,
    /// What others become; `None`: they stay.
    pub otherwise: Option<u8>,
}

/// `policy-map`
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// As the text has it.
    pub name: String,
    /// Its head.
    pub at: At,
    /// In order.
    pub classes: Vec<Class>,
    /// Shown at an interface, or a child of one.
    pub inline: bool,
    /// As devices print it, not as it is typed.
    pub shown: bool,
}

/// A class of a policy map.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// As the text has it.
    pub name: String,
    /// Its head.
    pub at: At,
    /// Its tests, where they are shown with it.
    pub map: Option<ClassMap>,
    /// `priority`
    pub priority: Option<Priority>,
    /// `bandwidth`
    pub bandwidth: Option<WithPlace<Share>>,
    /// What shapes it.
    pub shaping: Shaping,
    /// `police`
    pub police: Option<Police>,
    /// `set`
    pub sets: Vec<WithPlace<Do>>,
    /// What bounds and orders what waits in it.
    pub waiting: Waiting,
    /// `drop`
    pub drop: Option<At>,
    /// `service-policy`
    pub child: Option<Child>,
    /// `account user-defined`, of a shaper or a policer: bytes beyond those that are counted.
    pub overhead: Option<WithPlace<i32>>,
}

/// The shaper of a class.
#[derive(Clone, Debug, Default)]
pub struct Shaping {
    /// `shape`
    pub shape: Option<Shape>,
    /// `Average Rate Traffic Shaping` was shown: the next rate is that of the shaper.
    pub begins: bool,
    /// `Peak Rate Traffic Shaping`
    pub peak: bool,
}

/// What a class says of its queue.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// `random-detect`
    pub wred: Option<Wred>,
    /// `queue-limit`
    pub limit: Option<WithPlace<Length>>,
    /// `queue-limit dscp ..`
    pub limits: Vec<WithPlace<(Vec<Dscp>, Length)>>,
    /// `fair-queue`
    pub fair: Option<At>,
}

/// A policy within a class.
#[derive(Clone, Debug)]
pub enum Child {
    /// By its name.
    Named(WithPlace<String>),
    /// Shown here: its place in [`Plan::policies`].
    Shown(usize),
}

/// A rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// bit/s
    Bits(BitRate),
    /// Packets/s.
    Packets(u64),
    /// Of the shaper above, or of the link.
    Percent(f64),
}

/// A burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Burst {
    /// Bytes.
    Bytes(u64),
    /// Packets.
    Packets(u64),
    /// As long as the rate takes to fill it.
    Time(Span),
}

/// `priority`
#[derive(Clone, Debug)]
pub struct Priority {
    /// Where.
    pub at: At,
    /// 1 first, and where none is said. Classes of one level share a queue.
    pub level: u64,
    /// Its limit.
    pub rate: Option<WithPlace<Rate>>,
    /// Bytes.
    pub burst: Option<WithPlace<u64>>,
}

/// `bandwidth`
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// bit/s
    Rate(BitRate),
    /// Of the shaper above, or of the link.
    Percent(f64),
    /// Of what is left.
    RemainingPercent(f64),
    /// Of what is left, relative to siblings.
    RemainingRatio(u64),
}

/// `shape`
#[derive(Clone, Debug)]
pub struct Shape {
    /// Where.
    pub at: At,
    /// `peak`
    pub peak: bool,
    /// Its rate.
    pub rate: WithPlace<Rate>,
    /// Bits, or time.
    pub bc: Option<WithPlace<Bits>>,
    /// Bits, or time.
    pub be: Option<WithPlace<Bits>>,
}

/// A burst of a shaper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bits {
    /// Bits.
    Count(u64),
    /// As long as the rate takes to fill it.
    Time(Span),
}

/// `police`
#[derive(Clone, Debug)]
pub struct Police {
    /// Where.
    pub at: At,
    /// Committed rate.
    pub cir: WithPlace<Rate>,
    /// Committed burst.
    pub bc: Option<WithPlace<Burst>>,
    /// Peak rate.
    pub pir: Option<WithPlace<Rate>>,
    /// Excess burst without `pir`, peak burst with it.
    pub be: Option<WithPlace<Burst>>,
    /// For conforming, exceeding and violating packets; `None`: the default.
    pub actions: [Option<Vec<WithPlace<Do>>>; 3],
    /// `conform-color`
    pub aware: Option<At>,
}

/// What is done to a packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// It goes on.
    Transmit,
    /// It goes no further.
    Drop,
    /// It goes on to the next policer that it agrees with.
    Continue,
    /// It gets a code point.
    Dscp(Dscp),
    /// It gets a precedence.
    Precedence(u8),
    /// It gets a discard class.
    DiscardClass(u8),
    /// It gets what a table says; of the field called here.
    Mapped(String),
    /// It gets a field that no packet here has.
    Other(String),
}

/// `random-detect`
#[derive(Clone, Debug, Default)]
pub struct Wred {
    /// Where it is enabled; `None`: only its parameters are said.
    pub at: Option<At>,
    /// By what its profiles are.
    pub basis: Option<Basis>,
    /// `exponential-weighting-constant`
    pub weight: Option<WithPlace<u64>>,
    /// `ecn`
    pub ecn: Option<At>,
    /// What is said of code points.
    pub profiles: Vec<WithPlace<Profile>>,
    /// Whether a device printed it, so that nothing is left away but what is its own.
    pub whole: bool,
}

/// What chooses a profile of WRED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// `prec-based`
    Precedence,
    /// `dscp-based`
    Dscp,
    /// `discard-class-based`
    DiscardClass,
    /// Of a field that no packet here has.
    Other,
}

/// Thresholds of WRED.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// For whom.
    pub of: Of,
    /// Thresholds from which on packets are dropped, and all are; `None`: the device's own.
    pub thresholds: Option<[Length; 2]>,
    /// The inverse of the probability at `max`.
    pub denominator: u64,
}

/// Whom a profile of WRED is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Of {
    /// These code points.
    Dscp(Vec<Dscp>),
    /// A precedence.
    Precedence(u8),
    /// A discard class.
    DiscardClass(u8),
    /// All of the class.
    All,
    /// What no packet here has.
    Other,
}

/// An interface of the text.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// As the text has it.
    pub name: String,
    /// Its name's place.
    pub at: At,
    /// `bandwidth`
    pub bandwidth: Option<WithPlace<BitRate>>,
    /// `max-reserved-bandwidth`, in percent.
    pub reserves: Option<f64>,
    /// The address of the far end: a tunnel may have a policy for each.
    pub peer: Option<String>,
}

/// A policy at an interface.
#[derive(Clone, Debug)]
pub struct Attached {
    /// Its place in [`Plan::interfaces`].
    pub interface: usize,
    /// The direction.
    pub way: Way,
    /// The policy.
    pub policy: Child,
    /// Where.
    pub at: At,
}

/// A policer or shaper of an interface that is in no policy map.
#[derive(Clone, Debug)]
pub struct Apart {
    /// Its place in [`Plan::interfaces`].
    pub interface: usize,
    /// The direction.
    pub way: Way,
    /// What a class of a policy map would say.
    pub class: Class,
}

impl Plan {
    /// Names that the text gives to class maps, policies, classes, lists, tables, interfaces and traffic, and those that it uses.
    pub fn names(&self, name: &mut dyn FnMut(&str)) {
        let classes = || self.policies.iter().flat_map(|policy| &policy.classes);
        let named = |child: &'_ Child| if let Child::Named(name) = child { Some(name.is.clone()) } else { None };
        self.policies.iter().for_each(|it| name(&it.name));
        self.lists.iter().for_each(|it| name(&it.name));
        self.tables.iter().for_each(|it| name(&it.name));
        self.interfaces.iter().for_each(|it| name(&it.name));
        classes().for_each(|it| name(&it.name));
        let children = classes().filter_map(|class| class.child.as_ref());
        children.chain(self.attached.iter().map(|it| &it.policy)).filter_map(named).for_each(|it| name(&it));
        for map in self.class_maps.iter().chain(classes().filter_map(|class| class.map.as_ref())) {
            name(&map.name);
            for test in &map.tests {
                match &test.is.what {
                    What::List(it) | What::Class(it) => name(it),
                    What::Fields(fields) => fields.traffic.iter().for_each(|it| name(it)),
                    What::Any => {}
                }
            }
        }
    }

    /// The policy of a name or of a place.
    pub fn child(&self, child: &Child) -> Option<&Policy> {
        match child {
            Child::Named(name) => self.policy.get(&name.is).map(|at| &self.policies[*at]),
            Child::Shown(at) => self.policies.get(*at),
        }
    }

    /// The name of a policy.
    pub fn name_of<'a>(&'a self, child: &'a Child) -> &'a str {
        match child {
            Child::Named(name) => &name.is,
            Child::Shown(at) => self.policies.get(*at).map_or("", |policy| &policy.name),
        }
    }

    /// What the port of each policy at an interface is called: the interface, and where several policies have one direction of it, such
    /// as those of a tunnel's far ends, the policy; after that a number.
    pub fn called(&self) -> Vec<String> {
        let way = |it: &Attached| (self.interfaces[it.interface].name.clone(), it.way);
        let whose =
            |it: &'_ Attached| (self.name_of(&it.policy).to_owned(), self.interfaces[it.interface].peer.clone());
        let mut many: HashMap<_, HashSet<_>> = HashMap::new();
        self.attached.iter().for_each(|it| _ = many.entry(way(it)).or_default().insert(whose(it)));
        let mut seen: HashMap<_, Vec<_>> = HashMap::new();
        let name = |it: &Attached| {
            let (key, (policy, peer)) = (way(it), whose(it));
            if many[&key].len() == 1 {
                return key.0;
            }
            let name = [key.0.as_str(), &policy].join(" ");
            let before = seen.entry((key, policy)).or_default();
            let place = before.iter().position(|known| *known == peer).unwrap_or(before.len());
            if place == before.len() {
                before.push(peer);
            }
            if place == 0 { name } else { format!("{name} {}", place + 1) }
        };
        self.attached.iter().map(name).collect()
    }

    /// Whether a class of a policy, or of one within it, is such. Each policy is looked at once, as they may be in a circle.
    pub fn any_class(&self, policy: &Policy, is_such: &dyn Fn(&Class) -> bool) -> bool {
        let mut seen: HashSet<*const Policy> = HashSet::new();
        let mut list = vec![policy];
        while let Some(policy) = list.pop() {
            if policy.classes.iter().any(is_such) {
                return true;
            }
            let children = policy.classes.iter().filter_map(|class| class.child.as_ref());
            for child in children.filter_map(|child| self.child(child)) {
                if seen.insert(child) {
                    list.push(child);
                }
            }
        }
        false
    }

    /// Whether a class, or one of the policy within it, is such.
    pub fn class_or_below(&self, class: &Class, is_such: &dyn Fn(&Class) -> bool) -> bool {
        let below = || class.child.as_ref().and_then(|child| self.child(child));
        is_such(class) || below().is_some_and(|policy| self.any_class(policy, is_such))
    }
}

impl Of {
    /// Whether a line for these leaves nothing of one for the others.
    pub fn replaces(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::Dscp(list), Self::Dscp(known)) => known.iter().all(|dscp| list.contains(dscp)),
            (Self::Other, _) => false,
            (one, other) => one == other,
        }
    }

    /// How many code points it is for.
    pub const fn code_points(&self) -> usize {
        match self {
            Self::Dscp(list) => list.len(),
            Self::Precedence(_) => 8,
            Self::All => 64,
            Self::DiscardClass(_) | Self::Other => 0,
        }
    }
}

impl Class {
    /// Whether its packets wait in a separate queue.
    pub const fn queues(&self) -> bool {
        self.priority.is_some()
            || self.bandwidth.is_some()
            || self.shaping.shape.is_some()
            || self.waiting.wred.is_some()
            || self.waiting.limit.is_some()
            || !self.waiting.limits.is_empty()
            || self.waiting.fair.is_some()
    }

    /// Whether it takes what no other class takes.
    pub fn is_default(&self) -> bool {
        self.name == "class-default"
    }
}
