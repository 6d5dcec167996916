//! What a link's wire does to packets: jitter and reordering, checked against its delay.

use crate::sections::link::LinkSection;
use perhop_core::params::Problems;
use perhop_core::units::{Probability, Span};
use perhop_sim::plan::{Spread, Transit};

/// What the entries of a link state together, those of its direction first.
pub fn transit(entries: &[&LinkSection], problems: &mut Problems) -> Option<Transit> {
    let delay = entries.iter().find_map(|l| l.delay).unwrap_or_default();
    let jitter = entries.iter().find_map(|l| l.jitter);
    let distribution = entries.iter().find_map(|l| l.distribution);
    let reorder = entries.iter().find_map(|l| l.reorder);
    let spread = distribution.map_or(Spread::Uniform, |it| it.value);
    if let Some(stated) = distribution.filter(|_| jitter.is_none()) {
        let message = "`distribution` has no effect without `jitter`";
        return problems.error("E239", stated.place, message).help("add `jitter`, or remove `distribution`").none();
    }
    if let Some(jitter) = jitter.filter(|jitter| jitter.value * spread.reach() > delay) {
        let (message, label) = (format!("`jitter` is {}", jitter.value), format!("`delay` is {delay}"));
        let most = Span::from_ns(delay.ns() / spread.reach());
        let help = match spread {
            Spread::Uniform => format!("must be at most `delay`, {most}: no packet arrives before it was sent"),
            Spread::Normal => {
                format!("must be at most a quarter of `delay`, {most}: draws go up to four standard deviations")
            }
        };
        return problems.error("E201", jitter.place, message).label(label).help(help).none();
    }
    if let Some(stated) = reorder.filter(|share| share.value > Probability::ZERO && delay == Span::ZERO) {
        let message = "`reorder` has no effect without `delay`";
        let help = "add `delay`, or remove `reorder`: on a link without delay no packet can overtake another";
        return problems.error("E239", stated.place, message).help(help).none();
    }
    let jitter = jitter.map_or(Span::ZERO, |it| it.value);
    Some(Transit { jitter, spread, reorder: reorder.map_or(Probability::ZERO, |it| it.value) })
}
