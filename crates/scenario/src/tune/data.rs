//! The answer for programs: numbers, and what its plot shows.

use super::{Row, Tuned};
use perhop_core::design::fluid::Fluid;
use perhop_core::design::lemma31::Loop;
use serde_json::{Value, json};

/// Points of a curve of the plot.
const POINTS: usize = 160;
/// Most curves.
const CURVES: usize = 5;
/// The two sides of the boundary.
const SIDES: [f64; 2] = [1.2, 0.8];
/// Time that the plot shows, in periods of the crossover.
const PERIODS: f64 = 30.0;
/// Instants of that time.
const INSTANTS: f64 = 2000.0;
/// By how much the rate is moved at time 0.
const DISTURBANCE: f64 = 0.05;

impl Tuned {
    /// Loads, settings, the lines to copy: packets, seconds; null where there is no equilibrium.
    pub fn to_json(&self) -> Value {
        let (link, v0) = (&self.plant.link, self.recommended().setting.v0);
        let (most, last) = (self.plant.classes(1), self.plant.aggregate(1));
        let loops = self.plant.loops();
        let loops = loops.iter().enumerate().map(|(i, it)| {
            let most = most.get(i).unwrap_or(&last);
            json!({
                "name": self.name(i), "share": it.share, "flows": [it.flows, most.flows], "rtt_s": it.rtt,
                "window_packets": [it.window(), most.window()],
                "equilibrium_p": [it.equilibrium_p(), most.equilibrium_p()],
                "crossover_rad_s": it.crossover(), "critical_threshold_packets": it.critical_threshold(0.0),
                "largest_alpha": it.largest_alpha(v0),
            })
        });
        json!({
            "aqm": self.asked.kind.name(), "capacity_packets_s": link.capacity, "packet_bytes": self.asked.packet,
            "limit_packets": link.limit, "reference_packets": link.reference,
            "loops": loops.collect::<Vec<_>>(),
            "settings": self.rows.iter().map(setting).collect::<Vec<_>>(),
            "toml": self.toml(),
            "notes": self.asked.notes.iter().cloned().chain(self.warnings()).collect::<Vec<_>>(),
        })
    }

    /// Critical V0 over flows for each RTT, the settings as points, and the fluid model on both sides of the boundary;
    /// all of the loop of all classes together.
    pub fn picture(&self) -> Value {
        let (all, alpha) = (self.plant.aggregate(0), self.recommended().judged.last().map_or(0.0, |it| it.alpha));
        let most = self.plant.aggregate(1).flows;
        let points = self.rows.iter().map(|row| {
            let of_all = row.judged.last().expect("a plant has a loop");
            json!({ "name": row.name, "v0": row.setting.v0, "alpha": of_all.alpha, "stable": row.stable() })
        });
        let curves = self.rtts().into_iter().map(|rtt| curve(Loop { rtt, ..all }, alpha));
        json!({
            "aqm": self.asked.kind.name(), "alpha": alpha, "capacity_packets_s": all.capacity, "flows": [all.flows, most],
            "rtt_s": all.rtt, "curves": curves.collect::<Vec<_>>(), "settings": points.collect::<Vec<_>>(),
            "trajectories": SIDES.map(|ratio| trajectory(all, alpha, ratio)),
        })
    }

    /// The round-trip times of the classes, at most five of them, shortest first.
    fn rtts(&self) -> Vec<f64> {
        let mut all: Vec<_> = self.plant.loads.iter().map(|load| load.rtt).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let (n, shown) = (all.len(), all.len().min(CURVES));
        (0..shown).map(|i| all[if shown > 1 { i * (n - 1) / (shown - 1) } else { 0 }]).collect()
    }
}

fn setting(row: &Row) -> Value {
    let judged = row.judged.iter().map(|it| {
        json!({
            "alpha": it.alpha, "threshold_packets": it.threshold, "critical_packets": it.critical, "ratio": it.ratio(),
        })
    });
    json!({
        "name": row.name, "v0_packets": row.setting.v0, "floor_packets": row.setting.floor, "alpha": row.setting.alpha,
        "loops": judged.collect::<Vec<_>>(), "stable": row.stable(),
    })
}

/// Critical thresholds from one flow to the last number that has an equilibrium, evenly on a logarithmic axis.
fn curve(it: Loop, alpha: f64) -> Value {
    let most = it.flows * it.equilibrium_p().map_or(1.0, |p| 1.0 / p.sqrt());
    let step = perhop_core::math::ln(most) / (POINTS - 1) as f64;
    let flows = (0..POINTS).map(|i| perhop_core::math::exp(step * i as f64));
    let known = flows.filter_map(|flows| Some((flows, Loop { flows, ..it }.critical_threshold(alpha)?)));
    let (flows, critical): (Vec<_>, Vec<_>) = known.unzip();
    json!({ "rtt_s": it.rtt, "flows": flows, "critical_packets": critical })
}

fn trajectory(it: Loop, alpha: f64, ratio: f64) -> Value {
    let critical = it.critical_threshold(alpha).unwrap_or_default();
    let queue = ratio * critical / (1.0 - it.equilibrium_p().unwrap_or_default());
    let seconds = PERIODS * 2.0 * std::f64::consts::PI / it.crossover();
    let fluid = Fluid { classes: vec![it], alpha: vec![alpha], queue, disturbance: DISTURBANCE };
    let all = fluid.run(seconds, seconds / INSTANTS).unwrap_or_default();
    json!({
        "ratio": ratio, "t_s": all.iter().map(|i| i.at).collect::<Vec<_>>(),
        "load": all.iter().map(|i| i.load).collect::<Vec<_>>(),
    })
}
