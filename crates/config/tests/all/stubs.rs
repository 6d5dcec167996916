//! Stubs: whatever a device is told, the scenario made of it has no error.

use perhop_config::generate::{LINK, port};
use perhop_config::stub::stub;
use perhop_core::params::{Problems, Severity};
use perhop_scenario::text::toml;
use perhop_scenario::{Diagnostics, Options, Sweep};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_port_is_a_sound_scenario(port in port()) {
        let stub = stub(&port, LINK);
        let read = Sweep::parse(&stub.text, &Options::new("stub.toml"));
        prop_assert!(read.is_ok(), "{}\n{}", errors(&read.err().unwrap()), stub.text);
        let printed = toml::parse(&stub.text, 0, &mut Problems::default()).map(|root| root.tree.to_string());
        let checked = stub.draft.made(<_>::default()).root.tree.to_string();
        prop_assert_eq!(printed, Some(checked));
    }
}

fn errors(found: &Diagnostics) -> String {
    let errors = found.list.iter().filter(|it| it.severity == Severity::Error);
    errors.map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
