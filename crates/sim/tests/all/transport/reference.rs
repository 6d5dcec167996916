//! Reads the recorded results of ns-2 in `tests/reference/ns2` of the repository.

use flate2::read::GzDecoder;
use perhop_core::math::power_of_ten;
use std::io::Read;
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/ns2/results").join(name)
}

/// The text of a compressed file below `results/`, named without `.gz`.
pub(crate) fn text(name: &str) -> String {
    let path = file(&format!("{name}.gz"));
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    text
}

/// The rows of a compressed CSV file, without its head.
pub(crate) fn rows(name: &str) -> Vec<Vec<String>> {
    text(name).lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// A number as it was printed: its value and half a unit of its last digit.
pub(crate) struct Printed {
    pub value: f64,
    pub half_unit: f64,
}

impl Printed {
    pub(crate) fn new(text: &str) -> Self {
        let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len() as i32);
        Self { value: text.parse().unwrap(), half_unit: 0.5 * power_of_ten(-decimals) }
    }

    /// A double printed with this many digits, trailing zeros dropped by the script that read it.
    pub(crate) fn digits(text: &str, decimals: i32) -> Self {
        Self { value: text.parse().unwrap(), half_unit: 0.5 * power_of_ten(-decimals) }
    }

    /// Does the exact value round to this? 1 ns covers a float at the edge.
    pub(crate) fn is(&self, exact: f64) -> bool {
        (self.value - exact).abs() <= self.half_unit + 1e-9
    }
}
