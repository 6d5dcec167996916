//! `docs/reports/live-beside-linux.md`: every cell in three columns.

use super::{DRIFT_NS, Differ, Held, Port, READINGS, TICKS_NS, TURNS};
use crate::kernel::cells::{Left, folder};
use crate::kernel::page::recorded;
use std::fmt::Write as _;

/// Compares the page with the file, or writes it if `PERHOP_RENEW` is set.
pub fn check(ports: &[Port], all: &[Held]) {
    let (path, text) = (folder().join("../docs/reports/live-beside-linux.md"), page(ports, all));
    if std::env::var_os("PERHOP_RENEW").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "{} is out of date: make renew WHAT=kernel", path.display());
}

fn page(ports: &[Port], all: &[Held]) -> String {
    let same = |differ: fn(&Held) -> &Differ| all.iter().filter(|it| differ(it).is_none()).count();
    let packets: usize = all.iter().map(|it| it.rows.len()).sum();
    let apart = all.iter().map(|it| it.simulator.apart).max().unwrap_or(0);
    let tables: String = ports.iter().map(|port| of_port(port, all)).collect();
    include_str!("page.md")
        .replace("{kernel}", &recorded("kernel"))
        .replace("{iproute2}", &recorded("iproute2"))
        .replace("{cells}", &all.len().to_string())
        .replace("{ports}", &ports.len().to_string())
        .replace("{packets}", &packets.to_string())
        .replace("{as_kernel}", &same(|it| &it.kernel).to_string())
        .replace("{as_simulator}", &same(|it| &it.simulator).to_string())
        .replace("{apart}", &apart.to_string())
        .replace("{turns}", &TURNS.to_string())
        .replace("{readings}", &READINGS.to_string())
        .replace("{drift}", &DRIFT_NS.to_string())
        .replace("{ticks}", &TICKS_NS.to_string())
        .replace("{tables}", &tables)
}

fn of_port(port: &Port, all: &[Held]) -> String {
    let mut text = format!("\n### `{}`: {}\n\n```text\n", port.name, port.about);
    for command in &port.commands {
        writeln!(text, "tc {command}").unwrap();
    }
    text += "```\n\n| pattern | packets | left: kernel | live | simulator | changed: kernel | live | simulator | beside the kernel | beside the simulator |\n";
    text += "|---|---:|---:|---:|---:|---:|---:|---:|---|---|\n";
    for it in all.iter().filter(|it| it.cell.port == port.name) {
        text += &line(it);
    }
    for it in all.iter().filter(|it| it.cell.port == port.name) {
        if let Some(why) = &it.cell.explained {
            writeln!(text, "\n`{}`: {why}", it.cell.pattern).unwrap();
        }
    }
    text
}

fn line(it: &Held) -> String {
    let worlds: [Vec<Left>; 3] = [
        it.rows.iter().map(|row| row.row.left).collect(),
        it.rows.iter().map(|row| row.live).collect(),
        it.simulated.clone(),
    ];
    let came = || it.rows.iter().map(|row| row.row.dscp << 2 | row.row.ecn);
    let left = worlds.each_ref().map(|world| world.iter().flatten().count().to_string()).join(" | ");
    let written =
        |world: &Vec<Left>| world.iter().zip(came()).filter(|(left, tos)| left.is_some_and(|it| it.1 != *tos)).count();
    let written = worlds.each_ref().map(|world| written(world).to_string()).join(" | ");
    let (kernel, simulator) = (said(&it.kernel), said(&it.simulator));
    format!("| `{}` | {} | {left} | {written} | {kernel} | {simulator} |\n", it.cell.pattern, it.rows.len())
}

fn said(differ: &Differ) -> String {
    if differ.is_none() {
        return format!("same, {} ns", differ.apart);
    }
    let Differ { fates, marks, late, apart, .. } = differ;
    format!("**{fates} fates, {marks} marks, {late} times differ**, {apart} ns")
}
