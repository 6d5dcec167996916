//! A stub knows where in the configuration its values come from, and its classes in which order they stand.

use perhop_config::import::import;
use perhop_config::import_options::ImportOptions;
use perhop_config::stub::Stub;
use perhop_config::text::Text;
use perhop_core::params::Place;

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

fn stub(text: &str) -> (Stub, Text) {
    let mut imported = import(text.as_bytes(), None, &ImportOptions::default()).unwrap();
    let stub = imported.stub(&ImportOptions::default(), None).unwrap();
    (stub, imported.text)
}

/// The line of the configuration from which what `words` begin comes.
fn line(of: &(Stub, Text), words: &str) -> usize {
    let (stub, text) = of;
    let at = stub.text.find(words).unwrap_or_else(|| panic!("{words}\n{}", stub.text));
    text.line_of(stub.origins().origin(at).unwrap_or_else(|| panic!("{words} comes from nowhere\n{}", stub.text)))
}

#[test]
fn values_come_from_their_lines() {
    let policy = stub(POLICY);
    let lines =
        ["[conditioner.ERP]", "\"4Mbit/s\"", "\"4000B\"", "match =", "\"drop\""].map(|words| line(&policy, words));
    assert_eq!(lines, [4, 5, 5, 2, 7]);
    let script = stub(SCRIPT);
    let lines = ["[queue.\"1:\"]", "name = \"1:1\"", "rate = \"6Mbit/s\"", "\"7ms\"", "for = \"AF11\""];
    let lines = lines.map(|words| line(&script, words));
    assert_eq!(lines, [1, 2, 3, 5, 6]);
}

/// What is assumed, and what stands around the port, comes from no line.
#[test]
fn what_is_assumed_comes_from_what_it_is_assumed_for() {
    let script = stub(SCRIPT);
    assert_eq!(line(&script, "\"100ms\""), 5, "the interval of fq_codel: the line of the qdisc");
    for words in ["[scenario]", "[traffic.", "sender - device"] {
        let at = script.0.text.find(words).unwrap();
        assert_eq!(script.0.origins().origin(at), None, "{words}");
    }
}

/// `class 3` in a message is the third of the stub's list, which may be another of the device's.
#[test]
fn classes_stand_in_the_order_of_the_stub() {
    let (stub, text) = stub(SCRIPT);
    let at = stub.text.find("classes = [").unwrap() + "classes = ".len();
    let classes: Vec<_> = stub
        .classes(at)
        .unwrap()
        .iter()
        .map(|(name, place)| (name.as_str(), place.map(|it| text.line_of(it))))
        .collect();
    assert_eq!(classes, [("1:1", Some(2)), ("1:20", Some(4)), ("1:30", Some(3))]);
    assert_eq!(stub.classes(at + 1), None);
    assert_eq!(stub.origins().origin(usize::MAX), None::<Place>);
}
