//! A file that may be a scenario or a policy, read as what it is.

use crate::policy::Policy;
use crate::sections::kind::Kind;
use crate::sweep::Sweep;
use crate::text::diagnostics::Diagnostics;
use crate::text::input::Input;
use crate::text::options::Options;
use crate::text::toml;
use perhop_core::params::Problems;

/// A checked file.
#[derive(Clone, Debug)]
pub enum Document {
    /// With its grid.
    Scenario(Box<Sweep>),
    /// For captures.
    Policy(Box<Policy>),
}

impl Document {
    /// Reads and checks a file's text as what it is.
    ///
    /// # Errors
    /// As [`Sweep::parse`] and [`Policy::parse`].
    pub fn read(text: &str, options: &Options) -> Result<(Self, Diagnostics), Diagnostics> {
        match kind(text.into()) {
            Kind::Policy => Policy::parse(text, options).map(|(it, found)| (Self::Policy(Box::new(it)), found)),
            Kind::Scenario | Kind::Other => {
                Sweep::parse(text, options).map(|(it, found)| (Self::Scenario(Box::new(it)), found))
            }
        }
    }

    /// [`Document::read`] without what it reads: what is found, and what a reader should know and no rule forbids.
    ///
    /// # Errors
    /// As [`Document::read`].
    pub fn check<'a>(
        input: impl Into<Input<'a>>,
        options: &Options,
    ) -> Result<(Diagnostics, Vec<&'static str>), Diagnostics> {
        let input = input.into();
        match kind(input) {
            Kind::Policy => Policy::of(input, options).map(|(_, found)| (found, Vec::new())),
            Kind::Scenario | Kind::Other => Sweep::check(input, options),
        }
    }
}

/// What is given; a scenario, where that cannot be told.
fn kind(input: Input<'_>) -> Kind {
    let kind = match input {
        Input::Text(text) => toml::parse(text, 0, &mut Problems::default()).and_then(|root| Kind::of(&root)),
        Input::Made(made) => Kind::of(&made.root),
    };
    kind.unwrap_or(Kind::Scenario)
}
