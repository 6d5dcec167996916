//! The nonlinear fluid model behind Lemma 3.1: TCP classes at one virtual queue, solved in time.
//!
//! Source: the paper of MSVB and SIO, section 3.2; TCP as in Misra, Gong and Towsley, SIGCOMM 2000.
//!
//! ```text
//! dlambda_i/dt = N_i/R_i^2 - (beta/N_i) lambda_i(t) lambda_i(t - R_i) p_i(t - R_i)
//! dVq/dt       = sum lambda_i - sum phi_i C
//! dVth_i/dt    = alpha_i (phi_i C - lambda_i)
//! p_i          = max(0, (Vq - Vth_i)/Vq)
//! ```
//!
//! If the shares sum to less than 1, constant unresponsive load takes the rest of the link.
//!
//! Deviations: Euler's method in steps of 0.5 ms; rounds and thresholds have no caps but 0, so that a swing is bounded
//! by the nonlinear term alone.

use super::lemma31::{BETA, Loop};
use std::collections::VecDeque;

/// Length of a step, s.
const STEP: f64 = 5e-4;
/// Smallest virtual queue, packets: p stays defined.
const LEAST: f64 = 1e-9;

/// Classes in their equilibrium at a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluid {
    /// The classes, each with its share; all of one capacity.
    pub classes: Vec<Loop>,
    /// alpha of each.
    pub alpha: Vec<f64>,
    /// The virtual queue in equilibrium, packets.
    pub queue: f64,
    /// By how much the first class's rate is moved from its equilibrium at time 0, as a share of it.
    pub disturbance: f64,
}

/// One instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instant {
    /// Time, s.
    pub at: f64,
    /// Rate of all classes divided by their part of the link.
    pub load: f64,
    /// Virtual queue, packets.
    pub queue: f64,
}

/// One class during the solution.
#[derive(Clone, Debug)]
struct Class {
    it: Loop,
    alpha: f64,
    rate: f64,
    threshold: f64,
    /// lambda and p of the last round trip, oldest first.
    past: VecDeque<(f64, f64)>,
}

impl Class {
    /// `None` without an equilibrium.
    fn new(it: Loop, alpha: f64, queue: f64) -> Option<Self> {
        let (p, rate) = (it.equilibrium_p()?, it.share * it.capacity);
        let lag = ((it.rtt / STEP).round() as usize).max(1);
        Some(Self { it, alpha, rate, threshold: (1.0 - p) * queue, past: VecDeque::from(vec![(rate, p); lag]) })
    }

    /// One step on, with the virtual queue at its start.
    fn step(&mut self, queue: f64) {
        let Loop { flows, rtt, share, capacity } = self.it;
        let (rate, p) = self.past.pop_front().unwrap_or((self.rate, 0.0));
        self.past.push_back((self.rate, ((queue - self.threshold) / queue).clamp(0.0, 1.0)));
        let slope = flows / (rtt * rtt) - BETA / flows * self.rate * rate * p;
        self.threshold = (self.threshold + STEP * self.alpha * (share * capacity - self.rate)).max(0.0);
        self.rate = (self.rate + STEP * slope).max(0.0);
    }
}

