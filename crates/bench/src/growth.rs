//! How the CPU time of a whole process grows with the size of its scenario: a power of it.

use super::child::{self, Ended, Folder, Wrong};
use super::scale;
use perhop_core::math::ln;
use serde_json::{Value, json};
use std::path::Path;

/// The exponent that none should exceed: in proportion, and something for the caches.
pub(super) const BAR: f64 = 1.1;

/// The smallest scenario.
const LEAST: usize = 1000;

/// Processes of a size, if they are short; the fastest counts.
const REPEATS: usize = 7;

/// After so many CPU seconds a size is not repeated any more.
const SHORT: f64 = 1.0;

/// After a process of more CPU seconds no larger scenario is tried.
const LONG: f64 = 60.0;

/// What a scenario may have many of.
struct Axis {
    name: &'static str,
    text: fn(usize) -> String,
    process: Process,
}

/// What is done with it.
enum Process {
    /// `perhop run` of a microsecond, with further options.
    Run(&'static [&'static str]),
    /// `perhop run` of a microsecond for each of them.
    RunFor,
    /// `perhop check`: many points would be as many files.
    Check,
}

const AXES: [Axis; 7] = [
    Axis { name: "flows", text: scale::started, process: Process::Run(&[]) },
    Axis { name: "links", text: scale::links, process: Process::Run(&[]) },
    Axis {
        name: "rows",
        text: scale::links,
        process: Process::Run(&["--show", "links.dropped_packets,links.delivered_packets"]),
    },
    Axis { name: "tables", text: scale::tables, process: Process::Run(&[]) },
    Axis { name: "conditioners", text: scale::conditioners, process: Process::Run(&[]) },
    Axis { name: "samples", text: scale::sampled, process: Process::RunFor },
    Axis { name: "points", text: scale::swept, process: Process::Check },
];

impl Process {
    fn of(&self, file: &Path, folder: &Folder, n: usize) -> Result<Ended, Wrong> {
        match self {
            Self::Run(options) => child::run_perhop(file, folder, "1us", options),
            Self::RunFor => child::run_perhop(file, folder, &format!("{n}us"), &[]),
            Self::Check => child::check_perhop(file),
        }
    }
}

/// CPU seconds by size.
pub(super) struct Grown {
    /// What it may have many of.
    pub(super) name: &'static str,
    /// CPU seconds with one of them, which is start-up.
    pub(super) one: f64,
    /// How many, and CPU seconds.
    pub(super) points: Vec<(usize, f64)>,
    /// Why there are no more points.
    pub(super) ended: Option<String>,
}

impl Grown {
    /// Of the time beyond start-up; `None` with fewer than two points.
    pub(super) fn exponent(&self) -> Option<f64> {
        exponent(self.points.iter().map(|&(n, cpu)| (n as f64, cpu - self.one)))
    }

    /// It grows faster than it should.
    pub(super) fn is_above(&self) -> bool {
        self.exponent().is_some_and(|exponent| exponent > BAR)
    }
}

/// The slope of ln y over ln x by least squares; points that are not positive do not count.
fn exponent(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let logs: Vec<_> = points.filter(|&(x, y)| x > 0.0 && y > 0.0).map(|(x, y)| (ln(x), ln(y))).collect();
    let n = logs.len() as f64;
    let (x, y) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = logs.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    let together: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    (spread > 0.0).then(|| together / spread)
}

/// 1000, twice as many each time, and `most`.
fn sizes(most: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(LEAST), |n| Some(2 * n)).take_while(|&n| n < most);
    doubled.chain([most]).collect()
}

/// Every axis up to `most`, with progress on a terminal.
///
/// # Errors
/// Nothing can be started.
pub(super) fn measure(most: usize) -> Result<Vec<Grown>, String> {
    let sizes = sizes(most);
    let total = AXES.len() * sizes.len();
    let mut all = Vec::with_capacity(AXES.len());
    for (a, axis) in AXES.iter().enumerate() {
        let one = fastest(axis, 1)?;
        let mut grown = Grown { name: axis.name, one, points: Vec::new(), ended: None };
        for (i, &n) in sizes.iter().enumerate() {
            super::show("growth", a * sizes.len() + i, total);
            match fastest(axis, n) {
                Ok(cpu) => grown.points.push((n, cpu)),
                Err(why) => grown.ended = Some(format!("{n}: {why}")),
            }
            if n < most && grown.points.last().is_some_and(|point| point.1 > LONG) {
                grown.ended = Some(format!("{n} took more than a minute"));
            }
            if grown.ended.is_some() {
                break;
            }
        }
        all.push(grown);
    }
    super::show("growth", total, total);
    Ok(all)
}

