//! 255 steps for one occasion and 256 numbers: a formula at the limit is carried out to its end, one beyond is refused.

use super::kinds::{Kind, Stated, THRESHOLD};
use perhop_core::params::Problem;
use perhop_core::units::Time;

/// Steps of one occasion.
const STEPS: usize = 255;
/// Numbers of a law: the first belongs to no formula.
const NUMBERS: usize = 256;

/// Takes as many steps as it has signs.
fn sum(signs: usize) -> String {
    vec!["a"; signs + 1].join(" + ")
}

/// Where `a` begins. A label is at least 1 B/s.
fn first(kind: Kind) -> f64 {
    if kind == Kind::Sets { 1024.0 } else { 1.0 / 1024.0 }
}

/// What a sum gives.
fn want(kind: Kind, signs: usize) -> Option<f64> {
    kind.want((signs + 1) as f64 * first(kind))
}

fn stated(kind: Kind, formula: String) -> Stated {
    Stated::new(kind, formula, format!("{:?}", first(kind)))
}

fn is_beyond(problems: &[Problem]) -> bool {
    let [only] = problems else { return false };
    only.code == "E340" && only.message == "the formulas compute more than there is room for"
}

/// Steps of a law beside those of rules and of the sum itself.
fn steps_beside(kind: Kind) -> usize {
    match kind {
        // A comparison, and p is put in its place.
        Kind::DropIf | Kind::Ecn => 2,
        // p is put in its place at the arrival.
        Kind::Arrival => 1,
        // The product with 1 bit/s.
        Kind::Sets => 1,
        Kind::P | Kind::Average | Kind::Departure | Kind::Interval | Kind::Hit | Kind::Kept => 0,
    }
}

#[test]
fn at_most_255_steps_are_carried_out_to_the_last() {
    for kind in Kind::ALL {
        for own in [1, 60, 130] {
            for steps in STEPS - 1..=STEPS + 1 {
                let rest = steps - own - steps_beside(kind);
                let before = vec![sum(rest / 2), sum(rest - rest / 2)];
                let built = Stated { before, ..stated(kind, sum(own)) }.built();
                match built {
                    Ok(mut law) => {
                        assert!(steps <= STEPS, "{steps} steps for {kind:?}");
                        assert_eq!(law.at(Time::from_ns(1)), want(kind, own), "{steps} steps for {kind:?}");
                    }
                    Err(problems) => {
                        assert!(steps > STEPS && is_beyond(&problems), "{steps} steps for {kind:?}: {problems:?}");
                    }
                }
            }
        }
    }
}

/// Numbers of a law with the sum of three beside those of `state`.
fn numbers_beside(kind: Kind) -> usize {
    // That of no formula and p.
    let queue = 2;
    match kind {
        // One between the two sums.
        Kind::P => queue + 1,
        // Two sums, the comparison, what it compares with; a constant p.
        Kind::DropIf | Kind::Ecn => queue + 5,
        // Two sums, the average; a constant p.
        Kind::Average => queue + 4,
        // One between the two sums; a constant p.
        Kind::Arrival | Kind::Departure | Kind::Interval | Kind::Hit => queue + 2,
        // That of no formula, two sums, the product, 1 bit/s.
        Kind::Sets => 5,
        // That of no formula, one between the two sums, the colour.
        Kind::Kept => 3,
    }
}

#[test]
fn at_most_256_numbers_are_kept_apart() {
    for kind in Kind::ALL {
        for numbers in NUMBERS - 1..=NUMBERS + 1 {
            let of_state =
                if matches!(kind, Kind::P | Kind::DropIf | Kind::Ecn | Kind::Average | Kind::Sets) { 1 } else { 2 };
            let more = numbers - numbers_beside(kind) - of_state;
            match (Stated { numbers: more, ..stated(kind, sum(2)) }).built() {
                Ok(mut law) => {
                    assert!(numbers <= NUMBERS, "{numbers} numbers for {kind:?}");
                    assert_eq!(law.at(Time::from_ns(1)), want(kind, 2), "{numbers} numbers for {kind:?}");
                }
                Err(problems) => {
                    assert!(numbers > NUMBERS && is_beyond(&problems), "{numbers} numbers for {kind:?}: {problems:?}");
                }
            }
        }
    }
}

/// Far beyond the limits nothing is compiled, and nothing fails but with the one error.
#[test]
fn however_far_beyond_it_is_one_error() {
    let branches = format!("if({} a)", "a > 1 and a < 2 or a == 3, a, ".repeat(20));
    for kind in Kind::ALL {
        for (numbers, before, formula) in
            [(300, 0, &branches), (1000, 3, &branches), (0, 400, &branches), (0, 90, &sum(150))]
        {
            let stated = Stated { numbers, before: vec![formula.clone(); before], ..stated(kind, branches.clone()) };
            assert!(stated.built().is_err_and(|problems| is_beyond(&problems)), "{numbers} {before} for {kind:?}");
        }
    }
}

/// Windows of time, every other second, behind a long rule: all are there, or it is refused.
#[test]
fn every_window_is_there_or_it_is_refused() {
    let windows = |n: usize| {
        let each = (0..n).map(|i| format!("now >= {}s and now < {}s, {THRESHOLD} + {THRESHOLD}, ", 2 * i, 2 * i + 1));
        format!("if({}0)", each.collect::<String>())
    };
    let long = "(now / 1s)^8 + (now / 2s)^8 + (now / 3s)^8 + (now / 4s)^8".to_owned();
    for kind in Kind::ALL {
        let mut accepted = 0;
        for n in 1..=44 {
            let stated = Stated { before: vec![long.clone()], ..Stated::new(kind, windows(n), "0".into()) };
            let Ok(mut law) = stated.built() else { continue };
            assert_eq!(accepted, n - 1, "none beyond one that is refused");
            accepted = n;
            for second in 0..2 * n as u64 + 2 {
                let is_in = second % 2 == 0 && second < 2 * n as u64;
                let want = kind.want(if is_in { 2.0 * THRESHOLD } else { 0.0 });
                assert_eq!(law.at(Time::from_ns(second * 1_000_000_000 + 5)), want, "{second} of {n} for {kind:?}");
            }
        }
        assert!((10..44).contains(&accepted), "{accepted} for {kind:?}");
    }
}
