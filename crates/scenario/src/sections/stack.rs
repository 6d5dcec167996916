//! `stack`: what the hosts of a connection are. The presets of `tcp`, and what `[tcp.X]` may alter of each.
//!
//! Decision: docs/decisions/017-unnamed-stacks-are-noted.md

use super::preset::{self, Beside, Preset};
use super::rto::{Rto, RtoPreset};
use perhop_core::params::{Field, Kind, Literal, Node, Params, Place, Problems, Reader, Table, Tree, Value};

/// Hosts of a kind: a list of values of `[tcp.X]`.
#[derive(Debug, PartialEq)]
pub struct Stack {
    /// Its name.
    pub name: &'static str,
    /// What makes it this stack: keys with the values that it allows, its own first.
    is: &'static [(&'static str, &'static [&'static str])],
    /// Values that a file may alter, list after list.
    has: &'static [&'static [(&'static str, Literal)]],
    /// Its timer, of which a file may alter all but the tick; `None` leaves it to the file.
    timer: Option<RtoPreset>,
}

/// What a sender of ns-2's kind recovers by.
const CLASSIC: (&str, &[&str]) = ("recovery", preset::RECOVERIES);
/// What a sender of today recovers by.
const TODAY: (&str, &[&str]) = ("recovery", &["rack"]);

/// What every host with Linux has. Its default buffer of 6 MiB holds 2730 segments: 2304 B are set aside for each of
/// 1448 B.
const LINUX: &[(&str, Literal)] = &[
    ("initial-window", Literal::Integer(10)),
    ("window", Literal::Integer(2730)),
    ("segment", Literal::Text("1448B")),
    ("header", Literal::Text("52B")),
    ("delayed-ack", Literal::Text("linux")),
    ("small-queues", Literal::Bool(true)),
];

/// What Linux's own senders have besides: bursts.
const OFFLOAD: &[(&str, Literal)] = &[("burst-segments", Literal::Text("linux"))];

/// Every stack. Of ns-2's kind are the first three; what they do not state is as in `[tcp.X]` without `stack`.
pub const STACKS: &[Stack] = &[
    Stack { name: "reno", is: &[("recovery", &["reno"])], has: &[], timer: None },
    Stack { name: "newreno", is: &[("recovery", &["newreno"])], has: &[], timer: None },
    Stack { name: "classic", is: &[CLASSIC], has: &[], timer: None },
    Stack {
        name: "linux",
        is: &[
            TODAY,
            ("congestion", &["cubic"]),
            ("arithmetic", &["linux"]),
            ("hystart", &["linux", "none", "plus-plus"]),
        ],
        has: &[LINUX, OFFLOAD],
        timer: Some(RtoPreset::Modern),
    },
    Stack {
        name: "linux-reno",
        is: &[TODAY, ("congestion", &["reno"]), ("growth", &["segments"])],
        has: &[LINUX, OFFLOAD],
        timer: Some(RtoPreset::Modern),
    },
    Stack {
        name: "linux-bbr",
        is: &[TODAY, ("congestion", &["bbr"])],
        has: &[LINUX, OFFLOAD],
        timer: Some(RtoPreset::Modern),
    },
    Stack {
        name: "dctcp",
        is: &[TODAY, ("congestion", &["dctcp"]), ("arithmetic", &["linux"])],
        has: &[LINUX, OFFLOAD],
        timer: Some(RtoPreset::Modern),
    },
    Stack { name: "prague", is: &[TODAY, ("congestion", &["prague"])], has: &[LINUX], timer: Some(RtoPreset::Modern) },
];

/// What a traffic's `tcp` is if it has none.
pub const DEFAULT: &str = "newreno";

/// The names of all stacks.
pub const NAMES: &[&str] = &{
    let mut names = [""; STACKS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = STACKS[i].name;
        i += 1;
    }
    names
};

/// The keys `stack` and `preset` of `[tcp.X]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StackSection {
    /// What its hosts are.
    pub stack: Option<&'static Stack>,
    /// The release of ns-2 whose defaults a classic sender has.
    pub preset: Option<&'static Preset>,
}

