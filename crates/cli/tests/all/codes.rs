//! Every diagnostic code has a page beside the code that says it. Its example gives the code, the fix does not.
//! `make renew WHAT=codes` writes again what perhop says to the examples.

use perhop_app::codes::{all, path};
use perhop_core::codes::Code;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// No file gives these: their pages say how they come about, and name the test that shows it.
const WITHOUT_EXAMPLE: [&str; 5] = ["E031", "E207", "E218", "E265", "E900"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The paragraphs below a heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let after = page.split_once(&format!("\n## {heading}\n")).map_or("", |parts| parts.1);
    after.split("\n## ").next().unwrap_or_default().trim()
}

/// The blocks of a section that are fenced as `language`.
fn blocks<'a>(section: &'a str, language: &str) -> impl Iterator<Item = &'a str> {
    let fence = format!("```{language}\n");
    let starts: Vec<_> = section.match_indices(&fence).map(|(at, _)| at + fence.len()).collect();
    starts.into_iter().map(|start| section[start..].split("```").next().unwrap_or_default())
}

fn first<'a>(section: &'a str, language: &str) -> &'a str {
    blocks(section, language).next().unwrap_or_default()
}

/// What an example is written in, which is also the ending of its file: a scenario, or a device's configuration.
const LANGUAGES: [&str; 3] = ["toml", "tc", "ios"];

/// The language of a section's first example, and the example; a page whose commands need no file has none.
fn written(section: &str) -> (&'static str, &str) {
    let found = LANGUAGES.into_iter().map(|language| (language, first(section, language)));
    found.into_iter().find(|(_, text)| !text.is_empty()).unwrap_or(("toml", ""))
}

fn commands(section: &str) -> Vec<&str> {
    blocks(section, "console").flat_map(str::lines).filter_map(|line| line.strip_prefix("$ ")).collect()
}

/// A folder with the file of an example, and what a reader sees who gives commands there.
struct Session {
    folder: tempfile::TempDir,
    screen: String,
    succeeded: bool,
}

impl Session {
    fn new(language: &str, file: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(format!("example.{language}")), file).unwrap();
        Self { folder, screen: String::new(), succeeded: true }
    }

    fn then(mut self, commands: &[&str]) -> Self {
        (self.screen, self.succeeded) = (String::new(), true);
        commands.iter().for_each(|command| self.step(command));
        self
    }

    fn step(&mut self, command: &str) {
        let bin = Path::new(env!("CARGO_BIN_EXE_perhop")).parent().unwrap();
        let path = std::env::join_paths([bin, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec 2>&1; {command}")]).env("PATH", path).current_dir(self.folder.path());
        let out = shell.output().unwrap();
        self.succeeded &= out.status.success();
        let said = String::from_utf8_lossy(&out.stdout);
        let end = if said.is_empty() { "" } else { "\n" };
        self.screen += &format!("$ {command}\n{}{end}", said.trim_end());
    }

    /// The codes on the screen.
    fn codes(&self) -> BTreeSet<&str> {
        let parts = self.screen.split(['[', ']']);
        parts.filter(|part| all().iter().any(|code| code.name == *part)).collect()
    }
}

/// The example with the changes of a fix: of each block of `-` and `+` lines the first are replaced by the second; lines
/// without either say where.
fn patched(example: &str, fix: &str, place: &str) -> String {
    let mut out = example.to_owned();
    for hunk in blocks(fix, "diff").flat_map(|block| block.trim_end().split("\n\n")) {
        let side = |other: char| -> String {
            let lines = hunk.lines().filter(|line| !line.starts_with(other));
            lines.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
        };
        let (old, new) = (side('+'), side('-'));
        assert_eq!(out.matches(&old).count(), 1, "{place}: the example has once:\n{old}");
        out = out.replacen(&old, &new, 1);
    }
    out
}

/// An example gives its code and no other; returned is its page with what perhop says to it.
fn example(code: &Code, page: &str, place: &str) -> String {
    let part = section(page, "Example");
    let (language, file) = written(part);
    let session = Session::new(language, file).then(&commands(part));
    assert_eq!(session.codes(), BTreeSet::from([code.name]), "{place}:\n{}", session.screen);
    let shown = first(part, "console");
    page.replacen(&format!("```console\n{shown}```"), &format!("```console\n{}```", session.screen), 1)
}

/// A fix changes the file, or its commands follow those of the example. Then there is no diagnostic.
fn fixed(page: &str, place: &str) {
    let (before, fix) = (section(page, "Example"), section(page, "Fix"));
    let ((language, file), steps) = (written(before), commands(fix));
    let session = match steps.is_empty() {
        true => Session::new(language, &patched(file, fix, place)).then(&commands(before)),
        false => Session::new(language, file).then(&commands(before)).then(&steps),
    };
    assert!(session.codes().is_empty() && session.succeeded, "{place}: fixed:\n{}", session.screen);
}

#[test]
fn each_example_gives_its_code_and_each_fix_removes_it() {
    let mut differing = Vec::new();
    for code in all().into_iter().filter(|code| !WITHOUT_EXAMPLE.contains(&code.name)) {
        let (file, place) = (root().join(path(code)), path(code).display().to_string());
        let page = text(&file);
        let made = example(code, &page, &place);
        fixed(&page, &place);
        if std::env::var_os("PERHOP_RENEW").is_some() {
            std::fs::write(&file, &made).unwrap();
        } else if made != page {
            differing.push(format!("{place}:\n{made}"));
        }
    }
    assert!(differing.is_empty(), "{}\nif that is intended: make renew WHAT=codes", differing.join("\n"));
}

#[test]
fn each_page_has_its_parts() {
    for code in all() {
        let (page, place) = (code.page, path(code).display().to_string());
        assert!(page.starts_with(&format!("# {}: ", code.name)), "{place}: its title");
        let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, ["Example", "Fix", "Source"], "{place}");
        let why = page.lines().skip(1).take_while(|line| !line.starts_with('#')).collect::<String>();
        assert!(why.len() > 50, "{place}: why?");
        assert!(headings.iter().all(|heading| !section(page, heading).is_empty()), "{place}");
        let own = page.split("```").filter(|part| !part.starts_with("console"));
        let wide: Vec<_> = own.flat_map(str::lines).filter(|line| line.chars().count() > 100).collect();
        assert!(wide.is_empty(), "{place}: at most 100 columns: {wide:?}");
    }
}

