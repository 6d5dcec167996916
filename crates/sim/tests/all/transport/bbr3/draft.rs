//! The pseudo-code of draft-ietf-ccwg-bbr, function by function, in its order and with its names. Segments and us.

use perhop_sim::transport::congestion::bbr3::Phase;
use std::collections::BTreeMap;

const INFINITY: f64 = f64::INFINITY;
const SMSS: f64 = 1.0;
const LOSS_THRESH: f64 = 0.02;
const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.15;
const MIN_PIPE_CWND: f64 = 4.0 * SMSS;
const MAX_BW_FILTER_LEN: i64 = 2;
const EXTRA_ACKED_FILTER_LEN: i64 = 10;
const MIN_RTT_FILTER_LEN: f64 = 10e6;
const PROBE_RTT_DURATION: f64 = 200e3;
const PROBE_RTT_INTERVAL: f64 = 5e6;
const STARTUP_FULL_LOSS_CNT: u32 = 6;

/// A windowed maximum: the greatest value of each time, and a look at all of them.
#[derive(Default)]
struct MaxFilter(BTreeMap<i64, f64>);

impl MaxFilter {
    fn update(&mut self, value: f64, time: i64, window_length: i64) -> f64 {
        let greatest = self.0.entry(time).or_default();
        *greatest = greatest.max(value);
        self.get(time, window_length)
    }

    fn get(&self, time: i64, window_length: i64) -> f64 {
        self.0.iter().filter(|it| time - it.0 < window_length).map(|it| *it.1).fold(0.0, f64::max)
    }
}

/// C: the connection.
#[derive(Clone, Debug, Default)]
pub(super) struct C {
    pub now: f64,
    pub cwnd: f64,
    pub inflight: f64,
    pub delivered: f64,
    pub srtt: Option<f64>,
    pub initial_cwnd: f64,
    pub is_cwnd_limited: bool,
    pub in_fast_recovery: bool,
    pub app_limited_wanted: bool,
    pub pacing_rate: f64,
    pub send_quantum: f64,
    pub mss: f64,
}

/// RS: the rate sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Rs {
    pub delivery_rate: f64,
    pub delivered: f64,
    pub prior_delivered: f64,
    pub is_app_limited: bool,
    pub tx_in_flight: f64,
    pub lost: f64,
    pub newly_acked: f64,
    pub rtt: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// BBR and the state that it shares with the connection.
pub(super) struct Draft {
    pub c: C,
    pub rs: Rs,
    pub state: Phase,
    pub bw: f64,
    pub inflight_longterm: f64,
    pub inflight_shortterm: f64,
    random: u64,
    in_loss_recovery: bool,
    pacing_gain: f64,
    cwnd_gain: f64,
    round_count: i64,
    round_start: bool,
    next_round_delivered: f64,
    idle_restart: bool,
    drain_start_round: i64,
    max_bw: f64,
    bw_shortterm: f64,
    min_rtt: f64,
    min_rtt_stamp: f64,
    extra_acked: f64,
    bw_latest: f64,
    inflight_latest: f64,
    max_bw_filter: MaxFilter,
    cycle_count: i64,
    extra_acked_interval_start: f64,
    extra_acked_delivered: f64,
    extra_acked_filter: MaxFilter,
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: f64,
    full_bw_count: u32,
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    is_loss_in_round: bool,
    loss_round_delivered: f64,
    loss_round_start: bool,
    lost_ranges: Vec<u32>,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: f64,
    bw_probe_wait: f64,
    cycle_stamp: f64,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    undo_state: Option<Phase>,
    undo_bw_shortterm: f64,
    undo_inflight_shortterm: f64,
    undo_inflight_longterm: f64,
    prior_cwnd: f64,
    probe_rtt_done_stamp: f64,
    probe_rtt_round_done: bool,
    probe_rtt_min_delay: f64,
    probe_rtt_min_stamp: f64,
    probe_rtt_expired: bool,
}

