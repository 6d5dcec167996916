//! `perhop tune` as a user calls it: the specification's values, a scenario's load, lines that can be copied, faults.

/// Some of it is for other tests.
use crate::command::Folder;

/// A queue of three classes, one of them UDP's, by code points that a conditioner writes.
const SCENARIO: &str = r#"
[links]
"near - E" = { rate = "100Mbit/s", delay = "10ms" }
"far - E" = { rate = "100Mbit/s", delay = "40ms" }
"E - C" = { rate = "100Mbit/s", delay = "5ms" }
"C - D" = { rate = "10Mbit/s", delay = "5ms", queue = "shared" }
[queue.shared]
aqm = "msvb"
limit = "100p"
v0 = "300p"
floor = "260p"
ecn = true
classes = [{ for = "AF11", share = 0.4 }, { for = "AF21", share = 0.4 }, { share = 0.2 }]
[conditioner.near]
kind = "token-bucket"
cir = "20Mbit/s"
cbs = "100kB"
at = "near -> E"
match = { traffic = "near" }
green = "mark AF11"
red = "mark AF11"
[traffic.near]
model = "ftp"
flows = 20
from = "near"
to = "D"
tcp = { segment = "960B", ecn = true }
[traffic.far]
model = "ftp"
flows = 15
from = "far"
to = "D"
dscp = "AF21"
tcp = { segment = "960B", ecn = true }
[traffic.later]
model = "ftp"
flows = 10
start = "20s"
stop = "40s"
from = "far"
to = "D"
dscp = "AF21"
tcp = { segment = "960B", ecn = true }
[traffic.udp]
model = "cbr"
rate = "1Mbit/s"
size = "1000B"
from = "near"
to = "D"
"#;

