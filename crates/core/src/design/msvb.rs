//! The rule by which V0 and alpha of SVB and MSVB are chosen.
//!
//! Source: the paper of MSVB and SIO, section 3.2 (Lemma 3.1, class by class). That the classes of MSVB also swing together,
//! and the steps from the lemma to parameters, are derived here.
//!
//! Where 0 < p_i < 1 the model of [`super::fluid`], linearised about lambda_i = phi_i C, has
//!
//! ```text
//! dp_i/dt = ((1 - p_i) sum_j dlambda_j + alpha_i dlambda_i) / Vq
//! ```
//!
//! and what p_i does to the rates is -(beta/N_i)(phi_i C)^2 p_i. Three loops follow, each Lemma 3.1 with its own gain:
//!
//! ```text
//! class i alone     dlambda_j = 0:                     (beta phi_i^2 C^2/N_i) (1 - p_i) (1 - p_i + alpha_i)/Vth_i
//! all together      dlambda_j = phi_j x/S, p_j = p:    (beta S^2 C^2/N) (1 - p) (1 - p + sum phi_j^2 alpha_j/S^2)/Vth
//! against another   sum dlambda_j = 0:                 (beta phi_i^2 C^2/N_i) (1 - p_i) alpha_i/Vth_i
//! ```
//!
//! with N and S the sums of N_i and phi_i over the classes that are TCP's. So the common mode is SVB's loop of all flows
//! (phi = S, 1 where all classes are TCP's) with the mean of phi_i alpha_i, weighted by phi_i, as its alpha: alpha/n of n
//! equal classes. With equal p it needs the largest threshold of the three. The third has the least gain and need not be
//! checked. A class that does not respond to marks does not adapt its rate, and is in no loop.
//!
//! Where Vth settles follows from what the algorithm conserves: away from the bounds Vq + sum Vth_i/alpha_i keeps its initial
//! value, F + V0 sum 1/alpha_i, and Vth_i = (1 - p_i) Vq. No Vth_i is above V0, so Vq is at most V0/(1 - least p); a class of
//! other traffic may have p = 0.
//!
//! The rule: smallest N, longest R (waiting packets included). V0 = 1.2 times the critical threshold of alpha -> 0, in
//! every loop; F = V0 - q (q: packets that should wait) if V0 is more than the queue holds, else 0; phi_i alpha_i the same
//! in all classes, half of the largest at which every loop is stable, alpha_i rounded down to two digits.

use super::lemma31::Loop;

/// What V0 is above the critical threshold.
const MARGIN: f64 = 1.2;
/// The share of the largest alpha that is taken.
const HALF: f64 = 0.5;
/// Bisections of an interval; a double has no more digits.
const HALVINGS: usize = 60;
/// Largest alpha looked for, of the aggregate.
const LARGEST_ALPHA: f64 = 1e3;

/// A link and its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// Rate, packets/s.
    pub capacity: f64,
    /// What the queue holds, packets.
    pub limit: f64,
    /// Target queue, packets.
    pub reference: f64,
}

/// A class of TCP flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Fewest and most flows.
    pub flows: [f64; 2],
    /// Longest round-trip time, including waiting packets, s.
    pub rtt: f64,
    /// Share of the link; 1 for SVB.
    pub share: f64,
}

/// Parameters, in packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// V0.
    pub v0: f64,
    /// F.
    pub floor: f64,
    /// alpha of each class.
    pub alpha: Vec<f64>,
}

/// How stable one loop is under a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The loop's alpha: a class's own, or the aggregate's.
    pub alpha: f64,
    /// Its threshold in equilibrium, packets.
    pub threshold: f64,
    /// The threshold above which it is stable, packets.
    pub critical: f64,
}

impl Judged {
    /// Threshold over critical threshold: stable above 1.
    pub fn ratio(&self) -> f64 {
        self.threshold / self.critical
    }
}

/// A link and its classes of TCP flows: one for SVB.
#[derive(Clone, Debug, PartialEq)]
pub struct Plant {
    /// The link.
    pub link: Bottleneck,
    /// The classes.
    pub loads: Vec<Load>,
    /// Whether there are classes of other traffic.
    pub others: bool,
}

impl Plant {
    /// Each class's loop, at its fewest (0) or most (1) flows.
    pub fn classes(&self, which: usize) -> Vec<Loop> {
        let capacity = self.link.capacity;
        let one = |load: &Load| Loop { flows: load.flows[which], rtt: load.rtt, capacity, share: load.share };
        self.loads.iter().map(one).collect()
    }

    /// The loop of all classes together.
    pub fn aggregate(&self, which: usize) -> Loop {
        let flows = self.loads.iter().map(|load| load.flows[which]).sum();
        let rtt = self.loads.iter().map(|load| load.rtt).fold(0.0, f64::max);
        Loop { flows, rtt, capacity: self.link.capacity, share: self.shares() }
    }

