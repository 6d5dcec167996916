//! The unused shares of MSVB's classes: lost, or redistributed to the other classes.
//!
//! The paper redistributes nothing; see docs/reports/studies/msvb-beyond.md.
//!
//! A threshold is a virtual queue seen from above: with D_i = (V0 - Vth_i)/alpha_i, MSVB's equation is
//!
//! ```text
//! dD_i/dt = lambda_i - phi_i C while D_i > 0
//! ```
//!
//! This is a separate queue for each class, served at its share whether or not the others have work. The service of
//! an empty queue is lost. `unused` gives that service to the queues that are not empty, in proportion to their
//! shares, as generalised processor sharing does:
//!
//! ```text
//! dD_i/dt = lambda_i - phi_i C (1 + G/B) while D_i > 0      B: sum of phi_j where D_j > 0
//! G: sum of phi_j where D_j = 0, of silent classes alone while Vq > V0
//! ```
//!
//! While Vq is above V0, a class loses packets although its D_i is 0. What it leaves then is not surplus, so it stays
//! lost; that lowers Vq until the class no longer suffers. A class that sent nothing for 1 s cannot suffer.
//!
//! `silent` is the simple rule: the shares of classes that sent nothing for 1 s go to all others in proportion.
//!
//! Decision: docs/decisions/057-msvb-hands-on-unused-service.md

use super::virtual_buffer::{Threshold, VirtualQueue};
use crate::params::Choice;
use crate::units::{Span, Time};

/// Which unused share is redistributed to the other classes.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redistribute {
    /// Nothing: the paper.
    Off,
    /// The shares of classes that sent nothing for 1 s.
    Silent,
    /// What classes leave of their shares, whether they send or not.
    Unused,
}

/// A class that sent nothing for this long is silent.
const SILENCE: Span = Span::from_s(1);

/// One class at work.
#[derive(Clone, Debug)]
struct Class {
    threshold: Threshold,
    share: f64,
    last: Time,
    active: bool,
}

/// The thresholds of all classes, and their shares.
#[derive(Clone, Debug)]
pub struct Shares {
    classes: Vec<Class>,
    rule: Redistribute,
    /// Units a second.
    capacity: f64,
    /// V0.
    cap: f64,
    /// No class falls silent before this time.
    check_at: Time,
    /// `silent`: how many times a class fell silent.
    silences: u64,
    /// `unused`: when all thresholds and the virtual queue were last brought up to date.
    since: Time,
}

impl Shares {
    /// Classes by alpha and share, before the link of `queue`; all count as sending during the first second.
    pub fn new(rule: Redistribute, classes: impl Iterator<Item = (f64, f64)>, queue: &VirtualQueue, cap: f64) -> Self {
        let capacity = queue.capacity();
        let class = |(alpha, share)| {
            let threshold = Threshold::new(alpha, share * capacity, cap);
            Class { threshold, share, last: Time::ZERO, active: true }
        };
        let check_at = Time::ZERO + SILENCE;
        Self { classes: classes.map(class).collect(), rule, capacity, cap, check_at, silences: 0, since: Time::ZERO }
    }

    /// A packet of this class arrives: its threshold, up to date. `queue` is as it was at the last one.
    #[inline]
    pub fn heard(&mut self, class: usize, now: Time, queue: &VirtualQueue) -> &Threshold {
        match self.rule {
            Redistribute::Off => {}
            Redistribute::Silent => self.active(class, now),
            Redistribute::Unused => {
                self.hand_on(now, queue);
                self.classes[class].last = now;
            }
        }
        let threshold = &mut self.classes[class].threshold;
        threshold.advance(now);
        threshold
    }

    /// The threshold of each class when last updated.
    pub fn thresholds(&self) -> impl Iterator<Item = &Threshold> {
        self.classes.iter().map(|class| &class.threshold)
    }

    /// A packet of this class counts.
    #[inline]
    pub fn take(&mut self, class: usize, units: f64) {
        self.classes[class].threshold.take(units);
    }

    /// How many times a class fell silent, if that is tracked.
    pub fn silences(&self) -> Option<u64> {
        (self.rule == Redistribute::Silent).then_some(self.silences)
    }

    /// Every threshold at `now`; changes nothing.
    pub fn at(&self, now: Time, queue: &VirtualQueue) -> Vec<f64> {
        let mut ahead = self.clone();
        if self.rule == Redistribute::Unused {
            ahead.hand_on(now, queue);
        }
        ahead.classes.iter().map(|class| class.threshold.at(now)).collect()
    }

