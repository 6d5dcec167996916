//! The limit of a priority class (low-latency queueing, LLQ). Packets beyond the limit are dropped on arrival, so
//! that the class cannot starve the classes after it.

use super::{Visit, fault};
use crate::Scope;
use crate::estimate::TokenBucket;
use crate::needs::Needs;
use crate::params::{CLASS, Choice, ClassName, ParamError, Params};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::verdict::{Reason, Verdict};

/// Time whose traffic at the rate is the default burst: that of IOS.
const DEFAULT_BURST: Span = Span::from_ms(200);

/// What a scenario states of a strict class, in `#[param(flatten)]`.
#[derive(Params, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityLimit {
    /// Rate to which the class is policed; without it, the class can starve all classes after it.
    pub rate: Option<BitRate>,
    /// Bytes that may come at once; default: 200 ms at `rate`, at least the largest packet.
    pub burst: Option<Bytes>,
    /// When packets beyond `rate` are dropped: `always` (default), or `congested`, while anything else waits.
    pub police: Option<Police>,
}

/// When a packet beyond the rate is dropped.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Police {
    /// On every arrival: unconditional policing.
    #[default]
    Always,
    /// While anything else waits: conditional policing.
    Congested,
}

#[derive(Clone, Debug)]
struct Limit {
    bucket: TokenBucket,
    police: Police,
}

/// The limits of classes, in their order.
#[derive(Clone, Debug)]
pub(super) struct Limits(Vec<Option<Limit>>);

impl PriorityLimit {
    /// Bytes that may come at once at this rate, in this class of a scheduler at `scope`.
    pub fn burst(self, rate: BitRate, class: usize, scope: &Scope) -> Bytes {
        self.burst.unwrap_or((rate * DEFAULT_BURST).max(scope.of_class(class).largest_packet))
    }

    fn build(self, i: usize, scope: &Scope) -> Result<Option<Limit>, ParamError> {
        let fault = |code, message: String| Err(fault(code, ClassName::listed(i + 1), format!("{CLASS}: {message}")));
        let Some(rate) = self.rate else {
            let stated = [("burst", self.burst.is_some()), ("police", self.police.is_some())];
            return match stated.into_iter().find(|&(_, stated)| stated) {
                Some((key, _)) => fault("E239", format!("`{key}` has no effect without `rate`"))
                    .map_err(|e| e.help("state the rate that the class is policed to, or remove it")),
                None => Ok(None),
            };
        };
        let burst = self.burst(rate, i, scope);
        let scope = scope.of_class(i);
        if rate == BitRate::bps(0) {
            return fault("E201", "`rate` is 0".into()).map_err(|e| e.help("must be above 0: at 0 nothing passes"));
        }
        if burst < scope.largest_packet {
            let least = scope.largest_packet;
            return fault("E212", format!("`burst` is {burst}, less than one packet")).map_err(|e| {
                e.label(format!("the largest packet of {} is {least}", scope.largest_of))
                    .help(format!("must be at least {least}: a larger packet could never pass"))
            });
        }
        let bucket = TokenBucket::full(rate, burst, "classes")?;
        Ok(Some(Limit { bucket, police: self.police.unwrap_or_default() }))
    }
}

impl Limits {
    /// # Errors
    /// E201 for a rate of 0 or a burst beyond the counter; E212 for a burst below the largest packet; E239 for other keys
    /// without a rate.
    pub(super) fn new(stated: impl Iterator<Item = PriorityLimit>, scope: &Scope) -> Result<Self, ParamError> {
        stated.enumerate().map(|(i, limit)| limit.build(i, scope)).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn needs(&self) -> Needs {
        Needs::ARRIVALS.only_if(self.0.iter().any(Option::is_some))
    }

    /// Which classes have one.
    fn places(&self) -> Vec<bool> {
        self.0.iter().map(Option::is_some).collect()
    }

    /// A packet of `bytes` arrives.
    pub(super) fn judge(&mut self, at: &Visit, bytes: u32) -> Verdict {
        let Some(limit) = &mut self.0[at.child] else { return Verdict::Pass };
        let conforms = limit.bucket.take(at.at.now, bytes);
        let spares = limit.police == Police::Congested && at.all.packets == 0;
        if conforms || spares { Verdict::Pass } else { Verdict::Drop(Reason::Policer) }
    }

    /// Takes rates, bursts and `police` of `stated`, which built `new`; tokens stay as far as they fit.
    ///
    /// # Errors
    /// E202 if other classes would have a limit.
    pub(super) fn retune(
        &mut self,
        now: Time,
        stated: impl Iterator<Item = PriorityLimit>,
        scope: &Scope,
    ) -> Result<(), ParamError> {
        let stated: Vec<_> = stated.collect();
        let new = Self::new(stated.iter().copied(), scope)?;
        if self.places() != new.places() {
            let error = ParamError::new("classes", "E202", "the change would alter which classes have a limit".into());
            return Err(error.help("a change may alter a `rate`, but neither add nor remove one"));
        }
        for (i, (old, (stated, new))) in self.0.iter_mut().zip(stated.into_iter().zip(new.0)).enumerate() {
            if let (Some(old), Some(new), Some(rate)) = (old, new, stated.rate) {
                old.bucket.retune(now, rate, stated.burst(rate, i, scope), "classes")?;
                old.police = new.police;
            }
        }
        Ok(())
    }
}
