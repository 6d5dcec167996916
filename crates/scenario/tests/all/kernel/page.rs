//! `docs/reports/beside-linux.md`, a page below it for each queueing discipline, and a figure for each kind of queue.

use crate::kernel::cells::{Described, folder, ports, tables};
use crate::kernel::disciplines::{Discipline, LIST, reasons};
use crate::kernel::figure::figure;
use crate::kernel::spread::{Compared, DELAY, SHARE};
use crate::kernel::verdict::{CLOCK_NS, Judged, SEEDS, Verdict, apart};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// The folder of the pages of queueing disciplines, below `docs/reports`.
const BELOW: &str = "beside-linux";

/// Compares pages and figures with the files, or writes them if `PERHOP_RENEW` is set.
pub fn check(all: &[Judged]) {
    let ports = ports();
    let mut files = vec![(format!("{BELOW}.md"), overview(&ports, all))];
    for discipline in &LIST {
        files.push((format!("{BELOW}/{}.md", discipline.name), discipline.page(&ports, all)));
    }
    for port in &ports {
        if let Some(it) = drawn(port, all) {
            files.push((figure_of(port), figure(it)));
        }
    }
    let docs = folder().join("../docs/reports");
    for (name, text) in &files {
        let path = docs.join(name);
        if std::env::var_os("PERHOP_RENEW").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(written == *text, "{} is out of date: make renew WHAT=kernel", path.display());
    }
    no_other_pages(&docs.join(BELOW));
}

/// The folder has no page but those of the list.
fn no_other_pages(folder: &Path) {
    let found = folder.read_dir().unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let listed: BTreeSet<_> = LIST.iter().map(|it| format!("{}.md", it.name)).collect();
    assert_eq!(found.collect::<BTreeSet<_>>(), listed, "{}", folder.display());
}

/// The figure of a port, below `docs/reports`.
pub fn figure_of(port: &Described) -> String {
    format!("figures/linux-{}.svg", port.name)
}

/// The cell that is the figure of a port.
pub fn drawn<'a>(port: &Described, all: &'a [Judged]) -> Option<&'a Judged> {
    let pattern = port.figure.as_ref()?;
    all.iter().find(|it| it.cell.port == port.name && it.cell.pattern == *pattern)
}

/// Cells by their verdict.
#[derive(Default)]
pub struct Counts {
    pub cells: usize,
    pub exact: usize,
    pub within: usize,
}

impl Counts {
    pub fn of<'a>(all: impl IntoIterator<Item = &'a Judged>) -> Self {
        let mut counts = Self::default();
        for it in all {
            counts.cells += 1;
            counts.exact += usize::from(it.verdict == Verdict::Exact);
            counts.within += usize::from(matches!(it.verdict, Verdict::Within(_)));
        }
        counts
    }

    pub fn not(&self) -> usize {
        self.cells - self.exact - self.within
    }

    /// Four cells of a table; without noughts, where all cells of a row are the same it is seen at once.
    pub fn row(&self) -> String {
        let shown = |count: usize| if count == 0 { String::new() } else { count.to_string() };
        [self.cells, self.exact, self.within, self.not()].map(shown).join(" | ")
    }
}

fn overview(ports: &[Described], all: &[Judged]) -> String {
    let counts = Counts::of(all);
    let sum = |of: &dyn Fn(&Judged) -> usize| counted(all.iter().map(of).sum());
    let exact = || all.iter().filter(|it| it.verdict == Verdict::Exact);
    include_str!("page.md")
        .replace("{kernel}", &recorded("kernel"))
        .replace("{iproute2}", &recorded("iproute2"))
        .replace("{cells}", &counts.cells.to_string())
        .replace("{ports}", &ports.len().to_string())
        .replace("{patterns}", &patterns().len().to_string())
        .replace("{packets}", &sum(&|it| it.rows.len()))
        .replace("{ties}", &sum(&|it| it.ties))
        .replace("{clock}", &CLOCK_NS.to_string())
        .replace("{apart}", &exact().map(apart).max().unwrap_or(0).to_string())
        .replace("{seeds}", &SEEDS.count().to_string())
        .replace("{share}", &format!("{:.0}", 100.0 * SHARE))
        .replace("{delay}", &format!("{:.0}", 100.0 * DELAY))
        .replace("{exact}", &counts.exact.to_string())
        .replace("{within}", &counts.within.to_string())
        .replace("{outside}", &counts.not().to_string())
        .replace("{margins}", &margins(all))
        .replace("{disciplines}", table(ports, all).trim_end())
        .replace("{reasons}", reasons(all, BELOW).trim_end())
}

/// In how many measures the margin is above the usual one, and up to what.
fn margins(all: &[Judged]) -> String {
    let offs: Vec<_> = compared(all).flat_map(|it| it.offs()).collect();
    let of_kind = |(usual, unit): (f64, &str)| {
        let wider = offs.iter().filter(|it| it.1 == usual && it.0.most > usual).map(|it| it.0.most);
        wider.reduce(f64::max).map(|most| format!("up to {:.1} {unit}", 100.0 * most))
    };
    let up_to: Vec<_> = [(SHARE, "percentage points"), (DELAY, "%")].into_iter().filter_map(of_kind).collect();
    let wider = offs.iter().filter(|it| it.0.most > it.1).count();
    format!("{wider} of {} measures, {}", offs.len(), up_to.join(" and "))
}

/// Of each cell that is compared by its means, what they are.
pub fn compared<'a>(all: impl IntoIterator<Item = &'a Judged>) -> impl Iterator<Item = &'a Compared> {
    all.into_iter().filter_map(|it| match &it.verdict {
        Verdict::Within(compared) => Some(compared),
        _ => None,
    })
}

/// A whole number with commas.
pub fn counted(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(|it| std::str::from_utf8(it).unwrap()).collect();
    groups.join(",")
}

/// A text in lines of at most 132 characters, those behind the first indented.
pub fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().unwrap();
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > 132 {
            lines.push(format!("{indent}{word}"));
        } else {
            let space = if last.is_empty() { "" } else { " " };
            *last += &format!("{space}{word}");
        }
    }
    lines.join("\n")
}

/// A row for each queueing discipline.
fn table(ports: &[Described], all: &[Judged]) -> String {
    let mut text = "| queueing discipline | ports | cells | exact | in distribution | not |\n".to_owned();
    text += "|---|---:|---:|---:|---:|---:|\n";
    for it in &LIST {
        let Discipline { name, title, about, .. } = it;
        let (many, counts) = (it.ports(ports).count(), Counts::of(it.cells(all)));
        writeln!(text, "| [{title}]({BELOW}/{name}.md): {about} | {many} | {} |", counts.row()).unwrap();
    }
    writeln!(text, "| all | {} | {} |", ports.len(), Counts::of(all).row()).unwrap();
    text
}

/// What the vectors were recorded with.
pub fn recorded(key: &str) -> String {
    let found = tables("records/kernel.toml", |name, value| (name == key).then(|| value.as_str().unwrap().to_owned()));
    found.into_iter().flatten().next().unwrap()
}

/// Every arrival pattern: its name, and what is sent.
pub fn patterns() -> Vec<(String, String)> {
    tables("cells/patterns.toml", |name, value| {
        (name.to_owned(), value.pointer("/about").unwrap().as_str().unwrap().to_owned())
    })
}
