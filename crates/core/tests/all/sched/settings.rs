//! Parameters from a file: as written, with their errors.

use super::line::{LARGEST, NOW, classed, has_shares, params, read, scope};
use perhop_core::packet::{Colour, Packet};
use perhop_core::params::{CLASS, Node, Tree};
use perhop_core::port::Turn;
use perhop_core::sched::{Scheduler as _, SchedulerParams};

fn classes(all: &[&[(&'static str, Tree)]]) -> Tree {
    Tree::List(all.iter().map(|class| Node::from(Tree::table(class.to_vec()))).collect())
}

fn text(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}

fn refusal(params: &SchedulerParams) -> (&'static str, String) {
    let error = params.build(&scope()).unwrap_err();
    assert_eq!(error.field, "classes");
    assert!(!error.help.is_empty());
    assert!(error.to_string().contains(&*error.sentence()) && !error.sentence().contains(CLASS), "{error}");
    (error.code, error.sentence().into_owned())
}

#[test]
fn packets_go_to_the_first_class_that_matches_or_else_to_the_last() {
    let of = |member: &str| [("for", text(member)), ("weight", Tree::Integer(1))];
    let params = read("wrr", classes(&[&of("AF11"), &of("yellow"), &[("weight", Tree::Integer(1))]])).unwrap();
    let mut scheduler = params.build(&scope()).unwrap();
    assert_eq!(scheduler.places(), 3);
    let packet = |dscp: &str, colour| Packet { dscp: dscp.parse().unwrap(), colour, ..Packet::default() };
    let mut of = |dscp, colour| scheduler.place(Turn::testing(&packet(dscp, colour)));
    assert_eq!(of("AF11", Colour::Yellow), 0);
    assert_eq!(of("AF12", Colour::Yellow), 1);
    assert_eq!(of("AF12", Colour::Green), 2);
    assert_eq!(of("BE", Colour::Unmarked), 2);
}

#[test]
fn what_could_never_send_is_refused() {
    for name in classed() {
        assert_eq!(read(name, Tree::List(vec![])).unwrap_err(), ["E201"], "{name}: no class");
        let bare = params(name, &[1, 1]);
        if has_shares(&bare) {
            let (code, message) = refusal(&params(name, &[1, 0]));
            assert!(["E201", "E225"].contains(&code) && message.starts_with("class 2"), "{name}: {message}");
        }
    }
    let quantum = |bytes: u32| vec![("quantum", text(&format!("{bytes}B")))];
    let of = |bytes| read("drr", classes(&[&quantum(bytes)])).unwrap();
    assert!(of(LARGEST).build(&scope()).is_ok());
    assert_eq!(refusal(&of(LARGEST - 1)).0, "E225");
}

#[test]
fn a_class_that_no_packet_reaches_is_refused() {
    let member = |name: &str| ("for", text(name));
    let twice = classes(&[&[member("green")], &[member("green")], &[]]);
    assert_eq!(refusal(&read("strict-priority", twice).unwrap()).0, "E223");
    let first_takes_all = classes(&[&[], &[member("green")]]);
    assert_eq!(refusal(&read("strict-priority", first_takes_all).unwrap()).0, "E223");
}

/// Parameters of a scheduler with two classes of these names, which is what tells one from the other.
fn named(scheduler: &str, names: [&str; 2]) -> SchedulerParams {
    let mut shown = Vec::new();
    params(scheduler, &[1, 1]).show(&mut shown);
    let Some(Tree::List(mut all)) = shown.into_iter().find(|(key, _)| *key == "classes").map(|it| it.1) else {
        panic!("{scheduler} shows no list of classes")
    };
    for (class, name) in all.iter_mut().zip(names) {
        let Tree::Table(table) = &mut class.tree else { panic!("a class of {scheduler} is no table") };
        table.entries.push(("name".into(), class.place, Node::from(text(name))));
    }
    read(scheduler, Tree::List(all)).unwrap()
}

/// Of every scheduler over classes: results call a class by its name, and no two have the same.
#[test]
fn a_class_goes_by_its_name() {
    for scheduler in classed() {
        let outline = |params: &SchedulerParams| params.build(&scope()).unwrap().outline();
        let names = |params| outline(&params).into_iter().map(|class| class.name).collect::<Vec<_>>();
        assert_eq!(
            names(named(scheduler, ["voice", "rest"])),
            [Some("voice".into()), Some("rest".into())],
            "{scheduler}"
        );
        assert_eq!(names(params(scheduler, &[1, 1])), [None, None], "{scheduler}: it has none");
        assert_eq!(refusal(&named(scheduler, ["voice", "voice"])).0, "E002", "{scheduler}");
        let mut running = params(scheduler, &[1, 1]).build(&scope()).unwrap();
        running.retune(NOW, &named(scheduler, ["voice", "rest"]), &scope()).unwrap();
    }
}

/// What waits would be overtaken by what comes to another queue.
#[test]
fn a_running_one_keeps_its_classes_and_its_kind() {
    for name in classed() {
        let mut running = params(name, &[1, 2, 3]).build(&scope()).unwrap();
        let before = format!("{running:?}");
        for other in classed() {
            let fewer = running.retune(NOW, &params(other, &[1, 2]), &scope()).unwrap_err();
            assert_eq!(fewer.code, "E202", "{name} {other}");
        }
        assert_eq!(format!("{running:?}"), before, "what is refused changes nothing");
    }
}
