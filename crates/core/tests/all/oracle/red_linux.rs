//! RED as Linux 6.12 and tc behave, from a description of their integers, in wide integers and whole formulas.

use perhop_core::Rng;
use perhop_core::math::{ln, power_of_two};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Pass,
    /// By the draw of its gap.
    Drawn,
    /// The average is beyond the ramp.
    Forced,
}

pub struct Linux {
    thresholds: [u64; 2],
    log: u32,
    /// Of 2^32: at the second threshold, and by unit above the first.
    max_p: u128,
    slope: u128,
    rng: Rng,
    /// Bytes x 2^log.
    average: u128,
    /// `None` outside the ramp.
    since: Option<u128>,
    limit: u128,
    /// Ticks of 64 ns that a mean packet takes.
    packet: f64,
    last: u64,
}

impl Linux {
    pub fn new(thresholds: [u64; 2], max_p: f64, [log, mean]: [u32; 2], link: f64, rng: Rng) -> Self {
        let of = (max_p * 4_294_967_296.0).floor() as u128 % 4_294_967_296;
        let range = thresholds[1] - thresholds[0];
        // 1 becomes 0 in 32 bits, for which a byte counts 2^-i, i the least with 2^i above the range.
        let byte = || (0..32).find(|i| 2u64.pow(*i) > range).map(|i| 4_294_967_295 / 2u128.pow(i)).unwrap();
        let slope = if of == 0 { byte() } else { (of / u128::from(range)).max(1) };
        let max_p = if of == 0 { slope * u128::from(range) } else { of };
        let packet = ((f64::from(mean) / link * 1e6).floor() * 15.625).floor();
        Self { thresholds, log, max_p, slope, rng, average: 0, since: None, limit: 0, packet, last: 0 }
    }

    /// In packets: the byte of tc's least i is still a byte.
    pub fn of_packets(thresholds: [u64; 2], max_p: f64, [log, mean]: [u32; 2], link: f64) -> Self {
        let bytes = (thresholds[1] - thresholds[0]) * u64::from(mean);
        let whole = Self::new([0, bytes], max_p, [log, mean], link, Rng::stream(0, 0, "none"));
        let range = u128::from(thresholds[1] - thresholds[0]);
        let slope = if max_p == 1.0 { whole.slope } else { (whole.max_p / range).max(1) };
        Self { thresholds, slope, ..whole }
    }

    pub fn rng_mut(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// By how many binary places idle time of `us` lowers the average; `Err` for less than one place, with the cell.
    fn damping(&self, us: u64) -> Result<u32, u32> {
        let per_tick = -ln(1.0 - power_of_two(-(self.log as i32))) / self.packet;
        let mut cell = 0;
        while 31.0 / per_tick / power_of_two(cell) >= 512.0 {
            cell += 1;
        }
        let entry = (us / 2u64.pow(cell as u32)).min(255);
        if entry == 255 {
            return Ok(31);
        }
        let shift = (entry as f64 * power_of_two(cell) * per_tick).floor().min(31.0) as u32;
        if shift > 0 { Ok(shift) } else { Err(cell as u32) }
    }

    fn idle(&mut self, us: u64) {
        self.average = match self.damping(us) {
            Ok(shift) => self.average / 2u128.pow(shift),
            Err(cell) => {
                let us = us.min(255 * 2u64.pow(cell));
                let loss = self.average * u128::from(us) / 2u128.pow(cell);
                if loss < self.average / 2 { self.average - loss } else { self.average / 2 }
            }
        };
    }

    fn draw(&mut self) {
        self.limit = (self.rng.uniform() * 4_294_967_296.0) as u128 / self.slope;
    }

    /// The average that an arrival finds; `idle` since: ns.
    pub fn measure(&mut self, now: u64, backlog: u64, idle: Option<u64>) {
        match idle {
            Some(since) => self.idle((now - since.max(self.last)) / 1000),
            None => self.average = self.average + u128::from(backlog) - self.average / 2u128.pow(self.log),
        }
        self.last = now;
    }

    pub fn arrive(&mut self, now: u64, backlog: u64, idle: Option<u64>) -> Outcome {
        self.measure(now, backlog, idle);
        let [min, max] = self.scaled();
        if self.average < min {
            self.since = None;
            return Outcome::Pass;
        }
        if self.average >= max {
            self.since = None;
            return Outcome::Forced;
        }
        self.gap()
    }

    /// Whether the average is above the first threshold, and above the second.
    pub fn above(&self) -> [bool; 2] {
        self.scaled().map(|threshold| self.average > threshold)
    }

    /// Outside the ramp no gap runs.
    pub fn rest(&mut self) {
        self.since = None;
    }

    fn scaled(&self) -> [u128; 2] {
        self.thresholds.map(|units| u128::from(units) * 2u128.pow(self.log))
    }

    /// An arrival on the ramp.
    pub fn gap(&mut self) -> Outcome {
        let Some(since) = self.since else {
            self.since = Some(0);
            self.draw();
            return Outcome::Pass;
        };
        self.since = Some(since + 1);
        if (self.average - self.scaled()[0]) / 2u128.pow(self.log) * (since + 1) < self.limit {
            return Outcome::Pass;
        }
        self.since = Some(0);
        self.draw();
        Outcome::Drawn
    }

    /// A step of Adaptive RED: one per cent of 2^32, tenths and fifths in whole numbers; `idle` since: ns.
    pub fn adapt(&mut self, now: u64, idle: Option<u64>) {
        let (kept, range) = (self.average, u128::from(self.thresholds[1] - self.thresholds[0]).max(1));
        idle.into_iter().for_each(|since| self.idle((now - since.max(self.last)) / 1000));
        let average = std::mem::replace(&mut self.average, kept) / 2u128.pow(self.log);
        let fifths = |n: u128| u128::from(self.thresholds[0]) + n * (range / 5);
        let one_per_cent = 42_949_673;
        if average > fifths(3) && self.max_p <= 50 * one_per_cent {
            self.max_p += one_per_cent.min(self.max_p / 4);
        } else if average < fifths(2) && self.max_p >= one_per_cent {
            self.max_p = self.max_p / 10 * 9;
        }
        // Rounded to the nearest, a half up.
        self.slope = ((2 * self.max_p + range) / (2 * range)).max(1);
    }

    pub fn max_p(&self) -> f64 {
        self.max_p as f64 / 4_294_967_296.0
    }

    pub fn average(&self) -> f64 {
        self.average as f64 / power_of_two(self.log as i32)
    }
}
