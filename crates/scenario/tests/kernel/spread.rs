//! Shares and delays of a cell whose queue draws random numbers.

use crate::cells::{Cell, Row, folder};
use crate::replayed::Fates;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Shares may differ by this much.
pub const SHARE: f64 = 0.01;
/// Mean and 99th percentile of the delay may differ by this share.
pub const DELAY: f64 = 0.1;

/// What one run did.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Of each source port's packets, the share that was dropped, and that was marked.
    shares: BTreeMap<String, f64>,
    /// Delay of those that left, ns: mean and 99th percentile.
    delays: [f64; 2],
}

impl Spread {
    pub fn of(rows: &[Row], fates: &Fates) -> Self {
        let mut counts: BTreeMap<String, [f64; 2]> = BTreeMap::new();
        for (row, fate) in rows.iter().zip(fates) {
            let marked = fate.is_some_and(|(_, ecn)| ecn == 3 && row.ecn != 3);
            for (what, is) in [("dropped", fate.is_none()), ("marked", marked)] {
                let count = counts.entry(format!("{} {what}", row.port)).or_default();
                count[0] += f64::from(u8::from(is));
                count[1] += 1.0;
            }
        }
        let shares = counts.into_iter().map(|(name, [part, whole])| (name, part / whole)).collect();
        let mut delays: Vec<_> =
            rows.iter().zip(fates).filter_map(|(row, fate)| Some(((*fate)?.0 - row.came) as f64)).collect();
        delays.sort_unstable_by(f64::total_cmp);
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        Self { shares, delays: [mean, delays[delays.len() * 99 / 100]] }
    }
}

/// The mean of the kernel's repeated runs of a cell.
pub fn repeated(cell: &Cell) -> Spread {
    let text = std::fs::read_to_string(folder().join("records/repeats.csv")).unwrap();
    let mut sums: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let [port, pattern, _, what, value] = fields[..] else { panic!("{line}") };
        if (port, pattern) == (&cell.port, &cell.pattern) {
            let sum = sums.entry(what.to_owned()).or_default();
            *sum = [sum[0] + value.parse::<f64>().unwrap(), sum[1] + 1.0];
        }
    }
    let mut shares: BTreeMap<_, _> = sums.into_iter().map(|(what, [sum, runs])| (what, sum / runs)).collect();
    let delays = ["mean", "p99"].map(|what| shares.remove(what).unwrap());
    Spread { shares, delays }
}

/// Whether the mean of the kernel's runs agrees with that of ours; both ways with what was measured.
pub fn within(theirs: &Spread, ours: &[Spread]) -> Result<String, String> {
    let mean = |of: &dyn Fn(&Spread) -> f64| ours.iter().map(of).sum::<f64>() / ours.len() as f64;
    let (mut said, mut good) = (String::new(), true);
    let (mut worst, mut which) = (0.0, "");
    for (name, share) in &theirs.shares {
        let off = mean(&|run| run.shares[name]) - share;
        if f64::abs(off) > f64::abs(worst) {
            (worst, which) = (off, name);
        }
    }
    good &= worst.abs() <= SHARE;
    if !which.is_empty() {
        write!(said, "largest difference of a share {:+.2} % (port {which}); ", 100.0 * worst).unwrap();
    }
    for (i, name) in ["mean", "p99"].into_iter().enumerate() {
        let (a, b) = (theirs.delays[i], mean(&|run| run.delays[i]));
        good &= (b / a - 1.0).abs() <= DELAY;
        write!(said, "{name} delay {:.2} ms, perhop's {:.2} ms ({:+.1} %); ", a / 1e6, b / 1e6, 100.0 * (b / a - 1.0))
            .unwrap();
    }
    let said = said.trim_end_matches("; ").to_owned();
    if good { Ok(said) } else { Err(said) }
}
