//! BBR v1: the sender paces at the rate at which the network was seen to deliver, and keeps no more in flight than
//! that rate and the minimum round trip require. Loss alone does not slow it.
//!
//! Source: Cardwell et al., BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016. Constants, rounding and
//! all that the paper leaves open follow Linux 6.12 (`tcp_bbr.c`, `tcp_rate.c`). That kernel is also the oracle of
//! its tests.
//!
//! ```text
//! bw      = greatest delivery rate of the last 10 round trips      R = least round trip of the last 10 s
//! rate    = 0.99 G bw                                              BDP = ceil(H bw R)
//! budget  = 3 burst, then up to the next even number, and 2 in the first phase
//! burst   = 1 ms of data, at least 2 segments (1 below 1.2 Mbit/s)
//! target  = BDP + what ACKs lump together + budget
//! ACK of N in state
//!   STARTUP     cwnd = cwnd + N while below the target;   until bw grew by less than 25 % in three round trips
//!   DRAIN       until no more than BDP (H = 1) is in flight
//!   PROBE_BW    cwnd = min(cwnd + N, target);   G = 5/4, 3/4, 1 (six times), each for R or more; the first is drawn, never 3/4
//!   PROBE_RTT   cwnd = 4, for 200 ms and a round trip, when R is 10 s old
//! first round of recovery:    cwnd = in flight + N;  a lost segment takes one off;  afterwards as before
//! time-out:                   cwnd = 1, and grows again as above
//! ```
//! After two stretches of 4 to 16 round trips that each lose a fifth or more, and whose rates differ by at most an
//! eighth, BBR concludes that the path is policed: bw is the mean of the two rates and G = 1 for 48 round trips.
//!
//! | symbol  | field               | unit            | default     | Linux                  |
//! |---------|---------------------|-----------------|-------------|------------------------|
//! | bw      | [`Bbr::bandwidth`]  | segments / us / 2^24 | -      | `bbr_bw`               |
//! | R       | `least.us`          | us              | SYN's       | `min_rtt_us`           |
//! | G       | `gains.pacing`      | 1/256           | 739         | `pacing_gain`          |
//! | H       | `gains.window`      | 1/256           | 739, 512    | `cwnd_gain`            |
//! | -       | `policer_estimate`  |                 | true        | `lt_bw`                |
//!
//! Deviations from Linux: the first phase is drawn from the scenario's seed.

mod cycle;
mod filter;
mod policer;
mod window;

use super::{CongestionControl, CongestionLaw, Event, Report, Signal, State, Window};
use cycle::{Cycle, ProbeRtt};
use filter::WindowedMax;
use perhop_core::design::policer::Sender;
use perhop_core::params::{ParamError, Params as Declared};
use perhop_core::units::Time;
use policer::Policer;
use window::{Aggregation, Saved};

/// What a scenario states.
#[derive(Declared, Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Whether a path that loses much at a steady rate counts as policed, so that BBR keeps to that rate.
    #[param(default = true)]
    pub policer_estimate: bool,
}

impl Params {
    /// # Errors
    /// Never.
    pub fn build(self, (): &()) -> Result<Bbr, ParamError> {
        Ok(Bbr::new(&self))
    }
}

/// 1 as a gain.
const UNIT: u32 = 256;
/// 2 / ln 2: the window doubles in a round trip.
const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
const CWND_GAIN: u32 = 2 * UNIT;
/// Rates are in segments / us / 2^24.
const RATE_SHIFT: u32 = 24;
/// Segments in flight at least.
const LEAST_WINDOW: u32 = 4;
/// Round trips for which a delivery rate counts.
const RATE_ROUNDS: u32 = 10;
/// Rounds with less than a quarter more, after which the pipe is full.
const PLATEAU_ROUNDS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Round trips, by what was delivered.
#[derive(Clone, Debug, Default)]
struct Rounds {
    count: u32,
    /// The round ends with the ACK of what is sent after so many are delivered.
    ends: u64,
    started: bool,
}

/// Whether more bandwidth is to be had.
#[derive(Clone, Debug, Default)]
struct Plateau {
    rate: u32,
    rounds: u32,
    reached: bool,
}

