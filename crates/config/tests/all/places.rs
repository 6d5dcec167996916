//! A stub knows where in the configuration its values come from, and its classes in which order they stand.

use perhop_config::import::import;
use perhop_config::import_options::ImportOptions;
use perhop_config::text::Text;
use perhop_core::params::{ClassName, Problems};
use perhop_scenario::text::source::Made;
use perhop_scenario::text::source::Sources;
use perhop_scenario::text::{toml, tree};

const POLICY: &str = "\
class-map match-any ERP
 match dscp af31
policy-map LAN-IN
 class ERP
  police cir 4000000 bc 4000
   conform-action transmit
   exceed-action drop
interface Serial0/0
 bandwidth 10000
 service-policy input LAN-IN
";

const SCRIPT: &str = "\
tc qdisc add dev eth0 root handle 1: htb default 30
tc class add dev eth0 parent 1: classid 1:1 htb rate 20mbit
tc class add dev eth0 parent 1:1 classid 1:30 htb rate 6mbit ceil 20mbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 14mbit
tc qdisc add dev eth0 parent 1:20 fq_codel target 7ms
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0x28 0xfc flowid 1:20
";

/// A stub as it is checked, and the configuration.
fn made(text: &str) -> (Made, Text) {
    let mut imported = import(text.as_bytes(), None, &ImportOptions::default()).unwrap();
    let stub = imported.stub(&ImportOptions::default(), None).unwrap();
    let mut source = Sources::default();
    source.add("text", &imported.text.text);
    (stub.draft.made([source.into(), <_>::default()]), imported.text)
}

/// The line of the configuration from which the value at a path comes.
fn line((made, _): &(Made, Text), path: &[&str]) -> Option<usize> {
    let node = tree::get(&made.root, path).unwrap_or_else(|| panic!("{path:?}: {}", made.root.tree));
    made.spot(node.place).map(|spot| spot.line)
}

#[test]
fn values_come_from_their_lines() {
    let policy = made(POLICY);
    for (key, from) in [("", 4), ("cir", 5), ("cbs", 5), ("match", 2), ("red", 7)] {
        let path: Vec<_> = ["conditioner", "ERP", key].into_iter().filter(|part| !part.is_empty()).collect();
        assert_eq!(line(&policy, &path), Some(from), "{key}");
    }
    let script = made(SCRIPT);
    assert_eq!(line(&script, &["queue", "1:"]), Some(1));
    for (path, from) in [(["0", "name"], 2), (["2", "rate"], 3), (["1", "for"], 6)] {
        assert_eq!(line(&script, &[&["queue", "1:", "classes"][..], &path].concat()), Some(from), "{path:?}");
    }
    assert_eq!(line(&script, &["queue", "1:20", "target"]), Some(5));
}

/// What is assumed comes from what it is assumed for; what stands around the port comes from no line.
#[test]
fn what_no_line_says() {
    let script = made(SCRIPT);
    assert_eq!(line(&script, &["queue", "1:20", "interval"]), Some(5), "that of fq_codel: the line of the qdisc");
    for path in [&["scenario"][..], &["traffic", "1:20"], &["links", "sender - device"]] {
        assert_eq!(line(&script, path), None, "{path:?}");
    }
}

/// `class 3` in a message is the third of the stub's list, which may be another of the device's.
#[test]
fn classes_stand_in_the_order_of_the_stub() {
    let (made, _) = made(SCRIPT);
    let place = |path: &[&str]| tree::get(&made.root, path).unwrap().place;
    let list = place(&["queue", "1:", "classes"]);
    let classes = [1, 2, 3].map(|number| made.class(list, &ClassName::listed(number)).unwrap());
    let said = classes.map(|(place, name)| (name.to_string(), made.spot(place).unwrap().line));
    assert_eq!(said, [("class `1:1`".into(), 2), ("class `1:20`".into(), 4), ("class `1:30`".into(), 3)]);
    assert_eq!([0, 4].map(|number| made.class(list, &ClassName::listed(number))), [None, None]);
    assert_eq!(made.class(place(&["queue", "1:"]), &ClassName::listed(1)), None, "no list");
}

/// The tree that is checked and the text that is printed are one.
#[test]
fn the_text_says_what_the_tree_says() {
    for text in [POLICY, SCRIPT] {
        let mut imported = import(text.as_bytes(), None, &ImportOptions::default()).unwrap();
        let stub = imported.stub(&ImportOptions::default(), None).unwrap();
        let read = toml::parse(&stub.text, 0, &mut Problems::default()).unwrap();
        assert_eq!(read.tree.to_string(), stub.draft.made(<_>::default()).root.tree.to_string());
    }
}
