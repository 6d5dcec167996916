//! RIO and WRED are RED, and WRED is RIO, where they cannot differ: packet for packet on the same draws.

use super::support::{self, any_common, any_profile, load, run};
use perhop_core::aqm::early::{Common, Counted, Spacing};
use perhop_core::aqm::rio::Mode;
use perhop_core::aqm::wred::Member;
use perhop_core::packet::Colour;
use perhop_core::verdict::{Fate, Reason};
use proptest::prelude::*;

const LIMIT: u32 = 30;

fn any_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::RioC, Mode::RioD])
}

fn any_averages() -> impl Strategy<Value = Counted> {
    prop::sample::select(vec![Counted::Common, Counted::Coupled, Counted::Separate])
}

proptest! {
    /// Only IN packets: RED with IN's thresholds.
    #[test]
    fn rio_of_in_is_red(
        in_profile in any_profile(), out in any_profile(), mode in any_mode(), common in any_common(),
        load in load(&[Colour::Green]),
    ) {
        let rio = support::rio([in_profile.clone(), out], mode, common.clone());
        prop_assert_eq!(run(&rio, LIMIT, &load), run(&support::red(in_profile, common), LIMIT, &load));
    }

    /// Only OUT packets: RED with OUT's thresholds.
    #[test]
    fn rio_of_out_is_red(
        in_profile in any_profile(), out in any_profile(), mode in any_mode(), common in any_common(),
        load in load(&[Colour::Yellow, Colour::Red, Colour::Unmarked]),
    ) {
        let rio = support::rio([in_profile, out.clone()], mode, common.clone());
        prop_assert_eq!(run(&rio, LIMIT, &load), run(&support::red(out, common), LIMIT, &load));
    }

    /// Two profiles, green and the rest: coupled is RIO-C, separate RIO-D.
    #[test]
    fn wred_of_two_is_rio(
        in_profile in any_profile(), out in any_profile(), common in any_common(), load in load(&Colour::ALL),
    ) {
        let green = vec![Member::Colour(Colour::Green)];
        for (averages, mode) in [(Counted::Coupled, Mode::RioC), (Counted::Separate, Mode::RioD)] {
            let classes = vec![(green.clone(), in_profile.clone()), (vec![], out.clone())];
            let wred = support::wred_of(averages, classes, common.clone());
            let rio = support::rio([in_profile.clone(), out.clone()], mode, common.clone());
            prop_assert_eq!(run(&wred, LIMIT, &load), run(&rio, LIMIT, &load), "{:?}", mode);
        }
    }

    /// One profile for all: RED, whatever its average is called.
    #[test]
    fn wred_of_one_profile_is_red(
        profile in any_profile(), averages in any_averages(), common in any_common(), load in load(&Colour::ALL),
    ) {
        let wred = support::wred_of(averages, vec![(vec![], profile.clone())], common.clone());
        prop_assert_eq!(run(&wred, LIMIT, &load), run(&support::red(profile, common), LIMIT, &load));
    }

    /// One colour: RED with the profile of that colour, any spacing, whatever the averages count.
    #[test]
    fn wred_of_one_colour_is_red(
        profiles in prop::collection::vec(any_profile(), 4), which in 0usize..4, averages in any_averages(),
        common in any_common(), load in load(&[Colour::Green]),
    ) {
        let mut load = load;
        load.iter_mut().for_each(|(_, packet)| packet.colour = Colour::ALL[which]);
        let classes = Colour::ALL.into_iter().zip(&profiles).map(|(c, p)| (vec![Member::Colour(c)], p.clone()));
        let wred = support::wred_of(averages, classes.collect(), common.clone());
        let red = support::red(profiles[which].clone(), common);
        prop_assert_eq!(run(&wred, LIMIT, &load), run(&red, LIMIT, &load));
    }

    /// Equal profiles, mixed colours, drops by p_b alone: RED. (With a count, each profile spaces its own drops.)
    #[test]
    fn wred_of_equal_profiles_is_red(profile in any_profile(), common in any_common(), load in load(&Colour::ALL)) {
        let common = Common { spacing: Spacing::Bernoulli, ..common };
        let classes = Colour::ALL.map(|c| (vec![Member::Colour(c)], profile.clone())).to_vec();
        let wred = support::wred(classes, common.clone());
        prop_assert_eq!(run(&wred, LIMIT, &load), run(&support::red(profile, common), LIMIT, &load));
    }

    /// Below the minimum nothing is dropped early; beyond the ramp everything is; between, nothing is forced.
    #[test]
    fn zones_bind(numbers in support::any_numbers(), common in any_common(), load in load(&Colour::ALL)) {
        use perhop_core::aqm::early::Beyond;
        let (min, max, p) = numbers;
        let end = f64::from(max) * if common.beyond == Beyond::Gentle { 2.0 } else { 1.0 };
        let profile = support::profile(support::packets(min), support::packets(max), p);
        let mut port = support::port(&support::red(profile, common), LIMIT);
        let mut now = perhop_core::units::Time::ZERO;
        for (gap, packet) in &load {
            now += *gap;
            let fate = port.arrive(now, *packet);
            let average = port.gauge(now, "avg_queue_packets");
            match fate {
                Fate::Dropped(Reason::Forced) => prop_assert!(average >= end),
                Fate::Dropped(Reason::Early) | Fate::Marked => {
                    prop_assert!((f64::from(min)..end).contains(&average));
                }
                _ => prop_assert!(average < end),
            }
        }
    }
}