impl Draft {
    pub(super) fn on_init(c: C, random: u64) -> Self {
        let min_rtt = c.srtt.unwrap_or(INFINITY);
        let mut it = Self {
            min_rtt,
            min_rtt_stamp: c.now,
            probe_rtt_min_delay: min_rtt,
            probe_rtt_min_stamp: c.now,
            extra_acked_interval_start: c.now,
            rs: Rs::default(),
            state: Phase::Startup,
            bw: 0.0,
            inflight_longterm: INFINITY,
            inflight_shortterm: INFINITY,
            random,
            in_loss_recovery: false,
            pacing_gain: 0.0,
            cwnd_gain: 0.0,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0.0,
            idle_restart: false,
            drain_start_round: 0,
            max_bw: 0.0,
            bw_shortterm: INFINITY,
            extra_acked: 0.0,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            max_bw_filter: MaxFilter::default(),
            cycle_count: 0,
            extra_acked_delivered: 0.0,
            extra_acked_filter: MaxFilter::default(),
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_count: 0,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            is_loss_in_round: false,
            loss_round_delivered: 0.0,
            loss_round_start: false,
            lost_ranges: vec![],
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: INFINITY,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0.0,
            bw_probe_wait: 0.0,
            cycle_stamp: 0.0,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            undo_state: None,
            undo_bw_shortterm: 0.0,
            undo_inflight_shortterm: 0.0,
            undo_inflight_longterm: 0.0,
            prior_cwnd: 0.0,
            probe_rtt_done_stamp: 0.0,
            probe_rtt_round_done: false,
            probe_rtt_expired: false,
            c,
        };
        it.reset_congestion_signals();
        it.reset_short_term_model();
        it.reset_full_bw();
        let nominal_bandwidth = it.c.initial_cwnd / it.c.srtt.unwrap_or(1000.0);
        it.c.pacing_rate = 2.77 * nominal_bandwidth;
        it.enter_startup();
        it
    }

    fn random_below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    // 5.2.3

    pub(super) fn update_on_ack(&mut self) {
        self.c.app_limited_wanted = false;
        self.update_latest_delivery_signals();
        self.update_congestion_signals();
        self.update_ack_aggregation();
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done();
        self.update_probe_bw_cycle_phase();
        self.update_min_rtt();
        self.check_probe_rtt();
        self.advance_latest_delivery_signals();
        self.bound_bw_for_model();
        self.set_gains();
        self.set_pacing_rate_with_gain(self.pacing_gain);
        self.set_send_quantum();
        self.set_cwnd();
    }

