//! `explain --as tc` of policers: their actions, in a row, one bucket for several code points, and what tc cannot say.

use perhop_config::as_tc::as_tc;
use perhop_scenario::{Options, Scenario};

const NET: &str = r#"
[scenario]
accounting = "l2"
duration = "1s"
warmup = "0s"

[links]
"A - B" = { rate = "10Mbit/s", delay = "5ms" }

[conditioner.voice]
at = "A -> B"
match = { dscp = ["EF", "VA"] }
kind = "token-bucket"
cir = "1Mbit/s"
cbs = "3000B"
green = "next"
red = "drop"

[conditioner.all]
at = "A -> B"
kind = "token-bucket"
cir = "4Mbit/s"
cbs = "10ms"
red = "next"

[conditioner.excess]
at = "A -> B"
kind = "token-bucket"
cir = "500p/s"
cbs = "20p"
red = "drop"

[traffic.t]
model = "cbr"
rate = "1Mbit/s"
size = "1000B"
from = "A"
to = "B"
dscp = "EF"

[traffic.va]
model = "cbr"
rate = "1Mbit/s"
size = "1000B"
from = "A"
to = "B"
dscp = "VA"
"#;

fn said(options: &Options) -> Result<Vec<String>, Vec<String>> {
    let (scenario, _) = Scenario::parse(NET, options).unwrap_or_else(|found| panic!("{found}"));
    as_tc(&scenario).map(|linux| linux.lines().filter(|it| it.contains("police")).collect())
}

/// Policers of one direction and the wire of the other share a device's place for both.
#[test]
fn each_device_has_one_place_for_filters() {
    let (scenario, _) = Scenario::parse(NET, &Options::new("net.toml")).unwrap_or_else(|found| panic!("{found}"));
    let commands: Vec<_> = as_tc(&scenario).unwrap().lines().collect();
    let of = |what: &str| commands.iter().filter(|it| it.contains(what)).collect::<Vec<_>>();
    let places = of("clsact");
    assert_eq!(places.len(), 2 * of("type veth peer").len());
    assert!(places.iter().enumerate().all(|(i, place)| !places[..i].contains(place)));
    let first = |what: &str| commands.iter().position(|it| it.contains(what)).unwrap();
    assert!(first("clsact") < first("egress protocol") && of("handle ffff:").is_empty());
}

#[test]
fn policers_in_a_row_are_filters_in_a_row() {
    let filter = "tc -n n0 filter add dev p0 egress protocol";
    let voice = "action police rate 1000000bit burst 3000 conform-exceed drop/continue index 1";
    assert_eq!(
        said(&Options::new("net.toml")).unwrap(),
        [
            format!("{filter} ip prio 1 flower ip_tos 0xb8/0xfc {voice}"),
            format!("{filter} ip prio 1 flower ip_tos 0xb0/0xfc {voice}"),
            format!("{filter} all prio 2 matchall action police rate 4000000bit burst 5000 conform-exceed continue/ok"),
            format!("{filter} all prio 3 matchall action police pkts_rate 500 pkts_burst 20 conform-exceed drop/ok"),
        ]
    );
}

/// The default burst of a class's limit is of the largest packet of that class: that of the simulator.
#[test]
fn a_limited_class_has_the_burst_that_it_has_here() {
    let voice = r#"{ for = "EF", rate = "8kbit/s", queue = { limit = "64p" } }"#;
    let queue =
        format!(r#"{{ scheduler = "strict-priority", classes = [{voice}, {{ queue = {{ limit = "64p" }} }}] }}"#);
    let text = format!(
        r#"
[scenario]
accounting = "l2"
[links]
"a - b" = {{ rate = "2Mbit/s" }}
"a -> b" = {{ queue = {queue} }}
[traffic.voice]
model = "cbr"
rate = "8kbit/s"
size = "186B"
from = "a"
to = "b"
dscp = "EF"
[traffic.bulk]
model = "cbr"
rate = "1Mbit/s"
size = "1400B"
from = "a"
to = "b"
"#
    );
    let (scenario, _) = Scenario::parse(&text, &Options::new("net.toml")).unwrap_or_else(|found| panic!("{found}"));
    let explained = perhop_scenario::explain(&scenario);
    assert!(explained.contains("burst \"200B\""), "{explained}");
    let commands: Vec<_> = as_tc(&scenario).unwrap().lines().filter(|it| it.contains("police")).collect();
    assert!(commands[0].contains("police rate 8000bit burst 200 "), "{commands:?}");
}

#[test]
fn a_peak_rate_and_framing_are_said() {
    let options = Options::new("net.toml").set("conditioner.all.pir=8Mbit/s").set("conditioner.all.mtu=2000B");
    let said = said(&options.set("conditioner.all.overhead=4B").set("conditioner.all.link-layer=atm")).unwrap();
    let limits =
        "rate 4000000bit burst 5000 peakrate 8000000bit mtu 2000 overhead 4 linklayer atm conform-exceed continue/ok";
    assert!(said[2].contains(limits), "{}", said[2]);
}

#[test]
fn what_tc_cannot_say_is_refused_by_name() {
    for (set, says) in [
        ("conditioner.excess.green=colour yellow", "`excess` (token-bucket) at `A -> B`: tc cannot express colours"),
        (
            "conditioner.voice.green=mark AF11, next",
            "`voice` (token-bucket) at `A -> B`: tc cannot express code points",
        ),
        ("conditioner.all.per=flow", "`all` (token-bucket) at `A -> B`: tc cannot express `per = \"flow\"`"),
        ("conditioner.all.mpu=64B", "`all` (token-bucket) at `A -> B`: tc cannot express `mpu`"),
    ] {
        let refused = said(&Options::new("net.toml").set(set)).unwrap_err();
        assert!(refused.len() == 1 && refused[0].contains(says), "{set}: {refused:?}");
    }
}