fn json(folder: &Folder, args: &[&str]) -> serde_json::Value {
    let out = folder.perhop(&[&["tune"], args, &["--json"]].concat());
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// The table of the specification, C = 1250 packets/s, alpha = 0.05, to three significant digits.
#[test]
fn check_values_of_the_specification() {
    const TABLE: [(u32, [f64; 3]); 6] = [
        (10, [11_800.0, 28_000.0, 54_800.0]),
        (25, [1790.0, 4370.0, 8640.0]),
        (50, [350.0, 963.0, 2000.0]),
        (75, [91.5, 334.0, 770.0]),
        (100, [16.0, 122.0, 342.0]),
        (120, [0.320, 47.9, 180.0]),
    ];
    let folder = Folder::with(&[]);
    for (flows, row) in TABLE {
        for (rtt, expected) in [120, 160, 200].into_iter().zip(row) {
            let class = format!("rtt={rtt}ms,flows={flows}");
            let link = ["svb", "--rate", "10Mbit/s", "--packet", "1000B", "--class", &class, "--v0", "300p"];
            let answer = json(&folder, &[&link[..], &["--alpha", "0.05"]].concat());
            let stated = &answer["settings"][0];
            assert_eq!(stated["name"], "stated");
            let critical = stated["loops"][0]["critical_packets"].as_f64().unwrap();
            let digits = |x: f64| format!("{x:.2e}");
            assert_eq!(digits(critical), digits(expected), "N = {flows}, R = {rtt} ms");
        }
    }
}

/// Classes by the code points that packets have at the queue, flows that are there at once, RTTs with 40 packets' wait.
#[test]
fn the_load_of_a_scenario() {
    let folder = Folder::with(&[("net.toml", SCENARIO.as_bytes())]);
    let answer = json(&folder, &["msvb", "net.toml"]);
    assert_eq!(answer["capacity_packets_s"], 1250.0);
    let column = |key: &str| answer["loops"].as_array().unwrap().iter().map(|l| l[key].clone()).collect::<Vec<_>>();
    assert_eq!(column("name"), ["class 1", "class 2", "all together"]);
    assert_eq!(column("flows"), [serde_json::json!([20.0, 20.0]), [15.0, 25.0].into(), [35.0, 45.0].into()]);
    // 2 x 20 ms or 2 x 50 ms of propagation, 40 packets of 0.8 ms
    for (rtt, expected) in column("rtt_s").iter().zip([0.072, 0.132, 0.132]) {
        assert!((rtt.as_f64().unwrap() - expected).abs() < 1e-12, "{rtt}");
    }
    assert_eq!(answer["settings"][0]["name"], "in the file");
    assert_eq!(answer["settings"][0]["v0_packets"], 300.0);
    assert_eq!(answer["settings"][1]["stable"], true);
    let svb = json(&folder, &["svb", "net.toml", "--queue", "C -> D"]);
    assert_eq!(svb["loops"].as_array().unwrap().len(), 1);
    assert_eq!(svb["settings"].as_array().unwrap().len(), 1, "the queue is not svb: nothing to judge");
}

/// The lines to copy make a scenario that `check` accepts, and whose setting is then the stable one.
#[test]
fn the_lines_can_be_copied() {
    let folder = Folder::with(&[("net.toml", SCENARIO.as_bytes())]);
    let lines = json(&folder, &["msvb", "net.toml"])["toml"].as_str().unwrap().to_owned();
    let (start, end) = (SCENARIO.find("[queue.shared]").unwrap(), SCENARIO.find("[conditioner").unwrap());
    let tuned = format!("{}{lines}{}", &SCENARIO[..start], &SCENARIO[end..]);
    std::fs::write(folder.path("net.toml"), tuned).unwrap();
    let check = folder.perhop(&["check", "net.toml"]);
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    let again = json(&folder, &["msvb", "net.toml"]);
    assert_eq!(again["settings"][0]["stable"], true);
    assert_eq!(again["settings"][0]["v0_packets"], again["settings"][1]["v0_packets"]);
    assert_eq!(again["settings"][0]["alpha"], again["settings"][1]["alpha"]);
}

#[test]
fn the_answer_in_words() {
    let folder = Folder::with(&[("net.toml", SCENARIO.as_bytes())]);
    let out = folder.perhop(&["tune", "msvb", "net.toml"]);
    let said = String::from_utf8(out.stdout).unwrap();
    for word in [
        "UNSTABLE",
        "all together",
        "ignored",
        "`udp`",
        "[queue.shared]",
        "for = [\"AF21\"]",
        "{ share = 0.2, alpha = 0.5 }",
    ] {
        assert!(said.contains(word), "no `{word}` in\n{said}");
    }
    let out = folder.perhop(&["tune", "svb", "--rate", "10Mbit/s", "--class", "rtt=120ms,flows=50..200"]);
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(said.contains("200 flows have 0.75 packets each in flight, below 1.22"), "{said}");
}

#[test]
fn what_cannot_be_tuned() {
    let link = ["--rate", "10Mbit/s"];
    let cases: [(&[&str], &[&str]); 12] = [
        (&["svb", "--class", "rtt=120ms,flows=123"], &["E260", "no equilibrium", "below 1.22", "fewer flows"]),
        (&["svb", "--class", "rtt=120ms"], &["E005", "--class:1:1", "`flows`"]),
        (&["svb", "--class", "rtt=120,flows=5"], &["E103", "--class:1:5", "time without unit"]),
        (&["svb", "--class", "rtt=0s,flows=5"], &["E201", "above 0"]),
        (&["svb", "--class", "rtt=120ms,flows=9..5"], &["E201", "`flows` is 9..5", "5..50"]),
        (&["svb", "--class", "rtt=120ms,flos=5,flows=5"], &["E004", "--class:1:11", "did you mean `flows`?"]),
        (&["svb", "--class", "rtt=120ms,flows=5,share=0.5"], &["E239", "no shares"]),
        (&["svb", "--class", "rtt=1s,flows=5", "--class", "rtt=1s,flows=5"], &["E201", "one class, but 2"]),
        (
            &["msvb", "--class", "rtt=1s,flows=5,share=0.6", "--class", "rtt=1s,flows=5,share=0.6"],
            &["E201", "sum to 1.2", "at most 1"],
        ),
        (&["msvb", "--class", "rtt=1s,flows=5,share=0"], &["E201", "`share` is 0", "is blocked"]),
        (
            &["svb", "--class", "rtt=120ms,flows=50", "--v0", "40p", "--floor", "40p"],
            &["E214", "not below V0", "raise --v0"],
        ),
        (&["svb", "--class", "rtt=120ms,flows=50", "--alpha", "0.1,0.2"], &["E201", "2 values", "1 class"]),
    ];
    for (args, words) in cases {
        let said = Folder::with(&[]).refused(&[&["tune"], args, &link].concat());
        words.iter().for_each(|word| assert!(said.contains(word), "{args:?}: no `{word}` in\n{said}"));
    }
}

#[test]
fn queues_that_cannot_be_tuned() {
    let udp = SCENARIO.replace("model = \"ftp\"\nflows", "model = \"app-limited\"\nrate = \"100kbit/s\"\nflows");
    let cases: [(&str, &[&str], &[&str]); 4] = [
        (SCENARIO, &["--queue", "nix"], &["E260", "no queue `nix`", "shared"]),
        (&SCENARIO.replace("aqm = \"msvb\"", "aqm = \"avq\""), &[], &["error["]),
        (&udp, &[], &["E260", "no long-lived TCP", "ftp"]),
        (
            &SCENARIO.replace("red = \"mark AF11\"", "red = \"mark AF21\""),
            &[],
            &["E260", "`near` may come in more than one class", "--class"],
        ),
    ];
    for (text, args, words) in cases {
        let folder = Folder::with(&[("net.toml", text.as_bytes())]);
        let said = folder.refused(&[&["tune", "msvb", "net.toml"], args].concat());
        words.iter().for_each(|word| assert!(said.contains(word), "{args:?}: no `{word}` in\n{said}"));
    }
}

/// Without Python the table is printed and the picture is not.
#[test]
fn a_picture_is_pythons() {
    let args = ["tune", "svb", "--rate", "10Mbit/s", "--class", "rtt=120ms,flows=50", "-o", "a.svg"];
    let out = Folder::with(&[]).perhop(&args);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stdout).contains("[queue.bottleneck]"));
    assert!(String::from_utf8_lossy(&out.stderr).contains("pip install perhop"));
}

