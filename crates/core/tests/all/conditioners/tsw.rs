//! Formulas of the time sliding window markers.

use super::scope;
use crate::common::generate::{conditioner, quantity};
use crate::common::load::{Offered, gauge, pass};
use perhop_core::Rng;
use perhop_core::conditioner::AnyConditioner;
use perhop_core::packet::{Colour, Packet};
use perhop_core::units::Time;

fn marker(name: &str) -> AnyConditioner {
    let mut entries = vec![("cir", quantity("1Mbit/s")), ("window", quantity("500ms"))];
    if name == "tsw3cm" {
        entries.push(("pir", quantity("2Mbit/s")));
    }
    conditioner(name, &entries).build(&scope()).unwrap()
}

fn at(ms: u64, size: u32) -> Offered {
    Offered { at: Time::from_ns(ms * 1_000_000), packet: Packet { size, ..Packet::default() } }
}

/// CIR = 125 000 B/s, W = 0.5 s. Columns: ms, bytes, average by hand.
#[test]
fn averages_by_hand() {
    for name in ["tsw2cm", "tsw3cm"] {
        let mut marker = marker(name);
        for (ms, size, average) in [
            (0, 1000, 127_000.0),            // (62500 + 1000)/0.5
            (0, 500, 128_000.0),             // same instant
            (500, 1000, 65_000.0),           // (64000 + 1000)/1.0
            (1000, 1500, 34_000.0),          // (32500 + 1500)/1.0
            (11_000, 1375, 18_375.0 / 10.5), // a long gap leaves W/(T + W)
        ] {
            pass(&mut marker, &at(ms, size), &mut Rng::stream(1, 0, "tsw"));
            let got = gauge(&marker, Time::ZERO, "average_rate_bytes_s");
            assert!((got / average - 1.0).abs() < 4.0 * f64::EPSILON, "{name} {ms} ms: {got} {average}");
        }
    }
}

/// A first packet at time 0 brings the average from 62 500 B in the window to `average`; the colours of 40 000 such
/// packets with independent draws have the RFC's probabilities, each within 4 standard deviations of a binomial count
/// (the nine counts fail by chance once in 1700). For TSW3CM this is the equivalence of one draw and P0, P1, P2 of RFC
/// 2859 section 4.
#[test]
fn colours_have_the_rfc_probabilities() {
    const N: u32 = 40_000;
    let [cir, pir] = [125_000.0, 250_000.0];
    for (name, average, yellow, red) in [
        ("tsw2cm", 200_000.0, 0.0, 1.0 - cir / 200_000.0),
        ("tsw3cm", 200_000.0, (200_000.0 - cir) / 200_000.0, 0.0),
        ("tsw3cm", 400_000.0, (pir - cir) / 400_000.0, (400_000.0 - pir) / 400_000.0),
    ] {
        let fresh = marker(name);
        let packet = at(0, ((average - cir) * 0.5) as u32);
        let mut rng = Rng::stream(5, 0, "draws");
        let mut counts = [0u32; 4];
        for _ in 0..N {
            counts[pass(&mut fresh.clone(), &packet, &mut rng).colour.index()] += 1;
        }
        for (colour, p) in [(Colour::Green, 1.0 - yellow - red), (Colour::Yellow, yellow), (Colour::Red, red)] {
            let (n, got) = (f64::from(N), f64::from(counts[colour.index()]));
            let tolerance = 4.0 * (n * p * (1.0 - p)).sqrt();
            assert!((got - n * p).abs() <= tolerance, "{name} {average} {}: {got} {}", colour.name(), n * p);
        }
    }
}

/// At or below the target every packet is green, whatever is drawn.
#[test]
fn below_the_target_all_is_green() {
    for name in ["tsw2cm", "tsw3cm"] {
        let mut marker = marker(name);
        let mut rng = Rng::stream(2, 0, "draws");
        for i in 1..5000 {
            // 900 bytes each 8 ms: 112 500 B/s.
            assert_eq!(pass(&mut marker, &at(8 * i, 900), &mut rng).colour, Colour::Green, "{name} {i}");
        }
    }
}