/// The least CPU time of some processes of `n`.
fn fastest(axis: &Axis, n: usize) -> Result<f64, String> {
    let folder = Folder::new()?;
    let file = folder.write("growth.toml", &(axis.text)(n))?;
    let (mut least, mut spent) = (f64::INFINITY, 0.0);
    for _ in 0..REPEATS {
        let ended = axis.process.of(&file, &folder, n).map_err(|wrong| wrong.of("perhop"))?;
        (least, spent) = (least.min(ended.cpu), spent + ended.cpu);
        if spent > SHORT {
            break;
        }
    }
    Ok(least)
}

/// Lines for people.
pub(super) fn text(all: &[Grown]) -> String {
    let mut sizes: Vec<_> = all.iter().flat_map(|grown| grown.points.iter().map(|point| point.0)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut text =
        "CPU s of a run of 1 us, of 1 us for each sample; of a check, for points; the exponent is that of the time beyond start-up\n"
            .to_owned();
    text += &format!("  {:14}", "");
    sizes.iter().for_each(|n| text += &format!(" {n:>8}"));
    text += "   exponent\n";
    for grown in all {
        text += &format!("  {:14}", grown.name);
        for n in &sizes {
            let cpu = grown.points.iter().find(|point| point.0 == *n).map(|point| point.1);
            text += &cpu.map_or(format!(" {:>8}", "-"), |cpu| format!(" {cpu:8.3}"));
        }
        text += &grown.exponent().map_or("          -\n".to_owned(), |exponent| format!(" {exponent:10.2}\n"));
    }
    let ended =
        all.iter().filter_map(|grown| grown.ended.as_ref().map(|why| format!("{}: no more after {why}\n", grown.name)));
    text.extend(ended);
    let above: Vec<_> = all.iter().filter(|grown| grown.is_above()).map(|grown| grown.name).collect();
    text + &match above.is_empty() {
        true => format!("none is above {BAR}"),
        false => format!("above {BAR}: {}", above.join(", ")),
    }
}

/// The same for programs.
pub(super) fn as_json(all: &[Grown]) -> Value {
    let each = all.iter().map(|grown| {
        let points: Vec<_> = grown.points.iter().map(|&(n, cpu)| json!({ "n": n, "cpu_s": cpu })).collect();
        let said = json!({ "start_up_s": grown.one, "points": points, "exponent": grown.exponent(),
                           "above": grown.is_above(), "ended": grown.ended });
        (grown.name.to_owned(), said)
    });
    json!({ "bar": BAR, "axes": each.collect::<serde_json::Map<_, _>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_core::math::pow;

    fn grown(points: &[(usize, f64)]) -> Grown {
        Grown { name: "flows", one: 0.01, points: points.to_vec(), ended: None }
    }

    #[test]
    fn the_exponent_of_a_power_is_found() {
        for power in [0.5, 1.0, 1.1, 2.0] {
            let points = [1e3, 2e3, 4e3, 8e3].map(|n| (n, 3e-5 * pow(n, power)));
            let found = exponent(points.into_iter()).unwrap();
            assert!((found - power).abs() < 1e-9, "{power}: {found}");
        }
    }

    /// By hand: ln y = 0, 2, 1 at ln x = 0, 1, 2 has the slope 1/2.
    #[test]
    fn points_off_the_line_are_fitted_by_least_squares() {
        let e = std::f64::consts::E;
        let found = exponent([(1.0, 1.0), (e, e * e), (e * e, e)].into_iter()).unwrap();
        assert!((found - 0.5).abs() < 1e-12, "{found}");
    }

    #[test]
    fn two_sizes_are_needed() {
        assert_eq!(exponent([(1e3, 1.0)].into_iter()), None);
        assert_eq!(exponent([(1e3, 1.0), (1e3, 2.0)].into_iter()), None);
        assert_eq!(exponent([(1e3, 1.0), (2e3, 0.0), (4e3, -1.0)].into_iter()), None);
        assert_eq!(exponent(std::iter::empty()), None);
    }

    /// 0.01 s of start-up do not make what grows in proportion look slower.
    #[test]
    fn start_up_does_not_count() {
        let it = grown(&[(1000, 0.02), (2000, 0.03), (4000, 0.05)]);
        assert!((it.exponent().unwrap() - 1.0).abs() < 1e-9 && !it.is_above());
        let it = grown(&[(1000, 0.02), (2000, 0.05), (4000, 0.17)]);
        assert!((it.exponent().unwrap() - 2.0).abs() < 1e-9 && it.is_above());
        assert!(text(&[it]).ends_with("above 1.1: flows"));
    }

    #[test]
    fn sizes_double_up_to_the_most() {
        assert_eq!(sizes(8000), [1000, 2000, 4000, 8000]);
        assert_eq!(sizes(10_000), [1000, 2000, 4000, 8000, 10_000]);
    }
}
