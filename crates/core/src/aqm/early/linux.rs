//! RED in the whole numbers of Linux 6.12 (`include/net/red.h`) and of tc: what its RED and CHOKe share.
//!
//! The average is kept in units (bytes, or packets) x 2^log, where the weight is 2^-log. One random number is drawn for a gap
//! between drops: the gap ends where count x (average - min) passes it.

use super::average::whole;
use super::level::{Level, Unit, link_rate};
use super::{Beyond, Common, Profile, Spacing};
use crate::Scope;
use crate::aqm::Arrival;
use crate::arithmetic::tc_ticks;
use crate::math;
use crate::params::ParamError;
use crate::rng::Rng;
use crate::units::Time;

const ENTRIES: usize = 256;
/// Largest shift of the table.
const MOST: f64 = 31.0;
/// A probability of 1.
const ONE: f64 = (1u64 << 32) as f64;
/// One per cent: what a probability that adapts is at least, and rises by at most.
const PER_CENT: u64 = ((1 << 32) + 50) / 100;

/// The average of one queue, and the gap that is running.
#[derive(Clone, Debug)]
pub struct Red {
    /// What it was built from.
    pub set: Set,
    average: u64,
    /// Packets since the last draw; -1 outside the ramp.
    count: i64,
    draw: u64,
    last: Time,
}

