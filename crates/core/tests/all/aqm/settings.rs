//! Parameters from a file: as written, with their errors.

use super::support::{packets, profile, scope};
use perhop_core::aqm::early::{Beyond, Common, Counted, Level, Spacing, Unit, Weight};
use perhop_core::aqm::rio::{self, Mode};
use perhop_core::aqm::wred::{self, Member};
use perhop_core::aqm::{AqmParams, red};
use perhop_core::arithmetic::Arithmetic;
use perhop_core::packet::Colour;
use perhop_core::params::{Node, Place, Problems, Reader, Tree};
use perhop_core::units::{Bytes, Length, Packets};
use perhop_core::{ParamError, Scope};

type Entries = Vec<(&'static str, Tree)>;

fn text(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}

fn list(items: Vec<Tree>) -> Tree {
    Tree::List(items.into_iter().map(Node::from).collect())
}

fn thresholds(min: &str, max: &str) -> Entries {
    vec![("min", text(min)), ("max", text(max))]
}

fn read(name: &str, entries: Entries) -> Result<AqmParams, Vec<&'static str>> {
    let Tree::Table(table) = Tree::table(entries) else { unreachable!() };
    let mut problems = Problems::default();
    let mut reader = Reader::new(&table, Place::default(), &mut problems);
    let params = AqmParams::read(name, Place::default(), &mut reader);
    reader.finish();
    let codes: Vec<_> = problems.list.iter().map(|p| p.code).collect();
    params.filter(|_| codes.is_empty()).ok_or(codes)
}

fn build(name: &str, entries: Entries, scope: &Scope) -> Result<(), ParamError> {
    read(name, entries).unwrap().build(scope).map(|_| ())
}

fn defaults() -> Common {
    Common {
        weight: Weight(0.002),
        mean_packet: Bytes::new(500),
        spacing: Spacing::Uniformised,
        beyond: Beyond::Drop,
        ecn: false,
    }
}

/// The RIO of the PAM paper's figures, as its scenario file writes it.
#[test]
fn rio_as_written() {
    let side = |min, max, p| {
        let mut entries = thresholds(min, max);
        entries.push(("max-p", Tree::Float(p)));
        Tree::table(entries)
    };
    let written = vec![("wq", Tree::Float(0.002)), ("in", side("15p", "30p", 0.02)), ("out", side("5p", "15p", 0.2))];
    let expected = rio::Params {
        in_profile: profile(packets(15), packets(30), 0.02),
        out_profile: profile(packets(5), packets(15), 0.2),
        mode: Mode::RioC,
        common: defaults(),
    };
    assert_eq!(read("rio", written), Ok(AqmParams::Rio(expected)));
}

/// Defaults are those of the table in the file's head.
#[test]
fn red_with_defaults() {
    let expected = red::Params {
        profile: profile(packets(5), packets(15), 0.1).into(),
        common: defaults(),
        min_waiting: Packets::new(0),
        arithmetic: Arithmetic::Exact,
        adaptive: false,
    };
    assert_eq!(read("red", thresholds("5p", "15p")), Ok(AqmParams::Red(expected)));
}

#[test]
fn wred_as_written() {
    let class = |names: &[&str], min, max| {
        let members = list(names.iter().map(|n| text(n)).collect());
        let of = (!names.is_empty()).then_some(("for", members));
        Tree::table(thresholds(min, max).into_iter().chain(of).collect())
    };
    let profiles = list(vec![class(&["AF11", "46", "green"], "20p", "40p"), class(&[], "10p", "20p")]);
    let dscp = |name: &str| Member::Dscp(name.parse().unwrap());
    let members = vec![dscp("AF11"), dscp("EF"), Member::Colour(Colour::Green)];
    let expected = wred::Params {
        profiles: vec![
            wred::Class { filter: members.into(), profile: profile(packets(20), packets(40), 0.1).into() },
            wred::Class { filter: Default::default(), profile: profile(packets(10), packets(20), 0.1).into() },
        ],
        averages: Counted::Common,
        common: defaults(),
    };
    let written = |averages: &str| vec![("profiles", profiles.clone()), ("averages", text(averages))];
    assert_eq!(read("wred", vec![("profiles", profiles.clone())]), Ok(AqmParams::Wred(expected.clone())));
    for (name, averages) in [("coupled", Counted::Coupled), ("separate", Counted::Separate)] {
        let expected = wred::Params { averages, ..expected.clone() };
        assert_eq!(read("wred", written(name)), Ok(AqmParams::Wred(expected)));
    }
    assert_eq!(read("wred", written("rio-c")), Err(vec!["E006"]));
}

