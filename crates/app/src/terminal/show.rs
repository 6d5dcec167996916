//! What the command line prints, and whether it arrived. All of it passes here, and leaves without a character that would steer the
//! terminal, in JSON as in words: names of files and of what they hold may have them.
//!
//! Decision: docs/decisions/077-lost-output-is-an-error.md

use crate::Failure;
use crate::request::run as request;
use perhop_core::params::escaped_but;
use perhop_scenario::Diagnostic;
use std::collections::VecDeque;
use std::fmt::Arguments;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Moves a terminal's cursor to its first place, and clears the screen from there.
const CLEAR: &str = "\x1b[H\x1b[J";

/// What was said last on standard error: a page clears it away and says it again.
static ASIDE: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// Most of it that is said again.
const MOST: usize = 4;

/// Why something printed did not arrive; the first time.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);

/// Sets when to use colour.
pub fn colour(choice: clap::ColorChoice) {
    let choice = match choice {
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// Variables of the environment, to set or to remove, under which another process uses colour as this one was told to.
pub fn colour_variables() -> &'static [(&'static str, Option<&'static str>)] {
    match anstream::ColorChoice::global() {
        anstream::ColorChoice::Auto => &[],
        anstream::ColorChoice::Never => &[("NO_COLOR", Some("1"))],
        _ => &[("NO_COLOR", None), ("CLICOLOR", None), ("CLICOLOR_FORCE", Some("1"))],
    }
}

/// A line on standard output. A reader that has gone away ends the printing, not the program; that nothing more can be
/// written for another reason is kept for [`lost`].
pub fn line(words: Arguments<'_>) {
    let mut out = io::stdout().lock();
    keep(writeln!(out, "{}", harmless(&words.to_string())).and_then(|()| out.flush()));
}

/// As [`line`], of words in colour: a terminal that wants none gets none.
pub fn coloured(words: Arguments<'_>) {
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    keep(writeln!(out, "{}", in_colour(&words.to_string())).and_then(|()| out.flush()));
}

/// Keeps why output was lost.
pub fn keep(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        LOST.lock().expect("no panic in here").get_or_insert(error);
    }
}

/// Why output was lost since the last call, if any was.
pub fn lost() -> Option<Diagnostic> {
    let error = LOST.lock().expect("no panic in here").take()?;
    let help = "free some space, or send the output elsewhere; results already written are complete";
    Some(Diagnostic::error("E020", format!("cannot write to standard output: {error}"), help))
}

/// Whether all output arrived; says why if it did not.
pub fn printed() -> bool {
    lost().map(|error| complain!("{error:#}")).is_none()
}

/// A line on standard error, in colour if it is a terminal that wants it; there is nowhere to say that it did not arrive.
pub fn aside(words: Arguments<'_>) {
    let words = in_colour(&words.to_string());
    let _ = writeln!(anstream::AutoStream::auto(io::stderr().lock()), "{words}");
    let mut said = ASIDE.lock().unwrap_or_else(PoisonError::into_inner);
    said.push_back(words);
    if said.len() > MOST {
        said.pop_front();
    }
}

/// A page on standard error in place of the one before, with what was said last below it. Where standard error is no terminal,
/// plain lines below the page before.
pub fn page(words: &str) {
    let mut out = io::stderr().lock();
    let mut said = ASIDE.lock().unwrap_or_else(PoisonError::into_inner);
    let (clear, below) = around(out.is_terminal(), said.make_contiguous());
    // Also a terminal that wants no colours is cleared.
    let _ = out.write_all(clear.as_bytes());
    let _ = writeln!(anstream::AutoStream::auto(out), "{}{below}", harmless(words));
}

/// What stands before and behind a page.
fn around(is_terminal: bool, said: &[String]) -> (&'static str, String) {
    if is_terminal { (CLEAR, said.iter().map(|line| format!("\n{line}")).collect()) } else { ("", String::new()) }
}

/// With an escape for each character that steers a terminal, but for ends of lines and tabs. In JSON it means the same.
pub fn harmless(text: &str) -> String {
    escaped_but(&text.replace("\r\n", "\n"), |c| matches!(c, '\n' | '\t')).into_owned()
}

/// A text without its colours.
pub fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// As [`harmless`], with colours.
fn in_colour(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = harmless(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        let is_colour = part[end..].starts_with('m');
        out += if is_colour { "\u{1b}[" } else { "\\u001b[" };
        out += &harmless(part);
    }
    out
}

/// A path as text, where it becomes part of JSON.
///
/// # Errors
/// It is not UTF-8.
pub fn text(path: &Path) -> Result<&str, Failure> {
    Ok(request::text(path)?)
}

/// Prints to standard output.
macro_rules! say {
    ($($arg:tt)*) => { $crate::terminal::show::line(format_args!($($arg)*)) };
}

/// Prints to standard error.
macro_rules! complain {
    ($($arg:tt)*) => { $crate::terminal::show::aside(format_args!($($arg)*)) };
}

pub(crate) use {complain, say};

#[cfg(test)]
mod tests {
    use super::{CLEAR, around, harmless, in_colour};

    #[test]
    fn only_colours_steer_a_terminal() {
        let text = "\u{1b}[1m\u{1b}[31merror\u{1b}[0m a\u{9b}\u{1b}[2J\u{1b}]0;x\u{7}\u{202e}\r\tb\r\nc\n";
        let end = "\\u001b]0;x\\u0007\\u202e\\u000d\tb\nc\n";
        let colours = "\u{1b}[1m\u{1b}[31merror\u{1b}[0m a\\u009b\\u001b[2J";
        assert_eq!(in_colour(text), format!("{colours}{end}"));
        assert_eq!(harmless(text), format!("{}{end}", colours.replace('\u{1b}', "\\u001b")));
    }
    #[test]
    fn a_page_clears_a_terminal_and_says_again_what_it_clears() {
        let said = ["warning: 3 frames lost".to_owned()];
        assert_eq!(around(true, &said), (CLEAR, "\nwarning: 3 frames lost".to_owned()));
        assert_eq!(around(false, &said), ("", String::new()));
    }
}
