//! A FIFO gives the same bytes on either kind of link: departure known on arrival, or an event at each transmission's end.

use crate::common::net::{Net, cbr};
use crate::common::random::any_net;
use perhop_core::units::{BitRate, Span};
use perhop_sim::EngineOptions;
use proptest::prelude::*;

/// Every row of the outcome, every packet at the ends of links that are tapped; and the number of events, which is what differs.
pub(crate) fn rows(net: &Net, transmit_done: bool) -> (String, u64) {
    let mut outcome = net.run_with(EngineOptions { transmit_done });
    let events = std::mem::take(&mut outcome.work.events);
    (format!("{outcome:#?}"), events)
}

/// The first line that differs, with what comes before it.
pub(crate) fn first_difference(a: &str, b: &str) -> String {
    let at = a.lines().zip(b.lines()).take_while(|(a, b)| a == b).count();
    let from = at.saturating_sub(12);
    let part = |text: &str| text.lines().skip(from).take(16).collect::<Vec<_>>().join("\n");
    format!("line {at}\n{}\n--- with the event\n{}", part(a), part(b))
}

fn assert_same(net: &mut Net) {
    net.tap_all();
    let [known, event] = [false, true].map(|transmit_done| rows(net, transmit_done).0);
    assert!(known == event, "{}", first_difference(&known, &event));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_kinds_of_link_give_the_same_bytes(mut net in any_net()) {
        assert_same(&mut net);
    }
}

/// At 3 bit/us a transmission never lasts a whole number of nanoseconds: the remainder of the division is carried to
/// the next
/// packet on both kinds of link.
#[test]
fn remainders_are_carried_on_both_kinds() {
    let mut net = Net::new(2, Span::from_s(1));
    net.link([0, 1], BitRate::mbps(3), Span::from_ms(1));
    net.link([1, 0], BitRate::mbps(3), Span::from_ms(1));
    for size in [100, 1000] {
        net.traffic([0, 1], cbr(BitRate::mbps(2), size));
    }
    assert_same(&mut net);
}
