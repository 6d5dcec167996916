//! TSW3CM in the steady state against ns-2.35, all 10 cases of `tsw3cm_regions` (`tests/reference/ns2`), and both against the
//! closed form: CIR 2 and PIR 3 Mbit/s, a window of 1 s, five UDP sources of 1024-byte packets that together send 1, 2, 2.5, 3
//! or 6 Mbit/s, with exponential gaps or with gaps uniform in [0.5, 1.5] of the mean; counted from 10 s to 110 s.
//!
//! How they are compared: [`super::ns2`]. At CIR and at PIR the share of what is above comes from the fluctuations of the
//! estimate alone, so there window and samples of the meter are compared, and not just its mean.

use super::ns2::{self, Case, Comparison, SEEDS};
use crate::common::net::{Net, poisson, stage};
use crate::stats;
use perhop_core::conditioner::{ConditionerParams, tsw3cm};
use perhop_core::packet::Colour;
use perhop_core::units::{BitRate, Bytes, Probability, Span};
use perhop_sim::traffic::{TrafficParams, cbr};

const SOURCES: u32 = 5;
const SIZE: u64 = 1024;
const CIR: f64 = 2e6;
const PIR: f64 = 3e6;
const COLOURS: [(Colour, &str); 3] = [(Colour::Green, "green"), (Colour::Yellow, "yellow"), (Colour::Red, "red")];
/// Largest relative difference of a share.
const MARGIN: f64 = 0.02;

fn source(case: &Case) -> TrafficParams {
    let rate = BitRate::bps(case.number("rate", 0.0) as u64 / u64::from(SOURCES));
    if case.text("kind") == "poisson" {
        return poisson(rate, SIZE);
    }
    let jitter = Probability::new(0.5).unwrap();
    TrafficParams::Cbr(cbr::Params { rate, size: Bytes::new(SIZE), jitter, random_phase: false })
}

fn net(case: &Case) -> Net {
    let mut net = Net::new(2, Span::from_s(110));
    net.plan.warmup = Span::from_s(10);
    let rate = |bit_s: f64| BitRate::bps(bit_s as u64);
    let marker = tsw3cm::Params { cir: rate(CIR), pir: rate(PIR), window: Span::from_s(1) };
    net.duplex([0, 1], BitRate::mbps(100), Span::from_ms(1));
    net.plan.links[0].edge = vec![stage("contract", ConditionerParams::Tsw3Cm(marker))];
    let offered = net.traffic([0, 1], source(case));
    (offered.flows, offered.spread) = (SOURCES, Span::from_s(1));
    net
}

/// Of one seed's counts, the shares.
fn shares(counts: [f64; 3]) -> [f64; 3] {
    counts.map(|n| n / counts.iter().sum::<f64>())
}

fn ours(case: &Case) -> Vec<[f64; 3]> {
    let mut net = net(case);
    let one = |replication| {
        let outcome = net.replicate(replication);
        shares(COLOURS.map(|(colour, _)| ns2::coloured(&outcome, 0, colour).0))
    };
    (0..SEEDS).map(one).collect()
}

fn theirs(case: &Case) -> Vec<[f64; 3]> {
    let counts = COLOURS.map(|(_, name)| case.theirs(name, None));
    (0..SEEDS as usize).map(|seed| shares([0, 1, 2].map(|i| counts[i][seed]))).collect()
}

fn column(of: &[[f64; 3]], i: usize) -> Vec<f64> {
    of.iter().map(|shares| shares[i]).collect()
}

#[test]
fn shares_of_tsw3cm_are_those_of_ns2() {
    let cases = Case::all("tsw3cm_regions.json");
    assert_eq!(cases.len(), 10);
    let mut compared = Vec::new();
    for case in &cases {
        let (ours, theirs) = (ours(case), theirs(case));
        for (i, (_, name)) in COLOURS.iter().enumerate() {
            let samples = [&*column(&ours, i), &*column(&theirs, i)];
            compared.push(Comparison::new(&format!("{} {name}", case.name), samples, MARGIN));
        }
    }
    ns2::judge(&compared);
}

/// Where the rate r is 5 standard deviations from CIR and PIR: green min(1, CIR/r), red max(0, 1 - PIR/r), yellow the rest. The
/// estimate's mean is above r by a packet in W (it counts the packet that asks), and 1/avg is above 1/r by its variance
/// r L/2W, half a packet in W: so shares are off by at most a packet in W, L/(W r). The rest is chance: 4 standard errors
/// of the mean, from the seeds themselves.
#[test]
fn shares_of_both_are_those_of_the_closed_form() {
    let cases = Case::all("tsw3cm_regions.json");
    let away = cases.iter().filter(|case| !case.name.contains("at_"));
    let mut checked = 0;
    for case in away {
        let r = case.number("rate", 0.0);
        let (green, red) = ((CIR / r).min(1.0), (1.0 - PIR / r).max(0.0));
        for (who, shares) in [("ours", ours(case)), ("ns-2", theirs(case))] {
            for (i, want) in [green, 1.0 - green - red, red].into_iter().enumerate() {
                let of = column(&shares, i);
                let error = (stats::variance(&of) / of.len() as f64).sqrt();
                let off = (stats::mean(&of) - want).abs();
                let bound = 4.0 * error + 8.0 * SIZE as f64 / r;
                assert!(
                    off <= bound,
                    "{} {who} {}: {} not {want} +- {bound}",
                    case.name,
                    COLOURS[i].1,
                    stats::mean(&of)
                );
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 6 * 2 * 3);
}
