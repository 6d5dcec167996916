//! How a text is read.

use perhop_scenario::Options;

/// Overrides (`KEY=VALUE`) and axes (`KEY=A,B,C`) for the text of `file_name`.
pub fn options(file_name: &str, overrides: &[String], vary: &[String]) -> Options {
    let options = overrides.iter().fold(Options::new(file_name), |options, text| options.set(text));
    vary.iter().fold(options, |options, text| options.vary(text))
}
