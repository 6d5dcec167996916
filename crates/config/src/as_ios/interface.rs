//! Interfaces: which names are written, and whether their lines are as fast as links.

use crate::ios::interfaces::SPEEDS;
use perhop_core::units::BitRate;
use perhop_scenario::Diagnostic;

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

/// Types by name, with the rate of the line; one that has none holds any.
fn types() -> impl Iterator<Item = (&'static str, Option<BitRate>)> {
    let fixed =
        SPEEDS.iter().filter(|(.., written)| *written).map(|(name, mbit, _)| (*name, Some(BitRate::mbps(*mbit))));
    fixed.chain([(SERIAL, None)])
}

/// The line of an interface with this name. Abbreviations are those that IOS takes: the beginning of one type.
pub(super) fn line(name: &str, rate: BitRate) -> Line {
    let letters = name.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
    let exact = types().find(|it| it.0.eq_ignore_ascii_case(&letters));
    let mut found = types().filter(|it| it.0.to_ascii_lowercase().starts_with(&letters));
    let only = exact.or_else(|| found.next().filter(|_| found.next().is_none()));
    match only {
        Some((_, Some(own))) if own == rate => Line::Same,
        Some((_, None)) => Line::Told,
        _ => Line::Other,
    }
}

/// An interface for a link of this rate: of the type that has it. Numbers are counted by type.
pub(super) fn for_rate(rate: BitRate, taken: &[String]) -> String {
    let found = types().find(|it| it.1 == Some(rate));
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
