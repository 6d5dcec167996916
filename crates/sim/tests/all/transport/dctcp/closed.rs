//! Closed forms of one flow over a queue that marks everything beyond a threshold.

use super::{Arithmetic, DEFAULTS, Params, law};
use perhop_core::math::pow;
use perhop_sim::transport::{CongestionControl, Signal, Window};

/// A flow whose window fits the path and the threshold up to `fits` segments: in a round with more, all are marked, for
/// the queue is above the threshold whenever one of them arrives. The window is cut with the first mark of a round and
/// grows by a segment in each round but that one.
struct Flow {
    law: perhop_sim::transport::Law,
    window: Window,
    una: u32,
    fits: f64,
}

/// What is seen over many rounds: the fraction of marked rounds, the average of 2 x the cut over the window.
struct Seen {
    marked: f64,
    cut: f64,
}

impl Flow {
    fn new(params: Params, fits: f64) -> Self {
        Self { law: law(params), window: Window { cwnd: fits, ssthresh: 2.0 }, una: 1, fits }
    }

    /// A round; by what part the window was cut, if it was.
    fn round(&mut self) -> Option<f64> {
        let (rounds, high) = (self.window.cwnd as u32, self.window.cwnd as u32 > self.fits as u32);
        let mut cut = None;
        for i in 0..rounds {
            self.una += 1;
            let usable = self.window.cwnd;
            let next = self.una + usable as u32;
            let signal = Signal { acked: 1, marked: high.into(), usable, una: self.una, next, ..Signal::default() };
            self.law.on_feedback(&signal);
            if high && i == 0 {
                self.law.on_ecn(&signal, &mut self.window);
                cut = Some(1.0 - self.window.cwnd / usable);
            } else if !high {
                self.law.on_ack(&signal, &mut self.window);
            }
        }
        cut
    }

    fn watch(mut self) -> Seen {
        for _ in 0..1000 {
            self.round();
        }
        let cuts: Vec<_> = (0..20_000).filter_map(|_| self.round()).collect();
        let n = cuts.len() as f64;
        Seen { marked: n / 20_000.0, cut: 2.0 * cuts.iter().sum::<f64>() / n }
    }
}

/// The paper's equation (6): alpha^2 (1 - alpha / 4) = (2 W + 1) / (W + 1)^2, by bisection.
fn alpha_of(fits: f64) -> f64 {
    let right = (2.0 * fits + 1.0) / pow(fits + 1.0, 2.0);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if middle * middle * (1.0 - middle / 4.0) < right { low = middle } else { high = middle }
    }
    low
}

/// One round in N is marked. The window is whole: it is W + 1 when it is cut, and the N - 1 rounds without a mark bring back
/// what the cut took, a segment each: 1 / marked = N = cut (W + 1) / 2 + 1. In real numbers it is up to W + 2, and a
/// round brings somewhat less than a segment, w / (w + 1).
///
/// The paper's equation takes alpha as constant and equal to the fraction of marks, and neglects the marked round. A cut sees
/// alpha after N - 1 rounds without a mark, so lower by up to (1 - g)^N than the average, which is the fraction of marks. The
/// product of the two is what the equation has as alpha^2, less the marked round: 1 in N.
/// A cut of whole segments is less by up to one.
#[test]
fn the_fraction_of_marks_and_the_cut_are_those_of_the_paper() {
    for arithmetic in [Arithmetic::Rfc, Arithmetic::Linux] {
        for fits in [20.0_f64, 50.0, 100.0, 200.0] {
            let Seen { marked, cut } = Flow::new(Params { arithmetic, ..DEFAULTS }, fits).watch();
            let [least, most] = [cut * (fits + 1.0), cut * (fits + 2.0) * (fits + 1.0) / fits].map(|it| it / 2.0 + 1.0);
            let most = if arithmetic == Arithmetic::Linux { least } else { most };
            let n = 1.0 / marked;
            assert!(least * 0.998 <= n && n <= most * 1.002, "{arithmetic:?}, W {fits}: {least} <= {n} <= {most}");
            let (alpha, root) = (alpha_of(fits), (marked * cut).sqrt());
            assert!(root < alpha && root > alpha * (1.0 - 1.0 / n), "{arithmetic:?}, W {fits}: {root} is not {alpha}");
            assert!((alpha / (2.0 / fits).sqrt() - 1.0).abs() < 0.1, "about the square root of 2 / W");
            let segment = if arithmetic == Arithmetic::Linux { 2.0 / (fits + 1.0) } else { 0.0 };
            assert!(cut <= 1.02 * marked && cut + segment >= marked * pow(1.0 - DEFAULTS.g, n), "W {fits}: {cut}");
        }
    }
}
