//! Tables of captures are what JSON says of them, and what does not go together is refused.

use perhop_app::Failure;
use perhop_app::mark::Asker;
use perhop_app::meter::{CaptureAnswer, reports};
use perhop_app::request::Meter;
use perhop_capture::mark::By;
use perhop_results::captures;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Rows as objects of plain values.
type Rows = Vec<Map<String, Value>>;

fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn answer(mut request: Meter, capture: &str) -> Result<CaptureAnswer, Failure> {
    request.inputs = vec![root(capture)];
    request.through.json = true;
    let answers = reports(&request, Asker { interrupted: &AtomicBool::new(false), warn: &|_| () })?;
    Ok(answers.into_iter().next().expect("one capture, one answer"))
}

/// What is in a row under the names of columns; lists are tables of their own.
fn flat(row: &Map<String, Value>, before: &str, into: &mut Map<String, Value>) {
    for (key, value) in row {
        match value {
            Value::Object(inner) => flat(inner, &format!("{before}{key}_"), into),
            Value::Array(_) => {}
            plain => drop(into.insert(format!("{before}{key}"), plain.clone())),
        }
    }
}

fn rows<'a>(all: impl IntoIterator<Item = &'a Value>) -> Rows {
    let row = |row: &Value| {
        let mut found = Map::new();
        flat(row.as_object().expect("a row"), "", &mut found);
        found
    };
    all.into_iter().map(row).collect()
}

fn array(of: &Value) -> impl Iterator<Item = &Value> {
    of.as_array().into_iter().flatten()
}

/// The lists of a report under the names of tables; and those within lists, or without a list, that are tables too.
fn tables(report: &Value) -> BTreeMap<String, Rows> {
    let mut found = BTreeMap::new();
    for (key, value) in report.as_object().expect("a report").iter().filter(|(key, _)| *key != "warnings") {
        let name = report["by"].as_str().filter(|_| key == "rows").unwrap_or(key);
        found.insert(name.to_owned(), rows(array(value)));
        for (inner, list) in value.as_object().into_iter().flatten() {
            found.insert(format!("{key}_{inner}"), rows(array(list)));
        }
    }
    let named = |conditioner: &Value, list: &Value| {
        let mut all = rows(array(list));
        all.iter_mut().for_each(|row| drop(row.insert("conditioner".into(), conditioner.clone())));
        all
    };
    let within = |list: &str| array(&report["conditioners"]).flat_map(|it| named(&it["name"], &it[list])).collect();
    let mut colours: Rows = within("colours");
    colours.extend(named(&Value::Null, &report["unmatched"]));
    found.extend([("colours".into(), colours), ("tallies".into(), within("tallies"))]);
    found.insert("labels".into(), rows(report["labels"].is_object().then_some(&report["labels"])));
    found.retain(|_, rows| !rows.is_empty());
    found
}

