//! `manifest.json`.
//!
//! Decision: docs/decisions/090-points-and-their-base.md

use super::hash_manifest;
use crate::ef::EfResult;
use perhop_results::Replication;
use perhop_results::tables::columns::Table;
use perhop_scenario::sweep::Sweep;
use perhop_scenario::text::options::Options;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::{Duration, SystemTime};

/// What a directory of replications holds in addition to their tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// What they have in common.
    #[serde(flatten)]
    pub common: Common,
    /// Of the bytes of all tables' files.
    pub files_hash: String,
    /// Each of them, by number.
    pub replications: Vec<Entry>,
}

/// How the text of a manifest ends, and what comes before its hash.
const END: &str = "\n}";
const HASH: &str = ",\n  \"manifest_hash\": \"";

/// What replications have in common that are of one point and one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Common {
    /// Name of the scenario.
    pub scenario: String,
    /// Swept keys and their values.
    pub point: Labels,
    /// Of the effective scenario and of perhop's version.
    pub point_hash: String,
    /// Seed.
    pub seed: u64,
    /// The version that wrote them.
    pub perhop: String,
    /// Every value in force, as TOML.
    pub effective: String,
    /// The position of the point in its grid.
    pub index: usize,
    /// How the run was called.
    #[serde(flatten)]
    pub identity: Identity,
}

impl Common {
    /// Whether both are of the same sweep, and at the same place in it.
    pub fn is_beside(&self, other: &Self) -> bool {
        let place = |it: &Self| (it.point.clone(), it.index, it.identity.base_hash.clone());
        place(self) == place(other)
    }
}

/// What a manifest says of one replication.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Number.
    pub replication: u32,
    /// Of all names and values in its tables: [`perhop_results::hash::hash`].
    pub result_hash: String,
    /// What it took.
    #[serde(flatten)]
    pub effort: Effort,
    /// What was found of aggregates that were held against their rates, if any were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ef: Vec<EfResult>,
}

impl Entry {
    /// The replication with its tables, as if it were of the first point.
    pub fn with_tables(self, tables: Vec<Table>) -> Replication {
        Replication {
            point: 0,
            replication: self.replication,
            tables,
            ef: self.ef,
            hash: self.result_hash,
            packet_hops: self.effort.packet_hops,
            wall: Duration::ZERO,
            reused: false,
            note: None,
            dir: None,
            captured: None,
        }
    }
}

impl Manifest {
    /// The text of its file, with its hash at the end. One replication stands beside what is common, several in a list.
    ///
    /// # Errors
    /// None that is known of: texts and numbers only.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let text = self.plain_json()?;
        let body = text.strip_suffix(END).unwrap_or(&text);
        Ok(format!("{body}{HASH}{}\"{END}", hash_manifest(body)))
    }

    fn plain_json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Alone<'a> {
            #[serde(flatten)]
            common: &'a Common,
            files_hash: &'a str,
            #[serde(flatten)]
            entry: &'a Entry,
        }
        match self.replications.as_slice() {
            [entry] => {
                serde_json::to_string_pretty(&Alone { common: &self.common, files_hash: &self.files_hash, entry })
            }
            _ => serde_json::to_string_pretty(self),
        }
    }

    /// Reads what [`Manifest::to_json`] gave.
    ///
    /// # Errors
    /// The first field that is missing or of another type; a text that is not the one that was written.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let (read, stated) = Self::read(text).map_err(|error| format!("cannot be read: {error}"))?;
        let found = hash_manifest(text.rsplit_once(HASH).map_or(text, |(body, _)| body));
        match stated == found {
            true => Ok(read),
            false => Err(format!("was altered: its hash is {found}, but it states {stated}")),
        }
    }

    /// With the hash that it states.
    fn read(text: &str) -> serde_json::Result<(Self, String)> {
        #[derive(Deserialize)]
        struct Rest {
            files_hash: String,
            manifest_hash: String,
            replications: Option<Vec<Entry>>,
        }
        let (common, rest) = (serde_json::from_str(text)?, serde_json::from_str::<Rest>(text)?);
        let replications = match rest.replications {
            Some(several) => several,
            None => vec![serde_json::from_str(text)?],
        };
        Ok((Self { common, files_hash: rest.files_hash, replications }, rest.manifest_hash))
    }
}

/// What a replication took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Packets that left a link.
    pub packet_hops: u64,
    /// Wall time, s.
    pub wall_s: f64,
}

/// How a run was called: the same for all its replications.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The name given with `--name`.
    #[serde(deserialize_with = "stated")]
    pub name: Option<String>,
    /// The scenario's file.
    pub file: String,
    /// `KEY=VALUE` of `-s`, `--seed`, `--duration` and their kind.
    pub overrides: Vec<String>,
    /// Axes of `--vary`.
    pub vary: Vec<String>,
    /// What all points of the sweep share: [`crate::Sweep::base_hash`].
    pub base_hash: String,
    /// When the run began, in seconds since 1970 (UTC).
    #[serde(deserialize_with = "stated")]
    pub started_s: Option<u64>,
    /// It was recorded between interfaces, and not simulated.
    #[serde(default, skip_serializing_if = "is_not")]
    pub recorded: bool,
}

/// Whether a field says nothing new.
const fn is_not(it: &bool) -> bool {
    !*it
}

/// What may be null; without this serde would take it for null where it is missing.
fn stated<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

impl Identity {
    /// Of a run of `sweep`, read with `options`, that begins at `started`.
    pub fn of(sweep: &Sweep, options: &Options, started: SystemTime) -> Self {
        Self {
            name: sweep.run_name().map(str::to_owned),
            file: options.file_name.clone(),
            overrides: options.overrides.iter().map(|over| over.text.clone()).collect(),
            vary: options.vary.iter().map(|axis| axis.text.clone()).collect(),
            base_hash: sweep.base_hash().to_owned(),
            started_s: started.duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_secs()),
            recorded: false,
        }
    }
}

/// Keys and values in their order; a JSON object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels(pub Vec<(String, String)>);

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Labels;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of texts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Labels, A::Error> {
        let mut labels = Vec::new();
        while let Some(entry) = map.next_entry()? {
            labels.push(entry);
        }
        Ok(Labels(labels))
    }
}
