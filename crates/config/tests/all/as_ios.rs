//! `explain --as ios`: the template that shows IOS beside each of its parts, and what IOS cannot express.

use perhop_config::as_ios::{self, Ios, Target};
use perhop_scenario::{Options, Sweep};

const TEMPLATE: &str = include_str!("../../../app/templates/cisco.toml");

fn written(text: &str, set: &[&str], port: Option<&str>, device: Option<&str>) -> Ios {
    let options = set.iter().fold(Options::new("net.toml"), |options, set| options.set(set));
    let (sweep, _) = Sweep::parse(text, &options).unwrap_or_else(|found| panic!("{found}"));
    as_ios::of_sweep(&sweep, Target { port, device, ..Target::default() }).unwrap_or_else(|error| panic!("{error}"))
}

/// What IOS writes stands in the template beside each part. Its class by traffic has an access list to be filled.
#[test]
fn the_template_is_as_its_comments_say() {
    let ios = written(TEMPLATE, &[], None, None);
    let lines: Vec<_> = ios.lines.iter().map(|line| line.trim()).collect();
    let said = TEMPLATE.lines().filter_map(|line| line.split_once('!')).map(|it| it.1.trim());
    let own = ["interface", "service-policy", "policy-map", "class VOICE", "class-map", "priority"];
    for said in said.filter(|said| !own.iter().any(|own| said.starts_with(own)) && !said.starts_with("`")) {
        let said = said.split(": here").next().unwrap_or(said);
        assert!(lines.iter().any(|line| line.eq_ignore_ascii_case(said)), "{said}\n{lines:#?}");
    }
    assert_eq!(ios.ports.iter().map(|it| &*it.interface).collect::<Vec<_>>(), ["GigabitEthernet0/0", "Ethernet0/0"]);
    assert!(ios.lost.len() == 1 && ios.lost[0].contains("`traffic` of class business"), "{:?}", ios.lost);
    assert!(ios.notes.iter().any(|note| note.contains("which has no AQM")), "{:?}", ios.notes);
}

/// An interface that is faster than the link has a shaper above the classes.
#[test]
fn a_shaper_holds_a_faster_interface() {
    let ios = written(TEMPLATE, &[], Some("WAN -> site"), Some("Gi0/1"));
    let end = [
        "policy-map WAN-OUT",
        " class class-default",
        "  shape average 10000000 40000 0",
        "  service-policy WAN-OUT-CLASSES",
        "!",
        "interface Gi0/1",
        " service-policy output WAN-OUT",
        "!",
    ];
    assert_eq!(ios.lines[ios.lines.len() - end.len()..], end);
    assert!(
        ios.lost.is_empty() && ios.notes.iter().any(|note| note.starts_with("a shaper holds Gi0/1")),
        "{:?}",
        ios.notes
    );
}

const NET: &str = r#"
[links]
"a - b" = { rate = "100Mbit/s", delay = "5ms" }
"a -> b" = { queue = "WAN" }

[traffic.bulk]
model = "cbr"
rate = "1Mbit/s"
size = "500B"
dscp = "AF11"
from = "a"
to = "b"
"#;

/// The port `a -> b` of a net with these sections: lines of its policy maps, notes and what is lost.
fn port(sections: &str) -> Ios {
    written(&format!("{NET}\n{sections}"), &[], Some("a -> b"), None)
}

/// The lines of policy maps.
fn policies(ios: &Ios) -> Vec<&str> {
    let mut lines = ios.lines.iter().skip_while(|line| !line.starts_with("policy-map")).map(String::as_str);
    lines.by_ref().take_while(|line| !line.starts_with("interface")).filter(|line| *line != "!").collect()
}

const CLASSES: &str = r#"
[queue.WAN]
scheduler = "ets"
classes = [
  { for = "EF", rate = "1Mbit/s", burst = "8kB", queue = { limit = "64p" } },
  { for = "CS6", queue = { limit = "64p" } },
  { for = ["AF11", "AF12"], quantum = "3000B", queue = "GOLD" },
  { quantum = "4500B", queue = { limit = "200kB" } },
]
[queue.GOLD]
limit = "20ms"
shape = { rate = "20Mbit/s", burst = "10kB", debt = true, overhead = "4B" }
"#;

