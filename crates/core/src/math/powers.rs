//! Powers of two and of ten, and the decade of a number: exact, or the closest `f64`.

/// 2^n: exact from n = -1074 to 1023.
pub fn power_of_two(n: i32) -> f64 {
    libm::ldexp(1.0, n)
}

/// 10^n: the closest `f64`, which is exact for n from 0 to 22.
pub fn power_of_ten(n: i32) -> f64 {
    format!("1e{n}").parse().expect("a power of ten is a number")
}

/// The power of ten of the first digit, as the number is written: 2 for 340, -3 for 0.005; 0 for zero.
pub fn decade(x: f64) -> i32 {
    let text = format!("{x:e}");
    text.split_once('e').and_then(|parts| parts.1.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn powers_of_two_are_exact() {
        for n in 0..64 {
            assert_eq!(power_of_two(n), (1u64 << n.min(63)) as f64);
            assert_eq!(power_of_two(n) * power_of_two(-n), 1.0, "{n}");
        }
        assert_eq!([power_of_two(-1074), power_of_two(1023)], [f64::from_bits(1), 2.0 * power_of_two(1022)]);
        assert_eq!([power_of_two(-1076), power_of_two(1024)], [0.0, f64::INFINITY]);
    }

    /// Whole powers by multiplication of integers, the others by one division, which is rounded once.
    #[test]
    fn powers_of_ten_are_the_closest() {
        for n in 0..=22 {
            let exact = (0..n).fold(1u128, |power, _| power * 10) as f64;
            assert_eq!([power_of_ten(n), power_of_ten(-n)], [exact, 1.0 / exact], "{n}");
        }
        assert_eq!([power_of_ten(308), power_of_ten(309), power_of_ten(-324)], [1e308, f64::INFINITY, 0.0]);
    }

    #[test]
    fn decades_at_their_ends() {
        for n in -300..=300 {
            let (at, below) = (power_of_ten(n), f64::from_bits(power_of_ten(n).to_bits() - 1));
            assert_eq!([decade(at), decade(-at), decade(below)], [n, n, n - 1], "{n}");
        }
        assert_eq!([decade(0.0), decade(f64::INFINITY), decade(f64::NAN)], [0; 3]);
    }

    proptest! {
        #[test]
        fn a_number_is_within_its_decade(x in prop_oneof![1e-30f64..1e-3, 1e-3f64..1e3, 1e3f64..1e30]) {
            let n = decade(x);
            prop_assert!(power_of_ten(n) <= x && x < power_of_ten(n + 1), "{x} {n}");
        }
    }
}