/// Whether a column has this value. JSON's numbers are read to within a unit in the last place.
fn is_same(column: &str, value: &Value) -> bool {
    match value {
        Value::Null => column.is_empty(),
        Value::Bool(is) => column == u8::from(*is).to_string(),
        Value::Number(number) if number.is_f64() => {
            let wanted = number.as_f64().expect("a number");
            column.parse::<f64>().is_ok_and(|found| (found - wanted).abs() <= 2.0 * f64::EPSILON * wanted.abs())
        }
        Value::Number(number) => column == number.to_string(),
        Value::String(text) => column == text,
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Compares every value of every row; the names of the tables.
fn compared(answer: &CaptureAnswer) -> Vec<&'static str> {
    let json: Value = serde_json::from_str(&answer.text).expect("JSON");
    let (of, wanted) = (answer.tables.as_ref().expect("tables of a capture"), tables(&json));
    assert_eq!(of.names().into_iter().collect::<BTreeSet<_>>(), wanted.keys().map(String::as_str).collect());
    for (name, rows) in &wanted {
        let table = of.table(name).expect("it has rows");
        assert_eq!(table.rows(), rows.len(), "{name}");
        for (place, row) in rows.iter().enumerate() {
            let known: BTreeSet<_> = table.columns.iter().map(|column| column.0.as_str()).collect();
            for (column, values) in &table.columns {
                // what has no parts is null as a whole
                let missing =
                    || row.iter().any(|(key, value)| value.is_null() && column.starts_with(&format!("{key}_")));
                let value = row.get(column).unwrap_or(&Value::Null);
                assert!(row.contains_key(column) || missing(), "{name}.{column} is not in {row:?}");
                let found = values.text(place);
                assert!(is_same(&found, value), "{name}.{column} is {found} and not {value} in {row:?}");
            }
            for (key, value) in row.iter().filter(|(key, _)| !known.contains(key.as_str())) {
                let whole = value.is_null() && known.iter().any(|column| column.starts_with(&format!("{key}_")));
                assert!(whole, "{name} has no column {key}");
            }
        }
    }
    of.names()
}

const QUEUE: &str = r#"
[conditioner.voice]
kind = "token-bucket"
cir = "1Mbit/s"
cbs = "3000B"
red = "mark AF13"

[queue.customers]
scheduler = "drr"
classes = [
  { match = { dscp = "AF13" }, quantum = "1500B", queue = { limit = "1p" } },
  { per = "destination", slots = 2, plans = [{ quantum = "1500B", queue = { limit = "2p" } }] },
]
"#;

/// Neither has what the other has not: a column is in JSON, and a value of JSON's rows is a column.
#[test]
fn columns_are_the_values_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let queue = folder.path().join("queue.toml");
    std::fs::write(&queue, QUEUE).unwrap();
    let of =
        |policy: &str| Meter { policy: Some(root(policy)), rtt: true, samples: true, bursts: true, ..Meter::default() };
    let line = |link: &str| Meter {
        queue: Some("customers".into()),
        link: Some(link.into()),
        policy: Some(queue.clone()),
        ..Meter::default()
    };
    let whole = [
        (of("examples/mark-af.toml"), "tests/captures/tcp.pcap"),
        (of("examples/mark-af.toml"), "tests/captures/udp-ns.pcap"),
        (of("examples/mark-labels.toml"), "tests/captures/tcp6-ns.pcap"),
        (line("100kbit/s"), "tests/captures/udp-ns.pcap"),
        (Meter::default(), "tests/captures/merged.pcapng"),
    ];
    let groups = By::ALL.map(|by| (Meter { by: Some(by), ..Meter::default() }, "tests/captures/tcp.pcap"));
    let compared = whole.into_iter().chain(groups).flat_map(|(request, capture)| {
        let answer = answer(request, capture).unwrap_or_else(|failure| panic!("{capture}: {failure}"));
        compared(&answer)
    });
    let seen: BTreeSet<_> = compared.collect();
    let missing: Vec<_> = captures::declared().iter().map(|of| of.name).filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "no request of this test has rows for {missing:?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let by = || Meter { by: Some(By::Host), ..Meter::default() };
    let policy = || Some(root("examples/mark-af.toml"));
    let some = |text: &str| Some(text.to_owned());
    let requests = [
        (Meter { rtt: true, ..by() }, "--by together with --rtt"),
        (Meter { bursts: true, ..by() }, "--by together with --bursts"),
        (Meter { queue: some("x"), policy: policy(), ..by() }, "--by together with --queue"),
        (Meter { queue: some("x"), ..Meter::default() }, "--queue without --policy"),
        (Meter { link: some("1Mbit/s"), ..Meter::default() }, "--link without --policy"),
        (Meter { framing: some("l1"), ..Meter::default() }, "--framing without --policy"),
        (Meter { samples: true, ..Meter::default() }, "--samples without --rtt"),
    ];
    for (request, message) in requests {
        let failure = answer(request, "tests/captures/tcp.pcap").err().expect(message).to_string();
        assert!(failure.contains("E239") && failure.contains(message), "{failure}");
    }
}
