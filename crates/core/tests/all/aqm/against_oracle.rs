//! Packet for packet as the oracle, on the same draws.

use super::support::{self, CODE_POINTS, Load, RATE};
use crate::common::port::Port;
use crate::oracle::aqm_early::{Oracle, Rule, Seen};
use crate::oracle::tred::Expectation;
use perhop_core::Rng;
use perhop_core::aqm::AqmParams;
use perhop_core::aqm::early::{Beyond, Common, Counted, Profile};
use perhop_core::aqm::rio::Mode;
use perhop_core::aqm::tred;
use perhop_core::aqm::wred::Member;
use perhop_core::packet::{Colour, Packet};
use perhop_core::port::{Gate, Limit};
use perhop_core::units::{Bytes, Length, Time};
use proptest::prelude::*;

/// Bytes that a threshold of one packet becomes in byte mode.
const PACKET: u32 = 800;

/// WRED with one average, coupled, separate: `wred`, `wred-c`, `wred-d`.
const SYSTEMS: [&str; 7] = ["red", "rio-c", "rio-d", "wred", "wred-c", "wred-d", "tred"];

/// Thresholds in packets, and for whom.
type Numbers = (u32, u32, f64);

#[derive(Clone, Debug)]
struct Setting {
    system: &'static str,
    numbers: Vec<Numbers>,
    in_bytes: bool,
    common: Common,
    tred: tred::Params,
    limit: u32,
    load: Load,
}

fn settings() -> impl Strategy<Value = Setting> {
    let system = prop::sample::select(SYSTEMS.to_vec());
    let numbers = prop::collection::vec(support::any_numbers(), 1..5);
    let shape = (system, numbers, any::<bool>(), support::any_common());
    (shape, support::any_tred_of_untagged(), 16u32..32, support::tickets(&Colour::ALL)).prop_map(
        |((system, mut numbers, in_bytes, common), tred, limit, load)| {
            let wanted = match system {
                "red" | "tred" => 1,
                "rio-c" | "rio-d" => 2,
                _ => numbers.len(),
            };
            numbers.resize(wanted, numbers[0]);
            Setting { system, numbers, in_bytes, common, tred, limit, load }
        },
    )
}

/// Names of WRED's profile `i`: a code point and a colour; the last has none.
fn names(i: usize, of: usize) -> Vec<String> {
    if i + 1 == of { vec![] } else { vec![CODE_POINTS[i].to_owned(), Colour::ALL[i].name().to_owned()] }
}

fn member(name: &String) -> Member {
    match Colour::ALL.into_iter().find(|c| c.name() == name) {
        Some(colour) => Member::Colour(colour),
        None => Member::Dscp(name.parse().unwrap()),
    }
}

impl Setting {
    fn profile(&self, (min, max, p): Numbers) -> Profile {
        let length = |n: u32| match self.in_bytes {
            true => Length::Bytes(Bytes::new(u64::from(n * PACKET))),
            false => support::packets(n),
        };
        support::profile(length(min), length(max), p)
    }

    fn params(&self) -> AqmParams {
        let profiles: Vec<_> = self.numbers.iter().map(|n| self.profile(*n)).collect();
        let common = self.common.clone();
        let pair = || [profiles[0].clone(), profiles[1].clone()];
        match self.system {
            "red" => support::red(profiles[0].clone(), common),
            "tred" => support::tred(profiles[0].clone(), common, &self.tred),
            "rio-c" => support::rio(pair(), Mode::RioC, common),
            "rio-d" => support::rio(pair(), Mode::RioD, common),
            _ => {
                let of = profiles.len();
                let members = |i| names(i, of).iter().map(member).collect();
                let averages = match self.system {
                    "wred-c" => Counted::Coupled,
                    "wred-d" => Counted::Separate,
                    _ => Counted::Common,
                };
                support::wred_of(
                    averages,
                    profiles.into_iter().enumerate().map(|(i, p)| (members(i), p)).collect(),
                    common,
                )
            }
        }
    }

    fn oracle(&self, rng: Rng) -> Oracle {
        let unit = if self.in_bytes { f64::from(PACKET) } else { 1.0 };
        let of = self.numbers.len();
        let rule = |(i, (min, max, max_p)): (usize, &Numbers)| Rule {
            min: unit * f64::from(*min),
            max: unit * f64::from(*max),
            max_p: *max_p,
            names: names(i, of),
        };
        Oracle {
            system: self.system,
            rules: self.numbers.iter().enumerate().map(rule).collect(),
            in_bytes: self.in_bytes,
            gentle: self.common.beyond == Beyond::Gentle,
            spacing: self.common.spacing.name(),
            ecn: self.common.ecn,
            wq: self.common.weight.0,
            mean_packet: self.common.mean_packet.get() as f64,
            link: RATE.bytes_s(),
            rng,
            avg: vec![0.0; if self.system.contains('-') { of } else { 1 }],
            count: vec![-1; of],
            last_arrival: Time::ZERO,
            expectation: (self.system == "tred").then(|| (Expectation::new(&self.tred), self.tred.scaling)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(840))]
    #[test]
    fn same_fates(setting in settings()) {
        let rng = Rng::stream(9, 0, "queue");
        let aqm = setting.params().build(&support::scope(setting.limit)).unwrap();
        let mut port = Port::new(Gate::new(aqm, Limit::Packets(setting.limit), rng.clone()), RATE);
        let (mut oracle, mut now) = (setting.oracle(rng), Time::ZERO);
        for (n, (gap, packet)) in setting.load.iter().enumerate() {
            now += *gap;
            port.advance(now);
            let waiting: Vec<Packet> = port.waiting().iter().map(|w| w.1).collect();
            let room = waiting.len() < setting.limit as usize;
            let seen = Seen { now, waiting: &waiting, idle_since: port.backlog().idle_since, room };
            let expected = oracle.arrive(seen, packet);
            prop_assert_eq!(port.arrive(now, *packet), expected, "packet {}", n);
            if let Some((expectation, _)) = &oracle.expectation {
                let want = [Some(expectation.incoming()), expectation.means()[0], expectation.means()[1]];
                for (name, want) in ["incoming_tickets_s", "average_tickets", "expected_tickets"].iter().zip(want) {
                    let (got, want) = (port.gauge(now, name), want.unwrap_or_default());
                    prop_assert!((got - want).abs() <= 1e-9 * want, "{} at packet {}: {} not {}", name, n, got, want);
                }
            }
        }
    }
}

/// The loads of the comparison reach every fate in every system; else it would compare little.
#[test]
fn every_fate_occurs() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::<_, u32>::new();
    for _ in 0..560 {
        let setting = settings().new_tree(&mut runner).unwrap().current();
        for fate in support::run(&setting.params(), setting.limit, &setting.load) {
            *seen.entry((setting.system, format!("{fate:?}"))).or_default() += 1;
        }
    }
    assert_eq!(seen.len(), 5 * SYSTEMS.len(), "{seen:?}");
    assert!(seen.values().all(|n| *n >= 50), "{seen:?}");
}