/// `--trace series` asks for a series every 100 ms if the scenario sets no interval.
#[test]
fn a_stated_interval_of_series_stays() {
    let folder = Folder::with(&[("ok.toml", crate::command::SCENARIO.as_bytes())]);
    let size = |args: &[&str]| {
        let out = folder.perhop(&[&["run", "ok.toml", "--out", "runs", "--trace", "series"], args].concat());
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let series = |name: &std::path::PathBuf| name.ends_with("series.parquet");
        folder.contents().iter().filter(|(name, _)| series(name)).map(|(_, bytes)| bytes.len()).sum::<usize>()
    };
    let usual = size(&[]);
    assert!(size(&["-s", "scenario.sample=5ms", "-s", "scenario.name=often"]) > 3 * usual, "{usual}");
}

/// A scheduler's queue has no separate rate.
#[test]
fn a_scheduler_has_no_queue_to_tune() {
    let wrr = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wrr.toml");
    let said = Folder::with(&[]).refused(&["tune", "svb", wrr, "--queue", "bottleneck"]);
    for word in ["E260", "`R -> D` has a scheduler", "--class"] {
        assert!(said.contains(word), "no `{word}` in\n{said}");
    }
}

/// docs/guides/tune.md shows what its last command prints.
#[test]
fn the_page_shows_what_is_printed() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/tune.md")).unwrap();
    let command = page.lines().find_map(|line| line.strip_prefix("$ perhop tune svb --rate")).unwrap();
    let args: Vec<_> = ["tune", "svb", "--rate"].into_iter().chain(command.split_whitespace()).collect();
    let printed = String::from_utf8(Folder::with(&[]).perhop(&args).stdout).unwrap();
    assert!(page.contains(&format!("```text\n{printed}```")), "{printed}");
}
