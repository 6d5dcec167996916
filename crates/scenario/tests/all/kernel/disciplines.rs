//! A page for each queueing discipline of Linux: its ports with their commands, cells and figures.

use crate::kernel::cells::{Described, typed};
use crate::kernel::page::{Counts, compared, counted, drawn, figure_of, patterns, recorded, wrapped};
use crate::kernel::spread::{Compared, Delay};
use crate::kernel::verdict::{Judged, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A queueing discipline, or the policer.
pub struct Discipline {
    /// That of the page, and the beginning of its ports' names.
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    /// What perhop calls it: a page of the reference.
    reference: (&'static str, &'static str),
}

const fn of([name, title, about]: [&'static str; 3], called: &'static str, reference: &'static str) -> Discipline {
    Discipline { name, title, about, reference: (called, reference) }
}

/// In the order of `cells.toml`.
#[rustfmt::skip]
pub const LIST: [Discipline; 17] = [
    of(["tbf", "TBF", "shaper"], "shaper", "scenario.md#shapers-and-schedulers-within-schedulers-the-port-of-most-routers"),
    of(["pfifo", "pfifo", "drop-tail, `pfifo_head_drop` too"], "drop-tail queue", "algorithms/drop-tail.md"),
    of(["htb", "HTB", "classes that borrow"], "`htb`", "algorithms/htb.md"),
    of(["hfsc", "HFSC", "classes with service curves"], "`hfsc`", "algorithms/hfsc.md"),
    of(["police", "police", "the policer, an action of filters"], "token bucket", "algorithms/token-bucket.md"),
    of(["prio", "PRIO", "strict priority"], "`strict-priority`", "algorithms/strict-priority.md"),
    of(["drr", "DRR", "deficit round robin"], "`drr`", "algorithms/drr.md"),
    of(["ets", "ETS", "strict bands above shared ones"], "`ets`", "algorithms/ets.md"),
    of(["codel", "CoDel", "AQM by delay"], "`codel`", "algorithms/codel.md"),
    of(["fq-codel", "FQ-CoDel", "a CoDel for each flow"], "`fq-codel`", "algorithms/fq-codel.md"),
    of(["sfq", "SFQ", "stochastic fairness queueing"], "`sfq`", "algorithms/sfq.md"),
    of(["fq", "fq", "fair queueing and pacing"], "`fq`", "algorithms/fq.md"),
    of(["fq-pie", "FQ-PIE", "a PIE for each flow"], "`fq-pie`", "algorithms/fq-pie.md"),
    of(["red", "RED", "AQM by average queue, adaptive too"], "`red`", "algorithms/red.md"),
    of(["pie", "PIE", "AQM by estimated delay"], "`pie`", "algorithms/pie.md"),
    of(["choke", "CHOKe", "RED that compares flows"], "`choke`", "algorithms/choke.md"),
    of(["cake", "CAKE", "shaper, tins and fairness in one"], "`cake`", "algorithms/cake.md"),
];

/// The port of several disciplines, and the page it is on.
const ROUTER: [&str; 2] = ["router", "prio"];

/// The discipline of a port: the longest name that its own begins with. Before it may be `gso-`.
fn discipline_of(port: &str) -> &'static str {
    if port == ROUTER[0] {
        return ROUTER[1];
    }
    let name = port.strip_prefix("gso-").unwrap_or(port);
    let begins = |it: &&str| name.strip_prefix(*it).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let found = LIST.iter().map(|it| it.name).filter(begins).max_by_key(|it| it.len());
    found.unwrap_or_else(|| panic!("port {port} is on no page"))
}

impl Discipline {
    pub fn ports<'a>(&self, ports: &'a [Described]) -> impl Iterator<Item = &'a Described> {
        ports.iter().filter(|port| discipline_of(&port.name) == self.name)
    }

    pub fn cells<'a>(&self, all: &'a [Judged]) -> impl Iterator<Item = &'a Judged> {
        all.iter().filter(|it| discipline_of(&it.cell.port) == self.name)
    }

    /// The page as Markdown.
    pub fn page(&self, ports: &[Described], all: &[Judged]) -> String {
        let counts = Counts::of(self.cells(all));
        let (called, reference) = self.reference;
        let packets: usize = self.cells(all).map(|it| it.rows.len()).sum();
        let answer = format!(
            "Does perhop's [{called}](../../reference/{reference}) do what Linux's {} does? Of {} cells with {} packets, {}. The kernel is \
             Linux {}.",
            self.title,
            counts.cells,
            counted(packets),
            found(&counts),
            recorded("kernel")
        );
        let mut text =
            include_str!("discipline.md").replace("{title}", self.title).replace("{answer}", &wrapped(&answer, ""));
        for port in self.ports(ports) {
            let own = Counts::of(self.cells(all).filter(|it| it.cell.port == port.name));
            writeln!(text, "| [{0}](#{0}) | {1} | {2} |", port.name, port.about, own.row()).unwrap();
        }
        let most =
            compared(self.cells(all)).map(|it| it.scatter).reduce(|a, b| std::array::from_fn(|i| a[i].max(b[i])));
        if let Some(most) = most {
            let [dropped, marked, mean, p99] = most.map(|it| format!("{:.1}", 100.0 * it));
            text += &include_str!("random.md")
                .replace("{dropped}", &dropped)
                .replace("{marked}", &marked)
                .replace("{mean}", &mean)
                .replace("{p99}", &p99);
        }
        for port in self.ports(ports) {
            text += &of_port(port, all);
        }
        text + &self.sent(all)
    }

    /// The arrival patterns of its cells.
    fn sent(&self, all: &[Judged]) -> String {
        let own: BTreeSet<_> = self.cells(all).map(|it| &it.cell.pattern).collect();
        let mut text = "\n## Arrival patterns\n\n| pattern | what is sent |\n|---|---|\n".to_owned();
        for (name, about) in patterns().into_iter().filter(|(name, _)| own.contains(name)) {
            writeln!(text, "| `{name}` | {about} |").unwrap();
        }
        text
    }
}

