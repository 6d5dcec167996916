//! IOS: what is drawn comes back, and a second export says the same as the first.

use super::ios_draw::{INTERFACE, LINK, port};
use super::{canonical, differences, read, scenario};
use perhop_config::given::Given;
use perhop_config::ios::DIALECT;
use perhop_config::model::Port;
use perhop_scenario::as_ios::{self, Ios};
use proptest::prelude::*;

/// A port as IOS's text.
fn written(port: &Port) -> Ios {
    let (stub, sweep) = scenario(port, LINK);
    let link = perhop_config::stub::LINK;
    as_ios::of_sweep(&sweep, Some(link), Some(INTERFACE)).unwrap_or_else(|error| panic!("{error}\n{}", stub.text))
}

fn back(ios: &Ios) -> Port {
    let read = read(&DIALECT, &ios.text(), &Given::default());
    let [port] = read.device.ports.as_slice() else { panic!("{:?}\n{}", read.device, ios.text()) };
    port.clone()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn what_is_written_is_read(port in port()) {
        let ios = written(&port);
        prop_assert!(ios.lost.is_empty(), "{:#?}\n{}", ios.lost, ios.text());
        let (old, new) = (canonical::port(port.clone()), canonical::port(back(&ios)));
        prop_assert_eq!(differences(&old.conditioners, &new.conditioners), "", "{}", ios.text());
        prop_assert_eq!(differences(&old.queue, &new.queue), "", "{}", ios.text());
        prop_assert_eq!(&old, &new, "{}", ios.text());
    }

    #[test]
    fn a_second_export_is_the_first(port in port()) {
        let first = written(&port);
        let second = written(&back(&first));
        prop_assert_eq!(first.lines, second.lines);
    }
}
