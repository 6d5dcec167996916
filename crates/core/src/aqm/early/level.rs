//! A queue length as a number, in packets or bytes as the scenario measures it.

use crate::Scope;
use crate::params::ParamError;
use crate::units::{BitRate, Length, Span};

/// What a queue is measured in: RED's packet mode and byte mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Packet mode.
    Packets,
    /// Byte mode.
    Bytes,
}

impl Unit {
    /// In words.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Bytes => "bytes",
        }
    }

    /// The one of two numbers that is in this unit.
    #[inline]
    pub fn of(self, packets: u32, bytes: u64) -> f64 {
        match self {
            Self::Packets => f64::from(packets),
            Self::Bytes => bytes as f64,
        }
    }
}

/// A length in packets or bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// What it is measured in.
    pub unit: Unit,
    /// How much.
    pub value: f64,
}

impl Level {
    /// `length` in packets or bytes: a time becomes the bytes that the link sends in it, a share that of the limit.
    ///
    /// # Errors
    /// E218 on `field` if it needs a link rate or a limit that `scope` does not know.
    pub fn of(field: &'static str, length: Length, scope: &Scope) -> Result<Self, ParamError> {
        Ok(match length {
            Length::Packets(n) => Self { unit: Unit::Packets, value: f64::from(n.get()) },
            Length::Bytes(n) => Self { unit: Unit::Bytes, value: n.get() as f64 },
            Length::Time(span) => sent_in(span, link_rate(field, scope)?),
            Length::Percent(share) => {
                let whole = limit(field, scope)?;
                Self { value: whole.value * share / 100.0, ..whole }
            }
        })
    }

    /// A limit in the other unit cannot be compared.
    ///
    /// # Errors
    /// E215 when it is not below the queue's limit, so that no queue ever reaches it; `stated` is its field and the
    /// value written there.
    pub fn below_limit(self, stated: (&'static str, Length), scope: &Scope) -> Result<(), ParamError> {
        let (field, written) = stated;
        let Some(length) = scope.limit else { return Ok(()) };
        let limit = Self::of(field, length, scope)?;
        if limit.unit != self.unit || self.value < limit.value {
            return Ok(());
        }
        Err(ParamError::new(field, "E215", format!("`{field}` {written} is not below the queue's limit {length}"))
            .label("the queue can never reach it")
            .help("lower the value or raise `limit`"))
    }
}

impl Level {
    /// W316 for a level that is not below the queue's limit; one in bytes with a limit in packets, if that many of
    /// the largest packets are no more. If nothing else can act it is an error: see [`Level::below_limit`].
    pub fn out_of_reach(self, field: &'static str, scope: &Scope) -> Option<ParamError> {
        let (message, help) = self.beyond(field, scope)?;
        Some(ParamError::new(field, "W316", message).label("the queue can never reach it").help(help))
    }

    /// As [`Level::out_of_reach`], of one that may be the limit itself.
    pub fn above_limit(self, field: &'static str, scope: &Scope) -> Option<ParamError> {
        Self { value: self.value.next_down(), ..self }.out_of_reach(field, scope)
    }

    fn beyond(self, field: &str, scope: &Scope) -> Option<(String, &'static str)> {
        let (stated, limit) = (scope.limit?, limit("limit", scope).ok()?);
        let value = self.value;
        if limit.unit == self.unit {
            let text = format!("`{field}` is {value:.0} {}: the queue's limit is {stated}", self.unit.noun());
            return (value >= limit.value).then_some((text, "lower the value or raise `limit`"));
        }
        let (most, Length::Packets(_)) = (most_bytes(scope)?, stated) else { return None };
        let largest = scope.largest_packet;
        let text = format!("`{field}` is {value:.0}B: the queue's {stated}, of {largest} at most, hold {most:.0}B");
        (value >= most).then_some((text, "lower it, raise `limit`, or write both in the same unit"))
    }
}

impl Level {
    /// Whether no queue within its limit is as long.
    pub fn is_beyond(self, scope: &Scope) -> bool {
        self.out_of_reach("limit", scope).is_some()
    }
}

/// What a queue can hold, bytes; `None` where limit or packets are not known.
pub fn most_bytes(scope: &Scope) -> Option<f64> {
    let limit = limit("limit", scope).ok()?;
    let most = match limit.unit {
        Unit::Packets => limit.value * scope.largest_packet.get() as f64,
        Unit::Bytes => limit.value,
    };
    (most > 0.0).then_some(most)
}

fn sent_in(span: Span, rate: BitRate) -> Level {
    Level { unit: Unit::Bytes, value: rate.bytes_s() * span.seconds() }
}

/// The rate of the link behind the queue.
///
/// # Errors
/// E218 on `field` when it is not known.
pub fn link_rate(field: &'static str, scope: &Scope) -> Result<BitRate, ParamError> {
    scope.link_rate.ok_or_else(|| {
        ParamError::new(field, "E218", format!("`{field}` needs the rate of the link behind the queue"))
            .help("give the link a `rate`")
    })
}

fn limit(field: &'static str, scope: &Scope) -> Result<Level, ParamError> {
    match scope.limit {
        Some(Length::Percent(_)) | None => {
            let message = format!("`{field}` is a share of the queue's limit, which is not known");
            Err(ParamError::new(field, "E218", message).help("give the queue a `limit` in packets, bytes or time"))
        }
        Some(limit) => Level::of(field, limit, scope),
    }
}
