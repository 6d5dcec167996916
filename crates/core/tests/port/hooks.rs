//! Nothing but the port calls a hook of a conditioner, gate, AQM or scheduler: what a host cannot call it cannot call in
//! another order. Gate and edge are sealed by their visibility; this reads the sources for the traits' methods.

use std::path::{Path, PathBuf};

/// Hooks whose names nothing else bears.
const ALONE: [&str; 6] = ["on_arrival", "on_fate", "on_departure", "departing", "skip_timers", "pick"];

/// Hooks whose names others bear too, and what may be before the dot: a port, which calls the hook in its order, or what
/// is no conditioner, AQM or scheduler.
const SHARED: [(&str, &[&str]); 5] = [
    ("forward", &["self", "net", "ledger"]),
    ("reverse", &["port", "port_mut()", "self", "ledger", "path"]),
    ("on_timer", &["port", "self", "hosts", "sender", "receiver", "peer"]),
    ("sent", &["queue", "packet", "pace"]),
    ("on_report", &["law"]),
];

/// The port, and the algorithms with their lists.
const INSIDE: [&str; 5] = ["src/port.rs", "src/port/", "src/aqm/", "src/conditioner/", "src/sched/"];

/// What measures a hook by itself, and no host: crates/bench.
const MEASURES: &str = "src/bare.rs";

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(files).filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

/// What is before the dot of each call of `.name(` in a text.
fn receivers<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let call = format!(".{name}(");
    let before = |(at, _): (usize, &str)| {
        let head = text[..at].trim_end();
        let word = head.trim_end_matches("()").trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        &head[word..]
    };
    text.match_indices(&call).map(before).collect()
}

fn calls(text: &str) -> Vec<String> {
    let alone = ALONE.iter().flat_map(|name| receivers(text, name).into_iter().map(move |it| format!("{it}.{name}")));
    let shared = SHARED.iter().flat_map(|(name, allowed)| {
        let others = receivers(text, name).into_iter().filter(|it| !allowed.contains(it));
        others.map(move |it| format!("{it}.{name}"))
    });
    alone.chain(shared).collect()
}

#[test]
fn nothing_but_the_port_calls_a_hook() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut read = 0;
    for krate in ["core", "sim", "scenario", "edge", "capture", "cli", "py", "bench"] {
        let root = core.parent().unwrap().join(krate);
        for file in sources(&root.join("src")) {
            let name = file.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            if krate == "bench" && name == MEASURES {
                continue;
            }
            if krate == "core" && INSIDE.iter().any(|inside| name.starts_with(inside)) {
                continue;
            }
            read += 1;
            let found = calls(&std::fs::read_to_string(&file).unwrap());
            assert!(found.is_empty(), "crates/{krate}/{name} calls {found:?}: that is for crates/core/src/port.rs");
        }
    }
    assert!(read > 100, "{read} files");
}

#[test]
fn the_reading_finds_calls() {
    assert_eq!(calls("let v = self.aqm.on_arrival(&at, packet);"), ["aqm.on_arrival"]);
    assert_eq!(calls("stage\n    .forward(at)"), ["stage.forward"]);
    assert_eq!(calls("link.port_mut().reverse(at); it().sent(1, None)"), ["it().sent"]);
}
