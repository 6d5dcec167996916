//! What a kernel has of queueing disciplines where nothing is said: perhop assumes the same. `lab/recording/defaults.py` records it.

use super::tc::{text, written};
use super::{canonical, differences, read};
use perhop_config::import_options::ImportOptions;
use perhop_config::model::{Kind, Port, Queue};
use perhop_config::tc::DIALECT;
use perhop_config::tc::table::DISCIPLINES;
use std::collections::BTreeSet;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/records/defaults.toml");

/// Queueing disciplines without a record: no command makes `noop`, and `dualpi2` is newer than the kernel.
const ABSENT: [&str; 2] = ["dualpi2", "noop"];

/// What a print says otherwise than the commands, although it is of the same kernel.
struct Exception {
    /// The configuration.
    name: &'static str,
    /// Takes it away, so that both are the same.
    remove: fn(&mut Port),
}

const EXCEPTIONS: [Exception; 4] = [
    // Which queues `mq` has below it, `net.core.default_qdisc` says, and no command.
    Exception { name: "mq", remove: |port| port.queue = None },
    // Of its limit tc prints how long the rate takes for what is beyond the burst, in whole milliseconds.
    Exception { name: "tbf", remove: |port| _ = queue(port).settings.remove("limit") },
    // Of `r2q` tc prints the quanta that the kernel makes of it.
    Exception { name: "htb", remove: quanta },
    Exception { name: "htb-nested", remove: quanta },
];

fn queue(port: &mut Port) -> &mut Queue {
    port.queue.as_mut().expect("a queue")
}

/// The quanta that perhop makes of `r2q`, too.
fn quanta(port: &mut Port) {
    let queue = queue(port);
    assert_eq!(queue.kind, Some(Kind::Scheduler("htb")));
    for class in &mut queue.classes {
        let rate = class.settings.rate("rate").expect("a rate");
        let Some(quantum) = class.settings.bytes("quantum") else { continue };
        assert_eq!(quantum.get(), (rate.bit_s() / 8 / 10).clamp(1000, 200_000));
        class.settings.remove("quantum");
    }
}

/// What is recorded of a configuration.
struct Recorded {
    name: String,
    /// The words that the kernel wants.
    commands: String,
    /// What `tc -d` prints of it.
    shows: String,
    /// The queues that its classes have by themselves.
    within: String,
}

fn recorded() -> Vec<Recorded> {
    let file = std::fs::read_to_string(FILE).expect("the recorded defaults");
    let parsed = toml_span::parse(&file).expect("TOML");
    let lines = |table: &toml_span::Value<'_>, key: &str| -> String {
        let list = table.pointer(key).and_then(toml_span::Value::as_array);
        list.into_iter().flatten().map(|line| format!("{}\n", line.as_str().expect("a line"))).collect()
    };
    let tables = parsed.as_table().expect("tables").iter().filter(|it| it.1.as_table().is_some());
    let of = |(name, table): (&toml_span::value::Key<'_>, &toml_span::Value<'_>)| Recorded {
        name: name.name.to_string(),
        commands: lines(table, "/commands"),
        shows: lines(table, "/shows"),
        within: lines(table, "/within"),
    };
    tables.map(of).collect()
}

/// The ports of a text, without what is an exception.
fn ports(text: &str, exception: Option<&Exception>) -> Vec<Port> {
    let mut ports = read(&DIALECT, text, &ImportOptions::default()).device.ports;
    if let Some(it) = exception {
        ports.iter_mut().for_each(it.remove);
    }
    ports
}

/// How two ports differ, in what they are and in what is written of them; empty if they do not.
fn unlike(said: &[Port], printed: &[Port]) -> String {
    let canonical = |ports: &[Port]| ports.iter().cloned().map(canonical::port).collect::<Vec<_>>();
    differences(&canonical(said), &canonical(printed)) + &differences(&exported(said), &exported(printed))
}

fn exported(ports: &[Port]) -> Vec<String> {
    ports.iter().map(|port| text(&written(port))).collect()
}

#[test]
fn what_is_left_away_is_what_a_kernel_has() {
    let mut wrong = Vec::new();
    for it in recorded() {
        let exception = EXCEPTIONS.iter().find(|exception| exception.name == it.name);
        let said = ports(&it.commands, exception);
        let unlike_print = unlike(&said, &ports(&it.shows, exception));
        if !unlike_print.is_empty() {
            wrong.push(format!("{}: {unlike_print}", it.commands));
        }
        // A class without a queue has the kernel's in what is written.
        let whole = exported(&ports(&format!("{}{}", it.shows, it.within), exception));
        let unlike_within = differences(&exported(&said), &whole);
        if !unlike_within.is_empty() {
            wrong.push(format!("{}within: {unlike_within}", it.commands));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_exception_is_one() {
    let all = recorded();
    for exception in &EXCEPTIONS {
        let it = all.iter().find(|it| it.name == exception.name).expect("a record");
        assert_ne!(unlike(&ports(&it.commands, None), &ports(&it.shows, None)), "", "{}", it.name);
    }
}

#[test]
fn each_queueing_discipline_is_recorded() {
    let all: BTreeSet<_> = DISCIPLINES.iter().map(|it| it.name).filter(|name| !ABSENT.contains(name)).collect();
    let names: BTreeSet<_> = recorded().into_iter().map(|it| it.name).collect();
    let missing: Vec<_> = all.into_iter().filter(|name| !names.contains(*name)).collect();
    assert_eq!(missing, [""; 0]);
}
