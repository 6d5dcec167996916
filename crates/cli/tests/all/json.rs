//! Whatever a verb prints for programs it prints by `--json`.

use crate::command::{Folder, SCENARIO};
use serde_json::{Value, json};

const POLICY: &str = "[conditioner.all]\nkind = \"token-bucket\"\ncir = \"1Mbit/s\"\ncbs = \"15kB\"\nred = \"drop\"\n";

fn folder() -> Folder {
    Folder::with(&[("ok.toml", SCENARIO.as_bytes()), ("policy.toml", POLICY.as_bytes())])
}

fn printed(args: &[&str]) -> Value {
    let out = folder().perhop(&[args, &["--json"]].concat());
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

#[test]
fn check_says_what_its_retired_option_is_called_now() {
    for format in [&["--format", "json"][..], &["--format=text"]] {
        let said = folder().refused(&[&["check", "ok.toml"], format].concat());
        assert!(said.contains("unexpected argument '--format") && said.contains("'--json'"), "{said}");
    }
}

/// What the scenario states, and what follows from it: 5 ms of a packet of 1000 B and so on.
#[test]
fn explain_has_every_value_and_every_time() {
    let said = printed(&["explain", "ok.toml", "-s", "queue.red.limit=50p"]);
    assert_eq!(said["effective"]["traffic"]["bulk"]["flows"], json!(3));
    assert_eq!(said["effective"]["links"]["s - A"]["rate"], json!("5Mbit/s"));
    let path = &said["paths"][0];
    assert_eq!((&path["traffic"], &path["base_rtt_ms"]), (&json!("bulk"), &json!(20.0)));
    assert_eq!(path["forward"], json!(["s -> A", "A -> d"]));
    let port = said["ports"].as_array().unwrap().iter().find(|port| port["link"] == "s -> A").unwrap();
    assert_eq!((&port["rate_bit_s"], &port["delay_ms"]), (&json!(5_000_000), &json!(5.0)));
    let queue = &port["queues"][0];
    assert_eq!(
        (&queue["aqm"], &queue["limit_packets"], &queue["limit_bytes"]),
        (&json!("red"), &json!(50), &json!(null))
    );
    let full = 50.0 * path["largest_packet_bytes"].as_f64().unwrap() * 8e3 / 5e6;
    assert!((queue["full_ms"].as_f64().unwrap() - full).abs() < 1e-6, "{queue}");
    let marker = &said["conditioners"][0];
    assert_eq!((&marker["link"], &marker["takes"]), (&json!("A -> d"), &json!(["bulk"])));
    let bucket = json!({ "bucket": "cbs", "tokens": 50_000, "filled_by": "cir", "full_ms": 400.0 });
    assert_eq!(marker["buckets"], json!([bucket]));
    assert_eq!(printed(&["explain", "policy.toml"])["effective"]["conditioner"]["all"]["red"], json!("drop"));
}

#[test]
fn explain_has_the_points_of_a_sweep() {
    let folder = folder();
    let sweep = SCENARIO.to_owned() + "[sweep]\n\"traffic.bulk.flows\" = [3, 5]\n";
    std::fs::write(folder.path("sweep.toml"), sweep).unwrap();
    let said: Value = serde_json::from_slice(&folder.perhop(&["explain", "sweep.toml", "--json"]).stdout).unwrap();
    let points = said["points"].as_array().unwrap();
    assert_eq!(points.iter().map(|point| &point["labels"]["traffic.bulk.flows"]).collect::<Vec<_>>(), ["3", "5"]);
}

#[test]
fn lists_are_what_their_text_says() {
    assert!(printed(&["list"])["aqms"].as_array().unwrap().iter().any(|entry| entry["name"] == "pie"));
    assert_eq!(printed(&["list", "aqms"]), printed(&["list"])["aqms"]);
    let trtcm = printed(&["list", "trtcm"]);
    let cir = trtcm["parameters"].as_array().unwrap().iter().find(|it| it["name"] == "cir").unwrap();
    assert_eq!((&cir["default"], &cir["optional"]), (&json!(null), &json!(false)));
    assert!(trtcm["page"].as_str().unwrap().contains("RFC 2698"));
    let codes = printed(&["list", "diagnostics"]);
    assert_eq!(codes.as_array().unwrap().len(), perhop_app::codes::all().len());
    assert_eq!(printed(&["list", "W301"])["code"], json!("W301"));
    assert!(printed(&["list", "tcp"]).as_array().unwrap().contains(&json!("linux")));
    assert!(printed(&["list", "units"])[0]["units"].is_array());
}

/// Linux's commands word by word, where the text is a script.
#[test]
fn commands_for_linux_are_words() {
    let words = ["explain", "ok.toml", "--as", "tc", "-s", "accounting=l2", "-s", "queue.red={ limit = \"20p\" }"];
    let said = printed(&words);
    assert!(said["commands"].as_array().unwrap().iter().any(|command| command["argv"][0] == "tc"), "{said}");
}
