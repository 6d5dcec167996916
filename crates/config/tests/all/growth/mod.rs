//! The memory that the check of a configuration takes grows as its text does: at n, 4 n and 16 n.
//!
//! `crates/cli/tests/all/growth.rs` counts the instructions of the same texts.

mod texts;

use perhop_config::import::read;
use perhop_config::import_options::ImportOptions;
use perhop_core::units::BitRate;
use perhop_scenario::{Document, Options};

/// Reads a text, and checks the scenario of each of its ports.
fn check(text: &str) {
    let given = ImportOptions { link: Some(BitRate::mbps(1000)), ..ImportOptions::default() };
    let Ok(mut imported) = read(text.as_bytes(), None, &given) else { return };
    let findings = imported.findings(&given);
    for port in imported.ports(&given).unwrap_or_default() {
        imported.port = port;
        if let Ok(stub) = imported.stub(&given, None) {
            let _ = Document::check(&stub.draft.made(<_>::default()), &Options::new("stub.toml"));
        }
    }
    drop(findings);
}

#[test]
fn memory() {
    texts::refuse_growth("bytes", &[], |text| allocation_counter::measure(|| check(text)).bytes_max as f64);
}
