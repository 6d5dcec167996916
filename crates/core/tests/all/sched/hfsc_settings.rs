//! Parameters of HFSC from a file: both forms of curves, errors, warnings, changes.

use super::driven::{Fast, Host as _};
use super::line::{Line, NOW, read_table, scope};
use perhop_core::Scope;
use perhop_core::packet::Packet;
use perhop_core::params::{Node, Tree};
use perhop_core::port::Turn;
use perhop_core::sched::{Scheduler as _, SchedulerParams};
use perhop_core::units::{BitRate, Time};

/// `key=value` pairs of a class; a curve of two pieces is `m1:d:m2`, or with `/` the form of tc with `umax/dmax/rate`.
fn class(text: &str) -> Node {
    let table = |keys: [&'static str; 3], text: &str, by: char| {
        let values = text.split(by).map(|value| Tree::Text(value.to_owned()));
        Tree::table(keys.into_iter().zip(values).filter(|(_, value)| *value != Tree::Text("-".into())).collect())
    };
    let value = |text: &str| match text {
        _ if text.contains(':') => table(["m1", "d", "m2"], text, ':'),
        _ if text.contains('|') => table(["umax", "dmax", "rate"], text, '|'),
        _ => Tree::Text(text.to_owned()),
    };
    let entry = |pair: &str| {
        let (key, text) = pair.split_once('=').unwrap();
        let keys = ["name", "parent", "for", "rt", "ls", "ul", "queue"];
        (*keys.iter().find(|known| **known == key).unwrap(), value(text))
    };
    Node::from(Tree::table(text.split(' ').map(entry).collect()))
}

