//! IOS: what is drawn comes back, and a second export says the same as the first.

use super::ios_draw::{INTERFACE, LINK, port};
use super::{canonical, differences, read, scenario};
use perhop_config::as_ios::{self, Ios, Target};
use perhop_config::import_options::{ImportOptions, Platform};
use perhop_config::ios::{DIALECT, defaults};
use perhop_config::model::Port;
use perhop_core::units::Bytes;
use proptest::prelude::*;

/// A port as a platform's text.
fn written(port: &Port, platform: Platform) -> Ios {
    at(port, platform, INTERFACE)
}

/// The same at an interface.
fn at(port: &Port, platform: Platform, interface: &str) -> Ios {
    let (stub, sweep) = scenario(port, LINK);
    let (interval, _) = defaults::interval(platform);
    let asked = Target { port: Some(perhop_config::stub::LINK), device: Some(interface), interval };
    as_ios::of_sweep(&sweep, asked).unwrap_or_else(|error| panic!("{error}\n{}", stub.text))
}

fn back(ios: &Ios, platform: Platform) -> Port {
    let read = read(&DIALECT, &ios.text(), &ImportOptions { platform, ..ImportOptions::default() });
    let [port] = read.device.ports.as_slice() else { panic!("{:?}\n{}", read.device, ios.text()) };
    port.clone()
}

fn platform() -> impl Strategy<Value = Platform> {
    prop::sample::select(Platform::NAMED.map(|it| it.1).to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn what_is_written_is_read(port in port(), platform in platform()) {
        let ios = written(&port, platform);
        prop_assert!(ios.lost.is_empty(), "{:#?}\n{}", ios.lost, ios.text());
        let (old, new) = (canonical::port(port.clone()), canonical::port(back(&ios, platform)));
        prop_assert_eq!(differences(&old.conditioners, &new.conditioners), "", "{}", ios.text());
        prop_assert_eq!(differences(&old.queue, &new.queue), "", "{}", ios.text());
        prop_assert_eq!(&old, &new, "{}", ios.text());
    }

    #[test]
    fn a_second_export_is_the_first(port in port(), platform in platform()) {
        let first = written(&port, platform);
        let second = written(&back(&first, platform), platform);
        prop_assert_eq!(first.lines, second.lines);
    }
}

/// A shaper that only holds a faster interface has the burst of the platform's own: Bc as it assumes it, and no Be.
#[test]
fn an_added_shaper_has_the_platforms_burst() {
    for (name, platform) in Platform::NAMED {
        let text = format!("policy-map P\n class class-default\n  fair-queue\n{}", at_interface("P"));
        let given = ImportOptions { platform, ..ImportOptions::default() };
        let [old] = <[Port; 1]>::try_from(read(&DIALECT, &text, &given).device.ports).unwrap();
        let held = back(&at(&old, platform, "Tunnel0"), platform).queue.unwrap().shape;
        let assumed = Bytes::new(defaults::shape_bits(platform, LINK).0 / 8);
        assert_eq!((held.rate("rate"), held.bytes("burst")), (Some(LINK), Some(assumed)), "{name}");
    }
}

fn at_interface(policy: &str) -> String {
    format!("interface {INTERFACE}\n service-policy output {policy}\n")
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
            let text = format!("{short}{}", at_interface("P"));
            let given = ImportOptions { platform, ..ImportOptions::default() };
            let [old] = <[Port; 1]>::try_from(read(&DIALECT, &text, &given).device.ports).unwrap();
            let ios = written(&old, platform);
            assert!(ios.lost.is_empty(), "{short}{:#?}", ios.lost);
            let new = canonical::port(back(&ios, platform));
            assert_eq!(differences(&canonical::port(old), &new), "", "{platform:?}\n{text}\n{}", ios.text());
        }
    }
}
