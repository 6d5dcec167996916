//! IOS: what is drawn comes back, and a second export says the same as the first.

use super::ios_draw::{INTERFACE, LINK, port};
use super::{canonical, differences, read, scenario};
use perhop_config::given::{Given, Platform};
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

/// Texts that leave what they can to the device.
const SHORT: [&str; 6] = [
    "policy-map P
 class class-default
  shape average 10000000
",
    "class-map match-all V
 match dscp ef
class-map match-any D
 match dscp af31 af32
 match dscp af33
policy-map CHILD
 class V
  priority 1000
 class D
  bandwidth remaining percent 70
  random-detect dscp-based
policy-map P
 class class-default
  shape average 20000000
  service-policy CHILD
",
    "class-map A
 match ip precedence 3
class-map B
 match access-group name WEB
ip access-list extended WEB
 permit tcp any any eq www
 permit udp any range 5000 5003 any
policy-map P
 class A
  police 1000000 conform-action transmit exceed-action set-dscp-transmit af32 violate-action drop
 class B
  police cir 500000 pir 900000
 class class-default
  set dscp default
",
    "class-map match-all V
 match dscp ef
policy-map P
 class V
  priority percent 10
  police cir percent 5
 class class-default
  fair-queue
",
    "class-map match-all V
 match dscp ef
class-map match-all W
 match dscp cs6
policy-map P
 class V
  priority level 1
  police cir 2000000
 class W
  priority level 2
 class class-default
  random-detect
  random-detect precedence 0 10 20
",
    "class-map match-any G
 match dscp af11 af12 af13
policy-map P
 class G
  bandwidth percent 30
  queue-limit 100
  random-detect dscp-based
  random-detect dscp af13 10 20
  random-detect ecn
 class class-default
  bandwidth percent 60
  shape average percent 50
",
];

/// What a device assumes is written out, and means the same.
#[test]
fn defaults_written_out_are_defaults_left_away() {
    for platform in Platform::NAMED.map(|it| it.1) {
        for short in SHORT {
            let text = format!("{short}interface {INTERFACE}\n service-policy output P\n");
            let given = Given { platform, ..Given::default() };
            let [old] = <[Port; 1]>::try_from(read(&DIALECT, &text, &given).device.ports).unwrap();
            let ios = written(&old);
            assert!(ios.lost.is_empty(), "{short}{:#?}", ios.lost);
            let new = canonical::port(back(&ios));
            assert_eq!(differences(&canonical::port(old), &new), "", "{platform:?}\n{text}\n{}", ios.text());
        }
    }
}
