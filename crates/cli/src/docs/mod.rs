//! The generated part of docs/: pages from the declarations and the heads of the files.
//!
//! `make renew WHAT=docs` writes it; a test compares it with what is checked in.
//!
//! Decision: docs/decisions/003-parameters-declared-once.md

/// The table of equivalents.
mod dialects;

use perhop_app::codes;
use perhop_app::list::{LISTS, default};
use perhop_core::params::{Field, Kind};
use perhop_core::registry::Entry;
use perhop_results::captures;
use perhop_results::tables::{self, columns::Declared};
use perhop_scenario::{policy_schema, schema};
use serde_json::{Value, json};
use std::path::Path;

/// A list as the pages show it: heading, the key that names an algorithm in a file, where its files are.
struct Chapter {
    heading: &'static str,
    key: &'static str,
    folder: &'static str,
    entries: Vec<Entry>,
}

/// In the order of a packet's path; [`LISTS`] has the same lists under the names of the command line.
fn chapters() -> [Chapter; 5] {
    let [(_, conditioners), (_, aqms), (_, schedulers), (_, traffic), (_, laws)] = LISTS;
    let chapter =
        |heading, key, folder, entries: fn() -> Vec<Entry>| Chapter { heading, key, folder, entries: entries() };
    [
        chapter("Conditioners", "kind", "core/src/conditioner", conditioners),
        chapter("Active queue management", "aqm", "core/src/aqm", aqms),
        chapter("Schedulers", "scheduler", "core/src/sched", schedulers),
        chapter("Traffic models", "model", "sim/src/traffic", traffic),
        chapter("Laws of TCP's congestion window", "congestion", "sim/src/transport/congestion", laws),
    ]
}

/// A page of docs/ as it stands.
fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Where a page has the columns of a table: what follows, up to the end, is made from their declaration.
const BEGIN: &str = "<!-- columns of ";
const END: &str = "<!-- end of columns -->";

/// A page with the columns of its tables as they are declared.
fn with_columns(page: &str, tables: &[Declared]) -> String {
    let mut parts = page.split(BEGIN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").expect("the mark of a table ends");
        let after = rest.split_once(END).expect("a table has an end").1;
        let of = tables.iter().find(|of| of.name == name).unwrap_or_else(|| panic!("no table `{name}`"));
        out += &format!("{BEGIN}{name} -->\n\n{}\n{END}{after}", columns(of));
    }
    out
}

/// A row for columns that are one after the other and say the same.
fn columns(of: &Declared) -> String {
    let mut out = String::from("| column | unit | is |\n|---|---|---|\n");
    for alike in of.columns.chunk_by(|a, b| a.doc == b.doc) {
        let names: Vec<_> = alike.iter().map(|column| format!("`{}`", column.name)).collect();
        let mut units: Vec<_> = alike.iter().map(|column| column.unit.name()).collect();
        units.dedup();
        out += &format!("| {} | {} | {} |\n", names.join(", "), units.join(", "), alike[0].doc);
    }
    out
}

/// Every generated file: its path under docs/, its text.
pub fn files() -> Vec<(String, String)> {
    let chapters = chapters();
    let mut files = vec![
        ("reference/algorithms/index.md".to_owned(), index(&chapters)),
        ("reference/diagnostics.md".to_owned(), codes::index()),
        ("reference/dialects.md".to_owned(), dialects::page()),
        ("reference/scenario.schema.json".to_owned(), laid_out(&schema(), 0, 0) + "\n"),
        ("reference/policy.schema.json".to_owned(), laid_out(&policy_schema(), 0, 0) + "\n"),
    ];
    for (name, tables) in
        [("reference/results.md", tables::declared()), ("reference/captures.md", captures::declared())]
    {
        files.push((name.to_owned(), with_columns(&text(name), tables)));
    }
    for chapter in &chapters {
        let of = |e| (format!("reference/algorithms/{}.md", page_name(&chapters, chapter, e)), page(chapter, e));
        files.extend(chapter.entries.iter().map(of));
    }
    files
}

