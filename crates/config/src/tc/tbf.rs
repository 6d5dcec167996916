//! `tbf`: a shaper.

use super::htb::framed;
use super::log::Log;
use super::options::{Classes, Discipline, Does, Opt, Options, Takes, row};
use super::words::{Refusal, Taken};
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::units::Bytes;

/// A token bucket with a queue.
pub const TBF: Discipline = Discipline {
    rows: &[
        row("rate", Takes::Rate, Does::Sets("rate")),
        row("burst", Takes::Burst, Does::Sets("burst")),
        row("buffer", Takes::Burst, Does::Sets("burst")),
        row("maxburst", Takes::Burst, Does::Sets("burst")),
        row("peakrate", Takes::Rate, Does::Sets("peak")),
        row("mtu", Takes::Burst, Does::Makes("`peak-burst`, with `peakrate`")),
        row("minburst", Takes::Burst, Does::Makes("`peak-burst`, with `peakrate`")),
        row("limit", Takes::Size, Does::Makes("`limit` of the queue, unless another one is put below it")),
        row(
            "latency",
            Takes::Time,
            Does::Makes("`limit` of the queue: what the rate sends in that time, and the burst"),
        ),
        row("lat", Takes::Time, Does::Makes("`limit` of the queue: what the rate sends in that time, and the burst")),
        row("overhead", Takes::Signed, Does::Makes("`overhead` of the shaper")),
        row("mpu", Takes::Size, Does::Makes("`mpu` of the shaper")),
        row("linklayer", Takes::Word, Does::Makes("`link-layer` of the shaper")),
    ],
    classes: Classes::One,
    needs: &[&["rate"], &["burst", "buffer", "maxburst"], &["latency", "lat", "limit"]],
    check: |_, options| checked(options),
    ..Discipline::plain("tbf")
};

/// What tc and the kernel want.
///
/// # Errors
/// They would refuse it.
fn checked(options: &Options<'_>) -> Taken<()> {
    let Some(peak) = options.get("peakrate") else { return Ok(()) };
    if options.any(&["mtu", "minburst"]).is_none() {
        return Err(Refusal::of("`peakrate` needs `mtu`"));
    }
    match (options.get("rate").and_then(Opt::rate), peak.rate()) {
        (Some(rate), Some(peak)) if peak <= rate => Err(Refusal::of("`peakrate` is not above `rate`")),
        _ => Ok(()),
    }
}

/// Its shaper.
pub(super) fn shape(options: &Options<'_>) -> Settings {
    let mut shape = options.settings();
    if shape.get("peak").is_some()
        && let Some((bytes, it)) = options.any(&["mtu", "minburst"]).and_then(|it| Some((it.bytes()?, it)))
    {
        shape.set("peak-burst", it.said(Value::Bytes(bytes)));
    }
    framing(options, &mut shape);
    shape.assume("arithmetic", "sch_tbf.c", Value::Word("linux".into()));
    shape
}

/// The bytes that a rate counts, where they are other than the packet's.
pub(super) fn framing(options: &Options<'_>, settings: &mut Settings) {
    for (word, key) in [("overhead", "overhead"), ("mpu", "mpu"), ("linklayer", "link-layer")] {
        let Some(it) = options.get(word) else { continue };
        let zero = match &it.value {
            Some(Value::Signed(bytes)) => bytes.get() == 0,
            Some(Value::Bytes(bytes)) => bytes.get() == 0,
            _ => false,
        };
        if let Some(value) = framed(it).filter(|_| !zero) {
            settings.set(key, it.said(value));
        }
    }
}

/// The room of its own queue, bytes.
pub(super) fn limit(options: &Options<'_>, shape: &Settings, log: &mut Log) -> Option<WithOrigin<Value>> {
    if let Some((bytes, it)) = options.get("limit").and_then(|it| Some((it.bytes()?, it))) {
        return Some(it.said(Value::Bytes(bytes)));
    }
    let (time, it) = options.any(&["latency", "lat"]).and_then(|it| Some((it.time()?, it)))?;
    let within = |rate: &str, burst: &str| {
        let (rate, burst) = (shape.rate(rate)?, shape.bytes(burst)?);
        Some((rate * time).get().saturating_add(burst.get()))
    };
    let limit = within("rate", "burst")?;
    let limit = within("peak", "peak-burst").map_or(limit, |peak| limit.min(peak));
    if limit == 0 {
        log.lost(&[it.line], "a `latency` that leaves no room");
    }
    Some(it.said(Value::Bytes(Bytes::new(limit))))
}
