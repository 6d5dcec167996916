//! Parts of a script of which only one is run: branches of `if`, and what a function or a branch of `case` called `stop` removes.

/// Where a line of a script is.
#[derive(Debug, Default)]
pub(in crate::tc) struct Part {
    /// Behind `else` or `elif`.
    pub(in crate::tc) other: bool,
    /// In a function, or in a branch of `case`, that takes away: its name.
    pub(in crate::tc) stop: Option<String>,
}

/// Names of what takes away.
const STOPS: &str = "stop|clear|clean|cleanup|flush|remove|delete|del|down|off|kill|disable|teardown|clear_all";

impl Part {
    /// Another line.
    pub(in crate::tc) fn line(&mut self, text: &str) {
        let first = text.split_whitespace().next().unwrap_or_default();
        self.word(first);
        if matches!(first, "}" | "esac") || text.trim_end().ends_with(";;") && !first.ends_with(')') {
            self.stop = None;
        }
        if let Some(name) = called(text) {
            self.stop = stops(name).then(|| name.to_owned());
        }
    }

    /// The first word of a command.
    pub(in crate::tc) fn word(&mut self, word: &str) {
        match word.trim_end_matches(';') {
            "else" | "elif" => self.other = true,
            "fi" => self.other = false,
            _ => {}
        }
    }
}

/// The name of the function, or the pattern of `case`, that a line begins: `stop() {`, `function stop {`, `stop)`.
fn called(text: &str) -> Option<&str> {
    let first = text.split_whitespace().next()?;
    if first == "function" {
        return text.split_whitespace().nth(1).map(|name| name.trim_end_matches(['(', ')', '{']));
    }
    let (name, rest) = text.split_at(text.find(['(', ')'])?);
    let pattern = rest.starts_with(')');
    let function = rest.strip_prefix('(').is_some_and(|rest| rest.trim_start().starts_with(')'));
    let name = name.trim_matches([' ', '"', '\'']);
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '|' | '*');
    ((function || pattern) && !name.is_empty() && name.chars().all(plain)).then_some(name)
}

fn stops(name: &str) -> bool {
    name.to_ascii_lowercase().split(['_', '-', '|']).any(|part| STOPS.split('|').any(|stop| stop == part))
}