impl Fluid {
    /// `seconds` from time 0, an instant for each `every` s; `None` where a class has no equilibrium.
    pub fn run(&self, seconds: f64, every: f64) -> Option<Vec<Instant>> {
        let each = self.classes.iter().zip(&self.alpha);
        let mut classes: Vec<_> = each.map(|(it, alpha)| Class::new(*it, *alpha, self.queue)).collect::<Option<_>>()?;
        let first = classes.first_mut()?;
        first.rate *= 1.0 + self.disturbance;
        let (part, mut queue) = (self.classes.iter().map(|it| it.share * it.capacity).sum::<f64>(), self.queue);
        let (steps, stride) = ((seconds / STEP) as usize, ((every / STEP).round() as usize).max(1));
        let mut out = Vec::with_capacity(steps / stride + 1);
        for i in 0..steps {
            let rate: f64 = classes.iter().map(|class| class.rate).sum();
            if i % stride == 0 {
                out.push(Instant { at: i as f64 * STEP, load: rate / part, queue });
            }
            classes.iter_mut().for_each(|class| class.step(queue));
            queue = (queue + STEP * (rate - part)).max(LEAST);
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(flows: f64, share: f64) -> Loop {
        Loop { flows, rtt: 0.12, capacity: 1250.0, share }
    }

    /// The largest |load - 1| of the first and of the last tenth.
    fn swings(fluid: &Fluid, seconds: f64) -> [f64; 2] {
        let all = fluid.run(seconds, STEP).unwrap();
        let tenth = all.len() / 10;
        [&all[..tenth], &all[all.len() - tenth..]]
            .map(|part| part.iter().map(|i| (i.load - 1.0).abs()).fold(0.0, f64::max))
    }

    /// At `ratio` times the critical threshold, moved by 0.1 %.
    fn single(flows: f64, ratio: f64) -> [f64; 2] {
        let it = of(flows, 1.0);
        let queue = ratio * it.critical_threshold(0.05).unwrap() / (1.0 - it.equilibrium_p().unwrap());
        swings(&Fluid { classes: vec![it], alpha: vec![0.05], queue, disturbance: 1e-3 }, 100.0)
    }

    /// On both sides of the boundary: at 1.2 times the critical threshold a disturbance dies, at 0.8 it grows into a
    /// limit cycle of tens of per cent.
    #[test]
    fn the_boundary_is_where_the_lemma_has_it() {
        for flows in [50.0, 100.0] {
            let [first, last] = single(flows, 1.2);
            assert!(last < 0.1 * first, "N = {flows}: {first} {last}");
            let [first, last] = single(flows, 0.8);
            assert!(last > 10.0 * first.min(0.01), "N = {flows}: {first} {last}");
        }
    }

    /// Ten classes swing together as one class with a tenth of their alpha does: the common mode of MSVB. Only the first
    /// is moved, so differences between the classes are excited too, and die out.
    #[test]
    fn classes_swing_together_as_their_aggregate() {
        let all = of(50.0, 1.0);
        for (ratio, stable) in [(1.2, true), (0.8, false)] {
            let queue = ratio * all.critical_threshold(0.05).unwrap() / (1.0 - all.equilibrium_p().unwrap());
            let fluid = Fluid { classes: vec![of(5.0, 0.1); 10], alpha: vec![0.5; 10], queue, disturbance: 1e-2 };
            let [first, last] = swings(&fluid, 100.0);
            assert_eq!(last < 0.1 * first, stable, "{ratio}: {first} {last}");
            assert_eq!(last > first, !stable, "{ratio}: {first} {last}");
        }
    }

    /// TCP with 0.8 of the link, the rest taken by unresponsive load.
    #[test]
    fn a_part_of_the_link_has_its_own_boundary() {
        let all = of(40.0, 0.8);
        for (ratio, stable) in [(1.2, true), (0.8, false)] {
            let queue = ratio * all.critical_threshold(0.05).unwrap() / (1.0 - all.equilibrium_p().unwrap());
            let fluid = Fluid { classes: vec![all], alpha: vec![0.05], queue, disturbance: 1e-2 };
            let [first, last] = swings(&fluid, 100.0);
            assert_eq!((last < 0.1 * first, last > first), (stable, !stable), "{ratio}: {first} {last}");
        }
    }

    #[test]
    fn nothing_without_an_equilibrium() {
        let fluid = Fluid { classes: vec![of(200.0, 1.0)], alpha: vec![0.05], queue: 100.0, disturbance: 0.0 };
        assert_eq!(fluid.run(1.0, 0.1), None);
        let still = Fluid { classes: vec![of(50.0, 1.0)], ..fluid }.run(1.0, 0.1).unwrap();
        assert!(still.iter().all(|i| (i.load - 1.0).abs() < 1e-9 && (i.queue - 100.0).abs() < 1e-6), "{still:?}");
        assert_eq!(still.len(), 10);
    }
}