/// The verdicts as a sentence.
fn found(counts: &Counts) -> String {
    let Counts { cells, exact, within } = *counts;
    let parts = [(exact, "exact"), (within, "in distribution"), (counts.not(), "not")];
    match parts.iter().find(|(count, _)| *count == cells) {
        Some((_, "exact")) => "all are exact".to_owned(),
        Some((_, "in distribution")) => "all agree in distribution".to_owned(),
        _ => {
            let phrase = |(count, what): &(usize, &str)| match *what {
                "exact" => format!("{count} are exact"),
                "not" => format!("{count} do not agree"),
                _ => format!("{count} agree in distribution"),
            };
            let said: Vec<_> = parts.iter().filter(|it| it.0 > 0).map(phrase).collect();
            said.join(" and ")
        }
    }
}

fn of_port(port: &Described, all: &[Judged]) -> String {
    let mut text = format!("\n## {}\n\n{}:\n\n```text\n", port.name, capital(&port.about));
    for command in &port.commands {
        writeln!(text, "{}", typed(command)).unwrap();
    }
    text += "```\n\n";
    let own: Vec<_> = all.iter().filter(|it| it.cell.port == port.name).collect();
    text += if own[0].cell.exact { EXACT } else { RANDOM };
    for it in &own {
        writeln!(text, "| `{}` | {} |", it.cell.pattern, row(it)).unwrap();
    }
    for (why, cells) in explained(&own) {
        let patterns: Vec<_> = cells.iter().map(|it| format!("`{}`", it.cell.pattern)).collect();
        let said = format!("Why {} do not agree: {why}", patterns.join(", "));
        writeln!(text, "\n{}", wrapped(&said, "")).unwrap();
    }
    if drawn(port, all).is_some() {
        writeln!(text, "\n![{}: delays in Linux and in perhop](../{})", port.name, figure_of(port)).unwrap();
    }
    text
}

const EXACT: &str =
    "| pattern | packets | dropped | marked | largest delay | verdict |\n|---|---:|---:|---:|---:|---|\n";
const RANDOM: &str = "| pattern | packets | dropped | marked | largest delay | share that differs most | mean delay: Linux | perhop | p99 delay: Linux | perhop | verdict |\n\
                      |---|---:|---:|---:|---:|---|---:|---:|---:|---:|---|\n";

fn row(it: &Judged) -> String {
    let dropped = it.rows.iter().filter(|row| row.left.is_none()).count();
    let marked = it.rows.iter().filter(|row| row.left.is_some_and(|left| left.1 == 3)).count();
    let longest = it.rows.iter().filter_map(|row| Some(row.left?.0 - row.came)).max().unwrap_or(0);
    let verdict = match &it.verdict {
        Verdict::Exact => "exact".to_owned(),
        Verdict::Within(compared) => format!("{} | in distribution", means(compared)),
        Verdict::Outside(said) | Verdict::Absent(said) if it.cell.exact => format!("**not**: {said}"),
        Verdict::Outside(said) | Verdict::Absent(said) => format!("| | | | | **not**: {said}"),
    };
    format!("{} | {dropped} | {marked} | {:.2} ms | {verdict}", it.rows.len(), longest as f64 / 1e6)
}

/// The share that uses most of its margin, and both delays.
fn means(compared: &Compared) -> String {
    let (name, off) = compared.worst();
    let delay = |it: Delay| {
        let [theirs, ours] = [it.theirs, it.ours].map(|ns| ns / 1e6);
        format!("{theirs:.2} ms | {ours:.2} ms ({:+.1} of {:.0} %)", 100.0 * it.off.by, 100.0 * it.off.most)
    };
    format!("{name} {:+.2} of {:.1} | {}", 100.0 * off.by, 100.0 * off.most, compared.delays.map(delay).join(" | "))
}

/// The reasons why cells do not agree, in their order, each with its cells.
fn explained<'a>(cells: &[&'a Judged]) -> Vec<(&'a str, Vec<&'a Judged>)> {
    let mut found: Vec<(&str, Vec<&Judged>)> = Vec::new();
    for it in cells {
        let Some(why) = &it.cell.explained else { continue };
        match found.iter_mut().find(|(known, _)| known == why) {
            Some((_, cells)) => cells.push(it),
            None => found.push((why, vec![it])),
        }
    }
    found
}

/// A list of them all; `folder` has the pages.
pub fn reasons(all: &[Judged], folder: &str) -> String {
    let mut text = String::new();
    for (why, cells) in explained(&all.iter().collect::<Vec<_>>()) {
        let mut ports: Vec<_> = cells.iter().map(|it| it.cell.port.as_str()).collect();
        ports.dedup();
        let link = |port: &&str| format!("[{port}]({folder}/{}.md#{port})", discipline_of(port));
        let links: Vec<_> = ports.iter().map(link).collect();
        let said = format!("- **{} of {}.** {why}", cells.len(), links.join(" and "));
        writeln!(text, "{}", wrapped(&said, "  ")).unwrap();
    }
    text
}

/// With a capital letter, unless it begins with the name of a queueing discipline in small letters.
fn capital(about: &str) -> String {
    let mut rest = about.chars();
    match rest.next() {
        Some(first) if !about.starts_with("fq ") => first.to_uppercase().chain(rest).collect(),
        _ => about.to_owned(),
    }
}
