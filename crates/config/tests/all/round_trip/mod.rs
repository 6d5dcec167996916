//! Export and import: a device as a scenario, written back as the device's text, and read again.
//!
//! Equal up to names, which the writers choose, and the numbers of filters, of which the order counts. What else is equal although it
//! is said in other words stands in `canonical.rs`.

pub(crate) mod canonical;
mod ios;
mod ios_draw;
mod tc;
mod tc_defaults;
mod tc_draw;
mod tc_leaves;

use perhop_config::dialect::{Dialect, Read};
use perhop_config::import_options::ImportOptions;
use perhop_config::model::Port;
use perhop_config::stub::{Stub, stub};
use perhop_config::text::Text;
use perhop_core::params::Severity;
use perhop_core::units::BitRate;
use perhop_scenario::{Options, Sweep};

/// The scenario of a port, which has no error.
fn scenario(port: &Port, link: BitRate) -> (Stub, Sweep) {
    let stub = stub(port, link);
    match Sweep::parse(&stub.text, &Options::new("stub.toml")) {
        Ok((sweep, _)) => (stub, sweep),
        Err(found) => {
            let errors = found.list.iter().filter(|it| it.severity == Severity::Error);
            let errors: Vec<_> = errors.map(ToString::to_string).collect();
            panic!("{}\n{}", errors.join("\n"), stub.text)
        }
    }
}

/// What a dialect reads.
fn read(dialect: &Dialect, text: &str, given: &ImportOptions) -> Read {
    (dialect.read)(&Text::new(text.as_bytes()), given).unwrap_or_else(|fault| panic!("{fault:?}\n{text}"))
}

/// The lines in which two differ; empty if they are equal.
fn differences<T: PartialEq + std::fmt::Debug>(old: &T, new: &T) -> String {
    if old == new {
        return String::new();
    }
    let lines = |it: &T| format!("{it:#?}").lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let (old, new) = (lines(old), lines(new));
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let around = |it: &[String]| it[first.saturating_sub(60)..(first + 60).min(it.len())].join(" ");
    format!("drawn: {} read: {}", around(&old), around(&new))
}
