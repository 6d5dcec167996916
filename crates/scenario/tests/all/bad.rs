//! Each file of `bad/` with its exact diagnostics. `make renew WHAT=bad` rewrites them, to be read before they are
//! committed.

use perhop_core::door::Door;
use perhop_core::params::CLASS;
use perhop_scenario::{Diagnostics, Options, Policy, Scenario};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn diagnose(path: &Path) -> Diagnostics {
    let name = path.file_name().unwrap().to_str().unwrap();
    let (text, options) = (std::fs::read_to_string(path).unwrap(), Options::new(name));
    let result = match name.starts_with("policy") {
        true => Policy::parse(&text, &options).map(|p| p.1),
        false => Scenario::parse(&text, &options).map(|s| s.1),
    };
    match result {
        Ok(warnings) => {
            assert_eq!(warnings.errors(), 0, "{name}: accepted with errors");
            warnings
        }
        Err(diagnostics) => {
            assert!(diagnostics.errors() > 0, "{name}: refused without an error");
            diagnostics
        }
    }
}

fn files() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder("bad")).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<_> = files.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    files
}

#[test]
fn every_bad_file_gets_its_words() {
    let files = files();
    assert!(files.len() >= 25, "{} files", files.len());
    let mut differing = Vec::new();
    for path in &files {
        let diagnostics = diagnose(path);
        assert!(!diagnostics.list.is_empty(), "{}: nothing found", path.display());
        let found = format!("{diagnostics}\n{}\n", diagnostics.summary());
        let expected = path.with_extension("txt");
        if std::env::var_os("PERHOP_RENEW").is_some() {
            std::fs::write(&expected, &found).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != found {
            differing.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(differing.is_empty(), "{}\nif that is intended: make renew WHAT=bad", differing.join("\n"));
}

/// Every error that has a place gives line and column; every one has a suggested fix.
#[test]
fn each_says_where_and_how_to_fix_it() {
    for path in files() {
        for diagnostic in diagnose(&path).list {
            assert!(!diagnostic.help.is_empty(), "{}: {diagnostic}", path.display());
            let whole_file = ["E009", "E205", "E206", "E238", "E244", "E245"];
            let placed = diagnostic.spot.is_some() || whole_file.contains(&diagnostic.code);
            assert!(placed, "{}: {diagnostic}", path.display());
        }
    }
}

/// A sentence has the mark of a class if it is about one, and is shown with the name of that class and no mark.
#[test]
fn a_class_is_a_field_until_it_is_shown() {
    let mut classes = 0;
    for path in files() {
        let found = diagnose(&path);
        for it in &found.list {
            assert_eq!(it.class.is_some(), it.message.contains(CLASS), "{it:?}");
            let Some(class) = it.class.as_ref().map(ToString::to_string) else { continue };
            let json = it.to_json();
            assert!(it.to_string().contains(&class) && json["message"].as_str().unwrap().contains(&class), "{it}");
            assert_eq!(json["class"], *class);
            classes += 1;
        }
        for shown in [found.to_string(), found.to_json().to_string(), format!("{:?}", found.at(Door::Python))] {
            assert!(!shown.contains('⟨'), "{shown}");
        }
    }
    assert!(classes > 40, "{classes}");
}

#[test]
fn files_that_cannot_be_read_as_text() {
    let missing = Scenario::load(&folder("none.toml"), &Options::new("none.toml")).unwrap_err();
    assert_eq!(missing.list[0].code, "E007");
    let path = std::env::temp_dir().join(format!("perhop-not-utf8-{}.toml", std::process::id()));
    std::fs::write(&path, b"[scenario]\nname = \"\xff\"\n").unwrap();
    let bytes = Scenario::load(&path, &Options::new("bytes.toml")).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(bytes.list[0].code, "E008");
    assert!(bytes.list[0].message.ends_with("line 2"), "{bytes}");
}

#[test]
fn an_override_is_named_where_it_is_at_fault() {
    let text = include_str!("../good/protected-tcp.toml");
    let error = |pair: &str| {
        let options = Options::new("x.toml").set(pair);
        Scenario::parse(text, &options).map(|_| ()).unwrap_err().to_string()
    };
    assert!(
        error("traffic.bulk.flows=x").contains("-s:1:20\n1 | traffic.bulk.flows=x\n"),
        "{}",
        error("traffic.bulk.flows=x")
    );
    assert!(error("traffic.bulk.flow=3").contains("did you mean `flows`?"));
    assert!(error("trafic.bulk.flows=3").contains("unknown key `trafic`"));
    assert!(error("conditioner.marker.cbs=500B").contains("E212"));
    assert!(error("scenario.warmup=200s").contains("E203"));
}
