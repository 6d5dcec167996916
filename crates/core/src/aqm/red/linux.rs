//! RED in the whole numbers of Linux 6.12 and of tc.

use super::Params;
use crate::Scope;
use crate::aqm::Arrival;
use crate::aqm::early::average::WHOLE;
use crate::aqm::early::level::link_rate;
use crate::aqm::early::shape::{Shape, Stated};
use crate::aqm::early::{Beyond, Level, Profile, Spacing, Unit};
use crate::arithmetic::tc_ticks;
use crate::math;
use crate::params::ParamError;
use crate::rng::Rng;
use crate::units::Time;
use crate::verdict::{Reason, Verdict};

const ENTRIES: usize = 256;
/// Largest shift of the table.
const MOST: f64 = 31.0;

/// One queue's RED.
#[derive(Clone, Debug)]
pub struct Red {
    set: Set,
    /// Bytes x 2^log.
    average: u64,
    /// Packets since the last draw; -1 outside the ramp.
    count: i64,
    draw: u64,
    last: Time,
}

#[derive(Clone, Debug)]
struct Set {
    /// Bytes x 2^log.
    min: u64,
    max: u64,
    /// The weight is 2^-log.
    log: u32,
    /// p_b x 2^32 for a byte above `min`.
    slope: u64,
    /// p_b at `max`, for series.
    max_p: f64,
    ecn: bool,
    idle: Box<Table>,
}

/// How far the average falls in idle time.
#[derive(Clone, Debug)]
struct Table {
    /// A cell is 2^cell us.
    cell: u32,
    shifts: [u8; ENTRIES],
}

impl Table {
    /// tc's table for packets that take so many of its ticks.
    fn new(log: u32, ticks: u32) -> Self {
        let weight = 1.0 / (1u64 << log) as f64;
        let decay = -math::ln(1.0 - weight) / f64::from(ticks);
        let fits = |cell: &u32| MOST / decay / ((1u64 << cell) as f64) < 512.0;
        let cell = (0..32).find(fits).unwrap_or(31);
        let mut shifts = [MOST as u8; ENTRIES];
        for (i, shift) in shifts.iter_mut().enumerate().take(ENTRIES - 1) {
            *shift = (((i as u64) << cell) as f64 * decay).min(MOST) as u8;
        }
        Self { cell, shifts }
    }

    fn after(&self, average: u64, us: u64) -> u64 {
        let us = us.min(255 << self.cell);
        match self.shifts[(us >> self.cell) as usize & (ENTRIES - 1)] {
            // The beginning of the exponential as a line.
            0 => {
                let loss = (average * us) >> self.cell;
                if loss < average >> 1 { average - loss } else { average >> 1 }
            }
            shift => average >> shift,
        }
    }
}

/// New parameters with other numbers.
pub fn changed() -> ParamError {
    ParamError::new("arithmetic", "E202", "`arithmetic` changes while running".into())
        .help("keep it: the average is kept in its units")
}

/// # Errors
/// E239 for what Linux does not have.
fn profile(params: &Params) -> Result<&Profile, ParamError> {
    let none = |field: &'static str| {
        Err(ParamError::new(field, "E239", format!("Linux's RED has no `{field}`"))
            .help(format!("remove `{field}`, or choose `arithmetic = \"exact\"`")))
    };
    let Shape { drops, marks } = &params.profile;
    let Stated::Ramp(profile) = drops else { return none("curve") };
    match &params.common {
        _ if marks.is_some() => none("ecn-min"),
        common if common.spacing != Spacing::Uniformised => none("spacing"),
        common if common.beyond != Beyond::Drop => none("beyond"),
        _ if params.min_waiting.get() > 0 => none("min-waiting"),
        _ => Ok(profile),
    }
}

/// # Errors
/// E201 unless `wq` is 2^-1 to 2^-31.
fn log(wq: f64) -> Result<u32, ParamError> {
    let log = (1..=31u32).find(|log| wq == 1.0 / (1u64 << log) as f64);
    log.ok_or_else(|| {
        ParamError::new("wq", "E201", format!("`wq` is {wq}"))
            .help("with `arithmetic = \"linux\"` 2^-n: write `weight = n`, 1 to 31, the `ewma` that tc shows")
    })
}