#[test]
fn priorities_have_levels_and_others_ratios() {
    let ios = port(CLASSES);
    let expected = [
        "policy-map WAN",
        " class EF",
        "  priority level 1",
        "  police cir 1000000 bc 8000",
        "   conform-action transmit",
        "   exceed-action drop",
        "  queue-limit 64 packets",
        " class CS6",
        "  priority level 2",
        "  queue-limit 64 packets",
        " class GOLD",
        "  bandwidth remaining percent 40",
        "  shape average 20000000 80000 0 account user-defined 4",
        "  queue-limit 20 ms",
        " class class-default",
        "  bandwidth remaining percent 60",
        "  queue-limit 200000 bytes",
    ];
    assert_eq!(policies(&ios), expected);
    assert!(ios.lost.is_empty(), "{:?}", ios.lost);
}

/// A conditioner of just a class's packets is in that class, one of all that others leave in class-default.
#[test]
fn conditioners_are_in_the_classes_of_their_packets() {
    let conditioner = |name: &str, matches: &str, marks: &str| {
        format!(
            "[conditioner.{name}]\nat = \"a -> b\"\n{matches}\nkind = \"token-bucket\"\ncir = \"2Mbit/s\"\ncbs = \"9kB\"\n\
             green = \"mark {marks}\"\nred = \"drop\"\n"
        )
    };
    let gold = conditioner("gold", "match = { dscp = [\"AF12\", \"AF11\"] }", "AF11");
    let all = [
        conditioner("voice", "match = { dscp = \"EF\" }", "EF"),
        conditioner("control", "match = { dscp = \"CS6\" }", "CS6"),
        gold.clone(),
        conditioner("rest", "", "BE"),
    ];
    let classes = CLASSES.replace("rate = \"1Mbit/s\", burst = \"8kB\", ", "");
    let ios = port(&(all.concat() + &classes));
    let lines = policies(&ios);
    let class = |name: &str| {
        let from = lines.iter().position(|line| *line == format!(" class {name}")).unwrap();
        lines[from + 1..].iter().take_while(|line| !line.starts_with(" class")).copied().collect::<Vec<_>>()
    };
    assert!(class("GOLD").contains(&"   conform-action set-dscp-transmit af11"), "{lines:#?}");
    assert_eq!(class("class-default")[0], "  police cir 2000000 bc 9000", "{lines:#?}");
    assert!(ios.lost.is_empty(), "{:?}", ios.lost);
    // The rest alone would take what classes without conditioner have.
    let ios = port(&(gold + &all[3] + &classes));
    assert!(ios.lost.len() == 1 && ios.lost[0].contains("`rest`"), "{:?}", ios.lost);
    // What a conditioner marks may not lead to another class.
    let other = conditioner("gold", "match = { dscp = [\"AF12\", \"AF11\"] }", "EF");
    assert!(port(&(other + &classes)).lost[0].contains("sorts them before it marks"));
    // A class of what passed a conditioner has its packets, whatever it marks.
    let passed = conditioner("gold", "match = { protocol = \"tcp\" }", "EF");
    let ios = port(&(passed + &classes.replace("for = [\"AF11\", \"AF12\"]", "match = { conditioner = \"gold\" }")));
    assert!(ios.lines.contains(&" permit tcp any any".to_owned()) && ios.lost.is_empty(), "{:#?}", ios);
}

