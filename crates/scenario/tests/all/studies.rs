//! What `check` says of the examples and of the papers' scenarios: nothing of an example, and of a study what is written
//! in `studies.txt`. `make renew WHAT=studies` rewrites it.

use perhop_scenario::{Options, Sweep};
use std::path::{Path, PathBuf};

/// Every TOML file below a folder of the repository.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    all.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    all.sort();
    all
}

#[test]
fn no_scenario_of_the_repository_gets_another_warning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut said = String::new();
    for path in [root.join("examples"), root.join("python/perhop_studies")].iter().flat_map(|folder| files(folder)) {
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.contains("[links]") && !text.contains("[dumbbell]") {
            continue;
        }
        let (_, found) =
            Sweep::parse(&text, &Options::new("x.toml")).unwrap_or_else(|d| panic!("{}: {d}", path.display()));
        let name = path.strip_prefix(&root).unwrap().display();
        found.list.iter().for_each(|it| said += &format!("{name}: {} {}\n", it.code, it.sentence()));
    }
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/studies.txt");
    if std::env::var_os("PERHOP_RENEW").is_some() {
        std::fs::write(&recorded, &said).unwrap();
    }
    let expected = std::fs::read_to_string(recorded).unwrap();
    assert_eq!(said, expected, "if that is intended: make renew WHAT=studies");
}