#[test]
fn a_weight_is_written_once() {
    let with = |more: Entries| read("red", [thresholds("5p", "15p"), more].concat());
    let exponent = with(vec![("weight", Tree::Integer(9))]);
    assert_eq!(exponent, with(vec![("wq", Tree::Float(0.001953125))]));
    assert!(exponent.is_ok());
    assert_eq!(with(vec![("wq", Tree::Float(0.002)), ("weight", Tree::Integer(9))]), Err(vec!["E217"]));
    assert_eq!(with(vec![("weight", Tree::Integer(33))]), Err(vec!["E201"]));
    assert_eq!(with(vec![("weight", text("9"))]), Err(vec!["E003"]));
}

#[test]
fn names_that_are_none() {
    let with = |key, name| read("red", [thresholds("5p", "15p"), vec![(key, text(name))]].concat());
    assert_eq!(with("spacing", "uniform"), Err(vec!["E006"]));
    assert_eq!(with("beyond", "gentel"), Err(vec!["E006"]));
    let class = [thresholds("5p", "15p"), vec![("for", text("blue"))]].concat();
    assert_eq!(read("wred", vec![("profiles", Tree::table(class))]), Err(vec!["E220"]));
}

/// Every refusal, its code and what it names.
#[test]
fn refused() {
    let no_rate = Scope { link_rate: None, ..scope(50) };
    let no_limit = Scope { limit: None, ..scope(50) };
    let faults = [
        (thresholds("15p", "5p"), scope(50), "E214", "`min` 15p is not below `max` 5p"),
        (thresholds("5p", "5p"), scope(50), "E214", "`min` 5p is not below `max` 5p"),
        (thresholds("50p", "60p"), scope(50), "E215", "`min` 50p is not below the queue's limit 50p"),
        (thresholds("5p", "15kB"), scope(50), "E219", "`min` 5p is measured in packets, `max` 15000B in bytes"),
        (thresholds("5p", "15p"), no_rate.clone(), "E218", "`mean-packet` needs the rate of the link behind the queue"),
        (thresholds("1ms", "5ms"), no_rate, "E218", "`min` needs the rate of the link behind the queue"),
        (thresholds("5%", "50%"), no_limit, "E218", "`min` is a share of the queue's limit, which is not known"),
    ];
    for (entries, scope, code, message) in faults {
        let error = build("red", entries, &scope).unwrap_err();
        assert_eq!((error.code, &*error.message), (code, message));
        assert!(!error.help.is_empty());
    }
    let settings = [("wq", Tree::Float(0.0)), ("wq", Tree::Float(1.5)), ("mean-packet", text("0B"))];
    for (key, value) in settings {
        let error = build("red", [thresholds("5p", "15p"), vec![(key, value)]].concat(), &scope(50)).unwrap_err();
        assert_eq!((error.code, error.field), ("E201", key));
    }
}

/// Errors in `in` and `out` name them; units must agree between the two.
#[test]
fn refused_in_rio() {
    let rio = |a: Entries, b: Entries| {
        let entries = vec![("in", Tree::table(a)), ("out", Tree::table(b))];
        let error = build("rio", entries, &scope(50)).unwrap_err();
        (error.code, error.field, error.message)
    };
    let good = || thresholds("5p", "15p");
    let crossed = "`min` 9p is not below `max` 5p";
    assert_eq!(rio(thresholds("9p", "5p"), good()), ("E214", "in", format!("`in`: {crossed}")));
    assert_eq!(rio(good(), thresholds("9p", "5p")), ("E214", "out", format!("`out`: {crossed}")));
    assert_eq!(rio(good(), thresholds("5kB", "9kB")).0, "E219");
    let beyond = "`out`: `min` 60p is not below the queue's limit 50p";
    assert_eq!(rio(thresholds("50p", "60p"), thresholds("60p", "70p")), ("E215", "out", beyond.into()));
    let sides = vec![("in", Tree::table(good())), ("out", Tree::table(good())), ("wq", Tree::Float(0.0))];
    let error = build("rio", sides, &scope(50)).unwrap_err();
    assert_eq!((error.code, error.field), ("E201", "wq"));
}

