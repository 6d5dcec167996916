//! Diagnostic codes of all crates: what `list` prints of them, and their page in docs/.

use perhop_core::codes::Code;
use std::path::{Path, PathBuf};

/// Those of the command line itself.
const OWN: &[Code] = perhop_core::codes! {
    ".": E020 E021 E022 E024 E025 E026 E030 E031 W310 W323;
};

/// Those of runs on disk.
#[cfg(not(target_family = "wasm"))]
const OF_RUNS: &[Code] = perhop_runs::codes::LIST;
/// There are no runs without a disk.
#[cfg(target_family = "wasm")]
const OF_RUNS: &[Code] = &[];

/// Every code, in order.
pub fn all() -> Vec<&'static Code> {
    let lists = [perhop_core::codes::LIST, perhop_sim::traffic::codes::LIST, perhop_scenario::codes::LIST];
    let others = [perhop_results::codes::LIST, OF_RUNS, perhop_config::codes::LIST, OWN];
    let mut all: Vec<_> = lists.into_iter().chain(others).flatten().collect();
    all.sort_by_key(|code| code.name);
    all
}

/// The file of a page, in the checkout.
pub fn path(code: &Code) -> PathBuf {
    let [list, folder] = code.place;
    Path::new(list).with_file_name(folder).join(code.name).with_extension("md").components().collect()
}

/// A page as a terminal shows it: without `#` and fences; what was between fences is indented.
pub fn plain(code: &Code) -> String {
    let mut fenced = false;
    let line = |line: &str| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        let indent = if fenced && !line.is_empty() { "    " } else { "" };
        (!fence).then(|| format!("{indent}{}", if fenced { line } else { line.trim_start_matches(['#', ' ']) }))
    };
    code.page.trim_end().lines().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// `docs/reference/diagnostics.md`.
pub fn index() -> String {
    let mut out = String::from(
        "# Diagnostics\n\nWhat `perhop check` and every command that reads a file may report. `E` is an error and \
         prevents a run, `W` is a\nwarning. Codes are stable. All errors of a file come in one pass. Warnings that need \
         the whole scenario, such as W302\nand W321, come only if there are no errors.\n\nEach code has a page: why, an \
         example, the fix, the source. `perhop list W301` prints it. The pages are beside the code\nthat reports them. A \
         test runs every example and every fix.\n\n| code | meaning |\n|------|---------|\n",
    );
    for code in all() {
        out += &format!("| [{}](../../{}) | {} |\n", code.name, path(code).display(), code.meaning());
    }
    out
}
