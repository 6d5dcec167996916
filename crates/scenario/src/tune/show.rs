//! The answer for people: two tables and the lines to copy.

use super::{Kind, Row, Tuned};
use crate::output::summary::{grid, titled};
use perhop_core::aqm::members::Member;
use perhop_core::design::lemma31::Loop;
use perhop_core::params::Value as _;
use std::fmt;

/// Code points of local use (RFC 2474: xxxx11) for classes that give none: 3, 7, 11, ...
const LOCAL_USE: usize = 4;

impl fmt::Display for Tuned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = &self.plant.link;
        writeln!(
            f,
            "{} before a link of {} packets/s of {}B, a queue of {} packets, target {}\n",
            self.asked.kind.name(),
            number(link.capacity),
            self.asked.packet,
            number(link.limit),
            number(link.reference)
        )?;
        writeln!(f, "{}\n", self.loops())?;
        writeln!(f, "{}\n", self.table())?;
        let notes = self.asked.notes.iter().cloned().chain(self.warnings());
        let notes: String = notes.map(|note| format!("note: {note}\n")).collect();
        write!(f, "{notes}{}{}", if notes.is_empty() { "" } else { "\n" }, self.toml())
    }
}

impl Tuned {
    fn loops(&self) -> String {
        let (most, v0) = (self.plant.classes(1), self.recommended().setting.v0);
        let last = self.plant.aggregate(1);
        let mut grid = grid(&[
            "loop",
            "share",
            "flows",
            "RTT ms",
            "window p",
            "p*",
            "crossover 1/s",
            "critical Vth p",
            "largest alpha",
        ]);
        for (i, it) in self.plant.loops().iter().enumerate() {
            let most = most.get(i).unwrap_or(&last);
            grid.add_row([
                self.name(i),
                number(it.share),
                range([it.flows, most.flows].map(number)),
                number(1e3 * it.rtt),
                range([it.window(), most.window()].map(number)),
                range([it, most].map(|it: &Loop| it.equilibrium_p().map_or("none".into(), number))),
                number(it.crossover()),
                it.critical_threshold(0.0).map_or("none".into(), number),
                it.largest_alpha(v0).map_or("none".into(), number),
            ]);
        }
        titled("Loops: Lemma 3.1 at the fewest flows", grid, 1)
    }

    fn table(&self) -> String {
        let mut grid =
            grid(&["setting", "V0 p", "floor p", "alpha", "Vth p", "critical p", "ratio", "", "loop nearest"]);
        for row in &self.rows {
            let (i, worst) = row.worst();
            grid.add_row([
                row.name.to_owned(),
                number(row.setting.v0),
                number(row.setting.floor),
                alphas(row),
                number(worst.threshold),
                number(worst.critical),
                number(worst.ratio()),
                if row.stable() { "stable" } else { "UNSTABLE" }.to_owned(),
                self.name(i),
            ]);
        }
        titled("Settings: stable where Vth in equilibrium is above the critical one", grid, 1)
    }

    /// The recommended setting as the lines of a queue.
    pub fn toml(&self) -> String {
        let setting = &self.recommended().setting;
        let [v0, floor] = [setting.v0, setting.floor].map(f64::round);
        let mut out = format!("[queue.{}]\naqm = \"{}\"\n", key(&self.asked.queue), self.asked.kind.name());
        out += &format!("limit = \"{}p\"\n", self.plant.link.limit.floor());
        if self.asked.kind == Kind::Svb {
            out += &format!("alpha = {:?}\n", setting.alpha[0]);
        }
        out += &format!("v0 = \"{v0}p\"\nfloor = \"{floor}p\"\n");
        out += &format!("mean-packet = \"{}B\"\necn = true\n", self.asked.packet);
        if self.asked.kind == Kind::Msvb {
            let mut tuned = setting.alpha.iter();
            let alpha = |i: usize| self.asked.classes[i].load.and_then(|_| tuned.next().copied());
            let alphas: Vec<_> = (0..self.asked.classes.len()).map(alpha).collect();
            let lines = alphas.iter().enumerate().map(|(i, alpha)| format!("  {},\n", self.class(i, *alpha)));
            out += &format!("classes = [\n{}]\n", lines.collect::<String>());
        }
        out
    }

    /// A class's table; one that is not tuned keeps its alpha.
    fn class(&self, i: usize, alpha: Option<f64>) -> String {
        let (class, last) = (&self.asked.classes[i], self.asked.classes.len() - 1);
        let members = match class.members.as_slice() {
            [] if i == last => String::new(),
            [] => format!("for = {}, ", LOCAL_USE * (i + 1) - 1),
            members => format!("for = [{}], ", members.iter().map(word).collect::<Vec<_>>().join(", ")),
        };
        format!("{{ {members}share = {:?}, alpha = {:?} }}", class.share, alpha.unwrap_or(self.asked.alpha(i)))
    }
}

fn word(member: &Member) -> String {
    member.tree().map(|tree| tree.to_string()).unwrap_or_default()
}

fn key(name: &str) -> String {
    perhop_core::params::key(name)
}

fn alphas(row: &Row) -> String {
    let mut all: Vec<_> = row.setting.alpha.iter().copied().map(number).collect();
    all.dedup();
    all.join(", ")
}

/// `5..50`, or one of them if they are the same.
fn range([low, high]: [String; 2]) -> String {
    if low == high { low } else { format!("{low}..{high}") }
}

/// Three significant digits; whole from 100 upwards.
fn number(value: f64) -> String {
    if value == 0.0 || value.abs() >= 100.0 {
        return format!("{value:.0}");
    }
    let decimals = (0..8).find(|d| value.abs() * 10f64.powi(*d) >= 100.0).unwrap_or(8) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
