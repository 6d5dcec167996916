//! Shares and delays of a cell whose queue draws random numbers.

use crate::cells::{Cell, Row, folder};
use crate::replayed::Fates;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Shares may differ by this much, or by [`SURE`] standard errors where these are more.
pub const SHARE: f64 = 0.01;
/// Mean and 99th percentile of the delay may differ by this share; the same.
pub const DELAY: f64 = 0.1;
/// Standard errors of a difference that chance alone hardly makes.
const SURE: f64 = 3.0;

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

/// The kernel's repeated runs of a cell.
pub fn repeated(cell: &Cell) -> Vec<Spread> {
    let text = std::fs::read_to_string(folder().join("records/repeats.csv")).unwrap();
    let mut runs: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let [port, pattern, run, what, value] = fields[..] else { panic!("{line}") };
        if (port, pattern) == (&cell.port, &cell.pattern) {
            runs.entry(run.to_owned()).or_default().insert(what.to_owned(), value.parse().unwrap());
        }
    }
    let spread = |mut shares: BTreeMap<String, f64>| {
        let delays = ["mean", "p99"].map(|what| shares.remove(what).unwrap());
        Spread { shares, delays }
    };
    runs.into_values().map(spread).collect()
}

/// A measure in all runs of a side: its mean, and the square of the mean's standard error.
fn mean(runs: &[Spread], of: impl Fn(&Spread) -> f64) -> [f64; 2] {
    let (n, values) = (runs.len() as f64, runs.iter().map(of).collect::<Vec<_>>());
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    [mean, squares / (n - 1.0) / n]
}

/// How a measure differs: ours less theirs, as a part of `whole`, and by how much it may.
struct Off {
    by: f64,
    most: f64,
}

impl Off {
    fn new([ours, theirs]: [[f64; 2]; 2], whole: f64, most: f64) -> Self {
        let error = (ours[1] + theirs[1]).sqrt() / whole;
        Self { by: (ours[0] - theirs[0]) / whole, most: most.max(SURE * error) }
    }

    fn is_good(&self) -> bool {
        self.by.abs() <= self.most
    }

    /// The margin, where it is not the usual one.
    fn margin(&self, usual: f64) -> String {
        if self.most > usual { format!(", margin {:.1} %", 100.0 * self.most) } else { String::new() }
    }
}

/// Whether the means of the kernel's runs agree with those of ours; both ways with what was measured.
pub fn within(theirs: &[Spread], ours: &[Spread]) -> Result<String, String> {
    let share = |name: &String| Off::new([ours, theirs].map(|runs| mean(runs, |run| run.shares[name])), 1.0, SHARE);
    let shares: Vec<_> = theirs[0].shares.keys().map(|name| (name, share(name))).collect();
    let part = |it: &(&String, Off)| it.1.by.abs() / it.1.most;
    let worst = shares.iter().filter(|it| it.1.by != 0.0).max_by(|a, b| part(a).total_cmp(&part(b)));
    let (mut said, mut good) = (String::new(), shares.iter().all(|it| it.1.is_good()));
    if let Some((which, off)) = worst {
        let (by, margin) = (100.0 * off.by, off.margin(SHARE));
        write!(said, "largest difference of a share {by:+.2} % (port {which}{margin}); ").unwrap();
    }
    for (i, name) in ["mean", "p99"].into_iter().enumerate() {
        let both = [ours, theirs].map(|runs| mean(runs, |run| run.delays[i]));
        let off = Off::new(both, both[1][0], DELAY);
        good &= off.is_good();
        let ([b, a], by, margin) = (both.map(|it| it[0] / 1e6), 100.0 * off.by, off.margin(DELAY));
        write!(said, "{name} delay {a:.2} ms, perhop's {b:.2} ms ({by:+.1} %{margin}); ").unwrap();
    }
    let said = said.trim_end_matches("; ").to_owned();
    if good { Ok(said) } else { Err(said) }
}
