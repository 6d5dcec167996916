//! Parameters of HTB from a file: defaults, errors, warnings.

use super::driven::Fast;
use super::htb::params as of;
use super::htb_plain::Stated;
use super::line::{Line, NOW, read, read_table, scope};
use perhop_core::Scope;
use perhop_core::arithmetic::Arithmetic;
use perhop_core::dscp::Dscp;
use perhop_core::packet::Packet;
use perhop_core::params::{Node, Tree};
use perhop_core::port::Turn;
use perhop_core::sched::{Pick, Scheduler as _, SchedulerParams};
use perhop_core::units::BitRate;

/// `name: value` pairs of a class, as a file has them; numbers without quotes are whole numbers.
pub(crate) fn class(text: &str) -> Node {
    let value = |text: &str| text.parse().map_or_else(|_| Tree::Text(text.to_owned()), Tree::Integer);
    let entry = |pair: &str| {
        let (key, text) = pair.split_once('=').unwrap();
        let keys = ["name", "parent", "for", "rate", "ceil", "prio", "quantum", "burst", "cburst", "queue"];
        (*keys.iter().find(|known| **known == key).unwrap(), value(text))
    };
    Node::from(Tree::table(text.split(' ').map(entry).collect()))
}

fn classes(all: &[&str]) -> Tree {
    Tree::List(all.iter().map(|text| class(text)).collect())
}

fn params(all: &[&str]) -> SchedulerParams {
    read("htb", classes(all)).unwrap()
}

fn refused(all: &[&str]) -> (&'static str, String) {
    let error = params(all).build(&scope()).unwrap_err();
    assert!(error.field == "classes" && !error.help.is_empty(), "{error}");
    (error.code, error.sentence().into_owned())
}

#[test]
fn a_list_that_is_no_tree_is_refused() {
    let faults: [(&[&str], &str, &str); 7] = [
        (
            &["name=a parent=b rate=1Mbit/s", "name=b parent=a rate=1Mbit/s", "rate=1Mbit/s"],
            "E228",
            "class 1 (`a`) is its own ancestor: a -> b -> a",
        ),
        (&["name=a parent=a rate=1Mbit/s", "rate=1Mbit/s"], "E228", "class 1 (`a`) is its own ancestor: a -> a"),
        (&["name=a rate=1Mbit/s", "parent=b rate=1Mbit/s"], "E006", "class 2: no class is called `b`, its `parent`"),
        (
            &["name=a for=EF rate=1Mbit/s", "parent=a rate=1Mbit/s"],
            "E229",
            "class 1 (`a`) has `for`, and other classes name it as their parent",
        ),
        (
            &["name=a queue=room rate=1Mbit/s", "parent=a rate=1Mbit/s"],
            "E229",
            "class 1 (`a`) has `queue`, and other classes name it as their parent",
        ),
        (
            &["name=a rate=1Mbit/s", "name=b rate=1Mbit/s"],
            "E223",
            "class 1 (`a`) takes no packets: no `for`, no children, and not the last leaf",
        ),
        (
            &["name=a for=EF rate=1Mbit/s", "name=a rate=1Mbit/s"],
            "E002",
            "class 2: the name `a` is taken by a class before it",
        ),
    ];
    for (list, code, message) in faults {
        assert_eq!(refused(list), (code, message.to_owned()));
    }
    let chain: Vec<_> = (0..9)
        .map(|i| {
            format!("name=c{i} rate=1Mbit/s{}", if i == 0 { String::new() } else { format!(" parent=c{}", i - 1) })
        })
        .collect();
    let chain: Vec<_> = chain.iter().map(String::as_str).collect();
    assert_eq!(refused(&chain).0, "E201", "nine levels");
    assert!(params(&chain[..8]).build(&scope()).is_ok());
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let faults = [
        ("rate=0bit/s", "E201", "class 1: `rate` is 0"),
        ("rate=1Mbit/s quantum=0B", "E201", "class 1: `quantum` is 0"),
        ("rate=2Mbit/s burst=0B", "E201", "class 1: `burst` is 0B"),
        ("rate=2Mbit/s prio=8", "E201", "class 1: `prio` is 8"),
    ];
    for (list, code, message) in faults {
        assert_eq!(refused(&[list]), (code, message.to_owned()));
    }
    let r2q = vec![("classes", classes(&["rate=1Mbit/s"])), ("r2q", Tree::Integer(0))];
    assert_eq!(read_table("htb", r2q).unwrap().build(&scope()).unwrap_err().field, "r2q");
}

