//! What a conditioner does with a packet: code points, colours, and conditioners in a row against each on its own.

use super::scope;
use crate::common::load::arrivals;
use crate::oracle::{self, Oracle};
use perhop_core::classify::{FlowHeaders, Match};
use perhop_core::conditioner::{ConditionerParams, Passage, marker, srtcm, token_bucket, trtcm};
use perhop_core::dscp::Dscp;
use perhop_core::framing::Framing;
use perhop_core::packet::{Colour, FlowId, Packet};
use perhop_core::port::Port;
use perhop_core::port::edge::{Action, ColourMatrix, Edge, Per, Rewrite, StageSpec, arrived};
use perhop_core::units::{BitRate, Burst, Bytes, Time};
use perhop_core::verdict::{Fate, Reason};
use proptest::prelude::*;

const CODES: [&str; 4] = ["BE", "AF11", "AF12", "EF"];

fn code(name: &str) -> Dscp {
    name.parse().unwrap()
}

fn action() -> impl Strategy<Value = Action> {
    let dscp = prop::option::of(prop::sample::select(CODES.to_vec()));
    let colour = prop::option::of(prop::sample::select(Colour::ALL.to_vec()));
    let pass = (dscp, colour, any::<bool>()).prop_map(|(dscp, colour, next)| {
        let dscp = dscp.map(code);
        Action::Pass(Rewrite { dscp, colour, next })
    });
    prop_oneof![4 => pass, 1 => Just(Action::Drop)]
}

/// Meters and a marker, blind and aware of colours, of 50 kbit/s to 50 Mbit/s.
fn params() -> impl Strategy<Value = ConditionerParams> {
    let rate = (50u64..50_000).prop_map(|kbps| BitRate::bps(kbps * 1000));
    let burst = || (1500u64..9000).prop_map(|bytes| Burst::Bytes(Bytes::new(bytes)));
    (rate, burst(), burst(), any::<bool>(), 0..4).prop_map(|(rate, cbs, ebs, colour_aware, kind)| {
        let (cir, framing) = (rate.into(), Framing::default());
        match kind {
            0 => ConditionerParams::TokenBucketMarker(token_bucket::Params::new(rate, cbs)),
            1 => ConditionerParams::SrTcm(srtcm::Params { cir, cbs, ebs, colour_aware, framing }),
            2 => {
                let pir = BitRate::bps(rate.bit_s() * 3 / 2).into();
                ConditionerParams::TrTcm(trtcm::Params { cir, cbs, pir, pbs: ebs, colour_aware, framing })
            }
            _ => ConditionerParams::Marker(marker::Params { colour: marker::Mark::Yellow }),
        }
    })
}

fn stage() -> impl Strategy<Value = StageSpec> {
    let dscp = prop::collection::vec(prop::sample::select(CODES.to_vec()), 0..3);
    (params(), dscp, [action(), action(), action(), action()]).prop_map(|(params, dscp, actions)| StageSpec {
        name: "m".into(),
        matches: Match { dscp: dscp.into_iter().map(code).collect(), ..Match::default() },
        per: Per::Aggregate,
        params,
        actions,
        scope: scope(),
    })
}

fn headers() -> FlowHeaders {
    FlowHeaders {
        protocol: 17,
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        source_port: 5001,
        destination_port: 9,
        traffic: String::new(),
        class: String::new(),
        rtt: None,
    }
}

/// What a packet passed through.
#[derive(Default)]
struct Story {
    /// For each conditioner whether it took the packet.
    taken: Vec<bool>,
    dropped: bool,
}

/// One conditioner after the other by hand. An action is read from its words, as a person would.
fn by_hand(stages: &[StageSpec], meters: &mut [Box<dyn Oracle>], now: u64, packet: &mut Packet) -> Story {
    let mut story = Story { taken: vec![false; stages.len()], dropped: false };
    for (i, stage) in stages.iter().enumerate() {
        if !stage.matches.dscp.is_empty() && !stage.matches.dscp.contains(&packet.dscp) {
            continue;
        }
        story.taken[i] = true;
        meters[i].mark(now, packet, 0.5);
        let said = stage.actions[packet.colour.index()].to_string();
        if said == "drop" {
            story.dropped = true;
            return story;
        }
        for word in said.split(", ") {
            if let Some(dscp) = word.strip_prefix("mark ") {
                packet.dscp = code(dscp);
            }
            if let Some(name) = word.strip_prefix("colour ") {
                packet.colour = Colour::ALL.into_iter().find(|colour| colour.name() == name).unwrap();
            }
        }
        if !said.ends_with("next") {
            return story;
        }
    }
    story
}

