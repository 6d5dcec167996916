//! Diagnostic codes. Each has a page, a Markdown file beside the code that says it: `aqm/early/E215.md`.
//!
//! A page has the meaning as its title, then why, an example with what perhop says to it, the fix and the source.
//! `crates/cli/tests/all/codes.rs` runs the example and the fix of every page.

/// A diagnostic code. Codes are stable: a retired code is not reused.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// `W301`
    pub name: &'static str,
    /// Its page.
    pub page: &'static str,
    /// The file that lists it, and from there the folder of its page.
    pub place: [&'static str; 2],
}

impl Code {
    /// What it means: the title of its page.
    pub fn meaning(&self) -> &'static str {
        let title = self.page.lines().next().unwrap_or_default();
        title.split_once(": ").map_or(title, |(_, meaning)| meaning)
    }
}

/// The codes that a crate says, by the folder of their pages, which starts at the file of the list.
#[macro_export]
macro_rules! codes {
    ($($folder:literal: $($code:ident)+;)+) => {
        &[$($($crate::codes::Code {
            name: stringify!($code),
            page: include_str!(concat!($folder, "/", stringify!($code), ".md")),
            place: [file!(), $folder],
        },)+)+]
    };
}

/// Those of this crate.
pub const LIST: &[Code] = codes! {
    ".": E220 E221 E222 E281;
    "aqm/members": E280;
    "aqm/early": E214 E215 E218 E219 W316;
    "conditioner": E212 E213;
    "formula": E340 E341 E342 E343;
    "foreign": E207;
    "params": E003 E004 E005 E006 E103 E105 E106 E107 E108 E201 E202 E216;
    "port": E292;
    "sched": E223 E225 E227 E229 E284 E285 E286 E287 E290 W327;
    "sched/hfsc": E288 E289 W354 W359;
    "sched/htb": W324 W325 W326 W336 W341 W342;
};
