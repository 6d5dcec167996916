//! What `accounting` adds to a packet is not the link's: AQMs that compare arrivals with the link's rate count what the link
//! counts.

use super::support::{self, packets};
use perhop_core::accounting::Accounting;
use perhop_core::aqm::virtual_buffer::Counting;
use perhop_core::aqm::{Aqm, AqmParams, Arrival, Backlog, avq, rem};
use perhop_core::packet::Packet;
use perhop_core::params::{Place, Problems, Reader, Tree};
use perhop_core::port::Turn;
use perhop_core::units::{Bytes, Probability, Span, Time};
use perhop_core::verdict::{Fate, Verdict};
use perhop_core::{Rng, Scope};

fn rem() -> AqmParams {
    AqmParams::Rem(rem::Params {
        reference: packets(5),
        gamma: 0.01,
        alpha: 0.1,
        phi: 1.01,
        interval: Span::from_ms(10),
        mean_packet: Bytes::new(1000),
        ecn: false,
    })
}

fn avq() -> AqmParams {
    let (gamma, counting) = (Probability::new(0.9).unwrap(), Counting::Offered);
    let (buffer, mean_packet) = (packets(10), Bytes::new(1000));
    AqmParams::Avq(avq::Params { alpha: 0.15, gamma, buffer, counting, mean_packet, ecn: false })
}

fn svb() -> AqmParams {
    let Tree::Table(table) = Tree::table(vec![("threshold", Tree::Text("8p".into()))]) else { unreachable!() };
    let mut problems = Problems::default();
    let read = AqmParams::read("svb", Place::default(), &mut Reader::new(&table, Place::default(), &mut problems));
    read.unwrap_or_else(|| panic!("{:?}", problems.list))
}

/// All verdicts and gauges over 1.25 times the link's rate, of packets of which the link counts 1000 B.
fn story(params: &AqmParams, accounting: Accounting, framing: Accounting) -> (Vec<Verdict>, Vec<f64>) {
    let mut aqm = params.build(&Scope { accounting, framing, ..support::scope(100) }).unwrap();
    let (mut rng, mut verdicts, mut gauges) = (Rng::stream(1, 0, "queue"), Vec::new(), Vec::new());
    for n in 0..2000u64 {
        let now = Time::from_ns(n * 640_000);
        let backlog = Backlog { packets: 8, bytes: 8000, room: true, ..Backlog::default() };
        while aqm.poll_at().is_some_and(|at| at <= now) {
            aqm.on_timer(Turn::testing(now), &backlog);
        }
        let mut packet = Packet { size: framing.to(accounting).bytes(1000), ..Packet::default() };
        let at = Arrival { now, backlog };
        let verdict = aqm.on_arrival(Turn::testing(&at), &mut packet, &mut rng);
        let fate = if let Verdict::Drop(reason) = verdict { Fate::Dropped(reason) } else { Fate::Queued };
        aqm.on_fate(Turn::testing(&at), &packet, fate);
        verdicts.push(verdict);
        aqm.gauges(now, &mut |_, value| gauges.push(value));
    }
    (verdicts, gauges)
}

#[test]
fn the_link_counts_what_its_framing_says() {
    for params in [rem(), avq(), svb()] {
        let plain = story(&params, Accounting::L3, Accounting::L3);
        assert!(plain.0.iter().any(|verdict| *verdict != Verdict::Pass), "{}", params.name());
        for accounting in [Accounting::L3, Accounting::L2, Accounting::L1] {
            for framing in [Accounting::L3, Accounting::L2Fcs, Accounting::L1] {
                let name = params.name();
                assert_eq!(plain, story(&params, accounting, framing), "{name}: {accounting:?} on {framing:?}");
            }
        }
    }
}
