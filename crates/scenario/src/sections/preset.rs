//! `preset`: the defaults that a release of ns-2 gave its one-way TCP, together.
//!
//! Source: ns-2.35's own notes of what changed when, in `CHANGES.html` and `tcl/lib/ns-default.tcl`; `doc/tcp.tex` lines 168 to 181
//! list the defaults of before 2001.
//!
//! | release | of         | CHANGES.html |
//! |---------|------------|--------------|
//! | 2.1b7   | 2000-10-16 | line 2039    |
//! | 2.1b8   | 2001-06-06 | line 1700    |
//! | 2.1b9   | 2002-04-13 | line 1284    |
//! | 2.26    | 2003-02-26 | line 810     |
//! | 2.35    | 2011-11-04 | line 17      |
//!
//! | key                | 2.1b7          | 2.1b8    | 2.26     | 2.35    | ns-2 option, when it changed                                            |
//! |--------------------|----------------|----------|----------|---------|-------------------------------------------------------------------------|
//! | `recovery`         | newreno-steady | the same | the same | newreno | `newreno_changes1_`, 2003-05-05 (CHANGES.html line 793)                 |
//! | `initial-window`   | 1              | 2        | 2        | 2       | `windowInit_`, 2001-05-26 (ns-default.tcl line 920)                     |
//! | `segment`          | 960B           | 960B     | 1000B    | 1000B   | `useHeaders_`, 2001-11-28 (ns-default.tcl line 991)                     |
//! | `rto`              | its own        | its own  | its own  | its own | see `crates/sim/src/transport/rto.rs`                                   |
//! | `limited-transmit` | false          | false    | true     | true    | `singledup_`, 2001-11-28 (ns-default.tcl line 987)                      |
//! | `syn`              | false          | true     | true     | true    | `syn_` and `delay_growth_`, 2001-05-17 (ns-default.tcl lines 922, 1043) |
//!
//! What a preset sets had the same defaults in 2.1b9 as in 2.26. `segment` is data alone here, `packetSize_` (1000 B in all four) was
//! the whole packet until `useHeaders_`: so 960 B and a `header` of 40 B are its 1000 B on the wire. `window` (20) and `header` are
//! those of `[tcp.X]`: they did not change.
//!
//! Deviations: what the simulator has no setting for is as in ns-2.35: NewReno deflates its window at partial ACKs
//! (`partial_window_deflation_`, 2003-05-05), halves to fractions of a segment (`precisionReduce_`, 2006-01-24), sets its timer after
//! the estimate (`timerfix_`, 2001-05-11), and bounds the time-out before it backs off (`rfc2988_`, 2002-03-07). ECN is not part of
//! a preset: `ecn-retransmissions` is ns-2's rule.

use super::rto::{Rto, RtoPreset};
use perhop_core::params::{Kind, Literal, Node, Problems, Reader, Table, Tree, Value};

/// What a sender of ns-2's kind recovers by.
pub const RECOVERIES: &[&str] = &["newreno", "reno", "newreno-steady"];

/// A stack that is stated beside a preset.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// Its name.
    pub name: &'static str,
    /// What it may recover by.
    pub recoveries: &'static [&'static str],
}

/// The defaults of a release.
#[derive(Debug, PartialEq)]
pub struct Preset {
    /// Its name in files.
    pub name: &'static str,
    /// When it was released.
    pub date: &'static str,
    timer: RtoPreset,
    has: &'static [(&'static str, Literal)],
}

/// All of them, oldest first.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "ns2-2.1b7",
        date: "October 2000",
        timer: RtoPreset::Ns221b7,
        has: &[
            STEADY,
            ("initial-window", Literal::Integer(1)),
            WHOLE,
            ("limited-transmit", Literal::Bool(false)),
            ("syn", Literal::Bool(false)),
        ],
    },
    Preset {
        name: "ns2-2.1b8",
        date: "June 2001",
        timer: RtoPreset::Ns221b8,
        has: &[STEADY, TWO, WHOLE, ("limited-transmit", Literal::Bool(false)), SYN],
    },
    Preset {
        name: "ns2-2.26",
        date: "February 2003",
        timer: RtoPreset::Ns2226,
        has: &[STEADY, TWO, DATA, LIMITED, SYN],
    },
    Preset {
        name: "ns2-2.35",
        date: "November 2011",
        timer: RtoPreset::Ns2,
        has: &[("recovery", Literal::Text("newreno")), TWO, DATA, LIMITED, SYN],
    },
];