fn warned(all: &[&str], scope: &Scope) -> Vec<String> {
    let warnings = params(all).build(scope).unwrap().warnings();
    warnings.iter().map(|it| format!("{} {}", it.code, it.sentence())).collect()
}

#[test]
fn what_is_hardly_meant_is_warned_of() {
    let none: [&str; 0] = [];
    let sound =
        ["name=up rate=3Mbit/s", "parent=up for=EF rate=1Mbit/s ceil=3Mbit/s quantum=1500B", "parent=up rate=2Mbit/s"];
    assert_eq!(warned(&sound, &scope()), none);
    let more = ["name=up rate=3Mbit/s", "parent=up for=EF rate=2Mbit/s", "parent=up rate=2Mbit/s"];
    assert_eq!(warned(&more, &scope()), ["W324 the rates below class 1 (`up`) add up to 4Mbit/s, above its 3Mbit/s"]);
    let link = Scope { link_rate: Some(BitRate::mbps(2)), ..scope() };
    assert_eq!(warned(&sound, &link), ["W324 the rates below the root add up to 3Mbit/s, above its 2Mbit/s"]);
    let low = ["name=up rate=3Mbit/s", "parent=up for=EF rate=3Mbit/s ceil=1Mbit/s", "parent=up rate=2Mbit/s"];
    assert_eq!(warned(&low, &scope()), ["W342 class 2: `ceil` 1Mbit/s is below `rate` 3Mbit/s"]);
    let idle = ["name=up rate=3Mbit/s prio=1", "parent=up rate=2Mbit/s"];
    assert_eq!(warned(&idle, &scope()), ["W325 class 1 (`up`): `prio` has no effect on a class with children"]);
    assert_eq!(
        warned(&["rate=2Mbit/s burst=1499B"], &scope()),
        ["W326 class 1: `burst` is 1499B, less than one packet"]
    );
    let small = ["W327 class 1: its rate divided by `r2q` gives a quantum of 750B; 1000B is used instead"];
    assert_eq!(warned(&["rate=60kbit/s"], &scope()), small);
    let below = ["W327 class 1: its quantum is 1499B, less than one packet"];
    assert_eq!(warned(&["rate=2Mbit/s quantum=1499B"], &scope()), below);
    assert_eq!(warned(&["rate=2Mbit/s"], &scope()), none);
}

/// Bursts of tc's 1600 B: a packet of 1500 B leaves tokens for the next, the third waits; at a ceil equal to the rate.
#[test]
fn defaults_are_those_of_tc() {
    let stated =
        |burst, quantum, ceil| Stated { parent: None, rate: 1_000_000, ceil, prio: 0, quantum, burst, cburst: burst };
    let short = params(&["rate=1Mbit/s"]).build(&scope()).unwrap();
    let long = of(&[stated(1600, 12_500, 1_000_000)], Arithmetic::Exact).build(&scope()).unwrap();
    let numbers = |running: &dyn std::fmt::Debug| {
        let text = format!("{running:?}");
        text[text.find("plan").unwrap()..].split("wakes").next().unwrap().to_owned()
    };
    assert_eq!(numbers(&short), numbers(&long));
    let quick = params(&["rate=16Gbit/s"]).build(&scope()).unwrap();
    assert!(numbers(&quick).contains(&format!("depth: {}", 1602 * 8_000_000_000u64)), "{}", numbers(&quick));
}

