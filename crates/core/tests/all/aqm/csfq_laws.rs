//! The laws of CSFQ, some hand-computed steps, and its parameters.

use super::csfq::{any_load, any_params, port, same_label};
use super::support::{self, RATE, packets};
use perhop_core::accounting::Accounting;
use perhop_core::aqm::csfq::Params;
use perhop_core::aqm::{AnyAqm, Aqm, AqmParams, Arrival, Backlog};
use perhop_core::math::{exp, pow};
use perhop_core::packet::{Ecn, Packet};
use perhop_core::params::{Place, Problems, Reader, Tree};
use perhop_core::port::Turn;
use perhop_core::units::{BitRate, Length, Span, Time};
use perhop_core::verdict::{Fate, Reason, Verdict};
use perhop_core::{Rng, Scope};
use proptest::prelude::*;

/// The defaults, with a threshold that is known.
fn params(threshold: Length) -> Params {
    Params { k_alpha: Span::from_ms(200), k_c: Span::from_ms(100), threshold, kdec: 29, ecn: false }
}

fn built(p: &Params, scope: &Scope) -> AnyAqm {
    AqmParams::Csfq(p.clone()).build(scope).unwrap()
}

fn any_accounting() -> impl Strategy<Value = Accounting> {
    prop::sample::select(vec![Accounting::L3, Accounting::L2, Accounting::L2Fcs, Accounting::L1])
}

/// Alpha, arrival rate, accepted rate.
fn gauges(aqm: &AnyAqm) -> [f64; 3] {
    let mut found = [f64::NAN; 3];
    let names = ["alpha_bytes_s", "arrival_rate_bytes_s", "accepted_rate_bytes_s"];
    aqm.gauges(Time::ZERO, &mut |name, value| found[names.iter().position(|n| *n == name).unwrap()] = value);
    found
}

/// A packet at `now` that finds `waiting` packets of 1000 bytes.
fn arrival(now: Time, waiting: u32, packet: &Packet) -> Arrival {
    let (packets, bytes) = (waiting, u64::from(waiting) * 1000);
    Arrival { now, backlog: Backlog { packets, bytes, room: true, ecn: packet.ecn.capable(), ..Backlog::default() } }
}

fn labelled(label: f32) -> Packet {
    let mut packet = Packet { size: 1000, ..Packet::default() };
    packet.set_label(label);
    packet
}

proptest! {
    /// No label, or a label of alpha at most: never dropped here. Else the packet leaves with min(label, alpha), which is
    /// never above the alpha that it was judged by or that it moved.
    #[test]
    fn slow_and_unlabelled_packets_pass(p in any_params(), load in any_load(), seed in any::<u64>()) {
        let (mut port, mut now) = (port(&p, Rng::stream(seed, 0, "queue")), Time::ZERO);
        for (gap, packet) in &load {
            now += *gap;
            let before = port.gauge(now, "alpha_bytes_s");
            let fate = port.arrive(now, *packet);
            let after = port.gauge(now, "alpha_bytes_s");
            prop_assert!(after >= 0.0);
            let label = packet.label().filter(|l| *l > 0.0 && l.is_finite()).map_or(0.0, f64::from);
            if before == 0.0 || label <= before {
                prop_assert!(matches!(fate, Fate::Queued | Fate::Dropped(Reason::Overflow)));
                prop_assert!(same_label(port.judged.label(), packet.label()));
            } else if fate == Fate::Queued && !(p.ecn && packet.ecn.capable()) {
                // Nothing but an overflow moves alpha after the label is written.
                let cut = if after > 0.0 { label.min(after) } else { label };
                prop_assert!(same_label(port.judged.label(), Some(cut as f32)));
            }
        }
    }

    /// With `ecn` the same packets are marked that are dropped without, the fair rate goes the same way, and marked flows
    /// keep their labels.
    #[test]
    fn marks_stand_where_drops_would(p in any_params(), load in any_load(), seed in any::<u64>(), waiting in 0u32..16) {
        let scope = support::scope(1000);
        let mut drops = built(&Params { ecn: false, ..p.clone() }, &scope);
        let mut marks = built(&Params { ecn: true, ..p }, &scope);
        let mut now = Time::ZERO;
        for (n, (gap, packet)) in load.iter().enumerate() {
            now += *gap;
            let rng = Rng::stream(seed, n as u32, "packet");
            let (mut of_drops, mut of_marks) = (*packet, Packet { ecn: Ecn::Ect0, ..*packet });
            let [dropped, marked] = [(&mut drops, &mut of_drops), (&mut marks, &mut of_marks)]
                .map(|(aqm, packet)| aqm.on_arrival(Turn::testing(&arrival(now, waiting, packet)), packet, &mut rng.clone()));
            prop_assert_eq!(dropped == Verdict::Drop(Reason::Early), marked == Verdict::Mark);
            prop_assert_eq!(dropped == Verdict::Pass, marked == Verdict::Pass);
            prop_assert_eq!(gauges(&drops), gauges(&marks));
            prop_assert_eq!(of_marks.label().map(f32::to_bits), packet.label().map(f32::to_bits));
        }
    }

    /// What `accounting` adds to a packet is not the link's: rates, fair rate and verdicts are those of what the link counts.
    #[test]
    fn accounting_does_not_narrow_the_link(load in any_load(), seed in any::<u64>(), [accounting, framing] in [any_accounting(), any_accounting()]) {
        let p = params(packets(4));
        let mut plain = built(&p, &Scope { accounting: framing, framing, ..support::scope(1000) });
        let mut counted = built(&p, &Scope { accounting, framing, ..support::scope(1000) });
        let mut now = Time::ZERO;
        for (n, (gap, packet)) in load.iter().enumerate() {
            now += *gap;
            let rng = Rng::stream(seed, n as u32, "packet");
            let of = |it: Accounting| Packet { size: packet.size + it.overhead(), ..*packet };
            let (mut sent, mut framed) = (of(framing), of(accounting));
            let at = arrival(now, 8, packet);
            let verdict = plain.on_arrival(Turn::testing(&at), &mut sent, &mut rng.clone());
            prop_assert_eq!(verdict, counted.on_arrival(Turn::testing(&at), &mut framed, &mut rng.clone()));
            prop_assert_eq!(gauges(&plain), gauges(&counted));
        }
    }
}