/// The parameters as the kernel keeps them.
#[derive(Clone, Debug)]
pub struct Set {
    /// The thresholds, in units x 2^log.
    pub min: u64,
    /// As `min`.
    pub max: u64,
    /// Whether ECN-capable packets are marked.
    pub ecn: bool,
    unit: Unit,
    log: u32,
    /// p_b at `max`, x 2^32.
    max_p: u64,
    /// p_b x 2^32 for a unit above `min`.
    slope: u64,
    /// p_b at `max`, for series.
    shown: f64,
    /// `max-p` is 1, of which the kernel is told 0.
    falls_back: bool,
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

/// E239 for what Linux does not have.
pub fn absent(field: &'static str, of: &str) -> ParamError {
    ParamError::new(field, "E239", format!("Linux's {of} has no `{field}`"))
        .help(format!("remove `{field}`, or choose `arithmetic = \"exact\"`"))
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

/// A threshold in units x 2^log, which the kernel keeps in 32 bits.
///
/// # Errors
/// E219 unless it is in `unit`; E201 where it does not fit.
fn threshold(field: &'static str, level: Level, unit: Unit, log: u32) -> Result<u64, ParamError> {
    if level.unit != unit {
        let (written, of, keys) = match unit {
            Unit::Bytes => ("packets", "RED counts bytes", "bytes or time"),
            Unit::Packets => ("bytes or time", "CHOKe counts packets", "packets"),
        };
        return Err(ParamError::new(field, "E219", format!("`{field}` is in {written}"))
            .help(format!("with `arithmetic = \"linux\"` in {keys}: Linux's {of}")));
    }
    let (units, most) = (level.value as u64, 1u64 << (31 - log));
    if units >= most {
        let letter = if unit == Unit::Bytes { 'B' } else { 'p' };
        return Err(ParamError::new(field, "E201", format!("`{field}` of {units}{letter} is too much for 32 bits"))
            .help(format!("must be below {most}{letter} with this weight, 2^-{log}")));
    }
    Ok(units << log)
}

/// `max-p` x 2^32, and p_b x 2^32 for a unit above `min`, where `range` units of `bytes` lie between the thresholds. tc hands
/// max_p x 2^32 over in 32 bits, and the least i with max_p x 2^i above the range in bytes; where the 32 bits are 0, as for 1,
/// the kernel takes 2^-i for a unit.
///
/// # Errors
/// E201 where tc finds no i.
fn slope(range: u64, bytes: u64, max_p: f64) -> Result<(u64, u64), ParamError> {
    let (range, wide) = (range.max(1), (range * bytes).max(1));
    let of_byte = max_p / wide as f64;
    let i = (0..32).find(|i| of_byte * (1u64 << i) as f64 > 1.0).ok_or_else(|| {
        let least = wide as f64 / (1u64 << 31) as f64;
        ParamError::new("max-p", "E201", format!("`max-p` is {max_p}"))
            .help(format!("must be above {least:.2e} with {wide}B between `min` and `max`: tc refuses less"))
    })?;
    Ok(match (max_p * ONE) as u64 as u32 {
        0 => {
            let of_unit = u64::from(u32::MAX >> i);
            (of_unit * range, of_unit)
        }
        scaled => (scaled.into(), (u64::from(scaled) / range).max(1)),
    })
}

impl Set {
    /// The numbers of a queue that is counted in `unit`.
    ///
    /// # Errors
    /// E219 for thresholds in another unit; E201 for a weight, a probability or a threshold that the kernel cannot keep, E239 for
    /// what it does not have; as [`Profile::ramp`].
    fn new(unit: Unit, profile: &Profile, common: &Common, scope: &Scope) -> Result<Self, ParamError> {
        profile.ramp(Beyond::Drop, scope)?;
        let log = log(common.weight.checked()?)?;
        ParamError::above_zero("mean-packet", common.mean_packet)?;
        let packet = common.mean_packet.get();
        let ticks = tc_ticks(link_rate("mean-packet", scope)?, packet);
        let min = threshold("min", Level::of("min", profile.min, scope)?, unit, log)?;
        let max = threshold("max", Level::of("max", profile.max, scope)?, unit, log)?;
        if profile.max_p.get() == 0.0 {
            let error = ParamError::new("max-p", "E201", "`max-p` is 0".into());
            return Err(error.help("must be above 0: tc refuses 0, too"));
        }
        let bytes = if unit == Unit::Bytes { 1 } else { packet };
        let (max_p, slope) = slope((max - min) >> log, bytes, profile.max_p.get())?;
        let (falls_back, idle) = (profile.max_p.get() == 1.0, Box::new(Table::new(log, ticks)));
        let set =
            Self { min, max, ecn: common.ecn, unit, log, max_p, slope, shown: profile.max_p.get(), falls_back, idle };
        Ok(if falls_back { Self { shown: set.top(), ..set } } else { set })
    }

    /// Units between the thresholds.
    fn range(&self) -> u64 {
        ((self.max - self.min) >> self.log).max(1)
    }

    /// `max-p` becomes this, x 2^32.
    fn adapt(&mut self, max_p: u64) {
        let range = self.range();
        (self.max_p, self.slope) = (max_p, ((max_p + range / 2) / range).max(1));
        self.shown = max_p as f64 / ONE;
    }

    /// p_b at `max` as drops have it.
    fn top(&self) -> f64 {
        (self.slope * self.range()) as f64 / ONE
    }
}

impl Red {
    /// With an average of zero, for the queue of an algorithm that Linux calls `name`.
    ///
    /// # Errors
    /// E219 for thresholds in another unit than `unit`; E201 for a weight, a probability or a threshold that the kernel cannot
    /// keep, E239 for what it does not have; as [`Profile::ramp`].
    pub fn new(name: &str, unit: Unit, profile: &Profile, common: &Common, scope: &Scope) -> Result<Self, ParamError> {
        if common.spacing != Spacing::Uniformised {
            return Err(absent("spacing", name));
        }
        if common.beyond != Beyond::Drop {
            return Err(absent("beyond", name));
        }
        let set = Set::new(unit, profile, common, scope)?;
        Ok(Self { set, average: 0, count: -1, draw: 0, last: Time::ZERO })
    }

    /// Continues from the state of `old`.
    ///
    /// # Errors
    /// E202 for another weight.
    pub fn resume(&mut self, old: &Self) -> Result<(), ParamError> {
        if self.set.log != old.set.log {
            return Err(ParamError::new("wq", "E202", "the weight changes while running".into())
                .help("keep it with `arithmetic = \"linux\"`: the average is kept in its unit"));
        }
        *self = Self { set: self.set.clone(), ..old.clone() };
        Ok(())
    }

    /// Takes an arrival that finds `waiting` units; the new average, in units x 2^log.
    #[inline(always)]
    pub fn on_arrival(&mut self, at: &Arrival, waiting: u64) -> u64 {
        let last = std::mem::replace(&mut self.last, at.now);
        self.average = match at.backlog.idle_since {
            Some(since) => self.rested(at.now, since.max(last)),
            None => self.average + waiting - (self.average >> self.set.log),
        };
        self.average
    }

    /// The average at the last arrival, in units x 2^log.
    pub fn average(&self) -> u64 {
        self.average
    }

    /// The average of a queue that has been empty since then.
    fn rested(&self, now: Time, since: Time) -> u64 {
        self.set.idle.after(self.average, now.since(since).ns() / 1000)
    }

    /// The average is outside the ramp.
    #[inline]
    pub fn rest(&mut self) {
        self.count = -1;
    }

    /// Whether a packet that finds the average on the ramp ends the gap.
    pub fn is_due(&mut self, rng: &mut Rng) -> bool {
        self.count += 1;
        let above = (self.average - self.set.min) >> self.set.log;
        let due = self.count > 0 && above * self.count.cast_unsigned() >= self.draw;
        if due {
            self.count = 0;
        }
        if due || self.count == 0 {
            self.draw = (rng.uniform() * ONE) as u64 / self.set.slope;
        }
        due
    }

    /// Half a second has passed: `max-p` follows the average towards the middle fifth of the ramp.
    pub fn adapt(&mut self, now: Time, idle_since: Option<Time>) {
        let average = idle_since.map_or(self.average, |since| self.rested(now, since.max(self.last))) >> self.set.log;
        let Set { min, log, max_p, .. } = self.set;
        let (range, min) = (self.set.range(), min >> log);
        if average > min + range / 5 * 3 && max_p <= 50 * PER_CENT {
            self.set.adapt(max_p + PER_CENT.min(max_p / 4));
        } else if average < min + range / 5 * 2 && max_p >= PER_CENT {
            self.set.adapt(max_p / 10 * 9);
        } else {
            self.set.adapt(max_p);
        }
    }

    /// Goes on with the `max-p` of `old`, if that has adapted.
    pub fn keep_max_p(&mut self, old: &Self) {
        if old.set.max_p != self.set.max_p {
            self.set.adapt(old.set.max_p);
        }
    }

    /// What a scenario should know: a `min` out of reach; W341 for a `max-p` of 1, of which the kernel is told 0.
    pub fn warnings(&self, scope: &Scope) -> Vec<ParamError> {
        let min = Level { unit: self.set.unit, value: (self.set.min >> self.set.log) as f64 };
        min.out_of_reach("min", scope).into_iter().chain(self.falls_back()).collect()
    }

    fn falls_back(&self) -> Option<ParamError> {
        self.set.falls_back.then(|| {
            ParamError::new("max-p", "W341", "`max-p` is 1, which tc hands over as 0".into())
                .label(format!("Linux falls back to a power of two, and p at `max` is {:.3}", self.set.top()))
                .help("must be at most 0.999, or choose `arithmetic = \"exact\"`")
        })
    }

    /// p_b at `max`.
    pub fn max_p(&self) -> f64 {
        self.set.shown
    }

    /// Average and p_b, for series.
    pub fn gauges(&self, each: &mut dyn FnMut(&'static str, f64)) {
        let Set { min, max, log, .. } = self.set;
        let units = |scaled: u64| scaled as f64 / (1u64 << log) as f64;
        each(whole(self.set.unit), units(self.average));
        let share = (units(self.average) - units(min)) / (units(max) - units(min));
        each("drop_p", if share >= 1.0 { 1.0 } else { self.max_p() * share.max(0.0) });
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
            let slope = slope(max - min, 1, max_p);
            assert_eq!(slope.is_ok(), it.taken(), "{max_p} over {} B", max - min);
            let (Ok((_, slope)), Some(plog)) = (slope, it.field("plog")) else { continue };
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
        let top = |range: u64| (slope(range, 1, 1.0).unwrap().1 * range) as f64 / ONE;
        assert!((top(70_000) - 0.534).abs() < 1e-4, "{}", top(70_000));
        assert!((top(65_536) - 0.5).abs() < 1e-4 && (top(65_535) - 1.0).abs() < 1e-4);
    }
}
