//! Device configurations: `import`, `predict`, and what `check` shares with them.

use super::{Settings, quantity, text};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use perhop_config::import::DIALECTS;
use perhop_config::import_options::{ImportOptions, Platform};
use perhop_config::model::Way;
use perhop_core::accounting::Accounting;
use perhop_core::door::Door;
use perhop_core::units::BitRate;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::PathBuf;

/// How a configuration is read.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// Dialect of a device's configuration; guessed without
    #[arg(long, value_name = "DIALECT", value_parser = PossibleValuesParser::new(DIALECTS.iter().map(|it| it.name)))]
    pub from: Option<String>,
    /// Rate of the port's link, where the configuration does not say it, as in 100Mbit/s
    #[arg(long, value_name = "RATE", value_parser = quantity::<BitRate>)]
    #[serde(with = "text")]
    pub link: Option<BitRate>,
    /// Which bytes of a packet that rate counts [default: l3, the IP packet]
    #[arg(long, value_name = "BYTES", value_parser = framing())]
    #[serde(with = "accounting")]
    pub framing: Option<Accounting>,
    /// Interface that is meant, where the configuration has several
    #[arg(long, value_name = "NAME")]
    pub interface: Option<String>,
    /// Direction that is meant, where the interface has both
    #[arg(long, value_name = "WAY", value_enum)]
    pub direction: Option<Direction>,
    /// Whose defaults count [default: ios-xe]
    #[arg(long, value_name = "SYSTEM", value_parser = platforms())]
    #[serde(deserialize_with = "known_platform")]
    pub platform: Option<String>,
    /// In whose words options are named.
    #[arg(skip)]
    #[serde(skip)]
    pub door: Door,
}

const FRAMINGS: [Accounting; 4] = [Accounting::L3, Accounting::L2, Accounting::L2Fcs, Accounting::L1];

/// What a rate may count.
fn framing() -> impl TypedValueParser<Value = Accounting> {
    let of_name = |name: String| FRAMINGS.into_iter().find(|it| it.name() == name).expect("clap knows the names");
    PossibleValuesParser::new(Accounting::NAMES.iter().copied()).map(of_name)
}

/// Which bytes are counted, by name.
mod accounting {
    use perhop_core::accounting::Accounting;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(it: &Option<Accounting>, serializer: S) -> Result<S::Ok, S::Error> {
        it.map(|it| it.name()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Accounting>, D::Error> {
        let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
        let known = super::FRAMINGS.into_iter().find(|it| it.name() == name);
        known.map(Some).ok_or_else(|| {
            D::Error::custom(format!("unknown name `{name}`: must be one of {}", Accounting::NAMES.join(", ")))
        })
    }
}

/// The names of `--platform`.
pub(super) fn platforms() -> PossibleValuesParser {
    PossibleValuesParser::new(Platform::NAMED.map(|it| it.0))
}

fn known_platform<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let stated = Option::<String>::deserialize(from)?;
    let names = Platform::NAMED.map(|it| it.0);
    match stated.as_deref().filter(|name| !names.contains(name)) {
        Some(name) => Err(D::Error::custom(format!("unknown name `{name}`: must be one of {}", names.join(", ")))),
        None => Ok(stated),
    }
}

/// The platform with a name of `--platform`.
pub(crate) fn platform(name: Option<&str>) -> Platform {
    Platform::NAMED.into_iter().find(|it| Some(it.0) == name).map(|it| it.1).unwrap_or_default()
}

/// A direction of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Packets that come in.
    Input,
    /// Packets that go out.
    Output,
}

impl Configuration {
    /// As readers are told.
    pub(crate) fn import_options(&self) -> ImportOptions {
        let way = |direction| if direction == Direction::Input { Way::Input } else { Way::Output };
        ImportOptions {
            link: self.link,
            framing: self.framing,
            interface: self.interface.clone(),
            way: self.direction.map(way),
            platform: platform(self.platform.as_deref()),
        }
    }
}

/// `import`
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Import {
    /// Configuration of a device: tc's commands or what `tc -s -d qdisc show` and its kind print, or a policy map of IOS; - is
    /// standard input
    pub file: PathBuf,
    /// How it is read.
    #[command(flatten)]
    pub configuration: Configuration,
    /// What to write: a scenario with the port, its link and a first load, or the port's conditioners as a policy for `mark`
    #[arg(long = "as", value_name = "KIND", value_enum, default_value_t = Form::Scenario)]
    pub form: Form,
    /// File with `[traffic]` tables (and `[tcp]`, `[nodes]`) to write in place of the first load
    #[arg(long, value_name = "FILE")]
    pub load: Option<PathBuf>,
    /// Exit with 0 even if lines of the configuration are not modelled
    #[arg(long)]
    pub allow: bool,
    /// Print JSON: what was written, and what became of each line
    #[arg(long)]
    pub json: bool,
    /// File to write; without it standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the output if it exists
    #[arg(long)]
    pub force: bool,
}

/// What is made of a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// It runs.
    #[default]
    Scenario,
    /// For captures.
    Policy,
}

/// `predict`
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Predict {
    /// Configuration of a device, as `import` takes it; - is standard input
    pub file: PathBuf,
    /// How it is read.
    #[command(flatten)]
    pub configuration: Configuration,
    /// File with `[traffic]` tables (and `[tcp]`, `[nodes]`) to send in place of the first load
    #[arg(long, value_name = "FILE")]
    pub load: Option<PathBuf>,
    /// Predict all ports of the text, one after another
    #[arg(long, conflicts_with = "output")]
    pub all: bool,
    /// What is changed in the scenario that `import` would print.
    #[command(flatten)]
    pub settings: Settings,
    /// Keep the results in this directory, as `run` does, for `plot` and `report`
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Picture to draw of the results: .png, .svg or .pdf; they are kept in --out, or else in runs
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON: what was read, and a row for each class
    #[arg(long)]
    pub json: bool,
}
