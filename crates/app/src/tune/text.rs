//! The answer for people: two tables and the lines to copy.

use perhop_core::design::lemma31::Loop;
use perhop_core::math::power_of_ten;
use perhop_results::summary::{grid, titled};
use perhop_scenario::tune::{Row, Tuned};
use std::fmt;

/// For the terminal.
pub(super) struct Text<'a>(pub(super) &'a Tuned);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = &self.0.plant().link;
        writeln!(
            f,
            "{} before a link of {} packets/s of {}B, a queue of {} packets, target {}\n",
            self.0.task().kind.name(),
            number(link.capacity),
            self.0.task().packet,
            number(link.limit),
            number(link.reference)
        )?;
        writeln!(f, "{}\n", self.loops())?;
        writeln!(f, "{}\n", self.table())?;
        let notes = self.0.task().notes.iter().cloned().chain(self.0.warnings());
        let notes: String = notes.map(|note| format!("note: {note}\n")).collect();
        write!(f, "{notes}{}{}", if notes.is_empty() { "" } else { "\n" }, self.0.toml())
    }
}

impl Text<'_> {
    fn loops(&self) -> String {
        let (most, v0) = (self.0.plant().classes(1), self.0.recommended().setting.v0);
        let last = self.0.plant().aggregate(1);
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
        for (i, it) in self.0.plant().loops().iter().enumerate() {
            let most = most.get(i).unwrap_or(&last);
            grid.add_row([
                self.0.name(i),
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
        for row in &self.0.rows {
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
                self.0.name(i),
            ]);
        }
        titled("Settings: stable where Vth in equilibrium is above the critical one", grid, 1)
    }
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
    let decimals = (0..8).find(|d| value.abs() * power_of_ten(*d) >= 100.0).unwrap_or(8) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
