//! What the reader of a text is told beside it.

use crate::model::Way;
use perhop_core::accounting::Accounting;
use perhop_core::units::BitRate;

/// Options of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// The rate of the link, where the text has none.
    pub link: Option<BitRate>,
    /// Which bytes of a packet that rate counts; no text says it.
    pub framing: Option<Accounting>,
    /// The interface that is meant, where the text has several.
    pub interface: Option<String>,
    /// The direction that is meant, where the text has both.
    pub way: Option<Way>,
    /// Whose defaults count.
    pub platform: Platform,
}

/// A family of Cisco's operating systems: their defaults differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// Classic IOS.
    Ios,
    /// IOS-XE.
    #[default]
    IosXe,
    /// IOS-XR on NCS.
    Ncs,
}

impl Platform {
    /// All, by the names of `--platform`.
    pub const NAMED: [(&'static str, Self); 3] = [("ios", Self::Ios), ("ios-xe", Self::IosXe), ("ncs", Self::Ncs)];
}
