//! `mark` and `meter` for Python.

use crate::args::{Cli, Verb};
use crate::mark::{Asker, json, marked};
use crate::meter::Metering;
use crate::tune::reason;
use crate::{Failure, places};
use clap::Parser;
use std::cell::RefCell;
use std::ffi::OsString;
use std::sync::atomic::AtomicBool;

/// What `--json` prints of a capture, and what the policy was warned of.
pub type Captured = (Vec<String>, Vec<String>);

/// What `perhop mark --json` or `perhop meter --json` says, from the verb and its arguments. It ends when `interrupted` becomes
/// true.
///
/// # Errors
/// What is wrong with them or with a capture, in words.
pub fn captured(args: impl IntoIterator<Item = OsString>, interrupted: &AtomicBool) -> Result<Captured, String> {
    let words = [OsString::from("perhop")].into_iter().chain(args);
    let cli = Cli::try_parse_from(words).map_err(|error| reason(&error.to_string()))?;
    let warnings = RefCell::new(Vec::new());
    let warn = |warning: &str| warnings.borrow_mut().push(anstream::adapter::strip_str(warning).to_string());
    let found = said(&cli.verb, Asker { interrupted, warn: &warn }).map_err(Failure::plain)?;
    Ok((found, warnings.take()))
}

fn said(verb: &Verb, asker: Asker<'_>) -> Result<Vec<String>, Failure> {
    places::check(verb)?;
    let mut texts = Vec::new();
    match verb {
        Verb::Mark(args) => texts.push(json(&marked(args, asker)?)?),
        Verb::Meter(args) => drop(Metering::new(args, asker)?.all(&mut |text| texts.push(text), &mut Err)?),
        _ => return Err(Failure::Error("neither `mark` nor `meter`".into())),
    }
    Ok(texts)
}
