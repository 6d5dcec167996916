//! What a conditioner does with the packets of a colour.
//!
//! A colour stands for what a meter found: green conforms, yellow exceeds, red violates; a policer with one bucket knows
//! green and red. Routers and tc call them the conform, exceed and violate actions.

use crate::dscp::Dscp;
use crate::packet::Colour;
use std::fmt;

/// What happens to a packet of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Goes no further.
    Drop,
    /// Goes on, rewritten.
    Pass(Rewrite),
}

/// What changes about a packet that goes on. Nothing by default: it then goes to the queue as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// Its code point.
    pub dscp: Option<Dscp>,
    /// Its colour: the drop precedence that conditioners and queues after this one see.
    pub colour: Option<Colour>,
    /// Whether it goes to the next conditioner that matches and gives colours, as tc's `continue` has it.
    pub next: bool,
}

impl Action {
    /// Goes to the queue unchanged.
    pub const TRANSMIT: Self = Self::Pass(Rewrite { dscp: None, colour: None, next: false });

    /// Goes to the queue with this code point.
    pub const fn mark(dscp: Dscp) -> Self {
        Self::Pass(Rewrite { dscp: Some(dscp), colour: None, next: false })
    }

    /// Whether the packet goes to another conditioner.
    pub const fn goes_on(self) -> bool {
        matches!(self, Self::Pass(Rewrite { next: true, .. }))
    }

    /// Whether what leaves the port differs on the wire: a colour is known to its router alone.
    pub const fn shows(self) -> bool {
        !matches!(self, Self::Pass(Rewrite { dscp: None, .. }))
    }
}

impl Default for Action {
    fn default() -> Self {
        Self::TRANSMIT
    }
}

/// Message and help.
type Refused = [String; 2];

const HELP: &str = "write \"mark AF11\", \"transmit\" or \"drop\"; or one or more of \"mark AF11\", \"colour yellow\" and \"next\", \
    with commas between them";

/// From its text: `"transmit"`, `"drop"`, or any of `"mark AF12"`, `"colour yellow"` and `"next"`, with commas.
impl std::str::FromStr for Action {
    type Err = Refused;
    fn from_str(text: &str) -> Result<Self, Refused> {
        match text {
            "transmit" => return Ok(Self::TRANSMIT),
            "drop" => return Ok(Self::Drop),
            _ => {}
        }
        let mut rewrite = Rewrite::default();
        for word in text.split(',').map(str::trim) {
            rewrite.add(word, text)?;
        }
        Ok(Self::Pass(rewrite))
    }
}

impl Rewrite {
    /// # Errors
    /// `word` is none of the words, has been said, or ends what the others go on with.
    fn add(&mut self, word: &str, text: &str) -> Result<(), Refused> {
        let twice = match word.split_once(' ') {
            None if word == "next" => std::mem::replace(&mut self.next, true),
            Some(("mark", dscp)) => self.dscp.replace(dscp.parse()?).is_some(),
            Some(("colour", name)) => self.colour.replace(colour(name)?).is_some(),
            None if word == "drop" => return Err(alone(text, "a dropped packet has no colour, code point or next")),
            None if word == "transmit" => return Err(alone(text, "`transmit` changes nothing and ends here")),
            _ => return Err([format!("`{word}` is not an action"), HELP.into()]),
        };
        let kind = word.split(' ').next().unwrap_or(word);
        let repeated = || [format!("`{text}` has `{kind}` more than once"), "keep one of them".into()];
        if twice { Err(repeated()) } else { Ok(()) }
    }
}

fn alone(text: &str, why: &str) -> Refused {
    [format!("`{text}` contradicts itself: {why}"), "keep only that word, or remove it".into()]
}

fn colour(name: &str) -> Result<Colour, Refused> {
    let found = Colour::ALL.into_iter().find(|colour| colour.name() == name);
    found.ok_or_else(|| [format!("`{name}` is not a colour"), "write green, yellow, red or unmarked".into()])
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rewrite = match *self {
            Self::Drop => return f.write_str("drop"),
            Self::TRANSMIT => return f.write_str("transmit"),
            Self::Pass(rewrite) => rewrite,
        };
        let words = [
            rewrite.dscp.map(|dscp| format!("mark {dscp}")),
            rewrite.colour.map(|colour| format!("colour {}", colour.name())),
            rewrite.next.then(|| "next".to_owned()),
        ];
        f.write_str(&words.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}
