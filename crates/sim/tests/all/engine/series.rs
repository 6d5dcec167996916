//! Series: for the requested links, and the same as when all are sampled. And what a port is told about a flow.

use crate::common::net::{Net, bulk};
use perhop_core::classify::Match;
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::packet::Colour;
use perhop_core::port::edge::{Action, Per, StageSpec};
use perhop_core::scope::Scope;
use perhop_core::units::{BitRate, Bytes, Probability, Span};
use perhop_sim::plan::Sampling;
use perhop_sim::traffic::{TrafficParams, cbr};

fn source(rate: BitRate) -> TrafficParams {
    TrafficParams::Cbr(cbr::Params { rate, size: Bytes::new(1000), jitter: Probability::ZERO, random_phase: false })
}

/// Two sources of 4 Mbit/s each over a fast and a slow link.
fn net() -> Net {
    let mut net = Net::new(3, Span::from_s(2));
    net.duplex([0, 1], BitRate::mbps(100), Span::from_ms(1));
    net.duplex([1, 2], BitRate::mbps(6), Span::from_ms(1));
    for _ in 0..2 {
        net.traffic([0, 2], source(BitRate::mbps(4)));
    }
    net.plan.sampling = Some(Sampling::all(Span::from_ms(100)));
    net
}

#[test]
fn series_are_of_the_links_asked_for() {
    let (all, mut some) = (net().run(), net());
    some.plan.sampling.iter_mut().for_each(|it| it.links = Some(vec![2]));
    let some = some.run();
    let mine: Vec<_> = all.series.ports.iter().filter(|s| s.link == 2).cloned().collect();
    assert!(mine.iter().any(|s| s.value > 10.0), "packets wait there");
    assert_eq!(some.series.ports, mine);
    assert!(some.series.flows.is_empty() && !all.series.flows.is_empty());
}

/// TCP's begins with two segments and opens; datagrams have none.
#[test]
fn flows_tell_their_windows() {
    let mut net = net();
    net.traffic([0, 2], bulk());
    let samples = net.run().series.flows;
    let windows: Vec<f64> = samples.iter().filter(|s| s.table == 2).filter_map(|s| s.cwnd).collect();
    assert_eq!(windows.len(), samples.iter().filter(|s| s.table == 2).count());
    assert!(windows.iter().all(|w| *w >= 1.0) && windows.iter().any(|w| *w > 4.0), "{windows:?}");
    assert!(samples.iter().all(|s| s.table == 2 || s.cwnd.is_none()));
}

/// A bucket with room for one packet that fills at 8 bit/s: one green packet per class.
#[test]
fn a_port_knows_the_classes_of_its_flows() {
    for (classes, green) in [([0, 0], 1), ([0, 1], 2)] {
        let mut net = net();
        net.plan.classes = vec!["a".into(), "b".into()].into();
        for (offered, class) in net.plan.traffic.iter_mut().zip(classes) {
            offered.class = class;
        }
        let params = ConditionerParams::TokenBucketMarker(token_bucket::Params::new(BitRate::bps(8), Bytes::new(1500)));
        let (matches, scope) = (Match::default(), Scope::default());
        let actions = [Action::TRANSMIT; 4];
        net.plan.links[0].edge = vec![StageSpec { name: "m".into(), matches, per: Per::Class, params, actions, scope }];
        let outcome = net.run();
        let hops = outcome.ports.hops.iter().filter(|row| row.link == 0 && row.colour == Colour::Green);
        assert_eq!(hops.map(|row| row.delivered.packets).sum::<u64>(), green, "{classes:?}");
    }
}