    fn shares(&self) -> f64 {
        self.loads.iter().map(|load| load.share).sum()
    }

    /// Every loop there is, at the fewest flows: the classes, then, where there is more than one, all together.
    pub fn loops(&self) -> Vec<Loop> {
        let together = (self.loads.len() > 1).then(|| self.aggregate(0));
        self.classes(0).into_iter().chain(together).collect()
    }

    /// The alpha of each of [`Plant::loops`].
    fn alphas(&self, setting: &Setting) -> Vec<f64> {
        let weighted = self.loads.iter().zip(&setting.alpha).map(|(load, alpha)| load.share * load.share * alpha);
        let together = (self.loads.len() > 1).then(|| weighted.sum::<f64>() / (self.shares() * self.shares()));
        setting.alpha.iter().copied().chain(together).collect()
    }

    /// Vq in equilibrium, packets; `None` where a class has none.
    pub fn virtual_queue(&self, setting: &Setting) -> Option<f64> {
        let passed: Vec<_> = self.classes(0).iter().map(|it| Some(1.0 - it.equilibrium_p()?)).collect::<Option<_>>()?;
        let least_marked = if self.others { 1.0 } else { passed.iter().copied().fold(0.0, f64::max) };
        let most = setting.v0 / least_marked;
        if setting.alpha.contains(&0.0) {
            return Some(most);
        }
        let start: f64 = setting.alpha.iter().map(|alpha| setting.v0 / alpha).sum();
        let kept: f64 = passed.iter().zip(&setting.alpha).map(|(q, alpha)| q / alpha).sum();
        Some(most.min((setting.floor + start) / (1.0 + kept)))
    }

    /// How each of [`Plant::loops`] does; `None` where one has no equilibrium.
    pub fn judge(&self, setting: &Setting) -> Option<Vec<Judged>> {
        let queue = self.virtual_queue(setting)?;
        let one = |(it, alpha): (&Loop, f64)| {
            let threshold = ((1.0 - it.equilibrium_p()?) * queue).min(setting.v0);
            Some(Judged { alpha, threshold, critical: it.critical_threshold(alpha)? })
        };
        self.loops().iter().zip(self.alphas(setting)).map(one).collect()
    }

    fn stable(&self, setting: &Setting) -> bool {
        self.judge(setting).is_some_and(|loops| loops.iter().all(|it| it.ratio() > 1.0))
    }

    /// F for a V0.
    pub fn floor(&self, v0: f64) -> f64 {
        if v0 > self.link.limit { (v0 - self.link.reference).max(0.0) } else { 0.0 }
    }

    /// `alpha` is phi alpha of every class.
    fn setting(&self, v0: f64, alpha: f64) -> Setting {
        let alpha = self.loads.iter().map(|load| if load.share > 0.0 { alpha / load.share } else { 0.0 }).collect();
        Setting { v0, floor: self.floor(v0), alpha }
    }

    /// V0 by the rule, in whole packets; `None` where a loop has no equilibrium.
    pub fn recommended_v0(&self) -> Option<f64> {
        let setting = Setting { v0: 1.0, floor: 0.0, alpha: vec![0.0; self.loads.len()] };
        let needed = |it: &Judged| MARGIN / it.ratio();
        Some(self.judge(&setting)?.iter().map(needed).fold(0.0, f64::max).ceil())
    }

    /// phi alpha of every class by the rule, for a V0: half of the largest that is stable; `None` where none is.
    fn recommended_alpha(&self, v0: f64) -> Option<f64> {
        let stable = |alpha: f64| self.stable(&self.setting(v0, alpha));
        let (mut low, mut high) = (0.0, LARGEST_ALPHA);
        if !stable(low) {
            return None;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            *(if stable(middle) { &mut low } else { &mut high }) = middle;
        }
        Some(HALF * low)
    }

    /// What the rule gives, with `v0` where that is chosen already. `None` where a loop has no
    /// equilibrium, or no alpha is stable with that `v0`.
    pub fn recommended(&self, v0: Option<f64>) -> Option<Setting> {
        let v0 = v0.or_else(|| self.recommended_v0())?;
        let exact = self.setting(v0, self.recommended_alpha(v0)?);
        Some(Setting { alpha: exact.alpha.into_iter().map(digits).collect(), ..exact })
    }
}