/// A threshold in bytes x 2^log, which the kernel keeps in 32 bits.
///
/// # Errors
/// E219 unless it is in bytes; E201 where it does not fit.
fn threshold(field: &'static str, level: Level, log: u32) -> Result<u64, ParamError> {
    if level.unit != Unit::Bytes {
        return Err(ParamError::new(field, "E219", format!("`{field}` is in packets"))
            .help("with `arithmetic = \"linux\"` in bytes or time: Linux's RED counts bytes"));
    }
    let bytes = level.value as u64;
    if bytes >> (31 - log) > 0 {
        return Err(ParamError::new(field, "E201", format!("`{field}` of {bytes}B is too much for 32 bits"))
            .help(format!("must be below {}B with this weight, 2^-{log}", 1u64 << (31 - log))));
    }
    Ok(bytes << log)
}

/// p_b x 2^32 for a byte above `min`, where `range` bytes lie between the thresholds. tc hands max_p over x 2^32 in 32 bits, and the
/// least i with max_p x 2^i > `range`; where the 32 bits are 0, as for 1, the kernel takes 2^-i for a byte.
///
/// # Errors
/// E201 where tc finds no i.
fn slope(range: u64, max_p: f64) -> Result<u64, ParamError> {
    let range = range.max(1);
    let of_byte = max_p / range as f64;
    let i = (0..32).find(|i| of_byte * (1u64 << i) as f64 > 1.0).ok_or_else(|| {
        let least = range as f64 / (1u64 << 31) as f64;
        ParamError::new("max-p", "E201", format!("`max-p` is {max_p}"))
            .help(format!("must be above {least:.2e} with {range}B between `min` and `max`: tc refuses less"))
    })?;
    let scaled = (max_p * (1u64 << 32) as f64) as u64 as u32;
    Ok(if scaled == 0 { u64::from(u32::MAX >> i) } else { (u64::from(scaled) / range).max(1) })
}

impl Red {
    pub(super) fn new(params: &Params, scope: &Scope) -> Result<Self, ParamError> {
        let profile = profile(params)?;
        profile.ramp(Beyond::Drop, scope)?;
        let common = &params.common;
        let log = log(common.weight.checked()?)?;
        ParamError::above_zero("mean-packet", common.mean_packet)?;
        let ticks = tc_ticks(link_rate("mean-packet", scope)?, common.mean_packet.get());
        let min = threshold("min", Level::of("min", profile.min, scope)?, log)?;
        let max = threshold("max", Level::of("max", profile.max, scope)?, log)?;
        let max_p = profile.max_p.get();
        if max_p == 0.0 {
            return Err(
                ParamError::new("max-p", "E201", "`max-p` is 0".into()).help("must be above 0: tc refuses 0, too")
            );
        }
        let slope = slope((max - min) >> log, max_p)?;
        let idle = Box::new(Table::new(log, ticks));
        let set = Set { min, max, log, slope, max_p, ecn: common.ecn, idle };
        Ok(Self { set, average: 0, count: -1, draw: 0, last: Time::ZERO })
    }

    pub(super) fn resume(&mut self, old: &Self) -> Result<(), ParamError> {
        if self.set.log != old.set.log {
            return Err(ParamError::new("wq", "E202", "the weight changes while running".into())
                .help("keep it with `arithmetic = \"linux\"`: the average is kept in its unit"));
        }
        *self = Self { set: self.set.clone(), ..old.clone() };
        Ok(())
    }

