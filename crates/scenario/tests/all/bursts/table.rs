//! The table of `perhop_core::design::policer`: measured, written, and looked at again.

use crate::bursts::cell::Cell;
use perhop_core::design::policer::{Sender, grid};
use perhop_core::math::power_of_two;
use std::fmt::Write as _;
use std::path::Path;

/// A flow's phase in its bucket is luck: each entry is the mean of runs with round trips somewhat shorter and longer.
const ABOUT: [f64; 4] = [0.95, 0.98, 1.02, 1.05];
/// Two entries of a row at this share are the last that are measured.
const ALL: f64 = 0.985;

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Row {
    pub sender: Sender,
    pub flows: usize,
    pub rate: usize,
    pub rtt: usize,
}

impl Row {
    /// A burst of 2^power products of rate and round trip, B; a packet at least.
    fn burst(self, power: i32) -> u32 {
        let bytes = grid::product(self.rate, self.rtt) * power_of_two(power);
        bytes.max(grid::PACKET).round() as u32
    }

    /// The share at a burst, measured.
    pub fn measured(self, power: i32) -> f64 {
        let (mbit_s, rtt_ms) = (grid::RATES[self.rate], grid::RTTS[self.rtt]);
        let (flows, burst) = (grid::FLOWS[self.flows] as u32, self.burst(power));
        let run = |about: f64| Cell::policed(self.sender, [mbit_s, about * rtt_ms], flows, burst).run().share;
        ABOUT.into_iter().map(run).sum::<f64>() / ABOUT.len() as f64
    }

    /// The share at a burst, by the table.
    pub fn written(self, power: i32) -> f64 {
        f64::from(self.percent()[(power - self.sender.least()) as usize]) / 100.0
    }

    fn percent(self) -> &'static [u8] {
        grid::shares(self.sender)[self.flows][self.rate][self.rtt]
    }

    /// What the table says of it, or what is measured.
    fn line(self, measured: bool) -> String {
        if !measured {
            return format!("&{:?}", self.percent());
        }
        let mut shares: Vec<f64> = Vec::new();
        for power in self.sender.least()..=grid::MOST {
            let same = shares.last().filter(|_| self.burst(power) == self.burst(power - 1));
            let share =
                if ended(&shares) { 1.0 } else { same.copied().unwrap_or_else(|| self.measured(power).min(1.0)) };
            shares.push(share);
        }
        let percent: Vec<_> = shares.iter().map(|share| format!("{:.0}", 100.0 * share)).collect();
        format!("&[{}]", percent.join(", "))
    }
}

/// Whether a row has nothing left to say.
fn ended(shares: &[f64]) -> bool {
    shares.len() >= 2 && shares[shares.len() - 2..].iter().all(|&share| share >= ALL)
}

/// Measures the whole table, or the parts of stacks that are named, with as many threads as there are senders, and writes it.
pub fn renew(what: &str) {
    let of = |sender: Sender| {
        let measured = what.split(',').any(|it| it == "1" || it == sender.stack());
        std::thread::spawn(move || constant(sender, measured))
    };
    let own = Sender::ALL.into_iter().filter(|sender| sender.measured() == *sender);
    let threads: Vec<_> = own.map(of).collect();
    let parts: Vec<_> = threads.into_iter().map(|part| part.join().unwrap()).collect();
    let choice = |sender: Sender| format!("        Sender::{sender:?} => &{},\n", name(sender.measured()));
    let choices: String = Sender::ALL.map(choice).concat();
    let text = format!(
        "//! Percent of a contract that TCP gets behind a policer. Written by a test: see `mod.rs`.\n\n\
         use super::Sender;\nuse super::grid::Shares;\n\n\
         /// Those of a sender.\npub fn shares(sender: Sender) -> &'static Shares {{\n    match sender {{\n{choices}    }}\n}}\n{}",
        parts.concat()
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/design/policer/table.rs");
    std::fs::write(path, text).unwrap();
}

fn name(sender: Sender) -> String {
    sender.stack().to_uppercase().replace('-', "_")
}

fn constant(sender: Sender, measured: bool) -> String {
    let mut out = format!("\n#[rustfmt::skip]\nconst {}: Shares = [\n", name(sender));
    for (flows, n) in grid::FLOWS.iter().enumerate() {
        out += "    [\n";
        for (rate, mbit_s) in grid::RATES.iter().enumerate() {
            out += "        [\n";
            for (rtt, ms) in grid::RTTS.iter().enumerate() {
                let line = Row { sender, flows, rate, rtt }.line(measured);
                let _ = writeln!(out, "            {line}, // {n} x {mbit_s} Mbit/s, {ms} ms");
            }
            out += "        ],\n";
        }
        out += "    ],\n";
    }
    out + "];\n"
}