fn with(all: &[&str], more: &[(&'static str, &str)]) -> SchedulerParams {
    let classes = Tree::List(all.iter().map(|text| class(text)).collect());
    let more = more.iter().map(|&(key, value)| (key, Tree::Text(value.to_owned())));
    read_table("hfsc", std::iter::once(("classes", classes)).chain(more).collect()).unwrap()
}

fn params(all: &[&str]) -> SchedulerParams {
    with(all, &[])
}

fn on_a_link() -> Scope {
    Scope { link_rate: Some(BitRate::mbps(10)), ..scope() }
}

fn refused(params: &SchedulerParams) -> (&'static str, String) {
    let error = params.build(&on_a_link()).unwrap_err();
    assert!(!error.help.is_empty(), "{error}");
    (error.code, error.sentence().into_owned())
}

#[test]
fn what_is_no_curve_is_refused() {
    let faults = [
        ("rt=2Mbit/s:-:1Mbit/s", "E289", "class 1: `rt` has `m1` without `d`"),
        ("rt=-:10ms:1Mbit/s", "E289", "class 1: `rt` has `d` without `m1`"),
        ("ls=2Mbit/s:10ms:-", "E289", "class 1: `ls` has no `m2`"),
        ("ls=1500B|-|1Mbit/s", "E289", "class 1: `ls` has `umax` without `dmax`"),
        ("ls=-|10ms|1Mbit/s", "E289", "class 1: `ls` has `dmax` without `umax`"),
        ("ls=1500B|10ms|-", "E289", "class 1: `ls` has no `rate`"),
        ("ls=0bit/s", "E201", "class 1: `ls` has a lasting rate of 0bit/s"),
        ("ls=2Mbit/s:10ms:0bit/s", "E201", "class 1: `ls` has a lasting rate of 0bit/s"),
        ("ls=2Mbit/s:0s:1Mbit/s", "E201", "class 1: `ls` has a `d` of 0s"),
        ("ls=0B|10ms|1Mbit/s", "E201", "class 1: `ls` has a `umax` of 0B"),
        ("ls=10B|0s|1Mbit/s", "E201", "class 1: `ls` has a `dmax` of 0s"),
        ("ul=1Mbit/s", "E005", "class 1 has neither `rt` nor `ls`"),
    ];
    for (text, code, message) in faults {
        assert_eq!(refused(&params(&[text])), (code, message.to_owned()));
    }
    let mixed = Tree::table(vec![("m2", Tree::Text("1Mbit/s".into())), ("umax", Tree::Text("10B".into()))]);
    let classes = Tree::List(vec![Node::from(Tree::table(vec![("ls", mixed)]))]);
    let mixed = read_table("hfsc", vec![("classes", classes)]).unwrap();
    assert_eq!(refused(&mixed), ("E289", "class 1: `ls` mixes the two forms of a curve".into()));
}

#[test]
fn curves_belong_where_they_work() {
    let parent = params(&["name=a rt=1Mbit/s ls=1Mbit/s", "parent=a ls=1Mbit/s"]);
    assert_eq!(refused(&parent), ("E229", "class 1 (`a`) has `rt`, and other classes name it as their parent".into()));
    let parent = params(&["name=a ul=1Mbit/s", "parent=a ls=1Mbit/s"]);
    assert_eq!(refused(&parent), ("E005", "class 1 (`a`) has no `ls`".into()));
    let below_a_loop = params(&["parent=a ls=1Mbit/s", "name=a parent=b ls=1Mbit/s", "name=b parent=a ls=1Mbit/s"]);
    assert_eq!(refused(&below_a_loop), ("E228", "class 2 (`a`) is its own ancestor: a -> b -> a".into()));
}

#[test]
fn real_time_curves_that_cannot_be_kept_are_refused() {
    let over = |all: &[&str], message: &str| assert_eq!(refused(&params(all)), ("E288", message.to_owned()));
    over(
        &["name=voice for=EF rt=8Mbit/s:10ms:1Mbit/s", "name=video rt=3Mbit/s"],
        "the real-time curves of class 1 (`voice`), class 2 (`video`) exceed the 10Mbit/s of the link from the start",
    );
    over(&["rt=6Mbit/s:10ms:14Mbit/s"], "the real-time curve of class 1 exceeds the 10Mbit/s of the link after 20ms");
    over(
        &["name=all ls=5Mbit/s ul=5Mbit/s", "for=EF parent=all rt=4Mbit/s", "parent=all rt=2Mbit/s"],
        "the real-time curves of class 2, class 3 exceed the `ul` of class 1 (`all`) from the start",
    );
    over(
        &["rt=2Mbit/s ls=1Mbit/s ul=1Mbit/s"],
        "the real-time curve of class 1 exceeds the `ul` of class 1 from the start",
    );
    assert!(params(&["for=EF rt=8Mbit/s:10ms:1Mbit/s", "rt=0bit/s:10ms:9Mbit/s"]).build(&on_a_link()).is_ok());
}

#[test]
fn what_probably_misleads_is_said() {
    let said = |all: &[&str]| -> Vec<_> {
        let built = params(all).build(&on_a_link()).unwrap();
        built.warnings().into_iter().map(|it| (it.code, it.sentence().into_owned())).collect()
    };
    assert_eq!(said(&["name=a ls=2Mbit/s", "parent=a rt=2Mbit/s ls=1Mbit/s"]), []);
    let over = said(&["name=a ls=1Mbit/s", "parent=a rt=2Mbit/s ls=1Mbit/s"]);
    let message = "the `rt` of the leaves below class 1 (`a`) add up to 2Mbit/s, above its `ls` 1Mbit/s";
    assert_eq!(over, [("W354", message.to_owned())]);
    assert_eq!(said(&["rt=1Mbit/s ul=2Mbit/s"]), [("W359", "class 1: `ul` has no effect without `ls`".to_owned())]);
    let linux = with(&["ls=1000001bit/s"], &[("arithmetic", "linux")]).build(&scope()).unwrap();
    assert_eq!(linux.warnings()[0].code, "W341");
}

/// Both forms are the same curve: 1500 B within 10 ms are 1.2 Mbit/s for 10 ms, where that is above the rate.
#[test]
fn both_forms_are_one() {
    let built = |text: &str| format!("{:?}", params(&[text]).build(&scope()).unwrap());
    assert_eq!(built("rt=1500B|10ms|1Mbit/s"), built("rt=1200kbit/s:10ms:1Mbit/s"));
    assert_eq!(built("rt=1500B|20ms|1Mbit/s"), built("rt=0bit/s:8ms:1Mbit/s"));
    assert_eq!(built("ls=-:-:1Mbit/s"), built("ls=1Mbit/s"));
}

#[test]
fn classes_have_what_they_can_count_on() {
    let of = params(&[
        "name=all ls=10Mbit/s ul=8Mbit/s",
        "name=left parent=all ls=3Mbit/s",
        "for=EF parent=left rt=2Mbit/s ls=1Mbit/s",
        "for=AF11 parent=left ls=1Mbit/s",
        "for=BE rt=500kbit/s",
        "parent=all ls=1Mbit/s ul=1Mbit/s",
    ]);
    let built = of.build(&scope()).unwrap();
    let kbit = BitRate::kbps;
    let share: Vec<_> = (0..4).map(|child| built.share(child, kbit(10_000))).collect();
    assert_eq!(share, [kbit(3_000), kbit(3_000), kbit(500), kbit(1_000)]);
    let bound: Vec<_> = (0..4).map(|child| built.bound(child)).collect();
    assert_eq!(bound, [Some(kbit(8_000)), Some(kbit(8_000)), Some(kbit(500)), Some(kbit(1_000))]);
}

#[test]
fn what_no_class_names_is_dropped_if_asked() {
    let classes = ["for=EF ls=1Mbit/s", "for=AF11 ls=1Mbit/s"];
    let mut built = with(&classes, &[("unclassified", "drop")]).build(&scope()).unwrap();
    let child = |dscp: &str| Packet { dscp: dscp.parse().unwrap(), ..Packet::default() };
    assert_eq!(["EF", "AF11", "BE"].map(|dscp| built.place(Turn::testing(&child(dscp)))), [0, 1, 2]);
    assert_eq!(built.outline().last().unwrap().name.as_deref(), Some("unclassified"));
    let takes_all = with(&["for=EF ls=1Mbit/s", "ls=1Mbit/s"], &[("unclassified", "drop")]);
    let message = "`unclassified = \"drop\"` has no effect: class 2 takes all that no other does";
    assert_eq!(refused(&takes_all), ("E239", message.to_owned()));
}

/// A new limit holds from the change on: after two packets at 1 Mbit/s the third is due at 24 ms, of the new one at once.
#[test]
fn new_curves_begin_at_the_change() {
    let [slow, quick] = ["1Mbit/s", "10Mbit/s"].map(|rate| params(&[&format!("ls=1Mbit/s ul={rate}")]));
    let mut host = Fast::new(&slow);
    (0..9).for_each(|_| host.arrive(0, 0, 1500));
    assert_eq!(host.send(0), Some((0, 1500)));
    assert_eq!((host.send(0), host.wakes), (None, Some(12_000_000)));
    assert_eq!(host.send(12_000_000), Some((0, 1500)));
    host.scheduler.retune(Time::from_ns(13_000_000), &quick, &scope()).unwrap();
    assert_eq!(host.send(13_000_000), Some((0, 1500)));
    assert_eq!((host.send(13_000_000), host.wakes), (None, Some(14_200_000)));
}

#[test]
fn a_change_alters_curves_and_nothing_else() {
    let running = params(&["name=a ls=1Mbit/s", "for=EF parent=a rt=1Mbit/s ls=1Mbit/s", "parent=a ls=1Mbit/s"]);
    let refused = |new: &[&str]| Line::new(&running).scheduler.retune(NOW, &params(new), &scope()).unwrap_err();
    let without = refused(&["name=a ls=1Mbit/s", "for=EF parent=a ls=1Mbit/s", "parent=a ls=1Mbit/s"]);
    assert_eq!((without.code, &*without.message), ("E202", "the change would alter which curves the classes have"));
    let moved = refused(&["name=a ls=1Mbit/s", "for=EF rt=1Mbit/s ls=1Mbit/s", "parent=a ls=1Mbit/s"]);
    assert_eq!((moved.code, &*moved.message), ("E202", "the change would alter the form of the tree of classes"));
}