/// By hand, C = 1 250 000 B/s, K_alpha = 200 ms, threshold 4 packets. Alone: nothing measured. The second finds 3 waiting:
/// alpha unknown, its label kept in mind. The third finds 4: alpha is the largest label so far. A is far below C, so this
/// begins an uncongested window; its largest label sets alpha at its end, 100 ms later.
#[test]
fn the_first_fair_rate_by_hand() {
    let mut aqm = built(&params(packets(4)), &support::scope(16));
    let mut rng = Rng::stream(1, 0, "by hand");
    for (ms, waiting, label, alpha) in [
        (0, 9, 9e6, 0.0),
        (1, 3, 300_000.0, 0.0),
        (2, 4, 200_000.0, 300_000.0),
        (50, 4, 250_000.0, 300_000.0),
        (101, 4, 100_000.0, 300_000.0),
        (102, 4, 275_000.0, 250_000.0),
        (202, 3, 100_000.0, 0.0),
    ] {
        let (now, mut packet) = (Time::from_ns(ms * 1_000_000), labelled(label));
        assert_eq!(
            aqm.on_arrival(Turn::testing(&arrival(now, waiting, &packet)), &mut packet, &mut rng),
            Verdict::Pass,
            "{ms} ms"
        );
        assert_eq!(gauges(&aqm)[0], alpha, "{ms} ms");
    }
    let decay = |ms: f64| exp(-ms / 200.0);
    let gaps = [(1.0, 2000.0), (1.0, 1000.0), (48.0, 1000.0), (51.0, 1000.0), (1.0, 1000.0), (100.0, 1000.0)];
    let rate = gaps.iter().fold(0.0, |r, (ms, size)| (1.0 - decay(*ms)) * size / (ms / 1000.0) + decay(*ms) * r);
    assert!(gauges(&aqm)[1..].iter().all(|r| (r / rate - 1.0).abs() < 1e-12), "{:?} {rate}", gauges(&aqm));
}

/// 1000 bytes each 0.4 ms are twice C. With a queue above the threshold alpha is C/2 from the first estimate. A climbs
/// as 1 - e^(-t/K_alpha): while it is below C, the window's largest label sets alpha at 100 ms; 100 ms after it has reached
/// C, and each 100 ms from there, alpha = alpha C/F.
#[test]
fn windows_end_on_time() {
    let mut aqm = built(&params(packets(4)), &support::scope(16));
    let (mut rng, c) = (Rng::stream(1, 0, "windows"), RATE.bytes_s());
    let (mut steps, mut entered, mut before) = (Vec::new(), None, 0.0);
    for tick in 0..1200u64 {
        let (now, mut packet) = (Time::from_ns(tick * 400_000), labelled(500_000.0));
        aqm.on_arrival(Turn::testing(&arrival(now, 9, &packet)), &mut packet, &mut rng);
        let [alpha, arriving, accepted] = gauges(&aqm);
        entered = entered.or((arriving >= c).then_some(tick));
        if alpha != before {
            steps.push((tick, alpha, before * c / accepted));
        }
        before = alpha;
    }
    let entered = entered.unwrap();
    // ln 2 x 200 ms, less what the first packet adds to the first gap.
    assert!((340..350).contains(&entered), "{entered}");
    let ticks: Vec<u64> = steps.iter().map(|s| s.0).collect();
    assert_eq!(ticks, [1, 251, entered + 250, entered + 500, entered + 750], "{steps:?}");
    assert_eq!([steps[0].1, steps[1].1], [c / 2.0, 500_000.0]);
    assert!(steps[2..].iter().all(|(_, alpha, expected)| alpha == expected), "{steps:?}");
}

