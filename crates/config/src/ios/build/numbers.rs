//! Numbers of a plan as values of the model.

use super::Build;
use crate::ios::plan::{Burst, Rate, WithPlace};
use crate::value::{Value, WithOrigin};
use perhop_core::units::{BitRate, Bytes, Length, PacketRate, Packets};

/// What happens to a percentage without a base.
const NO_BASE: &str = "a percentage of a link whose rate nothing says: state it with --link";

impl Build<'_> {
    /// A rate; percentages are of a base. `None` if there is none, which the account then says.
    pub(super) fn rate(&mut self, rate: WithPlace<Rate>, base: Option<BitRate>) -> Option<WithOrigin<Value>> {
        let is = match rate.is {
            Rate::Bits(rate) => Value::Rate(rate),
            Rate::Packets(rate) => Value::PacketRate(PacketRate::per_second(rate)),
            Rate::Percent(percent) => match base {
                Some(base) => Value::Rate(of(percent, base)),
                None => {
                    self.account.not_modelled(rate.at.line, NO_BASE);
                    return None;
                }
            },
        };
        Some(WithOrigin::at(rate.at.place, is))
    }

    /// A rate in bits.
    pub(super) fn bit_rate(&mut self, rate: WithPlace<Rate>, base: Option<BitRate>) -> Option<BitRate> {
        match self.rate(rate, base)?.is {
            Value::Rate(rate) => Some(rate),
            _ => {
                self.account.not_modelled(rate.at.line, "a rate in packets is for policers only");
                None
            }
        }
    }
}

/// A share of a rate, to the nearest bit/s.
pub fn of(percent: f64, base: BitRate) -> BitRate {
    BitRate::bps((percent / 100.0 * base.bit_s() as f64).round() as u64)
}

/// A burst.
pub fn burst(burst: WithPlace<Burst>) -> WithOrigin<Value> {
    let is = match burst.is {
        Burst::Bytes(bytes) => Value::Bytes(Bytes::new(bytes)),
        Burst::Packets(packets) => Value::Packets(Packets::new(u32::try_from(packets).unwrap_or(u32::MAX))),
        Burst::Time(span) => Value::Time(span),
    };
    WithOrigin::at(burst.at.place, is)
}

/// A length of a queue.
pub fn length(length: Length) -> Value {
    match length {
        Length::Packets(packets) => Value::Packets(packets),
        Length::Bytes(bytes) => Value::Bytes(bytes),
        Length::Time(span) => Value::Time(span),
        Length::Percent(percent) => Value::Word(format!("{percent}%")),
    }
}