fn total(counts: &ColourMatrix) -> u64 {
    arrived(counts).iter().map(|count| count.packets).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Of each packet one result at each conditioner that takes it, and the same packet behind all of them.
    #[test]
    fn conditioners_in_a_row_are_each_on_its_own(
        stages in prop::collection::vec(stage(), 1..5),
        load in arrivals(120),
        codes in prop::collection::vec(prop::sample::select(CODES.to_vec()), 120),
    ) {
        let mut meters: Vec<_> = stages.iter().map(|it| oracle::of(&it.params, &it.scope).unwrap()).collect();
        let mut port = Port::of_edge(Edge::new(stages.clone(), 1, 0).unwrap());
        port.register(FlowId(0), &headers());
        let mut taken = vec![0; stages.len()];
        for (i, (offered, dscp)) in load.iter().zip(codes).enumerate() {
            let mut expected = Packet { flow: FlowId(0), dscp: code(dscp), ..offered.packet };
            let mut packet = expected;
            let story = by_hand(&stages, &mut meters, offered.at.ns(), &mut expected);
            let fate = port.arrive(&Passage::of(offered.at, packet.flow), &mut packet, ());
            prop_assert_eq!(fate == Fate::Dropped(Reason::Policer), story.dropped, "packet {}", i);
            if !story.dropped {
                prop_assert!(port.next(offered.at, &mut packet).is_some());
                prop_assert_eq!((packet.dscp, packet.colour), (expected.dscp, expected.colour), "packet {}", i);
            }
            taken.iter_mut().zip(story.taken).for_each(|(sum, it)| *sum += u64::from(it));
        }
        let counted: Vec<_> = port.edge().counts().map(|it| total(it.counts)).collect();
        prop_assert_eq!(counted, taken);
    }

    #[test]
    fn an_action_is_what_its_words_say(action in action()) {
        prop_assert_eq!(action.to_string().parse::<Action>(), Ok(action));
    }
}

#[test]
fn contradictions_are_refused() {
    for (text, says) in [
        ("drop, colour yellow", "contradicts itself"),
        ("mark AF11, drop", "contradicts itself"),
        ("transmit, next", "contradicts itself"),
        ("colour yellow, colour red", "has `colour` more than once"),
        ("next, next", "has `next` more than once"),
        ("mark AF11, mark AF12", "has `mark` more than once"),
        ("colour blue", "`blue` is not a colour"),
        ("mark AF99", "`AF99` is not a DSCP"),
        ("pipe", "`pipe` is not an action"),
        ("", "`` is not an action"),
        ("next,", "`` is not an action"),
    ] {
        let [message, help] = text.parse::<Action>().unwrap_err();
        assert!(message.contains(says), "{text}: {message}");
        assert!(!help.is_empty(), "{text}");
    }
}

/// A meter that looks at colours sees the one that the action before it gave: red for the first is yellow for it.
#[test]
fn the_next_meter_sees_the_colour_that_was_given() {
    let deep = Bytes::new(15_000);
    let spec = |params, red: &str| StageSpec {
        name: "m".into(),
        matches: Match::default(),
        per: Per::Aggregate,
        params,
        actions: [Action::TRANSMIT, Action::TRANSMIT, red.parse().unwrap(), Action::TRANSMIT],
        scope: scope(),
    };
    let first = token_bucket::Params::new(BitRate::bps(8), Bytes::new(1500));
    let (cir, framing) = (BitRate::bps(8).into(), Framing::default());
    let aware = srtcm::Params { cir, cbs: deep.into(), ebs: deep.into(), colour_aware: true, framing };
    for (red, expected) in
        [("next", Colour::Red), ("colour yellow, next", Colour::Yellow), ("colour green, next", Colour::Green)]
    {
        let stages = vec![
            spec(ConditionerParams::TokenBucketMarker(first.clone()), red),
            StageSpec {
                actions: [Action::mark(code("EF")); 4],
                ..spec(ConditionerParams::SrTcm(aware.clone()), "drop")
            },
        ];
        let mut port = Port::of_edge(Edge::new(stages, 1, 0).unwrap());
        port.register(FlowId(0), &headers());
        let colours = [0, 1].map(|_| {
            let mut packet = Packet { size: 1500, ..Packet::default() };
            let _ = port.arrive(&Passage::of(Time::ZERO, FlowId(0)), &mut packet, ());
            assert!(port.next(Time::ZERO, &mut packet).is_some());
            (packet.colour, packet.dscp)
        });
        assert_eq!(colours, [(Colour::Green, Dscp::BE), (expected, code("EF"))], "{red}");
    }
}
