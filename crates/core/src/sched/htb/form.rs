//! What HTB's tree of classes bounds, and the numbers of its classes.

use super::tree::{LEVELS, PRIOS};
use super::{Class, DEEPEST, Params};
use crate::params::{CLASS, ParamError};
use crate::sched::form::Form;
use crate::sched::{Classes, fault};
use crate::scope::Scope;
use crate::units::{BitRate, Bytes};

/// What the rates of HTB's classes bound in their tree.
pub(super) trait Bounds {
    /// Level of each class: 0 for leaves, one less than its parent's for others, from the highest.
    fn levels(&self) -> Vec<usize>;
    /// The rate beyond which each class is never served: its own rate or what it may borrow of what is above it, and its ceil at
    /// most. One with children passes their rates, too, whatever its own is.
    fn bounds(&self, classes: &Classes<Class>, scope: &Scope) -> Vec<BitRate>;
    /// The most that it sends itself, or lends.
    fn lends(&self, classes: &[Class], i: usize) -> BitRate;
    /// Parents whose children have rates that exceed their own: the parent and that sum, bit/s. Of the classes of a template
    /// those count that the load reaches.
    fn promised(&self, classes: &Classes<Class>, scope: &Scope) -> Vec<(usize, u64)>;
}

impl Bounds for Form {
    fn levels(&self) -> Vec<usize> {
        let level = |i: usize| if self.is_leaf(i) { 0 } else { LEVELS - 1 - self.above(i) };
        (0..self.parents.len()).map(level).collect()
    }

    fn bounds(&self, classes: &Classes<Class>, scope: &Scope) -> Vec<BitRate> {
        let mut bounds: Vec<_> = (0..classes.len()).map(|i| self.lends(classes, i)).collect();
        self.promised(classes, scope).into_iter().for_each(|(up, sum)| bounds[up] = bounds[up].max(BitRate::bps(sum)));
        bounds
    }

    fn lends(&self, classes: &[Class], i: usize) -> BitRate {
        let class = &classes[i];
        let borrowed = self.parents[i].map(|up| self.lends(classes, up));
        borrowed.map_or(class.rate, |borrowed| borrowed.max(class.rate)).min(class.ceil())
    }

    fn promised(&self, classes: &Classes<Class>, scope: &Scope) -> Vec<(usize, u64)> {
        let mut sums = vec![0; classes.len()];
        for (i, class) in classes.iter().enumerate().filter(|&(i, _)| self.counts(classes, i, scope)) {
            self.parents[i].into_iter().for_each(|up| sums[up] += class.guaranteed().bit_s());
        }
        sums.into_iter().enumerate().filter(|&(i, sum)| sum > classes[i].guaranteed().bit_s()).collect()
    }
}

/// Whether the numbers of a class make sense.
///
/// # Errors
/// E201 for a rate, burst or quantum of 0, a burst beyond the counters, an unknown priority.
pub(super) fn numbers(params: &Params, i: usize) -> Result<(), ParamError> {
    let (class, name) = (&params.classes[i], params.classes.called(i));
    let zero = [("rate", class.rate == BitRate::bps(0)), ("quantum", class.quantum == Some(Bytes::new(0)))];
    if let Some((key, _)) = zero.into_iter().find(|&(_, zero)| zero) {
        let help =
            "must be above 0; for a class that should get only what others leave, write a small `rate` and a `ceil`";
        return Err(fault("E201", name, format!("{CLASS}: `{key}` is 0")).help(help));
    }
    for (key, burst) in [("burst", class.burst), ("cburst", class.cburst)] {
        let Some(burst) = burst.filter(|&burst| burst == Bytes::new(0) || burst > DEEPEST) else { continue };
        let message = format!("{CLASS}: `{key}` is {burst}");
        return Err(fault("E201", name, message).help(format!("must be between 1B and {DEEPEST}")));
    }
    if let Some(prio) = class.prio.filter(|&prio| prio as usize >= PRIOS) {
        let message = format!("{CLASS}: `prio` is {prio}");
        return Err(fault("E201", name, message).help(format!("must be between 0, the most urgent, and {}", PRIOS - 1)));
    }
    Ok(())
}
