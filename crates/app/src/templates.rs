//! The scenarios that `init` writes.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What a scenario shows. Each is a file of `templates/`, which a test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Template {
    /// A customer with a contract, and UDP that fills the link: a marker and WRED
    First,
    /// A provider's uplink for 40 customers on three plans: HTB and FQ-CoDel
    Wisp,
    /// A policy map of Cisco IOS: a policer, LLQ, CBWFQ and WRED
    Cisco,
    /// A sweep that compares drop-tail, CoDel, PIE and FQ-CoDel
    Aqm,
    /// An office behind DSL: voice, video and uploads through CAKE
    Office,
    /// L4S: DualPI2 with Prague and CUBIC
    L4s,
}

/// The file's name in the texts.
const NAME: &str = "scenario.toml";

impl Template {
    /// Its text for a file of this name.
    pub fn text(self, name: &str) -> String {
        self.source().replace(NAME, name)
    }

    fn source(self) -> &'static str {
        match self {
            Self::First => include_str!("../templates/first.toml"),
            Self::Wisp => include_str!("../templates/wisp.toml"),
            Self::Cisco => include_str!("../templates/cisco.toml"),
            Self::Aqm => include_str!("../templates/aqm.toml"),
            Self::Office => include_str!("../templates/office.toml"),
            Self::L4s => include_str!("../templates/l4s.toml"),
        }
    }

    /// The verb that runs all of it.
    pub fn verb(self) -> &'static str {
        if self.source().contains("\n[sweep]") { "sweep" } else { "run" }
    }
}