/// Rounded down to two significant digits: a value that people write.
fn digits(alpha: f64) -> f64 {
    let mut scale = 1.0;
    while scale < 1e9 && alpha * scale < 10.0 {
        scale *= 10.0;
    }
    (alpha * scale).floor() / scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINK: Bottleneck = Bottleneck { capacity: 1250.0, limit: 100.0, reference: 40.0 };

    fn load(flows: f64, rtt: f64, share: f64) -> Load {
        Load { flows: [flows, flows], rtt, share }
    }

    fn svb(flows: f64) -> Plant {
        Plant { others: false, link: LINK, loads: vec![load(flows, 0.12, 1.0)] }
    }

    /// SVB, V0 = 300, F = 260, alpha = 0.05, N = 50: p* = 2500/15000, Vq = (alpha F + V0)/(1 + alpha - p*).
    #[test]
    fn the_equilibrium_follows_from_what_is_kept() {
        let setting = Setting { v0: 300.0, floor: 260.0, alpha: vec![0.05] };
        let it = svb(50.0).judge(&setting).unwrap()[0];
        let p = 1.0 / 6.0;
        assert!((it.threshold - (1.0 - p) * 313.0 / (1.05 - p)).abs() < 1e-9, "{it:?}");
        assert!((it.critical - 350.0).abs() < 0.5 && it.ratio() < 1.0, "{it:?}");
        let still = svb(50.0).virtual_queue(&Setting { alpha: vec![0.0], ..setting }).unwrap();
        assert!((still - 300.0 / (1.0 - p)).abs() < 1e-9, "{still}");
    }

    /// Ten equal classes are one loop with a tenth of their alpha; alone and against each other they need less.
    #[test]
    fn equal_classes_are_their_aggregate() {
        let classes = Plant { others: false, link: LINK, loads: vec![load(5.0, 0.12, 0.1); 10] };
        let setting = |n: usize, alpha: f64| Setting { v0: 300.0, floor: 260.0, alpha: vec![alpha; n] };
        let (many, one) = (classes.judge(&setting(10, 0.5)).unwrap(), svb(50.0).judge(&setting(1, 0.05)).unwrap());
        let [all, single] = [many[10], one[0]];
        assert!((all.alpha - single.alpha).abs() < 1e-12 && (all.critical / single.critical - 1.0).abs() < 1e-12);
        assert!((all.threshold / single.threshold - 1.0).abs() < 1e-12);
        assert!(many[..10].iter().all(|class| class.critical < all.critical));
    }

    /// A class with a tenth of the others' marks sits at V0, the rest below: (1 - p_i)/(1 - p_1) of it.
    #[test]
    fn no_threshold_is_above_v0() {
        let plant = Plant { others: false, link: LINK, loads: vec![load(5.0, 0.12, 0.5), load(50.0, 0.12, 0.5)] };
        let setting = Setting { v0: 200.0, floor: 160.0, alpha: vec![0.1, 0.1] };
        let judged = plant.judge(&setting).unwrap();
        let p = [1.0 / 150.0, 2.0 / 3.0];
        assert!((judged[0].threshold - 200.0).abs() < 1e-9, "{judged:?}");
        assert!((judged[1].threshold - 200.0 * (1.0 - p[1]) / (1.0 - p[0])).abs() < 1e-9, "{judged:?}");
    }

    #[test]
    fn without_equilibrium_there_is_no_rule() {
        assert_eq!(svb(123.0).recommended(None), None);
        assert_eq!(svb(50.0).recommended(Some(100.0)), None, "no alpha is stable with a V0 of 100");
    }

    #[test]
    fn two_digits() {
        assert_eq!([0.0477, 0.5, 1.239, 12.9, 0.0].map(digits), [0.047, 0.5, 1.2, 12.0, 0.0]);
    }

    proptest! {
        /// What the rule gives is stable in every loop, with 1.2 and some of it left for alpha; alpha is at most half of
        /// the lemma's largest; one packet less than V0 would miss the margin.
        #[test]
        fn what_the_rule_gives_is_stable(
            loads in prop::collection::vec((2.0..40.0f64, 0.05..0.3f64, 0.2..1.0f64), 1..5), limit in 20.0..2000.0f64,
        ) {
            let sum: f64 = loads.iter().map(|l| l.2).sum();
            let loads: Vec<_> = loads.iter().map(|(n, r, w)| load(*n, *r, w / sum)).collect();
            let plant = Plant { link: Bottleneck { limit, ..LINK }, loads, others: false };
            prop_assume!(plant.loops().iter().all(|it| it.equilibrium_p().is_some_and(|p| p < 0.95)));
            let setting = plant.recommended(None).unwrap();
            let judged = plant.judge(&setting).unwrap();
            prop_assert!(judged.iter().all(|it| it.ratio() > 1.0), "{setting:?} {judged:?}");
            for (it, judged) in plant.loops().iter().zip(&judged) {
                prop_assert!(judged.alpha <= 0.5 * it.largest_alpha(setting.v0).unwrap() * (1.0 + 1e-9));
            }
            prop_assert!(setting.floor < setting.v0);
            let least = Setting { v0: setting.v0 - 1.0, floor: 0.0, alpha: vec![0.0; plant.loads.len()] };
            let worst = plant.judge(&least).unwrap().iter().map(Judged::ratio).fold(f64::MAX, f64::min);
            prop_assert!(worst < 1.2 || setting.v0 <= 1.0);
        }
    }
}