/// Each packet without room takes 1 % of alpha, `kdec` in a window at most; however many, a known alpha stays known.
#[test]
fn overflow_is_corrected_within_bounds() {
    let once = |kdec: u32, drops: u32| {
        let mut aqm = built(&Params { kdec, ..params(packets(0)) }, &support::scope(16));
        for ms in 0..2 {
            let mut packet = labelled(1000.0);
            let at = arrival(Time::from_ns(ms * 1_000_000), 0, &packet);
            aqm.on_arrival(Turn::testing(&at), &mut packet, &mut Rng::stream(0, 0, "unused"));
            (0..drops * ms as u32)
                .for_each(|_| aqm.on_fate(Turn::testing(&at), &packet, Fate::Dropped(Reason::Overflow)));
            for fate in [Fate::Queued, Fate::Marked, Fate::Dropped(Reason::Early)] {
                aqm.on_fate(Turn::testing(&at), &packet, fate);
            }
        }
        gauges(&aqm)[0] / (RATE.bytes_s() / 2.0)
    };
    assert_eq!([once(29, 0), once(0, 5)], [1.0, 1.0]);
    for (drops, counted) in [(1, 1), (5, 5), (29, 29), (40, 29)] {
        assert!((once(29, drops) / pow(0.99, counted.into()) - 1.0).abs() < 1e-12, "{drops}");
    }
    assert!(once(u32::MAX, 400_000) > 0.0);
}

/// New parameters and a new link: the measured rates and the fair rate are kept, bounds and windows are the new ones.
#[test]
fn a_retune_keeps_the_state() {
    let mut aqm = built(&params(packets(0)), &support::scope(16));
    let mut rng = Rng::stream(1, 0, "retune");
    for i in 0..500u64 {
        let mut packet = labelled(600_000.0);
        aqm.on_arrival(Turn::testing(&arrival(Time::from_ns(i * 500_000), 9, &packet)), &mut packet, &mut rng);
    }
    let before = gauges(&aqm);
    assert!(before.iter().all(|g| *g > 0.0), "{before:?}");
    let new = AqmParams::Csfq(Params { k_c: Span::from_ms(1), kdec: 3, ..params(packets(2)) });
    let narrow = Scope { link_rate: Some(BitRate::kbps(80)), ..support::scope(16) };
    aqm.retune(Time::from_ns(250_000_000), &new, &support::scope(16)).unwrap();
    assert_eq!(gauges(&aqm), before);
    aqm.retune(Time::from_ns(250_000_000), &new, &narrow).unwrap();
    // Labels of 600 000 B/s have been seen, so the bound of 10 000 B/s is not in force.
    assert_eq!(gauges(&aqm), before);
    let refused = [
        ("E201", AqmParams::Csfq(Params { k_c: Span::ZERO, ..params(packets(2)) })),
        ("E215", AqmParams::Csfq(params(packets(16)))),
        ("E202", AqmParams::DropTail(perhop_core::aqm::drop_tail::Params {})),
    ];
    let state = format!("{aqm:?}");
    for (code, params) in refused {
        assert_eq!(aqm.retune(Time::ZERO, &params, &support::scope(16)).unwrap_err().code, code);
        assert_eq!(format!("{aqm:?}"), state);
    }
}

fn read(entries: Vec<(&'static str, Tree)>) -> AqmParams {
    let Tree::Table(table) = Tree::table(entries) else { unreachable!() };
    let mut problems = Problems::default();
    let params = AqmParams::read("csfq", Place::default(), &mut Reader::new(&table, Place::default(), &mut problems));
    params.unwrap_or_else(|| panic!("{:?}", problems.list))
}

/// Defaults as the head says; each refusal, its code and the key it names.
#[test]
fn settings() {
    assert_eq!(read(vec![]), AqmParams::Csfq(params(Length::Percent(25.0))));
    let no_rate = Scope { link_rate: None, ..support::scope(50) };
    let no_limit = Scope { limit: None, ..support::scope(50) };
    let text = |key, value: &str| vec![(key, Tree::Text(value.into()))];
    for (entries, scope, code, field) in [
        (text("k-alpha", "0s"), support::scope(50), "E201", "k-alpha"),
        (text("k-c", "0s"), support::scope(50), "E201", "k-c"),
        (text("threshold", "50p"), support::scope(50), "E215", "threshold"),
        (text("threshold", "100%"), support::scope(50), "E215", "threshold"),
        (vec![], no_rate, "E218", "aqm"),
        (vec![], no_limit, "E218", "threshold"),
    ] {
        let error = read(entries).build(&scope).unwrap_err();
        assert_eq!((error.code, error.field), (code, field));
        assert!(!error.help.is_empty());
    }
    assert!(read(text("threshold", "49p")).build(&support::scope(50)).is_ok());
    assert!(read(text("threshold", "16kB")).build(&support::scope(50)).is_ok());
}
