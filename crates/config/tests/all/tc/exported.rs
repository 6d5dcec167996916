//! What perhop writes for tc is read so that it writes the same again.

use super::read;
use perhop_config::account::Verdict;
use perhop_config::as_tc::{LinuxPort, port_of_sweep};
use perhop_config::generate::{LINK, Shape, of};
use perhop_config::model::Port;
use perhop_config::stub::stub;
use perhop_core::params::Severity;
use perhop_scenario::{Options, Sweep};
use proptest::prelude::*;

/// A port as commands, and what tc cannot say of it.
///
/// # Errors
/// Those of its scenario.
fn written(port: &Port) -> Result<LinuxPort, String> {
    let stub = stub(port, LINK);
    let read = Sweep::parse(&stub.text, &Options::new("stub.toml"));
    let (sweep, _) = read.map_err(|found| {
        let errors = found.list.iter().filter(|it| it.severity == Severity::Error);
        let errors: Vec<_> = errors.map(ToString::to_string).collect();
        format!("{}\n{}", errors.join("\n"), stub.text)
    })?;
    port_of_sweep(&sweep, perhop_config::stub::LINK, Some("eth0")).map_err(|found| found.to_string())
}

fn commands(port: &LinuxPort) -> String {
    port.commands.iter().map(|command| format!("{command}\n")).collect()
}

/// What is read of commands, in which nothing is left out.
fn back(text: &str) -> Port {
    let read = read(text);
    let lost: Vec<_> = read.account.lines.iter().filter(|it| it.1.verdict == Verdict::NotModelled).collect();
    assert!(lost.is_empty() && read.findings.is_empty(), "{lost:?} {:?}\n{text}", read.findings);
    let [port] = &read.device.ports[..] else { panic!("{:#?}\n{text}", read.device) };
    port.clone()
}

/// Filters that do the same to packets of different fields, before the one for all others.
const ALIKE: &str = "\
tc qdisc add dev eth0 root stab overhead -14 linklayer ethernet handle 1: htb default 1
tc class add dev eth0 parent 1: classid 1:1 htb rate 100000000bit
tc qdisc add dev eth0 parent 1:1 handle 2: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
tc filter add dev eth0 parent 2: protocol all prio 1 handle 0x4/0x4 fw flowid 2:1
tc qdisc add dev eth0 parent 2:1 handle 3: pfifo limit 1000
tc filter add dev eth0 parent 2: protocol all prio 2 matchall flowid 2:2
tc qdisc add dev eth0 parent 2:2 handle 4: pfifo limit 1000
tc qdisc add dev eth0 clsact
tc filter add dev eth0 egress protocol ip prio 1 flower ip_tos 0x00/0xfc action ok
tc filter add dev eth0 egress protocol ipv6 prio 2 flower ip_tos 0x00/0xfc action ok
tc filter add dev eth0 egress protocol ip prio 3 flower dst_ip 10.0.0.0/8 action ok
tc filter add dev eth0 egress protocol all prio 4 matchall action skbedit mark 0x4/0x4 pipe action ok
";

/// What is written, without the comments.
fn again(text: &str) -> String {
    let said = commands(&written(&back(text)).unwrap_or_else(|error| panic!("{error}\n{text}")));
    said.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_was_written_is_written_again() {
    assert_eq!(again(ALIKE), ALIKE);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    /// Once what was assumed is written, reading and writing says the same in the same words.
    #[test]
    fn an_export_is_a_fixed_point_after_one_round(port in of(Shape::Tc)) {
        let Ok(first) = written(&port) else { return Ok(()) };
        let text = commands(&first);
        // What is drawn may be nonsense: a filter behind one that takes all of its packets.
        if !first.lost.is_empty() || read(&text).findings.iter().any(|it| it.code == "W404") {
            return Ok(());
        }
        let port = back(&text);
        let second = match written(&port) {
            Ok(second) if second.lost.is_empty() => commands(&second),
            // A mark that nothing sets.
            Ok(_) => return Ok(()),
            // A class by a mark or a conditioner: the stub's own marker comes before the conditioner that it names.
            Err(error) if error.contains("E281") => return Ok(()),
            Err(error) => panic!("{error}\n{text}"),
        };
        let third = commands(&written(&back(&second)).unwrap_or_else(|error| panic!("{error}\n{second}")));
        prop_assert_eq!(second, third);
    }
}
