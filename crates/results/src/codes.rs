//! The diagnostic codes of this crate.

use perhop_core::codes::Code;

/// By the folder of their pages.
pub const LIST: &[Code] = perhop_core::codes! {
    ".": E028;
};
