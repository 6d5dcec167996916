//! `docs/reports/beside-linux.md`: every cell with its verdict, and a figure for each kind of queue.

use crate::cells::{Described, folder, ports, tables};
use crate::figure::figure;
use crate::spread::{DELAY, SHARE};
use crate::verdict::{CLOCK_NS, Judged, SEEDS, Verdict};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Compares page and figures with the files, or writes them if `PERHOP_RENEW` is set.
pub fn check(all: &[Judged]) {
    let ports = ports();
    let mut files = vec![("beside-linux.md".into(), page(&ports, all))];
    for port in &ports {
        if let Some(it) = drawn(port, all) {
            files.push((figure_of(port), figure(it)));
        }
    }
    let docs = folder().join("../docs/reports");
    for (name, text) in &files {
        let path = docs.join(name);
        if std::env::var_os("PERHOP_RENEW").is_some() {
            std::fs::write(&path, text).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(written == *text, "{} is out of date: make renew WHAT=kernel", path.display());
    }
}

fn figure_of(port: &Described) -> PathBuf {
    PathBuf::from(format!("figures/linux-{}.svg", port.name))
}

fn drawn<'a>(port: &Described, all: &'a [Judged]) -> Option<&'a Judged> {
    let pattern = port.figure.as_ref()?;
    all.iter().find(|it| it.cell.port == port.name && it.cell.pattern == *pattern)
}

fn page(ports: &[Described], all: &[Judged]) -> String {
    let count = |is: &dyn Fn(&Verdict) -> bool| all.iter().filter(|it| is(&it.verdict)).count();
    let exact = count(&|it| *it == Verdict::Exact);
    let within = count(&|it| matches!(it, Verdict::Within(_)));
    let packets: usize = all.iter().map(|it| it.rows.len()).sum();
    let ties: usize = all.iter().map(|it| it.ties).sum();
    let kernel = recorded("kernel");
    let mut text = include_str!("page.md")
        .replace("{kernel}", &kernel)
        .replace("{iproute2}", &recorded("iproute2"))
        .replace("{cells}", &all.len().to_string())
        .replace("{packets}", &packets.to_string())
        .replace("{ties}", &ties.to_string())
        .replace("{clock}", &CLOCK_NS.to_string())
        .replace("{seeds}", &SEEDS.count().to_string())
        .replace("{share}", &format!("{:.0}", 100.0 * SHARE))
        .replace("{delay}", &format!("{:.0}", 100.0 * DELAY))
        .replace("{exact}", &exact.to_string())
        .replace("{within}", &within.to_string())
        .replace("{outside}", &(all.len() - exact - within).to_string());
    text += &patterns();
    for port in ports {
        text += &of_port(port, all);
    }
    text
}

/// What the vectors were recorded with.
pub fn recorded(key: &str) -> String {
    let found = tables("records/kernel.toml", |name, value| (name == key).then(|| value.as_str().unwrap().to_owned()));
    found.into_iter().flatten().next().unwrap()
}

fn patterns() -> String {
    let mut text = "\n## Arrival patterns\n\n| pattern | what is sent |\n|---|---|\n".to_owned();
    let about = |name: &str, value: &toml_span::Value<'_>| {
        (name.to_owned(), value.pointer("/about").unwrap().as_str().unwrap().to_owned())
    };
    for (name, about) in tables("cells/patterns.toml", about) {
        writeln!(text, "| `{name}` | {about} |").unwrap();
    }
    text
}

fn of_port(port: &Described, all: &[Judged]) -> String {
    let mut text = format!("\n## `{}`: {}\n\n```text\n", port.name, port.about);
    for command in &port.commands {
        writeln!(text, "tc {command}").unwrap();
    }
    text +=
        "```\n\n| pattern | packets | dropped | marked | largest delay | verdict |\n|---|---:|---:|---:|---:|---|\n";
    let of_port: Vec<_> = all.iter().filter(|it| it.cell.port == port.name).collect();
    for it in &of_port {
        text += &line(it);
    }
    for it in of_port.iter().filter(|it| it.cell.explained.is_some()) {
        writeln!(text, "\n`{}`: {}", it.cell.pattern, it.cell.explained.as_ref().unwrap()).unwrap();
    }
    if drawn(port, all).is_some() {
        writeln!(text, "\n![{0} beside the kernel's]({1})", port.name, figure_of(port).display()).unwrap();
    }
    text
}

fn line(it: &Judged) -> String {
    let dropped = it.rows.iter().filter(|row| row.left.is_none()).count();
    let marked = it.rows.iter().filter(|row| row.left.is_some_and(|left| left.1 == 3)).count();
    let longest = it.rows.iter().filter_map(|row| Some(row.left?.0 - row.came)).max().unwrap_or(0);
    let verdict = match &it.verdict {
        Verdict::Exact => "exact".to_owned(),
        Verdict::Within(said) => format!("within: {said}"),
        Verdict::Outside(said) => format!("**outside**: {said}"),
        Verdict::Absent(said) => format!("**not in perhop**: {said}"),
    };
    let longest = format!("{:.2} ms", longest as f64 / 1e6);
    format!("| `{}` | {} | {dropped} | {marked} | {longest} | {verdict} |\n", it.cell.pattern, it.rows.len())
}
