//! Whatever the network does, everything arrives once, in bounded time, and within the windows (checked in `pipe.rs`).

use super::pipe::{Dice, Fate, Pipe};
use super::{dctcp, prague};
use perhop_core::units::{Span, Time};
use perhop_sim::transport::{
    AckDelay, Bursts, Config, CongestionLaw as _, LawParams, Pacing, PartialAckTimer, Reaction, Recovery, RtoConfig,
    Supply,
};
use proptest::prelude::*;

pub(crate) fn any_recovery() -> impl Strategy<Value = Recovery> {
    prop_oneof![
        Just(Recovery::Reno),
        Just(Recovery::NewReno(PartialAckTimer::First)),
        Just(Recovery::NewReno(PartialAckTimer::Each)),
        Just(Recovery::Rack),
    ]
}

prop_compose! {
    pub(crate) fn any_config()(
        recovery in any_recovery(),
        rto in prop_oneof![Just(RtoConfig::NS2_2_35), Just(RtoConfig::ERA), Just(RtoConfig::MODERN)],
        (initial_window, window) in (prop_oneof![Just(1u32), Just(2), Just(3), Just(10)], 1u32..80),
        (limited_transmit, syn, [ecn, receiver_ecn, sack, ecn_repeats, by_host]) in any::<(bool, bool, [bool; 5])>(),
        law in 0usize..3,
        ack in prop_oneof![Just(AckDelay::None), (1u64..501).prop_map(|ms| AckDelay::Fixed(Span::from_ms(ms))), Just(AckDelay::Linux)],
        mss in 1u16..1461,
        (burst, chosen) in (1u32..20, any::<bool>()),
    ) -> Config {
        let law = if recovery == Recovery::Rack { law } else { 0 };
        let laws = [LawParams::default(), LawParams::Dctcp(dctcp::LINUX), LawParams::Prague(prague::DEFAULTS)];
        let bursts = match recovery {
            Recovery::Rack if chosen => Bursts::Linux,
            Recovery::Rack => Bursts::Of(burst.min(window)),
            _ => Bursts::NONE,
        };
        let (congestion, feedback) = (laws[law], laws[law].feedback());
        Config { recovery, congestion, initial_window, window, rto, limited_transmit, syn, reaction: Reaction { ack, overhead: None, sack: sack || recovery == Recovery::Rack, feedback, bursts, small_queues: false, pacing: Pacing { by_host, most: None }, ecn_retransmissions: ecn_repeats && recovery != Recovery::Rack }, ecn, receiver_ecn, mss, header: 40 }
    }
}

/// Loss and mark probabilities of a run.
#[derive(Clone, Copy, Debug)]
struct Weather {
    loss: f64,
    mark: f64,
    ack_loss: f64,
    seed: u64,
}

fn any_weather() -> impl Strategy<Value = Weather> {
    (0.0..0.25, 0.0..0.25, 0.0..0.25, any::<u64>()).prop_map(|(loss, mark, ack_loss, seed)| Weather {
        loss,
        mark,
        ack_loss,
        seed,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A transfer of any size over any path completes: each byte once, nothing beyond the receiver's window.
    ///
    /// Bound: a packet and its ACK both pass with probability above 1/2 (0.75 squared), so the back-off rarely
    /// reaches its maximum of at most 120 s; a day would need 720 failures in a row at that maximum.
    #[test]
    fn everything_arrives(config in any_config(), bytes in 0u64..200_000, weather in any_weather(), ms in 1u64..1000) {
        let Weather { loss, mark, ack_loss, seed } = weather;
        let (mut dice, mut ack_dice) = (Dice(seed), Dice(!seed));
        let fate = |_: &_| match (dice.falls(loss), dice.falls(mark)) {
            (true, _) => Fate::Lose,
            (false, true) => Fate::Mark,
            _ => Fate::Pass,
        };
        let bytes = bytes.min(u64::from(config.mss) * 400);
        let mut pipe = Pipe::new(config, Supply::Bytes(bytes), Span::from_ms(ms), fate);
        while pipe.step(Time::ZERO + Span::from_s(86_400), || ack_dice.falls(ack_loss)) {}
        prop_assert!(pipe.sender.finished(), "not finished at {}", pipe.now);
        prop_assert_eq!(pipe.receiver.delivered_bytes(), bytes);
        let syn = u64::from(config.syn);
        prop_assert_eq!(pipe.receiver.delivered_segments() + pipe.receiver.duplicates() + syn, pipe.arrived);
        prop_assert_eq!(pipe.receiver.beyond_window(), 0);
        let counters = *pipe.sender.counters();
        prop_assert_eq!(counters.segments, counters.retransmitted + bytes.div_ceil(u64::from(config.mss)) + syn);
        prop_assert!(pipe.sender.timer_at().is_none());
    }

    /// Without loss nothing is sent twice and nothing is cut. (The smallest RTO, 200 ms, exceeds round trip plus ACK delay;
    /// Linux bounds that by the round trip, which it learns from the SYN.)
    #[test]
    fn a_clean_path_sees_each_segment_once(config in any_config(), segments in 0u64..500) {
        let config = match config.reaction.ack {
            AckDelay::None => config,
            AckDelay::Fixed(_) => Config { reaction: Reaction { ack: AckDelay::Fixed(Span::from_ms(100)), ..config.reaction }, ..config },
            AckDelay::Linux => Config { syn: true, ..config },
        };
        let supply = Supply::Bytes(segments * u64::from(config.mss));
        let mut pipe = Pipe::new(config, supply, Span::from_ms(50), |_| Fate::Pass);
        pipe.run(Time::MAX);
        prop_assert!(pipe.sender.finished());
        let counters = pipe.sender.counters();
        prop_assert_eq!((counters.retransmitted, counters.timeouts, counters.cuts), (0, 0, 0));
    }

    /// An application that offers segments over time gets exactly those delivered.
    #[test]
    fn offered_segments_arrive(
        config in any_config(),
        offers in prop::collection::vec((0u64..2000, 1u32..30), 1..40),
        loss in 0.0..0.2,
        seed: u64,
    ) {
        let mut dice = Dice(seed);
        let mut pipe =
            Pipe::new(config, Supply::Offered, Span::from_ms(80), |_| if dice.falls(loss) { Fate::Lose } else { Fate::Pass });
        let mut total = 0;
        for (wait, segments) in offers {
            let at = pipe.now + Span::from_ms(wait);
            pipe.run(at);
            pipe.offer(at, segments);
            total += u64::from(segments);
        }
        let end = pipe.now + Span::from_s(86_400);
        pipe.run(end);
        prop_assert!(pipe.sender.finished());
        prop_assert_eq!(pipe.receiver.delivered_bytes(), total * u64::from(config.mss));
    }
}
