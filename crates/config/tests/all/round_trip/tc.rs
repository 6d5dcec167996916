//! tc: what is drawn comes back, and a second export is the first.

use super::tc_draw::{INTERFACE, LINK, port};
use super::{canonical, differences, read, scenario};
use perhop_config::as_tc::{LinuxPort, port_of_sweep};
use perhop_config::import_options::ImportOptions;
use perhop_config::model::Port;
use perhop_config::tc::DIALECT;
use proptest::prelude::*;

/// A port as tc's text.
pub fn written(port: &Port) -> LinuxPort {
    let (stub, sweep) = scenario(port, LINK);
    let link = perhop_config::stub::LINK;
    port_of_sweep(&sweep, link, Some(INTERFACE)).unwrap_or_else(|error| panic!("{error}\n{}", stub.text))
}

/// Its commands, a line each.
pub fn text(port: &LinuxPort) -> String {
    port.commands.iter().map(|command| format!("{command}\n")).collect()
}

fn back(text: &str) -> Port {
    let read = read(&DIALECT, text, &ImportOptions::default());
    let [port] = read.device.ports.as_slice() else { panic!("{:?}\n{text}", read.device) };
    port.clone()
}

proptest! {
    // The number of cases is for `make test`; PROPTEST_CASES asks for others.
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 100, ..cases(500) })]

    #[test]
    fn what_is_written_is_read(port in port()) {
        let tc = written(&port);
        let text = text(&tc);
        prop_assert!(tc.lost.is_empty(), "{:#?}\n{text}", tc.lost);
        let (old, new) = (canonical::port(port.clone()), canonical::port(back(&text)));
        prop_assert_eq!(differences(&old.conditioners, &new.conditioners), "", "{}", text);
        prop_assert_eq!(differences(&old.queue, &new.queue), "", "{}", text);
        prop_assert_eq!(&old, &new, "{}", text);
        // A second export is the first.
        prop_assert_eq!(self::text(&written(&back(&text))), text);
    }
}

/// That many, unless PROPTEST_CASES says how many.
fn cases(many: u32) -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(many),
    }
}
