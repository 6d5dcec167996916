//! The diagnostic codes of this crate.

use perhop_core::codes::Code;

/// By the folder of their pages.
pub const LIST: &[Code] = perhop_core::codes! {
    ".": E029 E900 E901;
    "disk": E023;
};
