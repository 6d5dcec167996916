//! pcapng timestamps to nanoseconds since 1970.

/// What one unit of an interface's timestamps is: option `if_tsresol`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// 10^-n s, n from 0 to 19.
    Decimal(u8),
    /// 2^-n s, n from 0 to 63.
    Binary(u8),
}

impl Unit {
    /// The option's octet: the top bit chooses the base, the rest is the negated exponent. `None`: finer than any
    /// 64-bit timestamp could use (10^-20 s, 2^-64 s and below).
    pub(crate) fn from_option(octet: u8) -> Option<Unit> {
        match (octet & 0x80 != 0, octet & 0x7f) {
            (false, n @ 0..=19) => Some(Unit::Decimal(n)),
            (true, n @ 0..=63) => Some(Unit::Binary(n)),
            _ => None,
        }
    }

    /// `units` in ns, rounded down if a unit is not a whole number of ns; exact otherwise.
    fn nanoseconds(self, units: u64) -> u128 {
        let units = u128::from(units);
        match self {
            Unit::Decimal(n @ 0..=9) => units * 10u128.pow(u32::from(9 - n)),
            Unit::Decimal(n) => units / 10u128.pow(u32::from(n - 9)),
            Unit::Binary(n) => (units * 1_000_000_000) >> n,
        }
    }
}

/// The clock of an interface: unit and offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    pub(crate) unit: Unit,
    /// Option `if_tsoffset`: seconds to add.
    pub(crate) offset_s: i64,
}

impl Clock {
    /// Microseconds, no offset: the format's default.
    pub(crate) const DEFAULT: Clock = Clock { unit: Unit::Decimal(6), offset_s: 0 };

    /// Nanoseconds since 1970 rounded down, or `None` outside 0..2^64 ns (before 1970, after 2554).
    pub(crate) fn nanoseconds(self, units: u64) -> Option<u64> {
        let offset = i128::from(self.offset_s) * 1_000_000_000;
        let time = i128::try_from(self.unit.nanoseconds(units)).ok()?;
        u64::try_from(time + offset).ok()
    }

    /// For error messages.
    pub(crate) fn describe(self) -> String {
        let (base, n) = match self.unit {
            Unit::Decimal(n) => (10, n),
            Unit::Binary(n) => (2, n),
        };
        format!("{base}^-{n} s, offset {} s", self.offset_s)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clock(octet: u8, offset_s: i64) -> Clock {
        Clock { unit: Unit::from_option(octet).expect("octet is valid"), offset_s }
    }

    #[test]
    fn powers_of_ten_and_two() {
        assert_eq!(clock(6, 0).nanoseconds(1_700_000_000_123_456), Some(1_700_000_000_123_456_000));
        assert_eq!(clock(9, 0).nanoseconds(u64::MAX), Some(u64::MAX));
        assert_eq!(clock(12, 0).nanoseconds(1_999), Some(1));
        assert_eq!(clock(0, 5).nanoseconds(2), Some(7_000_000_000));
        assert_eq!(clock(0x80 | 1, 0).nanoseconds(3), Some(1_500_000_000));
        // 2^-30 s is 0.931 ns: three of them are 2.79 ns, rounded down
        assert_eq!(clock(0x80 | 30, 0).nanoseconds(3), Some(2));
        assert_eq!(clock(0x80 | 63, 0).nanoseconds(u64::MAX), Some(1_999_999_999));
        assert_eq!(clock(0x80, 0).nanoseconds(3), Some(3_000_000_000));
    }

    #[test]
    fn outside_64_bits_is_none() {
        assert_eq!(clock(6, 0).nanoseconds(u64::MAX), None);
        assert_eq!(clock(6, -2).nanoseconds(1_999_999), None);
        assert_eq!(clock(6, -2).nanoseconds(2_000_000), Some(0));
        assert_eq!(clock(0, i64::MAX).nanoseconds(u64::MAX), None);
        assert_eq!(clock(0, i64::MIN).nanoseconds(0), None);
        assert_eq!(Unit::from_option(20), None);
        assert_eq!(Unit::from_option(0x80 | 64), None);
    }

    proptest! {
        #[test]
        fn binary_units_round_down(n in 0u8..=63, units in any::<u64>()) {
            let ns = Unit::Binary(n).nanoseconds(units);
            // ns <= units * 10^9 / 2^n < ns + 1, checked without a division
            let exact = u128::from(units) * 1_000_000_000;
            prop_assert!(ns << n <= exact && exact < (ns + 1) << n);
        }
    }
}
