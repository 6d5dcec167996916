//! Interfaces: how fast each type is, and which names are written.

use perhop_core::units::BitRate;
use perhop_scenario::Diagnostic;

/// Types by name, with the rate in Mbit/s of the line; a type that has none holds any.
const TYPES: [(&str, Option<u64>); 10] = [
    ("Ethernet", Some(10)),
    ("FastEthernet", Some(100)),
    ("GigabitEthernet", Some(1_000)),
    ("TwoGigabitEthernet", Some(2_500)),
    ("FiveGigabitEthernet", Some(5_000)),
    ("TenGigabitEthernet", Some(10_000)),
    ("TwentyFiveGigE", Some(25_000)),
    ("FortyGigabitEthernet", Some(40_000)),
    ("HundredGigE", Some(100_000)),
    (SERIAL, None),
];

/// A line of any rate, which IOS is told by `bandwidth`.
const SERIAL: &str = "Serial";
/// Characters of a name.
const LONGEST: usize = 40;

/// What an interface does with the rate of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It has that rate.
    Same,
    /// It has any; IOS is told which.
    Told,
    /// It has another, or perhop does not know it: a shaper holds it to the link's.
    Other,
}

/// The line of an interface with this name. Abbreviations are those that IOS takes: the beginning of one type.
pub(super) fn line(name: &str, rate: BitRate) -> Line {
    let letters = name.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
    let begins = |it: &&(&str, _)| it.0.to_ascii_lowercase().starts_with(&letters);
    let exact = TYPES.iter().find(|it| it.0.eq_ignore_ascii_case(&letters));
    let mut found = TYPES.iter().filter(begins);
    let only = exact.or_else(|| found.next().filter(|_| found.next().is_none()));
    match only {
        Some((_, Some(own))) if BitRate::mbps(*own) == rate => Line::Same,
        Some((_, None)) => Line::Told,
        _ => Line::Other,
    }
}

/// An interface for a link of this rate: of the type that has it. Numbers are counted by type.
pub(super) fn for_rate(rate: BitRate, taken: &[String]) -> String {
    let found = TYPES.iter().find(|it| it.1.is_some_and(|own| BitRate::mbps(own) == rate));
    let kind = found.map_or(SERIAL, |it| it.0);
    let names = (0u32..).map(|n| format!("{kind}0/{n}"));
    names.into_iter().find(|name| !taken.contains(name)).unwrap_or_default()
}

/// # Errors
/// E296.
pub(super) fn named(name: &str) -> Result<(), Diagnostic> {
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | ':' | '-');
    let wrong = match name.chars().find(|c| !fit(*c)) {
        Some(c) => format!("has {c:?}"),
        None if name.len() > LONGEST => format!("has {} characters", name.len()),
        None if !name.starts_with(|c: char| c.is_ascii_alphabetic()) => "does not begin with a letter".into(),
        None if !name.ends_with(|c: char| c.is_ascii_digit()) => "does not end with a number".into(),
        None => return Ok(()),
    };
    let help = format!(
        "an interface of IOS has 1 to {LONGEST} letters, digits, `/`, `.`, `:` and `-`, as in GigabitEthernet0/0"
    );
    Err(Diagnostic::error("E296", format!("the interface {name:?} of `--dev` {wrong}"), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_its_rate() {
        for (name, mbps, expected) in [
            ("GigabitEthernet0/0", 1000, Line::Same),
            ("Gi0/0/1.100", 1000, Line::Same),
            ("gi0/0", 100, Line::Other),
            ("Fa0/1", 100, Line::Same),
            ("F0/1", 100, Line::Other),
            ("Ethernet0/0", 10, Line::Same),
            ("Se0/0/0:1", 2, Line::Told),
            ("Tunnel1", 10, Line::Other),
        ] {
            assert_eq!(line(name, BitRate::mbps(mbps)), expected, "{name}");
        }
    }

    #[test]
    fn a_link_has_an_interface_as_fast() {
        assert_eq!(for_rate(BitRate::mbps(1000), &[]), "GigabitEthernet0/0");
        assert_eq!(for_rate(BitRate::mbps(2), &["Serial0/0".into()]), "Serial0/1");
    }

    #[test]
    fn no_name_leaves_its_line() {
        for bad in ["", "0/0", "Gi0/0\nno service", "Gi 0/0", "Gi0/0!", "Gigabit", "é0"] {
            assert!(named(bad).unwrap_err().code == "E296", "{bad:?}");
        }
        for good in ["GigabitEthernet0/0/0.100", "Port-channel1", "Serial0/0/0:23", "Vlan10"] {
            assert!(named(good).is_ok(), "{good}");
        }
    }
}
