//! A build without QUIC: `cargo test -p perhop-scenario --no-default-features --test without_quic`.

#![cfg(not(feature = "quic"))]

use perhop_scenario::{Options, Scenario};

#[test]
fn quic_needs_its_feature() {
    let text = "[links]\n\"a - b\" = { rate = \"10Mbit/s\" }\n\n[traffic.pages]\nmodel = \"quic\"\nsize = \"50kB\"\n\
                gap = \"2s\"\nfrom = \"a\"\nto = \"b\"\n";
    let said = Scenario::parse(text, &Options::new("x.toml")).unwrap_err().to_string();
    assert!(said.contains("error[E265]") && said.contains("--features quic"), "{said}");
}