/// `crates/x/tests/y.rs` (`name`)
#[test]
fn what_no_file_gives_is_shown_by_a_test() {
    for code in all().into_iter().filter(|code| WITHOUT_EXAMPLE.contains(&code.name)) {
        let part = section(code.page, "Example");
        let mut quoted = part.split('`').skip(1).step_by(2);
        let is_file = |word: &&str| word.ends_with(".rs") || word.ends_with(".py");
        let file = quoted.find(is_file).unwrap_or_else(|| panic!("{}: no test", code.name));
        let (test, word) = (quoted.next().unwrap_or_default(), if file.ends_with(".rs") { "fn" } else { "def" });
        assert!(text(&root().join(file)).contains(&format!("{word} {test}(")), "{}: `{test}` in {file}", code.name);
    }
}

/// Codes in quotes or, within a message, in brackets, as in a source file.
fn said(source: &str) -> impl Iterator<Item = &str> {
    let code =
        |part: &&str| part.len() == 4 && part.starts_with(['E', 'W']) && part[1..].bytes().all(|b| b.is_ascii_digit());
    source.split(['"', '[', ']']).filter(code)
}

/// The sources below a folder.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if !path.ends_with("target") => sources(&path, out),
            _ if path.extension().is_some_and(|extension| extension == "rs") => out.push(path),
            _ => {}
        }
    }
}

#[test]
fn the_lists_hold_every_code_that_is_said_and_no_other() {
    let (mut files, mut by_code) = (Vec::new(), BTreeMap::<String, Vec<PathBuf>>::new());
    sources(&root().join("crates"), &mut files);
    for file in files {
        for code in said(&text(&file)) {
            by_code.entry(code.to_owned()).or_default().push(file.clone());
        }
    }
    let listed: Vec<_> = all().iter().map(|code| code.name).collect();
    assert_eq!(by_code.keys().collect::<Vec<_>>(), listed);
    for code in all() {
        let page = root().join(path(code));
        let beside = |file: &PathBuf| file.starts_with(page.parent().unwrap());
        assert!(by_code[code.name].iter().any(beside), "{}: nothing there says {}", page.display(), code.name);
    }
}
