//! Limits of priority classes: what is beyond is dropped on arrival, always or while anything else waits.

use super::line::{NOW, read, scope};
use perhop_core::Scope;
use perhop_core::aqm::{Backlog, Departure};
use perhop_core::count::Count;
use perhop_core::needs::Needs;
use perhop_core::packet::Packet;
use perhop_core::params::{Node, Tree};
use perhop_core::port::Turn;
use perhop_core::rng::Rng;
use perhop_core::sched::{AnyScheduler, Scheduler as _, SchedulerParams, Visit};
use perhop_core::scope::Largest;
use perhop_core::units::{Bytes, Time};
use perhop_core::verdict::{Reason, Verdict};
use proptest::prelude::*;

/// Keys of a class.
type Keys<'a> = &'a [(&'static str, &'a str)];

/// Voice with these keys, and all else.
fn params(scheduler: &str, keys: Keys<'_>) -> SchedulerParams {
    let text = |text: &str| Tree::Text(text.to_owned());
    let voice = [("for", "EF")].iter().chain(keys).map(|&(key, value)| (key, text(value))).collect();
    let rest = if scheduler == "ets" { vec![("quantum", text("1500B"))] } else { vec![] };
    read(scheduler, Tree::List([voice, rest].map(|class| Node::from(Tree::table(class))).to_vec())).unwrap()
}

/// A packet arrives while so many wait at the port.
fn judge(scheduler: &mut AnyScheduler, now: u64, [child, size, waiting]: [u32; 3]) -> Verdict {
    let now = Time::from_ns(now);
    let at = Departure { now, arrived: now, backlog: Backlog::default() };
    let visit =
        Visit { child: child as usize, at, all: Count { packets: waiting.into(), bytes: 1500 * u64::from(waiting) } };
    let mut packet = Packet { size, ..Packet::default() };
    scheduler.on_arrival(Turn::testing(&visit), &mut packet, &mut Rng::stream(1, 0, "limit"))
}

proptest! {
    /// A bucket in exact fractions: bits x 10^9.
    #[test]
    fn what_finds_its_tokens_passes(
        arrivals in prop::collection::vec((0u64..3_000_000, 0u32..2, 40u32..1500, 0u32..3), 1..200),
        kbps in 100u64..20_000, burst in 1500u64..9000, congested: bool, ets: bool,
    ) {
        let police = if congested { "congested" } else { "always" };
        let (rate, bytes) = (format!("{kbps}kbit/s"), format!("{burst}B"));
        let keys = [("rate", rate.as_str()), ("burst", bytes.as_str()), ("police", police)];
        let mut running = params(if ets { "ets" } else { "strict-priority" }, &keys).build(&scope()).unwrap();
        prop_assert!(running.needs().contains(Needs::ARRIVALS));
        let full = u128::from(burst) * 8_000_000_000;
        let (mut now, mut filled, mut tokens) = (0, 0, full);
        for (gap, child, size, waiting) in arrivals {
            now += gap;
            let verdict = judge(&mut running, now, [child, size, waiting]);
            if child == 1 {
                prop_assert_eq!(verdict, Verdict::Pass, "the others have no limit");
                continue;
            }
            tokens = (tokens + u128::from(now - filled) * u128::from(kbps) * 1000).min(full);
            filled = now;
            let cost = u128::from(size) * 8_000_000_000;
            let conforms = tokens >= cost;
            tokens -= if conforms { cost } else { 0 };
            let passes = conforms || congested && waiting == 0;
            prop_assert_eq!(verdict, if passes { Verdict::Pass } else { Verdict::Drop(Reason::Policer) });
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let cases: [(Keys<'_>, &str, &str); 4] = [
        (&[("rate", "0bit/s")], "E201", "class 1: `rate` is 0"),
        (&[("rate", "1Mbit/s"), ("burst", "1499B")], "E212", "class 1: `burst` is 1499B, less than one packet"),
        (&[("burst", "3000B")], "E239", "class 1: `burst` has no effect without `rate`"),
        (&[("police", "always")], "E239", "class 1: `police` has no effect without `rate`"),
    ];
    for (keys, code, message) in cases {
        for scheduler in ["strict-priority", "ets"] {
            let error = params(scheduler, keys).build(&scope()).unwrap_err();
            assert_eq!((error.field, error.code, &*error.sentence()), ("classes", code, message));
        }
    }
    let shared = [("quantum", "1500B"), ("rate", "1Mbit/s")];
    assert_eq!(params("ets", &shared).build(&scope()).unwrap_err().code, "E239");
}

/// 200 ms at the rate, at least one packet; without a rate nothing is asked on arrival.
#[test]
fn the_default_burst_is_200_ms_of_the_rate() {
    for (rate, passing) in [("1200kbit/s", 20), ("60kbit/s", 1), ("12kbit/s", 1)] {
        let mut running = params("strict-priority", &[("rate", rate)]).build(&scope()).unwrap();
        let passed = (0..30).filter(|_| judge(&mut running, 0, [0, 1500, 1]) == Verdict::Pass).count();
        assert_eq!(passed, passing, "{rate}");
    }
    assert_eq!(params("ets", &[]).build(&scope()).unwrap().needs(), Needs::LENGTHS);
}

/// 200 ms at 8 kbit/s are 200 B, one packet of a class whose largest has 200 B; a change of the rate keeps to that class.
#[test]
fn the_default_burst_holds_a_packet_of_its_class() {
    let small = Largest { packet: Bytes::new(200), of: "voice".into() };
    let scope = Scope { classes: [small, Largest::default()].into(), ..scope() };
    let voice = params("strict-priority", &[("rate", "8kbit/s")]);
    let mut running = voice.build(&scope).unwrap();
    let mut passing = |now| (0..10).filter(|_| judge(&mut running, now, [0, 200, 1]) == Verdict::Pass).count();
    assert_eq!(passing(0), 1);
    running.retune(NOW, &voice, &scope).unwrap();
    let mut passing = |now| (0..10).filter(|_| judge(&mut running, now, [0, 200, 1]) == Verdict::Pass).count();
    assert_eq!(passing(10_000_000_000), 1);
}

#[test]
fn a_limit_can_change_but_not_come_or_go() {
    let [slow, quick] =
        ["1Mbit/s", "2Mbit/s"].map(|rate| params("strict-priority", &[("rate", rate), ("burst", "1500B")]));
    let mut running = slow.build(&scope()).unwrap();
    assert_eq!(judge(&mut running, 0, [0, 1500, 1]), Verdict::Pass);
    running.retune(NOW, &quick, &scope()).unwrap();
    // 6 ms at 2 Mbit/s are 1500 B.
    assert_eq!(judge(&mut running, 5_999_999, [0, 1500, 1]), Verdict::Drop(Reason::Policer));
    assert_eq!(judge(&mut running, 6_000_000, [0, 1500, 1]), Verdict::Pass);
    assert_eq!(running.retune(NOW, &params("strict-priority", &[]), &scope()).unwrap_err().code, "E202");
}