    /// Continues from the state of `other`, by a class's place in the list; a new class starts at V0. `queues` are those of
    /// both; if a rule keeps queue and thresholds together and one of them now moves differently, all are brought to `now`.
    pub fn resume(&mut self, other: &mut Self, now: Time, queues: [&mut VirtualQueue; 2]) {
        let [mine, others] = queues;
        let together = [self.rule, other.rule].contains(&Redistribute::Unused);
        let moves_on = together && !(self.is_like(other) && mine.is_like(others));
        if moves_on {
            other.look(now, others);
        }
        mine.resume(others, now);
        self.hear_as(other, now);
        self.share_out(now);
        for (class, old) in self.classes.iter_mut().zip(&other.classes) {
            class.threshold.resume(&old.threshold, now);
        }
        (self.since, self.silences) = (other.since, other.silences);
        if moves_on {
            self.since = now;
            mine.advance(now);
            self.classes.iter_mut().for_each(|class| class.threshold.advance(now));
        }
    }

    /// Brings all to `now` by its rule.
    fn look(&mut self, now: Time, queue: &mut VirtualQueue) {
        if self.rule == Redistribute::Unused {
            self.hand_on(now, queue);
            queue.advance(now);
        }
    }

    /// Whether thresholds move as `other`'s do.
    fn is_like(&self, other: &Self) -> bool {
        let thresholds = self.classes.iter().zip(&other.classes);
        (self.rule, self.classes.len()) == (other.rule, other.classes.len())
            && thresholds.into_iter().all(|(a, b)| a.threshold.is_like(&b.threshold))
    }

    /// Takes over from `other` which classes are sending; if it did not track that, all have just sent.
    fn hear_as(&mut self, other: &Self, now: Time) {
        if self.rule == Redistribute::Off {
            return;
        }
        self.classes.iter_mut().for_each(|class| class.last = now);
        self.check_at = now + SILENCE;
        if other.rule == Redistribute::Off {
            return;
        }
        self.check_at = other.check_at;
        for (class, old) in self.classes.iter_mut().zip(&other.classes) {
            (class.last, class.active) = (old.last, old.active);
        }
        if (self.rule, other.rule) == (Redistribute::Silent, Redistribute::Unused) {
            self.fall_silent(now);
        }
    }

    /// Counts a class as sending.
    fn active(&mut self, class: usize, now: Time) {
        if now >= self.check_at {
            self.fall_silent(now);
        }
        self.classes[class].last = now;
        if !self.classes[class].active {
            self.classes[class].active = true;
            self.check_at = self.check_at.min(now + SILENCE);
            self.share_out(now);
        }
    }

    /// Classes that have been silent long enough, in the order in which they became so.
    fn fall_silent(&mut self, now: Time) {
        let next = |classes: &[Class]| classes.iter().filter(|c| c.active).map(|c| c.last + SILENCE).min();
        while let Some(at) = next(&self.classes).filter(|at| *at <= now) {
            for class in self.classes.iter_mut().filter(|c| c.active && c.last + SILENCE == at) {
                class.active = false;
                self.silences += 1;
            }
            self.share_out(at);
        }
        self.check_at = next(&self.classes).unwrap_or(now + SILENCE);
    }

    /// `silent`: gives each class its share of the link from `now` on.
    fn share_out(&mut self, now: Time) {
        let all: f64 = self.classes.iter().map(|c| c.share).sum();
        let active: f64 = self.classes.iter().map(|c| if c.active { c.share } else { 0.0 }).sum();
        let factor = if self.rule == Redistribute::Silent && active > 0.0 { all / active } else { 1.0 };
        for class in &mut self.classes {
            class.threshold.set_fair(class.share * factor * self.capacity, now);
        }
    }

    /// `unused`: thresholds rise until `now`; what classes at V0 leave goes to the others.
    fn hand_on(&mut self, now: Time, queue: &VirtualQueue) {
        let gap = now.since(self.since).seconds();
        let above = queue.seconds_above(self.cap).min(gap);
        let mut at = 0.0;
        while at < gap {
            let (until, hurts) = if at < above { (above, true) } else { (gap, false) };
            at = self.rise(at, until, hurts);
        }
        self.since = now;
        self.classes.iter_mut().for_each(|class| class.threshold.stand(now));
    }

    /// Lets thresholds rise from one time to another, s after `since`, at most until the set of givers changes; returns the
    /// time reached.
    fn rise(&mut self, at: f64, until: f64, hurts: bool) -> f64 {
        let since = self.since;
        let silent_at = |class: &Class| (class.last + SILENCE).since(since).seconds();
        let (mut given, mut busy, mut until) = (0.0, 0.0, until);
        for class in &self.classes {
            if !class.threshold.is_full() {
                busy += class.share;
            } else if hurts && at < silent_at(class) {
                until = until.min(silent_at(class));
            } else {
                given += class.share;
            }
        }
        if busy <= 0.0 {
            return until;
        }
        let factor = 1.0 + given / busy;
        let full = self.classes.iter().map(|class| class.threshold.until_full()).fold(f64::INFINITY, f64::min);
        let fills = at + full / factor;
        let (work, reached) = if fills <= until { (full, fills) } else { ((until - at) * factor, until) };
        self.classes.iter_mut().for_each(|class| class.threshold.rise_for(work));
        reached
    }
}
