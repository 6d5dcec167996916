//! Shares and delays of a cell whose queue draws random numbers.

use crate::kernel::cells::{Cell, Row, folder};
use crate::kernel::replayed::Fates;
use std::collections::BTreeMap;
use std::fmt;

/// The margin of a share, or [`SURE`] standard errors where these are more.
pub const SHARE: f64 = 0.01;
/// The margin of the mean and of the 99th percentile of the delay, as a part of the kernel's; or [`SURE`] standard errors, too.
pub const DELAY: f64 = 0.1;
/// Standard errors of a difference that chance alone rarely exceeds.
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

/// The standard deviations of [`Compared::scatter`].
fn scatter(runs: &[Spread]) -> [f64; 4] {
    let deviation = |[_, error]: [f64; 2]| (error * runs.len() as f64).sqrt();
    let share = |fate: &str| {
        let names = runs[0].shares.keys().filter(|name| name.ends_with(fate));
        names.map(|name| deviation(mean(runs, |run| run.shares[name]))).fold(0.0, f64::max)
    };
    let delay = |i: usize| {
        let found = mean(runs, |run| run.delays[i]);
        deviation(found) / found[0]
    };
    [share("dropped"), share("marked"), delay(0), delay(1)]
}

/// How a measure differs: ours less theirs, as a part of `whole`, and its margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Off {
    pub by: f64,
    pub most: f64,
}

impl Off {
    fn new([ours, theirs]: [[f64; 2]; 2], whole: f64, most: f64) -> Self {
        let error = (ours[1] + theirs[1]).sqrt() / whole;
        Self { by: (ours[0] - theirs[0]) / whole, most: most.max(SURE * error) }
    }

    fn is_good(&self) -> bool {
        self.by.abs() <= self.most
    }
}

/// The mean of a delay over all runs, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    pub theirs: f64,
    pub ours: f64,
    pub off: Off,
}

/// The means of the kernel's runs beside those of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// By source port and fate, as in `5001 dropped`.
    pub shares: Vec<(String, Off)>,
    /// Mean and 99th percentile.
    pub delays: [Delay; 2],
    /// Standard deviations among the kernel's runs: the largest of a share dropped and of a share marked, those of both delays as
    /// parts of their means.
    pub scatter: [f64; 4],
}

impl Compared {
    pub fn of(theirs: &[Spread], ours: &[Spread]) -> Self {
        let share = |name: &String| Off::new([ours, theirs].map(|runs| mean(runs, |run| run.shares[name])), 1.0, SHARE);
        let delay = |i: usize| {
            let both = [ours, theirs].map(|runs| mean(runs, |run| run.delays[i]));
            Delay { theirs: both[1][0], ours: both[0][0], off: Off::new(both, both[1][0], DELAY) }
        };
        let shares = theirs[0].shares.keys().map(|name| (name.clone(), share(name))).collect();
        Self { shares, delays: [0, 1].map(delay), scatter: scatter(theirs) }
    }

    pub fn is_good(&self) -> bool {
        self.offs().all(|(off, _)| off.is_good())
    }

    /// Every measure, with the usual margin of its kind.
    pub fn offs(&self) -> impl Iterator<Item = (&Off, f64)> {
        let shares = self.shares.iter().map(|(_, off)| (off, SHARE));
        shares.chain(self.delays.iter().map(|delay| (&delay.off, DELAY)))
    }

    /// The share that differs by most of its margin.
    pub fn worst(&self) -> &(String, Off) {
        let part = |it: &(String, Off)| it.1.by.abs() / it.1.most;
        self.shares.iter().max_by(|a, b| part(a).total_cmp(&part(b))).unwrap()
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, off) = self.worst();
        write!(to, "share of port {name} {:+.2} points (margin {:.1})", 100.0 * off.by, 100.0 * off.most)?;
        for (what, it) in ["mean", "p99"].into_iter().zip(&self.delays) {
            let (theirs, ours, by, most) = (it.theirs / 1e6, it.ours / 1e6, 100.0 * it.off.by, 100.0 * it.off.most);
            write!(to, "; {what} delay {theirs:.2} ms, perhop's {ours:.2} ms, {by:+.1} % (margin {most:.0})")?;
        }
        Ok(())
    }
}
