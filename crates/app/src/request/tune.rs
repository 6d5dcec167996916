//! Design rules: `tune`.

use super::text::required;
use super::{quantity, retired, text};
use clap::{Args, ValueEnum};
use perhop_core::door::Door;
use perhop_core::units::{BitRate, Bytes, Packets};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `tune`
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[command(arg = retired::option("plot", "--output"))]
pub struct Tune {
    /// Which algorithm
    #[arg(value_enum)]
    pub aqm: Tunable,
    /// Scenario file, which states link, round-trip times, flows and classes
    #[arg(required_unless_present = "class", conflicts_with = "class")]
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// Queue in FILE: the name of its `[queue]`, or its link, as in 'C -> E2'; optional if there is only one
    #[arg(long, value_name = "NAME", requires = "file")]
    #[serde(default)]
    pub queue: Option<String>,
    /// Set a key of FILE, as in `-s traffic.bulk.flows=20`
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE", requires = "file")]
    #[serde(default)]
    pub set: Vec<String>,
    /// Classes and their link, without FILE.
    #[command(flatten)]
    #[serde(default)]
    pub by_hand: ByHand,
    /// Target queue in packets, V0 less the floor; with FILE its delay is added to each round trip
    #[arg(long, default_value = "40p", value_parser = quantity::<Packets>)]
    #[serde(default = "reference", with = "required")]
    pub reference: Packets,
    /// Judge this V0, as in 300p
    #[arg(long, value_parser = quantity::<Packets>)]
    #[serde(default, with = "text")]
    pub v0: Option<Packets>,
    /// Judge this floor, as in 260p
    #[arg(long, value_parser = quantity::<Packets>)]
    #[serde(default, with = "text")]
    pub floor: Option<Packets>,
    /// Judge this alpha, or one for each class: 0.5,0.5,0.2
    #[arg(long, value_delimiter = ',', value_parser = alpha)]
    #[serde(default)]
    pub alpha: Vec<f64>,
    /// Print JSON
    #[arg(long)]
    #[serde(default)]
    pub json: bool,
    /// Picture to write, of the critical V0 over flows and of the fluid model: .png, .svg or .pdf
    #[arg(short, long, value_name = "FILE")]
    #[serde(default)]
    pub output: Option<PathBuf>,
    /// In whose words options are named.
    #[arg(skip)]
    #[serde(skip)]
    pub door: Door,
}

/// Classes and their link, without a file.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ByHand {
    /// A class without FILE: round-trip time including waiting packets, flows (fewest..most), share, code points,
    /// as in rtt=120ms,flows=5..50,share=0.1,for=AF11+AF12; repeat for more
    #[arg(long, value_name = "CLASS", requires = "rate")]
    pub class: Vec<String>,
    /// Rate of the link, as in 10Mbit/s
    #[arg(long, requires = "class", value_parser = quantity::<BitRate>)]
    #[serde(with = "text")]
    pub rate: Option<BitRate>,
    /// Size of a TCP packet with its headers
    #[arg(long, requires = "class", default_value = "1000B", value_parser = quantity::<Bytes>)]
    #[serde(with = "required")]
    pub packet: Bytes,
    /// Limit of the queue
    #[arg(long, requires = "class", default_value = "100p", value_parser = quantity::<Packets>)]
    #[serde(with = "required")]
    pub limit: Packets,
}

impl Default for ByHand {
    fn default() -> Self {
        Self { class: Vec::new(), rate: None, packet: Bytes::new(1000), limit: Packets::new(100) }
    }
}

fn reference() -> Packets {
    Packets::new(40)
}

/// The algorithms that `tune` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tunable {
    /// One threshold for all.
    Svb,
    /// A threshold for each class.
    Msvb,
}

/// A finite number, at least 0.
fn alpha(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
    number.ok_or_else(|| "must be a number of at least 0".to_owned())
}