#[test]
fn the_children_are_the_leaves_in_their_order() {
    let list = params(&[
        "name=up rate=3Mbit/s",
        "parent=up for=EF rate=1Mbit/s",
        "name=in parent=up rate=2Mbit/s",
        "parent=in rate=1Mbit/s",
    ]);
    let mut running = Fast::new(&list).scheduler;
    assert_eq!(running.places(), 2);
    let ef = perhop_core::packet::Packet { dscp: "EF".parse().unwrap(), ..Default::default() };
    assert_eq!(
        [running.place(Turn::testing(&ef)), running.place(Turn::testing(&perhop_core::packet::Packet::default()))],
        [0, 1]
    );
}

#[test]
fn the_form_of_the_tree_is_fixed() {
    let list = [
        "name=up rate=3Mbit/s",
        "name=in rate=3Mbit/s parent=up",
        "parent=in for=EF rate=1Mbit/s",
        "parent=up rate=1Mbit/s",
    ];
    let mut moved = list;
    moved[2] = "parent=up for=EF rate=1Mbit/s";
    let flat = ["name=up rate=3Mbit/s", "parent=up for=EF rate=1Mbit/s", "parent=up rate=1Mbit/s"];
    let mut running = params(&list).build(&scope()).unwrap();
    for other in [&moved[..], &flat[..]] {
        let code = running.retune(NOW, &params(other), &scope()).map_err(|error| error.code);
        assert!(code.is_err_and(|code| ["E202", "E223"].contains(&code)));
    }
}

fn direct(all: &[&str]) -> SchedulerParams {
    read_table("htb", vec![("classes", classes(all)), ("unclassified", Tree::Text("direct".into()))]).unwrap()
}

/// What no class names passes them all, as in a Linux without a `default` class; no class pays for it.
#[test]
fn the_unclassified_go_first_and_unshaped() {
    let mut line = Line::new(&direct(&["for=EF rate=8kbit/s burst=1B cburst=1B", "for=AF11 rate=1Mbit/s"]));
    assert_eq!(line.queues.len(), 3);
    assert_eq!(line.scheduler.outline().iter().map(|it| it.name.clone()).collect::<Vec<_>>()[2], Some("direct".into()));
    let packet = |dscp| Packet { dscp, ..Packet::default() };
    let places = [Dscp::new(46).unwrap(), Dscp::new(10).unwrap(), Dscp::BE]
        .map(|dscp| line.scheduler.place(Turn::testing(&packet(dscp))));
    assert_eq!(places, [0, 1, 2]);
    line.arrive(0, 1500);
    line.arrive(0, 1500);
    (0..5).for_each(|_| line.arrive(2, 1500));
    let sent: Vec<_> = (0..6).filter_map(|_| line.send()).map(|it| it.0).collect();
    assert_eq!(sent, [2, 2, 2, 2, 2, 0]);
    line.arrive(2, 1500);
    line.lose(2);
    assert!(
        matches!(line.scheduler.pick(Turn::testing(NOW), &line.heads()), Pick::Later(_)),
        "the class waits for its own tokens"
    );
}

#[test]
fn direct_is_for_what_is_left() {
    let error = direct(&["for=EF rate=1Mbit/s", "rate=1Mbit/s"]).build(&scope()).unwrap_err();
    assert_eq!((error.field, error.code), ("unclassified", "E239"));
    assert!(error.sentence().contains("class 2 takes all"), "{error}");
}

/// 256 MiB at 1 Mbit/s reach Linux as 0xd0000000 ticks of 64 ns: 27.9 MB.
#[test]
fn bursts_that_tc_cuts_are_warned_of() {
    let linux = |burst: &str| {
        let list = classes(&[&format!("rate=1Mbit/s burst={burst} cburst=64kB quantum=1500B")]);
        let table = vec![("classes", list), ("arithmetic", Tree::Text("linux".into()))];
        let warnings = read_table("htb", table).unwrap().build(&scope()).unwrap().warnings();
        warnings.iter().map(|it| format!("{} {}", it.code, it.sentence())).collect::<Vec<_>>()
    };
    assert_eq!(linux("256MiB"), ["W341 class 1: `burst` is 268435456B, of which tc hands over 27917287B"]);
    assert!(linux("34MB").is_empty());
}