/// On one line if that has room behind `before` bytes; otherwise a key or an entry a line.
fn laid_out(value: &Value, depth: usize, before: usize) -> String {
    let whole = value.to_string();
    let indent = " ".repeat(depth);
    if before + whole.len() < 120 {
        return whole;
    }
    let inside = |key: &str, it: &Value| format!("\n {indent}{key}{}", laid_out(it, depth + 1, depth + 1 + key.len()));
    match value {
        Value::Object(map) => {
            let lines: Vec<_> = map.iter().map(|(key, it)| inside(&format!("{}: ", json!(key)), it)).collect();
            format!("{{{}\n{indent}}}", lines.join(","))
        }
        Value::Array(all) => {
            let lines: Vec<_> = all.iter().map(|it| inside("", it)).collect();
            format!("[{}\n{indent}]", lines.join(","))
        }
        _ => whole,
    }
}

/// What an algorithm's page is called: as the algorithm, with its key before that where two lists have the name.
fn page_name(chapters: &[Chapter], of: &Chapter, entry: &Entry) -> String {
    let shared =
        chapters.iter().flat_map(|chapter| &chapter.entries).filter(|other| other.name == entry.name).count() > 1;
    if shared { format!("{}-{}", of.key, entry.name) } else { entry.name.to_owned() }
}

fn index(chapters: &[Chapter]) -> String {
    let mut out = String::from(
        "# Algorithms\n\nEach algorithm has a page, generated from the head of its source file and the declaration of its parameters \
         (`make renew WHAT=docs`). `perhop list NAME` prints the same on a terminal.\n",
    );
    for chapter in chapters {
        let Chapter { heading, key, entries, .. } = chapter;
        out += &format!("\n## {heading}\n\n| `{key}` | |\n|---|---|\n");
        let row =
            |e: &Entry| format!("| [`{}`]({}.md) | {} |\n", e.name, page_name(chapters, chapter, e), e.summary.trim());
        out += &entries.iter().map(row).collect::<String>();
    }
    out
}

fn page(chapter: &Chapter, entry: &Entry) -> String {
    let Chapter { key, folder, .. } = chapter;
    let name = entry.name;
    let krate = &folder[..folder.find('/').expect("crate/src/...")];
    let mut out = format!("# `{name}`\n\n{}\n", linked(&entry.page(), krate).trim_end());
    out += &format!("\n## In a file\n\n`{key} = \"{name}\"`");
    out += if entry.fields.is_empty() { ", without parameters.\n" } else { " with\n\n" };
    if !entry.fields.is_empty() {
        out += "| key | meaning | value | default |\n|---|---|---|---|\n";
        entry.parameters().iter().for_each(|(name, field)| out += &row(name, field));
    }
    let example = if ["model", "congestion"].contains(key) {
        ""
    } else {
        &format!("Example: [examples/{name}.toml](../../../examples/{name}.toml). ")
    };
    let file = format!("crates/{folder}/{}", entry.file);
    out + &format!("\n{example}Source: [{file}](../../../{file}).\n")
}

fn row(name: &str, field: &Field) -> String {
    let absent = match (field.default, default(field)) {
        (Some(_), text) => format!("`{}`", text.trim_start_matches("default ").trim_matches('"')),
        (None, text) => text,
    };
    let value = match field.kind {
        Kind::Choice(names) => names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
        kind => kind.noun(),
    };
    format!("| `{name}` | {} | {value} | {absent} |\n", field.doc.replace('|', "\\|"))
}

/// A head's links to modules, as links to their files.
fn linked(page: &str, krate: &str) -> String {
    let page = decided(page);
    let mut parts = page.split("[`crate::");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (path, rest) = part.split_once("`]").expect("a link ends");
        out += &format!("[`{path}`](../../../crates/{krate}/src/{}.rs){rest}", path.replace("::", "/"));
    }
    out
}

/// A head's decisions, as links to their pages.
fn decided(page: &str) -> String {
    let mut parts = page.split("docs/decisions/");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(".md").expect("a decision is a page");
        out += &format!("[{name}](../../decisions/{name}.md){rest}");
    }
    out
}
