//! The commands of every cell, as they are typed for `tc`, imported: the port that they give is the one that was written by hand
//! beside them, since it does with the kernel's arrivals what that one does.

use crate::kernel::cells::{COMING, Cell, Described, LEAVING, cells, ports, typed};
use crate::kernel::verdict::{Verdict, judge};
use perhop_config::finding::Fault;
use perhop_config::import::import;
use perhop_config::import_options::ImportOptions;
use perhop_config::model::Way;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Ports whose `htb` has one class with tc's own burst, no more than the rate of a line: it is read as the link, which lends no burst.
const LINES: [&str; 3] = ["gso-codel", "gso-drr", "gso-fq-codel"];

/// The port of some commands as a policy, and the name of its queue.
fn policy(port: &Described) -> Result<(String, String), String> {
    let text: String = port.commands.iter().map(|command| typed(command) + "\n").collect();
    let comes = port.commands.iter().any(|command| command.contains("{in}"));
    let (interface, way) = if comes { (COMING, Way::Input) } else { (LEAVING, Way::Output) };
    let given = ImportOptions { interface: Some(interface.to_owned()), way: Some(way), ..ImportOptions::default() };
    let said = |fault: Fault| format!("{} {}", fault.code, fault.message);
    let mut read = import(text.as_bytes(), Some("tc"), &given).map_err(|refused| said(refused.fault))?;
    let policy = read.policy().map_err(said)?;
    let heading = policy.text.lines().find_map(|line| line.strip_prefix("[queue."));
    let name = heading.and_then(|rest| rest.split_once(']')).map(|(name, _)| name.trim_matches('"').to_owned());
    Ok((policy.text, name.unwrap_or_default()))
}

/// Whether two verdicts say the same.
fn same(a: &Verdict, b: &Verdict) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

#[test]
fn typed_commands_are_the_ports_beside_them() {
    let policies: BTreeMap<String, _> = ports().iter().map(|port| (port.name.clone(), policy(port))).collect();
    let wrong = |cell: Cell| {
        let (text, queue) = match &policies[&cell.port] {
            Ok(found) => found.clone(),
            Err(why) => return Some(format!("{}: {why}", cell.name())),
        };
        assert_eq!(text.contains("\nlink = "), LINES.contains(&&*cell.port), "{}: {text}", cell.port);
        if LINES.contains(&&*cell.port) {
            return None;
        }
        let by_hand = judge(Cell { ..cell.clone() }).verdict;
        let imported = judge(Cell { perhop: text, queue, ..cell.clone() }).verdict;
        (!same(&by_hand, &imported)).then(|| format!("{}: {imported:?}, by hand {by_hand:?}", cell.name()))
    };
    let found: Vec<_> = cells().into_par_iter().filter_map(wrong).collect();
    assert!(found.is_empty(), "{} differ\n{}", found.len(), found.join("\n"));
}
