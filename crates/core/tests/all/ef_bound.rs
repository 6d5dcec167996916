//! The errors of RFC 3246 are those of its equations over whole lists, whatever is dropped or overtaken, and those that
//! are known of a server in closed form (RFC 3247 section 5.1.1).

use crate::oracle::ef_bound::{Served, errors};
use perhop_core::estimate::EfBound;
use perhop_core::estimate::ef_bound::Departure;
use perhop_core::units::{BitRate, Time};
use proptest::prelude::*;

const NS_PER_S: u64 = 1_000_000_000;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Leaves(u64),
    Dropped(u64),
    Other(u64),
    Stays,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    came: u64,
    bytes: u32,
    fate: Fate,
}

/// E_a, E_p, packets and drops of the fast one, told each event at its time.
fn fast(cases: &[Case], rate: u64, since: u64) -> ([Option<i128>; 2], u64, u64) {
    let mut bound = EfBound::new(BitRate::bps(rate), Time::from_ns(since));
    let came = cases.iter().enumerate().map(|(i, case)| (case.came, false, i));
    let ends = cases.iter().enumerate().filter_map(|(i, case)| match case.fate {
        Fate::Leaves(at) | Fate::Dropped(at) | Fate::Other(at) => Some((at, true, i)),
        Fate::Stays => None,
    });
    let mut events: Vec<_> = came.chain(ends).collect();
    events.sort_unstable();
    let mut tickets = vec![None; cases.len()];
    for (at, ends, i) in events {
        let at = Time::from_ns(at);
        match (ends, cases[i].fate) {
            (false, _) => tickets[i] = Some(bound.arrived(at)),
            (_, Fate::Leaves(_)) => bound.departed(tickets[i].unwrap(), Departure { at, bytes: cases[i].bytes }),
            (_, Fate::Dropped(_)) => bound.dropped(tickets[i].unwrap()),
            _ => bound.apart(tickets[i].unwrap()),
        }
    }
    bound.finish();
    let errors = [bound.aggregate(), bound.each()].map(|worst| worst.map(|it| i128::from(it.error_ns)));
    (errors, bound.packets(), bound.drops())
}

/// The same by the equations, of all packets.
fn slow(cases: &[Case], rate: u64) -> [Option<i128>; 2] {
    let left = |case: &Case| match case.fate {
        Fate::Leaves(departure) => Some(Served { arrival: case.came, departure, length: u64::from(case.bytes) * 8 }),
        _ => None,
    };
    let served: Vec<_> = cases.iter().filter_map(left).collect();
    let mut order: Vec<_> = (0..served.len()).collect();
    order.sort_by_key(|&i| (served[i].departure, i));
    errors(&served, &order, rate)
}

/// Packets at increasing times; each stays for less than 2 ms, so that some overtake others.
fn cases() -> impl Strategy<Value = Vec<Case>> {
    let one = (0u64..500_000, 40u32..=1500, 1u64..2_000_000, 0u8..10);
    prop::collection::vec(one, 0..80).prop_map(|all| {
        let mut now = 0;
        let case = |(gap, bytes, stays, kind): (u64, u32, u64, u8)| {
            now += gap;
            let at = now + stays;
            let fate = match kind {
                0 => Fate::Dropped(at),
                1 => Fate::Other(at),
                2 => Fate::Stays,
                _ => Fate::Leaves(at),
            };
            Case { came: now, bytes, fate }
        };
        all.into_iter().map(case).collect()
    })
}

/// The departures of a server of `capacity`, idle at first, that serves in order and lets `ahead` bytes go before each
/// packet that finds it idle.
fn served(arrivals: &[(u64, u32)], capacity: u64, ahead: u64) -> Vec<Case> {
    let mut free = 0u64;
    let serve = |&(came, bytes): &(u64, u32)| {
        let ns = |bytes: u64| bytes * 8 * NS_PER_S / capacity;
        let starts = if free > came { free } else { came + ns(ahead) };
        free = starts + ns(u64::from(bytes));
        Case { came, bytes, fate: Fate::Leaves(free) }
    };
    arrivals.iter().map(serve).collect()
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((0u64..2_000_000, 40u32..=1500), 1..80).prop_map(|all| {
        let mut now = 0;
        let at = |(gap, bytes): (u64, u32)| {
            now += gap;
            (now, bytes)
        };
        all.into_iter().map(at).collect()
    })
}

