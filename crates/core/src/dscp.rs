//! DiffServ code points: names, numbers, and the drop precedence that AF names carry.
//!
//! Sources: RFC 2474 (field, class selectors), RFC 2597 (AF), RFC 3246 (EF), RFC 4594 (DF), RFC 5865 (VOICE-ADMIT: VA),
//! RFC 8622 (LE), RFC 9956 (NQB).

use crate::colour::Colour;
use crate::params::{Kind, Node, Problems, Tree, Value};
use std::fmt;

/// A code point, 0 to 63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dscp(u8);

/// Code points with names; others are written as numbers. Of several names of one the first is printed.
pub const NAMES: [(&str, u8); 26] = [
    ("BE", 0),
    ("CS0", 0),
    ("DF", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VA", 44),
    ("NQB", 45),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];

impl Dscp {
    /// Best effort.
    pub const BE: Self = Self(0);

    /// `None` above 63.
    pub const fn new(code: u8) -> Option<Self> {
        if code < 64 { Some(Self(code)) } else { None }
    }

    /// From the TOS octet or traffic class: its upper six bits.
    pub const fn from_tos(octet: u8) -> Self {
        Self(octet >> 2)
    }

    /// 0 to 63.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The drop precedence of an AF code point (RFC 2597 section 6): AFx1 green, AFx2 yellow, AFx3 red; others carry none.
    pub const fn colour(self) -> Colour {
        let (class, precedence) = (self.0 >> 3, self.0 & 7);
        match (class, precedence) {
            (1..=4, 2) => Colour::Green,
            (1..=4, 4) => Colour::Yellow,
            (1..=4, 6) => Colour::Red,
            _ => Colour::Unmarked,
        }
    }

    fn named(text: &str) -> Option<Self> {
        NAMES.iter().find(|n| n.0.eq_ignore_ascii_case(text)).map(|n| Self(n.1))
    }

    fn number(text: &str) -> Option<i64> {
        match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        }
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|n| n.1 == self.0) {
            Some((name, _)) => f.pad(name),
            None => f.pad(&self.0.to_string()),
        }
    }
}

/// Why a number is not a code point: usually it is a whole TOS octet.
fn out_of_range(code: i64) -> [String; 2] {
    let octet = u8::try_from(code).ok().filter(|o| o & 3 == 0).map(Dscp::from_tos);
    let help = octet.map_or("write a number from 0 to 63, or a name such as EF or AF11".to_owned(), |d| {
        format!("{code:#x} is {d} written as a whole TOS octet; write `{d}` or {}", d.get())
    });
    [format!("DSCP {code} is outside 0 to 63"), help]
}

impl std::str::FromStr for Dscp {
    type Err = [String; 2];
    /// Name, decimal or hex; the error is message and help.
    fn from_str(text: &str) -> Result<Self, [String; 2]> {
        if let Some(named) = Self::named(text) {
            return Ok(named);
        }
        let Some(code) = Self::number(text) else {
            let names: Vec<_> = NAMES.iter().map(|n| n.0).collect();
            return Err([format!("`{text}` is not a DSCP"), crate::params::suggest(text, &names)]);
        };
        u8::try_from(code).ok().and_then(Self::new).ok_or_else(|| out_of_range(code))
    }
}

impl Value for Dscp {
    const KIND: Kind = Kind::Dscp;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let text = match &node.tree {
            Tree::Text(text) => text.clone(),
            Tree::Integer(n) => n.to_string(),
            _ => return problems.wrong_type(node, &Kind::Dscp),
        };
        match text.parse::<Dscp>() {
            Ok(dscp) => Some(dscp),
            Err([message, help]) => problems.error("E220", node.place, message).help(help).none(),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_octets() {
        assert_eq!("ef".parse(), Ok(Dscp(46)));
        assert_eq!("0x2e".parse(), Ok(Dscp(46)));
        assert_eq!("46".parse::<Dscp>().unwrap().to_string(), "EF");
        assert_eq!("nqb".parse::<Dscp>().unwrap().get(), 45);
        assert_eq!("5".parse::<Dscp>().unwrap().to_string(), "5");
        assert!("0xb8".parse::<Dscp>().unwrap_err()[1].contains("EF written as a whole TOS octet"));
        assert_eq!(["CS0", "df"].map(|name| name.parse::<Dscp>().unwrap().to_string()), ["BE", "BE"]);
        assert!("AF14".parse::<Dscp>().unwrap_err()[1].contains("did you mean"));
        assert!("-1".parse::<Dscp>().is_err());
    }

    /// RFC 2597 section 6: the table of recommended code points.
    #[test]
    fn af_names_carry_their_precedence() {
        for (name, code) in NAMES {
            let expected = match name.strip_prefix("AF") {
                Some(digits) => Colour::ALL[usize::from(digits.as_bytes()[1] - b'1')],
                None => Colour::Unmarked,
            };
            assert_eq!(Dscp(code).colour(), expected, "{name}");
        }
    }
}
