//! The crate's folders are stages: each imports only those before it. `use` lines and paths within the code are read
//! alike; what tests within a file import counts too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The order of `src/lib.rs`.
const ORDER: [&str; 20] = [
    "codes",
    "text",
    "bounds",
    "simulation",
    "sections",
    "expand",
    "resolve",
    "check",
    "build",
    "in_force",
    "change",
    "scenario",
    "knobs",
    "sweep",
    "policy",
    "document",
    "schema",
    "explain",
    "contracts",
    "tune",
];

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, out),
            false => out.push(path),
        }
    }
}

/// A file's modules from the crate's root: `check/load.rs` is `["check", "load"]`.
fn module(path: &Path) -> Vec<String> {
    let parts = path.with_extension("");
    let names = parts.iter().map(|part| part.to_string_lossy().into_owned());
    names.filter(|name| name != "mod" && name != "lib").collect()
}

/// Source without comments and literals.
fn plain(text: &str) -> String {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let (mut out, mut quoted, mut escaped) = (String::new(), false, false);
    for c in code.collect::<Vec<_>>().join("\n").replace("'\"'", "").chars() {
        if c == '"' && !escaped {
            quoted = !quoted;
        } else if !quoted {
            out.push(c);
        }
        escaped = quoted && c == '\\' && !escaped;
    }
    out
}

/// The paths that begin with `crate`, `self` or `super`, braces written out: `crate::{a, b::c}` is two of them.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    for (at, _) in
        code.match_indices("crate::").chain(code.match_indices("super::")).chain(code.match_indices("self::"))
    {
        let before = code[..at].chars().next_back();
        if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            branches(&code[at..], &mut Vec::new(), &mut out);
        }
    }
    out
}

/// Reads one path, or each within its braces; what is left of `code` after it.
fn branches<'a>(code: &'a str, before: &mut Vec<String>, out: &mut Vec<Vec<String>>) -> &'a str {
    let (length, mut code) = (before.len(), code.trim_start());
    loop {
        let end = code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len());
        before.push(code[..end].to_owned());
        code = &code[end..];
        let Some(next) = code.strip_prefix("::") else { break };
        code = next;
        if let Some(inner) = code.strip_prefix('{') {
            code = inner;
            while !code.trim_start().starts_with('}') {
                code = branches(code, before, out);
                code = code.trim_start().trim_start_matches(',');
            }
            code = &code.trim_start()[1..];
            before.truncate(length);
            return code;
        }
    }
    out.push(before.clone());
    before.truncate(length);
    // ` as other` is not part of the path.
    code.trim_start().strip_prefix("as ").map_or(code, |rest| &rest[rest.find([',', '}', ';']).unwrap_or(rest.len())..])
}

/// The stage that a path within `module` leads to; `None` for the crate's root.
fn stage(module: &[String], path: &[String]) -> Option<String> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let base = match path[0].as_str() {
        "crate" => &[][..],
        "self" => module,
        _ => &module[..module.len().saturating_sub(ups)],
    };
    let rest = &path[if ups > 0 { ups } else { 1 }..];
    base.iter().chain(rest).next().cloned()
}

/// Every import of one stage by another, with the file it is in.
fn imports() -> Vec<(String, String, String)> {
    let (src, mut files, mut out) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), Vec::new(), Vec::new());
    sources(&src, &mut files);
    for file in files {
        let within = file.strip_prefix(&src).unwrap();
        let (module, text) = (module(within), std::fs::read_to_string(&file).unwrap());
        let Some(from) = module.first() else { continue };
        for path in paths(&plain(&text)) {
            let to = stage(&module, &path).unwrap_or_else(|| "lib".into());
            if to != *from {
                out.push((from.clone(), to, format!("{}: {}", within.display(), path.join("::"))));
            }
        }
    }
    out
}

#[test]
fn a_stage_imports_only_those_before_it() {
    let place = |stage: &str| ORDER.iter().position(|name| *name == stage);
    let all = imports();
    let wrong: Vec<_> = all.iter().filter(|(from, to, _)| place(to).is_none() || place(to) >= place(from)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let known: BTreeSet<_> = all.iter().map(|(from, to, _)| (from.as_str(), to.as_str())).collect();
    assert!(known.contains(&("check", "resolve")) && known.contains(&("sweep", "scenario")), "{known:?}");
}

/// The order above is that of the list of modules.
#[test]
fn the_list_of_modules_is_in_order() {
    let lib = include_str!("../../src/lib.rs");
    let listed: Vec<_> = lib.lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert_eq!(listed, ORDER);
}

/// What the reader of imports makes of each way to write one.
#[test]
fn every_way_to_write_an_import_is_read() {
    let code = "use crate::{a::{b, c as d}, e};\nfn f() { super::super::g::h(1); crate::i::j() } // crate::k\n\"crate::l\" self::m";
    let found: Vec<_> = paths(&plain(code)).into_iter().map(|path| path.join("::")).collect();
    let expected =
        ["crate::a::b", "crate::a::c", "crate::e", "crate::i::j", "super::super::g::h", "super::g::h", "self::m"];
    assert!(
        expected.iter().filter(|path| **path != "super::g::h").all(|path| found.contains(&(*path).to_owned())),
        "{found:?}"
    );
    let here: Vec<_> = ["x", "y", "z"].map(str::to_owned).into();
    let to = |path: &str| stage(&here, &path.split("::").map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(to("crate::a::b").as_deref(), Some("a"));
    assert_eq!(to("super::w").as_deref(), Some("x"));
    assert_eq!(to("super::super::super::v").as_deref(), Some("v"));
    assert_eq!(to("super::super::super").as_deref(), None);
}