    pub(super) fn on_arrival(&mut self, at: &Arrival, rng: &mut Rng) -> Verdict {
        let last = std::mem::replace(&mut self.last, at.now);
        self.average = match at.backlog.idle_since {
            Some(since) => self.set.idle.after(self.average, at.now.since(since.max(last)).ns() / 1000),
            None => self.average + at.backlog.bytes - (self.average >> self.set.log),
        };
        if self.average < self.set.min {
            self.count = -1;
            return Verdict::Pass;
        }
        if self.average >= self.set.max {
            self.count = -1;
            let marks = self.set.ecn && at.backlog.ecn;
            return if marks { Verdict::Mark } else { Verdict::Drop(Reason::Forced) };
        }
        match self.is_due(rng) {
            false => Verdict::Pass,
            true if self.set.ecn => Verdict::Mark,
            true => Verdict::Drop(Reason::Early),
        }
    }

    /// The gap ends where count x (average - min) passes one draw from 0 to 2^32 / slope.
    fn is_due(&mut self, rng: &mut Rng) -> bool {
        self.count += 1;
        let above = (self.average - self.set.min) >> self.set.log;
        let due = self.count > 0 && above * self.count.cast_unsigned() >= self.draw;
        if due {
            self.count = 0;
        }
        if due || self.count == 0 {
            self.draw = (rng.uniform() * (1u64 << 32) as f64) as u64 / self.set.slope;
        }
        due
    }

    pub(super) fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let min = Level { unit: Unit::Bytes, value: (self.set.min >> self.set.log) as f64 };
        min.out_of_reach("min", scope).into_iter().chain(self.falls_back()).collect()
    }

    /// p_b at `max`.
    fn top(&self) -> f64 {
        (self.set.slope * ((self.set.max - self.set.min) >> self.set.log)) as f64 / (1u64 << 32) as f64
    }

    /// W341: of 1 the kernel is told 0.
    fn falls_back(&self) -> Option<ParamError> {
        (self.set.max_p == 1.0).then(|| {
            ParamError::new("max-p", "W341", "`max-p` is 1, which tc hands over as 0".into())
                .label(format!("Linux falls back to a power of two, and p at `max` is {:.3}", self.top()))
                .help("must be at most 0.999, or choose `arithmetic = \"exact\"`")
        })
    }

    pub(super) fn gauges(&self, each: &mut dyn FnMut(&'static str, f64)) {
        let Set { min, max, log, .. } = self.set;
        let max_p = if self.set.max_p == 1.0 { self.top() } else { self.set.max_p };
        let bytes = |scaled: u64| scaled as f64 / (1u64 << log) as f64;
        each(WHOLE[1], bytes(self.average));
        let share = (bytes(self.average) - bytes(min)) / (bytes(max) - bytes(min));
        each("drop_p", if share >= 1.0 { 1.0 } else { max_p * share.max(0.0) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    /// Slope and cell of the table, from what tc sends; what it refuses is refused here.
    #[test]
    fn numbers_are_those_that_tc_sends() {
        for it in wire::sent("red") {
            let [min, max] = ["min", "max"].map(|key| it.bytes(key).unwrap().get());
            let max_p = it.number("probability").unwrap();
            let slope = slope(max - min, max_p);
            assert_eq!(slope.is_ok(), it.taken(), "{max_p} over {} B", max - min);
            let (Ok(slope), Some(plog)) = (slope, it.field("plog")) else { continue };
            let kernel = match it.field("max_p").unwrap() {
                0 => i128::from(u32::MAX) >> plog,
                max_p => max_p / i128::from(max - min),
            };
            assert_eq!(i128::from(slope), kernel.max(1), "{max_p} over {} B", max - min);
            let ticks = tc_ticks(it.rate("bandwidth").unwrap(), it.bytes("avpkt").unwrap().get());
            let table = Table::new(it.field("wlog").unwrap() as u32, ticks);
            assert_eq!(Some(table.cell.into()), it.field("scell_log"));
        }
    }

    /// 1.0 over 70,000 B is 0.534: what a kernel drops just below `max`.
    #[test]
    fn of_one_half_is_left() {
        let top = |range: u64| (slope(range, 1.0).unwrap() * range) as f64 / (1u64 << 32) as f64;
        assert!((top(70_000) - 0.534).abs() < 1e-4, "{}", top(70_000));
        assert!((top(65_536) - 0.5).abs() < 1e-4 && (top(65_535) - 1.0).abs() < 1e-4);
    }
}