/// Factors of the rate, in 1/256.
#[derive(Clone, Copy, Debug)]
struct Gains {
    pacing: u32,
    window: u32,
}

/// How fast segments leave.
#[derive(Clone, Copy, Debug, Default)]
struct Pacing {
    /// Bytes a second, once the connection is open.
    rate: Option<u64>,
    timed: bool,
    idle_restart: bool,
}

/// The least round trip, and when it was measured.
#[derive(Clone, Copy, Debug)]
struct LeastRtt {
    us: u64,
    ms: u64,
}

/// A connection's model of its path.
#[derive(Clone, Debug)]
pub struct Bbr {
    mode: Mode,
    gains: Gains,
    pacing: Pacing,
    least: LeastRtt,
    filter: WindowedMax,
    rounds: Rounds,
    plateau: Plateau,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    policer: Policer,
    aggregation: Aggregation,
    saved: Saved,
}

fn us(at: Time) -> u64 {
    at.ns() / 1000
}

fn ms(at: Time) -> u64 {
    at.ns() / 1_000_000
}

/// Bytes a second of a rate, times a gain, less 1 %.
fn bytes_a_second(rate: u64, gain: u32, mss: u16) -> u64 {
    (((rate * u64::from(mss) * u64::from(gain)) >> 8) * 990_000) >> RATE_SHIFT
}

impl Bbr {
    fn new(params: &Params) -> Self {
        Self {
            mode: Mode::Startup,
            gains: Gains { pacing: HIGH_GAIN, window: HIGH_GAIN },
            pacing: Pacing::default(),
            least: LeastRtt { us: u64::MAX, ms: 0 },
            filter: WindowedMax::default(),
            rounds: Rounds::default(),
            plateau: Plateau::default(),
            cycle: Cycle::default(),
            probe_rtt: ProbeRtt::default(),
            policer: Policer::new(params.policer_estimate),
            aggregation: Aggregation::default(),
            saved: Saved::default(),
        }
    }

    /// The rate of the path.
    fn bandwidth(&self) -> u32 {
        self.policer.rate().unwrap_or(self.filter.get())
    }

    fn open(&mut self, report: &Report, window: &Window) {
        let now = report.signal.now;
        self.rounds.ends = report.delivered;
        self.least.us = report.signal.srtt.map_or(u64::MAX, |rtt| rtt.ns() / 1000);
        self.least.ms = ms(now);
        self.aggregation.begin(us(now));
        self.policer.reset(report);
        self.begin_rate(report, window);
    }

    /// What is sent at first: the window in a round trip, with the high gain.
    fn begin_rate(&mut self, report: &Report, window: &Window) {
        self.pacing.timed |= report.signal.srtt.is_some();
        let rtt = report.signal.srtt.map_or(1000, |rtt| (rtt.ns() / 1000).max(1));
        let rate = ((window.cwnd as u64) << RATE_SHIFT) / rtt;
        self.pacing.rate = Some(bytes_a_second(rate, HIGH_GAIN, report.mss));
    }

    fn set_rate(&mut self, gain: u32, report: &Report, window: &Window) {
        let rate = bytes_a_second(u64::from(self.bandwidth()), gain, report.mss);
        if !self.pacing.timed && report.signal.srtt.is_some() {
            self.begin_rate(report, window);
        }
        if self.plateau.reached || self.pacing.rate.is_none_or(|before| rate > before) {
            self.pacing.rate = Some(rate);
        }
    }

    /// Takes the ACK's delivery rate into the model.
    fn measure(&mut self, report: &Report) {
        self.rounds.started = false;
        let Some(sample) = report.rate.filter(|it| it.interval_us > 0) else { return };
        if sample.prior_delivered >= self.rounds.ends {
            self.rounds = Rounds { count: self.rounds.count + 1, ends: report.delivered, started: true };
            self.saved.conserves = false;
        }
        self.look_for_policer(report, sample.app_limited);
        let rate = ((u64::from(sample.delivered) << RATE_SHIFT) / sample.interval_us) as u32;
        if !sample.app_limited || rate >= self.filter.get() {
            self.filter.add(RATE_ROUNDS, self.rounds.count, rate);
        }
    }

