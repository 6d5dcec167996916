//! Counters that show losses: where, and how many.
//!
//! Source: Mathis et al., "The macroscopic behavior of the TCP congestion avoidance algorithm", 1997, for what TCP does
//! at a loss.

use super::Remark;
use super::case::{Case, is_control, percent};
use crate::evidence::Counters;
use perhop_core::units::counted;

/// A queue that loses more than TCP needs to find its rate.
pub(crate) const LOSSY_QUEUE: &str = "W440";
/// A policer that drops so much that TCP behind it cannot use the contract.
pub(crate) const LOSSY_POLICER: &str = "W446";
/// The share from which on a queue loses more than a congestion control needs to find its rate.
const OF_QUEUE: f64 = 0.01;
/// The same of a policer: TCP needs far less.
const OF_POLICER: f64 = 0.05;
/// With fewer packets nothing is known yet.
const MANY: u64 = 1000;

/// Packets that were lost, of all that came.
#[derive(Clone, Copy)]
pub(crate) struct Loss {
    pub lost: u64,
    pub all: u64,
}

impl Loss {
    /// Beside those that passed.
    pub(crate) const fn beside(passed: u64, lost: u64) -> Self {
        Self { lost, all: lost.saturating_add(passed) }
    }

    /// `class 1:10 lost 60 of 1000 packets ..`, if it is at least this share.
    fn remark(self, whose: &str, share: f64, of_all: &str) -> Option<String> {
        let Self { lost, all } = self;
        let says = format!("{whose} {lost} of {all} packets ({}){of_all}", percent(lost, all));
        let beyond = all >= MANY && lost as f64 >= share * all as f64;
        beyond.then(|| format!("{says}: at that loss TCP keeps about {} in flight", self.window()))
    }

    /// How many packets TCP keeps in flight: sqrt(3 / 2p), Mathis et al.
    fn window(self) -> String {
        let packets = (1.5 * self.all as f64 / self.lost.max(1) as f64).sqrt().max(1.0);
        counted(format!("{packets:.0}"), ["packet", "packets"])
    }
}

/// W440 of a queue, where `beside` are all that were lost there.
pub(crate) fn lossy(it: &Counters, name: &str, loss: Loss, beside: u64) -> Option<Remark> {
    let of_all =
        if beside > loss.lost { format!(", {} of all drops here", percent(loss.lost, beside)) } else { String::new() };
    let message = loss.remark(&format!("{name} lost"), OF_QUEUE, &of_all)?;
    let instead = "offer it less, give it more rate, or give its queue an AQM and its senders ECN".to_owned();
    Some(Remark { place: it.place, message, instead })
}

/// W446: policers that drop so much that TCP behind them cannot use the contract, by what each has lost.
pub(crate) fn lossy_policers<P>(case: &Case<'_, P>, loss: impl Fn(&Counters) -> Option<Loss>) -> Vec<Remark> {
    // A policer of the control plane is to drop what floods it.
    let police = case.read.evidence.iter().filter(|it| it.kind == "police" && !is_control(&it.interface));
    let of_policer = |it: &Counters| {
        let message = loss(it)?.remark(&format!("the policer of {} dropped", it.of), OF_POLICER, "")?;
        let instead = "a larger burst (`perhop tune`), a higher rate, or shape instead of policing".to_owned();
        Some(Remark { place: it.place, message, instead })
    };
    police.filter_map(of_policer).collect()
}