fn rate() -> impl Strategy<Value = u64> {
    prop_oneof![Just(8_000_000u64), 1_000u64..10_000_000_000]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_errors_are_those_of_the_equations(cases in cases(), rate in rate()) {
        let (errors, packets, drops) = fast(&cases, rate, 0);
        prop_assert_eq!(errors, slow(&cases, rate));
        let of = |wanted: fn(&Fate) -> bool| cases.iter().filter(|case| wanted(&case.fate)).count() as u64;
        prop_assert_eq!(packets, of(|fate| matches!(fate, Fate::Leaves(_))));
        prop_assert_eq!(drops, of(|fate| matches!(fate, Fate::Dropped(_))));
    }

    /// Eq_1 holds with E_a and not with a nanosecond less; so does eq_3 with E_p. In a queue that keeps the order both are
    /// the same.
    #[test]
    fn in_order_both_errors_are_the_same(arrivals in arrivals(), capacity in 1u64..1000, rate in rate()) {
        let cases = served(&arrivals, capacity * 1_000_000, 0);
        let ([aggregate, each], ..) = fast(&cases, rate, 0);
        prop_assert_eq!(aggregate, each);
    }

    /// A server that has nothing else to do and has the rate: every packet leaves exactly at its target.
    #[test]
    fn a_dedicated_server_has_no_error(arrivals in arrivals(), which in 0usize..7) {
        // A packet takes whole nanoseconds.
        let rate = [1, 2, 5, 8, 10, 25, 125][which] * 1_000_000;
        let (errors, ..) = fast(&served(&arrivals, rate, 0), rate, 0);
        prop_assert_eq!(errors, [Some(0), Some(0)]);
    }

    /// RFC 3247 section 5.1.1, strict priority without pre-emption: one packet of the others is in the way, so the error is
    /// at most its time on the link, and that if some packet has one in its way.
    #[test]
    fn strict_priority_waits_for_one_packet(arrivals in arrivals(), other in 40u64..=1500) {
        let (errors, ..) = fast(&served(&arrivals, 8_000_000, other), 8_000_000, 0);
        prop_assert_eq!(errors, [Some(i128::from(other) * 1000); 2]);
    }

    /// All times k times as long at a k-th of the rate: k times the error.
    #[test]
    fn errors_scale_with_time(cases in cases(), k in 2u64..20, rate in 1u64..1000) {
        let rate = rate * 1000 * k;
        let longer = |fate| match fate {
            Fate::Leaves(at) => Fate::Leaves(at * k),
            Fate::Dropped(at) => Fate::Dropped(at * k),
            Fate::Other(at) => Fate::Other(at * k),
            Fate::Stays => Fate::Stays,
        };
        let slower: Vec<_> =
            cases.iter().map(|it| Case { came: it.came * k, fate: longer(it.fate), ..*it }).collect();
        let [one, many] = [fast(&cases, rate, 0).0, fast(&slower, rate / k, 0).0];
        for (one, many) in one.into_iter().zip(many) {
            // Each is rounded up to whole nanoseconds, the first before it is multiplied.
            let k = i128::from(k);
            prop_assert!(one.is_none() == many.is_none());
            prop_assert!(one.zip(many).is_none_or(|(one, many)| many <= one * k && many > (one - 1) * k));
        }
    }

    /// The faster the rate that is asked for, the larger the error.
    #[test]
    fn a_faster_rate_has_a_larger_error(cases in cases(), rate in 1_000u64..1_000_000_000, more in 0u64..1_000_000_000) {
        let [slow, fast] = [fast(&cases, rate, 0).0, fast(&cases, rate + more, 0).0];
        prop_assert!(slow.into_iter().zip(fast).all(|(slow, fast)| slow <= fast));
    }
}

/// RFC 3246 section 2.5: what is dropped is no arrival. And what came in the warm-up is in the recursion, but not counted.
#[test]
fn what_is_left_out() {
    let leaves = |came, at| Case { came, bytes: 1000, fate: Fate::Leaves(at) };
    let dropped = Case { came: 10, bytes: 1000, fate: Fate::Dropped(20) };
    // 1000 bytes at 8 Mbit/s are 1 ms: the second has its target at 2 ms, since the first left at 1 ms.
    let all = [leaves(0, 1_000_000), dropped, leaves(20, 2_500_000)];
    assert_eq!(fast(&all, 8_000_000, 0), ([Some(500_000); 2], 2, 1));
    assert_eq!(fast(&all, 8_000_000, 15), ([Some(500_000); 2], 1, 0));
    assert_eq!(fast(&all, 8_000_000, 30), ([None; 2], 0, 0));
}

/// Two packets that change places: the aggregate has its rate, and one of the packets is late.
#[test]
fn a_packet_that_is_overtaken_is_late_and_the_aggregate_is_not() {
    let leaves = |came, at| Case { came, bytes: 1000, fate: Fate::Leaves(at) };
    let swapped = [leaves(0, 2_000_000), leaves(0, 1_000_000)];
    assert_eq!(fast(&swapped, 8_000_000, 0).0, [Some(0), Some(1_000_000)]);
}