    fn look_for_policer(&mut self, report: &Report, app_limited: bool) {
        let seen =
            policer::Seen { report, app_limited, round: self.rounds.started, probing: self.mode == Mode::ProbeBw };
        match self.policer.look(&seen) {
            policer::Verdict::Nothing => {}
            policer::Verdict::Policed => self.gains.pacing = UNIT,
            policer::Verdict::Over => self.begin_cycle(report),
        }
    }

    /// Is the pipe full?
    fn look_for_plateau(&mut self, report: &Report) {
        let limited = report.rate.is_some_and(|it| it.app_limited);
        if self.plateau.reached || !self.rounds.started || limited {
            return;
        }
        if u64::from(self.filter.get()) >= u64::from(self.plateau.rate) * 5 / 4 {
            (self.plateau.rate, self.plateau.rounds) = (self.filter.get(), 0);
            return;
        }
        self.plateau.rounds += 1;
        self.plateau.reached = self.plateau.rounds >= PLATEAU_ROUNDS;
    }

    /// Out of startup when the pipe is full, out of the drain when the queue is gone.
    fn drain(&mut self, report: &Report, window: &mut Window) {
        if self.mode == Mode::Startup && self.plateau.reached {
            self.mode = Mode::Drain;
            window.ssthresh = f64::from(self.inflight(UNIT, report.mss));
        }
        if self.mode == Mode::Drain
            && self.in_flight_at_next_send(report, report.in_flight.now) <= self.inflight(UNIT, report.mss)
        {
            self.begin_cycle(report);
        }
    }

    fn set_gains(&mut self) {
        (self.gains.pacing, self.gains.window) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.rate().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (self.cycle.gain(), CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    fn restart(&mut self, report: &Report, window: &mut Window) {
        self.pacing.idle_restart = true;
        self.aggregation.begin(us(report.signal.now));
        match self.mode {
            Mode::ProbeBw => self.set_rate(UNIT, report, window),
            Mode::ProbeRtt => self.end_probe_rtt(report, window),
            Mode::Startup | Mode::Drain => {}
        }
    }
}

impl CongestionLaw for Params {
    fn paces(&self) -> bool {
        true
    }

    fn linux(&self) -> Option<&'static str> {
        Some("bbr")
    }

    fn stack(&self) -> Option<&'static str> {
        Some("linux-bbr")
    }

    fn policed(&self) -> Option<Sender> {
        Some(Sender::LinuxBbr)
    }
}

impl CongestionControl for Bbr {
    /// Not called: [`CongestionControl::on_report`] is.
    fn on_ack(&mut self, _: &Signal, _: &mut Window) {}

    fn on_loss(&mut self, _: &Signal, window: &mut Window) {
        self.save(window);
    }

    fn on_timeout(&mut self, _: &Signal, window: &mut Window) {
        self.save(window);
    }

    fn on_ecn(&mut self, _: &Signal, window: &mut Window) {
        self.save(window);
    }

    fn is_in_control(&self) -> bool {
        true
    }

    fn on_report(&mut self, report: &Report, window: &mut Window) {
        self.measure(report);
        self.note_aggregation(report, window);
        self.turn_cycle(report);
        self.look_for_plateau(report);
        self.drain(report, window);
        self.watch_round_trip(report, window);
        self.set_gains();
        self.set_rate(self.gains.pacing, report, window);
        self.set_window(report, window);
    }

    fn on_event(&mut self, event: Event, report: &Report, window: &mut Window) {
        match event {
            Event::Open => self.open(report, window),
            Event::Restart => self.restart(report, window),
            Event::TimeOut => {
                self.saved.state = State::Loss;
                (self.plateau.rate, self.rounds.started) = (0, true);
                self.look_for_policer(&Report { lost: 1, ..*report }, false);
            }
            Event::Undo => {
                (self.plateau.rate, self.plateau.rounds) = (0, 0);
                self.policer.reset(report);
            }
        }
    }

    fn holds_back(&self) -> bool {
        self.probe_rtt.holds_back
    }

    fn pacing_rate(&self, _: u16) -> Option<u64> {
        self.pacing.rate
    }

    fn seed(&mut self, seed: u64) {
        self.cycle.seed(seed);
    }
}
