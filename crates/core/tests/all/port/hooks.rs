//! Nothing but the port calls a hook of a conditioner, AQM or scheduler: hooks take a `Turn`, which only the port makes, as the
//! doctests of `port/turn.rs` show. For tests and benchmarks there is a door, the feature `testing`; here every manifest is
//! read, so that nothing that users get opens it.

use std::path::{Path, PathBuf};

/// Who may open the door besides tests: what measures hooks by themselves, and no user gets.
const MEASURES: [&str; 1] = ["crates/bench"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What stands in quotes in the list called `name` of a manifest.
fn list(manifest: &str, name: &str) -> Vec<String> {
    let (_, after) = manifest.split_once(&format!("\n{name} = [")).unwrap();
    let (items, _) = after.split_once(']').unwrap();
    items.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The workspace's members, and what is a workspace by itself.
fn members() -> Vec<String> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    [list(&manifest, "members"), list(&manifest, "exclude"), vec![String::from(".")]].concat()
}

/// Lines of a manifest that turn the feature on for more than its tests.
fn opening(manifest: &str) -> Vec<&str> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        }
        let asked = line.contains("testing") && !line.starts_with('#') && line != "testing = []";
        if asked && !section.contains("dev-dependencies") {
            found.push(line);
        }
    }
    found
}

#[test]
fn only_tests_open_the_door_to_hooks() {
    let all = members();
    assert!(all.len() >= 11, "{all:?}");
    for member in all.iter().filter(|member| !MEASURES.contains(&member.as_str())) {
        let manifest = std::fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap();
        let found = opening(&manifest);
        assert!(found.is_empty(), "{member}/Cargo.toml: {found:?}");
    }
}

#[test]
fn the_reading_finds_an_open_door() {
    let core = |section: &str| format!("[{section}]\nperhop-core = {{ path = \"x\", features = [\"testing\"] }}\n");
    assert_eq!(opening(&core("dependencies")).len(), 1);
    assert_eq!(opening(&core("target.'cfg(unix)'.dependencies")).len(), 1);
    assert!(opening(&core("dev-dependencies")).is_empty());
    assert_eq!(opening("[features]\ndefault = [\"perhop-core/testing\"]\n").len(), 1);
    assert_eq!(list("[workspace]\nmembers = [\"a\", \"b\"]\n", "members"), ["a", "b"]);
}