#[test]
fn refused_in_wred() {
    let wred = |classes: Vec<Vec<&str>>, max: &str| {
        let class = |names: Vec<&str>| {
            let members = list(names.iter().copied().map(text).collect());
            let of = (!names.is_empty()).then_some(("for", members));
            Tree::table(thresholds("5p", max).into_iter().chain(of).collect())
        };
        let profiles = list(classes.into_iter().map(class).collect());
        build("wred", vec![("profiles", profiles)], &scope(50)).map_err(|e| (e.code, e.message))
    };
    let code = |classes, max| wred(classes, max).unwrap_err().0;
    assert_eq!(wred(vec![vec!["green"], vec!["AF11", "yellow"], vec![]], "15p"), Ok(()));
    assert_eq!(read("wred", vec![("profiles", list(vec![]))]), Err(vec!["E201"]), "no profile");
    let nothing = Tree::table([thresholds("5p", "15p"), vec![("for", list(vec![]))]].concat());
    assert_eq!(read("wred", vec![("profiles", list(vec![nothing]))]), Err(vec!["E201"]), "a profile for an empty list");
    assert_eq!(code(vec![vec![], vec!["green"]], "15p"), "E223");
    assert_eq!(code(vec![vec!["green"], vec!["red", "green"]], "15p"), "E223");
    let class = |name, thresholds: Entries| Tree::table([thresholds, vec![("for", text(name))]].concat());
    let mixed = vec![class("green", thresholds("5kB", "9kB")), class("red", thresholds("5p", "15p"))];
    let error = build("wred", vec![("profiles", list(mixed))], &scope(50)).unwrap_err();
    assert_eq!((error.code, error.field), ("E219", "profiles"));
    let (code, message) = wred(vec![vec!["green"], vec![]], "5p").unwrap_err();
    assert_eq!((code, &*message), ("E214", "profile 1: `min` 5p is not below `max` 5p"));
}

/// Time at the link's rate, a share of the limit, in the unit of the limit.
#[test]
fn lengths_become_packets_or_bytes() {
    let level = |text: &str, scope: &Scope| Level::of("min", text.parse().unwrap(), scope).unwrap();
    let of = |unit, value| Level { unit, value };
    let bytes = Scope { limit: Some(Length::Bytes(Bytes::new(60_000))), ..scope(50) };
    let time = Scope { limit: Some("8ms".parse().unwrap()), ..scope(50) };
    assert_eq!(level("7p", &bytes), of(Unit::Packets, 7.0));
    assert_eq!(level("9kB", &scope(50)), of(Unit::Bytes, 9000.0));
    assert_eq!(level("5ms", &scope(50)), of(Unit::Bytes, 6250.0));
    assert_eq!(level("25%", &scope(50)), of(Unit::Packets, 12.5));
    assert_eq!(level("25%", &bytes), of(Unit::Bytes, 15_000.0));
    assert_eq!(level("25%", &time), of(Unit::Bytes, 2500.0));
}

/// ECN: a capable packet is marked where another is dropped early; beyond the ramp both are dropped.
#[test]
fn ecn() {
    use perhop_core::conditioner::Passage;
    use perhop_core::packet::{Ecn, FlowId, Packet};
    use perhop_core::port::{Gate, Limit, Port};
    use perhop_core::units::Time;
    use perhop_core::verdict::{Fate, Reason};
    let fate = |ecn, allowed, waiting| {
        let common = Common { ecn: allowed, weight: Weight(1.0), ..defaults() };
        let params = |min, max| super::support::red(profile(packets(min), packets(max), 1.0), common.clone());
        let aqm = params(40, 50).build(&scope(50)).unwrap();
        let mut port = Port::of_gate(Gate::new(aqm, Limit::Packets(50), perhop_core::Rng::stream(0, 0, "ecn")));
        let at = Passage::of(Time::ZERO, FlowId(0));
        (0..waiting).for_each(|_| assert_eq!(port.arrive(&at, &mut Packet::default(), ()), Fate::Queued));
        port.retune_aqm(Time::ZERO, 0, &params(0, 10), &scope(50)).unwrap();
        let mut packet = Packet { ecn, ..Packet::default() };
        let fates = (0..100).map(|_| {
            let fate = port.arrive(&at, &mut packet, ());
            if fate.stays() {
                port.next(Time::ZERO, &mut packet);
            }
            fate
        });
        fates.filter(|f| *f != Fate::Queued).last().unwrap()
    };
    // RFC 3168 section 5: both ECT code points, and CE, are ECN-capable
    for capable in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        assert_eq!(fate(capable, true, 5), Fate::Marked);
        assert_eq!(fate(capable, false, 5), Fate::Dropped(Reason::Early));
        assert_eq!(fate(capable, true, 10), Fate::Dropped(Reason::Forced));
    }
    assert_eq!(fate(Ecn::NotEct, true, 5), Fate::Dropped(Reason::Early));
}
