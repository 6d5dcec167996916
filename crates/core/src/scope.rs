//! What an algorithm is given about its surroundings when it is built.
//!
//! Decision: docs/decisions/060-idle-and-rate-of-a-class.md

use crate::accounting::{Accounting, Recount};
use crate::params::ParamError;
use crate::units::{BitRate, Bytes, Length};
use std::ops::Deref;
use std::sync::Arc;

/// The surroundings of an algorithm: known to the host, needed to check parameters and to turn
/// thresholds into packets or bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// The name of the port, for messages; `None` where there is none.
    pub port: Option<Arc<str>>,
    /// Largest packet of the traffic it will see, as meters count it.
    pub largest_packet: Bytes,
    /// Whose packet that is, for messages: "traffic `web`".
    pub largest_of: String,
    /// The largest packet of each class of a scheduler, in their order; empty: it is that of all for each of them.
    pub classes: Arc<[Largest]>,
    /// The rate that bounds what is behind the queue or in the scheduler, even if a scheduler shares it; `None` for a
    /// conditioner, or if unknown.
    pub link_rate: Option<BitRate>,
    /// Limit of the queue: packets or bytes.
    pub limit: Option<Length>,
    /// Which bytes of a packet meters and queues count.
    pub accounting: Accounting,
    /// Which bytes of a packet the link's rate counts.
    pub framing: Accounting,
    /// Weights of the flows whose rates are labels; `None` if labels come from where they are unknown.
    pub weights: Option<Weights>,
    /// Names of the conditioners of the port that a packet passes before, in order.
    pub conditioners: Predecessors,
    /// Whether what sends its packets asks the queue also while it is empty. In Linux a shaper and most schedulers do not.
    pub asked_when_empty: bool,
}

/// Names of conditioners that a packet passes first, in order. All that is at a port shares one list.
#[derive(Clone, Debug, Default)]
pub struct Predecessors {
    port: Arc<[String]>,
    count: usize,
}

impl Predecessors {
    /// The first so many of these.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        Self { port: Arc::clone(&self.port), count: count.min(self.count) }
    }
}

impl From<Vec<String>> for Predecessors {
    fn from(names: Vec<String>) -> Self {
        Self { count: names.len(), port: names.into() }
    }
}

impl Deref for Predecessors {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.port[..self.count]
    }
}

impl PartialEq for Predecessors {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// The largest packet of a class; by default none is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Largest {
    /// As meters count it.
    pub packet: Bytes,
    /// Whose it is, for messages.
    pub of: String,
}

/// The range of weights by which rates are divided to make labels; both above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The smallest.
    pub lightest: f64,
    /// The largest.
    pub heaviest: f64,
}

impl Weights {
    /// No flow has a weight.
    pub const ONE: Self = Self { lightest: 1.0, heaviest: 1.0 };

    /// The range of all these; `None` if there are none.
    pub fn of(weights: impl IntoIterator<Item = f64>) -> Option<Self> {
        let both =
            |a: Self, b: Self| Self { lightest: a.lightest.min(b.lightest), heaviest: a.heaviest.max(b.heaviest) };
        weights.into_iter().map(|weight| Self { lightest: weight, heaviest: weight }).reduce(both)
    }
}

impl Default for Scope {
    /// Ethernet's largest packet, and nothing else known.
    fn default() -> Self {
        let (largest_packet, largest_of) = (Bytes::new(1500), "Ethernet".into());
        let (link_rate, limit, weights) = (None, None, None);
        let (accounting, framing) = (Accounting::L3, Accounting::L3);
        let (classes, conditioners) = (Arc::default(), Predecessors::default());
        let asked_when_empty = true;
        Self {
            port: None,
            largest_packet,
            largest_of,
            classes,
            link_rate,
            limit,
            accounting,
            framing,
            weights,
            conditioners,
            asked_when_empty,
        }
    }
}

impl Scope {
    /// From the bytes that a packet counts to those that the link counts of it.
    pub const fn on_link(&self) -> Recount {
        self.accounting.to(self.framing)
    }

    /// The surroundings of one class of a scheduler: its own largest packet, if that is known.
    pub fn of_class(&self, class: usize) -> Self {
        let Some(Largest { packet, of }) = self.classes.get(class).cloned() else { return self.clone() };
        Self { largest_packet: packet, largest_of: of, classes: Arc::default(), ..self.clone() }
    }

    /// The surroundings of several classes: the largest packet of any of them.
    pub fn of_classes(&self, classes: std::ops::Range<usize>) -> Self {
        let packet = |class: &usize| self.classes.get(*class).map_or(self.largest_packet, |largest| largest.packet);
        classes.max_by_key(packet).map_or_else(|| self.clone(), |class| self.of_class(class))
    }

    /// # Errors
    /// E212 when a bucket is smaller than the largest packet, which could then never take tokens from it.
    pub fn holds_largest_packet(&self, field: &'static str, depth: Bytes) -> Result<(), ParamError> {
        if depth >= self.largest_packet {
            return Ok(());
        }
        let error = ParamError::new(field, "E212", format!("`{field}` is smaller than one packet"))
            .label(format!("the largest packet of {} is {}", self.largest_of, self.largest_packet))
            .help(format!("must be at least {}: a larger packet could never conform", self.largest_packet));
        Err(error)
    }
}