/// `next` is a policer in the class above.
#[test]
fn policers_one_after_the_other_are_one_above_the_other() {
    let both = |next: &str| {
        format!(
            r#"
[conditioner.own]
at = "a -> b"
match = {{ dscp = "AF11" }}
kind = "srtcm"
cir = "2Mbit/s"
cbs = "9kB"
ebs = "18kB"
green = "mark AF11, {next}"
yellow = "mark AF12, {next}"
red = "drop"
[conditioner.all]
at = "a -> b"
kind = "token-bucket"
cir = "5Mbit/s"
cbs = "20kB"
red = "drop"
[queue.WAN]
limit = "100p"
"#
        )
    };
    let ios = port(&both("next"));
    let expected = [
        "policy-map WAN-CLASSES",
        " class own",
        "  police cir 2000000 bc 9000 be 18000",
        "   conform-action set-dscp-transmit af11",
        "   exceed-action set-dscp-transmit af12",
        "   violate-action drop",
        " class class-default",
        "  queue-limit 100 packets",
        "policy-map WAN",
        " class class-default",
        "  police cir 5000000 bc 20000",
        "   conform-action transmit",
        "   exceed-action drop",
        "  service-policy WAN-CLASSES",
    ];
    assert_eq!(policies(&ios), expected, "{:?}", ios.lost);
    assert!(ios.lost.is_empty(), "{:?}", ios.lost);
    let ios = port(&both("next").replace(", next", ""));
    assert_eq!(policies(&ios)[6..8], [" class class-default", "  police cir 5000000 bc 20000"]);
}

const TREE: &str = r#"
[queue.WAN]
scheduler = "htb"
classes = [
  { name = "all", rate = "90Mbit/s" },
  { name = "voice", parent = "all", for = "EF", rate = "10Mbit/s", ceil = "20Mbit/s", queue = { limit = "64p" } },
  { name = "site", parent = "all", rate = "50Mbit/s", ceil = "90Mbit/s" },
  { name = "web", parent = "site", match = { protocol = "tcp", destination-port = 443 }, rate = "20Mbit/s", ceil = "90Mbit/s", queue = { scheduler = "fq-codel", limit = "128p" } },
  { name = "gold", parent = "site", for = ["AF11", "AF12"], rate = "30Mbit/s", ceil = "90Mbit/s", queue = { limit = "64p" } },
  { name = "rest", parent = "all", rate = "30Mbit/s", ceil = "90Mbit/s", queue = { limit = "100p" } },
]
"#;

#[test]
fn classes_of_htb_are_policy_maps_in_classes() {
    let ios = port(TREE);
    let expected = [
        "policy-map site",
        " class web",
        "  bandwidth 20000",
        "  fair-queue",
        "  queue-limit 128 packets",
        " class gold",
        "  bandwidth 30000",
        "  queue-limit 64 packets",
        "policy-map all",
        " class voice",
        "  bandwidth 10000",
        "  shape average 20000000",
        "  queue-limit 64 packets",
        " class site",
        "  bandwidth 50000",
        "  service-policy site",
        " class class-default",
        "  bandwidth 30000",
        "  queue-limit 100 packets",
        "policy-map WAN",
        " class class-default",
        "  shape average 90000000",
        "  service-policy all",
    ];
    assert_eq!(policies(&ios), expected);
    let site = ["class-map match-any site", " match access-group name site", " match dscp af11 af12"];
    assert!(ios.lines.windows(3).any(|it| it == site), "{:#?}", ios.lines);
    assert!(ios.lost.is_empty() && ios.notes.iter().any(|note| note.contains("`htb` gives what is spare")), "{ios:?}");
    let ios = port(&TREE.replace("ceil = \"20Mbit/s\"", "ceil = \"95Mbit/s\""));
    assert!(ios.lost.len() == 1 && ios.lost[0].contains("a `ceil` of 95Mbit/s above 90Mbit/s"), "{:?}", ios.lost);
}

