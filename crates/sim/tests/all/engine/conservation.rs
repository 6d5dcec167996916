//! No packet is lost unseen, whatever the network.

use crate::common::random::any_net;
use perhop_core::count::Count;
use perhop_sim::plan::TapPoint;
use perhop_sim::{EngineOptions, Outcome};
use proptest::prelude::*;

/// Packets and bytes at one place of a link, by the taps.
fn tapped(outcome: &Outcome, link: usize, point: TapPoint) -> Count {
    let here = outcome.captured.iter().filter(|c| c.link as usize == link && c.point == point);
    here.fold(Count::default(), |sum, c| sum + Count { packets: 1, bytes: u64::from(c.packet.size) })
}

/// Sum over the classes and colours of a link.
fn on_link(outcome: &Outcome, link: usize, of: impl Fn(&perhop_sim::record::HopRow) -> Count) -> Count {
    outcome.ports.hops.iter().filter(|h| h.link == link).map(of).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// The engine finds no breach in its own counts, and they are those of independent observers at the links' ends.
    #[test]
    fn every_packet_is_counted_once(mut net in any_net()) {
        net.plan.warmup = perhop_core::units::Span::ZERO;
        net.tap_all();
        let simulation = net.simulation(EngineOptions::default());
        let outcome = simulation.run(|_| true).unwrap();
        prop_assert_eq!(&outcome.faults.breaches, &Vec::<String>::new());
        for link in 0..net.plan.links.len() {
            let came = on_link(&outcome, link, |h| h.policed + h.fates.arrived);
            prop_assert_eq!(came, tapped(&outcome, link, TapPoint::Input), "link {} in", link);
            let left = on_link(&outcome, link, |h| h.delivered);
            prop_assert_eq!(left, tapped(&outcome, link, TapPoint::Output), "link {} out", link);
        }
        let sent: u64 = outcome.flows.iter().map(|f| f.counts.sent.packets).sum();
        prop_assert!(sent > 50, "{} packets", sent);
    }
}