    /// The table of section 5.6.1.
    fn set_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.state {
            Phase::Startup => (2.77, 2.0),
            Phase::Drain => (0.5, 2.0),
            Phase::Down => (0.9, 2.0),
            Phase::Cruise => (1.0, 2.0),
            Phase::Refill => (1.0, 2.0),
            Phase::Up => (1.25, 2.25),
            Phase::ProbeRtt => (1.0, 0.5),
        };
    }

    // 5.3.1

    fn enter_startup(&mut self) {
        self.state = Phase::Startup;
        self.set_gains();
    }

    fn check_startup_done(&mut self) {
        self.check_startup_high_loss();
        if self.state == Phase::Startup && self.full_bw_reached {
            self.enter_drain();
        }
    }

    fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    fn check_full_bw_reached(&mut self) {
        if self.full_bw_now || !self.round_start || self.rs.is_app_limited {
            return;
        }
        if self.rs.delivery_rate >= self.full_bw * 1.25 {
            self.reset_full_bw();
            self.full_bw = self.rs.delivery_rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        if self.full_bw_now {
            self.full_bw_reached = true;
        }
    }

    fn check_startup_high_loss(&mut self) {
        if !self.loss_round_start {
            return;
        }
        let ranges = std::mem::take(&mut self.lost_ranges);
        let discontiguous = ranges.windows(2).filter(|pair| pair[1] != pair[0] + 1).count() as u32;
        let count = if ranges.is_empty() { 0 } else { discontiguous + 1 };
        if self.state != Phase::Startup || !self.c.in_fast_recovery {
            return;
        }
        if self.is_inflight_too_high() && count >= STARTUP_FULL_LOSS_CNT {
            self.undo_state = Some(Phase::Startup);
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp_multiple(1.0).max(self.inflight_latest);
        }
    }

    // 5.3.2

    fn enter_drain(&mut self) {
        self.state = Phase::Drain;
        self.set_gains();
        self.drain_start_round = self.round_count;
    }

    fn check_drain_done(&mut self) {
        if self.state == Phase::Drain
            && (self.c.inflight <= self.inflight(self.bw, 1.0) || self.round_count > self.drain_start_round + 3)
        {
            self.start_probe_bw_down();
        }
    }

    // 5.3.3

    fn is_time_to_probe_bw(&mut self) -> bool {
        if self.has_elapsed_in_phase(self.bw_probe_wait) || self.is_reno_coexistence_probe_time() {
            self.start_probe_bw_refill();
            return true;
        }
        false
    }

    fn pick_probe_wait(&mut self) {
        self.rounds_since_probe_up = self.random_below(2) as f64;
        self.bw_probe_wait = 2e6 + self.random_below(1_000_000) as f64;
    }

    fn is_reno_coexistence_probe_time(&self) -> bool {
        let reno_rounds = self.target_inflight();
        let rounds = reno_rounds.min(63.0);
        self.rounds_since_probe_up >= rounds
    }

    fn target_inflight(&self) -> f64 {
        self.bdp_multiple(1.0).min(self.c.cwnd)
    }

    fn start_probe_bw_down(&mut self) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = INFINITY;
        self.pick_probe_wait();
        self.cycle_stamp = self.c.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = Phase::Down;
    }

    fn start_probe_bw_cruise(&mut self) {
        self.state = Phase::Cruise;
    }

    fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = Phase::Refill;
    }

    fn start_probe_bw_up(&mut self) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw();
        self.full_bw = self.rs.delivery_rate;
        self.state = Phase::Up;
        self.raise_inflight_longterm_slope();
    }

    fn update_probe_bw_cycle_phase(&mut self) {
        if !self.full_bw_reached {
            return;
        }
        if self.adapt_long_term_model() {
            return;
        }
        if !self.is_in_a_probe_bw_state() {
            return;
        }
        match self.state {
            Phase::Down => {
                if self.is_time_to_probe_bw() {
                    return;
                }
                if self.is_time_to_cruise() {
                    self.start_probe_bw_cruise();
                }
            }
            Phase::Cruise => _ = self.is_time_to_probe_bw(),
            Phase::Refill => {
                if self.round_start {
                    self.is_bw_probe_sample = true;
                    self.start_probe_bw_up();
                }
            }
            Phase::Up => {
                if self.is_time_to_go_down() {
                    self.prev_probe_too_high = false;
                    self.start_probe_bw_down();
                }
            }
            _ => unreachable!(),
        }
    }

    fn is_in_a_probe_bw_state(&self) -> bool {
        [Phase::Down, Phase::Cruise, Phase::Refill, Phase::Up].contains(&self.state)
    }

    fn is_time_to_cruise(&self) -> bool {
        if self.c.inflight > self.inflight_with_headroom() {
            return false;
        }
        if self.c.inflight > self.inflight(self.max_bw, 1.0) {
            return false;
        }
        true
    }

    fn is_time_to_go_down(&mut self) -> bool {
        if self.prev_probe_too_high && self.c.inflight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.c.is_cwnd_limited && self.c.cwnd >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = self.rs.delivery_rate;
        } else if self.full_bw_now {
            return true;
        }
        false
    }

    fn is_probing_bw(&self) -> bool {
        [Phase::Startup, Phase::Refill, Phase::Up].contains(&self.state)
    }

    fn has_elapsed_in_phase(&self, interval: f64) -> bool {
        self.c.now > self.cycle_stamp + interval
    }

    fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm == INFINITY {
            return INFINITY;
        }
        let headroom = (1.0 * SMSS).max(HEADROOM * self.inflight_longterm);
        (self.inflight_longterm - headroom).max(MIN_PIPE_CWND)
    }

    fn raise_inflight_longterm_slope(&mut self) {
        let growth_this_round = (1u64 << self.bw_probe_up_rounds) as f64;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.c.cwnd / growth_this_round).max(SMSS);
    }

    fn probe_inflight_longterm_upward(&mut self) {
        if !self.c.is_cwnd_limited || self.c.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += self.rs.newly_acked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta * SMSS;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    fn adapt_long_term_model(&mut self) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_a_probe_bw_state() && !self.rs.is_app_limited {
                self.cycle_count += 1;
                self.max_bw = self.max_bw_filter.get(self.cycle_count, MAX_BW_FILTER_LEN);
            }
            if self.is_in_a_probe_bw_state() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_probe_bw_refill();
                return true;
            }
        }
        if !self.is_inflight_too_high() {
            if self.inflight_longterm == INFINITY {
                return false;
            }
            if self.rs.tx_in_flight > self.inflight_longterm {
                self.inflight_longterm = self.rs.tx_in_flight;
            }
            if self.state == Phase::Up {
                self.probe_inflight_longterm_upward();
            }
        }
        false
    }

    // 5.3.4

    fn update_min_rtt(&mut self) {
        self.probe_rtt_expired = self.c.now > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = self.rs.rtt
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_stamp = self.c.now;
        }
        let min_rtt_expired = self.c.now > self.min_rtt_stamp + MIN_RTT_FILTER_LEN;
        if self.probe_rtt_min_delay < self.min_rtt || min_rtt_expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    fn check_probe_rtt(&mut self) {
        if self.state != Phase::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.state = Phase::ProbeRtt;
            self.set_gains();
            self.save_cwnd();
            self.probe_rtt_done_stamp = 0.0;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        if self.state == Phase::ProbeRtt {
            self.handle_probe_rtt();
        }
        if self.rs.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self) {
        self.c.app_limited_wanted = true;
        if self.probe_rtt_done_stamp == 0.0 && self.c.inflight <= self.probe_rtt_cwnd() {
            self.probe_rtt_done_stamp = self.c.now + PROBE_RTT_DURATION;
            self.probe_rtt_round_done = false;
            self.start_round();
        } else if self.probe_rtt_done_stamp != 0.0 {
            if self.round_start {
                self.probe_rtt_round_done = true;
            }
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done();
            }
        }
    }

    fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt_done_stamp != 0.0 && self.c.now > self.probe_rtt_done_stamp {
            self.probe_rtt_min_stamp = self.c.now;
            self.restore_cwnd();
            self.exit_probe_rtt();
        }
    }

    fn exit_probe_rtt(&mut self) {
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_probe_bw_down();
            self.start_probe_bw_cruise();
        } else {
            self.enter_startup();
        }
    }

    // 5.4

    /// With nothing in flight, after the application has held the connection back.
    pub(super) fn handle_restart_from_idle(&mut self) {
        self.idle_restart = true;
        self.extra_acked_interval_start = self.c.now;
        if self.is_in_a_probe_bw_state() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.state == Phase::ProbeRtt {
            self.check_probe_rtt_done();
        }
    }

    // 5.5

    fn update_round(&mut self) {
        if self.rs.prior_delivered >= self.next_round_delivered {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1.0;
            self.round_start = true;
        } else {
            self.round_start = false;
        }
    }

    fn start_round(&mut self) {
        self.next_round_delivered = self.c.delivered;
    }

    fn update_max_bw(&mut self) {
        self.update_round();
        let rate = self.rs.delivery_rate;
        if rate > 0.0 && (rate >= self.max_bw || !self.rs.is_app_limited) {
            self.max_bw = self.max_bw_filter.update(rate, self.cycle_count, MAX_BW_FILTER_LEN);
        }
    }

    fn update_ack_aggregation(&mut self) {
        let interval = self.c.now - self.extra_acked_interval_start;
        let mut expected_delivered = self.bw * interval;
        if self.extra_acked_delivered <= expected_delivered {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_interval_start = self.c.now;
            expected_delivered = 0.0;
        }
        self.extra_acked_delivered += self.rs.newly_acked;
        let extra = (self.extra_acked_delivered - expected_delivered).min(self.c.cwnd);
        let filter_len = if self.full_bw_reached { EXTRA_ACKED_FILTER_LEN } else { 1 };
        self.extra_acked = self.extra_acked_filter.update(extra, self.round_count, filter_len);
    }

    /// Sections 5.5.10.2 and 5.5.10.3
    fn is_inflight_too_high(&self) -> bool {
        self.rs.lost > self.rs.tx_in_flight * LOSS_THRESH
    }

    fn handle_inflight_too_high(&mut self) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !self.rs.is_app_limited {
            self.inflight_longterm = self.rs.tx_in_flight.max(self.target_inflight() * BETA);
        }
        if self.state == Phase::Up {
            self.undo_state = Some(Phase::Up);
            self.start_probe_bw_down();
        }
    }

    fn note_loss(&mut self) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.c.delivered;
            self.save_state_upon_loss();
        }
        self.is_loss_in_round = true;
    }

    /// Of a packet: its number, what was in flight and lost when it was sent, as RS has it.
    pub(super) fn handle_lost_packet(&mut self, number: u32, packet: Rs) {
        self.lost_ranges.push(number);
        self.note_loss();
        if !self.is_bw_probe_sample {
            return;
        }
        self.rs.tx_in_flight = packet.tx_in_flight;
        self.rs.lost = packet.lost;
        self.rs.is_app_limited = packet.is_app_limited;
        if self.is_inflight_too_high() {
            self.rs.tx_in_flight = self.inflight_at_loss();
            self.handle_inflight_too_high();
        }
    }

    fn inflight_at_loss(&self) -> f64 {
        let size = SMSS;
        let inflight_prev = self.rs.tx_in_flight - size;
        let lost_prev = self.rs.lost - size;
        let lost_prefix = (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH);
        inflight_prev + lost_prefix
    }

    fn update_latest_delivery_signals(&mut self) {
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(self.rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(self.rs.delivered);
        if self.rs.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = self.c.delivered;
            self.loss_round_start = true;
        }
    }

    fn advance_latest_delivery_signals(&mut self) {
        if self.loss_round_start {
            self.bw_latest = self.rs.delivery_rate;
            self.inflight_latest = self.rs.delivered;
        }
    }

    fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    fn update_congestion_signals(&mut self) {
        self.update_max_bw();
        if !self.loss_round_start {
            return;
        }
        self.adapt_lower_bounds_from_congestion();
        self.is_loss_in_round = false;
    }

    fn adapt_lower_bounds_from_congestion(&mut self) {
        if self.is_probing_bw() {
            return;
        }
        if self.is_loss_in_round {
            if self.bw_shortterm == INFINITY {
                self.bw_shortterm = self.max_bw;
            }
            if self.inflight_shortterm == INFINITY {
                self.inflight_shortterm = self.c.cwnd;
            }
            self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
            self.inflight_shortterm = self.inflight_latest.max(BETA * self.inflight_shortterm);
        }
    }

    fn reset_short_term_model(&mut self) {
        self.bw_shortterm = INFINITY;
        self.inflight_shortterm = INFINITY;
    }

    fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw.min(self.bw_shortterm);
    }

    // 5.5.11

    pub(super) fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.undo_state = None;
        self.undo_bw_shortterm = self.bw_shortterm;
        self.undo_inflight_shortterm = self.inflight_shortterm;
        self.undo_inflight_longterm = self.inflight_longterm;
    }

    pub(super) fn handle_spurious_loss_detection(&mut self) {
        self.restore_cwnd();
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo_bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo_inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo_inflight_longterm);
        if self.undo_state == Some(Phase::Startup) && self.state != Phase::Startup {
            self.full_bw_reached = false;
            if self.state != Phase::ProbeRtt {
                self.enter_startup();
            }
        } else if self.undo_state == Some(Phase::Up) && self.state != Phase::Up && self.state != Phase::ProbeRtt {
            self.start_probe_bw_refill();
        }
        self.undo_state = None;
    }

    // 5.6

    fn set_pacing_rate_with_gain(&mut self, pacing_gain: f64) {
        let rate = pacing_gain * self.bw * 0.99;
        if self.full_bw_reached || rate > self.c.pacing_rate {
            self.c.pacing_rate = rate;
        }
    }

    fn set_send_quantum(&mut self) {
        self.c.send_quantum = self.c.pacing_rate * 1000.0;
        self.c.send_quantum = self.c.send_quantum.min(65_536.0 / self.c.mss);
        self.c.send_quantum = self.c.send_quantum.max(2.0 * SMSS);
    }

    fn bdp_multiple(&self, gain: f64) -> f64 {
        if self.min_rtt == INFINITY {
            return self.c.initial_cwnd;
        }
        gain * (self.bw * self.min_rtt)
    }

    fn quantization_budget(&self, inflight_cap: f64) -> f64 {
        let offload_budget = 3.0 * self.c.send_quantum;
        let mut inflight_cap = inflight_cap.max(offload_budget);
        inflight_cap = inflight_cap.max(MIN_PIPE_CWND);
        if self.state == Phase::Up {
            inflight_cap += 2.0 * SMSS;
        }
        inflight_cap
    }

    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        let cap = if self.min_rtt == INFINITY { self.c.initial_cwnd } else { gain * (bw * self.min_rtt) };
        self.quantization_budget(cap)
    }

    fn max_inflight(&self) -> f64 {
        let inflight_cap = self.bdp_multiple(self.cwnd_gain) + self.extra_acked;
        self.quantization_budget(inflight_cap)
    }

    pub(super) fn set_in_loss_recovery(&mut self, now: bool) {
        if self.in_loss_recovery && !now {
            self.restore_cwnd();
        }
        self.in_loss_recovery = now;
    }

    fn save_cwnd(&mut self) {
        if !self.in_loss_recovery && self.state != Phase::ProbeRtt {
            self.prior_cwnd = self.c.cwnd;
        } else {
            self.prior_cwnd = self.prior_cwnd.max(self.c.cwnd);
        }
    }

    fn restore_cwnd(&mut self) {
        self.c.cwnd = self.c.cwnd.max(self.prior_cwnd);
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(0.5).max(MIN_PIPE_CWND)
    }

    fn set_cwnd(&mut self) {
        let max_inflight = self.max_inflight();
        if self.full_bw_reached {
            self.c.cwnd = (self.c.cwnd + self.rs.newly_acked).min(max_inflight);
        } else if self.c.cwnd < max_inflight || self.c.delivered < self.c.initial_cwnd {
            self.c.cwnd += self.rs.newly_acked;
        }
        self.c.cwnd = self.c.cwnd.max(MIN_PIPE_CWND);
        if self.state == Phase::ProbeRtt {
            self.c.cwnd = self.c.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    fn bound_cwnd_for_model(&mut self) {
        let mut cap = INFINITY;
        if self.is_in_a_probe_bw_state() && self.state != Phase::Cruise {
            cap = self.inflight_longterm;
        } else if self.state == Phase::ProbeRtt || self.state == Phase::Cruise {
            cap = self.inflight_with_headroom();
        }
        cap = cap.min(self.inflight_shortterm);
        cap = cap.max(MIN_PIPE_CWND);
        self.c.cwnd = self.c.cwnd.min(cap);
    }
}
