//! What is made of a configuration, up to the text of its scenario, grows as its text does: instructions and memory at n, 4 n and
//! 16 n.
//!
//! Instructions are counted by cachegrind, under which this binary runs itself for one text; no other process alters them. What
//! next to no text costs is taken off. `PERHOP_KIND=htb` tries the kinds with this in their names.

#[path = "growth/texts.rs"]
mod texts;

use perhop_config::given::Given;
use perhop_config::import::read;
use perhop_config::rules;
use perhop_core::units::BitRate;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use texts::{KINDS, Kind};

/// What four times a text may cost: n log n is 4 log(4 n) / log(n) times as much, below 5 from 256 bytes on.
const MOST: f64 = 5.0;
/// The file of the text of a run below cachegrind.
const TEXT: &str = "PERHOP_TEXT";

fn import(text: &str) {
    let given = Given { link: Some(BitRate::mbps(1000)), ..Given::default() };
    let Ok(mut imported) = read(text.as_bytes(), None, &given) else { return };
    let _ = rules::findings(&imported.read, &imported.text, &given);
    for port in imported.ports(&given).unwrap_or_default() {
        imported.port = port;
        let _ = imported.stub(&given, None);
    }
}

/// What runs below cachegrind.
#[test]
fn one_text() {
    if let Ok(file) = std::env::var(TEXT) {
        import(&std::fs::read_to_string(file).unwrap());
    }
}

fn kinds() -> Vec<&'static Kind> {
    let only = std::env::var("PERHOP_KIND").unwrap_or_default();
    KINDS.iter().filter(|kind| kind.name.contains(&only)).collect()
}

/// At most [`MOST`] times for each four times; in words, too.
fn grown(kind: &Kind, costs: [f64; 3], unit: &str) -> (String, bool) {
    let ratios = [costs[1] / costs[0], costs[2] / costs[1]];
    let said = costs.map(|cost| format!("{:.2}", cost / 1e6)).join(", ");
    let said = format!("{}: {said} million {unit}, {:.2} and {:.2} times", kind.name, ratios[0], ratios[1]);
    eprintln!("{said}");
    (said, ratios.iter().all(|ratio| *ratio <= MOST))
}

fn refuse(slow: &[String]) {
    assert!(slow.is_empty(), "more than {MOST} times for four times the text:\n{}", slow.join("\n"));
}

#[test]
fn memory() {
    let mut much = Vec::new();
    for kind in kinds() {
        let bytes = [1, 4, 16].map(|times| {
            let text = (kind.text)(kind.least * times);
            allocation_counter::measure(|| import(&text)).bytes_max as f64
        });
        let (said, is_fine) = grown(kind, bytes, "bytes");
        much.extend((!is_fine).then_some(said));
    }
    refuse(&much);
}

fn counted(file: &Path) -> f64 {
    let out = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "one_text", "--test-threads=1"])
        .env(TEXT, file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{}: {said}", file.display());
    let counted = said.lines().find_map(|line| line.split_once(" refs:")).unwrap_or_else(|| panic!("{said}")).1;
    counted.trim().replace(',', "").parse().unwrap()
}

#[test]
fn instructions() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return eprintln!("skipped: valgrind is not installed");
    }
    let folder = std::env::temp_dir().join(format!("perhop-growth-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let cost = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        counted(&file)
    };
    let none = cost("none", "tc qdisc add dev eth0 root fq_codel\n");
    let (kinds, next, slow) = (kinds(), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(kind) = kinds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let costs = [1, 4, 16].map(|times| cost(kind.name, &(kind.text)(kind.least * times)) - none);
            let (said, is_fine) = grown(kind, costs, "instructions");
            slow.lock().unwrap().extend((!is_fine).then_some(said));
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, usize::from)).for_each(|_| _ = scope.spawn(work));
    });
    std::fs::remove_dir_all(&folder).unwrap();
    refuse(&slow.into_inner().unwrap());
}