impl Params for StackSection {
    const FIELDS: &'static [Field] = &[
        Field {
            name: "stack",
            doc: "What its hosts are; the other keys alter it. Default: \"classic\", ns-2's sender.",
            kind: Kind::Choice(NAMES),
            default: None,
            optional: true,
        },
        Field {
            name: "preset",
            doc: "Of a classic sender: the release of ns-2 whose defaults it has; the other keys alter it. Default: none, ns-2.35's.",
            kind: Kind::Choice(preset::NAMES),
            default: None,
            optional: true,
        },
    ];
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let stack: Option<Option<Named>> = reader.field(&Self::FIELDS[0]);
        let preset: Option<Option<preset::Named>> = reader.field(&Self::FIELDS[1]);
        let stack = stack?.map(|Named(stack)| stack);
        let preset = preset?.map(|preset::Named(preset)| preset);
        if let Some(preset) = preset {
            preset.settle(stack.map(Stack::beside), reader);
        }
        if let Some(stack) = stack {
            stack.settle(reader);
        }
        Some(Self { stack, preset })
    }
    fn show(&self, out: &mut Vec<(&'static str, Tree)>) {
        out.extend(self.stack.map(|stack| ("stack", Tree::Text(stack.name.into()))));
        out.extend(self.preset.map(|preset| ("preset", Tree::Text(preset.name.into()))));
    }
}

/// A stack by its name.
#[derive(Clone, Copy)]
struct Named(&'static Stack);

impl Value for Named {
    const KIND: Kind = Kind::Choice(NAMES);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let name = problems.choice(node, NAMES)?;
        STACKS.iter().find(|stack| stack.name == name).map(Self)
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.0.name.into()))
    }
}

impl Stack {
    /// What a preset beside it has to know.
    fn beside(&'static self) -> Beside {
        let recovery = self.is.iter().find(|(key, _)| *key == "recovery");
        Beside { name: self.name, recoveries: recovery.map_or(&[], |(_, allowed)| allowed) }
    }

    /// Gives a table the values that it does not state, and reports those that contradict the stack. With one of these it is no
    /// host of the kind, and what its kind has besides is left out.
    fn settle(&self, reader: &mut Reader<'_>) {
        let mut is_one = true;
        for &(key, allowed) in self.is {
            match reader.stated(key) {
                None => reader.settle(key, Tree::Text(allowed[0].into())),
                Some(Node { place, tree: Tree::Text(value) }) if !allowed.contains(&value.as_str()) => {
                    self.contradicts(Stated { key, value, place: *place }, allowed[0], reader.problems);
                    is_one = false;
                }
                Some(_) => {}
            }
        }
        for &(key, value) in self.has.iter().copied().flatten().filter(|_| is_one) {
            if reader.stated(key).is_none() {
                reader.settle(key, value.into());
            }
        }
        if let Some(own) = self.timer {
            self.settle_timer(own, reader);
        }
    }

    /// The same of the timer: what its table leaves out is the stack's.
    fn settle_timer(&self, own: RtoPreset, reader: &mut Reader<'_>) {
        let Some(stated) = reader.stated("rto") else {
            return reader.settle("rto", own.tree().expect("it has a name"));
        };
        let (whole, tick) = (Rto::completed(stated, own), own.config().granularity);
        let ticks = Rto::read(&whole, &mut Problems::default()).map(|rto| rto.config().granularity);
        if let Some(other) = ticks.filter(|ticks| *ticks != tick) {
            let place = granularity(stated).unwrap_or(stated.place);
            let message = format!("`rto` has a tick of {other}, but stack \"{}\" has one of {tick}", self.name);
            let help = "state only `minimum`, `maximum` or `initial` of `rto`, as in rto = { minimum = \"50ms\" }";
            reader.problems.error("E247", place, message).help(help);
        }
        reader.settle("rto", whole.tree);
    }

    fn contradicts(&self, stated: Stated<'_>, own: &str, problems: &mut Problems) {
        let Stated { key, value, place } = stated;
        let message = format!("`{key}` is {value}, but stack \"{}\" has {own}", self.name);
        let allows = |stack: &&Stack| stack.is.iter().any(|(k, allowed)| *k == key && allowed.contains(&value));
        let others: Vec<_> = STACKS.iter().filter(allows).map(|stack| format!("`{}`", stack.name)).collect();
        let help = match &others[..] {
            [] => format!("remove `{key}`"),
            [one] => format!("remove `{key}`, or choose stack {one}"),
            several => format!("remove `{key}`, or choose one of the stacks {}", several.join(", ")),
        };
        problems.error("E247", place, message).help(help);
    }
}

/// A value that a file states.
struct Stated<'a> {
    key: &'a str,
    value: &'a str,
    place: Place,
}

fn granularity(rto: &Node) -> Option<Place> {
    let Tree::Table(Table { entries }) = &rto.tree else { return None };
    entries.iter().find(|entry| entry.0 == "granularity").map(|entry| entry.2.place)
}