/// Conditioners of some of a class's packets are classes below it, or beside class-default; one of several classes is in each of them
/// if it marks, and in none if it has a bucket.
#[test]
fn conditioners_of_parts_of_classes_are_carried_over() {
    let conditioner = |name: &str, matches: &str, rest: &str| {
        format!("[conditioner.{name}]\nat = \"a -> b\"\nmatch = {{ {matches} }}\n{rest}\n")
    };
    let police = "kind = \"token-bucket\"\ncir = \"2Mbit/s\"\ncbs = \"9kB\"\nred = \"drop\"";
    let web = "protocol = \"tcp\", destination-port = 80";
    // In one class.
    let ios = port(&(conditioner("first", "dscp = \"AF11\"", police) + CLASSES));
    let expected = ["policy-map GOLD-PARTS", " class first", "  police cir 2000000 bc 9000"];
    assert!(policies(&ios).windows(3).any(|it| it == expected), "{ios:#?}");
    assert!(policies(&ios).contains(&"  service-policy GOLD-PARTS") && ios.lost.is_empty(), "{ios:#?}");
    // Beside class-default, whose queue it shares.
    let ios = port(&(conditioner("others", "dscp = [\"AF41\", \"AF42\"]", police) + CLASSES));
    let lines = policies(&ios);
    let at = lines.iter().position(|it| *it == " class others").unwrap();
    assert_eq!([lines[at + 1], lines[at + 4]], ["  police cir 2000000 bc 9000", " class class-default"], "{lines:#?}");
    assert!(ios.lost.is_empty(), "{:?}", ios.lost);
    // A marker of two classes.
    let marker = "kind = \"marker\"\ngreen = \"mark AF12\"";
    let ios = port(&(conditioner("both", "dscp = [\"AF11\", \"AF12\"], protocol = \"tcp\"", marker) + CLASSES));
    assert!(policies(&ios).contains(&" class both") && ios.lost.is_empty(), "{ios:#?}");
    let drop = "kind = \"marker\"\ngreen = \"drop\"";
    let ios = port(&(conditioner("none", web, drop) + CLASSES));
    assert_eq!(policies(&ios).iter().filter(|it| **it == " class none").count(), 4, "{ios:#?}");
    assert!(ios.lost.is_empty(), "{:?}", ios.lost);
    // One bucket for them.
    let ios = port(&(conditioner("web", web, police) + CLASSES));
    assert!(ios.lost.len() == 1 && ios.lost[0].contains("no aggregate policer"), "{:?}", ios.lost);
    // Marked for another class.
    let ios = port(&(conditioner("moved", web, "kind = \"marker\"\ngreen = \"mark AF11\"") + CLASSES));
    assert!(ios.lost.len() == 1 && ios.lost[0].contains("sorts them before it marks"), "{:?}", ios.lost);
}

const POLICED: &str = r#"
[scenario]
accounting = "l2"

[links]
"customer - edge" = { rate = "10Mbit/s", delay = "5ms" }
"edge - core" = { rate = "CORE", delay = "5ms" }
MORE
[conditioner.contract]
at = "edge -> core"
kind = "token-bucket"
cir = "2Mbit/s"
cbs = "15kB"
red = "drop"

[traffic.web]
model = "ftp"
from = "customer"
to = "core"
"#;

/// Conditioners without a queue behind them are at the input of what brings their packets, and at no input if packets could wait
/// or come from several sides.
#[test]
fn conditioners_alone_are_at_an_input() {
    let service = |core: &str, more: &str| {
        let text = POLICED.replace("CORE", core).replace("MORE", more);
        let ios = written(&text, &[], None, None);
        let line = ios.lines.iter().rev().nth(1).unwrap().clone();
        (ios.text().lines().next().unwrap().to_owned(), line, ios.notes.len())
    };
    let at = |head: &str, way: &str, notes| {
        (format!("! port \"edge -> core\" {head}0/0"), format!(" service-policy {way} edge-core"), notes)
    };
    assert_eq!(service("100Mbit/s", ""), at("at the input of Ethernet", "input", 0));
    assert_eq!(service("10Mbit/s", "").1, " service-policy input edge-core");
    assert_eq!(service("5Mbit/s", ""), at("on Serial", "output", 1));
    let side = "\"side - edge\" = { rate = \"10Mbit/s\", delay = \"5ms\" }";
    assert_eq!(service("100Mbit/s", side), at("on FastEthernet", "output", 1));
    let queue = "\"edge -> core\" = { queue = { aqm = \"codel\", limit = \"100p\" } }";
    assert_eq!(service("100Mbit/s", queue).0, "! port \"edge -> core\" on FastEthernet0/0");
}
