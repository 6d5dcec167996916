//! The window law: how much may be outstanding, and how each signal from the network changes that.
//!
//! Loss recovery (which segment to repeat, when an episode ends) is not here but in `recovery.rs`;
//! the same law works under each recovery. A law keeps its own state; what else it needs (time, round trips) is in
//! [`Signal`].
//!
//! To add one: write its file, add its line to the list below. Its parameters are keys of `[tcp.X]`.

use perhop_core::units::{Span, Time};

perhop_core::algorithms! {
    $ "congestion law" over () => Law, LawParams, dispatch;

    /// Slow start, additive increase, halving (RFC 5681).
    "reno" => reno::{Params, Reno},
}

/// A few numbers, copied with a connection's configuration.
impl Copy for LawParams {}

impl Default for LawParams {
    fn default() -> Self {
        Self::Reno(reno::Params {})
    }
}

/// The two variables every law sets, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window; real-valued, its whole part is what may be outstanding. Below 1 only
    /// after an ECN echo at a window of 1 (RFC 3168 section 6.1.2): the sender then waits for its timer.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
}

/// What has happened, as a law sees it; enough for CUBIC's growth too (RFC 9438 section 4.2).
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// When.
    pub now: Time,
    /// Segments newly acknowledged; 0 unless the signal is an ACK.
    pub acked: u32,
    /// min(cwnd, advertised window), segments.
    pub usable: f64,
    /// Smoothed round trip, in whole ticks of the sender's clock; `None` without an estimate.
    pub srtt: Option<Span>,
    /// Least round trip so far, in whole microseconds; `None` before the first sample.
    pub min_rtt: Option<Span>,
}

/// A law of the congestion window.
pub trait CongestionControl {
    /// New data acknowledged outside loss recovery, or by the ACK that ends it; not if the ACK echoes congestion.
    fn on_ack(&mut self, signal: &Signal, window: &mut Window);
    /// A segment is taken as lost (third duplicate ACK). At most once an episode.
    fn on_loss(&mut self, signal: &Signal, window: &mut Window);
    /// The retransmission timer has expired with data outstanding.
    fn on_timeout(&mut self, signal: &Signal, window: &mut Window);
    /// The receiver echoes an ECN mark. At most once a window of data.
    fn on_ecn(&mut self, signal: &Signal, window: &mut Window);
}

impl CongestionControl for Law {
    #[inline]
    fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
        dispatch!(self, law => law.on_ack(signal, window))
    }

    fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
        dispatch!(self, law => law.on_loss(signal, window))
    }

    fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
        dispatch!(self, law => law.on_timeout(signal, window))
    }

    fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
        dispatch!(self, law => law.on_ecn(signal, window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CUBIC's growth (RFC 9438 section 4.2) as a law of this trait: it needs the time since the last loss and a round
    /// trip, which the signal has.
    struct Cubic {
        most: f64,
        since: Time,
    }

    impl CongestionControl for Cubic {
        fn on_ack(&mut self, signal: &Signal, window: &mut Window) {
            let rtt = signal.srtt.or(signal.min_rtt).unwrap_or_default();
            let t = (signal.now + rtt).since(self.since).seconds();
            let k = (self.most * 0.3 / 0.4).cbrt();
            let target = 0.4 * (t - k) * (t - k) * (t - k) + self.most;
            window.cwnd += (target - window.cwnd).max(0.0) / window.cwnd * f64::from(signal.acked);
        }

        fn on_loss(&mut self, signal: &Signal, window: &mut Window) {
            *self = Self { most: signal.usable, since: signal.now };
            *window = Window { cwnd: 0.7 * signal.usable, ssthresh: 0.7 * signal.usable };
        }

        fn on_timeout(&mut self, signal: &Signal, window: &mut Window) {
            self.on_loss(signal, window);
            window.cwnd = 1.0;
        }

        fn on_ecn(&mut self, signal: &Signal, window: &mut Window) {
            self.on_loss(signal, window);
        }
    }

    /// K = cbrt(0.3 W / C) seconds after a loss at W the window is back at W (RFC 9438 figure 2).
    #[test]
    fn a_signal_has_what_cubic_needs() {
        let (w, rtt) = (100.0, Span::from_ms(10));
        let mut window = Window { cwnd: w, ssthresh: w };
        let (mut law, mut now) = (Cubic { most: 0.0, since: Time::ZERO }, Time::ZERO);
        let signal = |now, cwnd| Signal { now, acked: cwnd as u32, usable: cwnd, srtt: None, min_rtt: Some(rtt) };
        law.on_loss(&signal(now, w), &mut window);
        assert_eq!(window, Window { cwnd: 70.0, ssthresh: 70.0 });
        while window.cwnd < w - 0.5 {
            now += rtt;
            law.on_ack(&signal(now, window.cwnd), &mut window);
        }
        let k = (0.3 * w / 0.4_f64).cbrt();
        // The window is within half a segment of W for the last cbrt(0.5 / C) seconds before K.
        assert!((k - now.since(Time::ZERO).seconds()).abs() <= (0.5 / 0.4_f64).cbrt() + 0.02, "{now:?} for {k} s");
    }

    #[test]
    fn the_default_is_on_the_list() {
        assert_eq!((LawParams::default().name(), NAMES[0], LIST[0].page().is_empty()), ("reno", "reno", false));
    }
}