const STEADY: (&str, Literal) = ("recovery", Literal::Text("newreno-steady"));
const TWO: (&str, Literal) = ("initial-window", Literal::Integer(2));
/// `packetSize_` is the whole packet.
const WHOLE: (&str, Literal) = ("segment", Literal::Text("960B"));
/// `packetSize_` is its data.
const DATA: (&str, Literal) = ("segment", Literal::Text("1000B"));
const LIMITED: (&str, Literal) = ("limited-transmit", Literal::Bool(true));
const SYN: (&str, Literal) = ("syn", Literal::Bool(true));

/// The names of all presets.
pub const NAMES: &[&str] = &{
    let mut names = [""; PRESETS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = PRESETS[i].name;
        i += 1;
    }
    names
};

/// A preset by its name.
#[derive(Clone, Copy)]
pub struct Named(pub &'static Preset);

impl Value for Named {
    const KIND: Kind = Kind::Choice(NAMES);
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let name = problems.choice(node, NAMES)?;
        PRESETS.iter().find(|preset| preset.name == name).map(Self)
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.0.name.into()))
    }
}

impl Preset {
    /// Gives a table the values that it does not state. A stack keeps its own recovery; one that is not of ns-2's kind, or such a
    /// recovery, contradicts the preset, which then gives nothing.
    pub(super) fn settle(&self, stack: Option<Beside>, reader: &mut Reader<'_>) {
        if self.contradicted(stack, reader) {
            return;
        }
        for &(key, value) in self.has {
            let own = |stack: Beside| {
                key != STEADY.0 || matches!(value, Literal::Text(name) if stack.recoveries.contains(&name))
            };
            if reader.stated(key).is_none() && stack.is_none_or(own) {
                reader.settle(key, value.into());
            }
        }
        let timer = reader.stated("rto").map(|stated| Rto::completed(stated, self.timer).tree);
        reader.settle("rto", timer.or_else(|| self.timer.tree()).expect("it has a name"));
    }

    fn contradicted(&self, stack: Option<Beside>, reader: &mut Reader<'_>) -> bool {
        let help = |key| {
            format!("remove `preset` or `{key}`: only `classic`, a sender of ns-2's kind, has defaults by release")
        };
        if let Some(stack) = stack.filter(|stack| !stack.recoveries.iter().any(|name| RECOVERIES.contains(name))) {
            let message = format!("`preset` is {}, but stack \"{}\" is not of ns-2's kind", self.name, stack.name);
            reader.problems.error("E247", reader.place_of("preset"), message).help(help("stack"));
            return true;
        }
        let rack = Tree::Text("rack".into());
        let Some(stated) = reader.stated("recovery").filter(|stated| stated.tree == rack) else { return false };
        let message = format!("`recovery` is rack, which preset \"{}\" does not have", self.name);
        reader.problems.error("E247", stated.place, message).help(help("recovery"));
        true
    }

    /// For `explain`: which of a section's values, as it is shown, are the preset's, and which are altered.
    pub fn describe(&self, shown: &Tree) -> String {
        let none = Table::default();
        let table = if let Tree::Table(table) = shown { table } else { &none };
        let timer = self.timer.tree().map(|name| ("rto", name));
        let has = self.has.iter().map(|&(key, value)| (key, value.into())).chain(timer);
        let (mut kept, mut altered) = (Vec::new(), Vec::new());
        for (key, value) in has {
            let found = table.get(key).map(|node| &node.tree);
            if found == Some(&value) { kept.push(format!("{key} {value}")) } else { altered.push(key.to_owned()) }
        }
        let but = if altered.is_empty() { String::new() } else { format!("; altered: {}", altered.join(", ")) };
        format!("from preset {}, of {}: {}{but}", self.name, self.date, kept.join(", "))
    }
}
