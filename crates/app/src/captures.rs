//! Who reads the captures that a scenario's traffic replays.

use perhop_scenario::Options;
use perhop_scenario::text::options::Captures;

/// Files are read by perhop-capture.
#[cfg(not(target_family = "wasm"))]
pub fn reader() -> Captures {
    Captures::read_by(&perhop_capture::replay::Files)
}

/// Without files nothing reads captures.
#[cfg(target_family = "wasm")]
pub fn reader() -> Captures {
    Captures::default()
}

/// Options of a file whose captures are read so.
pub fn options(name: &str) -> Options {
    Options { captures: reader(), ..Options::new(name) }
}
